"""Credit where a text covers several references, or several texts cover one: which row counts at which rank.

Each function takes the columns of a table's rows, ordered by query and rank, and returns the rows that count.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import groupby

import numpy as np


def schedule(query: np.ndarray, rank: np.ndarray, grade: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, ...]:
    """Distinct slots for covered references, which have a row each at the rank where it is first covered: (slot, row).

    Slots 1, 2, ... are filled in order. References whose rank is reached wait, and the highest grade among them gets
    the slot (equal grades in the order of labels); if no reference waits, the slot stays empty. So each reference has
    a slot that is never above the text that covers it, and no other schedule gains more.
    """
    rows = np.arange(len(query))
    if not len(rows):
        return rows, rows

    # The m-th slot of a query is max(the slot before + 1, m-th rank) = m + the greatest (rank - number) up to it.
    first = np.searchsorted(query, query)
    nth = rows - first + 1
    late = rank - nth
    width = int(late.max() - late.min()) + 1
    slot = nth + np.maximum.accumulate(late + query * width) - query * width

    row_of_slot = rows.copy()
    mixed = np.unique(query[grade != grade[first]])  # where all grades are equal, the order of rows is right
    begins, ends = np.searchsorted(query, mixed), np.searchsorted(query, mixed, side="right")
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        waiting: list[tuple[float, int, int]] = []
        row = begin
        for i in range(begin, end):
            while row < end and rank[row] <= slot[i]:
                heappush(waiting, (-grade[row], label[row], row))
                row += 1
            row_of_slot[i] = heappop(waiting)[2]
    return slot, row_of_slot


def maximum_matching(
    query: np.ndarray, rank: np.ndarray, grade: np.ndarray, label: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Give as many texts as possible a reference each, all different: (rows of these texts, rows of their references).

    Texts are added in the order of ranks. A text may take a reference from a text above if that text finds another (an
    augmenting path), so the first k texts have as many references as possible for every k, in any order of the
    references. A text adds one reference that no text had before; of several that it could add, the highest grade,
    then the first.
    """
    text_rows: list[int] = []
    reference_rows: list[int] = []
    grades, labels = grade.tolist(), label.tolist()
    pairs = enumerate(zip(query.tolist(), rank.tolist(), strict=True))
    for _, of_query in groupby(pairs, key=lambda row: row[1][0]):
        text_of: dict[int, int] = {}  # by label
        label_of: dict[int, int] = {}  # by text
        rows_of: dict[int, list[int]] = {}  # by text
        closed: set[int] = set()  # labels from which no free label can be reached, now and later

        for (_, text), group in groupby(of_query, key=lambda row: row[1]):
            rows_of[text] = [row for row, _ in group]
            reached: dict[int, tuple[int, int]] = {}  # by label: the text from which it was reached, and the row
            texts = [text]
            for other in texts:  # grows as texts are found whose reference could be taken
                for row in rows_of[other]:
                    number = labels[row]
                    if number not in reached and number not in closed:
                        reached[number] = other, row
                        if number in text_of:
                            texts.append(text_of[number])

            free = [number for number in reached if number not in text_of]
            if not free:
                closed.update(reached)
                continue

            step = min(free, key=lambda number: (-grades[reached[number][1]], number))
            text_rows.append(rows_of[text][0])
            reference_rows.append(reached[step][1])

            # Go back along the path: each text gives its reference to the text before, and gets the next one.
            taker = reached[step][0]
            while taker != text:
                released = label_of[taker]
                text_of[step], label_of[taker] = taker, step
                step = released
                taker = reached[step][0]
            text_of[step], label_of[text] = text, step

    return np.array(text_rows, np.int64), np.array(reference_rows, np.int64)


def first_free(query: np.ndarray, rank: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Which rows count if each rank gets the first label that no rank above it got."""
    keep = np.zeros(len(query), bool)
    used_ranks: set[tuple[int, int]] = set()
    used_labels: set[int] = set()
    for row, (q, r, number) in enumerate(zip(query.tolist(), rank.tolist(), label.tolist(), strict=True)):
        if (q, r) not in used_ranks and number not in used_labels:
            keep[row] = True
            used_ranks.add((q, r))
            used_labels.add(number)
    return keep
