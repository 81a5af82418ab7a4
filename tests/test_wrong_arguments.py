"""Everything public with things that it does not take: an error in words, never a bare AttributeError or KeyError."""

from __future__ import annotations

import inspect
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import goldrank
from goldrank import GoldrankError
from goldrank.base import escaping

QRELS = {"q": {"d": 1}, "p": {"d": 1, "e": 0}}
RUN = {"q": {"d": 1.0, "x": 0.5}, "p": {"e": 1.0, "d": 0.5}}
TEXTS = [{"retrieved": ["a"], "references": ["a"]}]
PAIRS = [{"retrieved": "a", "reference": b, "label": b == "a"} for b in "ab"]
WRONG = [
    *(3, -1, 3.5, None, True, b"x", "no such thing", "\0", "x" * 5_000, object(), [], {}, (), [3], [None], {"a": 3}),
    *({3: {}}, {"q": None}, {"q": {"d": None}}, [[]], [{}], set(), lambda: 3, int, goldrank, float("nan"), 10**30),
    *(range(3), iter(())),
]

SOUND = {
    "evaluate": (QRELS, RUN, ["AP"]),
    "Evaluator": (QRELS, ["AP"]),
    "evaluate_arrays": ([[1, 0]], [[0.5, 0.25]], ["AP"]),
    "evaluate_texts": (TEXTS, ["RR"]),
    "abstention_curve": (
        [
            {"retrieved": [("a", 0.9)], "references": ["a"]},
            {"retrieved": [("x", 0.2)], "no_answer": True},
        ],
    ),
    "find_causes": (TEXTS,),
    "sweep": ({"a/b": TEXTS},),
    "matcher_agreement": (PAIRS, "exact"),
    "choose": ("rag",),
    "pitfalls": (goldrank.evaluate(QRELS, RUN, "AP"),),
    "compare": (QRELS, {"a": RUN, "b": RUN}, ["AP"]),
    "plan": (goldrank.compare(QRELS, {"a": RUN, "b": RUN}, ["AP"]),),
    "score_intervals": (goldrank.evaluate(QRELS, RUN, "AP"),),
    "show": (goldrank.evaluate(QRELS, RUN, "AP"), "csv"),
    "analyse_interleaving": ([{"shown": ["x", "y"], "team": ["a", "b"], "clicks": ["y"]}],),
    "judgements_from_clicks": ([{"query": "q", "shown": ["x", "y"], "clicks": ["y"]}],),
    "diff": (QRELS, RUN, RUN, "AP"),
    "fuse": ({"a": RUN, "b": RUN},),
    "normalize": (RUN,),
    "tune_fusion": (QRELS, {"a": RUN, "b": RUN}, "AP"),
    "rank_agreement": (RUN, RUN),
    "explain_difference": (QRELS, RUN, "AP", "ranx", "trec_eval-9"),
    "gate": (goldrank.evaluate(QRELS, RUN, "AP"), ["AP >= 0.1"]),
    "worth_judging": (QRELS, RUN),
    "judge": (QRELS, {"a": RUN}),
    "judge_agreement": (goldrank.Qrels(QRELS).with_model(QRELS),),
    "judge_gullibility": ({"q": {"x": 0}},),
    "make_questions": ({"s": "One two three four five."},),
    "corrected_values": (goldrank.Qrels(QRELS).with_model(QRELS), {"a": RUN}, ["AP"]),
    "corrected_scores": (
        goldrank.evaluate(QRELS, RUN, "AP"),
        goldrank.evaluate(QRELS, RUN, "AP"),
    ),
    "Pool": ("all",),
    "Calls": ("judgements.db",),
    "Endpoint": ("model", "http://localhost:9/v1"),
    "Command": ("judge --all",),
    "run_retriever": (lambda question: ["a"], ["q"]),
    "run_engine": ({"q": "a"}, {"kind": "python", "function": "itertools:repeat"}),
    "EngineLimits": (4, 10.0),
    "compare_rankings": (RUN, RUN),
    "explain_signature": ("goldrank:1.0.0 measure:nDCG@10 rules:trec_eval-10 qrels:52b5f5a0da46/2q/3j sum:b273",),
    "check_conformance": ("cat",),
    "SearchEngine.load": ("no.file",),
    "SearchEngine.from_table": ({"url": "http://localhost/{query}"},),
    "read_qrels": ("no.file",),
    "read_run": ("no.file",),
    "read_runs": ("no.file",),
    "read_aspects": ("no.file",),
    "read_preferences": ("no.file",),
    "read_queries": ({"q": "why?"},),
    "read_documents": ({"d": "so"},),
    "Qrels": (QRELS,),
    "Run": (RUN,),
    "Runs": ({"a": RUN},),
    "Queries": ({"q": "why?"},),
    "Documents": ({"d": "so"},),
    "ScoresByRun": ([goldrank.evaluate(QRELS, RUN, "AP")],),
    "ScoresByRun.load": ("no.file",),
    "Statistics": ("t", "holm"),
    "AspectQrels": ({"q": {"1": {"d": 1}}},),
    "Preferences": ({"q": {"j": [{"d": 1, "e": 2}]}},),
    "Catalogue": (["a", "b"],),
    "Items": (TEXTS,),
    "read_items": (TEXTS,),
    "Matching": ("exact",),
    "Evidence": ({"s": "text"},),
    "Answers": (lambda text, claim: True,),
    "Scores.load": ("no.file",),
    "Scores.merge": ([goldrank.evaluate(QRELS, RUN, "AP")],),
    "Scores.from_dict": ({},),
    "History": ("history.db",),
    "JudgementLog": ("log.db",),
    "Baseline.load": ("no.file",),
    "Rule.parse": ("AP >= 0.1",),
    "Rule.from_table": ({"measure": "AP", "floor": 0.1},),
    "Rules": (["AP >= 0.1"],),
    "Rules.load": ("no.file",),
    "Fusion": ("rrf",),
    "stages": (QRELS, [RUN, RUN], "AP"),
    "ann_recall": (RUN, RUN),
    "ann_benchmarks": ([[0.1, 0.2]], [[0.1, 0.3]], 2),
    "memory_scores": ({"qa": [{"evidence": ["D1:1"], "m_prediction_context": ["D1:1"]}]}, "locomo"),
    "score_searches": ([{"id": "q", "searches": [["a"]], "expected": ["a"]}],),
    "browsecomp_scores": ([{"query_id": "1", "retrieved_docids": ["1"]}], {"1": ["1"]}),
    "score_tail": (goldrank.evaluate(QRELS, RUN, "AP"),),
    "compare_collections": ({"c": (QRELS, {"a": RUN, "b": RUN})}, "AP"),
    "borda_ranks": ({"a": {"t": 0.5}},),
}
OTHERS = {
    "evaluate_spark",
    *(
        "Trend",
        "Finding",
        "Query",
        "Document",
        "Pair",
        "Interval",
        "SliceTable",
        "ToJudge",
        "Leaderboard",
        "Standing",
        "Note",
        "Result",
        "RunIntervals",
    ),
    "Item",
    "Explanation",
    "Matcher",
    "Causes",
    "Outcomes",
    "Needed",
    "Sweep",
    "SweepRow",
    "AbstentionCurve",
    "MatcherAgreements",
    "TunedFusion",
    "Diff",
    "QueryChange",
    "DocumentChange",
    "Difference",
    "RankAgreement",
    *("EngineRun", "EngineAnswer", "Churn", "QueryChurn", "JudgeNext", "JudgedChange", "JudgingStep"),
    *("LatencyShift", "ScoreSpread", "SliceChurn"),
    "Plan",
    "Unjudged",
    "Advice",
    *("Judge", "Judged", "JudgeAgreement", "Gullibility", "Questions", "CorrectedValue", "CorrectedValues", "Event"),
    *("ClickJudgements", "Preference", "Trend", "Finding", "Position"),
    *("Stages", "QueryStages", "AnnRecall", "AnnBenchmarks", "MemoryScores", "SearchScores", "QuestionSearches"),
    *("Signature", "SignatureReport", "ConformanceReport"),
    *("BrowseCompScores", "ScoreTail", "MeasureTail", "CollectionComparison", "CollectionPair", "CollectionStanding"),
    "Record",
    "Comparison",
    "Verdict",
    "Measure",
    "measure",
    "Convention",
}
"""They need Spark, or are made by other functions, or take what a type checker sees."""


FUNCTIONS = {
    *("matcher_agreement", "run_retriever", "evaluate", "evaluate_arrays", "evaluate_texts", "compare"),
    *("diff", "corrected_values", "explain_difference", "tune_fusion", "worth_judging"),
}
"""They take functions, which types are too: as measures, matchers and retrievers."""


RESAMPLES = ("judge_agreement", "compare")
"""Each call draws a thousand samples otherwise."""


def called(name):
    if name == "judge":
        given = {"documents": {"x": "a"}, "queries": {"q": "b", "p": "c"}, "judge": lambda question, text: 1}
        return lambda *arguments, **options: goldrank.judge(*arguments, **{**given, **options})
    if name in RESAMPLES:
        few = {"statistics": goldrank.Statistics(samples=100)}
        return lambda *arguments, **options: getattr(goldrank, name)(*arguments, **{**few, **options})
    if name == "judge_gullibility":
        given = {"documents": {"x": "a"}, "queries": {"q": "b", "p": "c"}, "judge": lambda question, text: 1}
        return lambda *arguments, **options: goldrank.judge_gullibility(*arguments, **{**given, **options})
    if name == "make_questions":
        written = {"question": "What is said here?", "quote": "One two three four five."}
        given = {"writer": lambda question, text: written, "judge": lambda question, text: 3, "n": 1}
        return lambda *arguments, **options: goldrank.make_questions(*arguments, **{**given, **options})
    found = goldrank
    for part in name.split("."):
        found = getattr(found, part)
    return found


def test_everything_public_is_tried():
    tried = {name.partition(".")[0] for name in SOUND} | OTHERS | {"__version__"}
    assert tried == {name for name in goldrank.__all__ if not name.endswith("Error")}


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def complaint(call):
    """What is wrong with how it fails; None if it does not, or says so in words."""
    try:
        call()
    except GoldrankError as error:
        return None if len(str(error).split()) > 2 else f"says only {error}"
    except TypeError as error:
        bare = "unexpected keyword" not in str(error) and "goldrank" not in str(error)
        return f"TypeError: {error}" if bare else None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SOUND)
def test_wrong_arguments_get_words(name):
    function, sound = called(name), SOUND[name]
    wrong = []
    for i in range(len(sound)):
        for given in WRONG:
            if callable(given) and name in FUNCTIONS:
                continue  # functions and types can be measures, matchers and retrievers
            arguments = [*sound[:i], given, *sound[i + 1 :]]
            if found := complaint(lambda arguments=arguments: function(*arguments)):
                wrong.append(f"argument {i + 1} {given!r:.30}: {found}")
    assert not wrong, "\n".join(wrong)


HUGE, LARGE = 10**5_000, 10**400
"""Python does not write the one down, also not in a message; the other is larger than any float."""


STRANGE = [
    *(
        HUGE,
        (LARGE, 1),
        [LARGE],
        {"q": LARGE},
        {"q": [LARGE]},
        math.inf,
        np.array([1, 2]),
        Decimal("NaN"),
        Fraction(1, 3),
    ),
    *([[3]], 1j, frozenset("a"), "\ud800"),
]
TAKES_FUNCTIONS = (
    *("unit", "matcher", "judge", "writer", "measure", "measures", "progress", "similarity", "tokens", "method"),
    *("normalise", "parameters", "place", "documents", "docs", "queries", "chunks", "sources", "seen", "strata"),
)


FUNCTIONS = [name for name in SOUND if name[0].islower()]
SLOW = ("run_retriever", "compare", "judge_agreement", "rank_agreement")
"""The first waits before it tries again; the others compute much for what they take after all."""


@pytest.mark.parametrize("name", RESAMPLES)
def test_few_samples_are_no_mistake(name):
    """Or every wrong option would be answered by words about them."""
    assert called(name)(*SOUND[name]) is not None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in FUNCTIONS]
)
def test_wrong_options_get_words(name):
    """Every option of every function, also those that come to be later."""
    function, sound = called(name), SOUND[name]
    known = list(inspect.signature(getattr(goldrank, name)).parameters.values())
    wrong = []
    for i, option in enumerate(known):
        if (i < len(sound) and option.kind is not option.KEYWORD_ONLY) or option.kind is option.VAR_KEYWORD:
            continue
        for given in (*WRONG, *STRANGE):
            if callable(given) and option.name in TAKES_FUNCTIONS:
                continue
            found = complaint(lambda option=option, given=given: function(*sound, **{option.name: given}))
            if found:
                wrong.append(f"{option.name}={escaping.shown(given, 30)}: {found}")
    assert not wrong, "\n".join(wrong)
