"""What a rule may ask of the values of queries instead of their mean: a percentile, a share, a total."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from goldrank.base.errors import RuleError

_PERCENTILE = re.compile(r"p(\d+(?:\.\d+)?)", re.ASCII)
_SHARE = re.compile(r"(>=|<=)\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+))", re.ASCII)
_OF_SHARE = re.compile(r"P\[(.+?)\s*(>=|<=)\s*([^\]<>=]+)\]")
_BEFORE = re.compile(r"(median|p\d+(?:\.\d+)?)\s+(\S.*)", re.ASCII)

EXAMPLES = "'p5 nDCG@10 >= 0.1', 'median nDCG@10 >= 0.4' or 'P[nDCG@10 >= 0.5] >= 0.9'"


class RuleSubject(NamedTuple):
    """The measure of a rule, and which statistic of its values is asked for; None for the mean."""

    measure: str
    statistic: str | None


def taken_apart(subject: str) -> RuleSubject:
    """`p5 nDCG@10`, `median nDCG@10` and `P[nDCG@10 >= 0.5]` as measure and statistic; any other text is a measure."""
    share = _OF_SHARE.fullmatch(subject)
    if share is not None:
        return RuleSubject(share[1].strip(), f"{share[2]} {share[3].strip()}")
    before = _BEFORE.fullmatch(subject)
    if before is not None:
        return RuleSubject(before[2].strip(), before[1])
    return RuleSubject(subject, None)


def spelled(measure: str, statistic: str | None) -> str:
    """The inverse of `taken_apart`."""
    if statistic is None:
        return measure
    if _SHARE.fullmatch(statistic):
        return f"P[{measure} {statistic}]"
    return f"{statistic} {measure}"


def check_statistic(statistic: object) -> str:
    """A statistic that is known: mean, median, total, p5, or a share such as >= 0.5."""
    if isinstance(statistic, str):
        if statistic in ("mean", "median", "total") or _SHARE.fullmatch(statistic):
            return statistic
        percentile = _PERCENTILE.fullmatch(statistic)
        if percentile is not None and 0 < float(percentile[1]) <= 100:
            return statistic
    raise RuleError(f"statistic is {statistic!r:.60}", hint="It is mean, median, total, p5 or a share such as >= 0.5.")


def statistic_of(values: np.ndarray, statistic: str) -> float:
    """A statistic of numbers; NaN if there are none."""
    if not len(values):
        return math.nan
    if statistic == "mean":
        return math.fsum(values.tolist()) / len(values)
    if statistic == "total":
        return math.fsum(values.tolist())
    if statistic == "median":
        return float(np.median(values))
    percentile = _PERCENTILE.fullmatch(statistic)
    if percentile is not None:
        return float(np.quantile(values, float(percentile[1]) / 100))

    share = _SHARE.fullmatch(statistic)
    assert share is not None
    target = float(share[2])
    if share[1] == ">=":
        return float((values >= target).mean())
    return float((values <= target).mean())
