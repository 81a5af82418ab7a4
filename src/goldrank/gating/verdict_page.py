"""The page of a gate's verdict: the decision first, then rules, documents to judge and the queries that lost most."""

from __future__ import annotations

import math
from collections.abc import Sequence

from goldrank.base import ids
from goldrank.comparison.intervals import Interval
from goldrank.comparison.pair import format_interval
from goldrank.data.table import Part, Sentence, count, note_sentences
from goldrank.gating import verdict_report
from goldrank.gating.verdict import Finding, Status, Verdict
from goldrank.report import html
from goldrank.report.decision import Decision, picture_of
from goldrank.report.numbers import number, p_value

TEMPLATE = "verdict.html.jinja"
STYLES: dict[Status, str] = {"pass": "better", "fail": "worse", "unclear": "judge", "error": "unclear"}
SIGNS: dict[Status, str] = {"pass": "✓", "fail": "✗", "unclear": "✎", "error": "?"}
"""What stands before each word, for those who do not see colours."""


def render(verdict: Verdict) -> str:
    """One file for any browser, which loads nothing else and needs no script."""
    must_be_read = [finding for finding in verdict if verdict_report.must_be_read(finding)]
    rules: list[Part] = []
    if len(verdict):
        rules.append(verdict_report.rules(verdict))
    to_judge: list[Part] = []
    if verdict.to_judge:
        to_judge.append(verdict_report.to_judge(verdict))

    values = {
        "about": f"{count(len(verdict), 'rule')}; exit code {verdict.exit_code}.",
        "decision": decision(verdict),
        "words": f"{verdict.words}.",
        "rules": rules,
        "reasons": [verdict_report.reason(finding) for finding in verdict],
        "to_judge": to_judge,
        "lost": [(finding.rule, verdict_report.lost_most(finding)) for finding in must_be_read if finding.worst],
        "notes": note_sentences(verdict.notes),
        "signatures": verdict.signatures,
    }
    return html.render(TEMPLATE, f"Gate: {ids.show(verdict.run)}", values, scripted=False)


def decision(verdict: Verdict) -> Decision:
    """The box: the word, and the rule that decided it, or the first one."""
    word = verdict_report.HEADS[verdict.status].lower()
    style, sign = STYLES[verdict.status], SIGNS[verdict.status]
    if not len(verdict):
        changes = [Sentence(verdict.error, "warning")]
        return Decision(word, sign, style, "-", "nothing was decided", None, None, [], changes)

    finding = verdict_report.gravest(verdict)[0]
    value, about, picture = number(finding.value), finding.rule, None
    if finding.change is not None:
        value = number(finding.change, signed=True)
    if finding.interval is not None and finding.change is not None:
        about += f", interval {format_interval(finding.interval, signed=True)}"
        picture = picture_of(finding.change, finding.interval, zone=_tolerated(verdict, finding))

    return Decision(word, sign, style, value, about, picture, None, _rests_on(verdict, finding), _changes(finding))


def _tolerated(verdict: Verdict, finding: Finding) -> Interval | None:
    """The drop that the rule tolerates, as a zone on the worse side of 0."""
    rule = finding.asked
    if rule.kind != "drop" or rule.measure is None or finding.baseline is None:
        return None
    limit = abs(rule.limit)
    if rule.relative:
        limit *= abs(finding.baseline)
    if verdict.scores.columns[rule.measure].higher_is_better:
        return Interval(-limit, 0.0)
    return Interval(0.0, limit)


def _rests_on(verdict: Verdict, finding: Finding) -> list[str]:
    """The facts behind it: at most four."""
    value = f"{number(finding.value)} now"
    if finding.baseline is not None:
        value += f", {number(finding.baseline)} before"
    facts = [value]
    if finding.worse or finding.better:
        facts.append(f"{finding.worse:,} of {finding.queries:,} queries worse, {finding.better:,} better")
    if not math.isnan(finding.p_adjusted):
        facts.append(f"p {'at most ' * finding.at_most}{p_value(finding.p_adjusted)}, corrected")
    elif finding.question == "these queries":
        facts.append("Asked of these queries, which need no test")
    facts.append(f"{len(verdict) - len(verdict.failed):,} of {count(len(verdict), 'rule')} held")
    return facts


def _changes(finding: Finding) -> Sequence[Sentence]:
    """What would change it: at most three sentences."""
    sentences = []
    if finding.judge_first:
        sentences.append(f"{count(len(finding.judge_first), 'document')} to judge could decide it.")
    if finding.regressed:
        sentences.append("If the system always returns the same, say so (deterministic = true): this fails then.")
    if finding.status == "pass" and not math.isnan(finding.detectable):
        sentences.append(f"These queries would mostly show a drop of {finding.detectable:.4f} or more.")
    if finding.failed and finding.baseline is not None:
        sentences.append("If this was on purpose, --update sets the baseline anew.")
    return [Sentence(words, "remark") for words in sentences]
