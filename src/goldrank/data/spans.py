"""What retrieved texts cover of the evidence, by place: `Spans`, the table that measures of spans read.

Sources are cut into stretches wherever a retrieved text or a piece of evidence begins or ends. All that a measure
needs to know of a stretch is how long it is, whether it is evidence, and the rank of the first text that holds it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, MeasureError
from goldrank.data.placements import packed
from goldrank.data.stretches import expand, in_tokens, length_within, merge
from goldrank.data.text_item import Located, Span, TextItem
from goldrank.data.white_space import WhiteSpace

NOWHERE = ""
"""The source of evidence whose place is not known. No retrieved text holds it, and its length counts as it is."""

Tokens = Mapping[str, np.ndarray]
"""For each source its tokens, in order: a row of first character and one past the last for each."""


def parts_of(place: Span | Located | None) -> tuple[Span, ...]:
    """The spans of a retrieved text."""
    if place is None:
        return ()
    if isinstance(place, Located):
        return place.spans
    return (place,)


@dataclass(frozen=True)
class RetrievedTexts:
    """The retrieved texts, in order of query and rank."""

    query: np.ndarray
    rank: np.ndarray
    length: np.ndarray
    placed: np.ndarray
    """Whether it is known where the text stands."""
    tokens: np.ndarray
    """What it takes of a budget; -1 where nobody counted."""
    outside: np.ndarray
    """How much of its length stands in no source: headers, and all of a text without a known place."""

    def where(self, keep: np.ndarray) -> RetrievedTexts:
        """The marked ones."""
        return RetrievedTexts(*(column[keep] for column in vars(self).values()))


@dataclass(frozen=True)
class TouchingChunks:
    """Per query, all texts of the corpus that hold any evidence."""

    evidence: np.ndarray
    """How much evidence they hold together."""
    union: np.ndarray
    """How long they are, each position counted once."""
    total: np.ndarray
    """The sum of their lengths."""
    bordering: np.ndarray
    """How long they are together with texts that border on evidence, and with the evidence that none holds."""


@dataclass(frozen=True)
class Spans:
    """Stretches of sources: how long, whether evidence, and the rank of the first retrieved text that holds each.

    Lengths are in characters or tokens, as the table was made. Queries are in the order of the items.
    """

    queries: tuple[str, ...]
    retrieved: np.ndarray
    """How many texts were retrieved for each query."""
    answered: np.ndarray

    query: np.ndarray
    """The query of each stretch; a place that matters to two queries has a stretch for each."""
    length: np.ndarray
    solid: np.ndarray
    """How much of the length is not white space, as far as that is known."""
    rank: np.ndarray
    """The first text that holds the stretch; 0 if none does."""
    evident: np.ndarray
    """Whether the stretch is part of any evidence."""
    needed: np.ndarray
    """Whether it is part of an evidence that has no alternatives."""

    evidence_query: np.ndarray
    """The query of each evidence, ascending."""
    owner: np.ndarray
    """The evidence of each alternative, ascending; every evidence has one."""
    part_of: np.ndarray
    """Which alternatives are made of which stretches: the alternative, in pairs with `part`."""
    part: np.ndarray
    """The stretch."""

    texts: RetrievedTexts
    holding: np.ndarray
    """Which stretches texts hold: the stretch, in pairs with `holder`."""
    holder: np.ndarray
    """The rank of the text."""
    cut_for: Mapping[int, Spans] = field(default_factory=dict)
    """The same table by budget of tokens, with texts that fit into it, the last of them cut."""
    touching: TouchingChunks | None = None
    """What is known if the texts of the whole corpus are."""

    @classmethod
    def of(
        cls,
        items: Sequence[TextItem],
        *,
        tokens: Tokens | None = None,
        size: Callable[[str], int] = len,
        chunks: Sequence[Span] | None = None,
        tokens_of: Sequence[int] | None = None,
        white: WhiteSpace | None = None,
    ) -> Spans:
        """The table of items that were checked (`goldrank.match.evidence.resolve`): spans are right for their sources.

        Lengths are in characters, or in the `tokens` of the sources. `size` says how long a text is that has no
        known place. `chunks` are all the texts that could have been retrieved; `tokens_of` what each retrieved text
        takes of a budget, where somebody counted that; `white` tells white space in the sources, whose loss is none.
        """
        columns = _SpanColumns(items)
        query, source, start, end = columns.intervals(tokens)
        kind, number = columns.kind, columns.number
        # One line for all sources of all queries: each pair of them has a stretch of its own.
        pair, code = np.unique(query * max(len(columns.sources), 1) + source, return_inverse=True)
        reach = np.zeros(len(pair), np.int64)
        np.maximum.at(reach, code, end)
        base = np.cumsum(reach) - reach
        low, high = start + base[code], end + base[code]
        bounds = np.unique(np.concatenate((low, high)))
        row, stretch = expand(np.searchsorted(bounds, low), np.searchsorted(bounds, high))
        stretches = max(len(bounds) - 1, 0)
        owner = np.zeros(stretches, np.int64)
        owner[stretch] = query[row]
        retrieved = kind[row] == _TEXT
        unset = np.iinfo(np.int64).max
        rank = np.full(stretches, unset)
        np.minimum.at(rank, stretch[retrieved], number[row[retrieved]])
        evident, needed, held = (np.zeros(stretches, bool) for _ in range(3))
        held[stretch] = True
        evident[stretch[~retrieved]] = True
        # An alternative whose spans overlap holds a stretch once; alternatives that hold the same are one.
        part = np.unique(np.stack((number[row[~retrieved]], stretch[~retrieved])), axis=1)
        distinct = columns.distinct(*part)
        part = part[:, distinct[part[0]]]
        alternative = columns.owner[distinct]
        alone = np.bincount(alternative, minlength=len(columns.evidence_query)) == 1
        needed[part[1][alone[columns.owner[part[0]]]]] = True
        # Gaps between intervals are of no interest.
        new = np.cumsum(held) - 1
        length = np.diff(bounds)[held] if stretches else np.zeros(0, np.int64)
        table = cls(
            queries=columns.queries,
            retrieved=np.array([len(item.retrieved) for item in items], np.int64),
            answered=np.ones(len(items), bool),
            query=owner[held],
            length=length,
            solid=_solid(columns, white, part[1], row, stretch, bounds, base[code])[held] if white else length,
            rank=np.where(rank == unset, 0, rank)[held],
            evident=evident[held],
            needed=needed[held],
            evidence_query=columns.evidence_query,
            owner=alternative,
            part_of=(np.cumsum(distinct) - 1)[part[0]],
            part=new[part[1]],
            texts=columns.texts(start, end, size, tokens_of),
            holding=new[stretch[retrieved]],
            holder=number[row[retrieved]],
        )
        if chunks is None:
            return table
        gold = kind == _EVIDENCE
        spans = query[gold], source[gold], start[gold], end[gold]
        return replace(table, touching=_touching(columns, spans, chunks, tokens))

    def __len__(self) -> int:
        return len(self.queries)

    # What measures are made of.

    def sum(self, which: np.ndarray) -> np.ndarray:
        """Per query, the length of the marked stretches."""
        return np.bincount(self.query[which], weights=self.length[which], minlength=len(self))

    def within(self, k: int | None) -> np.ndarray:
        """Which stretches the first k texts hold."""
        held: np.ndarray = self.rank > 0
        if k is None:
            return held
        return held & (self.rank <= k)

    def returned(self, k: int | None, repeated: str = "once") -> np.ndarray:
        """Per query, the length of the first k texts; "once": a position that several hold counts once.

        What stands in no source counts in full: what texts have in common there is not known.
        """
        near = np.ones(len(self.texts.rank), bool) if k is None else self.texts.rank <= k
        counted = self.texts.outside if repeated == "once" else self.texts.length
        texts = np.bincount(self.texts.query[near], weights=counted[near], minlength=len(self))
        length: np.ndarray = texts + self.sum(self.within(k)) if repeated == "once" else texts
        return length

    def relevant(self, rel: float = 1) -> np.ndarray:
        """Per query, how many things an answer needs; evidence has no grades, so that `rel` changes nothing."""
        return np.bincount(self.evidence_query, minlength=len(self))

    @cached_property
    def alternative_length(self) -> np.ndarray:
        """How long each alternative is."""
        return np.bincount(self.part_of, weights=self.length[self.part], minlength=len(self.owner))

    @cached_property
    def alone(self) -> np.ndarray:
        """Which evidences have no alternatives."""
        single: np.ndarray = np.bincount(self.owner, minlength=len(self.evidence_query)) == 1
        return single

    @cached_property
    def worth(self) -> np.ndarray:
        """How long each evidence is at least: the length of its shortest alternative."""
        shortest = np.full(len(self.evidence_query), np.inf)
        np.minimum.at(shortest, self.owner, self.alternative_length)
        return shortest

    def share(self, k: int | None) -> np.ndarray:
        """Per evidence, the share of its best-covered alternative that the first k texts hold."""
        return self._best(self._held(k, self.length) / self.alternative_length)

    def enough(self, k: int | None, coverage: float) -> np.ndarray:
        """Which evidences have an alternative of which the first k texts hold at least this share, and some of it.

        White space does not count, where it is known: a splitter that drops it between two texts loses nothing.
        """
        length = np.bincount(self.part_of, weights=self.solid[self.part], minlength=len(self.owner))
        held, solid = self._held(k, self.solid), length > 0
        whole = self._held(k, self.length) / self.alternative_length  # for evidence that is nothing but white space
        share = self._best(np.where(solid, held / np.where(solid, length, 1), whole))
        enough: np.ndarray = (share >= coverage) & (share > 0)
        return enough

    def _held(self, k: int | None, weights: np.ndarray) -> np.ndarray:
        """Per alternative, how much of it the first k texts hold."""
        near = self.within(k)[self.part]
        return np.bincount(self.part_of[near], weights=weights[self.part[near]], minlength=len(self.owner))

    def _best(self, values: np.ndarray) -> np.ndarray:
        """Per evidence, the highest value of its alternatives."""
        best = np.zeros(len(self.evidence_query))
        np.maximum.at(best, self.owner, values)
        return best

    def by_query(self, values: np.ndarray) -> np.ndarray:
        """Per query, the sum of one value per evidence."""
        return np.bincount(self.evidence_query, weights=values, minlength=len(self))

    # Other views of the same retrieval.

    def cut(self, depth: int) -> Spans:
        """As if no more than `depth` texts had been retrieved for a query."""
        return self.only(self.texts.rank <= depth)

    @cached_property
    def condensed(self) -> Spans:
        """As if only texts with a known place had been retrieved; ranks close up."""
        return self.only(self.texts.placed)

    def packed(self, budget: int, pack: str = "prefix", depth: int | None = None) -> Spans:
        """As if only the texts had been retrieved that fit into so many tokens; ranks close up."""
        texts = self.texts
        if (texts.tokens < 0).any():
            raise MeasureError("tokens were not counted", hint="Use evaluate_texts, or a cut-off.")
        if pack != "truncate":
            return self.only(packed(texts.query, texts.rank, texts.tokens, budget, pack, depth))
        if budget not in self.cut_for:
            raise MeasureError(f"texts were not cut for a budget of {budget:,} tokens", hint="Use evaluate_texts.")
        if depth is None:
            return self.cut_for[budget]
        return self.cut_for[budget].cut(depth)

    def only(self, keep: np.ndarray) -> Spans:
        """As if only the marked texts had been retrieved; ranks close up."""
        texts = self.texts
        first = np.searchsorted(texts.query, np.arange(len(self) + 1))
        kept = np.concatenate(([0], np.cumsum(keep)))
        new = np.where(keep, kept[1:] - kept[first[texts.query]], 0)
        holder = new[first[self.query[self.holding]] + self.holder - 1]
        held = holder > 0
        holding, holder = self.holding[held], holder[held]
        unset = np.iinfo(np.int64).max
        rank = np.full(len(self.rank), unset)
        np.minimum.at(rank, holding, holder)

        return replace(
            self,
            retrieved=kept[first[1:]] - kept[first[:-1]],
            rank=np.where(rank == unset, 0, rank),
            texts=replace(texts, rank=new).where(keep),
            holding=holding,
            holder=holder,
        )


_TEXT, _EVIDENCE = 0, 1


def _solid(
    columns: _SpanColumns,
    white: WhiteSpace,
    evident: np.ndarray,
    row: np.ndarray,
    stretch: np.ndarray,
    bounds: np.ndarray,
    base: np.ndarray,
) -> np.ndarray:
    """Lengths of stretches, of those that are evidence without white space; `base` is where a span's source begins."""
    lengths = np.diff(bounds)
    source, offset = np.zeros(len(lengths), np.int64), np.zeros(len(lengths), np.int64)
    source[stretch], offset[stretch] = columns.source[row], base[row]
    asked = np.unique(evident)
    asked = asked[np.argsort(source[asked], kind="stable")]
    first = np.searchsorted(source[asked], np.arange(len(columns.sources) + 1))
    for name, i in columns.sources.items():
        rows = asked[first[i] : first[i + 1]]
        if len(rows):
            lengths[rows] = white.solid(name, bounds[rows] - offset[rows], bounds[rows + 1] - offset[rows])

    return lengths


class _SpanColumns:
    """The spans of some items as parallel columns; retrieved texts first, then evidence."""

    def __init__(self, items: Sequence[TextItem]) -> None:
        self.items = items
        self.queries = tuple(item.query for item in items)
        repeated = sorted(query for query, times in Counter(self.queries).items() if times > 1)
        if repeated:
            raise InputError(
                f"queries occur more than once: {ids.samples(repeated)}", hint="Give each an id of its own."
            )

        self.sources: dict[str, int] = {}
        rows: list[tuple[int, int, int, int, int, int]] = []
        placed: list[bool] = []
        for query, item in enumerate(items):
            spans = [None] * len(item.retrieved) if item.spans is None else item.spans
            placed += [span is not None for span in spans]
            rows += [
                (query, self._number(span), span.start, span.end, _TEXT, rank)
                for rank, place in enumerate(spans, 1)
                for span in parts_of(place)
            ]

        evidence_query: list[int] = []
        owner: list[int] = []
        for query, item in enumerate(items):
            for evidence in item.evidence:
                for alternative in evidence.alternatives:
                    rows += [
                        (query, self._number(span), span.start, span.end, _EVIDENCE, len(owner)) for span in alternative
                    ]
                    owner.append(len(evidence_query))
                evidence_query.append(query)

        self._rows = np.array(rows, np.int64).reshape(-1, 6).T
        self.source, self.kind, self.number = self._rows[1], self._rows[4], self._rows[5]
        self.evidence_query = np.array(evidence_query, np.int64)
        self.owner = np.array(owner, np.int64)
        self.placed = np.array(placed, bool)

    def _number(self, span: Span) -> int:
        return self.sources.setdefault(span.source, len(self.sources))

    def intervals(self, tokens: Tokens | None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Query, source, start and end of each span, in characters or in tokens."""
        query, source, start, end = self._rows[:4]
        if tokens is not None:
            start, end = start.copy(), end.copy()
            order = np.argsort(source, kind="stable")
            first = np.searchsorted(source[order], np.arange(len(self.sources) + 1))
            for name, i in self.sources.items():
                if name != NOWHERE:
                    rows = order[first[i] : first[i + 1]]
                    start[rows], end[rows] = in_tokens(tokens[name], start[rows], end[rows])
        return query, source, start, end

    def texts(
        self, start: np.ndarray, end: np.ndarray, size: Callable[[str], int], tokens_of: Sequence[int] | None
    ) -> RetrievedTexts:
        """The retrieved texts with their lengths."""
        count = [len(item.retrieved) for item in self.items]
        query = np.repeat(np.arange(len(count)), count)
        rank = np.array([rank for most in count for rank in range(1, most + 1)], np.int64)
        outside = np.zeros(len(rank), np.int64)
        for i, place in enumerate(place for item in self.items for place in item.spans or [None] * len(item.retrieved)):
            if place is None:
                outside[i] = size(self.items[query[i]].retrieved[rank[i] - 1])
            elif isinstance(place, Located) and place.outside:
                outside[i] = size(place.outside)

        text = self.kind == _TEXT
        first = np.cumsum(np.array([0, *count], np.int64))
        at = first[self._rows[0][text]] + self.number[text] - 1
        length = np.bincount(at, weights=(end - start)[text], minlength=len(rank)).astype(np.int64) + outside
        tokens = np.full(len(rank), -1) if tokens_of is None else np.array(tokens_of, np.int64)
        return RetrievedTexts(query, rank, length, self.placed, tokens, outside)

    def distinct(self, alternative: np.ndarray, stretch: np.ndarray) -> np.ndarray:
        """Which alternatives are not the same as one before them of the same evidence.

        Nothing can be covered of one without length, so that it would be lost in silence.
        """
        bounds = np.searchsorted(alternative, np.arange(len(self.owner) + 1))
        seen: set[tuple[int, bytes]] = set()
        fresh = np.zeros(len(self.owner), bool)
        for i, owner in enumerate(self.owner.tolist()):
            held = stretch[bounds[i] : bounds[i + 1]]
            if not len(held):
                item = self.items[self.evidence_query[owner]]
                raise InputError(
                    f"query '{ids.show(item.query)}' has evidence without any character or token in it",
                    where=item.where or None,
                    hint="Evidence has an end after its start; in tokens, it holds at least one.",
                )
            key = owner, held.tobytes()
            fresh[i] = key not in seen
            seen.add(key)
        return fresh


def _touching(
    columns: _SpanColumns,
    gold: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    chunks: Sequence[Span],
    tokens: Tokens | None,
) -> TouchingChunks:
    """What the texts of the corpus hold of each query's evidence."""
    by_source: dict[int, list[tuple[int, int]]] = {}
    for chunk in chunks:
        if chunk.source in columns.sources:
            by_source.setdefault(columns.sources[chunk.source], []).append((chunk.start, chunk.end))

    names = list(columns.sources)
    cut: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for source, pairs in by_source.items():
        low, high = np.array(pairs, np.int64).T
        cut[source] = (low, high) if tokens is None else in_tokens(tokens[names[source]], low, high)

    query, source_of, start, end = gold
    evidence, union, total, bordering = (np.zeros(len(columns.queries)) for _ in range(4))
    order = np.lexsort((source_of, query))
    edges = np.flatnonzero(np.diff(query[order]) | np.diff(source_of[order])) + 1
    for rows in np.split(order, edges) if len(order) else []:
        at, source = int(query[rows[0]]), int(source_of[rows[0]])
        gold_start, gold_end = merge(start[rows], end[rows])
        if not len(gold_start):
            continue  # a part of evidence that holds no token, such as a blank
        if source not in cut:
            bordering[at] += (gold_end - gold_start).sum()
            continue
        low, high = cut[source]
        before = np.searchsorted(gold_start, high, side="right")
        near = (before > 0) & (gold_end[before - 1] >= low)
        both = merge(np.concatenate((low[near], gold_start)), np.concatenate((high[near], gold_end)))
        bordering[at] += (both[1] - both[0]).sum()
        hit = length_within(gold_start, gold_end, low, high) > 0
        low, high = low[hit], high[hit]
        merged_low, merged_high = merge(low, high)
        evidence[at] += length_within(merged_low, merged_high, gold_start, gold_end).sum()
        union[at] += (merged_high - merged_low).sum()
        total[at] += (high - low).sum()

    return TouchingChunks(evidence, union, total, bordering)
