"""One of each kind of result, for tests of what all of them can do."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import goldrank
from goldrank import Calls, History, Pool, Result, Runs, Scores, Statistics

QRELS = {f"q{i}": {"good": 1, "bad": 0} for i in range(24)}
FIRST = {query: ["good", "bad"] for query in QRELS}
SECOND = {query: ["bad", "good"] if int(query[1:]) % 3 else ["good", "bad"] for query in QRELS}
THIRD = {query: ["bad", "other"] for query in QRELS}
ITEMS = [
    {"id": f"q{i}", "question": f"Why {i}?", "retrieved": [(f"fact {i}", 0.9), ("more", 0.1)], "references": ["fact"]}
    for i in range(12)
]
NO_ANSWERS = [{"id": f"n{i}", "retrieved": [("none", 0.2)], "no_answer": True} for i in range(12)]
DOCUMENTS = {"good": "good words", "bad": "bad words", "other": "other words"}
CLICKS = [{"user": f"u{i}", "shown": ["x", "y"], "team": ["a", "b"], "clicks": ["y"]} for i in range(8)]
VIEWS = [{"query": "q", "shown": ["x", "y"], "clicks": ["y"]} for _ in range(12)]
MEMORY = {"evidence": ["D1:3", "D2:8"], "category": 1, "m_prediction_context": ["D1:3"]}
ANSWERED = {"id": "q", "question": "why?", "retrieved": [{"id": "a", "score": 1.0}], "latency_ms": 3.0, "attempts": 1}
FEW = Statistics(samples=200)


def _scores(run: dict[str, list[str]] = FIRST) -> Scores:
    return goldrank.evaluate(QRELS, run, ["RR", "P@1"])


@cache
def _comparison() -> goldrank.Comparison:
    kinds = {query: {"kind": "even" if int(query[1:]) % 2 == 0 else "odd"} for query in QRELS}
    runs = {"first": FIRST, "second": SECOND, "third": THIRD}
    return goldrank.compare(QRELS, runs, ["RR", "P@1"], queries=kinds, slice_by="kind", statistics=FEW)


def _log() -> Calls:
    return Calls(str(Path(mkdtemp()) / "log.db"))


def _trend() -> goldrank.Trend:
    with History(Path(mkdtemp()) / "h.db") as history:
        for run in (FIRST, SECOND, SECOND):
            history.record(_scores(run), label="nightly")
        return history.trend("RR")


def _model() -> goldrank.Qrels:
    guessed = {query: {"good": int(query[1:]) % 4 > 0, "bad": 0} for query in QRELS}
    return goldrank.Qrels(QRELS).with_model(
        {query: {d: int(g) for d, g in of.items()} for query, of in guessed.items()}
    )


def _judged() -> goldrank.Judged:
    qrels = {query: {"good": 1} for query in list(QRELS)[:3]}
    queries = dict.fromkeys(qrels, "words")
    runs = {"run": {query: ["good", "bad"] for query in qrels}}
    return goldrank.judge(
        qrels, runs, lambda question, text: 1, documents=DOCUMENTS, queries=queries, pool=Pool("all"), calls=_log()
    )


def _gullibility() -> goldrank.Gullibility:
    queries = dict.fromkeys(QRELS, "words")
    return goldrank.judge_gullibility(
        QRELS, lambda question, text: 0, documents=DOCUMENTS, queries=queries, calls=_log()
    )


def _finding() -> goldrank.Finding:
    return _verdict()[0]


def _verdict() -> goldrank.Verdict:
    return goldrank.gate(_scores(SECOND), ["RR: -1%", "P@1 >= 0.1"], _scores())


def _explanation() -> Result:
    return goldrank.evaluate_texts(ITEMS, "Cover", matching="contains").explain("q1")


def _score_tables() -> Result:
    from goldrank.report.scores import ScoreTables

    return ScoreTables([_scores(), _scores(SECOND).renamed("second")])


def _interval_tables() -> Result:
    from goldrank.report.one_system import IntervalTables

    return IntervalTables([goldrank.score_intervals(_scores())])


def _labels() -> list[tuple[str, str, bool]]:
    return [("a cat sat", "a cat", True), ("a dog", "a cat", False), ("the cat", "a cat", True)]


def _mteb() -> Result:
    from goldrank.suites.mteb import mteb_scores

    return mteb_scores({"q": {"a": 1}}, {"q": {"a": 0.9, "b": 0.8}})


KINDS: dict[str, Callable[[], Result]] = {
    "Scores": _scores,
    "ScoresByRun": lambda: goldrank.evaluate(QRELS, Runs(first=FIRST, second=SECOND), ["RR", "P@1"]),
    "Comparison": _comparison,
    "Pair": lambda: _comparison()["RR", "first", "second"],
    "Leaderboard": lambda: _comparison().leaderboard(),
    "Diff": lambda: goldrank.diff(QRELS, FIRST, SECOND, "RR"),
    "Difference": lambda: goldrank.explain_difference(QRELS, {"q1": ["good"]}, "RR", "trec_eval-10", "ranx"),
    "RankAgreement": lambda: goldrank.rank_agreement(FIRST, SECOND),
    "Plan": lambda: goldrank.plan(_comparison(), tolerance="5%"),
    "RunIntervals": lambda: goldrank.score_intervals(
        _scores(), queries={query: {"kind": query[1]} for query in QRELS}, slice_by="kind"
    ),
    "Verdict": _verdict,
    "Finding": _finding,
    "Baseline": lambda: goldrank.Baseline(_scores(), label="main"),
    "Trend": _trend,
    "Causes": lambda: goldrank.find_causes(ITEMS, k=1, matching="contains"),
    "Sweep": lambda: goldrank.sweep({"a": ITEMS, "b": ITEMS}, k=[1, 2], matching="contains"),
    "AbstentionCurve": lambda: goldrank.abstention_curve(ITEMS + NO_ANSWERS, matching="contains"),
    "MatcherAgreements": lambda: goldrank.matcher_agreement(_labels(), ["exact", "contains"], folds=2),
    "Explanation": _explanation,
    "JudgeAgreement": lambda: goldrank.judge_agreement(_model(), statistics=FEW),
    "Judged": _judged,
    "Gullibility": _gullibility,
    "CorrectedValues": lambda: goldrank.corrected_values(_model(), {"a": FIRST, "b": SECOND}, "P@1"),
    "CorrectedValue": lambda: goldrank.corrected_values(_model(), {"a": FIRST, "b": SECOND}, "P@1")["P@1", "a"],
    "ClickJudgements": lambda: goldrank.judgements_from_clicks(VIEWS),
    "Preference": lambda: goldrank.analyse_interleaving(CLICKS),
    "TunedFusion": lambda: goldrank.tune_fusion(QRELS, {"a": FIRST, "b": SECOND}, "RR", folds=2, steps=2),
    "Advice": lambda: goldrank.choose("rag"),
    "Stages": lambda: goldrank.stages(QRELS, [SECOND, FIRST], "RR@10"),
    "AnnRecall": lambda: goldrank.ann_recall({"q": {"a": 0.9, "b": 0.8}}, {"q": ["a", "c"]}, k=2),
    "AnnBenchmarks": lambda: goldrank.ann_benchmarks([[0.1, 0.2]], [[0.1, 0.3]], k=2),
    "MemoryScores": lambda: goldrank.memory_scores({"qa": [MEMORY]}, "locomo"),
    "SearchScores": lambda: goldrank.score_searches([{"id": "q", "searches": [["a"], ["x"]], "expected": ["a"]}]),
    "BrowseCompScores": lambda: goldrank.browsecomp_scores(
        [{"query_id": "1", "retrieved_docids": ["1"]}], {"1": ["1", "2"]}
    ),
    "MtebScores": _mteb,
    "ScoreTail": lambda: goldrank.score_tail(_scores(SECOND), target=1.0),
    "CollectionComparison": lambda: goldrank.compare_collections(
        {name: (QRELS, {"first": FIRST, "second": SECOND}) for name in ("one", "two")}, "RR", statistics=FEW
    ),
    "Churn": lambda: goldrank.compare_rankings(FIRST, SECOND),
    "EngineRun": lambda: goldrank.EngineRun("engine", 10, 1, (ANSWERED,)),
    "ScoreTables": _score_tables,
    "IntervalTables": _interval_tables,
}


@cache
def made(kind: str) -> Result:
    """A result of a kind."""
    return KINDS[kind]()


def kinds_in_the_source() -> set[str]:
    """The names of all kinds of results, from the modules of goldrank."""
    names = set()
    for module in pkgutil.walk_packages(goldrank.__path__, "goldrank."):
        if ".integrations" in module.name or module.name.endswith("__main__"):
            continue
        for thing in vars(importlib.import_module(module.name)).values():
            if isinstance(thing, type) and issubclass(thing, Result) and thing is not Result:
                names.add(thing.__name__)
    return names
