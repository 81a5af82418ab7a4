"""`goldrank record`: keep scores in a history."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from goldrank.cli.inputs import is_saved, load_saved, named_file, once, open_qrels, open_runs, progress, refuse_policies
from goldrank.cli.options import ReadingOptions, db_option, measures_option, run_options
from goldrank.cli.output import say, show

if TYPE_CHECKING:
    from goldrank.data.scores import Scores


@click.command()
@click.argument("inputs", metavar="SCORES... | QRELS RUN...", nargs=-1, required=True)
@db_option
@click.option("--label", help="The line of records it belongs to, such as main. Default: the run's name.")
@click.option(
    "--commit",
    default="",
    metavar="HASH|auto",
    help="The commit that was measured; auto reads the one that is checked out.",
)
@click.option("--branch", default="", help="The branch; --commit auto reads it too.")
@click.option("--note", default="", help="A remark.")
@click.option("--tag", "tags", multiple=True, metavar="KEY=VALUE", help="A tag; may be repeated.")
@click.option("--criteria", default="", help='The rules by which relevance was judged, such as "relevance rules v3".')
@click.option(
    "--replicate",
    is_flag=True,
    help="Another run of the same system as the record before it: shows how far runs differ.",
)
@click.option("--baseline", metavar="NAME", help="Also make this record the baseline of that name.")
@click.option("--mlflow", "to_mlflow", is_flag=True, help="Also log it to MLflow (needs the package mlflow).")
@measures_option
@run_options
def command(
    inputs: tuple[str, ...],
    db: str,
    label: str | None,
    commit: str,
    branch: str,
    baseline: str | None,
    to_mlflow: bool,
    measures: tuple[str, ...],
    how: ReadingOptions,
    **options: Any,
) -> None:
    """Keep scores in a history: those that `eval --save` or `texts --save` wrote, or those of runs measured now.

    The table is printed first, so that nothing is lost if the history cannot be written; the exit code is 3 then.
    Several runs with one label are recorded as LABEL/RUN.
    """
    from goldrank.data.score_table import score_parts
    from goldrank.history import History

    about = {name: options.pop(name) for name in ("note", "tags", "replicate")}
    criteria = options.pop("criteria")
    for tag in about["tags"]:
        if not tag.partition("=")[0] or "=" not in tag:
            raise click.UsageError(f"--tag {tag!r} is not KEY=VALUE")
    measured = [_judged_by(criteria, scores) for scores in scores_of(inputs, measures, options, how)]
    if baseline is not None and len(measured) > 1:
        raise click.UsageError("--baseline takes one run")
    show(score_parts(measured))
    commit, asked = commit_and_branch(commit)
    if to_mlflow:
        from goldrank.history import mlflow_runs

        mlflow_runs.need()
    with History(db) as history:
        for scores in measured:
            name = _line(label, scores.run, len(measured) > 1)
            record = history.record(scores, label=name, commit=commit, branch=branch or asked, **about)
            say(f"recorded as {record.id} ({name}) in {db}")
            if baseline is not None:
                history.set_baseline(baseline, record.id)
                say(f"baseline {baseline} is record {record.id}")
            if to_mlflow:
                say(f"logged to MLflow as run {mlflow_runs.log(scores, record)}")


def scores_of(inputs: tuple[str, ...], measures: tuple[str, ...], policies: Any, how: ReadingOptions) -> list[Scores]:
    """Saved scores, or those of runs."""
    from goldrank.evaluation.documents import evaluate

    if len(inputs) == 1 or is_saved(named_file(inputs[0])[1]):
        if measures:
            raise click.UsageError("-m is for runs; saved scores have their measures already")
        refuse_policies(policies, how)
        return load_saved(inputs)
    qrels, *runs = inputs
    once(inputs)
    judged, opened = open_qrels(qrels, policies, how), open_runs(runs, policies, how)
    with progress(*(run for _, run in opened.items())):
        scores = evaluate(judged, opened, measures or None, catalogue=how.catalogue, **policies)
        return list(scores.values())


def _judged_by(criteria: str, scores: Scores) -> Scores:
    """The scores, judged by the rules that --criteria says, if it says some."""
    if not criteria:
        return scores
    provenance = {**scores.provenance, "qrels": {**(scores.provenance.get("qrels") or {}), "criteria": criteria}}
    return replace(scores, origin=partial(dict, provenance))


def _line(label: str | None, run: str, several: bool) -> str:
    """The label to record: the one that was given, or one made from the run's name."""
    if label is not None and not several:
        return label
    from goldrank import ids

    name = ids.show(run)
    return f"{label}/{name}" if label else f"run {name}" if name.isdigit() else name


def commit_and_branch(commit: str) -> tuple[str, str]:
    """The commit to record and its branch, which 'auto' reads from git's files; if it cannot, that is not fatal."""
    from goldrank.errors import StoreError
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
