"""Fusion methods by name, and what their parameters may be. The methods themselves are one function each, by family.

A method gets `RankedLists` and its parameters, and gives the value of each candidate. To add one: a function with
`@method` in its family's module; parameters are declared there too, with what tuning tries of each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from numbers import Real
from typing import Any

import numpy as np

from goldrank.base.errors import OptionError, as_list, is_number, one_of
from goldrank.base.escaping import shown
from goldrank.fusion.lists import RankedLists
from goldrank.fusion.training import TrainingEntries

FAMILIES = ("scores", "ranks", "votes", "learned")
"""The modules of this room that have methods."""

ALIASES = {
    "combmin": "min", "combmax": "max", "combmed": "med", "combsum": "sum", "combanz": "anz", "combmnz": "mnz",
    "combgmnz": "gmnz", "comb_min": "min", "comb_max": "max", "comb_med": "med", "comb_sum": "sum", "comb_anz": "anz",
    "comb_mnz": "mnz", "comb_gmnz": "gmnz",
    "weighted_sum": "wsum", "weighted_bordafuse": "w_bordafuse", "weighted_condorcet": "w_condorcet",
}  # fmt: skip
"""Other names for methods, from papers and tools."""

MOST_TRIED = 200
"""How many settings tuning tries at most."""

Compute = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Parameter:
    """What a method must know beside the rankings."""

    name: str
    about: str
    check: Callable[[Any, int], Any]  # from a caller's value, of any type, to the method's
    """From a caller's value and the number of runs to the value, or an `OptionError`."""
    default: Callable[[int], Any] | None = None
    """The default for a number of runs; None if a value must be passed or learned."""
    tried: Callable[[int, int], Sequence[Any]] | None = None
    """What tuning tries, for a number of runs and of steps; None for a parameter that is learned."""


@dataclass(frozen=True)
class Method:
    """One fusion method with all that is declared of it."""

    name: str
    about: str
    citation: str
    compute: Compute
    parameters: tuple[Parameter, ...] = ()
    learn: Callable[..., Any] | None = None  # takes Evidence and settings, gives the value of `learned`
    """How the learned parameter is made of judged queries."""
    learned: str | None = None
    """The parameter that is learned."""
    settings: tuple[Parameter, ...] = ()
    """What learning itself must know; tuning tries it too."""
    counts_absent: bool = False
    """Whether a run that did not return a document still contributes to its value."""
    reads_scores: bool = True
    """Whether it looks at scores, or at ranks alone."""

    @property
    def summary(self) -> str:
        """What it does and who proposed it."""
        if self.citation:
            return f"{self.about} ({self.citation})"
        return self.about

    @property
    def tuned(self) -> tuple[Parameter, ...]:
        """The parameters that tuning tries values of."""
        return tuple(parameter for parameter in (*self.parameters, *self.settings) if parameter.tried is not None)

    def checked(self, options: Mapping[str, Any], runs: int) -> dict[str, Any]:
        """A value for every parameter, from options and from defaults."""
        parameter_of = {parameter.name: parameter for parameter in self.parameters}
        for name in options:
            if name not in parameter_of:
                hint = None
                if name == "weights":
                    hint = "Use 'wsum' for weighted sums."
                elif parameter_of:
                    hint = f"It takes {', '.join(parameter_of)}."
                raise OptionError(f"{self.name} takes no {name}", hint=hint, code="unknown-option")

        values = {}
        for name, parameter in parameter_of.items():
            if name in options:
                values[name] = parameter.check(options[name], runs)
            elif parameter.default is not None:
                values[name] = parameter.default(runs)
            else:
                hint = f"It is {parameter.about}."
                if self.learned == name:
                    hint = f"It is {parameter.about}: goldrank.tune_fusion learns it from judged queries."
                raise OptionError(f"{self.name} needs {name}", hint=hint, code="missing-option")

        return values

    def trained(self, evidence: TrainingEntries, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The learned parameter by name; nothing for a method that learns nothing."""
        if self.learn is None or self.learned is None:
            return {}
        return {self.learned: self.learn(evidence, **settings)}


_REGISTERED: dict[str, Method] = {}


def method(
    name: str,
    about: str,
    citation: str = "",
    *parameters: Parameter,
    learn: Callable[..., Any] | None = None,
    learned: str | None = None,
    settings: tuple[Parameter, ...] = (),
    counts_absent: bool = False,
    reads_scores: bool = True,
) -> Callable[[Compute], Compute]:
    """Register a fusion method."""

    def register(compute: Compute) -> Compute:
        _REGISTERED[name] = Method(
            name=name,
            about=about,
            citation=citation,
            compute=compute,
            parameters=parameters,
            learn=learn,
            learned=learned,
            settings=settings,
            counts_absent=counts_absent,
            reads_scores=reads_scores,
        )
        return compute

    return register


by_rank = partial(method, reads_scores=False)
"""Register a fusion method that looks at ranks alone."""


@cache
def all_methods() -> dict[str, Method]:
    """All methods by name."""
    for family in FAMILIES:
        import_module(f"goldrank.fusion.{family}")
    return _REGISTERED


def get(name: str) -> Method:
    """A method by its name or another tool's."""
    method_name = name
    if isinstance(name, str):
        method_name = ALIASES.get(name, name)
    return all_methods()[one_of(method_name, all_methods(), "fusion")]


# Kinds of parameters.


def check_weights(weights: Any, runs: int) -> np.ndarray:
    """One weight per run, as an array."""
    numbers = [float(weight) for weight in as_list(weights, "weights", Real, "numbers")]
    if len(numbers) != runs or not all(math.isfinite(w) and w >= 0 for w in numbers) or not any(numbers):
        raise OptionError(f"weights are {numbers!r}; give {runs} numbers, 0 or more and not all 0", code="bad-weights")
    return np.array(numbers)


def weight_grid(runs: int, steps: int) -> list[tuple[float, ...]]:
    """Equal weights, then those of `stepped_weights`; fewer steps where they would be too many."""
    while steps > 1 and math.comb(steps + runs - 1, runs - 1) > MOST_TRIED:
        steps -= 1
    return list(dict.fromkeys([(1 / runs,) * runs, *stepped_weights(runs, steps)]))


def stepped_weights(runs: int, steps: int) -> list[tuple[float, ...]]:
    """All weights in steps of 1 / steps that sum to 1."""
    weights = []
    for parts in _shares(steps, runs):
        weights.append(tuple(part / steps for part in parts))
    return weights


def steps_of(step: float) -> int:
    """How many steps of a size make 1."""
    if not (isinstance(step, int | float | np.number) and 0 < step <= 1):
        raise OptionError(f"step is {step!r}; it must be a number above 0 and at most 1")
    return round(1 / step)


def _shares(total: int, parts: int) -> list[tuple[int, ...]]:
    """All ways to share a total out, in the order of counting."""
    if parts == 1:
        return [(total,)]
    return [(first, *others) for first in range(total + 1) for others in _shares(total - first, parts - 1)]


WEIGHTS = Parameter(
    "weights", "one number per run, 0 or more", check_weights, default=lambda runs: np.ones(runs), tried=weight_grid
)


def number(
    name: str, about: str, low: float, high: float = math.inf, *, default: float | None, tried: Sequence[float]
) -> Parameter:
    """A parameter that is a number within limits."""

    def check(value: Any, runs: int) -> float:
        if not is_number(value) or not low <= value <= high:
            limits = f"from {low:g} to {high:g}"
            if high == math.inf:
                limits = f"{low:g} or more"
            hint = None
            if default is not None:
                hint = f"{default:g} is usual."
            message = f"{name} is {shown(value)}; it must be a number, {limits}"
            raise OptionError(message, hint=hint, code="bad-number")
        return float(value)

    return Parameter(name, about, check, default=_constant(default), tried=lambda runs, steps: tried)


def integer(name: str, about: str, low: int, *, default: int | None, tried: Sequence[int]) -> Parameter:
    """A parameter that is a whole number."""

    def check(value: Any, runs: int) -> int:
        is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not is_whole or value < low:
            raise OptionError(f"{name} is {shown(value)}; it must be a whole number, {low} or more", code="bad-number")
        return int(value)

    return Parameter(name, about, check, default=_constant(default), tried=lambda runs, steps: tried)


def _constant(default: float | None) -> Callable[[int], float] | None:
    """A default that is the same for any number of runs; None if there is none."""
    if default is None:
        return None
    return lambda runs: default


def per_run(name: str, about: str) -> Parameter:
    """A parameter that is learned: for each run a number or an array of numbers by position."""

    def check(values: Any, runs: int) -> list[np.ndarray]:
        try:
            arrays = [np.atleast_1d(np.asarray(table, np.float64)) for table in values]
        except (TypeError, ValueError, OverflowError):
            arrays = []
        if len(arrays) != runs or any(table.ndim != 1 or np.isnan(table).any() for table in arrays):
            raise OptionError(f"{name} must be {about}, for each of {runs} runs", code="bad-probabilities")
        return arrays

    return Parameter(name, about, check)


def values_at(tables: Sequence[np.ndarray], lists: RankedLists, position: np.ndarray, otherwise: float) -> np.ndarray:
    """For each entry, what its run's table has at a position from 0; `otherwise` where the table ends before."""
    size = np.array([len(table) for table in tables])
    first = np.concatenate(([0], np.cumsum(size)))[:-1]
    is_inside = position < size[lists.run]
    joined = np.concatenate([*tables, [otherwise]])
    values: np.ndarray = joined[np.where(is_inside, first[lists.run] + position, len(joined) - 1)]
    return values
