"""`goldrank fuse`: combine runs, and say whether that helps."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from goldrank.base.errors import InputError
from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.inputs import named_file, open_qrels, open_whole
from goldrank.cli.nouns import NounOption, NounType
from goldrank.cli.options import (
    FILE,
    MEASURE,
    ReadingOptions,
    explained,
    measures_option,
    reading_options,
    statistics_of,
    statistics_option,
)
from goldrank.cli.output import Output, deliver, output_options
from goldrank.fusion.methods import all_methods

if TYPE_CHECKING:
    from goldrank.comparison.settings import Statistics
    from goldrank.data.run import Run
    from goldrank.fusion.options import Fusion

METHODS = {name: method.about for name, method in all_methods().items()}
FUSION = NounOption("--fusion", "goldrank.fusion.options:Fusion", "method")
REPORTS = ("markdown", "latex", "html", "svg")
"""Forms of files that hold the comparison; other files hold the fused run."""


@declared(usual="--fusion --tune -m -o --as --statistics", epilog=f"Methods: {explained(METHODS)}.")
@click.argument("inputs", metavar="[QRELS] RUN RUN...", nargs=-1, required=True, type=FILE)
@measures_option
@option(
    "--fusion",
    type=NounType(FUSION),
    metavar="METHOD,KEY=VALUE",
    heading=MEASURE,
    help="How runs are fused: rrf,k=60 or wsum,weights=2+1,normalization=zmuv. Default: rrf.",
)
@option(
    "--tune",
    is_flag=True,
    heading=MEASURE,
    help="Find or learn what the method takes by cross-validation over queries, by the first measure.",
)
@option(
    "--folds",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    heading=MEASURE,
    help="Parts of the cross-validation.",
)
@statistics_option
@reading_options()
@output_options()
def command(
    inputs: tuple[str, ...],
    measures: tuple[str, ...],
    fusion: Fusion | None,
    tune: bool,
    folds: int,
    statistics: Statistics | None,
    reading: ReadingOptions,
    output: Output,
) -> None:  # fmt: skip
    """Combine runs into one (-o fused.run), and with QRELS compare all of them with the best single run.

    Files that end in .md, .tex, .html or .svg get the comparison, others the fused run.
    """
    from goldrank.fusion.combine import fuse
    from goldrank.fusion.options import Fusion
    from goldrank.fusion.tuning import tune_fusion

    chosen = fusion or Fusion("rrf")
    statistics = statistics_of(statistics)
    reports, files = output.files_of(REPORTS)
    if not _has_qrels(inputs, reading):
        if tune or measures or reports.files:
            raise click.UsageError("--tune, -m and reports need QRELS before the runs")
        if not files:
            raise click.UsageError("give QRELS before the runs, or -o fused.run: else there is nothing to show")
        fused = fuse(open_whole(inputs, reading), chosen)
        deliver(*(partial(fused.save, path) for path in files))
        output.say(f"{len(inputs)} runs are fused in {', '.join(files)}")
        return

    qrels, *runs = inputs
    measure_names = measures or ("nDCG@10",)
    judged, opened = open_qrels(qrels, reading), open_whole(runs, reading)
    remarks: list[str] = []
    if tune:
        tuned = tune_fusion(
            judged, opened, measure_names[0], chosen, folds=folds, seed=statistics.seed, convention=reading.convention
        )
        fused = tuned.run
        remarks = [
            _chosen(tuned.fusion, chosen, list(opened)),
            "Each query below was fused by what the other folds chose.",
        ]
    else:
        fused = fuse(opened, chosen)

    comparison = _compared(judged, opened, fused, measure_names, statistics, reading)

    def parts_with_remarks(result: Any) -> Any:
        from goldrank.data.table import Sentence
        from goldrank.report.comparison import parts

        return [*map(Sentence, remarks), *parts(result)]

    deliver(*(partial(fused.save, path) for path in files), partial(reports.show, comparison, parts_with_remarks))


def _compared(
    judged: Any, opened: dict[str, Run], fused: Run, measures: Any, statistics: Statistics, reading: ReadingOptions
) -> Any:
    """The fused run and the others, each against the best of the others."""
    from goldrank.comparison.build import compare
    from goldrank.data.runs import Runs
    from goldrank.evaluation.rankings import evaluate
    from goldrank.fusion.tuning import best_run

    name = "fused"
    if name in opened:
        name = "fused run"
    scores = evaluate(judged, Runs({**opened, name: fused}), measures, convention=reading.convention)
    best = best_run({run: scores[run] for run in opened})
    return compare(scores, baseline=best, statistics=statistics)


def _has_qrels(inputs: tuple[str, ...], reading: ReadingOptions) -> bool:
    """Whether the first input is judgements. A file that could also be a run is, if two runs follow."""
    from goldrank.io import read_qrels, read_run

    name, path = named_file(inputs[0])
    if name is not None:
        return False
    try:
        len(read_run(path, format=reading.run_format, columns=reading.columns))
    except InputError:
        return True
    try:
        len(read_qrels(path, format=reading.qrels_format, columns=reading.columns, real_grades=reading.real_grades))
    except InputError:
        return False
    return len(inputs) > 2


def _chosen(tuned: Fusion, original: Fusion, names: list[str]) -> str:
    """What all queries chose, in words."""
    chosen = {name: value for name, value in tuned.parameters.items() if name not in original.parameters}
    words = []
    if "weights" in chosen:
        pairs = zip(names, chosen["weights"], strict=True)
        words.append("Weights by all queries: " + ", ".join(f"{name} {weight:.2f}" for name, weight in pairs) + ".")

    numbers = [f"{name} {value:g}" for name, value in chosen.items() if isinstance(value, int | float)]
    if numbers:
        words.append(f"Chosen by all queries: {', '.join(numbers)}.")
    return " ".join(words or ["Learned from all queries."])
