"""Tables and sentences for a terminal, in colour."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from goldrank.base.escaping import log_line
from goldrank.base.packages import needed
from goldrank.data.table import Cell, Head, Part, Sentence, Table, is_apart, plain, without_charts

with needed("rich"):
    from rich import table as rich_table
    from rich.console import Group, JustifyMethod, RenderableType
    from rich.text import Text

_COLOURS = {
    "": [""],
    "bold": ["best", "strong"],
    "bold red": ["fail", "error"],
    "cyan": ["equivalent"],
    "dim": ["same", "remark", "dim"],
    "green": ["better", "pass", "rise"],
    "red": ["worse", "fall"],
    "yellow": ["unclear", "judge", "warning", "flag"],
}
STYLES = {style: colour for colour, styles in _COLOURS.items() for style in styles}
MOST_ROWS = 200
"""Larger tables are written as plain text: rich lays out each cell, and thousands of them take seconds."""


def view(parts: Iterable[Part]) -> RenderableType:
    """Parts as rich shows them."""
    drawn: list[RenderableType] = []
    before: Part | None = None
    for part in without_charts(parts):
        if is_apart(before, part):
            drawn.append(Text(""))
        before = part
        if isinstance(part, Sentence):
            drawn.append(_sentence(part))
        elif isinstance(part, Table):
            if len(part.rows) <= MOST_ROWS:
                drawn.append(_table(part))
            else:
                drawn.append(Text(plain([replace(part, caption="")])))
            if part.caption:
                drawn.append(Text(log_line(part.caption), style="dim"))
        else:
            drawn += [Text(log_line(part.title), style="bold"), view(part.parts)]

    return Group(*drawn)


def _sentence(sentence: Sentence) -> Text:
    mark = {"warning": "! ", "remark": "- "}.get(sentence.style, "")
    style = STYLES[sentence.style]
    if not sentence.label:
        return Text(mark + log_line(sentence.text), style=style)
    return Text.assemble((f"{sentence.label}  ", style), log_line(sentence.text))


def _table(table: Table) -> rich_table.Table:
    title = None
    if table.title:
        title = Text(log_line(table.title), style="bold")
    drawn = rich_table.Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    drawn.show_header = table.has_heads
    for head in table.heads:
        is_number = head.kind == "number"
        justify: JustifyMethod = "left"
        if is_number:
            justify = "right"
        drawn.add_column(Text(log_line(head.text)), justify=justify, no_wrap=is_number, overflow="fold")

    for row in table.full_rows:
        drawn.add_row(*map(_cell, row.full, table.heads), style=STYLES[row.style])

    return drawn


def _cell(cell: Cell, head: Head) -> Text:
    content = log_line(cell.text, head.limit())
    if cell.style == "best":
        content = f"*{content}"
    text = Text(content, style=STYLES[cell.style])
    if cell.raised:
        return text.append(f" {cell.raised}", style="green")
    return text
