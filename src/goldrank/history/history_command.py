"""`goldrank history`: a measure over time; what is kept, and what is done with it, is below it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.options import (
    count_option,
    db_option,
    dry_run_option,
    known_queries,
    label_option,
    measures_option,
    queries_option,
    slice_option,
    statistics_of,
    statistics_option,
)
from goldrank.cli.output import Output, output_options

if TYPE_CHECKING:
    from goldrank.comparison.settings import Statistics
    from goldrank.history.over_time import Trend
from goldrank.history.opening import open_history


@declared()
@measures_option
@label_option
@count_option
@queries_option
@slice_option
@statistics_option
@dry_run_option
@db_option()
@output_options()
@click.pass_context
def command(
    context: click.Context,
    measures: tuple[str, ...],
    label: str | None,
    count: int | None,
    queries: str | None,
    slices: tuple[str, ...],
    statistics: Statistics | None,
    dry_run: bool,
    db: str,
    output: Output,
) -> None:
    """Show how measures went over time, and where they changed by more than chance does.

    Marks stay where they were set when records are added; --dry-run looks at all records anew and keeps nothing.
    Records with other judgements, relevance rules, convention or depth are never joined into one line. Without -m it
    shows the newest record's first measure, and all of them in -o page.html.
    """
    if context.invoked_subcommand is not None:
        return
    if not os.path.exists(db) and context.get_parameter_source("db") is not click.core.ParameterSource.COMMANDLINE:
        click.echo(context.get_help())
        return
    from goldrank.history import trend_report as trend
    from goldrank.history.history_file import can_be_written
    from goldrank.history.over_time import trend_of

    known = known_queries(queries, slices)
    is_page = any(path.lower().endswith(".html") for path in output.files)
    if slices and not is_page:
        raise click.UsageError("--slice needs -o page.html: slices are drawn on the page")
    asked: dict[str, Any] = {
        "label": label,
        "limit": count,
        "reanalyse": dry_run,
        "queries": known,
        "slice_by": slices,
        "detailed": is_page,
        "statistics": statistics_of(statistics),
    }
    with open_history(db, write=can_be_written(db) and not dry_run) as history:

        def measured(measure: str | None) -> Trend:
            return trend_of(history, measure, **asked)

        shown = [measured(measure) for measure in measures or (None,)]
        pages = list(shown)
        if is_page and not measures:
            newest = shown[0].lines[-1].line.records[-1]
            pages += [measured(name) for name in newest.mean if name != shown[0].measure]

    def page(_: object) -> str:
        from goldrank.history import trend_page

        return trend_page.page(pages)

    def chart(_: object) -> str:
        from goldrank.history import trend_chart

        return trend_chart.chart([of.line for of in shown[0].lines]).alone()

    if len(shown) == 1:
        result = shown[0]
    else:
        result = None
    output.show(result, lambda _: trend.several_parts(shown), {"html": page, "svg": chart})
    for path in output.files:
        output.say(f"written: {path}")
