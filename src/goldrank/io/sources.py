"""Bytes of paths, streams and standard input, compressed or not, in pieces that end at line ends."""

from __future__ import annotations

import codecs
import io
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from goldrank.base.errors import InputError, Position, cannot_open, of_type
from goldrank.base.machine import fits
from goldrank.base.notes import Note
from goldrank.io.compression import COMPRESSIONS, Compression, compression_of, split_suffix
from goldrank.io.text.scan import PAD, padded

CHANGED_HINT = "Read it again when it is written to the end, or read a copy."

PIECE = 5 << 20
"""Bytes that are parsed at a time."""
MAX_LINE = 1 << 20
MAX_RECORD = 64 << 20
"""Most bytes of a record in one line."""
HEAD = 1 << 16
SPOOL = 64 << 20
MAX_RATIO = 250
"""The largest ratio of unpacked to stored bytes, beyond `FREE` bytes. Runs reach about 20."""
FREE = 64 << 20

_FOREIGN = {
    (b"\x04\x22\x4d\x18",): "an lz4 file",
    (b"PK\x03\x04",): "a zip archive",
    (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"): "a pickle",
    (b"SQLite format 3",): "an SQLite database",
    (b"%PDF",): "a PDF file",
}
"""First bytes of files that are not read. An id may begin with them too, so they count only if a NUL byte is near:
text has none."""
FILLED = re.compile(rb"^[ \t\r\x0b\x0c]*+[^\s][^\n]*+", re.MULTILINE)
"""A line that is not blank."""
_BOM = b"\xef\xbb\xbf"

Load = Callable[[], np.ndarray]
"""Returns the bytes of a piece, followed by `scan.PAD` zero bytes."""


class Identity(NamedTuple):
    """Distinguishes a file from another of its name, and from itself after it was written to."""

    inode: int
    size: int
    time: int

    @classmethod
    def of(cls, status: os.stat_result) -> Identity:
        return cls(status.st_ino, status.st_size, status.st_mtime_ns)


class ByteSource:
    """An input that can be read several times with equal results.

    `head` are its first bytes, decompressed, without a byte order mark; `start` is the offset of the data.
    `path` is a file with these bytes, if there is one; `label` is a short name for people.
    A file that is replaced or written to after it was first opened is refused: results would mix old and new data.
    """

    def __init__(
        self, name: str, opener: Callable[[], Any], *, path: Path | None = None, label: str | None = None
    ) -> None:
        self.name = name
        self.label = label or name
        self.path = path
        self._opener = opener
        self.notes: list[Note] = []
        self.watch: Callable[[int], None] | None = None
        """Called with the progress of reading, in bytes as stored."""
        self.compression: Compression | None = None
        self._identity: Identity | None = None
        self._raw: Any = None
        """The stored file, as last opened."""

        _, suffix = split_suffix(name)
        with self.open() as stream:
            head = self._read(stream, HEAD)

        self.compression = compression_of(head, suffix)
        if self.compression is not None:
            with self.open() as stream:
                head = self._read(stream, HEAD)

        self._refuse_foreign(head)
        self.start = 0
        if head.startswith(_BOM):
            self.start = len(_BOM)
            self.notes.append(Note.of("byte-order-mark"))

        if suffix and not self.compression:
            self.notes.append(Note.of("not-compressed", suffix=suffix))

        self.head: bytes = head[self.start :]
        self.old_mac = b"\r" in self.head and b"\n" not in self.head
        if self.old_mac:
            self.notes.append(Note.of("cr-line-ends"))

    def as_binary(self) -> None:
        """Treat bytes that look like line ends or a byte order mark as data."""
        self.old_mac = False
        if self.start:
            self.head, self.start = _BOM + self.head, 0
        self.notes = [note for note in self.notes if note.code not in ("cr-line-ends", "byte-order-mark")]

    def _refuse_foreign(self, head: bytes) -> None:
        if b"\0" not in head:
            return
        wide = len(head) > 3 and (head[1::2][:2] == b"\0\0" or head[::2][:2] == b"\0\0")
        if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")) or wide:
            hint = "Save it as UTF-8 (or plain ASCII) and try again."
            raise InputError("looks like UTF-16 text", where=self.name, hint=hint)

        for signs, noun in _FOREIGN.items():
            if head.startswith(signs):
                hint = "Runs and qrels are TREC text, tables (CSV, Parquet, Arrow) or JSON; text may be compressed: "
                hint += f"{', '.join(COMPRESSIONS)}."
                raise InputError(f"is {noun}, which is not read", where=self.name, hint=hint, code="unsupported-format")

    @contextmanager
    def open(self) -> Iterator[Any]:
        """The decompressed bytes from the beginning, as a binary file."""
        try:
            raw = self._opener()
        except (OSError, ValueError) as error:
            raise cannot_open(error, self.name) from None

        with raw:
            if self.path is not None:
                self._check_unchanged(os.fstat(raw.fileno()))
            unpacked: Any = nullcontext(raw)
            if self.compression:
                unpacked = self.compression.open(raw)
            with unpacked as stream:
                self._raw = raw
                yield stream
            self.verify()

    def verify(self) -> None:
        """Raise if the file was replaced or changed since it was first opened."""
        if self.path is None:
            return
        try:
            status = os.stat(self.path)
        except OSError as error:
            problem = f"was taken away while it was read: {error.strerror}"
            raise InputError(problem, where=self.name, hint=CHANGED_HINT, code="changed") from None
        self._check_unchanged(status)

    def _check_unchanged(self, status: os.stat_result) -> None:
        now = Identity.of(status)
        if self._identity is None:
            self._identity = now
        before = self._identity
        if now == before:
            return

        change = "it was written to"
        if now.inode != before.inode:
            change = "it was replaced"
        if now.size != before.size:
            change += f", and has {now.size:,} bytes instead of {before.size:,}"
        raise InputError(f"was changed while it was read: {change}", where=self.name, hint=CHANGED_HINT, code="changed")

    def read(self, *, lines: bool = False) -> bytes:
        """All bytes, for formats that cannot be read in pieces; with `lines`, lines that are too long are refused."""
        if self.compression is None and self.size is not None:
            fits(2 * self.size, f"holding {self.size:,} bytes", self.name)

        parts: list[bytes] = []
        since_line_end = 0
        total = 0
        for data in self.chunks():
            total += len(data)
            # The parts are in memory already; joining them needs the same amount again.
            fits(total, f"holding {total:,} bytes", self.name)
            parts.append(data)
            if lines:
                end = data.rfind(b"\n")
                if end >= 0:
                    since_line_end = len(data) - end - 1
                else:
                    since_line_end += len(data)
                if since_line_end > PIECE + MAX_LINE:
                    raise self.long_line(total - since_line_end)

        if len(parts) == 1:
            return parts[0]
        return b"".join(parts)

    def chunks(self, piece: int | None = None) -> Iterator[bytes]:
        """The decompressed data from `start` on, a few megabytes at a time, with line ends as LF.

        The file is closed before the last data are yielded, because a caller that finds a mistake in them stops.
        """
        total = 0
        last = b""
        with self.open() as stream:
            self._read(stream, self.start)
            while data := self._read(stream, piece or PIECE):
                total += len(data)
                if self.compression and self.watch is not None:
                    self.watch(self._raw.tell())
                if self.compression and total > FREE:
                    self._check_ratio(total)

                if self.old_mac:
                    data = data.replace(b"\r", b"\n")
                if self.compression is None and self.size is not None and self.start + total >= self.size:
                    last = data
                    break
                yield data

        if last:
            yield last

    def _check_ratio(self, total: int) -> None:
        """Raise if too many bytes came out of too few: what was read so far counts, so that a bomb is found early."""
        stored = self.size or total
        with suppress(OSError, AttributeError):  # what is no file may not know how far it was read
            stored = min(stored, self._raw.tell())
        if total > MAX_RATIO * stored:
            problem = f"unpacks to more than {MAX_RATIO} times its size: {stored:,} bytes became {total:,}"
            hint = "Is this a text file of rankings? If so, unpack it yourself first."
            raise InputError(problem, where=self.name, hint=hint)

    def lines(self) -> Generator[tuple[int, bytes], None, None]:
        """Lines with their numbers, each a record that may be long; without their LF."""
        for number, offset, block in self.blocks():
            for line in block.split(b"\n"):
                offset += len(line) + 1
                self.report_progress(offset)
                yield number, line
                number += 1

    def filled_lines(self, counts: Counter[str] | None = None) -> Generator[tuple[int, bytes], None, None]:
        """Lines with their numbers, without blank lines (there may be millions); `counts` gets the number of those."""
        for number, offset, block in self.blocks():
            position = 0
            filled = 0
            for matched in FILLED.finditer(block):
                number += block.count(b"\n", position, matched.start())
                position = matched.end()
                filled += 1
                self.report_progress(offset + position + 1)
                yield number, matched[0]
            if counts is not None:
                counts["blank-lines"] += block.count(b"\n") + 1 - filled

    def has_line(self, beginning: re.Pattern[bytes]) -> bool:
        """Whether any line begins with a pattern."""
        return any(beginning.search(block) for _, _, block in self.blocks())

    def report_progress(self, offset: int) -> None:
        """Tell `watch` that reading has reached an offset."""
        if self.watch is not None and self.compression is None:
            self.watch(offset)

    def blocks(self) -> Generator[tuple[int, int, bytes], None, None]:
        """Blocks of consecutive lines without the last LF, each after the number and offset of its first line."""
        number = 1
        unfinished = b""
        offset = self.start
        for data in self.chunks():
            block, line_end, unfinished = (unfinished + data).rpartition(b"\n")
            first_length = len(unfinished)
            if line_end:
                first_length = block.find(b"\n")
                if first_length < 0:
                    first_length = len(block)
            if first_length > MAX_RECORD:
                hint = "Is this a text file with a record in each line?"
                where = Position(self.name, number)
                raise InputError(f"a line is longer than {MAX_RECORD:,} bytes", where=where, hint=hint)

            if line_end:
                yield number, offset, block
                number += block.count(b"\n") + 1
                offset += len(block) + 1

        if unfinished:
            yield number, offset, unfinished

    def texts(self) -> Iterator[str]:
        """The data as text, piece by piece; bytes that are not UTF-8 become surrogate escapes."""
        return codecs.iterdecode(self.chunks(), "utf-8", "surrogateescape")

    def pieces(self) -> Iterator[tuple[int, Load]]:
        """Offsets and loaders of consecutive pieces; each but the last ends at a line end."""
        if self.compression is None and not self.old_mac:
            yield from self._file_pieces()
            return

        offset = self.start
        unfinished = b""
        for data in self.chunks():
            cut = data.rfind(b"\n") + 1
            if not cut:
                unfinished += data
                if len(unfinished) > PIECE + MAX_LINE:
                    raise self.long_line(offset)
                continue

            piece = unfinished + data[:cut]
            unfinished = data[cut:]
            yield offset, lambda piece=piece: padded(piece)  # type: ignore[misc]
            offset += len(piece)

        if unfinished:
            yield offset, lambda: padded(unfinished)

    def _file_pieces(self) -> Iterator[tuple[int, Load]]:
        def load(offset: int, size: int) -> np.ndarray:
            data = np.empty(size + PAD, np.uint8)
            data[size:] = 0
            with self.open() as file:
                file.seek(offset)
                filled = 0
                while filled < size:
                    count = file.readinto(data[filled:size].data)
                    if not count:
                        problem = f"was changed while it was read: it ended after {offset + filled:,} bytes"
                        raise InputError(problem, where=self.name, hint=CHANGED_HINT, code="changed")
                    filled += count
            return data

        with self.open() as file:
            total = file.seek(0, os.SEEK_END)
            offset = self.start
            while offset < total:
                end = min(offset + PIECE, total)
                if end < total:
                    end = self._line_end(file, end) or total
                yield offset, lambda offset=offset, end=end: load(offset, end - offset)  # type: ignore[misc]
                offset = end
                if self.watch is not None:
                    self.watch(offset)

    def _line_end(self, file: Any, offset: int) -> int | None:
        """The offset after the first line end from `offset` on; None if there is none up to the end of the file."""
        file.seek(offset)
        data = self._read(file, MAX_LINE)
        cut = data.find(b"\n")
        if cut >= 0:
            return offset + cut + 1
        if len(data) == MAX_LINE:
            raise self.long_line(offset)
        return None

    def lines_before(self, offset: int) -> int:
        """How many line ends come before an offset; the file is read again, because only messages need it."""
        count = 0
        position = self.start
        if offset <= position:
            return 0
        for data in self.chunks():
            count += data.count(b"\n", 0, offset - position)
            position += len(data)
            if position >= offset:
                break
        return count

    def long_line(self, offset: int) -> InputError:
        """The error for a line without end."""
        where = Position(self.name, self.lines_before(offset) + 1)
        hint = "Is this a text file of rankings? Ids may have up to 65,536 bytes."
        return InputError(f"a line is longer than {MAX_LINE:,} bytes", where=where, hint=hint)

    def empty(self) -> InputError:
        """The error for an input without data."""
        lines = self.lines_before(1 << 62)
        size = "0 bytes"
        if lines:
            size = f"{lines:,} lines"
        hint = "Is it the right file, and is it complete?"
        return InputError(f"{size}, no data lines", where=self.name, hint=hint, code="empty-input")

    def digest(self) -> str:
        """SHA-256 of the bytes as stored; an error if they changed since they were read."""
        import hashlib

        try:
            with self._opener() as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise cannot_open(error, self.name) from None
        self.verify()
        return digest

    @property
    def size(self) -> int | None:
        """The number of bytes as stored; None if it is not known."""
        if self._identity is not None:
            return self._identity.size
        with self._opener() as stream:
            if stream.seekable():
                return int(stream.seek(0, os.SEEK_END))
            return None

    def _read(self, stream: Any, size: int) -> bytes:
        try:
            return read_fully(stream, size)

        except Exception as error:
            expected: tuple[type[Exception], ...] = (OSError, EOFError)
            state = "cannot be read"
            if self.compression is not None:
                expected = (*expected, self.compression.damage())
                state = f"the {self.compression.name} data is damaged or cut off"
            if not isinstance(error, expected):
                raise

            self.verify()
            problem = f"{state}: {error} ({self.size:,} bytes as stored)"
            raise InputError(
                problem, where=self.name, hint="Fetch or make the file again.", code="damaged-file"
            ) from None


def read_fully(stream: Any, size: int) -> bytes:
    """`size` bytes, or all that are left, of a stream that may return fewer at a time."""
    parts: list[bytes] = []
    while size > 0:
        data = stream.read(size)
        if not data:
            break
        parts.append(data)
        size -= len(data)

    if len(parts) == 1:
        return parts[0]
    return b"".join(parts)


def open_source(source: Any) -> ByteSource:
    """A `ByteSource` from a path, '-', or an open binary stream."""
    if isinstance(source, ByteSource):
        return source

    if not isinstance(source, str | os.PathLike):
        if isinstance(source, type) or not callable(getattr(source, "read", None)):
            hint = "Data in memory (dicts, lists, data frames) go to goldrank.evaluate as they are."
            of_type(source, (), "the name of a file", "a path or a binary stream", hint)
        label = getattr(source, "name", None)
        if not isinstance(label, str):
            label = "<stream>"
        return _spool(getattr(source, "buffer", source), label)

    if os.fspath(source) == "-":
        if not hasattr(sys.stdin, "buffer"):
            raise InputError("there is no standard input", where="<stdin>")
        return _spool(sys.stdin.buffer, "<stdin>")

    path = Path(os.fsdecode(source))
    name = str(path)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise cannot_open(error, name) from None

    if stat.S_ISDIR(mode):
        hint = "Name a file, or the folder of a BEIR data set."
        raise InputError("is a folder", where=name, hint=hint, code="is-a-folder")

    if stat.S_ISREG(mode):
        return ByteSource(name, lambda: open(path, "rb", buffering=0), path=path, label=path.name)

    try:
        with open(path, "rb") as stream:
            if stat.S_ISCHR(mode) and not stream.isatty():
                raise InputError("is a device", where=name, code="is-a-device")
            return _spool(stream, name)
    except OSError as error:
        raise cannot_open(error, name) from None


def _spool(stream: Any, name: str) -> ByteSource:
    """Store a stream that can be read only once: in memory while it is small, else in a temporary file."""
    pieces = _stream_pieces(stream, name)
    buffer = bytearray()
    for data in pieces:
        buffer += data
        if len(buffer) >= SPOOL:
            break
    if len(buffer) < SPOOL:
        content = bytes(buffer)
        return ByteSource(name, lambda: io.BytesIO(content))

    temporary = _TemporaryFile()
    folder = temporary.path.parent
    try:
        with open(temporary.path, "wb") as file:
            file.write(buffer)
            del buffer
            for data in pieces:
                file.write(data)
    except OSError as error:
        raise InputError(f"cannot be kept in {folder}: {error.strerror}", where=name, hint=_NO_ROOM) from None
    return ByteSource(name, lambda: open(temporary.path, "rb", buffering=0), path=temporary.path)


def _stream_pieces(stream: Any, name: str) -> Iterator[bytes]:
    """The bytes of a stream, piece by piece."""
    read = stream.read
    if isinstance(stream, io.BufferedReader):
        read = stream.read1  # `read` waits for a full piece and does not notice signals while it waits

    while True:
        try:
            data = read(PIECE)
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be read: {error}", where=name) from None
        if data is not None and not isinstance(data, bytes):
            problem = "is a stream of text"
            raise InputError(problem, where=name, hint="Open it in binary mode: open(path, 'rb').", code="text-stream")
        if not data:
            return
        yield data


_NO_ROOM = "Give the file by its name, or set TMPDIR to a folder with room."


class _TemporaryFile:
    """A file that is deleted with this object, or at the end of the process. Windows needs it closed between uses."""

    def __init__(self) -> None:
        import tempfile
        import weakref

        descriptor, name = tempfile.mkstemp(prefix="goldrank-")
        os.close(descriptor)
        self.path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)
