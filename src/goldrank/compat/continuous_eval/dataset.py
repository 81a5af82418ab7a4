"""continuous-eval's datasets: one dictionary per query."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from goldrank.compat._common import rows_of
from goldrank.compat.continuous_eval.base import ANSWERS, QUESTION, RELEVANCE, RETRIEVED, TRUTHS, Datum, Input, lacking
from goldrank.errors import GoldrankError, InputError, Position
from goldrank.notes import Note, from_counts
from goldrank.packages import needed

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

    A datum has at least `answer` and one of `question`, `ground_truths` and `retrieved_contexts`; or
    `retrieved_contexts` and one of `question` and `ground_truth_contexts`. Names of later versions
    (`retrieved_context`, `ground_truth_context`, `ground_truth_answers`) are known too; other fields are left alone.

    >>> data = Dataset([{"question": "?", "retrieved_contexts": ["a"], "ground_truth_contexts": ["a"]}])
    >>> data.validate()
    >>> data["question"], data.datum(0)["retrieved_contexts"], len(data)
    (['?'], ['a'], 1)
    """

    notes: tuple[Note, ...] = ()
    """What was tolerated in the file that it was read from."""

    # `Any`: a list of dictionaries, or a data frame of any library.
    def __init__(self, data: Any) -> None:
        rows = rows_of(data)
        if isinstance(rows, str | Mapping) or not isinstance(rows, Iterable):
            raise InputError(
                f"a {type(data).__name__} is no dataset", hint="Give a list of dictionaries or a data frame."
            )
        is_frame = rows is not data
        self.data: list[Datum] = []
        for i, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise InputError(f"datum {i} is {row!r}, not a dictionary")
            self.data.append({key: value for key, value in row.items() if value is not None} if is_frame else row)

    @classmethod
    def from_data(cls, data: Any) -> Dataset:
        """The constructor, as later versions call it."""
        return cls(data)

    @overload
    def __getitem__(self, at: int) -> Datum: ...
    @overload
    def __getitem__(self, at: slice) -> Dataset: ...
    @overload
    def __getitem__(self, at: str) -> list[Any]: ...
    def __getitem__(self, at: int | slice | str) -> Datum | Dataset | list[Any]:
        """A datum by its number, some of them by a slice, or a column by its name."""
        if isinstance(at, str):
            for i, datum in enumerate(self.data):
                if at not in datum:
                    raise lacking(i, datum, at)
            return [datum[at] for datum in self.data]
        return Dataset(self.data[at]) if isinstance(at, slice) else self.data[at]

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
        """The data that a function keeps, as a dataset of its own."""
        return Dataset([datum for datum in self.data if keeps(datum)])

    def to_pandas(self) -> Any:
        """A pandas DataFrame, one column for each field."""
        with needed("pandas"):
            import pandas

        return pandas.DataFrame([dict(datum) for datum in self.data])

    def validate(self) -> None:
        """Raise the error that names the datum and the field that is missing or wrong."""
        if not self.data:
            raise InputError("Dataset is empty")
        used = [(field, next((i for i, datum in enumerate(self.data) if field.find(datum)), None)) for field in _FIELDS]
        for i, datum in enumerate(self.data):
            for field, first in used:
                name = field.find(datum)
                if name is not None:
                    field.check(datum[name], f"datum {i}: {name}")
                    field.check_names(datum, f"datum {i}")
                elif first is not None:
                    raise lacking(i, datum, field.names[0], f"Datum {first} has it.")
            if not any(all(field.find(datum) for field in shape) for shape in SHAPES):
                has = ", ".join(map(repr, datum)) or "nothing"
                sets = "; ".join(", ".join(field.names[0] for field in shape) for shape in SHAPES)
                raise InputError(f"datum {i} has only: {has}", hint=f"One of these is needed: {sets}.")

    @classmethod
    def from_jsonl(cls, path: str | Path) -> Dataset:
        """Read one JSON object per line; the file may be compressed. `notes` says what was tolerated."""
        from goldrank.io.json_text import read_lines
        from goldrank.io.sources import open_source

        source = open_source(path)
        counts: Counter[str] = Counter()
        data = []
        for line, datum in read_lines(source, counts, _HINT):
            if not isinstance(datum, dict):
                raise InputError("is no JSON object", where=Position(source.name, line))
            data.append(datum)
        dataset = cls(data)
        dataset.notes = from_counts(counts, source.label)
        return dataset

    def to_jsonl(self, path: str | Path) -> None:
        """Write one JSON object per line."""
        lines = []
        for i, datum in enumerate(self.data):
            try:
                lines.append(json.dumps(dict(datum), ensure_ascii=False) + "\n")
            except (TypeError, ValueError) as error:
                raise InputError(f"datum {i} cannot be written as JSON: {error}") from None
        try:
            Path(path).write_text("".join(lines), encoding="utf-8")
        except OSError as error:
            what = f"cannot be written: {error.strerror}"
            raise GoldrankError(what, where=str(path), code="cannot-write") from None
