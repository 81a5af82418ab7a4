"""Measures of likeness to an ideal ranking: Compat."""

from __future__ import annotations

import numpy as np

from goldrank.data.placements import Placements
from goldrank.measures.cutoff import ratio
from goldrank.measures.declare import measure
from goldrank.measures.options import Number
from goldrank.measures.weights import running_powers


@measure(
    "Compat",
    formula="Compat = RBO(ranking, ideal) / RBO(ideal, ideal), RBO = sum over depths d of p^(d - 1) * overlap(d) / d, "
    "divided by the sum of p^(d - 1)",
    use="Judgements are preferences or only the top matters; any order of equally good documents is ideal.",
    avoid="Comparison with the literature on graded judgements; use nDCG.",
    cite="Clarke, Vtyurina and Smucker 2021, Assessing top-k preferences",
    aliases=(("RBO", {"normalize": False}),),
    options={"p": Number(low=0.0001, high=0.9999)},
    monotone=True,
    texts="one_to_one",
)
def compatibility(placements: Placements, *, p: float = 0.95, normalize: bool = True) -> np.ndarray:
    """Rank-biased overlap with the ideal ranking that is nearest to this one.

    Documents of one grade stand in the ideal ranking as they stand in this one, those not returned after
    them. `p` is the persistence. `normalize=False` is the plain overlap, which stays below 1 where the
    ideal ranking is shorter than the results.

    >>> evaluate({"q": {"a": 2, "b": 1}}, {"q": ["a", "b"]}, "Compat")["Compat"]
    1.0
    """
    size = placements.relevant(1e-9)
    depth = np.maximum(placements.retrieved, size)
    weight = running_powers(p, int(depth.max(initial=0)) + 1)
    # share[d]: the sum of p^(i - 1) / i up to depth d.
    share = np.concatenate(([0.0], np.cumsum(weight / np.arange(1, len(weight) + 1))))

    rows = np.flatnonzero(placements.grade > 0)
    query, grade, rank = placements.query[rows], placements.grade[rows], placements.rank[rows]
    order = np.lexsort((rank, -grade, query))
    query, grade, rank = query[order], grade[order], rank[order]
    fresh = np.ones(len(rows), bool)
    fresh[1:] = (query[1:] != query[:-1]) | (grade[1:] != grade[:-1])
    first = np.flatnonzero(fresh)
    within = np.arange(len(rows)) - np.repeat(first, np.diff(np.append(first, len(rows))))
    ideal_rank = _better(placements, query, grade) + within + 1
    met = np.maximum(rank, ideal_rank)
    score = np.bincount(query, weights=share[depth[query]] - share[met - 1], minlength=len(placements))
    if not normalize:
        return ratio(score, np.concatenate(([0.0], np.cumsum(weight)))[depth])
    judged = placements.judged > 0
    owner = placements.judged_query[judged]
    best = np.bincount(
        owner, weights=share[depth[owner]] - share[placements.judged_rank[judged] - 1], minlength=len(placements)
    )
    return ratio(score, best).clip(max=1.0)


def _better(p: Placements, query: np.ndarray, grade: np.ndarray) -> np.ndarray:
    """How many judged documents of each query have a higher grade than the one given."""
    levels = np.unique(p.judged)
    code = np.searchsorted(levels, grade)
    count = np.bincount(
        p.judged_query * len(levels) + np.searchsorted(levels, p.judged), minlength=len(p) * len(levels)
    ).reshape(len(p), len(levels))
    above = count[:, ::-1].cumsum(axis=1)[:, ::-1] - count
    better: np.ndarray = above[query, code]
    return better
