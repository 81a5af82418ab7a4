"""What a reader should know beside the values of a run: counts, and the notes made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
"""Notes that only show a count, and the count that they show."""
_TIES = {"input": "ordered in input order", "expected": "averaged over all orders"}
_MISSING = {"zero": "counted as 0", "skip": "left out of the mean"}


def absent(placements: Placements) -> list[str]:
    """The judged queries that are not in the run."""
    pairs = zip(placements.queries, placements.answered, strict=True)
    return [query for query, is_answered in pairs if not is_answered]


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


@dataclass(frozen=True)
class ScoredRun:
    """A run that was scored: what its notes are made from, beside the counts of the result."""

    counts: RunCounts
    on_judgements: Sequence[Note]
    """Notes of reading the judgements."""
    on_run: Sequence[Note]
    """Notes of reading the run."""
    rules: Convention
    placements: Placements
    columns: Mapping[Measure, Column] = field(default_factory=dict)
    depth: int | None = None
    bounds: Mapping[str, Bounds] = field(default_factory=dict)


def notes_of(numbers: Mapping[str, int], run: ScoredRun) -> tuple[Note, ...]:
    """The counts that a reader must know; what is as it should be is not mentioned."""
    placements, columns = run.placements, run.columns
    notes = _notes_on_missing(numbers, run)
    if not len(placements):
        notes.append(Note.of("empty-shard"))
    elif numbers["retrieved"] == 0:
        notes.append(Note.of("nothing-returned"))

    if numbers["unjudged_queries"]:
        count = numbers["unjudged_queries"]
        notes.append(Note.of("unjudged-queries", count=count, samples=run.counts.unjudged_examples))

    if run.depth is not None:
        notes.append(Note.of("cut-rankings", depth=run.depth))

    if numbers["retrieved"]:
        notes.append(Note.of("judged-share", part=numbers["judged_retrieved"], whole=numbers["retrieved"]))

    notes += _notes_on_ties(numbers["tied"], run)
    notes += from_counts({code: numbers[count] for code, count in _COUNTED.items()})
    if len(run.counts.tags) > 1:
        notes.append(Note.of("several-tags", samples=map(ids.decode, run.counts.tags)))

    notes += [note.with_about("qrels") for note in run.on_judgements]
    notes += [note.with_about("run") for note in run.on_run]
    notes += from_counts(run.counts.tolerated, about="run")
    if placements.shared:
        notes.append(Note.of("repeated-places", count=int((~placements.novel).sum()), about="run"))

    notes += _unjudged_ranges(run.bounds)
    notes += _unreachable_recall(columns, placements)
    notes += _negative_grades(columns, placements)
    for measure in columns:
        if measure.declaration.caveat in ("sampled", "accuracy-of-pairs"):
            notes.append(Note.of(measure.declaration.caveat, measure=str(measure)))

    return tuple(notes)


def _notes_on_missing(numbers: Mapping[str, int], run: ScoredRun) -> list[Note]:
    """Judged queries that are not in the run."""
    if not numbers["missing"]:
        return []

    missing = Note.of(
        "missing-queries",
        count=numbers["missing"],
        judged=numbers["queries"],
        how=_MISSING[run.rules.missing],
        samples=absent(run.placements),
    )
    if run.columns and run.rules.missing == "zero" and run.placements.answered.any():
        return [missing, Note.of("without-missing", means=_means(run.columns, run.placements.answered))]
    return [missing]


def _notes_on_ties(tied: int, run: ScoredRun) -> list[Note]:
    """Documents with equal scores, and how far their order could move the summaries."""
    if not tied:
        return []

    rule = _TIES.get(run.rules.ties, "ordered by document id")
    notes = [Note.of("tied-documents", count=tied, rule=rule)]
    if run.rules.ties != "expected":
        ranges = _tie_ranges(run.columns, run.placements, run.rules)
        if ranges:
            notes.append(Note.of("tie-ranges", ranges=ranges))
    return notes


def _unjudged_ranges(bounds: Mapping[str, Bounds]) -> list[Note]:
    """Bounds from unjudged documents; bounds over ties are among the notes anyway."""
    ranges = tuple(
        (name, format_value(bound.low.summary), format_value(bound.high.summary))
        for name, bound in bounds.items()
        if bound.why == "unjudged"
    )
    if ranges:
        return [Note.of("unjudged-ranges", ranges=ranges)]
    return []


def _tie_ranges(
    columns: Mapping[Measure, Column], placements: Placements, rules: Convention
) -> tuple[tuple[str, str, str], ...]:
    """How far tied documents could move the summaries, where four decimals show it."""
    counted = np.ones(len(placements), bool)
    if rules.missing == "skip":
        counted = placements.answered
    tied = np.zeros(len(placements), bool)
    tied[placements.query[placements.tie_first < placements.tie_last]] = True
    if not (tied & counted).any():
        return ()

    # Only queries with ties can move, and they are few mostly: the others keep their values.
    moved = np.flatnonzero(tied & counted)
    if placements.shared:
        table, moved_rows = placements, moved
    else:
        table, moved_rows = copies(placements, moved), np.arange(len(moved))
    worst, best = table.best_of_ties(False), table.best_of_ties(True)
    index = np.cumsum(counted)[moved] - 1

    def summary(measure: Measure, column: Column, placed: Placements) -> str:
        """The summary of a column if the queries that can move had other values."""
        values = measure_counted(measure, placed, tool_of(rules).reading(measure).repeats)
        changed = column.values.copy()
        changed[index] = values[moved_rows]
        return format_value(summarise(measure, changed))

    ranges = []
    for measure, column in columns.items():
        declared = measure.declaration
        if not declared.monotone or declared.over != "placements" or np.isnan(column.values).any():
            continue
        low, high = summary(measure, column, worst), summary(measure, column, best)
        if low != high:
            ranges.append((str(measure), low, high))

    return tuple(ranges)


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
                code, more = "divided-by-relevant", {"other": str(measure.with_defaults({"divisor": "min"}))}
            if beyond:
                queries = len(placements)
                notes.append(Note.of(code, measure=str(measure), k=measure.k, count=beyond, queries=queries, **more))

    return notes


def _negative_grades(columns: Mapping[Measure, Column], placements: Placements) -> list[Note]:
    """Measures of wrong documents, for which a document with a grade below 0 is unjudged."""
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
    if len(columns) > limit:
        shown.append("...")
    return ", ".join(shown)
