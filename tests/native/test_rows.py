"""Counts, running counts, first ranks, quotients and sums of rows: compiled, by NumPy, and by plain Python."""

from __future__ import annotations

import random

import numpy as np
import pytest

from goldrank.data.placements import Placements
from goldrank.measures import summarise
from goldrank.measures.cutoff import ratio
from tests.lanes import many
from tests.native.conftest import COMPILED, needs_core


def placed(sizes: list[int], rng: random.Random) -> Placements:
    """Queries with so many rows each, at random ranks."""
    ranks = [sorted(rng.sample(range(1, 50), size)) for size in sizes]
    query = np.array([i for i, row in enumerate(ranks) for _ in row], np.int64)
    rank = np.array([one for row in ranks for one in row], np.int64)
    count, none = len(sizes), np.zeros(0, np.int64)
    start = np.zeros(count + 1, np.int64)
    names = tuple(f"q{i}" for i in range(count))
    answered = np.ones(count, bool)
    return Placements(names, np.full(count, 50), answered, start, none, query, rank, np.ones_like(rank), rank, rank)


@pytest.mark.parametrize("seed", range(many(100)))
def test_rows_of_queries(seed, both):
    rng = random.Random(seed)
    sizes = [rng.choice([0, 0, 1, 2, 7]) for _ in range(rng.choice([1, 2, 5, 20]))]
    p = placed(sizes, rng)
    marks = [rng.random() < 0.5 for _ in p.query]
    which = np.array(marks, bool)
    rows = [[i for i, query in enumerate(p.query.tolist()) if query == number] for number in range(len(sizes))]
    counted = [sum(marks[i] for i in row) for row in rows]
    running = [sum(marks[j] for j in row if j <= i) for row in rows for i in row]
    first = [min((int(p.rank[i]) for i in row if marks[i]), default=0) for row in rows]
    for found in both(lambda: (p.count(which), p.cumulate(which), p.first(which))):
        assert [column.tolist() for column in found] == [counted, running, first]
        assert {column.dtype for column in found} == {np.dtype(np.int64)}


@pytest.mark.parametrize("seed", range(many(100)))
def test_quotients_and_sums(seed, both):
    rng = random.Random(seed)
    numbers = [0, 1, 3, 7, 10**17 + 1, -2]
    more = [*numbers, 0.1, -0.0, 1e200, 1e-100]
    size = rng.randrange(1, 12)
    part, whole = (np.array(rng.choices(rng.choice([numbers, more]), k=size)) for _ in range(2))
    expected = [a / b if b else 0.0 for a, b in zip(map(float, part), map(float, whole), strict=True)]
    total = float(part[0])
    for value in map(float, part[1:]):
        total += value
    for shares, sum_ in both(lambda: (ratio(part, whole).tolist(), summarise("sum", part.astype(np.float64)))):
        assert [value.hex() for value in shares] == [value.hex() for value in expected]
        assert sum_.hex() == total.hex()


@pytest.mark.parametrize("values", [[-0.0], [-0.0, -0.0]])
def test_the_sign_of_zero_stays(values, both):
    expected = sum(values[1:], values[0]).hex()
    assert [total.hex() for total in both(lambda: summarise("sum", np.array(values)))] == [expected] * 2


@needs_core
@pytest.mark.parametrize(
    ("query", "which"),
    [
        (np.array([0, 2]), np.ones(2, bool)),
        (np.array([-1, 0]), np.ones(2, bool)),
        (np.array([0, 1], np.int32), np.ones(2, bool)),
        (np.array([0, 1]), np.ones(3, bool)),
        (np.arange(4)[::2], np.ones(2, bool)),
        (np.array([0, 1]), np.ones(2, np.int64)),
        (None, np.ones(2, bool)),
    ],
)
def test_what_is_no_column_of_queries_is_declined(query, which):
    out = np.zeros(2, np.int64)
    assert not COMPILED.count(query, which, out)
    assert not COMPILED.first(query, which, np.ones(2, np.int64), out)


@needs_core
@pytest.mark.parametrize("kind", [np.int32, np.float32, np.uint64, ">f8", "S8", bool])
def test_other_numbers_are_left_to_numpy(kind):
    other, doubles = np.ones(3).astype(kind), np.ones(3)
    assert not COMPILED.divide(other, doubles, np.zeros(3))
    assert not COMPILED.divide(doubles, other, np.zeros(3))
    assert COMPILED.total(other) is None
    assert COMPILED.total(doubles[::2]) is None
    if kind != "S8":
        assert ratio(other, doubles * 2).tolist() == [0.5] * 3


@needs_core
def test_a_result_that_does_not_fit_is_declined():
    query, which = np.zeros(3, np.int64), np.ones(3, bool)
    assert not COMPILED.cumulate(query, which, np.zeros(2, np.int64))
    assert not COMPILED.cumulate(query, which[:2], np.zeros(3, np.int64))
    assert not COMPILED.divide(np.ones(3), np.ones(3), np.zeros(2))
    assert not COMPILED.divide(np.ones(3), np.ones(2), np.zeros(3))
    frozen = np.zeros(3, np.int64)
    frozen.setflags(write=False)
    assert not COMPILED.cumulate(query, which, frozen)
