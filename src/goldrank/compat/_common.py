"""What the guests share: measures by convention, cut-offs, and the limit that no value passes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from goldrank.conventions import Convention
from goldrank.data.placements import Placements
from goldrank.errors import OptionError
from goldrank.measures import REGISTRY, Measure, make, summarise
from goldrank.measures.options import COMMON


@cache
def measure(name: str, k: int | None, convention: Convention, more: tuple[tuple[str, Any], ...] = ()) -> Measure:
    """A measure with a convention's options."""
    return make(name, k, {**convention.options.get(name, {}), **dict(more)})


@cache
def _kernel(name: str, k: int | None, convention: Convention, more: tuple[tuple[str, Any], ...]) -> Any:
    """A measure ready to be called many times: its function with every option given."""
    one = measure(name, k, convention, more)
    given = {key: one.option(key) for key in one.declaration.defaults if key not in COMMON}
    if one.declaration.cutoff != "none":
        given["k"] = one.k
    return partial(one.declaration.kernel, **given)


def values(
    name: str, k: int | None, placements: Placements, convention: Convention, more: Mapping[str, Any] | None = None
) -> np.ndarray:
    """One value per query; none is above the measure's highest (a gain that repeated documents bring ends there)."""
    found: np.ndarray = _kernel(name, k, convention, tuple(more.items()) if more else ())(placements)
    bounded: np.ndarray = np.minimum(found, REGISTRY[name].high)
    return bounded


def mean(found: np.ndarray) -> float:
    """The mean over queries, as goldrank takes it."""
    return summarise(make("RR"), found)


def positive(k: Any, what: str = "k") -> int:
    """A cut-off, or the error that says why it is none."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise OptionError(f"{what} is {k!r}; it must be a positive integer", hint=f"For example {what}=10.")
    return int(k)


def sliced(placements: Placements, k: int) -> Placements:
    """What Python's `ranking[:k]` leaves of every ranking, for any k: the released codes cut so."""
    return placements.cut(np.maximum(placements.retrieved + k, 0) if k < 0 else k)
