"""What the facades share: measures by convention, the limit that no value passes, cut-offs, and checks of input."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
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
from goldrank.measures.short import short_kernel

Value = TypeVar("Value")
TextLists: TypeAlias = Sequence[Texts]
"""For each query a list of texts."""


def check_kinds(run: Run, qrels: Qrels) -> None:
    """Raise for ids of two kinds, which would never be equal. In other tools this is not an error."""
    mismatch = ids.kinds_differ(run.id_kind, qrels.id_kind)
    if mismatch:
        column, run_type, judged_type = mismatch
        message = f"{column} ids of the run are {run_type}, judged {column} ids are {judged_type}"
        raise InputError(message, hint="Give texts.", code="different-id-types")


@cache
def _measure(name: str, k: int | None, tool: Tool, more: tuple[tuple[str, Any], ...]) -> Measure:
    return make(name, k, {**tool.options.get(name, {}), **dict(more)})


def values(name: str, k: int | None, placements: Placements, tool: Tool, **more: str | float | bool) -> np.ndarray:
    """One value per query of a measure with a tool's options and `more`.

    No value is above the measure's highest: a gain from repeated documents ends there.
    """
    measure = _measure(name, k, tool, tuple(more.items()))
    bounded: np.ndarray = np.minimum(measure(placements), measure.declaration.high)
    return bounded


@lru_cache(4096)
def short_value(name: str, k: int, relevant: int, tool: Tool) -> Callable[[Sequence[int]], float]:
    """`values` of one ranking, from the ranks of its relevant documents, all of grade 1; `relevant` are all there are.

    The measure must have a `short_kernel`.
    """
    measure = _measure(name, k, tool, ())
    kernel = short_kernel(measure, lists.of_one_query(relevant))
    assert kernel is not None
    high = measure.declaration.high
    ones = (1,) * relevant

    def value(ranks: Sequence[int]) -> float:
        return min(kernel(ranks, ones[: len(ranks)]), high)

    return value


def sliced_values(name: str, k: int, placements: Placements, tool: Tool) -> np.ndarray:
    """`values` of Python's slice `ranking[:k]` of every ranking, for any k: the released codes cut in this way."""
    depth: int | np.ndarray = k
    if k < 0:
        depth = without_last(placements, -k)
    return values(name, _PAST_THE_END, placements.cut(depth), tool)


_PAST_THE_END = 1_000_000_000
"""A cut-off that no ranking reaches."""


def without_last(placements: Placements, count: int) -> np.ndarray:
    """How many documents of each ranking are left if the last ones are dropped."""
    left: np.ndarray = np.maximum(placements.retrieved - min(count, _PAST_THE_END), 0)
    return left


def mean(column: np.ndarray) -> float:
    """The mean over queries, as goldrank takes it."""
    return summarise(make("RR"), column)


def placed_verdicts(verdicts: Sequence[float]) -> Placements:
    """A judge's answers as the grades of one ranking, in its order."""
    return lists.place([list(range(len(verdicts)))], [dict(enumerate(verdicts))])


def is_whole(value: object) -> TypeGuard[int]:
    """Whether something is an integer, Python's or numpy's."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def positive(k: object, noun: str = "k") -> int:
    """A cut-off as an int; raise unless it is a positive integer."""
    if not is_whole(k) or k < 1:
        message = f"{noun} is {k!r}; it must be a positive integer"
        raise OptionError(message, hint="For example 10.", code="bad-number")
    return int(k)


# `Any` in these three: the value may be anything.
def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    """Whether something is a list, a tuple or an array, but not a text or an array without a dimension."""
    if isinstance(value, str | bytes | bytearray | memoryview):
        return False
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence)


def has_entries(value: Any) -> TypeGuard[Iterable[Any]]:
    """Whether something is a list, or can be made one: a generator, a set, a column of a frame. A mapping cannot."""
    if isinstance(value, _NO_LISTS):
        return is_list(value)
    return isinstance(value, Iterable)


def entries_of(value: Any, noun: str, hint: str | None = None) -> list[Any]:
    """The entries of a value as a list; raise if it has no entries."""
    if not has_entries(value):
        raise InputError(f"{noun} is {value!r:.60}, not a list", hint=hint, code="wrong-type")
    return list(value)


_NO_LISTS = (str, bytes, bytearray, memoryview, Mapping, np.ndarray)


def checked_texts(texts: Texts, noun: str) -> Texts:
    """A list of texts; raise if it is something else."""
    if not is_list(texts) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{noun} {texts!r:.200}, not a list of texts", code="wrong-type")
    return texts


def column_of(rows: Iterable[Mapping[str, Value]], key: str, noun: str, hint: str | None = None) -> list[Value]:
    """The value of a key in every row; raise an error with the row that does not have the key."""
    column = []
    for i, row in enumerate(entries_of(rows, f"the list of each {noun}", hint)):
        if not isinstance(row, Mapping):
            raise InputError(f"{noun} {i} is {row!r:.60}, not a dict", hint=hint, code="wrong-type")
        if key not in row:
            raise InputError(f"{noun} {i} has no {key!r}; it has: {', '.join(map(repr, row))}", hint=hint)
        column.append(row[key])
    return column


def is_number(value: object) -> TypeGuard[float]:
    """Whether something is a finite number, and not a bool. An integer that no float holds is not one."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


class _ObjectKey:
    """An object as part of a key: equal only to itself. The object is kept, so that its id is not used again."""

    def __init__(self, subject: object) -> None:
        self._subject = subject

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ObjectKey) and other._subject is self._subject

    def __hash__(self) -> int:
        return id(self._subject)


def same_object(subject: object) -> Hashable:
    """A key that is equal only for this object."""
    return _ObjectKey(subject)


# `Any`: a value that is not a frame is returned as it is. Frames are known by their methods; no library is imported.
def rows_of(table: Any) -> Any:
    """The rows of a data frame as dictionaries, None where a cell is missing; anything else as it is."""
    if hasattr(table, "to_dict") and hasattr(table, "columns") and hasattr(table, "iloc"):
        rows = table.to_dict("records")
    elif hasattr(table, "to_dicts"):
        rows = table.to_dicts()
    elif hasattr(table, "to_pylist"):
        rows = table.to_pylist()
    else:
        return table
    return [{str(key): _none_if_missing(value) for key, value in row.items()} for row in rows]


def _none_if_missing(value: Any) -> Any:
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def is_judge(judge: object) -> bool:
    """Whether it is a judge of `goldrank.judging`, or a matcher made of one, rather than a function."""
    if isinstance(judge, Matcher):
        return hasattr(judge, "answers")
    return hasattr(judge, "ask") and hasattr(judge, "messages")


def judged(judge: Any, asked_about: Sequence[tuple[str, str, str]]) -> list[Any]:
    """The answers of such a judge for each (question, text, reference), from 0 to 1 or a `FailedCall`."""
    answers: list[Any] = as_matcher(judge).answers(asked_about)  # type: ignore[attr-defined]
    return answers
