"""Values of measures beyond accuracy, worked out by hand on one small set of data.

    train            lists            judged         vectors, genres, groups
    u: a b           u: c d           u: c           a (1, 0) x g   c (0, 1) x g
    v: a             v: d e           v: e           b (1, 0) y h   d (0, 1) y h
    w: b c           w: (nothing)     w: d           e (1, 0) x h   f (0, 1) y h

The catalogue is a to f. Popularity: a 2, b 2, c 1, d 0, e 0. c, d, e are shown 1, 2, 1 times, of 4.
"""

from __future__ import annotations

from math import log, log2
from typing import Any, NamedTuple

from goldrank import Catalogue

TRAIN = {"u": ["a", "b"], "v": ["a"], "w": ["b", "c"]}
RUN: dict[str, list[str]] = {"u": ["c", "d"], "v": ["d", "e"], "w": []}
QRELS = {"u": {"c": 1}, "v": {"e": 1}, "w": {"d": 1}}
ACROSS, UP = (1, 0), (0, 1)
ITEMS: dict[str, Any] = {
    "items": list("abcdef"),
    "vectors": {"a": ACROSS, "b": ACROSS, "c": UP, "d": UP, "e": ACROSS, "f": UP},
    "genres": {"a": "x", "b": "y", "c": "x", "d": ["y"], "e": ("x",), "f": "y"},
    "groups": {"a": "g", "b": "h", "c": "g", "d": "h", "e": "h", "f": "h"},
}
CATALOGUE = Catalogue(**ITEMS)
PRIMITIVE = {"u": ["d", "c"], "v": ["a", "b"], "w": ["a"]}
REMOVED: dict[str, Any] = {**ITEMS, "train": TRAIN, "against": PRIMITIVE}
"""All that is known, by the arguments of `Catalogue`: what users had is removed from runs."""
KEPT: dict[str, Any] = {**REMOVED, "seen": "keep"}


class Case(NamedTuple):
    measure: str
    value: float
    why: str = ""


THIRD = 1 / log2(3)
"""The exposure of rank 2."""

RECOMMENDED = [
    Case("ItemCoverage", 3 / 6, "c, d and e of six"),
    Case("ItemCoverage@1", 2 / 6, "c and d"),
    Case("UserCoverage", 2 / 3, "u has c, v has e"),
    Case("UserCoverage@1", 1 / 3, "u alone has it first"),
    Case("UserCoverage(rel=2)@2", 0.0),
    Case("UserCoverage(served=True)@2", 2 / 3, "w has nothing"),
    # Counts 0 0 0 1 1 2: (2j - 7) c = -, -, -, 1, 3, 10.
    Case("Gini", 14 / (6 * 4)),
    Case("Gini@1", 8 / 12, "0 0 0 0 1 1: (3 + 5) / (6 * 2)"),
    Case("Gini(adjusted=True)@2", 14 / (5 * 4)),
    Case("Entropy", 1 / 2 * 1 + 2 * 1 / 4 * 2, "shares 1/2, 1/4, 1/4"),
    Case("Entropy@1", 1.0, "two items alike"),
    Case("Entropy(normalize=True)@2", 1.5 / log2(6)),
    Case("AveragePopularity", (1 / 2 + 0) / 2, "u: (1 + 0) / 2, v: 0; w is left out"),
    Case("AveragePopularity@1", 1 / 2),
    Case("AveragePopularity(share=True)@2", 1 / 4 / 3, "of three users"),
    # a and b were had by two users, c by one: c is the tenth (one item at least), and what at most one user had.
    Case("TailShare", (1 / 2 + 0) / 2, "u: c of c and d; d and e were had by nobody"),
    Case("TailShare@1", (1 + 0) / 2),
    Case("TailShare(tail=0.9)@2", (1 / 2 + 0) / 2, "c, and a before b"),
    Case("TailShare(tail=1.5)@2", (1 / 2 + 0) / 2, "had by at most 1.5 users"),
    Case("PopularityLift", (1 / 4 - 2) / 2, "u had 2 and 2, v had 2"),
    Case("PopularityLift@1", (1 / 2 - 2) / 2),
    Case("Novelty", log2(3), "one user of three, or none, which counts as one"),
    Case("Novelty@1", log2(3)),
    Case('Novelty(of="interactions")@2', log2(5), "one pair of five"),
    Case("IntraListDiversity", (0 + 1) / 2, "c and d are alike, d and e are not"),
    Case("IntraListDiversity@2", (0 + 1) / 2),
    Case('IntraListDiversity(alike="users")@2', 1.0, "d and e were had by nobody"),
    # u: c is relevant and far from a and b. v: e is relevant and like a. w has a history and no list.
    Case("Serendipity", (1 / 2 + 0 + 0) / 3),
    Case("Serendipity@1", (1 + 0 + 0) / 3),
    Case("Serendipity(rel=2)@2", 0.0),
    Case('Serendipity(relevance="one")@2', (1 + 1 / 2 + 0) / 3, "d is far from a, e is not"),
    Case(
        'Serendipity(unexpected="run")@2', (0 + 1 / 2 + 0) / 3, "c is in the primitive list of u, e is not in that of v"
    ),
    Case('Serendipity(unexpected="run")@1', 1 / 3, "there c is not the first"),
    Case("Personalisation", 1 - 1 / 2, "d of two"),
    Case("Personalisation@1", 1.0),
    Case("Calibration", (0 + log(1 / (0.99 * 0.5 + 0.01))) / 2, "u: half x, half y in both; v: all x, then half"),
    Case("Calibration@1", (0.5 * log(1 / (0.99 + 0.005) * 0.5) + 0.5 * log(1 / 0.01) + log(1 / 0.01)) / 2, "c; d"),
    Case("Calibration(alpha=0.1)@2", log(1 / (0.9 * 0.5 + 0.1)) / 2),
    # Exposure: g has c at rank 1; h has d at 2, d at 1 and e at 2. g has two items, h four.
    Case("ExposureParity", (1 / 2) / ((1 + 2 * THIRD) / 4)),
    Case("ExposureParity@1", (1 / 4) / (1 / 2), "1 for each group"),
    Case('ExposureParity(merit="relevant")@2', 1 / (1 + 2 * THIRD), "c and e are relevant, one of each group"),
    Case('ExposureParity(merit="relevant", rel=0)@2', 1 / (1 + 2 * THIRD)),
    Case('ExposureShare(group="g")', 1 / (2 + 2 * THIRD)),
    Case('ExposureShare(group="h")@1', 1 / 2),
]
"""Means over users."""


PAIR = {"u": ["x", "a", "y"]}
"""One positive, a, second of it and two sampled negatives."""

# Two of two other items, drawn without replacement, are the catalogue: sampled ranks are then the true ones.
SAMPLED = [
    Case('Sampled(correction="none", items=3, negatives=2)@2', 1.0),
    Case('Sampled(correction="none", items=3, negatives=2)@1', 0.0),
    Case('Sampled(correction="none", items=3, negatives=2, of="RR")', 1 / 2),
    Case('Sampled(correction="none", items=3, negatives=2, of="nDCG")', THIRD),
    Case('Sampled(correction="rank", items=11, negatives=2, of="RR")', 1 / 6, "1 + 10 * 1 / 2"),
    Case('Sampled(gamma=0.5, items=3, negatives=2, of="RR", replacement=False)', 1 / 2, "the sample is the catalogue"),
    Case('Sampled(correction="none", drawn="popularity", items=3, negatives=2, rel=0.5)@2', 1.0),
]
