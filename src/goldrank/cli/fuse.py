"""`goldrank fuse`: combine runs, and say whether that helps."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from goldrank.cli.inputs import chosen_convention, open_qrels, open_whole
from goldrank.cli.options import (
    ReadingOptions,
    choice_option,
    decimals,
    explained,
    file_option,
    measures_option,
    run_options,
    seed_option,
)
from goldrank.cli.output import deliver, echo, say, show_comparison
from goldrank.fusion import NORMALISATIONS, all_methods
from goldrank.fusion.methods import ALIASES

if TYPE_CHECKING:
    from goldrank.fusion import Fusion

METHODS = {name: method.about for name, method in all_methods().items()}


class _Method(click.Choice[str]):
    """A fusion method, by its name or by one that papers and other tools give it."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(ALIASES.get(value, value), param, ctx)


@click.command()
@click.argument("qrels")
@click.argument("runs", metavar="RUN RUN...", nargs=-1, required=True)
@measures_option
@click.option("--method", type=_Method(list(METHODS)), default="rrf", show_default=True, help=explained(METHODS))
@choice_option(
    "--normalise", list(NORMALISATIONS), "min-max", "How scores are made comparable; not for methods by rank."
)
@click.option("--weights", help="One number per run, with commas; for rrf, wsum and other methods with weights.")
@click.option(
    "-p",
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=NUMBER",
    help="A parameter of the method, such as gamma=0.5; may be repeated.",
)
@click.option(
    "--tune",
    is_flag=True,
    help="Find or learn what the method takes by cross-validation over queries, by the first measure.",
)
@click.option("--folds", type=int, default=5, show_default=True, help="Folds of the cross-validation.")
@click.option("-k", type=float, help="The constant of rrf, 60 if not given; the same as -p k=60.")
@seed_option
@file_option("-o", "--output", help="Write the fused run to this file.")
@run_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    method: Any,
    normalise: str,
    weights: str | None,
    parameters: tuple[str, ...],
    tune: bool,
    folds: int,
    k: float | None,
    seed: int,
    output: str | None,
    how: ReadingOptions,
    **policies: Any,
) -> None:
    """Combine runs into one, and compare all of them with the best single run."""
    from goldrank.comparison import compare
    from goldrank.comparison.settings import Statistics
    from goldrank.data.runs import Runs
    from goldrank.evaluation.documents import evaluate
    from goldrank.fusion import Fusion, best_run, fuse, tune_fusion

    measures = measures or ("nDCG@10",)
    convention = chosen_convention(policies)
    judged, opened = open_qrels(qrels, policies, how), open_whole(runs, policies, how)
    if tune and weights:
        raise click.UsageError("--tune finds the weights; leave --weights out")

    options: dict[str, Any] = {"normalization": normalise, **_named(parameters)}
    if weights is not None:
        options["weights"] = decimals(weights, "--weights")
    if k is not None:
        options["k"] = k
    fusion = Fusion(method, **options)
    if tune:
        tuned = tune_fusion(judged, opened, measures[0], fusion, folds=folds, seed=seed, convention=convention)
        fused = tuned.run
        say(_chosen(tuned.fusion, fusion, list(opened)), err=False)
        echo("Each query below was fused by what the other folds chose.\n")
    else:
        fused = fuse(opened, fusion)

    name = "fused" if "fused" not in opened else "fused run"
    scores = evaluate(judged, Runs({**opened, name: fused}), measures, convention=convention)
    best = best_run({run: scores[run] for run in opened})
    result = compare(scores, baseline=best, statistics=Statistics(seed=seed))
    deliver(partial(fused.save, output) if output else None, lambda: show_comparison(result, {}))


def _chosen(tuned: Fusion, given: Fusion, names: list[str]) -> str:
    """What all queries chose, in words."""
    chosen = {name: value for name, value in tuned.parameters.items() if name not in given.parameters}
    said = []
    if "weights" in chosen:
        pairs = zip(names, chosen["weights"], strict=True)
        said.append("Weights by all queries: " + ", ".join(f"{name} {weight:.2f}" for name, weight in pairs) + ".")
    numbers = {name: value for name, value in chosen.items() if isinstance(value, int | float)}
    if numbers:
        said.append("Chosen by all queries: " + ", ".join(f"{name} {value:g}" for name, value in numbers.items()) + ".")
    return " ".join(said or ["Learned from all queries."])


def _named(given: tuple[str, ...]) -> dict[str, float]:
    """Parameters given as name=number."""
    parameters = {}
    for text in given:
        name, _, number = text.partition("=")
        try:
            parameters[name.strip()] = int(number) if number.strip().isdecimal() else float(number)
        except ValueError:
            raise click.UsageError(f"--parameter {text!r} is not a name, = and a number") from None
    return parameters
