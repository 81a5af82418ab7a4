"""BEIR: pytrec_eval, which is trec_eval 9, with four measures that only BEIR has and a document that is dropped.

MRR, R_cap, Hole and Accuracy, which is Success, are BEIR's own: they divide by all judged queries, and keep ties in the
order of the input, so that values that depend on it are refused.

BEIR's `evaluate` removes a document with the query's id from the results that it is given, so that `evaluate_custom`
after it does not see that document. This convention drops it for all measures. `evaluate_custom` alone, without
`evaluate` before it, keeps it: for these values give queries other ids than documents have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from goldrank.base.types import Policies
from goldrank.conventions.quirks import OrderOfTies
from goldrank.conventions.refusals import Always, Case, Condition, NegativeGrades, Refusal
from goldrank.conventions.tool import Quirk, SummaryRule
from goldrank.conventions.trec_eval import TREC_EVAL_9

if TYPE_CHECKING:
    from goldrank.data.run import Run
    from goldrank.measures import Measure

OWN_MEASURES = ("RR", "R_cap", "Hole", "Success")


@dataclass(frozen=True)
class DropsOwnId(Quirk):
    """A document whose id is the query's is dropped from its ranking."""

    rule = "drops_own_id"
    label = "a document with the query's id"
    usual = "stays"
    needs = "run"

    def says(self, measure: Measure) -> str:
        return "is left out"

    def before_placing(self, run: Run) -> Run:
        from goldrank.data.run import Rankings, Run, rows_of

        rows = rows_of(run)
        if not any(query in row for query, row in rows.items()):
            return run

        rankings = {}
        for query, row in rows.items():
            if query in row:
                row = {doc: score for doc, score in row.items() if doc != query}
            rankings[query] = row

        filtered = Run(Rankings(rankings), name=run.name)
        return filtered.with_facts(id_kind=run.id_kind, notes=run.notes, has_scores=run.has_scores)


@dataclass(frozen=True)
class CountsAllQueries(Quirk):
    """BEIR's own measures count every judged query; the others only queries that have results and judgements."""

    rule = "all_queries"
    label = "queries without results"
    usual = "as missing= says"
    needs = "placements"

    def says(self, measure: Measure) -> str:
        if measure.name in OWN_MEASURES:
            return "always count"
        return self.usual

    def summary(self, measure: Measure, summary: SummaryRule) -> SummaryRule:
        if measure.name in OWN_MEASURES:
            return summary._replace(queries="all")
        return summary._replace(queries="answered")


@dataclass(frozen=True)
class ReadsFirstDocumentsInOrder(Quirk):
    """Measures that look at the first documents by id take them in the order of the input, by scores as doubles."""

    rule = "heads"
    label = "the first documents"
    usual = "as for other measures"
    needs = "run"
    first_documents: ClassVar[Policies] = {"ties": "input", "score_type": "float64"}

    def says(self, measure: Measure) -> str:
        if measure.declaration.over == "heads":
            return ", ".join(f"{policy}={word}" for policy, word in self.first_documents.items())
        return self.usual


@dataclass(frozen=True)
class NoneRelevant(Condition):
    words = "a query of the run has no relevant document"

    def holds(self, case: Case) -> bool:
        return bool(((case.relevant == 0) & case.placements.answered).any())


@dataclass(frozen=True)
class UnjudgedQueries(Condition):
    words = "queries of the run are not judged"
    reads_run = True

    def holds(self, case: Case) -> bool:
        judged = set(case.placements.queries)
        return any(query not in judged for query in case.run)


BEIR = replace(
    TREC_EVAL_9,
    name="beir",
    quirks=(
        DropsOwnId(),
        CountsAllQueries(),
        OrderOfTies(undefined_from=dict.fromkeys(OWN_MEASURES, 2)),
        ReadsFirstDocumentsInOrder(),
    ),
    refusals=(
        Refusal(
            ("Hole",),
            NegativeGrades(),
            "BEIR counts documents of negative grades as judged",
            "Give grade 0.",
        ),
        Refusal(
            ("Hole",),
            UnjudgedQueries(),
            "BEIR adds their documents up, and divides by the judged queries",
            "Leave such queries out.",
        ),
        Refusal(
            ("R_cap",),
            NoneRelevant(),
            "BEIR divides by the number of relevant documents",
            "Leave such queries out, or take convention='trec_eval-9'.",
        ),
        Refusal(
            ("Accuracy",),
            Always(),
            "BEIR's Accuracy@k is whether a relevant document is in the first k",
            "Ask for Success@k.",
        ),
    ),
)

TOOLS = (BEIR,)
