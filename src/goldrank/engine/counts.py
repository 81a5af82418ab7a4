"""What an engine saw of a run besides the placements."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from goldrank.data.placements import Placements
from goldrank.data.qrels import JudgementArrays

Example = TypeVar("Example", str, bytes)


@dataclass
class RunCounts:
    """Counts for the footer of a result, and sample ids for messages."""

    lines: int = 0
    unjudged_queries: int = 0
    """Queries of the run that nobody judged."""
    unjudged_examples: list[str] = field(default_factory=list)
    example_docs: list[str] = field(default_factory=list)
    """A few document ids of the run."""
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

    def example(self, found: list[Example], text: Example, limit: int = 3) -> None:
        """Remember a few examples."""
        if len(found) < limit:
            found.append(text)


def assemble(
    arrays: JudgementArrays,
    retrieved: np.ndarray,
    answered: np.ndarray,
    query: np.ndarray,
    rank: np.ndarray,
    grade: np.ndarray,
    tie_first: np.ndarray,
    tie_last: np.ndarray,
) -> Placements:
    """Placements in their one order: by query, then rank."""
    order: np.ndarray | slice = slice(None)
    if not ((query[1:] > query[:-1]) | ((query[1:] == query[:-1]) & (rank[1:] > rank[:-1]))).all():
        order = np.lexsort((rank, query))
    return Placements(
        queries=arrays.queries,
        retrieved=retrieved,
        answered=answered,
        judged_start=arrays.start,
        judged=arrays.grade,
        query=query[order],
        rank=rank[order],
        grade=grade[order].astype(arrays.grade.dtype),
        tie_first=tie_first[order],
        tie_last=tie_last[order],
    )
