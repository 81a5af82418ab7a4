"""Measures that a tool has, and that the convention of its name cannot give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from goldrank.base.errors import MeasureError

if TYPE_CHECKING:
    import numpy as np

    from goldrank.data.placements import Placements
    from goldrank.data.run import Run
    from goldrank.measures import Measure


@dataclass(frozen=True)
class Case:
    """A measure on some data."""

    measure: Measure
    placements: Placements
    counted: np.ndarray | None
    """Which queries count; None is all."""
    run: Run

    @property
    def relevant(self) -> np.ndarray:
        """How many relevant documents each query has, by the level of the measure."""
        level = self.measure.option("rel")
        if level is None:
            level = 1
        return self.placements.relevant(level)

    @property
    def judged(self) -> np.ndarray:
        """How many judged documents each query has."""
        start = self.placements.judged_start
        judged: np.ndarray = start[1:] - start[:-1]
        return judged

    def is_true_of_a_query(self, mark: np.ndarray) -> bool:
        """Whether a query that counts is marked."""
        if self.counted is not None:
            mark = mark & self.counted
        return bool(mark.any())


@dataclass(frozen=True)
class Condition:
    """When a convention refuses a measure."""

    words: ClassVar[str]
    """For people: "where there are negative grades"."""
    reads_run: ClassVar[bool] = False
    """Whether it looks into the run itself, which must then be at hand."""

    def holds(self, case: Case) -> bool:
        """Whether the convention cannot give this measure on this data."""
        raise NotImplementedError


@dataclass(frozen=True)
class Always(Condition):
    """With any data: known before anything is read."""

    words = "whatever the data"

    def holds(self, case: Case) -> bool:
        return True


@dataclass(frozen=True)
class NegativeGrades(Condition):
    words = "there are negative grades"

    def holds(self, case: Case) -> bool:
        return bool((case.placements.judged < 0).any())


@dataclass(frozen=True)
class OneKind(Condition):
    words = "a query has no relevant, or no other judged document"

    def holds(self, case: Case) -> bool:
        relevant = case.relevant
        return case.is_true_of_a_query((relevant == 0) | (relevant == case.judged))


@dataclass(frozen=True)
class Refusal:
    """Measures that the convention refuses under a condition, and why."""

    measures: tuple[str, ...]
    """Names, or '*' for all."""
    when: Condition
    why: str
    hint: str | None = None

    def concerns(self, measure: Measure) -> bool:
        """Whether it is about a measure."""
        return measure.name in self.measures or "*" in self.measures

    def error(self, measure: Measure, tool: str) -> MeasureError:
        """The error for a measure that is refused."""
        where = f" where {self.when.words}"
        if isinstance(self.when, Always):
            where = ""

        return MeasureError(
            f"{measure} is not measured by the rules of {tool}{where}: {self.why}",
            hint=self.hint,
            code="refused-by-convention",
        )
