"""Changes to bytes, texts and JSON that hold what HOSTILE.md and the attacks on goldrank found worth trying."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

NUMBERS = (
    "nan", "NaN", "-nan", "inf", "-inf", "Infinity", "infinit", "1e400", "-1e400", "1e-400", "1E0", "1e", "1e+", "e5",
    "abc", "--5", "+1", "+-1", "-0", "0x10", "1_000", "3,5", "1.5abc", "1.5f", "٣", "１", "-1", "-2", "1.0", "1.", ".5",
    ".", "0.9",
    "0.99999999999999999999", "yes", "true", "True", "null", "None", "2x", "100000", "10000000", "10000001",
    "20240101", "178956971", str(2**31), str(2**63), str(2**64), "-" + str(2**63), "9" * 30, "9" * 31, "9" * 400,
    "0" * 40 + "1", "9007199254740993", "0.1000000000000000055511151231257827021181583404541015625", "1.5", "0", "7",
    "16777217", "3.4028236e38", "4.9e-324", "2.2250738585072011e-308", "1e23", "8.5e22", "123456789012345678",
    "1e99999999999999999999", "1e-99999999999999999999", "0.5000000000000000000000000000000001", "",
)  # fmt: skip
IDS = (
    "#", "##", "#q1", "all", "no_query", "ceci_nest_pas_un_docno", "a\0b", "\ufeff", "\ufeffq1", "q1\ufeff", "a\xa0b",
    "a\u2028b", "a\x1cb", "a\x85b", "\x0b", "\x0c", "é", "e\u0301", "日本", "\U00010000", "PAR1", "ARROW1", "BZh9",
    "%PDF-",
    "{", "[", "{}", "[]", '{"a":1}', "=1+1", "-1", "@x", "::error::x", "##[error]", "\x1b[31m", "\r", "\x7f", "a b",
    " a",
    "a ", "'", '"', '""', "a,b", "a\tb", "a\nb", "a\\", "\\ud800", "\\u0000", "\u202e", "null", "nan", "1", "01", "1.0",
    "1e3", "-0", "true", str(2**63), "1784236823465000001", "query", "doc", "score", "Q0", "a" * 7, "a" * 8, "a" * 9,
    "a" * 16, "a" * 17, "d" * 65536, "d" * 65537, "",
)  # fmt: skip
BYTES = (
    b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd",
    b"\xfd7zXZ\0", b"BZh9", b"PAR1", b"ARROW1\0\0", b"\r", b"\n", b"\r\n", b"\n\n", b"\t", b"  ", b"\x0b", b"\x0c",
    b"\x85",
    b"#", b"# x\n", b"\n#\n", b",", b'"', b"'", b"{", b"}", b"[", b"]", b":", b"\\", b"\\u0000", b"\\ud800", b"null",
    b"[" * 3000, b'{"a":' * 3000, b" " * 70000, b"x" * 70000, b"9" * 5000, b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f",
    b"\0\0\0\x80", b"1", b"-", b"e", b".", b"\x1a", b"\x04",
)  # fmt: skip
LONGEST = 4 << 20
"""Bytes of an input, so that memory says something about the reader."""


def number(rng: random.Random) -> str:
    return rng.choice(NUMBERS)


def name(rng: random.Random) -> str:
    return rng.choice(IDS)


def hostile(rng: random.Random) -> bytes:
    kind = rng.randrange(4)
    if kind == 0:
        return number(rng).encode()
    if kind == 1:
        return name(rng).encode("utf-8", "surrogateescape")
    return rng.choice(BYTES) if kind == 2 else rng.randbytes(rng.choice((1, 1, 2, 8)))


def _span(rng: random.Random, size: int) -> tuple[int, int]:
    begin = rng.randrange(size + 1)
    return begin, min(size, begin + rng.choice((1, 1, 2, 4, 16, 64, size)))


def _insert(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + hostile(rng) + data[at:]


def _remove(rng: random.Random, data: bytes) -> bytes:
    begin, end = _span(rng, len(data))
    return data[:begin] + data[end:]


def _repeat(rng: random.Random, data: bytes) -> bytes:
    begin, end = _span(rng, len(data))
    return data[:end] + data[begin:end] * rng.choice((1, 1, 2, 30)) + data[end:]


def _flip(rng: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _overwrite(rng: random.Random, data: bytes) -> bytes:
    piece = hostile(rng)
    at = rng.randrange(len(data) + 1)
    return data[:at] + piece + data[at + len(piece) :]


def _word(rng: random.Random, data: bytes) -> bytes:
    """One of the words between blanks and signs is another one."""
    cells = data.replace(b"\t", b" ").replace(b",", b" ").replace(b":", b" ").split()
    if not cells:
        return hostile(rng)
    parts = data.split(rng.choice(cells))
    at = rng.randrange(len(parts))
    old = rng.choice(cells)
    begin = data.find(old, len(b"".join(parts[:at])))
    return data if begin < 0 else data[:begin] + hostile(rng) + data[begin + len(old) :]


def _lines(rng: random.Random, data: bytes) -> bytes:
    """Lines are repeated, dropped, moved, joined, or end otherwise."""
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(7)
    if kind == 0:
        lines.insert(one, lines[other])
    elif kind == 1:
        del lines[one]
    elif kind == 2:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 3:
        lines[one] = lines[one] + rng.choice((b" ", b"\t", b",")) + lines[other]
    elif kind == 4:
        lines.insert(one, rng.choice((b"", b"  ", b"#", b"# comment", b"\t", b"\r", b"%", b"//")))
    elif kind == 5:
        lines[one] = b" ".join(lines[one].split()[: rng.randrange(6)])
    return (rng.choice((b"\r\n", b"\r", b"\n\r", b"\n\n")) if kind == 6 else b"\n").join(lines)


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _encoding(rng: random.Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    return rng.choice(
        (b"\xef\xbb\xbf" + data, text.encode("utf-16", "replace"), text.encode("utf-16-le", "replace"),
         text.encode("utf-32", "replace"), text.encode("latin-1", "replace"), data * 2, b"", b"\n" * 3)
    )  # fmt: skip


_CHANGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    *(_insert, _remove, _repeat, _flip, _overwrite, _word, _word, _word, _lines, _lines, _cut, _encoding),
)


def changed(rng: random.Random, data: bytes) -> bytes:
    """The data after one to four changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        data = rng.choice(_CHANGES)(rng, data)[:LONGEST]
    return data


def changed_text(rng: random.Random, text: str) -> str:
    """The same for text, which stays text."""
    return changed(rng, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        0.5,
        -0.5,
        1.5,
        5.0,
        1e308,
        -1e308,
        float("nan"),
        float("inf"),
        2**31,
        2**63,
        2**70,
    ),
    *(10**400, "", "a", "nan", "0.5", "\0", "\ud800", "x" * 70000, [], {}, [[]], [{}], {"": None}, [1, "a"], {"a": 1}),
    *(["q1", "q1"], [None], [float("nan")], "mean", "sum", "2020-01-01T00:00:00Z", "9999999-01-01"),
)


def changed_json(rng: random.Random, data: Any) -> Any:
    """A copy of JSON data in which one to three values or keys are others, missing, repeated or moved."""
    data = json.loads(json.dumps(data))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = list(_places(data))
        if not places:
            return copy.deepcopy(rng.choice(VALUES))
        holder, key = rng.choice(places)
        value = holder[key]
        kind = rng.randrange(6)
        if kind <= 2:
            holder[key] = copy.deepcopy(rng.choice(VALUES))  # or the next change would be in VALUES
        elif kind == 3:
            del holder[key]
        elif isinstance(holder, list):
            holder.insert(rng.randrange(len(holder) + 1), value)
        elif kind == 4:
            holder[name(rng)] = value
        else:
            other, at = rng.choice(places)
            holder[key] = json.loads(json.dumps(other[at])) if _has(other, at) else None
    return data


def _has(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)


def _places(data: Any) -> Any:
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in list(keys):
        yield data, key
        yield from _places(data[key])
