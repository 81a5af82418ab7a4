"""Numbers in text files: the rule for scores and for grades.

A score is a decimal number, with or without exponent, or an infinity: 12.5, -3e-2, inf. A grade is a whole number in
digits, perhaps with a point and zeros: 2, -1, 1.0. Digits are ASCII. So `0x10`, `1_000`, `3,5` and `true` are not
numbers, and `1e0`, `0.9` and `1e-400` are not grades. Gains with decimals (real_grades=True) are written like finite
scores. `data.grades.check_grade` and `data.run.check_score` are the rule for numbers that are not text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from goldrank.base import ids
from goldrank.base.errors import InputError, Position
from goldrank.data.grades import GAINS, check_grade
from goldrank.data.qrels import Grade

SCORE_PATTERN = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?([iI][nN][fF]([iI][nN][iI][tT][yY])?)"
GRADE_PATTERN = r"[+-]?[0-9]+(\.0*)?"
NUMBER = re.compile(SCORE_PATTERN.encode())
WHOLE = re.compile(GRADE_PATTERN.encode())

_MOST_DIGITS = 20
"""A grade with more digits is out of range."""


def score_of(text: bytes, where: Position | str, field: str = "", noun: str = "score") -> float:
    """The score in a text; an error if it is not a score."""
    if NUMBER.fullmatch(text):
        return float(text)
    if text.lower().lstrip(b"+-") == b"nan":
        hint = "A document that was not scored does not belong into a ranking: leave it out."
        raise InputError(f"{noun} is NaN{field}", where=where, hint=hint, code="bad-score")

    hint = f"A {noun} is a decimal number such as 12.5 or -3e-2."
    if re.fullmatch(rb"[+-]?[0-9]+,[0-9]+", text):
        hint = f"Is this a decimal comma? {hint}"
    raise InputError(f"{noun} '{shown(text)}'{field} is not a number", where=where, hint=hint, code="bad-score")


def plain_scores(texts: Sequence[bytes]) -> list[float] | None:
    """The scores in many texts; None if one has other characters than digits, points, signs and exponents.

    Of texts with only these characters, Python's `float` accepts exactly those that are scores.
    """
    if b"".join(texts).translate(None, b"0123456789.+-eE"):
        return None
    try:
        return list(map(float, texts))
    except ValueError:
        return None


def grade_of(text: bytes, where: Position | str, field: str = "", *, real_grades: bool = False) -> Grade:
    """The grade in a text; an error if it is not a grade."""
    if WHOLE.fullmatch(text):
        integer = text.partition(b".")[0]
        digits = integer.lstrip(b"+-").lstrip(b"0") or b"0"
        if len(digits) > _MOST_DIGITS:
            return check_grade(10**_MOST_DIGITS, where, shown=shown(text))
        value = int(digits)
        if integer.startswith(b"-"):
            value = -value
        return check_grade(value, where)

    if real_grades and NUMBER.fullmatch(text):
        return check_grade(float(text), where, real_grades)

    hint = "A grade is a whole number, 0 for not relevant."
    if NUMBER.fullmatch(text):
        hint += f" {GAINS}"

    raise InputError(f"grade '{shown(text)}'{field} is not a whole number", where=where, hint=hint, code="bad-grade")


def level_of(text: bytes, where: Position) -> float:
    """The level of a preference: a finite number."""
    level = math.nan
    if NUMBER.fullmatch(text):
        level = float(text)
    if not math.isfinite(level):
        hint = "A level is a number; a higher one is preferred, 0 is not relevant."
        raise InputError(f"level '{shown(text)}' is not a number", where=where, hint=hint)
    return level


def shown(text: bytes, limit: int = 60) -> str:
    return ids.show(ids.decode(text), limit)


def not_numbers(are_flags: bool) -> str:
    """A hint for a column that does not hold numbers."""
    if are_flags:
        return "It should hold numbers. Make 1 and 0 of true and false if that is what is meant."
    return "It should hold numbers."
