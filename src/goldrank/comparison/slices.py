"""Groups of queries: where is a system better, and where is it worse?

An attribute gives each query a value: a category, or a number, which is cut into thirds when there are many.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, did_you_mean
from goldrank.base.escaping import shown
from goldrank.base.notes import Note
from goldrank.comparison.design import Design
from goldrank.comparison.flips import (
    Flipped,
    UnitBlock,
    flip_blocks,
    max_t,
    raw_p,
    t_of_u,
    t_of_u_weighted,
    without_rounding,
)
from goldrank.comparison.intervals import (
    FEWEST_CLUSTERS,
    Interval,
    difference_interval,
    differing,
    estimate,
    mean_interval,
    too_few_to_decide,
)
from goldrank.comparison.pair import Pair
from goldrank.comparison.result import Comparison
from goldrank.comparison.statistics import MeasureFacts, facts_of
from goldrank.comparison.tabular import attributes
from goldrank.data.queries import Queries, is_missing
from goldrank.evaluation import pipeline
from goldrank.measures import parse

SMALL = 10
"""Slices with fewer queries are marked: a mean over so few says little. They are tested all the same."""
MOST_CATEGORIES = 50
MOST_NUMBERS = 8
"""A numeric attribute with more different values than this is cut into thirds."""

MOST_FLIPPED = 30_000_000
"""So many numbers, 240 MB, are held under flips at a time."""

AUTOMATIC = {
    "relevant": "the number of relevant documents of a query",
    "judged": "the share of judged documents among the first ten, over all systems",
    "length": "the number of words of the query's text",
}


Groups: TypeAlias = "dict[str, np.ndarray]"
"""The queries that have each value of an attribute, as masks."""

Part: TypeAlias = "tuple[str, str, np.ndarray]"
"""One slice: attribute, value, and which queries have it."""


@dataclass(frozen=True)
class _QueryGroup:
    """One measure on the queries that have one value of an attribute."""

    attribute: str
    value: str
    measure: str
    n: int

    @property
    def small(self) -> bool:
        """Whether there are so few queries that their mean says little."""
        return self.n < SMALL

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {**attributes(self, "attribute value measure"), "queries": self.n, "small": self.small}


@dataclass(frozen=True)
class Slice(_QueryGroup):
    """The means of the systems on one group of queries."""

    means: Mapping[str, float]
    intervals: Mapping[str, Interval]
    """The interval of each system's mean."""

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
    p_adjusted: float = math.nan
    """Corrected by the joint maximum over all slices of the pair and measure; NaN where so few queries differ that no
    test can decide."""
    reversed: bool = False
    """Whether the slice clearly goes the other way than all queries together."""

    def to_dict(self) -> dict[str, Any]:
        about = {**super().to_dict(), **attributes(self, "a b difference"), "interval": list(self.interval)}
        return {**about, "p": self.p, "p_adjusted": self.p_adjusted, "reversed": self.reversed}


@dataclass(frozen=True)
class SliceTable:
    """All slices of a comparison."""

    slices: tuple[Slice, ...]
    differences: tuple[SliceDifference, ...]
    notes: tuple[Note, ...] = ()

    def worst(self, measure: str, a: str, b: str) -> SliceDifference | None:
        """The slice, not a small one unless a test can decide it, on which b does worst against a."""
        of_pair = [d for d in self.differences if (d.measure, d.a, d.b) == (measure, a, b)]
        known = [d for d in of_pair if not d.small or not math.isnan(d.p_adjusted)]
        return min(known, key=lambda d: d.difference, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {
            "slices": [part.to_dict() for part in self.slices],
            "differences": [difference.to_dict() for difference in self.differences],
            "notes": [note.to_dict() for note in self.notes],
        }


def slice_names(given: object) -> list[str]:
    """The attributes to slice by, from what callers give: a name or several."""
    names = [given] if isinstance(given, str) else given
    listed = list(names) if isinstance(names, Iterable) and not isinstance(names, Mapping | bytes) else [given]
    for name in listed:
        if not isinstance(name, str):
            what = f"slice_by has {shown(name)}, which is no name of an attribute"
            hint = 'For example slice_by="kind", where queries={"q1": {"kind": "short"}}.'
            raise OptionError(what, hint=hint, code="wrong-type")
        ids.check_text(name, "name in slice_by")
    return [str(name) for name in listed]


def with_slices(comparison: Comparison, slice_by: Sequence[str]) -> Comparison:
    """The comparison with a table of slices by some attributes, or by the automatic ones that are known."""
    notes: list[Note] = []
    names = slice_by or _available(comparison)
    parts = slice_parts(names, partial(_attribute, comparison), notes)
    return replace(comparison, slices=_table(comparison, parts, notes))


def slice_parts(names: Sequence[str], values: Callable[[str], Sequence[Any]], notes: list[Note]) -> list[Part]:
    """All slices by some attributes; `values` gives an attribute's value of each query."""
    parts = []
    for name in dict.fromkeys(names):
        groups = group_queries(name, values(name), notes) or {}
        parts += [(name, value, which) for value, which in groups.items()]
    return parts


def _available(comparison: Comparison) -> list[str]:
    """The automatic attributes that can be told of this comparison."""
    has = {
        "relevant": bool(comparison.placed),
        "judged": bool(comparison.placed) or _has_judged(comparison),
        "length": bool(comparison.texts),
    }
    return [name for name in AUTOMATIC if has[name]]


def _attribute(comparison: Comparison, name: str) -> Sequence[Any]:
    """The attribute's value for each query of the comparison, None where there is none."""
    known = comparison.known
    if known is not None and known.has(name):
        return list(map(known.column(name).get, comparison.queries))

    if name == "length":
        if not comparison.texts:
            what = "slices by length need the queries' texts"
            raise InputError(what, hint='Pass queries={"q1": "some words"}.', code="slice-needs-input")
        return word_counts(comparison.texts.get, comparison.queries)

    if name == "relevant":
        if not comparison.placed:
            what = "slices by relevant need scores made now"
            hint = "compare(qrels, runs), or compare(evaluate(qrels, Runs(runs)))."
            raise InputError(what, hint=hint, code="slice-needs-input")
        return relevant_counts(comparison.placed[0].qrels.text, comparison.queries)

    if name == "judged":
        return _judged_shares(comparison)

    raise no_slice_values(name, known)


def no_slice_values(name: str, known: Queries | None) -> InputError:
    """The error for an attribute that no query has a value of."""
    attributes = [] if known is None else list(known.attributes)
    hint = did_you_mean(name, [*attributes, *AUTOMATIC])
    if hint is None:
        listed = ", ".join(map(ids.show, attributes)) or "none"
        hint = f"Attributes of queries are: {listed}; automatic are: {', '.join(AUTOMATIC)}."
    return InputError(f"no query has a value for slices by {name!r:.80}", hint=hint, code="no-slice-values")


def word_counts(text_of: Callable[[str], Any], queries: Sequence[str]) -> list[int | None]:
    """How many words each query has; None without a text."""
    return [None if text is None else len(str(text).split()) for text in map(text_of, queries)]


def relevant_counts(grades: Mapping[str, Mapping[str, float]], queries: Sequence[str]) -> list[int | None]:
    """How many relevant documents each query has; None if it is not judged."""
    judged = [grades.get(query) for query in queries]
    return [None if docs is None else sum(grade >= 1 for grade in docs.values()) for docs in judged]


def _has_judged(comparison: Comparison) -> bool:
    return all("Judged@10" in scores.columns for scores in comparison.systems)


def _judged_shares(comparison: Comparison) -> list[float | None]:
    scored = comparison.systems
    if not _has_judged(comparison):
        if not comparison.placed:
            raise InputError("slices by judged share need Judged@10 among the measures", code="slice-needs-input")
        scored = tuple(pipeline.score(placed, [parse("Judged@10")]) for placed in comparison.placed)
    by_query = [scores.per_query["Judged@10"] for scores in scored]
    values = np.array([[shares.get(query, math.nan) for query in comparison.queries] for shares in by_query])
    return [None if math.isnan(share) else share for share in values.mean(axis=0).tolist()]


def group_queries(name: str, values: Sequence[Any], notes: list[Note]) -> Groups | None:
    """Each value of the attribute with the queries that have it; None if it tells no queries apart."""
    values = [None if is_missing(value) else value for value in values]
    known = [value for value in values if value is not None]
    if not known:
        what = f"slices by {name!r}: no query of the comparison has a value"
        raise InputError(what, hint="Are the ids the same?", code="no-slice-values")

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
            f"slices by {name!r}: {len(different):,} different values",
            hint=f"Use at most {MOST_CATEGORIES}.",
            code="too-many-slices",
        )
    if numeric:
        return {f"{v:g}": np.array([x is not None and x == v for x in values]) for v in sorted(different)}
    return {v: np.array([x is not None and str(x) == v for x in values]) for v in sorted(different)}


def _thirds(values: np.ndarray) -> dict[str, np.ndarray]:
    low, high = np.nanquantile(values, [1 / 3, 2 / 3], method="inverted_cdf")
    parts = [values <= low, (values > low) & (values <= high), values > high]
    return {f"{values[part].min():.4g} to {values[part].max():.4g}": part for part in parts if part.any()}


def _table(comparison: Comparison, parts: Sequence[Part], notes: list[Note]) -> SliceTable:
    design = comparison.design or Design(np.argsort(np.array(comparison.queries, object), kind="stable"))
    slices: list[Slice] = []
    differences: list[SliceDifference] = []
    if not parts:
        return SliceTable((), (), tuple(notes))

    # Measures share flips, which are drawn once for as many of them as the memory for their sums allows.
    numbers = len(parts) * len(comparison.runs) * (comparison.statistics.draws() + len(comparison.queries))
    at_once = max(1, MOST_FLIPPED // numbers)
    for first in range(0, len(comparison.measures), at_once):
        measures = comparison.measures[first : first + at_once]
        flipped = _flipped(comparison, measures, parts, design)
        rows = itertools.count()
        for measure in measures:
            values = comparison.values[measure]
            facts = facts_of(comparison.systems[0].columns[measure], values)
            counted = ~np.isnan(values[0])
            of_measure = [(attribute, value, which & counted) for attribute, value, which in parts]
            slices += [_means(comparison, facts, part, design) for part in of_measure if part[2].any()]
            for pair in comparison.of(measure):
                family = [(row, part) for part, row in zip(of_measure, rows, strict=False) if part[2].any()]
                of_pair = _differences(comparison, pair, facts, family, design, flipped)
                differences += of_pair
                notes += _turned(pair, of_pair)

    return SliceTable(tuple(slices), tuple(differences), tuple(notes))


def _means(comparison: Comparison, facts: MeasureFacts, part: Part, design: Design) -> Slice:
    """The means of the systems on a slice, with their intervals."""
    attribute, value, which = part
    rows = dict(zip(comparison.runs, comparison.values[facts.name][:, which], strict=True))
    about: dict[str, Any] = {"level": comparison.statistics.level, "low": facts.low, "high": facts.high}
    about |= design.part(which)._asdict()
    return Slice(
        attribute, value, facts.name, int(which.sum()),
        means={run: design.mean(row, which) for run, row in rows.items()},
        intervals={run: mean_interval(row, **about) for run, row in rows.items()},
    )  # fmt: skip


def _flipped(comparison: Comparison, measures: Sequence[str], parts: Sequence[Part], design: Design) -> Flipped:
    """All slices of all pairs under one set of flips: a row per measure, pair and slice."""
    values = [comparison.values[measure] for measure in measures]
    moved = np.concatenate([np.nan_to_num(matrix - matrix[0]) for matrix in values])
    blocks = []
    for *_, which in parts:
        columns = design.unit_columns(np.where(which, moved, 0.0))
        about = np.flatnonzero((columns != 0).any(axis=0))
        blocks.append(UnitBlock(about, columns[:, about]))

    at = {run: i for i, run in enumerate(comparison.runs)}
    rows = [
        (i * len(moved) + m * len(at) + at[pair.a], i * len(moved) + m * len(at) + at[pair.b])
        for m, measure in enumerate(measures)
        for pair in comparison.of(measure)
        for i in range(len(parts))
    ]
    statistics = comparison.statistics
    return flip_blocks(blocks, columns.shape[1], np.array(rows), samples=statistics.draws() - 1, seed=statistics.seed)


def _differences(
    comparison: Comparison,
    pair: Pair,
    facts: MeasureFacts,
    family: Sequence[tuple[int, Part]],
    design: Design,
    flipped: Flipped,
) -> list[SliceDifference]:
    """One pair's difference in each slice, tested by flips and corrected together; slices with their rows."""
    statistics = comparison.statistics
    rows = dict(zip(comparison.runs, comparison.values[pair.measure], strict=True))
    delta = without_rounding(np.nan_to_num(rows[pair.b] - rows[pair.a]))
    raw = [raw_p(flipped, row).value for row, _ in family]
    of_parts = [(delta[which], design.part(which)) for _, (*_, which) in family]
    tested = [i for i, (values, part) in enumerate(of_parts) if _is_decidable(values, *part, statistics.alpha)]
    tested = [] if facts.diagnostic else tested
    joint = max_t(flipped, [family[i][0] for i in tested], alpha=statistics.alpha, raw=[raw[i] for i in tested])
    adjusted = dict(zip(tested, joint.adjusted.tolist() if len(tested) > 1 else [raw[i] for i in tested], strict=True))
    differences = []
    for i, ((_, (attribute, value, which)), (values, part)) in enumerate(zip(family, of_parts, strict=True)):
        critical = None
        if len(tested) > 1:
            freedom = estimate(values, *part).freedom
            of_units = t_of_u(joint.critical, len(values))
            critical = of_units if design.is_plain else t_of_u_weighted(joint.critical, freedom)
        about = {"level": statistics.level, "reach": facts.reach, "critical": critical, **part._asdict()}
        interval = difference_interval(values, **about)
        mean, p = design.mean(values, which), adjusted.get(i, math.nan)
        turned = p <= statistics.alpha and mean * pair.difference < 0
        about_pair = (pair.measure, len(values), pair.a, pair.b, mean, interval, raw[i], p, turned)
        differences.append(SliceDifference(attribute, value, *about_pair))

    return differences


def _is_decidable(values: np.ndarray, units: np.ndarray | None, weights: np.ndarray | None, alpha: float) -> bool:
    """Whether enough units of a slice differ for a test."""
    if units is not None and int(units.max()) + 1 < FEWEST_CLUSTERS:
        return False
    return not too_few_to_decide(differing(values, units, weights), alpha)


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
