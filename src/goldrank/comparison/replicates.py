"""Several runs of one system: seeds, rebuilt indexes. A system is then judged by the mean of its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from goldrank.base.errors import InputError
from goldrank.base.notes import Note
from goldrank.comparison.statistics import on_scale
from goldrank.data.scores import Column, Remarks, Scores


def averaged(system: str, runs: Sequence[Scores]) -> Scores:
    """The mean of several runs' values, on the queries and measures that all of them have."""
    if len(runs) == 1:
        return runs[0]

    shared = set(runs[0].queries).intersection(*(run.queries for run in runs[1:]))
    common = [query for query in runs[0].queries if query in shared]
    if not common:
        raise InputError(f"the runs of '{system}' have no query in common")

    columns = {}
    for measure, first in runs[0].columns.items():
        if not all(measure in run.columns for run in runs):
            continue
        mean = on_scale(np.array([aligned(run, measure, common) for run in runs]), first.average).mean(axis=0)
        if first.average == "geometric":
            mean = np.exp(mean)
        summary = float(np.mean([run.columns[measure].summary for run in runs]))
        flags = {"higher_is_better": first.higher_is_better, "counts_nan": first.counts_nan}
        columns[measure] = Column(measure, mean, summary, first.average, **flags)

    notes = [note.with_about(run.run) for run in runs for note in run.notes]
    if len(common) < max(len(run.queries) for run in runs):
        sizes = ", ".join(f"{len(run.queries):,}" for run in runs)
        notes.append(Note.of("common-queries", count=len(common), all=f"all runs of {system}", sizes=sizes))

    return Scores(system, tuple(common), columns, Remarks(notes=tuple(notes)), convention=runs[0].convention)


def run_values(
    replicates: Mapping[str, Sequence[Scores]], averages: Mapping[str, str], queries: Sequence[str]
) -> dict[str, list[np.ndarray]]:
    """Per measure and system the values of its runs, on the scale that is compared; empty without replicates.

    `averages` says of each measure how it is averaged.
    """
    by_measure: dict[str, list[np.ndarray]] = {}
    if not replicates:
        return by_measure

    for measure, average in averages.items():
        by_measure[measure] = []
        for runs in replicates.values():
            values = np.array([aligned(run, measure, queries) for run in runs])
            by_measure[measure].append(on_scale(values, average))
    return by_measure


def aligned(run: Scores, measure: str, queries: Sequence[str]) -> np.ndarray:
    """A run's values for some queries."""
    if tuple(queries) == run.queries:
        return run.columns[measure].values
    position_of = {query: i for i, query in enumerate(run.queries)}
    return np.asarray(run.columns[measure].values[[position_of[query] for query in queries]])
