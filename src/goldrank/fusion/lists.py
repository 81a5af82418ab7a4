"""Rankings of several runs side by side, as arrays: what normalisations and fusion methods work on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain, count, pairwise, product
from operator import methodcaller

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, one_of
from goldrank.conventions import POLICIES
from goldrank.core import core
from goldrank.data.run import Run, check_score, rows_of

PIECE = 500_000
"""About how many entries are worked on at once, so that memory does not grow with the number of queries."""

CELLS = 4_000_000
"""About how many scores or ranks are in one table at once."""

TIES = {rule: POLICIES["ties"][rule] for rule in ("docid", "docid-ascending", "input")}


@dataclass(frozen=True)
class RankedLists:
    """The rankings of some queries: an entry for each document that a run returned for a query.

    Entries are ordered by query, then by run. A candidate is a document that some run returned for a query, and a list
    is what one run returned for one query; lists are numbered by query, then by run.
    """

    queries: tuple[str, ...]
    runs: tuple[str, ...]
    docs: tuple[str, ...]
    """The document of each candidate, ordered by query."""
    first: np.ndarray
    """Where each query's candidates begin; one more entry than queries."""
    start: np.ndarray
    """Where each list begins; one more entry than lists."""
    candidate: np.ndarray
    """The candidate of each entry."""
    score: np.ndarray
    """The score of each entry, or what a normalisation made of it."""
    ranked: Callable[[], np.ndarray]
    """Makes `rank` on first use: methods that go by scores never use it."""
    absent: np.ndarray | None = None
    """For each list, what a document gets that is not in it; None for nothing."""

    @property
    def rank(self) -> np.ndarray:
        """The rank of each entry in its list, from 1."""
        return self.ranked()

    @cached_property
    def list(self) -> np.ndarray:
        """The list of each entry."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @cached_property
    def run(self) -> np.ndarray:
        """The run of each entry."""
        return self.list % len(self.runs)

    @cached_property
    def length(self) -> np.ndarray:
        """How long the list of each entry is."""
        lengths: np.ndarray = np.diff(self.start)[self.list]
        return lengths

    @cached_property
    def query(self) -> np.ndarray:
        """The query of each candidate."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.first))

    @cached_property
    def candidates(self) -> np.ndarray:
        """For each list, how many candidates its query has."""
        return np.repeat(np.diff(self.first), len(self.runs))

    @cached_property
    def count(self) -> np.ndarray:
        """How many runs returned each candidate."""
        return np.bincount(self.candidate, minlength=len(self.docs))

    def total(self, values: np.ndarray) -> np.ndarray:
        """The sum over the entries of each candidate, in the order of the runs."""
        return np.bincount(self.candidate, weights=values, minlength=len(self.docs))

    def over_lists(self, values: np.ndarray) -> np.ndarray:
        """The sum of a value of each list over the lists of each candidate's query."""
        summed: np.ndarray = values.reshape(len(self.queries), len(self.runs)).sum(axis=1)[self.query]
        return summed

    def side_by_side(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Some candidates at a time: which, and a row of scores for each, ascending, filled up with infinity."""
        runs = len(self.runs)
        edges = np.flatnonzero(np.diff(self.first[:-1] * runs // CELLS)) + 1
        for begin, end in pairwise([0, *edges.tolist(), len(self.queries)]):
            candidates = slice(int(self.first[begin]), int(self.first[end]))
            entries = slice(int(self.start[begin * runs]), int(self.start[end * runs]))
            table = np.full((candidates.stop - candidates.start, runs), np.inf)
            table[self.candidate[entries] - candidates.start, self.run[entries]] = self.score[entries]
            table.sort(axis=1)
            yield candidates, table

    def fused(self, values: np.ndarray) -> Iterator[tuple[str, dict[str, float]]]:
        """Each query with its candidates and their values."""
        numbers = values.tolist()
        for query, begin, end in zip(self.queries, self.first[:-1].tolist(), self.first[1:].tolist(), strict=True):
            yield query, dict(zip(self.docs[begin:end], numbers[begin:end], strict=True))

    def of_run(self, number: int) -> Iterator[tuple[str, dict[str, float]]]:
        """Each query with what one run has for it."""
        docs, scores = self.docs, self.score.tolist()
        for i, query in enumerate(self.queries):
            begin, end = self.start[i * len(self.runs) + number : i * len(self.runs) + number + 2].tolist()
            yield query, dict(zip([docs[j] for j in self.candidate[begin:end]], scores[begin:end], strict=True))


def pieces(
    runs: Sequence[Run],
    *,
    ties: str = "docid",
    lowest_first: bool = False,
    only: Iterable[str] | None = None,
    size: int = PIECE,
) -> Iterator[RankedLists]:
    """The lists of all queries, some queries at a time; `lowest_first` ranks the lowest score first."""
    one_of(ties, TIES, "ties")
    queries = list(dict.fromkeys(chain.from_iterable(runs)))
    if only is not None:
        chosen = set(only)
        queries = [query for query in queries if query in chosen]
    results = [rows_of(run) for run in runs]
    if not queries:
        return

    # How long each query's lists are together, so that pieces can be cut before anything is read.
    lengths = np.zeros(len(queries), np.int64)
    for rows in results:
        lengths_of_run = (len(rows[query]) if query in rows else 0 for query in queries)
        lengths += np.fromiter(lengths_of_run, np.int64, len(queries))
    edges = np.unique((np.cumsum(lengths) - lengths) // size, return_index=True)[1].tolist()

    for begin, end in pairwise([*edges, len(queries)]):
        yield _lists(runs, results, queries[begin:end], ties, lowest_first)


def _lists(
    runs: Sequence[Run],
    results: Sequence[Mapping[str, Mapping[str, float]]],
    queries: Sequence[str],
    ties: str,
    lowest_first: bool,
) -> RankedLists:
    no_results: Mapping[str, float] = {}
    rows = [run_results.get(query) or no_results for query in queries for run_results in results]
    start = np.concatenate(([0], np.cumsum(list(map(len, rows))))).astype(np.int64)
    docs: list[str] = []
    first = [0]
    candidate_of = np.empty(start[-1], np.int64)
    begins = start[:: len(runs)].tolist()
    for i, (begin, end) in enumerate(pairwise(begins)):
        docs += _numbered(rows[i * len(runs) : (i + 1) * len(runs)], len(docs), candidate_of[begin:end])
        first.append(len(docs))

    scores = _scores(runs, queries, rows, int(start[-1]))
    order_scores = scores
    if lowest_first:
        order_scores = -scores
    ranked = cache(partial(_ranks, order_scores, start, candidate_of, docs, ties))
    names = tuple(run.name for run in runs)
    return RankedLists(
        tuple(queries), names, tuple(docs), np.array(first, np.int64), start, candidate_of, scores, ranked
    )


def _numbered(rows: list[Mapping[str, float]], first: int, out: np.ndarray) -> Iterable[str]:
    """The candidates of a query, whose numbers from `first` on are put into `out` for all entries of its lists."""
    listed = core.candidates(rows, first, out)
    if listed is not None:
        return listed

    number: defaultdict[str, int] = defaultdict(count(first).__next__)  # each document, when first looked up
    out[:] = np.fromiter(map(number.__getitem__, chain.from_iterable(rows)), np.int64, len(out))
    return number


def _scores(
    runs: Sequence[Run], queries: Sequence[str], rows: Sequence[Mapping[str, float]], length: int
) -> np.ndarray:
    """The scores of all entries; `rows` are ordered by query, then by run."""
    try:
        scores = np.fromiter(chain.from_iterable(map(methodcaller("values"), rows)), np.float64, length)
        if not np.isnan(scores).any():
            return scores
    except (TypeError, ValueError, OverflowError):
        pass

    checked = [
        check_score(value, f"{run.name}: query '{ids.show(query)}', document '{ids.show(doc)}'")
        for (query, run), row in zip(product(queries, runs), rows, strict=True)
        for doc, value in row.items()
    ]
    return np.array(checked, np.float64)


def _ranks(score: np.ndarray, start: np.ndarray, candidate: np.ndarray, docs: Sequence[str], ties: str) -> np.ndarray:
    """The rank of each entry in its list. Lists whose scores descend, as most do, or ascend need no sorting."""
    size = np.diff(start)
    of_list = np.repeat(np.arange(len(size)), size)
    rank: np.ndarray = np.arange(1, len(score) + 1) - start[of_list]
    within = of_list[1:] == of_list[:-1]
    descends = ~_any(of_list[1:][within & ~(score[1:] < score[:-1])], len(size))
    if descends.all():
        return rank

    ascends = ~_any(of_list[1:][within & ~(score[1:] > score[:-1])], len(size))
    turned = (ascends & ~descends)[of_list]
    rank[turned] = (size[of_list] + 1 - rank)[turned]
    unsorted = np.flatnonzero(~(descends | ascends))
    power = np.frexp(size[unsorted] - 1)[1]
    for exponent in np.unique(power).tolist():  # lists of about the same length are rows of a table
        chosen = unsorted[power == exponent]
        position = np.arange(size[chosen].max())
        inside = position < size[chosen][:, None]
        entries = start[chosen][:, None] + np.where(inside, position, 0)
        order = np.argsort(np.where(inside, -score[entries], np.nan), axis=1, kind="stable")
        entry = np.take_along_axis(entries, order, axis=1)[inside]
        tied = (score[entry][1:] == score[entry][:-1]) & (of_list[entry][1:] == of_list[entry][:-1])
        if ties != "input" and tied.any():
            _sort_ties(entry, tied, candidate, docs, ties)
        rank[entry] = np.broadcast_to(position + 1, inside.shape)[inside]

    return rank


def _any(numbers: np.ndarray, count: int) -> np.ndarray:
    """For each number below a count, whether it is among `numbers`."""
    is_among = np.zeros(count, bool)
    is_among[numbers] = True
    return is_among


def _sort_ties(entry: np.ndarray, tied: np.ndarray, candidate: np.ndarray, docs: Sequence[str], ties: str) -> None:
    """Put entries of equal scores into the order of their documents' ids; `tied` is whether each is with the next."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], tied, [False])).astype(np.int8)))
    for begin, end in zip(edges[::2].tolist(), (edges[1::2] + 1).tolist(), strict=True):
        group = entry[begin:end].tolist()
        group.sort(key=lambda i: ids.encode(docs[int(candidate[i])]), reverse=ties == "docid")
        entry[begin:end] = group


def check_finite(lists: RankedLists) -> None:
    """Refuse scores that cannot be normalised."""
    wrong = np.flatnonzero(~np.isfinite(lists.score))
    if len(wrong):
        number = int(lists.list[wrong[0]])
        query, run = divmod(number, len(lists.runs))
        raise InputError(
            f"query '{ids.show(lists.queries[query])}' has scores that are not finite, which cannot be normalised",
            where=lists.runs[run],
            hint="Use 'rrf', or normalization='rank', which need ranks only.",
            code="not-finite",
        )
