"""What an option of a measure may be: rules that check a value and describe themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

MAX_CUTOFF = 1_000_000_000

OptionValue: TypeAlias = bool | int | float | str | tuple[Any, ...] | None
"""A checked value, which can be hashed: a list is a tuple, a mapping a tuple of pairs."""


@dataclass(frozen=True)
class Choice:
    """One of some words; with `mapping`, also a table such as {1: 3, 2: 9}."""

    words: tuple[str, ...]
    mapping: bool = False

    def check(self, value: object) -> OptionValue:
        if self.mapping and isinstance(value, Mapping):
            value = tuple(value.items())
        if self.mapping and isinstance(value, tuple):
            try:
                return tuple(sorted((_whole(grade), _real(worth)) for grade, worth in value))
            except (TypeError, ValueError, OverflowError):
                raise ValueError("a mapping from whole numbers to finite numbers") from None
        if isinstance(value, str) and value in self.words:
            return value

        words = f"one of {', '.join(map(repr, self.words))}"
        if self.mapping:
            words += " or a mapping"
        raise ValueError(words)

    def __str__(self) -> str:
        words = "one of " + ", ".join(self.words)
        if self.mapping:
            words += ", or a mapping from grade to gain"
        return words


@dataclass(frozen=True)
class Number:
    """A number from `low` to `high`, or `below` it; `whole` allows integers only, `optional` also None."""

    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    optional: bool = False
    below: bool = False

    def check(self, value: object) -> OptionValue:
        if value is None and self.optional:
            return None
        try:
            number = self._number(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not self.low <= number <= self.high or (self.below and number == self.high):
            raise ValueError(self._kind + self._limits)
        return number

    def _number(self, value: object) -> float | int:
        if self.whole:
            return _whole(value)
        return _real(value)

    @property
    def _limits(self) -> str:
        if self.below:
            return f" from {self.low:g} to below {self.high:g}"
        return f" from {self.low:g} to {self.high:g}"

    @property
    def _kind(self) -> str:
        if self.whole:
            return "a whole number"
        return "a number"

    def __str__(self) -> str:
        words = self._kind
        if self.high < MAX_CUTOFF:
            words += self._limits
        if self.optional:
            words += ", or None"
        return words


_SMALLEST = math.ulp(0.0)
"""The smallest positive number: as a level, all that is above 0."""


class Level(Number):
    """The lowest grade that counts as relevant: a number, or ">0" for all that are above 0."""

    def check(self, value: object) -> OptionValue:
        if isinstance(value, str) and value == ">0":
            return _SMALLEST
        return super().check(value)


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def check(self, value: object) -> OptionValue:
        if not isinstance(value, bool):
            raise ValueError(str(self))
        return value

    def __str__(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class Numbers:
    """A list of numbers, each from `low` to `high`."""

    low: float = -math.inf
    high: float = math.inf

    def check(self, value: object) -> OptionValue:
        if not isinstance(value, list | tuple) or not value:
            raise ValueError("a list of numbers")
        each = Number(self.low, self.high)
        return tuple(each.check(number) for number in value)

    def __str__(self) -> str:
        return f"a list of numbers from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Word:
    """A name that the user chose, of at most 200 characters."""

    def check(self, value: object) -> OptionValue:
        if not isinstance(value, str) or len(value) > 200 or not value.isprintable():
            raise ValueError(str(self))
        return value

    def __str__(self) -> str:
        return "a name"


CHANCE = Number(low=0, high=1, below=True)
"""The chance to go on to the next document. A user who always does never sees a last one: all weights would be 0."""

Option: TypeAlias = Choice | Number | Numbers | Flag | Word
"""A rule: `check` gives the value as it is kept, or raises a ValueError that says what it must be."""

PACKERS = ("prefix", "skip", "truncate")
"""How a list of texts is packed into a budget of tokens."""

COMMON: Mapping[str, Option] = {
    "judged_only": Flag(),
    "tokens": Number(low=0, high=MAX_CUTOFF, whole=True, optional=True),
    "pack": Choice(PACKERS),  # how a list of texts is packed into a budget of tokens
}
"""Options that every measure has without any code for it."""
COMMON_DEFAULTS: Mapping[str, OptionValue] = {"judged_only": False, "tokens": None, "pack": "prefix"}


def option_for(name: str, default: object) -> Option | None:
    """The rule for an option without a declared one, from its name and default; None if they do not say it."""
    if name == "rel":
        return Level(low=-MAX_CUTOFF, high=MAX_CUTOFF)
    if isinstance(default, bool):
        return Flag()
    if isinstance(default, int | float):
        return Number()
    return None


def spell(value: OptionValue) -> str:
    """A value as it is written in a measure's name; equal values are written alike, 2.0 as 2."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple) and all(isinstance(entry, tuple) for entry in value):
        return "{" + ", ".join(f"{spell(key)}: {spell(worth)}" for key, worth in value) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(spell, value)) + "]"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return repr(int(value))
    return repr(value)


def spell_option(name: str, value: OptionValue) -> str:
    """An option as it is written in a measure's name: `rel=2`, and `rel=">0"` for all that is above 0."""
    if name == "rel" and value == _SMALLEST:
        return 'rel=">0"'
    return f"{name}={spell(value)}"


def _whole(value: Any) -> int:
    if isinstance(value, bool) or value != int(value):
        raise ValueError("not whole")
    return int(value)


def _real(value: Any) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError("not a number")
    if not math.isfinite(value):
        raise ValueError("not finite")
    if isinstance(value, np.generic):
        return value.item()  # type: ignore[no-any-return]
    return value
