"""Fusion by votes between pairs of documents: Condorcet's."""

from __future__ import annotations

import numpy as np

from goldrank.fusion.lists import CELLS, RankedLists
from goldrank.fusion.methods import WEIGHTS, by_rank
from goldrank.fusion.ranks import weighted_bordafuse

_MONTAGUE = "Montague and Aslam 2002"


@by_rank("condorcet", "documents sorted by majority: first is what more runs rank above the other", _MONTAGUE)
def condorcet(lists: RankedLists) -> np.ndarray:
    return weighted_condorcet(lists, np.ones(len(lists.runs)))


@by_rank("w_condorcet", "documents sorted by the weight of the runs that rank one above the other", _MONTAGUE, WEIGHTS)
def weighted_condorcet(lists: RankedLists, weights: np.ndarray) -> np.ndarray:
    """The number of candidates that are not before a document, once merge sort has put them into an order.

    Neighbours in that order were compared, so that each has the majority over the next, or ties with it. A run ranks
    what it returned above what it did not, and says nothing of two documents that it did not return. Ties and circles
    are settled by the order before sorting, which is Borda's.
    """
    size = np.diff(lists.first)
    value = np.zeros(len(lists.docs))
    entry_first = lists.start[:: len(lists.runs)]
    # A query of few candidates must not wait for one of many: queries are sorted in groups of like size.
    queries = np.argsort(size, kind="stable")
    queries = queries[size[queries] > 0]
    borda = weighted_bordafuse(lists, weights)
    begin = 0
    while begin < len(queries):
        most_queries = max(1, CELLS // (len(lists.runs) * max(1, int(size[queries[begin]]) * 2)))
        end = min(begin + most_queries, int(np.searchsorted(size[queries], 2 * size[queries[begin]], "right")))
        group = queries[begin:end]
        _sort_group(lists, group, weights, borda, entry_first, value)
        begin = end
    return value


def _sort_group(
    lists: RankedLists,
    group: np.ndarray,
    weights: np.ndarray,
    borda: np.ndarray,
    entry_first: np.ndarray,
    value: np.ndarray,
) -> None:
    """Sort the candidates of some queries and note their values."""
    size = np.diff(lists.first)[group]
    width = int(size.max())
    runs = len(lists.runs)
    rows = np.repeat(np.arange(len(group)), size)
    candidate = np.concatenate([np.arange(lists.first[query], lists.first[query + 1]) for query in group])
    entry = np.concatenate([np.arange(entry_first[query], entry_first[query + 1]) for query in group])
    local = np.zeros(len(lists.docs), np.int64)
    local[candidate] = np.arange(len(candidate))

    # A document that was not returned comes after all that were; the last row means no document at all.
    last_rank = np.iinfo(np.int32).max
    rank = np.full((len(candidate) + 1, runs), last_rank - 1, np.int32)

    rank[local[lists.candidate[entry]], lists.run[entry]] = lists.rank[entry]
    rank[-1] = last_rank
    first_seen = np.full(len(candidate), len(lists.candidate))
    np.minimum.at(first_seen, local[lists.candidate[entry]], lists.run[entry] * (width + 1) + lists.rank[entry])
    order = np.lexsort((first_seen, -borda[candidate], rows))
    table = np.full((len(group), width), len(candidate), np.int64)
    table[rows, np.arange(len(rows)) - np.repeat(np.cumsum(size) - size, size)] = order
    table = _merge_sorted(table, rank, weights)
    is_document = table < len(candidate)
    points = (size[:, None] - np.arange(width)[None, :]).astype(np.float64)
    value[candidate[table[is_document]]] = points[is_document]


def _merge_sorted(table: np.ndarray, rank: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Each row of documents sorted by majority: all merges of a level go on side by side, a document at a time."""
    no_document = len(rank) - 1
    rows, width = table.shape
    span = 1
    while span < width:
        blocks = -(-width // (2 * span))
        padded = np.full((rows, blocks * 2 * span + 1), no_document, np.int64)
        padded[:, :width] = table
        # For each merge: the position of its left and its right half, and where they end.
        base = (np.arange(rows)[:, None] * padded.shape[1] + np.arange(blocks)[None, :] * 2 * span).ravel()
        flat = padded.ravel()
        left, right = base.copy(), base + span
        left_end, right_end = base + span, base + 2 * span
        merged = np.full((len(base), 2 * span), no_document, np.int64)
        for step in range(min(2 * span, width)):
            left_docs = np.where(left < left_end, flat[left], no_document)
            right_docs = np.where(right < right_end, flat[np.minimum(right, len(flat) - 1)], no_document)
            left_ranks, right_ranks = rank[left_docs], rank[right_docs]
            votes = (left_ranks < right_ranks) @ weights - (right_ranks < left_ranks) @ weights
            takes_left = (votes >= 0) & (left_docs != no_document) | (right_docs == no_document)
            merged[:, step] = np.where(takes_left, left_docs, right_docs)
            left += takes_left
            right += ~takes_left
        table = merged.reshape(rows, -1)[:, :width]
        span *= 2

    return table
