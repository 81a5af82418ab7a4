"""Where each judged document landed: `Placements`, the one table that measures read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from goldrank.base.errors import MeasureError
from goldrank.core import core
from goldrank.data import credit

_log2 = np.array([math.nan, 0.0])


def log2(x: np.ndarray) -> np.ndarray:
    """log2 of positive integers, by the C library: numpy's own may differ in the last bit on some machines."""
    global _log2
    try:
        values: np.ndarray = _log2[x]
    except IndexError:  # asking for the highest first would take longer than all else of a short ranking
        size = max(2 * len(_log2), int(x.max()) + 1, 1024)
        _log2 = np.array([math.nan, *map(math.log2, range(1, size))])
        values = _log2[x]
    return values


def accumulate(values: np.ndarray, start: np.ndarray, step: np.ufunc = np.add) -> np.ndarray:
    """Running sums (or products) within segments, each made left to right; `start` has one more entry than segments."""
    result = np.array(values, np.float64)
    size = np.diff(start)
    position = np.arange(len(result)) - np.repeat(start[:-1], size)
    order = np.argsort(position, kind="stable")
    bounds = np.cumsum(np.bincount(position)) if len(result) else np.zeros(0, np.int64)
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        rows = order[low:high]
        result[rows] = step(result[rows - 1], result[rows])
    return result


class CutTexts(NamedTuple):
    """Per query, the beginning of the first text that does not fit into a budget: what it covers, and its tokens."""

    tokens: np.ndarray
    """0 where no text is cut, or nothing of it fits."""
    query: np.ndarray
    """A row for each reference that it covers."""
    label: np.ndarray
    grade: np.ndarray


class Lengths(NamedTuple):
    """How many tokens each retrieved text has, query after query in the order of ranks."""

    start: np.ndarray
    """Where each query's texts begin; one more entry than queries."""
    tokens: np.ndarray
    cut: Mapping[int, CutTexts] = MappingProxyType({})
    """By budget, what was cut for it."""

    @property
    def query(self) -> np.ndarray:
        """The query of each text."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @property
    def rank(self) -> np.ndarray:
        """The rank of each text."""
        rank: np.ndarray = np.arange(1, len(self.tokens) + 1) - self.start[self.query]
        return rank

    def packed(self, budget: int, pack: str, depth: int | None = None) -> np.ndarray:
        """Which texts are in a context of so many tokens, taken whole from the first `depth`."""
        return packed(self.query, self.rank, self.tokens, budget, pack, depth)


def packed(
    query: np.ndarray, rank: np.ndarray, tokens: np.ndarray, budget: int, pack: str, depth: int | None
) -> np.ndarray:
    """Which texts fit whole: up to the first that does not, or with "skip" each that fits into what is left."""
    near = np.ones(len(rank), bool) if depth is None else rank <= depth
    if pack != "skip":
        spent = np.concatenate(([0], np.cumsum(tokens)))
        used = spent[1:] - spent[np.searchsorted(query, query)]
        return np.asarray(near & (used <= budget) & (budget > 0))

    left = np.full(int(query.max(initial=-1)) + 1, budget)
    keep = np.zeros(len(rank), bool)
    order = np.argsort(rank, kind="stable")
    bounds = np.searchsorted(rank[order], np.arange(1, int(rank.max(initial=0)) + 2))
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        rows = order[low:high]
        rows = rows[near[rows] & (tokens[rows] <= left[query[rows]]) & (budget > 0)]
        keep[rows] = True
        left[query[rows]] -= tokens[rows]

    return keep


class Ideals:
    """What depends on judgements alone, kept with them: runs that come one after the other need not make it again."""

    MOST = 64

    def __init__(self, judged: np.ndarray, start: np.ndarray) -> None:
        self.judged = judged
        self.start = start
        self._kept: dict[object, np.ndarray] = {}

    def once(self, what: object, make: Callable[[], np.ndarray]) -> np.ndarray:
        """What was made under that name, or is made now. It is not to be written to."""
        kept = self._kept.get(what)
        if kept is None:
            kept = make()
            kept.setflags(write=False)
            if len(self._kept) >= self.MOST:
                self._kept.clear()
            self._kept[what] = kept
        return kept


@dataclass(frozen=True)
class Placements:
    """One row per judged document that was retrieved, and per query what was judged and how much returned.

    Rows are ordered by query, then rank. A rank between 1 and `retrieved` that has no row is a document
    that was not judged. Sums run left to right in rank order, so they equal a plain loop's to the last bit.
    """

    queries: tuple[str, ...]
    """Ids, in byte order; the other columns number them from 0."""
    retrieved: np.ndarray
    """How many documents the run returned for each query."""
    answered: np.ndarray
    """Whether the run has the query at all."""
    judged_start: np.ndarray
    """Where each query's grades begin in `judged`; one more entry than queries."""
    judged: np.ndarray
    """Every judged grade, descending within its query."""

    query: np.ndarray
    rank: np.ndarray
    """1 for the first document."""
    grade: np.ndarray
    tie_first: np.ndarray
    """The first rank of the placement's group of equal scores; equals `rank` when untied."""
    tie_last: np.ndarray
    label: np.ndarray | None = None
    """Which judgement each row is about: its row in `JudgementArrays`, or the number of a reference text.

    None where nobody asks: each row then has a judgement of its own.
    """
    shared: bool = False
    """Whether several rows may have one label, or one rank.

    A document that a ranking repeats has a row for each time; a text that covers two references has two rows of one
    rank, in the order of the references. The views `per_label`, `per_rank`, `places`, `one_to_one` and `first_free` say
    what counts then.
    """
    lengths: Lengths | None = None
    """The lengths of retrieved texts, where somebody counted them."""
    ideals: Ideals | None = field(default=None, compare=False, repr=False)
    """What was made of judgements before; of these ones, if `judged` is theirs."""

    def of_judgements(self, what: object, make: Callable[[], np.ndarray]) -> np.ndarray:
        """What `make` gives, if it depends on `judged` and `judged_start` alone. It is not to be written to."""
        kept = self.ideals
        if kept is None or kept.judged is not self.judged or kept.start is not self.judged_start:
            return make()
        return kept.once(what, make)

    def __len__(self) -> int:
        return len(self.queries)

    # What measures are made of.

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Per query, the sum of one value per placement, in rank order."""
        return np.bincount(self.query, weights=values, minlength=len(self))

    def count(self, which: np.ndarray) -> np.ndarray:
        """Per query, how many placements are marked."""
        counts = np.zeros(len(self.queries), np.int64)
        if core.count(self.query, which, counts):
            return counts
        return np.bincount(self.query[which], minlength=len(self))

    def cumulate(self, which: np.ndarray) -> np.ndarray:
        """Per placement, how many marked ones its query has up to and including it."""
        counted = np.empty(len(which), np.int64)
        if core.cumulate(self.query, which, counted):
            return counted
        running: np.ndarray = which.cumsum()
        running -= np.concatenate(([0], running))[self.start[self.query]]
        return running

    def running(self, values: np.ndarray, step: np.ufunc = np.add) -> np.ndarray:
        """Per placement, the sum of its query's values up to and including it, made left to right."""
        return accumulate(values, self.start, step)

    def first(self, which: np.ndarray) -> np.ndarray:
        """Per query, the rank of the first marked placement, 0 if there is none."""
        rank = np.zeros(len(self.queries), np.int64)
        if core.first(self.query, which, self.rank, rank):
            return rank
        rows = np.flatnonzero(which)[::-1]
        rank[self.query[rows]] = self.rank[rows]
        return rank

    def relevant(self, rel: float) -> np.ndarray:
        """Per query, how many judged documents have at least this grade, retrieved or not."""
        return self.of_judgements(("relevant", rel), lambda: self._at_least(rel))

    def _at_least(self, rel: float) -> np.ndarray:
        if len(self.queries) == 1:
            return np.array([np.count_nonzero(self.judged >= rel)])
        return np.bincount(self.judged_query[self.judged >= rel], minlength=len(self))

    def nonrelevant(self, rel: float) -> np.ndarray:
        """Per query, how many judged documents have a lower grade; negative grades are not judged."""
        which = (self.judged >= 0) & (self.judged < rel)
        return np.bincount(self.judged_query[which], minlength=len(self))

    def by_label(self, values: np.ndarray) -> np.ndarray:
        """Values of placements by judgement: 0 for those not returned, the first row's for those repeated."""
        assert self.label is not None
        by_judgement = np.zeros(len(self.judged), np.int64)
        by_judgement[self.label[::-1]] = values[::-1]
        return by_judgement

    @cached_property
    def start(self) -> np.ndarray:
        """Where each query's placements begin; one more entry than queries."""
        counts = np.bincount(self.query, minlength=len(self))
        return np.concatenate(([0], np.cumsum(counts)))

    @cached_property
    def judged_query(self) -> np.ndarray:
        """The query of each entry of `judged`."""
        if len(self) == 1:
            return np.zeros(len(self.judged), np.int64)
        return np.repeat(np.arange(len(self)), np.diff(self.judged_start))

    @cached_property
    def judged_rank(self) -> np.ndarray:
        """The rank that each entry of `judged` has in the ideal ranking."""
        rank: np.ndarray = np.arange(1, len(self.judged) + 1)
        return rank if len(self.queries) == 1 else rank - self.judged_start[self.judged_query]

    # Other views of the same ranking.

    def cut(self, depth: int | np.ndarray) -> Placements:
        """As if the run had returned no more than `depth` documents a query (one number, or one for each)."""
        most = np.broadcast_to(np.asarray(depth), len(self))
        return replace(self.where(self.rank <= most[self.query]), retrieved=np.minimum(self.retrieved, most))

    def packed(self, budget: int, pack: str = "prefix", depth: int | None = None) -> Placements:
        """As if only the texts had been returned that fit into so many tokens; ranks close up."""
        if self.lengths is None:
            what = "tokens are counted for texts only"
            raise MeasureError(what, hint="Use evaluate_texts, or a cut-off.", code="texts-only")
        keep = self.lengths.packed(budget, pack, depth)
        context = self._texts(keep)
        return context._with_cut(self, keep, budget, depth) if pack == "truncate" else context

    def _texts(self, keep: np.ndarray) -> Placements:
        """The marked texts alone; ranks close up."""
        assert self.lengths is not None
        start, tokens = self.lengths.start, self.lengths.tokens
        kept = np.concatenate(([0], np.cumsum(keep)))
        text = start[self.query] + self.rank - 1
        new = self.where(keep[text])
        text = text[keep[text]]
        rank = kept[text + 1] - kept[start[new.query]]
        lengths = self.lengths._replace(start=kept[start], tokens=tokens[keep])
        retrieved = np.diff(kept[start])
        return replace(new, rank=rank, tie_first=rank, tie_last=rank, retrieved=retrieved, lengths=lengths)

    def _with_cut(self, whole: Placements, keep: np.ndarray, budget: int, depth: int | None) -> Placements:
        """These texts of a ranking and the beginning of the next one, as far as it fits."""
        assert whole.lengths is not None
        assert self.lengths is not None
        if budget not in whole.lengths.cut:
            raise MeasureError(f"texts were not cut for a budget of {budget:,} tokens", hint="Use evaluate_texts.")

        cut = whole.lengths.cut[budget]
        reached = self.retrieved < (np.inf if depth is None else depth)
        has = (cut.tokens > 0) & reached
        rows = has[cut.query]
        query = np.concatenate((self.query, cut.query[rows]))
        rank = np.concatenate((self.rank, self.retrieved[cut.query[rows]] + 1))
        order = np.lexsort((rank, query))
        assert self.label is not None
        grade = np.concatenate((self.grade, cut.grade[rows]))[order]
        label = np.concatenate((self.label, cut.label[rows]))[order]
        tokens = np.insert(self.lengths.tokens, self.lengths.start[1:][has], cut.tokens[has])
        start = self.lengths.start + np.concatenate(([0], np.cumsum(has)))
        query, rank = query[order], rank[order]
        return replace(
            self, query=query, rank=rank, tie_first=rank, tie_last=rank, grade=grade, label=label,
            retrieved=self.retrieved + has, lengths=self.lengths._replace(start=start, tokens=tokens),
        )  # fmt: skip

    @cached_property
    def condensed(self) -> Placements:
        """As if the run had returned only judged documents (grade 0 or more); ranks close up."""
        kept = self.where(self.grade >= 0)
        rank = kept.cumulate(np.ones(len(kept.query), bool))
        retrieved = np.bincount(kept.query, minlength=len(self))
        group = kept.tie_group
        size = np.bincount(group)[group] if len(group) else group
        first = rank[np.searchsorted(group, group)] if len(group) else rank
        return replace(kept, retrieved=retrieved, rank=rank, tie_first=first, tie_last=first + size - 1)

    @cached_property
    def closed(self) -> Placements:
        """As if the returned documents were all there are: every rank has a row, of grade 0 if nobody judged it."""
        start = np.concatenate(([0], np.cumsum(self.retrieved)))
        query = np.repeat(np.arange(len(self)), self.retrieved)
        rank = np.arange(len(query)) - start[query] + 1
        grade = np.zeros(len(query), self.grade.dtype)
        grade[self.row_of_rank] = self.grade
        first, last = rank.copy(), rank.copy()
        tied = np.flatnonzero(self.tie_last > self.tie_first)
        for row in tied[np.unique(self.tie_group[tied], return_index=True)[1]].tolist():
            low, high = self.tie_first[row], self.tie_last[row]
            group = slice(start[self.query[row]] + low - 1, start[self.query[row]] + high)
            first[group], last[group] = low, high

        return replace(
            self,
            judged_start=start,
            judged=grade[np.lexsort((-grade, query))],
            query=query,
            rank=rank,
            grade=grade,
            tie_first=first,
            tie_last=last,
            label=None,
        )

    @property
    def row_of_rank(self) -> np.ndarray:
        """The row that each placement has among all returned documents, as `closed` has them."""
        start = np.concatenate(([0], np.cumsum(self.retrieved)))
        row: np.ndarray = start[self.query] + self.rank - 1
        return row

    @cached_property
    def tie_group(self) -> np.ndarray:
        """The group of equal scores that each placement belongs to, numbered in order."""
        fresh = np.ones(len(self.query), bool)
        fresh[1:] = (self.query[1:] != self.query[:-1]) | (self.tie_first[1:] != self.tie_first[:-1])
        return np.cumsum(fresh) - 1

    @property
    def ideal(self) -> Placements:
        """As if the run had returned everything that was judged, the highest grade first."""
        return replace(
            self,
            retrieved=np.diff(self.judged_start),
            query=self.judged_query,
            rank=self.judged_rank,
            grade=self.judged,
            tie_first=self.judged_rank,
            tie_last=self.judged_rank,
            label=None,
            shared=False,
        )

    def best_of_ties(self, best: bool = True) -> Placements:
        """As if tied documents were ordered by grade, the highest first (or last); unjudged ones are the lowest."""
        group = self.tie_group
        order = np.lexsort((-self.grade if best else self.grade, group))
        start = np.searchsorted(group, group)
        place = np.arange(len(group)) - start
        size = np.bincount(group)[group] if len(group) else group
        rank = self.tie_first + place if best else self.tie_last - size + 1 + place
        if best:
            # A negative grade is no better than no judgement: those go to the end of their group.
            bad = self.grade[order] < 0
            rank = np.where(bad, self.tie_last - size + 1 + place, rank)
        label = None if self.label is None else self.label[order]
        return replace(self, rank=rank, grade=self.grade[order], label=label)

    @cached_property
    def novel(self) -> np.ndarray:
        """Which rows are the first of their label."""
        if not self.shared:
            return np.ones(len(self.query), bool)
        assert self.label is not None
        first = np.zeros(len(self.query), bool)
        order = np.argsort(self.label, kind="stable")
        label = self.label[order]
        first[order] = np.concatenate(([True], label[1:] != label[:-1]))[: len(order)]
        return first

    @cached_property
    def per_label(self) -> Placements:
        """Each judgement once, where it first appears: what recall of references counts."""
        return replace(self.where(self.novel), shared=False) if self.shared else self

    @cached_property
    def per_rank(self) -> Placements:
        """Each rank once, with its best grade: a text that covers any reference is relevant."""
        if not self.shared or not len(self.query):
            return self
        first = np.concatenate(([True], (np.diff(self.query) != 0) | (np.diff(self.rank) != 0)))
        best = np.maximum.reduceat(self.grade, np.flatnonzero(first))
        return replace(self.where(first), grade=best, label=None, shared=False)

    @property
    def every_row(self) -> Placements:
        """Each row as a find of its own: pairs of a text and a reference."""
        return replace(self, label=None, shared=False)

    @cached_property
    def places(self) -> Placements:
        """Each covered reference at a place of its own, not above the text that covers it (`credit.schedule`).

        What a text brings beyond one reference waits for the next places, after the last text if need be.
        """
        if not self.shared:
            return self
        first = self.per_label
        assert first.label is not None
        place, row = credit.schedule(first.query, first.rank, first.grade, first.label)
        retrieved = self.retrieved.copy()
        np.maximum.at(retrieved, first.query, place)
        return replace(first._at(first.query, place, row), retrieved=retrieved)

    @cached_property
    def one_to_one(self) -> Placements:
        """Each rank gets a label of its own, as many as possible (`credit.maximum_matching`)."""
        if not self.shared:
            return self
        assert self.label is not None
        kept, given = credit.maximum_matching(self.query, self.rank, self.grade, self.label)
        return self._at(self.query[kept], self.rank[kept], given)

    @cached_property
    def first_free(self) -> Placements:
        """Each rank gets the first label that no rank above it got, and each label is given once."""
        if not self.shared:
            return self
        assert self.label is not None
        return replace(self.where(credit.first_free(self.query, self.rank, self.label)), shared=False)

    def _at(self, query: np.ndarray, rank: np.ndarray, row: np.ndarray) -> Placements:
        """Rows with the grades and labels of others, at other ranks; each has a label and a rank of its own."""
        moved = {"query": query, "rank": rank, "tie_first": rank, "tie_last": rank, "grade": self.grade[row]}
        assert self.label is not None
        return replace(self, **moved, label=self.label[row], shared=False, lengths=None)

    def where(self, keep: np.ndarray) -> Placements:
        """The marked rows alone; what was judged and returned stays."""
        columns = ("query", "rank", "grade", "tie_first", "tie_last")
        kept = {name: getattr(self, name)[keep] for name in columns}
        return replace(self, **kept, label=None if self.label is None else self.label[keep])
