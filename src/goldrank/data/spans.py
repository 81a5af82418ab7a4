"""How retrieved texts cover evidence, by positions in sources: `Spans`, the table that measures of spans read.

Sources are cut into stretches wherever a retrieved text or a piece of evidence begins or ends. A measure needs only
the length of a stretch, whether it is evidence, and the rank of the first text that holds it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, MeasureError
from goldrank.data.placements import packed
from goldrank.data.stretches import expand, in_tokens, length_within, merge
from goldrank.data.text_item import Located, Span, TextItem
from goldrank.data.white_space import WhiteSpace

NOWHERE = ""
"""The source of evidence without a known position. No retrieved text holds it, and its length counts as it is."""

Tokens = Mapping[str, np.ndarray]
"""For each source its tokens in order: a row with the start and the end of each token."""


def parts_of(position: Span | Located | None) -> tuple[Span, ...]:
    """The spans of a retrieved text."""
    if position is None:
        return ()
    if isinstance(position, Located):
        return position.spans
    return (position,)


@dataclass(frozen=True)
class RetrievedTexts:
    """The retrieved texts, in order of query and rank."""

    query: np.ndarray
    rank: np.ndarray
    length: np.ndarray
    placed: np.ndarray
    """Whether the position of the text is known."""
    tokens: np.ndarray
    """Its tokens for a budget; -1 where they were not counted."""
    outside: np.ndarray
    """The part of its length that is in no source: headers, and all of a text without a known position."""

    def where(self, keep: np.ndarray) -> RetrievedTexts:
        """The marked texts."""
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
    """Their length together with texts that border on evidence, and with evidence that no text holds."""


@dataclass(frozen=True)
class Spans:
    """Stretches of sources: their lengths, whether they are evidence, and the first retrieved text that holds each.

    Lengths are in characters or in tokens, as chosen when the table is made. Queries are in the order of the items.
    """

    queries: tuple[str, ...]
    retrieved: np.ndarray
    """How many texts were retrieved for each query."""
    answered: np.ndarray

    query: np.ndarray
    """The query of each stretch; a part of a source that matters to two queries has a stretch for each."""
    length: np.ndarray
    solid: np.ndarray
    """How much of the length is not white space, as far as that is known."""
    rank: np.ndarray
    """The rank of the first text that holds the stretch; 0 if no text does."""
    evident: np.ndarray
    """Whether the stretch is part of any evidence."""
    needed: np.ndarray
    """Whether it is part of an evidence that has no alternatives."""

    evidence_query: np.ndarray
    """The query of each evidence, ascending."""
    owner: np.ndarray
    """The evidence of each alternative, ascending; every evidence has at least one alternative."""
    part_of: np.ndarray
    """Pairs of an alternative and one of its stretches: the alternative. `part` is the stretch."""
    part: np.ndarray
    """The stretch of each pair."""

    texts: RetrievedTexts
    holding: np.ndarray
    """Pairs of a stretch and a text that holds it: the stretch. `holder` is the text."""
    holder: np.ndarray
    """The rank of the text of each pair."""
    cut_for: Mapping[int, Spans] = field(default_factory=dict)
    """Tables by budget of tokens, with the texts that fit into the budget, the last of them cut."""
    touching: TouchingChunks | None = None
    """Present if the texts of the whole corpus are known."""

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
        """Make the table of checked items (`goldrank.match.evidence.resolve`): their spans are inside their sources.

        Lengths are in characters, or in the `tokens` of the sources. `size` returns the length of a text without a
        known position. `chunks` are all texts that could have been retrieved; `tokens_of` are the tokens of each
        retrieved text, if they were counted; `white` finds white space in the sources, which need not be covered.
        """
        columns = _SpanColumns(items)
        intervals = columns.intervals(tokens)
        query, source, start, end = intervals
        kind, number = columns.kind, columns.number

        # Put the sources of all queries on one line, one after the other.
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
        evident, needed, is_covered = (np.zeros(stretches, bool) for _ in range(3))
        is_covered[stretch] = True
        evident[stretch[~retrieved]] = True

        # An alternative holds a stretch once even if its spans overlap; equal alternatives become one.
        part = np.unique(np.stack((number[row[~retrieved]], stretch[~retrieved])), axis=1)
        distinct = columns.distinct(*part)
        part = part[:, distinct[part[0]]]
        alternative = columns.owner[distinct]
        alone = np.bincount(alternative, minlength=len(columns.evidence_query)) == 1
        needed[part[1][alone[columns.owner[part[0]]]]] = True

        # Leave out the gaps between intervals.
        new = np.cumsum(is_covered) - 1
        length = np.diff(bounds)[is_covered]
        solid = length
        if white:
            solid = _solid(columns, white, part[1], row, stretch, bounds, base[code])[is_covered]
        table = cls(
            queries=columns.queries,
            retrieved=np.array([len(item.retrieved) for item in items], np.int64),
            answered=np.ones(len(items), bool),
            query=owner[is_covered],
            length=length,
            solid=solid,
            rank=np.where(rank == unset, 0, rank)[is_covered],
            evident=evident[is_covered],
            needed=needed[is_covered],
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

        gold = intervals.where(kind == _EVIDENCE)
        return replace(table, touching=_touching(columns, gold, chunks, tokens))

    def __len__(self) -> int:
        return len(self.queries)

    # Parts of measures.

    def sum(self, which: np.ndarray) -> np.ndarray:
        """Per query, the length of the marked stretches."""
        return np.bincount(self.query[which], weights=self.length[which], minlength=len(self))

    def within(self, k: int | None) -> np.ndarray:
        """Which stretches the first k texts hold."""
        is_held: np.ndarray = self.rank > 0
        if k is None:
            return is_held
        return is_held & (self.rank <= k)

    def returned(self, k: int | None, repeated: str = "once") -> np.ndarray:
        """Per query, the length of the first k texts; "once": a position that several texts hold counts once.

        Text that is in no source always counts in full, because overlaps are not known there.
        """
        near = np.ones(len(self.texts.rank), bool)
        if k is not None:
            near = self.texts.rank <= k

        if repeated != "once":
            return np.bincount(self.texts.query[near], weights=self.texts.length[near], minlength=len(self))
        outside = np.bincount(self.texts.query[near], weights=self.texts.outside[near], minlength=len(self))
        length: np.ndarray = outside + self.sum(self.within(k))
        return length

    def relevant(self, rel: float = 1) -> np.ndarray:
        """Per query, the number of evidences; evidence has no grades, so `rel` changes nothing."""
        return np.bincount(self.evidence_query, minlength=len(self))

    @cached_property
    def alternative_length(self) -> np.ndarray:
        """The length of each alternative."""
        return np.bincount(self.part_of, weights=self.length[self.part], minlength=len(self.owner))

    @cached_property
    def alone(self) -> np.ndarray:
        """Which evidences have no alternatives."""
        single: np.ndarray = np.bincount(self.owner, minlength=len(self.evidence_query)) == 1
        return single

    @cached_property
    def worth(self) -> np.ndarray:
        """The length of each evidence: the length of its shortest alternative."""
        shortest = np.full(len(self.evidence_query), np.inf)
        np.minimum.at(shortest, self.owner, self.alternative_length)
        return shortest

    def share(self, k: int | None) -> np.ndarray:
        """Per evidence, the share of its best-covered alternative that the first k texts hold."""
        return self._best(self._held(k, self.length) / self.alternative_length)

    def enough(self, k: int | None, coverage: float) -> np.ndarray:
        """Which evidences have an alternative of which the first k texts hold at least this share, and more than 0.

        Known white space does not count: a splitter that drops it between two texts loses nothing.
        """
        length = np.bincount(self.part_of, weights=self.solid[self.part], minlength=len(self.owner))
        is_solid = length > 0
        solid_share = self._held(k, self.solid) / np.where(is_solid, length, 1)
        total_share = self._held(k, self.length) / self.alternative_length  # for evidence that is only white space
        share = self._best(np.where(is_solid, solid_share, total_share))
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

    # Other views of this retrieval.

    def cut(self, depth: int) -> Spans:
        """As if no more than `depth` texts had been retrieved for a query."""
        return self.only(self.texts.rank <= depth)

    @cached_property
    def condensed(self) -> Spans:
        """As if only texts with a known position had been retrieved; ranks close up."""
        return self.only(self.texts.placed)

    def packed(self, budget: int, pack: str = "prefix", depth: int | None = None) -> Spans:
        """As if only the texts that fit into the budget of tokens had been retrieved; ranks close up."""
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
        before = np.concatenate(([0], np.cumsum(keep)))
        new_rank = np.where(keep, before[1:] - before[first[texts.query]], 0)

        holder = new_rank[first[self.query[self.holding]] + self.holder - 1]
        is_held = holder > 0
        holding, holder = self.holding[is_held], holder[is_held]
        unset = np.iinfo(np.int64).max
        rank = np.full(len(self.rank), unset)
        np.minimum.at(rank, holding, holder)

        return replace(
            self,
            retrieved=before[first[1:]] - before[first[:-1]],
            rank=np.where(rank == unset, 0, rank),
            texts=replace(texts, rank=new_rank).where(keep),
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
    """Lengths of stretches, without white space in evidence; `base` is the beginning of a span's source."""
    lengths = np.diff(bounds)
    source = np.zeros(len(lengths), np.int64)
    source[stretch] = columns.source[row]
    offset = np.zeros(len(lengths), np.int64)
    offset[stretch] = base[row]

    in_evidence = np.unique(evident)
    in_evidence = in_evidence[np.argsort(source[in_evidence], kind="stable")]
    first = np.searchsorted(source[in_evidence], np.arange(len(columns.sources) + 1))
    for name, i in columns.sources.items():
        rows = in_evidence[first[i] : first[i + 1]]
        if len(rows):
            lengths[rows] = white.solid(name, bounds[rows] - offset[rows], bounds[rows + 1] - offset[rows])

    return lengths


class _Intervals(NamedTuple):
    """Spans as columns."""

    query: np.ndarray
    source: np.ndarray
    start: np.ndarray
    end: np.ndarray

    def where(self, keep: np.ndarray) -> _Intervals:
        """The marked spans."""
        return _Intervals(*(column[keep] for column in self))


def _positions(item: TextItem) -> Sequence[Span | Located | None]:
    """The position of each retrieved text; None where it is not known."""
    if item.spans is None:
        return [None] * len(item.retrieved)
    return item.spans


class _SpanColumns:
    """The spans of some items as parallel columns; retrieved texts first, then evidence."""

    def __init__(self, items: Sequence[TextItem]) -> None:
        self.items = items
        self.queries = tuple(item.query for item in items)
        repeated = sorted(query for query, times in Counter(self.queries).items() if times > 1)
        if repeated:
            raise InputError(
                f"queries occur more than once: {ids.samples(repeated)}", hint="Give each query a different id."
            )

        self.sources: dict[str, int] = {}
        rows: list[tuple[int, int, int, int, int, int]] = []
        placed: list[bool] = []
        for query, item in enumerate(items):
            positions = _positions(item)
            placed += [position is not None for position in positions]
            rows += [
                (query, self._number(span), span.start, span.end, _TEXT, rank)
                for rank, position in enumerate(positions, 1)
                for span in parts_of(position)
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

    def intervals(self, tokens: Tokens | None) -> _Intervals:
        """The spans, in characters or in tokens."""
        query, source, start, end = self._rows[:4]
        if tokens is not None:
            start, end = start.copy(), end.copy()
            order = np.argsort(source, kind="stable")
            first = np.searchsorted(source[order], np.arange(len(self.sources) + 1))
            for name, i in self.sources.items():
                if name != NOWHERE:
                    rows = order[first[i] : first[i + 1]]
                    start[rows], end[rows] = in_tokens(tokens[name], start[rows], end[rows])
        return _Intervals(query, source, start, end)

    def texts(
        self, start: np.ndarray, end: np.ndarray, size: Callable[[str], int], tokens_of: Sequence[int] | None
    ) -> RetrievedTexts:
        """The retrieved texts with their lengths."""
        count = [len(item.retrieved) for item in self.items]
        query = np.repeat(np.arange(len(count)), count)
        rank = np.array([rank for most in count for rank in range(1, most + 1)], np.int64)
        outside = np.zeros(len(rank), np.int64)
        positions = (position for item in self.items for position in _positions(item))
        for i, position in enumerate(positions):
            if position is None:
                outside[i] = size(self.items[query[i]].retrieved[rank[i] - 1])
            elif isinstance(position, Located) and position.outside:
                outside[i] = size(position.outside)

        is_text = self.kind == _TEXT
        first = np.cumsum(np.array([0, *count], np.int64))
        index = first[self._rows[0][is_text]] + self.number[is_text] - 1
        inside = np.bincount(index, weights=(end - start)[is_text], minlength=len(rank)).astype(np.int64)
        length = inside + outside
        if tokens_of is None:
            tokens = np.full(len(rank), -1)
        else:
            tokens = np.array(tokens_of, np.int64)
        return RetrievedTexts(query, rank, length, self.placed, tokens, outside)

    def distinct(self, alternative: np.ndarray, stretch: np.ndarray) -> np.ndarray:
        """Which alternatives differ from all earlier alternatives of their evidence.

        An alternative without length is an error: no text could cover it.
        """
        bounds = np.searchsorted(alternative, np.arange(len(self.owner) + 1))
        seen: set[tuple[int, bytes]] = set()
        is_new = np.zeros(len(self.owner), bool)
        for i, owner in enumerate(self.owner.tolist()):
            stretches = stretch[bounds[i] : bounds[i + 1]]
            if not len(stretches):
                item = self.items[self.evidence_query[owner]]
                raise InputError(
                    f"query '{ids.show(item.query)}' has evidence without any character or token in it",
                    where=item.where or None,
                    hint="Evidence has an end after its start; in tokens, it holds at least one.",
                )

            key = owner, stretches.tobytes()
            is_new[i] = key not in seen
            seen.add(key)
        return is_new


def _touching(
    columns: _SpanColumns,
    gold: _Intervals,
    chunks: Sequence[Span],
    tokens: Tokens | None,
) -> TouchingChunks:
    """How the texts of the corpus cover each query's evidence."""
    by_source: dict[int, list[tuple[int, int]]] = {}
    for chunk in chunks:
        if chunk.source in columns.sources:
            by_source.setdefault(columns.sources[chunk.source], []).append((chunk.start, chunk.end))

    names = list(columns.sources)
    cut: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for source, pairs in by_source.items():
        low, high = np.array(pairs, np.int64).T
        if tokens is not None:
            low, high = in_tokens(tokens[names[source]], low, high)
        cut[source] = low, high

    evidence, union, total, bordering = (np.zeros(len(columns.queries)) for _ in range(4))
    order = np.lexsort((gold.source, gold.query))
    edges = np.flatnonzero(np.diff(gold.query[order]) | np.diff(gold.source[order])) + 1
    for rows in np.split(order, edges):
        gold_start, gold_end = merge(gold.start[rows], gold.end[rows])
        if not len(gold_start):
            continue  # a part of evidence that holds no token, such as a blank

        query = int(gold.query[rows[0]])
        source = int(gold.source[rows[0]])
        if source not in cut:
            bordering[query] += (gold_end - gold_start).sum()
            continue

        low, high = cut[source]
        before = np.searchsorted(gold_start, high, side="right")
        near = (before > 0) & (gold_end[before - 1] >= low)
        joined_low, joined_high = merge(np.concatenate((low[near], gold_start)), np.concatenate((high[near], gold_end)))
        bordering[query] += (joined_high - joined_low).sum()

        hit = length_within(gold_start, gold_end, low, high) > 0
        low, high = low[hit], high[hit]
        merged_low, merged_high = merge(low, high)
        evidence[query] += length_within(merged_low, merged_high, gold_start, gold_end).sum()
        union[query] += (merged_high - merged_low).sum()
        total[query] += (high - low).sum()

    return TouchingChunks(evidence, union, total, bordering)
