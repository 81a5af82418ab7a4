"""How sure is the mean of one run? Intervals of its measures, on all queries and on slices of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, NotMeasuredError, of_type
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import MeasureLike, QueriesLike
from goldrank.comparison.intervals import UNKNOWN, Interval, mean_interval, percent
from goldrank.comparison.settings import Statistics
from goldrank.comparison.slice_table import SMALL
from goldrank.comparison.slices import (
    history_sizes,
    no_slice_values,
    none_for_nan,
    slice_names,
    slice_parts,
    word_counts,
)
from goldrank.comparison.statistics import MeasureFacts, facts_of, on_scale
from goldrank.comparison.tabular import attributes
from goldrank.data.queries import Queries
from goldrank.data.scores import Column, Scores
from goldrank.data.showing import Result
from goldrank.data.table import Part
from goldrank.io.by_id.query_files import read_queries
from goldrank.measures import known as known_measure
from goldrank.measures import parse as parse_measure


@dataclass(frozen=True)
class MeanInterval:
    """One measure on all queries, or on those that have one value of an attribute."""

    measure: str
    attribute: str
    """Empty for all queries."""
    value: str
    n: int
    """Queries that count."""
    mean: float
    """The summary: for most measures the mean."""
    interval: Interval
    average: str
    """How the summary was made."""

    @property
    def small(self) -> bool:
        """Whether there are too few queries to conclude anything."""
        return self.n < SMALL


@dataclass(frozen=True, repr=False, eq=False)
class RunIntervals(Result, Mapping[str, Interval]):
    """The measures of one run with their intervals: `intervals["AP"]`."""

    run: str
    level: float
    of: tuple[MeanInterval, ...]
    notes: tuple[Note, ...] = ()

    def __getitem__(self, measure: MeasureLike) -> Interval:
        """The interval of a measure on all queries, by any of its spellings."""
        by_measure = {part.measure: part.interval for part in self.of if not part.attribute}
        if isinstance(measure, str) and measure in by_measure:
            return by_measure[measure]

        name = str(parse_measure(measure))
        if name not in by_measure:
            hint = f"There are: {', '.join(self.measures)}."
            raise NotMeasuredError(f"there is no interval of {name}", hint=hint)
        return by_measure[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    @property
    def slices(self) -> dict[str, dict[str, RunIntervals]]:
        """By attribute and value, the intervals on the queries of a slice."""
        slices: dict[str, dict[str, list[MeanInterval]]] = {}
        for part in self.of:
            if part.attribute:
                on_slice = replace(part, attribute="", value="")
                slices.setdefault(part.attribute, {}).setdefault(part.value, []).append(on_slice)

        by_attribute: dict[str, dict[str, RunIntervals]] = {}
        for attribute, values in slices.items():
            by_attribute[attribute] = {}
            for value, intervals in values.items():
                by_attribute[attribute][value] = RunIntervals(self.run, self.level, tuple(intervals))
        return by_attribute

    @property
    def words(self) -> str:
        """The means with their intervals."""
        means = [
            f"{part.measure} {part.mean:.4f} ({part.interval.low:.4f} to {part.interval.high:.4f})"
            for part in self.of
            if not part.attribute
        ]
        return f"{ids.show(self.run)}, {percent(self.level)} intervals: {', '.join(means)}"

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures, each once."""
        return tuple(dict.fromkeys(part.measure for part in self.of))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes by which queries were sliced."""
        return tuple(dict.fromkeys(part.attribute for part in self.of if part.attribute))

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.report.one_system import parts

        return parts(self)

    def rows(self) -> list[dict[str, Any]]:
        """A row per measure, and per measure and slice."""
        return [
            {
                "run": self.run,
                **attributes(part, "attribute value measure"),
                "queries": part.n,
                "mean": part.mean,
                "low": part.interval.low,
                "high": part.interval.high,
            }
            for part in self.of
        ]

    def to_dict(self) -> dict[str, Any]:
        notes = [note.to_dict() for note in self.notes]
        return {"run": self.run, "level": self.level, "intervals": self.rows(), "notes": notes}


@named_arguments
def score_intervals(
    scores: Scores,
    *,
    queries: QueriesLike | None = None,
    slice_by: str | Sequence[str] = (),
    statistics: Statistics = Statistics(),
) -> RunIntervals:
    """How certain the means of one run are: its measures with intervals, on all queries and on slices of them.

    Intervals are Student's, with a pseudo-query at each bound of the measure.

    Parameters
    ----------
    scores : Scores
        The scores of one run.
    queries : Queries, optional
        What is known of queries.
    slice_by : str or list of str
        Attributes of `queries`, or "length" (of their texts), "relevant" (how many documents are) or "judged" (with the
        measure Judged@10).
    statistics : Statistics
        `alpha` says how sure the intervals are.

    Returns
    -------
    RunIntervals

    Raises
    ------
    InputError
        If no query has a value of an attribute.

    Examples
    --------
    >>> scores = evaluate({f"q{i}": {"a": 1} for i in range(30)}, {f"q{i}": ["a"] for i in range(30)}, "P@1")
    >>> interval = score_intervals(scores)["P@1"]
    >>> round(interval.low, 3), interval.high
    (0.905, 1.0)
    """
    of_type(scores, Scores, "scores", "the scores of one run", "score_intervals(evaluate(qrels, run)).")
    query_table = None
    if queries is not None:
        query_table = read_queries(queries)
    names = slice_names(slice_by)
    of_type(statistics, Statistics, "statistics", "a Statistics", "For example statistics=Statistics(alpha=0.01).")
    level = statistics.level

    notes: list[Note] = []
    parts = slice_parts(names, partial(attribute_values, scores, query_table), notes)
    all_queries = np.ones(len(scores.queries), bool)
    intervals: list[MeanInterval] = []
    for column in scores.columns.values():
        intervals.append(interval_of(column, all_queries, level))
        intervals += [interval_of(column, in_slice, level, attribute, value) for attribute, value, in_slice in parts]
        notes += _remarks(column)
    return RunIntervals(scores.run, level, tuple(intervals), tuple(notes))


def interval_of(
    column: Column, chosen: np.ndarray, level: float = 0.95, attribute: str = "", value: str = ""
) -> MeanInterval:
    """The interval of a column's summary over some of its queries, a mask."""
    values = column.values[chosen]
    if column.counts_nan:
        counted = values
    else:
        counted = values[~np.isnan(values)]

    interval, mean = UNKNOWN, math.nan
    if len(counted) and column.average != "sum" and not _depends_on_others(column):
        scaled, facts = on_scale(counted, column.average), _facts(column)
        mean = float(scaled.mean())
        if np.isfinite(scaled).all():
            interval = mean_interval(scaled, level=level, low=facts.low, high=facts.high)
        if column.average == "geometric":
            mean, interval = math.exp(mean), Interval(*(math.exp(end) for end in interval))
    elif len(counted) and column.average == "sum":
        mean = float(counted.sum())

    if chosen.all():
        mean = column.summary

    return MeanInterval(column.measure, attribute, value, len(counted), mean, interval, column.average)


def _facts(column: Column) -> MeasureFacts:
    return facts_of(column, on_scale(column.values, column.average))


def _depends_on_others(column: Column) -> bool:
    """Whether values of queries depend on each other, so that their spread says nothing."""
    measure = known_measure(column.measure)
    return measure is not None and measure.declaration.of_all_queries


def _remarks(column: Column) -> Iterator[Note]:
    if column.average == "sum":
        yield Note.of("sum-without-interval", measure=column.measure)
    elif _depends_on_others(column):
        yield Note.of("of-all-queries", measure=column.measure)
    elif not _facts(column).is_bounded:
        yield Note.of("unbounded-interval", measure=column.measure)


def attribute_values(scores: Scores, query_table: Queries | None, name: str) -> Sequence[Any]:
    """The attribute's value for each query, None where there is none."""
    if query_table is not None and query_table.has(name):
        return list(map(query_table.column(name).get, scores.queries))
    if name == "length" and query_table is not None and query_table.has("text"):
        return word_counts(query_table.column("text").get, scores.queries)
    if name == "relevant" and scores.query_facts.relevant is not None:
        counts: list[int] = scores.query_facts.relevant.tolist()
        return counts
    if name == "judged" and "Judged@10" in scores.columns:
        return none_for_nan(scores.columns["Judged@10"].values)
    if name == "history":
        return history_sizes(scores.placed, scores.queries)

    needs = {
        "length": "the queries' texts",
        "relevant": "scores that know their judgements",
        "judged": "Judged@10 among the measures",
    }
    if name in needs:
        raise InputError(f"slices by {name} need {needs[name]}", code="slice-needs-input")
    raise no_slice_values(name, query_table)
