"""`{query}`, `{k}` and other fields of a query in the texts of an engine file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

_FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")


@dataclass(frozen=True)
class EngineQuery:
    """One query, as an engine is asked it."""

    id: str
    text: str
    k: int
    fields: Mapping[str, Any]
    """What else the file of queries says of it."""

    @property
    def values(self) -> dict[str, Any]:
        """What stands for each field of a template."""
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

    A string that is one field and nothing else becomes the value itself. Names that are no field stay as they are,
    because other languages have braces too.

    >>> filled({"size": "{k}", "q": ["say {query}", "{other}"]}, {"query": 'a "b"', "k": 5})
    {'size': 5, 'q': ['say a "b"', '{other}']}
    """
    if isinstance(template, Mapping):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [filled(value, values) for value in template]
    if not isinstance(template, str):
        return template

    whole = _FIELD.fullmatch(template)
    if whole is not None and whole[1] in values:
        if whole[1] == "vector":
            return _vector(values[whole[1]])
        return values[whole[1]]
    return _FIELD.sub(lambda name: as_text(values[name[1]]) if name[1] in values else name[0], template)


def filled_address(template: str, values: Mapping[str, Any]) -> str:
    """An address with values in it, none of which can leave its place.

    >>> filled_address("http://localhost/{index}/_search", {"index": "a/../b?c"})
    'http://localhost/a%2F..%2Fb%3Fc/_search'
    """
    return _FIELD.sub(lambda name: _quoted(values[name[1]]) if name[1] in values else name[0], template)


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
    except ValueError:
        return value
