"""Which retrieved text covers which reference, as Placements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from goldrank.data.placements import Placements
from goldrank.match.exact import same

Rule = Callable[[str, str], bool]
"""Whether a retrieved text holds a reference text."""


def place(
    retrieved: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    rule: Rule,
    *,
    repeated_references: str = "once",
) -> Placements:
    """One row for each pair of a retrieved text and a reference that it covers; every reference has grade 1.

    A reference that is listed twice is one, and counts once among the judged;
    `repeated_references="each"` counts every time, though finding it still credits it once.
    """
    query: list[int] = []
    rank: list[int] = []
    aspect: list[int] = []
    judged_size = []
    for q, (texts, wanted) in enumerate(zip(retrieved, references, strict=True)):
        distinct = list(dict.fromkeys(wanted))
        judged_size.append(len(wanted) if repeated_references == "each" else len(distinct))
        place_of = {text: i for i, text in enumerate(distinct)}
        known: dict[str, list[int]] = {}
        for at, text in enumerate(texts, 1):
            if text not in known:
                if rule is same:
                    known[text] = [place_of[text]] if text in place_of else []
                else:
                    known[text] = [i for i, reference in enumerate(distinct) if rule(text, reference)]
            found = known[text]
            query += [q] * len(found)
            rank += [at] * len(found)
            aspect += found
    ranks = np.array(rank, np.int64)
    return Placements(
        queries=tuple(map(str, range(len(retrieved)))),
        retrieved=np.fromiter(map(len, retrieved), np.int64, len(retrieved)),
        answered=np.ones(len(retrieved), bool),
        judged_start=np.concatenate(([0], np.cumsum(judged_size))).astype(np.int64),
        judged=np.ones(sum(judged_size)),
        query=np.array(query, np.int64),
        rank=ranks,
        grade=np.ones(len(rank)),
        tie_first=ranks,
        tie_last=ranks,
        aspect=np.array(aspect, np.int64),
    )
