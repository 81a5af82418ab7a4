"""Measures as ir_measures and ranx have them, in terms of goldrank's: objects, options and suffixes.

No package is imported: an object is known by its attributes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from goldrank.base.errors import MeasureError
from goldrank.measures.declare import REGISTRY, Alias, Spelled, lookup


def is_measure_object(candidate: object) -> bool:
    """Whether something is a measure of ir_measures, such as `ir_measures.nDCG @ 10`."""
    return all(hasattr(candidate, attribute) for attribute in ("NAME", "AT_PARAM", "SUPPORTED_PARAMS", "params"))


def of_object(measure: Any) -> Spelled:
    """goldrank's measure with the numbers of an ir_measures object: with its defaults and its meaning of options.

    `SetF(beta=2)` there hands 2 to trec_eval, which takes it as beta squared; it is `SetF(weight=2)` here.
    """
    if hasattr(measure, "runtime_impl"):
        raise MeasureError(
            f"{measure} is a function of data frames, which only ir_measures calls",
            hint="Give goldrank a function of two lists of grades, or measure it with goldrank.compat.ir_measures.",
            code="needs-data-frames",
        )
    unknown = [key for key in measure.params if key not in measure.SUPPORTED_PARAMS]
    if unknown:
        raise MeasureError(f"{measure.NAME} of ir_measures has no option {unknown[0]!r}")

    options = {key: measure[key] for key in measure.SUPPORTED_PARAMS}
    options = {key: value for key, value in options.items() if type(value) is not object}  # its mark of "not given"
    k = options.pop(measure.AT_PARAM, None)
    alias = lookup(str(measure.NAME))
    if alias is None:
        raise MeasureError(f"goldrank has no {measure.NAME}", hint="See `goldrank measures` for all of them.")

    if "beta" in options and "weight" in REGISTRY[alias.name].options:
        options["weight"] = options.pop("beta")
        if options["weight"] == 1:  # then both mean the same
            del options["weight"]
    return in_own_words(alias, k, options)


_FORMS = {"log2": "linear", "exp-log2": "exp2"}


def in_own_words(alias: Alias, k: Any, foreign_options: Mapping[str, Any]) -> Spelled:
    """A measure with ir_measures' options replaced by goldrank's, where the measure has no option of that name.

    `nDCG(dcg="exp-log2", gains={1: 3}, cutoff=10)` and `NumRet(rel=1)` are such measures.
    """
    name, options = alias.name, {**alias.options, **foreign_options}
    own = REGISTRY[name].options
    if "cutoff" in options and "cutoff" not in own:
        cutoff = options.pop("cutoff")
        if k is None:
            k = cutoff

    if "dcg" in options and "dcg" not in own:
        form = options.pop("dcg")
        if form not in _FORMS:
            raise MeasureError(f"{name}: dcg is {form!r}; it must be one of: {', '.join(_FORMS)}")
        if form == "exp-log2" and "gains" in options:
            raise MeasureError(f"{name}: dcg='exp-log2' and gains= are two answers to one question", hint="Give one.")
        if "gain" in own and form != "log2":
            options["gain"] = _FORMS[form]

    if "gains" in options and "gains" not in own:
        options["gain"] = options.pop("gains")
    if "rel" in options and "rel" not in own:
        name = _COUNTED_FROM.get(name, name)
    return Spelled(name, k, options)


_COUNTED_FROM = {"NumRet": "NumRelRet"}
"""Counts of all documents, and the counts of documents from a grade up."""

_LEVEL = r"(.+?)-l(\d{1,9})"


def split_level(text: str) -> tuple[str, int] | None:
    """ranx's `map-l2` as ("map", 2): only grades from 2 up count. None without such an end."""
    matched = re.fullmatch(_LEVEL, text)
    if matched:
        return (matched[1], int(matched[2]))
    return None


def from_level(spelled: Spelled, level: int, text: str) -> Spelled:
    """A measure in which only grades from a level up count, as ranx means it: lower ones have no gain either."""
    options = REGISTRY[spelled.name].options
    if "rel" in spelled.options:
        raise MeasureError(f"{text!r}: rel= and -l{level} are two answers to one question", hint="Give one.")

    if "gain" not in options:
        if "rel" not in options:
            raise MeasureError(f"{text!r}: {spelled.name} has no lowest grade", hint=f"Leave out -l{level}.")
        return spelled._replace(options={**spelled.options, "rel": level})
    if level > 1 and (spelled.options.get("gain", "linear") != "linear" or level > 100):
        raise MeasureError(f"{text!r}: gains other than the grades have no -l", hint="Give gain= a mapping instead.")

    gain = dict.fromkeys(range(1, level), 0)
    if not gain:
        return spelled
    return spelled._replace(options={**spelled.options, "gain": gain})
