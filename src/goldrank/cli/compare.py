"""`goldrank compare`: is one system better than another?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from goldrank.cli.inputs import is_saved, load_saved, named_file, open_qrels, open_systems, progress, refuse_policies
from goldrank.cli.options import (
    ReadingOptions,
    comparison_arguments,
    file_options,
    format_option,
    measures_option,
    memory_option,
    policy_options,
    reading_options,
    statistics_options,
)
from goldrank.cli.output import echo, show, show_comparison
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
@policy_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    db: str | None,
    measures: tuple[str, ...],
    agree: bool,
    run_format: str | None,
    how: ReadingOptions,
    **options: Any,
) -> None:
    """Compare two or more runs on the same judgements: differences, intervals, tests and what they mean.

    Runs go by the names of their files; NAME=FILE gives another one, and a repeated NAME another run of that system.
    SCORES are what `texts --save` or `eval --save` wrote; these are compared as they are.
    """
    from goldrank.comparison import compare

    arguments, outputs = comparison_arguments(**options)
    if db is not None:
        if agree or run_format or how.given:
            raise click.UsageError(f"{how.given or '--agreement and --format'} is about runs, not records")
        show_comparison(_of_records(db, (qrels, *runs), measures, arguments), **outputs)
        return
    if is_saved(named_file(qrels)[1]):
        refuse_policies(arguments | {"run_format": run_format}, how)
        if agree:
            raise click.UsageError("--agreement is about runs, not saved scores")
        plain = {name: value for name, value in arguments.items() if name not in ("convention", *POLICIES)}
        show_comparison(compare(load_saved((qrels, *runs)), measures=measures or None, **plain), **outputs)
        return
    judged = open_qrels(qrels, arguments, how=how)
    opened = open_systems(runs, arguments, run_format, how)
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
    if how["convention"] == DEFAULT.name:
        how = {name: value for name, value in how.items() if name != "convention"}
    return compare(scores, measures=measures or None, **how)
