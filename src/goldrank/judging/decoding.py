"""The body of an HTTP answer, unpacked with a limit: 5 KB can become gigabytes, and each layer multiplies."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

ACCEPTED = "gzip, deflate"
"""What a request allows (Accept-Encoding). The other encodings of HTTP have no decoder with a limit in every package
that httpx takes them from; an endpoint that sends them all the same is refused."""
MOST_LAYERS = 2
"""An answer is packed once; a proxy may pack it again."""


class DamagedBodyError(ValueError):
    """A body that is not packed as its header says."""


class UnaskedEncodingError(ValueError):
    """A body that is packed in a way, or more often, than the request allows."""


def unpacked(body: bytes, encodings: str, most: int) -> bytes:
    """The first bytes of a body that was packed as the header Content-Encoding says, at most `most`.

    No layer is unpacked to more than `most` bytes: what follows is not looked at.

    >>> import gzip
    >>> unpacked(gzip.compress(bytes(1_000_000)), "gzip", 10)
    b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00'
    """
    layers = list(_layers(encodings))
    if len(layers) > MOST_LAYERS:
        raise UnaskedEncodingError(f"packs its answers {len(layers)} times; {MOST_LAYERS} are unpacked at most")

    for layer in reversed(layers):
        if layer == "gzip":
            body = _gunzipped(body, most)
        else:
            body = _inflated(body, most)
    return body[:most]


def _layers(encodings: str) -> Iterator[str]:
    """The names in a header, without those that change nothing."""
    for encoding in encodings.split(","):
        name = encoding.strip().lower().removeprefix("x-")
        if name in ("gzip", "deflate"):
            yield name
        elif name not in ("", "identity"):
            raise UnaskedEncodingError(f"packs its answers as {name!r:.40}; the request allows {ACCEPTED}")


def _gunzipped(body: bytes, most: int) -> bytes:
    return _decompressed(body, most, zlib.MAX_WBITS | 16)


def _inflated(body: bytes, most: int) -> bytes:
    """With the header of zlib, as the standard says, or without it, as some servers send it."""
    try:
        return _decompressed(body, most, zlib.MAX_WBITS)
    except DamagedBodyError:
        return _decompressed(body, most, -zlib.MAX_WBITS)


def _decompressed(body: bytes, most: int, wbits: int) -> bytes:
    try:
        return zlib.decompressobj(wbits).decompress(body, most)
    except zlib.error as error:
        raise DamagedBodyError(str(error)) from None
