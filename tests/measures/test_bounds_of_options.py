"""Every numeric option at the ends of its range: values are finite and within the measure's own bounds, and a better
ranking is worth more. Spellings of any length are parsed, or refused, at once."""

from __future__ import annotations

import math
from typing import Any

import pytest

from goldrank import AspectQrels, GoldrankError, Preferences, evaluate
from goldrank.measures import parse
from goldrank.measures.declare import REGISTRY
from goldrank.measures.options import Number
from goldrank.measures.spelling import make

QRELS: dict[str, Any] = {"q1": {"a": 3, "b": 1, "c": 0, "d": 2}, "q2": {"a": 1}}
BEST, WORST = {"q1": ["a", "d", "b", "c"], "q2": ["a"]}, {"q1": ["c", "x", "y", "b"], "q2": ["x", "y"]}
JUDGEMENTS: dict[str, Any] = {
    "placements": QRELS,
    "heads": QRELS,
    "aspects": AspectQrels({"q1": {"s": {"a": 1, "b": 1}, "t": {"d": 2}}, "q2": {"s": {"a": 1}}}),
    "preferences": Preferences({"q1": {"j": [{"a": 3, "d": 2, "b": 1, "c": 0}]}, "q2": {"j": [{"a": 1, "x": 0}]}}),
}
CUTOFFS = {"none": None, "optional": None, "needed": 10, "recall": 0.5, "multiple": 1.0}
SHAPES = [
    (name, option)
    for name, declared in REGISTRY.items()
    for option, rule in declared.options.items()
    if isinstance(rule, Number) and declared.over in JUDGEMENTS and math.isfinite(rule.low + rule.high)
    if name != "Sampled"
    if option not in ("tokens", "rel", "min_rel", "max_rel", "max_grade", "a", "b", "c", "d", "docs")
]  # fmt: skip
"""Without those for which the highest value says that nothing is relevant, or that weigh by their sign."""


@pytest.mark.parametrize(("name", "option"), SHAPES)
def test_ends_of_ranges(name: str, option: str) -> None:
    declared = REGISTRY[name]
    rule = declared.options[option]
    assert isinstance(rule, Number)
    ends = [rule.low, math.nextafter(rule.high, 0) if rule.below else rule.high]
    for end in map(int, ends) if rule.whole else ends:
        measure = make(name, CUTOFFS[declared.cutoff], {option: end})
        best, worst = (float(evaluate(JUDGEMENTS[declared.over], run, measure)[measure]) for run in (BEST, WORST))
        assert all(math.isfinite(value) and declared.low <= value <= declared.high for value in (best, worst))
        assert best > worst or not declared.higher_is_better


@pytest.mark.parametrize(
    "text",
    ["RBP(p=1)", "RBP(p=1.0)@10", "RBPresidual(p=1)", "NRBP(beta=1)", "NRBP(alpha=0, beta=1)", "nNRBP(beta=1)",
     "INST(T=0.4)", "RBP(p=-0.1)", "RBP(p=nan)", "RBP(p=1e400)"],
)  # fmt: skip
def test_options_without_meaning(text: str) -> None:
    with pytest.raises(GoldrankError):
        parse(text)


LONG = 100_000
TEXTS = [
    unit * (LONG // len(unit))
    for unit in ("(", "a", "@", "a@", "-", "_", "P_", " ", "1.", "[", "{", '"', "'", "\\", "\n", "P@1 ", "a(", ".a")
] + [
    "P@" + "1" * LONG, "nDCG(gain={" + "1:2," * (LONG // 4) + "})@5", "5" + " " * LONG + "!",
    "1/" + "1" * LONG, "P(rel=" + "(" * 9_000 + "1" + ")" * 9_000 + ")@5", "P(rel=" + "-" * 15_000 + "1)@5",
    "P" + "@1" * 9_000, "P" + ".a" * 9_000, "P@" + "1+" * 9_000 + "1", "9" * LONG,
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text[:8]))
def test_long_spellings(text: str) -> None:
    with pytest.raises(GoldrankError) as caught:
        parse(text)
    assert len(str(caught.value)) < 1_000
