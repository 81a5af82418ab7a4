"""Compressed files. A new compression is one class here and one entry of `COMPRESSIONS`.

Most inputs are not compressed, so each library is loaded when a file of its kind arrives.
"""

from __future__ import annotations

import os
import sys
from typing import IO, Any, ClassVar


class Compression:
    """A way to pack bytes."""

    name: ClassVar[str]
    magic: ClassVar[bytes]
    """How its files begin."""
    suffixes: ClassVar[tuple[str, ...]]
    usual_ratio: ClassVar[int] = 10
    """How many times its size a file is taken to unpack to, for estimates."""

    def open(self, raw: IO[bytes]) -> Any:
        """A binary file with the decompressed bytes of another."""
        raise NotImplementedError

    def damage(self) -> type[Exception]:
        """The error by which the library says that data are damaged, beside `OSError` and `EOFError`."""
        return OSError


class Gzip(Compression):
    name, magic, suffixes = "gzip", b"\x1f\x8b", (".gz", ".gzip")

    def open(self, raw: IO[bytes]) -> Any:
        import gzip

        return gzip.GzipFile(fileobj=raw)

    def damage(self) -> type[Exception]:
        import zlib

        return zlib.error


class Zstd(Compression):
    name, magic, suffixes = "zstd", b"\x28\xb5\x2f\xfd", (".zst", ".zstd")

    def open(self, raw: IO[bytes]) -> Any:
        return zstd().ZstdFile(raw)

    def damage(self) -> type[Exception]:
        error: type[Exception] = zstd().ZstdError
        return error


class Bzip2(Compression):
    name, magic, suffixes = "bzip2", b"BZh", (".bz2",)

    def open(self, raw: IO[bytes]) -> Any:
        import bz2

        return bz2.BZ2File(raw)


class Xz(Compression):
    name, magic, suffixes = "xz", b"\xfd7zXZ\x00", (".xz",)

    def open(self, raw: IO[bytes]) -> Any:
        import lzma

        return lzma.LZMAFile(raw)

    def damage(self) -> type[Exception]:
        import lzma

        return lzma.LZMAError


COMPRESSIONS: dict[str, Compression] = {kind.name: kind for kind in (Gzip(), Zstd(), Bzip2(), Xz())}


def by_magic(head: bytes) -> Compression | None:
    """The compression of a file that begins with these bytes."""
    return next((kind for kind in COMPRESSIONS.values() if head.startswith(kind.magic)), None)


def split_suffix(name: str) -> tuple[str, str]:
    """A file's name without the suffix of a compression, and that suffix: ("a.json", ".gz")."""
    stem, suffix = os.path.splitext(name)
    known = any(suffix in kind.suffixes for kind in COMPRESSIONS.values())
    return (stem, suffix) if known else (name, "")


def zstd() -> Any:
    """The module for zstd."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
