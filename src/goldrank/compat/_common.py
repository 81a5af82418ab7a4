"""What the facades share: measures by convention, the limit that no value passes, cut-offs, and checks of input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeGuard, TypeVar

import numpy as np

from goldrank.conventions import Convention
from goldrank.data.placements import Placements
from goldrank.data.texts import Texts
from goldrank.engine import lists
from goldrank.errors import InputError, OptionError
from goldrank.ids import has_no_order
from goldrank.measures import Measure, make, summarise

Value = TypeVar("Value")
TextLists: TypeAlias = Sequence[Texts]
"""For each query a list of texts."""


@cache
def _measure(name: str, k: int | None, convention: Convention, more: tuple[tuple[str, Any], ...]) -> Measure:
    return make(name, k, {**convention.options.get(name, {}), **dict(more)})


def values(
    name: str, k: int | None, placements: Placements, convention: Convention, **more: str | float | bool
) -> np.ndarray:
    """One value per query of a measure with a convention's options and `more`.

    None is above the measure's highest: a gain that repeated documents bring ends there.
    """
    measure = _measure(name, k, convention, tuple(more.items()))
    bounded: np.ndarray = np.minimum(measure(placements), measure.declaration.high)
    return bounded


def sliced_values(name: str, k: int, placements: Placements, convention: Convention) -> np.ndarray:
    """`values` of what Python's `ranking[:k]` leaves of every ranking, for any k: the released codes cut so."""
    left = placements.cut(np.maximum(placements.retrieved + k, 0) if k < 0 else k)
    return values(name, 1_000_000_000, left, convention)  # a cut-off that no ranking reaches


def mean(column: np.ndarray) -> float:
    """The mean over queries, as goldrank takes it."""
    return summarise(make("RR"), column)


def placed_verdicts(verdicts: Sequence[float]) -> Placements:
    """A judge's answers as the grades of one ranking, in its order."""
    return lists.place([list(range(len(verdicts)))], [dict(enumerate(verdicts))])


def is_whole(value: object) -> TypeGuard[int]:
    """Whether something is an integer, Python's or numpy's."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def positive(k: object, what: str = "k") -> int:
    """A cut-off, or the error that says why it is none."""
    if not is_whole(k) or k < 1:
        raise OptionError(f"{what} is {k!r}; it must be a positive integer", hint=f"For example {what}=10.")
    return int(k)


def checked_texts(texts: Texts, what: str) -> Texts:
    """A list of texts, or the error that says that it is none."""
    if isinstance(texts, str) or has_no_order(texts) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{what} {texts!r:.200}, not a list of texts")
    return texts


def column_of(rows: Iterable[Mapping[str, Value]], key: str, what: str, hint: str | None = None) -> list[Value]:
    """What every row has under a key, or the error that names the row that does not have it."""
    column = []
    for i, row in enumerate(rows):
        if key not in row:
            raise InputError(f"{what} {i} has no {key!r}; it has: {', '.join(map(repr, row))}", hint=hint)
        column.append(row[key])
    return column
