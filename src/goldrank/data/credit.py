"""Who is credited where a text covers several references, or several texts the same: which row counts at which rank.

Each function takes the columns of a table's rows, ordered by query and rank, and says which of them count and where.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import groupby

import numpy as np


def schedule(query: np.ndarray, rank: np.ndarray, grade: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, ...]:
    """Places of covered references, one row each at the rank where it is first covered: (place, row that takes it).

    A walk over places 1, 2, ...: references whose rank is reached wait, and the highest grade among them takes the
    place (equal ones in the order of their labels); where none waits, the place stays empty. So each reference has a
    place of its own, never above the text that covers it, and no other schedule gains more.
    """
    rows = np.arange(len(query))
    if not len(rows):
        return rows, rows
    first = np.searchsorted(query, query)
    nth = rows - first + 1
    # The m-th place of a query is max(the place before + 1, m-th rank) = m + the greatest (rank - number) up to it.
    late = rank - nth
    width = int(late.max() - late.min()) + 1
    place = nth + np.maximum.accumulate(late + query * width) - query * width
    taken = rows.copy()
    mixed = np.unique(query[grade != grade[first]])  # grades that are all equal may take places as they come
    begins, ends = np.searchsorted(query, mixed), np.searchsorted(query, mixed, side="right")
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        waiting: list[tuple[float, int, int]] = []
        at = begin
        for here in range(begin, end):
            while at < end and rank[at] <= place[here]:
                heappush(waiting, (-grade[at], label[at], at))
                at += 1
            taken[here] = heappop(waiting)[2]
    return place, taken


def maximum_matching(
    query: np.ndarray, rank: np.ndarray, grade: np.ndarray, label: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """As many references as can be given to texts of their own: (rows of the texts that got one, row of what it got).

    Texts are added in the order of ranks. A text may take a reference from one above if that finds another (an
    augmenting path), so that the references given to the first k texts are as many as can be for every k, in any order
    of the references. What a text adds is the one reference that was not given before; of several that it could add,
    the highest grade, then the first.
    """
    kept: list[int] = []
    given: list[int] = []
    grades, labels = grade.tolist(), label.tolist()
    for _, of_query in groupby(enumerate(zip(query.tolist(), rank.tolist(), strict=True)), key=lambda row: row[1][0]):
        owner: dict[int, int] = {}  # label -> text
        held: dict[int, int] = {}  # text -> label
        wanted: dict[int, list[int]] = {}  # text -> rows
        closed: set[int] = set()  # labels from which no free one can be reached, now and later
        for (_, text), group in groupby(of_query, key=lambda row: row[1]):
            wanted[text] = [row for row, _ in group]
            reached: dict[int, tuple[int, int]] = {}  # label -> the text from which it was reached, and the row
            texts = [text]
            for other in texts:  # grows as texts are found whose reference could be taken
                for row in wanted[other]:
                    number = labels[row]
                    if number not in reached and number not in closed:
                        reached[number] = other, row
                        if number in owner:
                            texts.append(owner[number])
            free = [number for number in reached if number not in owner]
            if not free:
                closed.update(reached)
                continue
            step = min(free, key=lambda number: (-grades[reached[number][1]], number))
            kept.append(wanted[text][0])
            given.append(reached[step][1])
            while (taker := reached[step][0]) != text:
                left = held[taker]
                owner[step], held[taker] = taker, step
                step = left
            owner[step], held[text] = text, step
    return np.array(kept, np.int64), np.array(given, np.int64)


def first_free(query: np.ndarray, rank: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Which rows count if each rank gets the first label that no rank above it got."""
    keep = np.zeros(len(query), bool)
    ranks: set[tuple[int, int]] = set()
    given: set[int] = set()
    for row, (q, r, number) in enumerate(zip(query.tolist(), rank.tolist(), label.tolist(), strict=True)):
        if (q, r) not in ranks and number not in given:
            keep[row] = True
            ranks.add((q, r))
            given.add(number)
    return keep
