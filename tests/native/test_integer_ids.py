"""Ranks of wanted integer ids in a list: compiled, by NumPy, and by plain Python."""

from __future__ import annotations

import random

import numpy as np
import pytest

from goldrank.engine.lists import place_integers
from tests.lanes import many
from tests.native.conftest import COMPILED, needs_core

LOWEST, HIGHEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def some_ids(rng: random.Random) -> list[int]:
    known = [0, 1, -1, 2, 5, LOWEST, HIGHEST, 1 << 32, -(1 << 32), *range(100, 120)]
    return rng.choices(known[: rng.randrange(1, len(known) + 1)], k=rng.randrange(40))


@pytest.mark.parametrize("seed", range(many(200)))
def test_one_list(seed, both):
    rng = random.Random(seed)
    docs, wanted, depth = some_ids(rng), some_ids(rng), rng.randrange(1, 45)

    def work():
        placed = place_integers([np.array(docs, np.int64)], [np.array(wanted, np.int64)], depth)
        return placed.rank.tolist(), placed.per_label.rank.tolist(), len(placed.judged), placed.shared

    found = [rank for rank, doc in enumerate(docs[:depth], 1) if doc in wanted]
    first = [rank for rank in found if docs[rank - 1] not in docs[: rank - 1]]
    assert work() == (found, first, len(set(wanted)), first != found)
    compiled, numpy = both(work)
    assert compiled == numpy


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64, ">i8"])
def test_other_types_and_strides(kind, both):
    docs = np.array([3, 9, 5, 9, 3, 9, 7], kind)[::2]

    def work():
        return place_integers([docs], [np.array([3, 7], kind)], 10).rank.tolist()

    assert both(work) == [[1, 3, 4], [1, 3, 4]]


@needs_core
def test_ids_that_fall_together_are_found_all_the_same(both):
    """As many ids as can be had whose slots are the same: the work stays linear, the answer right."""
    mix, inverse = 0x9E3779B97F4A7C15, pow(0x9E3779B97F4A7C15, -1, 1 << 64)
    mixed = [high << 32 | high for high in range(1, 3001)]  # the upper half takes the lower half away
    folded = [value * inverse % (1 << 64) for value in mixed]
    docs = np.array([value ^ value >> 32 for value in folded], np.uint64).view(np.int64)
    undone = docs.view(np.uint64) ^ docs.view(np.uint64) >> np.uint64(32)
    product = undone * np.uint64(mix)
    assert not ((product ^ product >> np.uint64(32)) & np.uint64(0xFFFF)).any()
    rank = np.empty(len(docs), np.int64)
    assert COMPILED.among(docs, docs, rank, rank.copy()) == (3000, 3000, False)
    assert rank.tolist() == list(range(1, 3001))
    assert both(lambda: place_integers([docs], [docs], 3000).rank.tolist()) == [list(range(1, 3001))] * 2


@needs_core
def test_buffers_that_do_not_fit_are_refused():
    ids, short = np.arange(3), np.empty(2, np.int64)
    with pytest.raises(ValueError, match="fit"):
        COMPILED.among(ids, ids, short, np.empty(3, np.int64))
    with pytest.raises(TypeError):
        COMPILED.among(ids.astype(np.int32), ids, np.empty(3, np.int64), np.empty(3, np.int64))
