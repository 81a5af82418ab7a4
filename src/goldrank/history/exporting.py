"""A history as Parquet, CSV or JSON, for other programs."""

from __future__ import annotations

import io
from pathlib import Path

from goldrank.base.errors import GoldrankError, OptionError, StoreError
from goldrank.base.forking import check_polars
from goldrank.base.packages import needed
from goldrank.base.writing import write_whole
from goldrank.comparison.tabular import attributes
from goldrank.data.json_values import utf8, write_json
from goldrank.data.scores import Scores
from goldrank.data.showing import with_utf8
from goldrank.data.table import Cell, Cells, Head, Table
from goldrank.history.record import Record
from goldrank.history.store import History
from goldrank.report import separated

_ABOUT = (
    "id time label commit branch note criteria run qrels_name qrels_sha256 run_sha256 convention version signature "
    "digest tags depth queries"
)


def export(
    history: History, path: str, *, label: str | None = None, by_query: bool = True
) -> tuple[int, list[GoldrankError]]:
    """Write the sound records by the file's ending; how many they were, and what is wrong with the others."""
    ending = Path(path).suffix.lower()
    if ending not in _WRITERS:
        raise OptionError(f"{path!r} ends in none of {', '.join(_WRITERS)}", hint="The ending says what is written.")

    records, damaged = history.sound_records(label=label)
    written = []
    for record in records:
        try:
            scores = None
            if by_query:
                scores = history.scores(record)
            written.append((record, scores))
        except StoreError as error:
            damaged.append(error)

    _WRITERS[ending](Path(path), written)
    return len(written), damaged


def _write_json(path: Path, records: list[tuple[Record, Scores | None]]) -> None:
    rows = []
    for record, scores in records:
        row = attributes(record, _ABOUT) | {"time": record.time.isoformat(), "mean": dict(record.mean)}
        if scores is not None:
            row["scores"] = scores.to_dict()
        rows.append(row)
    write_json(path, {"format": "goldrank-history", "version": 2, "records": rows})


def _write_csv(path: Path, records: list[tuple[Record, Scores | None]]) -> None:
    """One line per record and measure, or per record, measure and query, as in Parquet."""
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        for i, (record, scores) in enumerate(records):
            text = separated.write(_csv_table(record, scores))
            if i > 0:
                text = text.partition("\n")[2]  # the names of columns are there once
            file.write(text)


def _csv_table(record: Record, scores: Scores | None) -> Table:
    """The rows of one record."""
    heads = [*Head.texts(*_ABOUT.split(), "measure"), *Head.numbers("summary")]
    if scores is not None:
        heads += [*Head.texts("query"), *Head.numbers("value")]
    fields = attributes(record, _ABOUT) | {"time": record.time.isoformat(), "tags": "\n".join(record.tags)}
    constants = list(map(_csv_cell, fields.values()))

    rows: list[Cells] = []
    for measure, summary in record.mean.items():
        constant_cells = [*constants, measure, summary]
        if scores is None:
            rows.append(constant_cells)
        else:
            values = scores.columns[measure].values.tolist()
            rows += [[*constant_cells, query, value] for query, value in zip(scores.queries, values, strict=True)]
    return Table(heads, rows)


def _csv_cell(value: object) -> Cell | str:
    if isinstance(value, int):
        return Cell(str(value), value)
    return str(value or "")


def _write_parquet(path: Path, records: list[tuple[Record, Scores | None]]) -> None:
    """One row per record and measure, or per record, measure and query."""
    with needed("polars"):
        import polars

    check_polars()
    frames = []
    for record, scores in records:
        fields = with_utf8(attributes(record, _ABOUT)) | {"tags": utf8("\n".join(record.tags))}
        types = {"depth": polars.Int64(), "time": polars.Datetime("us", "UTC")}
        constants = [polars.lit(value, dtype=types.get(name)).alias(name) for name, value in fields.items()]
        for measure, summary in record.mean.items():
            constant_columns = [
                *constants,
                polars.lit(utf8(measure)).alias("measure"),
                polars.lit(summary).alias("summary"),
            ]
            if scores is None:
                frames.append(polars.select(constant_columns))
            else:
                values = scores.columns[measure].values
                query_frame = polars.DataFrame({"query": list(map(utf8, scores.queries)), "value": values})
                frames.append(query_frame.select(*constant_columns, "query", "value"))
    if not frames:
        raise StoreError("there are no sound records to write")

    buffer = io.BytesIO()
    polars.concat(frames).write_parquet(buffer)
    write_whole(path, buffer.getvalue())


_WRITERS = {".parquet": _write_parquet, ".csv": _write_csv, ".json": _write_json}
