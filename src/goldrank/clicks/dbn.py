"""The dynamic Bayesian network of Chapelle and Zhang (2009).

People look from the top, click what attracts them, and stop when they are satisfied; else they go on with probability
gamma. Relevance is attraction times satisfaction.

With gamma 1 both are counted: documents below the last click were not looked at. Below 1 it is fitted by
expectation-maximisation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from goldrank.base.errors import OptionError
from goldrank.base.escaping import shown
from goldrank.clicks.sessions import ClickLog, ratio

ROUNDS = 200
ENOUGH = 1e-7
"""Change of any estimate at which fitting ends."""


class DbnFit(NamedTuple):
    """By pair. `satisfaction` is 0 where nothing was clicked."""

    attraction: np.ndarray
    satisfaction: np.ndarray

    @property
    def relevance(self) -> np.ndarray:
        return np.asarray(self.attraction * self.satisfaction)


def counted(log: ClickLog, weights: np.ndarray) -> DbnFit:
    """gamma = 1: shares of views at or above the last click, and of clicks that were the last."""
    clicks = log.per_pair(weights * log.click)
    return DbnFit(ratio(clicks, log.per_pair(weights * log.seen)), ratio(log.per_pair(weights * log.is_last), clicks))


def fit(log: ClickLog, weights: np.ndarray, gamma: float) -> DbnFit:
    """gamma < 1, by expectation-maximisation from the counts of gamma = 1."""
    grid = _Grid(log)
    clicks = log.per_pair(weights * log.click)
    start = counted(log, weights)
    attraction = np.clip(start.attraction, 0.01, 0.99)
    satisfaction = np.where(clicks > 0, np.clip(start.satisfaction, 0.01, 0.99), 0.0)
    for _ in range(ROUNDS):
        looked, satisfied = grid.expected(attraction[log.pair], satisfaction[log.pair], gamma)
        new = np.minimum(ratio(clicks, log.per_pair(weights * looked)), 1.0)
        content = ratio(log.per_pair(weights * satisfied), clicks)
        change = max(np.abs(new - attraction).max(), np.abs(content - satisfaction).max())
        attraction, satisfaction = new, content
        if change < ENOUGH:
            break

    return DbnFit(attraction, satisfaction)


class _Grid:
    """Rows as a matrix of page views and places, so that steps from place to place are taken for all pages at once."""

    def __init__(self, log: ClickLog) -> None:
        first = np.searchsorted(log.page, np.arange(log.pages))
        self.place = np.arange(len(log.page)) - first[log.page]
        self.page = log.page
        self.shape = (log.pages, int(self.place.max()) + 1)
        self.is_last = log.is_last
        self.clicked = log.click > 0
        last_place = np.full(log.pages, -1)
        last_place[log.page[log.is_last]] = self.place[log.is_last]
        self.last = last_place

    def expected(self, attraction: np.ndarray, satisfaction: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
        """For each row, how likely it was looked at and how likely its click ended the search, given all clicks."""
        a = np.zeros(self.shape)
        present = np.zeros(self.shape, bool)
        a[self.page, self.place] = attraction
        present[self.page, self.place] = True
        width = self.shape[1]
        silent = np.ones((self.shape[0], width + 1))
        """No clicks from a place on, given that it is looked at; beyond the end there is nothing to click."""
        for i in range(width - 1, -1, -1):
            value = (1 - a[:, i]) * (gamma * silent[:, i + 1] + 1 - gamma)
            silent[:, i] = np.where(present[:, i], value, 1.0)

        after = gamma * silent[:, 1:] + 1 - gamma
        s = satisfaction * self.is_last
        rest = after[self.page, self.place]
        satisfied = np.where(self.is_last, s / np.maximum(s + (1 - s) * rest, 1e-300), 0.0)
        ended = np.zeros(self.shape[0])
        ended[self.page[self.is_last]] = satisfied[self.is_last]
        looked = np.zeros(self.shape)
        for i in range(width):
            on = gamma * silent[:, i] / np.maximum(gamma * silent[:, i] + 1 - gamma, 1e-300)
            if i:
                before = looked[:, i - 1] * on
            else:
                before = np.ones(self.shape[0])
            below = np.where(i == self.last + 1, (1 - ended) * (on if i else 1.0), before)
            looked[:, i] = np.where(i <= self.last, 1.0, below)

        return looked[self.page, self.place], satisfied


def exposure(log: ClickLog, gamma: float = 1.0) -> np.ndarray:
    """How many views of each pair were looked at; with gamma below 1, as the fit has it."""
    if gamma == 1:
        return log.per_pair(log.seen.astype(np.float64))
    fitted = fit(log, np.ones(len(log.pair)), float(gamma))
    looked, _ = _Grid(log).expected(fitted.attraction[log.pair], fitted.satisfaction[log.pair], float(gamma))
    return log.per_pair(looked)


def estimate(log: ClickLog, weights: np.ndarray, gamma: float = 1.0) -> np.ndarray:
    """The relevance of each pair: attraction times satisfaction."""
    if isinstance(gamma, bool) or not isinstance(gamma, int | float) or not 0 < gamma <= 1:
        raise OptionError(f"gamma is {shown(gamma, 80)}", hint="It is a share above 0 and up to 1.")
    return (counted(log, weights) if gamma == 1 else fit(log, weights, float(gamma))).relevance
