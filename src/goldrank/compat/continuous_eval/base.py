"""The base of continuous-eval's metrics: inputs by name, both call forms, batches, and descriptions."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import eq
from typing import Any, ClassVar, TypeAlias

import numpy as np

from goldrank.base.errors import InputError
from goldrank.compat._common import checked_texts, entries_of, is_list, is_number, mean

Datum: TypeAlias = Mapping[str, Any]
"""Texts by field. `Any`: other fields may hold anything that JSON has."""
Values: TypeAlias = dict[str, Any]
"""The outputs of a metric for one query. `Any`: mostly numbers, and lists where a metric explains itself."""
Columns: TypeAlias = Mapping[str, Sequence[Any]]
"""The values of each input (by its first name), one for each query."""


def _is_finite(value: object) -> bool:
    """Whether something is a finite number; databases return Decimals."""
    if isinstance(value, Decimal):
        return value.is_finite()
    return is_number(value)


@dataclass(frozen=True)
class Field:
    """One output of a metric: its type, and the lowest and highest value if it has them."""

    type: type
    limits: tuple[float, float] | None = None
    internal: bool = False
    description: str | None = None

    @property
    def type_hint(self) -> str:
        """The type in words."""
        return self.type.__name__


@dataclass(frozen=True)
class Arg:
    """One input of a metric."""

    type: Any = str
    """`Any`: a type or a union of types."""
    description: str = ""
    is_required: bool = True
    default: Any = None


@dataclass(frozen=True)
class Input:
    """An input by all its names, and its type: "text", "texts", "text or texts" or "numbers"."""

    names: tuple[str, ...]
    """In the document's version, in later ones, and others; an argument is named by the second if there is one."""
    holds: str
    description: str
    is_required: bool = True

    @property
    def argument(self) -> str:
        """Its name in the later call form."""
        if len(self.names) > 1:
            return self.names[1]
        return self.names[0]

    def find(self, datum: Datum) -> str | None:
        """The first of the names that a datum has; an input that is not required may be None, as if it were absent."""
        for name in self.names:
            if name in datum and (self.is_required or datum[name] is not None):
                return name
        return None

    def check_names(self, datum: Datum, where: str) -> None:
        """Raise if a datum has the field by both of its names, with different values."""
        if len(self.names) != 2 or not all(name in datum for name in self.names):
            return
        value, other_value = datum[self.names[0]], datum[self.names[1]]
        if value is not other_value and not (len(value) == len(other_value) and all(map(eq, value, other_value))):
            message = f"{where} has {self.names[0]!r} and {self.names[1]!r}, and they differ"
            raise InputError(message, hint="Give one.", code="fields-differ")

    def check(self, value: Any, where: str) -> None:
        """Raise if a value has another type."""
        if self.holds == "text":
            if not isinstance(value, str):
                raise InputError(f"{where} is {value!r}, not a text")
        elif self.holds == "numbers":
            if not is_list(value) or not all(map(_is_finite, value)):
                raise InputError(f"{where} is {value!r}, not a list of numbers")
        elif self.holds == "texts" or not isinstance(value, str):
            checked_texts(value, f"{where} is")


RETRIEVED = Input(("retrieved_contexts", "retrieved_context"), "texts", "The retrieved texts, best first.")
TRUTHS = Input(("ground_truth_contexts", "ground_truth_context"), "texts", "The texts that should be retrieved.")
RELEVANCE = Input(
    ("ground_truth_relevance",), "numbers", "How relevant each ground truth is; above 0 is relevant.", False
)
QUESTION = Input(("question",), "text", "The question.")
ANSWERS = Input(
    ("ground_truths", "ground_truth_answers", "ground_truth_answer", "answer"),
    "text or texts",
    "The answer that the contexts should support, or several of them.",
)
_TYPES = {"text": str, "texts": list[str], "text or texts": list[str] | str, "numbers": list[float]}


class Metric:
    """The base of all metrics. A new one needs `calculate`, or `compute` of later versions; each calls the other.

    `calculate(retrieved_contexts=..., ...)` is the call of the document's version;
    `metric(retrieved_context=..., ...)`, which is `compute`, is the call of later ones. Other fields of a datum are
    ignored.
    """

    schema: ClassVar[dict[str, Field]] = {}
    inputs: tuple[Input, ...] = ()

    # `Any` in the calls: the metric checks its arguments.
    def calculate(self, *texts: Any, **datum: Any) -> Values:
        """The values of one query, by the call of the document's version."""
        if type(self).compute is Metric.compute:
            raise NotImplementedError(f"{type(self).__name__} has neither calculate nor compute")
        return self.compute(*texts, **datum)

    def compute(self, *texts: Any, **datum: Any) -> Values:
        """The values of one query, by the call of later versions."""
        if type(self).calculate is Metric.calculate:
            raise NotImplementedError(f"{type(self).__name__} has neither calculate nor compute")
        return self.calculate(*texts, **datum)

    def __call__(self, *texts: Any, **datum: Any) -> Values:
        """`compute`."""
        return self.compute(*texts, **datum)

    def batch(self, *columns: Sequence[Any], **named: Sequence[Any]) -> list[Values]:
        """The values of many queries, in their order, from one column for each input (in order, or by name)."""
        if len(columns) > len(self.inputs):
            raise InputError(f"{len(columns)} columns were given, and {self.name} takes {len(self.inputs)}")

        by_name = {**dict(zip((field.argument for field in self.inputs), columns, strict=False)), **named}
        if self.inputs:
            return self.many(self._named_columns(by_name), "later")
        rows = zip(*_equally_long(by_name).values(), strict=True)
        return [self.compute(**dict(zip(by_name, row, strict=True))) for row in rows]

    def batch_calculate(self, dataset: Sequence[Datum]) -> list[Values]:
        """The values of every datum, by the call of the document's version."""
        data = entries_of(dataset, "the dataset", "Give a list of dictionaries.")
        for i, datum in enumerate(data):
            if not isinstance(datum, Mapping):
                raise InputError(f"datum {i} is {datum!r:.60}, not a dictionary", code="wrong-type")
        return self.of_data(data)

    def of_data(self, data: Sequence[Datum], k: int | None = None) -> list[Values]:
        """The values of every datum, of the first k contexts if k is given."""
        if self.inputs:
            return self.many(self._rows_of(data), "0.2", k)
        cut_data = [{key: _cut(key, value, k) for key, value in datum.items()} for datum in data]
        return [self.calculate(**datum) for datum in cut_data]

    def many(self, columns: Columns, form: str, k: int | None = None) -> list[Values]:
        """The values of many queries, by the call `form` of '0.2' or of 'later' releases."""
        raise NotImplementedError

    def _values_of_one(self, form: str, **values: Any) -> Values:
        """The values of one query; an input that is None is absent."""
        for field in self.inputs:
            name = field.argument
            if form == "0.2":
                name = field.names[0]
            value = values.get(field.names[0])
            if value is not None:
                field.check(value, name)
            elif field.is_required:
                raise InputError(f"{self.name} needs {name}")
        return self.many({name: [value] for name, value in values.items() if value is not None}, form)[0]

    def _rows_of(self, data: Sequence[Datum]) -> Columns:
        columns: dict[str, list[Any]] = {}
        for field in self.inputs:
            names = [field.find(datum) for datum in data]
            if not field.is_required and not any(names):
                continue
            column = columns[field.names[0]] = []
            for i, (name, datum) in enumerate(zip(names, data, strict=True)):
                if name is None:
                    hint = _FOR_ALL
                    if field.is_required:
                        hint = f"{self.name} needs it."
                    raise lacking(i, datum, field.names[0], hint)
                field.check(datum[name], f"datum {i}: {name}")
                field.check_names(datum, f"datum {i}")
                column.append(datum[name])

        return columns

    def _named_columns(self, by_name: Columns) -> Columns:
        columns: dict[str, Sequence[Any]] = {}
        for field in self.inputs:
            name = field.find(by_name)
            if name is not None:
                field.check_names(by_name, "the batch")
                column = entries_of(by_name[name], name, "Give one value for each query.")
                for i, value in enumerate(column):
                    field.check(value, f"{name} of query {i}")
                columns[field.names[0]] = column
            elif field.is_required:
                raise InputError(
                    f"{self.name} needs {field.argument}", hint=f"Given: {', '.join(by_name) or 'nothing'}."
                )
        return _equally_long(columns)

    @staticmethod
    def aggregate(results: Sequence[Mapping[str, object]]) -> dict[str, float]:
        """The mean of every numeric output, over the results that have it.

        >>> Metric.aggregate([{"context_f1": 0.5, "note": "x"}, {"context_f1": 1.0}])
        {'context_f1': 0.75}
        """
        columns: dict[str, list[float]] = {}
        for i, result in enumerate(entries_of(results, "results", "Give a list of what a metric returned.")):
            if not isinstance(result, Mapping):
                raise InputError(f"result {i} is {result!r:.60}, not a dict", code="wrong-type")
            for key, value in result.items():
                if isinstance(value, numbers.Real):
                    columns.setdefault(key, []).append(_as_float(value, f"{key} of result {i}"))
        return {key: mean(np.array(column)) for key, column in columns.items()}

    @property
    def name(self) -> str:
        """The class's name."""
        return type(self).__name__

    @property
    def args(self) -> dict[str, Arg]:
        """The inputs of the metric, by the names of the later call."""
        return {field.argument: Arg(_TYPES[field.holds], field.description, field.is_required) for field in self.inputs}

    @property
    def help(self) -> str:
        """What the metric is."""
        return inspect.getdoc(type(self)) or ""

    def asdict(self) -> dict[str, str]:
        """The metric by its class."""
        return {"__class__": self.name, "name": self.name}


def _as_float(value: numbers.Real, noun: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{noun} is an integer that no float holds", code="bad-number") from None


_FOR_ALL = "Others have it: give it for all, or for none."


def lacking(number: int, datum: Datum, name: str, hint: str | None = None) -> InputError:
    """The error for a datum without a field."""
    return InputError(f"datum {number} has no {name!r}; it has: {', '.join(map(repr, datum))}", hint=hint)


def _cut(key: str, value: Any, k: int | None) -> Any:
    if key in RETRIEVED.names and not isinstance(value, str):
        return value[:k]
    return value


def _equally_long(columns: Columns) -> Columns:
    if len({len(column) for column in columns.values()}) != 1:
        if not columns:
            raise InputError("there are no columns")
        sizes = ", ".join(f"{name} has {len(column):,}" for name, column in columns.items())
        raise InputError(f"columns are not equally long: {sizes}")
    return columns


def fractions(*names: str) -> dict[str, Field]:
    """Outputs from 0 to 1."""
    return {name: Field(float, (0.0, 1.0)) for name in names}
