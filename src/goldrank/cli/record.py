"""`goldrank record`: keep scores in a history."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from goldrank.cli.common import policy_options, progress
from goldrank.cli.keeping import commit_and_branch, db_option, put, say


@click.command()
@click.argument("inputs", metavar="SCORES... | QRELS RUN...", nargs=-1, required=True)
@db_option
@click.option("--label", help="The line of records it belongs to, such as main. Default: the run's name.")
@click.option("--commit", default="", metavar="HASH|auto", help="The commit that was measured; auto asks git.")
@click.option("--branch", default="", help="The branch; --commit auto asks git for it too.")
@click.option("--note", default="", help="A remark.")
@click.option("--tag", "tags", multiple=True, metavar="KEY=VALUE", help="A tag; may be repeated.")
@click.option("--criteria", default="", help='The rules by which relevance was judged, such as "relevance rules v3".')
@click.option("--baseline", metavar="NAME", help="Also make this record the baseline of that name.")
@click.option("--mlflow", "to_mlflow", is_flag=True, help="Also log it to MLflow (needs the package mlflow).")
@click.option("-m", "--measure", "measures", multiple=True, help="A measure such as nDCG@10; may be repeated.")
@click.option("--format", "run_format", help="The runs' format, if it cannot be told from their content.")
@policy_options
def command(
    inputs: tuple[str, ...],
    db: str,
    label: str | None,
    commit: str,
    branch: str,
    note: str,
    tags: tuple[str, ...],
    criteria: str,
    baseline: str | None,
    to_mlflow: bool,
    measures: tuple[str, ...],
    run_format: str | None,
    **policies: Any,
) -> None:
    """Keep scores in a history: those that `eval --save` wrote, or those of runs measured now.

    The table is printed first, so that nothing is lost if the history cannot be written; the exit code is 3 then.
    Several runs with one label are recorded as LABEL/RUN.
    """
    from goldrank.data.scores import ScoresByRun
    from goldrank.history import History

    for tag in tags:
        if not tag.partition("=")[0] or "=" not in tag:
            raise click.UsageError(f"--tag {tag!r} is not KEY=VALUE")
    found = _scores(inputs, measures, run_format, policies)
    if baseline is not None and len(found) > 1:
        raise click.UsageError("--baseline takes one run")
    put(repr(found[0]) if len(found) == 1 else repr(ScoresByRun(found)))
    sys.stdout.flush()
    commit, asked = commit_and_branch(commit)
    if to_mlflow:
        from goldrank.history import mlflow_runs

        mlflow_runs.need()
    with History.open(db, create=True) as history:
        for scores in found:
            name = _line(label, scores.run, len(found) > 1)
            record = history.record(
                scores, label=name, commit=commit, branch=branch or asked, note=note, tags=tags, criteria=criteria
            )
            say(f"recorded as {record.id} ({name}) in {db}")
            if baseline is not None:
                history.set_baseline(baseline, record.id)
                say(f"baseline {baseline} is record {record.id}")
            if to_mlflow:
                say(f"logged to MLflow as run {mlflow_runs.log(scores, record)}")


def _scores(inputs: tuple[str, ...], measures: tuple[str, ...], run_format: str | None, policies: Any) -> list[Any]:
    """Saved scores, or those of runs."""
    from goldrank.data.scores import Scores
    from goldrank.evaluation.documents import evaluate
    from goldrank.io import distinct, read_qrels, read_run

    if len(inputs) == 1 or _is_saved(inputs[0]):
        if measures:
            raise click.UsageError("-m is for runs; saved scores have their measures already")
        return [Scores.load(path) for path in inputs]
    qrels, *runs = inputs
    if inputs.count("-") > 1:
        raise click.UsageError("standard input can be read only once")
    judged = read_qrels(qrels, judgements=policies["judgements"] or "error")
    opened = [read_run(run, format=run_format, duplicates=policies["duplicates"] or "error") for run in runs]
    opened = [run.renamed(name) for run, name in zip(opened, distinct(opened), strict=True)]
    with progress(opened):
        return list(evaluate(judged, opened, measures or None, **policies).values())


def _is_saved(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return b'"goldrank-scores"' in file.read(100)
    except OSError:
        return False


def _line(label: str | None, run: str, several: bool) -> str:
    """The label to record: the one that was given, or one made from the run's name."""
    if label is not None and not several:
        return label
    from goldrank import ids

    name = ids.show(run)
    return f"{label}/{name}" if label else f"run {name}" if name.isdigit() else name
