"""TREC text: runs (`query iter doc rank score tag`), qrels (`query iter doc grade`), MS MARCO runs, and judgements with
more than one grade for a document: by aspect, by judge, or as preferences.

Ids are bytes. Fields are separated by any of the six ASCII blanks; lines that start with # are comments. `scan` reads
regular lines; a piece with anything irregular is read line by line by `tidy`, which makes it regular or reports what is
wrong, and where.
"""

from __future__ import annotations

import codecs
import itertools
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from goldrank.base import ids, notes
from goldrank.base.errors import InputError, Position
from goldrank.base.notes import Note
from goldrank.data.aspects import AspectQrels
from goldrank.data.blocks import Block, BlockSource, Rows, Tags
from goldrank.data.grades import MAX_GRADE
from goldrank.data.id_column import IdColumn
from goldrank.data.judgement_columns import grade_array
from goldrank.data.preferences import Preferences
from goldrank.data.qrels import TEXT_JUDGEMENT, Grade, Judgements, Qrels, judgements_fit
from goldrank.data.run import Run
from goldrank.io import sources
from goldrank.io.formats import Reading
from goldrank.io.sources import ByteSource
from goldrank.io.text import scan
from goldrank.io.text.number_text import NUMBER, WHOLE, grade_of, level_of, plain_scores, score_of, shown

BLANKS = b" \t\n\v\f\r"
BY_MODEL = b"model"
"""The second field of a line of qrels that a model judged. Other tools ignore this field."""
TAIL = 1 << 16
"""Bytes at the end of a file in which its last line is looked for."""


@dataclass(frozen=True)
class Layout:
    """The names of the fields of a line."""

    fields: tuple[str, ...]
    kind: str = "judgements"
    extra: bool = False
    """Whether more fields may follow."""

    def column(self, name: str) -> int:
        return self.fields.index(name)

    @cached_property
    def roles(self) -> scan.FieldRoles:
        """The fields that a reader of these lines needs."""
        number = -1
        if "score" in self.fields:
            number = self.column("score")
        return scan.FieldRoles(self.column("query"), self.column("doc"), number)

    def fits(self, width: int) -> bool:
        return width == len(self.fields) or (self.extra and width > len(self.fields))


RUN_LAYOUTS = {
    "trec": Layout(("query", "iter", "doc", "rank", "score", "tag"), "run", extra=True),
    "trec-no-tag": Layout(("query", "iter", "doc", "rank", "score"), "run", extra=True),
    "msmarco": Layout(("query", "doc", "rank"), "run"),
}
JUDGEMENT_LAYOUTS = {
    "trec": Layout(("query", "iter", "doc", "grade"), "qrels"),
    "trec-3col": Layout(("query", "doc", "grade"), "qrels"),
    "aspects": Layout(("query", "aspect", "doc", "grade")),
    "prefs": Layout(("query", "judge", "list", "doc", "level")),
    "qrels_prefs": Layout(("query", "judge", "doc", "level")),
}


class TrecRun(BlockSource):
    """A run in a text file, read piece by piece."""

    def __init__(self, source: ByteSource, layout: str) -> None:
        self.name = source.name
        self.source = source
        self.layout = RUN_LAYOUTS[layout]

    def pieces(self) -> Iterator[Callable[[], Block]]:
        load: sources.Load | None = None
        for offset, load in self.source.pieces():
            yield lambda offset=offset, load=load: self._block(load(), offset)  # type: ignore[misc]
        if load is None:
            raise self.source.empty()

    def keys(self, docs: IdColumn) -> np.ndarray:
        return docs.hashes()

    def digest(self) -> str | None:
        return self.source.digest()

    def files(self) -> list[ByteSource]:
        return [self.source]

    def _block(self, data: np.ndarray, offset: int) -> Block:
        layout = self.layout
        fields, position, counts = _parsed(data, offset, self.source, layout)
        if "score" in layout.fields:
            score = self._scores(fields, position)
        else:
            score = self._ranks(fields, position)
        query_column = layout.column("query")
        doc_column = layout.column("doc")
        begin = fields.changes(query_column)
        key = fields.hashes(doc_column)

        def keep(lines: np.ndarray) -> Rows:
            low = high = 0
            if len(lines):
                low, high = int(lines[0]), int(lines[-1]) + 1
            copied = fields.copy(low, high)
            local = lines - low
            return Rows(
                score=score[lines],
                key=key[lines],
                docs=lambda rows: copied.ids(doc_column, local[rows]),
                position=lambda row: position(int(lines[row])),
                claimed=lambda rows: self._claimed(copied, local[rows]),
            )

        tags: Tags | None = None
        if "tag" in layout.fields and fields.size:
            tag_column = layout.column("tag")
            tags = Tags(
                fields.size,
                lambda: np.append(fields.changes(tag_column), fields.size),
                partial(fields.texts, tag_column),
            )

        return Block(
            score=score,
            key=key,
            docs=partial(fields.ids, doc_column),
            position=position,
            claimed=partial(self._claimed, fields),
            queries=fields.ids(query_column, begin),
            start=np.append(begin, fields.size),
            keep=keep,
            tags=tags,
            notes=counts,
        )

    def _claimed(self, fields: scan.FieldRanges, lines: np.ndarray) -> np.ndarray:
        """The values of the rank column, -1 where they are not numbers."""
        ranks = np.full(len(lines), -1)
        for i, text in enumerate(fields.texts(self.layout.column("rank"), lines)):
            if text.isdigit() and len(text) < 16:
                ranks[i] = int(text)
        return ranks

    def _ranks(self, fields: scan.FieldRanges, position: Callable[[int], Position]) -> np.ndarray:
        """Scores of a run that has only ranks."""
        column = self.layout.column("rank")
        rank, unparsed = fields.ids(column).integers()
        is_signed = fields.data[fields.start(column)] < ord("0")
        wrong = np.union1d(unparsed, np.flatnonzero(is_signed))
        if len(wrong):
            line = int(wrong[0])
            text = shown(fields.texts(column, np.array([line]))[0])
            hint = "An MS MARCO run has three columns: query, document, rank."
            where = _field_position(self.source, position(line), column)
            raise InputError(f"rank '{text}' is not a whole number", where=where, hint=hint)
        return -rank.astype(np.float64)

    def _scores(self, fields: scan.FieldRanges, position: Callable[[int], Position]) -> np.ndarray:
        column = self.layout.column("score")
        score, unparsed = fields.decimals(column)
        texts = fields.texts(column, unparsed)
        values = plain_scores(texts)
        if values is not None:
            score[unparsed] = values
            return score

        for line, text in zip(unparsed.tolist(), texts, strict=True):
            if not NUMBER.fullmatch(text):
                score_of(text, _field_position(self.source, position(line), column), " (field 5)")
            score[line] = float(text)
        return score


def read_run(source: ByteSource, reading: Reading) -> Run:
    """A run in one of `RUN_LAYOUTS`; the file is read when the run is used."""
    return Run(TrecRun(source, reading.format), name=source.label).with_facts(notes=tuple(source.notes))


def read_qrels(source: ByteSource, reading: Reading) -> Judgements:
    """Judgements with one grade each. Only ids and grades of each piece of the file stay in memory."""
    layout = JUDGEMENT_LAYOUTS[reading.format]
    parts: list[Judgements] = []
    counts: Counter[str] = Counter()
    rows = 0
    for offset, load in source.pieces():
        parts.append(_judgements(load(), offset, source, layout, reading.real_grades, counts))
        rows += len(parts[-1].docs)
        judgements_fit(rows, source.name, each=TEXT_JUDGEMENT)

    if not rows:
        raise source.empty()
    return replace(Judgements.joined(parts), notes=[*source.notes, *notes.from_counts(counts)])


def _judgements(
    data: np.ndarray, offset: int, source: ByteSource, layout: Layout, real_grades: bool, counts: Counter[str]
) -> Judgements:
    """The judgements of a piece; `counts` gets what was tolerated."""
    fields, position, tolerated = _parsed(data, offset, source, layout)
    counts.update(tolerated)

    column = layout.column("grade")
    grade, unparsed = fields.ids(column).integers()
    is_unusual = np.abs(grade) > MAX_GRADE
    is_unusual[unparsed] = True
    unusual = np.flatnonzero(is_unusual)
    if len(unusual):
        texts = fields.texts(column, unusual)
        where = lambda i: _field_position(source, position(int(unusual[i])), column)  # noqa: E731
        checked = grade_array(_grades(texts, where, real_grades))
        grade = grade.astype(checked.dtype)
        grade[unusual] = checked

    query = layout.column("query")
    begin = np.zeros(0, np.int64)
    if fields.size:
        begin = fields.changes(query)
    queries = fields.ids(query, begin).copy()
    docs = fields.ids(layout.column("doc")).copy()
    by_model = None
    if "iter" in layout.fields:
        by_model = _by_model(fields, layout.column("iter"))

    return Judgements(queries, docs, grade, position, sizes=np.diff(begin, append=fields.size), by_model=by_model)


def _by_model(fields: scan.FieldRanges, column: int) -> np.ndarray | None:
    """Which lines a model judged, by their second field; None if there is no such line."""
    start = fields.start(column)
    size = fields.ends[column] - start
    candidates = np.flatnonzero((size == len(BY_MODEL)) & (fields.data[start] == BY_MODEL[0]))
    by_model = np.zeros(fields.size, bool)
    by_model[candidates] = [text == BY_MODEL for text in fields.texts(column, candidates)]
    if by_model.any():
        return by_model
    return None


def read_aspects(source: ByteSource, reading: Reading) -> AspectQrels:
    """Qrels whose second column is an aspect: a subtopic or a judge."""
    lines = _columns(source, reading)
    queries, aspects, docs, texts = lines.columns
    grades = _grades(texts, lines.position)
    return AspectQrels.from_rows(
        queries, aspects, docs, grades, name=source.label, where=lines.position, notes=lines.notes
    )


def read_preferences(source: ByteSource, reading: Reading) -> Preferences:
    """Preferences by judge and list. Grades of qrels are read as preferences in one list."""
    lines = _columns(source, reading)
    columns = lines.columns
    if reading.format == "qrels_prefs":
        columns.insert(2, [b"0"] * len(columns[0]))
    queries, judges, lists, docs, texts = columns
    levels = [level_of(text, lines.position(i)) for i, text in enumerate(texts)]
    return Preferences.from_rows(
        queries, judges, lists, docs, levels, name=source.label, where=lines.position, notes=lines.notes
    )


class _LineColumns(NamedTuple):
    """The lines of a file as columns."""

    columns: list[list[bytes]]
    position: Callable[[int], Position]
    """The position of a line."""
    notes: tuple[Note, ...]


def _columns(source: ByteSource, reading: Reading) -> _LineColumns:
    layout = JUDGEMENT_LAYOUTS[reading.format]
    raw = source.read(lines=True)
    judgements_fit(raw.count(b"\n"), source.name, 4 * len(raw))
    lines, numbers, counts = tidy(raw, source.start, source, layout)
    if not lines:
        raise source.empty()

    rows = [line.split(b" ") for line in lines]
    columns = list(map(list, zip(*rows, strict=True)))
    all_notes = (*source.notes, *notes.from_counts(counts))
    return _LineColumns(columns, lambda i: Position(source.name, int(numbers[i]) + 1), all_notes)


def _is_cut_off(piece: np.ndarray) -> bool:
    """Whether the last line of a piece is a line of data without a line end; blanks and comments are not data."""
    if not piece.size or piece[-1] == ord("\n"):
        return False
    last_line = piece.tobytes().rpartition(b"\n")[2].strip()
    return bool(last_line) and not last_line.startswith(b"#")


def _parsed(
    data: np.ndarray, offset: int, source: ByteSource, layout: Layout
) -> tuple[scan.FieldRanges, Callable[[int], Position], Counter[str]]:
    """The fields of a padded piece, the position of each line, and what was tolerated."""
    counts: Counter[str] = Counter()
    numbers: np.ndarray | None = None
    unpadded = data[: -scan.PAD]
    is_cut_off = _is_cut_off(unpadded)

    fields = scan.split(data, layout.roles)
    if fields is None or not layout.fits(fields.width):
        fields = None
        tidied = scan.tidied(data, len(layout.fields), layout.extra)
        if tidied is not None and len(tidied.numbers):
            numbers = tidied.numbers
            counts.update({code: count for code, count in tidied.counts.items() if count})
            fields = scan.split(tidied.data, layout.roles)
    if fields is None:
        lines, numbers, counts = tidy(unpadded.tobytes(), offset, source, layout)
        fields = scan.FieldRanges.of_lines(lines, len(layout.fields))

    if fields.width > len(layout.fields):
        counts["extra-columns"] += fields.size
    if is_cut_off:
        counts["no-line-end"] += 1

    def position(line: int) -> Position:
        # Blocks keep this function, so it must not refer to the data.
        if numbers is not None:
            line = int(numbers[line])
        return Position(source.name, source.lines_before(offset) + line + 1)

    return fields, position, counts


def tidy(raw: bytes, offset: int, source: ByteSource, layout: Layout) -> tuple[list[bytes], np.ndarray, Counter[str]]:
    """The data lines of a piece with one blank between fields, their line numbers in it, and what was tolerated."""
    counts: Counter[str] = Counter()
    lines: list[bytes] = []
    numbers: list[int] = []
    bad: list[tuple[int, bytes]] = []
    width = len(layout.fields)

    def position(number: int, column: int | None = None) -> Position:
        return Position(source.name, source.lines_before(offset) + number + 1, column)

    for number, line in enumerate(raw.removesuffix(b"\n").split(b"\n")):
        # bytes.split() splits at exactly the six blanks of ASCII.
        cells = line.split()
        if not cells:
            counts["blank-lines"] += 1
            continue
        if cells[0].startswith(b"#"):
            if len(cells) >= width and cells[0] != b"#":
                counts["comments-like-data"] += 1
            counts["comment-lines"] += 1
            continue
        if not layout.fits(len(cells)):
            bad.append((number, line))
            continue

        if b"\0" in line and not bad:
            where = position(number, len(ids.decode(line[: line.index(b"\0")])) + 1)
            raise InputError(f"NUL byte in '{shown(line.strip(), 80)}'", where=where, hint="Is this a text file?")
        for name in ("query", "doc"):
            column = layout.column(name)
            if len(cells[column]) > ids.MAX_ID_BYTES and not bad:
                problem = f"the {name} id has more than {ids.MAX_ID_BYTES:,} bytes"
                where = _field_position(source, position(number), column)
                raise InputError(problem, where=where, hint="Is this a text file of rankings?", code="bad-id")
        if len(cells) > width:
            counts["extra-columns"] += 1
        lines.append(b" ".join(cells[:width]))
        numbers.append(number)

    if bad:
        number, line = bad[0]
        raise _bad_line(line, len(bad) - 1, position(number, 1), layout)
    return lines, np.array(numbers, np.int64), counts


def _field_position(source: ByteSource, line: Position, field: int) -> Position:
    """The position of a field in a line; the line is read again, because only messages need it."""
    text = next(text for number, text in source.filled_lines() if number == line.line)
    start = next(itertools.islice(re.finditer(rb"\S+", text), field, None)).start()
    return Position(line.file, line.line, len(ids.decode(text[:start])) + 1)


def _bad_line(line: bytes, similar: int, where: Position, layout: Layout) -> InputError:
    """The error for a line with the wrong number of fields, with a guess at the reason; `similar` lines follow."""
    cells = line.split()
    expected = f"{len(layout.fields)} ({', '.join(layout.fields)})"
    problem = f"found {len(cells)} columns in '{shown(line.strip(), 80)}', expected {expected}"
    if similar:
        problem += f"; {similar:,} more line{'s' * (similar > 1)} like it"

    hint = "Columns are separated by blanks or tabs."
    if layout.kind == "run":
        hint = _hint_for_run(cells) or hint
    elif layout.kind == "qrels":
        if len(cells) >= 6:
            hint = "This looks like a line of a run. Are the two files swapped?"
        elif len(cells) == 3 and WHOLE.fullmatch(cells[2]):
            hint = "If these are query, document, grade: read_qrels(source, format='trec-3col')."

    return InputError(problem, where=where, hint=hint)


def _hint_for_run(cells: Sequence[bytes]) -> str | None:
    if len(cells) == 4 and WHOLE.fullmatch(cells[3]):
        return "This looks like a line of qrels. Are the two files swapped?"
    if len(cells) != 5:
        return None
    if NUMBER.fullmatch(cells[4]):
        return "The tag, the last column, is missing. If no line has one: format='trec-no-tag'."
    if NUMBER.fullmatch(cells[3]):
        return "It lacks rank or score."
    return "It lacks a column."


def _grades(texts: Sequence[bytes], where: Callable[[int], Position], real_grades: bool = False) -> list[Grade]:
    """Grades from their texts; an error if one is not a grade."""
    grades: list[Grade] = []
    for i, text in enumerate(texts):
        try:
            grades.append(grade_of(text, "", " (last field)", real_grades=real_grades))
        except InputError as error:  # the position of a field takes time, and only messages need it
            raise InputError(error.what, where=where(i), hint=error.hint, code=error.code) from None
    return grades


def dump(data: Run | Qrels) -> bytes:
    """A run by rank, with all digits of scores so that reading gives an equal run; or qrels in four columns."""
    if isinstance(data, Run):
        content = b"".join(_run_lines(data))
    else:
        content = b"".join(_qrels_lines(data))
    # A blank, so that the first character of an id is not read as a byte order mark.
    if content.startswith(codecs.BOM_UTF8):
        return b" " + content
    return content


def _run_lines(run: Run) -> Iterator[bytes]:
    tag = ids.encode(run.name).translate(None, BLANKS) or b"goldrank"
    for query in run:
        for rank, doc in enumerate(run.ranking(query), 1):
            score = repr(float(run[query][doc])).encode()
            yield b"%b Q0 %b %d %b %b\n" % (_field(query, "query"), _field(doc, "document"), rank, score, tag)


def _qrels_lines(qrels: Qrels) -> Iterator[bytes]:
    human: Mapping[str, Mapping[str, Grade]] = qrels
    if qrels.judges:
        human = qrels.judges.get("human") or {}

    for query in qrels:
        by_people = human.get(query, {})
        for doc, grade in qrels[query].items():
            if not isinstance(grade, int):
                hint = "Write these as JSON or Parquet instead; those from clicks become whole grades with --cuts."
                raise InputError(f"grade {grade!r} is not a whole number", hint=hint)
            judge = BY_MODEL
            if doc in by_people:
                judge = b"0"
            yield b"%b %b %b %d\n" % (_field(query, "query"), judge, _field(doc, "document"), grade)


def _field(text: str, noun: str) -> bytes:
    raw = ids.encode(text)
    if raw.split() != [raw] or raw.startswith(b"#") or b"\0" in raw:
        hint = "It is empty, has blanks in it or starts with #. Write JSON or Parquet instead."
        raise InputError(f"{noun} id '{ids.show(text)}' cannot be in a TREC file", hint=hint, code="not-for-trec")
    return raw


def last_tag(source: ByteSource) -> bytes:
    """The tag of a run's last line, which trec_eval prints as the name of the run."""
    if source.compression is None and not source.old_mac and source.path is not None:
        with source.open() as file:
            size = file.seek(0, 2)
            length = TAIL
            while True:
                file.seek(max(source.start, size - length))
                lines = sources.read_fully(file, length).split(b"\n")
                is_complete = source.start >= size - length
                if not is_complete:
                    del lines[0]  # it is cut off
                tag = _last_tag(lines)
                if tag or is_complete:  # else the last lines are long, or comments
                    return tag
                length *= 16

    tail = b""
    for _, load in deque(source.pieces(), maxlen=1):
        tail = load()[: -scan.PAD].tobytes()

    return _last_tag(tail.split(b"\n"))


def _last_tag(lines: Sequence[bytes]) -> bytes:
    for line in reversed(lines):
        cells = line.split()
        if len(cells) > 5 and not cells[0].startswith(b"#"):
            return cells[5]
    return b""
