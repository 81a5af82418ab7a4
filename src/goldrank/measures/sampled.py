"""One positive among sampled negatives: what is measured on samples, and what it would be on the whole catalogue."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from goldrank.base.errors import MeasureError
from goldrank.base.packages import stats
from goldrank.data.placements import Placements
from goldrank.measures.declare import measure
from goldrank.measures.options import Choice, Number

MOST_ITEMS = 10_000_000
MOST_NEGATIVES = 2_000
_CHUNK = 20_000
"""True ranks whose chances are computed together."""


def rank_chances(true_rank: np.ndarray, items: int, negatives: int, replacement: bool = True) -> np.ndarray:
    """For each true rank among all items, the chance of each rank from 1 to `negatives` + 1 in the sample."""
    above = np.arange(negatives + 1)
    better = np.asarray(true_rank)[:, None] - 1
    if replacement:
        chances = stats.binom.pmf(above, negatives, better / (items - 1))
    else:
        chances = stats.hypergeom.pmf(above, items - 1, better, negatives)
    return np.asarray(chances)


def _worth(rank: np.ndarray, of: str, k: int | None) -> np.ndarray:
    """What a measure gives to one relevant item at a rank."""
    value = {"Success": np.ones(len(rank)), "RR": 1.0 / rank, "nDCG": 1.0 / np.log2(rank + 1.0)}[of]
    if k is None:
        return value
    return np.where(rank <= k, value, 0.0)


@lru_cache(maxsize=32)
def corrected(
    items: int, negatives: int, of: str, k: int | None, correction: str, gamma: float, replacement: bool
) -> tuple[float, ...]:
    """What a sampled rank from 1 on is worth.

    "bias-variance" solves ((1 - g) A'DA + g diag(A'D1)) f = A'D b, where A has the chances of sampled ranks given true
    ones, D is the same for all true ranks, and b is the measure at the true rank.
    """
    sampled = np.arange(1, negatives + 2)
    if correction == "none":
        return tuple(_worth(sampled, of, k).tolist())
    if correction == "rank":
        return tuple(_worth(1 + (items - 1) * (sampled - 1) / negatives, of, k).tolist())

    size = negatives + 1
    square, column, right = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    for low in range(1, items + 1, _CHUNK):
        true_rank = np.arange(low, min(low + _CHUNK, items + 1))
        chances = rank_chances(true_rank, items, negatives, replacement)
        square += chances.T @ chances / items
        column += chances.sum(axis=0) / items
        right += chances.T @ _worth(true_rank, of, k) / items
    return tuple(np.linalg.solve((1 - gamma) * square + gamma * np.diag(column), right).tolist())


@measure(
    "Sampled",
    low=-np.inf,
    high=np.inf,
    formula="Sampled@k = f(r), r = rank of the one relevant item among it and m sampled ones; f solves "
    "((1 - gamma) A'DA + gamma diag(A'D1)) f = A'D b",
    use="All that there is, is one positive among sampled negatives, and the whole catalogue cannot be scored.",
    avoid="The whole catalogue can be ranked: do that. Sampled values may order systems differently.",
    cite="Krichene and Rendle 2020, On sampled metrics for item recommendation",
    aliases=("SampledHit", ("SampledRR", {"of": "RR"}), ("SampledNDCG", {"of": "nDCG"})),
    options={
        "of": Choice(("Success", "RR", "nDCG")),
        "items": Number(low=0, high=MOST_ITEMS, whole=True),
        "negatives": Number(low=0, high=MOST_NEGATIVES, whole=True),
        "correction": Choice(("bias-variance", "rank", "none")),
        "gamma": Number(low=0.0001, high=1),
        "drawn": Choice(("uniform", "popularity")),
    },
    caveat="sampled",
    texts="meaningless",
)
def sampled(
    p: Placements,
    *,
    k: int | None,
    rel: float = 1,
    of: str = "Success",
    items: int = 0,
    negatives: int = 0,
    correction: str = "bias-variance",
    gamma: float = 0.1,
    replacement: bool = True,
    drawn: str = "uniform",
) -> np.ndarray:
    """What Success, RR or nDCG (`of`) would be on all `items`, from rankings of one positive and `negatives` others.

    `items` counts the positive too. `correction="bias-variance"` is the best known estimate: `gamma` trades bias
    (small) for variance. "rank" puts the item at its expected rank, "none" takes the sampled rank as it is. Corrected
    values may be below 0 or above 1; only their mean is meant. `replacement=False` says that no negative was drawn
    twice. `drawn="popularity"` has no correction.

    >>> evaluate({"u": {"a": 1}}, {"u": ["a", "x", "y"]}, "Sampled(items=3, negatives=2, correction='none')@1").mean
    {'Sampled(correction="none", items=3, negatives=2)@1': 1.0}
    """
    if items < 2 or not negatives >= 1:
        raise MeasureError(
            "Sampled needs the number of items and of sampled negatives",
            hint="For example Sampled(items=1001, negatives=100)@10.",
        )
    if not replacement and negatives > items - 1:
        raise MeasureError(f"{negatives:,} different negatives cannot be drawn from {items - 1:,} items")
    if drawn == "popularity" and correction != "none":
        raise MeasureError(
            "there is no correction for negatives that were drawn by popularity",
            hint='Rank the whole catalogue, or take the sampled rank as it is: correction="none".',
        )

    wrong = np.flatnonzero((p.relevant(rel) != 1) | ((p.retrieved != negatives + 1) & (p.retrieved > 0)))
    if len(wrong):
        first = int(wrong[0])
        raise MeasureError(
            f"query '{p.queries[first]}' has {int(p.relevant(rel)[first])} relevant items and "
            f"{int(p.retrieved[first]):,} ranked ones",
            hint=f"Each needs one relevant item among {negatives + 1:,} ranked ones. Other measures need no samples.",
        )

    rank = p.first(p.grade >= rel)
    if ((rank == 0) & (p.retrieved > 0)).any():
        raise MeasureError("the relevant item of a query is not in its ranking", hint="It has to be among the sampled.")
    values = np.array(corrected(items, negatives, of, k, correction, gamma, replacement))
    return np.where(rank > 0, values[np.maximum(rank, 1) - 1], 0.0)
