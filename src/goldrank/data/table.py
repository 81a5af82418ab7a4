"""The parts of every report: tables, sentences and folded parts; and two small writers, for text and HTML.

A result makes `Part`s and passes them to the writer of a form: `plain` and `html` here, the others in `report/`
(terminal, Markdown, CSV, LaTeX). Parts hold text without escapes; each writer has one function that escapes it, and
uses it for every cell and sentence. The two writers here need nothing but Python, so that `Scores` can print.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import add
from typing import NamedTuple, Protocol

from goldrank.base import ids
from goldrank.base.escaping import log_line

NAME_LIMIT = 60
"""Most characters of an id or a name in a table."""
TEXT_LIMIT = 2_000
"""Most characters of any other text."""

VERDICTS = ("better", "worse", "same", "equivalent", "unclear", "judge", "pass", "fail", "error")
"""Styles of cells and sentences that express a verdict."""
FOOTNOTES = ("warning", "remark", "dim")
"""Styles of sentences that directly follow the part they are about."""
LISTED = (*VERDICTS, "warning", "remark")
"""Styles of sentences that are items of a list, where a form has lists. Other styles: 'dim', 'strong', ''."""


_RULES = (
    ".goldrank :is(td,th){text-align:right;padding:.15em .7em;font-variant-numeric:tabular-nums;white-space:nowrap}",
    ".goldrank :is(.name,.text,.words,.hit,.miss){text-align:left}",
    ".goldrank thead th{border-bottom:1px solid}",
    ".goldrank table{border-collapse:collapse;margin:.4em 0}",
    ".goldrank ul.notes{list-style:none;margin:.4em 0;padding:0;max-width:60em}",
    ".goldrank .remark{opacity:.75;padding-left:.7em}",
    ".goldrank .warning{border-left:3px solid #c60;padding-left:.5em}",
    f".goldrank :is(li,p):is({','.join(f'.{verdict}' for verdict in (*VERDICTS, 'strong'))}){{font-weight:600}}",
)
NOTEBOOK_STYLE = f'<div class="goldrank"><style>{"".join(_RULES)}</style>'
"""The beginning of the HTML of a notebook; `</div>` closes it."""


class Cell(NamedTuple):
    """One cell: its text, and how it is sorted and styled."""

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
    """An anchor on the page, such as '#r12', where a form has links (HTML)."""


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
"""A row of cells. A cell without a style may be a plain text, or a number that gets four decimals."""


def count(value: int, noun: str) -> str:
    """'1 record', '1,200 records', '2 queries'."""
    if value == 1:
        return f"1 {noun}"
    if noun.endswith("query"):
        return f"{value:,} {noun[:-1]}ies"
    if noun.endswith("ch"):
        return f"{value:,} {noun}es"
    return f"{value:,} {noun}s"


@dataclass(frozen=True)
class Row:
    """A row with a style or data for a page."""

    cells: Cells
    style: str = ""
    """'dim', or 'flag' for a row to look at."""
    data: Mapping[str, str] = field(default_factory=dict)
    """Values by which a page filters rows."""
    above: str = ""
    """Words of a line above it, which divides the table."""

    @property
    def full(self) -> list[Cell]:
        """Its cells, where texts and numbers became `Cell`s."""
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
    """The meaning of its marks, and what was left out."""
    id: str = ""
    """For pages: scripts find the table by it."""
    sortable: bool = False
    """Whether a page sorts it by a click on a head."""
    stacks: bool = False
    """Whether a page shows each row as a card where there is no room for the columns."""

    @property
    def full_rows(self) -> list[Row]:
        """All rows as `Row`s."""
        return list(map(_full_row, self.rows))

    @property
    def cells(self) -> list[Cells]:
        """The cells, row by row; texts and numbers stay as they are."""
        return [row.cells for row in self.full_rows]

    def texts(
        self, write: Callable[[Cell, Head], str], number: Callable[[float], str] = "{:.4f}".format
    ) -> Iterator[tuple[str, ...]]:
        """The texts of the rows: plain numbers are written by `number`, all other cells by `write`."""

        def text(cell: Cell | str | float, head: Head) -> str:
            if isinstance(cell, float):
                return number(cell)
            return write(_full(cell), head)

        columns = zip(*self.cells, strict=True)
        written = []
        for column, head in zip(columns, self.heads, strict=bool(self.rows)):
            written.append([text(cell, head) for cell in column])
        return zip(*written, strict=True)

    @property
    def has_heads(self) -> bool:
        """Whether any head has a text."""
        return any(head.text for head in self.heads)

    def without(self, *heads: str) -> Table:
        """The table without some of its columns."""
        return self.without_columns({i for i, head in enumerate(self.heads) if head.text in heads})

    def without_columns(self, numbers: Collection[int]) -> Table:
        """The table without the columns of these numbers."""
        columns = [i for i in range(len(self.heads)) if i not in numbers]
        rows = []
        for row in self.full_rows:
            rows.append(replace(row, cells=[row.cells[i] for i in columns]))
        return replace(self, heads=[self.heads[i] for i in columns], rows=rows)


def _full_row(row: Row | Cells) -> Row:
    if isinstance(row, Row):
        return row
    return Row(row)


class Sentence(NamedTuple):
    """A line of words; see `VERDICTS` and `LISTED` for styles."""

    text: str
    style: str = ""
    label: str = ""
    """A word that comes first, such as FAIL."""
    code: str = ""
    """The code of a note; empty for any other sentence."""


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
    """Makes the drawing."""


class Drawing(Protocol):
    """A drawn chart, such as `goldrank.report.charts.Chart`."""

    @property
    def title(self) -> str:
        """The title of the chart."""

    @property
    def width(self) -> float:
        """In pixels."""

    @property
    def height(self) -> float:
        """In pixels."""

    def inline(self) -> str:
        """SVG for a page that has the styles."""

    def alone(self) -> str:
        """SVG for a separate file."""

    def placed(self, top: float) -> str:
        """SVG for a drawing that has the styles; it begins `top` pixels below the top."""


Part = Table | Sentence | Fold | ChartPart


def without_charts(parts: Iterable[Part]) -> list[Table | Sentence | Fold]:
    """The parts of words and numbers."""
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
    """A table of facts: a name and a value in each row; empty values are left out."""
    cells = [[name, value] for name, value in rows.items() if value.strip()]
    return Table(Head.texts("", ""), cells, title)


MOST_NOTES = 3
"""Most notes that are shown below a result; the others are counted."""


def note_sentences(notes: Iterable[object], about: str = "") -> list[Sentence]:
    """Notes as sentences, warnings first; their styles let every writer distinguish warnings and remarks.

    `notes` are `goldrank.base.notes.Note`s; plain text is a remark. `about` is put before each.
    """
    prefix = ""
    if about:
        prefix = f"{about}: "

    sentences = []
    for note in notes:
        style = "remark"
        if getattr(note, "is_warning", False):
            style = "warning"
        sentences.append(Sentence(f"{prefix}{note}", style, code=getattr(note, "code", "text")))
    return warnings_first(dict.fromkeys(sentences))


def notes_by_run(notes: Mapping[str, Iterable[object]]) -> list[Sentence]:
    """The notes of several runs: a note of some runs is one sentence with their names, a note of all has no names."""
    runs_of: dict[Sentence, list[str]] = {}
    for run, of_run in notes.items():
        for sentence in note_sentences(of_run):
            runs_of.setdefault(sentence, []).append(run)

    sentences = []
    for sentence, runs in runs_of.items():
        if len(runs) < len(notes):
            sentence = sentence._replace(text=f"{_some(runs)}: {sentence.text}")
        sentences.append(sentence)
    return warnings_first(sentences)


def _some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(ids.show(name) for name in names[:MOST_NOTES])
    if len(names) <= MOST_NOTES:
        return shown
    return f"{shown} and {len(names) - MOST_NOTES} more"


def split_notes(parts: Iterable[Part]) -> tuple[list[Part], list[Sentence]]:
    """The parts without notes, and the notes; a fold with nothing but notes is left out."""
    other_parts: list[Part] = []
    notes: list[Sentence] = []
    for part in parts:
        if isinstance(part, Sentence) and part.code:
            notes.append(part)
        elif isinstance(part, Fold):
            inner, folded = split_notes(part.parts)
            notes += folded
            if inner:
                other_parts.append(replace(part, parts=inner))
        else:
            other_parts.append(part)

    return other_parts, warnings_first(dict.fromkeys(notes))


def few_notes(notes: Sequence[Sentence], see: str) -> list[Sentence]:
    """A few lines of notes, and a line that counts the other notes and says how to see them.

    What is said of two or three runs in the same words is one line; of more runs only the first is shown.
    """
    lines: list[Sentence] = []
    shown = 0
    for similar in _by_kind(notes)[:MOST_NOTES]:
        line = similar[0]
        if len(similar) > MOST_NOTES:
            similar = similar[:1]
        if len(similar) > 1:
            line = line._replace(text="; ".join(note.text for note in similar))
        lines.append(line)
        shown += len(similar)

    hidden = len(notes) - shown
    if hidden:
        closing = f"{hidden} more remark{'s' * (hidden > 1)}: {see}"
        lines.append(Sentence(closing, "remark", "", "more-notes"))
    return lines


def _by_kind(notes: Sequence[Sentence]) -> list[list[Sentence]]:
    """Notes of one kind together, in the order of their first; notes of other programs have no kind."""
    kinds: dict[tuple[str, str], list[Sentence]] = {}
    for note in notes:
        key = (note.code, note.style)
        if note.code in ("", "text"):
            key = (note.text, note.style)
        kinds.setdefault(key, []).append(note)
    return list(kinds.values())


def warnings_first(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Sentences in their order, but warnings before all others."""
    return sorted(sentences, key=lambda sentence: sentence.style != "warning")


def is_apart(before: Part | None, part: Part) -> bool:
    """Whether an empty line separates two parts of text: not between sentences, nor before footnotes."""
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
    for part in without_charts(parts):
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
    grid = []
    if table.has_heads:
        grid = [[log_line(head.text) for head in table.heads]]
    columns = zip(*grid, *table.texts(_plain_cell), strict=True)
    padded = [_padded(column, head.kind == "number") for column, head in zip(columns, table.heads, strict=False)]

    lines = []
    if table.title:
        lines.append(log_line(table.title))
    written = ["  ".join(texts) for texts in zip(*padded, strict=True)]
    lines += [line.rstrip() for line in written[: len(grid)]]
    for row, line in zip(table.full_rows, written[len(grid) :], strict=True):
        if row.above:
            lines.append(dividing_line(row.above, display_width(line)))
        lines.append(line.rstrip())
    if table.caption:
        lines.append(log_line(table.caption))
    return lines


def dividing_line(words: str, width: int) -> str:
    """Words in the middle of a line.

    >>> dividing_line("worse", 17)
    '----- worse -----'
    """
    return f" {log_line(words)} ".center(width, "-")


def _padded(column: Sequence[str], right: bool) -> list[str]:
    widths = list(map(display_width, column))
    widest = max(widths)
    spaces = [" " * (widest - width) for width in widths]
    if right:
        return list(map(add, spaces, column))
    return list(map(add, column, spaces))


def _plain_cell(cell: Cell, head: Head) -> str:
    text = log_line(cell.text, head.limit())
    if cell.style == "best":
        text = f"*{text}"
    if cell.raised:
        return f"{text} {cell.raised}"
    return text


def display_width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 1


def _plain_sentence(sentence: Sentence, width: int | None) -> list[str]:
    mark = {"warning": "! ", "remark": "  "}.get(sentence.style, "")
    label = ""
    if sentence.label:
        label = f"{sentence.label}  "
    text = f"{mark}{label}{log_line(sentence.text)}"
    if width is None or len(text) <= width:
        return [text]

    import textwrap

    hanging = " " * len(mark + label)
    return textwrap.wrap(text, width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)


# HTML.


def escape_html(text: str, limit: int = TEXT_LIMIT) -> str:
    """Text for HTML and SVG: no markup, no control character, no `##[` (see `goldrank.base.escaping`)."""
    return entities(ids.show(text, limit))


def entities(text: str) -> str:
    """`escape_html` for text without control characters."""
    import html

    return html.escape(text).replace("##", "#&#35;")


def html(parts: Iterable[Part]) -> str:
    """Parts as a piece of HTML without any style: for notebooks, and for pages that have the style."""
    texts = []
    for is_list, group in groupby(parts, lambda part: isinstance(part, Sentence) and part.style in LISTED):
        if is_list:
            items = "".join(map(_html_item, group))
            texts.append(f'<ul class="notes">{items}</ul>')
        else:
            texts += map(_html_part, group)
    return "".join(texts)


def _html_item(part: Part) -> str:
    assert isinstance(part, Sentence)
    return f'<li class="{part.style}">{_html_words(part)}</li>'


def _html_part(part: Part) -> str:
    if isinstance(part, Table):
        return _html_table(part)
    if isinstance(part, ChartPart):
        return _html_chart(part)
    if isinstance(part, Fold):
        return f"<details><summary>{escape_html(part.title)}</summary>{html(part.parts)}</details>"
    return f"<p{_class(part.style)}>{_html_words(part)}</p>"


def _class(style: str) -> str:
    """The attribute of HTML for a style; '' if there is no style."""
    if style:
        return f' class="{style}"'
    return ""


def notebook_html(parts: Iterable[Part]) -> str:
    """Parts as HTML for notebooks, whose style would align text right; without charts, which need styles."""
    return f"{NOTEBOOK_STYLE}{html(without_charts(parts))}</div>"


def _html_chart(chart: ChartPart) -> str:
    drawing = chart.draw()
    return f"<figure><figcaption>{escape_html(drawing.title)}</figcaption>{drawing.inline()}</figure>"


def _html_words(sentence: Sentence) -> str:
    label = sentence.label
    if sentence.style == "warning":
        label = "Warning:"
    text = escape_html(sentence.text)
    if label:
        return f"<strong>{escape_html(label)}</strong> {text}"
    return text


def _html_table(table: Table) -> str:
    title = ""
    if table.title:
        title = f"<h4>{escape_html(table.title)}</h4>"

    caption = ""
    if table.caption:
        caption = f'<p class="dim">{escape_html(table.caption)}</p>'

    head = ""
    if table.has_heads:
        wrap = "{}"
        if table.sortable:
            wrap = '<button type="button">{}</button>'
        cells = (f"<th{_kind(head)}>{wrap.format(escape_html(head.text))}</th>" for head in table.heads)
        head = f"<thead><tr>{''.join(cells)}</tr></thead>"

    body = "\n".join(_html_row(row, table) for row in table.full_rows)
    attributes = ""
    if table.id:
        attributes += f' id="{escape_html(table.id)}"'
    if table.sortable:
        attributes += " data-sortable"
    if table.stacks:
        attributes += ' class="stack"'
    return f"{title}<table{attributes}>{head}<tbody>{body}</tbody></table>{caption}"


def _kind(head: Head) -> str:
    if head.kind == "number":
        return ""
    return f' class="{head.kind}"'


def _html_row(row: Row, table: Table) -> str:
    data = "".join(f' data-{key}="{escape_html(value)}"' for key, value in row.data.items())
    parts = []
    for i, (cell, head) in enumerate(zip(row.full, table.heads, strict=True)):
        tag, attributes = "td", ""
        if i == 0 and head.kind == "name":
            tag, attributes = "th", ' scope="row"'
        attributes += _kind(head)
        if table.sortable and cell.value is not None:
            attributes += _sort_key(cell.value)
        if table.stacks and i:
            attributes += f' data-label="{escape_html(head.text, NAME_LIMIT)}"'
        parts.append(f"<{tag}{attributes}>{_html_cell(cell, head)}</{tag}>")

    above = ""
    if row.above:
        above = f'<tr class="above"><td colspan="{len(parts)}">{escape_html(row.above)}</td></tr>\n'
    return f"{above}<tr{_class(row.style)}{data}>{''.join(parts)}</tr>"


def _sort_key(value: float) -> str:
    if math.isfinite(value):
        return f' data-value="{value:.6g}"'
    return ' data-value=""'


def _html_cell(cell: Cell, head: Head) -> str:
    text = escape_html(cell.text, head.limit())
    if cell.style == "best":
        text = f'<strong class="best">{text}</strong>'
    elif cell.style in VERDICTS:
        text = f'<span class="chip {cell.style}">{text}</span>'
    elif cell.style:
        text = f'<span class="{cell.style}">{text}</span>'

    if cell.link.startswith("#"):
        text = f'<a href="{escape_html(cell.link)}">{text}</a>'
    if cell.raised:
        text += f"<sup>{escape_html(cell.raised)}</sup>"
    if cell.detail:
        text += f'<div class="sub">{escape_html(cell.detail)}</div>'
    return text
