"""`goldrank demo`: two small retrievers, their numbers, and what the numbers mean."""

from __future__ import annotations

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
    help="Also write qrels and runs as files into this folder.",
)
@notes_options
def command(write: str | None, output: Output) -> None:  # fmt: skip
    """Evaluate two retrievers on a small data set of household tips, and explain the result."""
    from goldrank import Qrels, Runs, demo, evaluate
    from goldrank.base.writing import new_folder
    from goldrank.data.table import Sentence
    from goldrank.demo.demo_report import DEFAULT, parts

    data, runs = demo.load(), Runs(demo.runs())
    scores = evaluate(data["qrels"], runs, DEFAULT)
    following = "Next:  goldrank demo --write demo  and  goldrank eval demo/household.qrels demo/bm25.run"
    if write:
        folder = new_folder(write)
        Qrels(data["qrels"]).save(folder / "household.qrels")
        for name, run in runs.items():
            run.save(folder / f"{name}.run")
        following = f"Written. Try:  goldrank eval {folder}/household.qrels {folder}/overlap.run {folder}/bm25.run -q"
    output.print_parts([*parts(data, scores), Sentence(following)])
