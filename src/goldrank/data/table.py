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
from typing import NamedTuple, Protocol

from goldrank.base import ids
from goldrank.base.escaping import log_line

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
        if self.kind == "name":
            return NAME_LIMIT
        return TEXT_LIMIT


Cells = Sequence[Cell | str | float]
"""A row of cells; one that is no more than its text, or a number with four decimals, may be the text or the number."""


def count(value: int, what: str) -> str:
    """'1 record', '1,200 records', '2 queries'."""
    if what.endswith("query"):
        many = f"{what[:-1]}ies"
    else:
        many = f"{what}s"
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
    if isinstance(cell, str):
        return Cell(cell)
    return cell


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
    code: str = ""
    """The code of the note that it is; empty for any other sentence."""


@dataclass(frozen=True)
class Fold:
    """A part that can stay closed, where a form can fold."""

    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class ChartPart:
    """A chart. Forms that show charts draw it; the others leave it out."""

    title: str
    draw: Callable[[], Drawing]
    """Makes the drawing, from what it shows."""


class Drawing(Protocol):
    """A chart that is drawn: `goldrank.report.charts.Chart` is one."""

    @property
    def title(self) -> str:
        """What it shows."""

    @property
    def width(self) -> float:
        """In pixels."""

    @property
    def height(self) -> float:
        """In pixels."""

    def inline(self) -> str:
        """SVG for a page that has the styles."""

    def alone(self) -> str:
        """SVG for a file of its own."""

    def placed(self, top: float) -> str:
        """SVG for a drawing that has the styles, so far below its top."""


Part = Table | Sentence | Fold | ChartPart


def told(parts: Iterable[Part]) -> list[Table | Sentence | Fold]:
    """The parts that are words and numbers: all but charts."""
    return [part for part in parts if not isinstance(part, ChartPart)]


def charts_of(parts: Iterable[Part]) -> list[ChartPart]:
    """The charts, also those in folded parts."""
    charts: list[ChartPart] = []
    for part in parts:
        if isinstance(part, ChartPart):
            charts.append(part)
        elif isinstance(part, Fold):
            charts += charts_of(part.parts)
    return charts


def facts(rows: Mapping[str, str], title: str = "") -> Table:
    """What is known of one thing: a name and a value in each row; empty values are left out."""
    return Table(Head.texts("", ""), [[name, value] for name, value in rows.items() if value.strip()], title)


MOST_NOTES = 3
"""Notes that are shown below a result; the others are counted."""


def note_sentences(notes: Iterable[object], about: str = "") -> list[Sentence]:
    """Notes as sentences: warnings first, and so that every writer shows them differently from remarks.

    `notes` are `goldrank.base.notes.Note`s; plain text is a remark. `about` says whose they are.
    """
    if about:
        prefix = f"{about}: "
    else:
        prefix = ""
    sentences = []
    for note in notes:
        if getattr(note, "is_warning", False):
            style = "warning"
        else:
            style = "remark"
        sentences.append(Sentence(f"{prefix}{note}", style, code=getattr(note, "code", "text")))
    return warnings_first(dict.fromkeys(sentences))


def notes_by_run(notes: Mapping[str, Iterable[object]]) -> list[Sentence]:
    """The notes of several runs: what all of them share is said once, and what some of them share is one sentence."""
    runs_of: dict[Sentence, list[str]] = {}
    for run, of_run in notes.items():
        for sentence in note_sentences(of_run):
            runs_of.setdefault(sentence, []).append(run)
    sentences = []
    for sentence, runs in runs_of.items():
        if len(runs) == len(notes):
            whose = ""
        else:
            whose = f"{_some(runs)}: "
        sentences.append(sentence._replace(text=f"{whose}{sentence.text}"))
    return warnings_first(_one_of_each_kind(sentences, len(notes)))


def _one_of_each_kind(sentences: Sequence[Sentence], runs: int) -> list[Sentence]:
    """Sentences of a kind that differ from run to run are one where there are many of them."""
    of_kind: dict[str, list[Sentence]] = {}
    for sentence in sentences:
        of_kind.setdefault(sentence.code, []).append(sentence)
    kept: list[Sentence] = []
    for alike in of_kind.values():
        if len(alike) <= MOST_NOTES or runs <= MOST_NOTES:
            kept += alike
        else:
            more = f" (and {len(alike) - 1} more of this kind)"
            kept.append(alike[0]._replace(text=alike[0].text + more))
    return kept


def _some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(ids.show(name) for name in names[:MOST_NOTES])
    if len(names) <= MOST_NOTES:
        return shown
    return f"{shown} and {len(names) - MOST_NOTES} more"


def split_notes(parts: Iterable[Part]) -> tuple[list[Part], list[Sentence]]:
    """The parts without notes, and the notes; a fold that holds nothing else goes."""
    others: list[Part] = []
    notes: list[Sentence] = []
    for part in parts:
        if isinstance(part, Sentence) and part.code:
            notes.append(part)
        elif isinstance(part, Fold):
            inner, folded = split_notes(part.parts)
            notes += folded
            if inner:
                others.append(replace(part, parts=inner))
        else:
            others.append(part)

    return others, warnings_first(dict.fromkeys(notes))


def few_notes(notes: Sequence[Sentence], see: str) -> list[Sentence]:
    """The first notes, and a line that counts the others and says where they are."""
    if len(notes) <= MOST_NOTES:
        return list(notes)
    more = len(notes) - MOST_NOTES
    closing = f"{more} more remark{'s' * (more > 1)}: {see}"
    return [*notes[:MOST_NOTES], Sentence(closing, "remark", "", "more-notes")]


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
    for part in told(parts):
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
    if table.has_heads:
        grid = [[log_line(head.text) for head in table.heads]]
    else:
        grid = []
    columns = zip(*grid, *table.texts(_plain_cell), strict=True)
    padded = [_padded(column, head.kind == "number") for column, head in zip(columns, table.heads, strict=False)]
    if table.title:
        lines = [log_line(table.title)]
    else:
        lines = []
    lines += ["  ".join(texts).rstrip() for texts in zip(*padded, strict=True)]
    return lines + ([log_line(table.caption)] if table.caption else [])


def _padded(column: Sequence[str], right: bool) -> list[str]:
    widths = list(map(display_width, column))
    widest = max(widths)
    spaces = [" " * (widest - width) for width in widths]
    return list(map(add, spaces, column) if right else map(add, column, spaces))


def _plain_cell(cell: Cell, head: Head) -> str:
    text = ("*" if cell.style == "best" else "") + log_line(cell.text, head.limit())
    if cell.raised:
        return f"{text} {cell.raised}"
    return text


def display_width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _plain_sentence(sentence: Sentence, width: int | None) -> list[str]:
    mark = {"warning": "! ", "remark": "  "}.get(sentence.style, "")
    if sentence.label:
        label = f"{sentence.label}  "
    else:
        label = ""
    text = f"{mark}{label}{log_line(sentence.text)}"
    if width is None or len(text) <= width:
        return [text]
    hanging = " " * len(mark + label)
    import textwrap

    return textwrap.wrap(text, width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)


# HTML.


def escape_html(text: str, limit: int = TEXT_LIMIT) -> str:
    """Text for HTML and SVG: no markup, no control character, no `##[` (see `goldrank.base.escaping`)."""
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
            elif isinstance(part, ChartPart):
                texts.append(_html_chart(part))
            elif isinstance(part, Fold):
                summary = escape_html(part.title)
                texts.append(f"<details><summary>{summary}</summary>{html(part.parts)}</details>")
            else:
                if part.style:
                    style = f' class="{part.style}"'
                else:
                    style = ""
                texts.append(f"<p{style}>{_html_words(part)}</p>")

    return "".join(texts)


def notebook_html(parts: Iterable[Part]) -> str:
    """The same for notebooks, whose own style would move text to the right; without charts, which need styles."""
    return f"{NOTEBOOK_STYLE}{html(told(parts))}</div>"


def _html_chart(chart: ChartPart) -> str:
    drawing = chart.draw()
    return f"<figure><figcaption>{escape_html(drawing.title)}</figcaption>{drawing.inline()}</figure>"


def _html_words(sentence: Sentence) -> str:
    if sentence.style == "warning":
        label = "Warning:"
    else:
        label = sentence.label
    if label:
        strong = f"<strong>{escape_html(label)}</strong> "
    else:
        strong = ""
    return strong + escape_html(sentence.text)


def _html_table(table: Table) -> str:
    if table.title:
        title = f"<h4>{escape_html(table.title)}</h4>"
    else:
        title = ""

    if table.caption:
        caption = f'<p class="dim">{escape_html(table.caption)}</p>'
    else:
        caption = ""

    head = ""
    if table.has_heads:
        if table.sortable:
            wrap = '<button type="button">{}</button>'
        else:
            wrap = "{}"
        cells = (f"<th{_kind(head)}>{wrap.format(escape_html(head.text))}</th>" for head in table.heads)
        head = f"<thead><tr>{''.join(cells)}</tr></thead>"

    body = "\n".join(_html_row(row, table) for row in table.full_rows)
    attributes = (f' id="{escape_html(table.id)}"' if table.id else "") + " data-sortable" * table.sortable
    attributes += ' class="stack"' * table.stacks
    return f"{title}<table{attributes}>{head}<tbody>{body}</tbody></table>{caption}"


def _kind(head: Head) -> str:
    if head.kind == "number":
        return ""
    return f' class="{head.kind}"'


def _html_row(row: Row, table: Table) -> str:
    data = "".join(f' data-{key}="{escape_html(value)}"' for key, value in row.data.items())
    if row.style:
        style = f' class="{row.style}"'
    else:
        style = ""

    parts = []
    for i, (cell, head) in enumerate(zip(row.full, table.heads, strict=True)):
        tag, scope = ("th", ' scope="row"') if i == 0 and head.kind == "name" else ("td", "")
        if table.sortable and cell.value is not None:
            value = _sort_key(cell.value)
        else:
            value = ""
        if table.stacks and i:
            label = f' data-label="{escape_html(head.text, NAME_LIMIT)}"'
        else:
            label = ""
        parts.append(f"<{tag}{scope}{_kind(head)}{value}{label}>{_html_cell(cell, head)}</{tag}>")

    return f"<tr{style}{data}>{''.join(parts)}</tr>"


def _sort_key(value: float) -> str:
    if math.isfinite(value):
        return f' data-value="{value:.6g}"'
    return ' data-value=""'


def _html_cell(cell: Cell, head: Head) -> str:
    text = escape_html(cell.text, head.limit())
    if cell.style:
        if cell.style == "best":
            tag = "strong"
        else:
            tag = "span"
        text = f'<{tag} class="{"chip " if cell.style in VERDICTS else ""}{cell.style}">{text}</{tag}>'

    if cell.link.startswith("#"):
        text = f'<a href="{escape_html(cell.link)}">{text}</a>'

    if cell.raised:
        raised = f"<sup>{escape_html(cell.raised)}</sup>"
    else:
        raised = ""

    if cell.detail:
        detail = f'<div class="sub">{escape_html(cell.detail)}</div>'
    else:
        detail = ""

    return text + raised + detail
