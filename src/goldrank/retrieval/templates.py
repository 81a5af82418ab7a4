"""`{query}`, `{k}` and other fields of a query in the texts of an engine file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

_FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")


@dataclass(frozen=True)
class EngineQuery:
    """One query for an engine."""

    id: str
    text: str
    k: int
    fields: Mapping[str, Any]
    """Its other fields in the file of queries."""

    @property
    def values(self) -> dict[str, Any]:
        """The value of each field of a template."""
        return {**self.fields, "query": self.text, "id": self.id, "k": self.k}


def fields_in(template: Any) -> Iterator[str]:
    """The names between braces in the strings of a template."""
    if isinstance(template, str):
        yield from _FIELD.findall(template)
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from fields_in(value)
    elif isinstance(template, list | tuple):
        for value in template:
            yield from fields_in(value)


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """A template with values in its strings. They are data: none of them can add a key or end a string.

    A string that is one field and nothing else becomes the value itself. Names in braces that are not fields stay as
    they are, because other languages have braces too.

    >>> filled({"size": "{k}", "q": ["say {query}", "{other}"]}, {"query": 'a "b"', "k": 5})
    {'size': 5, 'q': ['say a "b"', '{other}']}
    """
    if isinstance(template, Mapping):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [filled(value, values) for value in template]
    if not isinstance(template, str):
        return template

    only_field = _FIELD.fullmatch(template)
    if only_field is not None and only_field[1] in values:
        name = only_field[1]
        if name == "vector":
            return _vector(values[name])
        return values[name]
    return _replaced(template, values, as_text)


def _replaced(template: str, values: Mapping[str, Any], written: Callable[[Any], str]) -> str:
    """A string with a written value for each field that has one."""

    def replacement(field: re.Match[str]) -> str:
        name = field[1]
        if name in values:
            return written(values[name])
        return field[0]

    return _FIELD.sub(replacement, template)


def filled_address(template: str, values: Mapping[str, Any]) -> str:
    """An address with values in it; a value with slashes is still one step of the path.

    >>> filled_address("http://localhost/{index}/_search", {"index": "a/../b?c"})
    'http://localhost/a%2F..%2Fb%3Fc/_search'
    """
    return _replaced(template, values, _quoted)


def _quoted(value: Any) -> str:
    """A value as one step of a path: also `..` stays a name."""
    text = as_text(value)
    if text in (".", ".."):
        return text.replace(".", "%2E")
    return quote(text.encode("utf-8", "replace"), safe="")


def as_text(value: Any) -> str:
    """A value inside a string: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, default=str)


def _vector(value: Any) -> Any:
    """A vector of a table is the text of a list."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
