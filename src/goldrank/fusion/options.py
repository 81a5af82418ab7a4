"""How runs are fused: `Fusion`, a method with its options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, cast

import numpy as np

from goldrank.base.errors import OptionError, did_you_mean, one_of
from goldrank.fusion import methods, normalisations
from goldrank.fusion.lists import TIES
from goldrank.fusion.methods import Method, Parameter
from goldrank.fusion.normalisations import Normalisation

FusionMethod: TypeAlias = Literal[
    "sum",
    "mnz",
    "anz",
    "min",
    "max",
    "med",
    "gmnz",
    "wsum",
    "wmnz",
    "mixed",
    "rrf",
    "isr",
    "log_isr",
    "logn_isr",
    "rbc",
    "bordafuse",
    "w_bordafuse",
    "condorcet",
    "w_condorcet",
    "bayesfuse",
    "mapfuse",
    "posfuse",
    "slidefuse",
    "probfuse",
    "segfuse",
]
"""The methods of docs/fusion.md. Their other names, such as "combsum", are accepted too."""

Normalization: TypeAlias = Literal["min-max", "inverted", "max", "sum", "zmuv", "z-score", "rank", "borda", "none"]
"""How scores of different runs are made comparable."""

FusionTies: TypeAlias = Literal["docid", "docid-ascending", "input"]
"""How equal scores of a run are ordered."""

Learned: TypeAlias = Sequence[float] | Sequence[Sequence[float]] | Sequence[np.ndarray]
"""What a method learned of each run: a number, or numbers by position."""


class FusionOptions(TypedDict, total=False):
    """What every method takes, and then the parameters of all of them; each method takes its own."""

    normalization: Normalization
    ties: FusionTies
    equal: float
    weights: Sequence[float] | None
    k: float
    gamma: float
    sigma: float
    phi: float
    w: int
    n_segments: int
    log_odds: Learned
    map_scores: Learned
    probs: Learned


SHARED = ("normalization", "ties", "equal")
"""The options that every method takes."""

LONGEST_SHOWN = 60
"""Characters of an option's value in a `repr`."""


@dataclass(frozen=True, init=False, repr=False)
class Fusion:
    """How runs are fused: a method and its options.

    Objects never change, and are equal if method and options are. Options that are not passed have the method's
    defaults; `tune_fusion` tunes those, and leaves the others as they are.

    Parameters
    ----------
    method : str
        One of the methods of docs/fusion.md: "rrf", "sum", "mnz", "wsum" and others.
    **options
        `normalization` is how scores are made comparable ("min-max" by default), `ties` how equal scores of a run are
        ordered ("docid", "docid-ascending", "input"), and `equal` what min-max gives to a list of equal scores. The
        others are of the method: `weights`, one per run; `k` of "rrf"; `gamma`, `sigma`, `phi`, or what `tune_fusion`
        learned.

    Raises
    ------
    OptionError
        If there is no such method, or it does not take an option or its value; the message lists what it takes.

    Examples
    --------
    >>> from goldrank import Fusion
    >>> Fusion("rrf", k=60)
    Fusion('rrf', k=60)
    >>> Fusion("wsum", weights=[0.7, 0.3]).options
    {'weights': (0.7, 0.3)}
    """

    method: FusionMethod
    _options: tuple[tuple[str, Any], ...]
    """The options that were passed, by name."""

    def __init__(self, method: FusionMethod = "rrf", **options: Unpack[FusionOptions]) -> None:
        declared = methods.get(method)
        passed = {name: value for name, value in options.items() if not (name == "weights" and value is None)}
        checked = {name: _checked(declared, name, value) for name, value in passed.items()}
        object.__setattr__(self, "method", declared.name)
        object.__setattr__(self, "_options", tuple(sorted(checked.items())))

    @property
    def options(self) -> FusionOptions:
        """The options that were passed."""
        return cast(FusionOptions, dict(self._options))

    @property
    def declared(self) -> Method:
        """The declaration of the method."""
        return methods.get(self.method)

    @property
    def normalization(self) -> Normalisation:
        """How scores are made comparable."""
        return normalisations.get(self.options.get("normalization", "min-max"))

    @property
    def ties(self) -> FusionTies:
        """How equal scores of a run are ordered."""
        return self.options.get("ties", "docid")

    @property
    def equal(self) -> float:
        """What min-max gives to a list of equal scores."""
        return self.options.get("equal", 1.0)

    @property
    def parameters(self) -> dict[str, Any]:
        """The options that are parameters of the method or of its learning."""
        return {name: value for name, value in self._options if name not in SHARED}

    def of_method(self) -> dict[str, Any]:
        """The parameters without those of learning, which are not used after learning."""
        learning = {setting.name for setting in self.declared.settings}
        return {name: value for name, value in self.parameters.items() if name not in learning}

    def with_parameters(self, parameters: Mapping[str, Any]) -> Fusion:
        """This method with the same shared options and other parameters."""
        shared = {name: value for name, value in self._options if name in SHARED}
        return Fusion(self.method, **cast(FusionOptions, {**shared, **parameters}))

    def __repr__(self) -> str:
        options = "".join(f", {name}={_short(value)}" for name, value in self._options)
        return f"Fusion({self.method!r}{options})"


def as_fusion(fusion: FusionMethod | Fusion, options: Mapping[str, Any]) -> Fusion:
    """A fusion from what callers pass: a `Fusion`, or a method and its options."""
    if not isinstance(fusion, Fusion):
        return Fusion(fusion, **cast(FusionOptions, options))
    if options:
        listed = ", ".join(f"{name}=" for name in options)
        hint = f"Give it to the noun: Fusion({fusion.method!r}, {next(iter(options))}=...)."
        raise OptionError(
            f"a Fusion has its own options, and there is {listed} too", hint=hint, code="options-conflict"
        )
    return fusion


def _checked(method: Method, name: str, value: Any) -> Any:
    """An option's value as plain Python objects, or the error that says what the method takes."""
    if name == "normalization":
        return normalisations.get(value).name
    if name == "ties":
        return one_of(value, TIES, "ties")
    if name == "equal":
        return _EQUAL.check(value, 1)

    parameter_of = {parameter.name: parameter for parameter in (*method.parameters, *method.settings)}
    if name not in parameter_of:
        raise _not_taken(method, name, parameter_of)

    runs = 1
    if hasattr(value, "__len__"):  # as many as there are values; `fuse` knows how many are right
        runs = len(value)
    return _plain(parameter_of[name].check(value, runs))


_EQUAL = methods.number("equal", "what min-max gives to a list of equal scores", 0, 1, default=1.0, tried=())


def _not_taken(method: Method, name: str, parameter_of: Mapping[str, Parameter]) -> OptionError:
    accepted = [*parameter_of, *SHARED]
    hint = f"It takes {', '.join(accepted)}."
    suggestion = did_you_mean(name, accepted)
    if name == "weights":
        hint = f"{hint} Weighted sums are 'wsum'."
    elif suggestion is not None:
        hint = f"{suggestion} {hint}"
    return OptionError(f"{method.name} takes no {name}", hint=hint, code="unknown-option")


def _plain(value: Any) -> Any:
    """Arrays and lists as tuples, whole numbers as such, so that options are equal by content and never change."""
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    if isinstance(value, list):
        return tuple(map(_plain, value))
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _short(value: Any) -> str:
    text = repr(value)
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:LONGEST_SHOWN]}..."
