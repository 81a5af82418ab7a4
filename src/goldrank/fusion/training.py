"""What judged queries show of runs: where in their lists the relevant documents stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goldrank.data.qrels import Qrels
from goldrank.fusion.lists import RankedLists


@dataclass(frozen=True)
class TrainingEntries:
    """The entries of the lists of some judged queries."""

    runs: int
    queries: int
    run: np.ndarray
    rank: np.ndarray
    length: np.ndarray
    """How long the list of the entry is."""
    hit: np.ndarray
    """1 for a relevant document, else 0."""
    average_precision: np.ndarray
    """For each run, its mean over the queries."""

    @classmethod
    def of(cls, lists: RankedLists, hit: np.ndarray, precision: np.ndarray, chosen: np.ndarray) -> TrainingEntries:
        """From the chosen queries; `precision` is the average precision by query and run."""
        kept = chosen[lists.list // len(lists.runs)]
        return cls(
            runs=len(lists.runs),
            queries=int(chosen.sum()),
            run=lists.run[kept],
            rank=lists.rank[kept],
            length=lists.length[kept],
            hit=hit[kept],
            average_precision=precision[chosen].mean(axis=0) if chosen.any() else np.zeros(len(lists.runs)),
        )

    @classmethod
    def of_hits(cls, runs: Sequence[Sequence[Sequence[float]]]) -> TrainingEntries:
        """From each run's lists of 1 for a relevant document and 0 for another, in the order of ranks."""
        sizes = [np.array([len(hits) for hits in lists], np.int64) for lists in runs]
        each = np.concatenate(sizes)
        return cls(
            runs=len(runs),
            queries=max(map(len, runs)),
            run=np.repeat(np.arange(len(runs)), [size.sum() for size in sizes]),
            rank=np.concatenate([np.arange(1, size + 1) for size in each.tolist()]),
            length=np.repeat(each, each),
            hit=np.concatenate([np.asarray(hits, np.float64) for lists in runs for hits in lists]),
            average_precision=np.full(len(runs), np.nan),
        )

    def by_run(self, position: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
        """For each run, the sum of values by position."""
        return [np.bincount(position[self.run == run], weights=values[self.run == run]) for run in range(self.runs)]


def hits(lists: RankedLists, qrels: Qrels, rel: float = 1) -> np.ndarray:
    """For each entry, 1 if its document is relevant to its query, else 0."""
    relevant = np.zeros(len(lists.docs))
    for query, begin, end in zip(lists.queries, lists.first[:-1].tolist(), lists.first[1:].tolist(), strict=True):
        judged = qrels.text.get(query, {})
        relevant[begin:end] = [judged.get(doc, 0) >= rel for doc in lists.docs[begin:end]]
    entry_hits: np.ndarray = relevant[lists.candidate]
    return entry_hits
