"""Options about texts that `texts`, `causes` and `sweep` share: what covers what, sources, what a token is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypedDict, get_args

import click

from goldrank import conventions
from goldrank.cli.inputs import key_values, named_file, once
from goldrank.cli.options import (
    Function,
    choice_option,
    convention_option,
    explained,
    fields_option,
    file_option,
    with_options,
)
from goldrank.conventions import Convention
from goldrank.errors import OptionError
from goldrank.evaluation.text_settings import Evidence, Lengths, Matching, Several, Tokens, Unit, Unlocated
from goldrank.io.items import Failures, Items, Nulls, read_items
from goldrank.io.sources import ByteSource, open_source
from goldrank.match.guards import GUARDS
from goldrank.match.matcher import NAMES
from goldrank.measures.apply import CREDITS
from goldrank.types import ConventionName

MATCHERS = (
    f"Matchers: {', '.join(NAMES)}. A threshold follows as in rouge-l:0.7. A model decides as embedding:NAME:0.8, "
    "cross-encoder:NAME:0.8 or judge:NAME (a chat endpoint: OPENAI_BASE_URL, or judge(base_url='...'):NAME)."
)


gold_option = file_option(
    "--gold", help="What is needed, if it is not in DATA: records with id and references or evidence."
)


def text_options(function: Function) -> Function:
    """Options for reading items and for comparing texts; `text_arguments` makes of them what functions take."""
    options = [
        click.option("--match", "matcher", default="rouge-l:0.7", show_default=True,
                     help="When a text covers a reference."),
        choice_option("--unit", get_args(Unit), "chunk", "What is compared, and what ranks count."),
        choice_option("--credit", CREDITS, "any", explained(CREDITS)),
        click.option("--guards", help="What a match must not differ in, with commas "
                     f"({', '.join(GUARDS)}), or none; else the matcher's own."),
        click.option("--sources", type=click.Path(), help="The texts that chunks were cut from: a folder of text "
                     "files, or a file of records with source and text."),
        choice_option("--unlocated", get_args(Unlocated), "error",
                      "What to do with a quotation that is not found."),
        choice_option("--several", get_args(Several), "any",
                      "What to do with a quotation that is in several places."),
        click.option("--similarity", default="0.9", show_default=True,
                     help="The least similarity of an approximate quotation, or none."),
        choice_option("--lengths", get_args(Lengths), "char", "The unit of lengths of spans."),
        click.option("--tokens", default="words", show_default=True, metavar="words|characters|MODULE:FUNCTION",
                     help="What budgets count: a function of a text that returns its tokens, or their number."),
        fields_option,
        click.option("--format", "data_format", help="The data's format, if it cannot be detected from their content."),
        choice_option("--none", get_args(Nulls), "error", "What to do with a retrieved text that is null."),
        choice_option("--failures", get_args(Failures), "error",
                      "What to do with questions on which the retriever failed."),
        convention_option,
    ]  # fmt: skip
    return with_options(options, function)


class ItemOptions(TypedDict):
    """How items are read."""

    fields: dict[str, str | None] | None
    format: str | None
    nulls: Nulls
    failures: Failures


@dataclass(frozen=True)
class TextArguments:
    """What the options of `text_options` say."""

    reading: ItemOptions
    matching: Matching
    evidence: Evidence
    convention: Convention


def text_arguments(
    fields: tuple[str, ...],
    data_format: str | None,
    none: Nulls,
    failures: Failures,
    convention: ConventionName,
    *,
    chunks: Any = None,
    coverage: float = 1.0,
    **options: Any,
) -> TextArguments:
    """What the options of `text_options` say, as nouns; `options` are those of texts."""
    matching = Matching(
        options["matcher"],
        unit=options["unit"],
        credit=options["credit"],
        guards=_guards(options["guards"]),
        tokens=_tokens(options["tokens"]),
    )
    evidence = Evidence(
        options["sources"],
        chunks=chunks,
        lengths=options["lengths"],
        several=options["several"],
        unlocated=options["unlocated"],
        similarity=_similarity(options["similarity"]),
        coverage=coverage,
    )
    where: dict[str, str | None] = {**key_values(fields, "--map")}
    reading: ItemOptions = {"fields": where or None, "format": data_format, "nulls": none, "failures": failures}
    return TextArguments(reading, matching, evidence, conventions.get(convention))


def named_sets(
    given: Sequence[str], reading: ItemOptions, gold: str | None = None
) -> tuple[list[Items], list[ByteSource]]:
    """Items and what was opened of FILE or NAME=FILE. A name that was given is the name that is shown."""
    once(given)
    files = [named_file(text) for text in given]
    opened = [open_source(path) if os.path.isfile(path) or path == "-" else path for _, path in files]
    sets = [read_items(source, gold=gold, **reading) for source in opened]  # type: ignore[arg-type]  # an opened file
    labels = [system.name for system in sets]
    own = [path if labels.count(label) > 1 else label for label, (_, path) in zip(labels, files, strict=True)]
    given_names = [name for name, _ in files if name]
    names: list[str] = []
    for (name, _), other in zip(files, own, strict=True):
        if name is not None and given_names.count(name) > 1:
            raise click.UsageError(f"two systems are both named {name!r}; name them apart: NAME=FILE")
        tries = (other, *(f"{other} {i}" for i in range(2, len(files) + 2)))
        names.append(name or next(label for label in tries if label not in names and label not in given_names))
    renamed = [items.renamed(name) for items, name in zip(sets, names, strict=True)]
    return renamed, [source for source in opened if not isinstance(source, str)]


def numbers(given: str | None, option: str) -> list[int] | None:
    """Whole numbers with commas between them."""
    if given is None or given == "auto":
        return None
    try:
        values = [int(word.replace("_", "")) for word in given.split(",") if word.strip()]
    except ValueError:
        values = []
    if not values or min(values) < 1:
        raise click.UsageError(f"{option} is {given!r}; it takes whole numbers from 1, with commas: 500,1000")
    return values


def _guards(given: str | None) -> list[Any] | None:
    """Names of guards, which are checked where they are used."""
    if given is None:
        return None
    return [] if given == "none" else [name.strip() for name in given.split(",")]


def _similarity(given: str) -> float | None:
    try:
        return None if given == "none" else float(given)
    except ValueError:
        raise click.UsageError(f"--similarity is {given!r}; it must be a number up to 1, or none") from None


def _tokens(given: str) -> Tokens | Callable[[str], Any]:
    """What is counted, or the function that a name stands for."""
    if given == "words":
        return "words"
    if given == "characters":
        return "characters"
    module, sign, name = given.partition(":")
    if not sign or not module or not name:
        raise click.UsageError(f"--tokens is {given!r}; it is words, characters or MODULE:FUNCTION")
    if "" not in sys.path:
        sys.path.insert(0, "")  # a module beside the data, as `python -m` finds it
    try:
        attribute = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise OptionError(f"--tokens {given}: {error}", hint="Name a function that Python can import.") from None
    if not callable(attribute):
        raise OptionError(f"--tokens {given} is no function")
    function: Callable[[str], Any] = attribute
    return function
