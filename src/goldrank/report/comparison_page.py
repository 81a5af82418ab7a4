"""The page of a comparison: tables, charts and an explorer of queries in one HTML file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from goldrank import ids
from goldrank.comparison import rank_changes
from goldrank.comparison.pair import Pair
from goldrank.comparison.rank_changes import Ranks
from goldrank.comparison.result import Comparison
from goldrank.comparison.slices import SMALL
from goldrank.data.table import Cell, Cells, Head, Row, Sentence, Table, note_sentences, warnings_first
from goldrank.report import charts, html
from goldrank.report.comparison import letters_note, slices, systems, verdicts, win_tie_loss
from goldrank.report.numbers import interval, number, p_value

MOST_BYTES = 295_000
"""The file stays below this as long as the tables of systems and differences allow it."""
TEMPLATE = "comparison.html.jinja"
MOST_VERDICTS = 6
MOST_QUERIES = 1_000
MOST_VALUES = 15_000
"""Queries times systems that are listed."""
MOST_PAIRS = 120
MOST_SLICES = 120
MOST_CHART_PAIRS = 4
MOST_FOREST_ROWS = 120
"""Over all measures; at least the first measure is drawn."""
MOST_DOCUMENTS = 8
SCALE = 10_000
"""Values in the page's data are whole numbers of this fraction: four decimals, as shown."""


def render(comparison: Comparison, title: str | None = None) -> str:
    """The report. Queries beyond a thousand, and documents beyond the size limit, are left out and counted."""
    c = comparison
    listed, order = _listed(c)
    sample = _sample(c)
    ranks = _ranks(c, listed, sample)
    first = c.of(c.measures[0])
    explorer = _explorer(c, first[0], ranks, listed, order)
    forests = max(1, MOST_FOREST_ROWS // min(len(first), charts.MOST_ROWS))
    values = {
        "c": c,
        "letters_note": letters_note(c),
        "level": f"{c.settings.level:.0%}",
        "verdicts": verdicts(c, MOST_VERDICTS),
        "more_verdicts": max(0, len(first) - MOST_VERDICTS),
        "systems": systems(c, merged=True),
        "differences": _differences(c),
        "more_pairs": max(0, len(c.pairs) - MOST_PAIRS),
        "forests": [charts.forest(c, measure) for measure in c.measures[:forests]],
        "curves": [charts.curves(name, {r: points[r] for r in c.runs[:16]}) for name, points in c.curves.items()],
        "by_pair": _by_pair(c, first, ranks, sample),
        "slices": _slices(c) if c.slices else None,
        "slice_notes": note_sentences(c.slices.notes) if c.slices else [],
        "more_slices": max(0, len(c.slices.slices) - MOST_SLICES) if c.slices else 0,
        "small": SMALL,
        "explorer": explorer,
        "first_queries": explorer["first"],
        "notes": warnings_first([*_method(c), *note_sentences(c.notes)]),
        "data": "",
    }
    title = title or " vs ".join(ids.show(run, 40) for run in c.runs[:4]) + " and more" * (len(c.runs) > 4)
    room = MOST_BYTES - len(html.render(TEMPLATE, title, values).encode()) - 500
    values["data"] = _data(c, ranks, explorer, room)
    return html.render(TEMPLATE, title, values)


def _method(c: Comparison) -> list[Sentence]:
    effect = "Effect d is the mean difference in units of its standard deviation over queries: 0.2 is called small, "
    conventions = ", ".join(sorted({scores.convention for scores in c.scores} - {""}))
    texts = [f"{c.method}.", f"{effect}0.5 medium, 0.8 large.", f"Convention {conventions}." if conventions else ""]
    return [Sentence(text, "remark") for text in texts if text]


def _differences(c: Comparison) -> Table:
    """As `comparison.differences`, with pairs in one column and intervals below their differences."""
    heads = [*Head.names("B against A"), *Head.texts("Measure")]
    heads += [*Head.numbers("B − A", "relative", "effect d", "win / tie / loss", "p corrected"), *Head.texts("verdict")]
    rows = []
    for pair in c.pairs[:MOST_PAIRS]:
        relative = pair.difference / abs(pair.mean_a) if pair.mean_a else math.nan
        alone = pair.p[c.settings.test]
        cells = [
            Cell(pair.b, detail=f"against {ids.show(pair.a)}"),
            Cell(pair.measure),
            Cell(number(pair.difference, signed=True), pair.difference, detail=interval(pair.interval, signed=True)),
            Cell("-" if math.isnan(relative) else f"{relative:+.1%}", relative),
            Cell(number(pair.effect, 2), pair.effect),
            Cell(win_tie_loss(pair), pair.wins),
            Cell(p_value(pair.adjusted, pair.at_most), pair.adjusted, detail=f"{p_value(alone)} alone"),
            Cell(pair.verdict, style=pair.verdict),
        ]
        rows.append(Row(cells, data={"measure": pair.measure, "verdict": pair.verdict}))
    return Table(heads, rows, id="pairs", sortable=True)


def _slices(c: Comparison) -> Table:
    table = slices(c, whole=True)
    return replace(table, title="", rows=table.rows[:MOST_SLICES], id="slice-table", sortable=True)


def _ranks(c: Comparison, listed: np.ndarray, sample: set[str] | None) -> Ranks | None:
    """Where the judged documents of the listed queries and of the sample are; of all queries without a sample."""
    if not c.placed:
        return None
    only = None if sample is None else sample.union(c.queries[i] for i in listed)
    return rank_changes.locate(c.placed, only)


def _sample(c: Comparison) -> set[str] | None:
    """Queries at even distances, where there are too many to locate the documents of all; else None."""
    if len(c.queries) <= 2 * MOST_QUERIES:
        return None
    return set(c.queries[:: -(-len(c.queries) // MOST_QUERIES)])


def _by_pair(
    c: Comparison, pairs: Sequence[Pair], ranks: Ranks | None, sample: set[str] | None
) -> list[tuple[str, dict[str, charts.Chart]]]:
    at = {run: i for i, run in enumerate(c.runs)}
    found = []
    for pair in pairs[:MOST_CHART_PAIRS]:
        a, b = c.values[pair.measure][at[pair.a]], c.values[pair.measure][at[pair.b]]
        drawn = {
            "Difference of each query": charts.delta_bars(pair, b - a),
            "One dot per query": charts.scatter(pair, a, b),
        }
        if ranks is not None:
            where = charts.rank_shift((pair.a, pair.b), ranks, at[pair.a], at[pair.b], sample)
            drawn["Where the relevant documents went"] = where
        found.append((f"{ids.show(pair.b, 80)} against {ids.show(pair.a, 80)}, {pair.measure}", drawn))
    return found


def _listed(c: Comparison) -> tuple[np.ndarray, np.ndarray]:
    """The queries that the page lists, in order, and all queries from the one on which the systems differ most.

    The differences of the first pair come first, so that the queries to read first are listed.
    """
    first = c.of(c.measures[0])[0]
    values = c.values[first.measure]
    delta = values[c.runs.index(first.b)] - values[c.runs.index(first.a)]
    spread = np.nan_to_num(np.ptp(values, axis=0))
    order = np.argsort(-spread, kind="stable")
    top = np.argsort(-np.abs(np.nan_to_num(delta)), kind="stable")[:10]
    order = np.concatenate((top, order[~np.isin(order, top)]))
    return np.sort(order[: min(MOST_QUERIES, MOST_VALUES // len(c.runs))]), order


def _explorer(c: Comparison, pair: Pair, ranks: Ranks | None, listed: np.ndarray, order: np.ndarray) -> dict[str, Any]:
    """What the page says of the queries, and the ten to read first."""
    at = {run: i for i, run in enumerate(c.runs)}
    values = c.values[pair.measure]
    delta = np.nan_to_num(values[at[pair.b]] - values[at[pair.a]])
    left_out = []
    if len(listed) < len(c.queries):
        left_out.append(
            f"Listed are the {len(listed):,} of {len(c.queries):,} queries on which the systems differ most; "
            "the saved scores (--save) have all of them."
        )
    top = [i for i in order[:10] if abs(delta[i]) > 1e-12]
    both = [{c.queries[i]: values[at[run], i] for i in top} for run in (pair.a, pair.b)]
    moved = {}
    if ranks is not None and top:
        k = _cutoff(pair.measure)
        changes = rank_changes.describe(ranks, at[pair.a], at[pair.b], (pair.a, pair.b), pair.measure, k, both).changes
        moved = {change.query: ", ".join(f"{n} {cause}" for cause, n in change.causes.items()) for change in changes}
    rows: list[Cells] = []
    for i in top:
        query = c.queries[i]
        style = "rise" if delta[i] > 0 else "fall"
        cells = [query, *(number(side[query]) for side in both), Cell(number(delta[i], signed=True), style=style)]
        rows.append([*cells, moved[query]] if moved else cells)
    heads = [*Head.names("Query"), *Head.numbers(ids.show(pair.a), ids.show(pair.b), "B − A")]
    first = Table([*heads, *Head.texts("relevant documents")] if moved else heads, rows)
    return {"a": pair.a, "b": pair.b, "listed": listed, "order": order, "notes": left_out, "first": first}


def _data(c: Comparison, ranks: Ranks | None, explorer: Mapping[str, Any], room: int) -> str:
    """The explorer's data as JSON: values of as many measures, and documents of as many queries, as there is room."""
    at = {run: i for i, run in enumerate(c.runs)}
    listed = explorer["listed"]
    queries = _json([ids.show(c.queries[i], 100) for i in listed])
    room -= len(queries) + 200 * (len(c.runs) + len(c.measures))
    values: list[str] = []
    measures: list[str] = []
    for measure in c.measures:
        encoded = _json([_whole(row[listed]) for row in c.values[measure]])
        if measures and len(encoded) > room * 0.5:
            continue
        room -= len(encoded)
        measures.append(measure)
        values.append(encoded)
    docs = _documents(c, ranks, explorer, room)
    head = {
        "runs": [ids.show(run) for run in c.runs],
        "measures": measures,
        "scale": SCALE,
        "a": at[explorer["a"]],
        "b": at[explorer["b"]],
        "k": _cutoff(c.measures[0]),
        "docs_note": "The documents of this query are not in this page; `goldrank diff` shows them."
        if ranks is not None
        else "This page was made from saved scores, which hold no documents; `goldrank diff` shows them.",
    }
    return f'{_json(head)[:-1]},"queries":{queries},"values":[{",".join(values)}],"docs":{docs}}}'


def _whole(row: np.ndarray) -> list[int | None]:
    return [None if math.isnan(v) else round(v * SCALE) for v in row.tolist()]


def _documents(c: Comparison, ranks: Ranks | None, explorer: Mapping[str, Any], room: int) -> str:
    """By number in the list, each query's documents with rank and unjudged documents above, in every run."""
    if ranks is None:
        return "{}"
    rows_of = {query: (ranks.start[i], ranks.start[i + 1]) for i, query in enumerate(ranks.queries)}
    number = {int(i): n for n, i in enumerate(explorer["listed"])}
    top = _cutoff(c.measures[0])
    parts: list[str] = []
    for i in explorer["order"].tolist():
        if i not in number:
            continue
        low, high = rows_of[c.queries[i]]
        rank, grade = ranks.rank[:, low:high], ranks.grade[low:high]
        is_listed = (grade >= 1) | (grade >= 0) & ((rank > 0) & (rank <= top)).any(axis=0)
        rows = [low + j for j in np.flatnonzero(is_listed).tolist()]
        rows.sort(key=lambda row: (-ranks.grade[row], ranks.docs[row]))
        found = [
            [
                ids.show(ranks.docs[row], 80),
                float(ranks.grade[row]) if ranks.grade[row] % 1 else int(ranks.grade[row]),
                ranks.rank[:, row].tolist(),
                ranks.unjudged[:, row].tolist(),
            ]
            for row in rows[:MOST_DOCUMENTS]
        ]
        part = f'"{number[i]}":{_json(found)}'
        room -= len(part) + 1
        if room < 0:
            break
        parts.append(part)
    return "{" + ",".join(parts) + "}"


def _cutoff(measure: str) -> int:
    tail = measure.rpartition("@")[2]
    return int(tail) if tail.isdigit() else 10


def _json(value: Any) -> str:
    """JSON that cannot end its script element, in ASCII."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
