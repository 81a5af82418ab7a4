import math
from dataclasses import dataclass

import numpy as np

from goldrank.data.scores import SLACK, Column
from goldrank.errors import MeasureError
from goldrank.measures import parse


@dataclass(frozen=True)
class Facts:
    name: str
    higher_is_better: bool = True
    low: float = -math.inf
    high: float = math.inf
    diagnostic: bool = False

    @property
    def reach(self) -> float:
        return self.high - self.low if self.is_bounded else math.inf

    @property
    def is_bounded(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


def facts_of(column: Column, values: np.ndarray) -> Facts:
    try:
        declared = parse(column.measure).declaration
    except MeasureError:
        return Facts(column.measure, column.higher_is_better)
    low, high = declared.low, declared.high
    if column.average == "geometric":
        low, high = (math.log(end) if end > 0 else -math.inf for end in (low, high))
    counted = values[~np.isnan(values)]
    if len(counted) and (counted.min() < low - SLACK or counted.max() > high + SLACK):
        low, high = -math.inf, math.inf
    return Facts(column.measure, column.higher_is_better, low, high)
