"""TREC text: runs (`query iter doc rank score tag`), qrels (`query iter doc grade`), MS MARCO runs, and judgements that
say more of a document than one grade: by aspect, by judge, or as preferences.

Ids are bytes. Fields are separated by any of the six ASCII blanks; lines starting with # are comments.
Regular lines are read by `scan`; as soon as a piece has anything irregular in it, `tidy` goes through
it line by line, and either makes it regular or says what is wrong, and where.
"""

from __future__ import annotations

import codecs
import itertools
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

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
"""The second field of a line of qrels that a model judged. Other tools do not read that field."""
TAIL = 1 << 16
"""Bytes at the end of a file in which its last line is looked for."""


@dataclass(frozen=True)
class Layout:
    """Which field is which, counted from 0."""

    fields: tuple[str, ...]
    kind: str = "judgements"
    extra: bool = False
    """Whether more fields may follow."""

    def column(self, name: str) -> int:
        return self.fields.index(name)

    @cached_property
    def wanted(self) -> scan.Wanted:
        """What a reader of these lines will ask for."""
        if "score" in self.fields:
            number = self.column("score")
        else:
            number = -1
        return scan.Wanted(self.column("query"), self.column("doc"), number)

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
        fields, place, counts = _parsed(data, offset, self.source, layout)
        score = (self._scores if "score" in layout.fields else self._ranks)(fields, place)
        query_column, doc_column = layout.column("query"), layout.column("doc")
        begin = fields.changes(query_column)
        key = fields.hashes(doc_column)

        def keep(lines: np.ndarray) -> Rows:
            low, high = (int(lines[0]), int(lines[-1]) + 1) if len(lines) else (0, 0)
            whole = fields.copy(low, high)
            local = lines - low
            return Rows(
                score=score[lines],
                key=key[lines],
                docs=lambda wanted: whole.ids(doc_column, local[wanted]),
                place=lambda line: place(int(lines[line])),
                claimed=lambda wanted: self._claimed(whole, local[wanted]),
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
            place=place,
            claimed=partial(self._claimed, fields),
            queries=fields.ids(query_column, begin),
            start=np.append(begin, fields.size),
            keep=keep,
            tags=tags,
            notes=counts,
        )

    def _claimed(self, fields: scan.FieldRanges, lines: np.ndarray) -> np.ndarray:
        """What the rank column says, -1 where it is no number."""
        texts = fields.texts(self.layout.column("rank"), lines)
        return np.array([int(text) if text.isdigit() and len(text) < 16 else -1 for text in texts], np.int64)

    def _ranks(self, fields: scan.FieldRanges, place: Callable[[int], Position]) -> np.ndarray:
        """Scores of a run that has only ranks."""
        column = self.layout.column("rank")
        rank, left = fields.ids(column).integers()
        is_signed = fields.data[fields.start(column)] < ord("0")
        wrong = np.union1d(left, np.flatnonzero(is_signed))
        if len(wrong):
            line = int(wrong[0])
            text = shown(fields.texts(column, np.array([line]))[0])
            hint = "An MS MARCO run has three columns: query, document, rank."
            where = _spot(self.source, place(line), column)
            raise InputError(f"rank '{text}' is not a whole number", where=where, hint=hint)
        return -rank.astype(np.float64)

    def _scores(self, fields: scan.FieldRanges, place: Callable[[int], Position]) -> np.ndarray:
        column = self.layout.column("score")
        score, left = fields.decimals(column)
        texts = fields.texts(column, left)
        values = plain_scores(texts)
        if values is not None:
            score[left] = values
            return score
        for line, text in zip(left.tolist(), texts, strict=True):
            if not NUMBER.fullmatch(text):
                score_of(text, _spot(self.source, place(line), column), " (field 5)")
            score[line] = float(text)
        return score


def read_run(source: ByteSource, how: Reading) -> Run:
    """A run in one of `RUN_LAYOUTS`; it is read when it is used."""
    return Run(TrecRun(source, how.format), name=source.label, notes=tuple(source.notes))


def read_qrels(source: ByteSource, how: Reading) -> Judgements:
    """Judgements in one grade. Of each piece of the file only ids and grades are kept."""
    layout = JUDGEMENT_LAYOUTS[how.format]
    parts: list[Judgements] = []
    counts: Counter[str] = Counter()
    rows = 0
    for offset, load in source.pieces():
        parts.append(_judgements(load(), offset, source, layout, how.real_grades, counts))
        rows += len(parts[-1].docs)
        judgements_fit(rows, source.name, each=TEXT_JUDGEMENT)
    if not rows:
        raise source.empty()
    return replace(Judgements.joined(parts), notes=[*source.notes, *notes.from_counts(counts)])


def _judgements(
    data: np.ndarray, offset: int, source: ByteSource, layout: Layout, real_grades: bool, counts: Counter[str]
) -> Judgements:
    """The judgements of a piece; `counts` gets what was tolerated."""
    fields, place, tolerated = _parsed(data, offset, source, layout)
    counts.update(tolerated)
    column = layout.column("grade")
    grade, left = fields.ids(column).integers()
    unusual = np.abs(grade) > MAX_GRADE
    unusual[left] = True
    left = np.flatnonzero(unusual)
    if len(left):
        texts = fields.texts(column, left)
        others = grade_array(_grades(texts, lambda i: _spot(source, place(int(left[i])), column), real_grades))
        grade = grade.astype(others.dtype)
        grade[left] = others

    query = layout.column("query")
    if fields.size:
        begin = fields.changes(query)
    else:
        begin = np.zeros(0, np.int64)

    queries, docs = fields.ids(query, begin).copy(), fields.ids(layout.column("doc")).copy()
    if "iter" in layout.fields:
        by_model = _by_model(fields, layout.column("iter"))
    else:
        by_model = None

    return Judgements(queries, docs, grade, place, sizes=np.diff(begin, append=fields.size), by_model=by_model)


def _by_model(fields: scan.FieldRanges, column: int) -> np.ndarray | None:
    """The lines whose second field says that a model judged; None if there is none."""
    start, size = fields.start(column), fields.ends[column] - fields.start(column)
    perhaps = np.flatnonzero((size == len(BY_MODEL)) & (fields.data[start] == BY_MODEL[0]))
    by_model = np.zeros(fields.size, bool)
    by_model[perhaps] = [text == BY_MODEL for text in fields.texts(column, perhaps)]
    if by_model.any():
        return by_model
    return None


def read_aspects(source: ByteSource, how: Reading) -> AspectQrels:
    """Qrels whose second column is an aspect: a subtopic or a judge."""
    (queries, aspects, docs, texts), where, noticed = _columns(source, how)
    grades = _grades(texts, where)
    return AspectQrels.from_rows(queries, aspects, docs, grades, name=source.label, where=where, notes=noticed)


def read_preferences(source: ByteSource, how: Reading) -> Preferences:
    """Preferences by judge and list. Grades of qrels are read as preferences in one list."""
    columns, where, noticed = _columns(source, how)
    if how.format == "qrels_prefs":
        columns.insert(2, [b"0"] * len(columns[0]))
    queries, judges, lists, docs, texts = columns
    levels = [level_of(text, where(i)) for i, text in enumerate(texts)]
    return Preferences.from_rows(queries, judges, lists, docs, levels, name=source.label, where=where, notes=noticed)


def _columns(source: ByteSource, how: Reading) -> tuple[list[list[bytes]], Callable[[int], Position], tuple[Note, ...]]:
    """The columns of a file, where each line stands, and what was tolerated."""
    layout = JUDGEMENT_LAYOUTS[how.format]
    raw = source.read(lines=True)
    judgements_fit(raw.count(b"\n"), source.name, 4 * len(raw))
    lines, numbers, counts = tidy(raw, source.start, source, layout)
    if not lines:
        raise source.empty()
    columns = [list(column) for column in zip(*(line.split(b" ") for line in lines), strict=True)]
    noticed = (*source.notes, *notes.from_counts(counts))
    return columns, lambda i: Position(source.name, int(numbers[i]) + 1), noticed


def _is_cut_off(piece: np.ndarray) -> bool:
    """Whether a piece ends within a line of data. Blanks and comments at its end are none, whatever is before them."""
    if not piece.size or piece[-1] == ord("\n"):
        return False
    rest = piece.tobytes().rpartition(b"\n")[2].strip()
    return bool(rest) and not rest.startswith(b"#")


def _parsed(
    data: np.ndarray, offset: int, source: ByteSource, layout: Layout
) -> tuple[scan.FieldRanges, Callable[[int], Position], Counter[str]]:
    """The fields of a padded piece, where each line stands, and what was tolerated."""
    counts: Counter[str] = Counter()
    numbers: np.ndarray | None = None
    cut_off = _is_cut_off(data[: -scan.PAD])
    whole = data[: -scan.PAD].tobytes
    fields = scan.split(data, layout.wanted)
    if fields is None or not layout.fits(fields.width):
        fields = None
        tidied = scan.tidied(data, len(layout.fields), layout.extra)
        if tidied is not None and len(tidied.numbers):
            numbers = tidied.numbers
            counts.update({code: count for code, count in tidied.counts.items() if count})
            fields = scan.split(tidied.data, layout.wanted)
    if fields is None:
        lines, numbers, counts = tidy(whole(), offset, source, layout)
        fields = scan.FieldRanges.of_lines(lines, len(layout.fields))
    if fields.width > len(layout.fields):
        counts["extra-columns"] += fields.size
    if cut_off:
        counts["no-line-end"] += 1

    def place(line: int) -> Position:
        # Blocks keep this, so it must not hold on to the data.
        number = int(line if numbers is None else numbers[line])
        return Position(source.name, source.lines_before(offset) + number + 1)

    return fields, place, counts


def tidy(raw: bytes, offset: int, source: ByteSource, layout: Layout) -> tuple[list[bytes], np.ndarray, Counter[str]]:
    """The data lines of a piece, their fields separated by one blank, and their line numbers in it."""
    counts: Counter[str] = Counter()
    kept: list[bytes] = []
    numbers: list[int] = []
    bad: list[tuple[int, bytes]] = []
    want = len(layout.fields)

    def place(number: int, column: int | None = None) -> Position:
        return Position(source.name, source.lines_before(offset) + number + 1, column)

    for number, line in enumerate(raw.removesuffix(b"\n").split(b"\n")):
        # bytes.split() splits at exactly the six blanks of ASCII.
        cells = line.split()
        if not cells:
            counts["blank-lines"] += 1
            continue
        if cells[0].startswith(b"#"):
            if len(cells) >= want and cells[0] != b"#":
                counts["comments-like-data"] += 1
            counts["comment-lines"] += 1
            continue
        if not layout.fits(len(cells)):
            bad.append((number, line))
            continue
        if b"\0" in line and not bad:
            where = place(number, len(ids.decode(line[: line.index(b"\0")])) + 1)
            raise InputError(f"NUL byte in '{shown(line.strip(), 80)}'", where=where, hint="Is this a text file?")
        for name in ("query", "doc"):
            column = layout.column(name)
            if len(cells[column]) > ids.MAX_ID_BYTES and not bad:
                what = f"the {name} id has more than {ids.MAX_ID_BYTES:,} bytes"
                where = _spot(source, place(number), column)
                raise InputError(what, where=where, hint="Is this a text file of rankings?", code="bad-id")
        if len(cells) > want:
            counts["extra-columns"] += 1
        kept.append(b" ".join(cells[:want]))
        numbers.append(number)
    if bad:
        number, line = bad[0]
        raise _bad_line(line, len(bad) - 1, place(number, 1), layout)
    return kept, np.array(numbers, np.int64), counts


def _spot(source: ByteSource, line: Position, field: int) -> Position:
    """The place of a field in a line; the line is read anew, since only messages need it."""
    text = next(text for number, text in source.filled_lines() if number == line.line)
    start = next(itertools.islice(re.finditer(rb"\S+", text), field, None)).start()
    return Position(line.file, line.line, len(ids.decode(text[:start])) + 1)


def _bad_line(line: bytes, more: int, where: Position, layout: Layout) -> InputError:
    """The error for a line with the wrong number of fields, with a guess at the reason."""
    cells = line.split()
    want = ", ".join(layout.fields)
    what = f"found {len(cells)} columns in '{shown(line.strip(), 80)}', expected {len(layout.fields)} ({want})"
    if more:
        what += f"; {more:,} more line{'s' if more > 1 else ''} like it"

    hint = "Columns are separated by blanks or tabs."
    if layout.kind == "run":
        if len(cells) == 4 and WHOLE.fullmatch(cells[3]):
            hint = "This looks like a line of qrels. Are the two files swapped?"
        elif len(cells) == 5 and NUMBER.fullmatch(cells[4]):
            hint = "The tag, the last column, is missing. If no line has one: format='trec-no-tag'."
        elif len(cells) == 5:
            hint = f"It lacks {'rank or score' if NUMBER.fullmatch(cells[3]) else 'a column'}."
    elif layout.kind == "qrels":
        if len(cells) >= 6:
            hint = "This looks like a line of a run. Are the two files swapped?"
        elif len(cells) == 3 and WHOLE.fullmatch(cells[2]):
            hint = "If these are query, document, grade: format='trec-3col'."

    return InputError(what, where=where, hint=hint)


def _grades(texts: Sequence[bytes], where: Callable[[int], Position], real_grades: bool = False) -> list[Grade]:
    """Grades from their digits, or the error that says why one is none."""
    grades: list[Grade] = []
    for i, text in enumerate(texts):
        try:
            grades.append(grade_of(text, "", " (last field)", real_grades=real_grades))
        except InputError as error:  # the place of a field takes time, and only messages need it
            raise InputError(error.what, where=where(i), hint=error.hint, code=error.code) from None
    return grades


def dump(data: Run | Qrels) -> bytes:
    """A run so that it reads back exactly (by rank, scores with all their digits), or qrels in four columns."""
    content = b"".join(_run_lines(data) if isinstance(data, Run) else _qrels_lines(data))
    # A blank keeps the first character of an id from being taken for a byte order mark.
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
            if doc in by_people:
                judge = b"0"
            else:
                judge = BY_MODEL
            yield b"%b %b %b %d\n" % (_field(query, "query"), judge, _field(doc, "document"), grade)


def _field(text: str, what: str) -> bytes:
    raw = ids.encode(text)
    if raw.split() != [raw] or raw.startswith(b"#") or b"\0" in raw:
        hint = "It is empty, has blanks in it or starts with #. Write JSON or Parquet instead."
        raise InputError(f"{what} id '{ids.show(text)}' cannot stand in a TREC file", hint=hint, code="not-for-trec")
    return raw


def last_tag(source: ByteSource) -> bytes:
    """The tag of a run's last line, which trec_eval prints as the name of the run."""
    if source.compression is None and not source.old_mac and source.path is not None:
        with source.open() as file:
            size, taken = file.seek(0, 2), TAIL
            while True:
                file.seek(max(source.start, size - taken))
                cut, *whole = sources.read_fully(file, taken).split(b"\n")
                at_start = source.start >= size - taken
                tag = _last_tag([cut, *whole] if at_start else whole)
                if tag or at_start:  # else the last lines are long, or comments
                    return tag
                taken *= 16

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
