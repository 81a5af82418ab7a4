"""The page of a measure, as facts by name: what `goldrank measures` and docs/measures.md show."""

from __future__ import annotations

import math

from goldrank.measures.declare import Declaration, lookup

_TAKES = {
    "placements": "",
    "heads": "",
    "aspects": "judgements by aspect (`AspectQrels`, `read_aspects`)",
    "preferences": "preferences (`Preferences`, `read_preferences`)",
    "spans": "evidence by place, and the places of retrieved texts (`evaluate_texts`)",
    "texts": "texts (`evaluate_texts`)",
    "recommended": "rankings of items; docs/recommenders.md says which also a `Catalogue`",
}
_AVERAGES = {"mean": "the mean", "sum": "the sum", "geometric": "the geometric mean"}
_TIES = {None: "", "unordered": "the same in every order"}
_TEXTS = {
    "texts": "counts texts that cover any reference",
    "references": "counts references, each where it is first covered",
    "places": "counts references, each at another rank, not above the text that first covers it",
    "meaningless": "has no meaning, because a matcher judges every text",
}
_SPELLINGS = {"none": ("",), "optional": ("", "@10"), "needed": ("@10",), "recall": ("@0.1",), "multiple": ("@0.5",)}


def facts(declared: Declaration, quote: str = "") -> dict[str, str]:
    """The facts of a measure in the order of the page, without empty ones; `quote` goes around names."""
    spellings = [f"{quote}{declared.name}{cutoff}{quote}" for cutoff in _SPELLINGS[declared.cutoff]]
    if declared.higher_is_better:
        better = "higher is better"
    else:
        better = "lower is better"

    if declared.diagnostic:
        better = "a diagnostic, by which no run is better"

    if declared.over != "placements":
        texts = ""
    elif callable(declared.texts):
        texts = "counts texts and references"
    else:
        texts = _TEXTS[declared.texts]

    if callable(declared.ties):
        ties = 'has an exact mean (ties="expected")'
    else:
        ties = _TIES[declared.ties]

    page = {
        "Spelling": " or ".join(spellings),
        "Formula": declared.formula,
        "Takes": _TAKES[declared.over],
        "Range": f"{_number(declared.low)} to {_number(declared.high)}, {better}",
        "Over queries": _AVERAGES[declared.average],
        "Over ties": ties,
        "With texts": texts,
        "Use it when": declared.use,
        "Avoid it when": declared.avoid,
        "Also known as": ", ".join(_alias_text(alias, quote) for alias in declared.aliases),
        "From": declared.cite,
    }
    return {key: text for key, text in page.items() if text}


def _number(value: float) -> str:
    text = f"{value:g}"
    if math.isinf(value):
        return text.replace("inf", "infinity").replace("-", "minus ")
    return text


def _alias_text(alias: str, quote: str) -> str:
    """Another name of a measure, with the options that it implies."""
    known = lookup(alias)
    if known is None or not known.options:
        return f"{quote}{alias}{quote}"
    options = ", ".join(f"{name}={value}" for name, value in known.options.items())
    return f"{quote}{alias}{quote} (with {options})"
