"""The bad end of scores: percentiles, shares and names, with intervals."""

from __future__ import annotations

import math

import made_up_scores
import numpy as np
import pytest

import goldrank
from goldrank.tails.tail import quantile_interval, wilson


def test_by_hand():
    scores = made_up_scores.make([0.0, 0.2, 0.4, 0.6, 1.0], queries=["a", "b", "c", "d", "e"])
    tail = goldrank.score_tail(scores, target=0.5, worst=2)["nDCG@10"]
    assert tail.median == 0.4
    assert tail.tail == pytest.approx(0.04)  # a fifth of the way from 0 to 0.2
    assert tail.share == 0.4
    assert [each.query for each in tail.worst] == ["a", "b"]


def test_low_values_are_good_of_some_measures():
    scores = made_up_scores.make([1.0, 5.0, 9.0], higher_is_better=False, measure="seconds")
    tail = goldrank.score_tail(scores, target=5.0, worst=1)["seconds"]
    assert tail.worst[0].value == 9
    assert tail.share == pytest.approx(2 / 3)
    assert tail.tail > 8


def test_queries_that_do_not_count_are_left_out():
    scores = made_up_scores.make([0.5, math.nan, 0.7])
    assert goldrank.score_tail(scores)["nDCG@10"].n == 2


def test_the_interval_of_a_median_by_the_binomial_distribution():
    """Of 10 values the 2nd and 9th hold the median with 97.9%: 1 - 2 * (1 + 10) / 1024."""
    ordered = np.arange(1.0, 11.0)
    assert quantile_interval(ordered, 0.5, 0.95) == (2.0, 9.0)
    assert quantile_interval(ordered, 0.5, 0.99) == (1.0, 10.0)


def test_few_values_say_nothing_of_the_5th_percentile_from_below():
    low, high = quantile_interval(np.arange(1.0, 11.0), 0.05, 0.95)
    assert math.isnan(low)
    # At most 2 of 10 values lie below it in 98.8% of cases, so the third is above it.
    assert high == 3.0


def test_the_interval_holds_the_quantile_as_often_as_it_says():
    rng = np.random.default_rng(1)
    hits = [
        low <= 0.05 <= high if not math.isnan(low) else high >= 0.05
        for low, high in (quantile_interval(np.sort(rng.random(200)), 0.05, 0.95) for _ in range(1000))
    ]
    assert np.mean(hits) > 0.94


def test_wilson():
    """8 of 10: 0.4902 to 0.9433 (Newcombe 1998's formula worked out)."""
    assert wilson(8, 10, 0.95) == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_options():
    with pytest.raises(goldrank.OptionError):
        goldrank.score_tail(made_up_scores.make([0.5]), at=0)
