"""Ids as text and as bytes: every sequence of bytes is an id, and comes back as it was."""

from __future__ import annotations

from itertools import product

import pytest

from goldrank.base import ids
from goldrank.base.errors import InputError

TELLING = (0x20, 0x41, 0x80, 0x8F, 0x9F, 0xA0, 0xBF, 0xC0, 0xC3, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF)
"""First, last and wrong bytes of sequences of UTF-8, of surrogates (ED A0 80 to ED BF BF) and of overlong forms."""


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_any_bytes_come_back(length):
    for raw in map(bytes, product(TELLING, repeat=length)):
        assert ids.encode(ids.decode(raw)) == raw


@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\udcc3\udca9", "\udcf0\udc9f\udc98\udc80"])
def test_text_that_no_bytes_decode_to_is_refused(text):
    """Half of a surrogate pair, or escapes that together are a character: they would come back as another id."""
    with pytest.raises(InputError):
        ids.encode(text)
