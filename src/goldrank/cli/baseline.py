"""`goldrank baseline`: set and show what runs are held against."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from goldrank.cli import output
from goldrank.cli.inputs import (
    is_saved,
    load_saved,
    measuring_way,
    named_file,
    open_baseline,
    open_history,
    open_qrels,
    open_run,
    progress,
    refuse_policies,
)
from goldrank.cli.options import (
    ReadingOptions,
    file_option,
    format_option,
    measures_option,
    policy_options,
    reading_options,
)

if TYPE_CHECKING:
    from goldrank.data.scores import Scores
    from goldrank.gating.baseline import Baseline


@click.group()
def command() -> None:
    """Set or show the baseline that later runs are compared with. Nothing else changes a baseline."""


@command.command("set")
@click.argument("baseline")
@click.argument("qrels", metavar="[SCORES | QRELS]", required=False)
@click.argument("run", required=False)
@measures_option
@file_option("--rules", "rules_file", help="Measure what these rules need.")
@file_option("--db", help="Record it in this history, under the name BASELINE.")
@click.option("--record", metavar="ID", help="Take a record of the history --db, by number or label, not a run.")
@click.option("--label", default="", help="What it is, such as a branch or a commit.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@format_option
@reading_options
@click.option("--depth", type=int, help="Look at no more than this many documents a query.")
@policy_options
def set_(
    baseline: str,
    qrels: str | None,
    run: str | None,
    db: str | None,
    record: str | None,
    label: str,
    dry_run: bool,
    how: ReadingOptions,
    **options: Any,
) -> None:
    """Freeze a run's scores, or saved ones, as BASELINE, a file (or with --db a name), and say what that changes."""
    from goldrank.gating.baseline import Baseline, changes
    from goldrank.report.baseline import change_parts

    if record is not None and db is None:
        raise click.UsageError("--record needs --db, the history that it is in")
    saved = qrels is not None and run is None and is_saved(named_file(qrels)[1])
    if (record is None) == (qrels is None or (run is None and not saved)):
        raise click.UsageError("give QRELS and RUN, or saved SCORES, or with --db a --record")
    if saved:
        refuse_policies(options, how)
        if options["measures"] or options["rules_file"]:
            raise click.UsageError("-m and --rules are for runs; saved scores have their measures already")

    old = _old(baseline, db)
    if record is not None:
        with open_history(str(db)) as history:
            scores = history.scores(record)
    elif saved:
        (scores,) = load_saved([str(qrels)])
    else:
        scores = _evaluate(str(qrels), str(run), how, **options)

    changed = changes(old, scores)
    if not dry_run:
        if db is None:
            new = Baseline(scores, label=label)
            new.save(baseline)
        else:
            new = _set_in_history(db, baseline, scores, record, label)
        before = f"{old.digest[:12]} -> " if old else ""
        changed.append(f"sha256: {before}{new.digest[:12]}")
    output.show(change_parts(baseline, changed, set_now=not dry_run))


def _old(name: str, db: str | None) -> Baseline | None:
    """The baseline of that name as it is now, if there is one."""
    from goldrank.gating.baseline import Baseline

    if db is None:
        return Baseline.load(name) if os.path.exists(name) else None
    if not os.path.exists(db):
        return None
    with open_history(db) as history:
        return history.baseline(name) if name in history.baselines() else None


def _set_in_history(db: str, name: str, scores: Scores, record: str | None, label: str) -> Baseline:
    """Give the name to a record, which is made now if there is none."""
    from goldrank.history import History

    with History(db) as history:
        history.set_baseline(name, history.record(scores, label=label or name) if record is None else record)
        return history.baseline(name)


def _evaluate(
    qrels: str,
    run: str,
    how: ReadingOptions,
    measures: tuple[str, ...],
    rules_file: str | None,
    **options: Any,
) -> Scores:
    from goldrank.gating.measuring import scores_to_freeze
    from goldrank.gating.rules import Rules

    judged, opened = open_qrels(qrels, options, how), open_run(run, options, how)
    wanted = list(measures)
    if rules_file:
        wanted += Rules.load(rules_file).measures
    with progress(opened):
        return scores_to_freeze(judged, opened, wanted or None, measuring_way(options, how))


@command.command("show")
@click.argument("baseline")
@file_option("--db", help="The history that has it.")
def show(baseline: str, db: str | None) -> None:
    """Show a baseline: what it is, when it was set, and its values. A changed file is refused."""
    from goldrank.report.baseline import parts

    output.show(parts(open_baseline(baseline, db)))
