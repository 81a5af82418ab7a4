"""Is a drop larger than tolerated, or is it shown not to be? The tests of all drops of a gate, as one family.

A drop is tested against the tolerance, not against zero: each query's gain, with its part of the tolerance added, has
a mean below 0 just if the drop is larger than tolerated. Three things can come of it:

- fail: the mean is surely below 0, by flips of signs; if all drops are just as large as tolerated, the probability
  that any rule fails is at most alpha, however many rules and slices there are (joint maximum over one set of flips);
- pass: the mean is surely above 0, by Student's t with two made-up queries at the ends of the scale;
- unclear: neither. That passes too, unless the rules are strict.

The same flips are applied to what the differences would be under other judgements. A verdict that unjudged documents
could turn is none: those are to be judged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from goldrank.comparison import power
from goldrank.comparison.correction import adjust
from goldrank.comparison.flips import Flipped, flip, max_t, raw_p, t_of_u, without_rounding
from goldrank.comparison.holes import HOLES, standing
from goldrank.comparison.intervals import Interval, difference_interval, estimate, percent
from goldrank.comparison.pair import format_p
from goldrank.comparison.paired import is_constant
from goldrank.comparison.settings import Statistics
from goldrank.gating.findings import Draft, counted
from goldrank.gating.rules import Rules
from goldrank.gating.verdict import Finding, Status
from goldrank.packages import special


@dataclass(frozen=True)
class _Tests:
    """The p-values of a family: alone, and corrected for all of it."""

    raw: Sequence[float]
    adjusted: Sequence[float]
    at_most: Sequence[bool]
    critical: float = math.nan
    """The u that the largest of the family reaches by chance with probability alpha; NaN for other corrections."""


def tested(drafts: Sequence[Draft], rules: Rules) -> list[Finding]:
    """The findings, with the tests that they need: one family, corrected together."""
    alpha = rules.statistics.alpha
    testable = [i for i, draft in enumerate(drafts) if draft.shifted is not None and draft.finding.asked.tested]
    family = [i for i in testable if not fewest_flips(_row(drafts[i], "observed")) > alpha]
    names = ["observed"]
    if any(draft.others is not None for draft in drafts):
        names += ["condensed", "worst", "best"]
    tests = _family([drafts[i] for i in family], names, rules.statistics)
    place = {i: at for at, i in enumerate(family)}
    return [
        draft.finding if draft.shifted is None else _decided(draft, place.get(i), tests, rules)
        for i, draft in enumerate(drafts)
    ]


def fewest_flips(row: np.ndarray) -> float:
    """The smallest p-value that flips of so many queries with a difference can give."""
    return 0.5 ** int(np.count_nonzero(without_rounding(row)))


def within_p(values: np.ndarray, reach: float) -> float:
    """The p-value of the mean being above 0: Student's t, one-sided, with a query at each end of the scale added."""
    most = reach if math.isfinite(reach) else float(np.abs(values).max(initial=0.0))
    estimated = estimate(values, added=(most, -most))
    if not estimated.variance > 0:
        return 1.0
    return float(special.stdtr(estimated.freedom, -estimated.mean / estimated.error))


def _row(draft: Draft, variant: str) -> np.ndarray:
    """What is tested, under the judgements as they are or others; 0 where the rule is not about the query."""
    assert draft.shifted is not None
    assert draft.own is not None
    if variant == "observed" or draft.others is None:
        return draft.shifted
    return np.where(draft.own, getattr(draft.others, variant), 0.0)


def _family(family: Sequence[Draft], names: Sequence[str], statistics: Statistics) -> dict[str, _Tests]:
    """The tests of all drafts of the family, for each of the sets of differences."""
    rows = {name: [_row(draft, name) for draft in family] for name in names}
    every = np.array([row for name in names for row in rows[name]])
    if not family or not (every.sum(axis=1) < 0).any():  # nothing got worse than tolerated, which needs no flips
        ones = [1.0] * len(family)
        return {name: _Tests(ones, ones, [False] * len(family)) for name in names}
    # Bounds of a measure without bounds are infinite: far out will do.
    finite = np.where(np.isfinite(every), every, 0.0)
    far = 1e3 * np.maximum(np.abs(finite).max(axis=1, keepdims=True), 1.0)
    every = np.clip(every, -far, far)
    flipped = flip(every, samples=statistics.draws() - 1, seed=statistics.seed)
    size = len(family)
    return {
        name: _corrected(flipped, range(at * size, (at + 1) * size), family, statistics)
        for at, name in enumerate(names)
    }


def _corrected(flipped: Flipped, rows: Sequence[int], family: Sequence[Draft], statistics: Statistics) -> _Tests:
    raw = [_loss_p(flipped, row, draft, statistics) for row, draft in zip(rows, family, strict=True)]
    if statistics.used_correction != "max-t":
        return _Tests(raw, adjust(np.array(raw), statistics.used_correction).tolist(), [False] * len(raw))
    joint = max_t(flipped, rows, tail="less", alpha=statistics.alpha, raw=raw)
    if len(raw) == 1:
        return _Tests(raw, raw, [False], joint.critical)
    return _Tests(raw, joint.adjusted.tolist(), joint.at_most.tolist(), joint.critical)


def _loss_p(flipped: Flipped, row: int, draft: Draft, statistics: Statistics) -> float:
    """The one-sided p-value of a mean below 0."""
    if statistics.test == "t":
        values = flipped.row(row)[draft.own]
        if len(values) > 1 and not is_constant(values):  # where all lost the same, t has no answer
            estimated = estimate(values)
            return float(special.stdtr(estimated.freedom, estimated.mean / estimated.error))
    return raw_p(flipped, row, "less").value


def _decided(draft: Draft, place: int | None, tests: dict[str, _Tests], rules: Rules) -> Finding:
    """The finding of a drop: what happened, whether chance could have done it, and whether judging could turn it."""
    statistics = rules.statistics
    assert draft.gains is not None
    interval = _interval(draft, statistics.level) if draft.finding.asked.tested else None
    observed = tests["observed"]
    p, adjusted, at_most = math.nan, math.nan, False
    if place is not None:
        p, adjusted, at_most = observed.raw[place], observed.adjusted[place], observed.at_most[place]
    outcomes = {name: _outcome(draft, name, place, tests[name], statistics) for name in tests}
    status = outcomes["observed"]
    finding = replace(draft.finding, interval=interval, p=p, p_adjusted=adjusted, at_most=at_most, status=status)
    size = draft.size
    if size and interval is not None:
        size += f"; {percent(statistics.level)} interval {interval.low:+.4f} to {interval.high:+.4f}"
    words = draft.words(size)
    if draft.finding.asked.tested:
        reason, finding = _reason(draft, finding, observed, place, statistics)
        words += reason
        if rules.strict and finding.status == "unclear":
            words += ". The rules are strict: what is not shown fails"
            finding = replace(finding, status="fail")
    return _with_holes(draft, replace(finding, words=f"{words}; {draft.moved}"), outcomes, rules)


def _outcome(draft: Draft, name: str, place: int | None, tests: _Tests, statistics: Statistics) -> Status:
    """'fail', 'pass' or 'unclear', by one of the sets of differences."""
    row = _row(draft, name)[draft.own]
    if not draft.finding.asked.tested:
        fails = row.mean() < -1e-12 * max(1.0, abs(draft.before))
        return "fail" if fails else "pass"
    if place is not None and tests.adjusted[place] <= statistics.alpha:
        return "fail"
    if not np.isfinite(row).all() or row.mean() <= 0:
        return "unclear"
    return "pass" if within_p(row, draft.reach) <= statistics.alpha else "unclear"


def _reason(
    draft: Draft, finding: Finding, tests: _Tests, place: int | None, statistics: Statistics
) -> tuple[str, Finding]:
    """Why a tested drop fails, passes or is unclear, and what would have been found."""
    family = len(tests.raw)
    shown = f"p {format_p(finding.p_adjusted, finding.at_most)}"
    if family > 1 and statistics.used_correction != "none":
        shown += f" after correction for {family} tests"
    if finding.status == "fail":
        return f", and chance alone would rarely do this ({shown})", finding
    if finding.status == "pass":
        return f"{'' if draft.limit else ', within the tolerance'}, which is shown", finding
    if place is None:
        few = f", but {counted(finding.queries, 'query is', 'queries are')} too few to tell loss from noise"
        return few, finding
    told = f", but chance could do it ({shown})" if not draft.tolerated else ", but a larger drop is not excluded"
    drop = _detectable(draft, tests, statistics)
    if not math.isnan(drop):
        share = f" ({drop / abs(draft.before):.1%})" if draft.before else ""
        told += f"; these queries would show a drop of {drop:.4f}{share} {statistics.power:.0%} of the time"
    return told, replace(finding, detectable=drop)


def _detectable(draft: Draft, tests: _Tests, statistics: Statistics) -> float:
    """The smallest drop that the test would find with the chance that is asked for, tolerance included.

    NaN if there is none: the baseline cannot fall so far.
    """
    assert draft.shifted is not None
    values = draft.shifted[draft.own]
    n = len(values)
    level = statistics.alpha / (1 if statistics.used_correction == "none" else len(tests.raw))
    if statistics.used_correction == "max-t" and len(tests.raw) > 1 and not math.isnan(tests.critical):
        level = float(special.stdtr(n - 1, -t_of_u(tests.critical, n)))
    if n < 2 or not level > 0:
        return math.nan
    spread = float(values.std(ddof=1))
    effect = power.detectable_effect(n, statistics.power, min(2 * level, 0.999))
    smallest = draft.tolerance + effect * spread
    return math.nan if smallest > draft.worst else -_as_change(draft, -smallest)


def _with_holes(draft: Draft, finding: Finding, outcomes: Mapping[str, Status], rules: Rules) -> Finding:
    """The finding, with what unjudged documents mean for it."""
    if draft.others is None:
        return finding
    good = ("pass",) if rules.strict else ("pass", "unclear")
    held = standing(*(outcomes[name] in good for name in ("observed", "condensed", "worst", "best")))
    if held != "open":
        return replace(finding, unjudged=held, words=f"{finding.words}; {HOLES[held]}")
    assert draft.own is not None
    first = draft.others.judge_first(draft.own)
    turned = "fails" if outcomes["condensed"] == "fail" else "does not fail"
    words = f"{finding.words}. But {HOLES['open']}: without them the rule {turned}"
    return replace(finding, status="unclear", unjudged=held, words=words, judge_first=first)


def _interval(draft: Draft, level: float) -> Interval | None:
    """The interval of the change, as a comparison has it; None if too few queries tell."""
    assert draft.gains is not None
    interval = difference_interval(draft.gains, level=level, reach=draft.reach)
    if math.isnan(interval.low):
        return None
    ends = sorted(draft.direction * end for end in interval)
    return Interval(*(_as_change(draft, end) for end in ends))


def _as_change(draft: Draft, difference: float) -> float:
    """A mean difference as a change of the value."""
    if draft.average == "geometric":
        return draft.before * math.expm1(difference)
    return difference * (draft.finding.queries if draft.average == "sum" else 1)
