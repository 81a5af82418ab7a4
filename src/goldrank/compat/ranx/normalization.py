"""ranx's normalisations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from goldrank.compat.ranx.data_structures import Run, native_runs
from goldrank.fusion import combine, normalisations
from goldrank.fusion.options import Fusion


def normalize(run: Run, norm: str = "min-max") -> Run:
    """The run with normalised scores."""
    return Run(combine.normalized(run.native(), _fusion_options(norm)).source.results(), run.name)


def _fusion_options(norm: Any) -> Fusion:
    """Options as in ranx: equal scores keep their order, and get 0."""
    return Fusion("sum", normalization=norm, ties="input", equal=0.0)


def borda_norm(runs: Sequence[Run]) -> list[Run]:
    """The runs with Borda's scores; every run then has every document of the others."""
    native = native_runs(runs)
    return [
        Run(combine.normalized(native_run, _fusion_options("borda"), native).source.results(), run.name)
        for native_run, run in zip(native, runs, strict=True)
    ]


def norm_switch(method: str = "min-max") -> Callable[..., Any]:
    """The function of a normalisation."""
    known = normalisations.get(method).name
    if known == "borda":
        return borda_norm
    return lambda run: normalize(run, known)


def min_max_norm(run: Run, invert: bool = False) -> Run:
    """The run with its scores scaled to 0 to 1."""
    if invert:
        return normalize(run, "inverted")
    return normalize(run, "min-max")


max_norm, sum_norm, zmuv_norm, rank_norm = map(norm_switch, ("max", "sum", "zmuv", "rank"))
