"""What parameters are worth: tuned by cross-validation over queries, or searched on all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Unpack

import numpy as np

from goldrank import conventions, io
from goldrank.conventions import Convention
from goldrank.data.qrels import Qrels
from goldrank.data.run import Rankings, Run
from goldrank.data.scores import Scores
from goldrank.errors import OptionError, whole_number
from goldrank.evaluation import documents as evaluation
from goldrank.fusion import methods, normalisations
from goldrank.fusion.combine import combined, prepared, several
from goldrank.fusion.lists import TIES, pieces
from goldrank.fusion.methods import MOST_TRIED
from goldrank.fusion.training import TrainingEntries, hits
from goldrank.measures import Measure
from goldrank.misuse import checked
from goldrank.types import ConventionLike, Policies, QrelsLike, RunsLike


@dataclass(frozen=True)
class Tuned:
    """A fused run whose parameters were tuned; each query's by the other queries only."""

    run: Run
    parameters: Mapping[str, Any]
    """What all queries together would choose: `fuse(runs, method, **tuned.parameters)` fuses others with it."""
    by_fold: tuple[Mapping[str, Any], ...]
    """What was chosen without each fold, but for what was learned: if these differ much, so would the next data set."""
    measure: str
    value: float
    """The measure on held-out queries: what to expect from new ones."""
    optimistic: float
    """The measure with the parameters that all queries chose, on the same queries: too good to expect."""

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights that all queries together would choose, one per run; equal ones if the method takes none."""
        given = self.parameters.get("weights")
        return tuple(given) if given is not None else ()


@checked
def tune_fusion(
    qrels: QrelsLike,
    runs: RunsLike,
    measure: str | Measure = "nDCG@10",
    method: str = "wsum",
    *,
    normalise: str = "min-max",
    k: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    folds: int = 5,
    steps: int = 10,
    seed: int = 0,
    name: str | None = None,
    convention: ConventionLike = "trec_eval-10",
    **policies: Unpack[Policies],
) -> Tuned:
    """The parameters of a fusion method by cross-validation over queries.

    Everything that the method takes is tuned, or learned from the judged queries of the other folds, but for what is
    given with `parameters` or `k`. Weights are tried in steps of 1 / `steps` that sum to 1. Where there are more
    than 200 settings, 200 are drawn at random.
    """
    rules = conventions.get(convention).with_policies(**policies)
    fixed = dict(parameters or {}) | ({} if k is None else {"k": k})
    search = SettingSearch(
        io.as_qrels(qrels, judgements=rules.judgements), several(runs), method, measure, normalise=normalise,
        rules=rules,
    )  # fmt: skip
    if len(search.qrels) < whole_number(folds, "folds", 2):
        what = f"folds is {folds}; it must be at most the number of judged queries, {len(search.qrels):,}"
        raise OptionError(what, code="bad-number")
    rng = np.random.default_rng(seed)
    settings = search.settings(fixed, steps, rng)
    queries = search.qrels.arrays.queries
    fold = rng.permutation(len(queries)) % folds
    everything = search.tried(settings, np.ones(len(queries), bool))
    best = everything.best(np.ones(len(queries), bool))
    chosen: list[Mapping[str, Any]] = []
    results: dict[str, Mapping[str, float]] = {}
    held_out = np.full(len(queries), np.nan)
    for i in range(folds):
        others = fold != i
        fitted = search.tried(settings, others) if search.method.learn else everything
        choice = fitted.best(others)
        chosen.append(settings[choice])
        held_out[~others] = fitted.values[choice][~others]
        fused = fitted.runs[choice].results
        results |= {queries[j]: fused[queries[j]] for j in np.flatnonzero(~others) if queries[j] in fused}
    ordered = {query: results[query] for query in queries if query in results}
    return Tuned(
        run=Run(Rankings(ordered), name=name or f"{method} tuned"),
        parameters=everything.parameters[best],
        by_fold=tuple(chosen),
        measure=everything.measure,
        value=float(np.nanmean(held_out)),
        optimistic=float(np.nanmean(everything.values[best])),
    )


@dataclass(frozen=True)
class Tried:
    """Fused runs with several settings, and what they are worth."""

    parameters: Sequence[Mapping[str, Any]]
    runs: Sequence[Run]
    measure: str
    values: np.ndarray
    """By setting and judged query; NaN for a query that does not count."""
    higher_is_better: bool

    @property
    def means(self) -> list[float]:
        """The mean over queries of each setting."""
        return [float(mean) for mean in np.nanmean(self.values, axis=1)]

    def best(self, counted: np.ndarray) -> int:
        """The first of the best settings by the mean over some queries."""
        means = np.nanmean(self.values[:, counted], axis=1)
        return int(np.nanargmax(means if self.higher_is_better else -means))


class SettingSearch:
    """Tries settings of a method: rankings are made ready once, whatever is tried."""

    def __init__(
        self,
        qrels: Qrels,
        runs: Sequence[Run],
        method: str,
        measure: str | Measure,
        *,
        normalise: str = "min-max",
        rules: Convention | None = None,
        equal: float = 1.0,
    ) -> None:
        self.qrels = qrels
        self.runs = runs
        self.method = methods.get(method)
        self.measure = measure
        self.rules = rules or Convention()
        if not (self.method.parameters or self.method.settings):
            known = ", ".join(name for name, each in methods.all_methods().items() if each.parameters)
            what = f"method is {method!r}, which has nothing to tune"
            raise OptionError(what, hint=f"These have: {known}.", code="nothing-to-tune")
        how = normalisations.get(normalise)
        self._lowest_first = how.lowest_first
        ties = self.rules.ties if self.rules.ties in TIES else "docid"
        made = list(pieces(runs, ties=ties, lowest_first=how.lowest_first, only=set(qrels), size=1 << 62))
        self._lists = prepared(made[0], self.method, how, equal) if made else None

    def settings(
        self, fixed: Mapping[str, Any], steps: int, rng: np.random.Generator | None = None
    ) -> list[dict[str, Any]]:
        """What there is to try: all combinations, or some at random if they are too many."""
        whole_number(steps, "steps", 1, 100)
        known = {each.name: each for each in (*self.method.parameters, *self.method.settings)}
        for name, value in fixed.items():
            if name not in known:
                raise OptionError(f"{self.method.name} takes no {name}", hint=f"It takes {', '.join(known)}.")
            known[name].check(value, len(self.runs))
        tuned = {each.name: each.tried for each in self.method.tuned if each.name not in fixed}
        grids = [list(tried(len(self.runs), steps)) for tried in tuned.values() if tried is not None]
        every = [{**dict(zip(tuned, values, strict=True)), **fixed} for values in product(*grids)]
        if len(every) <= MOST_TRIED or rng is None:
            return every
        drawn = 1 + rng.choice(len(every) - 1, MOST_TRIED - 1, replace=False)
        return [every[0], *(every[i] for i in np.sort(drawn).tolist())]

    def tried(self, settings: Iterable[Mapping[str, Any]], learn_from: np.ndarray) -> Tried:
        """Every setting's fused run and values; what is learned is learned from some of the judged queries."""
        parameters, fused, values, spelled, higher = [], [], [], "", True
        row = {query: i for i, query in enumerate(self.qrels.arrays.queries)}
        for setting in settings:
            complete = self._complete(setting, learn_from)
            run = self._fused(complete)
            scores = evaluation.evaluate(self.qrels, run, self.measure, convention=self.rules)
            spelled = scores.measures[0]
            column = np.full(len(row), np.nan)
            column[[row[query] for query in scores.queries]] = scores.columns[spelled].values
            higher = scores.columns[spelled].higher_is_better
            parameters.append(complete)
            fused.append(run)
            values.append(column)
        return Tried(parameters, fused, spelled, np.array(values), higher)

    def _complete(self, setting: Mapping[str, Any], learn_from: np.ndarray) -> dict[str, Any]:
        """A setting with what the method learns."""
        own = {each.name for each in self.method.settings}
        learning = {name: value for name, value in setting.items() if name in own}
        given = {name: value for name, value in setting.items() if name not in own}
        if self.method.learned is None or self.method.learned in given:
            return given
        return given | self.method.trained(self._evidence(learn_from), learning)

    def _fused(self, parameters: Mapping[str, Any]) -> Run:
        checked = self.method.checked(parameters, len(self.runs))
        if self._lists is None:
            return Run(Rankings({}), name=self.method.name)
        results = dict(self._lists.fused(combined(self._lists, self.method, checked)))
        return Run(Rankings(results), name=self.method.name)

    @property
    def all_queries(self) -> np.ndarray:
        """All judged queries, to learn from."""
        return np.ones(len(self.qrels), bool)

    def evidence(self) -> TrainingEntries:
        """What all judged queries show of the runs."""
        return self._evidence(self.all_queries)

    def _evidence(self, learn_from: np.ndarray) -> TrainingEntries:
        assert self._lists is not None
        row = {query: i for i, query in enumerate(self.qrels.arrays.queries)}
        chosen = learn_from[[row[query] for query in self._lists.queries]]
        return TrainingEntries.of(self._lists, self._hits, self._precision, chosen)

    @cached_property
    def _hits(self) -> np.ndarray:
        assert self._lists is not None
        return hits(self._lists, self.qrels)

    @cached_property
    def _precision(self) -> np.ndarray:
        """Average precision by query of the lists and run."""
        assert self._lists is not None
        columns = []
        for run in map(_reversed, self.runs) if self._lowest_first else self.runs:
            scores = evaluation.evaluate(self.qrels, run, "AP", convention=self.rules, missing="zero", empty="zero")
            of_query = dict(zip(scores.queries, next(iter(scores.columns.values())).values, strict=True))
            columns.append([of_query[query] for query in self._lists.queries])
        return np.array(columns).T


def _reversed(run: Run) -> Run:
    """The run with the lowest score first."""
    turned = {query: {doc: -score for doc, score in row.items()} for query, row in run.results.items()}
    return Run(Rankings(turned), name=run.name)


def best_run(scored: Mapping[str, Scores]) -> str:
    """The name of the run that is best by its first measure, whether more or less of it is better."""
    columns = {name: next(iter(scores.columns.values())) for name, scores in scored.items()}
    return max(columns, key=lambda name: columns[name].summary * (1 if columns[name].higher_is_better else -1))
