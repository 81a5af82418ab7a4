"""Bytes from anywhere: paths, streams, standard input, compressed or not, in pieces that end at line ends."""

from __future__ import annotations

import codecs
import io
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
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
"""How many bytes are parsed at a time."""
MAX_LINE = 1 << 20
MAX_RECORD = 64 << 20
"""How many bytes a record that stands in one line may have."""
HEAD = 1 << 16
SPOOL = 64 << 20
MAX_RATIO = 250
"""How many times its size a compressed file may unpack to, beyond `FREE` bytes. Runs reach 20 or so."""
FREE = 64 << 20

_FOREIGN = {
    (b"\x04\x22\x4d\x18",): "an lz4 file",
    (b"PK\x03\x04",): "a zip archive",
    (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"): "a pickle",
    (b"SQLite format 3",): "an SQLite database",
    (b"%PDF",): "a PDF file",
}
"""How files begin that are not read. An id may begin so too, so that these signs count where a NUL byte is near:
no text has one."""
FILLED = re.compile(rb"^[ \t\r\x0b\x0c]*+[^\s][^\n]*+", re.MULTILINE)
"""A line that is not blank."""
_BOM = b"\xef\xbb\xbf"

Load = Callable[[], np.ndarray]
"""Gives the bytes of a piece with `scan.PAD` zero bytes behind them."""


class Identity(NamedTuple):
    """What tells a file from another of the same name, or from itself after it was written to."""

    inode: int
    size: int
    time: int

    @classmethod
    def of(cls, found: os.stat_result) -> Identity:
        return cls(found.st_ino, found.st_size, found.st_mtime_ns)


class ByteSource:
    """An input that can be read again and again, and that is the same each time.

    `head` holds its first bytes, decompressed, less a byte order mark; `start` is where the data begins.
    `path` is a file with the same bytes, if there is one; `label` is a short name for people.
    A file that is replaced or written to after it was first opened is refused, or results would mix old and new.
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
        """Told how far reading has come, in bytes as stored."""
        self.compression: Compression | None = None
        self._identity: Identity | None = None
        self._raw: Any = None
        """The file as stored, of the last opening."""
        _, suffix = split_suffix(name)
        with self.open() as stream:
            head = self._read(stream, HEAD)

        self.compression = compression_of(head, suffix)
        if self.compression is not None:
            with self.open() as stream:
                head = self._read(stream, HEAD)

        self._refuse_foreign(head)
        self.start = len(_BOM) if head.startswith(_BOM) else 0
        if self.start:
            self.notes.append(Note.of("byte-order-mark"))

        if suffix and not self.compression:
            self.notes.append(Note.of("not-compressed", suffix=suffix))

        self.head: bytes = head[self.start :]
        self.old_mac = b"\r" in self.head and b"\n" not in self.head
        if self.old_mac:
            self.notes.append(Note.of("cr-line-ends"))

    def as_binary(self) -> None:
        """Leave line ends and a byte order mark alone: what looks like them is data."""
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
        what = next((what for signs, what in _FOREIGN.items() if head.startswith(signs)), None)
        if what is not None:
            hint = "Runs and qrels are TREC text, tables (CSV, Parquet, Arrow) or JSON; text may be compressed: "
            hint += f"{', '.join(COMPRESSIONS)}."
            raise InputError(f"is {what}, which is not read", where=self.name, hint=hint, code="unsupported-format")

    @contextmanager
    def open(self) -> Iterator[Any]:
        """The decompressed bytes from the beginning, as a binary file."""
        try:
            raw = self._opener()
        except (OSError, ValueError) as error:
            raise cannot_open(error, self.name) from None
        with raw:
            if self.path is not None:
                self._same(os.fstat(raw.fileno()))
            with self.compression.open(raw) if self.compression else nullcontext(raw) as stream:
                self._raw = raw
                yield stream
            self.verify()

    def verify(self) -> None:
        """Raises if the file is no longer the one that was opened first."""
        if self.path is None:
            return
        try:
            status = os.stat(self.path)
        except OSError as error:
            what = f"was taken away while it was read: {error.strerror}"
            raise InputError(what, where=self.name, hint=CHANGED_HINT, code="changed") from None
        self._same(status)

    def _same(self, status: os.stat_result) -> None:
        now = Identity.of(status)
        self._identity = before = self._identity or now
        if now == before:
            return
        how = "it was replaced" if now.inode != before.inode else "it was written to"
        if now.size != before.size:
            how += f", and has {now.size:,} bytes instead of {before.size:,}"
        raise InputError(f"was changed while it was read: {how}", where=self.name, hint=CHANGED_HINT, code="changed")

    def read(self, *, lines: bool = False) -> bytes:
        """Everything, for formats that cannot be read in pieces; `lines` refuses lines that are too long."""
        if self.compression is None and self.size is not None:
            fits(2 * self.size, f"holding {self.size:,} bytes", self.name)

        parts: list[bytes] = []
        since_line_end = 0
        total = 0
        for data in self.chunks():
            total += len(data)
            # The parts are there already; joining them takes as much again.
            fits(total, f"holding {total:,} bytes", self.name)
            parts.append(data)
            if lines:
                end = data.rfind(b"\n")
                since_line_end = len(data) - end - 1 if end >= 0 else since_line_end + len(data)
                if since_line_end > PIECE + MAX_LINE:
                    raise self.long_line(sum(map(len, parts)) - since_line_end)
        if len(parts) == 1:
            return parts[0]
        return b"".join(parts)

    def chunks(self, piece: int | None = None) -> Iterator[bytes]:
        """The decompressed data from `start` on, a few megabytes at a time, with line ends as LF.

        A file is closed before its last data are handed over: whoever finds a mistake in them stops asking.
        """
        total = 0
        last = b""
        with self.open() as stream:
            self._read(stream, self.start)
            while data := self._read(stream, piece or PIECE):
                total += len(data)
                if self.compression and self.watch is not None:
                    self.watch(self._raw.tell())
                if self.compression and total > FREE and total > MAX_RATIO * (self.size or total):
                    what = f"unpacks to more than {MAX_RATIO} times its size ({self.size:,} bytes)"
                    hint = "Is this a text file of rankings? If so, unpack it yourself first."
                    raise InputError(what, where=self.name, hint=hint)
                data = data.replace(b"\r", b"\n") if self.old_mac else data
                if self.compression is None and self.size is not None and self.start + total >= self.size:
                    last = data
                    break
                yield data
        if last:
            yield last

    def lines(self) -> Generator[tuple[int, bytes], None, None]:
        """Lines with their numbers, each a record that may be long; without their LF."""
        for number, offset, block in self.blocks():
            for line in block.split(b"\n"):
                offset += len(line) + 1
                self.told(offset)
                yield number, line
                number += 1

    def filled_lines(self, counts: Counter[str] | None = None) -> Generator[tuple[int, bytes], None, None]:
        """The same without blank lines, of which there may be millions; `counts` gets how many there are."""
        for number, offset, block in self.blocks():
            at = 0
            filled = 0
            for matched in FILLED.finditer(block):
                number += block.count(b"\n", at, matched.start())
                at = matched.end()
                filled += 1
                self.told(offset + at + 1)
                yield number, matched[0]
            if counts is not None:
                counts["blank-lines"] += block.count(b"\n") + 1 - filled

    def has_line(self, beginning: re.Pattern[bytes]) -> bool:
        """Whether any line begins so."""
        return any(beginning.search(block) for _, _, block in self.blocks())

    def told(self, offset: int) -> None:
        """Reading has come so far."""
        if self.watch is not None and self.compression is None:
            self.watch(offset)

    def blocks(self) -> Generator[tuple[int, int, bytes], None, None]:
        """Lines that follow each other, without the last one's LF, with the first one's number and offset."""
        number = 1
        rest = b""
        offset = self.start
        for data in self.chunks():
            block, line_end, rest = (rest + data).rpartition(b"\n")
            first = block.find(b"\n") if line_end else len(rest)
            if first > MAX_RECORD or (first < 0 and len(block) > MAX_RECORD):
                hint, where = "Is this a text file with a record in each line?", Position(self.name, number)
                raise InputError(f"a line is longer than {MAX_RECORD:,} bytes", where=where, hint=hint)
            if line_end:
                yield number, offset, block
                number += block.count(b"\n") + 1
                offset += len(block) + 1

        if rest:
            yield number, offset, rest

    def texts(self) -> Iterator[str]:
        """The data as text, piece by piece; bytes that are not UTF-8 become surrogate escapes."""
        return codecs.iterdecode(self.chunks(), "utf-8", "surrogateescape")

    def pieces(self) -> Iterator[tuple[int, Load]]:
        """Offsets and loaders of consecutive pieces; each ends at a line end, except perhaps the last."""
        if self.compression is None and not self.old_mac:
            yield from self._file_pieces()
            return

        offset = self.start
        rest = b""
        for data in self.chunks():
            cut = data.rfind(b"\n") + 1
            if not cut:
                rest += data
                if len(rest) > PIECE + MAX_LINE:
                    raise self.long_line(offset)
                continue
            piece = rest + data[:cut]
            rest = data[cut:]
            yield offset, lambda piece=piece: padded(piece)  # type: ignore[misc]
            offset += len(piece)

        if rest:
            yield offset, lambda: padded(rest)

    def _file_pieces(self) -> Iterator[tuple[int, Load]]:
        def load(offset: int, size: int) -> np.ndarray:
            data = np.empty(size + PAD, np.uint8)
            data[size:] = 0
            with self.open() as file:
                file.seek(offset)
                at = 0
                while at < size:
                    got = file.readinto(data[at:size].data)
                    if not got:
                        what = f"was changed while it was read: it ended after {offset + at:,} bytes"
                        raise InputError(what, where=self.name, hint=CHANGED_HINT, code="changed")
                    at += got
            return data

        with self.open() as file:
            total = file.seek(0, os.SEEK_END)
            offset = self.start
            while offset < total:
                end = min(offset + PIECE, total)
                if end < total:
                    file.seek(end)
                    more = self._read(file, MAX_LINE)
                    cut = more.find(b"\n")
                    if cut < 0 and len(more) == MAX_LINE:
                        raise self.long_line(end)
                    end = end + cut + 1 if cut >= 0 else total
                yield offset, lambda offset=offset, end=end: load(offset, end - offset)  # type: ignore[misc]
                offset = end
                if self.watch is not None:
                    self.watch(offset)

    def lines_before(self, offset: int) -> int:
        """How many line ends come before a byte; read anew, since only messages need it."""
        count = 0
        at = self.start
        for data in self.chunks() if offset > at else ():
            count += data.count(b"\n", 0, offset - at)
            at += len(data)
            if at >= offset:
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
        size = f"{lines:,} lines, no data lines" if lines else "0 bytes, no data lines"
        hint = "Is it the right file, and is it complete?"
        return InputError(size, where=self.name, hint=hint, code="empty-input")

    def digest(self) -> str:
        """SHA-256 of the bytes as stored, which are those that were read."""
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
        """Bytes as stored, if that can be told."""
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
            damage = OSError if self.compression is None else self.compression.damage()
            if not isinstance(error, (OSError, EOFError, damage)):
                raise
            self.verify()
            kind = f"the {self.compression.name} data is damaged or cut off" if self.compression else "cannot be read"
            what, hint = f"{kind}: {error} ({self.size:,} bytes as stored)", "Fetch or make the file again."
            raise InputError(what, where=self.name, hint=hint, code="damaged-file") from None


def read_fully(stream: Any, size: int) -> bytes:
    """`size` bytes, or all that are left, of a stream that may return fewer at a time."""
    parts: list[bytes] = []
    while size > 0 and (data := stream.read(size)):
        parts.append(data)
        size -= len(data)
    if len(parts) == 1:
        return parts[0]
    return b"".join(parts)


def open_source(given: Any) -> ByteSource:
    """A `ByteSource` from a path, '-', or an open binary stream."""
    if isinstance(given, ByteSource):
        return given

    if not isinstance(given, str | os.PathLike):
        if isinstance(given, type) or not callable(getattr(given, "read", None)):
            hint = "Data in memory (dicts, lists, data frames) go to goldrank.evaluate as they are."
            of_type(given, (), "what names a file", "a path or a binary stream", hint)
        label = getattr(given, "name", None)
        return _spool(getattr(given, "buffer", given), label if isinstance(label, str) else "<stream>")

    if os.fspath(given) == "-":
        if not hasattr(sys.stdin, "buffer"):
            raise InputError("there is no standard input", where="<stdin>")
        return _spool(sys.stdin.buffer, "<stdin>")

    path = Path(os.fsdecode(given))
    name = str(path)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise cannot_open(error, name) from None

    if stat.S_ISDIR(mode):
        what = "is a folder"
        raise InputError(what, where=name, hint="Name a file, or the folder of a BEIR data set.", code="is-a-folder")

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
    """Keep what can be read only once: in memory while it is small, else in a temporary file."""
    # What there is: waiting for a whole piece, a buffer does not look whether a signal came between two of its reads.
    take = stream.read1 if isinstance(stream, io.BufferedReader) else stream.read

    def read() -> bytes:
        try:
            data = take(PIECE)
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be read: {error}", where=name) from None
        if data is not None and not isinstance(data, bytes):
            what = "is a stream of text"
            raise InputError(what, where=name, hint="Open it in binary mode: open(path, 'rb').", code="text-stream")
        return data or b""

    held = bytearray()
    while len(held) < SPOOL and (data := read()):
        held += data
    if len(held) < SPOOL:
        whole = bytes(held)
        return ByteSource(name, lambda: io.BytesIO(whole))
    kept = _TemporaryFile()
    try:
        with open(kept.path, "wb") as file:
            file.write(held)
            del held
            while data := read():
                file.write(data)
    except OSError as error:
        raise InputError(f"cannot be kept in {kept.path.parent}: {error.strerror}", where=name, hint=_NO_ROOM) from None
    return ByteSource(name, lambda: open(kept.path, "rb", buffering=0), path=kept.path)


_NO_ROOM = "Give the file by its name, or set TMPDIR to a folder with room."


class _TemporaryFile:
    """A file that goes with this object, or with the process. It is closed between uses: Windows wants that."""

    def __init__(self) -> None:
        import tempfile
        import weakref

        descriptor, name = tempfile.mkstemp(prefix="goldrank-")
        os.close(descriptor)
        self.path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)
