"""scikit-learn: only the documents and queries in the array exist.

nDCG is a mean over the orders of equal scores, and AP takes equal scores for one step.
"""

from __future__ import annotations

from goldrank.conventions.quirks import OnlyReturned, OrderOfTies
from goldrank.conventions.refusals import NegativeGrades, OneKind, Refusal
from goldrank.conventions.tool import Tool

SKLEARN = Tool(
    "sklearn",
    policies={"ties": "expected", "missing": "skip"},
    options={
        "nDCG": {"ideal": "retrieved"},
        "AP": {"divisor": "hits"},
        "R": {"divisor": "returned"},
        "DCG": {"negative": "keep"},
    },
    quirks=(OnlyReturned(), OrderOfTies(by_measure={"AP": "grouped"})),
    refusals=(
        Refusal(
            ("nDCG", "AP", "AUROC"),
            NegativeGrades(),
            "the tool takes no negative grades",
            "Give grade 0.",
        ),
        Refusal(
            ("AUROC",),
            OneKind(),
            "the area is not defined for a query with one kind of documents alone",
        ),
    ),
)

TOOLS = (SKLEARN,)
