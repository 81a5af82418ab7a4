"""Records with an id, from any source: shared by the readers of queries and documents."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, did_you_mean, of_type
from goldrank.base.escaping import shown
from goldrank.io.files import is_frame
from goldrank.io.objects.field_values import as_mapping
from goldrank.io.records import RecordFields, open_records


class AllFields(RecordFields):
    """Reads every column of a table."""

    def __init__(self, id_fields: Iterable[str]) -> None:
        super().__init__(None, {})
        self.id_fields = tuple(id_fields)

    def wants(self, column: str) -> bool:
        return True


class NamedColumns:
    """Columns that a user named by their role, {"cluster": "session"}."""

    def __init__(self, columns: Mapping[str, str] | None, roles: Iterable[str]) -> None:
        known = tuple(roles)
        if columns is not None:
            of_type(columns, Mapping, "columns", "a mapping from what a column holds to its name")
        self.columns = dict(columns or {})

        for role, column in self.columns.items():
            if role not in known:
                problem = f"columns has no role {shown(role)}; there are: {', '.join(known)}"
                hint = None
                if isinstance(role, str):
                    hint = did_you_mean(role, known)
                raise OptionError(problem, hint=hint, code="unknown-choice")
            if not isinstance(column, str):
                problem = f"columns: the name for {role!r} is {shown(column)}, not text"
                raise OptionError(problem, hint='For example columns={"query": "qid"}.', code="wrong-type")

    def renamed(self, fields: Mapping[str, Any], where: str) -> dict[str, Any]:
        """The fields of a record, with roles as the names of the columns that the user named."""
        renamed = dict(fields)
        for column in self.columns.values():
            if column not in fields:
                listed = ", ".join(ids.show(str(name)) for name in list(fields)[:20])
                hint = did_you_mean(column, map(str, fields))
                raise InputError(f"has no field '{ids.show(column)}'; there are: {listed}", where=where, hint=hint)
            renamed.pop(column, None)

        for role, column in self.columns.items():
            renamed[role] = fields[column]
        return renamed


def records_of(
    source: Any, fields: AllFields, name: str, format: str | None
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every record of a file, a data frame or a list, after its position in words."""
    records = open_records(source, fields, format, name=name)
    for number, record in records.rows(Counter()):
        where = records.position(number)
        yield where, as_mapping(record, where)


def id_of(record: Mapping[str, Any], id_fields: Iterable[str], where: str, noun: str) -> tuple[str, str]:
    """The field that holds an id, and the id as text."""
    field = next((name for name in id_fields if name in record), None)
    if field is None:
        listed = ", ".join(ids.show(str(name)) for name in list(record)[:20])
        hint = f"Ids are in one of: {', '.join(id_fields)}; or name the field with columns=."
        raise InputError(f"has no field for the {noun} id; there are: {listed}", where=where, hint=hint, code="no-id")
    return field, ids.as_text(record[field], f"{noun} id", where)


def in_folder(source: Any, files: Sequence[str], noun: str) -> Any:
    """The first of some files that a folder has; any source but a folder unchanged."""
    if not isinstance(source, str | os.PathLike) or not os.path.isdir(source):
        return source
    folder = Path(source)
    for file in files:
        if (folder / file).is_file():
            return folder / file
    raise InputError(f"the folder has no {noun}", where=str(folder), hint=f"Looked for: {', '.join(files)}.")


def is_records(source: Any) -> bool:
    """Whether records can be read from a source: a file, a data frame, a list or an iterator."""
    if isinstance(source, str | os.PathLike) or hasattr(source, "read") or is_frame(source):
        return True
    return isinstance(source, Iterable) and not isinstance(source, bytes | type)
