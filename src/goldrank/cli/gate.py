"""`goldrank gate`: may this run go in?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from goldrank.cli.inputs import (
    is_saved,
    load_saved,
    measuring_way,
    named_file,
    once,
    open_baseline,
    open_qrels,
    open_run,
    progress,
    refuse_policies,
)
from goldrank.cli.options import (
    HOLES,
    UNJUDGED,
    ReadingOptions,
    explained,
    file_option,
    judges_options,
    policy_options,
    reading_options,
)
from goldrank.cli.output import deliver, echo, echo_form, show, write
from goldrank.errors import GoldrankError
from goldrank.report.gate import ENDINGS, FORMS

if TYPE_CHECKING:
    from goldrank.data.queries import Queries
    from goldrank.data.scores import Scores
    from goldrank.gating.rules import Rules
    from goldrank.gating.verdict import Verdict


@click.command()
@click.argument("qrels", metavar="SCORES | QRELS")
@click.argument("run", required=False)
@file_option("--rules", "rules_file", help="A TOML file with the rules.")
@click.option("--rule", "more", multiple=True, help="A rule such as 'nDCG@10: -1%' or 'AP >= 0.3'; may be repeated.")
@click.option("--baseline", help="What to compare the run with: a file, or a name or number in the history --db.")
@file_option("--db", help="The history that has the baseline.")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    metavar="[FORM=]FILE",
    help=f"Write a report, by its ending ({', '.join(ENDINGS)}) or named form; may be repeated.",
)
@click.option(
    "--format",
    "forms",
    multiple=True,
    type=click.Choice(list(FORMS)),
    help=f"What to print: {explained(FORMS)}.",
)
@file_option("--metadata", help="JSONL with the attributes of queries for slices.")
@file_option("--latency", help="JSON or JSONL with the time that each query took.")
@click.option(
    "--allow-changed-qrels",
    is_flag=True,
    help="Compare although the judgements changed: the baseline is scored again on them.",
)
@click.option("--strict", is_flag=True, default=None, help="Fail what is not shown to be within the tolerance.")
@click.option("--holes", type=click.Choice(list(HOLES)), help=f"Unjudged documents: {explained(HOLES)}.")
@click.option("--run-format", help="The run's format, if it cannot be detected from its content.")
@reading_options
@click.option("--depth", type=int, help="Look at no more than this many documents a query.")
@judges_options
@policy_options
def command(
    qrels: str, run: str | None, outputs: tuple[str, ...], forms: tuple[str, ...], how: ReadingOptions, **options: Any
) -> None:
    """Check a run against rules: exit 0 if it passes, 1 if it fails, 2 if nothing could be decided.

    SCORES are what `texts --save` or `eval --save` wrote; they take the place of QRELS and RUN.

    A drop fails only if it is surely larger than tolerated. Exit 4 is "unclear: judge these": documents that nobody
    judged could decide it.
    """
    if not options["rules_file"] and not options["more"]:
        raise click.UsageError("there are no rules: name a file with --rules, or one with --rule 'nDCG@10: -1%'")
    from goldrank.gating.verdict import Verdict

    files = [_form(output) for output in outputs]
    try:
        rules = _rules(options.pop("rules_file"), options.pop("more"), options)
        verdict = _decide(qrels, run, how, rules, **options)
    except GoldrankError as error:
        verdict = Verdict.undecided(run or qrels, error)
        _write(verdict, files, [form for form in forms if form != "text"])
        echo(f"goldrank: {error}", err=True)
    else:
        _write(verdict, files, forms or ["text"])
    if verdict.exit_code:
        raise click.exceptions.Exit(verdict.exit_code)


def _decide(
    qrels: str,
    run: str | None,
    how: ReadingOptions,
    rules: Rules,
    baseline: str | None,
    db: str | None,
    metadata: str | None,
    latency: str | None,
    **options: Any,
) -> Verdict:
    """The verdict on a run that is measured now, or on saved scores."""
    from goldrank.gating.decide import gate

    against = None if baseline is None else open_baseline(baseline, db)
    if run is None:
        scores = _saved(qrels, how, options)
    else:
        scores = _measured(qrels, run, how, rules, compared=against is not None, **options)
    return gate(scores, rules, against, queries=_queries(rules, metadata, latency))


def _rules(file: str | None, more: tuple[str, ...], options: dict[str, Any]) -> Rules:
    """The rules of --rules and --rule, with what other options say of them."""
    from dataclasses import replace

    from goldrank.gating.rules import Rule, Rules

    added = [Rule.parse_at(text, "--rule") for text in more]
    rules = Rules.load(file).with_changes(rules=added) if file else Rules(added)
    changes: dict[str, Any] = {}
    if options.pop("strict"):
        changes["strict"] = True
    if options.pop("allow_changed_qrels"):
        changes["allow_changed_qrels"] = True
    holes = options.pop("holes")
    if holes is not None:
        changes["statistics"] = replace(rules.statistics, unjudged=UNJUDGED[holes])
    return rules.with_changes(**changes)


def _saved(path: str, how: ReadingOptions, options: dict[str, Any]) -> Scores:
    if options["judged_by"]:
        raise click.UsageError("--judged-by is about judgements, not saved scores")
    if not is_saved(named_file(path)[1]):
        raise click.UsageError(f"give a RUN beside {path}, or scores that `texts --save` or `eval --save` wrote")
    refuse_policies(options, how)
    return load_saved([path])[0]


def _measured(
    qrels: str,
    run: str,
    how: ReadingOptions,
    rules: Rules,
    compared: bool,
    model_qrels: str | None,
    judged_by: Literal["human", "model"] | None,
    **options: Any,
) -> Scores:
    """The scores of a run, with the measures of the rules."""
    from goldrank.gating.measuring import scores_to_gate

    once((qrels, run))
    judged, opened = open_qrels(qrels, options, how, model=model_qrels), open_run(run, options, how)
    if judged_by is not None:
        judged = judged.by(judged_by)
    with progress(opened):
        return scores_to_gate(judged, opened, rules, measuring_way(options, how), compared=compared)


def _queries(rules: Rules, metadata: str | None, latency: str | None) -> Queries | None:
    """What --metadata (else the rules) and --latency say of queries."""
    from goldrank.data.queries import Queries
    from goldrank.gating.latency import read_latencies
    from goldrank.io.queries import read_queries

    given = rules.queries if metadata is None else metadata
    known = None if given is None else read_queries(given)
    if latency is None:
        return known
    return (known or Queries({})).with_column("latency", read_latencies(latency))


def _form(output: str) -> tuple[str, str]:
    """The form and the file of an -o."""
    form, sign, path = output.partition("=")
    if sign and form in FORMS:
        return form, path
    ending = Path(output).suffix.lower()
    if ending not in ENDINGS:
        raise click.UsageError(
            f"-o {output}: the ending says no form; endings are {', '.join(ENDINGS)}, or name it: -o markdown={output}"
        )
    return ENDINGS[ending], output


def _write(verdict: Any, files: Sequence[tuple[str, str]], forms: Sequence[str]) -> None:
    from goldrank.report import WIDTH
    from goldrank.report.gate import parts, render

    def printed(form: str) -> None:
        if form == "text":
            show(parts(verdict), WIDTH)
        else:
            echo_form(render(verdict, form), form)

    writing = [lambda form=form, path=path: write(path, render(verdict, form)) for form, path in files]
    deliver(*(partial(printed, form) for form in forms), *writing)
