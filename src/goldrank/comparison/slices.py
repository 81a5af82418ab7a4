"""Groups of queries: where is a system better, and where is it worse?

An attribute gives each query a value: a category, or a number, which is cut into thirds when there are many.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
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
    difference_interval,
    differing,
    estimate,
    mean_interval,
    too_few_to_decide,
)
from goldrank.comparison.pair import Pair
from goldrank.comparison.result import Comparison
from goldrank.comparison.slice_table import Slice, SliceDifference, SliceTable
from goldrank.comparison.statistics import MeasureFacts, facts_of
from goldrank.data.queries import Queries, is_missing
from goldrank.evaluation import pipeline
from goldrank.evaluation.pipeline import Placed
from goldrank.measures import parse

MOST_CATEGORIES = 50
MOST_NUMBERS = 8
"""A numeric attribute with more different values than this is cut into thirds."""

MOST_FLIPPED = 30_000_000
"""The most numbers, 240 MB, that are in memory under flips at a time."""

AUTOMATIC = {
    "relevant": "the number of relevant documents of a query",
    "judged": "the share of judged documents among the first ten, over all systems",
    "length": "the number of words of the query's text",
    "history": "how many items the user had before: none (cold), few or many; needs training data",
}


Groups: TypeAlias = "dict[str, np.ndarray]"
"""The queries that have each value of an attribute, as masks."""

Part: TypeAlias = "tuple[str, str, np.ndarray]"
"""One slice: attribute, value, and which queries have it."""


def slice_names(slice_by: object) -> list[str]:
    """The attributes to slice by, from what callers pass: a name or several."""
    entries = [slice_by]
    if isinstance(slice_by, Iterable) and not isinstance(slice_by, str | Mapping | bytes):
        entries = list(slice_by)

    for name in entries:
        if not isinstance(name, str):
            message = f"slice_by has {shown(name)}, which is not the name of an attribute"
            hint = 'For example slice_by="kind", where queries={"q1": {"kind": "short"}}.'
            raise OptionError(message, hint=hint, code="wrong-type")
        ids.check_text(name, "name in slice_by")
    return [str(name) for name in entries]


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
        parts += [(name, value, in_slice) for value, in_slice in groups.items()]
    return parts


def _available(comparison: Comparison) -> list[str]:
    """The automatic attributes that are known for this comparison."""
    is_available = {
        "relevant": bool(comparison.placed),
        "judged": bool(comparison.placed) or _has_judged(comparison),
        "length": bool(comparison.texts),
        "history": bool(comparison.placed) and comparison.placed[0].catalogue.train is not None,
    }
    return [name for name in AUTOMATIC if is_available[name]]


def _attribute(comparison: Comparison, name: str) -> Sequence[Any]:
    """The attribute's value for each query of the comparison, None where there is none."""
    query_table = comparison.known
    if query_table is not None and query_table.has(name):
        return list(map(query_table.column(name).get, comparison.queries))

    if name == "length":
        if not comparison.texts:
            message = "slices by length need the queries' texts"
            raise InputError(message, hint='Pass queries={"q1": "some words"}.', code="slice-needs-input")
        return word_counts(comparison.texts.get, comparison.queries)

    if name == "relevant":
        if not comparison.placed:
            message = "slices by relevant need scores made now"
            hint = "compare(qrels, runs), or compare(evaluate(qrels, Runs(runs)))."
            raise InputError(message, hint=hint, code="slice-needs-input")
        return relevant_counts(comparison.placed[0].qrels.text, comparison.queries)

    if name == "judged":
        return _judged_shares(comparison)
    if name == "history":
        placed = None
        if comparison.placed:
            placed = comparison.placed[0]
        return history_sizes(placed, comparison.queries)

    raise no_slice_values(name, query_table)


def no_slice_values(name: str, query_table: Queries | None) -> InputError:
    """The error for an attribute that no query has a value of."""
    attributes: list[str] = []
    if query_table is not None:
        attributes = list(query_table.attributes)
    hint = did_you_mean(name, [*attributes, *AUTOMATIC])
    if hint is None:
        listed = ", ".join(map(ids.show, attributes)) or "none"
        hint = f"Attributes of queries are: {listed}; automatic are: {', '.join(AUTOMATIC)}."
    return InputError(f"no query has a value for slices by {name!r:.80}", hint=hint, code="no-slice-values")


def word_counts(text_of: Callable[[str], Any], queries: Sequence[str]) -> list[int | None]:
    """How many words each query has; None without a text."""
    counts: list[int | None] = []
    for text in map(text_of, queries):
        if text is None:
            counts.append(None)
        else:
            counts.append(len(str(text).split()))
    return counts


def relevant_counts(grades: Mapping[str, Mapping[str, float]], queries: Sequence[str]) -> list[int | None]:
    """How many relevant documents each query has; None if it is not judged."""
    counts: list[int | None] = []
    for query in queries:
        if query in grades:
            counts.append(sum(grade >= 1 for grade in grades[query].values()))
        else:
            counts.append(None)
    return counts


def history_sizes(placed: Placed | None, users: Sequence[str]) -> list[str]:
    """How much each user had in the training data, in words: nothing, or up to the median of the others, or more."""
    if placed is None or placed.catalogue.train is None:
        message = "slices by history need training data"
        hint = "--catalogue train=FILE, or catalogue=Catalogue(train=...), with scores made now."
        raise InputError(message, hint=hint, code="slice-needs-input")

    items = placed.catalogue.train.items
    counts = [len(items.get(user, ())) for user in users]
    warm = sorted(count for count in counts if count)
    if not warm:
        return ["cold: 0"] * len(counts)

    median = warm[(len(warm) - 1) // 2]
    words = []
    for count in counts:
        if count == 0:
            words.append("cold: 0")
        elif count <= median:
            words.append(f"warm: {_counted(warm[0], median)}")
        else:
            words.append(f"warm: {median + 1} or more")
    return words


def _counted(least: int, most: int) -> str:
    if least == most:
        return str(least)
    return f"{least} to {most}"


def none_for_nan(values: np.ndarray) -> list[float | None]:
    """The numbers, with None for those that are not defined."""
    return [None if math.isnan(value) else value for value in values.tolist()]


def _has_judged(comparison: Comparison) -> bool:
    return all("Judged@10" in scores.columns for scores in comparison.systems)


def _judged_shares(comparison: Comparison) -> list[float | None]:
    scored = comparison.systems
    if not _has_judged(comparison):
        if not comparison.placed:
            raise InputError("slices by judged share need Judged@10 among the measures", code="slice-needs-input")
        scored = tuple(pipeline.score(placed, [parse("Judged@10")]) for placed in comparison.placed)

    rows = []
    for scores in scored:
        share_of = scores.per_query["Judged@10"]
        rows.append([share_of.get(query, math.nan) for query in comparison.queries])
    return none_for_nan(np.array(rows).mean(axis=0))


def group_queries(name: str, values: Sequence[Any], notes: list[Note]) -> Groups | None:
    """Each value of the attribute with the queries that have it; None if all queries have the same value."""
    values = [None if is_missing(value) else value for value in values]
    defined = [value for value in values if value is not None]
    if not defined:
        message = f"slices by {name!r}: no query of the comparison has a value"
        raise InputError(message, hint="Are the ids the same?", code="no-slice-values")

    if len(defined) < len(values):
        undefined = len(values) - len(defined)
        notes.append(Note.of("unsliced-queries", attribute=name, count=undefined, queries=len(values)))

    numeric = all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in defined)
    distinct = set(defined)
    if not numeric:
        distinct = set(map(str, defined))
    if len(distinct) == 1:
        notes.append(Note.of("one-slice", attribute=name))
        return None

    if numeric and len(distinct) > MOST_NUMBERS:
        return _thirds(np.array([math.nan if value is None else float(value) for value in values]))
    if len(distinct) > MOST_CATEGORIES:
        raise InputError(
            f"slices by {name!r}: {len(distinct):,} different values",
            hint=f"Use at most {MOST_CATEGORIES}.",
            code="too-many-slices",
        )

    groups: Groups = {}
    for category in sorted(distinct):
        if numeric:
            members = [value is not None and value == category for value in values]
            groups[f"{category:g}"] = np.array(members)
        else:
            members = [value is not None and str(value) == category for value in values]
            groups[category] = np.array(members)
    return groups


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
            of_measure = [(attribute, value, in_slice & counted) for attribute, value, in_slice in parts]
            slices += [_means(comparison, facts, part, design) for part in of_measure if part[2].any()]
            for pair in comparison.of(measure):
                family = [(row, part) for part, row in zip(of_measure, rows, strict=False) if part[2].any()]
                of_pair = _differences(comparison, pair, facts, family, design, flipped)
                differences += of_pair
                notes += _turned(pair, of_pair)

    return SliceTable(tuple(slices), tuple(differences), tuple(notes))


def _means(comparison: Comparison, facts: MeasureFacts, part: Part, design: Design) -> Slice:
    """The means of the systems on a slice, with their intervals."""
    attribute, value, in_slice = part
    rows = dict(zip(comparison.runs, comparison.values[facts.name][:, in_slice], strict=True))
    interval_options: dict[str, Any] = {"level": comparison.statistics.level, "low": facts.low, "high": facts.high}
    interval_options |= design.part(in_slice)._asdict()
    means = {run: design.mean(row, in_slice) for run, row in rows.items()}
    intervals = {run: mean_interval(row, **interval_options) for run, row in rows.items()}
    return Slice(attribute, value, facts.name, int(in_slice.sum()), means, intervals)


def _flipped(comparison: Comparison, measures: Sequence[str], parts: Sequence[Part], design: Design) -> Flipped:
    """All slices of all pairs under one set of flips: a row per measure, pair and slice."""
    values = [comparison.values[measure] for measure in measures]
    differences = np.concatenate([np.nan_to_num(matrix - matrix[0]) for matrix in values])
    blocks = []
    for *_, in_slice in parts:
        columns = design.unit_columns(np.where(in_slice, differences, 0.0))
        units = np.flatnonzero((columns != 0).any(axis=0))
        blocks.append(UnitBlock(units, columns[:, units]))

    position_of = {run: i for i, run in enumerate(comparison.runs)}
    rows = []
    for measure_number, measure in enumerate(measures):
        for pair in comparison.of(measure):
            for slice_number in range(len(parts)):
                first = slice_number * len(differences) + measure_number * len(position_of)
                rows.append((first + position_of[pair.a], first + position_of[pair.b]))

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
    differences = without_rounding(np.nan_to_num(rows[pair.b] - rows[pair.a]))
    raw = [raw_p(flipped, row).value for row, _ in family]
    tested: list[int] = []
    if not facts.diagnostic:
        for i, (_, (*_, in_slice)) in enumerate(family):
            if _is_decidable(differences[in_slice], *design.part(in_slice), statistics.alpha):
                tested.append(i)

    rows_tested = [family[i][0] for i in tested]
    raw_tested = [raw[i] for i in tested]
    corrected = max_t(flipped, rows_tested, alpha=statistics.alpha, raw=raw_tested)
    adjusted = dict(zip(tested, raw_tested, strict=True))
    if len(tested) > 1:
        adjusted = dict(zip(tested, corrected.adjusted.tolist(), strict=True))

    slice_differences = []
    for i, (_, (attribute, value, in_slice)) in enumerate(family):
        values, part = differences[in_slice], design.part(in_slice)
        critical = None
        if len(tested) > 1 and design.is_plain:
            critical = t_of_u(corrected.critical, len(values))
        elif len(tested) > 1:
            critical = t_of_u_weighted(corrected.critical, estimate(values, *part).freedom)
        interval_options = {"level": statistics.level, "reach": facts.reach, "critical": critical, **part._asdict()}
        interval = difference_interval(values, **interval_options)
        mean, p = design.mean(values, in_slice), adjusted.get(i, math.nan)
        is_reversed = p <= statistics.alpha and mean * pair.difference < 0
        pair_values = (pair.measure, len(values), pair.a, pair.b, mean, interval, raw[i], p, is_reversed)
        slice_differences.append(SliceDifference(attribute, value, *pair_values))

    return slice_differences


def _is_decidable(values: np.ndarray, units: np.ndarray | None, weights: np.ndarray | None, alpha: float) -> bool:
    """Whether enough units of a slice differ for a test."""
    if units is not None and int(units.max()) + 1 < FEWEST_CLUSTERS:
        return False
    return not too_few_to_decide(differing(values, units, weights), alpha)


def _turned(pair: Pair, differences: Sequence[SliceDifference]) -> list[Note]:
    """Slices that go the other way, and attributes whose slices, each counted once, reverse the order."""
    position = "behind"
    if pair.difference > 0:
        position = "ahead of"
    overall = f"{pair.measure}: over all queries {ids.show(pair.b)} is {position} {ids.show(pair.a)}"
    overall += f" ({pair.difference:+.4f})"
    notes = []
    for part in differences:
        if not part.reversed:
            continue
        facts = {"attribute": ids.show(part.attribute), "value": ids.show(part.value)}
        notes.append(Note.of("slice-turned", overall=overall, **facts, mean=part.difference, count=part.n))

    for attribute in dict.fromkeys(part.attribute for part in differences):
        means = [part.difference for part in differences if part.attribute == attribute and not part.small]
        if len(means) < 2 or not all(means):
            continue
        mean = float(np.mean(means))
        if mean * pair.difference < 0:
            notes.append(Note.of("slice-decides", overall=overall, attribute=ids.show(attribute), mean=mean))

    return notes
