"""`goldrank judgements`: judgements from click logs, and those that people and models gave."""

from __future__ import annotations

from functools import partial
from typing import get_args

import click

from goldrank.cli.inputs import key_values
from goldrank.cli.options import alpha_of, choice_option, decimals, explained, fields_option, file_option, seed_option
from goldrank.cli.output import deliver, say, show, write, written
from goldrank.clicks.judgements import ModelName, ModelParameters
from goldrank.data.table import count
from goldrank.errors import InputError
from goldrank.judgements.merge import BY, MERGES, By, Merge


@click.group()
def command() -> None:
    """Make judgements of clicks, or export those that people and models gave."""


@command.command("from-clicks")
@click.argument("log")
@file_option("-o", "--output", required=True, help="Write the judgements: .json, .parquet, or TREC text.")
@choice_option("--model", get_args(ModelName), "ctr", "How clicks are understood.")
@click.option("--prior", nargs=2, type=float, help="ctr: a and b of its Beta distribution; else found in the log.")
@click.option("--propensities", metavar="P,P,...", help="propensity: how likely ranks 1, 2, ... are looked at.")
@click.option("--unbiased", is_flag=True, help="propensity: sum(click/p)/shown, which varies more.")
@click.option("--gamma", type=float, help="dbn: how likely people go on when not satisfied; default 1.")
@click.option("--cuts", metavar="X,X,...", help="Make whole grades: the number of these that a value reaches.")
@click.option(
    "--min-views", type=click.IntRange(0), default=10, show_default=True, help="Judge what was shown at least so often."
)
@click.option("--level", type=float, default=0.95, show_default=True, help="The confidence of intervals.")
@click.option("--samples", type=click.IntRange(100), default=200, show_default=True, help="Bootstrap samples.")
@seed_option
@file_option("--table", help="Write every pair with its counts and interval to a .csv or .json file.")
@fields_option
@click.option("--format", "log_format", help="The log's format, if it cannot be detected from its content.")
def from_clicks(
    log: str,
    output: str,
    model: ModelName,
    prior: tuple[float, float] | None,
    propensities: str | None,
    unbiased: bool,
    gamma: float | None,
    cuts: str | None,
    min_views: int,
    level: float,
    samples: int,
    seed: int,
    table: str | None,
    fields: tuple[str, ...],
    log_format: str | None,
) -> None:
    """Estimate from clicks how relevant documents are, and write that as judgements.

    LOG has a row for each document that was shown (query, doc, rank, click, page) or a record for each page view
    (query, shown, clicks). Values are gains with decimals, unless --cuts makes grades of them.
    """
    from goldrank.clicks import judgements_from_clicks
    from goldrank.comparison.settings import Statistics
    from goldrank.io.writing_files import save_qrels
    from goldrank.report import WIDTH, clicks

    if table is not None and not table.endswith((".csv", ".json")):
        raise click.UsageError(f"--table {table}: the ending is .csv or .json")
    parameters: ModelParameters = {}
    if prior is not None:
        parameters["prior"] = prior
    if gamma is not None:
        parameters["gamma"] = gamma
    if unbiased:
        parameters["unbiased"] = True
    if propensities is not None:
        parameters["propensities"] = dict(enumerate(decimals(propensities, "--propensities"), 1))
    judged = judgements_from_clicks(
        log,
        model,
        columns=key_values(fields, "--map") or None,
        format=log_format,
        min_views=min_views,
        statistics=Statistics(alpha=alpha_of(level), samples=samples, seed=seed),
        **parameters,
    )
    qrels = judged.qrels(None if cuts is None else decimals(cuts, "--cuts"))
    if not len(qrels):
        what = f"no pair was shown {judged.min_views:,} times or more, so that there is nothing to write"
        raise InputError(what, where=log, hint="--min-views takes a lower number.", code="too-few-views")
    listed = written(table, lambda: clicks.csv(judged) if str(table).endswith(".csv") else judged.to_json())
    deliver(partial(save_qrels, qrels, output), listed, lambda: show(clicks.parts(judged), WIDTH))
    more = "; evaluate with --real-grades" if cuts is None else ""
    say(f"{output}: {count(len(qrels), 'query')}, {count(sum(map(len, qrels.values())), 'judgement')}{more}")


@command.command("export")
@click.argument("log", type=click.Path(dir_okay=False))
@click.argument("target", type=click.Path(dir_okay=False))
@click.option("--qrels", help="Judgements that the log's are put on top of.")
@choice_option("--by", BY, "person", f"Whose grades: {explained(BY)}.")
@choice_option("--merge", MERGES, "median", f"Several judges: {explained(MERGES)}.")
@click.option("--adjudicator", metavar="JUDGE", help="Where this judge has a grade, it counts.")
@click.option("--as-of", type=click.IntRange(0), metavar="SEQ", help="As it was after this event.")
@file_option("--table", "table_file", help="Write judges, spread and comments of each pair to this TSV file.")
@click.option(
    "--format",
    "qrels_format",
    help="The format of TARGET: trec, json, jsonl, csv, tsv, parquet or arrow. Default: by its name.",
)
def export(
    log: str,
    target: str,
    qrels: str | None,
    by: By,
    merge: Merge,
    adjudicator: str | None,
    as_of: int | None,
    table_file: str | None,
    qrels_format: str | None,
) -> None:
    """Write the grades of LOG as qrels to TARGET, one for each pair."""
    from goldrank.data.table import note_sentences
    from goldrank.io.writing_files import save_qrels
    from goldrank.judgements.log import JudgementLog
    from goldrank.judgements.merge import exported as exported_from
    from goldrank.report import separated

    with JudgementLog(log, mode="r") as opened:
        standing = opened.latest(as_of=as_of)
    exported = exported_from(standing, qrels, merge=merge, adjudicator=adjudicator, by=by, where=log)
    not_kept = save_qrels(exported.qrels, target, qrels_format)
    if table_file:
        write(table_file, separated.write(exported.table, "\t"))
    judgements = sum(map(len, exported.qrels.values()))
    say(f"{target}: {count(len(exported.qrels), 'query')}, {count(judgements, 'judgement')}")
    show(note_sentences((*exported.notes, *not_kept)), err=True)
