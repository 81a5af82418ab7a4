"""Counts of an engine beside the placements, and functions that engines share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.conventions import Convention
from goldrank.data.placements import Placements
from goldrank.data.qrels import JudgementArrays

MOST_EXAMPLES = 4
"""Three are shown; a fourth shows that there are more."""


@dataclass
class RunCounts:
    """Counts for the notes of a result, and sample ids for messages."""

    lines: int = 0
    unjudged_queries: int = 0
    """Queries of the run that are not judged."""
    unjudged_examples: list[str] = field(default_factory=list)
    example_docs: list[str] = field(default_factory=list)
    """A few document ids of the run; perhaps empty if some are judged."""
    infinite: int = 0
    """Lines whose score is infinite."""
    contradicted: int = 0
    """Judged documents whose rank column claims a better rank than their score gives."""
    repeated: int = 0
    """Lines that repeat a document, if the policy allows it."""
    near_forms: int = 0
    """Documents of the run that would be judged after Unicode normalisation."""
    constant: int = 0
    """Queries with at least two documents, all with equal scores."""
    tags: list[bytes] = field(default_factory=list)
    """A few of the tags in the last column of lines."""
    tolerated: Counter[str] = field(default_factory=Counter)
    """What readers tolerated, by codes of notes."""


def in_order(query: np.ndarray, rank: np.ndarray) -> np.ndarray | slice:
    """The order of placements by query, then rank; a slice of all if they are in this order."""
    if ((query[1:] > query[:-1]) | ((query[1:] == query[:-1]) & (rank[1:] > rank[:-1]))).all():
        return slice(None)
    return np.lexsort((rank, query))


class PlacedRows(NamedTuple):
    """Columns of placements: one row for each judged document that was retrieved."""

    query: np.ndarray
    rank: np.ndarray
    label: np.ndarray | None
    """The judgement of each row; None if it is not known."""
    tie_first: np.ndarray
    tie_last: np.ndarray
    grade: np.ndarray | None = None
    """The grade of each row, if its judgement is not known."""

    def in_order(self) -> PlacedRows:
        """The rows by query, then rank."""
        order = in_order(self.query, self.rank)
        label = self.label
        if label is not None:
            label = label[order]
        grade = self.grade
        if grade is not None:
            grade = grade[order]
        return PlacedRows(
            self.query[order], self.rank[order], label, self.tie_first[order], self.tie_last[order], grade
        )


def assemble(
    arrays: JudgementArrays,
    retrieved: np.ndarray,
    answered: np.ndarray,
    rows: PlacedRows,
    *,
    is_ordered: bool = False,
) -> Placements:
    """Placements in their order, by query, then rank; `is_ordered` rows are in this order already."""
    if not is_ordered:
        rows = rows.in_order()
    query, rank, label, tie_first, tie_last, grade = rows
    if grade is None:
        assert label is not None
        grade = arrays.grade[label]
    if tie_first is not tie_last and np.array_equal(tie_first, tie_last):
        tie_first = tie_last = rank  # there are no ties: one array for all three

    return Placements(
        queries=arrays.queries,
        retrieved=retrieved,
        answered=answered,
        judged_start=arrays.start,
        judged=arrays.descending,
        query=query,
        rank=rank,
        grade=grade,
        tie_first=tie_first,
        tie_last=tie_last,
        label=label,
        ideals=arrays.ideals,
    )


def compared(scores: np.ndarray, convention: Convention) -> np.ndarray:
    """Scores in the precision in which the convention compares them."""
    if convention.score_type == "float64":
        return scores
    return scores.astype(np.float32).astype(np.float64)


BY_DESCENDING_ID = ("docid", "expected", "bounds")
"""Tie rules that order by descending id; what is expected or possible is computed from that order."""


def tie_order(docs: Sequence[bytes], ties: str) -> list[int]:
    """The order of documents of one score by the tie rule; `docs` are in the order of the input."""
    order = range(len(docs))
    if ties == "input":
        return list(order)
    return sorted(order, key=docs.__getitem__, reverse=ties in BY_DESCENDING_ID)


def ranked_with_scores(
    scores: np.ndarray, docs: Sequence[bytes], depth: int, convention: Convention
) -> tuple[list[str], list[float]]:
    """The first `depth` documents of a ranking, best first, and their scores; `docs` are in the order of the input."""
    rows = tie_order(docs, convention.ties)
    order = np.array(rows, np.int64)[np.argsort(-compared(scores, convention)[rows], kind="stable")][:depth]
    return [ids.decode(docs[row]) for row in order.tolist()], scores[order].tolist()
