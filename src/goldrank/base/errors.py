"""Every exception of goldrank: what is wrong, where, and what to do about it.

All of them are `GoldrankError`, so a caller can catch them together. Each carries the exit code that the
command line returns for it.
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
POSITION_LIMIT = 500
"""Most characters of a file position in a message."""
LEAST_LIKENESS = 0.6
"""From this ratio of difflib on, words are near each other."""
MOST_NAMES = 1_000
"""Most names of files that are compared with a name that does not exist."""


@dataclass(frozen=True)
class Position:
    """A position in a file. `column` is the first character's column, counted from 1 as editors do."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


def _kebab_case(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


class GoldrankError(Exception):
    """Base of all errors. `what` states the problem, `where` the position, `hint` the way out.

    `code` names the error for programs and stays when the words change; docs/errors.md lists all codes. Errors without
    a code of their own have the name of their class: "input-error".
    """

    exit_code = 2
    what: str
    where: Position | str | None
    hint: str | None
    code: str

    def __init__(
        self, what: str, *, where: Position | str | None = None, hint: str | None = None, code: str | None = None
    ) -> None:
        self.what = what
        self.where = where
        self.hint = hint
        self.code = code or _kebab_case(type(self).__name__)
        super().__init__(what)

    def to_dict(self) -> dict[str, Any]:
        """Problem, position, hint and code as plain values for programs."""
        where: Any = self.where
        if isinstance(where, Position):
            where = {"file": where.file, "line": where.line, "column": where.column}
        return {"code": self.code, "what": self.what, "where": where, "hint": self.hint}

    def __str__(self) -> str:
        """At most two lines, safe for any terminal and log: names and ids in them come from outside."""
        if isinstance(self.what, str):
            problem = self.what
        else:
            problem = repr(self.what)

        text = log_line(problem)
        if self.where:
            text = f"{log_line(str(self.where), POSITION_LIMIT)}: {text}"

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
    """A retriever failed on every question, or cannot be called. `items` are the results so far, if any."""

    items: object = None


class StoreError(GoldrankError, OSError):
    """A history or a log of judgements that cannot be read or written, or does not have the requested entry."""

    exit_code = 3


class JudgeError(GoldrankError):
    """A judge that cannot be asked. Its earlier answers are in the log, and in `judged` if there are any."""

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
    """Remove the leading zeros of the numbers in a word: people read q4 and q04 as the same id."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", word)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint for a mistyped word, or None when no known word is near."""
    if not isinstance(word, str):
        word = repr(word)
    by_folded = {name.casefold(): name for name in known}
    folded_word = word.casefold()

    unpadded = _numbered(folded_word)
    same_number = [name for folded, name in by_folded.items() if _numbered(folded) == unpadded]
    if len(same_number) == 1 and same_number[0] != word:
        return f"Did you mean {same_number[0]}?"

    if len(folded_word) > 3 * max(map(len, by_folded), default=0):
        return None  # too long to be near any of them

    import difflib

    near = difflib.get_close_matches(folded_word, by_folded, n=1, cutoff=LEAST_LIKENESS)
    if near and by_folded[near[0]] != word:
        return f"Did you mean {by_folded[near[0]]}?"
    return None


def cannot_open(
    error: Exception, name: str, kind: type[GoldrankError] = InputError, hint: str | None = None
) -> GoldrankError:
    """The error for a path that cannot be opened: the system's reason, and a similar file name as a hint."""
    if len(name) < 200 and name.isprintable():
        shown_name = name
    else:
        shown_name = f"{name[:60]!r}..."

    if len(name) > 200 or "\n" in name:
        hint = "A string is taken as a path; give the data itself as a dict, rows or a data frame."
    elif isinstance(error, FileNotFoundError):
        hint = " ".join(filter(None, (_near_file(name), hint))) or None

    reason = getattr(error, "strerror", None) or error
    return kind(f"cannot be opened: {reason}", where=shown_name, hint=hint, code="cannot-open")


def _near_file(name: str) -> str | None:
    """A hint for the name of a file that does not exist."""
    folder, file = os.path.split(name)
    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for entry in islice(entries, MOST_NAMES)]
    except FileNotFoundError:
        return f"There is no folder {folder}."
    except OSError:
        return None
    stem = os.path.splitext(file)[0]
    return did_you_mean(file, [name for name in names if _are_near(stem, os.path.splitext(name)[0])])


def _are_near(word: str, other_word: str) -> bool:
    """Whether two words differ little: names of files with the same ending are not near because of it."""
    import difflib

    return difflib.SequenceMatcher(None, word.casefold(), other_word.casefold()).ratio() >= LEAST_LIKENESS


def of_type(value: Value, kinds: type | tuple[type, ...], label: str, expected: str, hint: str | None = None) -> Value:
    """Return `value` if it is of one of the kinds; else raise an `InputError` that states its type and `expected`."""
    if isinstance(value, kinds):
        return value
    if isinstance(value, type):
        kind = f"the type {value.__name__}"
    else:
        kind = f"of type {type(value).__name__}"
    raise InputError(f"{label} is {kind}, not {expected}", hint=hint, code="wrong-type")


def file_name(value: object, label: str = "a file") -> str:
    """The text of a path; an `InputError` if the value is not a path."""
    path = of_type(value, (str, os.PathLike), f"the name of {label}", "text or a path")
    return os.fsdecode(path)  # type: ignore[arg-type]


def as_list(value: Iterable[Value], label: str, kinds: type = object, entry_noun: str = "") -> list[Value]:
    """The entries of a list or of another ordered iterable; an `InputError` if one is not of the kinds."""
    unordered = isinstance(value, str | bytes | set | frozenset) or not isinstance(value, Iterable)
    if unordered or isinstance(value, type):
        expected = "a list"
        if entry_noun:
            expected = f"a list of {entry_noun}"
        of_type(value, (), label, expected)

    return [of_type(entry, kinds, f"one of {label}", entry_noun) for entry in value]


def is_number(value: object) -> bool:
    """Whether a value is a finite real number; True and False are not."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number beyond doubles
        return False


def whole_number(value: object, label: str, least: int = 0, most: int | None = None) -> int:
    """Return `value` if it is a whole number within its limits; else raise an `OptionError` that states them."""
    if isinstance(value, int) and not isinstance(value, bool) and least <= value and (most is None or value <= most):
        return value

    limits = f"from {least:,}"
    if most is not None:
        limits += f" to {most:,}"
    raise OptionError(f"{label} is {shown(value)}; it must be a whole number {limits}", code="bad-number")


def _is_infinite(value: object) -> bool:
    return isinstance(value, float) and math.isinf(value)


def real_number(value: object, label: str, least: float = -math.inf, most: float = math.inf) -> float:
    """Return `value` as a float if it is a number within its limits; else raise an `OptionError` that states them."""
    if is_number(value) or _is_infinite(value):
        number = float(value)  # type: ignore[arg-type]
        if least <= number <= most:
            return number

    if math.isfinite(least) and math.isfinite(most):
        limits = f" from {least:g} to {most:g}"
    else:
        limits = ""
    raise OptionError(f"{label} is {shown(value)}; it must be a number{limits}", code="bad-number")


def one_of(value: object, allowed: Iterable[str], label: str) -> str:
    """Return `value` if it is one of the `allowed` words; else raise an `OptionError` that lists them."""
    words = list(allowed)
    if isinstance(value, str) and value in words:
        return value
    listed = ", ".join(words)
    hint = did_you_mean(shown(value), words)
    raise OptionError(f"{label} is {shown(value)}; it must be one of: {listed}", hint=hint, code="unknown-choice")
