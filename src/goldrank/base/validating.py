"""The schemas of goldrank, and a small validator for them: records are checked without any package.

It knows the words of JSON Schema that these schemas use, and refuses a schema that uses others.
"""

from __future__ import annotations

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
    for entry in files("goldrank.base").joinpath("schemas").iterdir():
        matched = re.fullmatch(r"([a-z]+)-(\d+)\.json", entry.name)
        if matched:
            name, version = matched[1], int(matched[2])
            newest[name] = max(newest.get(name, (0, "")), (version, entry.name))
    return {name: file for name, (_, file) in sorted(newest.items())}


def schema_text(name: str) -> str:
    """The text of a schema's file."""
    file_of = schema_files()
    if name not in file_of:
        hint = did_you_mean(name, file_of) or f"There are: {', '.join(file_of)}."
        raise OptionError(f"there is no schema {name!r:.40}", hint=hint, code="unknown-choice")
    return files("goldrank.base").joinpath("schemas", file_of[name]).read_text(encoding="utf-8")


@cache
def schema(name: str) -> Schema:
    """A schema by its name."""
    import json

    data: Schema = json.loads(schema_text(name))
    return data


def problems(value: Any, name: str) -> list[str]:
    """All that is wrong with a value by a schema, each with its path."""
    return list(_Validator(schema(name)).check(value, schema(name), "$"))


def _named(reference: str) -> Schema:
    """The schema of an address, `.../record-1.json`; nothing is fetched."""
    file = reference.rsplit("/", 1)[-1]
    import json

    data: Schema = json.loads(files("goldrank.base").joinpath("schemas", file).read_text(encoding="utf-8"))
    return data


class _Validator:
    """Checks values by one schema."""

    def __init__(self, root: Schema) -> None:
        self.root = root

    def check(self, value: Any, rule: Schema | bool, path: str) -> Iterator[str]:
        """What is wrong with a value."""
        if isinstance(rule, bool):
            if not rule:
                yield f"{path}: is not allowed"
            return
        for word, constraint in rule.items():
            if word in _ABOUT:
                continue
            check = _CHECKS.get(word)
            if check is None:
                raise OptionError(f"the schema has {word!r}, which this validator does not know")
            yield from check(self, value, constraint, path, rule)

    def is_valid(self, value: Any, rule: Schema | bool) -> bool:
        """Whether nothing is wrong."""
        return next(self.check(value, rule, ""), None) is None

    # One for each word.

    def reference(self, value: Any, constraint: str, path: str, rule: Schema) -> Iterator[str]:
        if not constraint.startswith("#/"):
            other = _named(constraint)
            yield from _Validator(other).check(value, other, path)
            return
        inner: Any = self.root
        for part in constraint.removeprefix("#/").split("/"):
            inner = inner[part]
        yield from self.check(value, inner, path)

    def type(self, value: Any, constraint: str | Sequence[str], path: str, rule: Schema) -> Iterator[str]:
        names = constraint
        if isinstance(names, str):
            names = [names]
        if not any(_is(value, name) for name in names):
            yield f"{path}: is {shown(value, 40)}, not {' or '.join(names)}"

    def const(self, value: Any, constraint: Any, path: str, rule: Schema) -> Iterator[str]:
        if value != constraint or type(value) is not type(constraint):
            yield f"{path}: is {shown(value, 40)}, not {constraint!r}"

    def enum(self, value: Any, constraint: Sequence[Any], path: str, rule: Schema) -> Iterator[str]:
        if value not in constraint:
            yield f"{path}: is {shown(value, 40)}, not one of {', '.join(map(repr, constraint))}"

    def required(self, value: Any, constraint: Sequence[str], path: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, dict):
            yield from (f"{path}: has no {name}" for name in constraint if name not in value)

    def properties(self, value: Any, constraint: Mapping[str, Schema], path: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, dict):
            for name, inner in constraint.items():
                if name in value:
                    yield from self.check(value[name], inner, f"{path}.{name}")

    def pattern_properties(
        self, value: Any, constraint: Mapping[str, Schema], path: str, rule: Schema
    ) -> Iterator[str]:
        if isinstance(value, dict):
            for pattern, inner in constraint.items():
                for name in filter(re.compile(pattern).search, value):
                    yield from self.check(value[name], inner, f"{path}.{name}")

    def additional_properties(self, value: Any, constraint: Schema | bool, path: str, rule: Schema) -> Iterator[str]:
        if not isinstance(value, dict):
            return

        declared = rule.get("properties", {})
        patterns = list(rule.get("patternProperties", {}))
        for name in value:
            if name in declared or any(re.search(pattern, name) for pattern in patterns):
                continue
            if constraint is False:
                problem = f"{path}: has the unknown field {shown(name, 40)}. {did_you_mean(name, declared) or ''}"
                yield problem.rstrip(". ") + "."
            else:
                yield from self.check(value[name], constraint, f"{path}.{shown(name, 40)}")

    def items(self, value: Any, constraint: Schema | bool, path: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, list):
            first = len(rule.get("prefixItems", ()))
            for index, entry in enumerate(value[first:], first):
                yield from self.check(entry, constraint, f"{path}[{index}]")

    def prefix_items(self, value: Any, constraint: Sequence[Schema], path: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, list):
            for index, (entry, inner) in enumerate(zip(value, constraint, strict=False)):
                yield from self.check(entry, inner, f"{path}[{index}]")

    def all_of(self, value: Any, constraint: Sequence[Schema], path: str, rule: Schema) -> Iterator[str]:
        for inner in constraint:
            yield from self.check(value, inner, path)

    def any_of(self, value: Any, constraint: Sequence[Schema], path: str, rule: Schema) -> Iterator[str]:
        if any(self.is_valid(value, inner) for inner in constraint):
            return
        needed = [name for inner in constraint for name in inner.get("required", ())]
        if needed:
            yield f"{path}: needs one of {', '.join(needed)}"
        else:
            yield f"{path}: fits none of the forms that it may have"

    def one_of(self, value: Any, constraint: Sequence[Schema], path: str, rule: Schema) -> Iterator[str]:
        fitting = [inner for inner in constraint if self.is_valid(value, inner)]
        if len(fitting) == 1:
            return

        deepest: list[str] = []
        deepest_path = -1
        for inner in constraint:
            lines = list(self.check(value, inner, path))
            path_length = max((len(line.partition(": ")[0]) for line in lines), default=0)
            if path_length > deepest_path:
                deepest, deepest_path = lines, path_length
        yield from deepest[:1] or [f"{path}: fits several forms at once"]

    def must_not(self, value: Any, constraint: Schema, path: str, rule: Schema) -> Iterator[str]:
        if not self.is_valid(value, constraint):
            return
        names = " beside ".join(constraint.get("required", ()))
        if names:
            yield f"{path}: has {names}"
        else:
            yield f"{path}: is not allowed"

    def condition(self, value: Any, constraint: Schema, path: str, rule: Schema) -> Iterator[str]:
        branch = "else"
        if self.is_valid(value, constraint):
            branch = "then"
        if branch in rule:
            yield from self.check(value, rule[branch], path)

    def part_of_condition(self, value: Any, constraint: Schema, path: str, rule: Schema) -> Iterator[str]:
        yield from ()

    def minimum(self, value: Any, constraint: float, path: str, rule: Schema) -> Iterator[str]:
        if _is(value, "number") and value < constraint:
            yield f"{path}: is {value}, below {constraint}"

    def maximum(self, value: Any, constraint: float, path: str, rule: Schema) -> Iterator[str]:
        if _is(value, "number") and value > constraint:
            yield f"{path}: is {value}, above {constraint}"

    def min_length(self, value: Any, constraint: int, path: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, str | list | dict) and len(value) < constraint:
            yield f"{path}: is too short"

    def max_length(self, value: Any, constraint: int, path: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, str) and len(value) > constraint:
            yield f"{path}: is too long"

    def pattern(self, value: Any, constraint: str, path: str, rule: Schema) -> Iterator[str]:
        if isinstance(value, str) and not re.search(constraint, value):
            yield f"{path}: is {shown(value, 40)}, which has another form"


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
    "not": _Validator.must_not,
    "if": _Validator.condition,
    "then": _Validator.part_of_condition,
    "else": _Validator.part_of_condition,
    "minimum": _Validator.minimum,
    "maximum": _Validator.maximum,
    "minLength": _Validator.min_length,
    "minItems": _Validator.min_length,
    "minProperties": _Validator.min_length,
    "maxLength": _Validator.max_length,
    "pattern": _Validator.pattern,
}


def _is(value: Any, name: str) -> bool:
    """Whether a value is of a type of JSON; true and false are not numbers, 1.0 is a whole number."""
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])
