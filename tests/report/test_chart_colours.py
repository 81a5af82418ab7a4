"""Colours of charts say what happened: up is better, down is worse, even is undecided."""

from __future__ import annotations

import re

import numpy as np
import pytest

from goldrank import Comparison, Statistics, compare
from goldrank.report.charts import delta_bars, forest

QRELS = {f"q{i}": {"a": 1} for i in range(20)}
GOOD = {query: ["a", "x"] for query in QRELS}
BAD = {query: ["x", "a"] for query in QRELS}


def compared(first: dict[str, list[str]], second: dict[str, list[str]], measure: str = "RR") -> Comparison:
    return compare(QRELS, {"first": first, "second": second}, measure, statistics=Statistics(samples=200))


@pytest.mark.parametrize(
    ("first", "second", "sign"), [(BAD, GOOD, "up"), (GOOD, BAD, "down"), (GOOD, dict(GOOD), "even")]
)
def test_a_pair_has_the_colour_of_its_verdict(first, second, sign):
    drawn = forest(compared(first, second), "RR").body
    signs = {word for names in re.findall(r'class="([^"]+)"', drawn) for word in names.split()}
    assert signs & {"up", "down", "even"} == {sign}


def test_gains_stand_above_the_line_and_losses_below():
    pair = compared(BAD, GOOD).pair
    drawn = delta_bars(pair, np.array([0.5, -0.25, 0.0])).body
    ups = re.search(r'class="bars up" d="M44.0 100V([\d.]+)h', drawn)
    downs = re.search(r'class="bars down" d="M[\d.]+ 100V([\d.]+)h', drawn)
    # The axis is from 10 to 190 with 0 at 100: the largest gain reaches 10, a loss of half its size 145.
    assert (float(ups[1]), float(downs[1])) == (10.0, 145.0)
