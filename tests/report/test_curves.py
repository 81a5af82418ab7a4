"""Curves of coverage: budgets that suit the texts, intervals, and points where no line may be drawn."""

from __future__ import annotations

import re

import numpy as np
import pytest

from goldrank import Items, evaluate_texts, sweep
from goldrank.rag.coverage_curves import automatic_budgets, curve_measures, curves_of_sweep

ITEMS = [
    {"id": str(i), "retrieved": [f"fact{i}" if i % 2 else "x", "y " * 9, f"fact{i} z"], "references": [f"fact{i}"]}
    for i in range(20)
]


def test_automatic_budgets() -> None:
    # Lengths are 1, 9 and 2 in each question: the median text has 2, each list 12.
    found = automatic_budgets([Items(ITEMS)])
    assert (found[0], found[-1]) == (2, 12)
    assert found == sorted({round(value) for value in np.geomspace(2, 12, 8)})
    assert automatic_budgets([Items(ITEMS)], len)[-1] > 12  # characters


def test_bands_hold_the_means() -> None:
    curves = curves_of_sweep(sweep({"items": ITEMS}, k=[1, 3], matching="contains-words"))
    (line,), (band,) = curves.by_texts.values(), curves.text_bands.values()
    assert [value for _, value in line] == [0.5, 1.0]
    assert band[0].low < 0.5 < band[0].high
    # Student's of the 20 values with a 0 and a 1 added, t = 2.07961: 0.5 -+ t sqrt(0.261905 / 22), and with 21 of 22
    # values 1 it is 21/22 - t / 22, cut at 1 above.
    assert tuple(band[0]) == pytest.approx((0.273095, 0.726905), abs=1e-6)
    assert tuple(band[1]) == pytest.approx((21 / 22 - 2.079614 / 22, 1.0))
    assert 'class="band' in curves.svg()


def test_skip_draws_points_with_a_note() -> None:
    swept = sweep({"items": ITEMS}, budget=[1, 3, 12], pack="skip", matching="contains-words")
    curves = curves_of_sweep(swept)
    assert [note.code for note in curves.notes] == ["skip-not-monotone"]
    assert 'class="band' not in curves.svg()
    assert "points are drawn" in str(curves)
    assert "points are drawn" in swept.to_html()
    (line,) = curves.by_tokens.values()
    assert line[0] == (1, 0.5)
    assert line[1] == (3, 1.0)  # 9 words are skipped, the third text fits


def test_ties_at_the_end_of_the_context() -> None:
    texts = [{"text": "a b", "score": 1.0}, {"text": "c d", "score": 1.0}]
    other = [{"text": "a b", "score": 1.0}, {"text": "c d", "score": 0.5}]
    items = [{"id": i, "retrieved": given, "references": ["a b"]} for i, given in enumerate([texts, other])]
    (note,) = [n for n in evaluate_texts(items, "Cover(tokens=2)").notes if n.code == "ties-at-the-end"]
    assert note.fact("count") == 1
    assert "ties-at-the-end" not in [n.code for n in evaluate_texts(items, "Cover(tokens=4)").notes]


def test_measures_of_curves() -> None:
    assert curve_measures([1], [5], "Cover", "skip") == ["Cover@1", 'Cover(tokens=5, pack="skip")', "Cover"]


def test_bands_stay_inside_the_drawing() -> None:
    """The upper ends of intervals may lie above the round number that the points alone would take for the axis."""
    items = [{**item, "references": ["nothing of it"]} if i % 4 else item for i, item in enumerate(ITEMS)]
    for drawn in curves_of_sweep(sweep({"items": items}, k=[1, 3], matching="contains-words")).charts:
        (path,) = re.findall(r'class="band s0" d="M([^z]*)z"', drawn.body)
        assert min(float(point.split()[1]) for point in path.split("L")) >= 10.0  # the top of the axis
