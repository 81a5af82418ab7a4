"""The answer in a model's text. An answer that cannot be read is never guessed."""

from __future__ import annotations

import json
import math
import re
import string
from collections.abc import Sequence
from typing import Any

from goldrank.data.qrels import Grade
from goldrank.judging.item import Answer
from goldrank.judging.prompt import Prompt

_THOUGHT = re.compile(r"<(/?)think>", re.IGNORECASE)
_FENCE = "```"
_INTEGER = re.compile(r"-?\d{1,7}")
MOST_REASON = 2_000


def read_answer(text: str | None, prompt: Prompt, marker: str, finish: str | None = "stop") -> Answer:
    """The answer in a model's text: the whole text as JSON, else its last object.

    An answer that was cut, does not repeat the marker, or names no single step of the scale is unreadable. Where the
    prompt asks for no marker, one lone number is an answer too.

    >>> read_answer('{"marker": "m", "reason": "no", "grade": 0}', Prompt.of("relevance"), "m").grade
    0
    """
    if finish != "stop":
        return Answer(None, problem=f"the answer ended with {finish!r:.40}, not with 'stop'")
    if text is None:
        return Answer(None, problem="there is no text in the answer")

    plain = _without_fence(_without_thoughts(text).strip())
    objects = _objects(plain)
    if not objects:
        lone = plain.strip("\"'*. \n")
        if prompt.kind == "grade" and not prompt.has_marker and _INTEGER.fullmatch(lone):
            return _judged(lone, "", prompt)
        return Answer(None, problem="there is no JSON object in the answer")

    last = objects[-1]
    if prompt.has_marker and last.get("marker") != marker:
        return Answer(None, problem="the answer does not repeat the marker")
    if prompt.kind == "texts":
        return written(last, prompt.fields)
    values = [candidate[prompt.field] for candidate in objects if prompt.field in candidate]
    if any(value != last.get(prompt.field) for value in values):
        return Answer(None, problem="the answer has two different values")
    if prompt.field not in last:
        return Answer(None, problem=f"the answer has no field {prompt.field!r}")

    reason = last.get("reason")
    if not isinstance(reason, str):
        reason = ""
    return _judged(last[prompt.field], reason[:MOST_REASON], prompt)


def written(record: Any, fields: Sequence[str]) -> Answer:
    """An answer that has a text for each field; where one is empty nothing was written, which is grade 0.

    >>> written({"question": "Who?", "quote": "Ada."}, ["question", "quote"]).grade
    1
    """
    if not isinstance(record, dict) or not all(isinstance(record.get(name), str) for name in fields):
        return Answer(None, problem=f"the answer has no text for each of {', '.join(fields)}")
    texts = {name: record[name].strip() for name in fields}
    return Answer(int(all(texts.values())), fields=texts)


def _judged(value: Any, reason: str, prompt: Prompt) -> Answer:
    if prompt.kind == "probability":
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if is_number and 0 <= value <= 1:
            return Answer(float(value), reason)
        return Answer(None, reason, problem=_not_on_scale(value))

    if prompt.kind == "label":
        label = ""
        if isinstance(value, str):
            label = value.strip().casefold()
        grade = prompt.answers.get(label)
        if grade is None:
            return Answer(None, reason, problem=_not_on_scale(value))
        return Answer(grade, reason, label)

    number = as_integer(value)
    if number is None or number not in prompt.answers.values():
        return Answer(None, reason, problem=_not_on_scale(value))
    return Answer(number, reason)


def as_integer(value: Any) -> Grade | None:
    """An integer, an integral float or digits as an integer; None for all else, also for True and False.

    >>> as_integer("2"), as_integer(2.0), as_integer(True), as_integer("2-3"), as_integer(2.5)
    (2, 2, None, None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        if _INTEGER.fullmatch(value.strip()):
            return int(value.strip())
        return None
    if isinstance(value, float):
        if math.isfinite(value) and value.is_integer():
            return int(value)
        return None
    if isinstance(value, int):
        return value
    return None


def _not_on_scale(value: Any) -> str:
    return f"{str(value)!r:.60} is not on the scale"


def _without_thoughts(text: str) -> str:
    """A text without the parts between <think> and </think>.

    Each tag is visited once: one pattern for both would search the whole text for the end of every beginning.
    """
    pieces = []
    start = 0
    opened: int | None = None
    for tag in _THOUGHT.finditer(text):
        is_end = bool(tag[1])
        if not is_end and opened is None:
            opened = tag.start()
        elif is_end and opened is not None:
            pieces.append(text[start:opened])
            start = tag.end()
            opened = None
    return "".join([*pieces, text[start:]])


def _without_fence(text: str) -> str:
    """The text inside a fence of three backticks, without the name of a language, if the whole text is one fence."""
    if len(text) < 2 * len(_FENCE) or not text.startswith(_FENCE) or not text.endswith(_FENCE):
        return text
    return text[len(_FENCE) : -len(_FENCE)].lstrip(string.ascii_letters).strip()


class _TwiceError(ValueError):
    """A field that an object has twice, with different values."""


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members and members[key] != value:
            raise _TwiceError(key)
        members[key] = value
    return members


def _objects(text: str) -> list[dict[str, Any]]:
    """The whole text as a JSON object, else the balanced objects in it, in order."""
    for candidates in ([text], _balanced(text)):
        objects = []
        for candidate in candidates:
            try:
                read = json.loads(candidate, object_pairs_hook=_unique_members)
            except (ValueError, RecursionError):
                continue
            if isinstance(read, dict):
                objects.append(read)
        if objects:
            return objects
    return []


def _balanced(text: str) -> list[str]:
    """The stretches from a { to its }; braces in strings do not count. One pass, so that no text takes long."""
    stretches = []
    depth = start = 0
    quoted = escaped = False
    for position, sign in enumerate(text):
        if quoted:
            if escaped:
                escaped = False
            elif sign == "\\":
                escaped = True
            elif sign == '"':
                quoted = False
        elif sign == '"' and depth:
            quoted = True
        elif sign == "{":
            if not depth:
                start = position
            depth += 1
        elif sign == "}" and depth:
            depth -= 1
            if not depth:
                stretches.append(text[start : position + 1])

    return stretches
