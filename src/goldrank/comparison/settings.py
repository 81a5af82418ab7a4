"""How a comparison is made: everything that its numbers depend on besides the values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from goldrank.comparison.correction import CORRECTIONS, OF_FLIPS
from goldrank.comparison.metadata import Attribute, QueryValues
from goldrank.comparison.paired import TESTS
from goldrank.errors import OptionError, one_of, whole_number
from goldrank.types import CatalogueLike, ConventionLike, HistoryLike, MeasureLike, Policies, RunLike

INTERVALS = {
    "standard": "Student's or Hall's interval, whichever end lies further out, with pseudo-queries where few differ",
    "bounded": "holds even if the queries lack a rare large loss (Gaffke); wide",
}


@dataclass(frozen=True)
class Settings:
    """How a comparison was made: everything that its numbers depend on besides the values."""

    test: str = "randomization"
    correction: str = ""
    """One of `CORRECTIONS`; by default max-t for the randomisation test and Holm's for the others."""
    interval: str = "standard"
    alpha: float = 0.05
    power: float = 0.8
    margin: float | None = None
    """Differences smaller than this do not matter; None if nobody said so."""
    samples: int = 10_000
    """Flips of signs, the data as they are counted as one of them."""
    seed: int = 0
    primary: str | None = None
    """The measure that decides; the others are secondary. None if all decide together."""

    def __post_init__(self) -> None:
        one_of(self.test, TESTS, "test")
        if not self.correction:
            object.__setattr__(self, "correction", "max-t" if self.test == "randomization" else "holm")
        one_of(self.correction, CORRECTIONS, "correction")
        if self.correction in OF_FLIPS and self.test != "randomization":
            raise OptionError(
                f"correction {self.correction!r} permutes the data; it cannot correct test {self.test!r}",
                hint="Use test='randomization', or correction='holm'.",
                code="options-conflict",
            )
        one_of(self.interval, INTERVALS, "interval")
        if not 0 < self.alpha < 0.5:
            raise OptionError(f"alpha is {self.alpha!r}; it must be between 0 and 0.5", hint="0.05 is usual.")
        if not 0 < self.power < 1:
            raise OptionError(f"power is {self.power!r}; it must be between 0 and 1", hint="0.8 is usual.")
        if self.margin is not None and not self.margin > 0:
            raise OptionError(f"margin is {self.margin!r}; it must be greater than 0")
        whole_number(self.samples, "samples", 100, 10_000_000)
        whole_number(self.seed, "seed")

    @property
    def level(self) -> float:
        """The confidence of intervals."""
        return 1 - self.alpha


class CompareOptions(Policies, total=False):
    """What `compare` takes by name."""

    baseline: str | None
    primary: MeasureLike | None
    clusters: Attribute
    weights: Attribute
    seed: int
    slice_by: Mapping[str, Attribute] | None
    queries: QueryValues | None
    documents: QueryValues | Callable[[str], Any] | None
    convention: ConventionLike
    format: str | None
    columns: Mapping[str, str] | None
    relevant_from: float | None
    align: str
    curves: bool
    test: str
    correction: str | None
    interval: str
    alpha: float
    power: float
    margin: float | None
    samples: int
    holes: str
    max_memory: str | int | None
    train: HistoryLike | None
    catalogue: CatalogueLike | None
    against: RunLike | None
    seen: str
