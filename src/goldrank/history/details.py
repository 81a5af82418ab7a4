"""What a page shows of a line besides its marks: how certain each record's mean is, and the means on slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress

import numpy as np

from goldrank.base.notes import Note
from goldrank.comparison.intervals import Interval
from goldrank.comparison.one_system import MeanInterval, attribute_values, interval_of
from goldrank.comparison.slices import slice_parts
from goldrank.data.queries import Queries
from goldrank.data.scores import Column
from goldrank.history.store import History
from goldrank.history.trends import TrendLine


@dataclass(frozen=True)
class SliceTrend:
    """The means of a line's records on the queries that have one value of an attribute."""

    attribute: str
    value: str
    of: tuple[MeanInterval, ...]
    """One for each record of the line."""


@dataclass(frozen=True)
class LineDetails:
    """A line and what a page shows of it."""

    line: TrendLine
    intervals: tuple[Interval, ...]
    """Of each record's mean."""
    slices: tuple[SliceTrend, ...] = ()
    notes: tuple[Note, ...] = ()


def line_details(
    history: History,
    line: TrendLine,
    *,
    level: float = 0.95,
    slice_by: Sequence[str] = (),
    queries: Queries | None = None,
) -> LineDetails:
    """A line with the intervals of its records and, if `slice_by` names attributes of `queries`, its slices.

    Of the automatic attributes, records have only 'length' (with the texts of the `queries`) and 'judged' (if Judged@10
    was recorded).
    """
    columns: list[tuple[tuple[str, ...], Column]] = []
    for record, (ids, values) in zip(line.records, history.values(line.records, line.measure), strict=True):
        summary_fields = record.mean[line.measure], record.averages[line.measure], record.higher_is_better[line.measure]
        columns.append((ids, Column(line.measure, values, *summary_fields)))

    intervals = [interval_of(column, np.ones(len(ids), bool), level).interval for ids, column in columns]
    notes: list[Note] = []
    slices: list[SliceTrend] = []
    if slice_by:
        newest = history.scores(line.records[-1])
        for name, value, mask in slice_parts(slice_by, partial(attribute_values, newest, queries), notes):
            slice_queries = set(compress(newest.queries, mask.tolist()))
            slices.append(SliceTrend(name, value, tuple(_slice_means(slice_queries, columns, level, name, value))))
    return LineDetails(line, tuple(intervals), tuple(slices), tuple(notes))


def _slice_means(
    slice_queries: set[str], columns: Sequence[tuple[tuple[str, ...], Column]], level: float, name: str, value: str
) -> list[MeanInterval]:
    """A slice's mean in each record; NaN where a record has none of its queries."""
    masks: dict[int, np.ndarray] = {}
    means = []
    for ids, column in columns:
        if id(ids) not in masks:
            masks[id(ids)] = np.array([query in slice_queries for query in ids], bool)
        means.append(interval_of(column, masks[id(ids)], level, name, value))
    return means
