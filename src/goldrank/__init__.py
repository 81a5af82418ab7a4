"""goldrank: how much gold is in your ranking?

Judgements (qrels) and rankings (runs) in, exact and explained numbers out.

>>> import goldrank
>>> goldrank.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.9, "d2": 0.4}}, "nDCG@10").mean
{'nDCG@10': 1.0}
"""

from __future__ import annotations

from typing import Any

__version__ = "1.0.0rc2"

PUBLIC = {
    "evaluate": "goldrank.evaluation.rankings",
    "Evaluator": "goldrank.evaluation.evaluator",
    "evaluate_arrays": "goldrank.evaluation.arrays",
    "evaluate_texts": "goldrank.evaluation.texts",
    "evaluate_spark": "goldrank.evaluation.executors",
    "compare": "goldrank.comparison.build",
    "diff": "goldrank.comparison.rank_changes",
    "rank_agreement": "goldrank.comparison.agreement",
    "explain_difference": "goldrank.comparison.convention_difference",
    "score_intervals": "goldrank.comparison.one_system",
    "plan": "goldrank.comparison.planning",
    "worth_judging": "goldrank.evaluation.worth_judging",
    "show": "goldrank.report.show",
    "read_qrels": "goldrank.io",
    "read_run": "goldrank.io",
    "read_runs": "goldrank.io",
    "read_items": "goldrank.io.questions.items",
    "read_aspects": "goldrank.io",
    "read_preferences": "goldrank.io",
    "read_queries": "goldrank.io.by_id.query_files",
    "read_documents": "goldrank.io.by_id.document_files",
    "Qrels": "goldrank.data.qrels",
    "AspectQrels": "goldrank.data.aspects",
    "Preferences": "goldrank.data.preferences",
    "Run": "goldrank.data.run",
    "Runs": "goldrank.data.runs",
    "Items": "goldrank.io.questions.items",
    "Item": "goldrank.io.questions.items",
    "Queries": "goldrank.data.queries",
    "Query": "goldrank.data.queries",
    "Documents": "goldrank.data.documents",
    "Document": "goldrank.data.documents",
    "Catalogue": "goldrank.data.catalogue",
    "Convention": "goldrank.conventions",
    "Matching": "goldrank.evaluation.text_settings",
    "Evidence": "goldrank.evaluation.text_settings",
    "Answers": "goldrank.evaluation.text_settings",
    "Statistics": "goldrank.comparison.settings",
    "Matcher": "goldrank.match.matcher",
    "Measure": "goldrank.measures",
    "measure": "goldrank.measures",
    "Scores": "goldrank.data.scores",
    "ScoresByRun": "goldrank.data.scores",
    "Comparison": "goldrank.comparison.result",
    "Pair": "goldrank.comparison.pair",
    "Interval": "goldrank.comparison.intervals",
    "SliceTable": "goldrank.comparison.slice_table",
    "ToJudge": "goldrank.comparison.holes",
    "Leaderboard": "goldrank.comparison.leaderboard",
    "Standing": "goldrank.comparison.leaderboard",
    "Diff": "goldrank.comparison.rank_changes",
    "QueryChange": "goldrank.comparison.rank_changes",
    "DocumentChange": "goldrank.comparison.rank_changes",
    "Difference": "goldrank.comparison.convention_difference",
    "RankAgreement": "goldrank.comparison.agreement",
    "Plan": "goldrank.comparison.planning",
    "Unjudged": "goldrank.evaluation.worth_judging",
    "RunIntervals": "goldrank.comparison.one_system",
    "Result": "goldrank.data.showing",
    "Explanation": "goldrank.data.explanation",
    "Note": "goldrank.base.notes",
    "Position": "goldrank.base.errors",
    "GoldrankError": "goldrank.base.errors",
    "InputError": "goldrank.base.errors",
    "MismatchError": "goldrank.base.errors",
    "MissingQueryError": "goldrank.base.errors",
    "NoRelevantError": "goldrank.base.errors",
    "BaselineError": "goldrank.base.errors",
    "RuleError": "goldrank.base.errors",
    "OptionError": "goldrank.base.errors",
    "MeasureError": "goldrank.base.errors",
    "NotMeasuredError": "goldrank.base.errors",
    "StoreError": "goldrank.base.errors",
    "JudgeError": "goldrank.base.errors",
    "RetrievalError": "goldrank.base.errors",
    "MissingPackageError": "goldrank.base.packages",
    "MemoryLimitError": "goldrank.base.errors",
}
"""The core's public names, with the modules that they are in. Satellites have their own tables
(`goldrank.base.satellites`), and `make names` writes `__init__.pyi` from all of them."""


def _public_names() -> dict[str, str]:
    from goldrank.base.satellites import public_names

    return PUBLIC | public_names()


def _is_package(name: str) -> bool:
    """Whether a name is one of goldrank's packages, which Python asks for here before it imports them."""
    import os

    return os.path.isdir(os.path.join(os.path.dirname(__file__), name))


def __getattr__(name: str) -> Any:
    """Public names are loaded when they are first used, so that importing goldrank costs nothing."""
    if name == "__all__":
        return [*_public_names(), "__version__"]

    module = PUBLIC.get(name)
    if module is None and not name.startswith("_") and not _is_package(name):
        module = _public_names().get(name)
    if module is None:
        raise AttributeError(f"module 'goldrank' has no attribute {name!r}")

    from importlib import import_module

    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_public_names(), "__version__"])
