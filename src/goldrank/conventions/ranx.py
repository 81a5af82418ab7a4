"""ranx 0.3: scores as doubles, and every judged query must be in the run.

Equal scores stay in the order of the input, which ranx's sort keeps up to 15 documents only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldrank.conventions.quirks import OrderOfTies
from goldrank.conventions.refusals import Case, Condition, NegativeGrades, OneKind, Refusal
from goldrank.conventions.tool import Quirk, SummaryRule, Tool

if TYPE_CHECKING:
    from goldrank.measures import Measure


@dataclass(frozen=True)
class MeansOfCounts(Quirk):
    """ranx's hits, which is NumRelRet and summed up over queries elsewhere, is a mean over them."""

    rule = "averaged"
    label = "the summary over queries"
    usual = "is the measure's own"
    needs = "query"

    MEASURES = ("NumRelRet",)

    def says(self, measure: Measure) -> str:
        if measure.name in self.MEASURES:
            return "is a mean"
        return self.usual

    def summary(self, measure: Measure, summary: SummaryRule) -> SummaryRule:
        if measure.name in self.MEASURES:
            return summary._replace(average="mean")
        return summary


@dataclass(frozen=True)
class HighGrades(Condition):
    words = "there are grades above 1"

    def holds(self, case: Case) -> bool:
        return bool((case.placements.judged > 1).any())


RANX = Tool(
    "ranx",
    policies={"ties": "input", "missing": "error"},
    quirks=(OrderOfTies(undefined_from={"*": 16}), MeansOfCounts()),
    refusals=(
        Refusal(
            ("RBP",),
            HighGrades(),
            "ranx does not bring grades into 0 to 1",
            "RBG is RBP with grades as they are.",
        ),
        Refusal(
            ("Bpref",),
            OneKind(),
            "ranx divides by nothing where a query has no relevant or no judged nonrelevant document",
            "Leave such queries out, or take convention='trec_eval-10'.",
        ),
        Refusal(
            ("Bpref",),
            NegativeGrades(),
            "ranx counts negative grades as judged not relevant",
            "Give grade 0.",
        ),
    ),
)

TOOLS = (RANX,)
