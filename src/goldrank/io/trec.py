"""TREC text: runs (`query iter doc rank score tag`), qrels (`query iter doc grade`), MS MARCO runs.

Ids are bytes. Fields are separated by any of the six ASCII blanks; lines starting with # are comments.
Regular lines are read by `scan`; as soon as a piece has anything irregular in it, `tidy` goes through
it line by line, and either makes it regular or says what is wrong, and where.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from goldrank import ids, notes
from goldrank.data.blocks import Block, BlockSource, Rows, Tags
from goldrank.data.qrels import MAX_GRADE, Grade, Judgements, Qrels
from goldrank.data.run import Run
from goldrank.errors import InputError, Place
from goldrank.io import scan, sources
from goldrank.io.formats import Reading
from goldrank.io.sources import ByteSource

BLANKS = b" \t\n\v\f\r"
TIMES_PIECE = 9
"""How many times its size a piece takes while it is parsed and ranked: chosen, then found enough on one text file."""
UNPACKING = 16 << 20
"""What a decompressor takes."""
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_INTEGER = re.compile(rb"[+-]?\d+(\.0*)?")


@dataclass(frozen=True)
class Layout:
    """Which field is which, counted from 0."""

    fields: tuple[str, ...]
    extra: bool
    """Whether more fields may follow."""

    def column(self, name: str) -> int:
        return self.fields.index(name)


RUN_LAYOUTS = {
    "trec": Layout(("query", "iter", "doc", "rank", "score", "tag"), extra=True),
    "trec-no-tag": Layout(("query", "iter", "doc", "rank", "score"), extra=True),
    "msmarco": Layout(("query", "doc", "rank"), extra=False),
}
QRELS_LAYOUTS = {
    "trec": Layout(("query", "iter", "doc", "grade"), extra=False),
    "trec-3col": Layout(("query", "doc", "grade"), extra=False),
}


class TrecRun(BlockSource):
    """A run in a text file, read piece by piece."""

    def __init__(self, source: ByteSource, layout: str = "trec") -> None:
        self.name = source.name
        self.source = source
        self.layout = RUN_LAYOUTS[layout]

    def pieces(self, share: float = 1.0) -> Iterator[Callable[[], Block]]:
        any_piece = False
        for offset, load in self.source.pieces(share):
            any_piece = True
            yield lambda offset=offset, load=load: self._block(load(), offset)  # type: ignore[misc]
        if not any_piece:
            raise self.source.empty()

    def keys(self, docs: Sequence[bytes]) -> np.ndarray:
        ends = np.cumsum([len(doc) for doc in docs], dtype=np.int64)
        starts = np.concatenate((np.zeros(1, np.int64), ends))[: len(docs)]
        data = scan.padded(b"".join(docs))
        return scan.hashed(scan.FieldRanges(data, [ends], [starts]).columns(0), len(docs))

    def memory(self, threads: int, share: float) -> int:
        piece = min(share * sources.PIECE, self.source.unpacked())
        packed = UNPACKING if self.source.compression else 0
        return int(packed + (threads + 1) * TIMES_PIECE * piece)

    def digest(self) -> str | None:
        return self.source.digest()

    def files(self) -> list[ByteSource]:
        return [self.source]

    def _block(self, data: np.ndarray, offset: int) -> Block:
        layout = self.layout
        counts: Counter[str] = Counter()
        cut_off = data[-scan.PAD - 1] != ord("\n")
        fields = scan.split(data)
        numbers: np.ndarray | None = None
        if fields is None or not _regular(fields, layout):
            raw = data[: -scan.PAD].tobytes()
            lines, numbers, counts = tidy(raw, offset, self.source, layout, "run")
            fields = scan.split(scan.padded(lines), exact=True)
            if fields is None:
                return self._no_lines(counts)
        elif fields.width > len(layout.fields):
            counts["extra-columns"] += fields.size
        if cut_off:
            counts["no-line-end"] += 1

        def place(line: int) -> Place:
            number = int(numbers[line]) if numbers is not None else line
            return Place(self.name, self.source.lines_before(offset) + number + 1)

        def spot(line: int, field: int) -> Place:
            number = int(numbers[line]) if numbers is not None else line
            return _spot(data[: -scan.PAD].tobytes(), number, field, place(line))

        score = self._scores(fields, spot) if "score" in layout.fields else self._ranks(fields, spot)
        query_column, doc_column = layout.column("query"), layout.column("doc")
        begin = scan.changes(fields.columns(query_column), fields.size)
        key = scan.hashed(fields.columns(doc_column), fields.size)

        def docs(lines: np.ndarray) -> list[bytes]:
            return fields.texts(doc_column, lines)

        def keep(lines: np.ndarray) -> Rows:
            low, high = (int(lines[0]), int(lines[-1]) + 1) if len(lines) else (0, 0)
            whole = fields.copy(low, high)
            local = lines - low
            return Rows(
                score=score[lines],
                key=key[lines],
                docs=lambda some: whole.texts(doc_column, local[some]),
                place=lambda line: place(int(lines[line])),
                claimed=lambda some: self._claimed(whole, local[some]),
            )

        tags: Tags | None = None
        if "tag" in layout.fields:
            tag_column = layout.column("tag")
            tags = Tags(
                fields.size,
                lambda: np.append(scan.changes(fields.columns(tag_column), fields.size), fields.size),
                lambda lines: fields.texts(tag_column, lines),
            )

        return Block(
            score=score,
            key=key,
            docs=docs,
            place=place,
            claimed=lambda lines: self._claimed(fields, lines),
            queries=fields.texts(query_column, begin),
            start=np.append(begin, fields.size),
            keep=keep,
            tags=tags,
            notes=counts,
        )

    def _claimed(self, fields: scan.FieldRanges, lines: np.ndarray) -> np.ndarray:
        """What the rank column says, -1 where it is no number."""
        texts = fields.texts(self.layout.column("rank"), lines)
        return np.array([int(text) if text.isdigit() and len(text) < 16 else -1 for text in texts], np.int64)

    def _ranks(self, fields: scan.FieldRanges, spot: Callable[[int, int], Place]) -> np.ndarray:
        """Scores of a run that has only ranks."""
        column = self.layout.column("rank")
        rank = scan.integers(fields, column)
        if (rank < 0).any():
            line = int(np.flatnonzero(rank < 0)[0])
            found = ids.decode(fields.texts(column, np.array([line]))[0])
            hint = "An MS MARCO run has three columns: query, document, rank."
            raise InputError(f"rank '{ids.show(found)}' is not a whole number", where=spot(line, column), hint=hint)
        return -rank.astype(np.float64)

    def _scores(self, fields: scan.FieldRanges, spot: Callable[[int, int], Place]) -> np.ndarray:
        column = self.layout.column("score")
        score, left = scan.decimals(fields, column)
        texts = fields.texts(column, left)
        for line, text in zip(left.tolist(), texts, strict=True):
            if not _NUMBER.fullmatch(text):
                raise bad_score(text, spot(line, column))
            score[line] = float(text)
        return score

    def _no_lines(self, counts: Counter[str]) -> Block:
        none = np.zeros(0, np.int64)
        rows = Rows(np.zeros(0), none.view(np.uint64), lambda _: [], lambda _: self.name)
        return Block(
            rows.score, rows.key, rows.docs, rows.place, (), np.zeros(1, np.int64), lambda _: rows, notes=counts
        )


def read_run(source: ByteSource, how: Reading) -> Run:
    """A run in one of `RUN_LAYOUTS`; it is read when it is used."""
    return Run(TrecRun(source, how.format), name=source.label, notes=tuple(source.notes))


def last_tag(source: ByteSource) -> bytes:
    """The tag of a run's last line, which trec_eval prints as the name of the run."""
    if source.compression is None and source.path is not None:
        size = source.path.stat().st_size
        with open(source.path, "rb") as file:
            file.seek(max(0, size - (1 << 16)))
            tail = file.read()
    else:
        tail = b""
        for _, load in source.pieces():
            tail = load()[: -scan.PAD].tobytes()[-(1 << 16) :]
    for line in reversed(tail.split(b"\n")):
        found = line.split()
        if len(found) > 5 and not found[0].startswith(b"#"):
            return found[5]
    return b""


def read_qrels(source: ByteSource, how: Reading) -> Judgements:
    """Judgements in one of `QRELS_LAYOUTS`."""
    layout = QRELS_LAYOUTS[how.format]
    raw = source.read(lines=True)
    counts: Counter[str] = Counter()
    numbers: np.ndarray | None = None
    fields = scan.split(scan.padded(raw))
    if raw and raw[-1:] != b"\n":
        counts["no-line-end"] += 1
    if fields is None or not _regular(fields, layout):
        lines, numbers, more = tidy(raw, source.start, source, layout, "qrels")
        counts += more
        fields = scan.split(scan.padded(lines), exact=True)
        if fields is None:
            raise source.empty()

    def place(line: int) -> Place:
        return Place(source.name, int(numbers[line] if numbers is not None else line) + 1)

    column = layout.column("grade")
    value = scan.integers(fields, column)
    left = np.flatnonzero((value < 0) | (value > MAX_GRADE))
    grades: list[Grade] = value.tolist()
    for line, text in zip(left.tolist(), fields.texts(column, left), strict=True):
        where = place(line)
        assert where.line is not None
        grades[line] = grade(text, _spot(raw, where.line - 1, column, where))
    return Judgements(
        fields.texts(layout.column("query")),
        fields.texts(layout.column("doc")),
        grades,
        place,
        [*source.notes, *notes.from_counts(counts)],
    )


def bad_score(text: bytes, where: Place) -> InputError:
    """The error for a score that is no number."""
    shown = ids.show(ids.decode(text))
    if text.lower().lstrip(b"+-") == b"nan":
        hint = "A document that was not scored has no place in a ranking: leave it out."
        return InputError("score is NaN (field 5)", where=where, hint=hint)
    hint = "A score is a decimal number such as 12.5 or -3e-2."
    if re.fullmatch(rb"[+-]?\d+,\d+", text):
        hint = "Is this a decimal comma? " + hint
    return InputError(f"score '{shown}' (field 5) is not a number", where=where, hint=hint)


def grade(text: bytes, where: Place) -> int:
    """A grade from its digits, or the error that says why it is none."""
    shown = ids.show(ids.decode(text))
    if not _INTEGER.fullmatch(text):
        hint = "A grade is a whole number, 0 for not relevant."
        if _NUMBER.fullmatch(text):
            hint += " Gains with decimals go in a table or dict, read with real_grades=True."
        raise InputError(f"grade '{shown}' (last field) is not a whole number", where=where, hint=hint)
    value = int(float(text)) if b"." in text else int(text[:30])
    if abs(value) > MAX_GRADE:
        hint = "Is this a date, an id or a click count in the grade column?"
        raise InputError(f"grade {shown} is out of range (at most {MAX_GRADE:,})", where=where, hint=hint)
    return value


def _spot(raw: bytes, number: int, field: int, line: Place) -> Place:
    """The place of a field, given the piece that its line is in and the line's number there."""
    text = raw.split(b"\n", number + 1)[number]
    start = next(itertools.islice(re.finditer(rb"\S+", text), field, None)).start()
    return Place(line.file, line.line, len(ids.decode(text[:start])) + 1)


def _regular(fields: scan.FieldRanges, layout: Layout) -> bool:
    """Whether every line has the fields of the layout, none is a comment and no id is too long."""
    count = fields.width
    if count < len(layout.fields) or (count > len(layout.fields) and not layout.extra):
        return False
    if (fields.data[fields.start(0)] == ord("#")).any():
        return False
    columns = (layout.column("query"), layout.column("doc"))
    return all(int((fields.ends[c] - fields.start(c)).max()) <= ids.MAX_ID_BYTES for c in columns)


def tidy(
    raw: bytes, offset: int, source: ByteSource, layout: Layout, kind: str
) -> tuple[bytes, np.ndarray, Counter[str]]:
    """A piece with only its data lines, their fields separated by one blank, and their line numbers."""
    counts: Counter[str] = Counter()
    kept: list[bytes] = []
    numbers: list[int] = []
    bad: list[tuple[int, bytes]] = []
    want = len(layout.fields)
    for number, line in enumerate(raw.removesuffix(b"\n").split(b"\n")):
        # bytes.split() splits at exactly the six blanks of ASCII.
        found = line.split()
        if not found:
            counts["blank-lines"] += 1
            continue
        if line.lstrip(BLANKS).startswith(b"#"):
            if len(found) >= want and found[0] != b"#":
                counts["comments-like-data"] += 1
            counts["comment-lines"] += 1
            continue
        if len(found) < want or (len(found) > want and not layout.extra):
            bad.append((number, line))
            continue
        if b"\0" in line and not bad:
            line_number = source.lines_before(offset) + number + 1
            at = len(ids.decode(line[: line.index(b"\0")])) + 1
            shown = ids.show(ids.decode(line.strip()), 80)
            where = Place(source.name, line_number, at)
            raise InputError(f"NUL byte in '{shown}'", where=where, hint="Is this a text file?")
        for name in ("query", "doc"):
            if len(found[layout.column(name)]) > ids.MAX_ID_BYTES and not bad:
                line_number = source.lines_before(offset) + number + 1
                raise InputError(
                    f"the {name} id has more than {ids.MAX_ID_BYTES:,} bytes",
                    where=_spot(line, 0, layout.column(name), Place(source.name, line_number)),
                    hint="Is this a text file of rankings?",
                )
        if len(found) > want:
            counts["extra-columns"] += 1
        kept.append(b" ".join(found[:want]))
        numbers.append(number)
    if bad:
        number, line = bad[0]
        where = Place(source.name, source.lines_before(offset) + number + 1, 1)
        raise _bad_line(line, len(bad) - 1, where, layout, kind)
    return b"\n".join(kept) + b"\n" if kept else b"", np.array(numbers, np.int64), counts


def _bad_line(line: bytes, more: int, where: Place, layout: Layout, kind: str) -> InputError:
    """The error for a line with the wrong number of fields, with a guess at the reason."""
    found = line.split()
    shown = ids.show(ids.decode(line.strip()), 80)
    want = ", ".join(layout.fields)
    what = f"found {len(found)} columns in '{shown}', expected {len(layout.fields)} ({want})"
    if more:
        what += f"; {more:,} more line{'s' if more > 1 else ''} like it"
    hint = "Columns are separated by blanks or tabs."
    if kind == "run":
        if len(found) == 4 and _INTEGER.fullmatch(found[3]):
            hint = "This looks like a line of qrels. Are the two files swapped?"
        elif len(found) == 5 and _NUMBER.fullmatch(found[4]):
            hint = "The tag, the last column, is missing. If no line has one: format='trec-no-tag'."
        elif len(found) == 5:
            missing = "rank or score" if _NUMBER.fullmatch(found[3]) else "a column"
            hint = f"It lacks {missing}."
    elif kind == "qrels":
        if len(found) >= 6:
            hint = "This looks like a line of a run. Are the two files swapped?"
        elif len(found) == 3 and _INTEGER.fullmatch(found[2]):
            hint = "If these are query, document, grade: format='trec-3col'."
    return InputError(what, where=where, hint=hint)


def dump(data: Run | Qrels) -> bytes:
    """A run so that it reads back exactly (by rank, scores with all their digits), or qrels in four columns."""
    return b"".join(_run_lines(data) if isinstance(data, Run) else _qrels_lines(data))


def _run_lines(run: Run) -> Iterator[bytes]:
    tag = ids.encode(run.name).translate(None, BLANKS) or b"goldrank"
    for query in run:
        row = run[query]
        for rank, doc in enumerate(run.ranking(query), 1):
            score = float(row[doc])
            text = repr(score) if math.isfinite(score) else ("inf" if score > 0 else "-inf")
            fields = (_field(query, "query"), b"Q0", _field(doc, "document"), str(rank).encode(), text.encode(), tag)
            yield b" ".join(fields) + b"\n"


def _qrels_lines(qrels: Qrels) -> Iterator[bytes]:
    for query in qrels:
        for doc, grade in qrels[query].items():
            if not isinstance(grade, int):
                hint = "Write these as JSON or Parquet instead."
                raise InputError(f"grade {grade!r} is not a whole number", hint=hint)
            yield b"%b 0 %b %d\n" % (_field(query, "query"), _field(doc, "document"), grade)


def _field(text: str, what: str) -> bytes:
    raw = ids.encode(text)
    if not raw or len(raw.split()) != 1 or raw.split()[0] != raw or raw.startswith(b"#") or b"\0" in raw:
        hint = "It is empty, has blanks in it or starts with #. Write JSON or Parquet instead."
        raise InputError(f"{what} id '{ids.show(text)}' cannot stand in a TREC file", hint=hint)
    return raw
