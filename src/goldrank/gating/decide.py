"""May this run go in? `Rule`s, a run and what it is held against -> a `Verdict`, with a reason for everything.

Tested drops of a gate are one family: if nothing but chance is at work, the probability that any of them fails is
at most alpha, however many rules and slices there are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from goldrank import __version__, conventions, ids, io
from goldrank.comparison import correction, paired, power, slices
from goldrank.comparison.build import flips_for
from goldrank.comparison.paired import Interval
from goldrank.conventions import Convention
from goldrank.data.aspects import AspectQrels
from goldrank.data.preferences import Preferences
from goldrank.data.scores import Column, Scores, format_value
from goldrank.errors import BaselineError, InputError, did_you_mean
from goldrank.evaluation.documents import evaluate
from goldrank.gating.baseline import Baseline, Basis, judgement_hashes
from goldrank.gating.rules import OF_MEASURES, Rule, Rules
from goldrank.gating.verdict import Finding, Moved, Verdict
from goldrank.measures import parse

RETURNED, JUDGED = "NumRet", "Judged"
"""Measures that tell a gate which queries returned anything, and anything judged."""


def gate(
    qrels: Any,
    run: Any,
    rules: Any,
    baseline: Any = None,
    *,
    db: str | Path | None = None,
    convention: str | Convention = conventions.DEFAULT,
    format: str | None = None,
    depth: int | None = None,
    metadata: Any = None,
    latency: Any = None,
    allow_changed_qrels: bool = False,
    **policies: Any,
) -> Verdict:
    """Hold a run to rules.

    `rules` is a TOML file or a list such as ["nDCG@10 >= 0.40", "AP: -1%"]; `baseline` a file made by
    `goldrank baseline set`, the name of one in the history `db`, or `Scores`. Other arguments are those of `evaluate`.
    `metadata` gives attributes of queries to rules about slices, `latency` times to those about latency.

    >>> from goldrank import gate
    >>> gate({"q1": {"d1": 1}}, {"q1": ["x", "d1"]}, ["RR >= 0.4", "missing <= 0%"]).status
    'pass'
    """
    held_to = Rules.of(rules)
    policy = conventions.get(convention).having(**policies)
    judged = qrels if isinstance(qrels, AspectQrels | Preferences) else io.as_qrels(qrels, judgements=policy.judgements)
    against = None if baseline is None else Baseline.of(baseline, db)
    scores = evaluate(judged, run, measures_for(held_to, policy), convention=policy, format=format, depth=depth)
    if not isinstance(scores, Scores):
        raise InputError("a gate is for one run", hint="Call it once for each run.")
    known = against is not None and against.judgements is not None and against.basis.qrels != judged.digest
    hashes = judgement_hashes(judged) if known else None
    now = Basis(judged.digest, judged.criteria or "", policy.label, depth, scores.queries, hashes, __version__)

    def relevant() -> dict[str, int]:
        return {query: sum(grade >= 1 for grade in docs.values()) for query, docs in _grades(judged).items()}

    return _gate(scores, held_to, against, now, policy, metadata, latency, allow_changed_qrels, relevant)


def gate_scores(
    scores: Scores,
    rules: Any,
    baseline: Any = None,
    *,
    db: str | Path | None = None,
    metadata: Any = None,
    latency: Any = None,
    allow_changed_qrels: bool = False,
) -> Verdict:
    """Hold scores, made now or saved earlier, to rules; the arguments are those of `gate`."""
    against = None if baseline is None else Baseline.of(baseline, db)
    policies = scores.provenance.get("policies") or {}
    policy = conventions.DEFAULT.having(**{key: policies[key] for key in conventions.POLICIES if key in policies})
    now = Basis.of(scores)
    return _gate(scores, Rules.of(rules), against, now, policy, metadata, latency, allow_changed_qrels, _unknown)


def measures_for(rules: Rules, convention: Convention) -> list[str]:
    """What must be measured to decide on the rules, and to see which queries returned anything."""
    found = rules.measures
    if convention.ties != "bounds" and convention.bounds == "none":
        found.append(RETURNED)
    if any(rule.kind == "overlap" for rule in rules.rules):
        found.append(JUDGED)
    return list(dict.fromkeys(found))


def _unknown() -> Mapping[str, int]:
    raise InputError("slices by the number of relevant documents need the judgements", hint="Use gate(qrels, run).")


def _grades(judged: Any) -> Mapping[str, Mapping[str, Any]]:
    grades: Mapping[str, Mapping[str, Any]] = (getattr(judged, "documents", judged)).text
    return grades


def _gate(
    scores: Scores,
    rules: Rules,
    baseline: Baseline | None,
    now: Basis,
    policy: Convention,
    metadata: Any,
    latency: Any,
    allow_changed_qrels: bool,
    relevant: Callable[[], Mapping[str, int]],
) -> Verdict:
    notes: list[str] = []
    if baseline is None:
        wanting = next((rule for rule in rules.rules if rule.needs_baseline), None)
        if wanting is not None:
            raise BaselineError(
                f"the rule '{ids.show(str(wanting))}' needs a baseline",
                hint="Name one with --baseline (baseline=...); `goldrank baseline set` makes it.",
            )
    else:
        notes += _compatible(baseline, now, allow_changed_qrels)
        _check_alive(baseline.scores, f"the baseline {ids.show(baseline.name, 200)}")
    _check_alive(scores, "the run")
    case = _Case(scores, baseline, rules, policy, metadata, latency, relevant, notes)
    drafts = [draft for rule in rules.rules for draft in case.drafts(rule)]
    findings = _tested(drafts, rules)
    return Verdict(
        run=scores.run,
        findings=tuple(findings),
        baseline=baseline.words if baseline else "",
        rules=rules.name,
        notes=(*dict.fromkeys(notes), *(f"{note}" for note in scores.notes)),
        scores=scores,
    )


def _check_alive(scores: Scores, what: str) -> None:
    """A system that returned nothing at all did not run: no number says anything about it."""
    if scores.counts.get("retrieved") == 0 or not len(scores.queries):
        raise InputError(
            f"{what} returned nothing for any of the {len(scores.queries):,} queries: it did not run",
            hint="Nothing was compared. Look for what went wrong before the evaluation.",
        )


def _compatible(baseline: Baseline, now: Basis, allow_changed_qrels: bool) -> list[str]:
    """Refuse a run that the baseline says nothing about; what is allowed is noted."""
    then = baseline.basis
    rules = then.other_rules(now)
    if rules:
        raise BaselineError(
            f"cannot be compared with this run: {'; '.join(rules)}",
            where=baseline.name,
            hint="Measure the run as the baseline was measured, or set the baseline anew.",
        )
    other = then.other_judgements(now)
    if other and not allow_changed_qrels:
        raise BaselineError(
            f"was made with other judgements: {'; '.join(other)}",
            where=baseline.name,
            hint="Set the baseline anew with these judgements, or compare all the same: --allow-changed-qrels "
            "(allow_changed_qrels=True).",
        )
    notes = [f"compared although the judgements changed: {text}" for text in other]
    if then.version and now.version and then.version != now.version:
        notes.append(f"the baseline was measured by goldrank {then.version}, the run by {now.version}")
    return notes


@dataclass(frozen=True)
class _Draft:
    """A finding whose test is still to be made."""

    finding: Finding
    gain: np.ndarray | None = None
    """One difference per common query, positive where it got better, 0 where the rule is not about the query."""
    up: float = 1.0
    """-1 if lower values are better."""
    average: str = "mean"
    tolerated: bool = True
    text: str = ""
    """What happened: 'AP fell from 0.5 to 0.4'."""
    by: str = ""
    """By how much: '-0.1000, -20.0%'."""
    limit: str = ""
    """How that compares with what is tolerated."""
    moved: str = ""
    """How many queries moved."""


class _Case:
    """One run and what it is held against, aligned by query id."""

    def __init__(
        self,
        scores: Scores,
        baseline: Baseline | None,
        rules: Rules,
        policy: Convention,
        metadata: Any,
        latency: Any,
        relevant: Callable[[], Mapping[str, int]],
        notes: list[str],
    ) -> None:
        self.scores, self.rules, self.policy, self.notes = scores, rules, policy, notes
        self.before = baseline.scores if baseline else None
        self.metadata = metadata if metadata is not None else rules.metadata and rules.beside(rules.metadata)
        self.latency, self.relevant = latency, relevant
        self._groups: dict[str, dict[str, np.ndarray]] = {}
        self.at_now = np.arange(len(scores.queries))
        self.at_then = np.empty(0, np.int64)
        self.gone: list[str] = []
        """Queries that the baseline answered and the run did not."""
        if self.before is not None:
            self._align(self.before)

    def _align(self, before: Scores) -> None:
        if before.queries == self.scores.queries:
            self.at_then = self.at_now
        else:
            where = {query: i for i, query in enumerate(before.queries)}
            common = [(i, where[query]) for i, query in enumerate(self.scores.queries) if query in where]
            if not common:
                raise BaselineError(
                    f"the baseline and the run have no query in common; baseline: {ids.samples(before.queries)}, "
                    f"run: {ids.samples(self.scores.queries)}"
                )
            self.at_now = np.array([now for now, _ in common], np.int64)
            self.at_then = np.array([then for _, then in common], np.int64)
            self.notes.append(
                f"compared on the {len(common):,} queries that both have "
                f"(baseline {len(before.queries):,}, run {len(self.scores.queries):,})"
            )
        then, now = _answered(before), _answered(self.scores)
        if then is not None and now is not None:
            silent = {q for q, there in zip(self.scores.queries, now.tolist(), strict=True) if not there}
            present = set(self.scores.queries)
            self.gone = [
                q
                for q, there in zip(before.queries, then.tolist(), strict=True)
                if there and (q in silent or (q not in present and self.policy.missing == "skip"))
            ]
            if self.gone:
                self.notes.append(
                    f"{_many(len(self.gone), 'query', 'queries')} that the baseline answered returned nothing: "
                    f"{ids.samples(self.gone)}"
                )

    def name(self, measure: str) -> str:
        """The measure with the convention's options, as the scores have it."""
        parsed = parse(measure)
        return str(parsed.having(self.policy.options.get(parsed.name, {})))

    def column(self, scores: Scores, measure: str, whose: str) -> Column:
        """A measure's column, or what to do about there being none."""
        for name in (self.name(measure), measure):
            if name in scores.columns:
                return scores.columns[name]
        known = ", ".join(scores.columns)
        raise BaselineError(
            f"{whose} has no {measure}; it has: {known}",
            hint=did_you_mean(measure, scores.columns) or "Set the baseline anew with the measures of the rules.",
        )

    def drafts(self, rule: Rule) -> list[_Draft]:
        """What one rule finds: one draft, or one for each group of queries."""
        if rule.kind not in OF_MEASURES:
            return [_Draft(self._share(rule) if rule.kind != "latency" else self._latency(rule))]
        if rule.slice is None:
            return [self._measured(rule, "", None)]
        groups = self.groups(rule.slice)
        if rule.value is not None and rule.value not in groups:
            raise InputError(
                f"the rule '{ids.show(str(rule))}': no query has {ids.show(rule.slice)} {ids.show(rule.value)!r}",
                hint=did_you_mean(rule.value, groups) or f"There are: {', '.join(map(ids.show, list(groups)[:20]))}.",
            )
        wanted = groups if rule.value is None else {rule.value: groups[rule.value]}
        return [self._measured(rule, f"{rule.slice}={label}", which) for label, which in wanted.items()]

    def groups(self, attribute: str) -> dict[str, np.ndarray]:
        """The run's queries by their value of an attribute."""
        if attribute not in self._groups:
            queries = self.scores.queries
            given = self.metadata
            if isinstance(given, Mapping):
                given = given.get(attribute)
            found: list[Any]
            if attribute == "relevant":
                counts = self.relevant()
                found = [counts.get(query) for query in queries]
            elif given is None:
                raise InputError(
                    f"slices by {ids.show(attribute)!r} need the queries' values",
                    hint='Name a JSONL file: metadata = "queries.jsonl" in the rules, or --metadata.',
                )
            elif attribute == "length":
                texts = slices.lookup(given, "queries")
                found = [None if text is None else len(str(text).split()) for text in map(texts, queries)]
            else:
                found = list(map(slices.lookup(given, attribute), queries))
            parts = slices.labels(attribute, found, self.notes)
            if parts is None:
                label = next(str(value) for value in found if value is not None)
                parts = {label: np.array([value is not None for value in found])}
            self._groups[attribute] = parts
        return self._groups[attribute]

    def _measured(self, rule: Rule, group: str, which: np.ndarray | None) -> _Draft:
        column = self.column(self.scores, str(rule.measure), "the run")
        of_group = f" where {ids.show(group.replace('=', ' is ', 1))}" if group else ""
        silent = self._silent(which)
        if silent:
            words = f"the run returned nothing for any of the {silent:,} queries{of_group}"
            return _Draft(Finding(rule, "fail", words, math.nan, group, queries=silent))
        if rule.kind == "drop":
            return self._drop(rule, group, of_group, which, column)
        values = column.values if which is None else column.values[which]
        there = values[~np.isnan(values)]
        value = column.summary if which is None else _summary(there, column.average)
        ok = value >= rule.limit if rule.kind == "floor" else value <= rule.limit
        shown = format_value(value, column.average)
        beyond = "at least" if rule.kind == "floor" else "at most"
        if math.isnan(value):
            words = f"{rule.measure} is not a number{of_group}, where {beyond} {rule.limit_words} is asked for"
        else:
            off = abs(value - rule.limit)
            apart = "" if ok else f", {format_value(off)} too {'little' if rule.kind == 'floor' else 'much'}"
            queries = _many(len(there), "query", "queries")
            words = f"{rule.measure} is {shown}{of_group} ({queries}); {beyond} {rule.limit_words} is asked for{apart}"
        finding = Finding(rule, "pass" if ok else "fail", words, value, group, queries=len(there))
        if self.before is not None and self.name(str(rule.measure)) in self.before.columns:
            before, after, queries_at = self._pair(str(rule.measure), column, which)
            old = _summary(before, column.average)
            finding = replace(
                finding,
                baseline=old,
                worst=() if ok else self._worst(before, after, queries_at, 1 if column.higher_is_better else -1),
            )
        return _Draft(finding)

    def _silent(self, which: np.ndarray | None) -> int:
        """How many queries the group has if none of them returned anything, else 0."""
        now = _answered(self.scores)
        if now is None or which is None or not which.any() or now[which].any():
            return 0
        return int(which.sum())

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

    def _drop(self, rule: Rule, group: str, of_group: str, which: np.ndarray | None, column: Column) -> _Draft:
        measure = str(rule.measure)
        before, after, at = self._pair(measure, column, which)
        n = len(before)
        if not n:
            words = f"{measure} has no value on any query that both have{of_group}: nothing can be compared"
            return _Draft(Finding(rule, "fail", words, math.nan, group))
        assert self.before is not None
        then = _answered(self.before)
        if which is not None and then is not None and not then[self.at_then[at]].any():
            words = f"the baseline returned nothing for any of the {n:,} queries{of_group}: nothing can be compared"
            return _Draft(Finding(rule, "fail", words, math.nan, group, queries=n))
        up = 1.0 if column.higher_is_better else -1.0
        old, new = _summary(before, column.average), _summary(after, column.average)
        gain = up * (after - before)
        worse, better = int((gain < 0).sum()), int((gain > 0).sum())
        finding = Finding(
            rule, "pass", "", new, group, baseline=old, queries=n, worse=worse, better=better,
            worst=self._worst(before, after, at, up),
        )  # fmt: skip
        change = new - old
        ends = [format_value(value, column.average) for value in (old, new)]
        told = f"{'rose' if change > 0 else 'fell'} from {ends[0]} to {ends[1]}" if change else f"is still {ends[1]}"
        text = f"{measure} {told}{of_group}"
        by = f"{change:+.4f}" + (f", {change / abs(old):+.1%}" if old else "") if change else ""
        moved = f"{worse:,} of {n:,} {'query' if n == 1 else 'queries'} worse, {better:,} better"
        hidden = self._hidden(column, which)
        if hidden:
            words = (
                f"{text}, but {hidden} that the baseline answered returned nothing, which {measure} does not show as a "
                f"loss; if that is meant, say how many may: a rule such as 'missing <= 1%'"
            )
            return _Draft(replace(finding, status="fail", words=words))
        tolerance = rule.limit * abs(old) if rule.relative else rule.limit
        loss = -up * change
        # A loss that is exactly the tolerance is tolerated, whatever rounding makes of it.
        tolerated = loss <= tolerance + 1e-12 * max(1.0, abs(old))
        limit = f"more than the tolerated {rule.limit_words}" if not tolerated else ""
        if tolerated and loss > 0:
            limit = f"within the tolerated {rule.limit_words}"
        if not rule.tested:
            words = f"{text}{f' ({by})' if by else ''}{f', {limit}' if limit else ''}; {moved}"
            return _Draft(replace(finding, status="pass" if tolerated else "fail", words=words))
        if column.average == "geometric":
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = up * (np.log(after) - np.log(before))
            if not np.isfinite(gain).all():
                raise InputError(f"{measure} cannot be tested: it is 0 on some query", hint="Use tested = false.")
        spread = np.zeros(len(self.at_now))
        spread[at] = gain
        return _Draft(finding, spread, up, column.average, tolerated, text, by, limit, moved)

    def _hidden(self, column: Column, which: np.ndarray | None) -> str:
        """Queries that fell silent where the measure does not count that as worse, in words."""
        if not self.gone or any(rule.kind == "missing" for rule in self.rules.rules):
            return ""
        if column.higher_is_better and self.policy.missing != "skip":
            return ""
        gone = self.gone
        if which is not None:
            inside = {q for q, there in zip(self.scores.queries, which.tolist(), strict=True) if there}
            gone = [query for query in gone if query in inside]
        return f"{_many(len(gone), 'query', 'queries')} ({ids.samples(gone)})" if gone else ""

    def _worst(self, before: np.ndarray, after: np.ndarray, at: np.ndarray, up: float) -> tuple[Moved, ...]:
        gain = up * (after - before)
        order = np.argsort(gain, kind="stable")[: self.rules.worst]
        where = self.at_now[at]
        return tuple(
            Moved(self.scores.queries[where[i]], float(before[i]), float(after[i])) for i in order if gain[i] < 0
        )

    def _share(self, rule: Rule) -> Finding:
        counts, n = self.scores.counts, len(self.scores.queries)
        if rule.kind == "overlap":
            judged = self.column(self.scores, JUDGED, "the run").values
            share = float((judged > 0).mean())
            text = f"{share:.1%} of {_many(n, 'query', 'queries')} have a judged document in their results"
            ok = share >= rule.limit
            asked = "at least"
        elif rule.kind == "unjudged":
            share = 1 - counts["judged_retrieved"] / counts["retrieved"]
            text = f"{share:.1%} of {counts['retrieved']:,} returned documents are unjudged"
            ok, asked = share <= rule.limit, "at most"
        else:
            n = counts["queries"]
            empty = counts["missing"] + counts["no_results"]
            share = empty / n
            text = f"{empty:,} of {_many(n, 'judged query', 'judged queries')} ({share:.1%}) are without any result"
            ok, asked = share <= rule.limit, "at most"
        words = f"{text}; {asked} {rule.limit_words} {'is asked for' if asked == 'at least' else 'may be'}"
        return Finding(rule, "pass" if ok else "fail", words, share, queries=n)

    def _latency(self, rule: Rule) -> Finding:
        given = self.latency
        if given is None:
            if rule.file is None:
                raise InputError(
                    f"the rule '{rule}' needs a file with latencies",
                    hint='Name it with --latency, or as file = "latency.jsonl" in the rule.',
                )
            given = self.rules.beside(rule.file)
        times = _times(given, rule.field)
        value = float(np.quantile(times, rule.quantile, method="inverted_cdf"))
        ok = value <= rule.limit
        words = f"{100 * rule.quantile:g}% of {_many(len(times), 'query', 'queries')} took at most {value:g}"
        words += f"; at most {rule.limit:g} may be"
        return Finding(rule, "pass" if ok else "fail", words, value, queries=len(times))


def _tested(drafts: Sequence[_Draft], rules: Rules) -> list[Finding]:
    """The findings, with the tests that they need: one family, corrected together."""
    settings = rules.settings
    family = [i for i, one in enumerate(drafts) if one.gain is not None and not _is_small(one)]
    p_values = dict(zip(family, _p_values([drafts[i] for i in family], rules), strict=True))
    adjusted = dict(
        zip(family, correction.adjust(np.array(list(p_values.values())), settings.correct).tolist(), strict=True)
    )
    level = settings.alpha if settings.correct == "none" else settings.alpha / max(1, len(family))
    found = []
    for i, draft in enumerate(drafts):
        one = draft.finding
        if draft.gain is None:
            found.append(one)
            continue
        gain = _own(draft)
        interval = _interval(draft, gain, settings.level)
        one = replace(one, interval=interval, p=p_values.get(i, math.nan), adjusted=adjusted.get(i, math.nan))
        by = draft.by
        if by and not math.isnan(interval.low):
            by += f"; {settings.level:.0%} interval {interval.low:+.4f} to {interval.high:+.4f}"
        text = f"{draft.text}{f' ({by})' if by else ''}{f', {draft.limit}' if draft.limit else ''}"
        p = _p(one, len(family), settings.correct)
        if draft.tolerated:
            found.append(replace(one, words=f"{text}; {draft.moved}"))
        elif _is_small(draft):
            few = f"but {_many(one.queries, 'query is', 'queries are')} too few to tell loss from noise"
            found.append(replace(one, status="unclear", words=f"{text}, {few}; {draft.moved}"))
        elif one.adjusted <= settings.alpha:
            words = f"{text}, and chance alone would rarely do this ({p}); {draft.moved}"
            found.append(replace(one, status="fail", words=words))
        else:
            drop = _in_value(draft, power.detectable_difference(gain, settings.power, min(2 * level, 0.999)))
            words = f"{text}, but chance could do it ({p}); {draft.moved}"
            if not math.isnan(drop):
                of = f" ({drop / abs(one.baseline):.1%})" if one.baseline else ""
                words += f". These queries would show a drop of {drop:.4f}{of} {settings.power:.0%} of the time"
            found.append(replace(one, status="unclear", words=words, detectable=drop))
    return found


def _is_small(draft: _Draft) -> bool:
    return bool(draft.finding.group) and draft.finding.queries < slices.SMALL


def _own(draft: _Draft) -> np.ndarray:
    """The differences of the draft's own queries; those it is not about are only zeros to it."""
    assert draft.gain is not None
    changed = draft.gain[draft.gain != 0]
    return np.concatenate((changed, np.zeros(draft.finding.queries - len(changed))))


def _p_values(family: Sequence[_Draft], rules: Rules) -> list[float]:
    """One-sided p-values; a rule that is not worse off at all is not worth a sample."""
    found = [1.0] * len(family)
    worse = [i for i, one in enumerate(family) if one.gain is not None and one.gain.sum() < 0]
    if not worse:
        return found
    gains = np.array([family[i].gain for i in worse])
    settings = rules.settings
    if settings.test == "randomization":
        sampled = paired.loss_tests(gains, flips_for(len(family), settings), settings.seed)
        for i, p in zip(worse, sampled.tolist(), strict=True):
            found[i] = p
        return found
    for row, i in enumerate(worse):
        p = paired.t_loss_test(_own(family[i]))
        if math.isnan(p):  # all queries lost the same, which t has no answer to
            p = float(paired.loss_tests(gains[row : row + 1], settings.samples, settings.seed)[0])
        found[i] = p
    return found


def _interval(draft: _Draft, gain: np.ndarray, level: float) -> Interval:
    """Student's interval of the change."""
    if not gain.any():
        return Interval(0.0, 0.0)
    found = paired.t_interval(gain, level)
    if math.isnan(found.low):
        return found
    ends = sorted(draft.up * end for end in (found.low, found.high))
    if draft.average == "geometric":
        return Interval(*(draft.finding.baseline * math.expm1(end) for end in ends))
    return Interval(*(end * (len(gain) if draft.average == "sum" else 1) for end in ends))


def _in_value(draft: _Draft, drop: float) -> float:
    """A mean difference as a drop of the value."""
    if draft.average == "geometric":
        return draft.finding.baseline * -math.expm1(-drop)
    return drop * (draft.finding.queries if draft.average == "sum" else 1)


def _p(one: Finding, tests: int, correct: str) -> str:
    raw = "p < 0.001" if one.adjusted < 0.001 else f"p = {one.adjusted:.3f}"
    return raw if tests == 1 or correct == "none" else f"{raw} after correction for {tests} tests"


def _answered(scores: Scores) -> np.ndarray | None:
    """Which queries returned anything; None if nobody measured it."""
    column = scores.columns.get(RETURNED)
    if column is not None:
        return column.values > 0
    return None


def _summary(values: np.ndarray, average: str) -> float:
    if not len(values):
        return math.nan
    if average == "sum":
        return float(values.sum())
    if average == "geometric":
        with np.errstate(divide="ignore"):
            return float(np.exp(np.log(values).mean()))
    return float(np.cumsum(values)[-1] / len(values))


def _times(given: Any, field_name: str) -> np.ndarray:
    """Latencies from a mapping, a JSON object of numbers by query, or JSONL with a field."""
    where = ids.show(str(given), 200) if isinstance(given, str | Path) else "latency"
    if isinstance(given, str | Path):
        try:
            data = json.loads(Path(given).read_bytes())
        except OSError as error:
            raise InputError(f"cannot be opened: {error.strerror}", where=where) from None
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict) and field_name not in data:
            given = data
        else:
            rows = slices.read_jsonl(Path(given))
            for number, row in enumerate(rows, 1):
                if field_name not in row:
                    hint = did_you_mean(field_name, row) or f"Fields are: {', '.join(map(ids.show, list(row)[:8]))}."
                    raise InputError(f"object {number:,} has no field {ids.show(field_name)!r}", where=where, hint=hint)
            given = [row[field_name] for row in rows]
    listed = list(given.values()) if isinstance(given, Mapping) else list(given)
    if not listed:
        raise InputError("no latencies", where=where)
    for value in listed:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
            raise InputError(f"{value!r:.60} is no latency", where=where, hint="Latencies are numbers from 0 on.")
    return np.array(listed, np.float64)


def _many(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
