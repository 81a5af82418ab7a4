"""How coverage grows: with the number of texts, and with the tokens that are spent on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np

from goldrank.base.errors import InputError, OptionError, as_list, one_of, whole_number
from goldrank.base.notes import Note
from goldrank.comparison.intervals import Interval, mean_interval
from goldrank.comparison.statistics import facts_of
from goldrank.data.scores import Column, Scores
from goldrank.data.table import Cells, Head, Part, Table, entities, note_sentences, plain
from goldrank.evaluation.text_rules import token_counter
from goldrank.io.questions.items import Items, reader_of
from goldrank.measures import known
from goldrank.measures.options import PACKERS
from goldrank.rag.causes import COVER
from goldrank.report.charts import Chart, curves
from goldrank.report.numbers import sparkline

if TYPE_CHECKING:
    from goldrank.rag.sweep import Sweep, SweepRow

DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100)
POINTS = 8
"""The number of budgets that are chosen if none are given."""

Points = Sequence[tuple[float, float]]
Bands = Mapping[str, Sequence[Interval]]
"""By system, the interval of each point."""


@dataclass(frozen=True)
class CoverageCurves:
    """Mean coverage by system: of the first k texts, and of the texts within a budget of tokens."""

    by_texts: Mapping[str, Points]
    by_tokens: Mapping[str, Points]
    measure: str = COVER
    text_bands: Bands = field(default_factory=dict)
    """95% intervals of the points."""
    token_bands: Bands = field(default_factory=dict)
    notes: Sequence[Note] = ()

    @property
    def _axes(self) -> tuple[tuple[str, Mapping[str, Points], Bands], ...]:
        axes = (
            ("first k texts", self.by_texts, self.text_bands),
            ("budget of tokens", self.by_tokens, self.token_bands),
        )
        return tuple(axis for axis in axes if any(axis[1].values()))

    @property
    def charts(self) -> list[Chart]:
        """A drawing for each axis: lines with their bands, or points alone where more tokens may cover less."""
        loose = any(note.code == "skip-not-monotone" for note in self.notes)
        return [
            curves(
                self.measure,
                lines,
                label=label,
                title=f"Coverage by {label}",
                bands=known,
                joined=not (loose and lines is self.by_tokens),
            )
            for label, lines, known in self._axes
        ]

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
        for label, lines, _ in self._axes:
            columns = [f"{x:,.0f}" for x, _ in next(iter(lines.values()))]
            rows: list[Cells] = []
            for run, line in lines.items():
                values = [value for _, value in line]
                rows.append([run, sparkline(values), *(f"{value:.3f}" for value in values)])
            tables.append(Table([Head(label, "name"), Head("", "text"), *Head.numbers(*columns)], rows))
        return tables

    def parts(self) -> list[Part]:
        """The tables, and what to know of them."""
        return [*self.tables(), *note_sentences(self.notes)]

    def __str__(self) -> str:
        return plain(self.parts())

    def _repr_html_(self) -> str:
        return "".join(f"<h4>{entities(chart.title)}</h4>{chart.alone().partition('?>')[2]}" for chart in self.charts)


def curves_of_sweep(sweep: Sweep) -> CoverageCurves:
    """How coverage grows over the settings of a sweep: over k, and over budgets, if there are two or more."""
    by_texts: dict[str, list[SweepRow]] = {}
    by_tokens: dict[str, list[SweepRow]] = {}
    for row in sweep.values():
        setting = row.setting
        if setting.budget is None:
            by_texts.setdefault(setting.system, []).append(row)
            continue
        name = setting.system
        if setting.k is not None:
            name = f"{setting.system}@{setting.k}"
        by_tokens.setdefault(name, []).append(row)

    texts, text_bands = _lines(by_texts, lambda row: float(row.setting.k or 0))
    tokens, token_bands = _lines(by_tokens, lambda row: float(row.setting.budget or 0))
    notes = []
    if tokens and sweep.pack == "skip":
        notes = [Note.of("skip-not-monotone")]
    return CoverageCurves(texts, tokens, sweep.measure, text_bands, token_bands, notes)


def _lines(by_system: Mapping[str, list[SweepRow]], x: Callable[[SweepRow], float]) -> tuple[dict[str, Points], Bands]:
    """The points of each system with their intervals; no line has fewer than two."""
    lines: dict[str, Points] = {}
    bands: dict[str, Sequence[Interval]] = {}
    for system, rows in by_system.items():
        if len(rows) > 1:
            lines[system] = [(x(row), row.mean) for row in rows]
            bands[system] = [row.interval for row in rows]
    return lines, bands


def with_names(scores: Sequence[Scores], names: Sequence[str] | None = None) -> list[Scores]:
    """The scores under other names, or under their own names, numbered where names are equal."""
    return [replace(run, run=name) for run, name in zip(scores, names or _distinct_names(scores), strict=True)]


def _distinct_names(scores: Sequence[Scores]) -> list[str]:
    """The names of scores, numbered where they are equal."""
    distinct: list[str] = []
    for run in scores:
        candidates = chain((run.run,), (f"{run.run} {i}" for i in count(2)))
        distinct.append(next(name for name in candidates if name not in distinct))
    return distinct


def automatic_budgets(sets: Sequence[Items], tokens: Callable[[str], Any] | None = None) -> list[int]:
    """Eight budgets in equal ratios, from the median text to the 95th percentile of all texts of a question."""
    count_tokens = token_counter(tokens)
    lengths: dict[str, int] = {}
    texts: list[int] = []
    lists: list[int] = []
    for item in chain.from_iterable(map(reader_of, sets)):
        for text in item.retrieved:
            if text not in lengths:
                lengths[text] = count_tokens(text)
        counted = [lengths[text] for text in item.retrieved]
        texts += (length for length in counted if length)
        lists.append(sum(counted))

    if not texts:
        return []

    low, high = max(float(np.median(texts)), 1.0), max(float(np.quantile(lists, 0.95)), 1.0)
    return sorted({round(budget) for budget in np.geomspace(min(low, high), max(low, high), POINTS).tolist()})


def curve_measures(
    depths: Sequence[int] = DEPTHS, budgets: Sequence[int] = (), measure: str = COVER, pack: str = "prefix"
) -> list[str]:
    """The measures that `curves_of` needs."""
    one_of(pack, PACKERS, "pack")
    depths = [whole_number(k, "one of depths", 1) for k in as_list(depths, "depths")]
    budgets = [whole_number(n, "one of budgets", 1) for n in as_list(budgets, "budgets")]
    if not depths and not budgets:
        raise OptionError("neither depths nor budgets are given", code="neither-given")

    more = ""
    if pack != "prefix":
        more = f', pack="{pack}"'
    by_depth = [f"{measure}@{k}" for k in sorted(set(depths))]
    by_budget = [f"{measure}(tokens={n}{more})" for n in sorted(set(budgets))]
    return [*by_depth, *by_budget, measure]


def curves_of(scores: Sequence[Scores], drawn: str = COVER) -> CoverageCurves:
    """The curves of scores that have the `curve_measures`."""
    axes: tuple[_Axis, _Axis] = ({}, {})
    ends: dict[str, float] = {}
    loose = False
    for run in scores:
        if run.run in axes[0]:
            raise InputError(f"two systems are both named {run.run!r}", code="duplicate-name")
        by_texts, by_tokens = (axis.setdefault(run.run, []) for axis in axes)
        for name, column in run.columns.items():
            measure = known(name)
            if measure is None or measure.name != drawn:
                continue
            budget = measure.option("tokens")
            if measure.k is None and budget is None:
                ends[run.run] = column.summary
            elif budget is None:
                by_texts.append((float(measure.k or 0), name, column))
            elif measure.k is None:
                by_tokens.append((float(budget), name, column))
                loose |= measure.option("pack") == "skip"

    texts, text_bands = _trimmed(axes[0], ends)
    tokens, token_bands = _trimmed(axes[1], ends)
    notes = []
    if loose:
        notes = [Note.of("skip-not-monotone")]
    if tokens:
        notes += dict.fromkeys(note for run in scores for note in run.notes if note.code == "tokens-counted")

    return CoverageCurves(texts, tokens, drawn, text_bands, token_bands, notes)


_Axis = dict[str, list[tuple[float, str, Column]]]
"""By system, each point: its position on the axis, the measure and its column."""


def _trimmed(axis: _Axis, ends: Mapping[str, float]) -> tuple[Mapping[str, Points], Bands]:
    """Lines up to the first point where all have reached their end, at least two points; and their intervals."""
    ordered = {run: sorted(points, key=lambda point: point[:2]) for run, points in axis.items()}
    last = size = min(map(len, ordered.values()), default=0)
    for i in range(size):
        if all(math.isclose(points[i][2].summary, ends.get(run, math.inf)) for run, points in ordered.items()):
            last = max(2, i + 1)
            break

    lines: dict[str, Points] = {}
    bands: dict[str, Sequence[Interval]] = {}
    for run, points in ordered.items():
        lines[run] = [(x, column.summary) for x, _, column in points[:last]]
        bands[run] = _bands([column for *_, column in points[:last]])
    return lines, bands


def _bands(columns: Sequence[Column]) -> list[Interval]:
    """The interval of each point of a system; none from a single question."""
    intervals = []
    for column in columns:
        values = column.values[~np.isnan(column.values)]
        if len(values) < 2:
            return []
        facts = facts_of(column, values)
        intervals.append(mean_interval(values, low=facts.low, high=facts.high))
    return intervals
