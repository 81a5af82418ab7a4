"""What parameters are worth: tuned by cross-validation over queries, or searched on all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from goldrank import conventions, io
from goldrank.base.errors import OptionError, whole_number
from goldrank.base.escaping import shown
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import ConventionLike, MeasureLike, QrelsLike, RunsLike
from goldrank.conventions import Convention
from goldrank.data.qrels import Qrels
from goldrank.data.run import Rankings, Run
from goldrank.data.scores import Scores
from goldrank.data.showing import Result
from goldrank.data.table import Cells, Head, Part, Sentence, Table
from goldrank.evaluation import rankings as evaluation
from goldrank.fusion import methods
from goldrank.fusion.combine import combined, prepared, several
from goldrank.fusion.lists import TIES, RankedLists, pieces
from goldrank.fusion.methods import MOST_TRIED
from goldrank.fusion.options import Fusion, FusionMethod, as_fusion
from goldrank.fusion.training import TrainingEntries, hits


@dataclass(frozen=True, repr=False, eq=False)
class TunedFusion(Result):
    """A fused run whose parameters were tuned; each query's by the other queries only."""

    fusion: Fusion
    """What all queries together would choose: `fuse(other_runs, tuned.fusion)` fuses others with it."""
    run: Run
    """The judged queries, each fused by what the other folds chose."""
    measure: str
    value: float
    """The measure on held-out queries: what to expect from new ones."""
    optimistic: float
    """The measure with the parameters that all queries chose, on the same queries: too good to expect."""
    by_fold: tuple[Fusion, ...]
    """What was chosen without each fold, without what was learned: if these differ much, so would the next data set."""
    notes: tuple[Note, ...] = ()

    @property
    def words(self) -> str:
        """The result in a sentence."""
        chosen = f"{self.measure} {self.value:.4f} on held-out queries, {self.optimistic:.4f} on those that chose"
        return f"{self.fusion!r}: {chosen}."

    def parts(self) -> list[Part]:
        """The result in a sentence, and what was chosen without each fold."""
        rows: list[Cells] = [[str(row["fold"]), row["fusion"]] for row in self.rows()]
        chosen = Table([*Head.numbers("fold"), *Head.texts("chosen without it")], rows)
        return [Sentence(self.words, "strong"), chosen]

    def rows(self) -> list[dict[str, Any]]:
        """A row per fold, with what was chosen without it."""
        return [{"fold": fold, "fusion": repr(fusion)} for fold, fusion in enumerate(self.by_fold, 1)]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the fused run, as plain Python values."""
        return {
            "fusion": repr(self.fusion),
            "measure": self.measure,
            "value": self.value,
            "optimistic": self.optimistic,
            "by_fold": self.rows(),
            "notes": [note.to_dict() for note in self.notes],
        }


@named_arguments
def tune_fusion(
    qrels: QrelsLike,
    runs: RunsLike,
    measure: MeasureLike = "nDCG@10",
    fusion: FusionMethod | Fusion = "wsum",
    *,
    folds: int = 5,
    steps: int = 10,
    seed: int = 0,
    convention: ConventionLike = "trec_eval-10",
) -> TunedFusion:
    """Tune the parameters of a fusion by cross-validation over queries.

    All parameters of the method are tuned, or learned from the judged queries of the other folds, except for the
    options of a `Fusion`. Where there are more than 200 settings, 200 are drawn at random.

    Parameters
    ----------
    qrels : judgements
        `Qrels`, a file, a data frame, a mapping or rows.
    runs : Runs, mapping or list
        Two or more runs, as `fuse` takes them.
    measure : measure
        The measure that is made as good as possible.
    fusion : str or Fusion
        The method, or a `Fusion` whose options stay as they are.
    folds : int
        How many parts the queries are divided into; at most as many as there are judged queries.
    steps : int
        Weights are tried in steps of 1 / `steps` that sum to 1.
    seed : int
        Where the random numbers begin. The result is the same for the same seed.
    convention : str or Convention
        Whose rules the measure follows.

    Returns
    -------
    TunedFusion
        `.fusion` goes into `fuse`; `.value` is what to expect from new queries.

    Raises
    ------
    OptionError
        If the method has nothing to tune, or there are fewer judged queries than folds.
    InputError
        If something cannot be read, or there are fewer than two runs.

    Examples
    --------
    >>> qrels = {"q1": {"x": 1}, "q2": {"y": 1}}
    >>> runs = {"good": {"q1": ["x", "y"], "q2": ["y", "x"]}, "bad": {"q1": ["y", "x"], "q2": ["x", "y"]}}
    >>> tuned = tune_fusion(qrels, runs, "RR", folds=2, steps=4)
    >>> tuned.fusion, tuned.optimistic
    (Fusion('wsum', weights=(0.75, 0.25)), 1.0)
    """
    rules = conventions.get(convention)
    judged = io.as_qrels(qrels, judgements=rules.judgements)
    search = SettingSearch(judged, several(runs), as_fusion(fusion, {}), measure, rules)
    if len(judged) < whole_number(folds, "folds", 2):
        message = f"folds is {shown(folds)}; it must be at most the number of judged queries, {len(judged):,}"
        raise OptionError(message, code="bad-number")

    rng = np.random.default_rng(seed)
    settings = search.settings(steps, rng)
    queries = judged.arrays.queries
    fold = rng.permutation(len(queries)) % folds
    everything = search.tried(settings, search.all_queries)
    best = everything.best(search.all_queries)

    chosen: list[Fusion] = []
    results: dict[str, Mapping[str, float]] = {}
    held_out = np.full(len(queries), np.nan)
    for number in range(folds):
        other_folds = fold != number
        fitted = everything
        if search.method.learn:
            fitted = search.tried(settings, other_folds)
        choice = fitted.best(other_folds)
        chosen.append(search.fusion.with_parameters(settings[choice]))
        held_out[~other_folds] = fitted.values[choice][~other_folds]
        fused = fitted.runs[choice].results
        results |= {queries[i]: fused[queries[i]] for i in np.flatnonzero(~other_folds) if queries[i] in fused}

    ordered = {query: dict(results[query]) for query in queries if query in results}
    return TunedFusion(
        fusion=search.fusion.with_parameters(everything.parameters[best]),
        run=Run(Rankings(ordered), name=f"{search.method.name} tuned"),
        measure=everything.measure,
        value=float(np.nanmean(held_out)),
        optimistic=float(np.nanmean(everything.values[best])),
        by_fold=tuple(chosen),
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
        if not self.higher_is_better:
            means = -means
        return int(np.nanargmax(means))


class SettingSearch:
    """Tries settings of a method: rankings are made ready once, whatever is tried."""

    def __init__(
        self,
        qrels: Qrels,
        runs: Sequence[Run],
        fusion: Fusion,
        measure: MeasureLike,
        rules: Convention,
    ) -> None:
        self.qrels = qrels
        self.runs = runs
        self.method = fusion.declared
        self.measure = measure
        self.rules = rules
        if not (self.method.parameters or self.method.settings):
            raise _nothing_to_tune(self.method.name)

        ties: Any = fusion.options.get("ties", rules.ties)
        if ties not in TIES:
            ties = "docid"
        self.fusion = fusion
        """With the order of ties that it is tuned with, so that other runs are fused with the same order."""
        if ties != fusion.ties:
            self.fusion = Fusion(fusion.method, **{**fusion.options, "ties": ties})

        normalization = fusion.normalization
        self._lowest_first = normalization.lowest_first
        lists_of_queries = list(
            pieces(runs, ties=ties, lowest_first=normalization.lowest_first, only=set(qrels), size=1 << 62)
        )
        self._lists: RankedLists | None = None
        if lists_of_queries:
            self._lists = prepared(lists_of_queries[0], self.method, normalization, fusion.equal)

    def settings(self, steps: int, rng: np.random.Generator | None = None) -> list[dict[str, Any]]:
        """What there is to try: all combinations, or some at random if they are too many."""
        whole_number(steps, "steps", 1, 100)
        fixed = self.fusion.parameters
        for parameter in (*self.method.parameters, *self.method.settings):
            if parameter.name in fixed:
                parameter.check(fixed[parameter.name], len(self.runs))

        tuned = {parameter.name: parameter.tried for parameter in self.method.tuned if parameter.name not in fixed}
        grids = [list(tried(len(self.runs), steps)) for tried in tuned.values() if tried is not None]
        combinations = [{**dict(zip(tuned, values, strict=True)), **fixed} for values in product(*grids)]
        if len(combinations) <= MOST_TRIED or rng is None:
            return combinations
        chosen = 1 + rng.choice(len(combinations) - 1, MOST_TRIED - 1, replace=False)
        return [combinations[0], *(combinations[i] for i in np.sort(chosen).tolist())]

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
        learning_names = {setting_declared.name for setting_declared in self.method.settings}
        learning = {name: value for name, value in setting.items() if name in learning_names}
        parameters = {name: value for name, value in setting.items() if name not in learning_names}
        if self.method.learned is None or self.method.learned in parameters:
            return parameters
        return parameters | self.method.trained(self._evidence(learn_from), learning)

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
        for run in self.runs:
            if self._lowest_first:
                run = _reversed(run)
            rules = self.rules.with_policies(missing="zero", empty="zero")
            scores = evaluation.evaluate(self.qrels, run, "AP", convention=rules)
            of_query = dict(zip(scores.queries, next(iter(scores.columns.values())).values, strict=True))
            columns.append([of_query[query] for query in self._lists.queries])
        return np.array(columns).T


def _nothing_to_tune(method: str) -> OptionError:
    names = ", ".join(name for name, method_declared in methods.all_methods().items() if method_declared.parameters)
    message = f"fusion is {method!r}, which has nothing to tune"
    return OptionError(message, hint=f"These have: {names}.", code="nothing-to-tune")


def _reversed(run: Run) -> Run:
    """The run with the lowest score first."""
    results = {}
    for query, row in run.results.items():
        results[query] = {doc: -score for doc, score in row.items()}
    return Run(Rankings(results), name=run.name)


def best_run(scored: Mapping[str, Scores]) -> str:
    """The name of the run that is best by its first measure, whether more or less of it is better."""
    goodness = {}
    for name, scores in scored.items():
        column = next(iter(scores.columns.values()))
        goodness[name] = column.summary
        if not column.higher_is_better:
            goodness[name] = -column.summary
    return max(goodness, key=lambda name: goodness[name])
