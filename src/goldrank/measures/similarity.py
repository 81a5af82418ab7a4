"""Measures of likeness to an ideal ranking: Compat."""

from __future__ import annotations

import numpy as np

from goldrank.data.placements import Placements
from goldrank.measures.cutoff import ratio
from goldrank.measures.declare import monotone
from goldrank.measures.options import Number
from goldrank.measures.weights import running_powers


@monotone(
    "Compat",
    formula="Compat = RBO(ranking, ideal) / RBO(ideal, ideal), RBO = sum over depths d of p^(d - 1) * overlap(d) / d, "
    "divided by the sum of p^(d - 1)",
    use="Judgements are preferences or only the top matters; any order of equally good documents is ideal.",
    avoid="Comparison with the literature on graded judgements; use nDCG.",
    cite="Clarke, Vtyurina and Smucker 2021, Assessing top-k preferences",
    aliases=(("RBO", {"normalize": False}),),
    options={"p": Number(low=0.0001, high=0.9999)},
    texts="places",
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
    rows = rows[np.lexsort((placements.rank[rows], -placements.grade[rows], placements.query[rows]))]
    query, grade, rank = placements.query[rows], placements.grade[rows], placements.rank[rows]
    # Documents of a query and grade have the same number, which ascends as grades descend.
    levels = np.unique(placements.judged)
    group = query * len(levels) - np.searchsorted(levels, grade)
    judged_group = placements.judged_query * len(levels) - np.searchsorted(levels, placements.judged)
    better = np.searchsorted(judged_group, group) - placements.judged_start[query]
    ideal_rank = better + np.arange(1, len(group) + 1) - np.searchsorted(group, group)
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
