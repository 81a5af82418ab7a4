"""Runs, qrels and records from tables, by polars: files of any table format, and data frames of any kind.

Columns are found by any of their names (`aliases`). Nothing is guessed about values: ids are text or integers,
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
from goldrank.io.columns import SAMPLED_ROWS, Columns, FoundColumns
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
"""For fewer ids, an object for each takes less time than polars needs to join them (0.1 ms of CPU)."""
BATCH_OF_RECORDS = 1000
"""Rows with texts that are in memory at a time."""
MOST_SLICED = 2_000_000
"""Most rows of a row group that is read slice by slice."""
READ_AHEAD = 4
"""Row groups that polars holds where they are not read in slices. Of groups of 3 million rows, it held three, 373 MB
(the estimate was 683); of groups of 9 million rows one, 534 MB (the estimate was 647)."""


@dataclass
class InputTable:
    """A table and its source."""

    frame: pl.LazyFrame
    source: ByteSource | None = None
    notes: Sequence[Note] = ()
    name: str = ""
    """The name of a table that is not a file."""
    line_of: Callable[[int], int] | None = None
    """The line of a row, for text."""
    shape: table_checks.ParquetSize | None = None
    """For a Parquet file that can be read in slices, its size."""
    is_held: bool = False
    """Whether all of it is in memory."""

    def __post_init__(self) -> None:
        self.where = self.label = self.name
        if self.source is not None:
            self.where = self.source.name
            self.label = self.source.label

    def row_name(self, row: int) -> str:
        return f"{self.where}: row {row + 1}"

    def position(self, row: int) -> Position | str:
        """The position of a row, for messages."""
        if self.line_of is None:
            return self.row_name(row)
        return Position(self.where, self.line_of(row))

    def columns(self) -> list[str]:
        with table_errors(self.where):
            return self.frame.collect_schema().names()

    def batches(self, size: int) -> Iterator[pl.DataFrame]:
        """The rows, `size` at a time."""
        with table_errors(self.where):
            batches = self.frame.collect_batches(maintain_order=True, chunk_size=size)
        while True:
            with table_errors(self.where, source=self.source):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows, each as a mapping; a few are in memory at a time."""
        return (row for batch in self.batches(BATCH_OF_RECORDS) for row in batch.iter_rows(named=True))

    def with_columns_of_path(self, partition: Partition) -> InputTable:
        """This table with the columns of its path that it does not have itself."""
        if not partition:
            return self
        present = self.columns()
        missing = [pl.lit(value, pl.String).alias(name) for name, value in partition if name not in present]
        if missing:
            return replace(self, frame=self.frame.with_columns(missing))
        return self


@contextmanager
def table_errors(where: str, kind: str = "a table", source: ByteSource | None = None) -> Iterator[None]:
    """Turn errors of polars, also its panics on damaged files, into errors of goldrank.

    polars opens a `source` again by its path, so it is checked for changes.
    """
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
    """`read_run`, `read_qrels` and `read_records` of formats whose files `open_table` opens."""

    def reader(read: Callable[[InputTable, Reading], Any]) -> Callable[[ByteSource, Reading], Any]:
        return lambda source, reading: read(open_table(source, reading.format), reading)

    return tuple(map(reader, (read_run, read_qrels, read_records)))


def read_run(table: InputTable, reading: Reading) -> Run:
    return _run(table.with_columns_of_path(reading.partition), reading.columns)


def read_qrels(table: InputTable, reading: Reading) -> Judgements | Qrels:
    table = table.with_columns_of_path(reading.partition)
    rows = _list_rows(table, table.columns(), "qrels", reading.columns)
    if rows is None:
        return _judgements(table, reading.columns.find_qrels(table.columns(), table.where), reading)

    qrels = objects.qrels_from_rows(rows, table.label, reading, where=lambda i: str(table.position(i)))
    return qrels.with_facts(id_kind="text", notes=(*table.notes, *qrels.notes))


def read_records(table: InputTable, reading: Reading) -> Records:
    """Records of a table, one per row; only columns with known names are read."""
    assert reading.fields is not None
    present = table.columns()
    known = [name for name in present if reading.fields.wants(name)]
    part = replace(table, frame=table.frame.select(known or present))
    digest = None
    if table.source is not None:
        digest = table.source.digest
    rows = lambda counts: enumerate(part.records())  # noqa: E731
    return Records(table.where, table.label, rows, table.row_name, digest, list(table.notes))


def run_from_frame(frame: Any, name: str, columns: Columns) -> Run:
    """A run from a data frame with columns for query, document and score (or rank, or distance)."""
    return _run(InputTable(to_lazy(frame, name), name=name), columns)


def qrels_from_frame(frame: Any, name: str, reading: Reading) -> Qrels:
    """Qrels from a data frame with columns for query, document and grade."""
    table = InputTable(to_lazy(frame, name), name=name)
    judgements = read_qrels(table, reading)
    if isinstance(judgements, Qrels):
        return judgements
    qrels = Qrels.from_parts([judgements], name=name, judgements=reading.judgements)
    return qrels.with_facts(id_kind=_id_kind(table, reading.columns.find_qrels(table.columns(), table.where).columns))


class TableRun(BlockSource):
    """A run in a table, ranked batch by batch (a `BlockSource`)."""

    def __init__(self, table: InputTable, value: str) -> None:
        self.name = table.where
        self.source = table.source
        self.shape = table.shape
        self._table = table
        self._value = value
        """The column that orders documents: 'score', else 'rank' or 'distance'."""

    def pieces(self) -> Iterator[Callable[[], Block]]:
        begin = 0
        parts = self._batches()
        if self._sliced:
            parts = self._slices()
        for load, size in parts:
            yield lambda load=load, begin=begin: self._block(load(), begin)  # type: ignore[misc]
            begin += size
        if not begin:
            raise InputError("no rows", where=self.name, hint="Did the system return anything?", code="empty-input")

    @property
    def rows(self) -> int | None:
        """The number of rows, if it is known before reading."""
        if self.shape is None:
            return None
        return self.shape.rows

    @property
    def _sliced(self) -> bool:
        # Skipping rows within a row group takes time, so a large group is read at once.
        return self.shape is not None and self.shape.group_rows <= MOST_SLICED

    def _slices(self) -> Iterator[tuple[Callable[[], pl.DataFrame], int]]:
        """Functions that read one slice each, so that memory holds only the slices in use; and the sizes of slices."""
        assert self.shape is not None

        def load(begin: int, size: int) -> pl.DataFrame:
            with table_errors(self.name, source=self.source):
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
            memory = READ_AHEAD * (self.shape.group_bytes + table_checks.ROW * rows)
            activity = f"reading row groups of {rows:,} rows"
            fits(memory, activity, self.name, "Write the Parquet file with smaller row groups.")

        batches = table.batches(BATCH)
        if table.is_held:
            batches = iter([table.frame.collect()])
        for batch in batches:
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
        def position(row: int) -> Position | str:
            return self._table.position(begin + row)

        query = _id_bytes(batch["query"], "query", position)
        doc = _id_bytes(batch["doc"], "doc", position)
        score = _scores(batch[self._value], self._value, position)
        if self._value != "score":
            score = -score
        key = doc.hash(seed=0).to_numpy()
        start = np.concatenate((np.zeros(min(1, len(batch)), np.int64), _changes(query)))

        def rows(lines: np.ndarray) -> Rows:
            return Rows(
                score=score[lines],
                key=key[lines],
                docs=partial(_ids, doc[lines]),
                position=lambda row: position(int(lines[row])),
            )

        tags: Tags | None = None
        if "tag" in batch.columns:
            tag = batch["tag"].fill_null("").cast(pl.Binary)
            first = np.concatenate((start[:1], _changes(tag), [len(batch)]))
            tags = Tags(len(batch), lambda: first, partial(_texts, tag))

        return Block(
            score=score,
            key=key,
            docs=partial(_ids, doc),
            position=position,
            queries=_ids(query, start),
            start=np.append(start, len(batch)),
            keep=rows,
            tags=tags,
        )


def _texts(column: pl.Series, rows: np.ndarray) -> list[bytes]:
    return column[rows].to_list()


def _changes(column: pl.Series) -> np.ndarray:
    """The rows, without the first, whose value differs from the previous row."""
    return np.flatnonzero((column[1:] != column[:-1]).to_numpy()) + 1


def _list_rows(table: InputTable, present: Sequence[str], thing: str, columns: Columns) -> Iterator[Any] | None:
    """The rows of a table with lists of ids, expected or retrieved; None for other tables."""
    is_named = columns.named("doc", thing) is not None
    if is_named or aliases.find(present, "doc") is not None:
        return None
    if IdLists(thing, columns).is_header(present):
        return table.records()
    if thing != "run":
        return None

    ranked = ranked_columns(present)
    if not ranked:
        return None
    return as_lists(table.records(), ranked)


def _ids(column: pl.Series, rows: np.ndarray | None = None) -> IdColumn:
    """A column of ids as bytes; without an object for each where all are UTF-8."""
    if rows is not None:
        column = column[rows]
    if len(column) < FEW_IDS:
        return IdColumn.of(column.to_list())
    try:
        joined = column.cast(pl.String).str.join("").item()
    except pl.exceptions.PolarsError:
        return IdColumn.of(column.to_list())
    return IdColumn.packed((joined or "").encode(), column.bin.size().to_numpy().astype(np.int64))


def _run(table: InputTable, columns: Columns) -> Run:
    present = table.columns()
    is_file = table.source is not None
    rows = _list_rows(table, present, "run", columns)
    if rows is not None:
        lists = IdLists("run", columns)
        run = objects.run_of_lists(lists, rows, table.label, lambda i: str(table.position(i)))
        return run.with_facts(id_kind="text", notes=(*table.notes, *run.notes))

    value = columns.ordered_by(present, table.where)
    choice = columns.find_all(present, ("query", "doc", value), "run", table.where)
    tag = columns.take("tag", "run", present, table.where) or aliases.find(present, "tag")
    if tag in choice.columns.values() or (tag and table.frame.collect_schema()[tag].is_nested()):
        tag = None

    def read_from(by_role: Mapping[str, str]) -> Run:
        chosen = {**choice.columns, **by_role}
        expressions = [pl.col(column).alias(role) for role, column in chosen.items()]
        if tag is not None:
            expressions.append(pl.col(tag).cast(pl.String).alias("tag"))
        part = replace(table, frame=table.frame.select(expressions))

        kind = "text"
        if not is_file:
            kind = _id_kind(table, chosen)
        run = Run(TableRun(part, value), name=table.label)
        notes = (*table.notes, *choice.notes())
        return run.with_facts(id_kind=kind, notes=notes, has_scores=value == "score")

    run = read_from({})
    if choice.is_open:
        return run.with_facts(alternatives=Alternatives(choice.candidates, read_from, partial(_matches, table)))
    return run


def _matches(table: InputTable, names: Sequence[str], chosen: Mapping[str, str], judged: Qrels) -> list[int]:
    """The number of judged ids in each of some columns (`data.run.Alternatives`). It reads the table once."""
    with table_errors(table.where, source=table.source):
        if not chosen:
            known = pl.Series([ids.encode(query) for query in judged], dtype=pl.Binary)
            known = known.implode()
            sums = [_as_bytes(name).is_in(known).sum().alias(str(i)) for i, name in enumerate(names)]
            return list(table.frame.select(sums).collect(engine="streaming").row(0))

        pairs = [(ids.encode(query), ids.encode(doc)) for query, docs in judged.items() for doc in docs]
        judged_pairs = pl.DataFrame(pairs, schema={"q": pl.Binary, "d": pl.Binary}, orient="row").lazy()
        counts = []
        for name in names:
            lines = table.frame.select(_as_bytes(chosen["query"]).alias("q"), _as_bytes(name).alias("d"))
            matched = lines.join(judged_pairs, on=["q", "d"], how="semi").select(pl.len())
            counts.append(int(matched.collect(engine="streaming").item()))

        return counts


def _as_bytes(column: str) -> pl.Expr:
    """A column's values as ids, null where they are not ids."""
    return pl.col(column).cast(pl.String, strict=False).cast(pl.Binary, strict=False)


def _judgements(table: InputTable, columns: FoundColumns, reading: Reading) -> Judgements:
    by_role = columns.columns
    if table.shape is not None:
        judgements_fit(table.shape.rows, table.where)
    other_columns = [name for name in table.columns() if name not in by_role.values()]
    selected = dict(by_role)
    judge_column = aliases.find(other_columns, "judged_by")
    if judge_column is not None:
        selected["judged_by"] = judge_column

    with table_errors(table.where, source=table.source):
        frame = table.frame.select(pl.col(column).alias(role) for role, column in selected.items()).collect()
        if "grade" not in by_role:
            first = table.frame.head(SAMPLED_ROWS).collect()
            reading.columns.refuse_likely_grades(first.iter_rows(named=True), table.where)
            frame = frame.with_columns(grade=pl.lit(1, pl.Int64))
    if not len(frame):
        hint = "Is it the right file, and is it complete?"
        raise InputError("no rows", where=table.where, hint=hint, code="empty-input")
    judgements_fit(len(frame), table.where)

    is_missing = frame["grade"].is_null()
    if frame["grade"].dtype == pl.String:
        is_missing |= frame["grade"] == ""
    unjudged = is_missing.to_numpy()
    rows = np.flatnonzero(~unjudged)
    if not len(rows):
        raise InputError("no row has a grade", where=table.where)

    notes = [*table.notes, *columns.notes(), *from_counts({"ungraded-rows": int(unjudged.sum())})]
    if "grade" not in by_role:
        unread = tuple(ids.show(name) for name in other_columns if name != judge_column)
        notes.append(Note.of("implicit-grades", count=len(frame), unread=unread))
    elif reading.relevant_from is None and aliases.is_rating(by_role["query"], by_role["grade"]):
        notes.append(Note.of("ratings-as-grades"))

    def position(row: int) -> Position | str:
        return table.position(int(rows[row]))

    judged = frame[rows]
    grades = _grades(judged["grade"], position, reading.real_grades)
    queries = _ids(_id_bytes(judged["query"], "query", position))
    docs = _ids(_id_bytes(judged["doc"], "doc", position))
    judged_by: list[Any] = []
    if judge_column is not None:
        judged_by = judged["judged_by"].to_list()
    by_model, judge_notes = models_rows(judged_by)
    return Judgements(queries, docs, grades, position, [*notes, *judge_notes], by_model=by_model)


def _id_kind(table: InputTable, columns: Mapping[str, str]) -> str:
    schema = table.frame.collect_schema()
    kind_of = {True: "int", False: "str"}
    types = [schema[columns[role]] for role in ("query", "doc")]
    kinds = [kind_of[dtype.is_integer() or dtype.is_float()] for dtype in types]
    return "/".join(dict.fromkeys(kinds))


def _whole_ids(column: pl.Series, noun: str, position: Callable[[int], Position | str]) -> pl.Series:
    """Integers from floats, which pandas makes of integers where some are missing."""
    values = column.cast(pl.Float64).to_numpy()
    _refuse(np.isnan(values), f"the {noun} id is missing (NaN)", position)
    is_whole = np.array([ids.is_whole(value) for value in values.tolist()], dtype=bool)
    _refuse(~is_whole, f"the {noun} id is a number with decimals, or too large to be exact", position)
    return column.cast(pl.Int64)


def _id_bytes(column: pl.Series, noun: str, position: Callable[[int], Position | str]) -> pl.Series:
    """Ids as bytes."""
    _refuse(column.is_null().to_numpy(), f"the {noun} id is missing", position)
    if column.dtype.is_float():
        column = _whole_ids(column, noun, position)
    kind = column.dtype
    if kind.is_nested() or kind.is_temporal() or kind == pl.Boolean:
        raise InputError(f"{noun} ids are of type {kind}", where=position(0), hint="Ids are text or integers.")

    texts = column
    try:
        if kind != pl.Binary:
            texts = column.cast(pl.String).cast(pl.Binary)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{noun} ids of type {kind}: {first_line(error)}", where=position(0)) from None

    size = texts.bin.size().to_numpy()
    _refuse(size == 0, f"the {noun} id is empty", position)
    _refuse(size > ids.MAX_ID_BYTES, f"the {noun} id has more than {ids.MAX_ID_BYTES:,} bytes", position)
    return texts


def _scores(column: pl.Series, noun: str, position: Callable[[int], Position | str]) -> np.ndarray:
    """Scores or ranks as doubles; an error if one is missing or NaN."""
    kind = column.dtype
    _refuse_kind(column, noun, position)
    _refuse(column.is_null().to_numpy(), f"the {noun} is missing", position)
    if kind != pl.String:
        scores = column.cast(pl.Float64).to_numpy()
    else:
        _refuse((column == "").to_numpy(), f"the {noun} is missing", position)
        wrong = np.flatnonzero(~column.str.contains(f"^(?:{SCORE_PATTERN})$").to_numpy())
        if len(wrong):
            row = int(wrong[0])
            score_of(column[row].encode(), position(row), noun=noun)

        values = column.cast(pl.Float64, strict=False)
        scores = values.to_numpy(writable=True)
        if values.null_count():
            for row in np.flatnonzero(values.is_null().to_numpy()).tolist():
                scores[row] = float(column[row])

    hint = "A document that was not scored does not belong into a ranking: leave it out."
    _refuse(np.isnan(scores), f"the {noun} is NaN", position, hint)
    return scores


def _grades(column: pl.Series, position: Callable[[int], Position | str], real_grades: bool) -> list[Grade]:
    """Grades from a column without missing values."""
    _refuse_kind(column, "grade", position)
    grades = column.to_list()
    if column.dtype == pl.String:
        are_plain = column.str.contains("^[0-9]{1,3}$").to_list()
        for row, text in enumerate(grades):
            if are_plain[row]:
                grades[row] = int(text)
            else:
                grades[row] = grade_of(text.encode(), position(row), real_grades=real_grades)
        return grades

    for row, value in enumerate(grades):
        if type(value) is not int or not 0 <= value < HIGH_GRADE:
            grades[row] = check_grade(value, position(row), real_grades)
    return grades


def _refuse_kind(column: pl.Series, noun: str, position: Callable[[int], Position | str]) -> None:
    kind = column.dtype
    if not (kind.is_numeric() or kind in (pl.String, pl.Null)):
        hint = not_numbers(kind == pl.Boolean)
        raise InputError(f"the {noun} column is of type {kind}", where=position(0), hint=hint)


def _refuse(
    wrong: np.ndarray, problem: str, position: Callable[[int], Position | str], hint: str | None = None
) -> None:
    """Raise an error for the first wrong row, if there is one."""
    if wrong.any():
        raise InputError(problem, where=position(int(np.flatnonzero(wrong)[0])), hint=hint)
