"""Ids as ranges of bytes: order, gathering and joining, with the core that is in use and with the portable one."""

from __future__ import annotations

import random

import numpy as np
import pytest

from goldrank.core import portable
from goldrank.data import id_column
from goldrank.data.id_column import PAD, SORTED_AS_WORDS, IdColumn

IDS = [b"b", b"a", b"a\0", b"", b"abcdefgh", b"abcdefghi", b"abcdefgh\0", b"\xff", b"\x80z", b"10", b"9", b"a"]
IN_ORDER = [3, 9, 10, 1, 11, 2, 4, 6, 5, 0, 8, 7]
"""By bytes: "" < "10" < "9" < "a" = "a" < "a\\0" < "abcdefgh" < "abcdefgh\\0" < "abcdefghi" < "b" < 80 < ff."""


@pytest.fixture(params=["core", "pure"], autouse=True)
def _either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "pure":
        monkeypatch.setattr(id_column, "core", portable)


@pytest.mark.parametrize("longest", [b"", b"x" * (SORTED_AS_WORDS + 1)])
def test_order_is_that_of_bytes(longest: bytes) -> None:
    """A long id makes it another way to the same order."""
    column = IdColumn.of([*IDS, *([longest] if longest else [])])
    assert column.order().tolist() == [*IN_ORDER[:-2], *([12] if longest else []), *IN_ORDER[-2:]]


def test_random_orders() -> None:
    rng = random.Random(3)
    texts = [bytes(rng.choices(b"\0\1ab\x7f\x80\xff", k=rng.randrange(20))) for _ in range(500)]
    assert IdColumn.of(texts).order().tolist() == sorted(range(500), key=texts.__getitem__)


@pytest.mark.parametrize("many", [1, 2, 100])
def test_gathered(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids of some rows, whatever the size of the parts; nothing of the others is kept."""
    monkeypatch.setattr(id_column, "MANY", many)
    found = IdColumn.of(IDS).gathered(np.array([5, 0, 3, 0]))
    assert found.to_list() == [b"abcdefghi", b"b", b"", b"b"]
    assert found.data.tobytes() == b"abcdefghibb" + bytes(PAD)
    assert found.is_compact


def test_joined_and_copied() -> None:
    whole = IdColumn.of(IDS)
    some = whole.take(np.array([1, 0]))
    joined = IdColumn.joined([some, IdColumn.of([]), whole.part(4, 6)])
    assert joined.to_list() == [b"a", b"b", b"abcdefgh", b"abcdefghi"]
    assert joined.is_compact
    assert not some.is_compact
    assert some.copy().data.tobytes() == b"ab" + bytes(PAD)
    assert some.joined_bytes() == b"ab"
    assert IdColumn.joined([whole]) is whole
    assert IdColumn.of([]).copy().to_list() == []


def test_texts() -> None:
    assert IdColumn.of([b"a", b"\xff", b"c"]).texts() == ("a", "\udcff", "c")


def test_integers_and_changes() -> None:
    numbers, left = IdColumn.of([b"12", b"-3", b"x", b"123456789"]).integers()
    assert (numbers.tolist(), left.tolist()) == ([12, -3, 0, 0], [2, 3])
    assert IdColumn.of([b"a", b"a", b"b", b"a"]).changes().tolist() == [0, 2, 3]
    assert IdColumn.of([]).changes().tolist() == []
