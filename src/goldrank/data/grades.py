"""Checking grades, and noting unusual ones."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from goldrank.base.errors import InputError, Position
from goldrank.base.notes import Note
from goldrank.data.judgement_columns import Grade

MAX_GRADE = 10_000_000
HIGH_GRADE = 1_000
GAINS = (
    "If these are gains with decimals, say so: real_grades=True; if they are ratings, read_qrels(source, "
    "relevant_from=4) makes those from 4 relevant and the others not."
)
"""A hint for grades that are not whole numbers."""


def check_grade(value: object, where: Position | str, real_grades: bool = False, shown: str | None = None) -> Grade:
    """Return `value` as a grade, or raise an error that says why it is not a grade. `shown` is its text in the input.

    A grade is a number, but not True or False. A whole number becomes an integer, whatever its type; whether it is
    whole is decided by the exact value, before rounding to a double.
    """
    if isinstance(value, np.generic) and not isinstance(value, np.bool_):
        value = value.item()

    if isinstance(value, bool) or not (isinstance(value, int | float) or _is_exact(value)):
        hint = "A grade is a whole number; leave a document out if it was not judged."
        if isinstance(value, bool | np.bool_):
            hint = "A grade is a number: 1 for relevant, 0 for not relevant."
        problem = f"grade {value!r:.80} is of type {type(value).__name__}"
        raise InputError(problem, where=where, hint=hint, code="bad-grade")

    number: Any = value
    if not isinstance(number, int) and not math.isfinite(number):
        hint = "Leave a document out if it was not judged: in arrays, with mask=."
        raise InputError(f"grade {number} is not a finite number", where=where, hint=hint, code="bad-grade")

    if abs(number) > MAX_GRADE:
        if not shown:
            shown = "of more than 30 digits"
            if abs(number) < 10**30:
                shown = str(number)
        raise InputError(
            f"grade {shown} is out of range (at most {MAX_GRADE:,})",
            where=where,
            hint="Is this a date, an id or a click count in the grade column?",
            code="bad-grade",
        )

    if number == int(number):
        return int(number)
    if real_grades:
        return float(number)
    raise InputError(
        f"grade {shown or number} is not a whole number",
        where=where,
        hint=f"Grades are whole numbers. {GAINS}",
        code="bad-grade",
    )


def _is_exact(value: object) -> bool:
    """Whether a value is a number of a type with values that doubles cannot hold."""
    from decimal import Decimal
    from fractions import Fraction

    return isinstance(value, Decimal | Fraction | np.longdouble)


def notes_on_grades(highest: Grade) -> tuple[Note, ...]:
    if highest > HIGH_GRADE:
        return (Note.of("high-grade", grade=highest),)
    return ()


def are_usual(grades: Collection[int]) -> bool:
    """Whether no grade of some is so high or low that a note or an error would be needed."""
    return not grades or (max(grades) <= HIGH_GRADE and min(grades) >= -HIGH_GRADE)
