"""ranx's `fuse` and `optimize_fusion`, and its functions for each method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from goldrank.base.errors import OptionError
from goldrank.compat.ranx import metrics as named
from goldrank.compat.ranx.data_structures import Qrels, QueryMismatchError, Run, native_runs
from goldrank.compat.ranx.evaluating import RULES
from goldrank.fusion import combine
from goldrank.fusion.learned import learn_log_odds
from goldrank.fusion.methods import all_methods, stepped_weights, steps_of
from goldrank.fusion.methods import get as get_method
from goldrank.fusion.options import Fusion
from goldrank.fusion.training import TrainingEntries
from goldrank.fusion.tuning import SettingSearch

NAMES = {
    **{name: f"comb_{name}" for name in ("anz", "gmnz", "max", "med", "min", "mnz", "sum")},
    "wsum": "weighted_sum", "w_bordafuse": "weighted_bordafuse", "w_condorcet": "weighted_condorcet",
}  # fmt: skip
"""The names of fused runs in ranx, where they are not the name of the method."""

_POSITIONAL = {"rrf": ("k",)}


def fuse(
    runs: Sequence[Run], norm: str | None = "min-max", method: str = "wsum", params: Mapping[str, Any] | None = None
) -> Run:
    """One run from several."""
    _check(runs)
    options = dict(params or {})
    name = options.pop("name", None)
    return _fused(runs, norm, method, options, name)


def _fused(runs: Sequence[Run], norm: str | None, method: str, params: Mapping[str, Any], name: str | None) -> Run:
    known: Any = get_method(method).name
    options: Any = {"normalization": norm or "none", "ties": "input", "equal": 0.0}  # ranx gives 0 to equal scores
    fused = combine.fuse(native_runs(runs), Fusion(known, **options, **params))
    return Run(fused.source.results(), name or NAMES.get(known, known))


class OptimizationReport:
    """The value of each setting of a method."""

    def __init__(self, method: str, configs: list[str], results: list[float], metric: str) -> None:
        self.method = method
        self.configs = configs
        self.results = results
        self.metric = metric

    def __repr__(self) -> str:
        lines = (f"{config}  {value:.3f}" for config, value in zip(self.configs, self.results, strict=True))
        return "\n".join((f"{self.method}: {self.metric}", *lines))


def optimize_fusion(
    qrels: Qrels,
    runs: Sequence[Run],
    norm: str | None = "min-max",
    method: str = "wsum",
    metric: str = "ndcg",
    return_optimization_report: bool = False,
    rounding_digits: int = 3,
    show_percentages: bool = False,
    show_progress: bool = False,
    **ranges: Any,
) -> Any:
    """The best parameters of a method on these queries; the last of equally good ones, as in ranx.

    For what to expect of new queries see `goldrank.tune_fusion`, which chooses by other queries than it scores.
    """
    _check(runs)
    for run in runs:
        if run.keys() != qrels.keys():
            raise QueryMismatchError(f"run {run.name!r} and qrels do not have the same queries")

    judged = qrels.native()
    measure = named.measure_of(metric, named.highest(judged))
    known: Any = get_method(method).name
    options: Any = {"normalization": norm or "none", "equal": 0.0}
    search = SettingSearch(judged, native_runs(runs), Fusion(known, **options), measure, RULES)

    settings = _settings(method, len(runs), ranges)
    tried = search.tried(settings, search.all_queries)
    means = tried.means
    best = max(range(len(means)), key=lambda i: (means[i], i))
    chosen = {name: value for name, value in tried.parameters[best].items() if name != "n_segments"}
    if not return_optimization_report:
        return chosen
    if not any(settings):
        raise OptionError(f"{method} has nothing that is tried, so that there is no report")

    configs = [str(next(iter(setting.values()))) for setting in settings]
    return chosen, OptimizationReport(method, configs, list(means), metric)


def _settings(method: str, runs: int, ranges: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The settings that ranx tries, and all weights that sum to 1; ranx loses some of these by rounding."""
    steps = dict(ranges)
    known = get_method(method).name
    grids: dict[str, tuple[str, float, float, float]] = {
        "rrf": ("k", 10, 100, 10), "gmnz": ("gamma", 0.01, 1.0, 0.01), "logn_isr": ("sigma", 0.01, 1.0, 0.01),
        "rbc": ("phi", 0.01, 1.0, 0.01), "slidefuse": ("w", 1, 100, 1), "probfuse": ("n_segments", 1, 100, 1),
    }  # fmt: skip
    if known in grids:
        name, low, high, step = grids[known]
        low, high = steps.pop(f"min_{name}", low), steps.pop(f"max_{name}", high)
        step = steps.pop("step", step)
        _refuse_unknown(known, steps)
        return [{name: value} for value in combine.stepped(low, high, step)]

    if any(parameter.name == "weights" for parameter in get_method(method).parameters):
        step = steps.pop("step", 0.1)
        _refuse_unknown(known, steps)
        return [{"weights": weights} for weights in stepped_weights(runs, steps_of(step))]

    _refuse_unknown(known, steps)
    return [{}]


def _refuse_unknown(method: str, left: Mapping[str, Any]) -> None:
    if left:
        raise OptionError(f"{method} has no option {next(iter(left))!r} to optimise with")


def _check(runs: Sequence[Run]) -> None:
    if len(runs) < 2:
        raise QueryMismatchError("only one run was given")
    for number, run in enumerate(runs[1:], 1):
        if run.keys() != runs[0].keys():
            raise QueryMismatchError(f"runs 0 and {number} do not have the same queries", code="different-queries")


def _function(method: str) -> Callable[..., Run]:
    known = all_methods()[method]
    names = _POSITIONAL.get(method, tuple(parameter.name for parameter in known.parameters))

    def call(runs: Sequence[Run], *values: Any, name: str | None = None, **params: Any) -> Run:
        return _fused(runs, None, method, dict(zip(names, values, strict=False)) | params, name)

    call.__doc__ = f"{known.about[0].upper()}{known.about[1:]}."
    return call


def _trainer(method: str) -> Callable[..., Any]:
    known = all_methods()[method]

    def call(qrels: Qrels, runs: Sequence[Run], *values: Any) -> Any:
        settings = dict(zip((setting.name for setting in known.settings), values, strict=False))
        name: Any = known.name
        search = SettingSearch(qrels.native(), native_runs(runs), Fusion(name, normalization="none"), "nDCG", RULES)
        return known.trained(search.evidence(), settings)[str(known.learned)]

    call.__doc__ = f"The parameters that {method} learns from judged queries."
    return call


def get_candidates(runs: Sequence[Mapping[str, Mapping[str, float]]]) -> list[list[str]]:
    """For each query, every document that some run returned."""
    return [list(dict.fromkeys(chain.from_iterable(run[query] for run in runs))) for query in runs[0]]


def get_results(runs: Sequence[Mapping[str, Mapping[str, float]]]) -> list[list[list[str]]]:
    """For each query, the documents of each run in their order."""
    return [[list(run[query]) for run in runs] for query in runs[0]]


def _estimate_log_odds(hit_lists: Sequence[Sequence[float]], cut_offs: Sequence[int]) -> Any:
    """The log odds that bayesfuse learns for one run: from 0s and 1s of each query's list, by intervals of ranks."""
    return learn_log_odds(TrainingEntries.of_hits([hit_lists]), tuple(cut_offs))[0]


comb_anz, comb_gmnz, comb_max, comb_med = map(_function, ("anz", "gmnz", "max", "med"))
comb_min, comb_mnz, comb_sum, condorcet = map(_function, ("min", "mnz", "sum", "condorcet"))
bayesfuse, bordafuse, isr, log_isr, logn_isr = map(_function, ("bayesfuse", "bordafuse", "isr", "log_isr", "logn_isr"))
mapfuse, mixed, posfuse, probfuse, rbc = map(_function, ("mapfuse", "mixed", "posfuse", "probfuse", "rbc"))
rrf, segfuse, slidefuse, wmnz, wsum = map(_function, ("rrf", "segfuse", "slidefuse", "wmnz", "wsum"))
weighted_bordafuse, weighted_condorcet = map(_function, ("w_bordafuse", "w_condorcet"))
bayesfuse_train, mapfuse_train, posfuse_train = map(_trainer, ("bayesfuse", "mapfuse", "posfuse"))
probfuse_train, segfuse_train, slidefuse_train = map(_trainer, ("probfuse", "segfuse", "slidefuse"))
