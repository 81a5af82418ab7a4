"""Groups of queries: where is a system better, and where is it worse?

An attribute gives each query a value: a category, or a number, which is cut into thirds when there are many.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from goldrank import ids
from goldrank.comparison import correction, paired
from goldrank.comparison.paired import Interval
from goldrank.comparison.result import Comparison
from goldrank.errors import InputError

SMALL = 10
"""Slices with fewer queries are marked, and no conclusion is drawn from them."""
MOST_CATEGORIES = 50
MOST_NUMBERS = 8
"""A numeric attribute with more different values than this is cut into thirds."""

AUTOMATIC = {
    "relevant": "the number of relevant documents of a query",
    "judged": "the share of judged documents among the first ten, over all systems",
    "length": "the number of words of the query's text",
}


@dataclass(frozen=True)
class Slice:
    """One measure on the queries that have one value of an attribute."""

    attribute: str
    value: str
    measure: str
    n: int
    means: Mapping[str, float]
    intervals: Mapping[str, Interval]
    """Student's interval of each system's mean."""

    @property
    def small(self) -> bool:
        """Whether there are too few queries to conclude anything."""
        return self.n < SMALL


@dataclass(frozen=True)
class SliceDifference:
    """One slice of one pair: `b` minus `a`."""

    attribute: str
    value: str
    measure: str
    a: str
    b: str
    n: int
    difference: float
    interval: Interval
    p: float
    adjusted: float
    """Holm's correction over all slices of the pair and measure that are not small."""
    reversed: bool
    """Whether the slice clearly goes the other way than all queries together."""

    @property
    def small(self) -> bool:
        """Whether there are too few queries to conclude anything."""
        return self.n < SMALL


@dataclass(frozen=True)
class SliceTable:
    """All slices of a comparison."""

    slices: tuple[Slice, ...]
    differences: tuple[SliceDifference, ...]
    notes: tuple[str, ...] = ()

    def worst(self, measure: str, a: str, b: str) -> SliceDifference | None:
        """The slice, not a small one, on which b does worst against a."""
        there = [d for d in self.differences if (d.measure, d.a, d.b) == (measure, a, b) and not d.small]
        return min(there, key=lambda d: d.difference, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {
            "slices": [
                {
                    "attribute": one.attribute,
                    "value": one.value,
                    "measure": one.measure,
                    "queries": one.n,
                    "small": one.small,
                    "means": dict(one.means),
                    "intervals": {run: [i.low, i.high] for run, i in one.intervals.items()},
                }
                for one in self.slices
            ],
            "differences": [
                {
                    "attribute": d.attribute,
                    "value": d.value,
                    "measure": d.measure,
                    "a": d.a,
                    "b": d.b,
                    "queries": d.n,
                    "small": d.small,
                    "difference": d.difference,
                    "interval": [d.interval.low, d.interval.high],
                    "p": d.p,
                    "p_adjusted": d.adjusted,
                    "reversed": d.reversed,
                }
                for d in self.differences
            ],
            "notes": list(self.notes),
        }


def with_slices(comparison: Comparison, slice_by: Mapping[str, Any] | None, texts: Any = None) -> Comparison:
    """The comparison with a table of slices; `slice_by` as `compare` takes it."""
    lengths = None if texts is None else lookup(texts, "queries")
    wanted: dict[str, Any] = dict(slice_by or {})
    if not wanted:
        wanted = dict.fromkeys(name for name in AUTOMATIC if name != "length" or lengths is not None)
    groups: dict[str, dict[str, np.ndarray]] = {}
    notes: list[str] = []
    for name, given in wanted.items():
        found = _attribute(comparison, str(name), given, lengths)
        parts = labels(str(name), found, notes)
        if parts is not None:
            groups[str(name)] = parts
    return replace(comparison, slices=_table(comparison, groups, notes))


def _attribute(comparison: Comparison, name: str, given: Any, texts: Callable[[str], Any] | None) -> list[Any]:
    """The attribute's value for each query of the comparison, None where there is none."""
    if given is None:
        return _automatic(comparison, name, texts)
    look = given if callable(given) else lookup(given, name)
    return [look(query) for query in comparison.queries]


def _automatic(comparison: Comparison, name: str, texts: Callable[[str], Any] | None) -> list[Any]:
    if name == "length":
        if texts is None:
            raise InputError("slices by length need the queries' texts", hint="queries={'q1': 'some words'}.")
        found = [texts(query) for query in comparison.queries]
        return [None if text is None else len(str(text).split()) for text in found]
    if name == "relevant" and comparison.evidence is not None:
        judged = comparison.evidence.qrels
        return [sum(grade >= 1 for grade in judged[query].values()) for query in comparison.queries]
    if name == "judged":
        values = next((v for m, v in comparison.values.items() if m == "Judged@10"), None)
        columns = [one.columns.get("Judged@10") for one in comparison.scores]
        if values is not None:
            return [None if math.isnan(value) else value for value in values.mean(axis=0).tolist()]
        if all(columns):
            by_query = [
                dict(zip(one.queries, column.values.tolist(), strict=True))
                for one, column in zip(comparison.scores, columns, strict=True)
                if column is not None
            ]
            return [sum(values[query] for values in by_query) / len(by_query) for query in comparison.queries]
        raise InputError("slices by judged share need Judged@10 among the measures")
    raise InputError(
        f"no values were given for slices by {name!r}",
        hint=f"Give a dict or a function of the query id; automatic are: {', '.join(AUTOMATIC)}.",
    )


def lookup(given: Any, name: str) -> Callable[[str], Any]:
    """A function of the query id, from a mapping, a JSONL file or a data frame of queries."""
    if isinstance(given, Mapping):
        by_id = {ids.as_text(key, "query id"): value for key, value in given.items()}
        return by_id.get
    if isinstance(given, str | os.PathLike):
        rows = read_jsonl(Path(given))
    elif hasattr(given, "to_dicts"):
        rows = given.to_dicts()
    elif hasattr(given, "to_dict"):
        rows = given.to_dict("records")
    elif hasattr(given, "to_pylist"):
        rows = given.to_pylist()
    else:
        raise InputError(
            f"slices by {name!r}: {type(given).__name__} holds no values of queries",
            hint="Give a dict, a function, a JSONL file or a data frame.",
        )
    field = "text" if name == "queries" else name
    table = {}
    for row in rows:
        key = next((row[word] for word in ("query", "query_id", "qid", "_id", "id") if word in row), None)
        if key is None or field not in row:
            raise InputError(f"query metadata has no field for the query id or no field {field!r}: {list(row)[:8]}")
        table[ids.as_text(key, "query id")] = row[field]
    return table.get


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file."""
    rows = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", where=str(path)) from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"is not JSON: {error}", where=f"{path}:{number}") from None
        if not isinstance(row, dict):
            raise InputError("is not a JSON object", where=f"{path}:{number}")
        rows.append(row)
    return rows


def labels(name: str, found: list[Any], notes: list[str]) -> dict[str, np.ndarray] | None:
    """Each value of the attribute with the queries that have it; None if it tells no queries apart."""
    absent = sum(_is_absent(value) for value in found)
    if absent == len(found):
        raise InputError(f"slices by {name!r}: no query of the comparison has a value", hint="Are the ids the same?")
    if absent:
        notes.append(f"{name}: {absent:,} of {len(found):,} queries have no value and are in no slice")
    numeric = all(
        isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in found if not _is_absent(v)
    )
    different = {v for v in found if not _is_absent(v)} if numeric else {str(v) for v in found if not _is_absent(v)}
    if len(different) == 1:
        notes.append(f"{name}: all queries have the same value, so there are no slices")
        return None
    if numeric and len(different) > MOST_NUMBERS:
        return _thirds(np.array([math.nan if _is_absent(v) else float(v) for v in found]))
    if len(different) > MOST_CATEGORIES:
        raise InputError(
            f"slices by {name!r}: {len(different):,} different values", hint=f"Use at most {MOST_CATEGORIES}."
        )
    ordered = sorted(different)
    if numeric:
        return {f"{v:g}": np.array([not _is_absent(x) and x == v for x in found]) for v in ordered}
    return {v: np.array([not _is_absent(x) and str(x) == v for x in found]) for v in ordered}


def _thirds(values: np.ndarray) -> dict[str, np.ndarray]:
    low, high = np.nanquantile(values, [1 / 3, 2 / 3], method="inverted_cdf")
    parts = [values <= low, (values > low) & (values <= high), values > high]
    return {f"{values[part].min():.4g} to {values[part].max():.4g}": part for part in parts if part.any()}


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _table(comparison: Comparison, groups: Mapping[str, Mapping[str, np.ndarray]], notes: list[str]) -> SliceTable:
    level = comparison.settings.level
    at = {run: i for i, run in enumerate(comparison.runs)}
    slices: list[Slice] = []
    differences: list[SliceDifference] = []
    for measure in comparison.measures:
        values = comparison.values[measure]
        counted = ~np.isnan(values[0])
        for attribute, labels in groups.items():
            for label, which in labels.items():
                rows = values[:, which & counted]
                if not rows.shape[1]:
                    continue
                slices.append(
                    Slice(
                        attribute,
                        label,
                        measure,
                        rows.shape[1],
                        {run: float(rows[i].mean()) for run, i in at.items()},
                        {run: paired.t_interval(rows[i], level) for run, i in at.items()},
                    )
                )
        for pair in comparison.of(measure):
            delta = values[at[pair.b]] - values[at[pair.a]]
            found = []
            for attribute, labels in groups.items():
                for label, which in labels.items():
                    part = delta[which & counted]
                    if len(part):
                        p = paired.randomization_test(part, 2_000, comparison.settings.seed)[0]
                        interval = paired.t_interval(part, level)
                        found.append((attribute, label, len(part), float(part.mean()), interval, p))
            large = [i for i, one in enumerate(found) if one[2] >= SMALL]
            corrected = dict(
                zip(large, correction.adjust(np.array([found[i][5] for i in large]), "holm").tolist(), strict=True)
            )
            for i, (attribute, label, n, mean, interval, p) in enumerate(found):
                adjusted = corrected.get(i, math.nan)
                turned = adjusted <= comparison.settings.alpha and mean * pair.difference < 0
                differences.append(
                    SliceDifference(
                        attribute, label, measure, pair.a, pair.b, n, mean, interval, p, adjusted, bool(turned)
                    )
                )
                if turned:
                    notes.append(
                        f"{_ahead(measure, pair.a, pair.b, pair.difference)}, but not where {ids.show(attribute)} is "
                        f"{ids.show(label)} ({mean:+.4f}, {n:,} queries)"
                    )
            notes += _by_slice_means(pair.difference, found, measure, pair.a, pair.b)
    return SliceTable(tuple(slices), tuple(differences), tuple(notes))


def _by_slice_means(overall: float, found: list[Any], measure: str, a: str, b: str) -> list[str]:
    """Attributes by whose slices, each counted once, the order of the two systems turns round."""
    notes = []
    for attribute in dict.fromkeys(one[0] for one in found):
        means = [one[3] for one in found if one[0] == attribute and one[2] >= SMALL]
        if len(means) > 1 and all(mean != 0 for mean in means) and float(np.mean(means)) * overall < 0:
            notes.append(
                f"{_ahead(measure, a, b, overall)}, but not if each {ids.show(attribute)} counts the same "
                f"({np.mean(means):+.4f}): one slice with many queries decides"
            )
    return notes


def _ahead(measure: str, a: str, b: str, difference: float) -> str:
    where = "ahead of" if difference > 0 else "behind"
    return f"{measure}: over all queries {ids.show(b)} is {where} {ids.show(a)} ({difference:+.4f})"
