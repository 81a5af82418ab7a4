"""What may not fit into memory, through temporary files: lines of scattered queries, sorted by query, and ids that are
counted."""

from __future__ import annotations

import heapq
import weakref
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import IO, Any, NamedTuple

import numpy as np

from goldrank.base.errors import GoldrankError, Position
from goldrank.core.hashing import pair_keys
from goldrank.data.blocks import Block
from goldrank.data.id_column import IdColumn
from goldrank.engine.counts import MOST_EXAMPLES
from goldrank.engine.lines import JudgementIndex, RunLines

IN_MEMORY = 64 << 20
"""Bytes of scattered lines that are kept in memory rather than in a temporary file."""
MOST_BUCKETS = 4_096
ID_BUCKETS = 64
SCATTERED_LINE = 260
"""Bytes for each line of scattered queries that is ranked at a time. Measured with a million lines of ten-byte ids: 160
with distinct scores, 255 where all are tied."""


class BucketPart(NamedTuple):
    """Lines of one bucket on their way into the file."""

    bucket: int
    lines: int
    doc_bytes: int
    packed: bytes
    """The columns of `STORED` one after the other, then the ids of the documents."""


STORED = {"code": "<i4", "score": "<f8", "key": "<u8", "line": "<i4", "claimed": "<i4", "length": "<i4"}
STORED_LINE = sum(np.dtype(kind).itemsize for kind in STORED.values())
MOST_CLAIMED = (1 << 31) - 1
"""Above it a claimed rank says what this one does: that it is below all that there are."""


class ExternalSort:
    """RunLines of scattered queries, sorted into buckets of whole queries in a file."""

    def __init__(self, file: Any, scattered: np.ndarray, lines: np.ndarray, most: int) -> None:
        self._file = file
        which = np.flatnonzero(scattered)
        before = np.cumsum(lines[which]) - lines[which]
        most = max(most, int(lines[which].sum()) // MOST_BUCKETS + 1)
        self._bucket = np.full(len(scattered), -1)
        self._bucket[which] = before // most
        self.index: list[list[tuple[int, int, int, int]]] = [[] for _ in range(int(self._bucket.max(initial=-1)) + 1)]
        """For each bucket where its parts are: offset, lines, bytes of ids, number of the piece."""

    def sort(self, block: Block, judged: JudgementIndex) -> tuple[np.ndarray, list[BucketPart]]:
        """The query numbers of a block's stretches, and the lines that are wanted, by bucket."""
        codes = judged.codes(block.queries)
        line_code = np.repeat(codes, np.diff(block.start))
        # Numbers of 16 bits are sorted by counting.
        bucket = np.repeat(np.where(codes >= 0, self._bucket[codes], -1).astype(np.int16), np.diff(block.start))
        lines = np.argsort(bucket, kind="stable")[np.count_nonzero(bucket < 0) :]
        code = line_code[lines]
        key = block.key[lines]
        claims = np.full(len(lines), -1, np.int32)
        if block.claimed is not None and len(lines):
            # Only those of judged documents are ever asked for.
            asked = judged.candidates(pair_keys(key, code))
            claims[asked] = np.minimum(block.claimed(lines[asked]), MOST_CLAIMED)

        docs = block.docs(lines)
        length = docs.end - docs.start
        text, end = docs.joined_bytes(), np.concatenate(([0], np.cumsum(length)))
        given = (code, block.score[lines], key, lines, claims, length)
        columns = [np.ascontiguousarray(column, kind) for column, kind in zip(given, STORED.values(), strict=True)]
        parts = []
        bounds = np.flatnonzero(np.diff(bucket[lines])) + 1
        for low, high in pairwise([0, *bounds.tolist(), len(lines)] if len(lines) else []):
            ids = text[end[low] : end[high]]
            packed = b"".join([*(column[low:high].data for column in columns), ids])
            parts.append(BucketPart(int(bucket[lines[low]]), high - low, len(ids), packed))

        return codes, parts

    def write(self, piece: int, parts: Sequence[BucketPart]) -> None:
        """Add the sorted lines of a piece, which come in order."""
        try:
            for part in parts:
                self.index[part.bucket].append((self._file.tell(), part.lines, part.doc_bytes, piece))
                self._file.write(part.packed)
        except OSError as error:
            raise GoldrankError(
                f"lines of scattered queries cannot be sorted in a temporary file: {error.strerror}",
                hint="Sort the run by query, or set TMPDIR to a folder with as much room as the run takes.",
            ) from None

    def filled(self) -> list[int]:
        """The buckets that have lines: a large query leaves numbers free."""
        return [number for number, parts in enumerate(self.index) if parts]

    def size(self, bucket: int) -> tuple[int, int]:
        """The lines of a bucket, and the bytes that reading and ranking them takes."""
        lines = sum(size for _, size, *_ in self.index[bucket])
        return lines, SCATTERED_LINE * lines + 2 * sum(doc_bytes for *_, doc_bytes, _ in self.index[bucket])

    def read(self, bucket: int, place_of: Callable[[int, int], Position | str]) -> RunLines:
        """The lines of a bucket, in input order."""
        columns: dict[str, list[np.ndarray]] = {name: [] for name in STORED}
        texts: list[bytes] = []
        for offset, size, doc_bytes, _ in self.index[bucket]:
            self._file.seek(offset)
            raw, at = self._file.read(STORED_LINE * size + doc_bytes), 0
            for name, kind in STORED.items():
                columns[name].append(np.frombuffer(raw, kind, size, at))
                at += columns[name][-1].nbytes
            texts.append(raw[at:])

        whole = {name: np.concatenate(arrays) for name, arrays in columns.items()}
        docs = IdColumn.packed(b"".join(texts), whole["length"])
        owner = np.repeat([piece for *_, piece in self.index[bucket]], [size for _, size, *_ in self.index[bucket]])
        return RunLines(
            score=whole["score"],
            key=whole["key"],
            docs=docs.take,
            place=lambda line: place_of(int(owner[line]), int(whole["line"][line])),
            claimed=lambda lines: whole["claimed"][lines].astype(np.int64),
            code=whole["code"].astype(np.int64),
        )


class DistinctIds:
    """Counts different ids. Those beyond `most` are dealt into buckets of a temporary file, and counted by bucket."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: set[bytes] = set()
        self._first: list[bytes] = []
        self._file: IO[bytes] | None = None
        self._parts: list[list[tuple[int, int, int]]] = [[] for _ in range(ID_BUCKETS)]
        """For each bucket where its ids are: offset, how many, their bytes."""

    def add(self, found: Iterable[bytes]) -> None:
        self._held.update(found)
        if len(self._held) > self._most:
            self._put_away()

    def _put_away(self) -> None:
        import tempfile

        self._first = heapq.nsmallest(MOST_EXAMPLES, {*self._held, *self._first})
        buckets: list[list[bytes]] = [[] for _ in range(ID_BUCKETS)]
        while self._held:
            text = self._held.pop()
            buckets[hash(text) % ID_BUCKETS].append(text)
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="goldrank-")  # noqa: SIM115 - closed with this object
                weakref.finalize(self, self._file.close)
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
