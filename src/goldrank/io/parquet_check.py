"""Is a Parquet file sound enough to be handed to polars?

A page header that claims more values than there are makes polars ask for more memory than exists, which
ends the process. So the footer and the page headers are looked at first. They are structs in Thrift's
compact protocol; here they are dicts from field numbers to values.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from typing import IO, Any

from goldrank.errors import InputError
from goldrank.io.sources import FREE, MAX_RATIO, read_fully

MAGIC = b"PAR1"
ROW = 40
"""Bytes that a row takes at least when its columns are unpacked: two ids and a number."""
PAGE_HEADER = 1 << 14
MAX_PAGE_HEADER = 1 << 24
"""Page headers are small, but may hold the least and the greatest value of the page."""


@dataclass(frozen=True)
class Shape:
    """What a Parquet file's footer says of its size."""

    rows: int
    group_rows: int
    """The rows of its largest row group."""
    group_bytes: int
    """The bytes of its largest row group when unpacked."""
    unpacked: int
    """The bytes of all its pages when unpacked."""


def check(file: IO[bytes], where: str) -> Shape:
    """The size of a Parquet file; raises if its structure does not hold together."""
    try:
        size = file.seek(0, os.SEEK_END)
        tail = _read(file, max(0, size - 8), 8)
        length = int.from_bytes(tail[:4], "little")
        _require(tail[4:] == MAGIC and length <= size - 12, "the footer is missing")
        footer = _Thrift(_read(file, size - 8 - length, length)).struct()
        unpacked = 0
        for chunk in itertools.chain.from_iterable(group[1] for group in footer[4]):
            if 1 not in chunk and 3 in chunk:  # its pages are in this file
                unpacked += _check_pages(file, chunk[3], size)
        groups = [(group[3], sum(chunk[3][6] for chunk in group[1] if 3 in chunk)) for group in footer[4]]
        rows = [int(number) for number, _ in groups]
        largest = max((int(group) for _, group in groups), default=0)
        shape = Shape(sum(rows), max(rows, default=0), largest, unpacked)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        hint = "Is the file complete?"
        raise InputError(f"cannot be read as Parquet: {error or 'it is damaged'}", where=where, hint=hint) from None
    in_memory = shape.unpacked + ROW * shape.rows
    if in_memory > FREE and in_memory > MAX_RATIO * size:
        what = (
            f"unpacks to more than {MAX_RATIO} times its size ({size:,} bytes): it says that it has {shape.rows:,} rows"
        )
        raise InputError(what, where=where, hint="Is this a table of rankings? If so, write it with fewer rows a file.")
    return shape


def _check_pages(file: IO[bytes], chunk: dict[int, Any], size: int) -> int:
    """The bytes of the pages of a column when unpacked."""
    unpacked = 0
    values, stored, data = chunk[5], chunk[7], chunk[9]
    at = min(data, chunk.get(11) or data)
    end = at + stored
    _require(values >= 0 and 0 <= at <= end <= size, "a column lies outside of the file")
    while at < end:
        header, length = _page_header(file, at, end)
        _require(header[2] >= 0 and header[3] >= 0, "a page has a negative size")
        for kind in (5, 7, 8):  # data page, dictionary page, data page of version 2
            if kind in header:
                _require(0 <= header[kind][1] <= values, "a page has more values than its column")
        at += length + header[3]
        unpacked += header[2]
    _require(at == end, "a page lies outside of its column")
    return unpacked


def _page_header(file: IO[bytes], at: int, end: int) -> tuple[dict[int, Any], int]:
    window = PAGE_HEADER
    while True:
        thrift = _Thrift(_read(file, at, min(window, end - at)))
        try:
            return thrift.struct(), thrift.at
        except IndexError:
            if window >= min(MAX_PAGE_HEADER, end - at):
                raise
            window *= 16


def _read(file: IO[bytes], at: int, size: int) -> bytes:
    file.seek(at)
    return read_fully(file, size)


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)


class _Thrift:
    """A reader of the compact protocol; IndexError where the bytes end too soon."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def struct(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while kind := self._byte():
            number = number + (kind >> 4) if kind >> 4 else self._integer()
            fields[number] = kind & 15 == 1 if kind & 15 in (1, 2) else self._value(kind & 15)
        return fields

    def _value(self, kind: int) -> Any:
        match kind:
            case 1 | 2 | 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._integer()
            case 7:
                return self._bytes(8)
            case 8:
                return self._bytes(self._varint())
            case 9 | 10:
                head = self._byte()
                size = self._varint() if head >> 4 == 15 else head >> 4
                return [self._value(head & 15) for _ in range(self._count(size))]
            case 11:
                size = self._count(self._varint())
                kinds = self._byte() if size else 0
                return [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(size)]
            case 12:
                return self.struct()
            case _:
                raise ValueError(f"unknown type {kind} in its structure")

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _bytes(self, size: int) -> bytes:
        self.at += self._count(size)
        return self._data[self.at - size : self.at]

    def _count(self, size: int) -> int:
        """A number of things that are still to come, each of at least a byte."""
        if size > len(self._data) - self.at:
            raise IndexError("its structure ends too soon")
        return size

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            _require(shift < 70, "a number in its structure is too long")

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
