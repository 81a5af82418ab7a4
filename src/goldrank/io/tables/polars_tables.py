"""Tables as runs, qrels and records, through polars: files of any table format, and data frames of any kind.

Columns go by any of their names (`aliases`). Nothing is guessed about values: ids are text or integers,
integers stay exact, and text that looks like a missing value ("NA") is an id like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import GoldrankError, InputError, Position
from goldrank.base.forking import check_polars
from goldrank.base.machine import fits
from goldrank.base.notes import Note, from_counts
from goldrank.base.packages import needed
from goldrank.data.blocks import Block, BlockSource, Rows, Tags
from goldrank.data.grades import HIGH_GRADE, check_grade
from goldrank.data.id_column import IdColumn
from goldrank.data.judgement_columns import models_rows
from goldrank.data.qrels import Grade, Judgements, Qrels, judgements_fit
from goldrank.data.run import Alternatives, Run
from goldrank.io import aliases
from goldrank.io.columns import LOOKED_AT, Columns, FoundColumns
from goldrank.io.formats import Partition, Reading
from goldrank.io.objects import mappings as objects
from goldrank.io.objects.id_lists import IdLists
from goldrank.io.records import Records
from goldrank.io.sources import ByteSource
from goldrank.io.tables import table_checks
from goldrank.io.tables.frames import first_line, to_lazy
from goldrank.io.text.number_text import SCORE_PATTERN, grade_of, not_numbers, score_of
from goldrank.io.wide_tables import as_lists, ranked_columns

with needed("polars"):
    import polars as pl

BATCH = 200_000
"""Rows that are ranked at a time."""
FEW_IDS = 1000
"""Ids up to which an object for each takes less time than polars takes to join them (0.1 ms of CPU)."""
BATCH_OF_RECORDS = 1000
"""Rows with texts that are in memory at a time."""
MOST_SLICED = 2_000_000
"""Rows of a row group up to which it is read slice by slice."""
READ_AHEAD = 4
"""Row groups that polars has in work where they are not read in slices. Groups of 3 million rows: three were held,
373 MB of what is taken to be 683; one group of 9 million: 534 MB of 647."""


@dataclass
class InputTable:
    """A table and what is known of where it comes from."""

    frame: pl.LazyFrame
    source: ByteSource | None = None
    notes: Sequence[Note] = ()
    name: str = ""
    """What to call it if it is no file."""
    line_of: Callable[[int], int] | None = None
    """The line that a row stands in, for text."""
    shape: table_checks.ParquetSize | None = None
    """For a Parquet file that can be read in slices, its size."""
    is_held: bool = False
    """Whether it is in memory whole."""

    def __post_init__(self) -> None:
        self.where, self.label = (self.source.name, self.source.label) if self.source else (self.name, self.name)

    def row_name(self, row: int) -> str:
        return f"{self.where}: row {row + 1}"

    def place(self, row: int) -> Position | str:
        """Where a row is, for messages."""
        if self.line_of is None:
            return self.row_name(row)
        return Position(self.where, self.line_of(row))

    def columns(self) -> list[str]:
        with reading(self.where):
            return self.frame.collect_schema().names()

    def batches(self, size: int) -> Iterator[pl.DataFrame]:
        """The rows, so many at a time."""
        with reading(self.where):
            batches = self.frame.collect_batches(maintain_order=True, chunk_size=size)
        while True:
            with reading(self.where, source=self.source):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows, each as a mapping; a few are in memory at a time."""
        return (row for batch in self.batches(BATCH_OF_RECORDS) for row in batch.iter_rows(named=True))

    def with_columns_of_path(self, partition: Partition) -> InputTable:
        """The same with those columns of its path that it does not have itself."""
        if partition:
            present = self.columns()
        else:
            present = []
        missing = [pl.lit(value, pl.String).alias(name) for name, value in partition if name not in present]
        if missing:
            return replace(self, frame=self.frame.with_columns(missing))
        return self


@contextmanager
def reading(where: str, kind: str = "a table", source: ByteSource | None = None) -> Iterator[None]:
    """Turn polars' errors, its panics on damaged files among them, into ours. It opens a `source` anew by its path."""
    check_polars()
    try:
        yield
        if source is not None:
            source.verify()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, MemoryError) as error:
        if isinstance(error, GoldrankError):
            raise
        if source is not None:
            source.verify()
        hint = "Is the file complete?"
        raise InputError(f"cannot be read as {kind}: {first_line(error)}", where=where, hint=hint) from None


def readers(open_table: Callable[[ByteSource, str], InputTable]) -> tuple[Callable[..., Any], ...]:
    """`read_run`, `read_qrels` and `read_records` of formats, given how a file of one becomes a table."""
    return tuple(
        (lambda source, how, read=read: read(open_table(source, how.format), how))
        for read in (read_run, read_qrels, read_records)
    )


def read_run(table: InputTable, how: Reading) -> Run:
    return _run(table.with_columns_of_path(how.partition), how.columns)


def read_qrels(table: InputTable, how: Reading) -> Judgements | Qrels:
    table = table.with_columns_of_path(how.partition)
    if (rows := _list_rows(table, table.columns(), "qrels", how.columns)) is not None:
        qrels = objects.qrels_from_rows(rows, table.label, how, where=lambda i: str(table.place(i)))
        if table.source is None:
            qrels.id_kind = qrels.id_kind
        else:
            qrels.id_kind = "text"
        qrels.notes = (*table.notes, *qrels.notes)
        return qrels
    return _judgements(table, how.columns.find_qrels(table.columns(), table.where), how)


def read_records(table: InputTable, how: Reading) -> Records:
    """Records in a table, one per row, of which only columns with known names are read."""
    assert how.fields is not None
    present = table.columns()
    wanted = [name for name in present if how.fields.wants(name)]
    part = replace(table, frame=table.frame.select(wanted or present))
    if table.source is None:
        digest = None
    else:
        digest = table.source.digest
    rows = lambda counts: enumerate(part.records())  # noqa: E731
    return Records(table.where, table.label, rows, table.row_name, digest, list(table.notes))


def run_from_frame(frame: Any, name: str, columns: Columns) -> Run:
    """A run from a data frame with columns for query, document and score (or what orders documents in its place)."""
    return _run(InputTable(to_lazy(frame, name), name=name), columns)


def qrels_from_frame(frame: Any, name: str, how: Reading) -> Qrels:
    """Qrels from a data frame with columns for query, document and grade."""
    table = InputTable(to_lazy(frame, name), name=name)
    judgements = read_qrels(table, how)
    if isinstance(judgements, Qrels):
        return judgements
    qrels = Qrels.from_parts([judgements], name=name, judgements=how.judgements)
    qrels.id_kind = _id_kind(table, how.columns.find_qrels(table.columns(), table.where).columns)
    return qrels


class TableRun(BlockSource):
    """A run in a table, ranked batch by batch (a `BlockSource`)."""

    def __init__(self, table: InputTable, value: str) -> None:
        self.name = table.where
        self.source = table.source
        self.shape = table.shape
        self._table = table
        self._value = value
        """The column that orders documents: 'score', or 'rank' or 'distance' in its absence."""

    def pieces(self) -> Iterator[Callable[[], Block]]:
        begin = 0
        for load, size in self._slices() if self._sliced else self._batches():
            yield lambda load=load, begin=begin: self._block(load(), begin)  # type: ignore[misc]
            begin += size
        if not begin:
            raise InputError("no rows", where=self.name, hint="Did the system return anything?", code="empty-input")

    @property
    def rows(self) -> int | None:
        """How many rows there are, if that is known before reading."""
        if self.shape is None:
            return None
        return self.shape.rows

    @property
    def _sliced(self) -> bool:
        # To skip rows within a row group takes time, so large ones are better read in one go.
        return self.shape is not None and self.shape.group_rows <= MOST_SLICED

    def _slices(self) -> Iterator[tuple[Callable[[], pl.DataFrame], int]]:
        """Slices that are read by whoever wants them: memory then holds no more than those in work."""
        assert self.shape is not None

        def load(begin: int, size: int) -> pl.DataFrame:
            with reading(self.name, source=self.source):
                frame = self._table.frame.slice(begin, size).collect()
            if len(frame) != size:
                raise InputError(f"has fewer than the {self.shape.rows:,} rows of its footer", where=self.name)  # type: ignore[union-attr]
            return frame

        for begin in range(0, self.shape.rows, BATCH):
            size = min(BATCH, self.shape.rows - begin)
            yield lambda begin=begin, size=size: load(begin, size), size  # type: ignore[misc]

    def _batches(self) -> Iterator[tuple[Callable[[], pl.DataFrame], int]]:
        table = self._table
        if self.shape is not None:
            rows = self.shape.group_rows
            needed = READ_AHEAD * (self.shape.group_bytes + table_checks.ROW * rows)
            what = f"reading row groups of {rows:,} rows"
            fits(needed, what, self.name, "Write the Parquet file with smaller row groups.")
        for batch in (table.frame.collect(),) if table.is_held else table.batches(BATCH):
            for low in range(0, len(batch), BATCH):
                part = batch.slice(low, BATCH)
                yield lambda part=part: part, len(part)  # type: ignore[misc]

    def keys(self, docs: IdColumn) -> np.ndarray:
        return pl.Series(docs.to_list(), dtype=pl.Binary).hash(seed=0).to_numpy()

    def digest(self) -> str | None:
        if self.source is None:
            return super().digest()
        return self.source.digest()

    def files(self) -> list[ByteSource]:
        if self.source is None:
            return []
        return [self.source]

    def _block(self, batch: pl.DataFrame, begin: int) -> Block:
        def place(row: int) -> Position | str:
            return self._table.place(begin + row)

        query, doc = (_id_bytes(batch[column], column, place) for column in ("query", "doc"))
        score = _scores(batch[self._value], self._value, place)
        if self._value != "score":
            score = -score
        key = doc.hash(seed=0).to_numpy()
        start = np.concatenate((np.zeros(min(1, len(batch)), np.int64), _changes(query)))

        def rows(lines: np.ndarray) -> Rows:
            kept = doc[lines]
            where = lambda line: place(int(lines[line]))  # noqa: E731
            return Rows(score[lines], key[lines], partial(_ids, kept), where)

        tags: Tags | None = None
        if "tag" in batch.columns:
            tag = batch["tag"].fill_null("").cast(pl.Binary)
            first = np.concatenate((start[:1], _changes(tag), [len(batch)]))
            tags = Tags(len(batch), lambda: first, partial(_texts, tag))
        ends = np.append(start, len(batch))
        return Block(score, key, partial(_ids, doc), place, _ids(query, start), ends, rows, tags=tags)


def _texts(column: pl.Series, rows: np.ndarray) -> list[bytes]:
    return column[rows].to_list()


def _changes(column: pl.Series) -> np.ndarray:
    """The rows, none of them the first, whose value is not that of the row before."""
    return np.flatnonzero((column[1:] != column[:-1]).to_numpy()) + 1


def _list_rows(table: InputTable, present: Sequence[str], thing: str, columns: Columns) -> Iterator[Any] | None:
    """The rows of a table whose cells are lists of ids, expected or retrieved; None for others."""
    named = columns.named("doc", thing) is not None
    if named or aliases.find(present, "doc") is not None:
        return None

    if IdLists(thing, columns).is_header(present):
        return table.records()
    if thing == "run" and (ranked := ranked_columns(present)):
        return as_lists(table.records(), ranked)
    return None


def _ids(column: pl.Series, rows: np.ndarray | None = None) -> IdColumn:
    """Ids, given as bytes, as one column; without an object for each where all are UTF-8."""
    if rows is None:
        column = column
    else:
        column = column[rows]
    if len(column) < FEW_IDS:
        return IdColumn.of(column.to_list())
    try:
        joined = column.cast(pl.String).str.join("").item()
    except pl.exceptions.PolarsError:
        return IdColumn.of(column.to_list())
    return IdColumn.packed((joined or "").encode(), column.bin.size().to_numpy().astype(np.int64))


def _run(table: InputTable, columns: Columns) -> Run:
    present, is_file = table.columns(), table.source is not None
    if (rows := _list_rows(table, present, "run", columns)) is not None:
        lists = IdLists("run", columns)
        run = objects.run_of_lists(lists, rows, table.label, lambda i: str(table.place(i)))
        if is_file:
            run.id_kind = "text"
        else:
            run.id_kind = run.id_kind
        run.notes = (*table.notes, *run.notes)
        return run
    value = columns.ordered_by(present, table.where)
    choice = columns.find_all(present, ("query", "doc", value), "run", table.where)
    tag = columns.take("tag", "run", present, table.where) or aliases.find(present, "tag")
    if tag in choice.columns.values() or (tag and table.frame.collect_schema()[tag].is_nested()):
        tag = None

    def taken(by_role: Mapping[str, str]) -> Run:
        chosen = {**choice.columns, **by_role}
        wanted = [pl.col(column).alias(word) for word, column in chosen.items()]
        if tag is not None:
            wanted.append(pl.col(tag).cast(pl.String).alias("tag"))
        part = replace(table, frame=table.frame.select(wanted))
        if is_file:
            kind = "text"
        else:
            kind = _id_kind(table, chosen)
        run = Run(TableRun(part, value), name=table.label, id_kind=kind, notes=(*table.notes, *choice.notes()))
        run.has_scores = value == "score"
        return run

    run = taken({})
    if choice.is_open:
        run.alternatives = Alternatives(choice.candidates, taken, partial(_matches, table))
    return run


def _matches(table: InputTable, names: Sequence[str], chosen: Mapping[str, str], judged: Qrels) -> list[int]:
    """How many ids of each column are judged (`data.run.Alternatives`). Counting reads the table once."""
    with reading(table.where, source=table.source):
        if not chosen:
            known = pl.Series([ids.encode(query) for query in judged], dtype=pl.Binary)
            sums = [_as_bytes(name).is_in(known.implode()).sum().alias(str(i)) for i, name in enumerate(names)]
            return list(table.frame.select(sums).collect(engine="streaming").row(0))

        pairs = [(ids.encode(query), ids.encode(doc)) for query, docs in judged.items() for doc in docs]
        wanted = pl.DataFrame(pairs, schema={"q": pl.Binary, "d": pl.Binary}, orient="row").lazy()
        counts = []
        for name in names:
            lines = table.frame.select(_as_bytes(chosen["query"]).alias("q"), _as_bytes(name).alias("d"))
            kept = lines.join(wanted, on=["q", "d"], how="semi").select(pl.len())
            counts.append(int(kept.collect(engine="streaming").item()))

        return counts


def _as_bytes(column: str) -> pl.Expr:
    """A column's values as ids, null where they are none."""
    return pl.col(column).cast(pl.String, strict=False).cast(pl.Binary, strict=False)


def _judgements(table: InputTable, columns: FoundColumns, how: Reading) -> Judgements:
    by_role = columns.columns
    if table.shape is not None:
        judgements_fit(table.shape.rows, table.where)
    said = aliases.find([name for name in table.columns() if name not in by_role.values()], "judged_by")
    wanted = {**by_role, **({} if said is None else {"judged_by": said})}
    with reading(table.where, source=table.source):
        frame = table.frame.select(pl.col(column).alias(word) for word, column in wanted.items()).collect()
        if "grade" not in by_role:
            first = table.frame.head(LOOKED_AT).collect()
            how.columns.refuse_likely_grades(first.iter_rows(named=True), table.where)
            frame = frame.with_columns(grade=pl.lit(1, pl.Int64))
    if not len(frame):
        what = "no rows"
        raise InputError(what, where=table.where, hint="Is it the right file, and is it complete?", code="empty-input")
    judgements_fit(len(frame), table.where)
    grade = frame["grade"]
    unjudged = (grade.is_null() | (grade == "") if grade.dtype == pl.String else grade.is_null()).to_numpy()
    rows = np.flatnonzero(~unjudged)
    if not len(rows):
        raise InputError("no row has a grade", where=table.where)
    notes = [*table.notes, *columns.notes(), *from_counts({"ungraded-rows": int(unjudged.sum())})]
    if "grade" not in by_role:
        unread = tuple(ids.show(name) for name in table.columns() if name not in wanted.values())
        notes.append(Note.of("implicit-grades", count=len(frame), unread=unread))
    elif how.relevant_from is None and aliases.is_rating(by_role["query"], by_role["grade"]):
        notes.append(Note.of("ratings-as-grades"))

    def place(row: int) -> Position | str:
        return table.place(int(rows[row]))

    kept = frame[rows]
    grades = _grades(kept["grade"], place, how.real_grades)
    queries, docs = (_ids(_id_bytes(kept[name], name, place)) for name in ("query", "doc"))
    by_model, unknown = models_rows(() if said is None else kept["judged_by"].to_list())
    return Judgements(queries, docs, grades, place, [*notes, *unknown], by_model=by_model)


def _id_kind(table: InputTable, columns: Mapping[str, str]) -> str:
    schema = table.frame.collect_schema()
    kinds = ["int" if schema[columns[role]].is_integer() else "str" for role in ("query", "doc")]
    return "/".join(dict.fromkeys(kinds))


def _id_bytes(column: pl.Series, what: str, place: Callable[[int], Position | str]) -> pl.Series:
    """Ids as bytes."""
    _refuse(column.is_null().to_numpy(), f"the {what} id is missing", place)
    kind = column.dtype
    if kind.is_float() or kind.is_nested() or kind.is_temporal() or kind == pl.Boolean:
        hint = "Ids are text or integers. pandas makes floats of integers where some are missing."
        raise InputError(f"{what} ids are of type {kind}", where=place(0), hint=hint)

    try:
        if kind == pl.Binary:
            texts = column
        else:
            texts = column.cast(pl.String).cast(pl.Binary)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{what} ids of type {kind}: {first_line(error)}", where=place(0)) from None

    size = texts.bin.size().to_numpy()
    _refuse(size == 0, f"the {what} id is empty", place)
    _refuse(size > ids.MAX_ID_BYTES, f"the {what} id has more than {ids.MAX_ID_BYTES:,} bytes", place)
    return texts


def _scores(column: pl.Series, what: str, place: Callable[[int], Position | str]) -> np.ndarray:
    """Scores or ranks as doubles, none missing and none NaN."""
    kind = column.dtype
    _refuse_kind(column, what, place)
    _refuse(column.is_null().to_numpy(), f"the {what} is missing", place)
    if kind != pl.String:
        scores = column.cast(pl.Float64).to_numpy()
    else:
        _refuse((column == "").to_numpy(), f"the {what} is missing", place)
        wrong = np.flatnonzero(~column.str.contains(f"^(?:{SCORE_PATTERN})$").to_numpy())
        if len(wrong):
            row = int(wrong[0])
            score_of(column[row].encode(), place(row), what=what)
        values = column.cast(pl.Float64, strict=False)
        scores = values.to_numpy(writable=True)
        if values.null_count():
            for row in np.flatnonzero(values.is_null().to_numpy()).tolist():
                scores[row] = float(column[row])

    hint = "A document that was not scored has no place in a ranking: leave it out."
    _refuse(np.isnan(scores), f"the {what} is NaN", place, hint)
    return scores


def _grades(column: pl.Series, place: Callable[[int], Position | str], real_grades: bool) -> list[Grade]:
    """Grades from a column in which none is missing."""
    _refuse_kind(column, "grade", place)
    if column.dtype == pl.String:
        whole = column.str.contains("^[0-9]{1,3}$").to_numpy()
        values = zip(column.to_list(), whole.tolist(), strict=True)
        return [
            int(text) if is_plain else grade_of(text.encode(), place(row), real_grades=real_grades)
            for row, (text, is_plain) in enumerate(values)
        ]
    return [
        value if type(value) is int and 0 <= value < HIGH_GRADE else check_grade(value, place(row), real_grades)
        for row, value in enumerate(column.to_list())
    ]


def _refuse_kind(column: pl.Series, what: str, place: Callable[[int], Position | str]) -> None:
    kind = column.dtype
    if not (kind.is_numeric() or kind in (pl.String, pl.Null)):
        raise InputError(f"the {what} column is of type {kind}", where=place(0), hint=not_numbers(kind == pl.Boolean))


def _refuse(wrong: np.ndarray, what: str, place: Callable[[int], Position | str], hint: str | None = None) -> None:
    """The error for the first row that is wrong, if any is."""
    if wrong.any():
        raise InputError(what, where=place(int(np.flatnonzero(wrong)[0])), hint=hint)
