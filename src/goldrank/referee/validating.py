"""Schemas that goldrank comes with, and a small validator of what they say: records are checked without any package.

It knows the words of JSON Schema that these schemas use, and refuses a schema that uses others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from goldrank.base.errors import OptionError, did_you_mean
from goldrank.base.escaping import shown

_ABOUT = ("$schema", "$id", "$defs", "title", "description", "default")
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}

Schema = Mapping[str, Any]


@cache
def schema_files() -> Mapping[str, str]:
    """The file of each schema's newest version, by name."""
    newest: dict[str, tuple[int, str]] = {}
    for entry in files("goldrank.referee").joinpath("schemas").iterdir():
        matched = re.fullmatch(r"([a-z]+)-(\d+)\.json", entry.name)
        if matched:
            name, version = matched[1], int(matched[2])
            newest[name] = max(newest.get(name, (0, "")), (version, entry.name))
    return {name: file for name, (_, file) in sorted(newest.items())}


def schema_text(name: str) -> str:
    """A schema as it stands in its file."""
    known = schema_files()
    if name not in known:
        hint = did_you_mean(name, known) or f"There are: {', '.join(known)}."
        raise OptionError(f"there is no schema {name!r:.40}", hint=hint, code="unknown-choice")
    return files("goldrank.referee").joinpath("schemas", known[name]).read_text(encoding="utf-8")


@cache
def schema(name: str) -> Schema:
    """A schema by its name."""
    data: Schema = json.loads(schema_text(name))
    return data


def problems(value: Any, name: str) -> list[str]:
    """All that is wrong with a value by a schema, each with its place."""
    return list(_Validator(schema(name)).check(value, schema(name), "$"))


def _named(reference: str) -> Schema:
    """The schema of an address, `.../record-1.json`; nothing is fetched."""
    file = reference.rsplit("/", 1)[-1]
    data: Schema = json.loads(files("goldrank.referee").joinpath("schemas", file).read_text(encoding="utf-8"))
    return data


class _Validator:
    """Checks values by one schema."""

    def __init__(self, root: Schema) -> None:
        self.root = root

    def check(self, value: Any, rule: Schema | bool, at: str) -> Iterator[str]:
        """What is wrong with a value."""
        if isinstance(rule, bool):
            if not rule:
                yield f"{at}: is not allowed"
            return
        for word, wanted in rule.items():
            if word in _ABOUT:
                continue
            check = _CHECKS.get(word)
            if check is None:
                raise OptionError(f"the schema has {word!r}, which this validator does not know")
            yield from check(self, value, wanted, at, rule)

    def is_valid(self, value: Any, rule: Schema | bool) -> bool:
        """Whether nothing is wrong."""
        return next(self.check(value, rule, ""), None) is None

    # One for each word.

    def reference(self, value: Any, wanted: str, at: str, rule: Schema) -> Iterator[str]:
        if not wanted.startswith("#/"):
            other = _named(wanted)
            yield from _Validator(other).check(value, other, at)
            return
        inner: Any = self.root
        for part in wanted.removeprefix("#/").split("/"):
            inner = inner[part]
        yield from self.check(value, inner, at)

    def type(self, value: Any, wanted: str | Sequence[str], at: str, rule: Schema) -> Iterator[str]:
        names = [wanted] if isinstance(wanted, str) else wanted
        if not any(_is(value, name) for name in names):
            yield f"{at}: is {shown(value, 40)}, not {' or '.join(names)}"

    def const(self, value: Any, wanted: Any, at: str, rule: Schema) -> Iterator[str]:
        if value != wanted or type(value) is not type(wanted):
            yield f"{at}: is {shown(value, 40)}, not {wanted!r}"

    def enum(self, value: Any, wanted: Sequence[Any], at: str, rule: Schema) -> Iterator[str]:
        if value not in wanted:
            yield f"{at}: is {shown(value, 40)}, not one of {', '.join(map(repr, wanted))}"

    def required(self, value: Any, wanted: Sequence[str], at: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, dict):
            yield from (f"{at}: has no {name}" for name in wanted if name not in value)

    def properties(self, value: Any, wanted: Mapping[str, Schema], at: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, dict):
            for name, inner in wanted.items():
                if name in value:
                    yield from self.check(value[name], inner, f"{at}.{name}")

    def pattern_properties(self, value: Any, wanted: Mapping[str, Schema], at: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, dict):
            for pattern, inner in wanted.items():
                for name in filter(re.compile(pattern).search, value):
                    yield from self.check(value[name], inner, f"{at}.{name}")

    def additional_properties(self, value: Any, wanted: Schema | bool, at: str, rule: Schema) -> Iterator[str]:
        if not isinstance(value, dict):
            return

        known = rule.get("properties", {})
        patterns = list(rule.get("patternProperties", {}))
        for name in value:
            if name in known or any(re.search(pattern, name) for pattern in patterns):
                continue
            if wanted is False:
                yield (
                    f"{at}: has the unknown field {shown(name, 40)}. {did_you_mean(name, known) or ''}".rstrip(". ")
                    + "."
                )
            else:
                yield from self.check(value[name], wanted, f"{at}.{shown(name, 40)}")

    def items(self, value: Any, wanted: Schema | bool, at: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, list):
            first = len(rule.get("prefixItems", ()))
            for place, entry in enumerate(value[first:], first):
                yield from self.check(entry, wanted, f"{at}[{place}]")

    def prefix_items(self, value: Any, wanted: Sequence[Schema], at: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, list):
            for place, (entry, inner) in enumerate(zip(value, wanted, strict=False)):
                yield from self.check(entry, inner, f"{at}[{place}]")

    def all_of(self, value: Any, wanted: Sequence[Schema], at: str, rule: Schema) -> Iterator[str]:
        for inner in wanted:
            yield from self.check(value, inner, at)

    def any_of(self, value: Any, wanted: Sequence[Schema], at: str, rule: Schema) -> Iterator[str]:
        if any(self.is_valid(value, inner) for inner in wanted):
            return
        needed = [name for inner in wanted for name in inner.get("required", ())]
        yield f"{at}: needs one of {', '.join(needed)}" if needed else f"{at}: fits none of the forms that it may have"

    def one_of(self, value: Any, wanted: Sequence[Schema], at: str, rule: Schema) -> Iterator[str]:
        fitting = [inner for inner in wanted if self.is_valid(value, inner)]
        if len(fitting) == 1:
            return
        nearest = [list(self.check(value, inner, at)) for inner in wanted]
        deepest = max(nearest, key=lambda found: max((len(line.partition(": ")[0]) for line in found), default=0))
        yield from deepest[:1] or [f"{at}: fits several forms at once"]

    def no(self, value: Any, wanted: Schema, at: str, rule: Schema) -> Iterator[str]:
        if self.is_valid(value, wanted):
            names = " beside ".join(wanted.get("required", ()))
            yield f"{at}: has {names}" if names else f"{at}: is not allowed"

    def condition(self, value: Any, wanted: Schema, at: str, rule: Schema) -> Iterator[str]:
        branch = "then" if self.is_valid(value, wanted) else "else"
        if branch in rule:
            yield from self.check(value, rule[branch], at)

    def part_of_condition(self, value: Any, wanted: Schema, at: str, rule: Schema) -> Iterator[str]:
        yield from ()

    def minimum(self, value: Any, wanted: float, at: str, rule: Schema) -> Iterator[str]:
        if _is(value, "number") and value < wanted:
            yield f"{at}: is {value}, below {wanted}"

    def maximum(self, value: Any, wanted: float, at: str, rule: Schema) -> Iterator[str]:
        if _is(value, "number") and value > wanted:
            yield f"{at}: is {value}, above {wanted}"

    def least(self, value: Any, wanted: int, at: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, str | list | dict) and len(value) < wanted:
            yield f"{at}: is too short"

    def most(self, value: Any, wanted: int, at: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, str) and len(value) > wanted:
            yield f"{at}: is too long"

    def pattern(self, value: Any, wanted: str, at: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, str) and not re.search(wanted, value):
            yield f"{at}: is {shown(value, 40)}, which has another form"


_CHECKS = {
    "$ref": _Validator.reference,
    "type": _Validator.type,
    "const": _Validator.const,
    "enum": _Validator.enum,
    "required": _Validator.required,
    "properties": _Validator.properties,
    "patternProperties": _Validator.pattern_properties,
    "additionalProperties": _Validator.additional_properties,
    "items": _Validator.items,
    "prefixItems": _Validator.prefix_items,
    "allOf": _Validator.all_of,
    "anyOf": _Validator.any_of,
    "oneOf": _Validator.one_of,
    "not": _Validator.no,
    "if": _Validator.condition,
    "then": _Validator.part_of_condition,
    "else": _Validator.part_of_condition,
    "minimum": _Validator.minimum,
    "maximum": _Validator.maximum,
    "minLength": _Validator.least,
    "minItems": _Validator.least,
    "minProperties": _Validator.least,
    "maxLength": _Validator.most,
    "pattern": _Validator.pattern,
}


def _is(value: Any, name: str) -> bool:
    """Whether a value is of a type of JSON; true and false are no numbers, 1.0 is a whole number."""
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])
