"""What the lanes of tests hold, and in which order they run."""

from __future__ import annotations

import lanes
import places
import pytest
from scheduling import LONGEST, TOGETHER, piece, place_in_line


@pytest.mark.parametrize(("quick", "tried"), [(False, list(range(10))), (True, [0, 3, 6])])
def test_few_are_spread_and_hold_the_first(quick, tried, monkeypatch):
    monkeypatch.setattr(lanes, "QUICK", quick)
    assert lanes.few(range(10)) == tried
    assert lanes.few("ab") == ["a", "b"]
    assert lanes.many(1_000) == (100 if quick else 1_000)
    assert lanes.many(5) == (3 if quick else 5)


def test_the_longest_pieces_are_there_and_come_first():
    assert [name for name in LONGEST if not (places.ROOT / name).exists()] == []
    assert piece("tests/engine/spark/test_masters.py::test_x") == TOGETHER
    assert place_in_line("tests/engine/spark/test_masters.py::test_x", slow=True) == 0
    assert place_in_line("tests/match/test_matchers.py::test_x", slow=False) < place_in_line("tests/x.py::y", slow=True)
    assert place_in_line("tests/x.py::test_y", slow=True) < place_in_line("tests/y.py::test_y", slow=False)
