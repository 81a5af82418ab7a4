"""`goldrank texts`: score retrieved texts against the texts that they should cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

import click

from goldrank import ids
from goldrank.cli.eval import show_scores
from goldrank.cli.inputs import watching
from goldrank.cli.options import choice_option, file_option
from goldrank.cli.output import deliver, echo, show, show_itself, written
from goldrank.cli.text_options import MATCHERS, gold_option, named_sets, numbers, text_arguments, text_options
from goldrank.comparison.result import save_each
from goldrank.conventions import POLICIES, Convention
from goldrank.data.scores import Scores
from goldrank.evaluation.text_settings import Answers, Evidence, Matching
from goldrank.io.items import Items, reader_of
from goldrank.report.scores import WRITERS, one_query_table
from goldrank.types import Empty

if TYPE_CHECKING:
    from goldrank.data.explanation import Explanation
    from goldrank.evaluation.abstention import AbstentionCurve


@click.command(epilog=MATCHERS)
@click.argument("data", metavar="DATA...", nargs=-1, required=True)
@click.option("-m", "--measure", "measures", multiple=True, help="A measure such as Cover@5; may be repeated.")
@text_options
@gold_option
@click.option(
    "--chunks",
    type=click.Path(),
    help="All texts of the index, for measures that ask for them: records with text, source, start and end.",
)
@click.option(
    "--judge",
    help="Who decides on claims (ContextRecall, Faithfulness) in place of --match: judge:MODEL, at OPENAI_BASE_URL.",
)
@click.option("--empty", type=click.Choice(list(POLICIES["empty"])), help="What a question without references scores.")
@click.option("-q", "--by-query", is_flag=True, help="Show the value of every question.")
@choice_option("-o --output", WRITERS, "table", "How to show it.")
@click.option("--save", type=click.Path(), help="Save the scores: a file, or a folder where there are several systems.")
@click.option("--explain", "query", metavar="QUERY", help="Show what covers what in one question, instead of scores.")
@click.option("--curves", is_flag=True, help="Show how coverage grows with texts and with tokens.")
@click.option(
    "--budgets", metavar="N,N,...", help="Budgets of tokens for the curves. Default: eight that suit the texts."
)
@click.option("--abstain-below", type=float, help="A first text with a lower score means that the system abstains.")
@click.option(
    "--thresholds", is_flag=True, help="Show what abstaining below each score costs and brings, and which one to take."
)
@file_option("--svg", help="Write those curves as a drawing.")
@file_option("--html", help="Write scores, curves and explanation as one HTML file.")
def command(
    data: tuple[str, ...],
    measures: tuple[str, ...],
    by_query: bool,
    output: str,
    save: str | None,
    query: str | None,
    curves: bool,
    budgets: str | None,
    thresholds: bool,
    svg: str | None,
    html: str | None,
    gold: str | None,
    judge: str | None,
    abstain_below: float | None,
    empty: Empty | None,
    **options: Any,
) -> None:  # fmt: skip
    """Score retrieved texts against the reference texts that they should cover.

    DATA holds a question, its retrieved texts and its references in each line (JSON Lines), or the same as
    JSON, CSV or Parquet; names of fields that RAG tools use are known. Several files are several systems, side
    by side; NAME=FILE names one, and - is standard input. Without -m the usual measures are shown. Saved scores are
    what compare, gate, baseline, record and report take.
    """
    from goldrank.evaluation.causes import COVER, COVER_BY_PLACE
    from goldrank.evaluation.texts import DEFAULT as USUAL
    from goldrank.evaluation.texts import abstaining, evaluate_texts
    from goldrank.measures import parse
    from goldrank.report.coverage import automatic_budgets, curve_measures, curves_of

    if query is not None and output != "table":
        raise click.UsageError("--explain has no other output than text; --html writes a page")
    if thresholds and abstain_below is not None:
        raise click.UsageError("--thresholds tries every threshold; leave out --abstain-below")
    arguments = text_arguments(**options)
    rules = arguments.convention
    if empty is not None:
        rules = rules.with_policies(empty=empty)
    answers = Answers(judge=judge, abstain_below=abstain_below)
    sets, opened = named_sets(data, arguments.reading, gold)
    wanted = list(measures or USUAL)
    draw = bool(curves or svg or html or budgets)
    by_place = all(parse(text).declaration.over == "spans" for text in wanted)
    drawn_measure = COVER_BY_PLACE if by_place else COVER
    with watching(opened):
        asked = wanted
        if draw and not reader_of(sets[0]).by_id:
            chosen = numbers(budgets, "--budgets") or automatic_budgets(sets, arguments.matching.token_function)
            asked = [*wanted, *curve_measures(budgets=chosen, measure=drawn_measure)]
        elif draw:
            asked = [*wanted, *curve_measures(budgets=[], measure=drawn_measure)]
        how: TextsHow = {"matching": arguments.matching, "evidence": arguments.evidence, "convention": rules}
        measured = [evaluate_texts(items, asked, answers=answers, **how) for items in sets]
        levels = _thresholds(sets, wanted, how) if thresholds else {}
    scores = [_only(system, wanted, abstaining(rules, abstain_below)) for system in measured]
    explanations = {system.run: system.explain(query) for system in measured} if query is not None else {}
    drawn = curves_of(measured, drawn_measure) if draw else None
    saved = None
    if save:
        saved = partial(scores[0].save, save) if len(scores) == 1 else partial(save_each, scores, save)
    if html:
        from goldrank.report.texts import render

    def printed() -> None:
        if explanations:
            _show_explanations(explanations, scores, str(query))
        else:
            show_scores(scores, output, by_query)
        if (curves or budgets) and drawn:
            echo("", err=output != "table")
            show(drawn.parts(), err=output != "table")
        for name, curve in levels.items():
            echo(f"\n== {ids.show(name)} ==" if len(levels) > 1 else "", err=output != "table")
            show(curve.parts(), err=output != "table")

    drawing = written(svg, drawn.svg) if drawn else None
    deliver(saved, drawing, written(html, lambda: render(scores, drawn, explanations, levels)), printed)


class TextsHow(TypedDict):
    """How texts are compared, whatever is measured."""

    matching: Matching
    evidence: Evidence
    convention: Convention


def _thresholds(sets: Sequence[Items], wanted: Sequence[str], how: TextsHow) -> dict[str, AbstentionCurve]:
    """What thresholds do to the first measure that takes one, for each system."""
    from goldrank.evaluation.abstention import CURVES_OF, abstention_curve
    from goldrank.measures import parse

    measure = next((text for text in wanted if parse(text).name == CURVES_OF), CURVES_OF)
    return {items.name: abstention_curve(items, measure, **how) for items in sets}


def _only(scores: Scores, wanted: Sequence[str], rules: Convention) -> Scores:
    """The scores without the measures that only curves need."""
    from goldrank.evaluation.inputs import resolve_measures

    names = map(str, resolve_measures(wanted, rules))
    return replace(scores, columns={name: scores.columns[name] for name in names})


def _show_explanations(explanations: Mapping[str, Explanation], scores: Sequence[Scores], query: str) -> None:
    for i, system in enumerate(scores):
        if len(scores) > 1:
            echo(f"{chr(10) * (i > 0)}== {ids.show(system.run)} ==")
        show_itself(explanations[system.run])
        echo("")
        show([one_query_table(system, query)])
