"""One set of sign flips for all rows: p-values of single rows, and of families by the joint maximum.

If two systems were the same, which of them is called A would be a coin flip for each unit of the data. A unit is what
is drawn together: a query, or a cluster of queries. A **row** holds one number per unit, the weighted sum of the
differences of its queries; a unit that the row is not about has 0. Under flips of signs u = sum / root of the sum of
squares has variance 1 in every row, so that rows of any scale and size can be compared.

Everything here takes arrays with a row per comparison and a column per unit, and knows no ids.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from goldrank.base.packages import special

SAMPLES = 9_999
"""Flips that are drawn; the data as they are count as one more."""
EXACT_UP_TO = 13
"""Up to this number of units that differ, all flips of signs are looked at, not a sample of them."""
EXACT_TAIL_UP_TO = 20
"""The limit of `EXACT_UP_TO` for a single row that hardly any sampled flip reaches."""
FEW = 10
"""A share of sampled flips that rests on fewer than this is replaced by the saddlepoint's."""
LATTICES = (1, 10, 20, 100, 2520)
"""Measures whose values are multiples of 1 / L have differences whose exact distribution can be added up."""
MOST_STEPS = 1_000_000
"""With more multiples of the unit in all, the exact distribution is too wide."""
MOST_ADDITIONS = 5_000_000
"""With more additions, a few milliseconds, the exact distribution takes too long."""
MOST_EQUAL = 256
"""The most equal numbers that are added to an exact distribution at a time: their binomials are far from overflow."""
CHUNK = 4_000_000
"""Numbers drawn at a time, which bounds the memory."""

Tail: TypeAlias = Literal["both", "greater", "less"]
"""Which sums speak against chance: those far from 0, far above it, far below it."""


def unit_sums(rows: np.ndarray, units: np.ndarray | None = None, weights: np.ndarray | None = None) -> np.ndarray:
    """The weighted sums of each unit's queries: a column per unit from a column per query.

    `units` has for each query the number of its unit; numbers are 0, 1, ... in the order of the units' ids, none left
    out. Without units each query is its own; without weights all weigh 1.
    """
    rows = np.asarray(rows, np.float64)
    if weights is not None:
        rows = rows * weights
    if units is None:
        return rows
    order = np.argsort(units, kind="stable")
    starts = np.searchsorted(units[order], np.arange(int(units.max()) + 1))
    return np.asarray(np.add.reduceat(rows[:, order], starts, axis=1))


class UnitBlock(NamedTuple):
    """Rows that are about the same units: the positions of these, and a column for each."""

    units: np.ndarray
    rows: np.ndarray


def all_sums(columns: np.ndarray) -> np.ndarray:
    """The sum of each row under all flips, the data as they are first."""
    units = columns.shape[1]
    bits = np.arange(2**units)[:, None] >> np.arange(units) & 1
    return np.asarray(columns @ (1.0 - 2.0 * bits).T)


def sampled_sums(columns: np.ndarray, samples: int = SAMPLES, seed: int = 0) -> np.ndarray:
    """The sum of each row under flips that are drawn, the data as they are first."""
    return _sampled_blocks([_block_of_all(columns)], columns.shape[1], samples, seed)


def _block_of_all(columns: np.ndarray) -> UnitBlock:
    return UnitBlock(np.arange(columns.shape[1]), columns)


def _sums_of_blocks(blocks: Sequence[UnitBlock], units: int, samples: int, seed: int) -> tuple[np.ndarray, bool]:
    """The sums of all rows of all blocks under each flip, the data as they are first, and whether these are all flips.

    They are if at most 13 units differ from 0 in any row, else `samples` are drawn. Signs depend on the seed, the
    number of units and the number of the flip, and on nothing else.
    """
    differ = np.unique(np.concatenate([block.units[(block.rows != 0).any(axis=0)] for block in blocks]))
    if len(differ) > EXACT_UP_TO:
        return _sampled_blocks(blocks, units, samples, seed), False

    columns = np.zeros((sum(len(block.rows) for block in blocks), units))
    first = 0
    for block in blocks:
        columns[first : first + len(block.rows), block.units] = block.rows
        first += len(block.rows)
    return all_sums(columns[:, differ]), True


def _sampled_blocks(blocks: Sequence[UnitBlock], units: int, samples: int, seed: int) -> np.ndarray:
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 1])))
    row_sums = np.concatenate([block.rows.sum(axis=1) for block in blocks])
    sums = np.empty((len(row_sums), samples + 1))
    sums[:, 0] = row_sums

    matrices = [np.ascontiguousarray(block.rows.T) for block in blocks]
    words, at_once = -(-units // 64), max(1, CHUNK // units)
    for low in range(0, samples, at_once):
        block_slice = slice(low + 1, min(low + at_once, samples) + 1)
        drawn = rng.integers(0, 2**64, (block_slice.stop - block_slice.start, words), dtype=np.uint64).astype(
            "<u8", copy=False
        )
        positive = np.unpackbits(drawn.view(np.uint8), axis=1, count=units)
        first = 0
        for block, matrix in zip(blocks, matrices, strict=True):
            positive_in_block = positive
            if len(block.units) != units:
                positive_in_block = positive[:, block.units]
            sums[first : first + len(block.rows), block_slice] = (positive_in_block.astype(np.float64) @ matrix).T
            first += len(block.rows)

    # The units that stay positive less those that are flipped are twice the positive ones less all of them.
    sums[:, 1:] *= 2
    sums[:, 1:] -= sums[:, :1]
    return sums


@dataclass(frozen=True)
class Flipped:
    """Rows and what they come to under one set of flips. Make it with `flip`."""

    columns: Sequence[np.ndarray]
    """A row per column of values (a system's measure, a rule's differences), a number per unit of its block."""
    pairs: np.ndarray | None
    """Rows as differences: (minus, plus), numbers of columns. Without it the columns themselves are the rows."""
    flips: np.ndarray
    """The sum of each column under each flip, the data as they are first."""
    exact: bool
    """Whether these are all flips there are."""

    def __len__(self) -> int:
        if self.pairs is None:
            return len(self.columns)
        return len(self.pairs)

    def row(self, i: int) -> np.ndarray:
        """A row's number for each unit, of its block if there are several."""
        if self.pairs is None:
            return np.asarray(self.columns[i])
        minus, plus = self.pairs[i]
        return without_rounding(self.columns[plus] - self.columns[minus])

    def sums(self, i: int) -> np.ndarray:
        """A row's sum under each flip, the data as they are first."""
        if self.pairs is None:
            return np.asarray(self.flips[i])
        minus, plus = self.pairs[i]
        return np.asarray(self.flips[plus] - self.flips[minus])

    @cached_property
    def norms(self) -> np.ndarray:
        """The root of each row's sum of squares."""
        return np.array([math.sqrt(float(np.dot(row, row))) for row in map(self.row, range(len(self)))])

    @cached_property
    def slacks(self) -> np.ndarray:
        """By how much two sums of a row may differ by rounding alone."""
        sizes = np.array([np.abs(column).sum() for column in self.columns])
        if self.pairs is not None:
            sizes = sizes[self.pairs].sum(axis=1)
        return 1e-11 * sizes

    @cached_property
    def u(self) -> np.ndarray:
        """Each row's sum over the root of its sum of squares; 0 where nothing differs."""
        sums = self.flips[:, 0]
        if self.pairs is not None:
            sums = sums[self.pairs[:, 1]] - sums[self.pairs[:, 0]]
        return np.asarray(np.divide(sums, self.norms, out=np.zeros(len(self)), where=self.norms > 0))

    def differing(self, i: int) -> int:
        """How many units a row differs on."""
        return int(np.count_nonzero(self.row(i)))


def flip(columns: np.ndarray, pairs: np.ndarray | None = None, *, samples: int = SAMPLES, seed: int = 0) -> Flipped:
    """Rows under one set of flips: the rows of `columns`, or of `pairs` of them (minus, plus).

    Columns have 0 for units that they are not about, and no NaN. For pairs of systems, subtract one of them from all
    first: differences stay as they are, and rounding is as small as in differences.
    """
    columns = np.asarray(columns, np.float64)
    return flip_blocks([_block_of_all(columns)], columns.shape[1], pairs, samples=samples, seed=seed)


def flip_blocks(
    blocks: Sequence[UnitBlock], units: int, pairs: np.ndarray | None = None, *, samples: int = SAMPLES, seed: int = 0
) -> Flipped:
    """`flip` for blocks of rows, such as slices, each about some of the units; a pair is of one block.

    The work grows with the units in each block. Signs are those of all units.
    """
    if pairs is not None:
        pairs = np.asarray(pairs)
    blocks = [UnitBlock(block.units, without_rounding(np.asarray(block.rows, np.float64))) for block in blocks]
    sums, exact = _sums_of_blocks(blocks, units, samples, seed)
    columns = [row for block in blocks for row in block.rows]
    return Flipped(columns, pairs, sums, exact)


def without_rounding(differences: np.ndarray) -> np.ndarray:
    """The differences, with 0 where a difference is due to rounding alone."""
    return np.where(np.abs(differences) < 1e-12, 0.0, differences)


# One row.


class PValue(NamedTuple):
    """A p-value, and how it was found: 'exact', 'sampled' or 'saddlepoint'."""

    value: float
    method: str


def raw_p(flipped: Flipped, i: int, tail: Tail = "both") -> PValue:
    """The p-value of one row by flips of signs, uncorrected; never 0."""
    row = flipped.row(i)
    changed = row[row != 0]
    if tail == "less":
        changed = -changed

    if len(changed) <= EXACT_UP_TO:
        return PValue(enumerated_p(changed, tail), "exact")

    unit = lattice_unit(changed)
    if unit is not None:
        p = lattice_p(changed, unit, tail)
        if p is not None:
            return PValue(p, "exact")

    sums = _turned(flipped.sums(i), tail)
    reached = int(np.count_nonzero(sums >= sums[0] - flipped.slacks[i]))
    if flipped.exact:
        return PValue(reached / len(sums), "exact")
    if reached - 1 >= FEW:
        return PValue(reached / len(sums), "sampled")
    if len(changed) <= EXACT_TAIL_UP_TO:
        return PValue(enumerated_p(changed, tail), "exact")
    return PValue(saddlepoint_p(changed, unit, tail), "saddlepoint")


def enumerated_p(changed: np.ndarray, tail: Tail = "both") -> float:
    """The share of all flips of signs whose sum is as large ('both': as far from 0) as the observed one."""
    sums = np.zeros(1)
    for value in changed:
        sums = np.concatenate((sums + value, sums - value))
    observed = float(changed.sum())
    if tail == "both":
        sums, observed = np.abs(sums), abs(observed)
    return float((sums >= observed - 1e-11 * float(np.abs(changed).sum())).mean())


def lattice_unit(changed: np.ndarray) -> float | None:
    """The largest of the usual units that divides all numbers, none of them 0; None if there is no such unit."""
    for parts in LATTICES:
        first = changed[:8] * parts
        if np.abs(first - np.rint(first)).max(initial=0.0) > 1e-9 * parts:
            continue  # most numbers are on no lattice, and a few show it
        multiples = changed * parts
        nearest = np.rint(multiples)
        if nearest.all() and np.abs(multiples - nearest).max(initial=0.0) <= 1e-9 * parts:
            return 1 / parts
    return None


def lattice_p(changed: np.ndarray, unit: float, tail: Tail = "both") -> float | None:
    """`enumerated_p` from the exact distribution of the sum, one number after the other; None if that takes too long.

    A flip chooses which numbers count as positive; the sum is at least the observed one if their sizes come to at
    least half of what all sizes and the observed sum come to.
    """
    sizes, counts = np.unique(np.abs(np.rint(changed / unit)).astype(np.int64), return_counts=True)
    total = int(np.dot(sizes, counts))
    if total > MOST_STEPS or total * len(changed) > 2 * MOST_ADDITIONS:
        return None
    observed = int(np.rint(changed / unit).sum())
    if tail == "both":
        observed = abs(observed)

    # How many flips come to each sum; halved now and then, so that their number stays within what doubles hold.
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    doublings, reached = 0, 0
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        at_once = 1
        if count > size:
            at_once = MOST_EQUAL
        for first in range(0, count, at_once):
            equal = min(at_once, count - first)
            _add_equal(ways, reached, size, equal)
            reached += equal * size
            doublings += equal
            if doublings >= 512:
                ways[: reached + 1] *= 0.5**doublings
                doublings = 0

    share = float(ways[-(-(total + observed) // 2) :].sum()) * 0.5**doublings
    if tail == "both":
        share = 2 * share
    return max(sys.float_info.min, min(1.0, share))


def _add_equal(ways: np.ndarray, reached: int, size: int, equal: int) -> None:
    """Add numbers of one size, each counted or not, to the ways to come to sums up to `reached`."""
    if equal == 1:
        ways[size : reached + size + 1] += ways[: reached + 1].copy()
        return
    binomials = _binomials(equal)
    # Sums that differ by other than multiples of the size do not meet.
    for remainder in range(min(size, reached + 1)):
        ways[remainder : reached + equal * size + 1 : size] = np.convolve(
            ways[remainder : reached + 1 : size], binomials
        )


@cache
def _binomials(equal: int) -> np.ndarray:
    """In how many ways 0, 1, ... of these numbers can be chosen."""
    return np.cumprod([1.0, *((equal - i) / (i + 1) for i in range(equal))])


def saddlepoint_p(changed: np.ndarray, unit: float | None = None, tail: Tail = "both") -> float:
    """`enumerated_p` by the saddlepoint of the sum's distribution (Lugannani and Rice 1980), for far tails.

    On a lattice the sum is taken one unit nearer to 0, as sums lie two units apart.
    """
    scale = float(np.abs(changed).max())
    sizes = np.abs(changed) / scale
    observed = float(changed.sum()) / scale
    doubled = 1.0
    if tail == "both":
        observed, doubled = abs(observed), 2.0

    all_one_way = doubled * 0.5 ** min(len(changed), 1_000)
    most = float(sizes.sum())
    if observed >= most * (1 - 1e-11):
        return max(sys.float_info.min, all_one_way)

    x = observed
    if unit is not None:
        x -= unit / scale
    if x <= 0:
        if tail == "both":
            return 1.0
        return math.nan

    slope = _solve(sizes, x)
    grown = slope * sizes
    cumulant = float((grown + np.log1p(np.exp(-2 * grown)) - math.log(2)).sum())
    w = math.sqrt(max(0.0, 2 * (slope * x - cumulant)))
    v = slope * math.sqrt(float((sizes**2 / np.cosh(np.minimum(grown, 300)) ** 2).sum()))

    # Phi(-w) + phi(w)(1/v - 1/w), with Phi(-w) taken out so that far tails do not vanish too early.
    log_tail = float(special.log_ndtr(-w))
    mills = math.exp(-w * w / 2 - 0.5 * math.log(2 * math.pi) - log_tail)
    p = doubled * math.exp(log_tail) * max(0.0, 1 + mills * (1 / v - 1 / w))
    return max(sys.float_info.min, all_one_way, min(1.0, p))


def _solve(sizes: np.ndarray, x: float) -> float:
    """The slope at which the tilted mean of the sum is x; sizes are at most 1, and x is less than their sum.

    The mean is a concave function of the slope, and at the first guess not above x: Newton's steps go up to the
    solution and never beyond it.
    """
    squares = sizes**2
    slope = x / float(squares.sum())
    for _ in range(1_000):
        leaning = np.tanh(slope * sizes)
        curve = float(np.dot(squares, 1 - leaning**2))
        step = 0.0
        if curve > 0:
            step = (x - float(np.dot(sizes, leaning))) / curve
        slope += step
        if step <= 1e-13 * slope:
            break
    return slope


# Families.


@dataclass(frozen=True)
class Family:
    """Rows corrected together, in the order in which they were named."""

    adjusted: np.ndarray
    """The corrected p-value of each row (step-down max-T, Westfall and Young 1993)."""
    at_most: np.ndarray
    """Whether no flip reached the row, so that its p-value is only known to be at most this."""
    critical: float
    """The value of u that the largest of all rows passes by chance with probability alpha."""
    maxima: np.ndarray
    """The largest of all rows under each flip."""
    stages: np.ndarray
    """For each row that is found, the value of u that it had to pass: rows further out are found before it."""
    demanded: np.ndarray
    """The corrected p-value of what was demanded of each row beside its u; 0 where nothing was."""


def max_t(
    flipped: Flipped, rows: Sequence[int] | None = None, *, tail: Tail = "both", alpha: float = 0.05,
    raw: Sequence[float] | None = None, demanded: Sequence[float] | None = None,
) -> Family:  # fmt: skip
    """The joint correction over some rows, all of them by default. `raw` are their p-values by `raw_p`.

    `demanded` has for each row another value of u that must pass as well, such as the u of an interval that knows skew.

    A row's p-value is how often the largest u of the rows that are not further out than it reaches its own. Rows are
    taken from the nearest to 0 outwards with a running maximum, so that memory does not grow with rows.
    """
    if rows is None:
        rows = range(len(flipped))
    chosen = list(rows)
    flips_count = flipped.flips.shape[1]
    adjusted, at_most = np.ones(len(chosen)), np.zeros(len(chosen), bool)
    stages, demanded_adjusted = np.full(len(chosen), math.nan), np.zeros(len(chosen))
    if not chosen:
        return Family(adjusted, at_most, math.nan, np.full(flips_count, -np.inf), stages, demanded_adjusted)

    turned = _turned(flipped.u[chosen], tail)
    largest = np.full(flips_count, -np.inf)
    outermost_first = np.argsort(-turned, kind="stable")
    for position in reversed(range(len(chosen))):
        member = int(outermost_first[position])
        i = chosen[member]
        norm = flipped.norms[i]
        if norm > 0:
            np.maximum(largest, _turned(flipped.sums(i), tail) / norm, out=largest)
            reached = int(np.count_nonzero(largest >= turned[member] - flipped.slacks[i] / norm))
        else:
            np.maximum(largest, 0.0, out=largest)
            reached = flips_count

        adjusted[member] = reached / flips_count
        if reached <= 1 and not flipped.exact:
            if raw is None:
                raw_value = raw_p(flipped, i, tail).value
            else:
                raw_value = raw[member]
            adjusted[member] = min(1 / flips_count, (len(chosen) - position) * raw_value)
            at_most[member] = True
        if raw is not None:  # sampled maxima may fall short of what is known exactly of the row alone
            adjusted[member] = max(adjusted[member], raw[member])

        if demanded is not None and norm > 0 and adjusted[member] <= alpha:
            stages[member] = smallest_reached(largest, alpha)
            reached = int(np.count_nonzero(largest >= demanded[member] - flipped.slacks[i] / norm))
            demanded_adjusted[member] = reached / flips_count

    adjusted[outermost_first] = np.maximum.accumulate(adjusted[outermost_first])
    # A bound below a known value stays a bound; a bound that was raised to it is a value.
    raised = adjusted > 1 / flips_count
    critical = smallest_reached(largest, alpha)
    return Family(adjusted, at_most & ~raised, critical, largest, stages, demanded_adjusted)


def smallest_reached(maxima: np.ndarray, alpha: float) -> float:
    """The value that a share alpha of the maxima, at most, lies above."""
    rank = math.ceil((1 - alpha) * len(maxima) - 1e-9)
    return float(np.partition(maxima, rank - 1)[rank - 1])


def _turned(values: np.ndarray, tail: Tail) -> np.ndarray:
    """Values turned so that those that speak against chance are large."""
    if tail == "both":
        return np.asarray(np.abs(values))
    if tail == "less":
        return np.asarray(-values)
    return values


def t_of_u(u: float, units: float) -> float:
    """Student's t of a row with this number of units; infinite where u is as large as it can be."""
    if units < 2 or u * u >= units:
        if u >= 0:
            return math.inf
        return -math.inf
    return u * math.sqrt((units - 1) / (units - u * u))


def u_of_t(t: float, units: float) -> float:
    """The inverse of `t_of_u`."""
    if math.isinf(t):
        return math.copysign(math.sqrt(units), t)
    return t * math.sqrt(units / (units - 1 + t * t))


def t_of_u_weighted(u: float, freedom: float) -> float:
    """`t_of_u` for clusters and weights, where u is about normal: the quantile of t with this freedom."""
    if freedom > 0:
        return float(special.stdtrit(freedom, special.ndtr(u)))
    return math.inf
