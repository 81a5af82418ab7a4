"""`goldrank explain`: which rule makes two conventions disagree, or what the signature of a number says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from goldrank.base import satellites
from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.inputs import open_qrels, open_run
from goldrank.cli.nouns import NounType
from goldrank.cli.options import (
    CONVENTION,
    FILE,
    MEASURE,
    ReadingOptions,
    measures_option,
    reading_options,
)
from goldrank.cli.output import Output, echo, output_options
from goldrank.conventions import Convention


@declared(usual="-m --convention -o --as --map --input")
@click.argument("words", metavar="QRELS RUN | SIGNATURE [QRELS RUN]", nargs=-1, required=True, type=FILE)
@measures_option
@option(
    "--convention",
    "conventions",
    multiple=True,
    type=NounType(CONVENTION),
    metavar="NAME,KEY=VALUE",
    heading=MEASURE,
    help="Whose rules to follow, and changed rules: ranx,missing=skip.",
)
@option("--value", metavar="NUMBER", heading=MEASURE, help="The number beside a signature, such as 0.4213.")
@reading_options(convention=False)
@output_options()
def command(
    words: tuple[str, ...],
    measures: tuple[str, ...],
    conventions: tuple[Convention, ...],
    value: str | None,
    reading: ReadingOptions,
    output: Output,
) -> None:
    """Say why two conventions, each named by a --convention, give different numbers for the same run.

    A SIGNATURE (goldrank:1.0.0 measure:nDCG@10 ...) is spelled out, and with QRELS and RUN it is checked whether they
    give that number: exit 0 if nothing differs, 1 if something does, 2 if it was changed or cut.
    """
    if words[0].startswith("goldrank:"):
        _explain_signature(words, value, output)
        return
    if len(words) != 2:
        raise click.UsageError(f"give QRELS and RUN, or a signature; {len(words)} words were given")

    from goldrank.comparison.convention_difference import explain_difference

    qrels, run = words
    if len(conventions) != 2:
        raise click.UsageError(f"give --convention twice, once for each side; it was given {len(conventions)} times")
    if not measures:
        raise click.UsageError("Missing option '-m' / '--measure': the measure whose values differ.")

    first, second = conventions
    # Files are read by the rules of each convention, unless options say how; standard input comes only once.
    judged: Any = qrels
    if reading.flags or qrels == "-":
        judged = open_qrels(qrels, reading)
    opened: Any = run
    if reading.flags or run == "-":
        opened = open_run(run, reading)

    differences = [explain_difference(judged, opened, measure, first, second) for measure in measures]
    text = "\n\n".join(map(str, differences))
    files_alone = replace(output, is_quiet=True)
    files_alone.show(differences, lambda _: [], {"terminal": lambda _: f"{text}\n"})
    if not output.is_quiet:
        echo(text)


def _explain_signature(words: tuple[str, ...], value: str | None, output: Output) -> None:
    report = satellites.provided("explain signature")(words, value)
    if not output.is_quiet:
        echo(str(report))
    if report.exit_code:
        raise click.exceptions.Exit(report.exit_code)
