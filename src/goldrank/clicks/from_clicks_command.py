"""`goldrank judgements from-clicks`: judgements from click logs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast, get_args

import click

from goldrank.base.errors import InputError, one_of
from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.inputs import key_values
from goldrank.cli.nouns import NounOption, NounType
from goldrank.cli.options import (
    FILE,
    MEASURE,
    OUTPUT,
    decimals,
    input_option,
    map_option,
    statistics_of,
    statistics_option,
)
from goldrank.cli.output import Output, deliver, output_options
from goldrank.clicks.judgements import ModelName
from goldrank.data.table import count

if TYPE_CHECKING:
    from goldrank.comparison.settings import Statistics

MODEL = NounOption("--model", "goldrank.clicks.from_clicks_command:ClickModel", "name")
REPORTS = ("markdown", "html", "terminal")
"""Forms of files that hold what was estimated; other files hold the judgements."""


class ClickModel:
    """A click model by name, with its parameters."""

    def __init__(
        self,
        name: str = "ctr",
        prior: tuple[float, ...] | None = None,
        propensities: tuple[float, ...] | None = None,
        unbiased: bool | None = None,
        gamma: float | None = None,
    ) -> None:
        self.name = cast(ModelName, one_of(name, get_args(ModelName), "--model"))
        parameters: dict[str, Any] = {"prior": prior, "unbiased": unbiased, "gamma": gamma}
        if propensities is not None:
            parameters["propensities"] = dict(enumerate(propensities, 1))
        self.parameters = {key: value for key, value in parameters.items() if value is not None}


@declared(usual="-o --model --cuts --min-views --map --statistics")
@click.argument("clicks", type=FILE)
@option(
    "--model",
    type=NounType(MODEL),
    metavar="NAME,KEY=VALUE",
    heading=MEASURE,
    help=f"How clicks are understood ({', '.join(get_args(ModelName))}): ctr,prior=1+10; "
    "propensity,propensities=0.9+0.5,unbiased=true; dbn,gamma=0.9. Default: ctr.",
)
@option(
    "--cuts", metavar="X,X,...", heading=OUTPUT, help="Make whole grades: the number of these that a value reaches."
)
@option(
    "--min-views",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    heading=MEASURE,
    help="Judge pairs that were shown at least this often.",
)
@statistics_option
@input_option
@map_option
@output_options()
def command(
    clicks: str,
    model: ClickModel | None,
    cuts: str | None,
    min_views: int,
    statistics: Statistics | None,
    formats: dict[str, str],
    fields: tuple[str, ...],
    output: Output,
) -> None:  # fmt: skip
    """Estimate from clicks how relevant documents are, and write that as judgements (-o qrels.json).

    CLICKS has a row for each document that was shown (query, doc, rank, click, page) or a record for each page view
    (query, shown, clicks). Values are gains with decimals, unless --cuts makes grades of them. --as csv and --as json
    show every pair with its counts and interval.
    """
    from goldrank.clicks.judgements import judgements_from_clicks
    from goldrank.io.writing_files import save_qrels

    reports, files = output.files_of(REPORTS)
    chosen = model or ClickModel()
    judged = judgements_from_clicks(
        clicks,
        chosen.name,
        columns=key_values(fields, "--map") or None,
        format=formats.get(""),
        min_views=min_views,
        statistics=statistics_of(statistics),
        **chosen.parameters,
    )

    cut_points = None
    more = "; evaluate with --real-grades"
    if cuts is not None:
        cut_points = decimals(cuts, "--cuts")
        more = ""
    qrels = judged.qrels(cut_points)
    if files and not len(qrels):
        message = f"no pair was shown {judged.min_views:,} times or more, so that there is nothing to write"
        raise InputError(message, where=clicks, hint="--min-views takes a lower number.", code="too-few-views")

    deliver(*(partial(save_qrels, qrels, path) for path in files), partial(reports.show, judged))
    for path in files:
        judgements = sum(map(len, qrels.values()))
        output.say(f"{path}: {count(len(qrels), 'query')}, {count(judgements, 'judgement')}{more}")
