"""A comparison as one HTML file: no network, no server, strict Content-Security-Policy, light and dark."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

import jinja2
import numpy as np

from goldrank import __version__, ids
from goldrank.comparison import rank_changes as movement
from goldrank.comparison.rank_changes import Ranks
from goldrank.comparison.result import Comparison, Pair
from goldrank.comparison.slices import SMALL
from goldrank.report import cells, charts

MOST_BYTES = 295_000
"""The file stays below this as long as the tables of systems and differences allow it."""
MOST_QUERIES = 1_000
MOST_VALUES = 15_000
"""Queries times systems that are listed."""
MOST_PAIRS = 120
MOST_SLICES = 120
MOST_CHART_PAIRS = 4
MOST_FOREST_ROWS = 120
"""Over all measures; at least the first measure is drawn."""
MOST_DOCUMENTS = 8
_ASSETS = ("report.css", "report.js", "report.html.jinja", "trend.html.jinja")
SCALE = 10_000
"""Values in the page's data are whole numbers of this fraction: four decimals, as shown."""


def render(comparison: Comparison, title: str | None = None) -> str:
    """The report. Queries beyond a thousand, and documents beyond the size limit, are left out and counted."""
    files = assets()
    c = comparison
    listed, order = _listed(c)
    sample = _sample(c)
    ranks = _ranks(c, listed, sample)
    turned = {(d.attribute, d.value, d.measure) for d in c.slices.differences if d.reversed} if c.slices else set()
    slices = list(c.slices.slices) if c.slices else []
    first = c.of(c.measures[0])
    explorer = _explorer(c, first[0], ranks, listed, order)
    page = {
        "c": c,
        "cells": cells,
        "title": title or " vs ".join(ids.show(run, 40) for run in c.runs[:4]) + (" and more" * (len(c.runs) > 4)),
        "version": __version__,
        "style": files["report.css"],
        "script": files["report.js"],
        "style_hash": csp_hash(files["report.css"]),
        "script_hash": csp_hash(files["report.js"]),
        "letters": c.letters,
        "best": {measure: c.best(measure) for measure in c.measures},
        "beaten": _beaten(c),
        "level": f"{c.settings.level:.0%}",
        "verdicts": first[:6],
        "more_verdicts": max(0, len(first) - 6),
        "pairs": c.pairs[:MOST_PAIRS],
        "more_pairs": max(0, len(c.pairs) - MOST_PAIRS),
        "forests": [charts.forest(c, measure) for measure in c.measures[: _forests(first)]],
        "curves": [charts.curves(name, {r: points[r] for r in c.runs[:16]}) for name, points in c.curves.items()],
        "by_pair": _by_pair(c, first, ranks, sample),
        "slices": slices[:MOST_SLICES],
        "more_slices": max(0, len(slices) - MOST_SLICES),
        "turned": turned,
        "small": SMALL,
        "explorer": explorer,
        "first_queries": explorer["first"],
        "convention": ", ".join(sorted({one.convention for one in c.scores} - {""})),
        "data": "",
    }
    form = template("report.html.jinja")
    room = MOST_BYTES - len(form.render(page).encode()) - 500
    page["data"] = _data(c, ranks, explorer, room)
    return form.render(page)


@lru_cache(maxsize=1)
def assets() -> dict[str, str]:
    """The style, the script and the templates of the pages, by their files' names."""
    folder = resources.files("goldrank.report") / "assets"
    return {name: (folder / name).read_text("utf-8") for name in _ASSETS}


@lru_cache
def template(name: str) -> jinja2.Template:
    """A page's template: everything is escaped, and shown as ids are."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["show"] = lambda text: ids.show(str(text), 200)
    environment.filters["value"] = lambda number: "" if not math.isfinite(number) else f"{number:.6g}"
    return environment.from_string(assets()[name])


def csp_hash(source: str) -> str:
    """The hash by which a page's policy allows its own style and script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


def _ranks(c: Comparison, listed: np.ndarray, sample: set[str] | None) -> Ranks | None:
    """Where the judged documents of the listed queries and of the sample are; of all queries without a sample."""
    if c.inputs is None:
        return None
    only = None if sample is None else sample.union(c.queries[i] for i in listed)
    return movement.locate(c.inputs.placed, only)


def _sample(c: Comparison) -> set[str] | None:
    """Queries at even distances, where there are too many to locate the documents of all; else None."""
    if len(c.queries) <= 2 * MOST_QUERIES:
        return None
    return set(c.queries[:: -(-len(c.queries) // MOST_QUERIES)])


def _forests(pairs: Sequence[Pair]) -> int:
    """For how many measures the differences are drawn."""
    return max(1, MOST_FOREST_ROWS // min(len(pairs), charts.MOST_ROWS))


def _beaten(c: Comparison) -> dict[tuple[str, str], str]:
    return {(m, run): " ".join(c.beats(m, run)) for m in c.measures for run in c.runs}


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
    notes = []
    if len(listed) < len(c.queries):
        notes.append(
            f"Listed are the {len(listed):,} of {len(c.queries):,} queries on which the systems differ most; "
            "the saved scores (--save) have all of them."
        )
    top = [i for i in order[:10] if abs(delta[i]) > 1e-12]
    first = [
        {"name": c.queries[i], "a": values[at[pair.a], i], "b": values[at[pair.b], i], "delta": delta[i]} for i in top
    ]
    moved = ranks is not None and bool(first)
    if ranks is not None and first:
        both = [{row["name"]: row[side] for row in first} for side in ("a", "b")]
        names, k = (pair.a, pair.b), _cutoff(pair.measure)
        changes = movement.describe(ranks, at[pair.a], at[pair.b], names, pair.measure, k, both).changes
        told = {change.query: ", ".join(f"{n} {cause}" for cause, n in change.causes.items()) for change in changes}
        for row in first:
            row["moved"] = told[row["name"]]
    return {
        "a": pair.a,
        "b": pair.b,
        "listed": listed,
        "order": order,
        "notes": notes,
        "first": first,
        "moved": moved,
    }


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
        rank = ranks.rank[:, low:high]
        told = (ranks.grade[low:high] >= 1) | (ranks.grade[low:high] >= 0) & ((rank > 0) & (rank <= top)).any(axis=0)
        rows = [low + j for j in np.flatnonzero(told).tolist()]
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
