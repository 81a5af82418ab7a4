"""Runs and qrels from Spark DataFrames, classic or Connect. Nothing here imports Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.base.notes import Note
from goldrank.base.packages import needed
from goldrank.data.qrels import Qrels
from goldrank.data.run import Alternatives, Run, SparkLines
from goldrank.io import aliases
from goldrank.io.columns import Columns, FoundColumns
from goldrank.io.formats import Reading
from goldrank.io.objects import mappings as objects
from goldrank.io.text.number_text import not_numbers

MOST_JUDGEMENTS = 5_000_000
"""Most judgements that are brought to the driver; of more, queries are scored on the executors."""

SAMPLED = 10_000
"""Rows that are read where several columns could hold ids."""

_INTEGERS = {"tinyint", "smallint", "int", "bigint"}
_REAL = {"float", "double"} | _INTEGERS
_NUMBER = r"^[ ]*[+-]?((inf(inity)?)|nan|(([0-9]+([.][0-9]*)?|[.][0-9]+)(e[+-]?[0-9]+)?))[ ]*$"


def run_from_spark(frame: Any, name: str, named: Columns | None = None) -> Run:
    """A run that stays in Spark, from columns for query, document and score (or rank), or lists of results.

    Nothing is computed for it: columns are found by the frame's schema.
    """
    columns = _columns(frame, "score", name, named or Columns())
    run = _run(columns, name)
    if FoundColumns({}, columns.candidates).is_open:
        read_from = lambda chosen: _run(columns.with_ids(chosen), name)  # noqa: E731
        return run.with_facts(alternatives=Alternatives(columns.candidates, read_from, partial(_matches, frame)))
    return run


def _matches(frame: Any, names: Sequence[str], chosen: Mapping[str, str], judged: Qrels) -> list[int]:
    """The number of judged ids in each of some columns (`data.run.Alternatives`), in some of the rows."""
    selected = dict.fromkeys(_quoted(name) for name in (*names, *chosen.values()))
    with needed("pyspark"):
        rows = frame.select(*selected).limit(SAMPLED).toArrow().to_pylist()
    for row in rows:
        for name, value in row.items():
            if isinstance(value, bytes):
                row[name] = ids.decode(value)
    return objects.matches(rows, names, chosen, judged)


def _run(columns: _FrameColumns, name: str) -> Run:
    """A run from certain columns."""
    score = _number(columns.value, columns.role, name)
    if columns.role != "score":
        score = f"-({score})"

    query, doc = columns.ids(name)
    nothing = columns.nothing
    value = columns.value.sql
    is_too_long = f"greatest(length({query}), length({doc})) > {ids.MAX_ID_BYTES}"
    lines = columns.frame.selectExpr(
        f"{query} AS query",
        f"{doc} AS doc",
        # Adding zero makes 0.0 of -0.0, so that every part of Spark treats both as one score.
        f"CASE WHEN {nothing} THEN NULL ELSE {score} + 0.0D END AS score",
        f"CASE WHEN {query} IS NULL OR length({query}) = 0 THEN 'query' WHEN {nothing} THEN NULL"
        f" WHEN {doc} IS NULL OR length({doc}) = 0 THEN 'doc' WHEN {is_too_long} THEN 'length'"
        f" WHEN {value} IS NULL THEN 'score' WHEN {score} IS NULL THEN 'number' WHEN isnan({score}) THEN 'nan'"
        " END AS problem",
        f"{nothing} AS nothing",
    )
    labels = {"query": columns.query.label, "doc": columns.doc.label, "score": columns.value.label}
    kind_of = {True: "int", False: "str"}
    kinds = [kind_of[_is_integer(column.kind)] for column in (columns.query, columns.doc)]
    kind = "/".join(dict.fromkeys(kinds))
    return Run(SparkLines(lines, name, labels), name=name).with_facts(id_kind=kind, notes=columns.notes())


def qrels_from_spark(
    frame: Any, name: str, judgements: str = "error", named: Columns | None = None, real_grades: bool = False
) -> Qrels | None:
    """Judgements brought to the driver in one job; None if they are more than `MOST_JUDGEMENTS`."""
    from goldrank.io.tables import polars_tables as tables

    columns = _columns(frame, "grade", name, named or Columns())
    expressions = [
        f"{columns.query.sql} AS query",
        f"{columns.doc.sql} AS doc",
        f"{columns.value.sql} AS {columns.role}",
    ]
    judge_column = aliases.find([field.name for field in columns.frame.schema.fields], "judged_by")
    if judge_column is not None:
        expressions.append(f"{_quoted(judge_column)} AS judged_by")

    with needed("pyspark"):
        table = columns.frame.selectExpr(*expressions).limit(MOST_JUDGEMENTS + 1).toArrow()
    if table.num_rows > MOST_JUDGEMENTS:
        return None

    try:
        qrels = tables.qrels_from_frame(table, name, Reading("spark", real_grades=real_grades))
        return qrels.with_facts(notes=(*qrels.notes, *columns.notes()))
    except InputError as error:
        if judgements == "last" and error.code == "contradicting-judgements":
            hint = "judgements='last' needs an order of lines, and a Spark DataFrame has none. Leave one line of each "
            hint += "pair, for example with groupBy(query, doc).agg(max(score))."
            raise InputError(error.what, where=name, hint=hint, code=error.code) from None
        raise


def judgements_in_spark(frame: Any, name: str, named: Columns | None = None) -> Any:
    """Judgements that stay in Spark, as `query` and `doc` (bytes) and `grade` (a double, null if it is not a grade)."""
    columns = _columns(frame, "grade", name, named or Columns())
    query, doc = columns.ids(name)
    grade = _number(columns.value, "grade", name)
    unjudged = f"{columns.value.sql} IS NULL AS unjudged"
    return columns.frame.selectExpr(f"{query} AS query", f"{doc} AS doc", f"{grade} AS grade", unjudged)


class _Column(NamedTuple):
    """A column as SQL, its type, and the user's name of it."""

    sql: str
    kind: str
    label: str


_NO_CHOICE: dict[str, tuple[str, ...]] = {}


class _FrameColumns(NamedTuple):
    """The columns for query, document and value of a frame with one row for each document."""

    frame: Any
    query: _Column
    doc: _Column
    value: _Column
    role: str
    """The role of the value: "score", "rank" or "grade"."""
    nothing: str = "false"
    """SQL: whether a row only means that a query has no results."""
    candidates: dict[str, tuple[str, ...]] = _NO_CHOICE
    """All columns of the frame that could hold the ids of queries and of documents."""

    def with_ids(self, chosen: Mapping[str, str]) -> _FrameColumns:
        """These columns with ids from other columns."""
        kinds = {field.name: field.dataType for field in self.frame.schema.fields}
        columns = {role: _Column(_quoted(name), _type(kinds[name]), name) for role, name in chosen.items()}
        return self._replace(query=columns.get("query", self.query), doc=columns.get("doc", self.doc))

    def notes(self) -> tuple[Note, ...]:
        """Notes on choices among several columns."""
        return FoundColumns({}, self.candidates).notes()

    def ids(self, where: str) -> tuple[str, str]:
        """Query and document as bytes."""
        return _id(self.query, "query", where), _id(self.doc, "doc", where)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _columns(frame: Any, role: str, where: str, named: Columns) -> _FrameColumns:
    """The columns for query, doc and value ("score" or "grade"); lists of results become rows."""
    schema = {field.name: field.dataType for field in frame.schema.fields}
    query_name = aliases.find(schema, "query")
    lists = (name for name, kind in schema.items() if kind.typeName() in ("array", "map") and name != query_name)
    nested = next(lists, None)
    if query_name is not None and aliases.find(schema, "doc") in (None, nested) and nested is not None:
        return _listed(frame, query_name, schema, nested, role, where)

    thing = "qrels"
    if role == "score":
        thing = "run"
        role = named.ordered_by(schema, where)
    chosen = named.find_all(schema, ("query", "doc", role), thing, where)
    query, doc, value = (_Column(_quoted(name), _type(schema[name]), name) for name in chosen.columns.values())
    return _FrameColumns(frame, query, doc, value, role, candidates=chosen.candidates)


def _listed(frame: Any, query: str, schema: dict[str, Any], nested: str, role: str, where: str) -> _FrameColumns:
    """The columns of a frame with one row per query and its results in a list.

    The list is of structs, of ids (best first), or a map from id to number.
    """
    kind = schema[nested]
    is_run = role == "score"
    if kind.typeName() == "map":
        explode = f"explode_outer({_quoted(nested)}) AS (doc, value)"
        doc = _Column("doc", _type(kind.keyType), f"{nested}.key")
        value = _Column("value", _type(kind.valueType), f"{nested}.value")
    else:
        explode = f"posexplode_outer({_quoted(nested)}) AS (position, result)"
        element = kind.elementType
        if element.typeName() == "struct":
            fields = {field.name: field.dataType for field in element.fields}
            if is_run:
                role = aliases.ordered_by(fields)
            names = Columns().find_all(fields, ("doc", role), "run", f"{where}: {nested}").columns.values()
            doc, value = (_Column(f"result.{_quoted(n)}", _type(fields[n]), f"{nested}.{n}") for n in names)
        else:
            # As for lists in Python: the first id of a run is the best, every id of qrels is relevant.
            doc = _Column("result", _type(element), nested)
            value = _Column("1", "int", nested)
            if is_run:
                value = _Column("-(position + 1D)", "double", nested)

    nothing = f"coalesce(size({_quoted(nested)}), 0) = 0 AS nothing"
    rows = frame.selectExpr(f"{_quoted(query)} AS query", nothing, explode)
    query_column = _Column("query", _type(schema[query]), query)
    if is_run:
        return _FrameColumns(rows, query_column, doc, value, role, "nothing")
    return _FrameColumns(rows.where("NOT nothing"), query_column, doc, value, role)


def _type(kind: Any) -> str:
    name: str = kind.simpleString()
    if name.startswith(("string", "varchar", "char")):
        return "string"
    return name


def _is_integer(kind: str) -> bool:
    return kind in _INTEGERS or (kind.startswith("decimal") and kind.endswith(",0)"))


def _id(column: _Column, noun: str, where: str) -> str:
    """An id as bytes, so that comparisons do not depend on the collation of the column."""
    if column.kind == "binary":
        return column.sql
    if column.kind == "string":
        return f"CAST({column.sql} AS BINARY)"
    if _is_integer(column.kind):
        return f"CAST(CAST({column.sql} AS STRING) AS BINARY)"
    hint = "Ids are text or integers. pandas makes floats of integers where some are missing."
    raise InputError(f"{noun} ids are of type {column.kind}", where=f"{where}: column '{column.label}'", hint=hint)


def _number(column: _Column, noun: str, where: str) -> str:
    """A number as a double, null where it is not a number."""
    if column.kind in _REAL or column.kind.startswith("decimal"):
        return f"CAST({column.sql} AS DOUBLE)"
    if column.kind == "string":
        # Spark would read "1d" and "1f" as numbers.
        return f"CASE WHEN lower({column.sql}) RLIKE '{_NUMBER}' THEN try_cast({column.sql} AS DOUBLE) END"
    raise InputError(
        f"the {noun} column is of type {column.kind}",
        where=f"{where}: column '{column.label}'",
        hint=not_numbers(column.kind == "boolean"),
    )
