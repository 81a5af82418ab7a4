"""Spark DataFrames, classic or Connect, as runs and qrels. Nothing here imports Spark: frames bring it along."""

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
"""Judgements in Spark are brought to the driver up to so many; beyond that queries are scored on the executors."""

SAMPLED = 10_000
"""Rows that are looked at where several columns could hold ids."""

_WHOLE = {"tinyint", "smallint", "int", "bigint"}
_REAL = {"float", "double"} | _WHOLE
_NUMBER = r"^[ ]*[+-]?((inf(inity)?)|nan|(([0-9]+([.][0-9]*)?|[.][0-9]+)(e[+-]?[0-9]+)?))[ ]*$"


def run_from_spark(frame: Any, name: str, named: Columns | None = None) -> Run:
    """A run that stays in Spark, from columns for query, document and score (or rank), or lists of results.

    Nothing is computed for it: columns are found by the frame's schema.
    """
    columns = _columns(frame, "score", name, named or Columns())
    run = _run(columns, name)
    if FoundColumns({}, columns.candidates).is_open:
        taken = lambda chosen: _run(columns.having(chosen), name)  # noqa: E731
        run.alternatives = Alternatives(columns.candidates, taken, partial(_matches, frame))
    return run


def _matches(frame: Any, names: Sequence[str], chosen: Mapping[str, str], judged: Qrels) -> list[int]:
    """How many ids of each column are judged (`data.run.Alternatives`): some rows tell."""
    asked = dict.fromkeys(_quoted(name) for name in (*names, *chosen.values()))
    with needed("pyspark"):
        rows = frame.select(*asked).limit(SAMPLED).toArrow().to_pylist()
    texts = [{name: ids.decode(v) if isinstance(v, bytes) else v for name, v in row.items()} for row in rows]
    return objects.matches(texts, names, chosen, judged)


def _run(columns: _FrameColumns, name: str) -> Run:
    """A run from certain columns."""
    score = _number(columns.value, columns.word, name)
    if columns.word != "score":
        score = f"-({score})"

    query, doc = columns.ids(name)
    nothing, given = columns.nothing, columns.value.sql
    longest = f"greatest(length({query}), length({doc})) > {ids.MAX_ID_BYTES}"
    lines = columns.frame.selectExpr(
        f"{query} AS query",
        f"{doc} AS doc",
        # Adding zero makes 0.0 of -0.0, so that both are one score to every part of Spark.
        f"CASE WHEN {nothing} THEN NULL ELSE {score} + 0.0D END AS score",
        f"CASE WHEN {query} IS NULL OR length({query}) = 0 THEN 'query' WHEN {nothing} THEN NULL"
        f" WHEN {doc} IS NULL OR length({doc}) = 0 THEN 'doc' WHEN {longest} THEN 'length'"
        f" WHEN {given} IS NULL THEN 'score' WHEN {score} IS NULL THEN 'number' WHEN isnan({score}) THEN 'nan'"
        " END AS problem",
        f"{nothing} AS nothing",
    )
    labels = {"query": columns.query.label, "doc": columns.doc.label, "score": columns.value.label}
    kinds = ["int" if _is_whole(column.kind) else "str" for column in (columns.query, columns.doc)]
    kind = "/".join(dict.fromkeys(kinds))
    return Run(SparkLines(lines, name, labels), name=name, id_kind=kind, notes=columns.notes())


def qrels_from_spark(
    frame: Any, name: str, judgements: str = "error", named: Columns | None = None, real_grades: bool = False
) -> Qrels | None:
    """Judgements brought to the driver in one job; None if they are more than `MOST_JUDGEMENTS`."""
    from goldrank.io.tables import polars_tables as tables

    columns = _columns(frame, "grade", name, named or Columns())
    wanted: tuple[str, ...] = (
        f"{columns.query.sql} AS query",
        f"{columns.doc.sql} AS doc",
        f"{columns.value.sql} AS {columns.word}",
    )
    judged_by = aliases.find([field.name for field in columns.frame.schema.fields], "judged_by")
    wanted += () if judged_by is None else (f"{_quoted(judged_by)} AS judged_by",)
    with needed("pyspark"):
        table = columns.frame.selectExpr(*wanted).limit(MOST_JUDGEMENTS + 1).toArrow()
    if table.num_rows > MOST_JUDGEMENTS:
        return None
    try:
        qrels = tables.qrels_from_frame(table, name, Reading("spark", real_grades=real_grades))
        qrels.notes += columns.notes()
        return qrels
    except InputError as error:
        if judgements == "last" and error.code == "contradicting-judgements":
            hint = "judgements='last' needs an order of lines, and a Spark DataFrame has none. Leave one line of each "
            hint += "pair, for example with groupBy(query, doc).agg(max(score))."
            raise InputError(error.what, where=name, hint=hint, code=error.code) from None
        raise


def judgements_in_spark(frame: Any, name: str, named: Columns | None = None) -> Any:
    """Judgements that stay in Spark, as `query` and `doc` (bytes) and `grade` (a double, null if it is no grade)."""
    columns = _columns(frame, "grade", name, named or Columns())
    query, doc = columns.ids(name)
    grade = _number(columns.value, "grade", name)
    unjudged = f"{columns.value.sql} IS NULL AS unjudged"
    return columns.frame.selectExpr(f"{query} AS query", f"{doc} AS doc", f"{grade} AS grade", unjudged)


class _Column(NamedTuple):
    """A column as SQL, its type, and the name that the user gave it."""

    sql: str
    kind: str
    label: str


_NO_CHOICE: dict[str, tuple[str, ...]] = {}


class _FrameColumns(NamedTuple):
    """Where query, document and value are in a frame that has one row for each document."""

    frame: Any
    query: _Column
    doc: _Column
    value: _Column
    word: str
    """What the value is: "score", "rank" or "grade"."""
    nothing: str = "false"
    """Whether a row says no more than that a query has no results, as SQL."""
    candidates: dict[str, tuple[str, ...]] = _NO_CHOICE
    """Every column that could hold the ids of queries and of documents, where they are columns of the frame."""

    def having(self, chosen: Mapping[str, str]) -> _FrameColumns:
        """The same with ids from other columns."""
        kinds = {field.name: field.dataType for field in self.frame.schema.fields}
        columns = {role: _Column(_quoted(name), _type(kinds[name]), name) for role, name in chosen.items()}
        return self._replace(query=columns.get("query", self.query), doc=columns.get("doc", self.doc))

    def notes(self) -> tuple[Note, ...]:
        """What was chosen by name where there was a choice."""
        return FoundColumns({}, self.candidates).notes()

    def ids(self, where: str) -> tuple[str, str]:
        """Query and document as bytes."""
        return _id(self.query, "query", where), _id(self.doc, "doc", where)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _columns(frame: Any, wanted: str, where: str, named: Columns) -> _FrameColumns:
    """Columns for query, doc and value, with lists of results laid out as rows."""
    schema = {field.name: field.dataType for field in frame.schema.fields}
    query_name = aliases.find(schema, "query")
    nested = next(
        (name for name, kind in schema.items() if kind.typeName() in ("array", "map") and name != query_name), None
    )
    if query_name is not None and aliases.find(schema, "doc") in (None, nested) and nested is not None:
        return _listed(frame, query_name, schema, nested, wanted, where)

    if wanted == "score":
        word = named.ordered_by(schema, where)
    else:
        word = wanted

    if wanted == "score":
        thing = "run"
    else:
        thing = "qrels"

    chosen = named.find_all(schema, ("query", "doc", word), thing, where)
    query, doc, value = (_Column(_quoted(name), _type(schema[name]), name) for name in chosen.columns.values())
    return _FrameColumns(frame, query, doc, value, word, candidates=chosen.candidates)


def _listed(frame: Any, query: str, schema: dict[str, Any], nested: str, wanted: str, where: str) -> _FrameColumns:
    """One row per query with its results in a list: of structs, of ids (best first), or a map from id to number."""
    kind = schema[nested]
    word = wanted
    if kind.typeName() == "map":
        explode = f"explode_outer({_quoted(nested)}) AS (doc, value)"
        doc = _Column("doc", _type(kind.keyType), f"{nested}.key")
        value = _Column("value", _type(kind.valueType), f"{nested}.value")
    else:
        explode = f"posexplode_outer({_quoted(nested)}) AS (position, result)"
        element = kind.elementType
        if element.typeName() == "struct":
            fields = {field.name: field.dataType for field in element.fields}
            if wanted == "score":
                word = aliases.ordered_by(fields)
            else:
                word = wanted
            names = Columns().find_all(fields, ("doc", word), "run", f"{where}: {nested}").columns.values()
            doc, value = (_Column(f"result.{_quoted(n)}", _type(fields[n]), f"{nested}.{n}") for n in names)
        else:
            # As for lists in Python: the first id of a run is the best, every id of qrels is relevant.
            doc = _Column("result", _type(element), nested)
            if wanted == "score":
                number = ("-(position + 1D)", "double")
            else:
                number = ("1", "int")
            value = _Column(*number, nested)

    nothing = f"coalesce(size({_quoted(nested)}), 0) = 0 AS nothing"
    rows = frame.selectExpr(f"{_quoted(query)} AS query", nothing, explode)
    query_column = _Column("query", _type(schema[query]), query)
    if wanted == "score":
        return _FrameColumns(rows, query_column, doc, value, word, "nothing")
    return _FrameColumns(rows.where("NOT nothing"), query_column, doc, value, word)


def _type(kind: Any) -> str:
    name: str = kind.simpleString()
    if name.startswith(("string", "varchar", "char")):
        return "string"
    return name


def _is_whole(kind: str) -> bool:
    return kind in _WHOLE or (kind.startswith("decimal") and kind.endswith(",0)"))


def _id(column: _Column, what: str, where: str) -> str:
    """An id as bytes: so is every comparison, whatever collation the column has."""
    if column.kind == "binary":
        return column.sql
    if column.kind == "string":
        return f"CAST({column.sql} AS BINARY)"
    if _is_whole(column.kind):
        return f"CAST(CAST({column.sql} AS STRING) AS BINARY)"
    hint = "Ids are text or integers. pandas makes floats of integers where some are missing."
    raise InputError(f"{what} ids are of type {column.kind}", where=f"{where}: column '{column.label}'", hint=hint)


def _number(column: _Column, what: str, where: str) -> str:
    """A number as a double, null where it is none."""
    if column.kind in _REAL or column.kind.startswith("decimal"):
        return f"CAST({column.sql} AS DOUBLE)"
    if column.kind == "string":
        # Spark would take "1d" and "1f" for numbers.
        return f"CASE WHEN lower({column.sql}) RLIKE '{_NUMBER}' THEN try_cast({column.sql} AS DOUBLE) END"
    place = f"{where}: column '{column.label}'"
    raise InputError(
        f"the {what} column is of type {column.kind}", where=place, hint=not_numbers(column.kind == "boolean")
    )
