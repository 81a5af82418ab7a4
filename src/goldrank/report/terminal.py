"""Tables and sentences for a terminal, in colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from goldrank.base.escaping import log_line
from goldrank.base.packages import needed
from goldrank.data.table import (
    Cell,
    Head,
    Part,
    Sentence,
    Table,
    display_width,
    dividing_line,
    is_apart,
    plain,
    without_charts,
)

with needed("rich"):
    from rich import table as rich_table
    from rich.console import Console, ConsoleOptions, Group, JustifyMethod, RenderableType, RenderResult
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
GAP = 2
"""Columns of a terminal between two columns of a table."""
LEAST = {"name": 18, "text": 24}
"""The least widths of columns that may be narrower than their cells."""
FEWEST_COLUMNS = 3
"""The first columns always stay."""
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
                drawn.append(_FittedTable(part))
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


class _FittedTable:
    """A table that keeps its rows on their lines: names are shortened, then columns of numbers leave from the right."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns, left_out = self._columns(options.max_width)
        table = self.table.without_columns(left_out)
        widths = _shrunk(table.heads, [columns[i] for i in range(len(columns)) if i not in left_out], options.max_width)

        if table.title:
            yield Text(log_line(table.title), style="bold")
        part = _empty(table, widths)
        part.show_header = table.has_heads
        for row in table.full_rows:
            if row.above:
                yield part
                yield Text(dividing_line(row.above, sum(widths) + GAP * (len(widths) - 1)), style="dim")
                part = _empty(table, widths)
                part.show_header = False
            part.add_row(*map(_cell, row.full, table.heads, widths), style=STYLES[row.style])
        yield part

        if left_out:
            names = ", ".join(log_line(self.table.heads[i].text) for i in sorted(left_out))
            yield Text(f"No room for {names}: a wider window shows all, as does | cat.", style="dim")

    def _columns(self, width: int) -> tuple[list[int], set[int]]:
        """The natural width of each column, and the columns for which there is no room."""
        heads = self.table.heads
        columns = [display_width(log_line(head.text)) for head in heads]
        for row in self.table.full_rows:
            for i, (cell, head) in enumerate(zip(row.full, heads, strict=True)):
                columns[i] = max(columns[i], _cell(cell, head).cell_len)

        left_out: set[int] = set()
        numbers = [i for i, head in enumerate(heads) if head.kind == "number" and i >= FEWEST_COLUMNS]
        while numbers and _needed(heads, columns, left_out) > width:
            left_out.add(numbers.pop())
        return columns, left_out


def _least(head: Head, width: int) -> int:
    """The least width of a column: numbers are never cut, names to some letters, and texts are folded."""
    return min(width, LEAST.get(head.kind, width))


def _needed(heads: Sequence[Head], columns: Sequence[int], left_out: set[int]) -> int:
    """The least width of a table without some columns."""
    kept = [_least(head, columns[i]) for i, head in enumerate(heads) if i not in left_out]
    return sum(kept) + GAP * (len(kept) - 1)


def _shrunk(heads: Sequence[Head], columns: Sequence[int], width: int) -> list[int]:
    """Widths that fit together: the widest column that may be narrower gives way first."""
    widths = list(columns)
    excess = sum(widths) + GAP * (len(widths) - 1) - width
    while excess > 0:
        room = [width - _least(head, width) for head, width in zip(heads, widths, strict=True)]
        if not any(room):
            break
        widest = max((i for i in range(len(widths)) if room[i]), key=lambda i: widths[i])
        widths[widest] -= 1
        excess -= 1
    return widths


def _empty(table: Table, widths: Sequence[int]) -> rich_table.Table:
    """A table of rich without rows, with columns of these widths."""
    drawn = rich_table.Table(box=None, pad_edge=False, header_style="bold")
    for head, width in zip(table.heads, widths, strict=True):
        is_number = head.kind == "number"
        justify: JustifyMethod = "left"
        if is_number:
            justify = "right"
        name = Text(log_line(head.text))
        drawn.add_column(name, justify=justify, no_wrap=is_number, overflow="fold", width=width)
    return drawn


def _cell(cell: Cell, head: Head, width: int | None = None) -> Text:
    """A cell's text; names are cut in the middle where the column is narrower."""
    content = log_line(cell.text, head.limit())
    if head.kind == "name" and width is not None and display_width(content) > width:
        content = log_line(cell.text, width)
    if cell.style == "best":
        content = f"*{content}"
    text = Text(content, style=STYLES[cell.style])
    if cell.raised:
        return text.append(f" {cell.raised}", style="green")
    return text
