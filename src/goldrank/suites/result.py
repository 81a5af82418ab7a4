"""Systems on many collections: the result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from goldrank.base import ids
from goldrank.base.notes import Note
from goldrank.comparison.intervals import Interval
from goldrank.comparison.tabular import attributes
from goldrank.data.showing import Form, Forms, Result
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, note_sentences
from goldrank.report.numbers import number, p_value
from goldrank.suites.borda import borda_ranks

MOST_PAIRS = 60


@dataclass(frozen=True)
class CollectionPair:
    """Two systems on the collections that both have."""

    a: str
    b: str
    difference: float
    """B minus A: the mean over collections."""
    collections: int
    """How many collections both have."""
    p_queries: float
    """Corrected: these collections, other questions."""
    p_collections: float
    """Corrected: other collections like these; NaN with fewer than 2 collections."""


@dataclass(frozen=True)
class CollectionStanding:
    """One system of a comparison on many collections."""

    system: str
    mean: float
    """The macro mean over the collections that all systems have."""
    rank_queries: tuple[int, int]
    """The ranks that it may have on these collections with other questions."""
    rank_collections: tuple[int, int]
    """The ranks that it may have on other collections like these."""


@dataclass(frozen=True, repr=False, eq=False)
class CollectionComparison(Result):
    """Systems on many collections: macro means with two kinds of rank intervals. Made by `compare_collections`."""

    measure: str
    standings: tuple[CollectionStanding, ...]
    """From the best to the worst macro mean."""
    cells: Mapping[str, Mapping[str, float]]
    """By collection and system, the mean over queries; NaN where a system was not run."""
    queries: Mapping[str, int]
    """By collection, how many queries count."""
    complete: tuple[str, ...]
    """The collections that all systems have: macro means are over these."""
    pairs: tuple[CollectionPair, ...]
    method: str
    """How other collections were tested."""
    alpha: float = 0.05
    notes: tuple[Note, ...] = ()
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """By system, the interval of its macro mean over collections."""
    higher_is_better: bool = True

    own_forms: ClassVar[Forms] = {
        "html": Form("a page with a heat map", "goldrank.suites.collections_page:render", (".html",)),
        "latex": Form("a table as papers print it", "goldrank.suites.collections_page:latex_text", (".tex",)),
    }

    def best_of(self, collection: str) -> set[str]:
        """The systems with the best value on a collection, equal to four decimals as shown."""
        values = {system: round(value, 4) for system, value in self.cells[collection].items() if value == value}
        if self.higher_is_better:
            best = max(values.values())
        else:
            best = min(values.values())
        return {system for system, value in values.items() if value == best}

    @property
    def wins(self) -> dict[str, int]:
        """By system, on how many collections no other is better."""
        best = [self.best_of(collection) for collection in self.cells]
        return {standing.system: sum(standing.system in names for names in best) for standing in self.standings}

    @property
    def mean(self) -> dict[str, float]:
        """The macro means by system."""
        return {standing.system: standing.mean for standing in self.standings}

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        """The cells without a value, as system and collection."""
        cells: list[tuple[str, str]] = []
        for collection, values in self.cells.items():
            cells += [(system, collection) for system, value in values.items() if math.isnan(value)]
        return tuple(cells)

    @property
    def borda(self) -> dict[str, int]:
        """MTEB's ranks by Borda counts, for comparison with its tables only: other systems can change their order."""
        values = {}
        for standing in self.standings:
            system = standing.system
            values[system] = {name: self.cells[name][system] for name in self.cells}
        return borda_ranks(values)

    @property
    def words(self) -> str:
        """Which system leads, and how many may be best on these collections and on others."""
        first = self.standings[0]
        here = sum(standing.rank_queries[0] == 1 for standing in self.standings)
        elsewhere = sum(standing.rank_collections[0] == 1 for standing in self.standings)
        return (
            f"{ids.show(first.system)} leads by {self.measure}, {first.mean:.4f} in the mean of "
            f"{len(self.complete):,} collections. {here} of {len(self.standings)} may be best on these collections, "
            f"{elsewhere} on others like them."
        )

    def parts(self) -> list[Part]:
        """What people read: systems, collections, pairs."""
        return [Sentence(self.words), self._systems(), self._collections(), self._pairs(), *note_sentences(self.notes)]

    def _systems(self) -> Table:
        rows: list[Cells] = [
            [standing.system, standing.mean, _ranks(standing.rank_queries), _ranks(standing.rank_collections)]
            for standing in self.standings
        ]
        heads = [*Head.names("system"), *Head.numbers(self.measure, "rank, these", "rank, others")]
        caption = (
            "Mean over collections that all systems have. Rank, these: these collections, other questions. Rank, "
            f"others: other collections like these ({self.method})."
        )
        return Table(heads, rows, "Systems", caption)

    def _collections(self) -> Table:
        systems = [standing.system for standing in self.standings]
        rows: list[Cells] = []
        for name, values in self.cells.items():
            cells = [Cell(number(values[system]), values[system]) for system in systems]
            rows.append([name, Cell(f"{self.queries[name]:,}", self.queries[name]), *cells])

        heads = [*Head.names("collection"), *Head.numbers("queries", *(ids.show(system, 20) for system in systems))]
        return Table(heads, rows, f"Collections, {self.measure}")

    def _pairs(self) -> Table:
        rows: list[Cells] = [
            [
                pair.a,
                pair.b,
                Cell(number(pair.difference, signed=True), pair.difference),
                Cell(str(pair.collections), pair.collections),
                Cell(p_value(pair.p_queries), pair.p_queries),
                Cell(p_value(pair.p_collections), pair.p_collections),
            ]
            for pair in self.pairs[:MOST_PAIRS]
        ]
        numbers = ("difference", "collections", "p, other questions", "p, other collections")
        left_out = len(self.pairs) - len(rows)
        if left_out:
            caption = f"{left_out:,} more pairs are not listed here."
        else:
            caption = ""

        return Table([*Head.names("A", "B"), *Head.numbers(*numbers)], rows, "Pairs, B minus A", caption)

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each system."""
        return [
            {
                "system": standing.system,
                "measure": self.measure,
                "mean": standing.mean,
                "rank_queries_low": standing.rank_queries[0],
                "rank_queries_high": standing.rank_queries[1],
                "rank_collections_low": standing.rank_collections[0],
                "rank_collections_high": standing.rank_collections[1],
            }
            for standing in self.standings
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        names = "a b difference collections p_queries p_collections"
        cells = {name: dict(values) for name, values in self.cells.items()}
        missing = [list(cell) for cell in self.missing]
        pairs = [attributes(pair, names) for pair in self.pairs]

        return {
            "format": "goldrank-collections",
            "version": 1,
            **attributes(self, "measure method alpha words"),
            "systems": self.rows(),
            "cells": cells,
            "queries": dict(self.queries),
            "complete": list(self.complete),
            "missing": missing,
            "pairs": pairs,
            "notes": [note.to_dict() for note in self.notes],
        }


def _ranks(ranks: tuple[int, int]) -> Cell:
    low, high = ranks
    if low == high:
        return Cell(f"{low}", low)
    return Cell(f"{low} to {high}", low)
