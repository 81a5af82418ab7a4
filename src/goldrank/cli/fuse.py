"""`goldrank fuse`: combine runs, and say whether that helps."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.inputs import open_qrels, open_runs
from goldrank.cli.options import choice_option, explained, file_option, format_option, policy_options, seed_option
from goldrank.cli.output import echo, show_comparison
from goldrank.comparison.fusion import METHODS, NORMALISATIONS


@click.command()
@click.argument("qrels")
@click.argument("runs", metavar="RUN RUN...", nargs=-1, required=True)
@click.option("-m", "--measure", "measures", multiple=True, default=("nDCG@10",), help="A measure; may be repeated.")
@choice_option("--method", METHODS, "rrf", explained(METHODS))
@choice_option("--normalise", NORMALISATIONS, "min-max", "How scores are made comparable; not for rrf.")
@click.option("--weights", help="One number per run, with commas; for rrf and wsum.")
@click.option("--tune", is_flag=True, help="Find the weights by cross-validation over queries, by the first measure.")
@click.option("--folds", type=int, default=5, show_default=True, help="Folds of the cross-validation.")
@click.option("-k", type=float, default=60, show_default=True, help="The constant of rrf.")
@seed_option
@file_option("-o", "--output", help="Write the fused run to this file.")
@format_option
@policy_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    method: str,
    normalise: str,
    weights: str | None,
    tune: bool,
    folds: int,
    k: float,
    seed: int,
    output: str | None,
    run_format: str | None,
    **policies: Any,
) -> None:
    """Combine runs into one, and compare all of them with the best single run."""
    from goldrank.comparison import compare, fusion
    from goldrank.evaluation.documents import evaluate
    from goldrank.io import write_run

    judged = open_qrels(qrels, policies)
    opened = open_runs(runs, policies, run_format)
    if tune:
        if weights:
            raise click.UsageError("--tune finds the weights; leave --weights out")
        tuned = fusion.tune_fusion(
            judged, opened, measures[0], method, normalise=normalise, k=k, folds=folds, seed=seed, **policies
        )
        fused = tuned.run
        chosen = ", ".join(f"{name} {weight:.2f}" for name, weight in zip(opened, tuned.weights, strict=True))
        echo(f"Weights by all queries: {chosen}. Each query below was fused with weights from the other folds.\n")
    else:
        fused = fusion.fuse(opened, method, weights=_numbers(weights), normalise=normalise, k=k)
    name = "fused" if "fused" not in opened else "fused run"
    alone = evaluate(judged, opened, measures[0], **policies)
    best = fusion.best_run(alone)
    everything = {**opened, name: fused.renamed(name)}
    result = compare(judged, everything, measures, baseline=best, seed=seed, curves=False, **policies)
    if output:
        write_run(fused, output)
    show_comparison(result, {})


def _numbers(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--weights {text!r} are not numbers with commas between them") from None
