"""Why two conventions give two numbers: values of all pairs on random data, and whose error is whose."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from lanes import many

from goldrank import evaluate, explain_difference
from goldrank.base.errors import GoldrankError
from goldrank.comparison.convention_difference import _rules_of, with_rule
from goldrank.conventions import NAMES, POLICIES, Convention, convention_of
from goldrank.measures import parse

PAIRS = list(itertools.permutations(NAMES, 2))
MEASURES = (
    *("AP", "nDCG@5", "P@3", "R@5", "RR", "IPrec@0.4", "DCG", "AUROC", "Hole@3", "R_cap@5", "Success@3", "Bpref"),
    *("Rprec", "FallOut@3", "RBP", "Accuracy", "AP@4"),
)


def data(seed: int):
    """Some queries with ties, missing and unjudged documents, and queries that one side lacks.

    Some have scores of 0 and below, negative grades, or a document with the query's id.
    """
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(12)] + (["q1", "q2"] if seed % 3 == 0 else [])
    queries = [f"q{i}" for i in range(6)]
    grades = [0, 1, 2] if seed % 5 else [-1, 0, 1]
    lowest = -2 if seed % 4 == 0 else 0
    qrels = {query: {doc: rng.choice(grades) for doc in rng.sample(docs, 6)} for query in queries}
    distinct = seed % 7 == 0
    run = {
        query: {doc: rng.random() if distinct else float(rng.randint(lowest, 4)) for doc in rng.sample(docs, 8)}
        for query in queries
    }
    if seed % 2:
        del run["q3"]
    return qrels, run


def value(qrels, run, measure, convention):
    try:
        return evaluate(qrels, run, measure, convention=convention)[measure], None
    except GoldrankError as error:
        return math.nan, error.what


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_all_pairs_of_conventions(first, second):
    """Both values are those of `evaluate`; all rules together lead from the first to the second."""
    seed = PAIRS.index((first, second))
    for measure in random.Random(seed).sample(MEASURES, many(5, 1)):
        seed += 1
        check(*data(seed), measure, first, second)


def check(qrels, run, measure, first, second):
    ends = [value(qrels, run, measure, convention) for convention in (first, second)]
    if ends[0][1] is not None and ends[0][1] == ends[1][1]:
        with pytest.raises(GoldrankError):
            explain_difference(qrels, run, measure, first, second)
        return
    found = explain_difference(qrels, run, measure, first, second)
    assert [repr(end) for end in found.values] == [repr(number) for number, _ in ends]
    assert list(found.problems) == [problem for _, problem in ends]
    changed, wanted, other = _rules_of(first), parse(measure), _rules_of(second)
    for rule in found.rules:
        changed = with_rule(changed, rule.name, other, wanted)
    if found.rules:  # they are all rules that matter: with all of them replaced the other value comes out
        assert repr(value(qrels, run, measure, convention_of(changed))[0]) == repr(found.values[1])
    elif not any(found.problems):
        assert found.values[0] == found.values[1]
    for rule in found.rules:
        same = repr(rule.alone) == repr(found.values[0])
        if rule.problem is not None:
            assert math.isnan(rule.alone)
            assert rule.matters
            assert rule.problem != found.problems[0]
        elif found.problems[0] is None:
            assert rule.matters is not same
    assert [rule.matters for rule in found.rules] == sorted((rule.matters for rule in found.rules), reverse=True)
    assert str(found).startswith(measure)


def test_the_first_conventions_error_is_its_own():
    """The run lacks a query, which is an error for ranx alone: only `missing` removes it, and no rule has it."""
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    found = explain_difference(qrels, run, "RR", "ranx", "trec_eval-10")
    assert found.problems[0] is not None
    assert found.problems[1] is None
    rules = {rule.name: rule for rule in found.rules}
    assert rules["missing"].problem is None
    assert rules["missing"].alone == 0.5
    assert [rule.name for rule in found.rules if rule.matters] == ["missing"]
    assert all(rule.problem is None for rule in found.rules)
    assert str(found).count("an error") == 1


def test_an_error_that_one_rule_makes_is_that_rules():
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    found = explain_difference(qrels, run, "RR", "trec_eval-10", "ranx")
    assert {rule.name for rule in found.rules if rule.problem} == {"missing"}
    assert found.problems == (None, found.rules[0].problem)


def test_rules_of_reading_belong_to_their_convention():
    """A row that is repeated is an error for one convention, and the last counts for the other."""
    rows = [("q", "a", 0), ("q", "a", 1)]
    lenient = Convention(judgements="last")
    for qrels in (rows, iter(rows)):
        first_reads = not isinstance(qrels, list)
        found = explain_difference(qrels, {"q": ["a"]}, "RR", lenient, "trec_eval-10")
        assert found.values[0] == 1.0
        assert (found.problems[1] is None) is first_reads
    found = explain_difference(rows, {"q": ["a"]}, "RR", "trec_eval-10", lenient)
    assert found.problems[0] is not None
    assert [(rule.name, rule.alone) for rule in found.rules] == [("judgements", 1.0)]


@pytest.mark.slow
def test_every_rule_is_said_in_words():
    """No name of a field and no value of Python's is printed for what no user ever wrote.

    Both sides of a rule are looked at, so that one order of each pair is enough.
    """
    seen = set()
    for number, (first, second) in enumerate(itertools.combinations(NAMES, 2)):
        qrels, run = data(number)
        for measure in random.Random(number).sample(MEASURES, many(len(MEASURES), 3)):
            try:
                found = explain_difference(qrels, run, measure, first, second)
            except GoldrankError:
                continue
            for rule in found.rules:
                if rule.name not in POLICIES and rule.name not in parse(measure).declaration.defaults:
                    seen.add(rule.name)
                    words = {rule.first, rule.second}
                    assert not words & {True, False, None, ""}, (first, second, measure, rule)
                    assert "_" not in rule.label, rule
                    assert rule.label != rule.name or rule.name == "ties", rule
    assert len(seen) > 3
