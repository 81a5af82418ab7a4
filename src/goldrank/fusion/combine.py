"""One run from several, and runs with normalised scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from goldrank import io
from goldrank.base.errors import InputError, of_type
from goldrank.base.keywords import named_arguments, unknown_argument, with_short_tracebacks
from goldrank.base.types import RunLike, RunsLike
from goldrank.data.run import Rankings, Run
from goldrank.fusion.lists import RankedLists, pieces
from goldrank.fusion.methods import Method
from goldrank.fusion.normalisations import Normalisation, normalised
from goldrank.fusion.options import Fusion, FusionMethod, FusionOptions, Normalization, as_fusion


@with_short_tracebacks
def fuse(
    runs: RunsLike,
    fusion: FusionMethod | Fusion = "rrf",
    *,
    name: str | None = None,
    **options: Unpack[FusionOptions],
) -> Run:
    """Fuse several runs into one.

    A document that a run did not return gets nothing from it, except for "wsum" with "z-score" (what the run's last
    document gets) and for Borda's and Bayes' methods, which define what it gets.

    Parameters
    ----------
    runs : Runs, mapping or list
        Two or more runs: `Runs`, runs by name, or a list of paths, runs, or (name, run).
    fusion : str or Fusion
        How: one of the methods of docs/fusion.md, or a `Fusion` with its options.
    name : str, optional
        What to call the fused run; by default as the method.
    **options
        Options of a method that is passed by name: the options of `Fusion`.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        If there are fewer than two runs, or one repeats a document: `run.drop_duplicates()` keeps one of each.
    OptionError
        If the method does not take an option; the message lists what it takes.

    Examples
    --------
    >>> fused = fuse({"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}})
    >>> fused.ranking("q")
    ['y', 'x', 'z']
    """
    unknown = next((option for option in options if option not in FusionOptions.__annotations__), None)
    if unknown in MEANT:
        raise unknown_argument("fuse", str(unknown), {"runs", "fusion", "name"})
    settings = as_fusion(fusion, options)
    if name is not None:
        of_type(name, str, "name", "text")
    opened_runs = several(runs)

    method, normalization = settings.declared, settings.normalization
    parameters = method.checked(settings.of_method(), len(opened_runs))
    results: dict[str, dict[str, float]] = {}
    for lists in pieces(opened_runs, ties=settings.ties, lowest_first=normalization.lowest_first):
        values = combined(prepared(lists, method, normalization, settings.equal), method, parameters)
        results.update(lists.fused(values))
    return Run(Rankings(results), name=name or method.name)


MEANT = ("method", "run", "norm", "params")
"""What other tools, and earlier versions, call arguments of `fuse`."""


@named_arguments
def normalize(
    run: RunLike, method: Normalization = "min-max", *, among: RunsLike | None = None, equal: float = 1.0
) -> Run:
    """Normalize each query's scores of a run.

    Parameters
    ----------
    run : run
        `Run`, a file, a data frame, a mapping or rows.
    method : {"min-max", "inverted", "max", "sum", "zmuv", "z-score", "rank", "borda", "none"}
        How: docs/fusion.md explains them. "rank" and "borda" order equal scores by document id.
    among : Runs, mapping or list, optional
        The runs whose documents are candidates for "borda", which gives every candidate a score; by default those of
        the run itself.
    equal : float
        What min-max gives to a list of equal scores.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        If scores cannot be normalized so: infinite ones, or none above 0 with "max".
    OptionError
        If there is no such method.

    Examples
    --------
    >>> dict(normalize({"q": {"x": 3.0, "y": 2.0, "z": 1.0}})["q"])
    {'x': 1.0, 'y': 0.5, 'z': 0.0}
    """
    other_runs: list[Run] = []
    if among is not None:
        other_runs = several(among)
    return normalized(io.as_run(run), Fusion("sum", normalization=method, equal=equal), other_runs)


def normalized(run: Run, fusion: Fusion, among: Sequence[Run] = ()) -> Run:
    """The run with scores as a fusion makes them comparable; the documents of all runs are candidates."""
    normalization = fusion.normalization
    results: dict[str, dict[str, float]] = {}
    for lists in pieces([run, *among], ties=fusion.ties, lowest_first=normalization.lowest_first, only=set(run)):
        results.update(normalised(lists, normalization, fusion.equal).of_run(0))
    return Run(Rankings(results), name=run.name)


def several(runs: RunsLike) -> list[Run]:
    """Two or more runs, or an error if there are fewer."""
    if isinstance(runs, list | tuple):
        runs = [_named(entry, number) for number, entry in enumerate(runs, 1)]
    opened = [run for _, run in io.as_runs(runs).items()]
    if len(opened) < 2:
        hint = 'Give {"bm25": run, "dense": other}, or a list of runs or paths.'
        raise InputError("fusion needs two or more runs", where="runs", hint=hint, code="too-few-runs")
    return opened


def _named(entry: Any, number: int) -> Any:
    """A run that has no name under its number: a fusion does not need more."""
    if isinstance(entry, Run) or not (isinstance(entry, Mapping) or io.is_frame(entry)):
        return entry
    return io.as_run(entry, name=f"run {number}")


def prepared(lists: RankedLists, method: Method, normalization: Normalisation, equal: float = 1.0) -> RankedLists:
    """The lists with the scores that a method takes."""
    if not method.reads_scores:
        return lists
    scaled = normalised(lists, normalization, equal)
    if scaled.absent is None or method.counts_absent:
        return scaled
    # An absent document gets nothing: what is in a list must then get more than that, not less.
    return replace(scaled, score=scaled.score - np.minimum(scaled.absent, 0)[scaled.list], absent=None)


def combined(lists: RankedLists, method: Method, parameters: Mapping[str, Any]) -> np.ndarray:
    """The value of each candidate."""
    return method.compute(lists, **parameters)


def stepped(low: float, high: float, step: float) -> list[float]:
    """Numbers from low to high in steps, each rounded to the digits of the step; whole ones if all three are."""
    count = round((high - low) / step) + 1
    if all(isinstance(number, int) for number in (low, high, step)):
        return [low + i * step for i in range(count) if low + i * step <= high]
    digits = len(f"{step:.12f}".rstrip("0").partition(".")[2])
    return [round(low + i * step, digits) for i in range(count)]
