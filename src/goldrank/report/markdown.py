"""Tables and sentences as Markdown, as GitHub and wikis read it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from goldrank import ids
from goldrank.data.table import LISTED, TEXT_LIMIT, Block, Cell, Fold, Head, Sentence, Table

SIGNS = {"pass": "✅", "fail": "❌", "error": "⚠️", "unclear": "❔"}

_SPECIAL = re.compile(r"[\\`*_\[\]|~$]|:(?=\w+:)")
_LINE_START = re.compile(r"^(?=[-=+#>])|^(\d+)(?=[.)](?:\s|$))")
_LINKED = re.compile(r"(?<!\w)[@#]\w|@[\w-]+\.\w|\bwww\.|://|\bgh-\d", re.I)


def escape(text: str, limit: int = TEXT_LIMIT) -> str:
    """Text that Markdown shows as it is: no markup, no HTML, no line break, nothing that becomes a link or a mention.

    Backslashes do not keep GitHub from linking `@name`, `#1` or an address; code does.
    """
    return " ".join(map(_word, ids.show(text, limit).split(" ")))


def _word(word: str) -> str:
    if _LINKED.search(word):
        return f"<code>{''.join(c if c.isalnum() else f'&#{ord(c)};' for c in word)}</code>"
    return _SPECIAL.sub(r"\\\g<0>", word.replace("&", "&amp;")).replace("<", "&lt;")


def write(blocks: Iterable[Block]) -> str:
    """Tables with headings, sentences as paragraphs or lists."""
    return "\n".join(_lines(blocks)).strip() + "\n"


def _lines(blocks: Iterable[Block]) -> list[str]:
    lines: list[str] = []
    for block in blocks:
        if isinstance(block, Sentence) and block.style in LISTED:
            if lines and not lines[-1].startswith("- "):
                lines.append("")
            lines.append(f"- {_words(block)}")
        elif isinstance(block, Sentence):
            lines += ["", _words(block)]
        elif isinstance(block, Fold):
            lines += ["", "<details>", f"<summary>{escape(block.title)}</summary>", ""]
            lines += [*_lines(block.blocks), "", "</details>"]
        else:
            lines += _table(block)
    return lines


def _words(sentence: Sentence) -> str:
    label = "Warning:" if sentence.style == "warning" else sentence.label
    if label:
        return f"**{escape(label)}** {escape(sentence.text)}"
    return _LINE_START.sub(r"\1\\", escape(sentence.text))


def _table(table: Table) -> list[str]:
    lines = ["", f"### {escape(table.title)}"] if table.title else []
    ruler = "".join("---:|" if head.kind == "number" else "---|" for head in table.heads)
    lines += ["", _row(escape(head.text) for head in table.heads), "|" + ruler]
    for row in table.cells:
        lines.append(_row(_cell(cell, head) for cell, head in zip(row, table.heads, strict=True)))
    return lines + (["", escape(table.caption)] if table.caption else [])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell, head: Head) -> str:
    text = escape(cell.text, head.limit())
    text = f"**{text}**" if cell.style == "best" else text
    text = f"{SIGNS[cell.style]} {text}" if cell.style in SIGNS else text
    return f"{text} <sup>{escape(cell.raised)}</sup>" if cell.raised else text
