"""Records, one per question, from files, frames and objects. They can be read several times, files piece by piece.

`RecordFields` finds the roles of fields: by the names that tools use (`aliases`), or by a user's dotted paths.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, Position, did_you_mean, one_of
from goldrank.base.escaping import shown
from goldrank.base.notes import Note
from goldrank.data.text_item import TextItem
from goldrank.io import formats
from goldrank.io.aliases import (
    ANSWERS,
    DEEPEVAL_FIELDS,
    ITEM_FIELDS,
    LANGSMITH_QUESTIONS,
    RECORD_LISTS,
    Groups,
    OncePerShape,
)
from goldrank.io.files import InputFiles, is_file, is_frame, open_files
from goldrank.io.json.json_text import step
from goldrank.io.objects.field_values import HINT as HINT
from goldrank.io.objects.field_values import MISSING, Path, absent, at_path
from goldrank.io.objects.field_values import as_mapping as as_mapping
from goldrank.io.sources import ByteSource

Rows = Callable[[Counter[str]], Iterator[tuple[int, Any]]]


@dataclass(frozen=True)
class Records:
    """Records with their numbers, read anew by each call of `rows`; `position` describes a number in messages."""

    name: str
    label: str
    rows: Rows
    """Takes a counter, which gets the codes of notes on what was tolerated."""
    position: Callable[[int], str]
    digest: Callable[[], str] | None = None
    """SHA-256 of the file; None for objects."""
    notes: Sequence[Note] = ()
    cells: bool = False
    """Whether values are cells of a text file, in which a list is written in JSON."""

    @classmethod
    def of_source(
        cls, source: ByteSource, rows: Rows, *, position: Callable[[int], str] | None = None, cells: bool = False
    ) -> Records:
        """The records of a file; without `position` their numbers are those of lines."""
        if position is None:
            position = partial(_line_position, source.name)
        return cls(source.name, source.label, rows, position, source.digest, source.notes, cells)


def _line_position(file: str, line: int) -> str:
    return str(Position(file, line))


def open_records(data: Any, fields: RecordFields, format: str | None = None, *, name: str = "items") -> Records:
    """Records from a path, a stream, a data frame, a dict of columns, one record, or an iterable of records.

    `name` is the name of data that have no `name`.
    """
    if format is not None:
        formats.chosen(format, "records")
    if is_file(data) or isinstance(data, ByteSource):
        files = open_files(data, "records", format, lambda header: any(map(fields.wants, header)))
        records: list[Records] = files.read("records", formats.Reading(fields=fields))
        if files.several:
            return _joined(records, files)
        return records[0]

    data_name = getattr(data, "name", None)
    if isinstance(data_name, str):
        name = data_name
    if isinstance(data, Mapping):
        return of_mapping(data, fields, name)
    if isinstance(data, TextItem):
        data = [data]
    if hasattr(data, "itertuples") and hasattr(data, "columns"):  # pandas: its objects stay as they are
        return of_columns({str(column): data[column] for column in data.columns}, name)
    if is_frame(data):
        from goldrank.io.tables import frames
        from goldrank.io.tables import polars_tables as tables

        table = tables.InputTable(frames.to_lazy(data, name), name=name)
        return tables.read_records(table, formats.Reading("frame", fields=fields))

    # Records without ids get numbers, so their order matters. Views of a dict have the order of the dict.
    unordered = ids.has_no_order(data) and not isinstance(data, MappingView)
    if isinstance(data, bytes) or unordered or not isinstance(data, Iterable):
        hint = "Give a path, a list of dicts, a dict of columns or a data frame."
        raise InputError(f"{type(data).__name__} cannot be read as {name}", hint=hint, code="unreadable-object")

    if isinstance(data, Iterator):
        data = list(data)
    return Records(name, name, partial(_numbered, data), partial(_entry_position, name))


def _numbered(entries: Iterable[Any], counts: Counter[str]) -> Iterator[tuple[int, Any]]:
    return enumerate(entries)


def _entry_position(name: str, number: int) -> str:
    return f"{name}[{number}]"


def of_mapping(data: Mapping[Any, Any], fields: RecordFields, name: str, line: int | None = None) -> Records:
    """One record, a dict of columns, or an object with a list of records in it."""
    if not data:
        raise InputError("no items", where=name, hint="Is it the right file, and is it complete?", code="empty-input")

    values = fields.find(data, name)
    key = next((key for key in RECORD_LISTS if is_list_of_records(data.get(key))), None)
    if key is not None and not set(_LISTS) & values.keys():
        return Records(name, name, lambda counts: enumerate(data[key]), lambda number: f"{name}: $.{key}[{number}]")

    words = [values[role].value for role in ("question", "query") if role in values]
    texts = next((values[role].value for role in _LISTS if role in values), None)
    if any(_is_column(word) for word in words) or (not words and _is_column_of_lists(texts)):
        return of_columns(data, name)

    position = f"{name}[0]"
    if line is not None:
        position = _line_position(name, line)
    return Records(name, name, lambda counts: iter([(0, data)]), lambda number: position)


def of_columns(data: Mapping[Any, Any], name: str) -> Records:
    """Records from a dict of columns."""
    for key, values in data.items():
        if not _is_column(values):
            raise InputError(f"column '{ids.show(str(key))}' is {ids.show(repr(values), 60)}, not a list", where=name)

    columns = {key: list(values) for key, values in data.items()}
    if len(set(map(len, columns.values()))) > 1:
        listed = ", ".join(f"{ids.show(str(key))} has {len(values):,}" for key, values in columns.items())
        raise InputError(f"columns are not equally long: {listed}", where=name)

    def rows(counts: Counter[str]) -> Iterator[tuple[int, Any]]:
        cells = zip(*columns.values(), strict=True)
        return enumerate(dict(zip(columns, row, strict=True)) for row in cells)

    return Records(name, name, rows, lambda number: f"{name}: row {number + 1}")


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and hasattr(value, "__iter__") and not isinstance(value, str | bytes | Mapping)


def _is_column_of_lists(value: Any) -> bool:
    if not _is_column(value):
        return False
    first = next((cell for cell in value if cell is not None), None)
    return first is not None and _is_column(first) and not isinstance(first, tuple)


def is_list_of_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def _joined(files: list[Records], opened: InputFiles) -> Records:
    """The records of several files, one after the other."""

    def rows(counts: Counter[str]) -> Iterator[tuple[int, Any]]:
        for i, file in enumerate(files):
            for number, record in file.rows(counts):
                yield number * len(files) + i, record

    def position(number: int) -> str:
        return files[number % len(files)].position(number // len(files))

    def digest() -> str:
        return hashlib.sha256("".join(file.digest() for file in files if file.digest).encode()).hexdigest()

    notes = [note for file in files for note in file.notes]
    return Records(opened.name, opened.label, rows, position, digest, notes, files[0].cells)


NOUNS = {
    "query": "query's id",
    "retrieved": "retrieved texts",
    "retrieved_ids": "retrieved ids",
    "expected_ids": "expected ids",
}
"""Names of roles in messages, where they differ from the role."""
_LISTS = ("retrieved", "references", "retrieved_ids", "expected_ids")
_MUST_BE_ONE = ("retrieved", "references", "evidence", "retrieved_ids", "expected_ids")
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


class FieldValue(NamedTuple):
    """The value of a field and its path in the record."""

    value: Any
    path: str


class RecordFields:
    """Finds the fields of records: by a user's dotted `paths`, else by the `known` names of each role.

    With `refusal`, a hint, it is an error if several fields may have one role, unless the first has the role's name.
    """

    def __init__(
        self, paths: Mapping[str, str | None] | None, known: Mapping[str, Groups], refusal: str | None = None
    ) -> None:
        if paths is not None and not isinstance(paths, Mapping):
            hint = 'For example fields={"retrieved": "outputs.docs"}.'
            raise OptionError(f"fields is {shown(paths)}, not a dict", hint=hint)

        self.path_of: dict[str, str | None] = {}
        """The user's path of a role; None if there is no such field."""
        for role, path in (paths or {}).items():
            one_of(role, known, "the name of a field")
            if path is not None and (not isinstance(path, str) or not path.strip(".")):
                hint = 'A path is text, for example "outputs.docs"; None for none.'
                raise OptionError(f"the path of {role} is {path!r}", hint=hint)
            self.path_of[role] = path

        named_paths = [path for path in self.path_of.values() if path is not None]
        self._roots = {path.split(".")[0] for path in named_paths} | set(named_paths)
        self._roles = known
        self._refusal = refusal
        self._known = {name for groups in known.values() for group in groups for name in group}
        self._keys_by_role = OncePerShape(self._find_keys)

    def normal(self, name: str) -> str:
        """A name in the spelling of `aliases`."""
        return name.casefold()

    def wants(self, column: str) -> bool:
        """Whether a column of a table may have a role."""
        return column in self._roots or self.normal(column) in self._known

    def find(self, record: Mapping[str, Any], where: str) -> dict[str, FieldValue]:
        """The values of a record by role; of several fields for a role, the one known first."""
        fields = self.find_named(record, where)
        for role, keys in self._keys_by_role(tuple(record)).items():
            if self._refusal and len(keys) > 1 and self.normal(keys[0]) != role:
                listed = ", ".join(map(ids.show, keys))
                raise InputError(f"more than one field may be the {role}: {listed}", where=where, hint=self._refusal)
            fields[role] = FieldValue(record[keys[0]], keys[0])
        return fields

    def _find_keys(self, keys: tuple[Any, ...]) -> dict[str, list[str]]:
        """For each role the keys of a record that may have it; the key known first comes first."""
        by_name = {self.normal(key): key for key in keys if isinstance(key, str)}
        by_role = {}
        for role, groups in self._roles.items():
            candidates = [by_name[name] for group in groups for name in group if name in by_name]
            if candidates and role not in self.path_of:
                by_role[role] = candidates
        return by_role

    def find_named(self, record: Mapping[str, Any], where: str) -> dict[str, FieldValue]:
        """The fields that the user named."""
        return {role: _value_at(role, path, record, where) for role, path in self.path_of.items() if path is not None}


def fields_of(record: Mapping[Any, Any]) -> str:
    """The fields of a record for a message."""
    return ", ".join(map(ids.show, list(_paths(record))[:30])) or "none"


def _value_at(role: str, path: str, record: Mapping[str, Any], where: str) -> FieldValue:
    keys: Path = tuple(path.split("."))
    if path in record:
        keys = (path,)
    value = at_path(record, keys)
    if value is MISSING:
        problem = f"has no field '{ids.show(path)}' for the {NOUNS.get(role, role)}; fields are: {fields_of(record)}"
        raise InputError(problem, where=where, hint=did_you_mean(path, _paths(record)))
    return FieldValue(value, "$" + "".join(map(step, keys)))


def says_places(evidence: Any) -> bool:
    """Whether evidence has a position or a quotation; plain texts have neither."""
    if absent(evidence) or isinstance(evidence, str):
        return False
    if isinstance(evidence, Mapping) or not isinstance(evidence, Iterable):
        return True
    return any(not isinstance(piece, str) for piece in evidence)


class _KeyPaths(NamedTuple):
    """The paths of roles in records with certain keys."""

    sure: list[tuple[str, str, str]]
    """A role, its only key, and the key as a path."""
    open: list[tuple[str, list[list[Path]]]]
    """A role, and groups of paths among which the values decide."""


class ItemFields(RecordFields):
    """Finds the fields of questions with texts. A path that is None means that there is no such field."""

    def __init__(self, paths: Mapping[str, str | None] | None = None) -> None:
        super().__init__(paths, ITEM_FIELDS)
        self._known |= {"context", "inputs", "retrieval_error", *DEEPEVAL_FIELDS}
        self.notes: dict[Note, None] = {}
        """Notes on choices among several fields, each once."""
        self._plans = OncePerShape(self._plan)

    def normal(self, name: str) -> str:
        """A name with underscores: retrieval_context for retrievalContext."""
        return _HUMP.sub(lambda hump: "_" + hump[1].lower(), name)

    def find(self, record: Mapping[str, Any], where: str) -> dict[str, FieldValue]:
        plan = self._plans(tuple(record))
        fields = {role: FieldValue(record[key], path) for role, key, path in plan.sure}
        for role, groups in plan.open:
            choices = (self._choose(role, group, record, where) for group in groups)
            chosen = next(filter(None, choices), None)
            if chosen is not None:
                fields[role] = chosen

        fields |= self.find_named(record, where)
        self._take_answers(fields)
        self._take_query(fields, record)
        return fields

    def _take_query(self, fields: dict[str, FieldValue], record: Mapping[str, Any]) -> None:
        """Decide what `query` is: an id in a record with a question; else the question, and the id if there is none."""
        if "query" in self.path_of or not isinstance(record.get("query"), str | int):
            return
        question = fields.get("question")
        is_question = question is not None and question.path == "$.query"
        if "query" in fields:
            if is_question:
                return
            self.notes[Note.of("query-field", other=fields["query"].path[2:])] = None
        fields["query"] = FieldValue(record["query"], "$.query")

    def missing(self, role: str, record: Mapping[str, Any], where: str) -> InputError:
        """The error for a needed field that a record does not have."""
        import difflib

        present = list(_paths(record))
        hints = []
        known = [name for group in ITEM_FIELDS[role] for name in group]
        inner = [name for name in present if "." in name and self.normal(name.rpartition(".")[2]) in known]
        for name in present:
            near = difflib.get_close_matches(self.normal(name.rpartition(".")[2]), known, n=1, cutoff=0.8)
            if near and near[0] != self.normal(name) and name not in inner:
                hints.append(f"Is '{ids.show(name)}' meant to be {near[0]}?")
                break

        if role == "retrieved" and {self.normal(name) for name in present} & set(ITEM_FIELDS["retrieved_ids"][0]):
            hints.append(
                "Ids are evaluated beside expected_ids, without references; or by goldrank.evaluate(qrels, run)."
            )
        if role == "references" and "context" in present:
            hints.append("Is 'context' what was retrieved or what should have been?")

        path, quoted = "...", "..."
        likely = inner or self._unknown_lists(record)
        if len(likely) == 1 or inner:
            path, quoted = likely[0], f"'{likely[0]}'"
        hints.append(
            f"Say which field it is: fields={{'{role}': {quoted}}}, or --map {role}={path} on the command line."
        )
        problem = f"no {NOUNS.get(role, role)} found; fields are: {fields_of(record)}"
        return InputError(problem, where=where, hint=" ".join(hints))

    def _unknown_lists(self, record: Mapping[str, Any]) -> list[str]:
        """The fields with a list that have no role."""
        lists = [str(name) for name, value in record.items() if isinstance(value, list)]
        return [name for name in lists if not self.wants(name)]

    def _plan(self, keys: tuple[Any, ...]) -> _KeyPaths:
        plan = _KeyPaths([], [])
        for role in ITEM_FIELDS:
            groups = self._candidates(role, keys)
            if groups and len(groups[0]) == 1 and len(groups[0][0]) == 1:
                key = groups[0][0][0]
                plan.sure.append((role, key, "$" + step(key)))
            elif groups:
                plan.open.append((role, groups))
        return plan

    def _take_answers(self, fields: dict[str, FieldValue]) -> None:
        """Use an answer as reference if there is no reference and no evidence; with evidence it is for claims only."""
        if "references" not in fields or "references" in self.path_of:
            return
        key = fields["references"].path.removeprefix("$.")
        if self.normal(key) not in ANSWERS:
            return

        if "evidence" in fields and says_places(fields["evidence"].value):
            del fields["references"]
        else:
            self.notes[Note.of("answers-as-references", field=key)] = None

    def _candidates(self, role: str, keys: tuple[Any, ...]) -> list[list[Path]]:
        if role in self.path_of:
            return []

        by_name: dict[str, list[str]] = {}
        for key in keys:
            if isinstance(key, str):
                by_name.setdefault(self.normal(key), []).append(key)

        groups: list[list[Path]] = []
        for group in ITEM_FIELDS[role]:
            groups.append([(key,) for name in group for key in by_name.get(name, ())])
        if role == "references" and "context" in by_name and by_name.keys() & set(DEEPEVAL_FIELDS):
            groups[0] += [(key,) for key in by_name["context"]]

        if role == "question" and "inputs" in by_name:
            groups.append([("inputs", name) for name in LANGSMITH_QUESTIONS])

        return [group for group in groups if group]

    def _choose(self, role: str, group: list[Path], record: Mapping[str, Any], where: str) -> FieldValue | None:
        values = {path: at_path(record, path) for path in group}
        candidates = [path for path in group if values[path] is not MISSING]
        if len(candidates) > 1:
            candidates = [path for path in candidates if values[path] is not None] or candidates[:1]
        if not candidates:
            return None

        path = candidates[0]
        value = values[path]
        if len(candidates) > 1:
            names = " and ".join(f"'{'.'.join(candidate)}'" for candidate in candidates)
            if role in _MUST_BE_ONE:
                dotted = ".".join(path)
                hint = f"Say which: fields={{'{role}': '{dotted}'}}, or --map {role}={dotted} on the command line."
                raise InputError(f"{names} may both be the {NOUNS.get(role, role)}", where=where, hint=hint)
            self.notes[Note.of("field-choice", fields=names, role=NOUNS.get(role, role))] = None

        return FieldValue(value, "$" + "".join(map(step, path)))


def _paths(record: Mapping[Any, Any], before: str = "", depth: int = 3) -> Iterator[str]:
    """The fields of a record; fields of inner objects as dotted paths."""
    for key, value in record.items():
        if isinstance(value, Mapping) and value and depth > 1:
            yield from _paths(value, f"{before}{key}.", depth - 1)
        else:
            yield f"{before}{key}"


def attributes_of(record: Mapping[str, Any], fields: ItemFields) -> dict[str, Any]:
    """Attributes of a question: single values of its record and of its metadata that have no other role."""
    values: Mapping[Any, Any] = record
    metadata = record.get("metadata")
    if isinstance(metadata, Mapping):
        values = {**metadata, **record}

    attributes = {}
    for name, value in values.items():
        if isinstance(name, str) and not fields.wants(name) and isinstance(value, str | int | float):
            attributes[name] = value
    if not _is_weight(attributes.get("weight", 1)):
        del attributes["weight"]
    return attributes


def _is_weight(value: object) -> bool:
    """Whether a value can be the weight of a question."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
