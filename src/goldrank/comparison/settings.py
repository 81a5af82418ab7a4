"""How something is decided: `Statistics`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from goldrank.base.errors import OptionError, one_of, whole_number
from goldrank.base.options import Options
from goldrank.comparison.correction import OF_FLIPS

Test: TypeAlias = Literal["randomization", "t", "wilcoxon", "sign"]
Correction: TypeAlias = Literal["max-t", "holm", "bonferroni", "bh", "tukey", "none"]
IntervalKind: TypeAlias = Literal["standard", "bounded"]
UnjudgedKind: TypeAlias = Literal["check", "ignore"]

INTERVALS = {
    "standard": "Student's or Hall's interval, whichever end lies further out, with pseudo-queries where few differ",
    "bounded": "holds even if the queries lack a rare large loss (Gaffke); wide",
}
UNJUDGED = {
    "check": "a verdict stands if half of its difference is left without unjudged documents, where those are known",
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
        Whether a verdict is withheld if less than half of its difference is left without unjudged documents. Where
        (nearly) all judged documents are relevant, or a catalogue is given, they count as not relevant in any case.

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
        if self.test == "randomization":
            return "max-t"
        return "holm"

    def draws(self, usual: int = 10_000) -> int:
        """How many random draws are made: `samples`, else as many as the verb usually makes."""
        if self.samples is None:
            return usual
        return self.samples


def _number(value: object, name: str, hint: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OptionError(f"{name} is {value!r:.80}, not a number", hint=hint, code="bad-number")
    return float(value)


def _out_of_range(name: str, value: object, limits: str, hint: str) -> OptionError:
    return OptionError(f"{name} is {value!r:.80}; it must be {limits}", hint=hint, code="bad-number")
