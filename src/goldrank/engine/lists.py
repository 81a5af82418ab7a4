"""The engine for rankings that are plain lists of ids, best first. It needs numpy and nothing else.

A list has no scores, so there are no ties, and ids are compared as they are. A document that a list repeats
keeps every place that it takes; `Placements.per_label` is the view in which only its first counts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np

from goldrank.base.errors import InputError
from goldrank.base.ids import has_no_order
from goldrank.core import core
from goldrank.data.placements import Placements

Ids = Sequence[Hashable]
Judged = Mapping[Hashable, float] | Iterable[Hashable]


def place(rankings: Sequence[Ids], judged: Sequence[Judged]) -> Placements:
    """Placements of one list per query; what is judged is a mapping from ids to grades, or the relevant ids."""
    return place_each(rankings, judged)[0]


def place_each(rankings: Sequence[Ids], *judgements: Sequence[Judged]) -> list[Placements]:
    """Placements of the same lists by several sets of judgements."""
    if any(map(has_no_order, rankings)):
        hint = "Give a list, best first: the same set would give another result the next time."
        raise InputError("a ranking is a set, which has no order", hint=hint, code="no-order")

    size = np.fromiter(map(len, rankings), np.int64, len(rankings))
    total = int(size.sum())
    start = np.cumsum(size) - size
    owner = np.repeat(np.arange(len(size)), size)
    label = None
    if sum(map(len, map(set, rankings))) < total:
        label = np.empty(total, np.int64)
        for i, ranking in enumerate(rankings):
            seen: dict[Hashable, int] = {}
            label[start[i] : start[i] + size[i]] = [
                seen.setdefault(doc, at) for at, doc in enumerate(ranking, start[i])
            ]

    placements = []
    for judged in judgements:
        grade, judged_size, worth = _looked_up(rankings, total, judged)
        rows = np.flatnonzero(~np.isnan(grade))
        query = owner[rows]
        if label is None:
            about = None
        else:
            about = label[rows]
        placements.append(_placements(size, judged_size, worth, query, rows - start[query] + 1, about, grade[rows]))

    return placements


def _looked_up(
    rankings: Sequence[Ids], total: int, judged: Sequence[Judged]
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The grade of every document of every ranking, NaN where it has none, and what was judged.

    All loops are C's, one chain over all rankings.
    """
    if all(type(ids) is set for ids in judged):
        relevant: Sequence[Any] = judged
        worth = None
        inside = map(map, map(attrgetter("__contains__"), relevant), rankings)
        grade = np.where(np.fromiter(chain.from_iterable(inside), bool, total), 1.0, np.nan)
    else:
        relevant = [ids if type(ids) is dict or isinstance(ids, Mapping) else dict.fromkeys(ids, 1) for ids in judged]
        graded = map(map, map(attrgetter("get"), relevant), rankings, repeat(repeat(np.nan)))
        grade = np.fromiter(chain.from_iterable(graded), np.float64, total)
        worth = np.fromiter(chain.from_iterable(map(methodcaller("values"), relevant)), np.float64)
    return grade, np.fromiter(map(len, relevant), np.int64, len(rankings)), worth


def place_integers(rankings: Sequence[np.ndarray], relevant: Sequence[np.ndarray], depth: int) -> Placements:
    """Placements of integer ids down to `depth`; every id of `relevant` has grade 1, repeated or not."""
    docs = _joined([ranking[:depth] for ranking in rankings])
    wanted = _joined(relevant)
    if docs is None or wanted is None:
        return place([ids[:depth].tolist() for ids in rankings], [ids.tolist() for ids in relevant])
    if len(rankings) == 1:
        return _of_one_query(len(rankings[0]), docs, wanted)

    size = np.fromiter(map(len, rankings), np.int64, len(rankings))
    shown = np.minimum(size, depth)
    query = np.repeat(np.arange(len(size)), shown)
    wanted_size = np.fromiter(map(len, relevant), np.int64, len(relevant))
    docs, wanted, span = _pairs(docs, query, wanted, np.repeat(np.arange(len(size)), wanted_size), len(size))
    rows, at, wanted = _found(docs, wanted)
    query = query[rows]
    start = np.cumsum(shown) - shown
    distinct = np.bincount(wanted // span, minlength=len(size))
    return _placements(size, distinct, None, query, rows - start[query] + 1, at)


def _constant(value: float, kind: type) -> np.ndarray:
    column: np.ndarray = np.full(4096, value, kind)
    column.flags.writeable = False  # parts of it are columns of many tables
    return column


_ONE = ("0",), np.ones(1, bool)
"""The name of the only query, and that it was answered."""
_ONES, _ZEROS = _constant(1, np.float64), _constant(0, np.int64)


def _of_one_query(size: int, docs: np.ndarray, wanted: np.ndarray) -> Placements:
    """`place_integers` for one query, where the time goes into calls of numpy: as few of them as possible."""
    ranks, labels = np.empty(len(docs), np.int64), np.empty(len(docs), np.int64)
    hits, distinct, repeated = core.among(np.ascontiguousarray(docs), np.ascontiguousarray(wanted), ranks, labels)
    rank = ranks[:hits]
    if repeated:
        label = labels[:hits]
    else:
        label = None

    queries, answered = _ONE
    return Placements(
        queries=queries,
        retrieved=np.array([size]),
        answered=answered,
        judged_start=np.array([0, distinct]),
        judged=_ONES[:distinct] if distinct <= len(_ONES) else np.ones(distinct),
        query=_ZEROS[:hits] if hits <= len(_ZEROS) else np.zeros(hits, np.int64),
        rank=rank,
        grade=_ONES[:hits] if hits <= len(_ONES) else np.ones(hits),
        tie_first=rank,
        tie_last=rank,
        label=label,
        shared=label is not None,
    )


def _found(docs: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Which docs are wanted, which of the wanted each is (None if each is another), and the distinct wanted."""
    wanted = np.sort(wanted)
    same = wanted[1:] == wanted[:-1]
    if same.any():
        wanted = np.concatenate((wanted[:1], wanted[1:][~same]))
    if not len(wanted):
        return np.zeros(0, np.int64), None, wanted
    at = wanted.searchsorted(docs)
    # What lies past the last wanted id is compared with that one, which is smaller.
    rows = (wanted.take(at, mode="clip") == docs).nonzero()[0]
    at = at[rows]
    return rows, at if len(at) > 1 and np.bincount(at).max() > 1 else None, wanted


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray | None:
    """All ids in one array of 64-bit integers; None if some of them need Python's own."""
    if len(arrays) == 1 and arrays[0].dtype.kind == "i" and arrays[0].ndim == 1:
        return arrays[0].astype(np.int64, copy=False)

    if len({array.dtype for array in arrays}) > 1:
        arrays = [array for array in arrays if array.size]  # an empty list has no type of its own

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

    try:
        if arrays:
            joined = np.concatenate(arrays)
        else:
            joined = np.zeros(0, np.int64)
    except ValueError:
        joined = np.zeros((0, 0))

    if joined.ndim != 1:
        what = "ids of a query are a table"
        raise InputError(what, hint="Give one plain array of ids for each query.", code="wrong-type")

    return joined.astype(np.int64, copy=False)


def _pairs(
    docs: np.ndarray, query: np.ndarray, wanted: np.ndarray, wanted_query: np.ndarray, queries: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """One number for each pair of query and id, and by how much those of two queries differ.

    All queries can then be joined by one search.
    """
    filled = [ids for ids in (docs, wanted) if len(ids)]
    low = min((int(ids.min()) for ids in filled), default=0)
    span = max((int(ids.max()) for ids in filled), default=0) - low + 1
    if span * queries > np.iinfo(np.int64).max:
        values, code = np.unique(np.concatenate((docs, wanted)), return_inverse=True)
        docs, wanted, low, span = code[: len(docs)], code[len(docs) :], 0, len(values)
    return docs - low + query * span, wanted - low + wanted_query * span, span


def _placements(
    retrieved: np.ndarray,
    judged_size: np.ndarray,
    judged: np.ndarray | None,
    query: np.ndarray,
    rank: np.ndarray,
    label: np.ndarray | None,
    grade: np.ndarray | None = None,
) -> Placements:
    """The table; without grades, everything judged has grade 1."""
    start = np.zeros(len(judged_size) + 1, np.int64)
    np.cumsum(judged_size, out=start[1:])
    if judged is None:
        judged = np.ones(int(start[-1]))
    elif len(judged) > 1 and (judged != judged[0]).any():
        judged = judged[np.lexsort((-judged, np.repeat(np.arange(len(judged_size)), judged_size)))]

    return Placements(
        queries=tuple(map(str, range(len(retrieved)))),
        retrieved=retrieved,
        answered=np.ones(len(retrieved), bool),
        judged_start=start,
        judged=judged,
        query=query,
        rank=rank,
        grade=np.ones(len(rank)) if grade is None else grade,
        tie_first=rank,
        tie_last=rank,
        label=label,
        shared=label is not None,
    )
