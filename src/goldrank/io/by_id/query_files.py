"""`Queries` from files, data frames and data sets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, Position
from goldrank.base.keywords import named_arguments
from goldrank.base.types import Columns, QueriesLike
from goldrank.data.queries import ROLES, TEXT_FIELDS, Queries
from goldrank.io.by_id.plain_records import AllFields, NamedColumns, id_of, in_folder, is_records, records_of
from goldrank.io.sources import ByteSource, open_source

ID_FIELDS = ("query", "query_id", "qid", "_id", "id")
"""Names of the field with the id of a query; the first that a record has counts."""
FILES_OF_BEIR = ("queries.jsonl", "queries.jsonl.gz", "queries.tsv")


@named_arguments
def read_queries(source: QueriesLike, *, format: str | None = None, columns: Columns | None = None) -> Queries:
    """Read queries: their texts, clusters, weights, strata and attributes.

    Parameters
    ----------
    source : Queries, path, open binary file, data frame or mapping
        A file of JSON Lines, JSON, CSV, TSV or Parquet with an id in each record; lines of id, tab and text; the folder
        of a BEIR data set; a mapping from ids to texts or to fields; or a data set of ir_datasets.
    format : str, optional
        The format of a file, if its content does not show it.
    columns : mapping, optional
        The names of fields by their role, for example {"query": "qid", "cluster": "session"}.

    Returns
    -------
    Queries

    Raises
    ------
    InputError
        If the source cannot be read, or a record has no id.

    Examples
    --------
    >>> queries = read_queries([{"qid": "q1", "text": "why?", "kind": "short"}])
    >>> queries["q1"].text, queries["q1"].attributes["kind"]
    ('why?', 'short')
    """
    if isinstance(source, Queries):
        if columns is not None or format is not None:
            raise OptionError("these queries were read before", hint="Pass format= and columns= to their reader.")
        return source

    named = NamedColumns(columns, ("query", *ROLES))
    if isinstance(source, Mapping):
        return _of_mapping(source, named)
    if hasattr(source, "queries_iter"):  # a data set of ir_datasets
        return Queries({record.query_id: _text_of(record) for record in source.queries_iter()})

    source = in_folder(source, FILES_OF_BEIR, "queries")
    name = "queries"
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
    if format is None:
        lines = _plain_lines(source, named)
        if lines is not None:
            return Queries(_of_lines(lines), name=lines.name)

    if not is_records(source):
        hint = "Give a path, a dict from ids to texts, a list of dicts or a data frame."
        raise InputError(
            f"{type(source).__name__} cannot be read as queries", where=name, hint=hint, code="unreadable-object"
        )

    queries = dict(_of_records(source, named, format))
    if not queries:
        hint = "Is it the right file? Lines are: id, tab, text; tables have a header."
        raise InputError("no queries", where=name, hint=hint, code="empty-input")
    return Queries(queries, name=name)


def _of_mapping(table: Mapping[Any, Any], named: NamedColumns) -> Queries:
    if not named.columns:
        return Queries(table)
    return Queries({query: named.renamed(fields, f"queries: query {query!r:.80}") for query, fields in table.items()})


def _plain_lines(path: Any, named: NamedColumns) -> ByteSource | None:
    """The file, if its lines are ids and texts with a tab between them and it has no header; else None."""
    if not isinstance(path, str | os.PathLike):
        return None
    source = open_source(path)
    if source.head.lstrip()[:1] in (b"{", b"[", b"") or source.head.startswith((b"PAR1", b"ARROW1")):
        return None

    first_line = source.head.lstrip().partition(b"\n")[0].decode("utf-8", "replace").strip()
    cells = {cell.strip().strip('"').casefold() for cell in first_line.replace(",", "\t").split("\t")}
    headers = {*ID_FIELDS, *(column.casefold() for column in named.columns.values())}
    is_table = bool(cells & headers) or "\t" not in first_line
    if is_table:
        return None
    return source


def _of_lines(source: ByteSource) -> dict[str, str]:
    texts: dict[str, str] = {}
    for number, line in source.lines():
        query, tab, text = ids.decode(line).partition("\t")
        where = Position(source.name, number)
        if not tab and line.strip():
            raise InputError("a line without a tab", where=where, hint="Lines are: id, tab, text.")
        if not query:
            continue
        if query in texts:
            raise _repeated_query(query, str(where))
        texts[query] = text.strip()
    return texts


def _of_records(source: Any, named: NamedColumns, format: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    seen: set[str] = set()
    for where, record in records_of(source, AllFields(ID_FIELDS), "queries", format):
        if _is_by_id(record, named):
            yield from _of_mapping(record, named).fields.items()
            continue

        fields = named.renamed(record, where)
        key, query = id_of(fields, ID_FIELDS, where, "query")
        if query in seen:
            raise _repeated_query(query, where)
        seen.add(query)
        yield query, {name: value for name, value in fields.items() if name != key}


def _is_by_id(record: Mapping[str, Any], named: NamedColumns) -> bool:
    """Whether a JSON object is not one query but has all queries by their ids."""
    of_one_query = (*ID_FIELDS, *TEXT_FIELDS, *ROLES, *named.columns.values())
    if any(name in record for name in of_one_query):
        return False
    return all(isinstance(value, str | Mapping) for value in record.values())


def _repeated_query(query: str, where: str) -> InputError:
    return InputError(f"query '{ids.show(query)}' is there twice", where=where, hint="Give each query once.")


def _text_of(query: Any) -> str:
    """The text of a query of ir_datasets: its default text, or the first field with a text."""
    if hasattr(query, "default_text"):
        return str(query.default_text())
    text = next((getattr(query, name) for name in ("text", "title", "query") if hasattr(query, name)), None)
    if text is None:
        raise InputError(f"a query has no text: {query!r:.80}", hint="Its fields are: query_id, text.")
    return str(text)
