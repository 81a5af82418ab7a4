"""`goldrank demo`: two small retrievers, their numbers, and what the numbers mean."""

from __future__ import annotations

import click


@click.command()
@click.option("--write", type=click.Path(file_okay=False), help="Also write qrels and runs as files into this folder.")
def command(write: str | None) -> None:
    """Evaluate two retrievers on a small data set of household tips, and explain the result."""
    from pathlib import Path

    from goldrank import demo, evaluate, io

    data, runs = demo.load(), demo.runs()
    scores = evaluate(data["qrels"], runs, ["nDCG@10", "AP", "RR", "P@1", "R@5", "Judged@5"])
    judged = sum(map(len, data["qrels"].values()))
    click.echo(
        f"{len(data['documents'])} household tips, {len(data['queries'])} questions, {judged} judgements "
        "(2 answers it, 1 helps, 0 does not).\n"
        "Two retrievers: `overlap` counts common words, `bm25` weighs rare words more.\n"
    )
    click.echo(f"{scores!r}\n")
    plain, better = scores["overlap"], scores["bm25"]
    gains = {q: better.per_query["nDCG@10"][q] - v for q, v in plain.per_query["nDCG@10"].items()}
    up, down = sum(g > 0 for g in gains.values()), sum(g < 0 for g in gains.values())
    most, least = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
    click.echo("What this says")
    first = f"{plain['P@1']:.0%} of the questions with overlap and {better['P@1']:.0%} with bm25"
    click.echo(f"  The first tip is a good one for {first}.")
    click.echo(f"  nDCG@10 rewards the best tips at the top: bm25 is better for {up} questions, worse for {down}.")
    click.echo(f'  It gains most for "{data["queries"][most]}" ({gains[most]:+.2f})')
    if gains[least] < 0:
        click.echo(f'  and loses most for "{data["queries"][least]}" ({gains[least]:+.2f}).')
    share = f"{better['Judged@5']:.0%} of the first five tips were judged"
    click.echo(f"  Only {share}: the others count as wrong, perhaps unfairly.")
    click.echo("  `overlap` gives many equal scores; goldrank orders ties by document id and says how many there were.")
    if write:
        folder = Path(write)
        folder.mkdir(parents=True, exist_ok=True)
        io.write_qrels(data["qrels"], folder / "household.qrels")
        for name, run in runs.items():
            io.write_run(io.as_run(run, name=name), folder / f"{name}.run")
        click.echo(f"\nWritten. Try:  goldrank eval {folder}/household.qrels {folder}/overlap.run {folder}/bm25.run -q")
    else:
        click.echo("\nNext:  goldrank demo --write demo  and  goldrank eval demo/household.qrels demo/bm25.run")
