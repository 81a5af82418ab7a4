"""`goldrank conformance`: check a program in any language against cases with known values."""

from __future__ import annotations

from pathlib import Path

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.options import MEASURE, OUTPUT, measures_option
from goldrank.cli.output import as_option, echo
from goldrank.referee.cases import Profile


@declared(usual="--command --profile -m --dump --answers --as")
@option("--command", "program", help='The program, such as "node my_metric.mjs"; no shell runs it.')
@option(
    "--profile",
    type=click.Choice(["lists", "scores"]),
    default="lists",
    show_default=True,
    help="lists: ids in final order; scores: documents with scores, which the program sorts.",
)
@measures_option
@option(
    "--tolerance", type=float, default=1e-9, show_default=True, heading=MEASURE, help="How far an answer may be off."
)
@option("--dump", type=click.Path(dir_okay=False), heading=OUTPUT, help="Write the lines for the program to this file.")
@option("--answers", type=click.Path(dir_okay=False), help="Read the program's lines from this file.")
@option("--batch", type=click.IntRange(min=1), help="Start the program anew after this number of cases.")
@as_option("terminal", "json")
def command(
    program: str | None,
    profile: Profile,
    measures: tuple[str, ...],
    tolerance: float,
    dump: str | None,
    answers: str | None,
    batch: int | None,
    form: str,
) -> None:
    """Check a program's measures against cases with known values.

    Exit 0: all agree. 1: some differ, and it is said which convention that looks like. 2: it could not be driven.
    """
    import json

    from goldrank.referee.cases import cases_for
    from goldrank.referee.checking import check_answers, check_conformance

    if sum(choice is not None for choice in (program, dump, answers)) != 1:
        raise click.UsageError("give one of --command, --dump and --answers")
    if dump is not None:
        cases = cases_for(profile, measures)
        text = "".join(case.line(profile) + "\n" for case in cases)
        Path(dump).write_text(text, encoding="utf-8")
        echo(f"{len(cases)} cases: answer them one a line, and give the file to --answers")
        return

    if answers is not None:
        report = check_answers(answers, cases_for(profile, measures), tolerance)
    else:
        report = check_conformance(program or "", profile=profile, measures=measures, tolerance=tolerance, batch=batch)
    if form == "json":
        echo(json.dumps(report.to_dict()))
    else:
        echo(str(report))
    if report.exit_code:
        raise click.exceptions.Exit(report.exit_code)
