"""The verdict of a gate: for people, a pull request, a build server and a program.

Ids come from outside. In every form they are shown as text and can neither break the form nor act in it: no markup,
no line breaks, no control characters, no commands to a build server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from goldrank import ids
from goldrank.data.table import Cell, Cells, Fold, Head, Part, Sentence, Table, note_sentences, plain
from goldrank.errors import one_of
from goldrank.escaping import log_line
from goldrank.report import WIDTH, markdown
from goldrank.report.numbers import number, p_value

if TYPE_CHECKING:
    from goldrank.gating.verdict import Finding, Verdict

FORMS = {
    "text": "for the terminal",
    "markdown": "for a comment on a pull request",
    "junit": "JUnit XML, which build servers read",
    "github": "annotations of GitHub Actions",
    "json": "everything, for programs",
}
ENDINGS = {".txt": "text", ".md": "markdown", ".xml": "junit", ".json": "json"}


def render(verdict: Verdict, form: str) -> str:
    """A verdict in one of the `FORMS`."""
    one_of(form, FORMS, "form")
    if form == "text":
        return plain(parts(verdict), WIDTH) + "\n"
    if form == "markdown":
        title = f"### {markdown.SIGNS[verdict.status]} goldrank gate: {verdict.status}\n\n"
        return title + markdown.write([Sentence(verdict.words), *parts(verdict)[1:]])
    if form == "json":
        return verdict.to_json() + "\n"
    return {"junit": junit, "github": github}[form](verdict)


# For people.


def parts(verdict: Verdict) -> list[Part]:
    """The sentence, every rule with its values, the reasons, the queries that lost most, and the notes."""
    shown: list[Part] = [Sentence(verdict.words, verdict.status, verdict.status.upper())]
    shown += [_rules(verdict)] if verdict.findings else []
    shown += [_reason(finding) for finding in verdict.findings if finding.status != "pass"]
    shown += [_lost_most(finding) for finding in verdict.failed if finding.worst]
    if passed := [_reason(finding) for finding in verdict.findings if finding.status == "pass"]:
        shown.append(Fold("What passed", passed))
    notes = note_sentences(verdict.notes)
    shown += [note for note in notes if note.style == "warning"]
    remarks = [note for note in notes if note.style != "warning"]
    return [*shown, Fold("Notes", remarks)] if remarks else shown


def _rules(verdict: Verdict) -> Table:
    rows: list[Cells] = [
        [
            Cell(finding.status, style=finding.status),
            finding.title,
            number(finding.value),
            number(finding.baseline),
            number(finding.change, signed=True),
            p_value(finding.adjusted),
        ]
        for finding in sorted(verdict.findings, key=lambda finding: not finding.failed)
    ]
    return Table([*Head.texts("", "rule"), *Head.numbers("value", "baseline", "change", "p")], rows)


def _reason(finding: Finding) -> Sentence:
    return Sentence(f"{finding.title}: {finding.words}", finding.status, finding.status)


def _lost_most(finding: Finding) -> Fold:
    rows: list[Cells] = [
        [moved.query, *(f"{value:.4f}" for value in (moved.before, moved.after)), f"{moved.change:+.4f}"]
        for moved in finding.worst
    ]
    return Fold(
        f"Queries that lost most: {finding.title}",
        [Table([*Head.names("query"), *Head.numbers("before", "after", "change")], rows)],
    )


# For build servers.


def junit(verdict: Verdict) -> str:
    """One test case per rule; one that is unclear passes and says so in its output."""
    errors = str(int(bool(verdict.error)))
    counts = {"tests": str(max(1, len(verdict.findings))), "failures": str(len(verdict.failed)), "errors": errors}
    suite = ElementTree.Element("testsuite", {"name": "goldrank gate", **counts})
    for finding in verdict.findings:
        case = ElementTree.SubElement(suite, "testcase", classname="goldrank.gate", name=log_line(finding.title, 500))
        if finding.failed:
            failure = ElementTree.SubElement(case, "failure", message=log_line(finding.words))
            failure.text = "\n".join(_moved(finding)) or log_line(finding.words)
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
    return [
        f"{moved.change:+.4f}  {moved.before:.4f} -> {moved.after:.4f}  '{log_line(moved.query, 60)}'"
        for moved in finding.worst
    ]


def github(verdict: Verdict) -> str:
    """A line per rule that failed or is unclear, and one for the verdict."""
    if verdict.error:
        return _annotation("error", "goldrank gate", verdict.error)
    lines = []
    for finding in verdict.findings:
        if finding.status != "pass":
            level = "error" if finding.failed else "warning"
            lost = ", ".join(ids.show(moved.query) for moved in finding.worst[:3])
            text = f"{finding.words}\nLost most: {lost}" if lost else finding.words
            lines.append(_annotation(level, f"goldrank: {finding.title}", text))
    if not verdict.failed:
        lines.append(_annotation("notice", "goldrank gate", verdict.words))
    return "".join(lines)


def _annotation(level: str, title: str, message: str) -> str:
    shown = log_line(title, 200)
    for sign, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C")):
        shown = shown.replace(sign, code)
    lines = [log_line(line) for line in message.splitlines()]
    body = "\n".join(lines).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{level} title={shown}::{body}\n"
