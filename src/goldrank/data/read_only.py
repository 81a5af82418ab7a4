"""Read-only views of rows and of arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

import numpy as np

Id = TypeVar("Id", str, bytes)
Number = TypeVar("Number", bound=float)


class ReadOnlyRows(Mapping[Id, Mapping[Id, Number]]):
    """A view of a mapping of mappings: neither it nor its rows can be written to.

    >>> rows = ReadOnlyRows({"q1": {"d1": 0.5}})
    >>> rows["q1"]["d1"]
    0.5
    >>> rows["q1"]["d1"] = 0.7
    Traceback (most recent call last):
        ...
    TypeError: 'mappingproxy' object does not support item assignment
    """

    __slots__ = ("_rows",)

    def __init__(self, rows: Mapping[Id, Mapping[Id, Number]]) -> None:
        self._rows: Mapping[Id, Mapping[Id, Number]] = rows

    def __getitem__(self, query: Id) -> Mapping[Id, Number]:
        return MappingProxyType(self._rows[query])

    def __contains__(self, query: object) -> bool:
        return query in self._rows

    def __iter__(self) -> Iterator[Id]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._rows!r})"


def read_only(array: np.ndarray) -> np.ndarray:
    """A view of an array that cannot be written to.

    >>> read_only(np.zeros(2))[0] = 1
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """
    view = array.view()
    view.flags.writeable = False
    return view
