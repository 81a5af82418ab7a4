"""Ids as text and as bytes.

Files hold bytes and Python holds text. An id is the same id on both sides: bytes that are not UTF-8
survive as surrogate escapes, integers are their decimal digits, and ids are always ordered by their bytes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, MappingView, Set
from itertools import islice
from numbers import Integral, Rational, Real
from typing import TypeGuard

from goldrank.base.errors import InputError
from goldrank.base.escaping import show as show

MAX_ID_BYTES = 65_536
SHORT = MAX_ID_BYTES // 4
"""A number of characters that always fits into `MAX_ID_BYTES`."""
_TOO_LONG = 10**1000
"""The least integer that cannot be an id: Python refuses to write integers of several thousand digits."""
_ROUNDED = 2**53
"""From here on floats stand for several integers."""


def encode(text: str) -> bytes:
    """The bytes of an id."""
    try:
        return text.encode()
    except AttributeError:
        return encode(as_text(text, "id"))
    except UnicodeEncodeError:
        raw = _escaped_bytes(text)
        if raw is None:
            raise _no_text(text, "id", None) from None
        return raw


def _escaped_bytes(text: str) -> bytes | None:
    """The bytes of text with surrogate escapes in it; None if no bytes decode to it."""
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None
    if decode(raw) == text:
        return raw
    return None


def _no_text(text: str, noun: str, where: str | None) -> InputError:
    return InputError(
        f"the {noun} '{show(text)}' is not text: it has half of a surrogate pair in it",
        where=where,
        hint="Repair it where it was decoded, or give it as bytes.",
        code="bad-id",
    )


def decode(raw: bytes) -> str:
    """The text of an id; undecodable bytes become surrogate escapes and come back by `encode`."""
    return raw.decode("utf-8", "surrogateescape")


def decode_all(raw: Iterable[bytes]) -> tuple[str, ...]:
    """The texts of many ids, decoded at once where all are plain UTF-8."""
    encoded = list(raw)
    try:
        return tuple([text.decode() for text in encoded])
    except UnicodeDecodeError:
        return tuple(map(decode, encoded))


def is_plain(value: object) -> TypeGuard[str]:
    """Whether an id is text that needs no further check: ASCII, neither empty nor long."""
    return type(value) is str and value.isascii() and 0 < len(value) <= SHORT


def as_text(value: object, noun: str, where: str | None = None) -> str:
    """The text of an id that is text, bytes or an integer.

    Exact: of floats only whole numbers are taken, which pandas makes of integers where some are missing.
    """
    if isinstance(value, str | bytes):
        if isinstance(value, str):
            text = value
        else:
            text = decode(value)
        if not 0 < len(text) <= SHORT or not text.isascii():
            check(text, noun, where)
        return text

    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
        if abs(number) < _TOO_LONG:
            return str(number)
        raise InputError(f"{noun} is an integer of more than 1,000 digits", where=where, code="bad-id")

    if isinstance(value, Real) and _is_float(type(value)) and is_whole(float(value)):
        return str(int(float(value)))
    if is_missing(value):
        raise missing(value, noun, where)

    raise InputError(
        f"{noun} {value!r} is of type {type(value).__name__}",
        where=where,
        hint="Ids are text (or integers, which are read as their digits). Convert them before evaluating.",
        code="bad-id",
    )


def is_whole(value: float) -> bool:
    """Whether a float is a whole number that no rounding made.

    >>> is_whole(12.0), is_whole(12.5), is_whole(float("nan")), is_whole(2.0**53)
    (True, False, False, False)
    """
    return value.is_integer() and abs(value) < _ROUNDED


def is_missing(value: object) -> bool:
    """Whether a value means that there is no id: None, NaN, NaT, pandas' NA, or text without a character.

    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing(0)
    (True, True, True, False)
    """
    if value is None:
        return True
    if isinstance(value, str | bytes):
        return not value
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas' NA has no truth value
        return True


def missing(value: object, noun: str, where: str | None = None) -> InputError:
    """The error for a value that means that there is no id."""
    return InputError(
        f"the {noun} is {value!r}, which is not an id",
        where=where,
        hint="Every query and document has an id: is the field that holds it named rightly?",
        code="bad-id",
    )


def check(text: str, noun: str, where: str | None = None) -> None:
    """Raise if an id is empty, too long, or cannot be encoded. The rule holds for files and for objects."""
    if not text:
        raise InputError(f"the {noun} is empty", where=where, hint="Every query and document has an id.", code="bad-id")
    check_text(text, noun, where)
    if len(text) > MAX_ID_BYTES or len(encode(text)) > MAX_ID_BYTES:
        problem = f"the {noun} '{show(text, 20)}' has more than {MAX_ID_BYTES:,} bytes"
        raise InputError(
            problem, where=where, hint="Is it the text of a document? Give each a short id.", code="bad-id"
        )


def check_text(text: str, noun: str, where: str | None = None) -> None:
    """Raise if a name contains half of a surrogate pair, which cannot be encoded."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        if _escaped_bytes(text) is None:
            raise _no_text(text, noun, where) from None


def check_keys(texts: Mapping[str, object], noun: str, where: str) -> None:
    """Call `check` for the keys of a mapping; fast where all are valid. All must be text (a TypeError if not)."""
    try:
        size = len("".join(texts).encode())
    except UnicodeEncodeError:
        size = MAX_ID_BYTES + 1
    if size > MAX_ID_BYTES or "" in texts:
        for text in texts:
            if not 0 < len(text) <= SHORT or not text.isascii():
                check(text, noun, where)


def has_no_order(value: object) -> bool:
    """Whether a value is a set or a view of a mapping, whose order has no meaning.

    >>> has_no_order({"d1", "d2"}), has_no_order(iter(frozenset("ab"))), has_no_order(["d1", "d2"])
    (True, True, False)
    """
    return isinstance(value, Set | MappingView | _SetIterator)


_SetIterator: type = type(iter(set()))


def _is_float(id_type: type) -> bool:
    """Whether a type is float, or a float of numpy."""
    return issubclass(id_type, Real) and not issubclass(id_type, Rational)


def _kind_of_type(id_type: type) -> str:
    if issubclass(id_type, Integral) or _is_float(id_type):
        return "int"
    if issubclass(id_type, bytes):
        return "bytes"
    return "str"


def kind(query_types: Iterable[type], doc_types: Iterable[type], where: str) -> str:
    """The kind of ids that came as objects: 'int', 'str' or 'bytes'; 'str/int' if queries and documents differ."""
    kinds = []
    for noun, types in (("query", query_types), ("document", doc_types)):
        names = {_kind_of_type(id_type) for id_type in types}
        if len(names) > 1:
            raise InputError(
                f"some {noun} ids are of type {' and some of type '.join(sorted(names))}",
                where=where,
                hint="Make all ids text, for example with str(id).",
            )
        kinds.append(next(iter(names), ""))

    queries, docs = kinds
    if docs in ("", queries):
        return queries
    return f"{queries}/{docs}"


def kinds_differ(first: str, second: str) -> tuple[str, str, str] | None:
    """Which ids are integers on one side and text on the other: (noun, kind of the first, kind of the second)."""
    if first == second:
        return None

    query_kinds = first.split("/")[0], second.split("/")[0]
    doc_kinds = first.split("/")[-1], second.split("/")[-1]
    for noun, kinds in (("query", query_kinds), ("document", doc_kinds)):
        if set(kinds) == {"int", "str"}:
            return noun, *kinds
    return None


def other_forms(text: str) -> set[str]:
    """The Unicode normal forms of an id that differ from it."""
    if text.isascii():
        return set()
    return {unicodedata.normalize(form, text) for form in ("NFC", "NFD")} - {text}


def samples(ids: Iterable[str], limit: int = 3) -> str:
    """The first few ids, quoted, for a message."""
    quoted = [f"'{show(text)}'" for text in islice(ids, limit + 1)]
    if len(quoted) > limit:
        quoted[limit:] = ["..."]
    return ", ".join(quoted) or "none"
