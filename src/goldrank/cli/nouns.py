"""Options that take a noun: `--convention ranx,missing=skip` is `Convention("ranx", missing="skip")`.

The text of such an option is WORD,KEY=VALUE,... in any order. The keys and the types of their values are those of the
noun's signature, so that a field of a noun is an option at the prompt as soon as it is one in Python. Values of a list
have + between them.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, Union, get_args, get_origin

import click

from goldrank.base.errors import OptionError, did_you_mean

_KEY = re.compile(r"([A-Za-z_][\w.]*)\s*=(.*)", re.DOTALL)
_TRUE = ("true", "yes", "1")
_FALSE = ("false", "no", "0")


def split_at_commas(text: str) -> list[str]:
    """The parts between commas that are outside of brackets and quotes.

    >>> split_at_commas('nDCG@10, P(rel=2, judged_only=True)@5')
    ['nDCG@10', 'P(rel=2, judged_only=True)@5']
    """
    parts, depth, quote, begin = [], 0, "", 0
    for i, sign in enumerate(text):
        if quote and sign == quote:
            quote = ""
        elif quote:
            continue
        elif sign in "\"'":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    parts.append(text[begin:])
    return [part.strip() for part in parts if part.strip()] or [text]


@dataclass(frozen=True)
class Words:
    """The text of an option, taken apart."""

    word: str | None
    values: dict[str, str]


def take_apart(text: str, flag: str) -> Words:
    """WORD,KEY=VALUE,... as its word and its values by key."""
    word: str | None = None
    values: dict[str, str] = {}
    for part in split_at_commas(text):
        matched = _KEY.fullmatch(part)
        if matched is None:
            if word is not None:
                raise OptionError(f"{flag} has two words, {word!r:.80} and {part!r:.80}", hint=_FORM.format(flag=flag))
            word = part
            continue
        key = matched[1]
        if key in values:
            raise OptionError(f"{flag} has {key}= twice", hint=_FORM.format(flag=flag))
        values[key] = matched[2].strip()

    return Words(word, values)


_FORM = "It is {flag} WORD,KEY=VALUE,KEY=VALUE; values of a list have + between them."


@dataclass(frozen=True)
class NounOption:
    """An option whose text describes a noun."""

    flag: str
    path: str
    """Where the noun is: MODULE:CLASS. It is imported when the option is used."""
    word: str = ""
    """The field that a word without a key is for; if empty, a word is an error."""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Fields that are not keys, with a hint: they have a separate option, or cannot be written at a prompt."""

    @cached_property
    def noun(self) -> Callable[..., Any]:
        """The class."""
        module, _, name = self.path.partition(":")
        noun_class: Callable[..., Any] = getattr(import_module(module), name)
        return noun_class

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The fields of the noun with their types, those of `**options` among them."""
        all_fields = _fields_of(self.noun)
        return {name: kind for name, kind in all_fields.items() if name not in self.elsewhere}

    @property
    def keys(self) -> list[str]:
        """The keys that can be before a =."""
        return [name for name in self.fields if name != self.word]

    def arguments(self, text: str) -> dict[str, Any]:
        """The arguments of the noun that a text describes."""
        words = take_apart(text, self.flag)
        arguments: dict[str, Any] = {}
        if words.word is not None:
            if not self.word:
                raise self._unknown(words.word)
            arguments[self.word] = words.word  # the noun knows more words than its type lists

        for key, value in words.values.items():
            name, dot, inner = key.partition(".")
            if name not in self.fields or bool(dot) != _is_mapping(self.fields[name]):
                raise self._unknown(key)
            if dot:
                arguments.setdefault(name, {})[inner] = _plain(value)
            elif name in arguments:
                raise OptionError(f"{self.flag} has {name} twice: as a word and as {name}=", hint="Leave one out.")
            else:
                arguments[name] = convert(value, self.fields[name], f"{self.flag} {key}=")

        return arguments

    def parse(self, text: str) -> Any:
        """The noun that a text describes."""
        return self.noun(**self.arguments(text))

    def _unknown(self, key: str) -> OptionError:
        elsewhere_hint = self.elsewhere.get(key)
        if elsewhere_hint:
            return OptionError(f"{self.flag} has no key {key!r}", hint=elsewhere_hint, code="unknown-key")
        hint = f"Its keys are: {', '.join(_shown_keys(self.keys, self.fields))}."
        suggestion = did_you_mean(key, self.keys)
        if suggestion is not None:
            hint = f"{suggestion} {hint}"
        return OptionError(f"{self.flag} has no key {key!r:.80}", hint=hint, code="unknown-key")


def _shown_keys(keys: Iterable[str], fields: Mapping[str, Any]) -> list[str]:
    shown = []
    for key in keys:
        if _is_mapping(fields[key]):
            key = f"{key}.NAME"
        shown.append(key)
    return shown


class NounType(click.ParamType[Any]):
    """What click makes of the text of a `NounOption`."""

    name = "noun"

    def __init__(self, option: NounOption, make: Callable[[str], Any] | None = None) -> None:
        self.option = option
        self.make = make or option.parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The noun; one that is made already stays as it is."""
        if isinstance(value, str):
            return self.make(value)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """The keys that are not yet there, and the words of a choice after a =."""
        from click.shell_completion import CompletionItem

        before, comma, last = incomplete.rpartition(",")
        key, sign, value = last.partition("=")
        if sign:
            choices = _choices(self.option.fields.get(key, str))
            return [CompletionItem(f"{before}{comma}{key}={word}") for word in choices if word.startswith(value)]
        words = [f"{name}=" for name in self.option.keys]
        if self.option.word and not comma:
            words += _choices(self.option.fields[self.option.word])
        return [CompletionItem(f"{before}{comma}{word}") for word in words if word.startswith(last)]


def convert(text: str, kind: Any, flag: str) -> Any:
    """A text as a value of a type: the first member of a union that accepts it."""
    members = _members(kind)
    words = _choices(kind)
    sequence = next(filter(_is_sequence, members), None)
    if text in words and sequence is None:
        return text

    if sequence is not None and str not in members:
        parts = []
        if text != "none":
            parts = text.split("+")
        return tuple(convert(part.strip(), _element(sequence), flag) for part in parts)

    if text == "none" and type(None) in members:
        return None
    if any(map(_is_function, members)) and ":" in text and not _is_known_word(text):
        return _function(text, flag)

    for member in members:
        if member in _NUMBERS:
            return _number(text, member, flag)

    if words and str not in members:
        hint = f"Choices are: {', '.join(words)}."
        suggestion = did_you_mean(text, words)
        if suggestion:
            hint = f"{suggestion} {hint}"
        raise OptionError(f"{flag} is {text!r:.80}", hint=hint, code="unknown-choice")

    return text


def _is_known_word(text: str) -> bool:
    """Whether a word with a colon names a tokenizer, and not a function."""
    from goldrank.evaluation.tokenizers import is_tokenizer

    return is_tokenizer(text)


def _number(text: str, kind: type, flag: str) -> Any:
    if kind is bool:
        if text.lower() in (*_TRUE, *_FALSE):
            return text.lower() in _TRUE
        raise OptionError(f"{flag} is {text!r:.80}", hint="It is true or false.", code="unknown-choice")

    try:
        if kind is int:
            return int(text.replace("_", ""))
        number = float(text)
    except ValueError:
        words = {int: "a whole number", float: "a number"}[kind]
        raise OptionError(f"{flag} is {text!r:.80}; it must be {words}", code="bad-number") from None

    if number.is_integer() and "." not in text and "e" not in text.lower():
        return int(number)
    return number


_NUMBERS = (bool, int, float)


def _plain(text: str) -> Any:
    """A value of a mapping, whose type is not declared: none, true, false, a number, or the text."""
    for word, value in {"none": None, "true": True, "false": False}.items():
        if text == word:
            return value
    try:
        return _number(text, float, "")
    except OptionError:
        return text


def _function(text: str, flag: str) -> Callable[..., Any]:
    """The function that MODULE:FUNCTION names; modules beside the data are found, as `python -m` finds them."""
    module, _, name = text.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        attribute = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise OptionError(f"{flag} {text}: {error}", hint="Name a function that Python can import.") from None
    if not callable(attribute):
        raise OptionError(f"{flag} {text} is not a function", hint="Name a function that Python can import.")
    function: Callable[..., Any] = attribute
    return function


# The types of a signature.


def _fields_of(noun: Callable[..., Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    function: Any = noun
    if inspect.isclass(noun):
        function = noun.__init__

    names = vars(sys.modules[noun.__module__])
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        kind = _evaluated(parameter.annotation, names)
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            fields[parameter.name] = kind
        elif get_args(kind):
            options_type = get_args(kind)[0]
            inner = vars(sys.modules[options_type.__module__])
            for name, annotation in options_type.__annotations__.items():
                fields[name] = _evaluated(annotation, inner)

    return fields


def _evaluated(annotation: Any, names: dict[str, Any]) -> Any:
    """A type, from its text; `str` for text that cannot be evaluated now, since it is for type checkers."""
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if not isinstance(annotation, str):
        return annotation
    stub = types.FunctionType((lambda: None).__code__, names)
    stub.__annotations__ = {"field": annotation}
    try:
        return typing.get_type_hints(stub)["field"]
    except (NameError, TypeError):
        return str


def _members(kind: Any) -> tuple[Any, ...]:
    """The kinds of a union, unions within it included."""
    if get_origin(kind) in (Union, types.UnionType):
        return tuple(member for argument in get_args(kind) for member in _members(argument))
    return (kind,)


def _choices(kind: Any) -> list[str]:
    return [word for member in _members(kind) if get_origin(member) is Literal for word in get_args(member)]


def _is_sequence(kind: Any) -> bool:
    origin = get_origin(kind)
    return inspect.isclass(origin) and issubclass(origin, Sequence)


def _is_mapping(kind: Any) -> bool:
    """Whether values by name are all that a prompt can write for a field."""
    kinds = [member for member in _members(kind) if member is not type(None)]
    return len(kinds) == 1 and inspect.isclass(get_origin(kinds[0])) and issubclass(get_origin(kinds[0]), Mapping)


def _is_function(kind: Any) -> bool:
    return get_origin(kind) is typing.get_origin(Callable[..., Any])


def _element(kind: Any) -> Any:
    """The kind of the elements of a sequence."""
    return next((argument for argument in get_args(kind) if argument is not ...), str)
