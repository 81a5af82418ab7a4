"""The stretch of a long text that is most like a reference.

In a long text the words of almost any sentence occur somewhere, in order. So a match must be found within a window of
2n + 4 words, n being those of the reference; windows begin every n / 2 words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from goldrank.packages import needed

with needed("rapidfuzz"):
    from rapidfuzz.distance import LCSseq

MOST_TIES = 8
"""Windows that are equally like the reference and looked at."""
MOST_CODES = 0x110000 - 0x800
"""Words of a reference that can be told apart as characters."""


class BestWindows(NamedTuple):
    """How many words the best window has in common with the reference, and the stretches in which it has them."""

    common: int
    stretches: list[tuple[int, int]]
    """First word and one past the last: windows shrunk from the right, then left, while they keep as many."""


Size = TypeVar("Size", int, np.ndarray)


def size_of(reference: Size) -> Size:
    """The words of a window for a reference of so many."""
    return 2 * reference + 4


def best_windows(
    tokens: Sequence[Hashable], reference: Sequence[Hashable], *, ordered: bool, whole: bool = False, tight: bool = True
) -> BestWindows:
    """The windows that have most words in common with the reference; with `whole`, the text is one window."""
    code = {token: chr(i if i < 0xD800 else i + 0x800) for i, token in enumerate(dict.fromkeys(reference[:MOST_CODES]))}
    coded = list(map(code.get, tokens))
    at = [i for i, letter in enumerate(coded) if letter is not None]
    text = "".join(filter(None, coded))
    wanted = "".join(code[token] for token in reference if token in code)
    if not ordered:
        wanted = "".join(sorted(wanted))
    size, step = size_of(len(reference)), max(len(reference) // 2, 1)
    last = 0 if whole else max(len(tokens) - size, 0)
    width = len(tokens) if whole else size
    begins = range(0, -(-last // step) * step + 1, step)
    windows = list(dict.fromkeys((bisect_left(at, begin), bisect_left(at, begin + width)) for begin in begins))

    def common(first: int, past: int) -> int:
        part = text[first:past]
        return int(LCSseq.similarity(part if ordered else "".join(sorted(part)), wanted))

    best = 0
    found: list[tuple[int, int]] = []
    for first, past in sorted(windows, key=lambda window: window[0] - window[1]):
        if past - first < max(best, 1):
            break
        number = common(first, past)
        if number > best:
            best, found = number, []
        if number == best and number and len(found) < MOST_TIES:
            found.append((first, past))
    stretches: list[tuple[int, int]] = []
    for first, past in sorted(found) if tight else ():
        low_end, end = first + best, past  # the fewest words that can hold as many
        while low_end < end:
            middle = (low_end + end) // 2
            low_end, end = (low_end, middle) if common(first, middle) == best else (middle + 1, end)
        start, high_start = first, end - best
        while start < high_start:
            middle = (start + high_start + 1) // 2
            start, high_start = (middle, high_start) if common(middle, end) == best else (start, middle - 1)
        stretches.append((at[start], at[end - 1] + 1))
    return BestWindows(best, list(dict.fromkeys(stretches)))
