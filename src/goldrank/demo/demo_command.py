"""`goldrank demo`: three small retrievers compared, the verdict first, and what the numbers mean."""

from __future__ import annotations

import shlex

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.output import Output, notes_options


@declared()
@option(
    "--write",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    heading="Output",
    help="Also write qrels, runs, queries and documents as files into this folder.",
)
@notes_options
def command(write: str | None, output: Output) -> None:  # fmt: skip
    """Compare three retrievers on a small data set of household tips, and explain the result."""
    from goldrank import demo
    from goldrank.base.packages import installed
    from goldrank.data.table import Sentence
    from goldrank.demo.demo_files import write_files
    from goldrank.demo.demo_report import demo_result, parts, parts_without_verdict

    data, runs = demo.load(), demo.runs()
    if installed("scipy"):
        shown = parts(demo_result(data, runs))
    else:
        shown = parts_without_verdict(data, runs)

    following = "Next:  goldrank demo --write demo  (files to try commands on)  or  goldrank serve --demo"
    if write:
        folder = write_files(write, data, runs)
        names = ("household.qrels", "overlap.run", "bm25.run", "queries.jsonl")
        qrels, first, second, queries = (shlex.quote(str(folder / name)) for name in names)
        following = f"Written. Try:  goldrank compare {qrels} {first} {second} --queries {queries} --slice kind"

    output.print_parts([*shown, Sentence(following)])
