"""Records, one per question, from files, frames and objects: read again and again, and piece by piece from files.

`RecordFields` finds which field holds what: by the names that tools use (`aliases`), or a user's own dotted paths.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, Sequence
from dataclasses import dataclass
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
    """Records with their numbers, whenever asked for anew; `place` turns a number into words for messages."""

    name: str
    label: str
    rows: Rows
    """Takes a counter, which gets codes of notes on what was tolerated."""
    place: Callable[[int], str]
    digest: Callable[[], str] | None = None
    """SHA-256 of the file; None for objects."""
    notes: Sequence[Note] = ()
    cells: bool = False
    """Whether values are cells of a text file, where a list is written in JSON."""

    @classmethod
    def of_source(
        cls, source: ByteSource, rows: Rows, *, place: Callable[[int], str] | None = None, cells: bool = False
    ) -> Records:
        """The records of a file; without `place` they are numbered by lines."""
        place = place or (lambda number: str(Position(source.name, number)))
        return cls(source.name, source.label, rows, place, source.digest, source.notes, cells)


def open_records(data: Any, fields: RecordFields, format: str | None = None, *, name: str = "items") -> Records:
    """Records from a path, a stream, a data frame, a dict of columns, one record, or an iterable of records.

    `name` is what to call data that have no name of their own.
    """
    if format is not None:
        formats.chosen(format, "records")
    if is_file(data):
        files = open_files(data, "records", format, lambda header: any(map(fields.wants, header)))
        records: list[Records] = files.read("records", formats.Reading(fields=fields))
        if files.several:
            return _joined(records, files)
        return records[0]
    given_name = getattr(data, "name", None)
    name = given_name if isinstance(given_name, str) else name
    if isinstance(data, Mapping):
        return of_mapping(data, fields, name)
    if isinstance(data, TextItem):
        data = [data]
    if hasattr(data, "itertuples") and hasattr(data, "columns"):  # pandas: its objects are taken as they are
        return of_columns({str(column): data[column] for column in data.columns}, name)
    if is_frame(data):
        from goldrank.io.tables import frames
        from goldrank.io.tables import polars_tables as tables

        table = tables.InputTable(frames.to_lazy(data, name), name=name)
        return tables.read_records(table, formats.Reading("frame", fields=fields))
    # Records without ids are known by their numbers. Views of a dict keep the order in which it was filled.
    unordered = ids.has_no_order(data) and not isinstance(data, MappingView)
    if isinstance(data, bytes) or unordered or not isinstance(data, Iterable):
        hint = "Give a path, a list of dicts, a dict of columns or a data frame."
        raise InputError(f"{type(data).__name__} cannot be read as {name}", hint=hint, code="unreadable-object")
    entries = list(data) if isinstance(data, Iterator) else data
    return Records(name, name, lambda counts: enumerate(entries), lambda number: f"{name}[{number}]")


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
    place = f"{name}[0]" if line is None else str(Position(name, line))
    return Records(name, name, lambda counts: iter([(0, data)]), lambda number: place)


def of_columns(data: Mapping[Any, Any], name: str) -> Records:
    """Records from a dict of columns."""
    for key, values in data.items():
        if not _is_column(values):
            raise InputError(f"column '{ids.show(str(key))}' is {ids.show(repr(values), 60)}, not a list", where=name)
    columns = {key: list(values) for key, values in data.items()}
    if len({len(values) for values in columns.values()}) > 1:
        listed = ", ".join(f"{ids.show(str(key))} has {len(values):,}" for key, values in columns.items())
        raise InputError(f"columns are not equally long: {listed}", where=name)

    def rows(counts: Counter[str]) -> Iterator[tuple[int, Any]]:
        return enumerate(dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))

    return Records(name, name, rows, lambda number: f"{name}: row {number + 1}")


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and hasattr(value, "__iter__") and not isinstance(value, str | bytes | Mapping)


def _is_column_of_lists(value: Any) -> bool:
    first = next((cell for cell in value if cell is not None), None) if _is_column(value) else None
    return first is not None and _is_column(first) and not isinstance(first, tuple)


def is_list_of_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def _joined(files: list[Records], whole: InputFiles) -> Records:
    """The records of several files, one after the other."""

    def rows(counts: Counter[str]) -> Iterator[tuple[int, Any]]:
        for i, file in enumerate(files):
            for number, record in file.rows(counts):
                yield number * len(files) + i, record

    def place(number: int) -> str:
        return files[number % len(files)].place(number // len(files))

    def digest() -> str:
        return hashlib.sha256("".join(file.digest() for file in files if file.digest).encode()).hexdigest()

    notes = [note for file in files for note in file.notes]
    return Records(whole.name, whole.label, rows, place, digest, notes, files[0].cells)


NOUNS = {
    "query": "query's id",
    "retrieved": "retrieved texts",
    "retrieved_ids": "retrieved ids",
    "expected_ids": "expected ids",
}
"""What to call a field in messages, where that is not its name."""
_LISTS = ("retrieved", "references", "retrieved_ids", "expected_ids")
_MUST_BE_ONE = ("retrieved", "references", "evidence", "retrieved_ids", "expected_ids")
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


class FieldValue(NamedTuple):
    """The value of a field and its place in the record."""

    value: Any
    path: str


class RecordFields:
    """Fields that a user names by dotted paths, `given`, and all names that are `known` otherwise.

    With `refusal`, a hint, it is an error if several fields may be one thing, unless one has its very name.
    """

    def __init__(
        self, given: Mapping[str, str | None] | None, known: Mapping[str, Groups], refusal: str | None = None
    ) -> None:
        if given is not None and not isinstance(given, Mapping):
            hint = 'For example fields={"retrieved": "outputs.docs"}.'
            raise OptionError(f"fields is {shown(given)}, not a dict", hint=hint)

        self.given: dict[str, str | None] = {}
        for role, path in (given or {}).items():
            one_of(role, known, "the name of a field")
            if path is not None and (not isinstance(path, str) or not path.strip(".")):
                hint = 'A path is text, for example "outputs.docs"; None for none.'
                raise OptionError(f"the path of {role} is {path!r}", hint=hint)
            self.given[role] = path

        paths = [path for path in self.given.values() if path is not None]
        self._roots = {path.split(".")[0] for path in paths} | set(paths)
        self._roles, self._refusal = known, refusal
        self._known = {name for groups in known.values() for group in groups for name in group}
        self._keys_by_role = OncePerShape(self._find_keys)

    def normal(self, name: str) -> str:
        """A name as `aliases` has it."""
        return name.casefold()

    def wants(self, column: str) -> bool:
        """Whether a column of a table can be of use."""
        return column in self._roots or self.normal(column) in self._known

    def find(self, record: Mapping[str, Any], where: str) -> dict[str, FieldValue]:
        """What the record holds, by goldrank's names; of several fields the one that is known first."""
        fields = self.find_given(record, where)
        for role, keys in self._keys_by_role(tuple(record)).items():
            if self._refusal and len(keys) > 1 and self.normal(keys[0]) != role:
                listed = ", ".join(map(ids.show, keys))
                raise InputError(f"more than one field may be the {role}: {listed}", where=where, hint=self._refusal)
            fields[role] = FieldValue(record[keys[0]], keys[0])
        return fields

    def _find_keys(self, keys: tuple[Any, ...]) -> dict[str, list[str]]:
        """Which of the keys of a record may hold what; the one that is known first comes first."""
        by_name = {self.normal(key): key for key in keys if isinstance(key, str)}
        by_role = {}
        for role, groups in self._roles.items():
            found = [by_name[name] for group in groups for name in group if name in by_name]
            if found and role not in self.given:
                by_role[role] = found
        return by_role

    def find_given(self, record: Mapping[str, Any], where: str) -> dict[str, FieldValue]:
        """The fields that the user named."""
        return {role: _at(role, path, record, where) for role, path in self.given.items() if path is not None}


def fields_of(record: Mapping[Any, Any]) -> str:
    """The fields of a record for a message."""
    return ", ".join(map(ids.show, list(_paths(record))[:30])) or "none"


def _at(role: str, path: str, record: Mapping[str, Any], where: str) -> FieldValue:
    keys: Path = (path,) if path in record else tuple(path.split("."))
    value = at_path(record, keys)
    if value is MISSING:
        what = f"has no field '{ids.show(path)}' for the {NOUNS.get(role, role)}; fields are: {fields_of(record)}"
        raise InputError(what, where=where, hint=did_you_mean(path, _paths(record)))
    return FieldValue(value, "$" + "".join(map(step, keys)))


def says_places(evidence: Any) -> bool:
    """Whether a value is evidence that says where it stands, or what is quoted; bare texts say neither."""
    if absent(evidence) or isinstance(evidence, str):
        return False
    if isinstance(evidence, Mapping) or not isinstance(evidence, Iterable):
        return True
    return any(not isinstance(piece, str) for piece in evidence)


class _KeyPaths(NamedTuple):
    """Where to look in records that have certain keys."""

    sure: list[tuple[str, str, str]]
    """What, its only key, and that as a path."""
    open: list[tuple[str, list[list[Path]]]]
    """What, and groups of paths among which the values decide."""


class ItemFields(RecordFields):
    """Finds the fields of questions with texts. None in `given` says that there is no such field."""

    def __init__(self, given: Mapping[str, str | None] | None = None) -> None:
        super().__init__(given, ITEM_FIELDS)
        self._known |= {"context", "inputs", "retrieval_error", *DEEPEVAL_FIELDS}
        self.notes: dict[Note, None] = {}
        """What was chosen where there was a choice, each once."""
        self._plans = OncePerShape(self._plan)

    def normal(self, name: str) -> str:
        """retrievalContext as retrieval_context."""
        return _HUMP.sub(lambda hump: "_" + hump[1].lower(), name)

    def find(self, record: Mapping[str, Any], where: str) -> dict[str, FieldValue]:
        plan = self._plans(tuple(record))
        fields = {role: FieldValue(record[key], path) for role, key, path in plan.sure}
        for role, groups in plan.open:
            choices = (self._choose(role, group, record, where) for group in groups)
            if chosen := next(filter(None, choices), None):
                fields[role] = chosen

        fields |= self.find_given(record, where)
        self._take_answers(fields)
        question = fields.get("question")
        # `query` is an id beside a question; alone it is the question and, for want of another, its id.
        if "query" not in self.given and isinstance(record.get("query"), str | int):
            is_question = question is not None and question.path == "$.query"
            if not (is_question and "query" in fields):
                if "query" in fields and not is_question:
                    self.notes[Note.of("query-field", other=fields["query"].path[2:])] = None
                fields["query"] = FieldValue(record["query"], "$.query")

        return fields

    def missing(self, role: str, record: Mapping[str, Any], where: str) -> InputError:
        """The error for a field that is needed and not there."""
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
        path, quoted = (inner[0], f"'{inner[0]}'") if inner else ("...", "...")
        hints.append(
            f"Say which field it is: fields={{'{role}': {quoted}}}, or --map {role}={path} on the command line."
        )
        what = f"no {NOUNS.get(role, role)} found; fields are: {fields_of(record)}"
        return InputError(what, where=where, hint=" ".join(hints))

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
        """An answer stands for references that are not given, unless there is evidence: it then serves claims alone."""
        if "references" not in fields or "references" in self.given:
            return
        key = fields["references"].path.removeprefix("$.")
        if self.normal(key) not in ANSWERS:
            return

        if "evidence" in fields and says_places(fields["evidence"].value):
            del fields["references"]
        else:
            self.notes[Note.of("answers-as-references", field=key)] = None

    def _candidates(self, role: str, keys: tuple[Any, ...]) -> list[list[Path]]:
        if role in self.given:
            return []

        by_name: dict[str, list[str]] = {}
        for key in keys:
            if isinstance(key, str):
                by_name.setdefault(self.normal(key), []).append(key)

        groups: list[list[Path]] = [
            [(key,) for name in group for key in by_name.get(name, ())] for group in ITEM_FIELDS[role]
        ]
        if role == "references" and "context" in by_name and by_name.keys() & set(DEEPEVAL_FIELDS):
            groups[0] += [(key,) for key in by_name["context"]]

        if role == "question" and "inputs" in by_name:
            groups.append([("inputs", name) for name in LANGSMITH_QUESTIONS])

        return [group for group in groups if group]

    def _choose(self, role: str, group: list[Path], record: Mapping[str, Any], where: str) -> FieldValue | None:
        candidates = [(path, value) for path in group if (value := at_path(record, path)) is not MISSING]
        if len(candidates) > 1:
            candidates = [(path, value) for path, value in candidates if value is not None] or candidates[:1]

        if not candidates:
            return None

        path, value = candidates[0]
        if len(candidates) > 1:
            shown = " and ".join(f"'{'.'.join(other)}'" for other, _ in candidates)
            if role in _MUST_BE_ONE:
                dotted = ".".join(path)
                hint = f"Say which: fields={{'{role}': '{dotted}'}}, or --map {role}={dotted} on the command line."
                raise InputError(f"{shown} may both be the {NOUNS.get(role, role)}", where=where, hint=hint)
            self.notes[Note.of("field-choice", fields=shown, role=NOUNS.get(role, role))] = None

        return FieldValue(value, "$" + "".join(map(step, path)))


def _paths(record: Mapping[Any, Any], before: str = "", depth: int = 3) -> Iterator[str]:
    """The fields of a record, those of objects in it by dotted paths."""
    for key, value in record.items():
        if isinstance(value, Mapping) and value and depth > 1:
            yield from _paths(value, f"{before}{key}.", depth - 1)
        else:
            yield f"{before}{key}"


def attributes_of(record: Mapping[str, Any], fields: ItemFields) -> dict[str, Any]:
    """What a record says of its question beside what is measured: single values, those of its metadata too."""
    metadata = record.get("metadata")
    given = {**metadata, **record} if isinstance(metadata, Mapping) else record
    attributes = {
        name: value
        for name, value in given.items()
        if isinstance(name, str) and not fields.wants(name) and isinstance(value, str | int | float)
    }
    if not _is_weight(attributes.get("weight", 1)):
        del attributes["weight"]
    return attributes


def _is_weight(value: object) -> bool:
    """Whether a value can say how much a question counts."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
