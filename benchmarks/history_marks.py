"""How often a history marks what is no change, and finds what is one: the table of docs/history.md.

    python benchmarks/history_marks.py [--lines 200]

Lines of records on 100 queries; each query's value has a noise of 0.1 (standard deviation) in every record, and a step
moves queries by its size on average, with a standard deviation of 0.1. Seeds are fixed, so that the table is the same
on every machine. With 200 lines a share has an error of at most 3.5 points (one standard deviation), 1.5 points at 5%.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from goldrank.history.changes import NO_NOISE, ChangeSearch, RunNoise, Segment, run_noise

ALPHA = 0.05
QUERIES = 100


@dataclass(frozen=True)
class Found:
    """A mark, by positions of records."""

    record: int
    first: int
    last: int
    seen: int


def marks(values: np.ndarray, noise: RunNoise = NO_NOISE, alpha: float = ALPHA) -> list[Found]:
    """Every mark of a line, as `history.analysis` sets them; equal records are no look."""
    kept = [0, *(i for i in range(1, len(values)) if not np.array_equal(values[i], values[i - 1]))]
    rows, search, start, found = values[kept], ChangeSearch(), 0, []
    segment = Segment(rows, kept, 0, noise)
    for row in range(1, len(rows)):
        split = segment.look(row - start, search, alpha)
        if split is not None:
            at = [kept[start + place] for place in (split.row, split.first, split.last)]
            found.append(Found(*at, kept[row]))
            search.close()
            start += split.last
            segment = Segment(rows[start:], kept[start:], 0, noise)
    return found


def noisy(rng: np.random.Generator, records: int, noise: float = 0.1) -> np.ndarray:
    """Queries of different difficulty, measured with noise."""
    return rng.random(QUERIES) + rng.normal(0, noise, (records, QUERIES))


def drifting(rng: np.random.Generator, records: int) -> np.ndarray:
    """Each query's value wanders; none is drawn anew."""
    return rng.random(QUERIES) + np.cumsum(rng.normal(0, 0.02, (records, QUERIES)), axis=0)


def step(values: np.ndarray, rng: np.random.Generator, at: int, size: float) -> np.ndarray:
    """From a record on, queries are better by so much on average."""
    changed = values.copy()
    changed[at:] += rng.normal(size, 0.1, values.shape[1])
    return changed


def shifted(values: np.ndarray, rng: np.random.Generator, size: float) -> np.ndarray:
    """All queries of a run move together."""
    return values + rng.normal(0, size, (len(values), 1))


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    name: str
    make: Callable[[np.random.Generator], np.ndarray]
    at: int | None = None
    """Where the step is, if there is one."""
    replicates: int = 0
    """So many of the first records are replicates."""


CASES = [
    Case("no change, 40 records", lambda rng: noisy(rng, 40)),
    Case("no change, queries drift, 40 records", lambda rng: drifting(rng, 40)),
    Case("step of 0.04 at 20 of 40", lambda rng: step(noisy(rng, 40), rng, 20, 0.04), 20),
    Case("step of 0.06 at 15 of 30", lambda rng: step(noisy(rng, 30), rng, 15, 0.06), 15),
    Case("the same system measured again, step of 0.04", lambda rng: step(noisy(rng, 40, 0.0), rng, 20, 0.04), 20),
    Case("no change, runs shift by 0.01, no replicates", lambda rng: shifted(noisy(rng, 40), rng, 0.01)),
    Case("no change, runs shift by 0.01, 5 replicates", lambda rng: shifted(noisy(rng, 40), rng, 0.01), replicates=5),
    Case("no change, runs shift by 0.03, 5 replicates", lambda rng: shifted(noisy(rng, 40), rng, 0.03), replicates=5),
    Case(
        "step of 0.06 at 15 of 30, runs shift by 0.01, 10 replicates",
        lambda rng: shifted(step(noisy(rng, 30), rng, 15, 0.06), rng, 0.01),
        15,
        10,
    ),
]


def simulate(case: Case, lines: int, seed: int) -> dict[str, float | None]:
    """Shares of lines: with a false mark, with the step found, at its record, within one; and of those in the range."""
    rng = np.random.default_rng([seed, 15])
    false = found = exact = near = held = 0
    delays = []
    for _ in range(lines):
        values = case.make(rng)
        noise = run_noise([values[: case.replicates].mean(axis=1).tolist()])
        every = marks(values, noise)
        early = [mark for mark in every if case.at is None or mark.seen < case.at]
        later = [mark for mark in every if case.at is not None and mark.seen >= case.at]
        # After the step one mark is right; others are not.
        false += bool(early) or len(later) > 1
        if later and case.at is not None:
            first = later[0]
            found += 1
            exact += first.record == case.at
            near += abs(first.record - case.at) <= 1
            held += first.first <= case.at <= first.last
            delays.append(first.seen - case.at)
    if case.at is None:
        return {"false": false / lines}
    shares = {"false": false / lines, "found": found / lines, "exact": exact / lines, "near": near / lines}
    return {**shares, "held": held / found if found else None, "delay": float(np.median(delays)) if delays else None}


def table(lines: int) -> Iterator[str]:
    """The table in Markdown."""
    yield "| 100 queries, % of lines | false mark | found | at its record | within one | in the range | delay |"
    yield "|---|---|---|---|---|---|---|"
    for seed, case in enumerate(CASES):
        shares = simulate(case, lines, seed)
        names = ("false", "found", "exact", "near", "held")
        cells = ["" if (share := shares.get(name)) is None else f"{100 * share:.0f}" for name in names]
        delay = shares.get("delay")
        yield f"| {case.name} | {' | '.join(cells)} | {'' if delay is None else f'{delay:.0f}'} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--lines", type=int, default=200)
    for line in table(parser.parse_args().lines):
        print(line, flush=True)
