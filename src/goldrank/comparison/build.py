"""How a `Comparison` is made: score, align by query id, resample once, read off every pair."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from goldrank import conventions, ids, io
from goldrank.comparison import correction, paired, power, slices
from goldrank.comparison.result import Comparison, Evidence, Pair, Settings, Summary
from goldrank.conventions import Convention
from goldrank.data.scores import Column, Scores
from goldrank.errors import InputError, MismatchError, did_you_mean, one_of
from goldrank.evaluation import documents as evaluation
from goldrank.measures import Measure, make, parse, parse_all

CURVE_CUTOFFS = (1, 2, 3, 5, 10, 20, 50, 100)
MOST_FLIPS = 100_000
RECALL_LEVELS = tuple(i / 10 for i in range(11))

ALIGN = {
    "common": "only queries that all systems have scores for are compared; the counts are shown",
    "error": "different sets of queries are an error",
}


def compare(
    qrels: Any,
    runs: Any,
    measures: evaluation.Measures = None,
    *,
    baseline: str | None = None,
    seed: int = 0,
    slice_by: Mapping[str, Any] | None = None,
    queries: Any = None,
    convention: str | Convention = conventions.DEFAULT,
    format: str | None = None,
    align: str = "common",
    curves: bool = True,
    test: str = "randomization",
    correct: str = "holm",
    interval: str = "percentile",
    alpha: float = 0.05,
    power: float = 0.8,
    margin: float | None = None,
    samples: int = 10_000,
    max_memory: str | int | None = None,
    **policies: Any,
) -> Comparison:
    """Compare systems on the same queries.

    `runs` is a mapping from names to runs, or a list of paths. With a `baseline` every other system is
    compared with it, else every pair. `slice_by` names attributes of queries: for each a dict, a function of
    the query id, or None for one of the automatic ones; `queries` gives the texts of the queries, by id.
    Policies and `max_memory` are those of `evaluate`. The result is the same for the same `seed`.

    >>> qrels = {f"q{i}": {"d": 1} for i in range(4)}
    >>> runs = {"a": {q: ["x", "d"] for q in qrels}, "b": {q: ["d", "x"] for q in qrels}}
    >>> compare(qrels, runs, "RR")["RR", "a", "b"].words
    'No clear difference between b and a: +0.5000 RR (95% interval +0.5000 to +0.5000); better on 4, worse on 0,
    equal on 0 of 4 queries (p = 0.125).'
    """
    settings = Settings(test, correct, interval, alpha, power, margin, samples, seed)
    rules = conventions.get(convention).having(**policies)
    if max_memory is not None:
        evaluation.check_files(max_memory, qrels, runs)
    judgements = io.as_qrels(qrels, judgements=rules.judgements)
    given = io.as_runs(runs, format=format, duplicates=rules.duplicates)
    if given is None:
        raise InputError(
            "a comparison needs several runs", hint='Give {"name": run, "other": run} or a list of two or more paths.'
        )
    wanted = parse_all(measures)
    named = {run.name: run for run in given}
    scored = evaluation.evaluate(judgements, named, wanted, convention=rules, max_memory=max_memory)
    drawn: list[Scores] = []
    if curves:
        # Curves show values, no bounds or expectations, which not every measure has.
        plain = rules.having(ties="docid" if rules.ties in ("expected", "bounds") else None, bounds="none")
        found = evaluation.evaluate(judgements, named, _curve_measures(wanted), convention=plain, max_memory=max_memory)
        drawn = [found[run.name] for run in given]
    return _compare(
        [scored[run.name] for run in given],
        None,
        settings,
        baseline=baseline,
        align=align,
        slice_by=slice_by,
        texts=queries,
        evidence=Evidence(judgements, named, rules),
        drawn=drawn,
    )


def compare_scores(
    scores: Mapping[str, Scores] | Sequence[Scores],
    measures: evaluation.Measures = None,
    *,
    baseline: str | None = None,
    seed: int = 0,
    slice_by: Mapping[str, Any] | None = None,
    queries: Any = None,
    align: str = "common",
    test: str = "randomization",
    correct: str = "holm",
    interval: str = "percentile",
    alpha: float = 0.05,
    power: float = 0.8,
    margin: float | None = None,
    samples: int = 10_000,
) -> Comparison:
    """Compare systems from their `Scores`, made now or saved earlier, aligned by query id."""
    settings = Settings(test, correct, interval, alpha, power, margin, samples, seed)
    listed = list(scores.values()) if isinstance(scores, Mapping) else scores
    if not isinstance(listed, list | tuple) or not all(isinstance(one, Scores) for one in listed):
        raise InputError(
            "a comparison is made from a list or mapping of Scores",
            hint="To start from runs, use compare(qrels, runs).",
        )
    asked = None if measures is None else {str(one) for one in parse_all(measures)}
    return _compare(
        list(listed), asked, settings, baseline=baseline, align=align, slice_by=slice_by, texts=queries, evidence=None
    )


def _curve_measures(wanted: Sequence[Measure]) -> list[Measure]:
    """What the curves of a report need: the first measure with a cut-off at several, and interpolated precision."""
    first = next((one for one in wanted if isinstance(one.k, int)), None) or parse("nDCG@10")
    found = [make(first.name, k, dict(first.options)) for k in CURVE_CUTOFFS]
    return found + [make("IPrec", level) for level in RECALL_LEVELS]


def _compare(
    scores: list[Scores],
    asked: set[str] | None,
    settings: Settings,
    *,
    baseline: str | None,
    align: str,
    slice_by: Mapping[str, Any] | None,
    texts: Any,
    evidence: Evidence | None,
    drawn: Sequence[Scores] = (),
) -> Comparison:
    one_of(align, ALIGN, "align")
    names = [one.run for one in scores]
    _check_names(names, baseline)
    queries, rows, notes = _align(scores, align)
    measures, told = _measures(scores, asked)
    notes += told
    values = {}
    for measure in measures:
        columns = [one.columns[measure] for one in scores]
        values[measure] = _values(measure, columns, rows, notes)
    pairs = [(baseline, other) for other in names if other != baseline] if baseline else list(combinations(names, 2))
    summaries, found = _statistics(names, measures, values, scores, pairs, settings)
    notes += _too_coarse(len(found), settings)
    notes += _unequal_weights(scores, measures, values, names)
    notes += _scored_notes(scores)
    comparison = Comparison(
        runs=tuple(names),
        measures=tuple(measures),
        queries=queries,
        values=values,
        summaries=summaries,
        pairs=tuple(found),
        baseline=baseline,
        settings=settings,
        notes=tuple(dict.fromkeys(notes)),
        scores=tuple(scores),
        curves=_curves(drawn or scores),
        evidence=evidence,
    )
    if slice_by is None and texts is None:
        return comparison
    return slices.with_slices(comparison, slice_by, texts)


def _check_names(names: Sequence[str], baseline: str | None) -> None:
    if len(names) < 2:
        raise InputError(
            f"a comparison needs at least two systems, {len(names)} given", hint="To score one, use evaluate."
        )
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"two systems are both named '{ids.show(name)}'",
                hint='Name them apart, for example {"old": run, "new": other}.',
            )
    if baseline is not None and baseline not in names:
        known = ", ".join(map(ids.show, names))
        raise InputError(
            f"no system is named '{ids.show(baseline)}'; there are: {known}", hint=did_you_mean(baseline, names)
        )


def _align(scores: Sequence[Scores], align: str) -> tuple[tuple[str, ...], list[np.ndarray], list[str]]:
    """The queries that all systems have, where they are in each system, and what to say about the others."""
    first = scores[0].queries
    if all(one.queries == first for one in scores):
        every = np.arange(len(first))
        return first, [every] * len(scores), []
    common = set(first).intersection(*(one.queries for one in scores[1:]))
    counts = ", ".join(f"{ids.show(one.run)} {len(one.queries):,}" for one in scores)
    if not common:
        samples = "; ".join(f"{ids.show(one.run)}: {ids.samples(one.queries)}" for one in scores[:3])
        raise MismatchError(f"the systems have no query in common ({counts} queries)", hint=samples)
    ordered = tuple(query for query in first if query in common)
    notes = []
    if any(len(one.queries) != len(common) for one in scores):
        if align == "error":
            raise MismatchError(
                f"the systems have different queries ({counts}; {len(common):,} in common)",
                hint="align='common' compares them on the queries that all of them have.",
            )
        notes = [f"compared on the {len(common):,} queries that all systems have ({counts})"]
    rows = []
    for one in scores:
        at = {query: i for i, query in enumerate(one.queries)}
        rows.append(np.array([at[query] for query in ordered], np.int64))
    return ordered, rows, notes


def _measures(scores: Sequence[Scores], asked: set[str] | None) -> tuple[list[str], list[str]]:
    """The measures that all systems have, in order, and what to say about the others."""
    listed = list(dict.fromkeys(name for one in scores for name in one.columns))
    shared = [name for name in listed if all(name in one.columns for one in scores)]
    if asked is not None:
        absent = sorted(asked - set(shared))
        if absent:
            lacking = [ids.show(one.run) for one in scores if absent[0] not in one.columns]
            raise InputError(
                f"{absent[0]} was not measured for {', '.join(lacking)}", hint="Evaluate all systems with it."
            )
        return [name for name in shared if name in asked], []
    if not shared:
        raise InputError("the systems have no measure in common", hint="Evaluate them with the same measures.")
    left = [name for name in listed if name not in shared]
    return shared, [f"not measured for all systems, left out: {', '.join(left)}"] if left else []


def _values(measure: str, columns: Sequence[Column], rows: Sequence[np.ndarray], notes: list[str]) -> np.ndarray:
    matrix = np.array([column.values[at] for column, at in zip(columns, rows, strict=True)])
    kinds = {column.average for column in columns}
    if "geometric" in kinds:
        with np.errstate(divide="ignore"):
            matrix = np.log(matrix)
        notes.append(f"{measure} is compared on its logarithm: a difference of 0.1 is a factor of 1.105")
    if "sum" in kinds:
        notes.append(f"{measure} is a sum; its mean per query is compared")
    absent = ~np.isfinite(matrix)
    dropped = absent.any(axis=0)
    if dropped.all():
        raise InputError(f"{measure} has no value that counts on any query", hint="Leave this measure out.")
    if dropped.any():
        matrix[:, dropped] = np.nan
        notes.append(f"{measure} is compared on {int((~dropped).sum()):,} of {matrix.shape[1]:,} queries")
    return matrix


def _statistics(
    names: Sequence[str],
    measures: Sequence[str],
    values: Mapping[str, np.ndarray],
    scores: Sequence[Scores],
    pairs: Sequence[tuple[str, str]],
    settings: Settings,
) -> tuple[dict[tuple[str, str], Summary], list[Pair]]:
    """Every system's mean and every pair's difference. Measures over the same queries share their samples."""
    at = {name: i for i, name in enumerate(names)}
    summaries: dict[tuple[str, str], Summary] = {}
    raw: dict[tuple[str, str, str], dict[str, Any]] = {}
    tukey: dict[str, np.ndarray] = {}
    groups: dict[bytes, list[str]] = {}
    for measure in measures:
        groups.setdefault(np.isnan(values[measure][0]).tobytes(), []).append(measure)
    for number, group in enumerate(groups.values()):
        there = ~np.isnan(values[group[0]][0])
        matrix = np.concatenate([values[measure][:, there] for measure in group])
        boot_rng, flip_rng, tukey_rng = (np.random.default_rng([settings.seed, number, i]) for i in range(3))
        means = paired.bootstrap_means(matrix, settings.samples, boot_rng)
        flips = paired.sign_flips(matrix, flips_for(len(measures) * len(pairs), settings), flip_rng)
        for m, measure in enumerate(group):
            rows = matrix[m * len(names) : (m + 1) * len(names)]
            for name, i in at.items():
                column = scores[i].columns[measure]
                spread = paired.percentile_interval(np.sort(means[m * len(names) + i]), settings.level)
                if rows.shape[1] < 2:
                    spread = paired.UNKNOWN
                summaries[measure, name] = Summary(float(rows[i].mean()), spread, column.summary, column.average)
            for a, b in pairs:
                i, j = m * len(names) + at[a], m * len(names) + at[b]
                raw[measure, a, b] = _pair(rows[at[a]], rows[at[b]], means[j] - means[i], flips[j] - flips[i], settings)
        if settings.correct == "tukey":
            by_measure = matrix.reshape(len(group), len(names), -1)
            together = correction.randomized_tukey(by_measure, settings.samples, tukey_rng)
            tukey.update(zip(group, together, strict=True))
    order = [(measure, a, b) for measure in measures for a, b in pairs]
    p_values = np.array([raw[key]["p"][settings.test] for key in order])
    if settings.correct == "tukey":
        adjusted = np.array([tukey[measure][at[a], at[b]] for measure, a, b in order])
    else:
        adjusted = correction.adjust(p_values, settings.correct)
    found = []
    for (measure, a, b), p in zip(order, adjusted.tolist(), strict=True):
        higher = scores[0].columns[measure].higher_is_better
        parts = raw[measure, a, b]
        if not higher:
            parts["wins"], parts["losses"] = parts["losses"], parts["wins"]
        found.append(Pair(measure=measure, a=a, b=b, adjusted=p, higher_is_better=higher, settings=settings, **parts))
    return summaries, found


def flips_for(comparisons: int, settings: Settings) -> int:
    """How many flips of signs: more where the correction would else put every sampled p-value above alpha."""
    if settings.test != "randomization" or settings.correct in ("none", "tukey"):
        return settings.samples
    return max(settings.samples, min(MOST_FLIPS, math.ceil(2 * comparisons / settings.alpha)))


def _too_coarse(comparisons: int, settings: Settings) -> list[str]:
    """A warning if so many comparisons need more samples than were drawn."""
    smallest = comparisons / (flips_for(comparisons, settings) + 1)
    if settings.test != "randomization" or settings.correct in ("none", "tukey") or smallest <= settings.alpha:
        return []
    return [
        f"with {comparisons:,} comparisons no sampled p-value can be below alpha after correction: compare with a "
        "baseline, take fewer measures, or use test='t'"
    ]


def _pair(a: np.ndarray, b: np.ndarray, means: np.ndarray, flips: np.ndarray, settings: Settings) -> dict[str, Any]:
    differences = b - a
    differences[np.abs(differences) < 1e-12] = 0.0
    n = len(differences)
    changed = differences[differences != 0]
    exact = len(changed) <= paired.EXACT_UP_TO
    if exact:
        randomization = paired.exact_randomization(changed)
    else:
        tolerance = 1e-11 * float(np.abs(a).sum() + np.abs(b).sum())
        randomization = paired.share_as_large(flips, differences.sum(), tolerance)
    means = np.sort(means)
    effect = paired.effect_size(differences)
    return {
        "n": n,
        "mean_a": float(a.mean()),
        "mean_b": float(b.mean()),
        "difference": float(differences.mean()),
        "percentile": paired.percentile_interval(means, settings.level) if n > 1 else paired.UNKNOWN,
        "bca": paired.bca_interval(means, differences, settings.level) if n > 1 else paired.UNKNOWN,
        "effect": effect,
        "wins": int((differences > 0).sum()),
        "ties": int((differences == 0).sum()),
        "losses": int((differences < 0).sum()),
        "p": {
            "randomization": randomization,
            "t": paired.t_test(differences),
            "wilcoxon": paired.wilcoxon_test(differences),
            "sign": paired.sign_test(differences),
        },
        "exact": exact,
        "detectable": power.detectable_difference(differences, settings.power, settings.alpha),
        "needed": power.queries_needed(effect, settings.power, settings.alpha),
        "equivalence": None if settings.margin is None else power.equivalence_test(differences, settings.margin),
    }


def _unequal_weights(
    scores: Sequence[Scores], measures: Sequence[str], values: Mapping[str, np.ndarray], names: Sequence[str]
) -> list[str]:
    """Pairs whose order on their own queries is not their order on the same queries (Simpson's paradox)."""
    if all(len(one.queries) == values[measures[0]].shape[1] for one in scores):
        return []
    notes = []
    for measure in measures:
        if scores[0].columns[measure].average != "mean":
            continue
        same = np.nanmean(values[measure], axis=1)
        for i, j in combinations(range(len(names)), 2):
            own = scores[j].columns[measure].summary - scores[i].columns[measure].summary
            if own * (same[j] - same[i]) < 0:
                ahead, behind = (ids.show(names[x]) for x in ((j, i) if own > 0 else (i, j)))
                notes.append(
                    f"{measure}: by the means over their own queries {ahead} is ahead of {behind}, "
                    "on the same queries it is behind (Simpson's paradox)"
                )
    return notes


def _scored_notes(scores: Sequence[Scores]) -> list[str]:
    """The notes of the single systems: told once where all systems share them."""
    shared = [note for note in scores[0].notes if all(note in one.notes for one in scores)]
    return shared + [f"{ids.show(one.run)}: {note}" for one in scores for note in one.notes if note not in shared]


def _curves(scores: Sequence[Scores]) -> dict[str, dict[str, tuple[tuple[float, float], ...]]]:
    """Means over cut-offs, for every measure that was taken at three or more."""
    families: dict[str, dict[float, str]] = {}
    for name in scores[0].columns:
        if not all(name in one.columns for one in scores):
            continue
        head, _, cutoff = name.rpartition("@")
        try:
            families.setdefault(head, {})[float(cutoff)] = name
        except ValueError:
            continue
    return {
        head: {one.run: tuple((k, one.columns[name].summary) for k, name in sorted(columns.items())) for one in scores}
        for head, columns in families.items()
        if len(columns) >= 3 and head
    }
