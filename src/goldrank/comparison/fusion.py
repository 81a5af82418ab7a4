"""Would combining them help? Fused runs, with weights tuned by cross-validation over queries."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from goldrank import conventions, ids, io
from goldrank.conventions import Convention
from goldrank.data.run import Run
from goldrank.data.scores import Scores
from goldrank.errors import InputError, OptionError, one_of, whole_number
from goldrank.evaluation import documents as evaluation
from goldrank.measures import Measure
from goldrank.types import Policies, QrelsLike, RunsLike

METHODS = {
    "rrf": "reciprocal rank fusion: the sum of weight / (k + rank) (Cormack, Clarke and Buettcher 2009)",
    "combsum": "the sum of normalised scores (Fox and Shaw 1994)",
    "combmnz": "that sum times the number of runs that returned the document",
    "wsum": "the weighted sum of normalised scores",
}

NORMALISATIONS = {
    "min-max": "lowest score of the query 0, highest 1",
    "z-score": "mean 0, standard deviation 1; for combsum and combmnz with the lowest score of the query at 0",
    "rank": "first 1, last 1 / length",
}

Weights = tuple[float, ...]


def fuse(
    runs: RunsLike,
    method: str = "rrf",
    *,
    weights: Sequence[float] | None = None,
    normalise: str = "min-max",
    k: float = 60,
    name: str | None = None,
) -> Run:
    """One run from several.

    `weights` are one per run, for 'rrf' and 'wsum'; `k` is RRF's constant; `normalise` is for the others. A
    document that a run did not return gets nothing from it in 'rrf', 'combmnz' and 'combsum', and in 'wsum'
    what the run's last document of the query gets ('min-max', 'z-score') or 0 ('rank'). In 'combsum' and 'combmnz'
    scores are 0 or more, so that being returned by one run more is never a loss.

    >>> fused = fuse({"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}})
    >>> fused.ranking("q")
    ['y', 'x', 'z']
    """
    given = _runs(runs)
    return _fuse(_prepare(given, method, normalise), method, _weights(weights, len(given), method), k, name)


@dataclass(frozen=True)
class Tuned:
    """A fused run whose weights were tuned; each query's by the other queries only."""

    run: Run
    weights: Weights
    """What all queries together would choose."""
    by_fold: tuple[Weights, ...]
    """What was chosen without each fold: if these differ much, so would the next data set."""
    measure: str
    value: float
    """The measure on held-out queries: what to expect from new ones."""
    optimistic: float
    """The measure with the weights that all queries chose, on the same queries: too good to expect."""


def tune_fusion(
    qrels: QrelsLike,
    runs: RunsLike,
    measure: str | Measure = "nDCG@10",
    method: str = "wsum",
    *,
    normalise: str = "min-max",
    k: float = 60,
    folds: int = 5,
    steps: int = 10,
    seed: int = 0,
    name: str | None = None,
    convention: str | Convention = conventions.DEFAULT,
    **policies: Unpack[Policies],
) -> Tuned:
    """Weights for 'rrf' or 'wsum' by cross-validation over queries.

    Weights are tried in steps of 1 / `steps` that sum to 1 (or 200 random ones if that would be more).
    """
    one_of(method, ("rrf", "wsum"), "method")
    rules = conventions.get(convention).having(**policies)
    given = _runs(runs)
    judgements = io.as_qrels(qrels, judgements=rules.judgements)
    if len(judgements) < whole_number(folds, "folds", 2):
        raise OptionError(f"folds is {folds}; it must be at most the number of judged queries, {len(judgements):,}")
    rng = np.random.default_rng(seed)
    candidates = _candidates(len(given), steps, rng)
    prepared = _prepare(given, method, normalise, set(judgements))
    fused = [_fuse(prepared, method, weights, k, None) for weights in candidates]
    scored = [evaluation.evaluate(judgements, run, measure, convention=rules) for run in fused]
    queries, spelled = scored[0].queries, scored[0].measures[0]
    values = np.array([scores.columns[spelled].values for scores in scored])
    gain = values if scored[0].columns[spelled].higher_is_better else -values
    fold = rng.permutation(len(queries)) % folds
    chosen = [int(np.nanmean(gain[:, fold != i], axis=1).argmax()) for i in range(folds)]
    best = int(np.nanmean(gain, axis=1).argmax())
    results = {query: fused[chosen[fold[i]]][query] for i, query in enumerate(queries) if query in fused[best].results}
    held_out = values[np.array(chosen)[fold], np.arange(len(queries))]
    return Tuned(
        run=Run(results, name=name or f"{method} tuned"),
        weights=candidates[best],
        by_fold=tuple(candidates[i] for i in chosen),
        measure=spelled,
        value=float(np.nanmean(held_out)),
        optimistic=float(np.nanmean(values[best])),
    )


def best_run(scored: Mapping[str, Scores]) -> str:
    """The name of the run that is best by its first measure, whether more or less of it is better."""
    columns = {name: next(iter(scores.columns.values())) for name, scores in scored.items()}
    return max(columns, key=lambda name: columns[name].summary * (1 if columns[name].higher_is_better else -1))


def _runs(runs: RunsLike) -> list[Run]:
    given = io.as_runs(runs)
    if given is None or len(given) < 2:
        raise InputError("fusion needs two or more runs", hint='Give {"name": run, "other": run} or a list of paths.')
    return given


def _weights(weights: Sequence[float] | None, count: int, method: str) -> Weights:
    if weights is None:
        return (1.0,) * count
    if method in ("combsum", "combmnz"):
        raise OptionError(f"{method} takes no weights", hint="Use method='wsum' for weighted sums.")
    numbers = tuple(float(weight) for weight in weights)
    if len(numbers) != count or not all(math.isfinite(w) and w >= 0 for w in numbers) or not any(numbers):
        raise OptionError(f"weights are {list(weights)!r}; give {count} numbers, 0 or more and not all 0")
    return numbers


def _candidates(count: int, steps: int, rng: np.random.Generator) -> list[Weights]:
    whole_number(steps, "steps", 1, 100)
    even = (1 / count,) * count
    if math.comb(steps + count - 1, count - 1) > 200:
        drawn = rng.dirichlet(np.ones(count), 200 - count)
        corners = [tuple(float(i == j) for j in range(count)) for i in range(count)]
        return [even, *corners, *(tuple(row) for row in drawn.tolist())]
    grid = [
        tuple(part / steps for part in parts)
        for parts in itertools.product(range(steps + 1), repeat=count)
        if sum(parts) == steps
    ]
    return list(dict.fromkeys([even, *grid]))


# Per query the documents of each run with their normalised scores, and what an absent document gets.
_Prepared = dict[str, list[tuple[Mapping[str, float], float]]]


def _prepare(runs: Sequence[Run], method: str, normalise: str, only: set[str] | None = None) -> _Prepared:
    one_of(method, METHODS, "method")
    one_of(normalise, NORMALISATIONS, "normalise")
    queries = dict.fromkeys(query for run in runs for query in run if only is None or query in only)
    prepared: _Prepared = {}
    for query in queries:
        prepared[query] = []
        for run in runs:
            row = run.results.get(query)
            if not row:
                prepared[query].append(({}, 0.0))
            elif method == "rrf":
                prepared[query].append(({doc: float(i) for i, doc in enumerate(run.ranking(query), 1)}, math.inf))
            else:
                scores, absent = _normalised(run, query, row, normalise)
                if method != "wsum" and absent < 0:
                    scores, absent = {doc: score - absent for doc, score in scores.items()}, 0.0
                prepared[query].append((scores, absent))
    return prepared


def _normalised(run: Run, query: str, row: Mapping[str, float], how: str) -> tuple[Mapping[str, float], float]:
    if how == "rank":
        ranking = run.ranking(query)
        return {doc: 1 - i / len(ranking) for i, doc in enumerate(ranking)}, 0.0
    scores = np.fromiter(row.values(), np.float64, len(row))
    if not np.isfinite(scores).all():
        raise InputError(
            f"query '{ids.show(query)}' has scores that are not finite, which cannot be normalised",
            where=run.name,
            hint="Use method='rrf' or normalise='rank', which need ranks only.",
        )
    is_z = how == "z-score"
    zero, unit = (scores.mean(), scores.std()) if is_z else (scores.min(), np.ptp(scores))
    scaled = (scores - zero) / unit if unit > 0 else np.full(len(scores), 0.0 if is_z else 1.0)
    return dict(zip(row, scaled.tolist(), strict=True)), float(scaled.min()) if is_z else 0.0


def _fuse(prepared: _Prepared, method: str, weights: Weights, k: float, name: str | None) -> Run:
    if not (isinstance(k, int | float) and math.isfinite(k) and k >= 0):
        raise OptionError(f"k is {k!r}; it must be a number, 0 or more", hint="60 is usual.")
    results: dict[str, dict[str, float]] = {}
    for query, lists in prepared.items():
        total = dict.fromkeys((doc for scores, _ in lists for doc in scores), 0.0)
        for (scores, absent), weight in zip(lists, weights, strict=True):
            if method == "wsum":
                for doc in total:
                    total[doc] += weight * scores.get(doc, absent)
            else:
                for doc, score in scores.items():
                    total[doc] += weight / (k + score) if method == "rrf" else score
        if method == "combmnz":
            times = Counter(doc for scores, _ in lists for doc in scores)
            total = {doc: score * times[doc] for doc, score in total.items()}
        results[query] = total
    return Run(results, name=name or method)
