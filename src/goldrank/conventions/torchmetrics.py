"""torchmetrics: only the documents and queries in the tensor exist, and AP divides by the relevant ones found.

Torch does not say in what order it puts equal scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from goldrank.conventions.quirks import OnlyReturned, OrderOfTies
from goldrank.conventions.refusals import Case, Condition, NegativeGrades, Refusal
from goldrank.conventions.tool import Quirk, Seen, TableReading, Tool

if TYPE_CHECKING:
    from goldrank.data.placements import Placements
    from goldrank.measures import Measure


@dataclass(frozen=True)
class HidesScoresOfZero(Quirk):
    """AP, RR, P and R count a document with a score of 0 or less as not relevant."""

    rule = "positive"
    label = "documents with a score of 0 or less"
    usual = "count as others do"
    needs = "run"

    MEASURES = ("AP", "RR", "P", "R")

    def says(self, measure: Measure) -> str:
        if measure.name in self.MEASURES:
            return "are not relevant"
        return self.usual

    def reading(self, measure: Measure, reading: TableReading) -> TableReading:
        if measure.name in self.MEASURES:
            return reading._replace(own_table=self.rule)
        return reading

    def own_table(self, table: Placements, seen: Seen) -> Placements | None:
        placed = seen.placements
        if not seen.run.has_scores or placed.label is None or placed.shared:
            return None
        hidden = _not_above_zero(seen)
        if not hidden.any():
            return None

        rows = hidden
        if table is not placed:  # then all returned documents have a row
            rows = placed.row_of_rank[hidden]
        grade = table.grade.copy()
        grade[rows] = 0
        return replace(table, grade=grade)


def _not_above_zero(seen: Seen) -> np.ndarray:
    """Which placements have a score of 0 or less, as the convention compares scores."""
    from goldrank.data.run import rows_of

    placements, results, docs = seen.placements, rows_of(seen.run), seen.qrels.docs
    assert placements.label is not None
    pairs = zip(placements.query.tolist(), placements.label.tolist(), strict=True)
    scores = np.array([results[placements.queries[query]][docs[label]] for query, label in pairs])

    if seen.score_type == "float32":
        scores = scores.astype(np.float32)
    return np.asarray(scores <= 0)


@dataclass(frozen=True)
class ScoresBeyondOne(Condition):
    words = "there are scores below 0 or above 1"
    reads_run = True

    def holds(self, case: Case) -> bool:
        from goldrank.data.run import rows_of

        results = rows_of(case.run)
        rows = (results[query] for query in case.placements.queries if query in results)
        return case.run.has_scores and any(not 0 <= score <= 1 for row in rows for score in row.values())


@dataclass(frozen=True)
class AllRelevant(Condition):
    words = "a query has relevant documents only"

    def holds(self, case: Case) -> bool:
        return case.is_true_of_a_query(case.relevant == case.judged)


TORCHMETRICS = Tool(
    "torchmetrics",
    policies={"ties": "input", "score_type": "float32", "missing": "skip"},
    options={"nDCG": {"ideal": "retrieved"}, "AP": {"divisor": "hits"}},
    quirks=(
        OnlyReturned(),
        HidesScoresOfZero(),
        OrderOfTies(by_measure={"nDCG": "expected", "AUROC": "expected"}, undefined_from={"*": 2}),
    ),
    refusals=(
        Refusal(("*",), NegativeGrades(), "the tool takes no negative grades", "Give grade 0."),
        Refusal(
            ("AUROC",),
            ScoresBeyondOne(),
            "torchmetrics puts them through a sigmoid of single precision, which makes different scores equal",
            "Bring scores into 0 to 1.",
        ),
        Refusal(
            ("FallOut",),
            AllRelevant(),
            "torchmetrics' function retrieval_fall_out gives it 0 and its class RetrievalFallOut 1",
            "Leave such queries out.",
        ),
    ),
)

TOOLS = (TORCHMETRICS,)
