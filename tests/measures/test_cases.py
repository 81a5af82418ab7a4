"""The values of `cases.py`, by the library and by the oracle."""

from __future__ import annotations

import functools
import inspect

import oracle
import pytest
from cases import CASES, close, tables
from cases_more import ASPECTS, MORE, PREFERENCES, SPANS
from recommender_cases import RECOMMENDED, SAMPLED
from text_cases import TEXTS

from goldrank import AspectQrels, Preferences, evaluate
from goldrank.measures import REGISTRY, parse
from goldrank.measures.options import COMMON

CASES = [*CASES, *MORE]
NAMES = [f"{case.measure} of {case.ranking}" for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_value(case):
    qrels, run = tables(case)
    assert evaluate(qrels, run, case.measure, overlap="allow")[case.measure] == close(case.value), case.why


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_oracle_agrees(case):
    measure = parse(case.measure)
    known = inspect.signature(oracle.MEASURES.get(measure.name, print)).parameters
    if measure.name not in oracle.MEASURES or not {key for key in measure.options} <= {*known, "judged_only"}:
        pytest.skip("the oracle restates trec_eval's measures only")
    options = {key: dict(value) if isinstance(value, tuple) else value for key, value in measure.options.items()}
    qrels, run = tables(case)
    rows = [(query.encode(), doc.encode(), -rank) for query, docs in run.items() for rank, doc in enumerate(docs)]
    raw = {query.encode(): {doc.encode(): grade for doc, grade in docs.items()} for query, docs in qrels.items()}
    _, values = oracle.evaluate(raw, rows, [("m", measure.name, measure.k, options)])
    assert values["m"][1] == close(case.value)


@functools.cache
def everything():
    every = (*CASES, *ASPECTS, *PREFERENCES, *SPANS, *TEXTS, *RECOMMENDED, *SAMPLED)
    return [parse(case.measure) for case in every]


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_measure_and_option_has_a_case(name):
    found = [measure for measure in everything() if measure.name == name]
    assert found, f"{name} has no case in cases.py"
    options = {key for measure in found for key in measure.options}
    assert REGISTRY[name].options.keys() - COMMON.keys() <= options
    if REGISTRY[name].cutoff == "optional":
        assert {measure.k is None for measure in found} == {True, False}


@pytest.mark.parametrize("case", ASPECTS, ids=[f"{case.measure} of {case.aspects}" for case in ASPECTS])
def test_value_by_aspect(case):
    size = max(len(grades.split()) for grades in case.aspects)
    qrels = {
        "q": {
            f"aspect{i}": {f"d{rank}": int(grade) for rank, grade in enumerate(grades.split()) if grade != "."}
            for i, grades in enumerate(case.aspects)
        }
    }
    run = {"q": [f"d{rank}" for rank in range(size)]}
    assert evaluate(AspectQrels(qrels), run, case.measure)[case.measure] == close(case.value), case.why


@pytest.mark.parametrize("case", PREFERENCES, ids=[f"{case.measure} of {case.ranking}" for case in PREFERENCES])
def test_value_of_preferences(case):
    preferences = Preferences({"q": case.judges})
    assert evaluate(preferences, {"q": case.ranking}, case.measure)[case.measure] == close(case.value), case.why


@pytest.mark.parametrize("case", SPANS, ids=[f"{case.measure} of {case.retrieved}" for case in SPANS])
def test_value_of_spans(case):
    assert parse(case.measure)(case.table()).tolist() == [close(case.value)], case.why


def test_no_case_stands_twice():
    assert len({case[:3] for case in CASES}) == len(CASES)
