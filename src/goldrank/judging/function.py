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
from goldrank.judging.parse import whole, written

_PERMANENT = (TypeError, AttributeError, NameError, ImportError, NotImplementedError, SyntaxError, GoldrankError)
"""Errors that another attempt will not remove."""


class Function:
    """A function of (question, text[, reference][, criteria]), by these names or in this order.

    It returns a grade of `scale`, a number from 0 to 1 where there is no scale, or one of these with a reason, as a
    pair; with `fields` a dict with a text for each of them. Answers are kept under the function's name and code;
    `version` tells changes apart that are not in its own code, such as another model behind it.
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
            raise OptionError(f"{shown(function, 60)} is no judge", hint="Give a function of a question and a text.")

        self.function = function
        if scale is None:
            self.scale = None
        else:
            self.scale = checked_scale(scale)

        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.version = version
        self.criteria = checked_criteria(criteria)
        if timeout is None:
            self.timeout = None
        else:
            self.timeout = seconds(timeout)

        self.fields = tuple(fields)
        self._takes = _takes(function)

    def description(self) -> Description:
        """The function's name, a hash of its code, its scale."""
        code = getattr(self.function, "__code__", None)
        if code:
            digest = hashlib.sha256(_code_text(code).encode()).hexdigest()
        else:
            digest = ""
        home = f"{getattr(self.function, '__module__', '')}.{getattr(self.function, '__qualname__', self.name)}"
        said: dict[str, Any] = {"function": home, "name": self.name, "code": digest, "version": self.version}
        said |= {"fields": list(self.fields)} if self.fields else {}
        return Description("function", {**said, "scale": self.scale and list(self.scale), "labels": {}})

    def messages(self, call: Call) -> list[dict[str, str]]:
        """What the function is given."""
        item = call.item
        return [{"role": name, "content": getattr(item, name)} for name in self._takes]

    async def ask(self, call: Call) -> Reply:
        """Call it; one that is not asynchronous runs in a thread."""
        given = [getattr(call.item, name) for name in self._takes]
        try:
            if inspect.iscoroutinefunction(self.function) or inspect.iscoroutinefunction(
                getattr(self.function, "__call__", None)  # noqa: B004 - objects with an asynchronous __call__
            ):
                said = await asyncio.wait_for(self.function(*given), self.timeout)
            else:
                said = await asyncio.wait_for(asyncio.to_thread(self.function, *given), self.timeout)
                if inspect.isawaitable(said):
                    said = await asyncio.wait_for(said, self.timeout)
        except _PERMANENT as error:
            raise ItemFailed(type(error).__name__, str(error)) from error
        except TimeoutError:
            raise AskAgainLater("TimeoutError", f"no answer within {self.timeout:g} seconds") from None
        except Exception as error:
            raise AskAgainLater(type(error).__name__, str(error)) from error

        if self.fields:
            answer = written(said, self.fields)
        else:
            answer = understood(said, self.scale)

        return Reply(repr(said)[:100_000], answer, "unreadable" if answer.problem else "ok")

    async def close(self) -> None:
        """There is nothing to close."""


def checked_scale(scale: Sequence[Grade]) -> tuple[Grade, ...]:
    """The grades of a scale, from the lowest to the highest; at least two."""
    if isinstance(scale, tuple | list | range):
        steps = tuple(scale)
    else:
        steps = ()
    are_numbers = all(isinstance(step, int | float) and not isinstance(step, bool) for step in steps)
    if len(steps) < 2 or not are_numbers or sorted(set(steps)) != list(steps):
        hint = "For example scale=(0, 1, 2, 3)."
        raise OptionError(f"scale is {shown(scale, 60)}; it must be two or more ascending grades", hint=hint)
    return steps


def checked_criteria(criteria: str) -> str:
    """What counts as relevant, if it is a text."""
    if isinstance(criteria, str):
        return criteria
    raise OptionError(f"criteria is {shown(criteria, 60)}; it must be a text")


def seconds(timeout: float) -> float:
    """A time to wait, if it is one."""
    if isinstance(timeout, int | float) and not isinstance(timeout, bool) and 0 < timeout < math.inf:
        return timeout
    raise OptionError(f"timeout is {shown(timeout, 40)}; it must be seconds, above 0", code="bad-number")


def understood(said: Any, scale: Sequence[Grade] | None) -> Answer:
    """What a function or a command answered: a value, a pair of value and reason, or an object with both."""
    reason = ""
    if isinstance(said, dict):
        field = next((name for name in ("grade", "probability") if name in said), None)
        if field is None:
            return Answer(None, problem="the answer has neither 'grade' nor 'probability'")
        said, reason = said[field], said.get("reason") or ""
    elif isinstance(said, tuple | list) and len(said) == 2:
        said, reason = said

    if isinstance(reason, str):
        reason = reason
    else:
        reason = str(reason)

    if hasattr(said, "item") and not isinstance(said, str):
        said = said.item()  # a number of numpy's

    problem = f"{shown(said, 60)} is not on the scale"
    if scale is None:
        sound = isinstance(said, int | float) and math.isfinite(said) and 0 <= said <= 1
        if sound:
            return Answer(float(said), reason)
        return Answer(None, reason, problem=problem)

    number = said
    if isinstance(said, bool):
        number = int(said)
    elif not (isinstance(said, float) and said in scale):
        number = whole(said)

    if number in scale:
        return Answer(number, reason)
    return Answer(None, reason, problem=problem)


def _takes(function: Callable[..., Any]) -> tuple[str, ...]:
    """Which parts of an item a function is given."""
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

    raise OptionError(
        f"a judge takes (question, text[, reference][, criteria]), and this one takes ({', '.join(names)})"
    )


def _code_text(code: Any) -> str:
    """What a function does, without where it stands."""
    inner = [_code_text(each) if hasattr(each, "co_code") else repr(each) for each in code.co_consts]
    return f"{code.co_code.hex()} {inner} {code.co_names}"
