"""Checks of Parquet files and Arrow data (files, Feather, streams) before polars reads them.

If a page, column or buffer claims to hold more than it can, polars requests more memory than exists, which ends the
process. So the structure is checked first. Parquet's footer and page headers are structs in Thrift's compact protocol;
here they are dicts from field numbers to values. Arrow's messages have their metadata in a flatbuffer, followed by a
body of buffers.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from goldrank.base.errors import InputError
from goldrank.io.sources import FREE, MAX_RATIO, read_fully

ROW = 40
"""Least bytes of a row when its columns are unpacked: two ids and a number."""
PAGE_HEADER = 1 << 14
MAX_PAGE_HEADER = 1 << 24
"""Most bytes of a page header; it is small, but may hold the least and the greatest value of the page."""
_PARQUET, _ARROW = b"PAR1", b"ARROW1"
_CONTINUES = b"\xff\xff\xff\xff"
_BATCHES = {2: 1, 3: None}
"""Types of Arrow's messages with columns: dictionaries, whose batch is their second field, and batches."""


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(problem)


def _damaged(kind: str, error: Exception, where: str) -> InputError:
    hint = "Is the file complete?"
    return InputError(f"cannot be read as {kind}: {error or 'it is damaged'}", where=where, hint=hint)


@dataclass(frozen=True)
class ParquetSize:
    """The size of a Parquet file according to its footer."""

    rows: int
    group_rows: int
    """The rows of its largest row group."""
    group_bytes: int
    """The bytes of its largest row group when unpacked."""
    unpacked: int
    """The bytes of all its pages when unpacked."""


def check_parquet(file: IO[bytes], where: str) -> ParquetSize:
    """The size of a Parquet file; an error if its structure is damaged."""
    try:
        size = file.seek(0, os.SEEK_END)
        tail = _read(file, max(0, size - 8), 8)
        length = int.from_bytes(tail[:4], "little")
        _require(tail[4:] == _PARQUET and length <= size - 12, "the footer is missing")
        footer = _Thrift(_read(file, size - 8 - length, length)).struct()

        unpacked = 0
        rows = []
        group_bytes = []
        for group in footer[4]:
            for chunk in group[1]:
                if 1 not in chunk and 3 in chunk:  # its pages are in this file
                    unpacked += _check_pages(file, chunk[3], size)
            rows.append(int(group[3]))
            group_bytes.append(int(sum(chunk[3][6] for chunk in group[1] if 3 in chunk)))
        shape = ParquetSize(sum(rows), max(rows, default=0), max(group_bytes, default=0), unpacked)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise _damaged("Parquet", error, where) from None

    in_memory = shape.unpacked + ROW * shape.rows
    if in_memory > FREE and in_memory > MAX_RATIO * size:
        problem = (
            f"unpacks to more than {MAX_RATIO} times its size ({size:,} bytes): it says that it has {shape.rows:,} rows"
        )
        hint = "Is this a table of rankings? If so, write it with fewer rows a file."
        raise InputError(problem, where=where, hint=hint)

    return shape


def _check_pages(file: IO[bytes], chunk: dict[int, Any], size: int) -> int:
    """The bytes of the pages of a column when unpacked."""
    unpacked = 0
    values, stored, data = chunk[5], chunk[7], chunk[9]
    offset = min(data, chunk.get(11) or data)
    end = offset + stored
    _require(values >= 0 and 0 <= offset <= end <= size, "a column lies outside of the file")

    while offset < end:
        header, length = _page_header(file, offset, end)
        _require(header[2] >= 0 and header[3] >= 0, "a page has a negative size")
        for kind in (5, 7, 8):  # data page, dictionary page, data page of version 2
            if kind in header:
                _require(0 <= header[kind][1] <= values, "a page has more values than its column")
        offset += length + header[3]
        unpacked += header[2]

    _require(offset == end, "a page lies outside of its column")
    return unpacked


def _page_header(file: IO[bytes], offset: int, end: int) -> tuple[dict[int, Any], int]:
    """The header of a page, and its length."""
    window = PAGE_HEADER
    while True:
        thrift = _Thrift(_read(file, offset, min(window, end - offset)))
        try:
            return thrift.struct(), thrift.offset
        except IndexError:
            if window >= min(MAX_PAGE_HEADER, end - offset):
                raise
            window *= 16


def _read(file: IO[bytes], offset: int, size: int) -> bytes:
    file.seek(offset)
    return read_fully(file, size)


class _Thrift:
    """A reader of the compact protocol; it raises an IndexError where the bytes end too soon."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.offset = 0

    def struct(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while True:
            header = self._byte()
            if not header:
                return fields

            step, kind = header >> 4, header & 15
            if step:
                number += step
            else:
                number = self._integer()
            if kind in (1, 2):  # the type of a flag is its value
                fields[number] = kind == 1
            else:
                fields[number] = self._value(kind)

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
                header = self._byte()
                size = header >> 4
                if size == 15:
                    size = self._varint()
                return [self._value(header & 15) for _ in range(self._count(size))]

            case 11:
                size = self._count(self._varint())
                kinds = 0
                if size:
                    kinds = self._byte()
                return [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(size)]
            case 12:
                return self.struct()
            case _:
                raise ValueError(f"unknown type {kind} in its structure")

    def _byte(self) -> int:
        self.offset += 1
        return self._data[self.offset - 1]

    def _bytes(self, size: int) -> bytes:
        self.offset += self._count(size)
        return self._data[self.offset - size : self.offset]

    def _count(self, size: int) -> int:
        """Check a number of following entries, each of which has at least a byte."""
        if size > len(self._data) - self.offset:
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
    """The bytes of Arrow data when unpacked; an error if its structure is damaged."""
    try:
        unpacked = sum(_check_message(data, *message) for message in _messages(data))
    except (IndexError, ValueError, struct.error) as error:
        raise _damaged("Arrow", error, where) from None

    if unpacked > FREE and unpacked > MAX_RATIO * len(data):
        problem = f"unpacks to more than {MAX_RATIO} times its size ({len(data):,} bytes)"
        hint = "Is this a table of rankings? If so, write it without compression."
        raise InputError(problem, where=where, hint=hint)
    return unpacked


def _messages(data: bytes) -> Iterator[tuple[int, int | None]]:
    """The offsets of messages, and the sizes of their bodies if the footer has them, too."""
    if data.startswith(_ARROW):
        _require(data.endswith(_ARROW) and len(data) > 18, "the footer is missing")
        size = _number(data, "<i", len(data) - 10)
        _require(0 < size <= len(data) - 18, "the footer is missing")
        footer = _FlatTable.root(data, len(data) - 10 - size)
        for field in (2, 3):
            for offset in footer.structs(field, 24):
                begin, _, body = struct.unpack_from("<qi4xq", data, offset)
                yield begin, body
        return

    offset = 0
    while offset < len(data):
        begin = offset
        offset, size = _metadata(data, begin)
        if not size:
            return
        yield begin, None
        body = _FlatTable.root(data, offset).number(3, "<q")
        _require(0 <= body <= len(data) - offset - size, "a part lies outside of it")
        offset += size + body


def _metadata(data: bytes, offset: int) -> tuple[int, int]:
    """The offset and the size of the metadata of a message."""
    _require(0 <= offset < len(data), "a part lies outside of it")
    if data[offset : offset + 4] == _CONTINUES:
        offset += 4
    size = _number(data, "<i", offset)
    _require(0 <= size <= len(data) - offset - 4, "a part lies outside of it")
    return offset + 4, size


def _check_message(data: bytes, begin: int, footer_body: int | None) -> int:
    """The bytes of the columns of a message when unpacked; `footer_body` is the size of its body in the footer."""
    offset, size = _metadata(data, begin)
    message = _FlatTable.root(data, offset)
    kind = message.number(1, "<B")
    body = message.number(3, "<q")
    start = offset + size
    _require(0 <= body <= len(data) - start and footer_body in (None, body), "a part lies outside of it")
    if kind not in _BATCHES:
        return 0

    batch = message.table(2)
    inner = _BATCHES[kind]
    if inner is not None:
        batch = batch.table(inner)
    unpacked = _unpacked_size(data, batch, start, body)

    # A value has at least a bit, or needs no buffer: then there are as many values as rows.
    rows = batch.number(0, "<q")
    most = max(8 * unpacked, rows)
    _require(0 <= rows <= max(8 * unpacked, FREE), "it has more rows than it can hold")
    for position in batch.structs(1, 16):
        length, missing = struct.unpack_from("<qq", data, position)
        _require(0 <= missing <= length <= most, "a column has more values than it can hold")

    return unpacked


def _unpacked_size(data: bytes, batch: _FlatTable, start: int, body: int) -> int:
    """The bytes of the buffers of a batch when unpacked; its body begins at `start`."""
    is_compressed = batch.position(3) is not None
    unpacked = 0
    for position in batch.structs(2, 16):
        offset, length = struct.unpack_from("<qq", data, position)
        _require(offset >= 0 and 0 <= length <= body - offset, "a column lies outside of it")

        size = length
        if is_compressed and length:
            size = _number(data, "<q", start + offset)
        _require(size >= -1, "a column has a negative size")
        if size == -1:  # this buffer is not compressed
            size = length
        unpacked += size
    return unpacked


def _number(data: bytes, form: str, offset: int) -> int:
    _require(offset >= 0, "a part lies outside of it")
    return int(struct.unpack_from(form, data, offset)[0])


class _FlatTable:
    """A table of a flatbuffer: fields by number, each of which may be missing."""

    def __init__(self, data: bytes, offset: int) -> None:
        self._data = data
        self._offset = offset
        self._fields = offset - _number(data, "<i", offset)
        self._size = _number(data, "<H", self._fields)

    @classmethod
    def root(cls, data: bytes, offset: int) -> _FlatTable:
        return cls(data, offset + _number(data, "<I", offset))

    def position(self, field: int) -> int | None:
        """The position of a field in the data; None if the field is missing."""
        slot = 4 + 2 * field
        if slot + 2 > self._size:
            return None
        offset = _number(self._data, "<H", self._fields + slot)
        if offset:
            return self._offset + offset
        return None

    def number(self, field: int, form: str) -> int:
        position = self.position(field)
        if position is None:
            return 0
        return _number(self._data, form, position)

    def table(self, field: int) -> _FlatTable:
        position = self.position(field)
        _require(position is not None, "a part is missing")
        assert position is not None
        return _FlatTable(self._data, position + _number(self._data, "<I", position))

    def structs(self, field: int, size: int) -> range:
        """The positions of the structs of a list."""
        position = self.position(field)
        if position is None:
            return range(0)
        begin = position + _number(self._data, "<I", position)
        count = _number(self._data, "<I", begin)
        _require(count * size <= len(self._data) - begin - 4, "a list lies outside of it")
        return range(begin + 4, begin + 4 + count * size, size)
