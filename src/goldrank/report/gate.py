"""The verdict of a gate: for the terminal, a pull request, a build server and a program.

Ids come from outside. In every form they are shown as text and can neither break the form nor act in it: no markup,
no line breaks, no control characters, no commands to a build server.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from goldrank import ids
from goldrank.errors import one_of
from goldrank.report.cells import number, p_value
from goldrank.report.markdown import escape

if TYPE_CHECKING:
    from rich.console import Group

    from goldrank.gating.verdict import Finding, Verdict

FORMS = {
    "text": "for the terminal",
    "markdown": "for a comment on a pull request",
    "junit": "JUnit XML, which build servers read",
    "github": "annotations of GitHub Actions",
    "json": "everything, for programs",
}
ENDINGS = {".txt": "text", ".md": "markdown", ".xml": "junit", ".json": "json"}

STYLES = {"pass": "green", "unclear": "yellow", "fail": "bold red", "error": "bold red"}


def render(verdict: Verdict, form: str, width: int = 120) -> str:
    """A verdict in one of the `FORMS`."""
    one_of(form, FORMS, "form")
    if form == "text":
        return text(verdict, width)
    if form == "json":
        return verdict.to_json() + "\n"
    return {"markdown": markdown, "junit": junit, "github": github}[form](verdict)


def tame(shown: str, limit: int = 2000) -> str:
    """Text for a log: nothing in it is a control character or a command to a build server."""
    return re.sub(r"(^|(?<=\s)):(?=:)", r"\\x3a", ids.show(shown, limit)).replace("##[", "#\\x23[")


# For the terminal.


def text(verdict: Verdict, width: int = 120) -> str:
    """The verdict as plain text."""
    from rich.console import Console

    file = io.StringIO()
    console = Console(file=file, width=width, color_system=None, force_terminal=False, emoji=False, highlight=False)
    console.print(view(verdict))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def view(verdict: Verdict) -> Group:
    """The verdict as rich shows it: the sentence, every rule with its reason, the queries that lost most."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    head = Text(f"{verdict.status.upper()}  ", style=STYLES[verdict.status])
    parts: list[Text | Padding] = [head.append(tame(verdict.words), style="bold"), Text("")]
    for one in sorted(verdict.findings, key=lambda one: not one.failed):
        parts.append(Text(f"{one.status:<8}", style=STYLES[one.status]).append(tame(one.title), style="bold"))
        parts.append(Padding(Text(tame(one.words)), (0, 0, 0, 8)))
        if one.failed and one.worst:
            for moved in one.worst:
                change = f"{moved.change:+.4f}  {moved.before:.4f} -> {moved.after:.4f}  "
                line = Text(change, style="dim", no_wrap=True, overflow="ellipsis").append(f"'{tame(moved.query)}'")
                parts.append(Padding(line, (0, 0, 0, 10)))
    parts += [Text("")] if verdict.notes else []
    parts += [Text(f"- {tame(str(note))}", style="dim") for note in verdict.notes]
    return Group(*parts)


# For a pull request.


def code(shown: str, limit: int = 80) -> str:
    """An id in Markdown: every sign that could mean something is written as its number."""
    signs = (c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in ids.show(shown, limit))
    return f"<code>{''.join(signs)}</code>"


def markdown(verdict: Verdict) -> str:
    """A table of the rules, reasons of those that failed or are unclear, and the queries that lost most."""
    sign = {"pass": "✅", "fail": "❌", "error": "⚠️", "unclear": "❔"}
    lines = [f"### {sign[verdict.status]} goldrank gate: {verdict.status}", "", escape(verdict.words, 1000), ""]
    if verdict.findings:
        lines += ["| | rule | value | baseline | change | p |", "|---|---|---:|---:|---:|---:|"]
    for one in verdict.findings:
        cells = [
            f"{sign[one.status]} {one.status}",
            code(one.title, 200),
            number(one.value),
            number(one.baseline),
            number(one.change, signed=True),
            p_value(one.adjusted).replace("<", "&lt;"),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    reasons = [one for one in verdict.findings if one.status != "pass"]
    lines += ["", *(f"- **{one.status}** {code(one.title, 200)}: {escape(one.words, 2000)}" for one in reasons)]
    for one in reasons:
        if one.failed and one.worst:
            lines += ["", "<details>", f"<summary>Queries that lost most: {code(one.title, 200)}</summary>", ""]
            lines += ["| query | before | after | change |", "|---|---:|---:|---:|"]
            lines += [
                f"| {code(moved.query)} | {moved.before:.4f} | {moved.after:.4f} | {moved.change:+.4f} |"
                for moved in one.worst
            ]
            lines += ["", "</details>"]
    if verdict.notes:
        lines += ["", "<details>", "<summary>Notes</summary>", ""]
        lines += [f"- {escape(str(note), 1000)}" for note in verdict.notes] + ["", "</details>"]
    return "\n".join(lines).rstrip() + "\n"


# For build servers.


def junit(verdict: Verdict) -> str:
    """One test case per rule; one that is unclear passes and says so in its output."""
    errors = str(int(bool(verdict.error)))
    counts = {"tests": str(max(1, len(verdict.findings))), "failures": str(len(verdict.failed)), "errors": errors}
    suite = ElementTree.Element("testsuite", {"name": "goldrank gate", **counts})
    for one in verdict.findings:
        case = ElementTree.SubElement(suite, "testcase", classname="goldrank.gate", name=ids.show(one.title, 500))
        if one.failed:
            failure = ElementTree.SubElement(case, "failure", message=ids.show(one.words, 2000))
            failure.text = "\n".join(_moved(one)) or ids.show(one.words, 2000)
        else:
            ElementTree.SubElement(case, "system-out").text = ids.show(f"{one.status}: {one.words}", 2000)
    if verdict.error:
        case = ElementTree.SubElement(suite, "testcase", classname="goldrank.gate", name="gate")
        ElementTree.SubElement(case, "error", message=ids.show(verdict.error, 2000))
    suites = ElementTree.Element("testsuites", {"name": "goldrank", **counts})
    suites.append(suite)
    ElementTree.indent(suites)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ElementTree.tostring(suites, encoding='unicode')}\n"


def _moved(one: Finding) -> list[str]:
    return [
        f"{moved.change:+.4f}  {moved.before:.4f} -> {moved.after:.4f}  '{ids.show(moved.query)}'"
        for moved in one.worst
    ]


def github(verdict: Verdict) -> str:
    """A line per rule that failed or is unclear, and one for the verdict."""
    if verdict.error:
        return _annotation("error", "goldrank gate", verdict.error)
    lines = []
    for one in verdict.findings:
        if one.status != "pass":
            level = "error" if one.failed else "warning"
            worst = [f"Lost most: {', '.join(ids.show(m.query) for m in one.worst[:3])}"] if one.worst else []
            lines.append(_annotation(level, f"goldrank: {one.title}", "\n".join([one.words, *worst])))
    if not verdict.failed:
        lines.append(_annotation("notice", "goldrank gate", verdict.words))
    return "".join(lines)


def _annotation(level: str, title: str, message: str) -> str:
    shown = ids.show(title, 200)
    for sign, number_of in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C")):
        shown = shown.replace(sign, number_of)
    lines = [ids.show(line, 2000) for line in message.splitlines()]
    body = "\n".join(lines).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{level} title={shown}::{body}\n"
