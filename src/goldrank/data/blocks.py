"""Pieces of a run too large to hold: what a reader hands to an engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from goldrank.errors import Place


@dataclass(frozen=True)
class Rows:
    """Lines of a run as columns. Engines read them and never see where they came from."""

    score: np.ndarray
    """Each line's score, a double, never NaN."""
    key: np.ndarray
    """A 64-bit hash of each line's document id, equal for equal ids (see `BlockSource.keys`)."""
    docs: Callable[[np.ndarray], list[bytes]]
    """The document ids of some lines."""
    place: Callable[[int], Place | str]
    """Where a line stands, for messages."""
    claimed: Callable[[np.ndarray], np.ndarray] | None = field(default=None, kw_only=True)
    """The ranks that some lines claim to have, -1 where they claim none."""

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True)
class Block(Rows):
    """Some consecutive lines of a run, in stretches of one query each."""

    queries: Sequence[bytes]
    """The query of each stretch."""
    start: np.ndarray
    """The line at which each stretch starts; one more entry than stretches."""
    keep: Callable[[np.ndarray], Rows]
    """A copy of some lines that holds nothing else of this block in memory."""
    notes: Counter[str] = field(default_factory=Counter, kw_only=True)
    """What the reader tolerated in these lines, with how often."""


NO_LINE_END = "the last line has no line end: is the file complete?"


def in_words(notes: Mapping[str, int]) -> list[str]:
    """What a reader tolerated, with how often."""
    return [what if what == NO_LINE_END else f"{what}: {count:,}" for what, count in notes.items()]


class BlockSource(Protocol):
    """A run that can be read as often as needed, piece by piece."""

    name: str

    def pieces(self) -> Iterator[Callable[[], Block]]:
        """The pieces in order; each is parsed when called, so that threads can share the work."""
        ...

    def keys(self, docs: Sequence[bytes]) -> np.ndarray:
        """The `Block.key` that lines of these documents would have."""
        ...

    def digest(self) -> str | None:
        """A hash of the input's bytes, or None if it cannot be had without reading everything."""
        ...
