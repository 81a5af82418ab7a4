"""Values of systems on the same queries -> every system's mean and every pair's difference, tested and corrected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from goldrank.comparison import paired, power
from goldrank.comparison.correction import adjust, randomized_tukey
from goldrank.comparison.result import Pair, Settings, Summary
from goldrank.data.scores import Scores

MOST_FLIPS = 100_000


def all_pairs(
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
        counted = ~np.isnan(values[group[0]][0])
        matrix = np.concatenate([values[measure][:, counted] for measure in group])
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
        if settings.correction == "tukey":
            by_measure = matrix.reshape(len(group), len(names), -1)
            together = randomized_tukey(by_measure, settings.samples, tukey_rng)
            tukey.update(zip(group, together, strict=True))
    order = [(measure, a, b) for measure in measures for a, b in pairs]
    p_values = np.array([raw[key]["p"][settings.test] for key in order])
    if settings.correction == "tukey":
        adjusted = np.array([tukey[measure][at[a], at[b]] for measure, a, b in order])
    else:
        adjusted = adjust(p_values, settings.correction)
    tested = []
    for (measure, a, b), p in zip(order, adjusted.tolist(), strict=True):
        higher = scores[0].columns[measure].higher_is_better
        parts = raw[measure, a, b]
        if not higher:
            parts["wins"], parts["losses"] = parts["losses"], parts["wins"]
        tested.append(Pair(measure=measure, a=a, b=b, adjusted=p, higher_is_better=higher, settings=settings, **parts))
    return summaries, tested


def flips_for(comparisons: int, settings: Settings) -> int:
    """How many flips of signs: more where the correction would else put every sampled p-value above alpha."""
    if not _needs_more_flips(settings):
        return settings.samples
    return max(settings.samples, min(MOST_FLIPS, math.ceil(2 * comparisons / settings.alpha)))


def samples_too_few(comparisons: int, settings: Settings) -> bool:
    """Whether so many comparisons are corrected that no sampled p-value can get below alpha."""
    return _needs_more_flips(settings) and comparisons / (flips_for(comparisons, settings) + 1) > settings.alpha


def _needs_more_flips(settings: Settings) -> bool:
    """Whether more comparisons need more samples: corrections of sampled p-values multiply the smallest one."""
    return settings.test == "randomization" and settings.correction not in ("none", "tukey")


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
