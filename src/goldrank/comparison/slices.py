"""Groups of queries: where is a system better, and where is it worse?

An attribute gives each query a value: a category, or a number, which is cut into thirds when there are many.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from goldrank import ids, types
from goldrank.comparison import paired
from goldrank.comparison.correction import adjust
from goldrank.comparison.intervals import Interval
from goldrank.comparison.result import Comparison, Pair
from goldrank.comparison.tabular import attributes
from goldrank.errors import InputError, Place
from goldrank.io import json_text
from goldrank.io.sources import open_source
from goldrank.notes import Note

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


QueryValues: TypeAlias = "Mapping[Any, Any] | types.Path | types.ArrowStream"
"""Something about queries: by id, a JSONL file, or a data frame. Any value that can be shown is taken."""

Attribute: TypeAlias = "QueryValues | Callable[[str], Any] | None"
"""An attribute of queries: the same, a function of the query id, or None for one of the automatic ones."""

Groups: TypeAlias = "dict[str, np.ndarray]"
"""The queries that have each value of an attribute, as masks."""


@dataclass(frozen=True)
class _QueryGroup:
    """One measure on the queries that have one value of an attribute."""

    attribute: str
    value: str
    measure: str
    n: int

    @property
    def small(self) -> bool:
        """Whether there are too few queries to conclude anything."""
        return self.n < SMALL

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {**attributes(self, "attribute value measure"), "queries": self.n, "small": self.small}


@dataclass(frozen=True)
class Slice(_QueryGroup):
    """The means of the systems on one group of queries."""

    means: Mapping[str, float]
    intervals: Mapping[str, Interval]
    """Student's interval of each system's mean."""

    def to_dict(self) -> dict[str, Any]:
        intervals = {run: list(interval) for run, interval in self.intervals.items()}
        return {**super().to_dict(), "means": dict(self.means), "intervals": intervals}


@dataclass(frozen=True)
class SliceDifference(_QueryGroup):
    """One group of queries of one pair: `b` minus `a`."""

    a: str
    b: str
    difference: float
    interval: Interval
    p: float
    adjusted: float = math.nan
    """Holm's correction over all slices of the pair and measure that are not small."""
    reversed: bool = False
    """Whether the slice clearly goes the other way than all queries together."""

    def to_dict(self) -> dict[str, Any]:
        about = {**super().to_dict(), **attributes(self, "a b difference"), "interval": list(self.interval)}
        return {**about, "p": self.p, "p_adjusted": self.adjusted, "reversed": self.reversed}


@dataclass(frozen=True)
class SliceTable:
    """All slices of a comparison."""

    slices: tuple[Slice, ...]
    differences: tuple[SliceDifference, ...]
    notes: tuple[Note, ...] = ()

    def worst(self, measure: str, a: str, b: str) -> SliceDifference | None:
        """The slice, not a small one, on which b does worst against a."""
        large = [d for d in self.differences if (d.measure, d.a, d.b) == (measure, a, b) and not d.small]
        return min(large, key=lambda d: d.difference, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {
            "slices": [part.to_dict() for part in self.slices],
            "differences": [difference.to_dict() for difference in self.differences],
            "notes": [note.to_dict() for note in self.notes],
        }


def with_slices(
    comparison: Comparison, slice_by: Mapping[str, Attribute] | None, texts: QueryValues | None = None
) -> Comparison:
    """The comparison with a table of slices; `slice_by` as `compare` takes it."""
    text_of = None if texts is None else lookup(texts, "queries")
    automatic = dict.fromkeys(name for name in AUTOMATIC if name != "length" or text_of is not None)
    notes: list[Note] = []
    groups: dict[str, Groups] = {}
    for name, given in (slice_by or automatic).items():
        parts = group_queries(str(name), _attribute(comparison, str(name), given, text_of), notes)
        if parts is not None:
            groups[str(name)] = parts
    return replace(comparison, slices=_table(comparison, groups, notes))


def _attribute(
    comparison: Comparison, name: str, given: Attribute, text_of: Callable[[str], Any] | None
) -> Sequence[Any]:
    """The attribute's value for each query of the comparison, None where there is none."""
    if given is not None:
        value_of = given if callable(given) else lookup(given, name)
        return [value_of(query) for query in comparison.queries]
    if name == "length":
        if text_of is None:
            raise InputError("slices by length need the queries' texts", hint="queries={'q1': 'some words'}.")
        return word_counts(text_of, comparison.queries)
    if name == "relevant" and comparison.placed:
        return relevant_counts(comparison.placed[0].qrels.text, comparison.queries)
    if name == "judged":
        return _judged_shares(comparison)
    raise InputError(
        f"no values were given for slices by {name!r}",
        hint=f"Give a dict or a function of the query id; automatic are: {', '.join(AUTOMATIC)}.",
    )


def word_counts(text_of: Callable[[str], Any], queries: Sequence[str]) -> list[int | None]:
    """How many words each query has; None without a text."""
    return [None if text is None else len(str(text).split()) for text in map(text_of, queries)]


def relevant_counts(grades: Mapping[str, Mapping[str, float]], queries: Sequence[str]) -> list[int | None]:
    """How many relevant documents each query has; None if it is not judged."""
    judged = [grades.get(query) for query in queries]
    return [None if docs is None else sum(grade >= 1 for grade in docs.values()) for docs in judged]


def _judged_shares(comparison: Comparison) -> list[float | None]:
    values = comparison.values.get("Judged@10")
    if values is None:
        if not all("Judged@10" in scores.columns for scores in comparison.scores):
            raise InputError("slices by judged share need Judged@10 among the measures")
        by_query = [scores.per_query["Judged@10"] for scores in comparison.scores]
        values = np.array([[shares[query] for query in comparison.queries] for shares in by_query])
    return [None if math.isnan(share) else share for share in values.mean(axis=0).tolist()]


def lookup(given: Any, name: str) -> Callable[[str], Any]:
    """A function of the query id, from a mapping, a JSONL file or a data frame of queries."""
    if isinstance(given, Mapping):
        by_id = {ids.as_text(key, "query id"): value for key, value in given.items()}
        return by_id.get
    if isinstance(given, str | os.PathLike):
        rows = read_objects(given)
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


def read_objects(path: types.Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file, or the one object of a JSON file."""
    source = open_source(path)
    hint = "Each field has one name."
    if json_text.is_lines(source):
        numbered = list(json_text.read_lines(source, Counter(), hint))
    else:
        numbered = [(1, json_text.read_whole(source, hint))]
    for number, row in numbered:
        if not isinstance(row, dict):
            raise InputError("is not a JSON object", where=Place(source.name, number))
    return [row for _, row in numbered]


def group_queries(name: str, values: Sequence[Any], notes: list[Note]) -> Groups | None:
    """Each value of the attribute with the queries that have it; None if it tells no queries apart."""
    values = [None if isinstance(value, float) and math.isnan(value) else value for value in values]
    known = [value for value in values if value is not None]
    if not known:
        raise InputError(f"slices by {name!r}: no query of the comparison has a value", hint="Are the ids the same?")
    if len(known) < len(values):
        absent = len(values) - len(known)
        notes.append(Note.of("unsliced-queries", attribute=name, count=absent, queries=len(values)))
    numeric = all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in known)
    different = set(known) if numeric else set(map(str, known))
    if len(different) == 1:
        notes.append(Note.of("one-slice", attribute=name))
        return None
    if numeric and len(different) > MOST_NUMBERS:
        return _thirds(np.array([math.nan if v is None else float(v) for v in values]))
    if len(different) > MOST_CATEGORIES:
        raise InputError(
            f"slices by {name!r}: {len(different):,} different values", hint=f"Use at most {MOST_CATEGORIES}."
        )
    if numeric:
        return {f"{v:g}": np.array([x is not None and x == v for x in values]) for v in sorted(different)}
    return {v: np.array([x is not None and str(x) == v for x in values]) for v in sorted(different)}


def _thirds(values: np.ndarray) -> dict[str, np.ndarray]:
    low, high = np.nanquantile(values, [1 / 3, 2 / 3], method="inverted_cdf")
    parts = [values <= low, (values > low) & (values <= high), values > high]
    return {f"{values[part].min():.4g} to {values[part].max():.4g}": part for part in parts if part.any()}


def _table(comparison: Comparison, groups: Mapping[str, Groups], notes: list[Note]) -> SliceTable:
    level = comparison.settings.level
    slices: list[Slice] = []
    differences: list[SliceDifference] = []
    for measure in comparison.measures:
        values = comparison.values[measure]
        counted = ~np.isnan(values[0])
        parts = [
            (attribute, value, which & counted)
            for attribute, masks in groups.items()
            for value, which in masks.items()
            if (which & counted).any()
        ]
        for attribute, value, which in parts:
            rows = dict(zip(comparison.runs, values[:, which], strict=True))
            means = {run: float(row.mean()) for run, row in rows.items()}
            intervals = {run: paired.t_interval(row, level) for run, row in rows.items()}
            slices.append(Slice(attribute, value, measure, int(which.sum()), means, intervals))
        for pair in comparison.of(measure):
            of_pair = _differences(comparison, pair, parts)
            differences += of_pair
            notes += _turned(pair, of_pair)
    return SliceTable(tuple(slices), tuple(differences), tuple(notes))


def _differences(
    comparison: Comparison, pair: Pair, parts: Sequence[tuple[str, str, np.ndarray]]
) -> list[SliceDifference]:
    """One pair's difference in each slice, tested; those that are not small are corrected together."""
    settings = comparison.settings
    rows = dict(zip(comparison.runs, comparison.values[pair.measure], strict=True))
    delta = rows[pair.b] - rows[pair.a]
    differences = []
    for attribute, value, which in parts:
        part = delta[which]
        p = paired.randomization_test(part, 2_000, settings.seed)[0]
        interval = paired.t_interval(part, settings.level)
        mean = float(part.mean())
        differences.append(
            SliceDifference(attribute, value, pair.measure, len(part), pair.a, pair.b, mean, interval, p)
        )
    adjusted = adjust(np.array([math.nan if part.small else part.p for part in differences]), "holm").tolist()
    return [
        replace(part, adjusted=p, reversed=p <= settings.alpha and part.difference * pair.difference < 0)
        for part, p in zip(differences, adjusted, strict=True)
    ]


def _turned(pair: Pair, differences: Sequence[SliceDifference]) -> list[Note]:
    """Slices that go the other way, and attributes by whose slices, each counted once, the order turns round."""
    where = "ahead of" if pair.difference > 0 else "behind"
    overall = f"{pair.measure}: over all queries {ids.show(pair.b)} is {where} {ids.show(pair.a)}"
    overall += f" ({pair.difference:+.4f})"
    notes = []
    for part in filter(lambda part: part.reversed, differences):
        facts = {"attribute": ids.show(part.attribute), "value": ids.show(part.value)}
        notes.append(Note.of("slice-turned", overall=overall, **facts, mean=part.difference, count=part.n))
    for attribute in dict.fromkeys(part.attribute for part in differences):
        means = [part.difference for part in differences if part.attribute == attribute and not part.small]
        mean = float(np.mean(means)) if means else 0.0
        if len(means) > 1 and all(means) and mean * pair.difference < 0:
            notes.append(Note.of("slice-decides", overall=overall, attribute=ids.show(attribute), mean=mean))
    return notes
