"""The answer of a judge or of a user's function as a number: people and models answer in many ways."""

from __future__ import annotations

import math
import numbers
import re

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError

YES = ("yes", "y", "true", "relevant", "useful", "supported", "attributed", "match", "correct")
NO = (
    *("no", "n", "false", "irrelevant", "not relevant", "non-relevant", "nonrelevant", "unrelated", "not useful"),
    *("useless", "unsupported", "not supported", "not attributed", "no match", "not a match", "incorrect"),
)
"""Words that are understood, in any case."""

_WORDS = dict.fromkeys(YES, 1.0) | dict.fromkeys(NO, 0.0)
_DECORATION = " \t\r\n\"'`*_#()[]"
_SEPARATOR = re.compile(r"[,.;:!(\n\u2013\u2014]| - ")
"""What stands between a verdict and its reason."""
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def as_number(answer: object, by: str, where: str, *, most: float = 1.0) -> float:
    """The number from 0 to `most` that an answer means: 1 for yes, 0 for no.

    An answer is a bool, a number, or a text that is one of the words above or begins with it ("No, because ...").
    Anything else is an error that says who answered (`by`) and about what (`where`).

    >>> as_number("Not relevant: it is about Lyon.", "the judge", "text 1"), as_number(True, "the judge", "text 1")
    (0.0, 1.0)
    """
    value = _understood(answer)
    if value is not None and 0 <= value <= most:
        return value
    if most == 1:
        limit = "from 0 to 1"
    elif math.isinf(most):
        limit = "from 0 up"
    else:
        limit = f"from 0 to {most:g}"

    hint = None
    if answer is None:
        hint = "Nothing is returned without a return statement."
    raise InputError(
        f"{by} returned {ids.show(repr(answer))}; it must be a bool or a number {limit}, or a word such as yes or no",
        where=where,
        hint=hint,
        code="bad-answer",
    )


def _understood(answer: object) -> float | None:
    if isinstance(answer, np.bool_ | numbers.Real):
        try:
            value = float(answer)
        except OverflowError:  # an integer that no float holds
            return None
        if math.isfinite(value):
            return value
        return None
    if isinstance(answer, str):
        return _verdict(answer)
    return None


def _verdict(answer: str) -> float | None:
    """The number, or the word at the beginning, of an answer in words; None if there is none."""
    text = answer.strip(_DECORATION).rstrip(_DECORATION + ".!").casefold()
    if _NUMBER.fullmatch(text):
        return float(text)

    verdict = None
    for part in filter(None, (part.strip(_DECORATION) for part in _SEPARATOR.split(text))):
        value = _WORDS.get(" ".join(part.split()))
        if value is None:
            break  # the reason begins
        if verdict is not None and value != verdict:
            return None  # "Yes, no"
        verdict = value
    return verdict
