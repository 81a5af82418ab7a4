"""What the facades share: measures by convention, the limit that no value passes, cut-offs, and checks of input."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeGuard, TypeVar

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError
from goldrank.conventions.tool import Tool
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.data.text_item import Texts
from goldrank.engine import lists
from goldrank.match import Matcher
from goldrank.match import matcher as as_matcher
from goldrank.measures import Measure, make, summarise

Value = TypeVar("Value")
TextLists: TypeAlias = Sequence[Texts]
"""For each query a list of texts."""


def check_kinds(run: Run, qrels: Qrels) -> None:
    """Refuse ids of two kinds, which would never be equal. Nothing in common is no error in other tools; this is."""
    if unlike := ids.kinds_differ(run.id_kind, qrels.id_kind):
        what, ours, theirs = unlike
        what = f"{what} ids of the run are {ours}, judged {what} ids are {theirs}"
        raise InputError(what, hint="Give texts.", code="different-id-types")


@cache
def _measure(name: str, k: int | None, tool: Tool, more: tuple[tuple[str, Any], ...]) -> Measure:
    return make(name, k, {**tool.options.get(name, {}), **dict(more)})


def values(name: str, k: int | None, placements: Placements, tool: Tool, **more: str | float | bool) -> np.ndarray:
    """One value per query of a measure with a tool's options and `more`.

    None is above the measure's highest: a gain that repeated documents bring ends there.
    """
    measure = _measure(name, k, tool, tuple(more.items()))
    bounded: np.ndarray = np.minimum(measure(placements), measure.declaration.high)
    return bounded


def sliced_values(name: str, k: int, placements: Placements, tool: Tool) -> np.ndarray:
    """`values` of what Python's `ranking[:k]` leaves of every ranking, for any k: the released codes cut so."""
    left = placements.cut(np.maximum(placements.retrieved + k, 0) if k < 0 else k)
    return values(name, 1_000_000_000, left, tool)  # a cut-off that no ranking reaches


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
        text = f"{what} is {k!r}; it must be a positive integer"
        raise OptionError(text, hint=f"For example {what}=10.", code="bad-number")
    return int(k)


# `Any` in these three: what is given may be anything.
def is_list(given: Any) -> TypeGuard[Sequence[Any]]:
    """Whether something is a list, a tuple or an array: a text is none, nor is an array without a dimension."""
    if isinstance(given, str | bytes | bytearray | memoryview):
        return False
    return isinstance(given, Sequence) or (isinstance(given, np.ndarray) and given.ndim > 0)


def has_entries(given: Any) -> TypeGuard[Iterable[Any]]:
    """Whether something is a list, or can be made one: a generator, a set, a column of a frame. A mapping cannot."""
    return is_list(given) or (isinstance(given, Iterable) and not isinstance(given, _NO_LISTS))


def entries_of(given: Any, what: str, hint: str | None = None) -> list[Any]:
    """The entries of what has some, or the error that says that it has none."""
    if not has_entries(given):
        raise InputError(f"{what} is {given!r:.60}, not a list", hint=hint, code="wrong-type")
    return list(given)


_NO_LISTS = (str, bytes, bytearray, memoryview, Mapping, np.ndarray)


def checked_texts(texts: Texts, what: str) -> Texts:
    """A list of texts, or the error that says that it is none."""
    if not is_list(texts) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{what} {texts!r:.200}, not a list of texts", code="wrong-type")
    return texts


def column_of(rows: Iterable[Mapping[str, Value]], key: str, what: str, hint: str | None = None) -> list[Value]:
    """What every row has under a key, or the error that names the row that does not have it."""
    column = []
    for i, row in enumerate(entries_of(rows, f"the list of each {what}", hint)):
        if not isinstance(row, Mapping):
            raise InputError(f"{what} {i} is {row!r:.60}, not a dict", hint=hint, code="wrong-type")
        if key not in row:
            raise InputError(f"{what} {i} has no {key!r}; it has: {', '.join(map(repr, row))}", hint=hint)
        column.append(row[key])
    return column


def is_number(value: object) -> TypeGuard[float]:
    """Whether something is a finite number, and no bool."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(float(value))


class _Same:
    """An object as part of a key: equal to itself alone, and kept, so that no other can take its place."""

    def __init__(self, held: object) -> None:
        self._held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other._held is self._held

    def __hash__(self) -> int:
        return id(self._held)


def same_object(held: object) -> Hashable:
    """A key that stands for this object and no other."""
    return _Same(held)


# `Any`: what is no frame is given back as it is. Frames are told by their methods; no library is imported.
def rows_of(given: Any) -> Any:
    """The rows of a data frame as dictionaries, None where a cell is missing; anything else as it is."""
    if hasattr(given, "to_dict") and hasattr(given, "columns") and hasattr(given, "iloc"):
        rows = given.to_dict("records")
    elif hasattr(given, "to_dicts"):
        rows = given.to_dicts()
    elif hasattr(given, "to_pylist"):
        rows = given.to_pylist()
    else:
        return given
    return [{str(key): None if _is_missing(value) else value for key, value in row.items()} for row in rows]


def _is_missing(value: object) -> bool:
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def is_judge(given: object) -> bool:
    """Whether it is a judge of `goldrank.judging`, or a matcher made of one, rather than a function."""
    needed = ("answers",) if isinstance(given, Matcher) else ("ask", "messages")
    return all(hasattr(given, name) for name in needed)


def judged(judge: Any, asked_about: Sequence[tuple[str, str, str]]) -> list[Any]:
    """What such a judge says of each (question, text, reference), from 0 to 1 or a `FailedCall`, by its job and log."""
    answers: list[Any] = as_matcher(judge).answers(asked_about)  # type: ignore[attr-defined]
    return answers
