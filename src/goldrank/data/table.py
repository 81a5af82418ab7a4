"""What every report is made of: tables, sentences and folded parts; and their two small writers, text and HTML.

Whoever reports something makes `Part`s and hands them to the writer of a form: `plain` and `html` here, the others in
`report/` (terminal, Markdown, CSV, LaTeX). Parts hold text as it is; each writer has one function that escapes it,
and uses it for every cell and sentence. The two writers here need nothing but Python, so that `Scores` can print.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import add
from typing import NamedTuple

from goldrank import ids
from goldrank.escaping import log_line

NAME_LIMIT = 60
"""Characters of an id or a name in a table."""
TEXT_LIMIT = 2_000
"""Characters of everything else."""

VERDICTS = ("better", "worse", "same", "equivalent", "unclear", "judge", "pass", "fail", "error")
"""Styles of cells and sentences that say how something ended."""
FOOTNOTES = ("warning", "remark", "dim")
"""Styles of sentences that stand close to what they are about."""
LISTED = (*VERDICTS, "warning", "remark")
"""Styles of sentences that are items of a list, where a form has lists. Other styles: 'dim', 'strong', ''."""


NOTEBOOK_STYLE = '<div class="goldrank"><style>.goldrank :is(.name,.text,.words,.hit,.miss){text-align:left}</style>'
"""What opens the HTML of a notebook; `</div>` closes it."""


class Cell(NamedTuple):
    """One cell: what people read, and what they need to see or sort it."""

    text: str
    value: float | None = None
    """The exact number behind the text: for CSV, and to sort by."""
    style: str = ""
    """'best', 'dim', 'rise', 'fall' or one of `VERDICTS`."""
    raised: str = ""
    """Marks after the value, such as the letters of systems that it beats."""
    detail: str = ""
    """A second, smaller line, where a form has one (HTML)."""
    link: str = ""
    """A place on the same page, such as '#r12', where a form has links (HTML)."""


class Head(NamedTuple):
    """The head of a column. Its kind: 'name' (an id, shortened), 'text' (left) or 'number' (right)."""

    text: str
    kind: str

    @classmethod
    def names(cls, *texts: str) -> list[Head]:
        """Heads of columns of ids and names."""
        return [cls(text, "name") for text in texts]

    @classmethod
    def texts(cls, *texts: str) -> list[Head]:
        """Heads of columns of text."""
        return [cls(text, "text") for text in texts]

    @classmethod
    def numbers(cls, *texts: str) -> list[Head]:
        """Heads of columns of numbers."""
        return [cls(text, "number") for text in texts]

    def limit(self) -> int:
        """How many characters of a cell are shown."""
        return NAME_LIMIT if self.kind == "name" else TEXT_LIMIT


Cells = Sequence[Cell | str | float]
"""A row of cells; one that is no more than its text, or a number with four decimals, may be the text or the number."""


def count(value: int, what: str) -> str:
    """'1 record', '1,200 records', '2 queries'."""
    many = f"{what[:-1]}ies" if what.endswith("query") else f"{what}s"
    return f"{value:,} {what if value == 1 else many}"


@dataclass(frozen=True)
class Row:
    """A row that is more than its cells."""

    cells: Cells
    style: str = ""
    """'dim', or 'flag' for a row to look at."""
    data: Mapping[str, str] = field(default_factory=dict)
    """By what a page filters rows."""

    @property
    def full(self) -> list[Cell]:
        """Its cells, with those that are no more than text or a number made into cells."""
        return list(map(_full, self.cells))


def _full(cell: Cell | str | float) -> Cell:
    if isinstance(cell, float):
        return Cell(f"{cell:.4f}", cell)
    return Cell(cell) if isinstance(cell, str) else cell


@dataclass(frozen=True)
class Table:
    """Rows of cells under heads.

    >>> heads = [*Head.names("run"), *Head.numbers("AP")]
    >>> print(plain([Table(heads, [["a|b", "0.5"], ["c", Cell("0.75", style="best")]])]))
    run     AP
    a|b    0.5
    c    *0.75
    """

    heads: Sequence[Head]
    rows: Sequence[Row | Cells]
    title: str = ""
    caption: str = ""
    """What the marks in it mean, and what was left out."""
    id: str = ""
    """For pages: makes the rows selectable by scripts."""
    sortable: bool = False
    """Whether a page sorts it by a click on a head."""
    stacks: bool = False
    """Whether a page shows each row as a card where there is no room for the columns."""

    @property
    def full_rows(self) -> list[Row]:
        """All rows as `Row`s."""
        return [row if isinstance(row, Row) else Row(row) for row in self.rows]

    @property
    def cells(self) -> list[Cells]:
        """The cells, row by row, as they were given."""
        return [row.cells if isinstance(row, Row) else row for row in self.rows]

    def texts(
        self, write: Callable[[Cell, Head], str], number: Callable[[float], str] = "{:.4f}".format
    ) -> Iterator[tuple[str, ...]]:
        """The rows in a form that writes plain numbers by `number` and every other cell by `write`."""
        columns = zip(*self.cells, strict=True)
        written = [
            [number(cell) if isinstance(cell, float) else write(_full(cell), head) for cell in column]
            for column, head in zip(columns, self.heads, strict=bool(self.rows))
        ]
        return zip(*written, strict=True)

    @property
    def has_heads(self) -> bool:
        """Whether any head says something."""
        return any(head.text for head in self.heads)

    def without(self, *heads: str) -> Table:
        """The table without some of its columns."""
        kept = [i for i, head in enumerate(self.heads) if head.text not in heads]
        rows = [Row([row.cells[i] for i in kept], row.style, row.data) for row in self.full_rows]
        return replace(self, heads=[self.heads[i] for i in kept], rows=rows)


class Sentence(NamedTuple):
    """A line of words; see `VERDICTS` and `LISTED` for styles."""

    text: str
    style: str = ""
    label: str = ""
    """A word that comes first, such as FAIL."""


@dataclass(frozen=True)
class Fold:
    """A part that can stay closed, where a form can fold."""

    title: str
    parts: Sequence[Part]


Part = Table | Sentence | Fold


def facts(rows: Mapping[str, str], title: str = "") -> Table:
    """What is known of one thing: a name and a value in each row; empty values are left out."""
    return Table(Head.texts("", ""), [[name, value] for name, value in rows.items() if value.strip()], title)


def note_sentences(notes: Iterable[object], about: str = "") -> list[Sentence]:
    """Notes as sentences: warnings first, and so that every writer shows them differently from remarks.

    `notes` are `goldrank.notes.Note`s; plain text is a remark. `about` says whose they are.
    """
    prefix = f"{about}: " if about else ""
    sentences = [
        Sentence(f"{prefix}{note}", "warning" if getattr(note, "is_warning", False) else "remark") for note in notes
    ]
    return warnings_first(dict.fromkeys(sentences))


def warnings_first(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Sentences in their order, but warnings before all others."""
    return sorted(sentences, key=lambda sentence: sentence.style != "warning")


def is_apart(before: Part | None, part: Part) -> bool:
    """Whether an empty line stands between two parts of text: not between sentences, nor before footnotes."""
    if before is None:
        return False
    if not isinstance(part, Sentence):
        return True
    if part.style in FOOTNOTES:
        return isinstance(before, Fold)
    return part.style == "strong" or not isinstance(before, Sentence) or before.style in FOOTNOTES


# Plain text.


def plain(parts: Iterable[Part], width: int | None = None) -> str:
    """Parts as text, without a line end; sentences are wrapped if there is a width."""
    lines: list[str] = []
    before: Part | None = None
    for part in parts:
        if is_apart(before, part):
            lines.append("")
        before = part
        if isinstance(part, Table):
            lines += _plain_table(part)
        elif isinstance(part, Fold):
            lines += [log_line(part.title), *plain(part.parts, width).split("\n")]
        else:
            lines += _plain_sentence(part, width)
    return "\n".join(lines)


def _plain_table(table: Table) -> list[str]:
    grid = [[log_line(head.text) for head in table.heads]] if table.has_heads else []
    columns = zip(*grid, *table.texts(_plain_cell), strict=True)
    padded = [_padded(column, head.kind == "number") for column, head in zip(columns, table.heads, strict=False)]
    lines = [log_line(table.title)] if table.title else []
    lines += ["  ".join(texts).rstrip() for texts in zip(*padded, strict=True)]
    return lines + ([log_line(table.caption)] if table.caption else [])


def _padded(column: Sequence[str], right: bool) -> list[str]:
    widths = list(map(display_width, column))
    widest = max(widths)
    spaces = [" " * (widest - width) for width in widths]
    return list(map(add, spaces, column) if right else map(add, column, spaces))


def _plain_cell(cell: Cell, head: Head) -> str:
    text = ("*" if cell.style == "best" else "") + log_line(cell.text, head.limit())
    return f"{text} {cell.raised}" if cell.raised else text


def display_width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _plain_sentence(sentence: Sentence, width: int | None) -> list[str]:
    mark = {"warning": "! ", "remark": "  "}.get(sentence.style, "")
    label = f"{sentence.label}  " if sentence.label else ""
    text = f"{mark}{label}{log_line(sentence.text)}"
    if width is None or len(text) <= width:
        return [text]
    hanging = " " * len(mark + label)
    import textwrap

    return textwrap.wrap(text, width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)


# HTML.


def escape_html(text: str, limit: int = TEXT_LIMIT) -> str:
    """Text for HTML and SVG: no markup, no control character, no `##[` (see `goldrank.escaping`)."""
    return entities(ids.show(text, limit))


def entities(text: str) -> str:
    """The same for text without control characters."""
    import html

    return html.escape(text).replace("##", "#&#35;")


def html(parts: Iterable[Part]) -> str:
    """Parts as a piece of HTML without any style: for notebooks, and for pages that bring the style."""
    texts = []
    for is_list, group in groupby(parts, lambda part: isinstance(part, Sentence) and part.style in LISTED):
        if is_list:
            items = "".join(
                f'<li class="{item.style}">{_html_words(item)}</li>' for item in group if type(item) is Sentence
            )
            texts.append(f'<ul class="notes">{items}</ul>')
            continue
        for part in group:
            if isinstance(part, Table):
                texts.append(_html_table(part))
            elif isinstance(part, Fold):
                summary = escape_html(part.title)
                texts.append(f"<details><summary>{summary}</summary>{html(part.parts)}</details>")
            else:
                style = f' class="{part.style}"' if part.style else ""
                texts.append(f"<p{style}>{_html_words(part)}</p>")
    return "".join(texts)


def notebook_html(parts: Iterable[Part]) -> str:
    """The same for notebooks, whose own style would move text to the right."""
    return f"{NOTEBOOK_STYLE}{html(parts)}</div>"


def _html_words(sentence: Sentence) -> str:
    label = "Warning:" if sentence.style == "warning" else sentence.label
    strong = f"<strong>{escape_html(label)}</strong> " if label else ""
    return strong + escape_html(sentence.text)


def _html_table(table: Table) -> str:
    title = f"<h4>{escape_html(table.title)}</h4>" if table.title else ""
    caption = f'<p class="dim">{escape_html(table.caption)}</p>' if table.caption else ""
    head = ""
    if table.has_heads:
        wrap = '<button type="button">{}</button>' if table.sortable else "{}"
        cells = (f"<th{_kind(head)}>{wrap.format(escape_html(head.text))}</th>" for head in table.heads)
        head = f"<thead><tr>{''.join(cells)}</tr></thead>"
    body = "\n".join(_html_row(row, table) for row in table.full_rows)
    attributes = (f' id="{escape_html(table.id)}"' if table.id else "") + " data-sortable" * table.sortable
    attributes += ' class="stack"' * table.stacks
    return f"{title}<table{attributes}>{head}<tbody>{body}</tbody></table>{caption}"


def _kind(head: Head) -> str:
    return "" if head.kind == "number" else f' class="{head.kind}"'


def _html_row(row: Row, table: Table) -> str:
    data = "".join(f' data-{key}="{escape_html(value)}"' for key, value in row.data.items())
    style = f' class="{row.style}"' if row.style else ""
    parts = []
    for i, (cell, head) in enumerate(zip(row.full, table.heads, strict=True)):
        tag, scope = ("th", ' scope="row"') if i == 0 and head.kind == "name" else ("td", "")
        value = _sort_key(cell.value) if table.sortable and cell.value is not None else ""
        label = f' data-label="{escape_html(head.text, NAME_LIMIT)}"' if table.stacks and i else ""
        parts.append(f"<{tag}{scope}{_kind(head)}{value}{label}>{_html_cell(cell, head)}</{tag}>")
    return f"<tr{style}{data}>{''.join(parts)}</tr>"


def _sort_key(value: float) -> str:
    return f' data-value="{value:.6g}"' if math.isfinite(value) else ' data-value=""'


def _html_cell(cell: Cell, head: Head) -> str:
    text = escape_html(cell.text, head.limit())
    if cell.style:
        tag = "strong" if cell.style == "best" else "span"
        text = f'<{tag} class="{"chip " if cell.style in VERDICTS else ""}{cell.style}">{text}</{tag}>'
    if cell.link.startswith("#"):
        text = f'<a href="{escape_html(cell.link)}">{text}</a>'
    raised = f"<sup>{escape_html(cell.raised)}</sup>" if cell.raised else ""
    detail = f'<div class="sub">{escape_html(cell.detail)}</div>' if cell.detail else ""
    return text + raised + detail
