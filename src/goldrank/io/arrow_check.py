"""Is Arrow data (a file, Feather or a stream) sound enough to be handed to polars?

A column or buffer that claims to be longer than it can be makes polars ask for more memory than exists, which ends the
process. So the messages are looked at first: each has its metadata in a flatbuffer, and buffers in a body behind it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from goldrank.errors import InputError
from goldrank.io.sources import FREE, MAX_RATIO

MAGIC = b"ARROW1"
_CONTINUES = b"\xff\xff\xff\xff"
_BATCHES = {2: 1, 3: None}
"""Types of messages with columns: dictionaries, whose batch is their second field, and batches themselves."""


def check(data: bytes, where: str) -> int:
    """The bytes that Arrow data takes when unpacked; raises if its structure does not hold together."""
    try:
        unpacked = sum(_check_message(data, *message) for message in _messages(data))
    except (IndexError, ValueError, struct.error) as error:
        hint = "Is the file complete?"
        raise InputError(f"cannot be read as Arrow: {error or 'it is damaged'}", where=where, hint=hint) from None
    if unpacked > FREE and unpacked > MAX_RATIO * len(data):
        what = f"unpacks to more than {MAX_RATIO} times its size ({len(data):,} bytes)"
        raise InputError(what, where=where, hint="Is this a table of rankings? If so, write it without compression.")
    return unpacked


def _messages(data: bytes) -> Iterator[tuple[int, int | None]]:
    """Where messages begin, and the sizes of their bodies where these stand elsewhere too."""
    if data.startswith(MAGIC):
        _require(data.endswith(MAGIC) and len(data) > 18, "the footer is missing")
        size = _number(data, "<i", len(data) - 10)
        _require(0 < size <= len(data) - 18, "the footer is missing")
        footer = _Table.root(data, len(data) - 10 - size)
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
        body = _Table.root(data, at).number(3, "<q")
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
    message = _Table.root(data, at)
    kind, body, start = message.number(1, "<B"), message.number(3, "<q"), at + size
    _require(0 <= body <= len(data) - start and said in (None, body), "a part lies outside of it")
    if kind not in _BATCHES:
        return 0
    inner = _BATCHES[kind]
    header = message.table(2)
    batch = header if inner is None else header.table(inner)
    packed = batch.place(3) is not None
    unpacked = 0
    for place in batch.structs(2, 16):
        offset, length = struct.unpack_from("<qq", data, place)
        _require(offset >= 0 and 0 <= length <= body - offset, "a column lies outside of it")
        whole = _number(data, "<q", start + offset) if packed and length else length
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


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)


class _Table:
    """A table of a flatbuffer: fields by number, each of which may be missing."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - _number(data, "<i", at)
        self._size = _number(data, "<H", self._fields)

    @classmethod
    def root(cls, data: bytes, at: int) -> _Table:
        return cls(data, at + _number(data, "<I", at))

    def place(self, field: int) -> int | None:
        slot = 4 + 2 * field
        offset = _number(self._data, "<H", self._fields + slot) if slot + 2 <= self._size else 0
        return self._at + offset if offset else None

    def number(self, field: int, form: str) -> int:
        place = self.place(field)
        return 0 if place is None else _number(self._data, form, place)

    def table(self, field: int) -> _Table:
        place = self.place(field)
        _require(place is not None, "a part is missing")
        assert place is not None
        return _Table(self._data, place + _number(self._data, "<I", place))

    def structs(self, field: int, size: int) -> range:
        """The places of the structs of a list."""
        place = self.place(field)
        if place is None:
            return range(0)
        begin = place + _number(self._data, "<I", place)
        count = _number(self._data, "<I", begin)
        _require(count * size <= len(self._data) - begin - 4, "a list lies outside of it")
        return range(begin + 4, begin + 4 + count * size, size)
