"""`Prompt`: a file with named fields, filled in one pass with texts as JSON strings."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from goldrank.base.errors import InputError, OptionError, Position, one_of
from goldrank.base.types import Path as PathLike
from goldrank.data.grades import check_grade
from goldrank.data.qrels import Grade
from goldrank.judging.item import Call

KINDS = {
    "grade": "one of the grades of `scale`",
    "label": "one of the words of `scale`",
    "probability": "from 0 to 1",
    "texts": "a text for each of `fields`",
}
FIELDS = ("question", "text", "reference", "criteria", "criteria_rules", "marker", "scale")
PromptName: TypeAlias = Literal["relevance", "support", "question", "answerable"]
SHIPPED = get_args(PromptName)
_FIELD = re.compile(r"\{([a-z_]+)\}")
_SECTION = re.compile(r"^\[(system|user)\]\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Prompt:
    """The messages to a model, with named fields for the item.

    The file has a header (`kind: grade`, `scale: 0 1 2 3`), then a line `[system]` and the rules, then a line `[user]`
    and the item. Fields are `{question}`, `{text}`, `{reference}`, `{criteria}`, which are filled with JSON strings,
    `{marker}`, which the answer must then repeat, and `{scale}`. All fields are filled in one pass: what looks like
    a field in a text stays as it is.
    """

    name: str
    kind: str
    answers: dict[str, Grade]
    """Each possible answer and its grade, from the lowest grade; empty for probabilities."""
    system: str
    user: str
    fields: tuple[str, ...] = ()
    """The fields of an answer that has texts instead of a judgement."""

    @property
    def digest(self) -> str:
        """A hash of everything in it."""
        content: list[Any] = [self.kind, self.answers, self.system, self.user]
        if self.fields:
            content.append(self.fields)
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    @property
    def scale(self) -> tuple[Grade, ...] | None:
        """The grades that it asks for."""
        return tuple(self.answers.values()) or None

    @property
    def has_marker(self) -> bool:
        """Whether answers must repeat the marker, which shows that they were not copied from a text."""
        return "{marker}" in self.system + self.user

    @property
    def field(self) -> str:
        """The field of the answer that has the judgement."""
        return self.kind

    def messages(self, call: Call) -> list[dict[str, str]]:
        """The messages of a call."""
        item = call.item
        rules = ""
        if item.criteria:
            rules = f"What counts as relevant here: {_string(item.criteria)}"
        scale = "a number from 0 to 1"
        if self.answers:
            scale = ", ".join(self.answers)

        values = {name: _string(getattr(item, name)) for name in ("question", "text", "reference", "criteria")}
        values |= {"criteria_rules": rules, "marker": call.marker, "scale": scale}
        messages = []
        for role, template in (("system", self.system), ("user", self.user)):
            if template.strip():
                filled = _FIELD.sub(lambda field: values[field[1]], template)
                messages.append({"role": role, "content": filled.strip()})
        return messages

    def schema(self) -> dict[str, object]:
        """The JSON schema of an answer."""
        judged: dict[str, object] = {"type": "number"}
        if self.kind == "grade":
            judged = {"type": "integer", "enum": list(self.answers.values())}
        elif self.kind == "label":
            judged = {"type": "string", "enum": list(self.answers)}

        fields: dict[str, object] = {"reason": {"type": "string"}, self.field: judged}
        if self.kind == "texts":
            fields = {name: {"type": "string"} for name in self.fields}
        if self.has_marker:
            fields = {"marker": {"type": "string"}, **fields}
        return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}

    @classmethod
    def of(cls, source: Prompt | PathLike) -> Prompt:
        """One of goldrank's prompts by its name, or a prompt from a file."""
        if isinstance(source, Prompt):
            return source

        if isinstance(source, str) and source in SHIPPED:
            text = (resources.files("goldrank.judging") / "prompts" / f"{source}.txt").read_text(encoding="utf-8")
            return cls.parse(text, source)

        if not isinstance(source, str | os.PathLike):
            raise OptionError(f"a prompt is {type(source).__name__}; it is a name or a file")

        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            hint = f"Prompts from the box: {', '.join(SHIPPED)}."
            raise InputError(f"cannot be read: {error}", where=os.fsdecode(source), hint=hint) from None

        return cls.parse(text, os.fsdecode(source))

    @classmethod
    def parse(cls, text: str, name: str) -> Prompt:
        """A prompt from the text of its file."""
        parts = _SECTION.split(text)
        sections = dict(zip(parts[1::2], parts[2::2], strict=True))
        if "user" not in sections:
            raise InputError("a prompt has no line [user]", where=name, hint="After it comes what is asked.")

        header: dict[str, str] = {}
        for number, line in enumerate(parts[0].splitlines(), 1):
            key, sign, value = (part.strip() for part in line.partition(":"))
            if not line.strip():
                continue
            if not sign or key not in ("kind", "scale", "fields"):
                message = f"{line.strip()!r:.60} is not a line of a prompt's header"
                hint = "The header has `kind: grade` and `scale: 0 1 2 3`."
                raise InputError(message, where=Position(name, number), hint=hint)
            header[key] = value

        kind = one_of(header.get("kind", "grade"), KINDS, f"{name}: kind")
        _check_fields(text, name)
        fields = tuple(header.get("fields", "").split())
        if (kind == "texts") != bool(fields) or len(set(fields)) < len(fields):
            message = "a prompt has different fields if, and only if, it is of kind texts"
            raise InputError(message, where=name, hint="For example `kind: texts` and `fields: question quote`.")

        answers = _answers(header.get("scale", ""), kind, name)
        return cls(name, kind, answers, sections.get("system", ""), sections["user"], fields)


def _check_fields(text: str, name: str) -> None:
    for number, line in enumerate(text.splitlines(), 1):
        for field in _FIELD.finditer(line):
            if field[1] not in FIELDS:
                hint = f"Fields are: {', '.join(f'{{{known}}}' for known in FIELDS)}."
                where = Position(name, number, field.start() + 1)
                raise InputError(f"there is no field {field[0]}", where=where, hint=hint)


def _answers(scale: str, kind: str, name: str) -> dict[str, Grade]:
    if kind in ("probability", "texts"):
        return {}

    steps: dict[str, Grade] = {}
    for word in scale.split():
        answer, sign, number = word.partition("=")
        digits = answer
        if sign:
            digits = number
        is_named_grade = kind == "grade" and sign != ""
        if is_named_grade or answer in steps or not re.fullmatch(r"-?\d{1,7}", digits):
            hint = "For example `scale: 0 1 2 3`, or with kind: label `scale: no=0 yes=1`."
            raise InputError(f"{word!r:.40} is not a step of a scale", where=name, hint=hint)
        steps[answer] = check_grade(int(digits), name)

    if len(steps) < 2 or list(steps.values()) != sorted(set(steps.values())):
        raise InputError("a scale needs two or more different grades, from the lowest to the highest", where=name)
    return steps


_ENDINGS = re.compile(r"[\x7f-\x9f\u2028\u2029]")
_TEMPLATE = re.compile(
    r"<(?=[|｜]|</?SYS>>|/?(?:s|think|bos|eos|pad|unk|mask|sop|eop)>|(?:start|end)_of_(?:turn|image)>)"
    r"|\[(?=/?(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|[gs]?MASK|CLS|SEP)\])",
    re.IGNORECASE,
)
"""The first character of what tokenisers of usual models take for a special token."""


def _string(text: str) -> str:
    """Text as a JSON string; half surrogate pairs, which no server takes, are shown as escapes.

    JSON escapes also replace what some programs take for the end of a line, and what local servers take for the end of
    a message (`<|im_end|>`, `</s>`, `[INST]`): in a text these are only text.
    """
    written = json.dumps(text.encode("utf-8", "backslashreplace").decode(), ensure_ascii=False)
    return _TEMPLATE.sub(_escaped, _ENDINGS.sub(_escaped, written))


def _escaped(matched: re.Match[str]) -> str:
    return f"\\u{ord(matched[0]):04x}"
