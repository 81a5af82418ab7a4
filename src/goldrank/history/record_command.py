"""`goldrank record`: keep scores in a history."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.eval import scores_of, show_scores
from goldrank.cli.options import (
    FILE,
    HISTORY,
    ReadingOptions,
    baseline_option,
    db_option,
    label_option,
    measures_option,
    reading_options,
)
from goldrank.cli.output import Output, output_options, say


@declared(usual="-m --label --commit --db --tag --baseline")
@click.argument("inputs", metavar="QRELS RUN... | RECORDS | SCORES...", nargs=-1, required=True, type=FILE)
@measures_option
@db_option()
@label_option
@option(
    "--commit",
    default="",
    metavar="HASH|auto",
    heading=HISTORY,
    help="The commit that was measured; auto reads the one that is checked out.",
)
@option("--branch", default="", heading=HISTORY, help="The branch; --commit auto reads it too.")
@option("--note", default="", heading=HISTORY, help="A remark.")
@option("--tag", "tags", multiple=True, metavar="KEY=VALUE", heading=HISTORY, help="A tag; may be repeated.")
@option(
    "--replicate",
    is_flag=True,
    heading=HISTORY,
    help="Another run of the same system as the record before it: shows how far runs differ.",
)
@baseline_option
@option(
    "--mlflow", "to_mlflow", is_flag=True, heading=HISTORY, help="Also log it to MLflow (needs the package mlflow)."
)
@reading_options(scored=True)
@output_options()
def command(
    inputs: tuple[str, ...],
    measures: tuple[str, ...],
    db: str,
    label: str | None,
    commit: str,
    branch: str,
    baseline: str | None,
    to_mlflow: bool,
    reading: ReadingOptions,
    output: Output,
    **details: Any,
) -> None:
    """Keep scores in a history: those that `eval -o x.json` or `texts -o x.json` wrote, or those of runs measured now.

    The table is printed first, so that nothing is lost if the history cannot be written; the exit code is 3 then.
    Without --label a record goes by the run's name; several runs with one label are recorded as LABEL/RUN. --baseline
    makes the record the baseline of that name.
    """
    from goldrank.history.store import History

    for tag in details["tags"]:
        if not tag.partition("=")[0] or "=" not in tag:
            raise click.UsageError(f"--tag {tag!r} is not KEY=VALUE")

    scores_of_runs = scores_of(inputs, measures, reading)
    if baseline is not None and len(scores_of_runs) > 1:
        raise click.UsageError("--baseline takes one run")
    show_scores(scores_of_runs, output, by_query=False)
    commit, branch_of_commit = commit_and_branch(commit)
    if to_mlflow:
        from goldrank.history import mlflow_runs

        mlflow_runs.need()

    with History(db) as history:
        for scores in scores_of_runs:
            name = _line(label, scores.run, len(scores_of_runs) > 1)
            record = history.record(scores, label=name, commit=commit, branch=branch or branch_of_commit, **details)
            output.say(f"recorded as {record.id} ({name}) in {db}")
            if baseline is not None:
                history.set_baseline(baseline, record.id)
                output.say(f"baseline {baseline} is record {record.id}")
            if to_mlflow:
                output.say(f"logged to MLflow as run {mlflow_runs.log(scores, record)}")


def _line(label: str | None, run: str, several: bool) -> str:
    """The label to record: the option's, or one made from the run's name."""
    if label is not None and not several:
        return label
    from goldrank.base import ids

    name = ids.show(run)
    if label:
        return f"{label}/{name}"
    if name.isdigit():
        return f"run {name}"
    return name


def commit_and_branch(commit: str) -> tuple[str, str]:
    """The commit to record and its branch, which 'auto' reads from git's files; both empty if they cannot be read."""
    from goldrank.base.errors import StoreError
    from goldrank.history.commit import read_commit

    if commit != "auto":
        return commit, ""
    try:
        checked_out, branch = read_commit()
    except StoreError as error:
        say(f"no commit is recorded: {error}")
        return "", ""
    say(f"commit {checked_out[:12]} is recorded; whether files were changed since is not known: git was not run")
    return checked_out, branch
