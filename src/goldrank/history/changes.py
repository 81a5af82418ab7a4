"""Where a line of records changed by more than chance: pooled evidence, looked at record by record.

A segment is the records since the last mark. At each new record every split of the segment is tried: the mean of the
records after it less the mean of those before it, query by query, as u = sum(d) / sqrt(sum(d^2)); the greatest |u|
counts. How great it gets by chance is known from flips of the queries' signs, which leave everything but the direction
of a query's change as it is. Looks spend alpha little by little: up to look j, alpha (j + 3) / (j + 23) of the flips
may have gone beyond their limits, so that a line of any length shows a false mark with a probability of at most alpha.

Only what lies before a record counts, so a mark never moves when records are added.

What all queries of a run share (a seed, a rebuilt index, a season) is not the chance of single queries. Replicates show
it: their variance is added to each flip and to the scale of u. A second test needs none: whole records are permuted in
time, and the greatest step of their means counts. It knows nothing of single queries, and takes queries that wander,
each by itself, for a change. So a change is sure if both tests find it, or the flips alone where replicates are known;
else it says which of them found it.

Where a segment splits is another question: where two means leave the least squares, m1 m2 / (m1 + m2) times the square
of the difference being greatest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from goldrank.base.packages import special
from goldrank.comparison.flips import EXACT_UP_TO, SAMPLES, all_sums, sampled_sums, t_of_u

FLIPS = SAMPLES + 1
"""With more than 13 queries; else all that there are. The data as they are is one of them, the first."""
MOST_SPLITS = 64
NEWEST_SPLITS = 20
"""Of more than `MOST_SPLITS` splits, this many of the newest are tried, and the others at growing distances."""
HEAD_START = 3
PATIENCE = 20
"""A sixth of alpha may be spent at the first look, so that lines of few records find large steps, and half of it by the
17th: a line that spends faster has next to nothing left for the steps that come later."""
RANGE = 7.0
"""A split is in the range of a mark if its t^2 is at most this much below the greatest."""
_TIES = 1e-9
"""How far, relative, a maximum must be above another to count as greater: flips of equal data tie."""
_ZERO = 1e-13
"""A difference of means below this is rounding."""
_BLOCK = 32
"""How many records are flipped at a time."""
PERMUTATIONS = 50_000
"""The most orders of records that are drawn; fewer if these show that chance could do it."""
_AT_ONCE = 2_000
_LEAST_ALPHA = 4e-5
"""What this number of orders can show. The permutation test waits until it may spend as much."""
_WORTH_A_TEST = 4.0
"""In variances of a record, the step below which no order needs to be drawn: it is far from any limit."""

FEWEST_TO_KNOW = 6
"""Records that show how far their means are apart."""
_SELDOM = 0.002
"""How seldom the means of records alone may be as far apart by chance, for a change that queries alone show."""

FoundBy: TypeAlias = Literal["both", "queries", "records"]
"""Which test found a change: flips of queries, permutations of records, or both."""


@dataclass(frozen=True)
class RunNoise:
    """How far the means of runs of the same system are apart: their standard deviation, from replicates."""

    deviation: float = 0.0
    freedom: int = 0
    """How many differences between replicates it is from; 0 if nothing is known."""

    @property
    def known(self) -> bool:
        """Whether there are replicates."""
        return self.freedom > 0


NO_NOISE = RunNoise()


@dataclass
class ChangeSearch:
    """How far the search of a line has come; all that later looks need of earlier ones."""

    looks: int = 0
    spent: float = 0.0
    """The share of flips that crossed in earlier segments."""
    crossed: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    """By flip, whether it went beyond a limit in this segment."""
    unspent: float = 0.0
    """What the permutation test may spend at its next look."""

    def close(self) -> None:
        """End the segment: what its flips have spent stays spent."""
        if len(self.crossed):
            self.spent += float(self.crossed.mean())
        self.crossed = np.zeros(0, bool)


@dataclass(frozen=True)
class Split:
    """Where a segment splits in two that differ: positions are rows of the segment."""

    row: int
    """The first record after it."""
    first: int
    last: int
    """The range in which it surely is."""
    difference: float
    """Of the means after and before."""
    t: float
    p: float
    """The share of flips with a maximum at least as great at this look."""
    differing: int
    queries: int
    found_by: FoundBy = "queries"


class _Splits(NamedTuple):
    """All splits of a segment that are tried at one look."""

    before: np.ndarray
    """How many records are before each split; also the row of the first one after it."""
    after: np.ndarray
    totals: np.ndarray
    """Sums of differences over queries."""
    roots: np.ndarray
    differing: np.ndarray
    queries: int

    @property
    def u(self) -> np.ndarray:
        """The statistic: 0 where nothing differs."""
        return np.asarray(np.divide(self.totals, self.roots, out=np.zeros_like(self.totals), where=self.roots > 0))


class Segment:
    """The records since the last mark: a row of values per query for each, NaN where a query does not count."""

    def __init__(
        self,
        values: np.ndarray | Sequence[Sequence[float]],
        numbers: Sequence[int],
        seed: int = 0,
        noise: RunNoise = NO_NOISE,
    ) -> None:
        """`numbers` identify the records: what noise a flip adds to a record is the same at every look."""
        table = np.asarray(values, np.float64)
        self._finite = np.logical_and.accumulate(np.isfinite(table), axis=0)
        # Relative to the first record: differences are the same, and equal values give exactly 0.
        self._values = np.where(self._finite, table, 0.0) - np.where(self._finite, table[0], 0.0)
        self._numbers = list(numbers)
        self._seed = seed
        self.noise = noise
        queries = table.shape[1]
        self.flips = 1 << queries
        if queries > EXACT_UP_TO:
            self.flips = FLIPS

        self._counted = np.zeros(0, np.intp)
        """The queries that count in all records up to the last look."""
        self._totals = np.zeros((0, 0))
        """Prefix sums over records, for each of these queries."""
        self._sums = np.zeros((1, self.flips))
        """Prefix sums over records, for each flip."""
        self._shared = np.zeros((1, self.flips))
        """Prefix sums of the noise that all queries of a run share, for each flip, in standard deviations."""

    def look(self, row: int, search: ChangeSearch, alpha: float) -> Split | None:
        """Look at the segment up to this row, spending what this look may spend; the split if it is beyond chance."""
        if len(search.crossed) != self.flips:
            search.close()
            search.crossed = np.zeros(self.flips, bool)

        search.looks += 1
        budget = allowance(search.looks, alpha) - search.spent
        allowed = math.floor(self.flips * budget + 1e-9) - int(search.crossed.sum())
        splits = self.splits(row)
        best = float(np.abs(splits.u).max())
        open_flips = np.flatnonzero(~search.crossed)
        if not best or not 0 <= allowed < len(open_flips):
            return None

        maxima = self._maxima(row, splits)
        limit = float(np.partition(maxima[open_flips], -1 - allowed)[-1 - allowed]) * (1 + _TIES)
        search.crossed[open_flips[maxima[open_flips] > limit]] = True
        if not search.crossed[0]:
            return None
        return self._split(splits, float((maxima >= best * (1 - _TIES)).mean()))

    def _split(self, splits: _Splits, p: float) -> Split:
        """The split that leaves the least squares, the latest of equal ones: equal records belong before it."""
        gains = splits.before * splits.after / (splits.before + splits.after) * splits.totals**2
        best = int(np.flatnonzero(gains >= float(gains.max()) * (1 - _TIES))[-1])
        t = np.array([t_of_u(value, splits.queries) for value in splits.u.tolist()])
        within_range = splits.before[t**2 >= float((t**2).max()) - RANGE]
        row = int(splits.before[best])

        return Split(
            row=row,
            first=min(row, int(within_range.min())),
            last=max(row, int(within_range.max())),
            difference=float(splits.totals[best]) / splits.queries,
            t=float(t[best]),
            p=p,
            differing=int(splits.differing[best]),
            queries=splits.queries,
        )

    def splits(self, row: int) -> _Splits:
        """The splits that are tried when this row is the newest."""
        counted = np.flatnonzero(self._finite[row])
        if not len(self._totals) or len(counted) != len(self._counted):
            self._counted, self._sums = counted, np.zeros((1, self.flips))
            self._totals = np.cumsum(self._values[:, counted], axis=0)

        sums = self._totals
        before = candidates(row)
        after = row + 1 - before
        totals, squares, differing = np.zeros((3, len(before)))
        for i, split in enumerate(before.tolist()):
            d = (sums[row] - sums[split - 1]) / after[i] - sums[split - 1] / split
            d[np.abs(d) < _ZERO] = 0.0
            totals[i], squares[i], differing[i] = d.sum(), d @ d, np.count_nonzero(d)

        shared = (len(counted) * self.noise.deviation) ** 2 * (1 / before + 1 / after)
        return _Splits(before, after, totals, np.sqrt(squares + shared), differing, len(counted))

    def _maxima(self, row: int, splits: _Splits) -> np.ndarray:
        """For each flip the greatest |u| of all splits."""
        if len(self._sums) <= row + 1:
            self._flip(min(row + _BLOCK, len(self._values)))
        spread = splits.queries * self.noise.deviation
        if self.noise.deviation and len(self._shared) <= row + 1:
            self._shake(len(self._values))

        def prefix(rows: int) -> np.ndarray:
            sums: np.ndarray = self._sums[rows]
            if self.noise.deviation:
                return np.asarray(sums + spread * self._shared[rows])
            return sums

        newest = prefix(row + 1)
        maxima = np.zeros(self.flips)
        for split, after, root in zip(
            splits.before.tolist(), splits.after.tolist(), splits.roots.tolist(), strict=True
        ):
            if root:
                u = newest * (1 / (after * root)) - prefix(split) * ((1 / split + 1 / after) / root)
                np.maximum(maxima, np.abs(u, out=u), out=maxima)
        return maxima

    def _flip(self, rows: int) -> None:
        """Extend the prefix sums of flipped records to `rows` rows."""
        rows_done = len(self._sums) - 1
        # Queries that do not count stay as 0, so that the signs of all others stay the same.
        new = np.zeros((rows - rows_done, self._values.shape[1]))
        new[:, self._counted] = self._values[rows_done:rows, self._counted]
        if self.flips == FLIPS:
            flipped = sampled_sums(new, seed=self._seed)
        else:
            flipped = all_sums(new)
        self._sums = np.concatenate((self._sums, self._sums[-1] + np.cumsum(flipped, axis=0)))

    def _shake(self, rows: int) -> None:
        """Extend the prefix sums of the noise that queries of a run share."""
        # Few replicates show the noise roughly: by flip, how much greater or smaller it may be in truth.
        rough = np.sqrt(self.noise.freedom / self._drawn(3).chisquare(self.noise.freedom, self.flips))
        new = self._numbers[len(self._shared) - 1 : rows]
        drawn = [rough * self._drawn(2, number).standard_normal(self.flips) for number in new]
        self._shared = np.concatenate((self._shared, self._shared[-1] + np.cumsum(drawn, axis=0)))
        self._shared[:, 0] = 0.0  # the data as they are have their noise

    def _drawn(self, *streams: int) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self._seed, *streams])))


class RecordWindow:
    """Whole records since the last sure change: does their mean step more than in other orders of them?"""

    def __init__(self, values: np.ndarray, numbers: Sequence[int], seed: int = 0) -> None:
        self._values = values
        self._finite = np.logical_and.accumulate(np.isfinite(values), axis=0)
        self._numbers = list(numbers)
        self._seed = seed

    def means(self, row: int) -> np.ndarray:
        """The means of the records up to this row, over the queries that count in all of them."""
        return np.asarray(self._values[: row + 1, self._finite[row]].mean(axis=1))

    def look(self, row: int, search: ChangeSearch, alpha: float) -> Split | None:
        """The greatest step up to this row, if it is beyond chance; looks that spend little wait for others."""
        allowed_before = 0.0
        if search.looks > 1:
            allowed_before = allowance(search.looks - 1, alpha)
        search.unspent += allowance(search.looks, alpha) - allowed_before
        may_spend = search.unspent
        if may_spend < _LEAST_ALPHA:
            return None

        search.unspent = 0.0
        counted = self._finite[row]
        if not counted.any():
            return None

        values = self._values[: row + 1, counted]
        means = self.means(row)
        p = step_p(means, may_spend, [self._seed, 4, self._numbers[row]])
        if p is None:
            return None
        return _record_split(values, means, p)


def _record_split(values: np.ndarray, means: np.ndarray, p: float) -> Split:
    """Where the means of records split in two that leave the least squares, and the range."""
    size, queries = values.shape
    gains = _gains((means - means.mean())[None])[0]
    row = int(np.flatnonzero(gains >= gains.max() * (1 - _TIES))[-1]) + 1
    residual = max(0.0, float(((means - means.mean()) ** 2).sum() - gains.max())) / max(1, size - 2)
    within_range = np.flatnonzero(gains >= gains.max() * (1 - _TIES) - RANGE * residual) + 1
    d = values[row:].mean(axis=0) - values[:row].mean(axis=0)
    root = float(np.sqrt(d @ d))
    t = 0.0
    if root:
        t = t_of_u(float(d.sum()) / root, queries)

    return Split(
        row=row,
        first=int(within_range.min()),
        last=int(within_range.max()),
        difference=float(d.mean()),
        t=t,
        p=p,
        differing=int((np.abs(d) >= _ZERO).sum()),
        queries=queries,
        found_by="records",
    )


def step_p(means: np.ndarray, may_spend: float, seed: Sequence[int]) -> float | None:
    """The share of orders of the means with as great a step, if it may be spent; None if it is more.

    >>> step_p(np.array([1.0, 1.1, 0.9, 1.0, 1.1, 0.9]), 0.05, [0])
    """
    deviations = means - means.mean()
    step, variance = float(_gains(deviations[None]).max()), float(deviations.var())
    if not variance > _ZERO**2 or step < _WORTH_A_TEST * variance:
        return None

    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(list(seed))))
    most_reached = math.floor(may_spend * (PERMUTATIONS + 1)) - 1
    reached = drawn = 0
    while drawn < PERMUTATIONS and reached <= most_reached:
        orders = rng.permuted(np.broadcast_to(deviations, (_AT_ONCE, len(deviations))), axis=1)
        reached += int((_gains(orders).max(axis=1) >= step * (1 - _TIES)).sum())
        drawn += _AT_ONCE
    if reached > most_reached:
        return None
    return (reached + 1) / (drawn + 1)


def stands_out(means: np.ndarray, row: int, levels: Sequence[int] = ()) -> bool:
    """Whether the records from this row on differ from those before it by more than records differ at one level.

    What all queries of a run share, such as a seed or a season, moves records up and down all the time. `levels` are
    the rows at which earlier changes came: the last one is where the records begin that these are compared with. True
    where there are too few records to know.

    >>> stands_out(np.array([0.5, 0.51, 0.5, 0.49, 0.5, 0.51, 0.41]), 6)
    True
    >>> stands_out(np.array([0.5, 0.56, 0.5, 0.55, 0.5, 0.44, 0.55]), 6)
    False
    """
    if len(means) < FEWEST_TO_KNOW:
        return True

    parts = np.split(means, [*levels, row])
    before, after = parts[-2:]
    squares = sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
    freedom = max(1, len(means) - len(parts))
    error = math.sqrt(squares / freedom * (1 / len(before) + 1 / len(after)))
    difference = abs(float(after.mean() - before.mean()))
    return difference > -float(special.stdtrit(freedom, _SELDOM / 2)) * error


def _gains(means: np.ndarray) -> np.ndarray:
    """For each row of centred means and each split, m1 m2 / (m1 + m2) times the squared difference of both sides."""
    size = means.shape[1]
    before = np.arange(1, size)
    sums = np.cumsum(means, axis=1)[:, :-1]
    # The mean of all is 0, so that what is before a split says what is after it.
    return np.asarray(sums**2 * (size / (before * (size - before))))


def allowance(looks: int, alpha: float) -> float:
    """How much of alpha may be spent up to a look, the first of which is 1."""
    return alpha * (looks + HEAD_START) / (looks + HEAD_START + PATIENCE)


def candidates(row: int) -> np.ndarray:
    """How many records are before each split that is tried when row `row` is the newest: all, or `MOST_SPLITS`."""
    if row <= MOST_SPLITS:
        return np.arange(1, row + 1)
    back = np.geomspace(NEWEST_SPLITS + 1, row, MOST_SPLITS - NEWEST_SPLITS)
    distances = np.concatenate((np.arange(1, NEWEST_SPLITS + 1), np.rint(back).astype(int)))
    return row + 1 - np.unique(distances)[::-1]


def run_noise(groups: Iterable[Sequence[float]]) -> RunNoise:
    """The noise of runs from the means of replicates, a group for each system."""
    squares, freedom = 0.0, 0
    for group in groups:
        if len(group) > 1:
            deviations = np.asarray(group) - np.mean(group)
            squares += float(deviations @ deviations)
            freedom += len(group) - 1
    if not freedom:
        return NO_NOISE
    return RunNoise(math.sqrt(squares / freedom), freedom)
