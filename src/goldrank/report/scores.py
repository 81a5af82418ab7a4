"""Scores of one or more runs, in the forms of `goldrank eval -o`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat

from goldrank import ids
from goldrank.data.score_table import score_parts
from goldrank.data.scores import Column, Scores, format_value
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, html, note_sentences, plain
from goldrank.report import latex, markdown, separated


def render(scores: Sequence[Scores], form: str, by_query: bool = False) -> str:
    """Scores in one of the forms of `WRITERS`."""
    return WRITERS[form](scores, by_query)


def parts(scores: Sequence[Scores], by_query: bool = False) -> list[Part]:
    """What people read: summaries, runs side by side, and before them each run's queries if they are asked for."""
    listed = [by_query_table(run, titled=len(scores) > 1) for run in scores] if by_query else []
    return [*listed, *score_parts(scores)]


def notes(scores: Sequence[Scores]) -> list[Sentence]:
    """Notes of all runs, for forms that have no place for them."""
    return [sentence for run in scores for sentence in note_sentences(run.notes, run.run)]


def by_query_table(scores: Scores, titled: bool = False) -> Table:
    """A row per query, a column per measure."""
    rows: list[Cells] = list(zip(scores.queries, *map(_cells, scores.columns.values()), strict=True))
    return Table([*Head.names("query"), *Head.numbers(*scores.measures)], rows, ids.show(scores.run) if titled else "")


def one_query_table(scores: Scores, query: str) -> Table:
    """A row per measure, for one query."""
    at = scores.queries.index(query)
    rows: list[Cells] = [
        [name, _cell(float(column.values[at]), column.average)] for name, column in scores.columns.items()
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
    return [_cell(value, "sum") for value in values] if column.average == "sum" else values


def _cell(value: float, average: str) -> Cell:
    return Cell(format_value(value, average), value)


def _json(scores: Sequence[Scores], by_query: bool) -> str:
    import json

    objects = []
    for run in scores:
        data = json.loads(run.to_json())
        if not by_query:
            del data["queries"], data["by_query"]
            for column in data["measures"].values():
                del column["values"]
        objects.append(data)
    return json.dumps(objects[0] if len(objects) == 1 else objects, indent=2)


def _json_lines(scores: Sequence[Scores], by_query: bool) -> str:
    import json

    lines = []
    for run in scores:
        if by_query:
            for i, query in enumerate(run.queries):
                values = {name: _number(column.values[i]) for name, column in run.columns.items()}
                lines.append({"run": run.run, "query": query, "values": values})
        lines.append({"run": run.run, "summary": {name: _number(value) for name, value in run.mean.items()}})
    return "\n".join(map(json.dumps, lines))


def _number(value: float) -> float | None:
    return None if value != value else float(value)


def _page(scores: Sequence[Scores], by_query: bool) -> str:
    from goldrank.report.html import page

    return page("Scores: " + ", ".join(ids.show(run.run) for run in scores), html(parts(scores, by_query)))


WRITERS: dict[str, Callable[[Sequence[Scores], bool], str]] = {
    "table": lambda scores, by_query: plain(parts(scores, by_query)),
    "json": _json,
    "jsonl": _json_lines,
    "csv": lambda scores, by_query: separated.write(long_table(scores, by_query)),
    "tsv": lambda scores, by_query: separated.write(long_table(scores, by_query), "\t"),
    "markdown": lambda scores, by_query: markdown.write([long_table(scores, by_query)]),
    "latex": lambda scores, by_query: latex.write([long_table(scores, by_query)]),
    "html": _page,
}
