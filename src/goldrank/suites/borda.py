"""Borda counts as MTEB makes them. Adding systems can change the order of two others; goldrank never ranks by them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from goldrank.base.errors import of_type, real_number

Cells = Mapping[str, Mapping[str, float | None]]
"""By system and collection, its value; None where there is none."""


def borda_ranks(scores: Cells) -> dict[str, int]:
    """The ranks of MTEB's Borda counts: in each collection a system gets all systems less its average rank.

    A collection that a system lacks gives it 0. Systems with equal sums share the smaller rank.

    Parameters
    ----------
    scores : mapping
        Values by system and collection.

    Returns
    -------
    dict
        The rank of each system.

    Raises
    ------
    OptionError
        If a value is not a number.

    Examples
    --------
    >>> borda_ranks({"A": {"t1": 0.9, "t2": 0.5}, "B": {"t1": 0.6, "t2": 0.6}, "C": {"t1": 0.1, "t2": 0.1}})
    {'A': 1, 'B': 1, 'C': 3}
    """
    of_type(scores, Mapping, "scores", "values by system and collection")
    for values in scores.values():
        of_type(values, Mapping, "the values of a system", "values by collection")
        for value in values.values():
            if value is not None:
                real_number(value, "a value")

    collections = dict.fromkeys(name for values in scores.values() for name in values)
    sums = dict.fromkeys(scores, 0.0)
    for collection in collections:
        cells = {system: values.get(collection) for system, values in scores.items()}
        present = {system: value for system, value in cells.items() if value is not None and not math.isnan(value)}
        for system, value in present.items():
            higher = sum(other > value for other in present.values())
            equal = sum(other == value for other in present.values())
            sums[system] += len(scores) - (higher + (equal + 1) / 2)

    ranks = {}
    for system, total in sums.items():
        ranks[system] = 1 + sum(other > total for other in sums.values())
    return ranks


def mean_of_all(values: Mapping[str, float | None], collections: int) -> float | None:
    """MTEB's mean over tasks, which is None if one is missing."""
    known = [value for value in values.values() if value is not None and not math.isnan(value)]
    if len(known) == collections:
        return sum(known) / len(known)
    return None
