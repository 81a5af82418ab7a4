"""Addresses of pages: the state is in the query string, and usual values are left out.

Ids may hold anything, so they are never part of a path. An id that a form could not send back unchanged (bytes that are
not UTF-8, control characters), that is long, or that begins with a tilde, is given as a tilde and a hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from urllib.parse import quote, unquote_to_bytes, urlencode

from goldrank.base import ids

LONGEST = 500
"""Bytes of an id that is spelled out."""
MOST = 8_192
"""Bytes of an address."""


def id_hash(text: str) -> str:
    """The name of an id that cannot be spelled out."""
    return "~" + hashlib.blake2b(ids.encode(text), digest_size=16).hexdigest()


def spelled(text: str) -> str:
    """An id as an address has it, before it is percent-encoded."""
    plain = text.isprintable() and not text.startswith("~")
    if plain and len(ids.encode(text)) <= LONGEST:
        return text
    return id_hash(text)


def find_id(spelling: str, known: Iterable[str]) -> str | None:
    """The id of `known` that an address spells, None if there is no such id. Mappings and sets need no search."""
    if not spelling.startswith("~"):
        if spelling in known:
            return spelling
        return None
    return next((text for text in known if spelled(text) == spelling), None)


def address(path: str, values: Mapping[str, object]) -> str:
    """A path with its query string; values that are None or empty are left out."""
    present = {name: value for name, value in values.items() if value is not None and value != ""}
    query = urlencode(present, safe="@:,().*-_~", errors="surrogatepass", quote_via=quote)
    if present:
        return f"{path}?{query}"
    return path


def parsed(query: bytes) -> dict[str, str]:
    """The values of a query string; of a name that is repeated the last counts."""
    values: dict[str, str] = {}
    for part in query.split(b"&"):
        name, _, value = part.partition(b"=")
        if name:
            values[_plain(name)] = _plain(value)
    return values


def positive_number(values: Mapping[str, str], name: str, usual: int = 1) -> int:
    """A number from 1 that an address has in plain digits; else the usual number."""
    digits = values.get(name, "")
    if digits.isascii() and digits.isdigit() and len(digits) < 10:
        return max(1, int(digits))
    return usual


def _plain(raw: bytes) -> str:
    return unquote_to_bytes(raw.replace(b"+", b" ")).decode("utf-8", "replace")
