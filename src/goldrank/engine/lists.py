"""The engine for rankings that are plain lists of ids, best first. It needs only numpy.

A list has no scores, so there are no ties, and ids are compared as they are. A document that a list repeats keeps all
its ranks; in the view `Placements.per_label` only its first rank counts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from operator import attrgetter, methodcaller
from typing import Any, TypeGuard

import numpy as np

from goldrank.base.errors import InputError
from goldrank.base.ids import has_no_order
from goldrank.core import core
from goldrank.data.placements import Placements

FEW = 100
"""Up to how many relevant ids of one query are looked at one by one."""

Ids = Sequence[Hashable]
Judged = Mapping[Hashable, float] | Iterable[Hashable]


def place(rankings: Sequence[Ids], judged: Sequence[Judged]) -> Placements:
    """Placements of one list per query; `judged` are mappings from ids to grades, or the relevant ids."""
    return place_each(rankings, judged)[0]


def place_each(rankings: Sequence[Ids], *judgements: Sequence[Judged]) -> list[Placements]:
    """Placements of lists by several sets of judgements."""
    if any(map(has_no_order, rankings)):
        hint = "Give a list, best first: a set may give another result the next time."
        raise InputError("a ranking is a set, which has no order", hint=hint, code="no-order")

    size = np.fromiter(map(len, rankings), np.int64, len(rankings))
    total = int(size.sum())
    start = np.cumsum(size) - size
    owner = np.repeat(np.arange(len(size)), size)
    label = None
    if sum(map(len, map(set, rankings))) < total:
        label = np.empty(total, np.int64)
        for i, ranking in enumerate(rankings):
            first_index: dict[Hashable, int] = {}
            label[start[i] : start[i] + size[i]] = [
                first_index.setdefault(doc, index) for index, doc in enumerate(ranking, start[i])
            ]

    placements = []
    for judged in judgements:
        grade, judged_size, judged_grades = _grades(rankings, total, judged)
        rows = np.flatnonzero(~np.isnan(grade))
        query = owner[rows]
        row_label = None
        if label is not None:
            row_label = label[rows]
        rank = rows - start[query] + 1
        placements.append(_placements(size, judged_size, judged_grades, query, rank, row_label, grade[rows]))

    return placements


def _grades(
    rankings: Sequence[Ids], total: int, judged: Sequence[Judged]
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The grade of every document of every ranking (NaN if it is not judged), and sizes and grades of judgements.

    All loops run in C, as one chain over all rankings.
    """
    if all(type(ids) is set for ids in judged):
        relevant: Sequence[Any] = judged
        judged_grades = None
        inside = map(map, map(attrgetter("__contains__"), relevant), rankings)
        grade = np.where(np.fromiter(chain.from_iterable(inside), bool, total), 1.0, np.nan)
    else:
        relevant = list(map(_as_grades, judged))
        graded = map(map, map(attrgetter("get"), relevant), rankings, repeat(repeat(np.nan)))
        grade = np.fromiter(chain.from_iterable(graded), np.float64, total)
        judged_grades = np.fromiter(chain.from_iterable(map(methodcaller("values"), relevant)), np.float64)
    return grade, np.fromiter(map(len, relevant), np.int64, len(rankings)), judged_grades


def _as_grades(judged: Judged) -> Mapping[Hashable, float]:
    if type(judged) is dict or isinstance(judged, Mapping):
        return judged
    return dict.fromkeys(judged, 1)


def place_integers(rankings: Sequence[np.ndarray], relevant: Sequence[np.ndarray], depth: int) -> Placements:
    """Placements of integer ids down to `depth`; every id of `relevant` has grade 1, also a repeated one."""
    docs = _joined([ranking[:depth] for ranking in rankings])
    relevant_docs = _joined(relevant)
    if docs is None or relevant_docs is None:
        cut_rankings = [ranking[:depth].tolist() for ranking in rankings]
        return place(cut_rankings, [ids.tolist() for ids in relevant])
    if len(rankings) == 1:
        return _of_one_query(len(rankings[0]), docs, relevant_docs)

    size = np.fromiter(map(len, rankings), np.int64, len(rankings))
    cut_size = np.minimum(size, depth)
    query = np.repeat(np.arange(len(size)), cut_size)
    relevant_size = np.fromiter(map(len, relevant), np.int64, len(relevant))
    relevant_query = np.repeat(np.arange(len(size)), relevant_size)
    docs, relevant_docs, span = _pairs(docs, query, relevant_docs, relevant_query, len(size))

    rows, label, distinct = _matched(docs, relevant_docs)
    query = query[rows]
    start = np.cumsum(cut_size) - cut_size
    distinct_size = np.bincount(distinct // span, minlength=len(size))
    return _placements(size, distinct_size, None, query, rows - start[query] + 1, label)


def ranks_of_one_query(ranking: object, relevant: object, depth: int) -> tuple[list[int], int] | None:
    """The ranks of relevant ids down to `depth`, and the number of different relevant ids.

    None unless both are plain arrays of 64-bit integers that repeat no relevant id, and few ids are relevant:
    `place_integers` takes all others.
    """
    if not (_is_plain(ranking) and _is_plain(relevant)) or len(relevant) > FEW:
        return None
    docs = ranking[:depth]
    ranks = np.empty(len(docs), np.int64)
    hits, distinct, repeated = core.among(docs, relevant, ranks, np.empty(len(docs), np.int64))
    if repeated:
        return None
    return ranks[:hits].tolist(), distinct


def _is_plain(ids: object) -> TypeGuard[np.ndarray]:
    return type(ids) is np.ndarray and ids.dtype == np.int64 and ids.ndim == 1 and ids.flags.c_contiguous


def of_one_query(relevant: int) -> Placements:
    """The judgements of a query with a number of relevant documents, and nothing returned."""
    nothing = _zeros(0)
    return _of_one_query(0, nothing, np.arange(relevant))


def _constant(value: float, kind: type) -> np.ndarray:
    column: np.ndarray = np.full(4096, value, kind)
    column.flags.writeable = False  # many tables share parts of it
    return column


_ONE = ("0",), np.ones(1, bool)
"""The name of the only query, and that it was answered."""
_ONES = _constant(1, np.float64)
_ZEROS = _constant(0, np.int64)


def _ones(size: int) -> np.ndarray:
    if size <= len(_ONES):
        return _ONES[:size]
    return np.ones(size)


def _zeros(size: int) -> np.ndarray:
    if size <= len(_ZEROS):
        return _ZEROS[:size]
    return np.zeros(size, np.int64)


def _of_one_query(size: int, docs: np.ndarray, relevant: np.ndarray) -> Placements:
    """`place_integers` for one query, with few calls of numpy, which take most of the time there."""
    ranks = np.empty(len(docs), np.int64)
    labels = np.empty(len(docs), np.int64)
    hits, distinct, repeated = core.among(np.ascontiguousarray(docs), np.ascontiguousarray(relevant), ranks, labels)
    rank = ranks[:hits]
    label = None
    if repeated:
        label = labels[:hits]

    queries, answered = _ONE
    return Placements(
        queries=queries,
        retrieved=np.array([size]),
        answered=answered,
        judged_start=np.array([0, distinct]),
        judged=_ones(distinct),
        query=_zeros(hits),
        rank=rank,
        grade=_ones(hits),
        tie_first=rank,
        tie_last=rank,
        label=label,
        shared=label is not None,
    )


def _matched(docs: np.ndarray, relevant: np.ndarray) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """The rows of relevant docs, their indices among the distinct relevant ids (None if all differ), and these ids."""
    distinct = np.sort(relevant)
    is_repeated = distinct[1:] == distinct[:-1]
    if is_repeated.any():
        distinct = np.concatenate((distinct[:1], distinct[1:][~is_repeated]))
    if not len(distinct):
        return np.zeros(0, np.int64), None, distinct

    index = distinct.searchsorted(docs)
    # A doc above the last relevant id is compared with that id, which is smaller.
    rows = (distinct.take(index, mode="clip") == docs).nonzero()[0]
    label = index[rows]
    if len(label) > 1 and np.bincount(label).max() > 1:
        return rows, label, distinct
    return rows, None, distinct


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray | None:
    """All ids in one array of 64-bit integers; None if some do not fit into 64 bits."""
    if len(arrays) == 1 and arrays[0].dtype.kind == "i" and arrays[0].ndim == 1:
        return arrays[0].astype(np.int64, copy=False)

    if len({array.dtype for array in arrays}) > 1:
        arrays = [array for array in arrays if array.size]  # an empty list has no meaningful type

    kinds = {array.dtype for array in arrays}
    for kind in kinds:
        if kind.kind not in "iu" and any(array.size for array in arrays if array.dtype == kind):
            raise InputError(
                f"ids are of type {kind}, not integers",
                hint="Number the documents, or use goldrank.evaluate, which takes ids of text.",
            )

    if np.dtype(np.uint64) in kinds:
        highest = max(int(array.max(initial=0)) for array in arrays if array.dtype == np.uint64)
        if highest > np.iinfo(np.int64).max:
            return None

    if len(kinds) > 1:
        arrays = [array.astype(np.int64) for array in arrays]

    joined: np.ndarray = np.zeros(0, np.int64)
    try:
        if arrays:
            joined = np.concatenate(arrays)
    except ValueError:
        joined = np.zeros((0, 0))

    if joined.ndim != 1:
        hint = "Give one plain array of ids for each query."
        raise InputError("ids of a query are a table", hint=hint, code="wrong-type")
    return joined.astype(np.int64, copy=False)


def _pairs(
    docs: np.ndarray, query: np.ndarray, relevant: np.ndarray, relevant_query: np.ndarray, queries: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """One number for each pair of query and id, and the difference between the numbers of two queries.

    All queries can then be joined by one search.
    """
    filled = [ids for ids in (docs, relevant) if len(ids)]
    low = min((int(ids.min()) for ids in filled), default=0)
    span = max((int(ids.max()) for ids in filled), default=0) - low + 1
    if span * queries > np.iinfo(np.int64).max:
        values, code = np.unique(np.concatenate((docs, relevant)), return_inverse=True)
        docs, relevant = code[: len(docs)], code[len(docs) :]
        low, span = 0, len(values)
    return docs - low + query * span, relevant - low + relevant_query * span, span


def _placements(
    retrieved: np.ndarray,
    judged_size: np.ndarray,
    judged: np.ndarray | None,
    query: np.ndarray,
    rank: np.ndarray,
    label: np.ndarray | None,
    grade: np.ndarray | None = None,
) -> Placements:
    """The placements; without grades, all judged documents have grade 1."""
    start = np.zeros(len(judged_size) + 1, np.int64)
    np.cumsum(judged_size, out=start[1:])
    if judged is None:
        judged = np.ones(int(start[-1]))
    elif len(judged) > 1 and (judged != judged[0]).any():
        judged = judged[np.lexsort((-judged, np.repeat(np.arange(len(judged_size)), judged_size)))]
    if grade is None:
        grade = np.ones(len(rank))

    return Placements(
        queries=tuple(map(str, range(len(retrieved)))),
        retrieved=retrieved,
        answered=np.ones(len(retrieved), bool),
        judged_start=start,
        judged=judged,
        query=query,
        rank=rank,
        grade=grade,
        tie_first=rank,
        tie_last=rank,
        label=label,
        shared=label is not None,
    )
