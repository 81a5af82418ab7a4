"""Pairs of a retrieved text and a reference that somebody has labelled as a match or not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from goldrank import ids
from goldrank.errors import InputError, OptionError, one_of
from goldrank.io import _is_file, parts
from goldrank.io.fields import Found
from goldrank.io.records import _of_columns, as_mapping, open_records
from goldrank.io.sources import open_source

NAMES = {
    "retrieved": ("retrieved", "retrieved_text", "text", "context", "chunk", "passage", "candidate"),
    "reference": ("reference", "reference_text", "ref", "gold", "expected"),
    "label": ("label", "match", "matches", "is_match", "relevant", "relevance"),
}
YES = frozenset(("true", "t", "yes", "y", "1", "1.0"))
NO = frozenset(("false", "f", "no", "n", "0", "0.0"))
HINT = "A pair has a retrieved text, a reference and a label: true or false."


class LabelledPair(NamedTuple):
    """A pair of texts, whether it is a match, and its place in the input."""

    retrieved: str
    reference: str
    label: bool
    where: str


def read_labels(
    data: Any, *, fields: Mapping[str, str] | None = None, format: str | None = None
) -> tuple[list[LabelledPair], list[str]]:
    """The labelled pairs of a file, a frame or a list of dicts or tuples, and what was noticed on the way.

    >>> read_labels([{"retrieved": "a", "reference": "b", "label": "no"}])[0]
    [LabelledPair(retrieved='a', reference='b', label=False, where='labels[0]')]
    """
    names = _Names(fields)
    if isinstance(data, list | tuple):
        data = [dict(zip(NAMES, row, strict=True)) if _is_triple(row) else row for row in data]
    if _is_file(data) and parts.find(data) is None:
        data = open_source(data)
        if not data.head.strip():
            raise InputError("there are no labelled pairs: the file is empty", where=data.name, hint=HINT)
    if isinstance(data, Mapping) and not isinstance(next(iter(data.values()), None), str):
        records = _of_columns(data, "labels")
    else:
        records = open_records(data, names, format)  # type: ignore[arg-type]
    counts: Counter[str] = Counter()
    pairs = []
    for number, record in records.rows(counts):
        where = records.place(number)
        if isinstance(data, list) and where.startswith("items["):
            where = f"labels[{number}]"
        found = names.find(as_mapping(record, where), where)
        for name in NAMES:
            if name not in found:
                listed = ", ".join(ids.show(str(key)) for key in list(record)[:20])
                hint = f"Say which field it is: fields={{'{name}': ...}}, or --map {name}=... on the command line."
                raise InputError(f"there is no {name}; fields are: {listed}", where=where, hint=hint)
        texts = [_text(found[name].value, name, where) for name in ("retrieved", "reference")]
        pairs.append(LabelledPair(texts[0], texts[1], _label(found["label"].value, where), where))
    if not pairs:
        raise InputError("there are no labelled pairs", where=records.name, hint=HINT)
    return pairs, [*records.notes, *_notes(pairs, counts)]


def _notes(pairs: list[LabelledPair], counts: Counter[str]) -> list[str]:
    notes = []
    empty = sum(not pair.retrieved.strip() or not pair.reference.strip() for pair in pairs)
    if empty:
        notes.append(f"{_many(empty)} an empty text; that is no match for any matcher")
    labels: dict[tuple[str, str], set[bool]] = {}
    for pair in pairs:
        labels.setdefault((pair.retrieved, pair.reference), set()).add(pair.label)
    both = sum(len(found) > 1 for found in labels.values())
    if both:
        notes.append(f"{_many(both)} both labels; no matcher can agree with that")
    if len(labels) < len(pairs):
        notes.append(f"{_many(len(pairs) - len(labels))} been listed before; each counts")
    if counts["blank_lines"]:
        notes.append(f"empty lines: {counts['blank_lines']:,}")
    if counts["not_utf8"]:
        notes.append(f"lines with bytes that are not UTF-8: {counts['not_utf8']:,}")
    return notes


def _many(number: int) -> str:
    return "1 pair has" if number == 1 else f"{number:,} pairs have"


class _Names:
    """Finds the three fields of a record: by the names given, else by the known ones."""

    def __init__(self, given: Mapping[str, str] | None) -> None:
        self.given = dict(given or {})
        for name, path in self.given.items():
            one_of(name, NAMES, "the name of a field")
            if not isinstance(path, str) or not path.strip("."):
                raise OptionError(f"the field of {name} is {path!r}", hint="For example {'label': 'human'}.")

    def wants(self, column: str) -> bool:
        """Whether a column of a table can be of use."""
        roots = {path.split(".")[0] for path in self.given.values()} | set(self.given.values())
        return column in roots or any(column.casefold() in known for known in NAMES.values())

    def find(self, record: Mapping[str, Any], where: str) -> dict[str, Found]:
        """The fields that are there."""
        folded = {key.casefold(): key for key in record if isinstance(key, str)}
        found = {}
        for name, known in NAMES.items():
            if name in self.given:
                found[name] = Found(_at(record, self.given[name], where), self.given[name])
                continue
            there = [folded[one] for one in known if one in folded]
            if len(there) > 1 and there[0].casefold() != name:
                listed = ", ".join(map(ids.show, there))
                raise InputError(f"more than one field may be the {name}: {listed}", where=where, hint=HINT)
            if there:
                found[name] = Found(record[there[0]], there[0])
        return found


def _at(record: Mapping[str, Any], path: str, where: str) -> Any:
    if path in record:
        return record[path]
    value: Any = record
    for step in path.split("."):
        if not isinstance(value, Mapping) or step not in value:
            listed = ", ".join(ids.show(str(key)) for key in list(record)[:20])
            raise InputError(f"there is no field '{ids.show(path)}'; fields are: {listed}", where=where)
        value = value[step]
    return value


def _is_triple(row: Any) -> bool:
    return isinstance(row, tuple | list) and not hasattr(row, "_asdict") and len(row) == len(NAMES)


def _text(value: Any, name: str, where: str) -> str:
    if isinstance(value, str):
        return value
    kind = "missing" if value is None or value != value else f"of type {type(value).__name__}"
    raise InputError(f"the {name} is {kind}; it must be text", where=where)


def _label(value: Any, where: str) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str) and value.strip().casefold() in YES | NO:
        return value.strip().casefold() in YES
    if isinstance(value, Real) and float(value) in (0.0, 1.0):
        return float(value) == 1.0
    missing = value is None or (isinstance(value, str) and not value.strip())
    missing = missing or (isinstance(value, Real) and math.isnan(float(value)))
    what = "the label is missing" if missing else f"the label is {ids.show(repr(value))}"
    raise InputError(what, where=where, hint="A label is true or false, yes or no, 1 or 0. Leave out unlabelled pairs.")
