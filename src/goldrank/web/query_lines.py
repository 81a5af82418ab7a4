"""The lines of one query of a large run: found in the file, so that the rest of it is not read again."""

from __future__ import annotations

import io as streams
import mmap
from collections.abc import Mapping

from goldrank import ids
from goldrank.data.blocks import BlockSource
from goldrank.data.run import Run
from goldrank.io import read_run
from goldrank.io.sources import ByteSource

KEPT = 32
"""Queries whose lines are kept."""


class QueryLines:
    """Finds a query in a plain file of TREC lines, where its lines stand together; else in nothing."""

    def __init__(self, run: Run, retrieved: Mapping[str, int]) -> None:
        self._retrieved = retrieved
        self._kept: dict[str, Run | None] = {}
        files = list(run.source.files()) if isinstance(run.source, BlockSource) else []
        only = files[0] if len(files) == 1 and isinstance(files[0], ByteSource) else None
        plain = only is not None and only.path is not None and only.compression is None and not only.old_mac
        self._source = only if plain else None

    def of(self, query: str) -> Run | None:
        """The query's lines as a run; None if they are not found all together."""
        if query not in self._kept:
            while len(self._kept) >= KEPT:
                self._kept.pop(next(iter(self._kept)), None)
            self._kept[query] = found = self._found(query)
            return found
        return self._kept[query]

    def _found(self, query: str) -> Run | None:
        wanted, name = self._retrieved.get(query, 0), ids.encode(query)
        if self._source is None or not wanted:
            return None
        assert self._source.path is not None
        self._source.verify()
        with open(self._source.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            lines: list[bytes] = []
            for blank in (b" ", b"\t"):
                head = name + blank
                at = 0 if data[: len(head)] == head else data.find(b"\n" + head) + 1
                if not at and data[: len(head)] != head:
                    continue
                data.seek(at)
                while len(lines) <= wanted and (line := data.readline()).startswith(head):
                    lines.append(line)
                break
        # As many as were placed: so they are all, and none is anywhere else.
        if len(lines) != wanted or any(len(line.split()) != 6 for line in lines):
            return None
        return read_run(streams.BytesIO(b"".join(lines)), format="trec")
