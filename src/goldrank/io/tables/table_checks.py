"""Is a Parquet file, or Arrow data (a file, Feather or a stream), sound enough to be handed to polars?

A page, column or buffer that claims to hold more than it can makes polars ask for more memory than exists, which ends
the process. So their structure is looked at first. Parquet's footer and page headers are structs in Thrift's compact
protocol; here they are dicts from field numbers to values. Arrow's messages have their metadata in a flatbuffer, and
buffers in a body behind it.
"""

from __future__ import annotations

import itertools
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from goldrank.base.errors import InputError
from goldrank.io.sources import FREE, MAX_RATIO, read_fully

ROW = 40
"""Bytes that a row takes at least when its columns are unpacked: two ids and a number."""
PAGE_HEADER = 1 << 14
MAX_PAGE_HEADER = 1 << 24
"""Page headers are small, but may hold the least and the greatest value of the page."""
_PARQUET, _ARROW = b"PAR1", b"ARROW1"
_CONTINUES = b"\xff\xff\xff\xff"
_BATCHES = {2: 1, 3: None}
"""Types of Arrow's messages with columns: dictionaries, whose batch is their second field, and batches themselves."""


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)


def _damaged(kind: str, error: Exception, where: str) -> InputError:
    hint = "Is the file complete?"
    return InputError(f"cannot be read as {kind}: {error or 'it is damaged'}", where=where, hint=hint)


@dataclass(frozen=True)
class ParquetSize:
    """What a Parquet file's footer says of its size."""

    rows: int
    group_rows: int
    """The rows of its largest row group."""
    group_bytes: int
    """The bytes of its largest row group when unpacked."""
    unpacked: int
    """The bytes of all its pages when unpacked."""


def check_parquet(file: IO[bytes], where: str) -> ParquetSize:
    """The size of a Parquet file; raises if its structure does not hold together."""
    try:
        size = file.seek(0, os.SEEK_END)
        tail = _read(file, max(0, size - 8), 8)
        length = int.from_bytes(tail[:4], "little")
        _require(tail[4:] == _PARQUET and length <= size - 12, "the footer is missing")
        footer = _Thrift(_read(file, size - 8 - length, length)).struct()
        unpacked = 0
        for chunk in itertools.chain.from_iterable(group[1] for group in footer[4]):
            if 1 not in chunk and 3 in chunk:  # its pages are in this file
                unpacked += _check_pages(file, chunk[3], size)
        groups = [(group[3], sum(chunk[3][6] for chunk in group[1] if 3 in chunk)) for group in footer[4]]
        rows = [int(number) for number, _ in groups]
        largest = max((int(group) for _, group in groups), default=0)
        shape = ParquetSize(sum(rows), max(rows, default=0), largest, unpacked)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise _damaged("Parquet", error, where) from None

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


class _Thrift:
    """A reader of the compact protocol; IndexError where the bytes end too soon."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def struct(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while kind := self._byte():
            if kind >> 4:
                number = number + (kind >> 4)
            else:
                number = self._integer()
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
                if head >> 4 == 15:
                    size = self._varint()
                else:
                    size = head >> 4
                return [self._value(head & 15) for _ in range(self._count(size))]
            case 11:
                size = self._count(self._varint())
                if size:
                    kinds = self._byte()
                else:
                    kinds = 0
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


def check_arrow(data: bytes, where: str) -> int:
    """The bytes that Arrow data takes when unpacked; raises if its structure does not hold together."""
    try:
        unpacked = sum(_check_message(data, *message) for message in _messages(data))
    except (IndexError, ValueError, struct.error) as error:
        raise _damaged("Arrow", error, where) from None
    if unpacked > FREE and unpacked > MAX_RATIO * len(data):
        what = f"unpacks to more than {MAX_RATIO} times its size ({len(data):,} bytes)"
        raise InputError(what, where=where, hint="Is this a table of rankings? If so, write it without compression.")
    return unpacked


def _messages(data: bytes) -> Iterator[tuple[int, int | None]]:
    """Where messages begin, and the sizes of their bodies where these stand elsewhere too."""
    if data.startswith(_ARROW):
        _require(data.endswith(_ARROW) and len(data) > 18, "the footer is missing")
        size = _number(data, "<i", len(data) - 10)
        _require(0 < size <= len(data) - 18, "the footer is missing")
        footer = _FlatTable.root(data, len(data) - 10 - size)
        for field in (2, 3):
            for at in footer.structs(field, 24):
                begin, _, body = struct.unpack_from("<qi4xq", data, at)
                yield begin, body
        return

    at = 0
    while at < len(data):
        at, size = _metadata(data, at)
        if not size:
            return
        yield at - 8 if data[at - 8 : at - 4] == _CONTINUES else at - 4, None
        body = _FlatTable.root(data, at).number(3, "<q")
        _require(0 <= body <= len(data) - at - size, "a part lies outside of it")
        at += size + body


def _metadata(data: bytes, at: int) -> tuple[int, int]:
    """Where the metadata of a message begins, and how long it is."""
    _require(0 <= at < len(data), "a part lies outside of it")
    at += 4 * (data[at : at + 4] == _CONTINUES)
    size = _number(data, "<i", at)
    _require(0 <= size <= len(data) - at - 4, "a part lies outside of it")
    return at + 4, size


def _check_message(data: bytes, begin: int, said: int | None) -> int:
    """The bytes of the columns of a message when unpacked."""
    at, size = _metadata(data, begin)
    message = _FlatTable.root(data, at)
    kind, body, start = message.number(1, "<B"), message.number(3, "<q"), at + size
    _require(0 <= body <= len(data) - start and said in (None, body), "a part lies outside of it")
    if kind not in _BATCHES:
        return 0

    inner = _BATCHES[kind]
    header = message.table(2)
    if inner is None:
        batch = header
    else:
        batch = header.table(inner)

    packed = batch.place(3) is not None
    unpacked = 0
    for place in batch.structs(2, 16):
        offset, length = struct.unpack_from("<qq", data, place)
        _require(offset >= 0 and 0 <= length <= body - offset, "a column lies outside of it")
        if packed and length:
            whole = _number(data, "<q", start + offset)
        else:
            whole = length
        _require(whole >= -1, "a column has a negative size")
        unpacked += length if whole == -1 else whole

    # A value takes a bit at least, or it has no place in any buffer: then there are as many as there are rows.
    most = max(8 * unpacked, batch.number(0, "<q"))
    _require(0 <= batch.number(0, "<q") <= max(8 * unpacked, FREE), "it has more rows than it can hold")
    for place in batch.structs(1, 16):
        length, missing = struct.unpack_from("<qq", data, place)
        _require(0 <= missing <= length <= most, "a column has more values than it can hold")

    return unpacked


def _number(data: bytes, form: str, at: int) -> int:
    _require(at >= 0, "a part lies outside of it")
    return int(struct.unpack_from(form, data, at)[0])


class _FlatTable:
    """A table of a flatbuffer: fields by number, each of which may be missing."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - _number(data, "<i", at)
        self._size = _number(data, "<H", self._fields)

    @classmethod
    def root(cls, data: bytes, at: int) -> _FlatTable:
        return cls(data, at + _number(data, "<I", at))

    def place(self, field: int) -> int | None:
        slot = 4 + 2 * field
        if slot + 2 <= self._size:
            offset = _number(self._data, "<H", self._fields + slot)
        else:
            offset = 0
        if offset:
            return self._at + offset
        return None

    def number(self, field: int, form: str) -> int:
        place = self.place(field)
        if place is None:
            return 0
        return _number(self._data, form, place)

    def table(self, field: int) -> _FlatTable:
        place = self.place(field)
        _require(place is not None, "a part is missing")
        assert place is not None
        return _FlatTable(self._data, place + _number(self._data, "<I", place))

    def structs(self, field: int, size: int) -> range:
        """The places of the structs of a list."""
        place = self.place(field)
        if place is None:
            return range(0)
        begin = place + _number(self._data, "<I", place)
        count = _number(self._data, "<I", begin)
        _require(count * size <= len(self._data) - begin - 4, "a list lies outside of it")
        return range(begin + 4, begin + 4 + count * size, size)
