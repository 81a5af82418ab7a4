"""Every exception of goldrank: what is wrong, where, and what to do about it.

All of them are `GoldrankError`, so that a caller can catch them together, and each carries the exit
code that the command line returns for it.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from numbers import Real
from typing import Any, TypeVar

from goldrank.base.escaping import log_line, shown

Value = TypeVar("Value")
PLACE_LIMIT = 500
"""Characters of a place in a message."""
MOST_NAMES = 1_000
"""Names of files that are looked at for one that is near."""


@dataclass(frozen=True)
class Position:
    """A spot in a file. `column` is the first character's column, counted from 1 as editors do."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


class GoldrankError(Exception):
    """Base of all errors. `what` states the problem, `where` the place, `hint` the way out.

    `code` names the error for programs, whatever its words; docs/errors.md lists all codes.
    """

    exit_code = 2

    def __init__(
        self, what: str, *, where: Position | str | None = None, hint: str | None = None, code: str | None = None
    ) -> None:
        self.what = what
        self.where = where
        self.hint = hint
        self.code = code
        super().__init__(what)

    def to_dict(self) -> dict[str, Any]:
        """What is wrong, where, what to do and the code, as plain values for programs."""
        where: Any = self.where
        if isinstance(where, Position):
            where = {"file": where.file, "line": where.line, "column": where.column}
        return {"code": self.code, "what": self.what, "where": where, "hint": self.hint}

    def __str__(self) -> str:
        """Two lines at most, safe for any terminal and log: names and ids in them may be anybody's."""
        if isinstance(self.what, str):
            what = self.what
        else:
            what = repr(self.what)

        if self.where:
            where = f"{log_line(str(self.where), PLACE_LIMIT)}: "
        else:
            where = ""

        if where:
            text = where + log_line(what)
        else:
            text = log_line(what)

        if self.hint:
            return f"{text}\n  {log_line(self.hint)}"
        return text


class InputError(GoldrankError, ValueError):
    """A file or object that cannot be read as what it should be."""


class MismatchError(InputError):
    """Run and qrels have no query, or no document, in common."""


class MissingQueryError(InputError):
    """A judged query is not in the run, and the policy says that this is an error."""


class NoRelevantError(InputError):
    """A query has no relevant document, and the policy says that this is an error."""


class RetrievalError(GoldrankError):
    """A retriever failed on every question, or cannot be called. `items`, if any, are what there is."""

    items: object = None


class StoreError(GoldrankError, OSError):
    """A history or a log of judgements that cannot be read or written, or does not have what was asked for."""

    exit_code = 3


class JudgeError(GoldrankError):
    """A judge that cannot be asked. What it answered before is in the log; `judged`, if any, is what there is."""

    judged: object = None


class BaselineError(InputError):
    """A baseline that was changed, or that a run cannot be compared with."""


class RuleError(InputError):
    """A rule of a gate that says nothing, contradicts itself or is misspelled."""


class OptionError(GoldrankError, ValueError):
    """An unknown policy, convention or format."""


class MeasureError(OptionError):
    """An unknown measure, or a parameter that it does not take."""


class NotMeasuredError(MeasureError, KeyError):
    """A measure that `Scores` do not have. It is a KeyError too, because `Scores` is a mapping."""


class MemoryLimitError(GoldrankError, MemoryError):
    """The work does not fit into the memory that it may take."""


def _numbered(word: str) -> str:
    """A word without the zeros before its numbers: q4 and q04 are the same to people."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", word)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint for a mistyped word, or None when nothing is near."""
    by_folded = {name.casefold(): name for name in known}
    if isinstance(word, str):
        word = word
    else:
        word = repr(word)
    wanted = word.casefold()
    number = _numbered(wanted)
    numbered = [name for folded, name in by_folded.items() if _numbered(folded) == number]
    if len(numbered) == 1 and numbered[0] != word:
        return f"Did you mean {numbered[0]}?"
    if len(wanted) > 3 * max(map(len, by_folded), default=0):
        return None  # too long to be near any of them
    import difflib

    near = difflib.get_close_matches(wanted, by_folded, n=1, cutoff=0.6)
    if near and by_folded[near[0]] != word:
        return f"Did you mean {by_folded[near[0]]}?"
    return None


def cannot_open(
    error: Exception, name: str, kind: type[GoldrankError] = InputError, hint: str | None = None
) -> GoldrankError:
    """The error for a path that cannot be opened, in the system's words, with the name of a file that may be meant."""
    if len(name) < 200 and name.isprintable():
        shown = name
    else:
        shown = f"{name[:60]!r}..."
    if len(name) > 200 or "\n" in name:
        hint = "A string is taken as a path; give the data itself as a dict, rows or a data frame."
    elif isinstance(error, FileNotFoundError):
        hint = _near_file(name) or hint
    what = f"cannot be opened: {getattr(error, 'strerror', None) or error}"
    return kind(what, where=shown, hint=hint, code="cannot-open")


def _near_file(name: str) -> str | None:
    """A hint for the name of a file that is not there."""
    folder, file = os.path.split(name)
    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for entry in islice(entries, MOST_NAMES)]
    except FileNotFoundError:
        return f"There is no folder {folder}."
    except OSError:
        return None
    return did_you_mean(file, names)


def of_type(value: Value, kinds: type | tuple[type, ...], what: str, wanted: str, hint: str | None = None) -> Value:
    """`value` if it is of one of the kinds, else an `InputError` that says what it is and what it must be."""
    if isinstance(value, kinds):
        return value
    if isinstance(value, type):
        kind = f"the type {value.__name__}"
    else:
        kind = f"of type {type(value).__name__}"
    raise InputError(f"{what} is {kind}, not {wanted}", hint=hint, code="wrong-type")


def file_name(value: object, what: str = "a file") -> str:
    """The text of a path, else an `InputError`."""
    return os.fsdecode(of_type(value, (str, os.PathLike), f"what names {what}", "text or a path"))  # type: ignore[arg-type]


def as_list(value: Iterable[Value], what: str, kinds: type = object, wanted: str = "") -> list[Value]:
    """The things of a list or of anything that has some in order, all of one of the kinds; else an `InputError`."""
    unordered = isinstance(value, str | bytes | set | frozenset) or not isinstance(value, Iterable)
    if unordered or isinstance(value, type):
        of_type(value, (), what, f"a list{f' of {wanted}' if wanted else ''}")
    return [of_type(entry, kinds, f"one of {what}", wanted) for entry in value]


def is_number(value: object) -> bool:
    """Whether a value is a finite real number; a flag is none."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number beyond doubles
        return False


def whole_number(value: object, what: str, least: int = 0, most: int | None = None) -> int:
    """`value` if it is a whole number within its limits, else an `OptionError` that says them."""
    if isinstance(value, int) and not isinstance(value, bool) and least <= value and (most is None or value <= most):
        return value
    limits = f"from {least:,}" + (f" to {most:,}" if most is not None else "")
    raise OptionError(f"{what} is {shown(value)}; it must be a whole number {limits}", code="bad-number")


def _is_infinite(value: object) -> bool:
    return isinstance(value, float) and math.isinf(value)


def real_number(value: object, what: str, least: float = -math.inf, most: float = math.inf) -> float:
    """`value` as a float if it is a number within its limits, else an `OptionError` that says them."""
    if is_number(value) or _is_infinite(value):
        number = float(value)  # type: ignore[arg-type]
        if least <= number <= most:
            return number
    if math.isfinite(least) and math.isfinite(most):
        limits = f" from {least:g} to {most:g}"
    else:
        limits = ""
    raise OptionError(f"{what} is {shown(value)}; it must be a number{limits}", code="bad-number")


def one_of(value: object, allowed: Iterable[str], what: str) -> str:
    """`value` if it is one of the `allowed` words, else an `OptionError` that lists them."""
    words = list(allowed)
    if isinstance(value, str) and value in words:
        return value
    listed = ", ".join(words)
    hint = did_you_mean(shown(value), words)
    raise OptionError(f"{what} is {shown(value)}; it must be one of: {listed}", hint=hint, code="unknown-choice")
