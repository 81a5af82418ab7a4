"""The measures of one run, or of several, each with its interval, and on slices."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from goldrank import ids
from goldrank.comparison.intervals import percent
from goldrank.comparison.one_system import MeanInterval, RunIntervals
from goldrank.data.json_values import without_nan
from goldrank.data.scores import format_value
from goldrank.data.table import Cell, Cells, Head, Part, Row, Sentence, Table, html, note_sentences, plain
from goldrank.report import latex, markdown, separated
from goldrank.report.numbers import interval


def parts(found: RunIntervals, titled: bool = False) -> list[Part]:
    """A table of measures, and a table of each attribute's slices."""
    level = f"{percent(found.level)} interval"
    rows: list[Cells] = [
        [part.measure, _mean(part), interval(part.interval), Cell(f"{part.n:,}", part.n)]
        for part in found.of
        if not part.attribute
    ]
    heads = [*Head.texts("measure"), *Head.numbers("mean", level, "queries")]
    shown: list[Part] = [Table(heads, rows, ids.show(found.run) if titled else "")]
    for attribute in found.attributes:
        shown.append(_slices(found, attribute))
    small = any(part.small for part in found.of if part.attribute)
    remarks = [Sentence("dim: fewer than ten queries, from which nothing follows", "remark")] if small else []
    return [*shown, *remarks, *note_sentences(found.notes)]


def _slices(run: RunIntervals, attribute: str) -> Table:
    """A row per value of the attribute, a mean and its interval per measure."""
    by_value: dict[str, dict[str, MeanInterval]] = {}
    for part in run.of:
        if part.attribute == attribute:
            by_value.setdefault(part.value, {})[part.measure] = part
    heads = [*Head.names(attribute), *Head.numbers("queries")]
    for measure in run.measures:
        heads += Head.numbers(measure, percent(run.level))
    rows = []
    for value, of in by_value.items():
        most = max(part.n for part in of.values())
        cells: list[Cell | str | float] = [value, Cell(f"{most:,}", most)]
        for measure in run.measures:
            cells += [_mean(of[measure]), interval(of[measure].interval)]
        rows.append(Row(cells, "dim" if all(part.small for part in of.values()) else ""))
    return Table(heads, rows, f"by {attribute}")


def _mean(part: MeanInterval) -> Cell:
    return Cell(format_value(part.mean, part.average), part.mean)


def long_table(found: Sequence[RunIntervals]) -> Table:
    """A row per run, measure and slice, for programs."""
    sliced = any(run.attributes for run in found)
    texts = ["run", "attribute", "value", "measure"] if sliced else ["run", "measure"]
    rows: list[Cells] = []
    for run in found:
        for row in run.rows():
            numbers = [float(row[name]) for name in ("mean", "low", "high")]
            rows.append([*(str(row[name]) for name in texts), Cell(str(row["queries"]), row["queries"]), *numbers])
    return Table([*Head.texts(*texts), *Head.numbers("queries", "mean", "low", "high")], rows)


def all_parts(found: Sequence[RunIntervals]) -> list[Part]:
    """What people read, run by run."""
    return [part for run in found for part in parts(run, titled=len(found) > 1)]


def _json(runs: Sequence[RunIntervals]) -> str:
    data = [without_nan(run.to_dict()) for run in runs]
    return json.dumps(data[0] if len(data) == 1 else data, indent=2)


def _page(runs: Sequence[RunIntervals]) -> str:
    from goldrank.report.html import page

    return page("Scores: " + ", ".join(ids.show(run.run) for run in runs), html(all_parts(runs)))


WRITERS: dict[str, Callable[[Sequence[RunIntervals]], str]] = {
    "table": lambda runs: plain(all_parts(runs)),
    "json": _json,
    "jsonl": lambda runs: "\n".join(json.dumps(without_nan(row)) for run in runs for row in run.rows()),
    "csv": lambda runs: separated.write(long_table(runs)),
    "tsv": lambda runs: separated.write(long_table(runs), "\t"),
    "markdown": lambda runs: markdown.write([long_table(runs)]),
    "latex": lambda runs: latex.write([long_table(runs)]),
    "html": _page,
}
