"""The engine for runs held in memory as mappings. It needs numpy and nothing else.

A judged document is looked up, not searched for: its rank is one more than the number of documents that
score higher, plus those with the same score that the tie rule puts first. Where few documents are judged
they are counted one by one; where many are, the scores are sorted once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from goldrank.conventions import Convention
from goldrank.data import ids
from goldrank.data.placements import Placements
from goldrank.data.qrels import Grade, Qrels
from goldrank.data.run import Run, check_score
from goldrank.engine.counts import RunCounts, assemble

COUNT_AT_MOST = 12
"""Up to so many judged documents in a ranking, counting is faster than sorting it."""


def place(qrels: Qrels, run: Run, convention: Convention) -> tuple[Placements, RunCounts]:
    """Placements of a run that is a mapping of mappings."""
    sheet = qrels.sheet
    judgements = qrels.text
    results = run.results
    near = qrels.near_forms
    counts = RunCounts()
    retrieved = np.zeros(len(sheet.queries), np.int64)
    answered = np.zeros(len(sheet.queries), bool)
    single = convention.score_type == "float32"
    query_of: list[int] = []
    grades: list[Grade] = []
    ranks: list[int] = []
    firsts: list[int] = []
    lasts: list[int] = []

    for code, query in enumerate(sheet.queries):
        row = results.get(query)
        if row is None:
            continue
        answered[code] = True
        scores = _scores(row, query, run.name)
        if single:
            scores = scores.astype(np.float32)
        retrieved[code] = len(scores)
        if not len(scores):
            continue
        counts.lines += len(scores)
        judged = judgements[query]
        if len(judged) <= len(row):
            found = [doc for doc in judged if doc in row]
        else:
            found = [doc for doc in row if doc in judged]
        if not counts.example_docs:
            counts.example_docs = [str(doc) for doc, _ in zip(row, range(3), strict=False)]
        if near and query in near:
            counts.near_forms += len(near[query].keys() & row.keys())
        if not np.isfinite(scores.sum()):
            counts.infinite += int(np.isinf(scores).sum())
        if len(scores) > 1 and scores[0] == scores[-1] and (scores == scores[0]).all():
            counts.constant += 1
        if not found:
            continue
        values = np.array([row[doc] for doc in found], scores.dtype)
        first, last = _tie_groups(scores, values)
        rank = list(first)
        for i in [i for i in range(len(found)) if first[i] < last[i]]:
            rank[i] = first[i] + _tied_before(row, scores, found[i], values[i], convention.ties)
        query_of += [code] * len(found)
        grades += [judged[doc] for doc in found]
        ranks += rank
        firsts += first
        lasts += last

    known = set(sheet.queries)
    for query in results:
        if query not in known:
            counts.unjudged_queries += 1
            counts.example(counts.unjudged_examples, query)
    placements = assemble(
        sheet,
        retrieved,
        answered,
        np.array(query_of, np.int64),
        np.array(ranks, np.int64),
        np.array(grades, sheet.grade.dtype),
        np.array(firsts, np.int64),
        np.array(lasts, np.int64),
    )
    return placements, counts


def _scores(row: Mapping[str, float], query: str, name: str) -> np.ndarray:
    """The scores of a ranking as doubles, each a number."""
    try:
        sum(row.values())  # refuses text, which numpy would read as numbers
        scores = np.fromiter(row.values(), np.float64, len(row))
        if not np.isnan(scores).any():
            return scores
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        pass
    checked = [
        check_score(score, f"{name}: query '{ids.show(query)}', document '{ids.show(str(doc))}'")
        for doc, score in row.items()
    ]
    return np.array(checked, np.float64)


def _tie_groups(scores: np.ndarray, values: np.ndarray) -> tuple[list[int], list[int]]:
    """First and last rank of the group of equal scores that each value belongs to."""
    if len(values) <= COUNT_AT_MOST:
        first = [int(np.count_nonzero(scores > value)) + 1 for value in values]
        return first, [int(np.count_nonzero(scores >= value)) for value in values]
    ascending = np.sort(scores)
    size = len(scores)
    highest = (size - np.searchsorted(ascending, values, "right") + 1).tolist()
    return highest, (size - np.searchsorted(ascending, values, "left")).tolist()


def _tied_before(row: Mapping[str, float], scores: np.ndarray, doc: str, score: Any, ties: str) -> int:
    """How many documents with the same score the tie rule puts before `doc`."""
    docs: Sequence[str] = list(row)
    tied = [docs[i] for i in np.flatnonzero(scores == score).tolist()]
    if ties == "input":
        return tied.index(doc)
    own = ids.encode(doc)
    return sum(ids.encode(other) > own for other in tied)
