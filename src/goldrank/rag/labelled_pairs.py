"""Pairs of a retrieved text and a reference with a label: a match or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.base.notes import Note, from_counts
from goldrank.io.aliases import PAIR_FIELDS
from goldrank.io.objects.field_values import absent
from goldrank.io.records import RecordFields, as_mapping, fields_of, of_columns, open_records

YES = frozenset(("true", "t", "yes", "y", "1", "1.0"))
NO = frozenset(("false", "f", "no", "n", "0", "0.0"))
HINT = "A pair has a retrieved text, a reference and a label: true or false."


class LabelledPair(NamedTuple):
    """A pair of texts, whether it is a match, and its position in the input."""

    retrieved: str
    reference: str
    label: bool
    where: str


def read_labels(
    data: Any, *, fields: Mapping[str, str] | None = None, format: str | None = None
) -> tuple[list[LabelledPair], tuple[Note, ...]]:
    """The labelled pairs of a file, a frame or a list of dicts or tuples, and notes of reading them.

    >>> read_labels([{"retrieved": "a", "reference": "b", "label": "no"}])[0]
    [LabelledPair(retrieved='a', reference='b', label=False, where='labels[0]')]
    """
    finder = RecordFields(fields, {role: (known,) for role, known in PAIR_FIELDS.items()}, HINT)
    if isinstance(data, list | tuple):
        data = list(map(_as_record, data))
    if isinstance(data, Mapping) and not isinstance(next(iter(data.values()), None), str):
        records = of_columns(data, "labels")
    else:
        records = open_records(data, finder, format, name="labels")
    counts: Counter[str] = Counter()
    pairs = []
    for number, row in records.rows(counts):
        where = records.position(number)
        record = as_mapping(row, where)
        values = finder.find(record, where)
        missing = next((role for role in PAIR_FIELDS if role not in values), None)
        if missing is not None:
            hint = f"Say which field it is: fields={{'{missing}': ...}}, or --map {missing}=... on the command line."
            raise InputError(f"there is no {missing}; fields are: {fields_of(record)}", where=where, hint=hint)
        retrieved = _text(values["retrieved"].value, "retrieved", where)
        reference = _text(values["reference"].value, "reference", where)
        pairs.append(LabelledPair(retrieved, reference, _label(values["label"].value, where), where))
    if not pairs:
        raise InputError("there are no labelled pairs", where=records.name, hint=HINT, code="empty-input")

    labels: dict[tuple[str, str], set[bool]] = {}
    empty = 0
    for pair in pairs:
        labels.setdefault((pair.retrieved, pair.reference), set()).add(pair.label)
        empty += not pair.retrieved.strip() or not pair.reference.strip()
    oddities = {
        "empty-labelled": empty,
        "both-labels": sum(len(pair_labels) > 1 for pair_labels in labels.values()),
        "repeated-pairs": len(pairs) - len(labels),
    }
    return pairs, (*records.notes, *from_counts(oddities | counts))


def _as_record(row: Any) -> Any:
    """A tuple of retrieved text, reference and label as a dict; anything else as it is."""
    is_plain = isinstance(row, tuple | list) and not hasattr(row, "_asdict")
    if is_plain and len(row) == len(PAIR_FIELDS):
        return dict(zip(PAIR_FIELDS, row, strict=True))
    return row


def _text(value: Any, name: str, where: str) -> str:
    if isinstance(value, str):
        return value
    if absent(value):
        kind = "missing"
    else:
        kind = f"of type {type(value).__name__}"
    raise InputError(f"the {name} is {kind}; it must be text", where=where)


def _label(value: Any, where: str) -> bool:
    if isinstance(value, str):
        word = value.strip().casefold()
    else:
        word = value

    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(word, str) and word in YES | NO:
        return word in YES
    if isinstance(value, Real) and float(value) in (0.0, 1.0):
        return float(value) == 1.0

    is_blank = isinstance(word, str) and not word
    is_nan = isinstance(value, Real) and value != value
    message = f"the label is {ids.show(repr(value))}"
    if absent(value) or is_blank or is_nan:
        message = "the label is missing"
    hint = "A label is true or false, yes or no, 1 or 0. Leave out unlabelled pairs."
    raise InputError(message, where=where, hint=hint)
