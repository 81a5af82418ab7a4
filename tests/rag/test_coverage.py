"""How coverage grows, as bars and as drawings."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest
from raising import raises_code

from goldrank import evaluate_texts, read_items, sweep
from goldrank.base.errors import InputError, OptionError
from goldrank.rag import texts_page as report
from goldrank.rag.coverage_curves import CoverageCurves, curve_measures, curves_of, curves_of_sweep
from goldrank.report.numbers import sparkline

ITEMS = [
    {"id": "a", "retrieved": ["one two", "three", "x y z", "four"], "references": ["one", "three", "four", "five"]},
    {"id": "b", "retrieved": ["no", "six"], "references": ["six"]},
]
# References covered by the first 1, 2, 3, 4 texts: a has 1, 2, 2, 3 of 4; b has 0, 1, 1, 1 of 1.
BY_TEXTS = {1: (1 / 4 + 0) / 2, 2: (2 / 4 + 1) / 2, 3: (2 / 4 + 1) / 2, 4: (3 / 4 + 1) / 2}
# Words: a has 2, 1, 3, 1 (2, 3, 6, 7 added up), b has 1, 1. A text counts if it fits into the budget as a whole.
BY_TOKENS = {1: (0 + 0) / 2, 2: (1 / 4 + 1) / 2, 3: (2 / 4 + 1) / 2, 7: (3 / 4 + 1) / 2}


def test_sparkline() -> None:
    assert sparkline([0, 0.125, 0.5, 0.99, 1]) == "▁▂▅██"
    assert sparkline([-1, 2, math.nan]) == "▁█·"
    assert sparkline([5, 10, 15], low=5, high=15) == "▁▅█"
    assert sparkline([]) == ""
    assert sparkline([3, 3], low=3, high=3) == "▁▁"


def curves_of_system(items: Any, depths: list[int], budgets: list[int], **how: Any) -> CoverageCurves:
    """The curves of one system."""
    return curves_of([evaluate_texts(items, curve_measures(depths, budgets), **{"matching": "contains", **how})])


def test_curves_by_hand() -> None:
    found = curves_of_system(ITEMS, [4, 1, 2, 3, 9], [1, 2, 3, 7, 50])
    assert dict(found.by_texts["items"]) == pytest.approx(BY_TEXTS)  # from 4 on nothing grows
    assert dict(found.by_tokens["items"]) == pytest.approx(BY_TOKENS)


def test_curves_of_a_sweep_by_hand() -> None:
    by_texts = curves_of_sweep(sweep({"items": ITEMS}, k=range(1, 5), matching="contains"))
    assert dict(by_texts.by_texts["items"]) == pytest.approx(BY_TEXTS)
    assert by_texts.by_tokens == {}
    by_tokens = curves_of_sweep(sweep({"items": ITEMS}, budget=[1, 2, 3, 7], matching="contains"))
    assert dict(by_tokens.by_tokens["items"]) == pytest.approx(BY_TOKENS)
    assert curves_of_sweep(sweep({"items": ITEMS}, k=2, matching="contains")).charts == []


def test_curves_as_text() -> None:
    found = curves_of_system(ITEMS, [1, 2, 4], [])
    heads, values = str(found).splitlines()
    assert heads.split() == ["first", "k", "texts", "1", "2", "4"]
    assert values.split() == ["items", "▂▇█", "0.125", "0.750", "0.875"]


def test_several_systems() -> None:
    other = [{**one, "retrieved": one["retrieved"][::-1]} for one in ITEMS]
    found = curves_of_sweep(sweep({"forth": ITEMS, "back": other}, k=[1, 4], matching="contains"))
    assert list(found.by_texts) == ["forth", "back"]
    assert dict(found.by_texts["back"])[1] == (1 / 4 + 1) / 2  # "four" and "six" come first
    with raises_code(OptionError, "neither-given"):
        curve_measures([], [])


def test_curves_by_other_rules_keep_their_points() -> None:
    """A convention may spell measures with options of its own."""
    found = curves_of_system(ITEMS, [1, 2], [3], convention="ranx")
    assert [k for k, _ in found.by_texts["items"]] == [1, 2]


def test_names_must_differ() -> None:
    scores = evaluate_texts(ITEMS, curve_measures([1], [1]), matching="contains")
    with raises_code(InputError, "duplicate-name"):
        curves_of([scores, scores])


def test_svg_is_a_drawing_of_both() -> None:
    found = curves_of_system(read_items(ITEMS, name="<&>"), [1, 2, 4], [1, 3, 7])
    root = ElementTree.fromstring(found.svg())
    words = " ".join(root.itertext())
    assert "Coverage by first k texts" in words
    assert "Coverage by budget of tokens" in words
    assert "<&>" in words
    assert "<&>" not in found.svg()
    paths = [e.get("d", "") for e in root.iter("{http://www.w3.org/2000/svg}path") if "line" in e.get("class", "")]
    drawn = [path for path in paths if "L" in path]
    assert [path.count("L") + 1 for path in drawn] == [len(found.by_texts["<&>"]), len(found.by_tokens["<&>"])]
    assert found._repr_html_().count("<svg") == 2


def test_page_of_scores_curves_and_explanations() -> None:
    scores = [
        evaluate_texts(read_items(ITEMS, name=name), [*curve_measures(budgets=[2, 4]), "RR"], matching="contains")
        for name in ("<a>", "b")
    ]
    page = report.render(scores, curves_of(scores), {one.run: one.explain("a") for one in scores})
    assert page.count("<svg") == 2
    assert "&lt;a&gt;" in page
    assert "<a>" not in page
    assert page.count("<mark>one</mark>") == 2
    assert "<script" not in page
    assert "<svg" not in report.render(scores[:1])
