"""Spark DataFrames, classic or Connect, as runs and qrels. Nothing here imports Spark: frames bring it along."""

from __future__ import annotations

from typing import Any

from goldrank import ids
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.data.spark import SparkLines
from goldrank.errors import GoldrankError, InputError
from goldrank.io import aliases

MOST_JUDGEMENTS = 5_000_000
"""Judgements in Spark are brought to the driver up to so many; beyond that queries are scored on the executors."""

_WHOLE = {"tinyint", "smallint", "int", "bigint"}
_REAL = {"float", "double", "boolean"} | _WHOLE
_NUMBER = r"^[ ]*[+-]?((inf(inity)?)|nan|(([0-9]+([.][0-9]*)?|[.][0-9]+)(e[+-]?[0-9]+)?))[ ]*$"


def run_from_spark(frame: Any, name: str) -> Run:
    """A run that stays in Spark, from columns for query, document and score (or rank), or lists of results."""
    columns, value = _columns(frame, "score", name)
    score = _number(columns["value"], value, name)
    if value == "rank":
        score = f"-({score})"
    query, doc = (_id(columns[word], word, name) for word in ("query", "doc"))
    nothing = columns["nothing"].sql
    longest = f"greatest(length({query}), length({doc})) > {ids.MAX_ID_BYTES}"
    given = columns["value"].sql
    lines = columns["frame"].frame.selectExpr(
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
    known = {word: columns[word].label for word in ("query", "doc")} | {"score": columns["value"].label}
    return Run(SparkLines(lines, name, known), name=name, id_kind=_kind(columns))


def qrels_from_spark(frame: Any, name: str, judgements: str = "error") -> Qrels | None:
    """Judgements brought to the driver in one job; None if they are more than `MOST_JUDGEMENTS`."""
    from goldrank.io import tables

    columns, value = _columns(frame, "grade", name)
    table = (
        columns["frame"]
        .frame.selectExpr(
            f"{columns['query'].sql} AS query", f"{columns['doc'].sql} AS doc", f"{columns['value'].sql} AS {value}"
        )
        .limit(MOST_JUDGEMENTS + 1)
        .toArrow()
    )
    if table.num_rows > MOST_JUDGEMENTS:
        return None
    try:
        return tables.qrels_from_frame(table, name)
    except InputError as error:
        if judgements == "last" and error.code == "contradicting-judgements":
            raise no_order(error.what, name, "judgements='last'") from None
        raise


def judgements_in_spark(frame: Any, name: str) -> Any:
    """Judgements that stay in Spark, as `query` and `doc` (bytes) and `grade` (a double, null if it is no grade)."""
    columns, _ = _columns(frame, "grade", name)
    query, doc = (_id(columns[word], word, name) for word in ("query", "doc"))
    return columns["frame"].frame.selectExpr(
        f"{query} AS query",
        f"{doc} AS doc",
        f"{_number(columns['value'], 'grade', name)} AS grade",
        f"{columns['value'].sql} IS NULL AS unjudged",
    )


def no_order(what: str, where: str, policy: str) -> GoldrankError:
    """The error for what needs an order of lines."""
    return InputError(
        what,
        where=where,
        hint=f"{policy} needs an order of lines, and a Spark DataFrame has none. Leave one line of each pair, for"
        " example with groupBy(query, doc).agg(max(score)).",
    )


# Columns.


class _Column:
    """A column as SQL, its type, and the name that the user gave it."""

    def __init__(self, sql: str, kind: str, label: str, frame: Any = None) -> None:
        self.sql = sql
        self.kind = kind
        self.label = label
        self.frame = frame


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _columns(frame: Any, wanted: str, where: str) -> tuple[dict[str, _Column], str]:
    """Columns for query, doc and value, with lists of results laid out as lines; and what the value is."""
    schema = {field.name: field.dataType for field in frame.schema.fields}
    present = list(schema)
    found = aliases.find(present, "query")
    nested = next(
        (name for name, kind in schema.items() if kind.typeName() in ("array", "map") and name != found), None
    )
    if found is not None and aliases.find(present, "doc") in (None, nested) and nested is not None:
        return _listed(frame, found, schema, nested, wanted, where)
    value = aliases.score_or_rank(present) if wanted == "score" else wanted
    by_word = aliases.find_all(present, ("query", "doc", value), where)
    columns = {
        word: _Column(_quoted(name), _type(schema[name]), name)
        for word, name in zip(("query", "doc", "value"), by_word.values(), strict=True)
    }
    return {**columns, "nothing": _Column("false", "boolean", ""), "frame": _Column("", "", "", frame)}, value


def _listed(
    frame: Any, query: str, schema: dict[str, Any], nested: str, wanted: str, where: str
) -> tuple[dict[str, _Column], str]:
    """One row per query with its results in a list: of structs, of ids (best first), or a map from id to number."""
    kind = schema[nested]
    nothing = f"coalesce(size({_quoted(nested)}), 0) = 0"
    columns = {"query": _Column("query", _type(schema[query]), query)}
    value = wanted
    if kind.typeName() == "map":
        laid_out = frame.selectExpr(
            f"{_quoted(query)} AS query", f"{nothing} AS nothing", f"explode_outer({_quoted(nested)}) AS (doc, value)"
        )
        doc, number = ("doc", _type(kind.keyType)), ("value", _type(kind.valueType))
        labels = (f"{nested}.key", f"{nested}.value")
    else:
        laid_out = frame.selectExpr(
            f"{_quoted(query)} AS query",
            f"{nothing} AS nothing",
            f"posexplode_outer({_quoted(nested)}) AS (position, result)",
        )
        element = kind.elementType
        if element.typeName() == "struct":
            fields = {field.name: field.dataType for field in element.fields}
            value = aliases.score_or_rank(fields) if wanted == "score" else wanted
            by_word = aliases.find_all(list(fields), ("doc", value), f"{where}: {nested}")
            doc = (f"result.{_quoted(by_word['doc'])}", _type(fields[by_word["doc"]]))
            number = (f"result.{_quoted(by_word[value])}", _type(fields[by_word[value]]))
            labels = (f"{nested}.{by_word['doc']}", f"{nested}.{by_word[value]}")
        else:
            # As for lists in Python: the first id of a run is the best, every id of qrels is relevant.
            doc = ("result", _type(element))
            number = ("-(position + 1D)", "double") if wanted == "score" else ("1", "int")
            labels = (nested, nested)
    columns |= {
        "doc": _Column(*doc, labels[0]),
        "value": _Column(*number, labels[1]),
        "nothing": _Column("nothing" if wanted == "score" else "false", "boolean", nested),
        "frame": _Column("", "", "", laid_out if wanted == "score" else laid_out.where("NOT nothing")),
    }
    return columns, value


def _type(kind: Any) -> str:
    name: str = kind.simpleString()
    return "string" if name.startswith(("string", "varchar", "char")) else name


def _is_whole(kind: str) -> bool:
    return kind in _WHOLE or (kind.startswith("decimal") and kind.endswith(",0)"))


def _kind(columns: dict[str, _Column]) -> str:
    query, doc = ("int" if _is_whole(columns[word].kind) else "str" for word in ("query", "doc"))
    return query if query == doc else f"{query}/{doc}"


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
    raise InputError(
        f"the {what} column is of type {column.kind}",
        where=f"{where}: column '{column.label}'",
        hint="It should hold numbers.",
    )
