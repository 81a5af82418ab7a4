"""How coverage grows: with the number of texts, and with the tokens that are spent on them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

from goldrank.data.scores import Scores
from goldrank.data.table import Cells, Head, Table, entities, plain
from goldrank.errors import InputError, OptionError, as_list, whole_number
from goldrank.evaluation.texts import evaluate_texts
from goldrank.io.items import Items
from goldrank.io.items import items as read_items
from goldrank.measures import known
from goldrank.report.charts import Chart, curves
from goldrank.report.sparkline import sparkline

DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100)
BUDGETS = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
"""In tokens."""

Points = Sequence[tuple[float, float]]

COVER = "Cover"
"""The measure that the curves are of, for references."""
COVER_BY_PLACE = "EvidenceRecall"
"""The same for evidence by place."""


@dataclass(frozen=True)
class CoverageCurves:
    """Mean coverage by system: of the first k texts, and of the texts within a budget of tokens."""

    by_texts: Mapping[str, Points]
    by_tokens: Mapping[str, Points]
    measure: str = COVER

    @property
    def _axes(self) -> tuple[tuple[str, Mapping[str, Points]], ...]:
        both = (("first k texts", self.by_texts), ("budget of tokens", self.by_tokens))
        return tuple((label, lines) for label, lines in both if any(lines.values()))

    @property
    def charts(self) -> list[Chart]:
        """A drawing for each axis."""
        return [curves(self.measure, lines, label=label, title=f"Coverage by {label}") for label, lines in self._axes]

    def svg(self) -> str:
        """Both drawings as one SVG file."""
        drawn = self.charts
        top = 0.0
        body = ""
        for chart in drawn:
            body += f'<text x="8" y="{top + 18:g}">{entities(chart.title)}</text>'
            body += f'<g transform="translate(0 {top + 26:g})">{chart.body}</g>'
            top += chart.height + 36
        words = " ".join(f"{chart.title}: {chart.description}." for chart in drawn)
        return Chart("Coverage", words, top, body).alone()

    def tables(self) -> list[Table]:
        """A table for each axis: a row per system, a column per point."""
        tables = []
        for label, lines in self._axes:
            points = next(iter(lines.values()))
            rows: list[Cells] = [
                [run, sparkline(v for _, v in line), *("nan" if v != v else f"{v:.3f}" for _, v in line)]
                for run, line in lines.items()
            ]
            tables.append(
                Table([Head(label, "name"), Head("", "text"), *Head.numbers(*(f"{at:,.0f}" for at, _ in points))], rows)
            )
        return tables

    def __str__(self) -> str:
        return plain(self.tables())

    def _repr_html_(self) -> str:
        return "".join(f"<h4>{entities(chart.title)}</h4>{chart.alone().partition('?>')[2]}" for chart in self.charts)


def coverage_curves(
    *systems: Any,
    names: Sequence[str] | None = None,
    depths: Sequence[int] = DEPTHS,
    budgets: Sequence[int] = BUDGETS,
    measure: str | None = None,
    **how: Any,
) -> CoverageCurves:
    """How coverage grows with the number of texts and with the tokens that they have.

    Each of the systems is what `evaluate_texts` takes, and `how` are its options (matcher, unit, tokens, ...). What is
    drawn is "Cover", or "EvidenceRecall" for questions that have evidence by place and no references; or the `measure`.
    Points after which nothing grows any more are left out.

    >>> items = [{"retrieved": ["one", "two three"], "references": ["one", "two"]}]
    >>> print(coverage_curves(items, matcher="contains", budgets=[]))
    first k texts          1      2
    items          ▅█  0.500  1.000
    """
    if not systems or (names is not None and len(names) != len(systems)):
        raise OptionError(f"there are {len(systems)} systems and {len(names or ())} names")
    reading = {key: how.pop(key) for key in ("fields", "format", "failures") if key in how}
    sets = [system if isinstance(system, Items) else read_items(system, **reading) for system in systems]
    drawn = measure or (COVER if any(item.references for item in sets[0]) else COVER_BY_PLACE)
    wanted = curve_measures(depths, budgets, drawn)
    scores = [evaluate_texts(items, wanted, **how) for items in sets]
    return curves_of(with_names(scores, names), drawn)


def with_names(scores: Sequence[Scores], names: Sequence[str] | None = None) -> list[Scores]:
    """The scores under other names, or under their own ones, numbered where they are the same."""
    chosen: list[str] = list(names or ())
    for run in () if names else scores:
        tries = chain((run.run,), (f"{run.run} {i}" for i in count(2)))
        chosen.append(next(name for name in tries if name not in chosen))
    return [replace(run, run=name) for run, name in zip(scores, chosen, strict=True)]


def curve_measures(depths: Sequence[int] = DEPTHS, budgets: Sequence[int] = BUDGETS, measure: str = COVER) -> list[str]:
    """What has to be measured for `curves_of`."""
    depths = [whole_number(k, "one of depths", 1) for k in as_list(depths, "depths")]
    budgets = [whole_number(n, "one of budgets", 1) for n in as_list(budgets, "budgets")]
    if not depths and not budgets:
        raise OptionError("neither depths nor budgets are given")
    return [
        *(f"{measure}@{k}" for k in sorted(set(depths))),
        *(f"{measure}(tokens={n})" for n in sorted(set(budgets))),
        measure,
    ]


def curves_of(scores: Sequence[Scores], drawn: str = COVER) -> CoverageCurves:
    """The curves of scores that have the `curve_measures`."""
    by_texts: dict[str, list[tuple[float, float]]] = {}
    by_tokens: dict[str, list[tuple[float, float]]] = {}
    ends: dict[str, float] = {}
    for run in scores:
        if run.run in ends:
            raise InputError(f"two systems are both named {run.run!r}")
        by_texts[run.run], by_tokens[run.run] = [], []
        for name, column in run.columns.items():
            measure = known(name)
            if measure is None or measure.name != drawn:
                continue
            budget = measure.option("tokens")
            if measure.k is None and budget is None:
                ends[run.run] = column.summary
            elif budget is None:
                by_texts[run.run].append((float(measure.k or 0), column.summary))
            elif measure.k is None:
                by_tokens[run.run].append((float(budget), column.summary))
    return CoverageCurves(_trimmed(by_texts, ends), _trimmed(by_tokens, ends), drawn)


def _trimmed(lines: Mapping[str, list[tuple[float, float]]], ends: Mapping[str, float]) -> dict[str, Points]:
    """Lines up to the first place where all have reached their end, at least two points."""
    size = min((len(points) for points in lines.values()), default=0)
    ordered = {run: sorted(points) for run, points in lines.items()}
    last = size
    for i in range(size):
        if all(math.isclose(points[i][1], ends.get(run, math.inf)) for run, points in ordered.items()):
            last = max(2, i + 1)
            break
    return {run: points[:last] for run, points in ordered.items()}
