"""Per-query values and query ids as small blobs, without losing a bit.

A measure has few distinct values over many queries, so a blob holds the distinct ones and a small number for each
query. Both are compressed; bytes of the same significance are put side by side, where they resemble each other.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence

import numpy as np

_HEAD = struct.Struct("<BBII")
"""Form, bytes per number, how many values, how many distinct ones."""
_FORM = 1
MOST_TIMES = 100
"""How much larger than compressed ids may be. Ids of collections compress two to thirty times; zlib can do 1,030."""
LEAST_ROOM = 1 << 20
PIECE = 1 << 16


def pack_values(values: np.ndarray) -> bytes:
    """Doubles as a blob; NaNs keep their bits too."""
    bits = np.ascontiguousarray(values, "<f8").view("<u8")
    distinct, number = np.unique(bits, return_inverse=True)
    count = len(distinct)
    if count > len(bits) // 2:
        width = 0
    elif count <= 1 << 8:
        width = 1
    elif count <= 1 << 16:
        width = 2
    else:
        width = 4

    if width:
        table = distinct
        body = _side_by_side(table.astype("<u8")) + _side_by_side(number.astype(f"<u{width}"))
    else:
        table = bits
        body = _side_by_side(table.astype("<u8"))
    return _HEAD.pack(_FORM, width, len(bits), len(table)) + zlib.compress(body, 6)


def unpack_values(blob: bytes, count: int) -> np.ndarray:
    """The inverse of `pack_values` for `count` values; a ValueError if the blob cannot be one.

    No more is unpacked than these values take, whatever size the blob claims.
    """
    try:
        form, width, stored_count, distinct = _HEAD.unpack_from(blob)
        if form != _FORM or width not in (0, 1, 2, 4):
            raise ValueError(f"unknown form {form}.{width}")
        if stored_count != count or distinct > count:
            raise ValueError(f"{stored_count:,} values, {distinct:,} of them distinct, for {count:,} queries")
        size = 8 * distinct + width * count
        body = _unpacked(blob[_HEAD.size :], size)
        if len(body) != size:
            raise ValueError("wrong length")
        if not width and distinct != count:
            raise ValueError("wrong length")
        bits = _in_order(body[: 8 * distinct], 8).view("<u8")
        if width:
            bits = bits[_in_order(body[8 * distinct :], width).view(f"<u{width}")]
    except (struct.error, zlib.error, IndexError) as error:
        raise ValueError(str(error)) from None
    return bits.view("<f8").astype(np.float64, copy=False)


def pack_ids(ids: Sequence[str]) -> bytes:
    """Query ids as bytes to hash and to compress; any text survives."""
    return json.dumps(list(ids), ensure_ascii=True, separators=(",", ":")).encode()


def unpack_ids(raw: bytes) -> tuple[str, ...]:
    """The inverse of `pack_ids`; a ValueError if these are not ids."""
    ids = json.loads(raw)
    if not isinstance(ids, list) or not all(isinstance(query, str) for query in ids):
        raise ValueError("not a list of ids")
    return tuple(ids)


def pack_hashes(hashes: Mapping[str, str]) -> bytes:
    """Hashes of judgements by query as bytes to hash and to compress."""
    return json.dumps(dict(hashes), ensure_ascii=True, separators=(",", ":")).encode()


def unpack_hashes(raw: bytes) -> dict[str, str]:
    """The inverse of `pack_hashes`; a ValueError if these are not hashes."""
    hashes = json.loads(raw)
    if not isinstance(hashes, dict) or not all(isinstance(sign, str) for sign in hashes.values()):
        raise ValueError("not hashes by query")
    return hashes


def compress(raw: bytes) -> bytes:
    """Packed ids for a file. What compresses too well for `decompress` is stored as it is."""
    packed = zlib.compress(raw, 6)
    if len(raw) <= _largest_size(packed):
        return packed
    return zlib.compress(raw, 0)


def decompress(packed: bytes) -> bytes:
    """The inverse of `compress`; a ValueError if it unpacks to more than ids do."""
    try:
        return _unpacked(packed, _largest_size(packed))
    except zlib.error as error:
        raise ValueError(str(error)) from None


def _largest_size(packed: bytes) -> int:
    return LEAST_ROOM + MOST_TIMES * len(packed)


def _unpacked(packed: bytes, largest: int) -> bytes:
    """All that was compressed, up to a size; a ValueError if it is more, or not complete.

    What is too large is never in memory: its size is measured piece by piece first.
    """
    decompressor, size = zlib.decompressobj(), 0
    for begin in range(0, len(packed), PIECE):
        piece = packed[begin : begin + PIECE]
        while piece and not decompressor.eof:
            size += len(decompressor.decompress(piece, PIECE))
            piece = decompressor.unconsumed_tail
            if size > largest:
                raise ValueError("wrong length")
    if not decompressor.eof or decompressor.unused_data:
        raise ValueError("wrong length")
    return zlib.decompress(packed, bufsize=max(size, 1))


def _side_by_side(numbers: np.ndarray) -> bytes:
    return numbers.view(np.uint8).reshape(-1, numbers.itemsize).T.tobytes()


def _in_order(raw: bytes, width: int) -> np.ndarray:
    parts = np.frombuffer(raw, np.uint8).reshape(width, -1)
    numbers = np.empty(parts.shape[::-1], np.uint8)
    for i in range(width):
        numbers[:, i] = parts[i]
    return numbers.reshape(-1)
