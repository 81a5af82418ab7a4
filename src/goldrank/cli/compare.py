"""`goldrank compare`: is one system better than another, and which of many is best?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from goldrank.base import satellites
from goldrank.base.errors import InputError
from goldrank.base.types import JudgementsLike
from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.groups import scores_by_groups
from goldrank.cli.inputs import (
    SAVED_ALREADY,
    catalogue_of,
    holds_texts,
    is_saved,
    load_saved,
    named_file,
    once,
    open_judgements,
    open_qrels,
    open_systems,
    progress,
    working,
)
from goldrank.cli.options import (
    FILE,
    ReadingOptions,
    baseline_option,
    db_option,
    documents_option,
    known_queries,
    measures_option,
    one_measure,
    primary_option,
    queries_option,
    reading_options,
    same_queries_option,
    slice_option,
    statistics_of,
    statistics_option,
)
from goldrank.cli.output import Output, output_options
from goldrank.cli.readers import scores_of_files
from goldrank.data.qrels import Qrels
from goldrank.data.scores import Scores, ScoresByRun
from goldrank.data.table import Part
from goldrank.io.contract import holds_both

if TYPE_CHECKING:
    from goldrank.comparison.build import CompareRequest
    from goldrank.comparison.settings import Statistics


@declared(usual="-m -o --as --baseline --queries --collections", help_alone=True)
@click.argument("inputs", metavar="QRELS RUN RUN... | RECORDS... | SCORES... | TEXTS...", nargs=-1, type=FILE)
@option(
    "--collections",
    type=click.Path(),
    metavar="FOLDER",
    help="In place of files: a folder with a folder for each collection, which has judgements and runs of the same "
    "names (BEIR's and MTEB's layouts too).",
)
@measures_option
@baseline_option
@primary_option
@queries_option
@slice_option
@same_queries_option
@statistics_option
@documents_option
@reading_options(scored=True)
@db_option(usual=False)
@output_options()
def command(
    inputs: tuple[str, ...],
    collections: str | None,
    measures: tuple[str, ...],
    baseline: str | None,
    primary: str | None,
    queries: str | None,
    slices: tuple[str, ...],
    same_queries: bool,
    statistics: Statistics | None,
    documents: str | None,
    reading: ReadingOptions,
    db: str | None,
    output: Output,
) -> None:
    """Compare two or more runs on the same judgements: differences, intervals, tests and what they mean.

    Of three or more systems it says first which may be best, and which ranks each may have.

    Files of retrieved texts with their references, as `goldrank texts` takes them, are compared too.

    Runs go by the names of their files; NAME=FILE gives another one, and a repeated NAME another run of that system.
    RECORDS hold the ids that were expected and those that were retrieved: each file is a system. SCORES are what `eval
    -o x.json` or `texts -o x.json` wrote; with --db the arguments are records of a history, by number, label or commit.
    """
    from goldrank.comparison.build import CompareRequest, compare_scores
    from goldrank.comparison.result import Comparison

    if collections is not None:
        if inputs:
            raise click.UsageError("--collections takes the place of QRELS and RUN")
        measure = one_measure(measures)
        compared = satellites.provided("collections")
        with working("comparing collections"):
            result = compared(collections, measure, reading.convention, statistics_of(statistics))
        output.show(result)
        return
    if not inputs:
        raise click.UsageError("give QRELS and two or more runs, saved scores, or --collections FOLDER")

    output.check(Comparison)
    query_table = known_queries(queries, slices)
    request = CompareRequest(baseline, primary, query_table, slices, statistics_of(statistics), measures or None)
    scores, request = _scores(inputs, db, request, reading, documents)
    if same_queries:
        scores = ScoresByRun(scores, queries="same")
    comparison = compare_scores(scores, request)
    if documents is not None:
        comparison = comparison.with_documents(documents)

    def shown_parts(result: Comparison) -> list[Part]:
        return [*result.parts(), *_latency_parts(result.runs, inputs, db)]

    output.show(comparison, shown_parts)


def _scores(
    inputs: tuple[str, ...], db: str | None, request: CompareRequest, reading: ReadingOptions, documents: str | None
) -> tuple[ScoresByRun, CompareRequest]:
    """The scores that are compared, and the request with the names that they have."""
    of_files = None
    if db is None:
        of_files = scores_of_files(inputs, tuple(list_of_measures(request)), reading)
    if of_files is not None:
        return ScoresByRun(_pairs(of_files)), replace(request, measures=None)
    if db is None and all(map(holds_texts, inputs)):
        if documents is not None:
            raise click.UsageError("--documents is about runs, not texts")
        reading.refuse("`goldrank texts -o x.json` takes it, and saved scores can be compared")
        return _of_texts(inputs, request)
    if db is None and not is_saved(inputs[0]):
        return _of_runs(inputs, request, reading), request
    if documents is not None:
        raise click.UsageError("--documents is about runs, not records or saved scores")
    if db is not None:
        reading.refuse("records are measured already")
        return _of_records(db, inputs, request)
    reading.refuse(SAVED_ALREADY)
    return ScoresByRun(_pairs(load_saved(inputs))), request


def _of_runs(inputs: tuple[str, ...], request: CompareRequest, reading: ReadingOptions) -> ScoresByRun:
    """The scores of runs, each of which is read once."""
    from goldrank.comparison.build import scores_to_compare
    from goldrank.evaluation.inputs import as_catalogue
    from goldrank.measures import parse_all

    if len(inputs) < 2:
        raise click.UsageError("give QRELS and two or more runs, or saved scores")
    once(inputs)
    by_groups = scores_by_groups(inputs, list_of_measures(request), reading)
    if by_groups is not None:
        return by_groups
    qrels, *runs = inputs
    measures: tuple[str, ...] = ()
    if request.measures is not None:
        measures = tuple(map(str, parse_all(request.measures)))
    judged: JudgementsLike
    if all(holds_both(named_file(file)[1], reading.columns) for file in inputs):
        runs = list(dict.fromkeys(inputs))
        judged = _common_judgements(runs, reading)
    else:
        judged = open_judgements(qrels, measures, reading)
    opened = open_systems(runs, reading)
    catalogue = as_catalogue(catalogue_of(reading))
    with progress(*(run for _, run in opened.items())):
        return scores_to_compare(
            judged, opened, request.measures, request.statistics, reading.convention, catalogue, reading.depth
        )


def list_of_measures(request: CompareRequest) -> list[str]:
    """The measures of -m as they are spelled."""
    return [str(measure) for measure in request.measures or ()]  # type: ignore[union-attr]  # -m gives texts


def _of_texts(inputs: tuple[str, ...], request: CompareRequest) -> tuple[ScoresByRun, CompareRequest]:
    """The scores of retrieved texts, and the request with the texts of the questions."""
    from goldrank.cli.text_options import named_sets
    from goldrank.evaluation.texts import evaluate_texts

    sets, _ = named_sets(inputs, {"fields": None, "format": None, "nulls": "error", "failures": "error"})
    scores = [evaluate_texts(items, request.measures) for items in sets]
    questions = sets[0].queries
    if request.queries is None and questions.has("text"):
        request = replace(request, queries=questions)
    return ScoresByRun(_pairs(scores)), request


def _common_judgements(files: Sequence[str], reading: ReadingOptions) -> Qrels:
    """The judgements that files of records hold; an error if they are not the same."""
    first, *others = files
    judged = open_qrels(named_file(first)[1], reading)
    for file in others:
        if open_qrels(named_file(file)[1], reading) == judged:
            continue
        raise InputError(
            f"expects other ids than {named_file(first)[1]}",
            where=named_file(file)[1],
            hint="Systems are compared on the same questions and judgements: give QRELS first, then the runs.",
            code="other-judgements",
        )
    return judged


def _of_records(db: str, refs: tuple[str, ...], request: CompareRequest) -> tuple[ScoresByRun, CompareRequest]:
    """The scores of records, and the request with the name that the baseline's record has."""
    scores, baseline = satellites.provided("record scores")(db, refs, request.baseline)
    return ScoresByRun(_pairs(scores)), replace(request, baseline=baseline)


def _pairs(scores: Sequence[Scores]) -> list[tuple[str, Scores]]:
    """Scores with their names; those of one name are runs of one system."""
    return [(system_scores.run, system_scores) for system_scores in scores]


def _latency_parts(names: Sequence[str], inputs: tuple[str, ...], db: str | None) -> list[Part]:
    """How long the engines took, where each run is a file with records beside it."""
    runs = inputs[1:]
    is_measured_here = db is None and not is_saved(inputs[0]) and len(names) == len(runs)
    if not is_measured_here or not satellites.provides("latencies compared"):
        return []
    paths = {name: named_file(text)[1] for name, text in zip(names, runs, strict=True)}
    shown: list[Part] = satellites.provided("latencies compared")(paths)
    return shown
