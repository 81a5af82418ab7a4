"""`goldrank texts`: score retrieved texts against the texts that they should cover."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from goldrank import ids
from goldrank.cli.eval import show_scores
from goldrank.cli.inputs import key_values, named_file, once, watching
from goldrank.cli.options import choice_option, convention_option, explained, fields_option, file_option
from goldrank.cli.output import deliver, echo, show, show_itself, write
from goldrank.conventions import POLICIES
from goldrank.data.scores import Scores
from goldrank.match.guards import GUARDS
from goldrank.match.matcher import NAMES
from goldrank.measures.apply import CREDITS
from goldrank.report.scores import WRITERS, one_query_table

if TYPE_CHECKING:
    from goldrank.data.explanation import Explanation


@click.command(epilog=f"Matchers: {', '.join(NAMES)}. A threshold follows as in rouge-l:0.7.")
@click.argument("data", metavar="DATA...", nargs=-1, required=True)
@click.option("--match", "matcher", default="rouge-l:0.7", show_default=True, help="When a text covers a reference.")
@click.option("-m", "--measure", "measures", multiple=True, help="A measure such as Cover@5; may be repeated.")
@choice_option("--unit", ["chunk", "sentence"], "chunk", "What is compared, and what ranks count.")
@choice_option("--credit", CREDITS, "any", explained(CREDITS))
@click.option(
    "--guards",
    help=f"What a match must not differ in, with commas ({', '.join(GUARDS)}), or none; else the matcher's own.",
)
@choice_option("--unlocated", ["error", "missed", "skip"], "error", "What becomes of a quotation that is not found.")
@choice_option("--several", ["any", "first", "error"], "any", "What a quotation means that stands in several places.")
@click.option("--similarity", default="0.9", show_default=True, help="Of an approximate quotation, at least; or none.")
@fields_option
@click.option("-q", "--by-query", is_flag=True, help="Show the value of every question.")
@choice_option("-o --output", WRITERS, "table", "How to show it.")
@file_option("--save", help="Save the scores of one system.")
@click.option("--explain", "query", metavar="QUERY", help="Show what covers what in one question, instead of scores.")
@click.option("--curves", is_flag=True, help="Show how coverage grows with texts and with tokens.")
@file_option("--svg", help="Write those curves as a drawing.")
@file_option("--html", help="Write scores, curves and explanation as one HTML file.")
@click.option("--format", "data_format", help="The data's format, if it cannot be detected from their content.")
@choice_option("--none", ["error", "empty"], "error", "What a retrieved text that is null means.")
@choice_option("--failures", ["error", "zero", "skip"], "error", "What becomes of questions that retrieving failed on.")
@convention_option
@click.option("--empty", type=click.Choice(list(POLICIES["empty"])), help="What a question without references scores.")
def command(
    data: tuple[str, ...],
    matcher: str,
    measures: tuple[str, ...],
    unit: str,
    credit: str,
    guards: str | None,
    unlocated: str,
    several: str,
    similarity: str,
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
    from goldrank.report.coverage import COVER, COVER_BY_PLACE, curve_measures, curves_of, with_names

    if save and len(data) > 1:
        raise click.UsageError("--save takes one system")
    if query is not None and output != "table":
        raise click.UsageError("--explain has no other output than text; --html writes a page")
    once(data)
    wanted = list(measures or USUAL)
    draw = bool(curves or svg or html)
    by_place = all(parse(text).declaration.over == "spans" for text in wanted)
    drawn_measure = COVER_BY_PLACE if by_place else COVER
    asked = [*wanted, *curve_measures(measure=drawn_measure)] if draw else wanted
    files = [named_file(text) for text in data]
    opened = [open_source(path) if os.path.isfile(path) or path == "-" else path for _, path in files]
    reading: dict[str, Any] = {"format": data_format, "none": none, "failures": failures}
    reading["fields"] = key_values(fields, "--map") or None
    sets = [items(source, **reading) for source in opened]
    finding = {"unlocated": unlocated, "several": several, "similarity": _similarity(similarity)}
    how: dict[str, Any] = {
        "guards": _guards(guards),
        **finding,
        "matcher": matcher,
        "unit": unit,
        "credit": credit,
        "convention": convention,
        "empty": empty,
    }
    with watching([source for source in opened if not isinstance(source, str)]):
        measured = [
            evaluate_texts(found, asked, name=name, **how) for found, (name, _) in zip(sets, files, strict=True)
        ]
    measured = with_names(measured)
    scores = [_only(system, wanted, convention, empty) for system in measured]
    explanations = {system.run: system.explain(query) for system in measured} if query is not None else {}
    drawn = curves_of(measured, drawn_measure) if draw else None
    writing: list[Callable[[], object]] = []
    if save:
        writing.append(partial(scores[0].save, save))
    if svg and drawn:
        writing.append(lambda: write(svg, drawn.svg()))
    if html:
        from goldrank.report.texts import render

        writing.append(lambda: write(html, render(scores, drawn, explanations)))

    def printed() -> None:
        if explanations:
            _show_explanations(explanations, scores, str(query))
        else:
            show_scores(scores, output, by_query)
        if curves and drawn:
            echo("", err=output != "table")
            show(drawn.tables(), err=output != "table")

    deliver(*writing, printed)


def _guards(given: str | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    return () if given == "none" else tuple(name.strip() for name in given.split(","))


def _similarity(given: str) -> float | None:
    try:
        return None if given == "none" else float(given)
    except ValueError:
        raise click.UsageError(f"--similarity is {given!r}; it must be a number up to 1, or none") from None


def _only(scores: Scores, wanted: Sequence[str], convention: str, empty: str | None) -> Scores:
    """The scores without the measures that only curves need."""
    from goldrank import conventions
    from goldrank.evaluation.inputs import resolve_measures

    names = map(str, resolve_measures(wanted, conventions.get(convention).having(empty=empty)))
    return replace(scores, columns={name: scores.columns[name] for name in names})


def _show_explanations(explanations: Mapping[str, Explanation], scores: Sequence[Scores], query: str) -> None:
    for i, system in enumerate(scores):
        if len(scores) > 1:
            echo(f"{chr(10) * (i > 0)}== {ids.show(system.run)} ==")
        show_itself(explanations[system.run])
        echo("")
        show([one_query_table(system, query)])
