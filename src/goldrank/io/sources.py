"""Bytes from anywhere: paths, streams, standard input, compressed or not, in pieces that end at line ends."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from goldrank.errors import InputError, Place
from goldrank.io.scan import PAD, padded

PIECE = 4 << 20
"""How many bytes are parsed at a time."""
MAX_LINE = 1 << 20
HEAD = 1 << 16
SPOOL = 64 << 20

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"

Load = Callable[[], np.ndarray]
"""Gives the bytes of a piece with `scan.PAD` zero bytes behind them."""


class Source:
    """An input that can be read again and again.

    `head` holds its first bytes, decompressed, less a byte order mark; `start` is where the data begins.
    """

    def __init__(self, name: str, opener: Callable[[], Any], *, path: Path | None = None) -> None:
        self.name = name
        self.path = path
        self._opener = opener
        self.notes: list[str] = []
        self.watch: Callable[[int], None] | None = None
        """Told how far reading has come, in bytes as stored."""
        try:
            with opener() as stream:
                magic = stream.read(8)
        except OSError as error:
            raise InputError(f"cannot be opened: {error.strerror or error}", where=name) from None
        self.compression = next((kind for sign, kind in _MAGIC.items() if magic.startswith(sign)), None)
        with self.open() as stream:
            head = self._read(stream, HEAD)
        if head.startswith(_UTF16) or (len(head) > 3 and head[1:2] == b"\x00" and head[3:4] == b"\x00"):
            raise InputError(
                "looks like UTF-16 text", where=name, hint="Save it as UTF-8 (or plain ASCII) and try again."
            )
        self.start = len(_BOM) if head.startswith(_BOM) else 0
        if self.start:
            self.notes.append("a byte order mark was dropped")
        if path is not None and path.suffix in (".gz", ".zst", ".bz2", ".xz") and not self.compression:
            self.notes.append(f"named {path.suffix} but not compressed")
        self.head = head[self.start :]
        self.old_mac = b"\r" in self.head and b"\n" not in self.head
        if self.old_mac:
            self.notes.append("lines end in CR only")

    def open(self) -> Any:
        """The decompressed bytes from the beginning, as a binary file."""
        raw = self._opener()
        match self.compression:
            case "gzip":
                return gzip.GzipFile(fileobj=raw)
            case "bzip2":
                return bz2.BZ2File(raw)
            case "xz":
                return lzma.LZMAFile(raw)
            case "zstd":
                return _open_zstd(raw)
            case _:
                return raw

    def read(self) -> bytes:
        """Everything, for formats that cannot be read in pieces."""
        with self.open() as stream:
            data = self._read(stream, None)[self.start :]
        return data.replace(b"\r", b"\n") if self.old_mac else data

    def pieces(self) -> Iterator[tuple[int, Load]]:
        """Offsets and loaders of consecutive pieces; each ends at a line end, except perhaps the last."""
        if self.compression is None and not self.old_mac and self.path is not None:
            yield from self._file_pieces(self.path)
            return
        offset = self.start
        rest = b""
        with self.open() as stream:
            self._read(stream, self.start)
            while True:
                data = self._read(stream, PIECE)
                if self.old_mac:
                    data = data.replace(b"\r", b"\n")
                cut = data.rfind(b"\n") + 1
                if len(rest) + (cut or len(data)) > PIECE + MAX_LINE and not cut:
                    raise self.long_line(offset)
                piece = rest + data[:cut] if data else rest
                rest = rest + data if not cut else data[cut:]
                if data and not cut:
                    continue
                if piece:
                    yield offset, lambda piece=piece: padded(piece)  # type: ignore[misc]
                    offset += len(piece)
                if not data:
                    return

    def _file_pieces(self, path: Path) -> Iterator[tuple[int, Load]]:
        def load(offset: int, size: int) -> np.ndarray:
            data = np.empty(size + PAD, np.uint8)
            data[size:] = 0
            with open(path, "rb", buffering=0) as file:
                file.seek(offset)
                at = 0
                while at < size:
                    got = file.readinto(data[at:size].data)
                    if not got:
                        raise InputError(f"ended after {offset + at:,} bytes while being read", where=self.name)
                    at += got
            return data

        with open(path, "rb", buffering=0) as file:
            total = os.fstat(file.fileno()).st_size
            offset = self.start
            while offset < total:
                end = min(offset + PIECE, total)
                if end < total:
                    file.seek(end)
                    more = file.read(MAX_LINE)
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
        left = offset
        with self.open() as stream:
            while left > 0 and (data := self._read(stream, min(left, PIECE))):
                count += data.count(b"\r" if self.old_mac else b"\n")
                left -= len(data)
        return count

    def long_line(self, offset: int) -> InputError:
        """The error for a line without end."""
        return InputError(
            f"a line is longer than {MAX_LINE:,} bytes",
            where=Place(self.name, self.lines_before(offset) + 1),
            hint="Is this a text file of rankings? Ids may have up to 65,536 bytes.",
        )

    def digest(self) -> str:
        """SHA-256 of the bytes as stored."""
        with self._opener() as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    @property
    def size(self) -> int | None:
        """Bytes as stored, if that can be told."""
        return self.path.stat().st_size if self.path is not None else None

    def _read(self, stream: IO[bytes], size: int | None) -> bytes:
        try:
            if size is None:
                return stream.read()
            parts = []
            while size > 0 and (data := stream.read(size)):
                parts.append(data)
                size -= len(data)
            return parts[0] if len(parts) == 1 else b"".join(parts)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise self._damaged(error) from None
        except Exception as error:
            if type(error).__name__ == "ZstdError":
                raise self._damaged(error) from None
            raise

    def _damaged(self, error: Exception) -> InputError:
        kind = f"the {self.compression} data is damaged or cut off" if self.compression else "cannot be read"
        size = f" ({self.size:,} bytes on disk)" if self.size is not None else ""
        return InputError(f"{kind}: {error}{size}", where=self.name, hint="Fetch or make the file again.")


def open_source(given: Any) -> Source:
    """A `Source` from a path, '-', or an open binary stream."""
    if isinstance(given, Source):
        return given
    if isinstance(given, str | os.PathLike):
        if os.fspath(given) == "-":
            return _spool(sys.stdin.buffer, "<stdin>")
        path = Path(os.fsdecode(given))
        name = str(path)
        if path.is_dir():
            raise InputError("is a folder", where=name, hint="Name a file, or the folder of a BEIR data set.")
        if path.is_fifo() or path.is_char_device():
            with open(path, "rb") as stream:
                return _spool(stream, name)
        return Source(name, lambda: open(path, "rb", buffering=0), path=path)
    stream = getattr(given, "buffer", given)
    label = getattr(given, "name", None)
    return _spool(stream, label if isinstance(label, str) else "<stream>")


def _spool(stream: Any, name: str) -> Source:
    """Keep what can be read only once: in memory while it is small, else in a temporary file."""
    import io

    data = stream.read(SPOOL)
    if not isinstance(data, bytes):
        raise InputError("is a stream of text", where=name, hint="Open it in binary mode: open(path, 'rb').")
    if len(data) < SPOOL:
        rest = stream.read()
        whole = data + rest if rest else data
        return Source(name, lambda: io.BytesIO(whole))
    kept = tempfile.NamedTemporaryFile(prefix="goldrank-")  # noqa: SIM115 - the source's opener keeps it
    kept.write(data)
    while data := stream.read(PIECE):
        kept.write(data)
    kept.flush()
    return Source(name, lambda: open(kept.name, "rb", buffering=0), path=Path(kept.name))


def _open_zstd(raw: Any) -> Any:
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdFile
    else:
        from backports.zstd import ZstdFile
    return ZstdFile(raw)
