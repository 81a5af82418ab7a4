"""The measures of one run, or of several, each with its interval, and on slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from goldrank.base import ids
from goldrank.base.notes import Note
from goldrank.comparison.intervals import percent
from goldrank.comparison.one_system import MeanInterval, RunIntervals
from goldrank.data.json_values import without_nan
from goldrank.data.scores import format_value
from goldrank.data.showing import Form, Forms, Result
from goldrank.data.table import Cell, Cells, Head, Part, Row, Sentence, Table, note_sentences
from goldrank.report import latex, markdown, separated
from goldrank.report.numbers import interval


def parts(intervals: RunIntervals, titled: bool = False) -> list[Part]:
    """A table of measures, and a table of each attribute's slices."""
    level = f"{percent(intervals.level)} interval"
    rows: list[Cells] = [
        [part.measure, _mean(part), interval(part.interval), Cell(f"{part.n:,}", part.n)]
        for part in intervals.of
        if not part.attribute
    ]
    heads = [*Head.texts("measure"), *Head.numbers("mean", level, "queries")]
    title = ""
    if titled:
        title = ids.show(intervals.run)
    shown_parts: list[Part] = [Table(heads, rows, title)]
    for attribute in intervals.attributes:
        shown_parts.append(_slices(intervals, attribute))

    if any(part.small for part in intervals.of if part.attribute):
        shown_parts.append(Sentence("dim: fewer than ten queries, from which nothing follows", "remark"))
    return [*shown_parts, *note_sentences(intervals.notes)]


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
    for value, part_of in by_value.items():
        queries = max(part.n for part in part_of.values())
        cells: list[Cell | str | float] = [value, Cell(f"{queries:,}", queries)]
        for measure in run.measures:
            cells += [_mean(part_of[measure]), interval(part_of[measure].interval)]
        row_style = ""
        if all(part.small for part in part_of.values()):
            row_style = "dim"
        rows.append(Row(cells, row_style))

    return Table(heads, rows, f"by {attribute}")


def _mean(part: MeanInterval) -> Cell:
    return Cell(format_value(part.mean, part.average), part.mean)


def long_table(runs: Sequence[RunIntervals]) -> Table:
    """A row per run, measure and slice, for programs."""
    texts = ["run", "measure"]
    if any(run.attributes for run in runs):
        texts = ["run", "attribute", "value", "measure"]
    rows: list[Cells] = []
    for run in runs:
        for row in run.rows():
            numbers = [float(row[name]) for name in ("mean", "low", "high")]
            rows.append([*(str(row[name]) for name in texts), Cell(str(row["queries"]), row["queries"]), *numbers])
    return Table([*Head.texts(*texts), *Head.numbers("queries", "mean", "low", "high")], rows)


def all_parts(runs: Sequence[RunIntervals]) -> list[Part]:
    """What people read, run by run."""
    return [part for run in runs for part in parts(run, titled=len(runs) > 1)]


@dataclass(frozen=True, repr=False, eq=False)
class IntervalTables(Result):
    """The intervals of one or more runs, as commands show them."""

    runs: Sequence[RunIntervals]

    own_forms: ClassVar[Forms] = {
        "markdown": Form("a row per run and measure", "goldrank.report.one_system:markdown_text", (".md",)),
        "latex": Form("a row per run and measure", "goldrank.report.one_system:latex_text", (".tex",)),
        "csv": Form("a row per run and measure", "goldrank.report.one_system:csv", (".csv",)),
        "tsv": Form("a row per run and measure", "goldrank.report.one_system:tsv", (".tsv",)),
        "jsonl": Form("a line per run and measure", "goldrank.report.one_system:json_lines", (".jsonl",)),
    }

    @property
    def words(self) -> str:
        """All means with their intervals."""
        return "; ".join(run.words for run in self.runs)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes of all runs, each once."""
        return tuple(dict.fromkeys(note for run in self.runs for note in run.notes))

    @property
    def title(self) -> str:
        """What a page of them is called."""
        return f"Scores: {', '.join(ids.show(run.run) for run in self.runs)}"

    def parts(self) -> list[Part]:
        """What people read, run by run."""
        return all_parts(self.runs)

    def rows(self) -> list[dict[str, Any]]:
        """A row per run, measure and slice."""
        return [row for run in self.runs for row in run.rows()]

    def to_dict(self) -> dict[str, Any]:
        """The intervals of one run, or by `runs` of several."""
        objects = [run.to_dict() for run in self.runs]
        if len(objects) == 1:
            return objects[0]
        return {"runs": objects}

    def to_json(self) -> str:
        """One object, or a list of several runs' objects; NaN becomes null."""
        import json

        objects = [without_nan(run.to_dict()) for run in self.runs]
        if len(objects) == 1:
            return json.dumps(objects[0], indent=2)
        return json.dumps(objects, indent=2)


def markdown_text(tables: IntervalTables) -> str:
    """A row per run, measure and slice."""
    return markdown.write([long_table(tables.runs)])


def latex_text(tables: IntervalTables) -> str:
    """A row per run, measure and slice."""
    return latex.write([long_table(tables.runs)])


def csv(tables: IntervalTables) -> str:
    """A row per run, measure and slice."""
    return separated.write(long_table(tables.runs))


def tsv(tables: IntervalTables) -> str:
    """A row per run, measure and slice."""
    return separated.write(long_table(tables.runs), "\t")


def json_lines(tables: IntervalTables) -> str:
    """A line per run, measure and slice."""
    import json

    return "".join(json.dumps(without_nan(row)) + "\n" for row in tables.rows())
