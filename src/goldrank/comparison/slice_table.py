"""What slices of a comparison say: `SliceTable`, a mapping of attributes to values to groups of queries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, overload

from goldrank.base.errors import NotMeasuredError
from goldrank.base.notes import Note
from goldrank.comparison.intervals import Interval
from goldrank.comparison.tabular import attributes

SMALL = 10
"""Slices with fewer queries are marked: a mean over so few says little. They are tested all the same."""


@dataclass(frozen=True)
class _QueryGroup:
    """One measure on the queries that have one value of an attribute."""

    attribute: str
    value: str
    measure: str
    n: int

    @property
    def small(self) -> bool:
        """Whether there are so few queries that their mean says little."""
        return self.n < SMALL

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {**attributes(self, "attribute value measure"), "queries": self.n, "small": self.small}


@dataclass(frozen=True)
class Slice(_QueryGroup):
    """The means of the systems on one group of queries."""

    means: Mapping[str, float]
    intervals: Mapping[str, Interval]
    """The interval of each system's mean."""

    def to_dict(self) -> dict[str, Any]:
        intervals = {run: list(interval) for run, interval in self.intervals.items()}
        return {**super().to_dict(), "means": dict(self.means), "intervals": intervals}


@dataclass(frozen=True)
class SliceDifference(_QueryGroup):
    """One group of queries of one pair: `b` minus `a`."""

    a: str
    b: str
    difference: float
    interval: Interval
    p: float
    p_adjusted: float = math.nan
    """Corrected by the joint maximum over all slices of the pair and measure; NaN where so few queries differ that no
    test can decide."""
    reversed: bool = False
    """Whether the slice clearly goes the other way than all queries together."""

    def to_dict(self) -> dict[str, Any]:
        about = {**super().to_dict(), **attributes(self, "a b difference"), "interval": list(self.interval)}
        return {**about, "p": self.p, "p_adjusted": self.p_adjusted, "reversed": self.reversed}


@dataclass(frozen=True)
class SlicedQueries:
    """The queries that have one value of an attribute: means of the systems, and differences of pairs.

    `of_slice["AP"]` are the differences of a measure, and `of_slice["AP", "a", "b"]` is that of a pair, b minus a.
    """

    n: int
    means: Mapping[str, Mapping[str, float]]
    """By measure and system."""
    differences: tuple[SliceDifference, ...]
    """Of every measure and pair, corrected over all slices."""

    @overload
    def __getitem__(self, key: str) -> tuple[SliceDifference, ...]: ...
    @overload
    def __getitem__(self, key: tuple[str, str, str]) -> SliceDifference: ...
    def __getitem__(self, key: str | tuple[str, str, str]) -> tuple[SliceDifference, ...] | SliceDifference:
        if isinstance(key, str):
            of_measure = tuple(difference for difference in self.differences if difference.measure == key)
            if of_measure:
                return of_measure

        for difference in self.differences:
            if (difference.measure, difference.a, difference.b) == key:
                return difference

        pairs = ", ".join(str((each.measure, each.a, each.b)) for each in self.differences[:3])
        raise NotMeasuredError(f"{key!r:.80} was not compared", hint=f"For example: {pairs}.", code="no-such-pair")


@dataclass(frozen=True, repr=False)
class SliceTable(Mapping[str, Mapping[str, SlicedQueries]]):
    """All slices of a comparison, and the differences of pairs on them: `slices["kind"]["short"]`."""

    slices: tuple[Slice, ...] = ()
    differences: tuple[SliceDifference, ...] = ()
    notes: tuple[Note, ...] = ()

    @cached_property
    def _by_attribute(self) -> Mapping[str, Mapping[str, SlicedQueries]]:
        table: dict[str, dict[str, SlicedQueries]] = {}
        for part in self.slices:
            values = table.setdefault(part.attribute, {})
            if part.value not in values:
                values[part.value] = self._sliced(part)
        return {attribute: MappingProxyType(values) for attribute, values in table.items()}

    def _sliced(self, first: Slice) -> SlicedQueries:
        group = (first.attribute, first.value)
        means = {part.measure: part.means for part in self.slices if (part.attribute, part.value) == group}
        differences = [each for each in self.differences if (each.attribute, each.value) == group]
        return SlicedQueries(first.n, MappingProxyType(means), tuple(differences))

    def __getitem__(self, attribute: str) -> Mapping[str, SlicedQueries]:
        return self._by_attribute[attribute]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_attribute)

    def __len__(self) -> int:
        return len(self._by_attribute)

    def __repr__(self) -> str:
        values = [f"{attribute}: {', '.join(map(str, values))}" for attribute, values in self.items()]
        return f"SliceTable({'; '.join(values)!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def worst(self, measure: str, a: str, b: str) -> SliceDifference | None:
        """The slice on which `b` does worst against `a`. A small slice counts only if a test can decide it.

        Parameters
        ----------
        measure : str
            A measure of the comparison.
        a, b : str
            The names of two systems.

        Returns
        -------
        SliceDifference or None
            None if no slice counts.
        """
        of_pair = [
            difference
            for difference in self.differences
            if (difference.measure, difference.a, difference.b) == (measure, a, b)
        ]
        eligible = [
            difference for difference in of_pair if not difference.small or not math.isnan(difference.p_adjusted)
        ]
        return min(eligible, key=lambda difference: difference.difference, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        slices = [part.to_dict() for part in self.slices]
        differences = [difference.to_dict() for difference in self.differences]
        notes = [note.to_dict() for note in self.notes]
        return {"slices": slices, "differences": differences, "notes": notes}
