"""What to know beside the values of a run: counts, and the notes made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from goldrank.base import ids
from goldrank.base.notes import Note, from_counts
from goldrank.conventions import Convention, tool_of
from goldrank.data.placements import Placements
from goldrank.data.scores import Bounds, Column, format_value
from goldrank.engine import RunCounts
from goldrank.measures import Measure, summarise
from goldrank.measures.apply import counted as measure_counted
from goldrank.measures.unjudged_share import copies

_COUNTED = {
    "empty-rankings": "no_results",
    "no-relevant": "no_relevant",
    "constant-scores": "constant",
    "repeated-documents": "repeated",
    "infinite-scores": "infinite",
    "contradicted-ranks": "contradicted",
    "near-forms": "near_forms",
}
"""Notes that say a count and no more, and the count that they say."""
_TIES = {"input": "ordered in input order", "expected": "averaged over all orders"}
_MISSING = {"zero": "counted as 0", "skip": "left out of the mean"}


def absent(placements: Placements) -> list[str]:
    """The judged queries that are not in the run."""
    return [query for query, there in zip(placements.queries, placements.answered, strict=True) if not there]


def counts_of(placements: Placements, counts: RunCounts) -> dict[str, int]:
    """The counts of a result."""
    relevant = placements.relevant(1)

    return {
        "queries": len(placements),
        "missing": int((~placements.answered).sum()),
        "unjudged_queries": counts.unjudged_queries,
        "no_results": int((placements.answered & (placements.retrieved == 0)).sum()),
        "no_relevant": int((relevant == 0).sum()),
        "retrieved": int(placements.retrieved.sum()),
        "judged_retrieved": int((placements.grade >= 0).sum()),
        "relevant": int(relevant.sum()),
        "relevant_retrieved": int((placements.grade >= 1).sum()),
        "tied": int((placements.tie_first < placements.tie_last).sum()),
        "repeated": counts.repeated,
        "infinite": counts.infinite,
        "contradicted": counts.contradicted,
        "constant": counts.constant,
        "near_forms": counts.near_forms,
    }


def notes_of(
    numbers: Mapping[str, int],
    counts: RunCounts,
    on_judgements: Sequence[Note],
    on_run: Sequence[Note],
    rules: Convention,
    placements: Placements,
    columns: Mapping[Measure, Column],
    depth: int | None = None,
    bounds: Mapping[str, Bounds] | None = None,
) -> tuple[Note, ...]:
    """The counts that a reader must know; what is as it should be is not mentioned."""
    notes: list[Note] = []
    if numbers["missing"]:
        how, gone = _MISSING[rules.missing], absent(placements)
        judged = numbers["queries"]
        notes.append(Note.of("missing-queries", count=numbers["missing"], judged=judged, how=how, samples=gone))
        if rules.missing == "zero" and placements.answered.any():
            notes.append(Note.of("without-missing", means=_means(columns, placements.answered)))

    if not len(placements):
        notes.append(Note.of("empty-shard"))
    elif numbers["retrieved"] == 0:
        notes.append(Note.of("nothing-returned"))

    if numbers["unjudged_queries"]:
        count = numbers["unjudged_queries"]
        notes.append(Note.of("unjudged-queries", count=count, samples=counts.unjudged_examples))

    if depth is not None:
        notes.append(Note.of("cut-rankings", depth=depth))

    if numbers["retrieved"]:
        notes.append(Note.of("judged-share", part=numbers["judged_retrieved"], whole=numbers["retrieved"]))

    if numbers["tied"]:
        rule = _TIES.get(rules.ties, "ordered by document id")
        notes.append(Note.of("tied-documents", count=numbers["tied"], rule=rule))
        ranges = () if rules.ties == "expected" else _tie_ranges(columns, placements, rules)
        if ranges:
            notes.append(Note.of("tie-ranges", ranges=ranges))

    notes += from_counts({code: numbers[count] for code, count in _COUNTED.items()})
    if len(counts.tags) > 1:
        notes.append(Note.of("several-tags", samples=map(ids.decode, counts.tags)))

    notes += [note.with_about("qrels") for note in on_judgements]
    notes += [note.with_about("run") for note in on_run]
    notes += from_counts(counts.tolerated, about="run")
    if placements.shared:
        notes.append(Note.of("repeated-places", count=int((~placements.novel).sum()), about="run"))

    notes += _unjudged_ranges(bounds or {})
    notes += _unreachable_recall(columns, placements)
    notes += _negative_grades(columns, placements)
    for measure in columns:
        if measure.declaration.caveat in ("sampled", "accuracy-of-pairs"):
            notes.append(Note.of(measure.declaration.caveat, measure=str(measure)))

    return tuple(notes)


def _unjudged_ranges(bounds: Mapping[str, Bounds]) -> list[Note]:
    """Bounds from unjudged documents; those over ties are among the notes anyway."""
    ranges = tuple(
        (name, format_value(both.low.summary), format_value(both.high.summary))
        for name, both in bounds.items()
        if both.why == "unjudged"
    )
    if ranges:
        return [Note.of("unjudged-ranges", ranges=ranges)]
    return []


def _tie_ranges(
    columns: Mapping[Measure, Column], placements: Placements, rules: Convention
) -> tuple[tuple[str, str, str], ...]:
    """How far tied documents could move the summaries, where four decimals show it."""
    counted = placements.answered if rules.missing == "skip" else np.ones(len(placements), bool)
    tied = np.zeros(len(placements), bool)
    tied[placements.query[placements.tie_first < placements.tie_last]] = True
    if not (tied & counted).any():
        return ()

    # Only queries with ties can move, and they are few mostly: the others keep their values.
    moved = np.flatnonzero(tied & counted)
    table = placements if placements.shared else copies(placements, moved)
    worst, best = table.best_of_ties(False), table.best_of_ties(True)
    at = np.cumsum(counted)[moved] - 1
    ranges = []
    for measure, column in columns.items():
        declared = measure.declaration
        if not declared.monotone or declared.over != "placements" or np.isnan(column.values).any():
            continue
        repeats = tool_of(rules).reading(measure).repeats
        low, high = (
            _with_values(measure, column, at, values if len(table) == len(moved) else values[moved])
            for values in (measure_counted(measure, placed, repeats) for placed in (worst, best))
        )
        shown = format_value(low), format_value(high)
        if shown[0] != shown[1]:
            ranges.append((str(measure), *shown))

    return tuple(ranges)


def _with_values(measure: Measure, column: Column, at: np.ndarray, values: np.ndarray) -> float:
    """The summary of a column if some queries had other values."""
    changed = column.values.copy()
    changed[at] = values
    return summarise(measure, changed)


def _unreachable_recall(columns: Mapping[Measure, Column], placements: Placements) -> list[Note]:
    """Measures that cannot be 1 because the cut-off is smaller than the number of relevant documents."""
    notes = []
    for measure in columns:
        declared = measure.declaration
        divides = declared.caveat == "divided-by-relevant" and measure.option("divisor") == "relevant"
        if (declared.limited_by_k or divides) and measure.k is not None:
            beyond = int((placements.relevant(measure.option("rel")) > measure.k).sum())
            code, more = "unreachable-recall", {}
            if divides:
                code, more = "divided-by-relevant", {"other": str(measure.having({"divisor": "min"}))}
            if beyond:
                queries = len(placements)
                notes.append(Note.of(code, measure=str(measure), k=measure.k, count=beyond, queries=queries, **more))

    return notes


def _negative_grades(columns: Mapping[Measure, Column], placements: Placements) -> list[Note]:
    """Measures of wrong documents, to which a document with a grade below 0 is one that nobody judged."""
    notes = []
    for measure in columns:
        if not measure.declaration.counts_nonrelevant:
            continue
        shown = placements.grade < 0
        if measure.k is not None:
            shown &= placements.rank <= measure.k
        if shown.any():
            notes.append(Note.of("negative-grades-unjudged", measure=str(measure), count=int(shown.sum())))
    return notes


def _means(columns: Mapping[Measure, Column], counted: np.ndarray, limit: int = 4) -> str:
    """The first few measures' summaries over some of the queries."""
    shown = []
    for measure, column in list(columns.items())[:limit]:
        values = column.values[counted & ~np.isnan(column.values)]
        shown.append(f"{measure} {format_value(summarise(column.average, values), column.average)}")
    return ", ".join(shown) + (", ..." if len(columns) > limit else "")
