"""`goldrank texts`: score retrieved texts against the texts that they should cover."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from goldrank.cli.common import field_map, watching
from goldrank.cli.comparing import write
from goldrank.cli.eval import OUTPUTS, RENDER
from goldrank.conventions import CONVENTIONS, DEFAULT, POLICIES
from goldrank.match.matcher import NAMES
from goldrank.measures.apply import CREDITS


@click.command(epilog=f"Matchers: {', '.join(NAMES)}. A threshold follows as in rouge-l:0.7.")
@click.argument("data", metavar="DATA...", nargs=-1, required=True)
@click.option("--match", "matcher", default="rouge-l:0.7", show_default=True, help="When a text covers a reference.")
@click.option("-m", "--measure", "measures", multiple=True, help="A measure such as Cover@5; may be repeated.")
@click.option(
    "--unit",
    type=click.Choice(["chunk", "sentence"]),
    default="chunk",
    show_default=True,
    help="What is compared, and what ranks count.",
)
@click.option(
    "--credit",
    type=click.Choice(list(CREDITS)),
    default="any",
    show_default=True,
    help="; ".join(f"{name}: {meaning}" for name, meaning in CREDITS.items()),
)
@click.option(
    "--map",
    "fields",
    multiple=True,
    metavar="NAME=FIELD",
    help="Where a thing is, such as retrieved=outputs.docs; may be repeated.",
)
@click.option("-q", "--by-query", is_flag=True, help="Show the value of every question.")
@click.option("-o", "--output", type=click.Choice(OUTPUTS), default="table", show_default=True, help="How to show it.")
@click.option("--save", type=click.Path(dir_okay=False), help="Save the scores of one system.")
@click.option("--explain", "query", metavar="QUERY", help="Show what covers what in one question, instead of scores.")
@click.option("--curves", is_flag=True, help="Show how coverage grows with texts and with tokens.")
@click.option("--svg", type=click.Path(dir_okay=False), help="Write those curves as a drawing.")
@click.option("--html", type=click.Path(dir_okay=False), help="Write scores, curves and explanation as one HTML file.")
@click.option("--format", "data_format", help="The data's format, if it cannot be told from their content.")
@click.option(
    "--none",
    type=click.Choice(["error", "empty"]),
    default="error",
    show_default=True,
    help="What a retrieved text that is null means.",
)
@click.option(
    "--failures",
    type=click.Choice(["error", "zero", "skip"]),
    default="error",
    show_default=True,
    help="What becomes of questions that retrieving failed on.",
)
@click.option(
    "--convention",
    type=click.Choice(list(CONVENTIONS)),
    default=DEFAULT.name,
    show_default=True,
    help="Whose rules to follow.",
)
@click.option("--empty", type=click.Choice(list(POLICIES["empty"])), help="What a question without references scores.")
def command(
    data: tuple[str, ...],
    matcher: str,
    measures: tuple[str, ...],
    unit: str,
    credit: str,
    fields: tuple[str, ...],
    by_query: bool,
    output: str,
    save: str | None,
    query: str | None,
    curves: bool,
    svg: str | None,
    html: str | None,
    data_format: str | None,
    none: str,
    failures: str,
    convention: str,
    empty: str | None,
) -> None:  # fmt: skip
    """Score retrieved texts against the reference texts that they should cover.

    DATA holds a question, its retrieved texts and its references in each line (JSON Lines), or the same as
    JSON, CSV or Parquet; names of fields that RAG tools use are known. Several files are several systems, side
    by side; NAME=FILE names one, and - is standard input. Without -m the usual measures are shown.
    """
    from goldrank.evaluation.texts import DEFAULT as USUAL
    from goldrank.evaluation.texts import evaluate_texts
    from goldrank.io.items import items
    from goldrank.io.sources import open_source
    from goldrank.measures import parse

    if save and len(data) > 1:
        raise click.UsageError("--save takes one system")
    if query is not None and output != "table":
        raise click.UsageError("--explain has no other output than text; --html writes a page")
    if data.count("-") > 1:
        raise click.UsageError("standard input can be read only once")
    wanted = list(measures or USUAL)
    drawn = bool(curves or svg or (html and any(parse(one).declaration.over != "spans" for one in wanted)))
    if drawn:
        from goldrank.report.coverage import curve_measures

        asked = [*wanted, *curve_measures()]
    else:
        asked = wanted
    named = [_named(text) for text in data]
    opened = [open_source(path) if os.path.isfile(path) or path == "-" else path for _, path in named]
    where = field_map(fields)
    reading: dict[str, Any] = {"fields": where, "format": data_format, "none": none, "failures": failures}
    sets = [items(one, **reading) for one in opened]
    how: dict[str, Any] = {"matcher": matcher, "unit": unit, "credit": credit, "convention": convention, "empty": empty}
    with watching([one for one in opened if not isinstance(one, str)]):
        measured = [evaluate_texts(one, asked, name=name, **how) for one, (name, _) in zip(sets, named, strict=True)]
    measured = _told_apart(measured)
    scores = [_only(one, wanted, convention, empty) for one in measured]
    if save:
        scores[0].save(save)
    explanations = {one.run: one.explain(query) for one in measured} if query is not None else {}
    found = None
    if drawn:
        from goldrank.report.coverage import curves_of

        found = curves_of(measured)
    if svg and found:
        write(svg, found.svg())
    if html:
        from goldrank.report.texts import render

        write(html, render(scores, found, explanations))
    if explanations:
        _show_explanations(explanations, scores, str(query))
    else:
        _say(RENDER[output](scores, by_query))
    if curves and found:
        _say(f"\n{found}", err=output != "table")
    if output != "table":
        for one in scores:
            for note in one.notes:
                _say(f"{one.run}: {note}", err=True)


def _named(text: str) -> tuple[str | None, str]:
    """The name and the path of NAME=FILE, or of FILE alone."""
    name, sign, path = text.partition("=")
    return (name, path) if sign and name and not Path(text).exists() else (None, text)


def _told_apart(scores: Sequence[Any]) -> list[Any]:
    from goldrank.report.coverage import distinct

    names = [one.run for one in scores] if len(scores) == 1 else distinct(scores)
    return [replace(one, run=name) for one, name in zip(scores, names, strict=True)]


def _only(scores: Any, wanted: Sequence[str], convention: str, empty: str | None) -> Any:
    """The scores without the measures that only curves need."""
    from goldrank import conventions
    from goldrank.evaluation.documents import wanted_measures

    names = map(str, wanted_measures(wanted, conventions.get(convention).having(empty=empty)))
    return replace(scores, columns={name: scores.columns[name] for name in names})


def _show_explanations(explanations: dict[str, Any], scores: Sequence[Any], query: str) -> None:
    from goldrank.data.layout import aligned
    from goldrank.data.scores import format_value
    from goldrank.ids import show

    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for i, one in enumerate(scores):
        if len(scores) > 1:
            _say(f"{'' if i == 0 else chr(10)}== {show(one.run)} ==")
        if coloured:
            from rich.console import Console

            Console().print(explanations[one.run])
        else:
            _say(str(explanations[one.run]))
        at = one.queries.index(query)
        rows = [[name, format_value(column.values[at], column.average)] for name, column in one.columns.items()]
        _say("\n" + aligned(rows))


def _say(text: str, err: bool = False) -> None:
    click.echo(text.encode("utf-8", "backslashreplace"), nl=not text.endswith("\n"), err=err)
