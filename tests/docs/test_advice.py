"""Numbers that docs/ give as advice, each from a formula of its own."""

from __future__ import annotations

import math

import numpy as np
import places
import pytest

from goldrank.comparison.intervals import replicated, t_quantile
from goldrank.judging.ppi import wilson

Z = 1.959963984540054
"""The normal distribution's 97.5 % point, from a table."""


def page(name: str) -> str:
    return " ".join((places.ROOT / "docs" / name).read_text(encoding="utf-8").split())


def test_none_of_fifty_may_be_seven_percent() -> None:
    bound = Z**2 / (50 + Z**2)  # Wilson's upper bound of none of n
    assert wilson(0, 50)[1] == pytest.approx(bound)
    assert f"If none of fifty pairs differs, up to {bound:.0%}".replace("%", " %") in page("judges.md")
    assert f"if all are sound, up to {bound:.0%}".replace("%", " %") in page("judges.md")


def test_ninety_of_a_hundred() -> None:
    centre, half = (0.9 + Z**2 / 200) / (1 + Z**2 / 100), Z * math.sqrt(0.09 / 100 + Z**2 / 40_000) / (1 + Z**2 / 100)
    assert wilson(90, 100) == pytest.approx((centre - half, centre + half))
    told = f"If it does in 90 of 100 pairs, it does in {centre - half:.0%} to {centre + half:.0%}".replace("%", " %")
    assert told in page("texts.md")


@pytest.mark.parametrize(("runs", "freedom", "quantile"), [(2, 2, 4.303), (5, 8, 2.306)])  # from a table of Student's t
def test_runs_of_a_system(runs: int, freedom: int, quantile: float) -> None:
    # A run's queries are equal and the runs differ, alike in both systems: only the seeds matter.
    a, b = ([[value] * 50 for value in range(start, start + runs)] for start in (0, 100))
    found = replicated(*(np.array(rows, dtype=float) for rows in (a, b)))
    assert found.freedom == pytest.approx(freedom)
    assert t_quantile(0.975, found.freedom) == pytest.approx(quantile, abs=5e-4)
    told = f"two runs of each give intervals that reach {4.303:.1f} standard errors to each side, five {2.306:.1f}"
    assert told in page("comparing.md")


def test_a_rank_among_sampled_negatives() -> None:
    # Of 1,000 others 49 are better. It is in the top 10 of 100 drawn ones if at most 9 of these are better.
    chance = sum(math.comb(100, k) * 0.049**k * 0.951 ** (100 - k) for k in range(10))
    assert f"in more than {math.floor(100 * chance)} of 100 draws" in page("recommenders.md")
