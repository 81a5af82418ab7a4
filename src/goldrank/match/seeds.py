"""Where a text stands although parts of it were added, left out or changed: a chunk with a line put before it.

Sources and texts are compared by letters and digits alone. Of each source the hashes of every 16 letters are stored,
one in four; a text that has some of them on one diagonal (the offset in the source less the offset in the text) stands
there. Measured rules: which seeds count, how far a diagonal may drift, and when parts are joined or accepted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from goldrank.match.folding import FoldedText

LENGTH = 16
"""The number of letters of a seed: a power of two."""
ONE_IN = 4
FREQUENT = 64
"""A seed that occurs more often says little; it counts only if all do."""
FEW = 3
"""With fewer seeds than this a text is too short to be found by them."""
GAP = 32
"""The number of letters from which on a part that was not found is looked for once more."""
ROUNDS = 6
SHORTEST = 8
"""The fewest letters of a stretch that counts."""
ENOUGH = 48
"""The number of letters of one stretch that is enough, whatever else the text has."""
MOST_PAIRS = 1 << 16
FACTOR = 0x9E3779B97F4A7C15


class Stretch(NamedTuple):
    """Letters of a text that stand in a source: from `low` up to `high`, and where in the source they begin."""

    low: int
    high: int
    start: int
    equal: int
    """How many letters are equal."""

    @property
    def past(self) -> int:
        """Where they end in the source, if none was added or left out."""
        return self.start + self.high - self.low


class JoinedStretch(NamedTuple):
    """A part of a text and a part of a source."""

    low: int
    high: int
    start: int
    end: int
    equal: int


def hashes(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The stored hashes of some letters, and where their letters begin."""
    count = len(codes) - LENGTH + 1
    if count <= 0:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)

    # A polynomial of LENGTH letters: the polynomial of twice as many is made of two beside each other.
    hashed, factor, size = codes.astype(np.uint64), FACTOR, 1
    while size < LENGTH:
        hashed = hashed[:-size] * np.uint64(factor) + hashed[size:]
        factor, size = factor * factor % (1 << 64), 2 * size

    hashed ^= hashed >> np.uint64(29)
    hashed *= np.uint64(0xBF58476D1CE4E5B9)
    hashed ^= hashed >> np.uint64(32)
    offsets = np.flatnonzero(hashed % np.uint64(ONE_IN) == 0)
    return hashed[offsets], offsets


class _Seeds(NamedTuple):
    """The seeds of a text: where each begins, and the rows of an index that hold it."""

    offset: np.ndarray
    low: np.ndarray
    high: np.ndarray


class _SeedPairs(NamedTuple):
    """Where seeds stand in the text, in the source, and in which source: a row for each occurrence of each seed."""

    text_offset: np.ndarray
    source_offset: np.ndarray
    source: np.ndarray

    def where(self, rows: np.ndarray) -> _SeedPairs:
        """Some of the rows."""
        return _SeedPairs(self.text_offset[rows], self.source_offset[rows], self.source[rows])


class SeedIndex:
    """The seeds of all sources."""

    def __init__(self, letters: Mapping[str, FoldedText]) -> None:
        self.names = list(letters)
        self.number = {name: i for i, name in enumerate(self.names)}
        self.codes = [text.codes for text in letters.values()]
        parts = [hashes(codes) for codes in self.codes]
        source = np.repeat(np.arange(len(parts)), [len(offsets) for _, offsets in parts])
        all_hashes = np.concatenate([np.zeros(0, np.uint64), *(hashed for hashed, _ in parts)])
        order = np.argsort(all_hashes, kind="stable")
        self._hash, first = np.unique(all_hashes[order], return_index=True)
        self._first = np.append(first, len(all_hashes))
        self._last: tuple[np.ndarray, _Seeds] | None = None
        self._source = source[order]
        self._offset = np.concatenate([np.zeros(0, np.int64), *(offsets for _, offsets in parts)])[order]

    def _seeds(self, codes: np.ndarray) -> _Seeds:
        """The seeds of a text, looked up once: the last ones are remembered."""
        if self._last is None or self._last[0] is not codes:
            hashed, offsets = hashes(codes)
            order = np.argsort(hashed)  # neighbours are looked up faster
            number = np.empty(len(hashed), np.int64)
            number[order] = np.searchsorted(self._hash, hashed[order])
            number = np.minimum(number, len(self._hash) - 1)
            low = self._first[number]
            if len(self._hash):
                high = np.where(self._hash[number] == hashed, self._first[number + 1], low)
            else:
                high = low
            self._last = codes, _Seeds(offsets, low, high)

        return self._last[1]

    def holders(self, codes: np.ndarray) -> list[str] | None:
        """The sources that hold all seeds of a text: only in these can it stand as it is. None if it has too few."""
        offsets, low, high = self._seeds(codes)
        if len(offsets) < FEW:
            return None
        if (low == high).any():
            return []

        rarest = int(np.argmin(high - low))
        likely = np.unique(self._source[low[rarest] : high[rarest]])
        has_all = np.ones(len(likely), bool)
        for begin, end in zip(low.tolist(), high.tolist(), strict=True):
            if end - begin <= FREQUENT:
                has_all &= np.isin(likely, self._source[begin:end])
        return [self.names[i] for i in likely[has_all].tolist()]

    def locate(self, codes: np.ndarray, source: str | None = None) -> tuple[str, list[JoinedStretch]] | None:
        """The source in which a text stands and its parts, if that is enough of it."""
        seeds = self._seeds(codes)
        if len(seeds.offset) < FEW:
            return None

        pairs = self._pairs(seeds)
        if source is not None:
            pairs = pairs.where(pairs.source == self.number[source])
        if not len(pairs.source):
            return None

        chosen, stretches = self._best(codes, pairs)
        chosen_pairs = pairs.where(pairs.source == chosen)
        tried: set[tuple[int, int]] = set()
        for _ in range(ROUNDS):
            gaps = [gap for gap in _gaps(stretches, len(codes)) if gap[1] - gap[0] >= GAP and gap not in tried]
            if not gaps:
                break
            low, high = max(gaps, key=lambda gap: gap[1] - gap[0])
            tried.add((low, high))
            inside = (chosen_pairs.text_offset >= low) & (chosen_pairs.text_offset + LENGTH <= high)
            if inside.any():
                _, more = self._best(codes, chosen_pairs.where(inside))
                stretches += filter(None, (_cut(stretch, low, high) for stretch in more))

        equal = sum(stretch.equal for stretch in stretches)
        if 2 * equal < len(codes) and max(stretch.equal for stretch in stretches) < ENOUGH:
            return None
        return self.names[chosen], _joined(stretches)

    def _pairs(self, seeds: _Seeds) -> _SeedPairs:
        """Where seeds stand in the text and in all sources."""
        count = seeds.high - seeds.low
        usable = (count > 0) & (count <= FREQUENT)
        if not usable.any():
            usable = count > 0
        chosen = np.flatnonzero(usable)
        size = count[chosen]
        seed = np.repeat(np.arange(len(chosen)), size)
        row = np.arange(len(seed)) - np.repeat(np.cumsum(size) - size, size) + seeds.low[chosen][seed]
        row = row[:MOST_PAIRS]
        return _SeedPairs(seeds.offset[chosen[seed[: len(row)]]], self._offset[row], self._source[row])

    def _best(self, codes: np.ndarray, pairs: _SeedPairs) -> tuple[int, list[Stretch]]:
        """The source with most seeds near one diagonal, and the stretches that they grow to."""
        text_offset, source_offset, source = pairs
        width = 32 + len(codes) // 10
        reach = max(map(len, self.codes)) + len(codes) + width + 1
        key = source * (2 * reach) + source_offset - text_offset + len(codes)
        order = np.lexsort((text_offset, key))
        key = key[order]
        count = np.searchsorted(key, key + width, "right") - np.arange(len(key))
        first = int(np.argmax(count))
        rows = order[first : first + int(count[first])]
        chosen = int(source[rows[0]])
        return chosen, _grown(codes, self.codes[chosen], text_offset[rows], source_offset[rows])


def _grown(codes: np.ndarray, source: np.ndarray, text_offset: np.ndarray, source_offset: np.ndarray) -> list[Stretch]:
    """Seeds extended both ways as far as letters are equal; of overlapping ones the longer counts."""
    grown: list[Stretch] = []
    diagonals = source_offset - text_offset
    for diagonal in np.unique(diagonals).tolist():
        low, high = max(0, -diagonal), min(len(codes), len(source) - diagonal)
        is_equal = codes[low:high] == source[low + diagonal : high + diagonal]
        edges = np.flatnonzero(np.diff(np.concatenate(([False], is_equal, [False])).astype(np.int8)))
        begins, ends = edges[::2] + low, edges[1::2] + low
        for run in np.unique(np.searchsorted(begins, text_offset[diagonals == diagonal], "right") - 1).tolist():
            begin, end = int(begins[run]), int(ends[run])
            grown.append(Stretch(begin, end, begin + diagonal, end - begin))

    # Stretches ascend in the text and in the source; a shorter one is cut where a longer one begins or ends.
    chosen: list[Stretch] = []
    for stretch in sorted(grown, key=lambda candidate: -candidate.equal):
        trimmed: Stretch | None = stretch
        for longer in chosen:
            if trimmed is None:
                break
            shift = trimmed.start - trimmed.low
            if trimmed.low < longer.low:
                trimmed = _cut(trimmed, 0, min(longer.low, longer.start - shift))
            else:
                trimmed = _cut(trimmed, max(longer.high, longer.past - shift), len(codes))
        if trimmed is not None:
            chosen.append(trimmed)

    return chosen


def _cut(stretch: Stretch, low: int, high: int) -> Stretch | None:
    """The part between two offsets of the text; None if that is too little."""
    begin, end = max(stretch.low, low), min(stretch.high, high)
    if end - begin >= SHORTEST:
        return Stretch(begin, end, stretch.start + begin - stretch.low, end - begin)
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
    for low, high, start, equal in sorted(stretches):
        end = start + high - low
        if joined:
            last = joined[-1]
            text_gap, source_gap = low - last.high, start - last.end
            is_near = abs(text_gap - source_gap) <= 8 + 0.2 * max(text_gap, source_gap)
            if text_gap >= 0 and source_gap >= 0 and is_near:
                joined[-1] = JoinedStretch(last.low, high, last.start, end, last.equal + equal)
                continue
        joined.append(JoinedStretch(low, high, start, end, equal))
    return joined
