"""Quirks that several tools have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goldrank.base.errors import one_of
from goldrank.conventions.tool import REPEATS, Quirk, TableReading

if TYPE_CHECKING:
    from goldrank.data.placements import Placements
    from goldrank.measures import Measure


@dataclass(frozen=True)
class OnlyReturned(Quirk):
    """Only the returned documents exist: unjudged ones are not relevant, and documents not returned are gone."""

    rule = "closed"
    label = "documents that were not returned"
    usual = "count if they are judged"
    needs = "placements"

    def says(self, measure: Measure) -> str:
        return "do not exist"

    def placements(self, placements: Placements) -> Placements:
        if placements.shared:  # a repeated document has a row for each time already
            return placements
        return placements.closed


@dataclass(frozen=True)
class OrderOfTies(Quirk):
    """What measures do with equal scores where it is not what `ties` says, or where it is not defined."""

    rule = "ties"
    refines = "ties"
    needs = "query"

    by_measure: Mapping[str, str] = field(default_factory=dict, hash=False)
    """'expected', or 'grouped' for one step."""
    undefined_from: Mapping[str, int] = field(default_factory=dict, hash=False)
    """From what length of a ranking on the tool's order is not defined, by measure or for all ('*')."""

    def refined(self, word: str, measure: Measure) -> str:
        reading = self.reading(measure, TableReading())
        word = reading.ties or word
        is_order = word not in ("expected", "grouped") and measure.declaration.over == "placements"
        if reading.undefined_from is None or not is_order:
            return word
        return f"{word}, undefined from {reading.undefined_from} documents on"

    def reading(self, measure: Measure, reading: TableReading) -> TableReading:
        everywhere = self.undefined_from.get("*")
        return reading._replace(
            ties=self.by_measure.get(measure.name),
            undefined_from=self.undefined_from.get(measure.name, everywhere),
        )


@dataclass(frozen=True)
class CountsRepeats(Quirk):
    """What measures count of a repeated document with duplicates="places"; others count its first rank."""

    rule = "repeats"
    label = "a repeated document"
    usual = REPEATS["first"]
    needs = "query"

    by_measure: Mapping[str, str] = field(hash=False)

    def __post_init__(self) -> None:
        for measure, word in self.by_measure.items():
            one_of(word, REPEATS, f"repeats of {measure}")

    def says(self, measure: Measure) -> str:
        return REPEATS[self.by_measure.get(measure.name, "first")]

    def reading(self, measure: Measure, reading: TableReading) -> TableReading:
        return reading._replace(repeats=self.by_measure.get(measure.name, "first"))
