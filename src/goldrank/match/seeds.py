"""Where a text stands although parts of it were added, left out or changed: a chunk with a line put before it.

Sources and texts are compared by letters and digits alone. Of each source the hashes of every 16 letters are kept, one
in four; a text that has some of them on one diagonal (the place in the source less the place in the text) stands there.
Measured rules: which seeds count, how far a diagonal may drift, and when parts are joined or accepted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from goldrank.match.folding import FoldedText

LENGTH = 16
"""Letters of a seed: a power of two."""
ONE_IN = 4
FREQUENT = 64
"""A seed that occurs more often says little; it counts only if all do."""
FEW = 3
"""With fewer seeds than this a text is too short to be found by them."""
GAP = 32
"""Letters of a part that was not found from which on it is looked for once more."""
ROUNDS = 6
SHORTEST = 8
"""Letters of a stretch that is kept."""
ENOUGH = 48
"""Letters of one stretch that are enough whatever the rest of the text is."""
MOST_PAIRS = 1 << 16
FACTOR = 0x9E3779B97F4A7C15


class Stretch(NamedTuple):
    """Letters of a text that stand in a source: from `low` up to `high`, and where in the source they begin."""

    low: int
    high: int
    at: int
    held: int
    """How many letters are the same."""

    @property
    def past(self) -> int:
        """Where they end in the source, if none was added or left out."""
        return self.at + self.high - self.low


class JoinedStretch(NamedTuple):
    """A part of a text and a part of a source."""

    low: int
    high: int
    start: int
    end: int
    held: int


def hashes(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The kept hashes of some letters, and where their letters begin."""
    count = len(codes) - LENGTH + 1
    if count <= 0:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)

    # A polynomial of LENGTH letters: that of twice as many is made of two beside each other.
    hashed, factor, size = codes.astype(np.uint64), FACTOR, 1
    while size < LENGTH:
        hashed = hashed[:-size] * np.uint64(factor) + hashed[size:]
        factor, size = factor * factor % (1 << 64), 2 * size

    hashed ^= hashed >> np.uint64(29)
    hashed *= np.uint64(0xBF58476D1CE4E5B9)
    hashed ^= hashed >> np.uint64(32)
    at = np.flatnonzero(hashed % np.uint64(ONE_IN) == 0)
    return hashed[at], at


class _Seeds(NamedTuple):
    """The seeds of a text: where each begins, and the rows of an index that hold it."""

    at: np.ndarray
    low: np.ndarray
    high: np.ndarray


class SeedIndex:
    """The seeds of all sources."""

    def __init__(self, letters: Mapping[str, FoldedText]) -> None:
        self.names = list(letters)
        self.number = {name: i for i, name in enumerate(self.names)}
        self.codes = [text.codes for text in letters.values()]
        parts = [hashes(codes) for codes in self.codes]
        source = np.repeat(np.arange(len(parts)), [len(at) for _, at in parts])
        every = np.concatenate([np.zeros(0, np.uint64), *(hashed for hashed, _ in parts)])
        order = np.argsort(every, kind="stable")
        self._hash, first = np.unique(every[order], return_index=True)
        self._first = np.append(first, len(every))
        self._last: tuple[np.ndarray, _Seeds] | None = None
        self._source = source[order]
        self._at = np.concatenate([np.zeros(0, np.int64), *(at for _, at in parts)])[order]

    def _seeds(self, codes: np.ndarray) -> _Seeds:
        """The seeds of a text, looked up once: the last ones are kept."""
        if self._last is None or self._last[0] is not codes:
            hashed, at = hashes(codes)
            order = np.argsort(hashed)  # neighbours are looked up faster
            number = np.empty(len(hashed), np.int64)
            number[order] = np.searchsorted(self._hash, hashed[order])
            number = np.minimum(number, len(self._hash) - 1)
            low = self._first[number]
            if len(self._hash):
                high = np.where(self._hash[number] == hashed, self._first[number + 1], low)
            else:
                high = low
            self._last = codes, _Seeds(at, low, high)

        return self._last[1]

    def holders(self, codes: np.ndarray) -> list[str] | None:
        """The sources that hold all seeds of a text: only in these can it stand as it is. None if it has too few."""
        at, low, high = self._seeds(codes)
        if len(at) < FEW:
            return None
        if (low == high).any():
            return []
        rarest = int(np.argmin(high - low))
        likely = np.unique(self._source[low[rarest] : high[rarest]])
        held = np.ones(len(likely), bool)
        for begin, end in zip(low.tolist(), high.tolist(), strict=True):
            if end - begin <= FREQUENT:
                held &= np.isin(likely, self._source[begin:end])
        return [self.names[i] for i in likely[held].tolist()]

    def locate(self, codes: np.ndarray, source: str | None = None) -> tuple[str, list[JoinedStretch]] | None:
        """The source in which a text stands and its parts, if that is enough of it."""
        seeds = self._seeds(codes)
        if len(seeds.at) < FEW:
            return None

        pairs = self._pairs(seeds, None if source is None else self.number[source])
        if not len(pairs[0]):
            return None

        chosen, stretches = self._best(codes, pairs)
        of_source = tuple(column[pairs[2] == chosen] for column in pairs)
        tried: set[tuple[int, int]] = set()
        for _ in range(ROUNDS):
            gaps = [gap for gap in _gaps(stretches, len(codes)) if gap[1] - gap[0] >= GAP and gap not in tried]
            if not gaps:
                break
            low, high = max(gaps, key=lambda gap: gap[1] - gap[0])
            tried.add((low, high))
            inside = (of_source[0] >= low) & (of_source[0] + LENGTH <= high)
            if inside.any():
                _, more = self._best(codes, tuple(column[inside] for column in of_source))
                stretches += [s for s in (_cut(stretch, low, high) for stretch in more) if s is not None]

        held = sum(stretch.held for stretch in stretches)
        if 2 * held < len(codes) and max(stretch.held for stretch in stretches) < ENOUGH:
            return None
        return self.names[chosen], _joined(stretches)

    def _pairs(self, seeds: _Seeds, source: int | None) -> tuple[np.ndarray, ...]:
        """Where seeds stand in the text, in the source, and in which: a row for each place of each seed."""
        at, low, high = seeds
        count = high - low
        usual = (count > 0) & (count <= FREQUENT)
        chosen = np.flatnonzero(usual if usual.any() else count > 0)
        size = count[chosen]
        row = np.repeat(np.arange(len(chosen)), size)
        place = (np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size) + low[chosen][row])[:MOST_PAIRS]
        columns = at[chosen[row[: len(place)]]], self._at[place], self._source[place]
        if source is None:
            return columns
        own = columns[2] == source
        return tuple(column[own] for column in columns)

    def _best(self, codes: np.ndarray, pairs: tuple[np.ndarray, ...]) -> tuple[int, list[Stretch]]:
        """The source with most seeds near one diagonal, and the stretches that they grow to."""
        text, place, source = pairs
        width = 32 + len(codes) // 10
        reach = max(map(len, self.codes)) + len(codes) + width + 1
        key = source * (2 * reach) + place - text + len(codes)
        order = np.lexsort((text, key))
        key = key[order]
        count = np.searchsorted(key, key + width, "right") - np.arange(len(key))
        first = int(np.argmax(count))
        rows = order[first : first + int(count[first])]
        chosen = int(source[rows[0]])
        return chosen, _grown(codes, self.codes[chosen], text[rows], place[rows])


def _grown(codes: np.ndarray, source: np.ndarray, text: np.ndarray, place: np.ndarray) -> list[Stretch]:
    """Seeds extended both ways as far as letters are the same; those kept ascend on both sides, long ones first."""
    grown: list[Stretch] = []
    for diagonal in np.unique(place - text).tolist():
        low, high = max(0, -diagonal), min(len(codes), len(source) - diagonal)
        same = codes[low:high] == source[low + diagonal : high + diagonal]
        edges = np.flatnonzero(np.diff(np.concatenate(([False], same, [False])).astype(np.int8)))
        begins, ends = edges[::2] + low, edges[1::2] + low
        for run in np.unique(np.searchsorted(begins, text[place - text == diagonal], "right") - 1).tolist():
            begin, end = int(begins[run]), int(ends[run])
            grown.append(Stretch(begin, end, begin + diagonal, end - begin))

    kept: list[Stretch] = []
    for stretch in sorted(grown, key=lambda candidate: -candidate.held):
        trimmed: Stretch | None = stretch
        for other in kept:
            if trimmed is None:
                break
            shift = trimmed.at - trimmed.low
            if trimmed.low < other.low:
                trimmed = _cut(trimmed, 0, min(other.low, other.at - shift))
            else:
                trimmed = _cut(trimmed, max(other.high, other.past - shift), len(codes))
        if trimmed is not None:
            kept.append(trimmed)

    return kept


def _cut(stretch: Stretch, low: int, high: int) -> Stretch | None:
    """What lies between two places of the text; None if that is too little."""
    begin, end = max(stretch.low, low), min(stretch.high, high)
    if end - begin >= SHORTEST:
        return Stretch(begin, end, stretch.at + begin - stretch.low, end - begin)
    return None


def _gaps(stretches: list[Stretch], length: int) -> list[tuple[int, int]]:
    """The parts of a text that no stretch holds."""
    ordered = sorted(stretches)
    begins = [0, *(stretch.high for stretch in ordered)]
    ends = [*(stretch.low for stretch in ordered), length]
    return [(begin, end) for begin, end in zip(begins, ends, strict=True) if begin < end]


def _joined(stretches: list[Stretch]) -> list[JoinedStretch]:
    """Stretches as one where about as many letters lie between them on both sides: some were changed."""
    joined: list[JoinedStretch] = []
    for low, high, at, held in sorted(stretches):
        end = at + high - low
        if joined:
            last = joined[-1]
            ours, theirs = low - last.high, at - last.end
            if ours >= 0 and theirs >= 0 and abs(ours - theirs) <= 8 + 0.2 * max(ours, theirs):
                joined[-1] = JoinedStretch(last.low, high, last.start, end, last.held + held)
                continue
        joined.append(JoinedStretch(low, high, at, end, held))
    return joined
