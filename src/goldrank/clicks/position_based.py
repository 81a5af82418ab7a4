"""The position-based model: P(click) = e(rank) a(query, document), fitted to the log by expectation-maximisation.

Only the product is identified, so the first rank counts as always looked at: e is divided by e(1), a is multiplied by
it. Documents must have been shown at several ranks, and such documents must connect all ranks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from goldrank.base.errors import InputError
from goldrank.clicks.sessions import ClickLog, ratio

ROUNDS = 200
ENOUGH = 1e-6
"""Fitting ends when the likelihood per row changes by less."""


class PositionFit(NamedTuple):
    """What was fitted, before and after scaling."""

    examination: np.ndarray
    """By rank, from rank 0, which does not exist."""
    attraction: np.ndarray
    log_likelihood: float

    @property
    def scaled_attraction(self) -> np.ndarray:
        """By pair, where the first rank that was shown is always looked at."""
        return self.attraction * self._first

    @property
    def relative_examination(self) -> np.ndarray:
        return self.examination / self._first

    @property
    def _first(self) -> float:
        return float(self.examination[np.flatnonzero(self.examination)[0]])


def check(log: ClickLog) -> None:
    """Raise if the log cannot separate how often ranks are looked at from how good documents are."""
    group = {rank: rank for rank in set(log.rank.tolist())}

    def root(rank: int) -> int:
        while group[rank] != rank:
            group[rank] = group[group[rank]]
            rank = group[rank]
        return rank

    first: dict[int, int] = {}
    for pair, rank in zip(log.pair.tolist(), log.rank.tolist(), strict=True):
        group[root(rank)] = root(first.setdefault(pair, rank))

    parts = {root(rank) for rank in group}
    if len(parts) > 1:
        hint = "The model needs documents that were shown at several ranks. Give propensities, or use the model dbn."
        message = f"ranks are not connected: no document was shown both at rank {min(parts)} and at rank {max(parts)}"
        raise InputError(f"{message}, or by way of others", where="clicks", hint=hint, code="not-identified")


def fit(log: ClickLog, weights: np.ndarray, rounds: int = ROUNDS) -> PositionFit:
    """Fit by expectation-maximisation, from 0.5 everywhere."""
    examination = np.where(log.per_rank(np.ones(len(log.rank))) > 0, 0.5, 0.0)
    attraction = np.full(len(log.pairs), 0.5)
    per_rank, per_pair = log.per_rank(weights), log.per_pair(weights)
    before = -np.inf
    likelihood = before
    for _ in range(rounds):
        e, a = examination[log.rank], attraction[log.pair]
        missed = np.maximum(1 - e * a, 1e-300)
        examined = np.where(log.click > 0, 1.0, e * (1 - a) / missed)
        attractive = np.where(log.click > 0, 1.0, a * (1 - e) / missed)

        examination = ratio(log.per_rank(weights * examined), per_rank)
        attraction = ratio(log.per_pair(weights * attractive), per_pair)

        product = np.clip(examination[log.rank] * attraction[log.pair], 1e-300, 1 - 1e-16)
        likelihood = float((weights * np.where(log.click > 0, np.log(product), np.log1p(-product))).sum())
        if abs(likelihood - before) < ENOUGH * len(log.rank) and rounds == ROUNDS:
            break
        before = likelihood

    return PositionFit(examination, attraction, likelihood)


def exposure(log: ClickLog) -> np.ndarray:
    """How many views of each pair were looked at, on average, where the first rank always is."""
    fitted = fit(log, np.ones(len(log.pair)))
    return log.per_pair(np.minimum(fitted.relative_examination, 1.0)[log.rank])


def estimate(log: ClickLog, weights: np.ndarray) -> np.ndarray:
    """The attraction of each pair, where the first rank is always looked at."""
    if (weights == 1).all():  # the log itself, rather than a sample of it
        check(log)
    return np.asarray(np.minimum(fit(log, weights).scaled_attraction, 1.0))
