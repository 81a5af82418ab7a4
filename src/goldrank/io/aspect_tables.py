"""`AspectQrels` from tables and records: a query, an aspect, a document and a grade in each row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.base.types import Columns
from goldrank.data.aspects import AspectQrels
from goldrank.data.grades import check_grade
from goldrank.data.judgement_columns import Grade
from goldrank.io import aliases
from goldrank.io.by_id.plain_records import AllFields, NamedColumns, id_of, records_of
from goldrank.io.sources import ByteSource

ROLES: Mapping[str, Sequence[str]] = {
    "query": ("query", *aliases.COLUMNS["query"]),
    "aspect": ("aspect", "subtopic", "subtopic_id", "aspect_id", "intent", "nugget", "judge", "assessor", "iteration"),
    "doc": ("doc", *aliases.COLUMNS["doc"]),
    "grade": aliases.COLUMNS["grade"],
}
"""By role, the names of its column; the first that a row has counts."""
_WHOLE = re.compile(r"[+-]?[0-9]+")


def is_table(source: ByteSource, columns: Columns | None) -> bool:
    """Whether a file is a table with a header, or JSON; else its lines have four columns without names."""
    head = source.head.lstrip()
    if head[:1] in (b"{", b"[") or head.startswith((b"PAR1", b"ARROW1")):
        return True

    first_line = head.partition(b"\n")[0].decode("utf-8", "replace")
    cells = {cell.strip().strip('"').casefold() for cell in re.split(r"[\t,;|]", first_line)}
    names = {name.casefold() for name in (columns or {}).values()}
    return bool(cells & {*ROLES["aspect"], *names})


def read(source: Any, columns: Columns | None, format: str | None, name: str) -> AspectQrels:
    """Judgements by aspect from a table, a data frame or rows with names."""
    named = NamedColumns(columns, ROLES)
    all_names = [name for names in ROLES.values() for name in names]
    rows: list[tuple[bytes, bytes, bytes, Grade]] = []
    positions: list[str] = []
    if isinstance(source, list | tuple) and source and isinstance(source[0], tuple | list):
        source = [_named_row(row, f"{name}[{number}]") for number, row in enumerate(source)]
    for where, record in records_of(source, AllFields((*all_names, *named.columns.values())), name, format):
        fields = named.renamed(record, where)
        keys = [id_of(fields, ROLES[role], where, noun)[1] for role, noun in _NOUNS.items()]
        query, aspect, doc = map(ids.encode, keys)
        rows.append((query, aspect, doc, _grade(fields, where)))
        positions.append(where)

    if not rows:
        hint = "Is it the right source, and is it complete?"
        raise InputError("no judgements", where=name, hint=hint, code="empty-input")
    queries, aspects, docs, grades = zip(*rows, strict=True)
    return AspectQrels.from_rows(queries, aspects, docs, grades, name=name, where=positions.__getitem__)


def _named_row(row: Any, where: str) -> dict[str, Any]:
    if not isinstance(row, tuple | list) or len(row) != len(ROLES):
        hint = "Rows are (query, aspect, document, grade)."
        raise InputError(f"is {row!r:.80}, not a row of four values", where=where, hint=hint, code="wrong-type")
    return dict(zip(ROLES, row, strict=True))


_NOUNS = {"query": "query", "aspect": "aspect", "doc": "document"}


def _grade(fields: Mapping[str, Any], where: str) -> Grade:
    name = next((name for name in ROLES["grade"] if name in fields), None)
    if name is None:
        hint = f"Grades are in one of: {', '.join(ROLES['grade'])}; or name the field with columns={{'grade': ...}}."
        listed = ", ".join(ids.show(str(field)) for field in list(fields)[:20])
        raise InputError(f"has no grade; there are: {listed}", where=where, hint=hint, code="no-column")

    value = fields[name]
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        value = int(value)
    return check_grade(value, where)
