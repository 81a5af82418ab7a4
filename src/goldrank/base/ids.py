"""Ids as text and as bytes.

Files hold bytes and Python holds text. An id is the same id on both sides: bytes that are not UTF-8
survive as surrogate escapes, integers are their decimal digits, and order is always that of the bytes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, MappingView, Set
from itertools import islice
from numbers import Integral
from typing import TypeGuard

from goldrank.base.errors import InputError
from goldrank.base.escaping import show as show

MAX_ID_BYTES = 65_536
SHORT = MAX_ID_BYTES // 4
"""Characters that are surely not too many for an id."""
_TOO_LONG = 10**1000
"""An integer that is no id: Python writes none of more than some thousand digits."""


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


def _no_text(text: str, what: str, where: str | None) -> InputError:
    return InputError(
        f"the {what} '{show(text)}' is not text: it has half of a surrogate pair in it",
        where=where,
        hint="Repair it where it was decoded, or give it as bytes.",
        code="bad-id",
    )


def decode(raw: bytes) -> str:
    """The text of an id; undecodable bytes become surrogate escapes and come back by `encode`."""
    return raw.decode("utf-8", "surrogateescape")


def decode_all(raw: Iterable[bytes]) -> tuple[str, ...]:
    """The text of many ids, in one go where all are plain UTF-8."""
    encoded = list(raw)
    try:
        return tuple([text.decode() for text in encoded])
    except UnicodeDecodeError:
        return tuple(map(decode, encoded))


def is_plain(value: object) -> TypeGuard[str]:
    """Whether an id is text that needs no closer look: of ASCII, neither empty nor long."""
    return type(value) is str and value.isascii() and 0 < len(value) <= SHORT


def as_text(value: object, what: str, where: str | None = None) -> str:
    """An id given as text, bytes or an integer, as text. Exact: no float ever passes through."""
    if isinstance(value, str | bytes):
        if isinstance(value, str):
            text = value
        else:
            text = decode(value)
        if not 0 < len(text) <= SHORT or not text.isascii():
            check(text, what, where)
        return text

    if isinstance(value, Integral) and not isinstance(value, bool):
        whole = int(value)
        if abs(whole) < _TOO_LONG:
            return str(whole)
        raise InputError(f"{what} is an integer of more than 1,000 digits", where=where, code="bad-id")

    raise InputError(
        f"{what} {value!r} is of type {type(value).__name__}",
        where=where,
        hint="Ids are text (or integers, which are read as their digits). Convert them before evaluating.",
        code="bad-id",
    )


def is_missing(value: object) -> bool:
    """Whether it stands for no id at all: None, NaN, NaT, pandas' NA, or text without a character.

    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing(0)
    (True, True, True, False)
    """
    if value is None:
        return True
    if isinstance(value, str | bytes):
        return not value
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas' NA does not say
        return True


def missing(value: object, what: str, where: str | None = None) -> InputError:
    """The error for something that stands for no id."""
    return InputError(
        f"the {what} is {value!r}, which is no id",
        where=where,
        hint="Every query and document has an id: is the field that holds it named rightly?",
        code="bad-id",
    )


def check(text: str, what: str, where: str | None = None) -> None:
    """Raises if an id is empty, too long, or has no bytes: the same rule for files and for objects."""
    if not text:
        raise InputError(f"the {what} is empty", where=where, hint="Every query and document has an id.", code="bad-id")
    check_text(text, what, where)
    if len(text) > MAX_ID_BYTES or len(encode(text)) > MAX_ID_BYTES:
        what = f"the {what} '{show(text, 20)}' has more than {MAX_ID_BYTES:,} bytes"
        raise InputError(what, where=where, hint="Is it the text of a document? Give each a short id.", code="bad-id")


def check_text(text: str, what: str, where: str | None = None) -> None:
    """Raises if a name has half of a surrogate pair in it, which nothing can write."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        if _escaped_bytes(text) is None:
            raise _no_text(text, what, where) from None


def check_keys(texts: Mapping[str, object], what: str, where: str) -> None:
    """`check` for the keys of a mapping, all of which are text (a TypeError if not). It is quick where all is well."""
    try:
        size = len("".join(texts).encode())
    except UnicodeEncodeError:
        size = MAX_ID_BYTES + 1
    if size > MAX_ID_BYTES or "" in texts:
        for text in texts:
            if not 0 < len(text) <= SHORT or not text.isascii():
                check(text, what, where)


def has_no_order(given: object) -> bool:
    """Whether it is a set or a view of a mapping: what comes first in it says nothing.

    >>> has_no_order({"d1", "d2"}), has_no_order(iter(frozenset("ab"))), has_no_order(["d1", "d2"])
    (True, True, False)
    """
    return isinstance(given, Set | MappingView | _SetIterator)


_SetIterator: type = type(iter(set()))


def _kind_of_type(given_type: type) -> str:
    if issubclass(given_type, Integral):
        return "int"
    if issubclass(given_type, bytes):
        return "bytes"
    return "str"


def kind(query_types: Iterable[type], doc_types: Iterable[type], where: str) -> str:
    """What ids given as objects were: 'int', 'str' or 'bytes'; 'str/int' if queries and documents differ."""
    kinds = []
    for what, types in (("query", query_types), ("document", doc_types)):
        names = {_kind_of_type(given_type) for given_type in types}
        if len(names) > 1:
            raise InputError(
                f"some {what} ids are of type {' and some of type '.join(sorted(names))}",
                where=where,
                hint="Make all ids text, for example with str(id).",
            )
        kinds.append(next(iter(names), ""))

    queries, docs = kinds
    if docs in ("", queries):
        return queries
    return f"{queries}/{docs}"


def kinds_differ(ours: str, theirs: str) -> tuple[str, str, str] | None:
    """Which ids are integers on one side and text on the other: (what, kind of one, kind of other)."""
    if ours == theirs:
        return None
    pair = ((ours.split("/")[0], theirs.split("/")[0]), (ours.split("/")[-1], theirs.split("/")[-1]))
    for what, kinds in zip(("query", "document"), pair, strict=True):
        if set(kinds) == {"int", "str"}:
            return what, *kinds
    return None


def other_forms(text: str) -> set[str]:
    """The Unicode normal forms of an id that differ from it."""
    if text.isascii():
        return set()
    return {unicodedata.normalize(form, text) for form in ("NFC", "NFD")} - {text}


def samples(ids: Iterable[str], limit: int = 3) -> str:
    """The first few ids, quoted, for a message."""
    first = [f"'{show(text)}'" for text in islice(ids, limit + 1)]
    return ", ".join([*first[:limit], "..."] if len(first) > limit else first) or "none"
