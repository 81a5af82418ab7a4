"""What each rule finds in a run and its baseline: a `Finding`, or a `Draft` of one that still needs a test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import BaselineError, InputError, did_you_mean
from goldrank.base.notes import Note
from goldrank.comparison import slices
from goldrank.comparison.one_system import attribute_values
from goldrank.comparison.rank_changes import QueryChange, describe, locate
from goldrank.comparison.slices import Groups
from goldrank.comparison.statistics import on_scale
from goldrank.comparison.unjudged import NOT_RELEVANT
from goldrank.comparison.unjudged_rule import unjudged_rule
from goldrank.conventions import Convention, tool_of
from goldrank.data.queries import Queries
from goldrank.data.scores import Column, Scores, format_value
from goldrank.gating.costs import costs_of
from goldrank.gating.forbidden import shown_words
from goldrank.gating.limits import SAME, exact_mean, has_dropped, is_below, rank_of, told_apart
from goldrank.gating.query_statistics import spelled, statistic_of
from goldrank.gating.rules import COSTS, OF_MEASURES, Rule, Rules
from goldrank.gating.unjudged_rules import GateHoles, OtherJudgements, Sources
from goldrank.gating.verdict import Finding, Status
from goldrank.measures import Measure, known, parse
from goldrank.measures.unjudged_share import count_holes, hole_reach, hole_rule


@dataclass(frozen=True)
class _Group:
    """The queries that a check is about: all of the run's, or those with one value of an attribute."""

    label: str | None = None
    """Such as 'kind=long'; None for all queries."""
    members: np.ndarray | None = None
    """Which of the run's queries are in it; None for all."""

    @property
    def words(self) -> str:
        """The group in a sentence: ' where kind is long'; '' for all queries."""
        if not self.label:
            return ""
        return f" where {ids.show(self.label.replace('=', ' is ', 1))}"


_ALL_QUERIES = _Group()


class _ValuePairs(NamedTuple):
    """Values of a measure in the baseline and in the run, on queries that both have."""

    before: np.ndarray
    after: np.ndarray
    positions: np.ndarray
    """The positions of these queries among the common ones."""

    def on_logarithm(self) -> _ValuePairs:
        """The logarithms of the values, which a geometric mean averages."""
        return self._replace(before=on_scale(self.before, "geometric"), after=on_scale(self.after, "geometric"))


@dataclass(frozen=True)
class Draft:
    """A finding; with `shifted`, one that still needs its test."""

    finding: Finding
    shifted: np.ndarray | None = None
    """One number per common query: what the query gained, and its part of the tolerance. Their mean is below 0 if and
    only if the drop is larger than tolerated. 0 where the rule is not about the query."""
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
    change_words: str = ""
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
        words = self.change_words
        if size:
            words += f" ({size})"
        if self.limit:
            words += f", {self.limit}"
        return words

    @property
    def untested_words(self) -> str:
        """The words of a rule without a test, with how many queries moved."""
        return f"{self.words(self.size)}; {self.moved}"


@dataclass
class RuleChecker:
    """One run and its baseline, aligned by query id."""

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
        self.positions_now = self.positions_then = np.arange(len(self.scores.queries))
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
        self.positions_now, self.positions_then = np.array(common, np.int64).T
        sizes = f"baseline {len(before.queries):,}, run {len(self.scores.queries):,}"
        self.notes.append(Note.of("common-queries", count=len(common), all="both", sizes=sizes))

    def _find_lost_answers(self, before: Scores) -> None:
        answered_before, answered_now = _answered(before), _answered(self.scores)
        if answered_before is None or answered_now is None:
            return
        answers = dict(zip(self.scores.queries, answered_now.tolist(), strict=True))
        if_absent = self.policy.missing != "skip"
        answered = compress(before.queries, answered_before.tolist())
        self.lost_answers = [query for query in answered if not answers.get(query, if_absent)]
        if self.lost_answers:
            self.notes.append(Note.of("lost-answers", count=len(self.lost_answers), samples=self.lost_answers))

    @cached_property
    def is_same_run(self) -> bool:
        """Whether run and baseline have the same values on the same queries, and the same documents if both are known.

        Equal values of one coarse measure do not make two systems one.
        """
        before = self.before
        if before is None or set(before.queries) != set(self.scores.queries):
            return False

        for name in set(self.scores.columns) & set(before.columns):
            old_values = before.columns[name].values[self.positions_then]
            new_values = self.scores.columns[name].values[self.positions_now]
            if not np.array_equal(old_values, new_values, equal_nan=True):
                return False
        return self.holes is None or self.holes.same_documents()

    @cached_property
    def holes(self) -> GateHoles | None:
        """The unjudged documents of the run and the baseline, for the measures of rules about drops."""
        if self.sources is None:
            return None
        named = [known(self.name(str(rule.measure))) for rule in self.rules if rule.kind == "drop"]
        measures = [measure for measure in named if measure is not None]
        queries = [self.scores.queries[i] for i in self.positions_now.tolist()]
        return GateHoles(self.sources, measures, queries)

    def name(self, measure: str) -> str:
        """The measure with the convention's options, as the scores have it."""
        parsed = known(measure)
        if parsed is None:  # a column of another program's file
            return measure
        return str(parsed.with_defaults(tool_of(self.policy).options_of(parsed)))

    def column(self, scores: Scores, measure: str, whose: str) -> Column:
        """A measure's column; if the scores lack it, an error that says what to do."""
        if measure in scores:
            return scores.column(measure)
        hint = did_you_mean(measure, scores.columns)
        hints = {
            "the run": "Evaluate with the measures of the rules: evaluate(qrels, run, rules.measures).",
            "the baseline": "Set the baseline anew with the measures of the rules.",
        }
        message = f"{whose} has no {measure}; it has: {', '.join(scores.columns)}"
        raise BaselineError(message, hint=hint or hints[whose], code="not-measured")

    def check(self, rule: Rule) -> list[Draft]:
        """What one rule finds: one draft, or one for each group of queries."""
        if rule.kind in COSTS:
            return [Draft(self._cost(rule))]
        if rule.kind not in OF_MEASURES:
            return [Draft(self._share(rule))]
        if rule.slice is None:
            return [self._measured(rule, _ALL_QUERIES)]

        groups = self.groups(rule.slice)
        if rule.value is not None and rule.value not in groups:
            raise InputError(
                f"the rule '{ids.show(str(rule))}': no query has {ids.show(rule.slice)} {ids.show(rule.value)!r}",
                hint=did_you_mean(rule.value, groups) or f"There are: {', '.join(map(ids.show, list(groups)[:20]))}.",
            )

        if rule.value is not None:
            groups = {rule.value: groups[rule.value]}
        return [self._measured(rule, _Group(f"{rule.slice}={label}", members)) for label, members in groups.items()]

    def groups(self, attribute: str) -> Groups:
        """The run's queries by their value of an attribute."""
        if attribute not in self._groups:
            values = self._attribute(attribute)
            groups = slices.group_queries(attribute, values, self.notes)
            if groups is None:  # all queries that have a value have the same
                has_value = [value is not None for value in values]
                groups = {str(values[has_value.index(True)]): np.array(has_value)}
            self._groups[attribute] = groups
        return self._groups[attribute]

    def _attribute(self, attribute: str) -> Sequence[Any]:
        """The attribute's value for each of the run's queries, None where there is none."""
        return attribute_values(self.scores, self.queries, attribute)

    def _measured(self, rule: Rule, group: _Group) -> Draft:
        """What a rule about a measure finds on a group of queries."""
        column = self.column(self.scores, str(rule.measure), "the run")
        members = group.members
        answered = _answered(self.scores)
        if answered is not None and members is not None and members.any() and not answered[members].any():
            unanswered = int(members.sum())
            words = f"the run returned nothing for any of the {unanswered:,} queries{group.words}"
            return Draft(Finding(rule, "fail", words, math.nan, group.label, queries=unanswered))

        measure = known(self.name(str(rule.measure)))
        is_joint = measure is not None and measure.declaration.of_all_queries
        is_tested = rule.kind == "drop" and rule.tested
        if is_joint and (members is not None or is_tested):
            raise InputError(
                f"{rule.measure} is a number of all queries together: no test and no slice has a meaning for it",
                hint=f"A limit has, such as '{rule.measure} >= 0.1', or a drop with tested = false.",
                code="all-queries-together",
            )
        if rule.kind == "drop":
            return self._drop(rule, group, column)
        return Draft(self._limit(rule, group, column))

    def _limit(self, rule: Rule, group: _Group, column: Column) -> Finding:
        """What a rule about the value itself finds: a floor or a ceiling."""
        values = column.values
        if group.members is not None:
            values = values[group.members]
        values = values[~np.isnan(values)]
        exact = _summary(values, column.average)
        if rule.statistic is not None:
            exact = statistic_of(values, rule.statistic)
        value = exact
        if group.members is None and rule.statistic is None:
            value = column.summary

        holds = not math.isnan(value) and _holds(rule, exact)
        words = self._limit_words(rule, group, column.average, value, len(values), holds)
        if not holds:
            words += shown_words(self.scores, known(self.name(str(rule.measure))), group.members)

        finding = Finding(rule, _status(holds), words, value, group.label, queries=len(values))
        if rule.statistic is not None or self.before is None or str(rule.measure) not in self.before:
            return finding

        pairs = self._pairs(str(rule.measure), column, group.members)
        worst: tuple[QueryChange, ...] = ()
        if not holds:
            worst = self._worst(pairs, _direction(column))
        return replace(finding, baseline=_summary(pairs.before, column.average), worst=worst)

    def _limit_words(self, rule: Rule, group: _Group, average: str, value: float, queries: int, holds: bool) -> str:
        """The value, and the limit that the rule asks for."""
        bound, excess = "at most", "too much"
        if rule.kind == "floor":
            bound, excess = "at least", "too little"
        requirement = f"{bound} {rule.limit_words} is asked for"
        subject = spelled(str(rule.measure), rule.statistic)
        if math.isnan(value):
            return f"{subject} is not a number{group.words}, where {requirement}"

        number, distance = format_value(value, average), ""
        if not holds:
            number, distance = told_apart(value, rule.limit, average)
            distance = f", {distance} {excess}"
        return f"{subject} is {number}{group.words} ({counted(queries, 'query', 'queries')}); {requirement}{distance}"

    def _pairs(self, measure: str, column: Column, members: np.ndarray | None) -> _ValuePairs:
        """Values before and after on the queries that both have and that count."""
        assert self.before is not None
        old_values = self.column(self.before, measure, "the baseline").values[self.positions_then]
        new_values = column.values[self.positions_now]
        is_counted = ~(np.isnan(old_values) | np.isnan(new_values))
        if members is not None:
            is_counted &= members[self.positions_now]
        return _ValuePairs(old_values[is_counted], new_values[is_counted], np.flatnonzero(is_counted))

    def _drop(self, rule: Rule, group: _Group, column: Column) -> Draft:
        """What a rule about a drop finds: the change, and whether it is tolerated on these queries."""
        measure = str(rule.measure)
        pairs = self._pairs(measure, column, group.members)
        n = len(pairs.before)
        if not n:
            words = f"{measure} has no value on any query that both have{group.words}: nothing can be compared"
            return Draft(Finding(rule, "fail", words, math.nan, group.label))
        if group.members is not None and not self._baseline_answered(pairs.positions):
            words = f"the baseline returned nothing for any of the {n:,} queries{group.words}: nothing can be compared"
            return Draft(Finding(rule, "fail", words, math.nan, group.label, queries=n))

        direction = _direction(column)
        old, new = _summary(pairs.before, column.average), _summary(pairs.after, column.average)
        moves = direction * (pairs.after - pairs.before)
        worse, better = int((moves < 0).sum()), int((moves > 0).sum())
        finding = Finding(
            rule, "pass", "", new, group.label, baseline=old, queries=n, worse=worse, better=better,
            worst=self._worst(pairs, direction),
        )  # fmt: skip
        change_words = f"{measure} {_movement(old, new, column.average)}{group.words}"
        uncounted = self._uncounted_losses(column, group.members)
        if uncounted:
            words = (
                f"{change_words}, but {uncounted} that the baseline answered returned nothing, which {measure} does "
                "not show as a loss; if that is meant, say how many may: a rule such as 'missing <= 1%'"
            )
            return Draft(replace(finding, status="fail", words=words))

        tolerance = rule.limit
        if rule.relative:
            tolerance = rule.limit * abs(old)
        largest = max(abs(old), abs(new), tolerance)
        rounding = SAME * largest
        if column.average == "sum":
            rounding = SAME * (largest / n)
        # A loss that is exactly the tolerance is tolerated, whatever rounding makes of it.
        tolerated = not has_dropped(direction * old, direction * new, tolerance, largest)
        draft = Draft(
            finding,
            direction=direction,
            average=column.average,
            rounding=rounding,
            tolerated=tolerated,
            tolerated_drop=tolerance,
            deterministic=self.deterministic,
            is_same_run=self.is_same_run,
            before=old,
            change_words=change_words,
            size=_size(old, new),
            limit=_tolerance_words(rule, tolerated, direction * (new - old)),
            moved=_moved(pairs.before, pairs.after, worse, better),
        )
        if column.average == "geometric":
            pairs = pairs.on_logarithm()
            if not np.isfinite(pairs.after - pairs.before).all():
                if not rule.tested:
                    return Draft(replace(finding, status=_status(tolerated), words=draft.untested_words))
                raise InputError(f"{measure} cannot be tested: it is 0 on some query", hint="Use tested = false.")

        return self._shifted(draft, rule, known(self.name(measure)), pairs)

    def _baseline_answered(self, positions: np.ndarray) -> bool:
        """Whether the baseline answered any of these common queries, as far as that is known."""
        assert self.before is not None
        answered = _answered(self.before)
        return answered is None or bool(answered[self.positions_then[positions]].any())

    def _shifted(self, draft: Draft, rule: Rule, measure: Measure | None, pairs: _ValuePairs) -> Draft:
        """The draft with what is to be tested: gains with the tolerance in them, also under other judgements."""
        direction, before, after, positions = draft.direction, *pairs
        factor, shift = _tolerance_in_test(draft, rule, len(before))
        gains = direction * (after - before)
        own = np.zeros(len(self.positions_now), bool)
        own[positions] = True
        shifted = np.zeros(len(own))
        shifted[positions] = direction * (after - factor * before) + shift

        others = None
        if measure is not None and self._unjudged_may_decide(measure) and self.holes is not None:
            old_values = np.zeros(len(own))
            old_values[positions] = before
            others = self.holes.look(measure, old_values, direction, factor, shift)

        ends = (-math.inf, math.inf)
        if measure is not None:
            ends = (measure.declaration.low, measure.declaration.high)
        low, high = on_scale(np.array(ends), draft.average)
        worst_end = high
        if direction > 0:
            worst_end = low
        return replace(
            draft, shifted=shifted, own=own, gains=gains, others=others, reach=float(high - low),
            worst=abs(float(before.mean() - worst_end)),
            tolerance=float(shifted[positions].mean() - gains.mean()),
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

    def _uncounted_losses(self, column: Column, members: np.ndarray | None) -> str:
        """Queries that lost their answer where the measure does not count that as worse, in words."""
        if not self.lost_answers or any(rule.kind == "missing" for rule in self.rules):
            return ""
        if column.higher_is_better and self.policy.missing != "skip":
            return ""

        lost = self.lost_answers
        if members is not None:
            group_queries = set(compress(self.scores.queries, members.tolist()))
            lost = [query for query in lost if query in group_queries]
        if lost:
            return f"{counted(len(lost), 'query', 'queries')} ({ids.samples(lost)})"
        return ""

    def explained(self, finding: Finding) -> Finding:
        """The finding with the reasons why its queries lost, if the documents of run and baseline are known."""
        sources = self.sources
        if sources is None or sources.before is None or self.holes is None or not finding.worst:
            return finding
        if finding.asked.kind != "drop" or (finding.status == "pass" and not finding.regressed):
            return finding

        measure = parse(str(finding.asked.measure))
        cutoff = 10
        if isinstance(measure.k, int):
            cutoff = measure.k
        before = {moved.query: moved.before for moved in finding.worst}
        after = {moved.query: moved.after for moved in finding.worst}
        top_documents = [
            dict(zip(system.placements.queries, system.top_documents, strict=True))
            for system in self.holes.finder.systems
        ]
        ranks = locate([sources.before, sources.run], set(before))
        described = describe(ranks, 0, 1, ("before", "after"), str(measure), cutoff, [before, after], top_documents)

        change_of = {change.query: change for change in described.changes}
        return replace(finding, worst=tuple(change_of.get(moved.query, moved) for moved in finding.worst))

    def _worst(self, pairs: _ValuePairs, direction: float) -> tuple[QueryChange, ...]:
        """The queries that lost most."""
        gains = direction * (pairs.after - pairs.before)
        losers = [i for i in np.argsort(gains, kind="stable")[: self.rules.worst] if gains[i] < 0]
        query_numbers = self.positions_now[pairs.positions]
        worst = []
        for i in losers:
            query = self.scores.queries[query_numbers[i]]
            worst.append(QueryChange(query, float(pairs.before[i]), float(pairs.after[i])))
        return tuple(worst)

    def _share(self, rule: Rule) -> Finding:
        counts, n = self.scores.counts, len(self.scores.queries)
        requirement = f"at most {rule.limit_words} may be"
        share = 0.0
        if rule.kind == "overlap":
            requirement = f"at least {rule.limit_words} is asked for"
            share = int((self._judged() > 0).sum()) / n
            text = f"{share:.1%} of {counted(n, 'query', 'queries')} have a judged document in their results"
        elif rule.kind == "unjudged":
            # Texts are all judged: by their matcher.
            retrieved = self._count("retrieved")
            if retrieved:
                share = (retrieved - counts.get("judged_retrieved", retrieved)) / retrieved
            text = f"{share:.1%} of {retrieved:,} returned documents are unjudged"
        else:
            n, empty = self._count("queries"), counts.get("missing", 0) + self._count("no_results")
            if n:
                share = empty / n
            text = f"{empty:,} of {counted(n, 'judged query', 'judged queries')} ({share:.1%}) are without any result"

        return Finding(rule, _status(_holds(rule, share)), f"{text}; {requirement}", share, queries=n)

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

    def _unknown(self, missing_fact: str) -> InputError:
        hint = "Evaluate again on one machine: those scores have it."
        return InputError(f"the scores of {self.scores.run!r} have {missing_fact}", hint=hint, code="not-known")

    def _cost(self, rule: Rule) -> Finding:
        costs = costs_of(self.scores, self.queries, rule)
        queries = counted(len(costs), "query", "queries")
        if rule.statistic is not None:
            value = statistic_of(costs, rule.statistic)
            words = f"{rule.kind} {rule.statistic} of {queries} is {value:g}"
        else:
            value = float(np.sort(costs)[rank_of(rule.quantile, len(costs)) - 1])
            words = f"{100 * rule.quantile:g}% of {queries} took at most {value:g}"
        words += f"; at most {rule.limit:g} may be"
        return Finding(rule, _status(_holds(rule, value)), words, value, queries=len(costs))


def _answered(scores: Scores) -> np.ndarray | None:
    """Which queries returned anything; None if that is not known."""
    returned = scores.query_facts.returned
    if returned is None:
        return None
    return returned > 0


def _holds(rule: Rule, value: float) -> bool:
    """Whether a value is on the right side of a rule's limit; NaN is on neither side."""
    if math.isnan(value):
        return False
    if rule.kind in ("floor", "overlap"):
        return not is_below(value, rule.limit)
    return not is_below(rule.limit, value)


def _status(holds: bool) -> Status:
    if holds:
        return "pass"
    return "fail"


def _direction(column: Column) -> float:
    """1 if higher values are better, else -1."""
    if column.higher_is_better:
        return 1.0
    return -1.0


def _summary(values: np.ndarray, average: str) -> float:
    if not len(values):
        return math.nan
    if average == "sum":
        return math.fsum(values.tolist())
    if average == "geometric":
        return float(np.exp(on_scale(values, average).mean()))
    return exact_mean(values)


def _movement(old: float, new: float, average: str) -> str:
    """How a value changed, in words."""
    old_words, new_words = format_value(old, average), format_value(new, average)
    if new > old:
        return f"rose from {old_words} to {new_words}"
    if new < old:
        return f"fell from {old_words} to {new_words}"
    return f"is still {new_words}"


def _size(old: float, new: float) -> str:
    """By how much a value changed; '' if it did not."""
    change = new - old
    if not change:
        return ""
    if not old:
        return f"{change:+.4f}"
    return f"{change:+.4f}, {change / abs(old):+.1%}"


def _tolerance_words(rule: Rule, tolerated: bool, gain: float) -> str:
    """How a loss compares with what is tolerated; '' if there is no loss."""
    if not tolerated:
        return f"more than the tolerated {rule.limit_words}"
    if gain < 0:
        return f"within the tolerated {rule.limit_words}"
    return ""


def _tolerance_in_test(draft: Draft, rule: Rule, queries: int) -> tuple[float, float]:
    """The tolerance as the factor of each query's old value, and as what is added to each query's gain."""
    direction, old, limit = draft.direction, draft.before, rule.limit
    if draft.average == "geometric":
        share = limit
        if old and not rule.relative:
            share = limit / abs(old)
        if direction > 0:
            share = min(share, 1 - 1e-12)
        return 1.0, -direction * math.log1p(-direction * share)

    if rule.relative:
        return 1.0 - direction * limit * math.copysign(1.0, old), 0.0
    if draft.average == "sum":
        return 1.0, limit / queries
    return 1.0, limit


def _moved(before: np.ndarray, after: np.ndarray, worse: int, better: int) -> str:
    """How many queries moved, in words."""
    n = len(before)
    text = f"{worse:,} of {counted(n, 'query', 'queries')} worse, {better:,} better"
    fell = int(((before > 0) & (after == 0)).sum())
    if fell:
        text += f"; {fell:,} fell to 0"

    unchanged = n - worse - better
    if not unchanged:
        return text
    if unchanged == 1:
        return f"{text}, 1 is the same"
    return f"{text}, {unchanged:,} are the same"


def counted(count: int, singular: str, plural: str) -> str:
    """A number with its noun: '1 query', '2 queries'."""
    if count == 1:
        return f"1 {singular}"
    return f"{count:,} {plural}"
