"""`Evaluator`: kept judgements and measures give what `evaluate` gives, also where a run is not short or not plain."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

import goldrank
from goldrank import Evaluator, InputError, MeasureError, OptionError, evaluate
from goldrank.evaluation import short_runs

QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1}, "q3": {"d9": 0}}
MEASURES = ["nDCG@10", "AP", "RR"]
RUN = {"q1": {"d1": 0.2, "d2": 0.9, "x": 0.5}, "q2": {"d1": 1.0}}


def assert_as_evaluate(qrels: Any, run: Any, measures: Any, **options: Any) -> None:
    evaluator = Evaluator(qrels, measures, **options)
    scores = evaluate(qrels, run, measures, **options)
    assert evaluator.mean(run) == pytest.approx(dict(scores.mean), abs=0, nan_ok=True)
    for name, values in evaluator.per_query(run).items():
        assert values == pytest.approx(dict(scores.per_query[name]), abs=0, nan_ok=True)
        assert list(values) == list(scores.per_query[name])
    assert evaluator.evaluate(run).mean == pytest.approx(dict(scores.mean), abs=0, nan_ok=True)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"convention": "trec_eval-9"},
        {"convention": "ranx", "missing": "zero"},
        {"missing": "skip"},
        {"empty": "skip"},
        {"empty": "nan"},
        {"ties": "expected"},
        {"ties": "input"},
        {"ties": "docid-ascending"},
        {"score_type": "float32"},
        {"overlap": "allow"},
    ],
)
def test_rules_are_those_of_evaluate(options: dict[str, Any]) -> None:
    assert_as_evaluate(QRELS, RUN, MEASURES, **options)


@pytest.mark.parametrize("measures", [None, "P@5", ["GMAP", "AP"], ["Judged@10"], ["bpref", "nDCG@10"], ["NumRet"]])
def test_measures_are_those_of_evaluate(measures: Any) -> None:
    assert_as_evaluate(QRELS, RUN, measures)


@pytest.mark.parametrize(
    "run",
    [
        {"q1": ["d3", "d1"], "q2": ["d1"]},
        {"q1": [("d3", 0.4), ("d1", 0.3)]},
        {"q1": {"d1": 1, "d3": 2}},
        {"q1": {"d1": float("inf"), "d3": 2.0}},
        {"q1": {}, "q2": {"d1": 1.0}},
        {"unjudged": {"d1": 1.0}, "q2": {"d1": 1.0}},
        goldrank.Run(RUN),
        [("q1", "d1", 0.5)],
    ],
)
def test_runs_are_those_of_evaluate(run: Any) -> None:
    assert_as_evaluate(QRELS, run, MEASURES)


@pytest.mark.parametrize(
    "run",
    [
        {"q1": {"d1": float("nan")}},
        {"q1": {"d1": "high"}},
        {"unknown": {"d1": 1.0}},
        {"q1": {"unknown": 1.0}},
        {1: {"d1": 1.0}},
        {"q1": {"d1": 1.0}, "unjudged": {"d1": float("nan")}},
        {"one": RUN, "two": RUN},
        {},
    ],
)
def test_errors_are_those_of_evaluate(run: Any) -> None:
    evaluator = Evaluator(QRELS, MEASURES)
    with pytest.raises(InputError) as expected:
        evaluate(QRELS, run, MEASURES)
    for call in (evaluator.mean, evaluator.per_query, evaluator.evaluate):
        with pytest.raises(InputError) as raised:
            call(run)
        assert str(raised.value) == str(expected.value)


def test_judgements_are_copied() -> None:
    judged = {"q1": {"d1": 1}}
    evaluator = Evaluator(judged, "RR")
    judged["q1"]["d2"] = 1
    assert evaluator.mean({"q1": {"d2": 2.0, "d1": 1.0}}) == {"RR": 0.5}


def test_unknown_measures_and_policies_are_refused_when_it_is_made() -> None:
    with pytest.raises(MeasureError):
        Evaluator(QRELS, "nDGC@10")
    with pytest.raises(OptionError):
        Evaluator(QRELS, "RR", ties="by luck")  # type: ignore[call-arg, arg-type]
    with pytest.raises(MeasureError):
        Evaluator(QRELS, "alpha_nDCG@10")


def test_many_judged_documents_and_many_queries_are_left_to_arrays() -> None:
    rng = random.Random(3)
    docs = [f"d{i}" for i in range(3 * short_runs.FEW_DOCUMENTS)]
    deep_qrels = {"q": {doc: rng.randint(0, 2) for doc in docs}}
    deep = {"q": {doc: rng.random() for doc in docs}}
    assert Evaluator(deep_qrels, MEASURES).short_rows(deep) is None
    assert_as_evaluate(deep_qrels, deep, MEASURES)

    wide_qrels = {f"q{i}": {"d1": 1} for i in range(short_runs.FEW_QUERIES + 1)}
    wide = {query: {"d1": 1.0, "d2": rng.random() * 2} for query in wide_qrels}
    assert Evaluator(wide_qrels, MEASURES).short_rows(wide) is None
    assert_as_evaluate(wide_qrels, wide, MEASURES)


def test_a_measure_that_replaces_another_is_taken() -> None:
    class Tried:
        calls = 0

    def own(p: Any, *, rel: float = 1) -> Any:
        Tried.calls += 1
        return p.count(p.grade >= rel) * 7.0

    measure = goldrank.Measure.parse("RR")
    replaced = replace(measure, declaration=replace(measure.declaration, kernel=own, cutoff="none"))
    assert Evaluator({"q": {"a": 1}}, [replaced]).mean({"q": {"x": 2.0, "a": 1.0}}) == {"RR": 7.0}
    assert Tried.calls


def test_threads_share_an_evaluator() -> None:
    evaluator = Evaluator({f"q{i}": {f"d{i}": 1} for i in range(50)}, ["RR"])

    def taken(number: int) -> float:
        query = f"q{number % 50}"
        ranking = {f"x{i}": 2.0 for i in range(number % 7)} | {f"d{number % 50}": 1.0}
        return evaluator.mean({query: ranking})["RR"] * 50 * (number % 7 + 1)

    with ThreadPoolExecutor(4) as pool:
        assert set(map(round, pool.map(taken, range(2_000)))) == {1}


def test_what_it_is_made_of_cannot_be_set() -> None:
    evaluator = Evaluator(QRELS, MEASURES)
    assert repr(evaluator) == "Evaluator('qrels', nDCG@10, AP, RR)"
    with pytest.raises(AttributeError):
        evaluator.measures = ()  # type: ignore[misc]
