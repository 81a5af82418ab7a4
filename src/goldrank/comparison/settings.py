"""How a comparison is made: everything that its numbers depend on besides the values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from goldrank.comparison.correction import CORRECTIONS, OF_FLIPS
from goldrank.comparison.metadata import Attribute, QueryValues
from goldrank.comparison.paired import TESTS
from goldrank.conventions import Convention
from goldrank.errors import OptionError, one_of, whole_number
from goldrank.options import Options
from goldrank.types import CatalogueLike, HistoryLike, MeasureLike, Policies, RunLike

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
    convention: str | Convention
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


Test: TypeAlias = Literal["randomization", "t", "wilcoxon", "sign"]
Correction: TypeAlias = Literal["max-t", "holm", "bonferroni", "bh", "tukey", "none"]
IntervalKind: TypeAlias = Literal["standard", "bounded"]
UnjudgedKind: TypeAlias = Literal["check", "ignore"]

UNJUDGED = {
    "check": "a verdict that unjudged documents could change is withheld",
    "ignore": "unjudged documents count as not relevant",
}


@dataclass(frozen=True, repr=False)
class Statistics(Options):
    """How a difference or a mean is decided: the test, its correction, intervals and what they are made with.

    Every verb that decides takes one: `compare`, `score_intervals`, `plan`, `gate` (in its rules), `corrected_values`,
    `judge_agreement` and others.

    Parameters
    ----------
    test : {"randomization", "t", "wilcoxon", "sign"}
        The test of a difference over the same queries.
    correction : {"max-t", "holm", "bonferroni", "bh", "tukey", "none"}, optional
        How p-values are corrected for several tests. By default "max-t" for the randomization test, else "holm".
    interval : {"standard", "bounded"}
        The kind of confidence interval.
    alpha : float
        How often a true null hypothesis may be rejected. Intervals have the level `1 - alpha`.
    power : float
        How often a true difference should be found; plans and caveats use it.
    margin : float, optional
        Differences smaller than this do not matter. With it, "equivalent" is a possible verdict.
    samples : int, optional
        How many random draws are made. By default as many as the verb needs: 10,000 in `compare`.
    seed : int
        Where the random numbers begin. The result is the same for the same seed.
    unjudged : {"check", "ignore"}
        Whether a verdict that unjudged documents could change is withheld.

    Raises
    ------
    OptionError
        If a value is not one of the choices, or two of them do not go together.

    Examples
    --------
    >>> Statistics(test="t", alpha=0.01).level
    0.99
    >>> Statistics(test="t").used_correction
    'holm'
    """

    test: Test = "randomization"
    correction: Correction | None = None
    interval: IntervalKind = "standard"
    alpha: float = 0.05
    power: float = 0.8
    margin: float | None = None
    samples: int | None = None
    seed: int = 0
    unjudged: UnjudgedKind = "check"

    def __post_init__(self) -> None:
        one_of(self.test, get_args(Test), "test")
        one_of(self.interval, get_args(IntervalKind), "interval")
        one_of(self.unjudged, get_args(UnjudgedKind), "unjudged")
        self._check_correction()

        alpha = _number(self.alpha, "alpha", "0.05 is usual.")
        if not 0 < alpha < 0.5:
            raise _out_of_range("alpha", self.alpha, "between 0 and 0.5", "0.05 is usual.")
        power = _number(self.power, "power", "0.8 is usual.")
        if not 0 < power < 1:
            raise _out_of_range("power", self.power, "between 0 and 1", "0.8 is usual.")
        if self.margin is not None and not _number(self.margin, "margin", "For example 0.01.") > 0:
            raise _out_of_range("margin", self.margin, "greater than 0", "For example 0.01.")

        if self.samples is not None:
            whole_number(self.samples, "samples", 100, 10_000_000)
        whole_number(self.seed, "seed")

    def _check_correction(self) -> None:
        if self.correction is None:
            return
        one_of(self.correction, get_args(Correction), "correction")
        if self.correction in OF_FLIPS and self.test != "randomization":
            raise OptionError(
                f"correction {self.correction!r} permutes the data; it cannot correct test {self.test!r}",
                hint="Use test='randomization', or correction='holm'.",
                code="options-conflict",
            )

    @property
    def level(self) -> float:
        """The confidence of intervals."""
        return 1 - self.alpha

    @property
    def used_correction(self) -> Correction:
        """The correction that is made: the one that was asked for, else the usual one of the test."""
        if self.correction is not None:
            return self.correction
        return "max-t" if self.test == "randomization" else "holm"

    def draws(self, usual: int = 10_000) -> int:
        """How many random draws are made: `samples`, else as many as the verb usually makes."""
        return usual if self.samples is None else self.samples


def _number(value: object, name: str, hint: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OptionError(f"{name} is {value!r:.80}, not a number", hint=hint, code="bad-number")
    return float(value)


def _out_of_range(name: str, value: object, limits: str, hint: str) -> OptionError:
    return OptionError(f"{name} is {value!r:.80}; it must be {limits}", hint=hint, code="bad-number")
