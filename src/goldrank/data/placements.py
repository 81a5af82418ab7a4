"""The rank of each judged document: `Placements`, the table that measures read."""

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
    """log2 of positive integers by the C library: numpy's log2 may differ in the last bit on some machines."""
    global _log2
    try:
        values: np.ndarray = _log2[x]
    except IndexError:  # comparing with the highest before would take longer than the rest for a short ranking
        size = max(2 * len(_log2), int(x.max()) + 1, 1024)
        _log2 = np.array([math.nan, *map(math.log2, range(1, size))])
        values = _log2[x]
    return values


def accumulate(values: np.ndarray, start: np.ndarray, step: np.ufunc = np.add) -> np.ndarray:
    """Running sums (or products) within segments, from left to right; `start` has one more entry than segments."""
    result = np.array(values, np.float64)
    size = np.diff(start)
    position = np.arange(len(result)) - np.repeat(start[:-1], size)
    order = np.argsort(position, kind="stable")
    bounds = np.cumsum(np.bincount(position))
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        rows = order[low:high]
        result[rows] = step(result[rows - 1], result[rows])
    return result


class CutTexts(NamedTuple):
    """Per query, the beginning of the first text that does not fit into a budget: its tokens and what it covers."""

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
        """Which of the first `depth` texts are in a context of `budget` tokens; texts are not cut."""
        return packed(self.query, self.rank, self.tokens, budget, pack, depth)


def packed(
    query: np.ndarray, rank: np.ndarray, tokens: np.ndarray, budget: int, pack: str, depth: int | None
) -> np.ndarray:
    """Which texts fit without a cut: up to the first that does not, or with "skip" each that fits into the rest."""
    near = np.ones(len(rank), bool)
    if depth is not None:
        near = rank <= depth

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
    """A cache of arrays that depend on judgements alone, so that several runs can share them."""

    MOST = 64

    def __init__(self, judged: np.ndarray, start: np.ndarray) -> None:
        self.judged = judged
        self.start = start
        self._arrays: dict[object, np.ndarray] = {}

    def cached(self, key: object, make: Callable[[], np.ndarray]) -> np.ndarray:
        """The array of a key, made if it is not there. It is read-only."""
        array = self._arrays.get(key)
        if array is None:
            array = make()
            array.setflags(write=False)
            if len(self._arrays) >= self.MOST:
                self._arrays.clear()
            self._arrays[key] = array
        return array


@dataclass(frozen=True)
class Placements:
    """One row per judged document that was retrieved; per query the judgements and the number of returned documents.

    Rows are ordered by query, then rank. A rank between 1 and `retrieved` without a row is an unjudged document. Sums
    run from left to right in rank order, so they equal the sums of a plain loop to the last bit.
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
    """The judgement of each row: its row in `JudgementArrays`, or the number of a reference text.

    None where it is not needed: then all rows have different judgements.
    """
    shared: bool = False
    """Whether several rows may have one label, or one rank.

    A document that a ranking repeats has several rows; a text that covers two references has two rows of one rank, in
    the order of the references. The views `per_label`, `per_rank`, `places`, `one_to_one` and `first_free` decide which
    rows count then.
    """
    lengths: Lengths | None = None
    """The lengths of retrieved texts; None where they were not counted."""
    ideals: Ideals | None = field(default=None, compare=False, repr=False)
    """A cache of arrays made from judgements; it applies if its `judged` is that of these placements."""

    def of_judgements(self, key: object, make: Callable[[], np.ndarray]) -> np.ndarray:
        """The result of `make`, which depends on `judged` and `judged_start` alone; cached, and not to be changed."""
        ideals = self.ideals
        if ideals is None or ideals.judged is not self.judged or ideals.start is not self.judged_start:
            return make()
        return ideals.cached(key, make)

    def __len__(self) -> int:
        return len(self.queries)

    # Parts of measures.

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
        """Per placement, how many marked placements its query has up to and including it."""
        counts = np.empty(len(which), np.int64)
        if core.cumulate(self.query, which, counts):
            return counts
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
        """Values of placements by judgement: 0 for documents not returned, the first row's value for repeated ones."""
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
        if len(self.queries) > 1:
            rank -= self.judged_start[self.judged_query]
        return rank

    # Other views of this ranking.

    def cut(self, depth: int | np.ndarray) -> Placements:
        """As if the run had returned no more than `depth` documents a query (one number, or one for each)."""
        most = np.broadcast_to(np.asarray(depth), len(self))
        return replace(self.where(self.rank <= most[self.query]), retrieved=np.minimum(self.retrieved, most))

    def packed(self, budget: int, pack: str = "prefix", depth: int | None = None) -> Placements:
        """As if only the texts that fit into the budget of tokens had been returned; ranks close up."""
        if self.lengths is None:
            problem = "tokens are counted for texts only"
            raise MeasureError(problem, hint="Use evaluate_texts, or a cut-off.", code="texts-only")

        context = self._texts(self.lengths.packed(budget, pack, depth))
        if pack == "truncate":
            return context._with_cut(self.lengths, budget, depth)
        return context

    def _texts(self, keep: np.ndarray) -> Placements:
        """The marked texts alone; ranks close up."""
        assert self.lengths is not None
        start, tokens = self.lengths.start, self.lengths.tokens
        before = np.concatenate(([0], np.cumsum(keep)))
        text = start[self.query] + self.rank - 1
        new = self.where(keep[text])
        text = text[keep[text]]

        rank = before[text + 1] - before[start[new.query]]
        lengths = self.lengths._replace(start=before[start], tokens=tokens[keep])
        retrieved = np.diff(before[start])
        return replace(new, rank=rank, tie_first=rank, tie_last=rank, retrieved=retrieved, lengths=lengths)

    def _with_cut(self, all_lengths: Lengths, budget: int, depth: int | None) -> Placements:
        """These texts and the beginning of the next text, as far as it fits; `all_lengths` are those before packing."""
        assert self.lengths is not None
        if budget not in all_lengths.cut:
            raise MeasureError(f"texts were not cut for a budget of {budget:,} tokens", hint="Use evaluate_texts.")

        cut = all_lengths.cut[budget]
        has_cut: np.ndarray = cut.tokens > 0
        if depth is not None:
            has_cut &= self.retrieved < depth

        rows = has_cut[cut.query]
        query = np.concatenate((self.query, cut.query[rows]))
        rank = np.concatenate((self.rank, self.retrieved[cut.query[rows]] + 1))
        order = np.lexsort((rank, query))
        assert self.label is not None
        grade = np.concatenate((self.grade, cut.grade[rows]))[order]
        label = np.concatenate((self.label, cut.label[rows]))[order]

        tokens = np.insert(self.lengths.tokens, self.lengths.start[1:][has_cut], cut.tokens[has_cut])
        start = self.lengths.start + np.concatenate(([0], np.cumsum(has_cut)))
        query, rank = query[order], rank[order]
        return replace(
            self, query=query, rank=rank, tie_first=rank, tie_last=rank, grade=grade, label=label,
            retrieved=self.retrieved + has_cut, lengths=self.lengths._replace(start=start, tokens=tokens),
        )  # fmt: skip

    @cached_property
    def condensed(self) -> Placements:
        """As if the run had returned only judged documents (grade 0 or more); ranks close up."""
        judged = self.where(self.grade >= 0)
        rank = judged.cumulate(np.ones(len(judged.query), bool))
        retrieved = np.bincount(judged.query, minlength=len(self))
        group = judged.tie_group
        size = np.bincount(group)[group]
        first = rank[np.searchsorted(group, group)]
        return replace(judged, retrieved=retrieved, rank=rank, tie_first=first, tie_last=first + size - 1)

    @cached_property
    def closed(self) -> Placements:
        """As if there were no other documents: every rank has a row, of grade 0 if the document is unjudged."""
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
        """The row of each placement among all returned documents, in the order of `closed`."""
        start = np.concatenate(([0], np.cumsum(self.retrieved)))
        row: np.ndarray = start[self.query] + self.rank - 1
        return row

    @cached_property
    def tie_group(self) -> np.ndarray:
        """The group of equal scores that each placement belongs to, numbered in order."""
        begins_group = np.ones(len(self.query), bool)
        begins_group[1:] = (self.query[1:] != self.query[:-1]) | (self.tie_first[1:] != self.tie_first[:-1])
        return np.cumsum(begins_group) - 1

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
        key = self.grade
        if best:
            key = -self.grade
        order = np.lexsort((key, group))

        position = np.arange(len(group)) - np.searchsorted(group, group)
        size = np.bincount(group)[group]
        rank = self.tie_last - size + 1 + position
        if best:
            # A negative grade is not better than no judgement: such documents stay at the end of their group.
            rank = np.where(self.grade[order] < 0, rank, self.tie_first + position)

        label = self.label
        if label is not None:
            label = label[order]
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
        """Each judgement once, where it first appears: recall of references counts these."""
        if not self.shared:
            return self
        return replace(self.where(self.novel), shared=False)

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
        """Each row counts separately: pairs of a text and a reference."""
        return replace(self, label=None, shared=False)

    @cached_property
    def places(self) -> Placements:
        """Each covered reference at a different rank, not above the text that covers it (`credit.schedule`).

        Further references of a text wait for the next free ranks, which may be after the last text.
        """
        if not self.shared:
            return self
        first = self.per_label
        assert first.label is not None
        rank, row = credit.schedule(first.query, first.rank, first.grade, first.label)
        retrieved = self.retrieved.copy()
        np.maximum.at(retrieved, first.query, rank)
        return replace(first._at(first.query, rank, row), retrieved=retrieved)

    @cached_property
    def one_to_one(self) -> Placements:
        """Each rank gets a different label, as many as possible (`credit.maximum_matching`)."""
        if not self.shared:
            return self
        assert self.label is not None
        text_rows, reference_rows = credit.maximum_matching(self.query, self.rank, self.grade, self.label)
        return self._at(self.query[text_rows], self.rank[text_rows], reference_rows)

    @cached_property
    def first_free(self) -> Placements:
        """Each rank gets the first label that no rank above it got, and each label is given once."""
        if not self.shared:
            return self
        assert self.label is not None
        return replace(self.where(credit.first_free(self.query, self.rank, self.label)), shared=False)

    def _at(self, query: np.ndarray, rank: np.ndarray, row: np.ndarray) -> Placements:
        """Rows with the grades and labels of the rows `row`, at other ranks; labels and ranks are distinct."""
        moved = {"query": query, "rank": rank, "tie_first": rank, "tie_last": rank, "grade": self.grade[row]}
        assert self.label is not None
        return replace(self, **moved, label=self.label[row], shared=False, lengths=None)

    def where(self, keep: np.ndarray) -> Placements:
        """Only the marked rows; the judgements and the numbers of returned documents stay."""
        label = self.label
        if label is not None:
            label = label[keep]
        return replace(
            self,
            query=self.query[keep],
            rank=self.rank[keep],
            grade=self.grade[keep],
            tie_first=self.tie_first[keep],
            tie_last=self.tie_last[keep],
            label=label,
        )
