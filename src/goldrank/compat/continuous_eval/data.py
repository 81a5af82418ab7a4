"""continuous-eval's datasets: one dictionary per query."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from goldrank.compat._common import checked_texts
from goldrank.data.texts import Texts
from goldrank.errors import GoldrankError, InputError

RETRIEVED = ("retrieved_contexts", "retrieved_context")
TRUTHS = ("ground_truth_contexts", "ground_truth_context")
"""The names of a datum's two fields, in the document's version and in later ones."""

Datum: TypeAlias = Mapping[str, Any]
"""Texts by field. `Any`: other fields may hold anything that JSON has."""


class Dataset(Sequence[Datum]):
    """Data to evaluate: one dictionary per query.

    >>> Dataset([{"retrieved_contexts": ["a"], "ground_truth_contexts": ["a"]}]).validate()
    """

    def __init__(self, data: Iterable[Datum]) -> None:
        self.data = list(data)

    def __getitem__(self, at: Any) -> Any:  # `Any`: an index gives a datum, a slice a list
        return self.data[at]

    def __len__(self) -> int:
        return len(self.data)

    def texts(self, names: Sequence[str]) -> list[Texts]:
        """The texts of every datum under the first of the names that it has."""
        return [_texts(datum, names, i) for i, datum in enumerate(self.data)]

    def validate(self) -> None:
        """Raise the error that names the datum and the field that is missing or wrong."""
        for i, datum in enumerate(self.data):
            for names in (RETRIEVED, TRUTHS):
                _texts(datum, names, i)

    @classmethod
    def from_jsonl(cls, path: str | Path) -> Dataset:
        """Read one JSON object per line."""
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise InputError(f"cannot be opened: {error.strerror}", where=str(path)) from None
        data = []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                datum = json.loads(line)
            except ValueError as error:
                raise InputError(f"is not JSON: {error}", where=f"{path}:{number}") from None
            if not isinstance(datum, dict):
                raise InputError("is no JSON object", where=f"{path}:{number}")
            data.append(datum)
        return cls(data)

    def to_jsonl(self, path: str | Path) -> None:
        """Write one JSON object per line."""
        text = "".join(json.dumps(dict(datum), ensure_ascii=False) + "\n" for datum in self.data)
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise GoldrankError(f"cannot be written: {error.strerror}", where=str(path)) from None


def _texts(datum: Datum, names: Sequence[str], at: int) -> Texts:
    for name in names:
        if name in datum:
            return checked_texts(datum[name], f"datum {at}: {name} is")
    raise InputError(f"datum {at} has no {names[0]!r}; it has: {', '.join(map(repr, datum))}")


def example_data() -> Dataset:
    """A few queries to try things with (continuous-eval downloads its own; nothing is downloaded here).

    >>> len(example_data())
    2
    """
    france = "Paris is the capital of France."
    play = "Romeo and Juliet is a play by William Shakespeare."
    return Dataset(
        [
            {
                "question": "What is the capital of France?",
                "retrieved_contexts": ["Lyon is a major city in France.", france],
                "ground_truth_contexts": [france],
            },
            {
                "question": "Who wrote Romeo and Juliet?",
                "retrieved_contexts": ["Shakespeare was a playwright.", play],
                "ground_truth_contexts": ["Shakespeare was a playwright.", play],
            },
        ]
    )
