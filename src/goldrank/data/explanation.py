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
from goldrank.data.table import NOTEBOOK_STYLE, Cells, Head, Part, Sentence, Table, entities
from goldrank.data.text_item import Reference

if TYPE_CHECKING:
    from rich.console import RenderableType

ROOM = 400
"""Characters of a text that are shown."""
AROUND = 60
"""Characters shown on either side of a marked stretch where a text is shortened."""
MOST_TEXTS = 50
"""Texts that are shown."""
MOST_REFERENCES = 50
MOST_LISTED = 8
"""References that are named beside a text, and texts beside a reference."""

_AGAINST = {(True, True): "at least", (True, False): "above", (False, True): "below", (False, False): "not above"}
_INDENT = " " * 5
_MARK = "bold black on yellow"
_SPACE = re.compile(r"\s+")
_JOINERS = "\u200c\u200d"  # invisible, but words of some languages need them, and they move nothing


class ShownPart(NamedTuple):
    """Part of a text that is shown, safe for any screen, and whether it speaks for a match."""

    text: str
    marked: bool = False


class _StyledLine(NamedTuple):
    """One line for a terminal, with styles of rich."""

    head: str
    head_style: str = ""
    parts: Sequence[ShownPart] = ()
    style: str = ""
    """Of the parts that are not marked."""


@dataclass(frozen=True)
class ShownText:
    """One retrieved text as it is shown."""

    rank: int
    parts: Sequence[ShownPart]
    covers: Sequence[tuple[str, str]]
    """The references that it covers, each with the reason: ("r1", "ROUGE-L recall 0.83, at least 0.7")."""
    closest: tuple[str, str] | None
    """If it covers none, the reference that it comes closest to, with the reason why that is not enough."""

    @property
    def says(self) -> str:
        """What it covers, in a line."""
        if self.covers:
            return "covers " + "; ".join(f"{name} ({reason})" if reason else name for name, reason in self.covers)
        if self.closest:
            return "covers nothing; closest to {} ({})".format(*self.closest)
        return "covers nothing"


@dataclass(frozen=True)
class ShownReference:
    """One reference as it is shown."""

    name: str
    alternatives: Sequence[Sequence[ShownPart]]
    by: Sequence[int]
    """Ranks of the texts that cover it."""
    closest: tuple[int, str] | None
    """If none does, the rank of the text that comes closest, with the reason why that is not enough."""

    @property
    def says(self) -> str:
        """Who covers it, in a line."""
        if self.by:
            if len(self.by) > MOST_LISTED:
                rest = f" and {len(self.by) - MOST_LISTED:,} more"
            else:
                rest = ""
            return f"by text{'s' * (len(self.by) > 1)} {', '.join(map(str, self.by[:MOST_LISTED]))}{rest}"
        if self.closest:
            return "closest is text {} ({})".format(*self.closest)
        return "no text covers it"


@dataclass(frozen=True)
class SourcePlaces:
    """A source, and what of it is evidence or was retrieved: places from one character up to another."""

    name: str
    text: str
    """'' if it is not known."""
    evidence: Sequence[tuple[str, int, int]]
    """Name of the reference, from, to."""
    retrieved: Sequence[tuple[int, int, int]]
    """Rank of the text, from, to."""


@dataclass(frozen=True, repr=False)
class Explanation(Result):
    """One question's texts and references, pair by pair.

    It prints as plain text, with colours on a terminal that rich writes to, and as HTML in a notebook.
    """

    query: str
    question: str
    matcher: str
    """The rule, as it is spelled: `rouge-l:0.7`."""
    says: str
    """What a degree is, in words."""
    retrieved: Sequence[str]
    references: Sequence[Reference]
    degrees: np.ndarray
    """How much each text (row) matches each reference (column): its best alternative's degree."""
    matched: np.ndarray
    """Whether that is enough."""
    marks: Mapping[tuple[int, int], Sequence[tuple[int, int]]]
    """For each matched pair (row, column), the stretches of the text that speak for it."""
    threshold: float | None = None
    """The degree from which on it is a match; None where there is only yes and no."""
    inclusive: bool = True
    """Whether the threshold itself is enough."""
    refused: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """Pairs (row, column) whose degree is enough, and what they differ in all the same: "numbers"."""
    sources: Sequence[SourcePlaces] = ()
    """Evidence by place: the sources that it is in."""
    notes: tuple[Note, ...] = ()

    own_forms: ClassVar[Forms] = {
        "terminal": Form("texts with what they cover", "goldrank.data.explanation:plain_text", (".txt",)),
    }

    @property
    def words(self) -> str:
        """The rule and what came of it."""
        return self.summary

    def parts(self) -> list[Part]:
        """The retrieved texts with what they cover, and the references with what covers them."""
        texts: list[Cells] = [[str(text.rank), _plain(text.parts), text.says] for text in self.texts]
        shown: list[Part] = [Sentence(self.summary, "strong")]
        shown.append(Table([*Head.numbers("rank"), *Head.texts("text", "match")], texts, self.title))
        references: list[Cells] = []
        for told, listed in (("covered", self.covered), ("not covered;", self.missed)):
            for reference in listed:
                words = " | ".join(map(_plain, reference.alternatives))
                references.append([reference.name, words, f"{told} {reference.says}"])
        shown.append(Table(Head.texts("", "reference", "covered"), references))
        if self.left_out:
            return [*shown, Sentence(self.left_out, "remark")]
        return shown

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
        return {
            "query": self.query,
            "question": self.question,
            "matcher": self.matcher,
            "threshold": self.threshold,
            "words": self.words,
            "retrieved": list(self.retrieved),
            "references": [list(reference.texts) for reference in self.references],
            "pairs": self.rows(),
            "notes": [note.to_dict() for note in self.notes],
        }

    @property
    def title(self) -> str:
        """The question's id and the question, as they are shown."""
        return ids.show(self.query) + (f": {_plain(clip(self.question, ()))}" if self.question.strip() else "")

    @cached_property
    def summary(self) -> str:
        """The rule and what came of it, in a line."""
        references, covered = len(self.references), int(self.matched.any(axis=0).sum())
        texts, useful = len(self.retrieved), int(self.matched.any(axis=1).sum())
        rule = ids.show(self.matcher, 200)
        if self.threshold is not None:
            rule += f" ({self._says} {'at least' if self.inclusive else 'above'} {self.threshold:g})"
        share = f"{covered:,} of {references:,} reference{'' if references == 1 else 's'} covered"
        return f"{rule}: {share}, by {useful:,} of {texts:,} text{'' if texts == 1 else 's'}"

    @property
    def _says(self) -> str:
        return ids.show(self.says, 100)

    def reason(self, row: int, column: int) -> str:
        """The degree of a text for a reference and what it is held against, in words."""
        degree = float(self.degrees[row, column])
        if self.threshold is not None:
            says = f"{self._says} {_number(degree, self.threshold)}"
        else:
            if degree in (0.0, 1.0) or math.isnan(degree):
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
        """The texts that are shown: all, or of many the first, and of the others those that cover something."""
        rows = list(range(len(self.retrieved)))
        if len(rows) > MOST_TEXTS:
            half = MOST_TEXTS // 2
            rows = rows[:half] + (np.flatnonzero(self.matched[half:].any(axis=1)) + half)[: MOST_TEXTS - half].tolist()
        return [self._text(row) for row in rows]

    def _text(self, row: int) -> ShownText:
        columns = np.flatnonzero(self.matched[row]).tolist()
        marks = merge(*(self.marks.get((row, column), ()) for column in columns))
        covers = [(f"r{column + 1}", self.reason(row, column)) for column in columns[:MOST_LISTED]]
        if len(columns) > MOST_LISTED:
            covers.append((f"and {len(columns) - MOST_LISTED:,} more", ""))
        closest = None
        if not columns and (near := _highest(self.degrees[row])) is not None:
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
            if covered:
                near = None
            else:
                near = _highest(self.degrees[:, column])
            if near is None:
                closest = None
            else:
                closest = (near + 1, self.reason(near, column))
            by = (np.flatnonzero(self.matched[:, column]) + 1).tolist()
            references.append(ShownReference(f"r{column + 1}", texts, by, closest))

        return references

    @property
    def left_out(self) -> str:
        """How many texts and references are not shown, in a line; empty if all are."""
        texts = len(self.retrieved) - len(self.texts)
        references = len(self.references) - len(self.covered) - len(self.missed)
        parts = [f"{texts:,} texts"] * (texts > 0) + [f"{references:,} references"] * (references > 0)
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
            yield blank
            yield _StyledLine(f"{text.rank:>3}  ", "bold", [ShownPart(text.says)], "green" if text.covers else "dim")
            yield _StyledLine(_INDENT, parts=text.parts)

        for head, style, references in (("covered", "green", self.covered), ("not covered", "red", self.missed)):
            if references:
                yield blank
                yield _StyledLine(head, f"bold {style}")
            for reference in references:
                listed = [part for parts in reference.alternatives for part in (ShownPart(" | "), *parts)][1:]
                yield _StyledLine(f"{reference.name:>4} ", "bold", listed)
                yield _StyledLine(_INDENT, parts=[ShownPart(reference.says)], style="dim")

        if self.left_out:
            yield blank
            yield _StyledLine(self.left_out, "dim")

    def plain_lines(self) -> list[str]:
        """What it prints, line by line."""
        return [line.head + _plain(line.parts) for line in self._lines()]

    def __rich__(self) -> RenderableType:
        with needed("rich"):
            from rich.console import Group
            from rich.padding import Padding
            from rich.text import Text

        shown_lines: list[RenderableType] = []
        for line in self._lines():
            parts = [(part.text, _MARK if part.marked else line.style) for part in line.parts]
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
        tables += _html_table(("", "reference", ""), rows) if rows else "<p>There is no reference.</p>"
        return tables + (f"<p>{self.left_out}</p>" if self.left_out else "")


def plain_text(explanation: Explanation) -> str:
    """An explanation for a terminal without colours."""
    return "\n".join(explanation.plain_lines()) + "\n"


def clip(text: str, marks: Iterable[tuple[int, int]], room: int = ROOM) -> list[ShownPart]:
    """The parts of a text that fit into so many characters: around the marked stretches, else its beginning.

    White space shows as one blank, and characters that would steer a terminal or turn the writing round
    as their escapes. Marks ascend by their first character; only as many are looked at as are shown.

    >>> [tuple(part) for part in clip("a very long text about nothing at all", [(12, 16)], room=20)]
    [('…very long ', False), ('text', True), (' about…', False)]
    """
    stretches = _joined(text, marks, room)
    whole = len(text) <= room
    around = min(AROUND, room // 2)
    windows: list[list[int]]
    if whole:
        windows = [[0, len(text)]]
    else:
        windows = []
    inside: list[tuple[int, int]] = []
    used = 0
    for start, end in stretches:
        if not whole:
            low, high = _word_start(text, max(0, start - around), start), min(len(text), end + around)
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

        at = low
        for start, end in inside:
            if low <= start < high:
                parts += [ShownPart(gap + shown(text[at:start])), ShownPart(shown(text[start : min(end, high)]), True)]
                at, gap = min(end, high), ""
        parts.append(ShownPart(gap + shown(text[at:high])))
        last = high
    if last < len(text):
        parts.append(ShownPart(parts.pop().text + "…"))
    return [part for part in parts if part.text]


def _word_start(text: str, low: int, high: int) -> int:
    """The first place from `low` on at which a word begins, if there is one before `high`."""
    if low and not text[low - 1].isspace():
        space = _SPACE.search(text, low, high)
    else:
        space = None
    if space:
        return space.end()
    return low


def _joined(text: str, marks: Iterable[tuple[int, int]], room: int) -> Iterator[tuple[int, int]]:
    """Marks in the text; as one where they touch or have no letter between them; none after one that fills the room."""
    begin, stop = -1, -1
    for start, last in marks:
        if start >= len(text):
            break
        if not 0 <= start < last:
            continue
        end = min(last, len(text))
        if begin >= 0 and (start <= stop or (start - stop < 8 and not any(map(str.isalnum, text[stop:start])))):
            stop = max(stop, end)
            if stop - begin >= room:
                break
            continue
        if begin >= 0:
            yield begin, stop
        begin, stop = start, end

    if begin >= 0:
        yield begin, stop


def shown(text: str) -> str:
    """A text for people: white space as one blank, what cannot be printed as escapes."""
    return "".join(
        c if c.isprintable() or c in _JOINERS else c.encode("unicode_escape").decode() for c in _SPACE.sub(" ", text)
    )


def _plain(parts: Iterable[ShownPart]) -> str:
    return " ".join("".join(f"[[{part.text}]]" if part.marked else part.text for part in parts).split())


def _html(parts: Iterable[ShownPart]) -> str:
    marked = (f"<mark>{entities(part.text)}</mark>" if part.marked else entities(part.text) for part in parts)
    return f"<bdi>{''.join(marked)}</bdi>"


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
    """Where the highest degree is; None if there is none above 0."""
    known = np.nan_to_num(degrees)
    if known.max(initial=0.0) > 0:
        return int(known.argmax())
    return None


def _number(degree: float, threshold: float) -> str:
    """A degree with two decimals, or with as many as it takes to stay on its side of the threshold."""
    side = np.sign(degree - threshold)
    shown = (f"{degree:.{digits}f}" for digits in range(2, 17) if np.sign(round(degree, digits) - threshold) == side)
    return next(shown, repr(degree))
