"""ranx's normalisations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from goldrank.compat.ranx.data_structures import Run, native_runs
from goldrank.fusion import combine, normalisations


def normalize(run: Run, norm: str = "min-max") -> Run:
    """The run with normalised scores."""
    return Run(combine.normalize(run.native(), norm, ties="input", equal=0.0).source.results(), run.name)


def borda_norm(runs: Sequence[Run]) -> list[Run]:
    """The runs with Borda's scores; every run then has every document of the others."""
    native = native_runs(runs)
    return [
        Run(combine.normalize(each, "borda", among=[*native, each], ties="input").source.results(), run.name)
        for each, run in zip(native, runs, strict=True)
    ]


def norm_switch(method: str = "min-max") -> Callable[..., Any]:
    """The function of a normalisation."""
    known = normalisations.get(method).name
    return borda_norm if known == "borda" else lambda run: normalize(run, known)


def min_max_norm(run: Run, invert: bool = False) -> Run:
    """The run with its scores brought into 0 to 1."""
    return normalize(run, "inverted" if invert else "min-max")


max_norm, sum_norm, zmuv_norm, rank_norm = map(norm_switch, ("max", "sum", "zmuv", "rank"))
