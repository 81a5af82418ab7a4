"""What judged queries show of runs: the ranks of relevant documents in their lists."""

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
        chosen_entries = chosen[lists.list // len(lists.runs)]
        average_precision = np.zeros(len(lists.runs))
        if chosen.any():
            average_precision = precision[chosen].mean(axis=0)

        return cls(
            runs=len(lists.runs),
            queries=int(chosen.sum()),
            run=lists.run[chosen_entries],
            rank=lists.rank[chosen_entries],
            length=lists.length[chosen_entries],
            hit=hit[chosen_entries],
            average_precision=average_precision,
        )

    @classmethod
    def of_hits(cls, runs: Sequence[Sequence[Sequence[float]]]) -> TrainingEntries:
        """From each run's lists of 1 for a relevant document and 0 for another, in the order of ranks."""
        all_lists = [np.asarray(hits, np.float64) for lists in runs for hits in lists]
        run_of_list = np.repeat(np.arange(len(runs)), [len(lists) for lists in runs])
        list_sizes = np.array(list(map(len, all_lists)), np.int64)
        ranks = [np.arange(1, size + 1) for size in list_sizes.tolist()]

        return cls(
            runs=len(runs),
            queries=max(map(len, runs)),
            run=np.repeat(run_of_list, list_sizes),
            rank=np.concatenate(ranks),
            length=np.repeat(list_sizes, list_sizes),
            hit=np.concatenate(all_lists),
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
