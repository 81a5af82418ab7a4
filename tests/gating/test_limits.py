"""Limits as people write them: what is at its limit passes, what is below it fails."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from gates import gate_run

from goldrank import evaluate, gate
from goldrank.data.scores import Column, Remarks, Scores
from goldrank.gating.limits import is_below, rank_of

CASES = 300


def of_values(values, measure="P@10"):
    queries = tuple(f"q{i:03d}" for i in range(len(values)))
    column = Column(measure, np.array(values, float), float(np.cumsum(values)[-1] / len(values)), "mean")
    return Scores("run", queries, {measure: column}, Remarks({"retrieved": 1}))


def cases(seed):
    """Values of P@10 as whole tenths, and their mean as people write it, where it ends."""
    rng = random.Random(seed)
    made = []
    while len(made) < CASES:
        n = rng.choice([1, 2, 3, 4, 5, 8, 10, 16, 20, 25, 40, 50, 80, 100])
        tenths = [rng.randint(0, 10) for _ in range(n)]
        if rng.random() < 0.3:
            tenths = [tenths[0]] * rng.randint(1, 60)
        mean = Fraction(sum(tenths), 10 * len(tenths))
        decimal = Decimal(mean.numerator) / Decimal(mean.denominator)
        if Fraction(decimal) == mean:
            made.append(([tenth / 10 for tenth in tenths], decimal))
    return made


def test_three_queries_of_07():
    found = gate(of_values([0.7, 0.7, 0.7]), "P@10 >= 0.7")[0]
    assert found.status == "pass"


def test_a_run_at_its_limit_passes_and_one_below_it_fails():
    for values, mean in cases(1):
        scores = of_values(values)
        assert gate(scores, [f"P@10 >= {mean}", f"P@10 <= {mean}"]).status == "pass", (values, mean)
        above, below = mean + Decimal("1e-9"), mean - Decimal("1e-9")
        assert gate(scores, f"P@10 >= {above}").status == "fail"
        if below > 0:
            assert gate(scores, f"P@10 <= {below}").status == "fail"


def test_a_drop_of_what_is_tolerated_passes_and_a_larger_one_fails():
    """Also as a percentage. What is tolerated is the difference of two means, exactly."""
    rng = random.Random(2)
    percentages = 0
    for values, mean in cases(3):
        before = [min(1.0, round(value + 0.1 * rng.randint(0, 3), 1)) for value in values]
        old = Fraction(sum(round(10 * value) for value in before), 10 * len(before))
        drop = old - Fraction(mean)
        if not drop:
            continue
        spelled = Decimal(drop.numerator) / Decimal(drop.denominator)
        if Fraction(spelled) == drop:
            assert status(values, before, f"-{spelled}") == "pass"
            assert status(values, before, f"-{spelled - Decimal('1e-9')}") == "fail"
        share = 100 * drop / old
        percent = Decimal(share.numerator) / Decimal(share.denominator)
        if Fraction(percent) == share:
            percentages += 1
            assert status(values, before, f"-{percent}%") == "pass"
            assert status(values, before, f"-{percent - Decimal('1e-7')}%") == "fail"
    assert percentages > 40


def status(values, before, limit):
    return gate(of_values(values), f"P@10: {limit} untested", of_values(before)).status


def test_long_sums_do_not_add_their_rounding():
    """100,000 times 0.1, added from left to right, is 0.1 and 1.9e-12 of it more."""
    scores = of_values([0.1] * 100_000)
    assert gate(scores, ["P@10 >= 0.1", "P@10 <= 0.1"]).status == "pass"


def test_shares_at_their_limit_pass():
    """Three of ten documents are unjudged: 1 - 0.7 is more than 0.3."""
    qrels = {"q": {f"d{i}": 1 for i in range(7)}}
    run = {"q": [f"d{i}" for i in range(10)]}
    assert gate_run(qrels, run, ["unjudged <= 30%", "overlap >= 100%", "missing <= 0%"]).status == "pass"
    assert gate_run(qrels, run, "unjudged <= 29%").status == "fail"


def test_a_quantile_is_the_query_that_people_count():
    """7% of 100 are 7, not the 8 of 0.07 * 100 = 7.000000000000001."""
    latency = {f"q{i:03d}": {"latency": i + 1} for i in range(100)}
    scores = of_values([1.0] * 100)
    assert gate(scores, "latency p7 <= 7", queries=latency).status == "pass"
    assert [rank_of(0.95, 100), rank_of(0.99, 100), rank_of(1.0, 3), rank_of(0.01, 3)] == [95, 99, 3, 1]


def test_what_is_too_little_is_shown_with_its_digits():
    found = gate(of_values([0.7, 0.7, 0.69999]), "P@10 >= 0.7")[0]
    assert found.failed
    assert "P@10 is 0.699997 " in found.words
    assert "0.000003 too little" in found.words


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_equal_is_within_12_digits(size):
    assert not is_below(size * (1 - 1e-13), size)
    assert is_below(size * (1 - 1e-11), size)
    assert not is_below(0.0, 0.0)
    assert is_below(0.0, math.ulp(1.0))


def test_a_real_measure_at_its_own_value():
    """RR of ranks 1, 2 and 4 is 7/12: no decimal is it, and what is written with 12 digits is near enough."""
    run = {"a": ["x"], "b": ["y", "x"], "c": ["y", "z", "w", "x"]}
    scores = evaluate({query: {"x": 1} for query in run}, run, "RR")
    assert gate(scores, "RR >= 0.583333333333").status == "pass"
    assert gate(scores, "RR >= 0.5834").status == "fail"
