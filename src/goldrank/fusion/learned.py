"""Fusion that learns from judged queries how likely a document at some rank of a run's list is relevant."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from goldrank.fusion.lists import RankedLists
from goldrank.fusion.methods import by_rank, integer, method, per_run, values_at
from goldrank.fusion.training import TrainingEntries

_LILLIS_2010 = "Lillis, Zhang, Toolan, Collier, Leonard and Dunnion 2010"
_PROBS = per_run("probs", "the probability of relevance by position or segment")

BAYES_ENDS = (0, 5, 10, 15, 20, 30, 100, 200, 500, 1000)
"""Where BayesFuse's intervals of ranks begin and end."""
RARE = 0.001
"""What BayesFuse takes for a probability of 0, and for the probability of a document that was not returned."""
SEGMENT_ENDS = (0, *(10 * 2**k - 5 for k in range(10)))
"""Where SegFuse's segments begin and end: 5, 15, 35 and so on, twice as long each time."""


def learn_log_odds(evidence: TrainingEntries, ends: tuple[int, ...] = BAYES_ENDS) -> list[np.ndarray]:
    """BayesFuse: for each run and rank, the logarithm of the odds that the document is relevant."""
    log_odds = []
    for share in _shares(evidence, ends):
        share = np.where(share == 0, RARE, share)
        log_odds.append(np.log(share / np.where(share == 1, RARE, 1 - share)))
    return [np.repeat(of_run, np.diff(ends)) for of_run in log_odds]


@by_rank("bayesfuse", "the sum of log odds of relevance at each rank, by intervals of ranks", "Aslam and Montague 2001",
        per_run("log_odds", "the log odds of relevance by rank"), learn=learn_log_odds, learned="log_odds")  # fmt: skip
def bayesfuse(lists: RankedLists, log_odds: list[np.ndarray]) -> np.ndarray:
    least_odds = float(np.log(RARE / (1 - RARE)))
    odds = values_at(log_odds, lists, lists.rank - 1, least_odds)
    return lists.total(odds) + least_odds * (len(lists.runs) - lists.count)


def learn_map(evidence: TrainingEntries) -> list[float]:
    """MAPFuse: each run's mean average precision."""
    return [float(value) for value in evidence.average_precision]


@by_rank("mapfuse", "the sum of the run's mean average precision / rank", _LILLIS_2010,
        per_run("map_scores", "the mean average precision of each run"), learn=learn_map,
        learned="map_scores")  # fmt: skip
def mapfuse(lists: RankedLists, map_scores: list[np.ndarray]) -> np.ndarray:
    return lists.total(np.array([table[0] for table in map_scores])[lists.run] / lists.rank)


def learn_positions(evidence: TrainingEntries) -> list[np.ndarray]:
    """PosFuse and SlideFuse: for each run and rank, how often the document there is relevant."""
    list_counts = evidence.by_run(evidence.rank - 1, np.ones(len(evidence.rank)))
    hits = evidence.by_run(evidence.rank - 1, evidence.hit)
    return [relevant / all_lists for relevant, all_lists in zip(hits, list_counts, strict=True)]


@by_rank("posfuse", "the sum of the probabilities of relevance at each rank", _LILLIS_2010, _PROBS,
        learn=learn_positions, learned="probs")  # fmt: skip
def posfuse(lists: RankedLists, probs: list[np.ndarray]) -> np.ndarray:
    return lists.total(values_at(probs, lists, lists.rank - 1, 0.0))


@by_rank("slidefuse", "as posfuse, with the mean probability of a window of ranks", "Lillis, Toolan, Collier and "
        "Dunnion 2008", _PROBS, integer("w", "how many ranks on either side the window has", 0, default=5,
                                      tried=(5, 1, 2, 3, 8, 12, 20, 30, 50)),
        learn=learn_positions, learned="probs")  # fmt: skip
def slidefuse(lists: RankedLists, probs: list[np.ndarray], w: int) -> np.ndarray:
    begin = np.maximum(lists.rank - 1 - w, 0)
    end = np.minimum(lists.rank + w, lists.length)
    sums = [np.concatenate(([0.0], np.cumsum(table))) for table in probs]
    longest = np.array([len(table) for table in probs])[lists.run]
    up_to_end = values_at(sums, lists, np.minimum(end, longest), 0.0)
    up_to_begin = values_at(sums, lists, np.minimum(begin, longest), 0.0)
    return lists.total((up_to_end - up_to_begin) / (end - begin))


def learn_segments(evidence: TrainingEntries, n_segments: int = 10) -> list[np.ndarray]:
    """ProbFuse: for each run and segment of its lists, the mean share of relevant documents."""
    size = -(-evidence.length // n_segments)
    segment = (evidence.rank - 1) // size
    inside = np.minimum((segment + 1) * size, evidence.length) - segment * size
    sums = evidence.by_run(segment, evidence.hit / inside)
    return [np.pad(run_sums, (0, n_segments - len(run_sums))) / max(evidence.queries, 1) for run_sums in sums]


@by_rank("probfuse", "the sum of the probability of relevance in each list's segment / the segment's number",
        "Lillis, Toolan, Collier and Dunnion 2006", _PROBS, learn=learn_segments, learned="probs",
        settings=(integer("n_segments", "how many segments a list has", 1, default=10,
                        tried=(10, 1, 2, 3, 5, 8, 15, 20, 25, 30, 40, 50, 75, 100)),))  # fmt: skip
def probfuse(lists: RankedLists, probs: list[np.ndarray]) -> np.ndarray:
    size = -(-lists.length // np.array([len(table) for table in probs])[lists.run])
    segment = (lists.rank - 1) // size
    return lists.total(values_at(probs, lists, segment, 0.0) / (segment + 1))


def learn_growing_segments(evidence: TrainingEntries) -> list[np.ndarray]:
    """SegFuse: for each run and segment of growing length, the mean share of relevant documents."""
    return list(_shares(evidence, SEGMENT_ENDS))


@method("segfuse", "the sum of the probability of relevance in each segment of growing length times (1 + score)",
        "Shokouhi 2007", _PROBS, learn=learn_growing_segments, learned="probs")  # fmt: skip
def segfuse(lists: RankedLists, probs: list[np.ndarray]) -> np.ndarray:
    segment = np.searchsorted(SEGMENT_ENDS, lists.rank, "left") - 1
    return lists.total(values_at(probs, lists, segment, 0.0) * (lists.score + 1))


def _shares(evidence: TrainingEntries, ends: tuple[int, ...]) -> list[np.ndarray]:
    """For each run and interval of ranks, the share of relevant documents in the mean over queries."""
    interval = np.searchsorted(ends, evidence.rank, "left") - 1
    sizes = np.array([end - begin for begin, end in pairwise(ends)])
    counted = evidence.by_run(interval, evidence.hit)
    padded = [np.pad(run_sums, (0, max(0, len(sizes) - len(run_sums))))[: len(sizes)] for run_sums in counted]
    return [run_sums / (sizes * max(evidence.queries, 1)) for run_sums in padded]
