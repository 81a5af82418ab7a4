"""What tests of bad input share: the sound pair of files, and how to say what must come of an input."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import places
import pytest

from goldrank import GoldrankError, Scores, evaluate
from goldrank.io import compression

DATA = places.FILES

# The sound pair: q1 has d1 (1), d2 (0), d3 (2) at ranks 1, 2, 3; q2 has d4 (1) first, d1 (1) is not returned.
QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 2\nq2 0 d1 1\nq2 0 d4 1\n"
RUN = b"q1 Q0 d1 1 3.0 r\nq1 Q0 d2 2 2.0 r\nq1 Q0 d3 3 1.0 r\nq2 Q0 d4 1 3.0 r\nq2 Q0 d5 2 2.0 r\n"

IDEAL_Q1 = 2 + 1 / math.log2(3)
Q1 = ((1 / 1 + 2 / 3) / 2, (1 + 2 / math.log2(4)) / IDEAL_Q1)
"""AP and nDCG of q1: relevant at ranks 1 and 3; gains 1 and 2."""
Q2 = ((1 / 1) / 2, 1 / (1 + 1 / math.log2(3)))
"""AP and nDCG of q2: one of two relevant documents, at rank 1."""
BEST_Q1 = (1.0, (2 + 1 / math.log2(3)) / IDEAL_Q1)
"""q1 with d3 moved to rank 1, so that the ranking is d3, d1, d2."""


def mean(*queries: tuple[float, float]) -> tuple[float, float]:
    """Mean AP and nDCG."""
    return tuple(sum(values) / len(queries) for values in zip(*queries, strict=True))  # type: ignore[return-value]


SOUND = mean(Q1, Q2)

PEAK_MEMORY = """
def peak():
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))
    except OSError:
        import resource, sys
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
"""
"""Source of a function for processes under test. On Linux a child's ru_maxrss begins with the parent's peak."""


@dataclass(frozen=True)
class Value:
    """The input is scored: AP and nDCG, and what the notes must say (nothing, unless given)."""

    values: tuple[float, float] = SOUND
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Error:
    """The input is refused, at a place such as 'run:2:12' ('run' and 'qrels' are the files), with these words."""

    where: str
    words: tuple[str, ...] = ()


def codes(result: Any) -> list[str]:
    """The codes of a result's notes."""
    return [note.code for note in result.notes]


def words(result: Any) -> list[str]:
    """The notes of a result as people read them."""
    return [str(note) for note in result.notes]


def check(expected: Value | Error, qrels: object, run: object, **options: object) -> None:
    """Evaluate and compare with what is expected."""
    if isinstance(expected, Value):
        scores = evaluate(qrels, run, ["AP", "nDCG"], **options)
        check_values(scores, expected)
        return
    with pytest.raises(GoldrankError) as caught:
        evaluate(qrels, run, ["AP", "nDCG"], **options)
    text = str(caught.value)
    assert text.splitlines()[0].startswith(expected.where), text
    for word in expected.words:
        assert word in text, text


def check_values(scores: Scores, expected: Value) -> None:
    """Compare values and notes; a note that was not asked for is a failure too."""
    assert (scores["AP"], scores["nDCG"]) == pytest.approx(expected.values, abs=1e-12)
    notes = [str(note) for note in scores.notes if note.code != "judged-share"]
    for wanted in expected.notes:
        assert any(wanted in note for note in notes), notes
    extra = [note for note in notes if not any(wanted in note for wanted in expected.notes)]
    assert not extra, extra


def only_ours(action: Callable[[], object], about: Iterable[object] = ()) -> object | None:
    """What `action` returns; None if it raises a GoldrankError. Any other exception is a failure."""
    try:
        return action()
    except GoldrankError:
        return None
    except BaseException as error:  # polars' panics are no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        pytest.fail(f"{type(error).__name__}: {error} from {list(about)!r:.300}")


def zstd(data: bytes) -> bytes:
    """Compressed data."""
    return bytes(import_module(compression.Zstd.module).compress(data))
