"""Is a drop larger than tolerated, or is it shown not to be? The tests of all drops of a gate, as one family.

A drop is tested against the tolerance, not against zero: each query's gain, with its part of the tolerance added, has
a mean below 0 just if the drop is larger than tolerated. Three things can come of it:

- fail: the mean is surely below 0, by flips of signs; if all drops are just as large as tolerated, the probability
  that any rule fails is at most alpha, however many rules and slices there are (joint maximum over one set of flips);
- pass, shown: the mean is surely above 0, by Student's t with two made-up queries as large as the largest difference;
- pass, not shown: neither. Strict rules fail it.

That asks about queries like these. In CI the queries are always the same, and a system that always returns the same
has lost what it lost on them: where that is known, the drop itself decides, without a test.

The same flips are applied to what the differences would be under other judgements. A verdict that unjudged documents
could turn is none: those are to be judged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from goldrank.base.packages import special
from goldrank.comparison import power
from goldrank.comparison.correction import adjust
from goldrank.comparison.flips import Flipped, flip, max_t, raw_p, t_of_u, without_rounding
from goldrank.comparison.holes import HOLES
from goldrank.comparison.intervals import Interval, difference_interval, estimate, percent
from goldrank.comparison.pair import format_p
from goldrank.comparison.paired import is_constant
from goldrank.comparison.settings import Statistics
from goldrank.comparison.unjudged_rule import verdict_stands
from goldrank.gating.findings import Draft, counted
from goldrank.gating.rules import Rules
from goldrank.gating.verdict import Finding

Outcome: TypeAlias = Literal["fails", "holds", "not shown"]
"""Of a drop rule: a larger drop is shown, none is shown to be larger, or neither."""


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


def within_p(values: np.ndarray, size: float) -> float:
    """The p-value of the mean being above 0: Student's t, one-sided, with two made-up queries, up and down."""
    estimated = estimate(values, added=(size, -size))
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
    observed = tests["observed"]
    outcomes = {name: _outcome(draft, name, place, tests[name], statistics) for name in tests}
    finding = replace(
        draft.finding,
        status="fail" if outcomes["observed"] == "fails" else "pass",
        question="these queries" if draft.is_about_these_queries else "queries like these",
        shown=outcomes["observed"] != "not shown",
        regressed=outcomes["observed"] == "not shown" and not draft.tolerated,
    )
    if place is not None:
        p, adjusted, at_most = observed.raw[place], observed.adjusted[place], observed.at_most[place]
        finding = replace(finding, p=p, p_adjusted=adjusted, at_most=at_most)

    size = draft.size
    if not draft.is_about_these_queries:
        interval = _interval(draft, statistics.level)
        finding = replace(finding, interval=interval)
        if size and interval is not None:
            size += f"; {percent(statistics.level)} interval {interval.low:+.4f} to {interval.high:+.4f}"
    reason, finding = _reason(draft, finding, observed, place, statistics)
    finding = replace(finding, words=f"{draft.words(size)}{reason}; {draft.moved}")
    if rules.strict and not finding.shown:
        words = f"{finding.words}. The rules are strict: what is not shown to be within the tolerance fails"
        finding = replace(finding, status="fail", words=words)
    return _with_holes(draft, finding, outcomes, rules)


def _outcome(draft: Draft, name: str, place: int | None, tests: _Tests, statistics: Statistics) -> Outcome:
    """What one of the sets of differences says."""
    assert draft.shifted is not None
    row = _row(draft, name)[draft.own]
    if draft.is_about_these_queries:
        if name == "observed":
            if draft.tolerated:
                return "holds"
            return "fails"
        if row.mean() < -draft.rounding:
            return "fails"
        return "holds"

    if place is not None and tests.adjusted[place] <= statistics.alpha:
        return "fails"
    if not np.isfinite(row).all() or row.mean() <= 0:
        return "not shown"

    differences = row - (draft.shifted[draft.own] - draft.gains)
    if within_p(row, power.added_size(differences, draft.reach)) <= statistics.alpha:
        return "holds"
    return "not shown"


def _reason(
    draft: Draft, finding: Finding, tests: _Tests, place: int | None, statistics: Statistics
) -> tuple[str, Finding]:
    """Why a drop fails or passes, and what would have been found."""
    if draft.is_same_run:
        return ": the run is the same as the baseline", finding
    if draft.deterministic:
        return f"{_on_these_queries(draft)}. {draft.deterministic}, so no test is needed", finding
    if draft.is_about_these_queries:
        return "", finding

    family = len(tests.raw)
    shown = f"p {format_p(finding.p_adjusted, finding.at_most)}"
    if family > 1 and statistics.used_correction != "none":
        shown += f" after correction for {family} tests"
    if finding.failed:
        return f", and chance alone would rarely do this ({shown})", finding
    if finding.shown:
        return f": a drop of more than {draft.tolerated_drop:.4f} is excluded", finding

    if place is None:
        why = f"{counted(finding.queries, 'query is', 'queries are')} too few to tell loss from noise"
    elif draft.tolerated:
        why = "a drop of more than that is not shown"
    else:
        why = f"chance could do it ({shown})"
    if not draft.tolerated:
        why = f"worse on these queries, but not shown for queries like these: {why}"
    told = f": {why}"
    if place is not None:
        drop = _detectable(draft, tests, statistics)
    else:
        drop = math.nan
    if not math.isnan(drop):
        if draft.before:
            share = f" ({drop / abs(draft.before):.1%})"
        else:
            share = ""
        told += f"; these queries would show a drop of {drop:.4f}{share} {statistics.power:.0%} of the time"
    if not draft.tolerated:
        told += "; if the system always returns the same, say so (deterministic = true), and this fails"
    return told, replace(finding, detectable=drop)


def _on_these_queries(draft: Draft) -> str:
    """What happened on these queries, where that is the question."""
    if draft.tolerated:
        return ""
    return ": worse on these queries"


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
    if smallest > draft.worst:
        return math.nan
    return -_as_change(draft, -smallest)


def _with_holes(draft: Draft, finding: Finding, outcomes: Mapping[str, Outcome], rules: Rules) -> Finding:
    """The finding, with what unjudged documents mean for it."""
    if draft.others is None:
        return finding

    good: tuple[Outcome, ...]
    if rules.strict:
        good = ("holds",)
    else:
        good = ("holds", "not shown")

    decisions = {name: outcome in good for name, outcome in outcomes.items()}
    assert draft.own is not None
    if _is_open(draft, outcomes["observed"], decisions):
        first = draft.others.judge_first(draft.own)
        if decisions["condensed"]:
            turned = "does not fail"
        else:
            turned = "fails"
        words = f"{finding.words}. But {HOLES['open']}: without them the rule {turned}"
        return replace(finding, status="unclear", unjudged="open", words=words, judge_first=first)

    if decisions["worst"] == decisions["observed"] == decisions["best"]:
        held = "closed"
    else:
        held = "extreme"

    return replace(finding, unjudged=held, words=f"{finding.words}; {HOLES[held]}")


def _is_open(draft: Draft, observed: Outcome, decisions: Mapping[str, bool]) -> bool:
    """Whether unjudged documents hold the decision open.

    It stands if it is the same without them: the truth is between the two. What is shown also stands by the half rule:
    without them it is beyond the tolerance, or within it, by half as much at least.
    """
    if decisions["condensed"] == decisions["observed"]:
        return False
    if observed == "not shown":
        return True
    means = [float(_row(draft, name)[draft.own].mean()) for name in ("observed", "condensed")]
    return not verdict_stands(*means)


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
