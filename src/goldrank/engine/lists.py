"""The engine for rankings that are plain lists of ids, best first. It needs numpy and nothing else.

A list has no scores, so there are no ties, and ids are compared as they are. A document that a list repeats
keeps every place that it takes; `Placements.per_aspect` is the view in which only its first counts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, repeat

import numpy as np

from goldrank.data.placements import Placements
from goldrank.errors import InputError

Ids = Sequence[Hashable]


def place(rankings: Sequence[Ids], judged: Sequence[Mapping[Hashable, float] | Iterable[Hashable]]) -> Placements:
    """Placements of one list per query; what is judged is a mapping from ids to grades, or the relevant ids."""
    grades = [one if isinstance(one, Mapping) else dict.fromkeys(one, 1) for one in judged]
    size = np.fromiter(map(len, rankings), np.int64, len(rankings))
    looked_up = (map(one.get, ranking, repeat(np.nan)) for one, ranking in zip(grades, rankings, strict=True))
    grade = np.fromiter(chain.from_iterable(looked_up), np.float64, int(size.sum()))
    start = np.cumsum(size) - size
    rows = np.flatnonzero(~np.isnan(grade))
    query = np.repeat(np.arange(len(size)), size)[rows]
    repeating = [i for i, ranking in enumerate(rankings) if len(set(ranking)) < len(ranking)]
    aspect = None
    if repeating:
        aspect = np.arange(len(grade))
        for i in repeating:
            seen: dict[Hashable, int] = {}
            aspect[start[i] : start[i] + size[i]] = [seen.setdefault(doc, at) for at, doc in enumerate(rankings[i])]
        aspect = aspect[rows]
    judged_size = np.fromiter(map(len, grades), np.int64, len(grades))
    worth = np.fromiter(chain.from_iterable(one.values() for one in grades), np.float64, int(judged_size.sum()))
    return _placements(size, judged_size, worth, query, rows - start[query] + 1, grade[rows], aspect)


def place_integers(rankings: Sequence[np.ndarray], relevant: Sequence[np.ndarray], depth: int) -> Placements:
    """Placements of integer ids down to `depth`; every id of `relevant` has grade 1, repeated or not."""
    size = np.fromiter(map(len, rankings), np.int64, len(rankings))
    wanted_size = np.fromiter(map(len, relevant), np.int64, len(relevant))
    docs = _joined([ranking[:depth] for ranking in rankings])
    wanted = _joined(relevant)
    if docs is None or wanted is None:
        return place([one[:depth].tolist() for one in rankings], [one.tolist() for one in relevant])
    if len(size) == 1:
        query, span = np.zeros(len(docs), np.int64), None
    else:
        query = np.repeat(np.arange(len(size)), np.minimum(size, depth))
        docs, wanted, span = _pairs(docs, query, wanted, np.repeat(np.arange(len(size)), wanted_size), len(size))
    wanted = np.sort(wanted)
    if len(wanted) > 1:
        wanted = wanted[np.concatenate(([True], wanted[1:] != wanted[:-1]))]
    at = np.searchsorted(wanted, docs)
    rows = np.flatnonzero(wanted[np.minimum(at, len(wanted) - 1)] == docs) if len(wanted) else np.zeros(0, np.int64)
    query, aspect = query[rows], at[rows]
    start = np.concatenate(([0], np.cumsum(np.minimum(size, depth))))
    repeats = len(rows) > 1 and int(np.bincount(aspect).max()) > 1
    distinct = np.array([len(wanted)]) if span is None else np.bincount(wanted // span, minlength=len(size))
    ones = np.ones(len(rows)), np.ones(len(wanted))
    return _placements(size, distinct, ones[1], query, rows - start[query] + 1, ones[0], aspect if repeats else None)


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray | None:
    """All ids in one array of 64-bit integers; None if some of them need Python's own."""
    kinds = {one.dtype for one in arrays if len(one)}
    for kind in kinds:
        if kind.kind not in "iu":
            raise InputError(
                f"ids are of type {kind}, not integers",
                hint="Number the documents, or use goldrank.evaluate, which takes ids of text.",
            )
    if not kinds:
        return np.zeros(0, np.int64)
    if np.dtype(np.uint64) in kinds:
        highest = max(int(one.max()) for one in arrays if len(one) and one.dtype == np.uint64)
        if highest > np.iinfo(np.int64).max:
            return None
    if len(kinds) == 1:
        return np.concatenate([one for one in arrays if len(one)]).astype(np.int64, copy=False)
    return np.concatenate([one.astype(np.int64) for one in arrays])


def _pairs(
    docs: np.ndarray, query: np.ndarray, wanted: np.ndarray, wanted_query: np.ndarray, queries: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """One number for each pair of query and id, and by how much those of two queries differ.

    All queries can then be joined by one search.
    """
    some = [ids for ids in (docs, wanted) if len(ids)]
    low = min((int(ids.min()) for ids in some), default=0)
    span = max((int(ids.max()) for ids in some), default=0) - low + 1
    if span * queries > np.iinfo(np.int64).max:
        values, code = np.unique(np.concatenate((docs, wanted)), return_inverse=True)
        docs, wanted, low, span = code[: len(docs)], code[len(docs) :], 0, len(values)
    return docs - low + query * span, wanted - low + wanted_query * span, span


def _placements(
    retrieved: np.ndarray,
    judged_size: np.ndarray,
    judged: np.ndarray,
    query: np.ndarray,
    rank: np.ndarray,
    grade: np.ndarray,
    aspect: np.ndarray | None,
) -> Placements:
    if len(judged) > 1 and (judged != judged[0]).any():
        judged = judged[np.lexsort((-judged, np.repeat(np.arange(len(judged_size)), judged_size)))]
    return Placements(
        queries=tuple(map(str, range(len(retrieved)))),
        retrieved=retrieved,
        answered=np.ones(len(retrieved), bool),
        judged_start=np.concatenate(([0], np.cumsum(judged_size))),
        judged=judged,
        query=query,
        rank=rank,
        grade=grade,
        tie_first=rank,
        tie_last=rank,
        aspect=aspect,
    )
