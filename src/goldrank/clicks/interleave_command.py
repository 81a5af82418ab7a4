"""`goldrank judgements interleave`: which of two interleaved rankings users click."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.options import FILE, statistics_of, statistics_option
from goldrank.cli.output import Output, output_options
from goldrank.clicks.interleaving import Method

if TYPE_CHECKING:
    from goldrank.comparison.settings import Statistics


def _two_names(ctx: click.Context, param: click.Parameter, text: str) -> tuple[str, str]:
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names):
        raise click.UsageError(f"--names {text!r} is not two names with a comma between them: old,new")
    return names[0], names[1]


@declared()
@click.argument("clicks", type=FILE)
@option(
    "--method",
    type=click.Choice(get_args(Method)),
    help="How lists were made; by default team-draft if the log has the field team, otherwise probabilistic.",
)
@option("--names", default="A,B", callback=_two_names, metavar="A,B", help="What the two rankings are called.")
@statistics_option
@output_options()
def command(
    clicks: str, method: Method | None, names: tuple[str, str], statistics: Statistics | None, output: Output
) -> None:
    """Say which of two rankings users prefer, from clicks on lists that mix both.

    CLICKS has a JSON object in each line: shown and clicks (document ids), for team draft team ("a" or "b" for each
    shown document), for probabilistic interleaving a and b (the two rankings), and user and query if they are known.
    """
    from goldrank.clicks.interleaving import Preference, analyse_interleaving

    output.check(Preference)
    preference = analyse_interleaving(clicks, method, names=names, statistics=statistics_of(statistics))
    output.show(preference)
