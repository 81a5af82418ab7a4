"""Options about texts that `texts`, `causes` and `sweep` share: what covers what, and how questions are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypedDict, get_args

import click

from goldrank.cli.commands import option
from goldrank.cli.inputs import key_values, named_file, once
from goldrank.cli.nouns import NounOption, NounType
from goldrank.cli.options import (
    MEASURE,
    Function,
    choice_option,
    convention_option,
    file_option,
    input_option,
    map_option,
    with_options,
)
from goldrank.conventions import Convention
from goldrank.evaluation.text_settings import Evidence, Matching
from goldrank.io.questions.items import Failures, Items, Nulls, read_items
from goldrank.io.sources import ByteSource, open_source
from goldrank.match.matcher import NAMES

MATCHERS = (
    f"Matchers: {', '.join(NAMES)}. A threshold follows as in rouge-l:0.7. A model decides as embedding:NAME:0.8, "
    "cross-encoder:NAME:0.8 or judge:NAME (a chat endpoint: OPENAI_BASE_URL, or judge(base_url='...'):NAME)."
)

MATCHING = NounOption("--matching", "goldrank.evaluation.text_settings:Matching", "matcher")
EVIDENCE = NounOption("--evidence", "goldrank.evaluation.text_settings:Evidence", "sources")
ANSWERS = NounOption(
    "--answers",
    "goldrank.evaluation.text_settings:Answers",
    elsewhere={"judge": "It has a separate option: --judge."},
)

gold_option = file_option(
    "--gold", help="What is needed, if it is not in DATA: records with id and references or evidence."
)


def matching_option(**more: Any) -> Callable[[Function], Function]:
    """When a text covers a reference."""
    return option(
        "--matching",
        type=NounType(MATCHING),
        metavar="WORD,KEY=VALUE",
        heading=MEASURE,
        help="When a text covers a reference: contains,unit=sentence,credit=one_to_one,guards=numbers,"
        "tokens=characters.",
        **more,
    )


def evidence_option(make: Callable[[str], Any] | None = None, **more: Any) -> Callable[[Function], Function]:
    """Where the evidence is."""
    return option(
        "--evidence",
        type=NounType(EVIDENCE, make),
        metavar="SOURCES,KEY=VALUE",
        heading=MEASURE,
        help="The texts that chunks were cut from, and the index: docs/,chunks=chunks.jsonl,unlocated=missed,"
        "coverage=0.8.",
        **more,
    )


answers_option = option(
    "--answers",
    type=NounType(ANSWERS),
    metavar="KEY=VALUE,...",
    heading=MEASURE,
    help="How answers are taken apart, and when a system abstains: abstain_below=0.3.",
)


class ItemOptions(TypedDict):
    """How items are read."""

    fields: dict[str, str | None] | None
    format: str | None
    nulls: Nulls
    failures: Failures


@dataclass(frozen=True)
class TextArguments:
    """The values of the options of `text_options`."""

    reading: ItemOptions
    matching: Matching
    evidence: Any
    """An `Evidence`; in sweeps one for each chunking that was named."""
    convention: Convention


def text_options(evidence: Callable[[Function], Function] | None = None) -> Callable[[Any], Any]:
    """Options for reading items and for comparing texts. The command gets them as `texts`."""
    options = [
        gold_option,
        input_option,
        map_option,
        choice_option("--nulls", get_args(Nulls), "error", "What to do with a retrieved text that is null."),
        choice_option(
            "--failures", get_args(Failures), "error", "What to do with questions on which the retriever failed."
        ),
        matching_option(),
        evidence or evidence_option(),
        convention_option,
    ]

    def decorate(function: Function) -> Function:
        @wraps(function)
        def command(
            *args: Any,
            formats: dict[str, str],
            fields: tuple[str, ...],
            nulls: Nulls,
            failures: Failures,
            matching: Matching | None,
            evidence: Any,
            convention: Convention,
            **more: Any,
        ) -> Any:
            names: dict[str, str | None] = {**key_values(fields, "--map")}
            reading: ItemOptions = {
                "fields": names or None,
                "format": formats.get(""),
                "nulls": nulls,
                "failures": failures,
            }
            texts = TextArguments(reading, matching or Matching(), evidence or Evidence(), convention)

            return function(*args, texts=texts, **more)

        return with_options(options, command)  # type: ignore[return-value]

    return decorate


def named_sets(
    texts: Sequence[str], reading: ItemOptions, gold: str | None = None
) -> tuple[list[Items], list[ByteSource]]:
    """The items of FILE or NAME=FILE, under the NAME if there is one, and the files that were opened."""
    once(texts)
    files = [named_file(text) for text in texts]
    opened_files: list[ByteSource] = []
    sets: list[Items] = []
    for _, path in files:
        source: Any = path
        if os.path.isfile(path) or path == "-":
            source = open_source(path)
            opened_files.append(source)
        sets.append(read_items(source, gold=gold, **reading))

    names = _set_names(files, [items.name for items in sets])
    return [items.renamed(name) for items, name in zip(sets, names, strict=True)], opened_files


def _set_names(files: Sequence[tuple[str | None, str]], labels: Sequence[str]) -> list[str]:
    """A name for each set: its NAME, else its label, else its path where labels repeat; with a number if it is used."""
    chosen_names = [name for name, _ in files if name]
    names: list[str] = []
    for (name, path), label in zip(files, labels, strict=True):
        if name:
            if chosen_names.count(name) > 1:
                raise click.UsageError(f"two systems are both named {name!r}; name them apart: NAME=FILE")
            names.append(name)
            continue

        base = label
        if labels.count(label) > 1:
            base = path
        unique, number = base, 2
        while unique in names or unique in chosen_names:
            unique, number = f"{base} {number}", number + 1
        names.append(unique)
    return names
