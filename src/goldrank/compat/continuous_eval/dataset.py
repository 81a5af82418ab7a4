"""continuous-eval's datasets: one dictionary per query."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from goldrank.base.errors import InputError, Position
from goldrank.base.notes import Note, from_counts
from goldrank.base.packages import needed
from goldrank.base.writing import write_whole
from goldrank.compat._common import entries_of, rows_of
from goldrank.compat.continuous_eval.base import ANSWERS, QUESTION, RELEVANCE, RETRIEVED, TRUTHS, Datum, Input, lacking

ANSWER = Input(("answer",), "text", "The generated answer.")
GROUND_TRUTHS = Input(ANSWERS.names[:3], ANSWERS.holds, "The right answers.")
CONTEXTS = Input(RETRIEVED.names, "text or texts", RETRIEVED.description)

SHAPES: tuple[tuple[Input, ...], ...] = (
    (ANSWER, QUESTION),
    (ANSWER, GROUND_TRUTHS),
    (ANSWER, CONTEXTS),
    (QUESTION, CONTEXTS),
    (CONTEXTS, TRUTHS),
)
"""The fields of which a datum must have one set at least."""
_FIELDS = (QUESTION, ANSWER, CONTEXTS, TRUTHS, GROUND_TRUTHS, RELEVANCE)
_HINT = "An object has each field once."


class Dataset(Sequence[Datum]):
    """Data to evaluate: one dictionary per query, from a list of them or a data frame.

    They are checked when it is made (`validate`). A datum has at least `answer` and one of `question`, `ground_truths`
    and `retrieved_contexts`; or `retrieved_contexts` and one of `question` and `ground_truth_contexts`. Names of later
    versions (`retrieved_context`, `ground_truth_context`, `ground_truth_answers`) are known too; other fields are
    ignored.

    >>> data = Dataset([{"question": "?", "retrieved_contexts": ["a"], "ground_truth_contexts": ["a"]}])
    >>> data["question"], data.datum(0)["retrieved_contexts"], len(data)
    (['?'], ['a'], 1)
    """

    notes: tuple[Note, ...] = ()
    """What was tolerated in the file that it was read from."""

    # `Any`: a list of dictionaries, or a data frame of any library.
    def __init__(self, data: Any) -> None:
        """Take the data, and check them (`validate`)."""
        self.data: list[Datum] = _rows(data)
        self.validate()

    @classmethod
    def from_data(cls, data: Any) -> Dataset:
        """The constructor, as later versions call it."""
        return cls(data)

    @overload
    def __getitem__(self, key: int) -> Datum: ...
    @overload
    def __getitem__(self, key: slice) -> Dataset: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    def __getitem__(self, key: int | slice | str) -> Datum | Dataset | list[Any]:
        """A datum by its number, some of them by a slice, or a column by its name."""
        if isinstance(key, str):
            for i, datum in enumerate(self.data):
                if key not in datum:
                    raise lacking(i, datum, key)
            return [datum[key] for datum in self.data]
        if isinstance(key, slice):
            return unchecked(self.data[key])
        return self.data[key]

    def __len__(self) -> int:
        return len(self.data)

    def iterate(self) -> Iterable[Datum]:
        """One datum after the other."""
        return iter(self.data)

    def datum(self, index: int) -> Datum:
        """A datum by its number."""
        return self.data[index]

    @property
    def columns(self) -> list[str]:
        """The names of all fields."""
        return list(dict.fromkeys(name for datum in self.data for name in datum))

    def filter(self, keeps: Callable[[Datum], bool]) -> Dataset:
        """The data that a function keeps, as a new dataset."""
        return unchecked([datum for datum in self.data if keeps(datum)])

    def to_pandas(self) -> Any:
        """A pandas DataFrame, one column for each field."""
        with needed("pandas"):
            import pandas

        return pandas.DataFrame([dict(datum) for datum in self.data])

    def validate(self) -> None:
        """Raise an error with the datum and the field that is missing or wrong."""
        if not self.data:
            raise InputError("Dataset is empty")

        first_with = {field: self._first_with(field) for field in _FIELDS}
        for i, datum in enumerate(self.data):
            for field, first in first_with.items():
                name = field.find(datum)
                if name is not None:
                    field.check(datum[name], f"datum {i}: {name}")
                    field.check_names(datum, f"datum {i}")
                elif first is not None:
                    raise lacking(i, datum, field.names[0], f"Datum {first} has it.")

            if not any(_has_shape(datum, shape) for shape in SHAPES):
                fields = ", ".join(map(repr, datum)) or "nothing"
                sets = "; ".join(map(_shape_text, SHAPES))
                raise InputError(f"datum {i} has only: {fields}", hint=f"One of these is needed: {sets}.")

    def _first_with(self, field: Input) -> int | None:
        """The number of the first datum that has a field."""
        return next((i for i, datum in enumerate(self.data) if field.find(datum)), None)

    @classmethod
    def from_jsonl(cls, path: str | Path) -> Dataset:
        """Read one JSON object per line; the file may be compressed. `notes` says what was tolerated."""
        from goldrank.io.json.json_text import read_lines
        from goldrank.io.sources import open_source

        source = open_source(path)
        counts: Counter[str] = Counter()
        data = []
        for line, datum in read_lines(source, counts, _HINT):
            if not isinstance(datum, dict):
                raise InputError("is not a JSON object", where=Position(source.name, line))
            data.append(datum)

        try:
            dataset = cls(data)
        except InputError as error:
            raise InputError(error.what, hint=error.hint, where=source.label, code=error.code) from None
        dataset.notes = from_counts(counts, source.label)
        return dataset

    def to_jsonl(self, path: str | Path) -> None:
        """Write one JSON object per line."""
        write_jsonl(self.data, path, "datum")


def _has_shape(datum: Datum, shape: Sequence[Input]) -> bool:
    return all(field.find(datum) for field in shape)


def _shape_text(shape: Sequence[Input]) -> str:
    return ", ".join(field.names[0] for field in shape)


def unchecked(data: Any) -> Dataset:
    """A dataset without checks: a part of a checked one, or data that the metrics of an evaluator check."""
    dataset = Dataset.__new__(Dataset)
    dataset.data = _rows(data)
    return dataset


def _rows(data: Any) -> list[Datum]:
    """One dictionary per query, from a list of them or a data frame, whose missing cells are left out."""
    rows = rows_of(data)
    is_frame = rows is not data
    listed: list[Datum] = []
    for i, row in enumerate(entries_of(rows, "the dataset", "Give a list of dictionaries or a data frame.")):
        if not isinstance(row, Mapping):
            raise InputError(f"datum {i} is {row!r:.60}, not a dictionary")
        if is_frame:
            row = {key: value for key, value in row.items() if value is not None}
        listed.append(row)
    return listed


def write_jsonl(rows: Iterable[Mapping[str, Any]], path: str | Path, noun: str, *, ascii_only: bool = False) -> None:
    """Write one JSON object per line; `noun` is the name of a row in messages."""
    lines = []
    for i, row in enumerate(rows):
        try:
            lines.append(json.dumps(dict(row), ensure_ascii=ascii_only) + "\n")
        except (TypeError, ValueError) as error:
            raise InputError(f"{noun} {i} cannot be written as JSON: {error}") from None
    write_whole(path, "".join(lines).encode("utf-8", "backslashreplace"))  # half a surrogate pair is \ud800 in JSON
