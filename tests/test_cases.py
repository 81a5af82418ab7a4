"""The values of `cases.py`, by the library and by the oracle."""

from __future__ import annotations

import oracle
import pytest
from cases import CASES, close, tables

from goldrank import evaluate, parse
from goldrank.measures import REGISTRY

NAMES = [f"{case.measure} of {case.ranking}" for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_value(case):
    qrels, run = tables(case)
    assert evaluate(qrels, run, case.measure, overlap="allow")[case.measure] == close(case.value), case.why


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_oracle_agrees(case):
    measure = parse(case.measure)
    if measure.name not in oracle.MEASURES:
        pytest.skip("the oracle restates trec_eval's measures only")
    options = {key: dict(value) if isinstance(value, tuple) else value for key, value in measure.options}
    qrels, run = tables(case)
    rows = [(query.encode(), doc.encode(), -rank) for query, docs in run.items() for rank, doc in enumerate(docs)]
    raw = {query.encode(): {doc.encode(): grade for doc, grade in docs.items()} for query, docs in qrels.items()}
    _, values = oracle.evaluate(raw, rows, [("m", measure.name, measure.k, options)])
    assert values["m"][1] == close(case.value)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_measure_and_option_has_a_case(name):
    found = [parse(case.measure) for case in CASES if parse(case.measure).name == name]
    assert found, f"{name} has no case in cases.py"
    options = {key for measure in found for key, _ in measure.options}
    assert REGISTRY[name].options.keys() - {"judged_only"} <= options
    if REGISTRY[name].cutoff == "optional":
        assert {measure.k is None for measure in found} == {True, False}


def test_no_case_stands_twice():
    assert len({case[:3] for case in CASES}) == len(CASES)
