"""`goldrank gate`: may this run go in?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from goldrank.base import ids, satellites
from goldrank.base.errors import BaselineError, GoldrankError, InputError
from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.groups import scores_by_groups
from goldrank.cli.inputs import (
    SAVED_ALREADY,
    catalogue_of,
    is_saved,
    load_saved,
    named_file,
    once,
    open_judgements,
    open_run,
    progress,
)
from goldrank.cli.options import (
    FILE,
    HISTORY,
    MEASURE,
    ReadingOptions,
    baseline_option,
    db_option,
    dry_run_option,
    file_option,
    label_option,
    measures_option,
    queries_option,
    reading_options,
    statistics_option,
)
from goldrank.cli.output import Output, output_options, show
from goldrank.cli.readers import scores_of_files
from goldrank.io.contract import is_records

if TYPE_CHECKING:
    from goldrank.comparison.settings import Statistics
    from goldrank.data.queries import Queries
    from goldrank.data.scores import Scores
    from goldrank.gating.baseline import Baseline
    from goldrank.gating.measuring import MeasuringOptions
    from goldrank.gating.rules import Rules
    from goldrank.gating.verdict import Verdict


@declared(usual="--rules --rule --baseline --update -o --as")
@click.argument("qrels", metavar="QRELS RUN | RECORDS | SCORES", type=FILE)
@click.argument("run", metavar="", required=False, type=FILE)
@file_option("--rules", "rules_file", heading=MEASURE, help="A TOML file with the rules.")
@option(
    "--rule",
    "rule_texts",
    multiple=True,
    metavar="TEXT",
    heading=MEASURE,
    help="A rule such as 'nDCG@10: -1%' or 'AP >= 0.3'; may be repeated.",
)
@baseline_option
@option(
    "--update",
    is_flag=True,
    heading=HISTORY,
    help="Set --baseline to what is measured now, and say what that changes, instead of checking rules.",
)
@dry_run_option
@measures_option
@queries_option
@option("--strict", is_flag=True, heading=MEASURE, help="Fail what is not shown to be within the tolerance.")
@option(
    "--allow-changed-qrels",
    is_flag=True,
    heading=MEASURE,
    help="Compare although the judgements changed: the baseline is scored again on them.",
)
@statistics_option
@reading_options(scored=True)
@db_option(usual=False)
@label_option
@output_options("github", "junit")
def command(
    qrels: str,
    run: str | None,
    baseline: str | None,
    update: bool,
    dry_run: bool,
    db: str | None,
    label: str | None,
    reading: ReadingOptions,
    output: Output,
    **options: Any,
) -> None:  # fmt: skip
    """Check a run against rules: exit 0 if it passes, 1 if it fails, 2 if nothing could be decided.

    SCORES are what `eval -o x.json` or `texts -o x.json` wrote; they replace QRELS and RUN. So do RECORDS, which hold
    for each question what was expected and what was retrieved.

    A drop fails only if it is surely larger than tolerated. Exit 4 is "unclear: judge these": unjudged documents could
    decide it. --update freezes what is measured as the baseline, a file (or with --db a name); nothing else changes a
    baseline.
    """
    if run is None and not is_saved(qrels) and is_records(qrels, reading.columns):
        run = qrels
    if dry_run and not update:
        raise click.UsageError("--dry-run goes with --update")
    if update:
        if baseline is None:
            raise click.UsageError("--update needs --baseline, the file or with --db the name that is set")
        scores = _to_freeze(qrels, run, reading, **options)
        _update(_Frozen(baseline, db, label or ""), scores, dry_run, output)
        return

    if not options["rules_file"] and not options["rule_texts"]:
        raise click.UsageError("there are no rules: name a file with --rules, or one with --rule 'nDCG@10: -1%'")
    if options["measures"]:
        raise click.UsageError("-m is for --update; rules name their measures")

    from goldrank.gating.verdict import Verdict

    output.check(Verdict)
    try:
        rules = _rules(**options)
        compared_with = None
        if baseline:
            compared_with = _compared_with(qrels, run, reading, rules, _Frozen(baseline, db))
        verdict = _decide(qrels, run, reading, rules, compared_with, options["queries"])
    except GoldrankError as error:
        undecided = Verdict.undecided(run or qrels, error)
        if output.form == "terminal":
            output = Output(output.files, is_quiet=True)
        output.show(undecided)
        raise

    output.show(verdict)
    if verdict.exit_code:
        raise click.exceptions.Exit(verdict.exit_code)


def _compared_with(
    qrels: str, run: str | None, reading: ReadingOptions, rules: Rules, frozen: _Frozen
) -> Baseline | Scores:
    """What the run is compared with: another run that is measured now, or what was frozen or saved."""
    is_run = os.path.isfile(frozen.name) and not frozen.name.endswith(".json") and not is_saved(frozen.name)
    if run is not None and is_run:
        return _measured(qrels, frozen.name, reading, rules, compared=True)
    return _named_baseline(frozen.name, frozen.db)


def _named_baseline(name: str, db: str | None) -> Baseline:
    """A baseline: of a file, or by the name or number that it has in a history."""
    from goldrank.gating.baseline import as_baseline

    if name.endswith(".json") or os.sep in name or os.path.isfile(name):
        return as_baseline(name)
    if db is None:
        raise BaselineError(
            f"there is no file {ids.show(name)!r}",
            hint="Name a baseline's file, or the history that has a baseline of that name: --db history.db.",
            code="no-baseline",
        )

    from goldrank.history.opening import open_history

    with open_history(db) as history:
        if not name.isdigit() or name in history.baselines():
            return history.baseline(name)
        return history.as_baseline(history[int(name)], name)


def _measuring_options(reading: ReadingOptions) -> MeasuringOptions:
    """How a run is measured: the convention, the depth, and what is known about users."""
    from goldrank.gating.measuring import MeasuringOptions

    return MeasuringOptions(reading.convention, reading.depth, catalogue_of(reading))


def _measured(qrels: str, run: str, reading: ReadingOptions, rules: Rules, compared: bool) -> Scores:
    """The scores of a run, with what the rules ask for."""
    from goldrank.gating.measuring import scores_to_gate

    once((qrels, run))
    of_files = scores_of_files([qrels, run], (), reading)
    if of_files is not None:
        return of_files[0]
    by_groups = scores_by_groups([qrels, run], rules.measures, reading)
    if by_groups is not None:
        return next(iter(by_groups.values()))
    judged, opened = open_judgements(qrels, rules.measures, reading), open_run(run, reading)
    with progress(opened):
        return scores_to_gate(judged, opened, rules, _measuring_options(reading), compared=compared)


def _decide(
    qrels: str,
    run: str | None,
    reading: ReadingOptions,
    rules: Rules,
    baseline: Baseline | Scores | None,
    queries: str | None,
) -> Verdict:
    """The verdict on a run that is measured now, or on saved scores."""
    from goldrank.gating.decide import gate
    from goldrank.io.by_id.query_files import read_queries

    if run is None:
        scores = _saved(qrels, reading)
    else:
        scores = _measured(qrels, run, reading, rules, compared=baseline is not None)

    query_source = rules.queries
    if queries is not None:
        query_source = queries
    if query_source is None:
        recorded = None
        if any(rule.kind == "latency" for rule in rules) and run is not None:
            recorded = _recorded_latencies(run)
        return gate(scores, rules, baseline, queries=recorded)
    return gate(scores, rules, baseline, queries=read_queries(query_source))


def _recorded_latencies(run: str) -> Queries | None:
    """The latencies of the records beside a run that `goldrank run` wrote."""
    if not satellites.provides("latencies of a run"):
        return None
    latencies: Queries | None = satellites.provided("latencies of a run")(named_file(run)[1])
    return latencies


def _rules(
    rules_file: str | None,
    rule_texts: tuple[str, ...],
    strict: bool,
    allow_changed_qrels: bool,
    statistics: Statistics | None,
    **_: Any,
) -> Rules:
    """The rules of --rules and --rule, with the options that change them."""
    from goldrank.gating.rules import Rule, Rules

    added = [Rule.parse_at(text, "--rule") for text in rule_texts]
    if rules_file:
        rules = Rules.load(rules_file).with_changes(rules=added)
    else:
        rules = Rules(added)

    changes: dict[str, Any] = {}
    if strict:
        changes["strict"] = True
    if allow_changed_qrels:
        changes["allow_changed_qrels"] = True
    if statistics is not None:
        changes["statistics"] = statistics
    return rules.with_changes(**changes)


def _refuse_texts(path: str) -> None:
    """Raise if a file holds texts, which `goldrank texts` measures."""
    from goldrank.io import read_run
    from goldrank.io.objects.id_lists import TEXTS_NOT_IDS

    try:
        len(read_run(path))
    except InputError as error:
        if error.code == TEXTS_NOT_IDS:
            raise


def _saved(path: str, reading: ReadingOptions) -> Scores:
    of_files = scores_of_files([path], (), reading)
    if of_files is not None:
        return of_files[0]
    if not is_saved(path):
        _refuse_texts(path)
        raise click.UsageError(
            f"give a RUN beside {path}, or records, or scores that `eval -o x.json` or `texts -o x.json` wrote"
        )
    reading.refuse(SAVED_ALREADY)
    return load_saved([path])[0]


# Setting the baseline.


class _Frozen:
    """A baseline by its file, or by its name in a history."""

    def __init__(self, name: str, db: str | None, label: str = "") -> None:
        self.name = name
        self.db = db
        self.label = label

    def now(self) -> Baseline | None:
        """The baseline as it is, if there is one."""
        from goldrank.gating.baseline import Baseline

        if self.db is None:
            if os.path.exists(self.name):
                return Baseline.load(self.name)
            return None
        if not os.path.exists(self.db):
            return None

        from goldrank.history.opening import open_history

        with open_history(self.db) as history:
            if self.name in history.baselines():
                return history.baseline(self.name)
            return None

    def set(self, scores: Scores) -> Baseline:
        """Freeze scores under this name."""
        from goldrank.gating.baseline import Baseline

        if self.db is None:
            new = Baseline(scores, label=self.label)
            new.save(self.name)
            return new

        from goldrank.history.store import History

        with History(self.db) as history:
            history.set_baseline(self.name, history.record(scores, label=self.label or self.name))
            return history.baseline(self.name)


def _update(frozen: _Frozen, scores: Scores, dry_run: bool, output: Output) -> None:
    from goldrank.gating.baseline import changes
    from goldrank.gating.baseline_report import change_parts

    old = frozen.now()
    changed = changes(old, scores)
    if not dry_run:
        old_digest = ""
        if old:
            old_digest = f"{old.digest[:12]} -> "
        changed.append(f"sha256: {old_digest}{frozen.set(scores).digest[:12]}")
    if not output.is_quiet:
        show(change_parts(frozen.name, changed, is_set=not dry_run))


def _to_freeze(
    qrels: str,
    run: str | None,
    reading: ReadingOptions,
    measures: tuple[str, ...],
    rules_file: str | None,
    rule_texts: tuple[str, ...],
    **_: Any,
) -> Scores:
    """The scores that become the baseline: with the measures of -m and of the rules."""
    from goldrank.gating.measuring import scores_to_freeze
    from goldrank.gating.rules import Rule, Rules

    if run is None:
        if measures:
            raise click.UsageError("-m is for runs; saved scores have their measures already")
        return _saved(qrels, reading)

    once((qrels, run))
    measure_names = list(measures)
    if rules_file:
        measure_names += Rules.load(rules_file).measures
    if rule_texts:
        measure_names += Rules([Rule.parse_at(text, "--rule") for text in rule_texts]).measures
    judged, opened = open_judgements(qrels, measure_names, reading), open_run(run, reading)
    with progress(opened):
        return scores_to_freeze(judged, opened, list(dict.fromkeys(measure_names)) or None, _measuring_options(reading))
