"""Is a drop larger than tolerated, or is it shown not to be? The tests of all drops of a gate, as one family.

A drop is tested against the tolerance, not against zero: each query's gain, with its part of the tolerance added, has
a mean below 0 if and only if the drop is larger than tolerated. There are three outcomes:

- fail: the mean is surely below 0, by flips of signs; if all drops are just as large as tolerated, the probability
  that any rule fails is at most alpha, however many rules and slices there are (joint maximum over one set of flips);
- pass, shown: the mean is surely above 0, by Student's t with two made-up queries as large as the largest difference;
- pass, not shown: neither. Strict rules fail it.

That asks about queries like these. In CI the queries are always the same, and a system that always returns the same
has lost what it lost on them: where that is known, the drop itself decides, without a test.

The same flips are applied to what the differences would be under other judgements. A verdict that unjudged documents
could reverse is withheld: these must be judged first.
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

    position_in_family = {i: position for position, i in enumerate(family)}
    findings = []
    for i, draft in enumerate(drafts):
        if draft.shifted is None:
            findings.append(draft.finding)
        else:
            findings.append(_decided(draft, position_in_family.get(i), tests, rules))
    return findings


def fewest_flips(row: np.ndarray) -> float:
    """The smallest p-value that flips can give with this number of queries that differ."""
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
    all_rows = np.array([_row(draft, name) for name in names for draft in family])
    if not family or not (all_rows.sum(axis=1) < 0).any():  # nothing got worse than tolerated, which needs no flips
        p_values = [1.0] * len(family)
        return {name: _Tests(p_values, p_values, [False] * len(family)) for name in names}

    # Bounds of a measure without bounds are infinite: large numbers replace them.
    finite = np.where(np.isfinite(all_rows), all_rows, 0.0)
    far = 1e3 * np.maximum(np.abs(finite).max(axis=1, keepdims=True), 1.0)
    all_rows = np.clip(all_rows, -far, far)
    flipped = flip(all_rows, samples=statistics.draws() - 1, seed=statistics.seed)
    size = len(family)
    return {
        name: _corrected(flipped, range(number * size, (number + 1) * size), family, statistics)
        for number, name in enumerate(names)
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


def _decided(draft: Draft, position: int | None, tests: dict[str, _Tests], rules: Rules) -> Finding:
    """The finding of a drop: what happened, whether chance could have done it, and whether judging could turn it."""
    statistics = rules.statistics
    assert draft.gains is not None
    observed = tests["observed"]
    outcomes = {name: _outcome(draft, name, position, tests[name], statistics) for name in tests}
    is_shown = outcomes["observed"] != "not shown"
    finding = replace(
        draft.finding,
        status="pass",
        question="queries like these",
        shown=is_shown,
        regressed=not is_shown and not draft.tolerated,
    )
    if outcomes["observed"] == "fails":
        finding = replace(finding, status="fail")
    if draft.is_about_these_queries:
        finding = replace(finding, question="these queries")
    if position is not None:
        finding = replace(finding, p=observed.raw[position])
    if position is not None and not draft.is_about_these_queries:
        finding = replace(finding, p_adjusted=observed.adjusted[position], at_most=observed.at_most[position])

    size = draft.size
    if not draft.is_about_these_queries:
        interval = _interval(draft, statistics.level)
        finding = replace(finding, interval=interval)
        if size and interval is not None:
            size += f"; {percent(statistics.level)} interval {interval.low:+.4f} to {interval.high:+.4f}"

    reason, finding = _reason(draft, finding, observed, position, statistics)
    finding = replace(finding, words=f"{draft.words(size)}{reason}; {draft.moved}")
    if rules.strict and not finding.shown:
        words = f"{finding.words}. The rules are strict: what is not shown to be within the tolerance fails"
        finding = replace(finding, status="fail", words=words)
    return _with_holes(draft, finding, outcomes, rules)


def _outcome(draft: Draft, name: str, position: int | None, tests: _Tests, statistics: Statistics) -> Outcome:
    """What one of the sets of differences says."""
    assert draft.shifted is not None
    row = _row(draft, name)[draft.own]
    if draft.is_about_these_queries:
        is_dropped = row.mean() < -draft.rounding
        if name == "observed":
            is_dropped = not draft.tolerated
        if is_dropped:
            return "fails"
        return "holds"

    if position is not None and tests.adjusted[position] <= statistics.alpha:
        return "fails"
    if not np.isfinite(row).all() or row.mean() <= 0:
        return "not shown"

    differences = row - (draft.shifted[draft.own] - draft.gains)
    if within_p(row, power.added_size(differences, draft.reach)) <= statistics.alpha:
        return "holds"
    return "not shown"


def _reason(
    draft: Draft, finding: Finding, tests: _Tests, position: int | None, statistics: Statistics
) -> tuple[str, Finding]:
    """Why a drop fails or passes, and what would have been found."""
    if draft.is_same_run:
        return ": the run is the same as the baseline", finding
    if draft.deterministic:
        return f"{_on_these_queries(draft)}. {draft.deterministic}, so no test is needed", finding
    if draft.is_about_these_queries:
        return "", finding

    family = len(tests.raw)
    p_words = f"p {format_p(finding.p_adjusted, finding.at_most)}"
    if family > 1 and statistics.used_correction != "none":
        p_words += f" after correction for {family} tests"
    if finding.failed:
        return f", and chance alone would rarely do this ({p_words})", finding
    if finding.shown:
        return f": a drop of more than {draft.tolerated_drop:.4f} is excluded", finding

    if position is None:
        reason = f"{counted(finding.queries, 'query is', 'queries are')} too few to tell loss from noise"
    elif draft.tolerated:
        reason = "a drop of more than that is not shown"
    else:
        reason = f"chance could do it ({p_words})"
    if not draft.tolerated:
        reason = f"worse on these queries, but not shown for queries like these: {reason}"

    words = f": {reason}"
    drop = math.nan
    if position is not None:
        drop = _detectable(draft, tests, statistics)
    if not math.isnan(drop):
        share = ""
        if draft.before:
            share = f" ({drop / abs(draft.before):.1%})"
        words += f"; these queries would show a drop of {drop:.4f}{share} {statistics.power:.0%} of the time"
    if not draft.tolerated:
        words += "; if the system always returns the same, say so (deterministic = true), and this fails"
    return words, replace(finding, detectable=drop)


def _on_these_queries(draft: Draft) -> str:
    """What happened on these queries, where that is the question."""
    if draft.tolerated:
        return ""
    return ": worse on these queries"


def _detectable(draft: Draft, tests: _Tests, statistics: Statistics) -> float:
    """The smallest drop that the test would find with the chance `statistics.power`, tolerance included.

    NaN if the baseline cannot fall so far.
    """
    assert draft.shifted is not None
    values = draft.shifted[draft.own]
    n = len(values)
    level = statistics.alpha
    if statistics.used_correction != "none":
        level = statistics.alpha / len(tests.raw)
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

    accepted: tuple[Outcome, ...] = ("holds", "not shown")
    if rules.strict:
        accepted = ("holds",)
    decisions = {name: outcome in accepted for name, outcome in outcomes.items()}
    assert draft.own is not None
    if _is_open(draft, outcomes["observed"], decisions):
        first = draft.others.judge_first(draft.own)
        result = "fails"
        if decisions["condensed"]:
            result = "does not fail"
        words = f"{finding.words}. But {HOLES['open']}: without them the rule {result}"
        finding = replace(finding, p_adjusted=math.nan, at_most=False)  # no test says how it ends
        return replace(finding, status="unclear", unjudged="open", words=words, judge_first=first)

    standing = "extreme"
    if decisions["worst"] == decisions["observed"] == decisions["best"]:
        standing = "closed"
    return replace(finding, unjudged=standing, words=f"{finding.words}; {HOLES[standing]}")


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
    if draft.average == "sum":
        return difference * draft.finding.queries
    return difference
