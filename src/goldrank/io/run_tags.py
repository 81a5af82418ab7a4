"""The tag of a run as trec_eval prints it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from goldrank.io import scan, sources
from goldrank.io.sources import ByteSource

TAIL = 1 << 16
"""Bytes at the end of a file in which its last line is looked for."""


def last_tag(source: ByteSource) -> bytes:
    """The tag of a run's last line, which trec_eval prints as the name of the run."""
    if source.compression is None and not source.old_mac and source.path is not None:
        with source.open() as file:
            size, taken = file.seek(0, 2), TAIL
            while True:
                file.seek(max(source.start, size - taken))
                cut, *whole = sources.read_fully(file, taken).split(b"\n")
                at_start = source.start >= size - taken
                found = _last_tag([cut, *whole] if at_start else whole)
                if found or at_start:  # else the last lines are long, or comments
                    return found
                taken *= 16
    tail = b""
    for _, load in deque(source.pieces(), maxlen=1):
        tail = load()[: -scan.PAD].tobytes()
    return _last_tag(tail.split(b"\n"))


def _last_tag(lines: Sequence[bytes]) -> bytes:
    for line in reversed(lines):
        cells = line.split()
        if len(cells) > 5 and not cells[0].startswith(b"#"):
            return cells[5]
    return b""
