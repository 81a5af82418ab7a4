"""Public functions that are called with things that they do not take say so in words."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar

from goldrank.errors import GoldrankError, OptionError
from goldrank.escaping import shown

P = ParamSpec("P")
Result = TypeVar("Result")

MOST_BITS = 1023
"""A number beyond this is no double, and one a little beyond is refused by Python where it is to be shown."""


def checked(function: Callable[P, Result]) -> Callable[P, Result]:
    """A function that names the argument that is not of its annotated type, where it could not go on.

    Types are looked at only after something went wrong: what works is not slower, and objects that do what is needed
    are welcome whatever they are. Where all arguments are of their types the exception stays as it is.
    """

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> Result:
        try:
            return function(*arguments, **options)
        except GoldrankError:
            raise
        except Exception as error:
            wrong = _first_wrong(function, arguments, options)
            if wrong is None:
                raise
            raise OptionError(wrong) from error

    # The usual values of options, for those who look them up.
    call.__kwdefaults__ = function.__kwdefaults__  # type: ignore[attr-defined]
    return call


def _first_wrong(function: Callable[..., Any], arguments: tuple[Any, ...], options: Mapping[str, Any]) -> str | None:
    try:
        given = inspect.signature(function).bind(*arguments, **options).arguments
    except TypeError:  # a wrong name or number of arguments, which Python says well
        return None
    for name, value in given.items():
        written = function.__annotations__.get(name, Any)
        if not _fits(value, _type_of(written, function.__globals__)):
            wanted = str(written).replace(" | ", " or ")
            return f"{function.__name__}: {name} is {shown(value)} (of type {type(value).__name__}), not {wanted}"
    return None


def _type_of(written: Any, names: dict[str, Any]) -> Any:
    """The type that an annotation stands for."""

    def holder() -> None: ...

    holder.__annotations__ = {"value": written}
    try:
        return typing.get_type_hints(holder, names)["value"]
    except Exception:  # a name that only type checkers know
        return Any


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type, as far as that can be told by looking."""
    if _is_beyond(value):
        return False
    kind, parts = typing.get_origin(hint) or hint, typing.get_args(hint)
    if kind in (typing.Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if kind is Literal:
        return isinstance(value, str | int) and value in parts
    if kind in (None, NoneType):
        return value is None
    if kind is float:
        return isinstance(value, int | float) or getattr(value, "ndim", None) == 0  # numpy's numbers
    if kind is Any or not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return True
    if isinstance(value, str | bytes) and kind in (*_SEQUENCES, Iterable):
        return False
    return isinstance(value, kind) and _members_fit(value, kind, parts)


def _is_beyond(value: Any) -> bool:
    """Whether a value is a number beyond doubles, or has one in it."""
    if isinstance(value, int):
        return value.bit_length() > MOST_BITS
    if isinstance(value, list | tuple):
        return any(map(_is_beyond, value))
    return isinstance(value, dict) and any(map(_is_beyond, value.values()))


_SEQUENCES = (typing.get_origin(typing.Sequence[int]), list)


def _members_fit(value: Any, kind: type, parts: tuple[Any, ...]) -> bool:
    if isinstance(value, dict) and len(parts) == 2:
        return all(_fits(key, parts[0]) and _fits(member, parts[1]) for key, member in value.items())
    if isinstance(value, list | tuple) and len(parts) == 1:
        return all(_fits(member, parts[0]) for member in value)
    return True
