"""`goldrank texts`: score retrieved texts against the texts that they should cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

import click

from goldrank.base import ids
from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.eval import show_intervals, show_scores
from goldrank.cli.inputs import watching
from goldrank.cli.judge_word import JudgeWord, judge_option
from goldrank.cli.options import FILE, MEASURE, OUTPUT, by_query_option, measures_option, signature_option, slice_option
from goldrank.cli.output import Output, deliver, echo, output_options, show, show_itself, write
from goldrank.cli.text_options import MATCHERS, TextArguments, answers_option, named_sets, text_options
from goldrank.comparison.settings import Statistics
from goldrank.conventions import Convention
from goldrank.data.scores import Scores
from goldrank.evaluation.text_settings import Answers, Evidence, Matching
from goldrank.io.questions.items import reader_of
from goldrank.rag.abstention_curve import curves_by_system
from goldrank.report.scores import Signed, one_query_table

if TYPE_CHECKING:
    from goldrank.data.explanation import Explanation


@declared(usual="-m -q -o --gold --matching --evidence", epilog=MATCHERS)
@click.argument("data", metavar="DATA...", nargs=-1, required=True, type=FILE)
@measures_option
@by_query_option
@signature_option
@option(
    "--explain",
    "query",
    metavar="QUERY",
    heading=OUTPUT,
    help="Show what covers what in one question, instead of scores.",
)
@option(
    "--thresholds",
    is_flag=True,
    heading=MEASURE,
    help="Show what abstaining below each score costs and brings, and which one to take.",
)
@slice_option
@answers_option
@judge_option()
@text_options()
@output_options()
def command(
    data: tuple[str, ...],
    measures: tuple[str, ...],
    by_query: bool,
    signed: Signed | None,
    query: str | None,
    thresholds: bool,
    slices: tuple[str, ...],
    answers: Answers | None,
    judge: JudgeWord | None,
    gold: str | None,
    texts: TextArguments,
    output: Output,
) -> None:  # fmt: skip
    """Score retrieved texts against the reference texts that they should cover.

    DATA holds a question, its retrieved texts and its references in each line (JSON Lines), or the same as
    JSON, CSV or Parquet; names of fields that RAG tools use are known. Several files are several systems, side
    by side; NAME=FILE names one, and - is standard input. Without -m the usual measures are shown. Saved scores
    (-o scores.json) are what compare, gate and record take.
    """
    from goldrank.evaluation.texts import abstaining, evaluate_texts, usual_measures
    from goldrank.measures import parse
    from goldrank.rag.coverage_curves import automatic_budgets, curve_measures, curves_of

    chosen = answers or Answers()
    if judge is not None:
        chosen = replace(chosen, judge=judge.matcher(prompt="support"))
    if query is not None and output.form != "terminal":
        raise click.UsageError("--explain is shown as text; -o x.html writes a page")
    if thresholds and chosen.abstain_below is not None:
        raise click.UsageError("--thresholds tries every threshold; leave out --answers abstain_below=")

    if slices and (by_query or query is not None or thresholds):
        raise click.UsageError("--slice is about means; leave out -q, --explain and --thresholds")

    rules = texts.convention
    sets, opened = named_sets(data, texts.reading, gold)
    shown_measures = list(measures or usual_measures(sets[0], texts.matching))
    pages = tuple(path for path in output.files if path.lower().endswith(".html"))
    drawn_measure = "Cover"
    if all(parse(text).declaration.over == "spans" for text in shown_measures):
        drawn_measure = "EvidenceRecall"
    options: TextsOptions = {"matching": texts.matching, "evidence": texts.evidence, "convention": rules}
    levels = {}
    with watching(opened):
        all_measures = shown_measures
        if pages:
            budgets: list[int] = []
            if not reader_of(sets[0]).by_id:
                budgets = automatic_budgets(sets, texts.matching.token_function)
            all_measures = [*shown_measures, *curve_measures(budgets=budgets, measure=drawn_measure)]
        measured = [evaluate_texts(items, all_measures, answers=chosen, **options) for items in sets]
        if thresholds:
            levels = curves_by_system(sets, shown_measures, **options)

    scores = [_only(system, shown_measures, abstaining(rules, chosen.abstain_below)) for system in measured]
    explanations = {}
    if query is not None:
        explanations = {system.run: system.explain(query) for system in measured}
    drawn = None
    if pages:
        drawn = curves_of(measured, drawn_measure)

    def page() -> str:
        from goldrank.rag.texts_page import render

        return render(scores, drawn, explanations, levels)

    def printed() -> None:
        others = replace(output, files=tuple(path for path in output.files if path not in pages))
        if slices:
            show_intervals(scores, sets[0].queries, slices, Statistics(), others)
        elif explanations and not output.is_quiet:
            _show_explanations(explanations, scores, str(query))
        else:
            show_scores(scores, others, by_query, signed)
        for name, curve in levels.items():
            title = ""
            if len(levels) > 1:
                title = f"\n== {ids.show(name)} =="
            echo(title, err=output.form != "terminal")
            show(curve.parts(), err=output.form != "terminal")

    deliver(*(partial(_write_page, path, page) for path in pages), printed)


def _write_page(path: str, page: Any) -> None:
    write(path, page())


class TextsOptions(TypedDict):
    """How texts are compared, for all measures."""

    matching: Matching
    evidence: Evidence
    convention: Convention


def _only(scores: Scores, measures: Sequence[str], rules: Convention) -> Scores:
    """The scores without the measures that only curves need."""
    from goldrank.evaluation.inputs import resolve_measures

    names = map(str, resolve_measures(measures, rules))
    return replace(scores, columns={name: scores.columns[name] for name in names})


def _show_explanations(explanations: Mapping[str, Explanation], scores: Sequence[Scores], query: str) -> None:
    for i, system in enumerate(scores):
        if len(scores) > 1:
            echo(f"{chr(10) * (i > 0)}== {ids.show(system.run)} ==")
        show_itself(explanations[system.run])
        echo("")
        show([one_query_table(system, query)])
