"""Tables and sentences as Markdown, as GitHub and wikis read it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from goldrank.base import ids
from goldrank.data.showing import Result
from goldrank.data.signature import in_markdown
from goldrank.data.table import LISTED, TEXT_LIMIT, Cell, Fold, Head, Part, Sentence, Table, without_charts

SIGNS = {"pass": "✅", "fail": "❌", "error": "⚠️", "unclear": "❔", "judge": "❔"}

_SPECIAL = re.compile(r"[\\`*_\[\]|~$]|:(?=\w+:|:)")
_LINE_START = re.compile(r"^(?=[-=+#>])|^(\d+)(?=[.)](?:\s|$))")
_RISKY = re.compile(r"[^a-z0-9 .,%+=/-]|www\.|gh-", re.I)
_LINKED = re.compile(r"(?<!\w)[@#]\w|@[\w-]+\.\w|\bwww\.|://|\bgh-\d", re.I)


def escape(text: str, limit: int = TEXT_LIMIT) -> str:
    """Text that Markdown shows as it is: no markup, no HTML, no line break, nothing that becomes a link or a mention.

    Backslashes do not keep GitHub from linking `@name`, `#1` or an address; code does.
    """
    plain_text = ids.show(text, limit)
    if _RISKY.search(plain_text):
        return " ".join(map(_word, plain_text.split(" ")))
    return plain_text


def _word(word: str) -> str:
    if _LINKED.search(word):
        code = "".join(letter if letter.isalnum() else f"&#{ord(letter)};" for letter in word)
        return f"<code>{code}</code>"
    return _SPECIAL.sub(r"\\\g<0>", word.replace("&", "&amp;")).replace("<", "&lt;")


def render(result: Result) -> str:
    """A result as Markdown."""
    return write(result.parts())


def write(parts: Iterable[Part], signatures: Iterable[str] = ()) -> str:
    """Tables with headings, sentences as paragraphs or lists; signatures, which have no markup, as code."""
    lines = _lines(parts)
    for signature in signatures:
        lines += ["", in_markdown(signature)]
    return "\n".join(lines).strip() + "\n"


def _lines(parts: Iterable[Part]) -> list[str]:
    lines: list[str] = []
    for part in without_charts(parts):
        if isinstance(part, Sentence) and part.style in LISTED:
            if lines and not lines[-1].startswith("- "):
                lines.append("")
            lines.append(f"- {_words(part)}")
        elif isinstance(part, Sentence):
            lines += ["", _words(part)]
        elif isinstance(part, Fold):
            lines += ["", "<details>", f"<summary>{escape(part.title)}</summary>", ""]
            lines += [*_lines(part.parts), "", "</details>"]
        else:
            lines += _table(part)

    return lines


def _words(sentence: Sentence) -> str:
    label = sentence.label
    if sentence.style == "warning":
        label = "Warning:"
    if label:
        return f"**{escape(label)}** {escape(sentence.text)}"
    return _LINE_START.sub(r"\1\\", escape(sentence.text))


def _table(table: Table) -> list[str]:
    lines: list[str] = []
    if table.title:
        lines += ["", f"### {escape(table.title)}"]
    ruler = "".join("---:|" if head.kind == "number" else "---|" for head in table.heads)
    lines += ["", _row(escape(head.text) for head in table.heads), "|" + ruler]
    lines += map(_row, table.texts(_cell))
    if table.caption:
        lines += ["", escape(table.caption)]
    return lines


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell, head: Head) -> str:
    text = escape(cell.text, head.limit())
    if cell.style == "best":
        text = f"**{text}**"
    if cell.style in SIGNS:
        text = f"{SIGNS[cell.style]} {text}"
    if cell.raised:
        return f"{text} <sup>{escape(cell.raised)}</sup>"
    return text
