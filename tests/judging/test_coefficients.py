"""Coefficients of agreement, held to values of scikit-learn, krippendorff and irrCAC, and to sums by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from golden_judges import CASES

from goldrank.base.errors import GoldrankError, InputError, OptionError
from goldrank.judging import coefficients as agreement
from goldrank.judging.coefficients import kappa, likely_tables


def near(value):
    return pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize("case", [name for name in CASES if name.startswith("kappa-") and "se-" not in name])
def test_kappa(case):
    given = CASES[case]["inputs"]
    scale = given.get("labels", [0, 1, 2, 3])
    table = agreement.confusion(given["human"], given["model"], scale)
    found = agreement.kappa(table, given.get("weights") or "none")
    expected = CASES[case]["expected"]
    assert math.isnan(found) if expected is None else found == near(expected)


def test_confusion():
    given = CASES["confusion"]["inputs"]
    assert (
        agreement.confusion(given["human"], given["model"], given["labels"]).tolist() == CASES["confusion"]["expected"]
    )


@pytest.mark.parametrize(
    "case", [name for name in CASES if name.startswith("alpha") and CASES[name]["inputs"]["level"] in agreement.LEVELS]
)
def test_alpha(case):
    given = CASES[case]["inputs"]
    grades = np.array([[math.nan if grade is None else grade for grade in row] for row in given["data"]])
    assert agreement.alpha(grades, given["level"]) == near(CASES[case]["expected"])


@pytest.mark.parametrize("case", [name for name in CASES if name.startswith("gwet-exact")])
def test_gwet(case):
    given = CASES[case]["inputs"]
    weights = {"identity": "none"}.get(given["weights"], given["weights"])
    assert agreement.gwet(np.array(given["table"]), weights) == near(CASES[case]["expected"])


def test_kappa_falls_where_nearly_all_is_zero_and_ac1_does_not():
    table = np.array([[90, 5], [5, 0]])
    # observed 0.9, by chance 0.95^2 + 0.05^2 = 0.905; AC1 by chance 2 * 0.05 * 0.95 = 0.095
    assert agreement.kappa(table) == near((0.9 - 0.905) / 0.095)
    assert agreement.gwet(table) == near((0.9 - 0.095) / 0.905)


def test_undefined_is_nan_and_never_zero():
    assert math.isnan(agreement.kappa(np.zeros((2, 2))))
    assert math.isnan(agreement.kappa(np.array([[3, 0], [0, 0]])))
    assert math.isnan(agreement.alpha(np.array([[1.0, math.nan], [math.nan, 2.0]])))
    assert math.isnan(agreement.alpha(np.array([[1.0, 1.0], [1.0, 1.0]])))


@pytest.mark.parametrize(
    ("first", "second", "scale", "error"),
    [([0], [0, 1], [0, 1], InputError), ([0], [4], [0, 1], InputError), ([0], [0], [1, 0], OptionError),
     ([0], [0], [], OptionError), ([0], [0], [0, 0], OptionError), ([[]], [0], [0, 1], InputError)],
)  # fmt: skip
def test_what_cannot_be_counted(first, second, scale, error):
    with pytest.raises(error):
        agreement.confusion(first, second, scale)


def test_unknown_words():
    with pytest.raises(GoldrankError):
        agreement.kappa(np.eye(2), "cubic")
    with pytest.raises(GoldrankError):
        agreement.alpha(np.eye(2), "ratio")


@pytest.mark.parametrize("size", [2, 4])
def test_what_counts_leave_possible_holds_the_truth(size):
    """Kappa of judges that nearly always agree: a bootstrap of 20 pairs holds it in a third of all cases."""
    rng = np.random.default_rng(size)
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    truth = np.exp(-4.0 * apart)
    truth /= truth.sum()
    held = bootstrap = 0
    for _ in range(200):
        counts = rng.multinomial(20, truth.ravel())
        tables = [likely_tables(counts.reshape(size, size), 200, rng), rng.multinomial(20, counts / 20, 200)]
        ends = [np.nanquantile([kappa(t.reshape(size, size)) for t in drawn], [0.025, 0.975]) for drawn in tables]
        held += ends[0][0] <= kappa(truth) <= ends[0][1]
        bootstrap += ends[1][0] <= kappa(truth) <= ends[1][1]
        assert ends[0][0] < ends[0][1]
    assert held >= 0.9 * 200
    assert bootstrap <= 0.6 * 200
