"""What each rule finds in a run and its baseline: a `Finding`, or a `Draft` of one that still needs a test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import BaselineError, InputError, did_you_mean
from goldrank.base.notes import Note
from goldrank.comparison import slices
from goldrank.comparison.one_system import attribute_values
from goldrank.comparison.rank_changes import QueryChange, describe, locate
from goldrank.comparison.slices import Groups
from goldrank.comparison.statistics import on_scale
from goldrank.comparison.unjudged_rule import UnjudgedRule, unjudged_rule
from goldrank.conventions import Convention, tool_of
from goldrank.data.queries import Queries
from goldrank.data.scores import Column, Scores, format_value
from goldrank.gating.forbidden import shown_words
from goldrank.gating.latency import latencies_of
from goldrank.gating.limits import SAME, exact_mean, has_dropped, is_below, rank_of, told_apart
from goldrank.gating.rules import OF_MEASURES, Rule, Rules
from goldrank.gating.unjudged_rules import GateHoles, OtherJudgements, Sources
from goldrank.gating.verdict import Finding
from goldrank.measures import Measure, known, parse
from goldrank.measures.unjudged_share import count_holes, hole_reach, hole_rule

NOT_RELEVANT: dict[UnjudgedRule, str] = {
    "positives-only": "unjudged-positives-only",
    "catalogue": "unjudged-catalogue",
}
"""The codes of notes on why unjudged documents count as not relevant."""


@dataclass(frozen=True)
class Draft:
    """A finding; with `shifted`, one whose test is still to be made."""

    finding: Finding
    shifted: np.ndarray | None = None
    """One number per common query whose mean is below 0 just if the drop is larger than tolerated: what the query
    gained, and its part of the tolerance; 0 where the rule is not about the query."""
    own: np.ndarray | None = None
    """Which of the common queries the rule is about."""
    gains: np.ndarray | None = None
    """The differences of its own queries, positive where they got better."""
    others: OtherJudgements | None = None
    """What the differences would be under other judgements; None if that was not looked at or all is judged."""
    reach: float = 1.0
    """The width of the measure's scale, infinite if it has no ends."""
    worst: float = math.inf
    """How far the mean can get worse until the end of the scale, in the unit of the differences' mean."""
    direction: float = 1.0
    """-1 if lower values are better."""
    average: str = "mean"
    tolerance: float = 0.0
    """What is tolerated, in the unit of the differences' mean."""
    rounding: float = 0.0
    """How far rounding may move that mean."""
    tolerated: bool = True
    """Whether the drop on these queries is tolerated."""
    tolerated_drop: float = 0.0
    """The drop that is tolerated, in the unit of the value."""
    deterministic: str = ""
    """How it is known that the system always returns the same; '' if it is not known."""
    is_same_run: bool = False
    """Whether the run is its baseline."""
    before: float = math.nan
    """The baseline's value."""
    what: str = ""
    """What happened: 'AP fell from 0.5 to 0.4'."""
    size: str = ""
    """By how much: '-0.1000, -20.0%'."""
    limit: str = ""
    """How that compares with what is tolerated."""
    moved: str = ""
    """How many queries moved."""

    @property
    def is_about_these_queries(self) -> bool:
        """Whether the question is what happened on these queries, which needs no test."""
        return self.is_same_run or bool(self.deterministic) or not self.finding.asked.tested

    def words(self, size: str) -> str:
        """What happened, by how much, and how that compares with what is tolerated."""
        return f"{self.what}{f' ({size})' if size else ''}{f', {self.limit}' if self.limit else ''}"

    @property
    def said(self) -> str:
        """The same with how many queries moved, for rules without a test."""
        return f"{self.words(self.size)}; {self.moved}"


@dataclass
class RuleChecker:
    """One run and what it is held against, aligned by query id."""

    scores: Scores
    before: Scores | None
    rules: Rules
    policy: Convention
    queries: Queries | None
    sources: Sources | None = None
    """None if documents are not looked at."""
    deterministic: str = ""
    """How it is known that the system always returns the same; '' if it is not known."""

    def __post_init__(self) -> None:
        self.notes: list[Note] = []
        self._groups: dict[str, Groups] = {}
        self.at_now = self.at_then = np.arange(len(self.scores.queries))
        self.lost_answers: list[str] = []
        """Queries that the baseline answered and the run did not."""
        if self.before is not None:
            self._align(self.before)
            self._find_lost_answers(self.before)

    def _align(self, before: Scores) -> None:
        if before.queries == self.scores.queries:
            return
        position = {query: i for i, query in enumerate(before.queries)}
        common = [(i, position[query]) for i, query in enumerate(self.scores.queries) if query in position]
        if not common:
            raise BaselineError(
                f"the baseline and the run have no query in common; baseline: {ids.samples(before.queries)}, "
                f"run: {ids.samples(self.scores.queries)}"
            )
        self.at_now, self.at_then = np.array(common, np.int64).T
        sizes = f"baseline {len(before.queries):,}, run {len(self.scores.queries):,}"
        self.notes.append(Note.of("common-queries", count=len(common), all="both", sizes=sizes))

    def _find_lost_answers(self, before: Scores) -> None:
        then, now = _answered(before), _answered(self.scores)
        if then is None or now is None:
            return
        answers = dict(zip(self.scores.queries, now.tolist(), strict=True))
        if_absent = self.policy.missing != "skip"
        answered = compress(before.queries, then.tolist())
        self.lost_answers = [query for query in answered if not answers.get(query, if_absent)]
        if self.lost_answers:
            self.notes.append(Note.of("lost-answers", count=len(self.lost_answers), samples=self.lost_answers))

    @cached_property
    def is_same_run(self) -> bool:
        """Whether run and baseline have the same values on the same queries, and the same documents if both are known.

        Equal values of one coarse measure do not make two systems one.
        """
        before = self.before
        if before is None or len(self.at_now) != len(self.scores.queries) or len(self.at_then) != len(before.queries):
            return False
        names = set(self.scores.columns) & set(before.columns)
        pairs = [(before.columns[name].values[self.at_then], self.scores.columns[name].values) for name in names]
        if not all(np.array_equal(then, now[self.at_now], equal_nan=True) for then, now in pairs):
            return False
        return self.holes is None or self.holes.same_documents()

    @cached_property
    def holes(self) -> GateHoles | None:
        """The unjudged documents of the run and the baseline, for the measures of rules about drops."""
        if self.sources is None:
            return None
        measures = [parse(self.name(str(rule.measure))) for rule in self.rules if rule.kind == "drop"]
        queries = [self.scores.queries[i] for i in self.at_now.tolist()]
        return GateHoles(self.sources, measures, queries)

    def name(self, measure: str) -> str:
        """The measure with the convention's options, as the scores have it."""
        parsed = parse(measure)
        return str(parsed.having(tool_of(self.policy).options_of(parsed)))

    def column(self, scores: Scores, measure: str, whose: str) -> Column:
        """A measure's column, or what to do about there being none."""
        if measure in scores:
            return scores.column(measure)
        near = did_you_mean(measure, scores.columns)
        again = {
            "the run": "Evaluate with the measures of the rules: evaluate(qrels, run, rules.measures).",
            "the baseline": "Set the baseline anew with the measures of the rules.",
        }
        what = f"{whose} has no {measure}; it has: {', '.join(scores.columns)}"
        raise BaselineError(what, hint=near or again[whose], code="not-measured")

    def check(self, rule: Rule) -> list[Draft]:
        """What one rule finds: one draft, or one for each group of queries."""
        if rule.kind not in OF_MEASURES:
            return [Draft(self._share(rule) if rule.kind != "latency" else self._latency(rule))]
        if rule.slice is None:
            return [self._measured(rule, None, None)]

        groups = self.groups(rule.slice)
        if rule.value is not None and rule.value not in groups:
            raise InputError(
                f"the rule '{ids.show(str(rule))}': no query has {ids.show(rule.slice)} {ids.show(rule.value)!r}",
                hint=did_you_mean(rule.value, groups) or f"There are: {', '.join(map(ids.show, list(groups)[:20]))}.",
            )

        if rule.value is None:
            wanted = groups
        else:
            wanted = {rule.value: groups[rule.value]}

        return [self._measured(rule, f"{rule.slice}={label}", which) for label, which in wanted.items()]

    def groups(self, attribute: str) -> Groups:
        """The run's queries by their value of an attribute."""
        if attribute not in self._groups:
            values = self._attribute(attribute)
            known = [value is not None for value in values]
            if any(known):
                alone = {str(values[known.index(True)]): np.array(known)}
            else:
                alone = {}
            self._groups[attribute] = slices.group_queries(attribute, values, self.notes) or alone
        return self._groups[attribute]

    def _attribute(self, attribute: str) -> Sequence[Any]:
        """The attribute's value for each of the run's queries, None where there is none."""
        return attribute_values(self.scores, self.queries, attribute)

    def _measured(self, rule: Rule, group: str | None, which: np.ndarray | None) -> Draft:
        column = self.column(self.scores, str(rule.measure), "the run")
        if group:
            of_group = f" where {ids.show(group.replace('=', ' is ', 1))}"
        else:
            of_group = ""

        now = _answered(self.scores)
        if now is not None and which is not None and which.any() and not now[which].any():
            unanswered = int(which.sum())
            words = f"the run returned nothing for any of the {unanswered:,} queries{of_group}"
            return Draft(Finding(rule, "fail", words, math.nan, group, queries=unanswered))

        measure = known(self.name(str(rule.measure)))
        together = measure is not None and measure.declaration.of_all_queries
        if together and (which is not None or (rule.kind == "drop" and rule.tested)):
            raise InputError(
                f"{rule.measure} is a number of all queries together: no test and no slice has a meaning for it",
                hint=f"A limit has, such as '{rule.measure} >= 0.1', or a drop with tested = false.",
                code="all-queries-together",
            )
        if rule.kind == "drop":
            return self._drop(rule, group, of_group, which, column)
        return Draft(self._limit(rule, group, of_group, which, column))

    def _limit(self, rule: Rule, group: str | None, of_group: str, which: np.ndarray | None, column: Column) -> Finding:
        """What a rule about the value itself finds: a floor or a ceiling."""
        if which is None:
            values = column.values
        else:
            values = column.values[which]

        values = values[~np.isnan(values)]
        if which is None:
            value = column.summary
        else:
            value = _summary(values, column.average)

        ok = not math.isnan(value) and _holds(rule, _summary(values, column.average))
        wanted = f"{'at least' if rule.kind == 'floor' else 'at most'} {rule.limit_words} is asked for"
        if math.isnan(value):
            words = f"{rule.measure} is not a number{of_group}, where {wanted}"
        else:
            number, apart = format_value(value, column.average), ""
            if not ok:
                number, off = told_apart(value, rule.limit, column.average)
                apart = f", {off} too {'little' if rule.kind == 'floor' else 'much'}"
            queries = counted(len(values), "query", "queries")
            words = f"{rule.measure} is {number}{of_group} ({queries}); {wanted}{apart}"

        if not ok:
            words += shown_words(self.scores, known(self.name(str(rule.measure))), which)

        finding = Finding(rule, "pass" if ok else "fail", words, value, group, queries=len(values))
        if self.before is None or str(rule.measure) not in self.before:
            return finding

        before, after, at = self._pair(str(rule.measure), column, which)
        direction = 1 if column.higher_is_better else -1
        worst = () if ok else self._worst(before, after, at, direction)
        return replace(finding, baseline=_summary(before, column.average), worst=worst)

    def _pair(
        self, measure: str, column: Column, which: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values before and after on the queries that both have and that count, and where those queries are."""
        assert self.before is not None
        then = self.column(self.before, measure, "the baseline").values[self.at_then]
        now = column.values[self.at_now]
        kept = ~(np.isnan(then) | np.isnan(now))
        if which is not None:
            kept &= which[self.at_now]
        return then[kept], now[kept], np.flatnonzero(kept)

    def _drop(self, rule: Rule, group: str | None, of_group: str, which: np.ndarray | None, column: Column) -> Draft:
        measure = str(rule.measure)
        before, after, at = self._pair(measure, column, which)
        n = len(before)
        if not n:
            words = f"{measure} has no value on any query that both have{of_group}: nothing can be compared"
            return Draft(Finding(rule, "fail", words, math.nan, group))

        assert self.before is not None
        then = _answered(self.before)
        if which is not None and then is not None and not then[self.at_then[at]].any():
            words = f"the baseline returned nothing for any of the {n:,} queries{of_group}: nothing can be compared"
            return Draft(Finding(rule, "fail", words, math.nan, group, queries=n))

        if column.higher_is_better:
            direction = 1.0
        else:
            direction = -1.0

        old, new = _summary(before, column.average), _summary(after, column.average)
        moves = direction * (after - before)
        worse, better = int((moves < 0).sum()), int((moves > 0).sum())
        finding = Finding(
            rule, "pass", "", new, group, baseline=old, queries=n, worse=worse, better=better,
            worst=self._worst(before, after, at, direction),
        )  # fmt: skip
        change = new - old
        ends = [format_value(value, column.average) for value in (old, new)]
        how = f"is still {ends[1]}"
        if change > 0:
            how = f"rose from {ends[0]} to {ends[1]}"
        elif change < 0:
            how = f"fell from {ends[0]} to {ends[1]}"
        what = f"{measure} {how}{of_group}"
        uncounted = self._uncounted_losses(column, which)
        if uncounted:
            words = (
                f"{what}, but {uncounted} that the baseline answered returned nothing, which {measure} does not show "
                f"as a loss; if that is meant, say how many may: a rule such as 'missing <= 1%'"
            )
            return Draft(replace(finding, status="fail", words=words))

        if rule.relative:
            tolerance = rule.limit * abs(old)
        else:
            tolerance = rule.limit

        loss = -direction * change
        largest = max(abs(old), abs(new), tolerance)
        # A loss that is exactly the tolerance is tolerated, whatever rounding makes of it.
        tolerated = not has_dropped(direction * old, direction * new, tolerance, largest)
        limit = f"{'within' if tolerated else 'more than'} the tolerated {rule.limit_words}"
        draft = Draft(
            finding,
            direction=direction,
            average=column.average,
            rounding=SAME * (largest / n if column.average == "sum" else largest),
            tolerated=tolerated,
            tolerated_drop=tolerance,
            deterministic=self.deterministic,
            is_same_run=self.is_same_run,
            before=old,
            what=what,
            size=f"{change:+.4f}" + (f", {change / abs(old):+.1%}" if old else "") if change else "",
            limit=limit if loss > 0 or not tolerated else "",
            moved=_moved(before, after, worse, better),
        )
        if column.average == "geometric":
            before, after = (on_scale(values, "geometric") for values in (before, after))
            if not np.isfinite(after - before).all():
                if not rule.tested:
                    return Draft(replace(finding, status="pass" if tolerated else "fail", words=draft.said))
                raise InputError(f"{measure} cannot be tested: it is 0 on some query", hint="Use tested = false.")

        return self._shifted(draft, rule, parse(self.name(measure)), before, after, at)

    def _shifted(
        self, draft: Draft, rule: Rule, measure: Measure, before: np.ndarray, after: np.ndarray, at: np.ndarray
    ) -> Draft:
        """The draft with what is to be tested: gains with the tolerance in them, also under other judgements."""
        direction, old = draft.direction, draft.before
        factor, shift, share = 1.0, 0.0, rule.limit
        if draft.average == "geometric":
            if rule.relative or not old:
                share = share
            else:
                share = share / abs(old)
            shift = -direction * math.log1p(-direction * (min(share, 1 - 1e-12) if direction > 0 else share))
        elif rule.relative:
            factor = 1.0 - direction * share * math.copysign(1.0, old)
        else:
            if draft.average == "sum":
                shift = share / len(before)
            else:
                shift = share

        gains = direction * (after - before)
        own = np.zeros(len(self.at_now), bool)
        own[at] = True
        shifted = np.zeros(len(own))
        shifted[at] = direction * (after - factor * before) + shift
        others = None
        if self._unjudged_may_decide(measure) and self.holes is not None:
            every = np.zeros(len(own))
            every[at] = before
            others = self.holes.look(measure, every, direction, factor, shift)

        declared = measure.declaration
        ends = on_scale(np.array([declared.low, declared.high]), draft.average)
        return replace(
            draft, shifted=shifted, own=own, gains=gains, others=others, reach=float(np.ptp(ends)),
            worst=abs(float(before.mean() - ends[0 if direction > 0 else 1])),
            tolerance=float(shifted[at].mean() - gains.mean()),
        )  # fmt: skip

    def _unjudged_may_decide(self, measure: Measure) -> bool:
        """Whether it is looked at what unjudged documents could change; a note says why they count as not relevant."""
        if self.rules.statistics.unjudged != "check" or self.sources is None:
            return False
        run = self.sources.run
        rule = unjudged_rule(run)
        if rule == "half":
            return True
        if hole_rule(measure) is not None and count_holes(run.placements, hole_reach(measure, run.placements)).any():
            self.notes.append(Note.of(NOT_RELEVANT[rule]))
        return False

    def _uncounted_losses(self, column: Column, which: np.ndarray | None) -> str:
        """Queries that lost their answer where the measure does not count that as worse, in words."""
        if not self.lost_answers or any(rule.kind == "missing" for rule in self.rules):
            return ""
        if column.higher_is_better and self.policy.missing != "skip":
            return ""
        lost = self.lost_answers
        if which is not None:
            inside = set(compress(self.scores.queries, which.tolist()))
            lost = [query for query in lost if query in inside]
        if lost:
            return f"{counted(len(lost), 'query', 'queries')} ({ids.samples(lost)})"
        return ""

    def explained(self, finding: Finding) -> Finding:
        """The finding with the reasons why its queries lost, if the documents of run and baseline are known."""
        sources = self.sources
        if sources is None or sources.before is None or self.holes is None or not finding.worst:
            return finding
        if finding.asked.kind != "drop" or finding.status == "pass":
            return finding

        measure = parse(str(finding.asked.measure))
        values = [{moved.query: getattr(moved, when) for moved in finding.worst} for when in ("before", "after")]
        heads = [dict(zip(side.placements.queries, side.heads, strict=True)) for side in self.holes.finder.systems]
        changes = describe(
            locate([sources.before, sources.run], set(values[0])), 0, 1, ("before", "after"), str(measure),
            measure.k if isinstance(measure.k, int) else 10, values, heads,
        ).changes  # fmt: skip
        why = {change.query: change for change in changes}
        return replace(finding, worst=tuple(why.get(moved.query, moved) for moved in finding.worst))

    def _worst(
        self, before: np.ndarray, after: np.ndarray, at: np.ndarray, direction: float
    ) -> tuple[QueryChange, ...]:
        gains = direction * (after - before)
        order = np.argsort(gains, kind="stable")[: self.rules.worst]
        where = self.at_now[at]
        queries = self.scores.queries
        return tuple(QueryChange(queries[where[i]], float(before[i]), float(after[i])) for i in order if gains[i] < 0)

    def _share(self, rule: Rule) -> Finding:
        counts, n = self.scores.counts, len(self.scores.queries)
        wanted = f"at most {rule.limit_words} may be"
        if rule.kind == "overlap":
            wanted = f"at least {rule.limit_words} is asked for"
            share = int((self._judged() > 0).sum()) / n
            text = f"{share:.1%} of {counted(n, 'query', 'queries')} have a judged document in their results"
        elif rule.kind == "unjudged":
            # Texts are all judged: by their matcher.
            retrieved = self._count("retrieved")
            if retrieved:
                share = (retrieved - counts.get("judged_retrieved", retrieved)) / retrieved
            else:
                share = 0.0
            text = f"{share:.1%} of {retrieved:,} returned documents are unjudged"
        else:
            n, empty = self._count("queries"), counts.get("missing", 0) + self._count("no_results")
            if n:
                share = empty / n
            else:
                share = 0.0
            text = f"{empty:,} of {counted(n, 'judged query', 'judged queries')} ({share:.1%}) are without any result"

        return Finding(rule, "pass" if _holds(rule, share) else "fail", f"{text}; {wanted}", share, queries=n)

    def _count(self, name: str) -> int:
        """A count of the scores; those of other programs may lack it."""
        if name not in self.scores.counts:
            raise self._unknown(f"no count '{name}'")
        return self.scores.counts[name]

    def _judged(self) -> np.ndarray:
        """How many judged documents each query returned; scores of Spark's executors may not know it."""
        judged = self.scores.query_facts.judged
        if judged is None:
            raise self._unknown("no number of judged documents for each query")
        return judged

    def _unknown(self, what: str) -> InputError:
        hint = "Evaluate again on one machine: those scores have it."
        return InputError(f"the scores of {self.scores.run!r} have {what}", hint=hint, code="not-known")

    def _latency(self, rule: Rule) -> Finding:
        times = latencies_of(self.scores, self.queries, rule)
        value = float(np.sort(times)[rank_of(rule.quantile, len(times)) - 1])
        words = f"{100 * rule.quantile:g}% of {counted(len(times), 'query', 'queries')} took at most {value:g}"
        words += f"; at most {rule.limit:g} may be"
        return Finding(rule, "pass" if _holds(rule, value) else "fail", words, value, queries=len(times))


def _answered(scores: Scores) -> np.ndarray | None:
    """Which queries returned anything; None if that is not known."""
    returned = scores.query_facts.returned
    if returned is None:
        return None
    return returned > 0


def _holds(rule: Rule, value: float) -> bool:
    """Whether a value is on the right side of a rule's limit; what is no number is on none."""
    if math.isnan(value):
        return False
    if rule.kind in ("floor", "overlap"):
        return not is_below(value, rule.limit)
    return not is_below(rule.limit, value)


def _summary(values: np.ndarray, average: str) -> float:
    if not len(values):
        return math.nan
    if average == "sum":
        return math.fsum(values.tolist())
    if average == "geometric":
        return float(np.exp(on_scale(values, average).mean()))
    return exact_mean(values)


def _moved(before: np.ndarray, after: np.ndarray, worse: int, better: int) -> str:
    """How many queries moved, in words."""
    n = len(before)
    text = f"{worse:,} of {counted(n, 'query', 'queries')} worse, {better:,} better"
    fell = int(((before > 0) & (after == 0)).sum())
    if fell:
        text += f"; {fell:,} fell to 0"
    same = n - worse - better
    if not same:
        return text
    verb = "is" if same == 1 else "are"
    return f"{text}, {same:,} {verb} the same"


def counted(count: int, one: str, many: str) -> str:
    """A number with its noun: '1 query', '2 queries'."""
    return f"{count:,} {one if count == 1 else many}"
