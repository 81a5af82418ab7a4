"""goldrank: how much gold is in your ranking?

Judgements (qrels) and rankings (runs) in, exact and explained numbers out.

>>> import goldrank
>>> goldrank.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.9, "d2": 0.4}}, "nDCG@10").mean
{'nDCG@10': 1.0}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goldrank.clicks import ClickJudgements, judgements_from_clicks
    from goldrank.comparison import Comparison, Pair, compare
    from goldrank.comparison.agreement import RankAgreement, rank_agreement
    from goldrank.comparison.convention_difference import Difference, explain_difference
    from goldrank.comparison.corrected import CorrectedValue, CorrectedValues, corrected_values
    from goldrank.comparison.interleaving import Preference, analyse_interleaving
    from goldrank.comparison.intervals import Interval
    from goldrank.comparison.leaderboard import Leaderboard, Standing
    from goldrank.comparison.matching import MatcherAgreements, matcher_agreement
    from goldrank.comparison.one_system import score_intervals
    from goldrank.comparison.planning import Plan, plan
    from goldrank.comparison.rank_changes import Diff, DocumentChange, QueryChange, diff
    from goldrank.comparison.settings import Statistics
    from goldrank.comparison.sweep import Sweep, SweepRow, sweep
    from goldrank.conventions import Convention
    from goldrank.data.aspects import AspectQrels
    from goldrank.data.catalogue import Catalogue
    from goldrank.data.documents import Document, Documents
    from goldrank.data.preferences import Preferences
    from goldrank.data.qrels import Qrels
    from goldrank.data.queries import Queries, Query
    from goldrank.data.run import Run
    from goldrank.data.runs import Runs
    from goldrank.data.scores import Scores, ScoresByRun
    from goldrank.errors import (
        BaselineError,
        GoldrankError,
        InputError,
        JudgeError,
        MeasureError,
        MemoryLimitError,
        MismatchError,
        MissingQueryError,
        NoRelevantError,
        NotMeasuredError,
        OptionError,
        Position,
        RetrievalError,
        RuleError,
        StoreError,
    )
    from goldrank.evaluation.abstention import AbstentionCurve, abstention_curve
    from goldrank.evaluation.arrays import evaluate_arrays
    from goldrank.evaluation.causes import Causes, Needed, find_causes
    from goldrank.evaluation.documents import evaluate
    from goldrank.evaluation.executors import evaluate_spark
    from goldrank.evaluation.text_settings import Answers, Evidence, Matching
    from goldrank.evaluation.texts import evaluate_texts
    from goldrank.evaluation.unjudged import Unjudged, worth_judging
    from goldrank.fusion.combine import fuse, normalize
    from goldrank.fusion.options import Fusion
    from goldrank.fusion.tuning import TunedFusion, tune_fusion
    from goldrank.gating.baseline import Baseline
    from goldrank.gating.decide import gate
    from goldrank.gating.rules import Rule, Rules
    from goldrank.gating.verdict import Finding, Verdict
    from goldrank.guide.advice import Advice, choose
    from goldrank.guide.pitfalls import pitfalls
    from goldrank.history import History, Record
    from goldrank.history.over_time import Trend
    from goldrank.io import read_aspects, read_preferences, read_qrels, read_run, read_runs
    from goldrank.io.documents import read_documents
    from goldrank.io.items import Item, Items, read_items
    from goldrank.io.queries import read_queries
    from goldrank.judgements import Event, JudgementLog
    from goldrank.judging.ask import Judged, judge
    from goldrank.judging.bias import JudgeAgreement, judge_agreement
    from goldrank.judging.command import Command
    from goldrank.judging.endpoint import Endpoint
    from goldrank.judging.item import Judge
    from goldrank.judging.nouns import Calls, Pool
    from goldrank.judging.probes import Gullibility, judge_gullibility
    from goldrank.judging.questions import Questions, make_questions
    from goldrank.match.matcher import Matcher
    from goldrank.measures import Measure, measure
    from goldrank.notes import Note
    from goldrank.packages import MissingPackageError
    from goldrank.retrieval import run_retriever

__version__ = "1.0.0rc1"

_MODULES = {
    "evaluation.documents": "evaluate",
    "evaluation.arrays": "evaluate_arrays",
    "evaluation.texts": "evaluate_texts",
    "evaluation.text_settings": "Matching Evidence Answers",
    "evaluation.causes": "find_causes Causes Needed",
    "comparison.sweep": "sweep Sweep SweepRow",
    "evaluation.abstention": "abstention_curve AbstentionCurve",
    "comparison.matching": "matcher_agreement MatcherAgreements",
    "match.matcher": "Matcher",
    "retrieval": "run_retriever",
    "io.items": "read_items Items Item",
    "evaluation.executors": "evaluate_spark",
    "guide.advice": "choose Advice",
    "guide.pitfalls": "pitfalls",
    "comparison": "compare Comparison Pair",
    "comparison.settings": "Statistics",
    "comparison.intervals": "Interval",
    "comparison.leaderboard": "Leaderboard Standing",
    "comparison.rank_changes": "diff Diff QueryChange DocumentChange",
    "fusion.combine": "fuse normalize",
    "fusion.tuning": "tune_fusion TunedFusion",
    "fusion.options": "Fusion",
    "comparison.agreement": "rank_agreement RankAgreement",
    "comparison.interleaving": "analyse_interleaving Preference",
    "comparison.one_system": "score_intervals",
    "comparison.planning": "plan Plan",
    "comparison.corrected": "corrected_values CorrectedValue CorrectedValues",
    "comparison.convention_difference": "explain_difference Difference",
    "clicks": "judgements_from_clicks ClickJudgements",
    "gating.decide": "gate",
    "evaluation.unjudged": "worth_judging Unjudged",
    "judging.ask": "judge Judged",
    "judging.bias": "judge_agreement JudgeAgreement",
    "judging.probes": "judge_gullibility Gullibility",
    "judging.questions": "make_questions Questions",
    "judging.nouns": "Pool Calls",
    "judging.endpoint": "Endpoint",
    "judging.command": "Command",
    "judging.item": "Judge",
    "judgements": "JudgementLog Event",
    "io": "read_qrels read_run read_runs read_aspects read_preferences",
    "io.queries": "read_queries",
    "io.documents": "read_documents",
    "data.qrels": "Qrels",
    "data.aspects": "AspectQrels",
    "data.preferences": "Preferences",
    "data.catalogue": "Catalogue",
    "data.run": "Run",
    "data.runs": "Runs",
    "data.queries": "Queries Query",
    "data.documents": "Documents Document",
    "data.scores": "Scores ScoresByRun",
    "notes": "Note",
    "history": "History Record",
    "history.over_time": "Trend",
    "gating.baseline": "Baseline",
    "gating.rules": "Rule Rules",
    "gating.verdict": "Finding Verdict",
    "measures": "Measure measure",
    "conventions": "Convention",
    "errors": "GoldrankError InputError MismatchError MissingQueryError NoRelevantError BaselineError OptionError"
    " MeasureError NotMeasuredError JudgeError RetrievalError MemoryLimitError Position RuleError StoreError",
    "packages": "MissingPackageError",
}
"""Where the public names live. They are loaded when first used, so that importing goldrank costs nothing."""
_HOME = {name: f"goldrank.{module}" for module, names in _MODULES.items() for name in names.split()}
__all__ = [  # noqa: RUF022 - the order in which people meet them
    "evaluate", "evaluate_arrays", "evaluate_texts", "find_causes", "sweep", "abstention_curve",
    "matcher_agreement", "run_retriever", "evaluate_spark",
    "choose", "pitfalls", "compare", "diff", "fuse", "normalize", "tune_fusion", "rank_agreement", "explain_difference",
    "gate", "score_intervals", "plan", "analyse_interleaving", "judgements_from_clicks", "worth_judging", "judge",
    "judge_agreement", "judge_gullibility", "corrected_values", "make_questions", "read_qrels", "read_run", "read_runs",
    "read_items", "read_aspects", "read_preferences", "read_queries", "read_documents",
    "Qrels", "AspectQrels", "Preferences", "Run", "Runs", "Items", "Item", "Queries", "Query", "Documents", "Document",
    "Catalogue", "Convention", "Matching", "Evidence", "Answers", "Statistics", "Fusion", "Matcher",
    "Measure", "measure",
    "Scores", "ScoresByRun", "Comparison", "Pair", "Interval", "Leaderboard", "Standing",
    "Causes", "Needed", "Sweep", "SweepRow", "AbstentionCurve", "MatcherAgreements",
    "Diff", "QueryChange", "DocumentChange", "Difference", "RankAgreement", "Plan", "Unjudged", "TunedFusion", "Advice",
    "Pool", "Calls", "Endpoint", "Command", "Judge", "Judged", "JudgeAgreement", "Gullibility", "Questions",
    "CorrectedValue", "CorrectedValues", "ClickJudgements", "Preference",
    "History", "Record", "Trend", "JudgementLog", "Event", "Baseline", "Rule", "Rules", "Verdict", "Finding", "Note",
    "Position", "GoldrankError", "InputError", "MismatchError", "MissingQueryError", "NoRelevantError", "BaselineError",
    "RuleError", "OptionError", "MeasureError", "NotMeasuredError", "StoreError", "JudgeError", "RetrievalError",
    "MissingPackageError", "MemoryLimitError",
    "__version__",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Public names are loaded when they are first used, so that importing goldrank costs nothing."""
    if name in _HOME:
        from importlib import import_module

        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'goldrank' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
