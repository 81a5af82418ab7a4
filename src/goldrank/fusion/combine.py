"""One run from several, and runs with normalised scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from goldrank import io
from goldrank.data.run import Rankings, Run
from goldrank.errors import InputError
from goldrank.fusion import methods, normalisations
from goldrank.fusion.lists import RankedLists, pieces
from goldrank.fusion.methods import Method
from goldrank.fusion.normalisations import Normalisation, normalised
from goldrank.misuse import checked
from goldrank.types import RunLike, RunsLike


# `Any`: a parameter is a number, one number per run, or what `tune_fusion` learned; each method checks its own.
@checked
def fuse(
    runs: RunsLike,
    method: str = "rrf",
    *,
    weights: Sequence[float] | None = None,
    normalise: str = "min-max",
    k: float | None = None,
    name: str | None = None,
    ties: str = "docid",
    equal: float = 1.0,
    **parameters: Any,
) -> Run:
    """One run from several, by any of the methods of docs/fusion.md.

    `weights` are one per run and `k` is RRF's constant; other methods take other `parameters`: `gamma`, `sigma`, `phi`,
    or what `tune_fusion` learned for them. `normalise` is how scores are made comparable; methods that go by ranks do
    not look at them. A document that a run did not return gets nothing from it, but for 'wsum' with 'z-score' (what the
    run's last document gets) and for Borda's and Bayes' methods, which say what it gets. `ties` orders equal scores
    ('docid', 'docid-ascending', 'input'), and `equal` is what min-max gives to a list of equal scores.

    >>> fused = fuse({"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}})
    >>> fused.ranking("q")
    ['y', 'x', 'z']
    """
    chosen, how = methods.get(method), normalisations.get(normalise)
    given = several(runs)
    named = {"weights": weights, "k": k}
    values = chosen.checked(parameters | {key: value for key, value in named.items() if value is not None}, len(given))
    results: dict[str, dict[str, float]] = {}
    for lists in pieces(given, ties=ties, lowest_first=how.lowest_first):
        results.update(lists.fused(combined(prepared(lists, chosen, how, equal), chosen, values)))
    return Run(Rankings(results), name=name or method)


@checked
def normalize(
    run: RunLike, normalise: str = "min-max", *, among: RunsLike | None = None, ties: str = "docid", equal: float = 1.0
) -> Run:
    """The run with each query's scores normalised, by any of the normalisations of docs/fusion.md.

    `among` are the runs whose documents are candidates for 'borda', which gives every candidate a score; without it
    they are those of the run. `equal` is what min-max gives to a list of equal scores.

    >>> dict(normalize({"q": {"x": 3.0, "y": 2.0, "z": 1.0}})["q"])
    {'x': 1.0, 'y': 0.5, 'z': 0.0}
    """
    first = io.as_run(run)
    others = [] if among is None else several(among)
    results: dict[str, dict[str, float]] = {}
    for lists in _normalised_pieces([first, *others], normalisations.get(normalise), set(first), ties, equal):
        results.update(lists.of_run(0))
    return Run(Rankings(results), name=first.name)


def _normalised_pieces(
    runs: Sequence[Run], how: Normalisation, only: set[str], ties: str, equal: float
) -> Iterator[RankedLists]:
    for lists in pieces(runs, ties=ties, lowest_first=how.lowest_first, only=only):
        yield normalised(lists, how, equal)


def several(runs: RunsLike) -> list[Run]:
    """Two or more runs, or the error that says that they are not."""
    given = io.as_runs(runs)
    if given is None or len(given) < 2:
        what = "fusion needs two or more runs"
        raise InputError(what, hint='Give {"name": run, "other": run} or a list of paths.', code="too-few-runs")
    return given


def prepared(lists: RankedLists, method: Method, how: Normalisation, equal: float = 1.0) -> RankedLists:
    """The lists with the scores that a method takes."""
    if not method.reads_scores:
        return lists
    scaled = normalised(lists, how, equal)
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
