"""What the commands that compare systems share: options, and where the result goes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import click

from goldrank.comparison.correction import CORRECTIONS
from goldrank.comparison.paired import TESTS
from goldrank.comparison.result import INTERVALS, Comparison
from goldrank.data.run import Run
from goldrank.errors import GoldrankError

Function = TypeVar("Function", bound=Callable[..., Any])

FILES = ("html", "markdown", "latex", "csv", "json")


def statistics_options(function: Function) -> Function:
    """Options for tests, corrections and intervals."""
    options = [
        click.option("--baseline", metavar="NAME", help="Compare every other system with this one only."),
        click.option("--test", type=click.Choice(list(TESTS)), default="randomization", show_default=True,
                     help="; ".join(TESTS.values())),
        click.option("--correction", type=click.Choice(list(CORRECTIONS)), default="holm", show_default=True,
                     help="; ".join(CORRECTIONS.values())),
        click.option("--interval", type=click.Choice(list(INTERVALS)), default="percentile", show_default=True,
                     help="How intervals are made."),
        click.option("--alpha", type=float, default=0.05, show_default=True, help="1 - the confidence of intervals."),
        click.option("--margin", type=float, help="Call systems equivalent if they surely differ by less than this."),
        click.option("--samples", type=int, default=10_000, show_default=True, help="Samples of bootstrap and tests."),
        click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same numbers."),
        click.option("--align", type=click.Choice(["common", "error"]), default="common", show_default=True,
                     help="What to do about queries that not all systems have."),
        click.option("--metadata", type=click.Path(dir_okay=False),
                     help="JSONL with an object per query: its id and the fields named by --slice."),
        click.option("--slice", "slices", multiple=True, metavar="FIELD",
                     help="Slice by a field of --metadata, or by relevant, judged or length; may be repeated."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def output_options(function: Function) -> Function:
    """Options for files to write."""
    for form in reversed(FILES):
        path = click.Path(dir_okay=False)
        function = click.option(f"--{form}", f"{form}_file", type=path, help=f"Write the comparison as {form}.")(
            function
        )
    function = click.option("--svg", type=click.Path(file_okay=False), help="Write each chart into this folder.")(
        function
    )
    return click.option("--save", type=click.Path(file_okay=False), help="Save each system's scores into this folder.")(
        function
    )


def take_files(options: dict[str, Any]) -> dict[str, str | None]:
    """The files to write, taken out of a command's options: form -> path."""
    return {form: options.pop(f"{form}_file") for form in FILES}


def open_runs(given: tuple[str, ...], run_format: str | None, duplicates: str) -> dict[str, Run]:
    """Runs by name: that of NAME=FILE, else the file's."""
    from goldrank.io import distinct, read_run

    if given.count("-") > 1:
        raise click.UsageError("standard input can be read only once")
    named: dict[int, str] = {}
    opened = []
    for i, text in enumerate(given):
        name, sign, path = text.partition("=")
        if sign and name and not Path(text).exists():
            named[i] = name
        else:
            path = text
        opened.append(read_run(path, format=run_format, duplicates=duplicates))
    names = [named.get(i, name) for i, name in enumerate(distinct(opened))]
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(f"two runs are both named {name!r}")
    return {name: run.renamed(name) for name, run in zip(names, opened, strict=True)}


def slicing(slices: tuple[str, ...], metadata: str | None) -> dict[str, Any]:
    """The arguments of `compare` for slices."""
    from goldrank.comparison.slices import AUTOMATIC

    if metadata is None and any(name not in AUTOMATIC for name in slices):
        raise click.UsageError("--slice by a field needs --metadata")
    if not slices:
        return {}
    given: dict[str, Any] = {name: None if name in AUTOMATIC else metadata for name in slices}
    return {"slice_by": given, "queries": metadata if "length" in slices else None}


def show(comparison: Comparison, files: Mapping[str, str | None], svg: str | None, save: str | None) -> None:
    """Print the comparison and write the files that were asked for."""
    from rich.console import Console

    from goldrank.report import render, terminal

    for form, path in files.items():
        if path:
            write(path, render(comparison, form))
    if svg:
        for name, text in _charts(comparison):
            write(str(Path(svg) / f"{name}.svg"), text)
        click.echo(f"charts are in {svg}", err=True)
    if save:
        comparison.save_scores(save)
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        Console().print(terminal.view(comparison))
    else:
        click.echo(render(comparison, "text").encode("utf-8", "backslashreplace"), nl=False)


def show_agreement(comparison: Comparison, runs: Mapping[str, Run]) -> None:
    """Print how alike each two rankings are, and how alike each two measures order the systems."""
    from goldrank import ids
    from goldrank.comparison.agreement import STATISTICS, measures_agree, rank_agreement
    from goldrank.data.layout import aligned
    from goldrank.report.cells import number

    rows = [["rankings", *STATISTICS]]
    for a, b in combinations(runs, 2):
        found = rank_agreement(runs[a], runs[b]).mean
        rows.append([f"{ids.show(a)}, {ids.show(b)}", *(number(found[name]) for name in STATISTICS)])
    text = "\nHow alike the rankings are (jaccard of the first 10)\n" + aligned(rows)
    alike = measures_agree(comparison)
    if alike and len(comparison.runs) > 2:
        taus = [["order of systems", "tau"], *([f"{a}, {b}", number(tau)] for (a, b), tau in alike.items())]
        text += "\n\nHow alike the measures order the systems\n" + aligned(taus)
    click.echo(text.encode("utf-8", "backslashreplace"))


def write(path: str, text: str) -> None:
    """Write a file whole, making its folder if need be."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise GoldrankError(f"cannot be written: {error.strerror}", where=path) from None


def _charts(c: Comparison) -> list[tuple[str, str]]:
    """Every chart with a name for its file."""
    from goldrank.comparison.rank_changes import locate
    from goldrank.report import charts

    at = {run: i for i, run in enumerate(c.runs)}
    ranks = None
    if c.inputs is not None:
        ranks = locate(c.inputs.placed)
    found = [(f"forest-{i}-{_word(m)}", charts.forest(c, m)) for i, m in enumerate(c.measures, 1)]
    found += [(f"curve-{_word(name)}", charts.curves(name, points)) for name, points in c.curves.items()]
    for pair in c.of(c.measures[0]):
        a, b = c.values[pair.measure][at[pair.a]], c.values[pair.measure][at[pair.b]]
        pair_name = f"{c.letters[pair.a]}-{c.letters[pair.b]}"
        found += [
            (f"deltas-{pair_name}", charts.delta_bars(pair, b - a)),
            (f"scatter-{pair_name}", charts.scatter(pair, a, b)),
        ]
        if ranks is not None:
            found.append((f"ranks-{pair_name}", charts.rank_shift((pair.a, pair.b), ranks, at[pair.a], at[pair.b])))
    return [(name, chart.alone()) for name, chart in found]


def _word(text: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in text)[:60]
