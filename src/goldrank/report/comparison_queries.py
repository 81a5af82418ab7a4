"""The queries of a comparison's page: those to read first, and compact data from which the page makes all rows."""

from __future__ import annotations

import base64
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.base.escaping import script_json
from goldrank.comparison import rank_changes
from goldrank.comparison.pair import Pair
from goldrank.comparison.rank_changes import Ranks
from goldrank.comparison.result import Comparison
from goldrank.comparison.worth import document_worth
from goldrank.data.table import Cell, Cells, Head, Table
from goldrank.measures import parse
from goldrank.report.comparison import not_covered_words
from goldrank.report.numbers import number

MOST_VALUES = 250_000
"""Queries times systems that are listed."""
MOST_PLACED = 16_000
"""Queries times systems whose documents are listed."""
MOST_DOCUMENTS = 10
MOST_CANDIDATES = 40
"""Documents of a query among which those with the largest effect are looked for."""
FIRST = 10
SCALE = 10_000
"""Values in the page's data are whole numbers of this fraction: four decimals, as shown."""
FINE = 10_000_000
"""`SCALE` for the measure that decides, so that differences are rounded as everywhere else on the page."""
TEXT = 140
"""Characters of a query's or a document's text."""


@dataclass(frozen=True)
class Listed:
    """Which queries the page lists; numbers of queries."""

    queries: np.ndarray
    """In the order of the comparison."""
    order: np.ndarray
    """All queries, those on which the systems differ most first."""
    with_documents: np.ndarray
    notes: list[str]


def listed(c: Comparison, pair: Pair) -> Listed:
    """The queries on which the systems differ most; those of the pair to read first come first."""
    values = c.values[c.primary]
    delta = values[c.runs.index(pair.b)] - values[c.runs.index(pair.a)]
    spread = np.nan_to_num(values.max(axis=0) - values.min(axis=0))
    order = np.argsort(-spread, kind="stable")
    top = np.argsort(-np.abs(np.nan_to_num(delta)), kind="stable")[:FIRST]
    order = np.concatenate((top, order[~np.isin(order, top)]))
    listed_queries = np.sort(order[: max(FIRST, MOST_VALUES // len(c.runs))])
    notes = []
    if len(listed_queries) < len(c.queries):
        notes.append(
            f"Listed are the {len(listed_queries):,} of {len(c.queries):,} queries on which the systems differ most; "
            "saved scores (eval -o scores.json) have all of them."
        )

    return Listed(listed_queries, order, order[: max(FIRST, MOST_PLACED // len(c.runs))], notes)


def excerpt(text: str) -> str:
    """The beginning of a text, in one line; names are cut in the middle, texts at the end."""
    line = " ".join(text[: 4 * TEXT].split())
    if len(line) > TEXT or len(text) > 4 * TEXT:
        line = f"{line[: TEXT - 3].rstrip()}..."
    return ids.show(line, TEXT)


def cutoff(measure: str) -> int:
    """The lowest rank that users look at: a measure's cut-off, or 10."""
    tail = measure.rpartition("@")[2]
    if tail.isdigit():
        return int(tail)
    return 10


def first_queries(c: Comparison, pair: Pair, ranks: Ranks | None, queries_listed: Listed) -> Table:
    """The queries to read first: those that changed most, with what happened to their relevant documents."""
    row_of = {run: i for i, run in enumerate(c.runs)}
    values = c.values[c.primary]
    delta = np.nan_to_num(values[row_of[pair.b]] - values[row_of[pair.a]])
    top = [i for i in queries_listed.order[:FIRST].tolist() if abs(delta[i]) > 1e-12]
    values_a = {c.queries[i]: float(values[row_of[pair.a], i]) for i in top}
    values_b = {c.queries[i]: float(values[row_of[pair.b], i]) for i in top}
    cause_words = {}
    if ranks is not None and top:
        rows_of_pair, names = (row_of[pair.a], row_of[pair.b]), (pair.a, pair.b)
        changes = rank_changes.describe(
            ranks, *rows_of_pair, names, c.primary, cutoff(c.primary), [values_a, values_b]
        ).changes
        cause_words = {
            change.query: f"{change.causes[change.cause]} {change.cause}" for change in changes if change.cause
        }

    rows: list[Cells] = []
    for i in top:
        query = c.queries[i]
        change_style = "fall"
        if (delta[i] > 0) == pair.higher_is_better:
            change_style = "rise"
        cells: list[Cell | str] = [
            Cell(query, detail=excerpt(c.question(query))),
            number(values_a[query]),
            number(values_b[query]),
            Cell(number(delta[i], signed=True), delta[i], change_style),
        ]
        if cause_words:
            cells.append(cause_words.get(query, ""))
        if c.is_explained:
            cells.append(not_covered_words(c, query))
        rows.append(cells)

    heads = [*Head.names("Query"), *Head.numbers(f"A: {ids.show(pair.a, 30)}", f"B: {ids.show(pair.b, 30)}", "B − A")]
    if cause_words:
        heads += Head.texts("relevant documents")
    if c.is_explained:
        heads += Head.texts("not covered")
    return Table(heads, rows, stacks=True)


def data(c: Comparison, pair: Pair, ranks: Ranks | None, queries_listed: Listed, room: int) -> str:
    """The data as JSON: values of as many measures, and documents of as many queries, as there is room for."""
    row_of = {run: i for i, run in enumerate(c.runs)}
    queries = to_json([ids.show(c.queries[i], 100) for i in queries_listed.queries])
    texts = "[]"
    if c.texts:
        texts = to_json([excerpt(c.texts.get(c.queries[i], "")) for i in queries_listed.queries])
    room -= len(queries) + len(texts) + 200 * (len(c.runs) + len(c.measures))
    values: list[str] = []
    measures: list[str] = []
    for measure in c.measures:
        scale = SCALE
        if measure == c.primary:
            scale = FINE
        encoded = to_json(packed(c.values[measure][:, queries_listed.queries], scale))
        if measures and len(encoded) > room * 0.5:
            continue
        room -= len(encoded)
        measures.append(measure)
        values.append(encoded)

    docs, has_effects = _documents(c, ranks, queries_listed, room)
    effect_measure = ""
    if has_effects:
        effect_measure = c.primary
    docs_note = "This page was made from saved scores, which hold no documents; `goldrank diff` shows them."
    if ranks is not None:
        docs_note = "The documents of this query are not in this page; `goldrank diff` shows them."
    fields = {
        "runs": list(map(ids.show, c.runs)),
        "measures": measures,
        "higher": list(map(c.higher_is_better, measures)),
        "scale": SCALE,
        "a": row_of[pair.a],
        "b": row_of[pair.b],
        "k": cutoff(c.primary),
        "reach": rank_changes.reach_of(c.primary),
        "effect": effect_measure,
        "docs_note": docs_note,
    }
    encoded_fields = f'"queries":{queries},"texts":{texts},"values":[{",".join(values)}],"docs":{docs}'
    return f"{to_json(fields)[:-1]},{encoded_fields}}}"


def packed(rows: np.ndarray, scale: int = SCALE) -> dict[str, Any]:
    """Rows of values as whole numbers: 16 or 24 bits each if that is enough, else plain numbers.

    With bits, 0 means an undefined value and n means `low` + n - 1.
    """
    absent = np.isnan(rows)
    rounded = np.round(np.where(absent, 0.0, rows) * scale)
    low = int(rounded[~absent].min(initial=0))
    codes = np.where(absent, 0, rounded - low + 1)
    size = next((size for size in (2, 3) if codes.max(initial=0) < 256**size), None)
    if size is None:
        return {"scale": SCALE, "rows": list(map(_plain_row, rows.tolist()))}

    parts = np.ascontiguousarray(codes, "<u4").view(np.uint8).reshape(*codes.shape, 4)[:, :, :size]
    return {
        "scale": scale,
        "low": low,
        "size": size,
        "bits": [base64.b64encode(row.tobytes()).decode() for row in parts],
    }


def _plain_row(values: list[float]) -> list[int | None]:
    return [None if math.isnan(value) else round(value * SCALE) for value in values]


def _documents(c: Comparison, ranks: Ranks | None, queries_listed: Listed, room: int) -> tuple[str, bool]:
    """By number in the list, each query's documents: rank, unjudged documents above and worth in every run.

    Also whether what documents are worth is known.
    """
    if ranks is None:
        return "{}", False

    rows_of = {query: (int(ranks.start[i]), int(ranks.start[i + 1])) for i, query in enumerate(ranks.queries)}
    position_of = {int(i): n for n, i in enumerate(queries_listed.queries)}
    top = cutoff(c.primary)
    is_near = ((ranks.rank > 0) & (ranks.rank <= top)).any(axis=0)
    candidate = (ranks.grade >= 1) | (ranks.grade >= 0) & is_near
    best = np.where(ranks.rank > 0, ranks.rank, np.iinfo(np.int64).max).min(axis=0)
    chosen: list[tuple[int, list[int]]] = []
    for i in queries_listed.with_documents.tolist():
        if i in position_of and c.queries[i] in rows_of:
            low, high = rows_of[c.queries[i]]
            rows = (low + np.flatnonzero(candidate[low:high])).tolist()
            rows.sort(key=lambda row: (ranks.grade[row] < 1, best[row], ranks.docs[row]))
            chosen.append((i, rows[:MOST_CANDIDATES]))

    label_rows = np.array([row for _, rows in chosen for row in rows], np.int64)
    # The values of geometric means are logarithms, of which no document has a share.
    worth = None
    if len(label_rows) and c.systems[0].columns[c.primary].average != "geometric":
        worth = document_worth(c.placed, parse(c.primary), ranks.label[label_rows])
    column = {int(row): j for j, row in enumerate(label_rows)}

    parts: list[str] = []
    for i, rows in chosen:
        if worth is not None:
            spread = {row: float(np.ptp(worth[:, column[row]])) for row in rows}
            rows = sorted(rows, key=lambda row: -spread[row])
        described = []
        for row in rows[:MOST_DOCUMENTS]:
            grade = float(ranks.grade[row])
            if grade.is_integer():
                grade = int(grade)
            effects = []
            if worth is not None:
                effects = np.round(worth[:, column[row]] * SCALE).astype(int).tolist()
            doc = ranks.docs[row]
            entry: list[Any] = [ids.show(doc, 80), grade]
            entry += [ranks.rank[:, row].tolist(), ranks.unjudged[:, row].tolist(), effects]
            if doc in c.documents:
                entry.append(excerpt(c.documents[doc].line()))
            described.append(entry)

        part = f'"{position_of[i]}":{to_json(described)}'
        room -= len(part) + 1
        if room < 0:
            break
        parts.append(part)
    return "{" + ",".join(parts) + "}", worth is not None


def to_json(value: Any) -> str:
    """JSON that cannot end its script element, in ASCII."""
    return script_json(json.dumps(value, separators=(",", ":"), ensure_ascii=True))
