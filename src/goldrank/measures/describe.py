"""The page of a measure, as facts by name: what `goldrank measures` and docs/measures.md show."""

from __future__ import annotations

import math

from goldrank.measures.declare import Declaration
from goldrank.measures.options import COMMON

_TAKES = {
    "placements": "",
    "heads": "",
    "aspects": "judgements by aspect (`AspectQrels`, `read_aspects`)",
    "preferences": "preferences (`Preferences`, `read_preferences`)",
    "spans": "evidence by place, and the places of retrieved texts (`evaluate_texts`)",
    "texts": "texts (`evaluate_texts`)",
}
_AVERAGES = {"mean": "the mean", "sum": "the sum", "geometric": "the geometric mean"}
_TEXTS = {
    "texts": "counts texts that cover any reference",
    "references": "counts references, each where it is first covered",
    "one_to_one": "gives each text one reference",
    "meaningless": "has no meaning, because a matcher judges every text",
}
_SPELLINGS = {"none": ("",), "optional": ("", "@10"), "needed": ("@10",), "recall": ("@0.1",), "multiple": ("@0.5",)}


def facts(declared: Declaration, quote: str = "") -> dict[str, str]:
    """What is known of a measure, in the order of the page and without what was not said; `quote` goes around names."""
    spellings = [f"{quote}{declared.name}{cutoff}{quote}" for cutoff in _SPELLINGS[declared.cutoff]]
    better = "higher is better" if declared.higher_is_better else "lower is better"
    page = {
        "Spelling": " or ".join(spellings),
        "Formula": declared.formula,
        "Takes": _TAKES[declared.over],
        "Range": f"{_number(declared.low)} to {_number(declared.high)}, {better}",
        "Over queries": _AVERAGES[declared.average],
        "Over ties": _over_ties(declared),
        "With texts": _with_texts(declared),
        "Use it when": declared.use,
        "Avoid it when": declared.avoid,
        "Also known as": ", ".join(f"{quote}{alias}{quote}" for alias in declared.aliases),
        "From": declared.cite,
    }
    return {key: text for key, text in page.items() if text}


def option_lines(declared: Declaration, quote: str = "", *, common: bool = False) -> list[str]:
    """Each option with its default and what it may be; those that all measures have only if asked for."""
    shown = {key: default for key, default in declared.defaults.items() if common or key not in COMMON}
    return [f"{quote}{key}={default!r}{quote}: {declared.options[key]}" for key, default in shown.items()]


def _over_ties(declared: Declaration) -> str:
    if declared.ties is None:
        return ""
    return "the same in every order" if declared.ties == "unordered" else 'has an exact mean (ties="expected")'


def _with_texts(declared: Declaration) -> str:
    if declared.over != "placements":
        return ""
    return _TEXTS[declared.texts] if isinstance(declared.texts, str) else "counts texts and references"


def _number(value: float) -> str:
    return f"{value:g}".replace("inf", "infinity").replace("-", "minus " if math.isinf(value) else "-")
