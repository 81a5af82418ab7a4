"""Compressed files. A new compression is one class here and one entry of `COMPRESSIONS`.

Most inputs are not compressed, so each library is loaded when a file of its kind arrives.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import IO, Any, ClassVar

from goldrank.base.packages import needed


class Compression:
    """A way to pack bytes."""

    name: ClassVar[str]
    magic: ClassVar[bytes]
    """The first bytes of its files."""
    suffixes: ClassVar[tuple[str, ...]]
    unpacker: ClassVar[str]
    """The class of its module that unpacks piece by piece."""
    module: ClassVar[str]
    """The module whose `open` returns the decompressed bytes of a file."""
    error: ClassVar[tuple[str, str]] = ("builtins", "OSError")
    """Its error for damaged data, beside `OSError` and `EOFError`: module and name."""

    def open(self, raw: IO[bytes]) -> Any:
        """A binary file with the decompressed bytes of another."""
        return self._library().open(raw)

    def pack(self, data: bytes) -> bytes:
        """Compress data; equal data give equal bytes."""
        return bytes(self._library().compress(data))

    def fits(self, head: bytes) -> bool:
        """Whether the first bytes of a file can be unpacked: an id may begin like a compressed file."""
        decompressor = self.decompressor()
        try:
            return bool(decompressor.decompress(head, 1 << 16)) or bool(decompressor.eof)
        except (OSError, EOFError, self.damage()):
            return False

    def decompressor(self) -> Any:
        """An object whose `decompress(data, most)` returns up to `most` bytes."""
        return getattr(self._library(), self.unpacker)()

    def damage(self) -> type[Exception]:
        module, name = self.error
        error: type[Exception] = getattr(import_module(module), name)
        return error

    def _library(self) -> Any:
        with needed(self.module):
            return import_module(self.module)


class Gzip(Compression):
    name, magic, suffixes = "gzip", b"\x1f\x8b", (".gz", ".gzip")
    module, error = "gzip", ("zlib", "error")

    def pack(self, data: bytes) -> bytes:
        return bytes(self._library().compress(data, mtime=0))

    def decompressor(self) -> Any:
        return import_module("zlib").decompressobj(wbits=31)


class Zstd(Compression):
    name, magic, suffixes, unpacker = "zstd", b"\x28\xb5\x2f\xfd", (".zst", ".zstd"), "ZstdDecompressor"
    module = "backports.zstd"
    if sys.version_info >= (3, 14):
        module = "compression.zstd"
    error = (module, "ZstdError")


class Bzip2(Compression):
    name, magic, suffixes, unpacker, module = "bzip2", b"BZh", (".bz2",), "BZ2Decompressor", "bz2"


class Xz(Compression):
    name, magic, suffixes, unpacker = "xz", b"\xfd7zXZ\x00", (".xz",), "LZMADecompressor"
    module, error = "lzma", ("lzma", "LZMAError")


COMPRESSIONS: dict[str, Compression] = {kind.name: kind for kind in (Gzip(), Zstd(), Bzip2(), Xz())}


def named_by(suffix: str) -> Compression | None:
    """The compression whose file names have this suffix."""
    return next((kind for kind in COMPRESSIONS.values() if suffix.lower() in kind.suffixes), None)


def compression_of(head: bytes, suffix: str) -> Compression | None:
    """The compression of a file with these first bytes and this suffix; None if it is not compressed.

    A file that begins like a compressed one is compressed if it holds a NUL byte (text has none, compressed files of
    more than a few hundred bytes do), if its suffix fits, or if it can be unpacked. Else it is text with such an id.
    """
    kind = next((kind for kind in COMPRESSIONS.values() if head.startswith(kind.magic)), None)
    if kind is None or suffix.lower() in kind.suffixes or b"\0" in head or kind.fits(head):
        return kind
    return None


def split_suffix(name: str) -> tuple[str, str]:
    """A file's name without the suffix of a compression, and that suffix: ("a.json", ".gz")."""
    stem, suffix = os.path.splitext(name)
    if named_by(suffix):
        return (stem, suffix)
    return (name, "")
