"""Sorting and counting with temporary files, for data that may not fit into memory.

Lines of scattered queries are sorted by query; different ids are counted.
"""

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
"""Most bytes of scattered lines that stay in memory; more lines go to a temporary file."""
MOST_BUCKETS = 4_096
ID_BUCKETS = 64
SCATTERED_LINE = 260
"""Bytes of memory for each line of scattered queries that are ranked together. Measured with a million lines of
ten-byte ids: 160 with distinct scores, 255 if all are tied."""


class BucketPart(NamedTuple):
    """Lines of one bucket, ready for the file."""

    bucket: int
    lines: int
    doc_bytes: int
    packed: bytes
    """The columns of `STORED` one after the other, then the ids of the documents."""


STORED = {"code": "<i4", "score": "<f8", "key": "<u8", "line": "<i4", "claimed": "<i4", "length": "<i4"}
STORED_LINE = sum(np.dtype(kind).itemsize for kind in STORED.values())
MOST_CLAIMED = (1 << 31) - 1
"""Larger claimed ranks are stored as this number, which is below all real ranks as well."""


class StoredPart(NamedTuple):
    """A part of a bucket in the file."""

    offset: int
    lines: int
    doc_bytes: int
    piece: int
    """The number of the piece of the run."""


class ExternalSort:
    """Lines of scattered queries, sorted into buckets of complete queries in a file."""

    def __init__(self, file: Any, scattered: np.ndarray, lines: np.ndarray, most_lines: int) -> None:
        self._file = file
        queries = np.flatnonzero(scattered)
        before = np.cumsum(lines[queries]) - lines[queries]
        bucket_lines = max(most_lines, int(lines[queries].sum()) // MOST_BUCKETS + 1)
        self._bucket = np.full(len(scattered), -1)
        self._bucket[queries] = before // bucket_lines
        buckets = int(self._bucket.max(initial=-1)) + 1
        self.index: list[list[StoredPart]] = [[] for _ in range(buckets)]
        """The parts of each bucket."""

    def sort(self, block: Block, judged: JudgementIndex) -> tuple[np.ndarray, list[BucketPart]]:
        """The query numbers of a block's stretches, and the lines of scattered queries by bucket."""
        codes = judged.codes(block.queries)
        sizes = np.diff(block.start)
        line_code = np.repeat(codes, sizes)
        # numpy sorts numbers of 16 bits by counting, which is fast.
        bucket = np.repeat(np.where(codes >= 0, self._bucket[codes], -1).astype(np.int16), sizes)
        lines = np.argsort(bucket, kind="stable")[np.count_nonzero(bucket < 0) :]
        code = line_code[lines]
        if not len(lines):
            return codes, []

        key = block.key[lines]
        claims = np.full(len(lines), -1, np.int32)
        if block.claimed is not None:
            # Only the claims of judged documents are needed.
            may_be_judged = judged.candidates(pair_keys(key, code))
            claims[may_be_judged] = np.minimum(block.claimed(lines[may_be_judged]), MOST_CLAIMED)

        docs = block.docs(lines)
        length = docs.end - docs.start
        text = docs.joined_bytes()
        end = np.concatenate(([0], np.cumsum(length)))
        arrays = (code, block.score[lines], key, lines, claims, length)
        columns = [np.ascontiguousarray(array, kind) for array, kind in zip(arrays, STORED.values(), strict=True)]

        parts = []
        bounds = np.flatnonzero(np.diff(bucket[lines])) + 1
        for low, high in pairwise([0, *bounds.tolist(), len(lines)]):
            doc_ids = text[end[low] : end[high]]
            packed = b"".join([*(column[low:high].data for column in columns), doc_ids])
            parts.append(BucketPart(int(bucket[lines[low]]), high - low, len(doc_ids), packed))
        return codes, parts

    def write(self, piece: int, parts: Sequence[BucketPart]) -> None:
        """Add the sorted lines of a piece; pieces come in order."""
        try:
            for part in parts:
                stored = StoredPart(self._file.tell(), part.lines, part.doc_bytes, piece)
                self.index[part.bucket].append(stored)
                self._file.write(part.packed)
        except OSError as error:
            raise GoldrankError(
                f"lines of scattered queries cannot be sorted in a temporary file: {error.strerror}",
                hint="Sort the run by query, or set TMPDIR to a folder with as much room as the run takes.",
            ) from None

    def filled(self) -> list[int]:
        """The buckets with lines; a large query leaves some numbers unused."""
        return [number for number, parts in enumerate(self.index) if parts]

    def size(self, bucket: int) -> tuple[int, int]:
        """The lines of a bucket, and the bytes of memory for reading and ranking them."""
        lines = sum(part.lines for part in self.index[bucket])
        doc_bytes = sum(part.doc_bytes for part in self.index[bucket])
        return lines, SCATTERED_LINE * lines + 2 * doc_bytes

    def read(self, bucket: int, position_of: Callable[[int, int], Position | str]) -> RunLines:
        """The lines of a bucket, in input order; `position_of` returns the position of a line of a piece."""
        parts: dict[str, list[np.ndarray]] = {name: [] for name in STORED}
        texts: list[bytes] = []
        for part in self.index[bucket]:
            self._file.seek(part.offset)
            raw = self._file.read(STORED_LINE * part.lines + part.doc_bytes)
            offset = 0
            for name, kind in STORED.items():
                parts[name].append(np.frombuffer(raw, kind, part.lines, offset))
                offset += parts[name][-1].nbytes
            texts.append(raw[offset:])

        columns = {name: np.concatenate(arrays) for name, arrays in parts.items()}
        docs = IdColumn.packed(b"".join(texts), columns["length"])
        pieces = [part.piece for part in self.index[bucket]]
        piece = np.repeat(pieces, [part.lines for part in self.index[bucket]])
        return RunLines(
            score=columns["score"],
            key=columns["key"],
            docs=docs.take,
            position=lambda row: position_of(int(piece[row]), int(columns["line"][row])),
            claimed=lambda rows: columns["claimed"][rows].astype(np.int64),
            code=columns["code"].astype(np.int64),
        )


class DistinctIds:
    """Counts different ids. More than `most` are written to buckets of a temporary file, and counted by bucket."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._in_memory: set[bytes] = set()
        self._first: list[bytes] = []
        self._file: IO[bytes] | None = None
        self._parts: list[list[tuple[int, int, int]]] = [[] for _ in range(ID_BUCKETS)]
        """For each bucket the positions of its ids: offset, their number, their bytes."""

    def add(self, new_ids: Iterable[bytes]) -> None:
        self._in_memory.update(new_ids)
        if len(self._in_memory) > self._most:
            self._write()

    def _write(self) -> None:
        """Move the ids from memory to the file."""
        import tempfile

        self._first = heapq.nsmallest(MOST_EXAMPLES, {*self._in_memory, *self._first})
        buckets: list[list[bytes]] = [[] for _ in range(ID_BUCKETS)]
        while self._in_memory:
            text = self._in_memory.pop()
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
            problem = f"ids of unjudged queries cannot be counted in a temporary file: {error.strerror}"
            hint = "Set TMPDIR to a folder with as much room as the run takes."
            raise GoldrankError(problem, hint=hint) from None

    def finish(self) -> tuple[int, list[bytes]]:
        """The number of different ids, and the first few in byte order."""
        if self._file is None:
            return len(self._in_memory), heapq.nsmallest(MOST_EXAMPLES, self._in_memory)

        self._write()
        file = self._file
        total = 0
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
