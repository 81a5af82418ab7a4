"""A measure over time: lines of records that may be compared, and where a line changed by more than chance does.

Records make one line if they have the same label (without one, the run's name) and the same basis: judgements,
relevance rules, convention and depth. Anything else begins a line of its own, and the line says why.

A change is found by comparing a record, query by query, with the first record since the last change (a paired
t-test). So a slow decline is found as well as a sudden one. With m records whose values differ from those of the record
before, a p-value must be at most alpha / m. If nothing but chance is at work, a line then shows any change at all with
a probability of at most alpha, however long it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from goldrank.data.scores import format_value
from goldrank.errors import HistoryError, OptionError, did_you_mean, whole_number
from goldrank.history import History, Record
from goldrank.history.record import full_name

ALPHA = 0.05
LEAST_DIFFERING = 6
"""Fewer queries that differ prove nothing: five coins fall on the same side once in sixteen times."""


@dataclass(frozen=True)
class TrendChange:
    """A record from which on a line is at another height."""

    record: Record
    since: Record
    """The record it was compared with: the first after the change before."""
    difference: float
    """Of the means over the queries that both have."""
    p: float
    better: bool
    differing: int
    """Queries with another value."""
    queries: int

    @property
    def words(self) -> str:
        """The change as a sentence."""
        return (
            f"record {self.record.id} is {'better' if self.better else 'worse'} than record {self.since.id} by "
            f"{abs(self.difference):.4f}: {self.differing:,} of {self.queries:,} queries differ, p = {self.p:.2g}"
        )


@dataclass(frozen=True)
class TrendLine:
    """Records of one label and basis, oldest first."""

    name: str
    measure: str
    records: tuple[Record, ...]
    changes: tuple[TrendChange, ...]
    new_because: str
    """How its basis differs from that of the line of the same name before it; empty for the first."""

    @property
    def values(self) -> list[float]:
        """The summaries."""
        return [record.summaries[self.measure] for record in self.records]

    @property
    def shown(self) -> str:
        """The newest summary as reports show it."""
        last = self.records[-1]
        return format_value(last.summaries[self.measure], last.averages[self.measure])


def trend_lines(
    history: History,
    measure: object = None,
    *,
    label: str | None = None,
    limit: int | None = None,
    alpha: float = ALPHA,
) -> list[TrendLine]:
    """The lines of a measure (the newest record's first one, if none is named), in the order in which they began.

    `limit` takes the newest records only.
    """
    if not 0 < alpha < 1:
        raise OptionError(f"alpha is {alpha!r}; it must be between 0 and 1")
    if limit is not None:
        whole_number(limit, "limit", 1)
    records = history.records(label=label)
    if not records:
        if label is not None:
            history.get(label)  # says which labels there are
        raise HistoryError("nothing has been recorded yet", where=history.path, hint="`goldrank record` does that.")
    name = next(iter(records[-1].summaries)) if measure is None else full_name(measure)
    measured = [record for record in records if record.spelled(name)]
    if not measured:
        known = dict.fromkeys(known_name for record in records for known_name in record.summaries)
        hint = did_you_mean(name, known) or f"There are: {', '.join(known)}."
        raise HistoryError(f"{name} was never recorded", where=history.path, hint=hint)
    groups: dict[tuple[object, ...], list[Record]] = {}
    for record in measured if limit is None else measured[-limit:]:
        groups.setdefault((record.label or record.run, record.basis), []).append(record)
    lines: list[TrendLine] = []
    for group in groups.values():
        named = group[0].label or group[0].run
        before = [line for line in lines if line.name == named]
        why = _other_basis(before[-1].records[0], group[0]) if before else ""
        full = group[0].spelled(name) or name  # records of one basis have one convention
        lines.append(TrendLine(named, full, tuple(group), tuple(_changes(history, full, group, alpha)), why))
    return lines


def paired_p(differences: np.ndarray, limit: float = 1.0) -> float:
    """The two-sided p-value of a paired t-test; 1 where too few queries differ for any test to say something.

    Where it is surely above `limit`, a lower value that is above it may be returned: the normal distribution's.
    """
    count = len(differences)
    if np.count_nonzero(differences) < LEAST_DIFFERING:
        return 1.0
    mean = float(differences.mean())
    off = differences - mean
    spread = math.sqrt(float(off @ off) / (count - 1))
    if spread <= 1e-12 * abs(mean):
        return 0.0 if mean else 1.0
    t = abs(mean) / (spread / math.sqrt(count))
    normal = math.erfc(t / math.sqrt(2))
    if normal > limit:  # Student's tails are heavier, and scipy takes a while to import
        return normal
    from scipy.special import stdtr

    return float(2 * stdtr(count - 1, -t))


def _changes(history: History, measure: str, records: Sequence[Record], alpha: float) -> list[TrendChange]:
    """The changes of one line."""
    moved = [b for a, b in pairwise(records) if a.values_sha256[measure] != b.values_sha256[measure]]
    if not moved:
        return []
    since, limit = records[0], alpha / len(moved)
    (queries, before), *columns = history.values([since, *moved], measure)
    changes = []
    for record, (ids, values) in zip(moved, columns, strict=True):
        delta = _differences(queries, before, ids, values)
        p = paired_p(delta, limit)
        if p <= limit:
            mean = float(delta.mean())
            better = (mean > 0) == record.higher_is_better[measure]
            changes.append(TrendChange(record, since, mean, p, better, int(np.count_nonzero(delta)), len(delta)))
            since, queries, before = record, ids, values
    return changes


def _differences(old_ids: tuple[str, ...], old: np.ndarray, new_ids: tuple[str, ...], new: np.ndarray) -> np.ndarray:
    """New minus old, for the queries that count in both."""
    if old_ids is not new_ids and old_ids != new_ids:
        at = {query: i for i, query in enumerate(old_ids)}
        both = [(at[query], i) for i, query in enumerate(new_ids) if query in at]
        old, new = old[[a for a, _ in both]], new[[b for _, b in both]]
    with np.errstate(invalid="ignore"):
        delta: np.ndarray = new - old
    finite: np.ndarray = delta[np.isfinite(delta)]
    return finite


def _other_basis(old: Record, new: Record) -> str:
    """In words, what makes two records incomparable."""

    def words(record: Record) -> tuple[str, str, str, object]:
        judgements = f"{record.qrels_name or 'qrels'} {record.qrels_sha256[:8] or '?'}"
        return judgements, record.criteria or "none given", record.convention, record.depth or "all"

    what = ("other judgements", "other relevance rules", "another convention", "another depth")
    table = zip(what, old.basis, new.basis, words(old), words(new), strict=True)
    return ", ".join(f"{differs} ({now}, before {then})" for differs, a, b, then, now in table if a != b)
