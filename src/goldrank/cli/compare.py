"""`goldrank compare`: is one system better than another?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from goldrank.cli.inputs import (
    is_saved,
    load_saved,
    named_file,
    open_qrels,
    open_runs,
    open_systems,
    progress,
    refuse_policies,
)
from goldrank.cli.options import (
    ReadingOptions,
    comparison_arguments,
    file_options,
    format_option,
    judges_options,
    measures_option,
    memory_option,
    policy_options,
    reading_options,
    statistics_options,
)
from goldrank.cli.output import echo, show, show_comparison, show_corrected
from goldrank.conventions import POLICIES

if TYPE_CHECKING:
    from goldrank.comparison.result import Comparison


@click.command()
@click.argument("qrels", metavar="SCORES | QRELS")
@click.argument("runs", metavar="SCORES... | RUN RUN...", nargs=-1, required=True)
@click.option(
    "--history",
    "db",
    metavar="DB",
    type=click.Path(),
    help="Compare records of a history: RECORD RECORD..., by number, label or commit.",
)
@measures_option
@statistics_options
@file_options
@click.option("--agreement", "agree", is_flag=True, help="Also show how alike the rankings are, and the measures.")
@format_option
@reading_options
@memory_option
@judges_options
@policy_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    db: str | None,
    measures: tuple[str, ...],
    agree: bool,
    how: ReadingOptions,
    judged_by: str | None,
    model_qrels: str | None,
    **options: Any,
) -> None:
    """Compare two or more runs on the same judgements: differences, intervals, tests and what they mean.

    Runs go by the names of their files; NAME=FILE gives another one, and a repeated NAME another run of that system.
    SCORES are what `texts --save` or `eval --save` wrote; these are compared as they are.
    """
    from goldrank.comparison import compare

    arguments, outputs = comparison_arguments(**options)
    if judged_by and (db is not None or is_saved(named_file(qrels)[1])):
        raise click.UsageError("--judged-by is about judgements, not records or saved scores")
    if db is not None:
        if agree or how.run_format or how.given:
            raise click.UsageError(f"{how.given or '--agreement and --format'} is about runs, not records")
        show_comparison(_of_records(db, (qrels, *runs), measures, arguments), **outputs)
        return
    if is_saved(named_file(qrels)[1]):
        refuse_policies(arguments, how)
        if agree:
            raise click.UsageError("--agreement is about runs, not saved scores")
        plain = {name: value for name, value in arguments.items() if name not in ("convention", *POLICIES)}
        show_comparison(compare(load_saved((qrels, *runs)), measures=measures or None, **plain), **outputs)
        return
    judged = open_qrels(qrels, arguments, how, model=model_qrels)
    if judged_by == "corrected":
        if agree or outputs["svg"] or outputs["save"] or any(outputs["files"].values()):
            raise click.UsageError(
                "--judged-by corrected prints a table; it has no --agreement, --svg, --save or files"
            )
        systems = open_runs(runs, arguments, how)
        show_corrected(compare(judged, systems, measures or None, judged_by="corrected", **arguments))
        return
    arguments["judged_by"] = judged_by
    opened = open_systems(runs, arguments, how)
    with progress(*(run for several in opened.values() for run in several)):
        drawn = bool(outputs["svg"] or outputs["files"]["html"])
        result = compare(judged, opened, measures or None, curves=drawn, train=how.train, **arguments)
    show_comparison(result, **outputs)
    if agree:
        from goldrank.report.comparison import agreement_parts

        echo("")
        show(agreement_parts(result, {name: several[0] for name, several in opened.items()}))


def _of_records(db: str, refs: tuple[str, ...], measures: tuple[str, ...], how: dict[str, Any]) -> Comparison:
    """The comparison of records; their scores have their policies already."""
    from goldrank.comparison import compare
    from goldrank.conventions import DEFAULT
    from goldrank.history import History
    from goldrank.history.comparing import record_name, record_scores

    with History.open(db, read_only=True) as history:
        scores = record_scores(history, refs)
        if how["baseline"] is not None:
            how["baseline"] = record_name(history.get(how["baseline"]))
    if how["convention"] == DEFAULT:
        how = {name: value for name, value in how.items() if name != "convention"}
    compared: Comparison = compare(scores, measures=measures or None, **how)
    return compared
