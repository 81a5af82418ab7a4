"""`goldrank baseline`: set and show what runs are held against."""

from __future__ import annotations

import os
from typing import Any

import click

from goldrank.cli import output
from goldrank.cli.inputs import is_saved, load_saved, named_file, open_qrels, open_run, progress, refuse_policies
from goldrank.cli.options import (
    ReadingOptions,
    file_option,
    format_option,
    measures_option,
    policy_options,
    reading_options,
)


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
    from goldrank.gating.baseline import Baseline, changes, judgement_hashes
    from goldrank.history.store import History
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
    old: Baseline | None = None
    if db is None:
        old = Baseline.load(baseline) if os.path.exists(baseline) else None
    elif os.path.exists(db):
        with History.open(db, read_only=True) as history:
            is_set = baseline in history.baselines()
        old = Baseline.of(baseline, db) if is_set else None
    judged = None
    if record is not None:
        assert db is not None
        with History.open(db, read_only=True) as history:
            taken = history.get(record)
            scores = history.scores(taken)
    elif saved:
        (scores,) = load_saved([str(qrels)])
    else:
        judged, scores = _evaluate(str(qrels), str(run), how, **options)
    hashes = judgement_hashes(judged) if judged is not None else None
    changed = changes(old, scores, hashes)
    if not dry_run:
        if db is None:
            new = Baseline.freeze(scores, baseline, label=label, qrels=judged)
        else:
            with History.open(db, create=record is None) as history:
                kept = taken if record is not None else history.record(scores, label=label or baseline)
                history.set_baseline(baseline, kept.id)
            new = Baseline.of(baseline, db)
        before = f"{old.digest[:12]} -> " if old else ""
        changed.append(f"sha256: {before}{new.digest[:12]}")
    output.show(change_parts(baseline, changed, set_now=not dry_run))


def _evaluate(
    qrels: str,
    run: str,
    how: ReadingOptions,
    measures: tuple[str, ...],
    rules_file: str | None,
    **options: Any,
) -> tuple[Any, Any]:
    from goldrank import conventions
    from goldrank.evaluation.documents import evaluate
    from goldrank.gating.decide import measures_for
    from goldrank.gating.rules import Rules
    from goldrank.measures import DEFAULT

    judged, opened = open_qrels(qrels, options, how), open_run(run, options, how)
    policies = {key: value for key, value in options.items() if key not in ("convention", "depth")}
    policy = conventions.get(options["convention"]).with_policies(**policies)
    rules = Rules.load(rules_file) if rules_file else Rules(())
    wanted = [*measures, *measures_for(rules, policy)]
    if not measures and not rules_file:
        wanted = [*map(str, DEFAULT), *wanted]
    with progress(opened):
        depth, known = options["depth"], how.catalogue
        return judged, evaluate(judged, opened, wanted, convention=policy, depth=depth, catalogue=known)


@command.command("show")
@click.argument("baseline")
@file_option("--db", help="The history that has it.")
def show(baseline: str, db: str | None) -> None:
    """Show a baseline: what it is, when it was set, and its values. A changed file is refused."""
    from goldrank.gating.baseline import Baseline
    from goldrank.report.baseline import parts

    output.show(parts(Baseline.of(baseline, db)))
