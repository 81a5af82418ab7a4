"""`Function`: a Python function as a judge, asynchronous or not."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

from goldrank.base.errors import GoldrankError, OptionError
from goldrank.base.escaping import shown
from goldrank.data.qrels import Grade
from goldrank.judging.item import Answer, AskAgainLater, Call, Description, ItemFailed, Reply
from goldrank.judging.parse import as_integer, written

_PERMANENT = (TypeError, AttributeError, NameError, ImportError, NotImplementedError, SyntaxError, GoldrankError)
"""Errors that another attempt will not remove."""


class Function:
    """A function of (question, text[, reference][, criteria]), by these names or in this order.

    It returns a grade of `scale`, a number from 0 to 1 where there is no scale, or one of these with a reason, as a
    pair; with `fields` a dict with a text for each of them. Answers are kept under the function's name and code;
    change `version` for a change that is not in the code, such as another model behind it.
    """

    max_tokens = 0

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        scale: Sequence[Grade] | None = (0, 1, 2, 3),
        name: str | None = None,
        version: str = "",
        criteria: str = "",
        timeout: float | None = 120.0,
        fields: Sequence[str] = (),
    ) -> None:
        if not callable(function):
            raise OptionError(f"{shown(function, 60)} is not a judge", hint="Give a function of a question and a text.")

        self.function = function
        self.scale = None
        if scale is not None:
            self.scale = checked_scale(scale)
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.version = version
        self.criteria = checked_criteria(criteria)
        self.timeout = None
        if timeout is not None:
            self.timeout = seconds(timeout)

        self.fields = tuple(fields)
        self._takes = _takes(function)

    def description(self) -> Description:
        """The function's name, a hash of its code, its scale."""
        digest = ""
        code = getattr(self.function, "__code__", None)
        if code:
            digest = hashlib.sha256(_code_text(code).encode()).hexdigest()

        home = f"{getattr(self.function, '__module__', '')}.{getattr(self.function, '__qualname__', self.name)}"
        parameters: dict[str, Any] = {"function": home, "name": self.name, "code": digest, "version": self.version}
        if self.fields:
            parameters["fields"] = list(self.fields)
        return Description("function", {**parameters, "scale": self.scale and list(self.scale), "labels": {}})

    def messages(self, call: Call) -> list[dict[str, str]]:
        """The function's arguments."""
        item = call.item
        return [{"role": name, "content": getattr(item, name)} for name in self._takes]

    async def ask(self, call: Call) -> Reply:
        """Call it; one that is not asynchronous runs in a thread."""
        arguments = [getattr(call.item, name) for name in self._takes]
        try:
            if inspect.iscoroutinefunction(self.function) or inspect.iscoroutinefunction(
                getattr(self.function, "__call__", None)  # noqa: B004 - objects with an asynchronous __call__
            ):
                result = await asyncio.wait_for(self.function(*arguments), self.timeout)
            else:
                result = await asyncio.wait_for(asyncio.to_thread(self.function, *arguments), self.timeout)
                if inspect.isawaitable(result):
                    result = await asyncio.wait_for(result, self.timeout)
        except _PERMANENT as error:
            raise ItemFailed(type(error).__name__, str(error)) from error
        except TimeoutError:
            raise AskAgainLater("TimeoutError", f"no answer within {self.timeout:g} seconds") from None
        except Exception as error:
            raise AskAgainLater(type(error).__name__, str(error)) from error

        if self.fields:
            answer = written(result, self.fields)
        else:
            answer = understood(result, self.scale)
        return Reply.of(repr(result)[:100_000], answer)

    async def close(self) -> None:
        """There is nothing to close."""


def checked_scale(scale: Sequence[Grade]) -> tuple[Grade, ...]:
    """The grades of a scale, from the lowest to the highest; at least two."""
    steps: tuple[Grade, ...] = ()
    if isinstance(scale, tuple | list | range):
        steps = tuple(scale)
    are_numbers = all(isinstance(step, int | float) and not isinstance(step, bool) for step in steps)
    if len(steps) < 2 or not are_numbers or sorted(set(steps)) != list(steps):
        hint = "For example scale=(0, 1, 2, 3)."
        raise OptionError(f"scale is {shown(scale, 60)}; it must be two or more ascending grades", hint=hint)
    return steps


def checked_criteria(criteria: str) -> str:
    """The criteria; raise unless they are a text."""
    if isinstance(criteria, str):
        return criteria
    raise OptionError(f"criteria is {shown(criteria, 60)}; it must be a text")


def seconds(timeout: float) -> float:
    """The time to wait; raise unless it is a number above 0."""
    if isinstance(timeout, int | float) and not isinstance(timeout, bool) and 0 < timeout < math.inf:
        return timeout
    raise OptionError(f"timeout is {shown(timeout, 40)}; it must be seconds, above 0", code="bad-number")


def understood(value: Any, scale: Sequence[Grade] | None) -> Answer:
    """The answer of a function or a command: a value, a pair of value and reason, or an object with both."""
    reason = ""
    if isinstance(value, dict):
        field = next((name for name in ("grade", "probability") if name in value), None)
        if field is None:
            return Answer(None, problem="the answer has neither 'grade' nor 'probability'")
        value, reason = value[field], value.get("reason") or ""
    elif isinstance(value, tuple | list) and len(value) == 2:
        value, reason = value

    if not isinstance(reason, str):
        reason = str(reason)

    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()  # a number of numpy

    problem = f"{shown(value, 60)} is not on the scale"
    if scale is None:
        if isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= 1:
            return Answer(float(value), reason)
        return Answer(None, reason, problem=problem)

    number = value
    if isinstance(value, bool):
        number = int(value)
    elif not (isinstance(value, float) and value in scale):
        number = as_integer(value)

    if number in scale:
        return Answer(number, reason)
    return Answer(None, reason, problem=problem)


def _takes(function: Callable[..., Any]) -> tuple[str, ...]:
    """The parts of an item that a function takes."""
    parts = ("question", "text", "reference", "criteria")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return parts[:2]

    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters if parameter.kind in kinds]
    needed = [parameter for parameter in parameters if parameter.kind in kinds and parameter.default is parameter.empty]
    chosen = tuple(name for name in names if name in parts)
    if len(chosen) >= len(needed) and chosen == tuple(names[: len(chosen)]) and len(chosen) >= 2:
        return chosen

    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters) or len(names) >= 2:
        count = max(2, min(len(needed), len(parts)))
        if len(needed) <= len(parts):
            return parts[:count]

    message = f"a judge takes (question, text[, reference][, criteria]), and this one takes ({', '.join(names)})"
    raise OptionError(message)


def _code_text(code: Any) -> str:
    """The instructions of a function, without its file and lines."""
    constants = [_constant_text(constant) for constant in code.co_consts]
    return f"{code.co_code.hex()} {constants} {code.co_names}"


def _constant_text(constant: Any) -> str:
    if hasattr(constant, "co_code"):
        return _code_text(constant)
    return repr(constant)
