"""The dependent click model of Guo et al. (2009): after a click at a rank people go on with that rank's lambda."""

from __future__ import annotations

import numpy as np

from goldrank.clicks.dbn import counted
from goldrank.clicks.sessions import ClickLog, ratio


def going_on(log: ClickLog, weights: np.ndarray) -> np.ndarray:
    """By rank, from rank 0, which does not exist: 1 - last clicks / clicks; 0 where nothing was clicked."""
    clicks = log.per_rank(weights * log.click)
    return np.where(clicks > 0, 1 - ratio(log.per_rank(weights * log.is_last), clicks), 0.0)


def exposure(log: ClickLog) -> np.ndarray:
    """How many views of each pair were at or above the last click."""
    return log.per_pair(log.seen.astype(np.float64))


def estimate(log: ClickLog, weights: np.ndarray) -> np.ndarray:
    """The attraction of each pair, of views at or above the last click."""
    return counted(log, weights).attraction
