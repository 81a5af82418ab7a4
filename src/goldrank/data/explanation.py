"""Which retrieved text covered which reference of one question, by which rule, and by which words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import merge
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.base.notes import Note
from goldrank.base.packages import needed
from goldrank.data.showing import Form, Forms, Result
from goldrank.data.table import NOTEBOOK_STYLE, Cells, Head, Part, Sentence, Table, count, entities
from goldrank.data.text_item import Reference

if TYPE_CHECKING:
    from rich.console import RenderableType

ROOM = 400
"""Most characters of a text that are shown."""
AROUND = 60
"""Characters shown on either side of a marked stretch where a text is shortened."""
MOST_TEXTS = 50
"""Most texts that are shown."""
MOST_REFERENCES = 50
MOST_LISTED = 8
"""Most references that are named beside a text, and most texts beside a reference."""

_AGAINST = {(True, True): "at least", (True, False): "above", (False, True): "below", (False, False): "not above"}
_INDENT = " " * 5
_MARK = "bold black on yellow"
_SPACE = re.compile(r"\s+")
_JOINERS = "\u200c\u200d"  # invisible and harmless, and words of some languages need them


class ShownPart(NamedTuple):
    """A part of a shown text, safe for any screen, and whether it is a reason for a match."""

    text: str
    marked: bool = False


class _StyledLine(NamedTuple):
    """One line for a terminal, with styles of rich."""

    head: str
    head_style: str = ""
    parts: Sequence[ShownPart] = ()
    style: str = ""
    """The style of the parts that are not marked."""


@dataclass(frozen=True)
class ShownText:
    """One retrieved text as it is shown."""

    rank: int
    parts: Sequence[ShownPart]
    covers: Sequence[tuple[str, str]]
    """The references that it covers, each with the reason: ("r1", "ROUGE-L recall 0.83, at least 0.7")."""
    closest: tuple[str, str] | None
    """If it covers no reference: the closest reference, with the reason why that is not enough."""

    @property
    def says(self) -> str:
        """The references that it covers, in a line."""
        if self.covers:
            return "covers " + "; ".join(_with_reason(name, reason) for name, reason in self.covers)
        if self.closest:
            return "covers nothing; closest to {} ({})".format(*self.closest)
        return "covers nothing"


def _with_reason(name: str, reason: str) -> str:
    if reason:
        return f"{name} ({reason})"
    return name


@dataclass(frozen=True)
class ShownReference:
    """One reference as it is shown."""

    name: str
    alternatives: Sequence[Sequence[ShownPart]]
    by: Sequence[int]
    """Ranks of the texts that cover it."""
    closest: tuple[int, str] | None
    """If no text covers it: the rank of the closest text, with the reason why that is not enough."""

    @property
    def says(self) -> str:
        """The texts that cover it, in a line."""
        if self.by:
            ranks = ", ".join(map(str, self.by[:MOST_LISTED]))
            if len(self.by) > MOST_LISTED:
                ranks += f" and {len(self.by) - MOST_LISTED:,} more"
            return f"by text{'s' * (len(self.by) > 1)} {ranks}"
        if self.closest:
            return "closest is text {} ({})".format(*self.closest)
        return "no text covers it"


@dataclass(frozen=True)
class SourcePlaces:
    """A source, and its parts that are evidence or were retrieved, as positions of characters."""

    name: str
    text: str
    """'' if it is not known."""
    evidence: Sequence[tuple[str, int, int]]
    """Name of the reference, start, end."""
    retrieved: Sequence[tuple[int, int, int]]
    """Rank of the text, start, end."""


@dataclass(frozen=True, repr=False, eq=False)
class Explanation(Result):
    """One question's texts and references, pair by pair.

    It prints as plain text, with colours on a terminal that rich writes to, and as HTML in a notebook.
    """

    query: str
    question: str
    matcher: str
    """The rule in its usual spelling: `rouge-l:0.7`."""
    says: str
    """The meaning of a degree, in words."""
    retrieved: Sequence[str]
    references: Sequence[Reference]
    degrees: np.ndarray
    """How much each text (row) matches each reference (column): the degree of its best alternative."""
    matched: np.ndarray
    """Whether the degree is enough."""
    marks: Mapping[tuple[int, int], Sequence[tuple[int, int]]]
    """For each matched pair (row, column), the stretches of the text that are the reason."""
    threshold: float | None = None
    """The degree of a match; None where there is only yes and no."""
    inclusive: bool = True
    """Whether the threshold itself is enough."""
    refused: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """Pairs (row, column) with a sufficient degree that do not match, and what they differ in: "numbers"."""
    sources: Sequence[SourcePlaces] = ()
    """For evidence by position: its sources."""
    notes: tuple[Note, ...] = ()

    own_forms: ClassVar[Forms] = {
        "terminal": Form("texts with what they cover", "goldrank.data.explanation:plain_text", (".txt",)),
    }

    @property
    def words(self) -> str:
        """The rule and its result."""
        return self.summary

    def parts(self) -> list[Part]:
        """The retrieved texts with what they cover, and the references with what covers them."""
        texts: list[Cells] = [[str(text.rank), _plain(text.parts), text.says] for text in self.texts]

        references: list[Cells] = []
        for state, shown_references in (("covered", self.covered), ("not covered;", self.missed)):
            for reference in shown_references:
                words = " | ".join(map(_plain, reference.alternatives))
                references.append([reference.name, words, f"{state} {reference.says}"])

        parts: list[Part] = [
            Sentence(self.summary, "strong"),
            Table([*Head.numbers("rank"), *Head.texts("text", "match")], texts, self.title),
            Table(Head.texts("", "reference", "covered"), references),
        ]
        if self.left_out:
            parts.append(Sentence(self.left_out, "remark"))
        return parts

    def rows(self) -> list[dict[str, Any]]:
        """A row per retrieved text and reference."""
        return [
            {
                "query": self.query,
                "rank": row + 1,
                "reference": f"r{column + 1}",
                "degree": float(self.degrees[row, column]),
                "matched": bool(self.matched[row, column]),
            }
            for row in range(len(self.retrieved))
            for column in range(len(self.references))
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the marks, as plain Python values."""
        references = [list(reference.texts) for reference in self.references]
        return {
            "query": self.query,
            "question": self.question,
            "matcher": self.matcher,
            "threshold": self.threshold,
            "words": self.words,
            "retrieved": list(self.retrieved),
            "references": references,
            "pairs": self.rows(),
            "notes": [note.to_dict() for note in self.notes],
        }

    @property
    def title(self) -> str:
        """The question's id and the question, as shown to people."""
        query = ids.show(self.query)
        if self.question.strip():
            return f"{query}: {_plain(clip(self.question, ()))}"
        return query

    @cached_property
    def summary(self) -> str:
        """The rule and its result, in a line."""
        covered = int(self.matched.any(axis=0).sum())
        useful = int(self.matched.any(axis=1).sum())
        references = count(len(self.references), "reference")
        texts = count(len(self.retrieved), "text")

        rule = ids.show(self.matcher, 200)
        if self.threshold is not None:
            rule += f" ({self._says} {_AGAINST[True, self.inclusive]} {self.threshold:g})"
        return f"{rule}: {covered:,} of {references} covered, by {useful:,} of {texts}"

    @property
    def _says(self) -> str:
        return ids.show(self.says, 100)

    def reason(self, row: int, column: int) -> str:
        """The degree of a text for a reference, compared with the threshold, in words."""
        degree = float(self.degrees[row, column])
        if self.threshold is not None:
            says = f"{self._says} {_number(degree, self.threshold)}"
        elif degree in (0.0, 1.0) or math.isnan(degree):
            says = self._says
        else:
            says = f"{self._says} {degree:.2f}"

        if (row, column) in self.refused:
            return f"{says}, but {self.refused[row, column]} differ"
        if self.threshold is None:
            return says
        return f"{says}, {_AGAINST[bool(self.matched[row, column]), self.inclusive]} {self.threshold:g}"

    @cached_property
    def texts(self) -> Sequence[ShownText]:
        """The shown texts: all of a few; of many the first, and then those that cover something."""
        rows = list(range(len(self.retrieved)))
        if len(rows) > MOST_TEXTS:
            half = MOST_TEXTS // 2
            useful = np.flatnonzero(self.matched[half:].any(axis=1)) + half
            rows = rows[:half] + useful[: MOST_TEXTS - half].tolist()
        return [self._text(row) for row in rows]

    def _text(self, row: int) -> ShownText:
        columns = np.flatnonzero(self.matched[row]).tolist()
        marks = merge(*(self.marks.get((row, column), ()) for column in columns))
        covers = [(f"r{column + 1}", self.reason(row, column)) for column in columns[:MOST_LISTED]]
        if len(columns) > MOST_LISTED:
            covers.append((f"and {len(columns) - MOST_LISTED:,} more", ""))

        closest = None
        near = _highest(self.degrees[row])
        if not columns and near is not None:
            closest = f"r{near + 1}", self.reason(row, near)
        return ShownText(row + 1, clip(self.retrieved[row], marks), covers, closest)

    @cached_property
    def covered(self) -> Sequence[ShownReference]:
        """The references that some text covers."""
        return self._shown_references(True)

    @cached_property
    def missed(self) -> Sequence[ShownReference]:
        """The references that no text covers."""
        return self._shown_references(False)

    def _shown_references(self, covered: bool) -> list[ShownReference]:
        references = []
        columns = np.flatnonzero(self.matched.any(axis=0) == covered)
        for column in columns[:MOST_REFERENCES].tolist():
            texts = [clip(text, ()) for text in self.references[column].texts[:MOST_LISTED]]
            near = _highest(self.degrees[:, column])
            closest = None
            if not covered and near is not None:
                closest = (near + 1, self.reason(near, column))
            by = (np.flatnonzero(self.matched[:, column]) + 1).tolist()
            references.append(ShownReference(f"r{column + 1}", texts, by, closest))

        return references

    @property
    def left_out(self) -> str:
        """How many texts and references are not shown, in a line; empty if all are."""
        texts = len(self.retrieved) - len(self.texts)
        references = len(self.references) - len(self.covered) - len(self.missed)

        parts = []
        if texts > 0:
            parts.append(f"{texts:,} texts")
        if references > 0:
            parts.append(f"{references:,} references")
        if parts:
            return f"{' and '.join(parts)} not shown"
        return ""

    def _lines(self) -> Iterator[_StyledLine]:
        blank = _StyledLine("")
        yield _StyledLine(self.title, "bold")
        yield _StyledLine(self.summary, "dim")
        if not self.retrieved:
            yield _StyledLine("nothing was retrieved", "yellow")

        for text in self.texts:
            style = "dim"
            if text.covers:
                style = "green"
            yield blank
            yield _StyledLine(f"{text.rank:>3}  ", "bold", [ShownPart(text.says)], style)
            yield _StyledLine(_INDENT, parts=text.parts)

        for head, style, references in (("covered", "green", self.covered), ("not covered", "red", self.missed)):
            if references:
                yield blank
                yield _StyledLine(head, f"bold {style}")
            for reference in references:
                separated = [part for parts in reference.alternatives for part in (ShownPart(" | "), *parts)]
                yield _StyledLine(f"{reference.name:>4} ", "bold", separated[1:])
                yield _StyledLine(_INDENT, parts=[ShownPart(reference.says)], style="dim")

        if self.left_out:
            yield blank
            yield _StyledLine(self.left_out, "dim")

    def plain_lines(self) -> list[str]:
        """The printed lines."""
        return [line.head + _plain(line.parts) for line in self._lines()]

    def __rich__(self) -> RenderableType:
        with needed("rich"):
            from rich.console import Group
            from rich.padding import Padding
            from rich.text import Text

        shown_lines: list[RenderableType] = []
        for line in self._lines():
            styles = {True: _MARK, False: line.style}
            parts = [(part.text, styles[part.marked]) for part in line.parts]
            if line.head == _INDENT:
                shown_lines.append(Padding(Text.assemble(*parts), (0, 0, 0, len(_INDENT))))
            else:
                shown_lines.append(Text.assemble((line.head, line.head_style), *parts))
        return Group(*shown_lines)

    def _repr_html_(self) -> str:
        return f"{NOTEBOOK_STYLE}<p><b>{entities(self.title)}</b><br>{entities(self.summary)}</p>{self.html()}</div>"

    def html(self) -> str:
        """The texts and the references as two tables of HTML, without any style."""
        rows = [_html_row(str(text.rank), [text.parts], bool(text.covers), text.says) for text in self.texts]
        if rows:
            tables = _html_table(("rank", "text", "match"), rows)
        else:
            tables = "<p>Nothing was retrieved.</p>"

        rows = [_html_row(r.name, r.alternatives, True, f"covered {r.says}") for r in self.covered]
        rows += [_html_row(r.name, r.alternatives, False, f"not covered; {r.says}") for r in self.missed]
        if rows:
            tables += _html_table(("", "reference", ""), rows)
        else:
            tables += "<p>There is no reference.</p>"

        if self.left_out:
            tables += f"<p>{self.left_out}</p>"
        return tables


def plain_text(explanation: Explanation) -> str:
    """An explanation for a terminal without colours."""
    return "\n".join(explanation.plain_lines()) + "\n"


def clip(text: str, marks: Iterable[tuple[int, int]], room: int = ROOM) -> list[ShownPart]:
    """The parts of a text that fit into `room` characters: around the marked stretches, else its beginning.

    White space shows as one blank; characters that control a terminal or reverse the writing show as escapes. Marks
    ascend by their first character; marks that do not fit are not read.

    >>> [tuple(part) for part in clip("a very long text about nothing at all", [(12, 16)], room=20)]
    [('…very long ', False), ('text', True), (' about…', False)]
    """
    stretches = _joined(text, marks, room)
    if len(text) <= room:
        return _parts(text, [[0, len(text)]], list(stretches))

    around = min(AROUND, room // 2)
    windows: list[list[int]] = []
    inside: list[tuple[int, int]] = []
    used = 0
    for start, end in stretches:
        low = _word_start(text, max(0, start - around), start)
        high = min(len(text), end + around)
        if windows and low <= windows[-1][1]:
            low = windows.pop()[0]
            used = sum(stop - begin for begin, stop in windows)
        if used >= room:
            break
        windows.append([low, min(high, low + room - used)])
        used += windows[-1][1] - low
        inside.append((start, end))

    if not windows:
        windows = [[0, room]]
    elif used < room:
        windows[-1][1] = min(len(text), windows[-1][1] + room - used)
    return _parts(text, windows, inside)


def _parts(text: str, windows: Sequence[Sequence[int]], inside: Sequence[tuple[int, int]]) -> list[ShownPart]:
    parts: list[ShownPart] = []
    last = 0
    for low, high in windows:
        gap = ""
        if low > last:
            if parts:
                gap = " … "
            else:
                gap = "…"

        position = low
        for start, end in inside:
            if low <= start < high:
                stop = min(end, high)
                parts.append(ShownPart(gap + shown(text[position:start])))
                parts.append(ShownPart(shown(text[start:stop]), True))
                position, gap = stop, ""
        parts.append(ShownPart(gap + shown(text[position:high])))
        last = high

    if last < len(text):
        parts.append(ShownPart(parts.pop().text + "…"))
    return [part for part in parts if part.text]


def _word_start(text: str, low: int, high: int) -> int:
    """The first beginning of a word from `low` on, if there is one before `high`; else `low`."""
    if not low or text[low - 1].isspace():
        return low
    space = _SPACE.search(text, low, high)
    if space:
        return space.end()
    return low


def _joined(text: str, marks: Iterable[tuple[int, int]], room: int) -> Iterator[tuple[int, int]]:
    """Marks in the text, joined where they touch or have no letter between them; it ends when a mark fills the room."""
    begin, stop = -1, -1
    for start, last in marks:
        if start >= len(text):
            break
        if not 0 <= start < last:
            continue

        end = min(last, len(text))
        if begin >= 0 and _touch(text, stop, start):
            stop = max(stop, end)
            if stop - begin >= room:
                break
            continue

        if begin >= 0:
            yield begin, stop
        begin, stop = start, end

    if begin >= 0:
        yield begin, stop


def _touch(text: str, end: int, start: int) -> bool:
    """Whether a mark up to `end` and a mark from `start` have nothing but a few signs between them."""
    if start <= end:
        return True
    return start - end < 8 and not any(map(str.isalnum, text[end:start]))


def shown(text: str) -> str:
    """A text for people: white space as one blank, unprintable characters as escapes."""
    return "".join(map(_printable, _SPACE.sub(" ", text)))


def _printable(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    return character.encode("unicode_escape").decode()


def _plain(parts: Iterable[ShownPart]) -> str:
    text = ""
    for part in parts:
        if part.marked:
            text += f"[[{part.text}]]"
        else:
            text += part.text
    return " ".join(text.split())


def _html(parts: Iterable[ShownPart]) -> str:
    html = ""
    for part in parts:
        if part.marked:
            html += f"<mark>{entities(part.text)}</mark>"
        else:
            html += entities(part.text)
    return f"<bdi>{html}</bdi>"


def _html_row(name: str, alternatives: Sequence[Sequence[ShownPart]], hit: bool, says: str) -> str:
    words = " <i>or</i> ".join(map(_html, alternatives))
    if hit:
        style = "hit"
    else:
        style = "miss"
    return f'<tr><td>{name}</td><td class="words">{words}</td><td class="{style}">{entities(says)}</td></tr>'


def _html_table(heads: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f'<th class="text">{name}</th>' for name in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _highest(degrees: np.ndarray) -> int | None:
    """The index of the highest degree; None if no degree is above 0."""
    known = np.nan_to_num(degrees)
    if known.max(initial=0.0) > 0:
        return int(known.argmax())
    return None


def _number(degree: float, threshold: float) -> str:
    """A degree with two decimals, or with more if rounding would move it to the other side of the threshold."""
    side = np.sign(degree - threshold)
    for digits in range(2, 17):
        if np.sign(round(degree, digits) - threshold) == side:
            return f"{degree:.{digits}f}"
    return repr(degree)
