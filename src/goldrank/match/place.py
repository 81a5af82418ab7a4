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

    A reference that is listed twice is one. With `repeated_references="each"` it is judged, and has a row,
    each time that it is listed, all of one aspect.
    """
    query: list[int] = []
    rank: list[int] = []
    aspect: list[int] = []
    judged_size = []
    for q, (texts, wanted) in enumerate(zip(retrieved, references, strict=True)):
        number = {text: i for i, text in enumerate(dict.fromkeys(wanted))}
        listed = list(wanted) if repeated_references == "each" else list(number)
        judged_size.append(len(listed))
        known: dict[str, list[int]] = {}
        for at, text in enumerate(texts, 1):
            if text not in known:
                if rule is same:
                    known[text] = [number[text]] * listed.count(text) if text in number else []
                else:
                    covered = {reference for reference in number if rule(text, reference)}
                    known[text] = [number[reference] for reference in listed if reference in covered]
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
