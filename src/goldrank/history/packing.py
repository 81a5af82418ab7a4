"""Per-query values and query ids as small blobs, without losing a bit.

A measure has few distinct values over many queries, so a blob holds the distinct ones and a small number for each
query. Both are compressed; bytes of the same significance are put side by side, where they resemble each other.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence

import numpy as np

_HEAD = struct.Struct("<BBII")
"""Form, bytes per number, how many values, how many distinct ones."""
_FORM = 1


def pack_values(values: np.ndarray) -> bytes:
    """Doubles as a blob; NaNs keep their bits too."""
    bits = np.ascontiguousarray(values, "<f8").view("<u8")
    distinct, number = np.unique(bits, return_inverse=True)
    count = len(distinct)
    width = 0 if count > len(bits) // 2 else 1 if count <= 1 << 8 else 2 if count <= 1 << 16 else 4
    table = distinct if width else bits
    body = _side_by_side(table.astype("<u8"))
    if width:
        body += _side_by_side(number.astype(f"<u{width}"))
    return _HEAD.pack(_FORM, width, len(bits), len(table)) + zlib.compress(body, 6)


def unpack_values(blob: bytes) -> np.ndarray:
    """The inverse of `pack_values`; a ValueError if the blob cannot be one."""
    try:
        form, width, count, distinct = _HEAD.unpack_from(blob)
        if form != _FORM or width not in (0, 1, 2, 4):
            raise ValueError(f"unknown form {form}.{width}")
        size = 8 * distinct + width * count
        unpacker = zlib.decompressobj()
        body = unpacker.decompress(blob[_HEAD.size :], size + 1)
        if len(body) != size or not unpacker.eof or (not width and distinct != count):
            raise ValueError("wrong length")
        table = _in_order(body[: 8 * distinct], 8).view("<u8")
        bits = table[_in_order(body[8 * distinct :], width).view(f"<u{width}")] if width else table
    except (struct.error, zlib.error, IndexError) as error:
        raise ValueError(str(error)) from None
    return bits.view("<f8").astype(np.float64, copy=False)


def pack_ids(ids: Sequence[str]) -> bytes:
    """Query ids as bytes to hash and to compress; any text survives."""
    return json.dumps(list(ids), ensure_ascii=True, separators=(",", ":")).encode()


def unpack_ids(raw: bytes) -> tuple[str, ...]:
    """The inverse of `pack_ids`."""
    return tuple(json.loads(raw))


def _side_by_side(numbers: np.ndarray) -> bytes:
    return numbers.view(np.uint8).reshape(-1, numbers.itemsize).T.tobytes()


def _in_order(raw: bytes, width: int) -> np.ndarray:
    parts = np.frombuffer(raw, np.uint8).reshape(width, -1)
    numbers = np.empty(parts.shape[::-1], np.uint8)
    for i in range(width):
        numbers[:, i] = parts[i]
    return numbers.reshape(-1)
