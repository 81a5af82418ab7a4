"""Compressed bytes, for each compression that goldrank knows."""

from __future__ import annotations

from importlib import import_module

from goldrank.io.compression import COMPRESSIONS

SUFFIXES = {name: kind.suffixes[0] for name, kind in COMPRESSIONS.items()}


def packed(data: bytes, kind: str) -> bytes:
    """The data as the compression has them, with a checksum: without one zstd cannot say that data are damaged."""
    module = import_module(COMPRESSIONS[kind].module)
    if kind == "gzip":
        return bytes(module.compress(data, mtime=0))
    if kind == "zstd":
        return bytes(module.compress(data, options={module.CompressionParameter.checksum_flag: 1}))
    return bytes(module.compress(data))
