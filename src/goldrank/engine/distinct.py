"""How many different ids there are, without holding all of them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import IO

import numpy as np

from goldrank.engine.counts import MOST_EXAMPLES
from goldrank.errors import GoldrankError

BUCKETS = 64


class DistinctIds:
    """Counts different ids. Those beyond `most` are dealt into buckets of a temporary file, and counted by bucket."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: set[bytes] = set()
        self._first: list[bytes] = []
        self._file: IO[bytes] | None = None
        self._parts: list[list[tuple[int, int, int]]] = [[] for _ in range(BUCKETS)]
        """For each bucket where its ids are: offset, how many, their bytes."""

    def add(self, found: Iterable[bytes]) -> None:
        self._held.update(found)
        if len(self._held) > self._most:
            self._put_away()

    def _put_away(self) -> None:
        import tempfile

        self._first = heapq.nsmallest(MOST_EXAMPLES, {*self._held, *self._first})
        buckets: list[list[bytes]] = [[] for _ in range(BUCKETS)]
        while self._held:
            text = self._held.pop()
            buckets[hash(text) % BUCKETS].append(text)
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="goldrank-")  # noqa: SIM115 - closed by `finish`
            file = self._file
            for parts, texts in zip(self._parts, buckets, strict=True):
                joined = b"".join(texts)
                parts.append((file.tell(), len(texts), len(joined)))
                file.write(np.fromiter(map(len, texts), "<i8", len(texts)).tobytes())
                file.write(joined)
        except OSError as error:
            hint = "Set TMPDIR to a folder with as much room as the run takes."
            what = f"ids of unjudged queries cannot be counted in a temporary file: {error.strerror}"
            raise GoldrankError(what, hint=hint) from None

    def finish(self) -> tuple[int, list[bytes]]:
        """How many there are, and the first few in byte order."""
        if self._file is None:
            return len(self._held), heapq.nsmallest(MOST_EXAMPLES, self._held)
        self._put_away()
        file, total = self._file, 0
        for parts in self._parts:
            seen: set[bytes] = set()
            for offset, count, size in parts:
                file.seek(offset)
                ends = np.cumsum(np.frombuffer(file.read(8 * count), "<i8")).tolist()
                text = file.read(size)
                seen.update(text[a:b] for a, b in zip([0, *ends], ends, strict=False))
            total += len(seen)
        file.close()
        self._file = None
        return total, self._first
