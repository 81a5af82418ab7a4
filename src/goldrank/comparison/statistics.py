"""Values of systems on the same queries -> every system's mean and every pair's difference, tested and corrected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from goldrank.comparison import paired, power
from goldrank.comparison.correction import adjust, randomized_tukey
from goldrank.comparison.intervals import UNKNOWN
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
    by_names: dict[tuple[str, str, str], Pair] = {}
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
            higher = scores[0].columns[measure].higher_is_better
            for name, i in at.items():
                column = scores[i].columns[measure]
                spread = paired.percentile_interval(np.sort(means[m * len(names) + i]), settings.level)
                if rows.shape[1] < 2:
                    spread = UNKNOWN
                summaries[measure, name] = Summary(float(rows[i].mean()), spread, column.summary, column.average)
            for a, b in pairs:
                i, j = m * len(names) + at[a], m * len(names) + at[b]
                parts = _pair(rows[at[a]], rows[at[b]], means[j] - means[i], flips[j] - flips[i], higher, settings)
                by_names[measure, a, b] = Pair(measure, a, b, **parts)
        if settings.correction == "tukey":
            by_measure = matrix.reshape(len(group), len(names), -1)
            together = randomized_tukey(by_measure, settings.samples, tukey_rng)
            tukey.update(zip(group, together, strict=True))
    untested = [by_names[measure, a, b] for measure in measures for a, b in pairs]
    if settings.correction == "tukey":
        adjusted = np.array([tukey[pair.measure][at[pair.a], at[pair.b]] for pair in untested])
    else:
        adjusted = adjust(np.array([pair.p[settings.test] for pair in untested]), settings.correction)
    return summaries, [replace(pair, adjusted=p) for pair, p in zip(untested, adjusted.tolist(), strict=True)]


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


def _pair(
    a: np.ndarray, b: np.ndarray, means: np.ndarray, flips: np.ndarray, higher: bool, settings: Settings
) -> dict[str, Any]:
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
    above, below = int((differences > 0).sum()), int((differences < 0).sum())
    return {
        "n": n,
        "mean_a": float(a.mean()),
        "mean_b": float(b.mean()),
        "difference": float(differences.mean()),
        "percentile": paired.percentile_interval(means, settings.level) if n > 1 else UNKNOWN,
        "bca": paired.bca_interval(means, differences, settings.level) if n > 1 else UNKNOWN,
        "effect": effect,
        "wins": above if higher else below,
        "ties": n - len(changed),
        "losses": below if higher else above,
        "p": {
            "randomization": randomization,
            "t": paired.t_test(differences),
            "wilcoxon": paired.wilcoxon_test(differences),
            "sign": paired.sign_test(differences),
        },
        "exact": exact,
        "adjusted": math.nan,
        "detectable": power.detectable_difference(differences, settings.power, settings.alpha),
        "needed": power.queries_needed(effect, settings.power, settings.alpha),
        "equivalence": None if settings.margin is None else power.equivalence_test(differences, settings.margin),
        "higher_is_better": higher,
        "settings": settings,
    }
