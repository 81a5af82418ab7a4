"""`goldrank eval`: score runs against judgements, or show scores that were saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from goldrank.base import satellites
from goldrank.base.errors import InputError
from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.groups import scores_by_groups
from goldrank.cli.inputs import (
    SAVED_ALREADY,
    catalogue_of,
    is_saved,
    load_saved,
    once,
    open_judgements,
    open_qrels,
    open_run,
    open_runs,
    progress,
)
from goldrank.cli.options import (
    FILE,
    MEASURE,
    ReadingOptions,
    by_query_option,
    known_queries,
    measures_option,
    queries_option,
    reading_options,
    signature_option,
    slice_option,
    statistics_of,
    statistics_option,
)
from goldrank.cli.output import Output, output_options
from goldrank.cli.readers import ScoresOfFile, as_target, chosen, is_truth, results_of_files, scores_of_files
from goldrank.data.json_values import without_nan
from goldrank.data.run import Run
from goldrank.data.runs import Runs
from goldrank.data.scores import Scores, ScoresByRun
from goldrank.data.showing import Result
from goldrank.io.contract import BAD_RECORD, SEVERAL_SYSTEMS, by_system, check_strictly, records_of
from goldrank.report.scores import ScoreTables, Signed
from goldrank.report.show import render

if TYPE_CHECKING:
    from goldrank.comparison.settings import Statistics
    from goldrank.data.queries import Queries


@declared(usual="-m -q -o --as --map --convention")
@click.argument("inputs", metavar="QRELS RUN... | RECORDS | SCORES...", nargs=-1, required=True, type=FILE)
@measures_option
@by_query_option
@signature_option
@option(
    "--contract", "strict", is_flag=True, help="Records: hold the file to `goldrank schema record`; no other names."
)
@option("--interval", is_flag=True, heading=MEASURE, help="Show how sure each mean is.")
@option(
    "--tail",
    is_flag=True,
    heading=MEASURE,
    help="Show the bad end: median, 5th percentile, worst queries; with -m 'P[nDCG@10 >= 0.5]' the share "
    "that reaches it, and with clusters in --queries the spread of variants.",
)
@option(
    "--truth",
    type=click.Choice(["exact"]),
    help="QRELS is a run of exact search: recall of approximate search, ties by distance counted fairly.",
)
@queries_option
@slice_option
@statistics_option
@reading_options(scored=True)
@output_options()
def command(
    inputs: tuple[str, ...],
    measures: tuple[str, ...],
    by_query: bool,
    signed: Signed | None,
    strict: bool,
    interval: bool,
    tail: bool,
    truth: str | None,
    queries: str | None,
    slices: tuple[str, ...],
    statistics: Statistics | None,
    reading: ReadingOptions,
    output: Output,
) -> None:
    """Score one or more runs against judgements.

    QRELS and RUN are files of almost any kind (TREC, MS MARCO, BEIR, JSON, CSV, Parquet, also .gz and .zst);
    - is standard input, and NAME=FILE names a run. Folders of part files and quoted patterns
    ('runs/part-*.parquet') are read as one. Without -m the usual measures are shown.

    RECORDS hold both: questions with the ids that were expected and those that were retrieved. SCORES are what
    `-o scores.json` wrote, or baselines; those of shards of one run (--shard) are put together.
    """
    if signed and (interval or slices):
        raise click.UsageError("--signature is of scores; --interval and --slice show more than a signature says")
    if by_query and (interval or slices):
        raise click.UsageError("-q shows single queries; --interval and --slice are about their means")
    if tail and (by_query or interval or slices):
        raise click.UsageError("--tail goes with neither -q, --interval nor --slice")
    once(inputs)
    if strict:
        _check_strictly(inputs)
    targets = [target for target in map(as_target, measures) if target is not None]
    if targets:
        tail = True
        measures = tuple(dict.fromkeys(_without_target(measure) for measure in measures))

    is_plain = not (by_query or interval or slices or tail)
    told = truth is None and is_truth(inputs, reading)
    if told:
        output.say(f"{inputs[0]} is a run: it is taken as exact search (--truth exact)")
    if truth is not None or told:
        results: list[Any] | None = _against_exact(inputs, measures, reading)
        measures = ()
    else:
        results = results_of_files(inputs, measures, reading)
    if results is not None and len(results) == 1 and is_plain and not measures and isinstance(results[0], Result):
        # Files of scores can be read again, whatever they were made of.
        output.show(results[0], writers={"json": lambda result: result.scores.to_json()})
        return

    if results is not None:
        scores = [chosen(result.scores, measures) for result in results]
    elif is_saved(inputs[0]):
        reading.refuse(SAVED_ALREADY)
        scores = _saved(inputs, measures)
    else:
        scores = list(_measured(inputs, measures, reading).values())

    query_table: Queries | None
    if tail:
        query_table = known_queries(queries)
        show_tails(satellites.provided("tails")(scores, targets, query_table), output)
    elif interval or slices:
        if queries is None and slices and len(inputs) == 1 and not is_saved(inputs[0]) and inputs[0] != "-":
            query_table = _own_fields(inputs[0])
        else:
            query_table = known_queries(queries, slices)
        show_intervals(scores, query_table, slices, statistics_of(statistics), output)
    else:
        show_scores(scores, output, by_query, signed)


def _check_strictly(inputs: tuple[str, ...]) -> None:
    """Refuse a file of records that the schema does not allow."""
    if len(inputs) > 1 or inputs[0] == "-":
        raise click.UsageError("--contract is for one file of records")
    for where, record in records_of(inputs[0]):
        check_strictly(record, where)


def _against_exact(inputs: tuple[str, ...], measures: tuple[str, ...], reading: ReadingOptions) -> list[Any]:
    """Recall of approximate search; the first file is what exact search returned."""
    exact, *runs = inputs
    if not runs:
        raise click.UsageError("give the run of exact search, then those of approximate search")
    opened = [run for _, run in open_runs(runs, reading).items()]
    truth = open_run(exact, reading)
    results: list[Any] = satellites.provided("recall against exact search")(truth, opened, measures)
    return _with_all_cutoffs(results)


def _with_all_cutoffs(results: list[Any]) -> list[Any]:
    """One result for each run, if there is one cut-off; else scores with a column for each."""
    by_run: dict[str, list[Any]] = {}
    for result in results:
        by_run.setdefault(result.run, []).append(result)
    if all(len(of_run) == 1 for of_run in by_run.values()):
        return results
    joined = []
    for of_run in by_run.values():
        columns = {result.measure: result.scores.columns[result.measure] for result in of_run}
        joined.append(ScoresOfFile(replace(of_run[0].scores, columns=columns)))
    return joined


def _without_target(measure: str) -> str:
    target = as_target(measure)
    if target is None:
        return measure
    return target.measure


def show_tails(tails: Sequence[Any], output: Output) -> None:
    """Show the bad end of one run or several."""
    if len(tails) == 1:
        output.show(tails[0])
        return
    forms = {form: partial(_all_tails, form, tails) for form in (*IN_ROWS, "json", "html")}
    output.show(list(tails), lambda shown: [part for tail in shown for part in tail.parts()], forms)


def _all_tails(form: str, tails: Sequence[Any], _: object) -> str:
    from goldrank.report.show import render as render_result

    if form == "json":
        import json

        return json.dumps([tail.to_dict() for tail in tails])
    return "\n".join(render_result(tail, form) for tail in tails)


def _measured(inputs: tuple[str, ...], measures: tuple[str, ...], reading: ReadingOptions) -> ScoresByRun:
    """The scores of runs that are read now."""
    from goldrank.evaluation.inputs import judgements_for
    from goldrank.evaluation.rankings import evaluate
    from goldrank.io.sources import open_source
    from goldrank.measures import parse_all

    qrels, *runs = inputs
    source: Any = qrels
    by_groups = scores_by_groups(inputs, measures, reading)
    if by_groups is not None:
        return by_groups
    if not runs:
        if reading.by_tag:
            raise click.UsageError("--by-tag needs a RUN")
        if qrels == "-":
            source = open_source(qrels)

    judged: Any
    if runs:
        judged = open_judgements(qrels, measures, reading)
        opened = open_runs(runs, reading)
    else:
        judged = judgements_for(parse_all(measures or None), source)
        judged, opened = _from_records(source, judged, reading)

    watched = []
    if not reading.by_tag:
        watched = [run for _, run in opened.items()]
    with progress(*watched):
        return evaluate(
            judged,
            opened,
            measures or None,
            convention=reading.convention,
            depth=reading.depth,
            catalogue=catalogue_of(reading),
        )


def _from_records(source: Any, judged: Any, reading: ReadingOptions) -> tuple[Any, Runs]:
    """The judgements and the run of a file that has both, or its runs if it has several systems."""
    from goldrank.io import as_qrels, as_run

    try:
        if judged is source:
            judged = open_qrels(source, reading)
        return judged, Runs([_retrieved(source, reading)])
    except InputError as error:
        if error.code != SEVERAL_SYSTEMS:
            raise

    questions, systems = by_system(source)
    runs = [(name, as_run(records, name=name)) for name, records in systems.items()]
    return as_qrels(list(questions.values())), Runs(runs)


def scores_of(inputs: tuple[str, ...], measures: tuple[str, ...], reading: ReadingOptions) -> list[Scores]:
    """Saved scores, or those of runs or result files that are read now."""
    of_files = scores_of_files(inputs, measures, reading)
    if of_files is not None:
        return of_files
    if is_saved(inputs[0]):
        if measures:
            raise click.UsageError("-m is for runs; saved scores have their measures already")
        reading.refuse(SAVED_ALREADY)
        return load_saved(inputs)
    once(inputs)
    return list(_measured(inputs, measures, reading).values())


def _saved(files: tuple[str, ...], measures: tuple[str, ...]) -> list[Scores]:
    """Scores that were saved; shards of one run are put together."""
    if measures:
        raise click.UsageError("-m is for runs; saved scores have their measures already")
    saved = load_saved(files)
    names = {scores.run for scores in saved}
    if len(saved) > 1 and len(names) == 1:
        return [Scores.merge(saved)]
    return saved


def _own_fields(path: str) -> Queries:
    """What records that hold both sides say of their questions."""
    from goldrank.io.questions.items import read_items

    return read_items(path).queries


def _retrieved(source: Any, reading: ReadingOptions) -> Run:
    """The run of a file that has its judgements too."""
    from goldrank.io import read_run

    try:
        run = read_run(source, format=reading.run_format, columns=reading.columns)
        reading.columns.check_used()
        len(run)  # of some formats nothing was read so far
    except InputError as error:
        from goldrank.io.objects.id_lists import TEXTS_NOT_IDS

        if error.code in (BAD_RECORD, SEVERAL_SYSTEMS, TEXTS_NOT_IDS):
            raise
        problem = error.what
        if error.where is not None:
            problem = f"{error.where}: {error.what}"
        problem = (
            "Missing argument 'RUN...'. Without it, QRELS must hold both the ids that were expected and those that "
            f"were retrieved: {problem}"
        )
        if error.hint:
            problem = f"{problem}. {error.hint}"
        raise click.UsageError(problem) from None
    return run


def show_intervals(
    scores: Sequence[Scores], queries: Any, slices: tuple[str, ...], statistics: Statistics, output: Output
) -> None:
    """Show means with their intervals."""
    from goldrank.comparison.one_system import RunIntervals, score_intervals
    from goldrank.report.one_system import IntervalTables

    kind: type[Result] = IntervalTables
    if len(scores) == 1:
        kind = RunIntervals
    output.check(kind)
    intervals = [score_intervals(run, queries=queries, slice_by=slices, statistics=statistics) for run in scores]
    if len(intervals) == 1:
        output.show(intervals[0])
    else:
        output.show(IntervalTables(intervals))


IN_ROWS = ("csv", "tsv", "markdown", "latex")
"""Forms that have rows: of runs, or with -q of queries."""


def show_scores(scores: Sequence[Scores], output: Output, by_query: bool, signed: Signed | None = None) -> None:
    """Show scores, and write them to files; those that end in .json can be loaded again."""
    result: Scores | ScoresByRun = scores[0]
    if len(scores) > 1:
        result = ScoresByRun([(run_scores.run, run_scores) for run_scores in scores])

    tables = ScoreTables(scores, by_query, signed)
    writers: dict[str, Callable[[Any], str]] = {form: partial(_rows, tables, form) for form in IN_ROWS}
    if signed is not None:
        writers["terminal"] = partial(_rows, tables, "terminal")
    if signed == "full":
        writers |= {"json": partial(_with_run, tables), "html": partial(_rows, tables, "html")}
    output.show(result, lambda _: tables.parts(), writers)


def _rows(tables: ScoreTables, form: str, _: object) -> str:
    return render(tables, form)


def _with_run(tables: ScoreTables, result: Scores | ScoresByRun) -> str:
    """JSON that can be loaded again, in which every signature has the run."""
    import json

    data = without_nan(result.to_dict())
    entries = data.get("runs", [data])
    for entry, scores in zip(entries, tables.scores, strict=True):
        entry["signature"] = scores.signature(full=True)
        for name, column in entry["measures"].items():
            column["signature"] = scores.signature(name, full=True)
    return json.dumps(data, indent=1)
