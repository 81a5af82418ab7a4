"""The verdict of a gate: for people, a pull request, a build server and a program.

Ids come from outside. In every form they are shown as text and can neither break the form nor act in it: no markup,
no line breaks, no control characters, no commands to a build server.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from goldrank.base import ids
from goldrank.base.escaping import log_line
from goldrank.data.table import Cell, Cells, Fold, Head, Part, Sentence, Table, note_sentences
from goldrank.report import markdown
from goldrank.report.numbers import number, p_value

if TYPE_CHECKING:
    from goldrank.comparison.rank_changes import QueryChange
    from goldrank.gating.verdict import Finding, Status, Verdict

_GRAVE = {"fail": 0, "judge": 1}
"""What is shown first."""

HEADS: dict[Status, str] = {"pass": "PASS", "fail": "FAIL", "unclear": "JUDGE FIRST", "error": "ERROR"}
"""The word that a verdict begins with."""


# For people.


def markdown_text(verdict: Verdict) -> str:
    """A title with the verdict, then what people read."""
    title = f"### {markdown.SIGNS[verdict.status]} goldrank gate: {verdict.status}\n\n"
    return title + markdown.write([Sentence(verdict.words), *parts(verdict)[1:]])


def parts(verdict: Verdict) -> list[Part]:
    """The sentence, every rule with its values, the reasons, what to judge, what lost most, and the notes."""
    shown_parts: list[Part] = [Sentence(verdict.words, verdict.status, HEADS[verdict.status])]
    if len(verdict):
        shown_parts.append(rules(verdict))
    shown_parts += [reason(finding) for finding in verdict if must_be_read(finding)]
    if verdict.to_judge:
        shown_parts.append(to_judge(verdict))
    shown_parts += [lost_most(finding) for finding in verdict if must_be_read(finding) and finding.worst]
    passed = [reason(finding) for finding in verdict if not must_be_read(finding)]
    if passed:
        shown_parts.append(Fold("What passed", passed))

    notes = note_sentences(verdict.notes)
    shown_parts += [note for note in notes if note.style == "warning"]
    remarks = [note for note in notes if note.style != "warning"]
    if remarks:
        return [*shown_parts, Fold("Notes", remarks)]
    return shown_parts


def must_be_read(finding: Finding) -> bool:
    """Whether people must read it: it failed, documents must be judged, or these queries got worse."""
    return finding.status != "pass" or finding.regressed


def finding_parts(finding: Finding) -> list[Part]:
    """One rule: the reason, its values, and what lost most."""
    shown_parts: list[Part] = [reason(finding), rules([finding])]
    if finding.worst:
        return [*shown_parts, lost_most(finding)]
    return shown_parts


def gravest(verdict: Sequence[Finding]) -> list[Finding]:
    """The findings, those that decide the verdict first, then those that got worse on these queries."""
    return sorted(verdict, key=lambda finding: (_GRAVE.get(finding.label, len(_GRAVE)), not finding.regressed))


def rules(verdict: Sequence[Finding]) -> Table:
    """A row per finding, the gravest first."""
    rows: list[Cells] = [
        [
            Cell(finding.label, style=finding.label),
            finding.rule,
            number(finding.value),
            number(_or_nan(finding.baseline)),
            number(_or_nan(finding.change), signed=True),
            Cell(f"{'<= ' * finding.at_most}{p_value(finding.p_adjusted)}"),
        ]
        for finding in gravest(verdict)
    ]
    return Table([*Head.texts("", "rule"), *Head.numbers("value", "baseline", "change", "p")], rows)


def _or_nan(value: float | None) -> float:
    if value is None:
        return math.nan
    return value


def reason(finding: Finding) -> Sentence:
    """Why a rule holds or not, with its label."""
    return Sentence(f"{finding.rule}: {finding.words}", finding.label, finding.label)


def to_judge(verdict: Verdict) -> Table:
    """The documents to judge first."""
    rows: list[Cells] = []
    for document in verdict.to_judge:
        before, after = _rank(document.before), _rank(document.after)
        rows.append([document.query, document.doc, before, after, f"{document.move:+.4f}", f"{document.chance:.0%}"])
    heads = [*Head.names("query", "document"), *Head.numbers("rank before", "after", "if relevant", "chance")]
    return Table(heads, rows, "Judge these first: how far each moves its query's difference, and how likely that is")


def _rank(rank: int | None) -> str:
    if rank is None:
        return "-"
    return f"{rank:,}"


def lost_most(finding: Finding) -> Fold:
    """The queries that lost most, and why."""
    rows: list[Cells] = [
        [moved.query, f"{moved.before:.4f}", f"{moved.after:.4f}", f"{moved.change:+.4f}"] for moved in finding.worst
    ]
    heads = [*Head.names("query"), *Head.numbers("before", "after", "change")]
    if any(moved.cause for moved in finding.worst):
        heads += Head.texts("why", "documents")
        rows = [[*row, moved.cause, _why(moved)] for row, moved in zip(rows, finding.worst, strict=True)]
    return Fold(f"Queries that lost most: {finding.rule}", [Table(heads, rows)])


def _why(moved: QueryChange) -> str:
    """The documents that a query lost by: relevant ones that fell, and unjudged ones that came in or rose."""
    from goldrank.comparison.rank_changes import FALLS

    fell = [document for document in moved.documents if document.grade >= 1 and document.cause in FALLS][:2]
    causes = [f"{ids.show(document.doc)} {document.before} to {document.after or 'none'}" for document in fell]
    if moved.intruders and moved.cause == "intruder":
        named = ", ".join(ids.show(intruder.doc) for intruder in moved.intruders[:2])
        unnamed = len(moved.intruders) - 2
        if unnamed > 0:
            named += f" and {unnamed:,} more"
        causes.append(f"unjudged above: {named}")
    return "; ".join(causes)


# For build servers.


def junit(verdict: Verdict) -> str:
    """One test case per rule; one that waits for judgements is skipped."""
    errors = str(int(bool(verdict.error)))
    waiting = sum(finding.needs_judging for finding in verdict)
    counts = {"tests": str(max(1, len(verdict))), "failures": str(len(verdict.failed)), "errors": errors}
    counts |= {"skipped": str(waiting)}
    suite = ElementTree.Element("testsuite", {"name": "goldrank gate", **counts})
    for finding in verdict:
        case = ElementTree.SubElement(suite, "testcase", classname="goldrank.gate", name=log_line(finding.rule, 500))
        if finding.failed:
            failure = ElementTree.SubElement(case, "failure", message=log_line(finding.words))
            failure.text = "\n".join(_moved(finding)) or log_line(finding.words)
        elif finding.needs_judging:
            skipped = ElementTree.SubElement(case, "skipped", message=log_line(finding.words))
            named = [(log_line(first.doc, 60), log_line(first.query, 60)) for first in finding.judge_first]
            skipped.text = "\n".join(f"judge '{doc}' for '{query}'" for doc, query in named)
        else:
            ElementTree.SubElement(case, "system-out").text = log_line(f"{finding.status}: {finding.words}")

    if verdict.error:
        case = ElementTree.SubElement(suite, "testcase", classname="goldrank.gate", name="gate")
        ElementTree.SubElement(case, "error", message=log_line(verdict.error))

    suites = ElementTree.Element("testsuites", {"name": "goldrank", **counts})
    suites.append(suite)
    ElementTree.indent(suites)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ElementTree.tostring(suites, encoding='unicode')}\n"


def _moved(finding: Finding) -> list[str]:
    lines = []
    for moved in finding.worst:
        line = f"{moved.change:+.4f}  {moved.before:.4f} -> {moved.after:.4f}  '{log_line(moved.query, 60)}'"
        if moved.cause:
            line += f"  {moved.cause}: {log_line(_why(moved))}"
        lines.append(line)
    return lines


def github(verdict: Verdict) -> str:
    """A line per rule that people must read, and one for the verdict."""
    if verdict.error:
        return _annotation("error", "goldrank gate", verdict.error)

    lines = []
    for finding in verdict:
        if not must_be_read(finding):
            continue
        level = "warning"
        if finding.failed:
            level = "error"
        text = finding.words
        lost = ", ".join(ids.show(moved.query) for moved in finding.worst[:3])
        if lost:
            text += f"\nLost most: {lost}"
        judge = ", ".join(f"{ids.show(first.doc)} for {ids.show(first.query)}" for first in finding.judge_first[:3])
        if judge:
            text += f"\nJudge first: {judge}"
        lines.append(_annotation(level, f"goldrank: {finding.rule}", text))

    if not verdict.failed:
        lines.append(_annotation("notice", "goldrank gate", verdict.words))

    return "".join(lines)


def _annotation(level: str, title: str, message: str) -> str:
    escaped_title = log_line(title, 200)
    for sign, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C")):
        escaped_title = escaped_title.replace(sign, code)
    lines = [log_line(line) for line in message.splitlines()]
    body = "\n".join(lines).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{level} title={escaped_title}::{body}\n"
