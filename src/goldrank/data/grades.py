"""What a grade is, and which grades are unusual."""

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
    "If these are gains with decimals, say so: real_grades=True; if they are ratings, relevant_from=4 makes those "
    "from 4 relevant and the others not."
)
"""What to do with grades that are not whole."""


def check_grade(value: object, where: Position | str, real_grades: bool = False, shown: str | None = None) -> Grade:
    """`value` as a grade, or the error that says why it is none. `shown` is how it was written.

    A grade is a number and no flag. Whole ones are integers, whatever they were given as; what is whole is decided by
    the exact value, before anything is rounded to a double.
    """
    if isinstance(value, np.generic) and not isinstance(value, np.bool_):
        value = value.item()
    if isinstance(value, bool) or not (isinstance(value, int | float) or _is_exact(value)):
        hint = "A grade is a whole number; leave a document out if it was not judged."
        if isinstance(value, bool | np.bool_):
            hint = "A grade is a number: 1 for relevant, 0 for not relevant."
        what = f"grade {value!r:.80} is of type {type(value).__name__}"
        raise InputError(what, where=where, hint=hint, code="bad-grade")
    number: Any = value
    if not isinstance(number, int):
        if not math.isfinite(number):
            hint = "Leave a document out if it was not judged: in arrays, with mask=."
            raise InputError(f"grade {number} is not a finite number", where=where, hint=hint, code="bad-grade")
        if abs(number) <= MAX_GRADE:
            if number == int(number):
                number = int(number)
            elif real_grades:
                number = float(number)
            else:
                raise InputError(
                    f"grade {shown or number} is not a whole number",
                    where=where,
                    hint=f"Grades are whole numbers. {GAINS}",
                    code="bad-grade",
                )
    if abs(number) > MAX_GRADE:
        shown = shown or (str(number) if abs(number) < 10**30 else "of more than 30 digits")
        raise InputError(
            f"grade {shown} is out of range (at most {MAX_GRADE:,})",
            where=where,
            hint="Is this a date, an id or a click count in the grade column?",
            code="bad-grade",
        )
    grade: Grade = number
    return grade


def _is_exact(value: object) -> bool:
    """Whether it is a number of a type that has values which are no doubles."""
    from decimal import Decimal
    from fractions import Fraction

    return isinstance(value, Decimal | Fraction | np.longdouble)


def notes_on_grades(highest: Grade) -> tuple[Note, ...]:
    if highest > HIGH_GRADE:
        return (Note.of("high-grade", grade=highest),)
    return ()


def are_usual(grades: Collection[int]) -> bool:
    """Whether none of some whole grades is so high that something is to be said of it."""
    return not grades or (max(grades) <= HIGH_GRADE and min(grades) >= -HIGH_GRADE)
