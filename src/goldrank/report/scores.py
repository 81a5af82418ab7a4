"""Scores of one or more runs, in the forms of `goldrank eval -o`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, ClassVar, Literal

from goldrank.base import ids
from goldrank.base.notes import Note
from goldrank.data.json_values import without_nan
from goldrank.data.score_table import score_parts
from goldrank.data.scores import Column, Scores, format_value
from goldrank.data.showing import Form, Forms, Result
from goldrank.data.signature import distinct
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, notes_by_run
from goldrank.report import latex, markdown

Signed = Literal["short", "full"]
"""Which signature a table shows: `full` has the run."""


@dataclass(frozen=True, repr=False, eq=False)
class ScoreTables(Result):
    """The scores of one or more runs as commands show them: summaries, or the values of each query."""

    scores: Sequence[Scores]
    by_query: bool = False
    signed: Signed | None = None
    """Which signatures are shown; None for those of pages and papers alone."""

    own_forms: ClassVar[Forms] = {
        "markdown": Form("a row per run", "goldrank.report.scores:markdown_text", (".md",)),
        "latex": Form("a row per run", "goldrank.report.scores:latex_text", (".tex",)),
        "jsonl": Form("a line per run", "goldrank.report.scores:json_lines", (".jsonl",)),
    }

    @property
    def words(self) -> str:
        """The summaries in a sentence."""
        return "; ".join(scores.words for scores in self.scores)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes of all runs, each once."""
        return tuple(dict.fromkeys(note for scores in self.scores for note in scores.notes))

    @property
    def title(self) -> str:
        """What a page of them is called."""
        return f"Scores: {', '.join(ids.show(scores.run) for scores in self.scores)}"

    def parts(self) -> list[Part]:
        """What people read."""
        return [*parts(self.scores, self.by_query), *self._signature_lines()]

    @property
    def signatures(self) -> tuple[str, ...]:
        """The signatures of the runs, each once."""
        return distinct(self.scores, full=self.signed == "full")

    def _signature_lines(self) -> list[Sentence]:
        """A line for each signature, if they were asked for, with the runs that it is of where there are several."""
        if self.signed is None:
            return []

        runs_of: dict[str, list[str]] = {}
        for scores in self.scores:
            runs_of.setdefault(scores.signature(full=self.signed == "full"), []).append(ids.show(scores.run))
        if len(runs_of) == 1:
            return [Sentence(signature) for signature in runs_of]
        return [Sentence(signature, label=f"{', '.join(runs)}:") for signature, runs in runs_of.items()]

    def _signature_cell(self, scores: Scores) -> dict[str, str]:
        if self.signed is None:
            return {}
        return {"signature": scores.signature(full=self.signed == "full")}

    def rows(self) -> list[dict[str, Any]]:
        """A row per run, or per run and query."""
        rows = []
        for scores in self.scores:
            if self.by_query:
                rows += [{"run": scores.run, **row, **self._signature_cell(scores)} for row in scores.rows()]
            else:
                rows.append({"run": scores.run, **scores.mean, **self._signature_cell(scores)})
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Everything of one run, or by `runs` of several."""
        objects = [self._plain(scores) for scores in self.scores]
        if len(objects) == 1:
            return objects[0]
        return {"runs": objects}

    def _plain(self, scores: Scores) -> dict[str, Any]:
        data = scores.to_dict()
        if not self.by_query:
            del data["queries"], data["by_query"]
            for column in data["measures"].values():
                del column["values"]
        return data

    def to_json(self) -> str:
        """One object, or a list of several runs' objects; NaN becomes null."""
        import json

        objects = [without_nan(self._plain(scores)) for scores in self.scores]
        if len(objects) == 1:
            return json.dumps(objects[0], indent=2)
        return json.dumps(objects, indent=2)


def markdown_text(tables: ScoreTables) -> str:
    """A row per run, or per run and query."""
    signatures: Sequence[str] = ()
    if tables.signed is not None:
        signatures = tables.signatures
    return markdown.write([long_table(tables.scores, tables.by_query)], signatures)


def latex_text(tables: ScoreTables) -> str:
    """A row per run, or per run and query."""
    return latex.write([long_table(tables.scores, tables.by_query)], tables.signatures)


def json_lines(tables: ScoreTables) -> str:
    """A line per run, and before it a line per query if `by_query` is set."""
    import json

    lines = []
    for run in tables.scores:
        if tables.by_query:
            for i, query in enumerate(run.queries):
                values = {name: _number(column.values[i]) for name, column in run.columns.items()}
                lines.append({"run": run.run, "query": query, "values": values})
        lines.append({"run": run.run, "summary": {name: _number(value) for name, value in run.mean.items()}})
    return "".join(json.dumps(line) + "\n" for line in lines)


def parts(scores: Sequence[Scores], by_query: bool = False) -> list[Part]:
    """What people read: summaries, runs side by side, and before them each run's queries if `by_query` is set."""
    tables: list[Part] = []
    if by_query:
        tables += [by_query_table(run, titled=len(scores) > 1) for run in scores]
    return [*tables, *score_parts(scores)]


def notes(scores: Sequence[Scores]) -> list[Sentence]:
    """Notes of all runs, for forms that do not show them."""
    return notes_by_run({run.run: run.notes for run in scores})


def by_query_table(scores: Scores, titled: bool = False) -> Table:
    """A row per query, a column per measure."""
    rows: list[Cells] = list(zip(scores.queries, *map(_cells, scores.columns.values()), strict=True))
    title = ""
    if titled:
        title = ids.show(scores.run)
    return Table([*Head.names("query"), *Head.numbers(*scores.measures)], rows, title)


def one_query_table(scores: Scores, query: str) -> Table:
    """A row per measure, for one query."""
    row = scores.queries.index(query)
    rows: list[Cells] = [
        [name, _cell(float(column.values[row]), column.average)] for name, column in scores.columns.items()
    ]
    return Table([*Head.names(""), *Head.numbers("")], rows)


def long_table(scores: Sequence[Scores], by_query: bool = False) -> Table:
    """A row per run, or per run and query; a column per measure."""
    measures = list(dict.fromkeys(name for run in scores for name in run.measures))
    rows: list[Cells] = []
    for run in scores:
        columns = [run.columns[name] for name in measures]
        if by_query:
            rows += zip(repeat(run.run, len(run.queries)), run.queries, *map(_cells, columns), strict=True)
        else:
            rows.append([run.run, *(_cell(column.summary, column.average) for column in columns)])
    return Table([*Head.names("run", *(["query"] * by_query)), *Head.numbers(*measures)], rows)


def _cells(column: Column) -> Cells:
    values: list[float] = column.values.tolist()
    if column.average == "sum":
        return [_cell(value, "sum") for value in values]
    return values


def _cell(value: float, average: str) -> Cell:
    return Cell(format_value(value, average), value)


def _number(value: float) -> float | None:
    if value != value:
        return None
    return float(value)
