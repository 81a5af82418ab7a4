"""`goldrank demo`: two small retrievers, their numbers, and what the numbers mean."""

from __future__ import annotations

import click

from goldrank.cli.output import show


@click.command()
@click.option("--write", type=click.Path(file_okay=False), help="Also write qrels and runs as files into this folder.")
def command(write: str | None) -> None:
    """Evaluate two retrievers on a small data set of household tips, and explain the result."""
    from goldrank import Qrels, Runs, demo, evaluate
    from goldrank.data.table import Sentence
    from goldrank.report.demo import DEFAULT, parts
    from goldrank.writing import new_folder

    data, runs = demo.load(), Runs(demo.runs())
    scores = evaluate(data["qrels"], runs, DEFAULT)
    following = "Next:  goldrank demo --write demo  and  goldrank eval demo/household.qrels demo/bm25.run"
    if write:
        folder = new_folder(write)
        Qrels(data["qrels"]).save(folder / "household.qrels")
        for name, run in runs.items():
            run.save(folder / f"{name}.run")
        following = f"Written. Try:  goldrank eval {folder}/household.qrels {folder}/overlap.run {folder}/bm25.run -q"
    show([*parts(data, scores), Sentence(following)])
