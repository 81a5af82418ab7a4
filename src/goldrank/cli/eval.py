"""`goldrank eval`: score runs against judgements."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from goldrank.cli.common import policy_options, progress
from goldrank.data.layout import aligned

OUTPUTS = ("table", "json", "jsonl", "csv", "tsv", "markdown")


@click.command()
@click.argument("qrels")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("-m", "--measure", "measures", multiple=True, help="A measure such as nDCG@10; may be repeated.")
@click.option("-q", "--by-query", is_flag=True, help="Show the value of every query.")
@click.option("--by-query-file", type=click.Path(dir_okay=False), help="Write every query's values to a CSV file.")
@click.option("-o", "--output", type=click.Choice(OUTPUTS), default="table", show_default=True, help="How to show it.")
@click.option("--save", type=click.Path(dir_okay=False), help="Save the scores of one run, with all they are made of.")
@click.option("--format", "run_format", help="The runs' format, if it cannot be told from their content.")
@click.option("--qrels-format", help="The qrels' format, if it cannot be told from its content.")
@click.option("--by-tag", is_flag=True, help="RUN holds several runs: score each tag (column 6 of TREC) on its own.")
@click.option("--shard", metavar="I/N", help="Score part I of N parts of the queries; put them together with merge.")
@click.option(
    "--max-memory", metavar="SIZE", help="Take no more memory than this (500MB, 2GiB), or say what is needed."
)
@policy_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    by_query: bool,
    by_query_file: str | None,
    output: str,
    save: str | None,
    run_format: str | None,
    qrels_format: str | None,
    by_tag: bool,
    shard: str | None,
    max_memory: str | None,
    **policies: Any,
) -> None:
    """Score one or more runs against judgements.

    QRELS and RUN are files of almost any kind (TREC, MS MARCO, BEIR, JSON, CSV, Parquet, also .gz and .zst);
    - is standard input. Folders of part files and quoted patterns ('runs/part-*.parquet') are read as one.
    Without -m the usual measures are shown.
    """
    from goldrank.evaluation.documents import check_files, evaluate
    from goldrank.io import distinct, read_qrels, read_run, read_runs

    if save and len(runs) > 1:
        raise click.UsageError("--save takes one run")
    if [qrels, *runs].count("-") > 1:
        raise click.UsageError("standard input can be read only once")
    if by_tag and len(runs) > 1:
        raise click.UsageError("--by-tag takes one file, folder or quoted pattern")
    if max_memory:
        check_files(max_memory, qrels, runs)
    limits = {"shard": shard, "max_memory": max_memory}
    judged = read_qrels(qrels, format=qrels_format, judgements=policies["judgements"] or "error")
    if by_tag:
        tagged = read_runs(runs[0], format=run_format)
        scores = list(evaluate(judged, tagged, measures or None, **limits, **policies).values())
    else:
        opened = [read_run(run, format=run_format, duplicates=policies["duplicates"] or "error") for run in runs]
        opened = [run.renamed(name) for run, name in zip(opened, distinct(opened), strict=True)]
        with progress(opened):
            scores = list(evaluate(judged, opened, measures or None, **limits, **policies).values())
    if save and len(scores) > 1:
        raise click.UsageError("--save takes one run")
    if save:
        scores[0].save(save)
    if by_query_file:
        Path(by_query_file).write_text(_separated(scores, True, ","), encoding="utf-8", errors="backslashreplace")
    shown = RENDER[output](scores, by_query)
    click.echo(shown.encode("utf-8", "backslashreplace"), nl=not shown.endswith("\n"))
    if output != "table":
        for one in scores:
            for note in one.notes:
                click.echo(f"{one.run}: {note}".encode("utf-8", "backslashreplace"), err=True)


def _table(scores: Sequence[Any], by_query: bool) -> str:
    from goldrank.data.scores import ScoresByRun, format_value
    from goldrank.ids import show

    blocks = []
    if by_query:
        for one in scores:
            heads = ["query", *one.measures]
            columns = [[format_value(v, c.average) for v in c.values.tolist()] for c in one.columns.values()]
            rows = [heads, *([show(q), *cells] for q, *cells in zip(one.queries, *columns, strict=True))]
            blocks.append(aligned(rows) if len(scores) == 1 else f"{show(one.run)}\n{aligned(rows)}")
    blocks.append(repr(scores[0]) if len(scores) == 1 else repr(ScoresByRun(scores)))
    return "\n\n".join(blocks)


def _json(scores: Sequence[Any], by_query: bool) -> str:
    found = []
    for one in scores:
        data = json.loads(one.to_json())
        if not by_query:
            del data["queries"]
            for column in data["measures"].values():
                del column["values"]
        found.append(data)
    return json.dumps(found[0] if len(found) == 1 else found, indent=2)


def _jsonl(scores: Sequence[Any], by_query: bool) -> str:
    lines = []
    for one in scores:
        if by_query:
            for i, query in enumerate(one.queries):
                values = {name: _plain(column.values[i]) for name, column in one.columns.items()}
                lines.append({"run": one.run, "query": query, "values": values})
        lines.append({"run": one.run, "summary": {name: _plain(value) for name, value in one.mean.items()}})
    return "\n".join(map(json.dumps, lines))


def _plain(value: float) -> float | None:
    return None if value != value else float(value)


def _separated(scores: Sequence[Any], by_query: bool, delimiter: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    names = list(dict.fromkeys(name for one in scores for name in one.measures))
    writer.writerow(["run", *(["query"] if by_query else []), *names])
    for one in scores:
        if by_query:
            columns = [one.columns[name].values.tolist() for name in names]
            writer.writerows([one.run, query, *values] for query, *values in zip(one.queries, *columns, strict=True))
        else:
            writer.writerow([one.run, *(one.mean[name] for name in names)])
    return text.getvalue()


def _markdown(scores: Sequence[Any], by_query: bool) -> str:
    from goldrank.data.scores import format_value

    names = list(dict.fromkeys(name for one in scores for name in one.measures))
    lines = ["| " + " | ".join(["run", *(["query"] if by_query else []), *names]) + " |"]
    lines.append("|" + "---|" * (1 + by_query) + "---:|" * len(names))
    for one in scores:
        columns = [one.columns[name] for name in names]
        if by_query:
            for i, query in enumerate(one.queries):
                cells = [format_value(column.values[i], column.average) for column in columns]
                lines.append("| " + " | ".join([markdown_cell(one.run), markdown_cell(query), *cells]) + " |")
        else:
            cells = [format_value(column.summary, column.average) for column in columns]
            lines.append("| " + " | ".join([markdown_cell(one.run), *cells]) + " |")
    return "\n".join(lines)


def markdown_cell(text: str) -> str:
    """A text that cannot leave its cell of a Markdown table."""
    from goldrank.ids import show

    escaped = show(text, 200)
    for sign in "\\|`*_<>[]":
        escaped = escaped.replace(sign, f"\\{sign}")
    return escaped


RENDER: dict[str, Callable[[Sequence[Any], bool], str]] = {
    "table": _table,
    "json": _json,
    "jsonl": _jsonl,
    "csv": lambda scores, by_query: _separated(scores, by_query, ","),
    "tsv": lambda scores, by_query: _separated(scores, by_query, "\t"),
    "markdown": _markdown,
}
