"""How numbers are written, in whatever file holds them as text: the one rule for scores and for grades.

A score is a decimal number, with or without exponent, or an infinity: 12.5, -3e-2, inf. A grade is a whole number in
digits, whose point may be followed by zeros alone: 2, -1, 1.0. Digits are those of ASCII. So `0x10`, `1_000`, `3,5`
and `true` are no numbers, and `1e0`, `0.9` and `1e-400` are no grades. Gains with decimals (real_grades=True) are
written as finite scores are. `data.qrels.check_grade` and `data.run.check_score` are the same rule for numbers that are
no text.
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
"""Digits that say that a grade is out of range, whatever they are."""


def score_of(text: bytes, where: Position | str, field: str = "", what: str = "score") -> float:
    """The score that a text stands for, or the error that says why it is none."""
    if NUMBER.fullmatch(text):
        return float(text)
    if text.lower().lstrip(b"+-") == b"nan":
        hint = "A document that was not scored has no place in a ranking: leave it out."
        raise InputError(f"{what} is NaN{field}", where=where, hint=hint, code="bad-score")
    hint = f"A {what} is a decimal number such as 12.5 or -3e-2."
    if re.fullmatch(rb"[+-]?[0-9]+,[0-9]+", text):
        hint = f"Is this a decimal comma? {hint}"
    raise InputError(f"{what} '{shown(text)}'{field} is not a number", where=where, hint=hint, code="bad-score")


def plain_scores(texts: Sequence[bytes]) -> list[float] | None:
    """The scores that many texts stand for; None where one has more than digits, points, signs and exponents.

    Of texts of these characters alone, Python's `float` takes exactly those that are scores.
    """
    if b"".join(texts).translate(None, b"0123456789.+-eE"):
        return None
    try:
        return list(map(float, texts))
    except ValueError:
        return None


def grade_of(text: bytes, where: Position | str, field: str = "", *, real_grades: bool = False) -> Grade:
    """The grade that a text stands for, or the error that says why it is none."""
    if WHOLE.fullmatch(text):
        whole = text.partition(b".")[0]
        digits = whole.lstrip(b"+-").lstrip(b"0") or b"0"
        if len(digits) <= _MOST_DIGITS:
            if whole.startswith(b"-"):
                value = -int(digits)
            else:
                value = int(digits)
            return check_grade(value, where)
        return check_grade(10**_MOST_DIGITS, where, shown=shown(text))

    if real_grades and NUMBER.fullmatch(text):
        return check_grade(float(text), where, real_grades)

    hint = "A grade is a whole number, 0 for not relevant."
    if NUMBER.fullmatch(text):
        hint += f" {GAINS}"

    raise InputError(f"grade '{shown(text)}'{field} is not a whole number", where=where, hint=hint, code="bad-grade")


def level_of(text: bytes, where: Position) -> float:
    """The level of a preference: a finite number."""
    if NUMBER.fullmatch(text):
        level = float(text)
    else:
        level = math.nan
    if not math.isfinite(level):
        hint = "A level is a number; a higher one is preferred, 0 is not relevant."
        raise InputError(f"level '{shown(text)}' is not a number", where=where, hint=hint)
    return level


def shown(text: bytes, limit: int = 60) -> str:
    return ids.show(ids.decode(text), limit)


def not_numbers(are_flags: bool) -> str:
    """What to do about a column that holds something else."""
    return "It should hold numbers." + (
        " Make 1 and 0 of true and false if that is what is meant." if are_flags else ""
    )
