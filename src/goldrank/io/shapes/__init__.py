"""The answers of search engines, one file for each: what one is recognised by, and the page of results that it holds.

A new engine is one file with a `SHAPE`, and one line in `ENGINES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from goldrank import ids
from goldrank.errors import InputError

ENGINES = {
    "elasticsearch": ("hits", "responses"),
    "solr": ("response",),
    "vespa": ("root",),
    "typesense": ("hits", "results"),
    "meilisearch": ("hits", "results"),
    "anserini": ("candidates", "contexts", "ctxs"),
}
"""Each engine with the keys of which its answers have one, for their results."""
HOLDERS = frozenset(key for keys in ENGINES.values() for key in keys)
"""What has none of these keys is no answer; that is known without looking through a long ranking."""


class Hit(NamedTuple):
    """One result as the engine gave it, and where."""

    record: Mapping[str, Any]
    doc: Any
    """None if there is no id where it usually is."""
    score: Any
    """None where the engine gave none, or one that does not order results."""
    where: str


class Page(NamedTuple):
    """The results of one search."""

    hits: Sequence[Hit]
    query: Any = None
    """What the response itself says was searched for."""
    before: int = 0
    """How many results stand on the pages before this one."""
    is_partial: bool = False
    """Whether the engine says that not all of it answered."""


@dataclass(frozen=True)
class Shape:
    """The answers of one engine."""

    name: str
    keys: tuple[str, ...]
    """Keys that such an answer has, for the error that names the nearest shape."""
    example: str
    recognised: Callable[[Mapping[str, Any]], bool]
    page: Callable[[Mapping[str, Any], str], Page]
    """The page of a response that stands at a place."""
    several: str | None = None
    """The key of the list of responses in the answer to several searches at once."""
    failure: Callable[[Mapping[str, Any]], Any] = lambda response: None
    """What the engine says went wrong, if anything did."""

    def responses(self, data: Mapping[str, Any]) -> list[Any] | None:
        """The responses of an answer to several searches; None if it is one to a single search."""
        inner = data.get(self.several) if self.several else None
        if not isinstance(inner, list) or not inner or not isinstance(inner[0], Mapping):
            return None
        return inner if any(isinstance(each, Mapping) and self.recognised(each) for each in inner) else None

    def holds(self, data: Any) -> bool:
        """Whether it is an answer of this engine, to one search or several."""
        return isinstance(data, Mapping) and (self.recognised(data) or self.responses(data) is not None)


@cache
def all_shapes() -> tuple[Shape, ...]:
    """Every engine's shape; the surest signs come first."""
    return tuple(import_module(f"{__name__}.{engine}").SHAPE for engine in ENGINES)


def shape_of(data: Any) -> Shape | None:
    """The engine that gave an answer, if it is one."""
    return next((shape for shape in all_shapes() if shape.holds(data)), None)


def page_of(shape: Shape, response: Any, where: str) -> Page:
    """The page of a response, or the error that says what is wrong with it."""
    if not isinstance(response, Mapping):
        raise InputError(f"is {ids.show(repr(response), 60)}, not a response", where=where, hint=shape.example)
    failed = shape.failure(response)
    if failed is not None:
        hint = "A search that failed has no ranking: run it again, or take it out."
        raise InputError(f"this search failed: {ids.show(str(failed), 200)}", where=where, hint=hint)
    if not shape.recognised(response):
        keys = ", ".join(ids.show(str(key), 40) for key in list(response)[:12]) or "nothing"
        raise InputError(f"is no response of {shape.name}; it has: {keys}", where=where, hint=shape.example)
    return shape.page(response, where)


def listed(value: Any, where: str) -> list[Mapping[str, Any]]:
    """A list of objects, or the error."""
    if not isinstance(value, list):
        raise InputError(f"is {ids.show(repr(value), 60)}, not a list", where=where)
    for i, entry in enumerate(value):
        if not isinstance(entry, Mapping):
            raise InputError(f"is {ids.show(repr(entry), 60)}, not an object", where=f"{where}[{i}]")
    return value


def failed(key: str) -> Callable[[Mapping[str, Any]], Any]:
    """What an answer with a code and without results says under a key."""
    return lambda response: response.get(key) if "code" in response and "hits" not in response else None


def at(record: Any, *path: str) -> Any:
    """What stands at a path of keys, None if nothing does."""
    for key in path:
        record = record.get(key) if isinstance(record, Mapping) else None
    return record


def whole(value: Any) -> int:
    """A number of results, 0 if there is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
