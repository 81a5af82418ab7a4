"""The dynamic Bayesian network of Chapelle and Zhang (2009).

People look from the top, click what attracts them, and stop when they are satisfied; else they go on with probability
gamma. Relevance is attraction times satisfaction.

With gamma = 1 both are counted: documents below the last click were not looked at. With gamma below 1 they are fitted
by expectation-maximisation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from goldrank.base.errors import OptionError
from goldrank.base.escaping import shown
from goldrank.clicks.sessions import ClickLog, ratio

ROUNDS = 200
ENOUGH = 1e-7
"""Fitting ends when no estimate changes by more."""


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
        new_attraction = np.minimum(ratio(clicks, log.per_pair(weights * looked)), 1.0)
        new_satisfaction = ratio(log.per_pair(weights * satisfied), clicks)
        change = max(np.abs(new_attraction - attraction).max(), np.abs(new_satisfaction - satisfaction).max())

        attraction, satisfaction = new_attraction, new_satisfaction
        if change < ENOUGH:
            break

    return DbnFit(attraction, satisfaction)


class _Grid:
    """Rows as a matrix of page views and positions: a step from position to position is taken for all pages at once."""

    def __init__(self, log: ClickLog) -> None:
        first = np.searchsorted(log.page, np.arange(log.pages))
        self.position = np.arange(len(log.page)) - first[log.page]
        self.page = log.page
        self.shape = (log.pages, int(self.position.max()) + 1)
        self.is_last = log.is_last

        last_position = np.full(log.pages, -1)
        last_position[log.page[log.is_last]] = self.position[log.is_last]
        self.last = last_position

    def expected(self, attraction: np.ndarray, satisfaction: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
        """For each row, how likely it was looked at and how likely its click ended the search, given all clicks."""
        pages, width = self.shape
        silent = self._silent(attraction, gamma)

        no_click_after = (gamma * silent[:, 1:] + 1 - gamma)[self.page, self.position]
        ends_here = satisfaction * self.is_last
        evidence = np.maximum(ends_here + (1 - ends_here) * no_click_after, 1e-300)
        satisfied = np.where(self.is_last, ends_here / evidence, 0.0)
        ended = np.zeros(pages)
        ended[self.page[self.is_last]] = satisfied[self.is_last]

        looked = np.zeros(self.shape)
        for i in range(width):
            if i == 0:
                going_on = before = np.ones(pages)
            else:
                going_on = gamma * silent[:, i] / np.maximum(gamma * silent[:, i] + 1 - gamma, 1e-300)
                before = looked[:, i - 1] * going_on
            below = np.where(i == self.last + 1, (1 - ended) * going_on, before)
            looked[:, i] = np.where(i <= self.last, 1.0, below)

        return looked[self.page, self.position], satisfied

    def _silent(self, attraction: np.ndarray, gamma: float) -> np.ndarray:
        """How likely nothing is clicked from a position on, if it is looked at; 1 beyond the end of the page."""
        attractions = np.zeros(self.shape)
        attractions[self.page, self.position] = attraction
        present = np.zeros(self.shape, bool)
        present[self.page, self.position] = True

        pages, width = self.shape
        silent = np.ones((pages, width + 1))
        for i in range(width - 1, -1, -1):
            value = (1 - attractions[:, i]) * (gamma * silent[:, i + 1] + 1 - gamma)
            silent[:, i] = np.where(present[:, i], value, 1.0)
        return silent


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
    if gamma == 1:
        return counted(log, weights).relevance
    return fit(log, weights, float(gamma)).relevance
