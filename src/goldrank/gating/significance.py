"""Could chance have done it? The tests of all drops of a gate, as one family.

If nothing but chance is at work, the probability that any of them fails is at most alpha, however many rules and
slices there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from goldrank.comparison import paired, power
from goldrank.comparison.correction import adjust
from goldrank.comparison.intervals import Interval
from goldrank.comparison.pair import format_p
from goldrank.comparison.settings import Settings
from goldrank.comparison.slices import SMALL
from goldrank.comparison.statistics import flips_for
from goldrank.gating.findings import Draft, counted
from goldrank.gating.verdict import Finding


def tested(drafts: Sequence[Draft], settings: Settings) -> list[Finding]:
    """The findings, with the tests that they need: one family, corrected together."""
    family = [i for i, draft in enumerate(drafts) if draft.gains is not None and not _is_small(draft)]
    p_values = _p_values([drafts[i] for i in family], settings)
    adjusted = adjust(np.array(p_values), "holm" if settings.correction == "max-t" else settings.correction).tolist()
    p_of = dict(zip(family, zip(p_values, adjusted, strict=True), strict=True))
    return [
        draft.finding
        if draft.gains is None
        else _decided(draft, p_of.get(i, (math.nan, math.nan)), len(family), settings)
        for i, draft in enumerate(drafts)
    ]


def _decided(draft: Draft, p_values: tuple[float, float], tests: int, settings: Settings) -> Finding:
    """The finding of a tested drop: what happened, and whether chance could have done it."""
    p, adjusted = p_values
    gains = _own_gains(draft)
    interval = _interval(draft, gains, settings.level)
    finding = replace(draft.finding, interval=interval, p=p, adjusted=adjusted)
    size = draft.size
    if size and not math.isnan(interval.low):
        size += f"; {settings.level:.0%} interval {interval.low:+.4f} to {interval.high:+.4f}"
    text = draft.words(size)
    if draft.tolerated:
        return replace(finding, words=f"{text}; {draft.moved}")
    if _is_small(draft):
        few = f"but {counted(finding.queries, 'query is', 'queries are')} too few to tell loss from noise"
        return replace(finding, status="unclear", words=f"{text}, {few}; {draft.moved}")
    shown = f"p {format_p(adjusted)}"
    if tests > 1 and settings.correction != "none":
        shown += f" after correction for {tests} tests"
    if adjusted <= settings.alpha:
        words = f"{text}, and chance alone would rarely do this ({shown}); {draft.moved}"
        return replace(finding, status="fail", words=words)
    words = f"{text}, but chance could do it ({shown}); {draft.moved}"
    level = settings.alpha if settings.correction == "none" else settings.alpha / tests
    drop = -_as_change(draft, -power.detectable_difference(gains, settings.power, min(2 * level, 0.999)))
    if not math.isnan(drop):
        share = f" ({drop / abs(finding.baseline):.1%})" if finding.baseline else ""
        words += f". These queries would show a drop of {drop:.4f}{share} {settings.power:.0%} of the time"
    return replace(finding, status="unclear", words=words, detectable=drop)


def _is_small(draft: Draft) -> bool:
    return bool(draft.finding.group) and draft.finding.queries < SMALL


def _own_gains(draft: Draft) -> np.ndarray:
    """The differences of the draft's own queries; those it is not about are only zeros to it."""
    assert draft.gains is not None
    changed = draft.gains[draft.gains != 0]
    return np.concatenate((changed, np.zeros(draft.finding.queries - len(changed))))


def _p_values(family: Sequence[Draft], settings: Settings) -> list[float]:
    """One-sided p-values; a rule that is not worse off at all is not worth a sample."""
    p_values = [1.0] * len(family)
    worse = [i for i, draft in enumerate(family) if draft.gains is not None and draft.gains.sum() < 0]
    if not worse:
        return p_values
    gains = np.array([family[i].gains for i in worse])
    if settings.test == "randomization":
        sampled = paired.loss_tests(gains, flips_for(len(family), settings), settings.seed)
        for i, p in zip(worse, sampled.tolist(), strict=True):
            p_values[i] = p
        return p_values
    for row, i in enumerate(worse):
        p = paired.t_loss_test(_own_gains(family[i]))
        if math.isnan(p):  # all queries lost the same, which t has no answer to
            p = float(paired.loss_tests(gains[row : row + 1], settings.samples, settings.seed)[0])
        p_values[i] = p
    return p_values


def _interval(draft: Draft, gains: np.ndarray, level: float) -> Interval:
    """Student's interval of the change."""
    if not gains.any():
        return Interval(0.0, 0.0)
    interval = paired.t_interval(gains, level)
    if math.isnan(interval.low):
        return interval
    ends = sorted(draft.direction * end for end in interval)
    return Interval(*(_as_change(draft, end) for end in ends))


def _as_change(draft: Draft, difference: float) -> float:
    """A mean difference as a change of the value."""
    if draft.average == "geometric":
        return draft.finding.baseline * math.expm1(difference)
    return difference * (draft.finding.queries if draft.average == "sum" else 1)
