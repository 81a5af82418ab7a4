"""`Frozen`: nouns that never change once they are made."""

from __future__ import annotations

from typing import Any


class Frozen:
    """An object whose public attributes cannot be set or deleted.

    Its constructor sets them with `_keep`. Private attributes hold what was computed so far.

    >>> class Point(Frozen):
    ...     def __init__(self, x: float) -> None:
    ...         self._keep(x=x)
    >>> point = Point(1.0)
    >>> point.x
    1.0
    >>> point.x = 2.0
    Traceback (most recent call last):
        ...
    AttributeError: a Point does not change: its x cannot be set
    """

    def _keep(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            raise AttributeError(self._refusal(name))
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if not name.startswith("_"):
            raise AttributeError(self._refusal(name))
        object.__delattr__(self, name)

    def _refusal(self, name: str) -> str:
        kind = type(self).__name__
        article = "a"
        if kind[0] in "AEIOU":
            article = "an"

        refusal = f"{article} {kind} does not change: its {name} cannot be set"
        if name == "name" and hasattr(self, "renamed"):
            return f"{refusal}; renamed('...') makes another"
        return refusal
