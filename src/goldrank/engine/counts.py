"""What an engine saw of a run besides the placements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from goldrank.base import ids
from goldrank.conventions import Convention
from goldrank.data.placements import Placements
from goldrank.data.qrels import JudgementArrays

MOST_EXAMPLES = 4
"""Three are shown; the fourth says that there are more."""


@dataclass
class RunCounts:
    """Counts for the footer of a result, and sample ids for messages."""

    lines: int = 0
    unjudged_queries: int = 0
    """Queries of the run that nobody judged."""
    unjudged_examples: list[str] = field(default_factory=list)
    example_docs: list[str] = field(default_factory=list)
    """A few document ids of the run; there may be none where some are judged."""
    infinite: int = 0
    """Lines whose score is infinite."""
    contradicted: int = 0
    """Judged documents whose rank column claims a better place than their score gives."""
    repeated: int = 0
    """Lines that repeat a document, where the policy allows that."""
    near_forms: int = 0
    """Documents of the run that would be judged ones after Unicode normalisation."""
    constant: int = 0
    """Queries with at least two documents that all have the same score."""
    tags: list[bytes] = field(default_factory=list)
    """A few of the tags that lines have in their last column."""
    tolerated: Counter[str] = field(default_factory=Counter)
    """What readers tolerated, with how often."""


def in_order(query: np.ndarray, rank: np.ndarray) -> np.ndarray | slice:
    """The order of placements by query, then rank; a slice of all where they have it."""
    if ((query[1:] > query[:-1]) | ((query[1:] == query[:-1]) & (rank[1:] > rank[:-1]))).all():
        return slice(None)
    return np.lexsort((rank, query))


def assemble(
    arrays: JudgementArrays,
    retrieved: np.ndarray,
    answered: np.ndarray,
    query: np.ndarray,
    rank: np.ndarray,
    label: np.ndarray | None,
    tie_first: np.ndarray,
    tie_last: np.ndarray,
    grade: np.ndarray | None = None,
    *,
    is_ordered: bool = False,
) -> Placements:
    """Placements in their one order: by query, then rank. `is_ordered` says that they have it already.

    `label` says which judgement each row is about; where nobody knows, the rows have their own `grade`.
    """
    if grade is None:
        assert label is not None
        grade = arrays.grade[label]
    if not is_ordered:
        order = in_order(query, rank)
        query, rank, tie_first, tie_last = query[order], rank[order], tie_first[order], tie_last[order]
        grade, label = grade[order], None if label is None else label[order]
    if tie_first is not tie_last and np.array_equal(tie_first, tie_last):
        tie_first = tie_last = rank  # nothing is tied: one array for all three
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
    """Scores as the convention compares them."""
    if convention.score_type == "float64":
        return scores
    return scores.astype(np.float32).astype(np.float64)


def tie_order(docs: Sequence[bytes], ties: str) -> list[int]:
    """The order in which the tie rule puts documents of one score, given in the order of the input."""
    order = range(len(docs))
    if ties == "input":
        return list(order)
    return sorted(order, key=docs.__getitem__, reverse=ties != "docid-ascending")


def ranked_with_scores(
    scores: np.ndarray, docs: Sequence[bytes], depth: int, convention: Convention
) -> tuple[list[str], list[float]]:
    """The first `depth` documents of a ranking given in the order of the input, best first, and their scores."""
    rows = tie_order(docs, convention.ties)
    order = np.array(rows, np.int64)[np.argsort(-compared(scores, convention)[rows], kind="stable")][:depth]
    return [ids.decode(docs[row]) for row in order.tolist()], scores[order].tolist()
