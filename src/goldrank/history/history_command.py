"""`goldrank history`: a measure over time; what is kept, and what is done with it, is below it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

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
from goldrank.history.opening import open_history

if TYPE_CHECKING:
    from goldrank.comparison.settings import Statistics


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
    from goldrank.history.over_time import TrendRequest, trend_of

    query_table = known_queries(queries, slices)
    is_page = any(path.lower().endswith(".html") for path in output.files)
    if slices and not is_page:
        raise click.UsageError("--slice needs -o page.html: slices are drawn on the page")
    request = TrendRequest(
        label=label,
        limit=count,
        queries=query_table,
        slice_by=slices,
        statistics=statistics_of(statistics),
        reanalyse=dry_run,
        detailed=is_page,
    )
    with open_history(db, write=can_be_written(db) and not dry_run) as history:
        trends = [trend_of(history, measure, request) for measure in measures or (None,)]
        pages = list(trends)
        if is_page and not measures:
            newest = trends[0].lines[-1].line.records[-1]
            pages += [trend_of(history, name, request) for name in newest.mean if name != trends[0].measure]

    def page(_: object) -> str:
        from goldrank.history import trend_page

        return trend_page.page(pages)

    def chart(_: object) -> str:
        from goldrank.history import trend_chart

        return trend_chart.chart([details.line for details in trends[0].lines]).alone()

    result = None
    if len(trends) == 1:
        result = trends[0]
    output.show(result, lambda _: trend.several_parts(trends), {"html": page, "svg": chart})
    for path in output.files:
        output.say(f"written: {path}")
