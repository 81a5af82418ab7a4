"""Systems on many collections as a page with a heat map, and as the table that papers print."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.data.table import Cell, Cells, Head, Part, Table
from goldrank.report import html, latex
from goldrank.report.numbers import interval, number
from goldrank.suites.result import CollectionComparison, CollectionStanding

STEPS = (0.015, 0.04, 0.075)
"""How far from the row's middle each colour begins."""


def render(result: CollectionComparison) -> str:
    """One file for any browser: who is best on the whole, where it turns round, and the heat map."""
    values = {
        "measure": result.measure,
        "word": _word(result),
        "sentence": _sentence(result),
        "figures": _figures(result),
        "steps": ", ".join(f"{step:g}" for step in STEPS),
        "systems": [standing.system for standing in result.standings],
        "rows": [_row(result, name) for name in result.cells],
        "feet": _feet(result),
        "trust": _trust(result),
        "more": _more(result),
    }
    title = f"{len(result.cells)} collections, {len(result.standings)} systems"
    return html.render("collections.html.jinja", title, values, scripted=False, styles=["now.css"])


def latex_text(result: CollectionComparison) -> str:
    """A row for each collection, a column for each system, the best in bold, and the mean below."""
    systems = [standing.system for standing in result.standings]
    rows: list[Cells] = []
    for name, values in result.cells.items():
        best = result.best_of(name)
        cells: list[Cell | str | float] = [name]
        for system in systems:
            style = ""
            if system in best:
                style = "best"
            cells.append(Cell(_short(values[system]), values[system], style))
        rows.append(cells)

    means = [result.mean[system] for system in systems]
    best_mean = max(means)
    if not result.higher_is_better:
        best_mean = min(means)
    average: list[Cell | str | float] = [f"Average of {len(result.complete)}"]
    for mean in means:
        style = ""
        if round(mean, 3) == round(best_mean, 3):
            style = "best"
        average.append(Cell(_short(mean), mean, style))
    rows.append(average)

    heads = [*Head.names("Collection"), *Head.numbers(*(ids.show(system, 20) for system in systems))]
    caption = f"{result.measure}; best of each collection in bold"
    if result.missing:
        caption += f"; the average is over the {len(result.complete)} collections that all systems have"
    return latex.write([Table(heads, rows, caption)])


def _short(value: float) -> str:
    """Three decimals, as papers print them; a dash where there is no value."""
    if math.isnan(value):
        return "-"
    return f"{value:.3f}"


def _best(result: CollectionComparison) -> list[CollectionStanding]:
    return [standing for standing in result.standings if standing.rank_collections[0] == 1]


def _word(result: CollectionComparison) -> str:
    if len(_best(result)) == 1:
        return "▲ best on the whole"
    return "unclear"


def _sentence(result: CollectionComparison) -> str:
    first = result.standings[0]
    wins = result.wins[first.system]
    where = f"the {len(result.complete)} collections, and in {wins} of {len(result.cells)} of them"
    if len(_best(result)) == 1:
        return f"{ids.show(first.system)} is best over {where}"
    return f"{len(_best(result))} of {len(result.standings)} may be best on collections like these"


def _figures(result: CollectionComparison) -> list[dict[str, str]]:
    first, second = result.standings[0], result.standings[1]
    (pair,) = (pair for pair in result.pairs if {pair.a, pair.b} == {first.system, second.system})
    above = f"{number(abs(pair.difference), signed=True)} above {ids.show(second.system, 30)}"
    lost = [name for name in result.cells if first.system not in result.best_of(name)]
    queries = sum(result.queries.values())
    return [
        {"name": f"mean of {ids.show(first.system, 30)}", "value": number(first.mean), "more": above},
        {
            "name": "on these collections, other questions",
            "value": _ranks(first.rank_queries),
            "more": f"ranks it may have; {queries:,} queries",
        },
        {
            "name": "on other collections like these",
            "value": _ranks(first.rank_collections),
            "more": f"ranks it may have; {len(result.complete)} collections",
        },
        {"name": "it is not best on", "value": f"{len(lost)} of {len(result.cells)}", "more": ids.samples(lost)},
    ]


def _ranks(ranks: tuple[int, int]) -> str:
    low, high = ranks
    if low == high:
        return f"{low}"
    return f"{low} to {high}"


def _row(result: CollectionComparison, name: str) -> dict[str, Any]:
    values = result.cells[name]
    known = [value for value in values.values() if not math.isnan(value)]
    middle = float(np.median(known))
    best = result.best_of(name)
    cells = []
    for standing in result.standings:
        value = values[standing.system]
        cells.append({"text": _short(value), "style": _style(value, middle, standing.system in best)})
    queries = ""
    if result.queries[name]:
        queries = f"{result.queries[name]:,}"
    return {"name": name, "queries": queries, "cells": cells}


def _style(value: float, middle: float, is_best: bool) -> str:
    """The colour of a cell: how far it is from the row's middle, in three steps."""
    if math.isnan(value):
        return "none"
    step = sum(abs(value - middle) >= limit for limit in STEPS)
    words = []
    if step and value > middle:
        words.append(f"p{step}")
    elif step:
        words.append(f"m{step}")
    if is_best:
        words.append("best")
    return " ".join(words)


def _feet(result: CollectionComparison) -> list[dict[str, Any]]:
    standings = result.standings
    return [
        {"name": f"Mean of the {len(result.complete)}", "cells": [number(each.mean) for each in standings]},
        {"name": "ranks, other collections", "cells": [_ranks(each.rank_collections) for each in standings]},
        {"name": "ranks, other questions", "cells": [_ranks(each.rank_queries) for each in standings]},
        {"name": f"best in, of {len(result.cells)}", "cells": [str(result.wins[each.system]) for each in standings]},
    ]


def _trust(result: CollectionComparison) -> list[str]:
    first = result.standings[0].system
    turning = [name for name in result.complete if _leader_without(result, name) != first]
    if turning:
        left_out = f"Leave one out: without {ids.samples(turning)} another system leads."
    else:
        left_out = f"Leave one out: {ids.show(first)} stays first without any single collection."

    texts = [left_out]
    sizes = {name: size for name, size in result.queries.items() if size}
    if sizes:
        largest = sorted(sizes, key=lambda name: -sizes[name])[:2]
        share = sum(sizes[name] for name in largest) / sum(sizes.values())
        texts.append(
            f"By queries in place of collections {' and '.join(largest)} would decide {share:.0%} of the mean."
        )
    if result.missing:
        listed = ", ".join(f"{system} on {name}" for system, name in result.missing[:5])
        texts.append(
            f"Missing: {len(result.missing)} cells ({listed}); the mean is over the collections that all have."
        )
    else:
        texts.append("Missing: none.")
    texts.append(f"Ranks on other collections: {result.method}. Borda counts are not used: other systems change them.")
    return texts


def _leader_without(result: CollectionComparison, left_out: str) -> str:
    names = [name for name in result.complete if name != left_out] or list(result.complete)
    means = {}
    for standing in result.standings:
        means[standing.system] = float(np.mean([result.cells[name][standing.system] for name in names]))
    if result.higher_is_better:
        return max(means, key=lambda system: means[system])
    return min(means, key=lambda system: means[system])


def _more(result: CollectionComparison) -> Sequence[Part]:
    """Macro means with their intervals over collections, pairs and notes."""
    rows: list[Cells] = []
    intervals: Mapping[str, Any] = result.intervals
    for standing in result.standings:
        within = intervals[standing.system]
        rows.append([standing.system, standing.mean, Cell(interval(within), within.low)])
    heads = [*Head.names("system"), *Head.numbers("mean", "95% interval over collections")]
    return [Table(heads, rows, "Means over collections"), *result.parts()[3:]]
