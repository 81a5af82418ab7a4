"""ROUGE-L recall as continuous-eval uses it (the `rouge` package, 1.0.1), by sentences and sets of words.

Sentences end at each full stop, words at white space, and case counts. For each pair of a retrieved and a
reference sentence one longest common subsequence is taken; the recall is the share of the reference's
distinct words that is in any of them. Which subsequence is taken matters when words repeat: the walk back
from the end steps in the retrieved sentence unless the other way is strictly longer.

The table of lengths is held by rows of bits (H. Hyyrö, Bit-parallel LCS-length computation revisited, 2004):
bit j of row i is 0 where the length grows from column j to j + 1. At two words that differ, the length
without the reference's word is the greater exactly where it grows, so that the bits are all that the walk
back needs, and it goes over many retrieved words at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import ClassVar

import numpy as np

from goldrank.base.errors import InputError
from goldrank.data.text_item import Texts
from goldrank.match.matcher import PruningMatcher
from goldrank.match.tokens import Stretches, merged

Sentence = tuple[str, ...]
_WORD = re.compile(r"\S+")
_BLANK_SENTENCE = re.compile(r"\.\s+(?:\.|\Z)")
"""One after the first sentence."""
KEPT_ROWS = 1_000
"""Up to this many rows are all kept; of more, one in so many that the rest can be made again in parts."""


@lru_cache(4096)
def _sentences(text: str) -> tuple[Sentence, ...]:
    """Words by sentence. A sentence of white space only has one empty word, as in the original."""
    return tuple(tuple(part.split() or ("",)) for part in text.split(".") if part)


@lru_cache(4096)
def _words(text: str) -> frozenset[str]:
    """The words of all sentences; none if there is no sentence."""
    words = frozenset(text.replace(".", " ").split())
    blank = _BLANK_SENTENCE.search(text) or (text[:1].isspace() and text.lstrip()[:1] in ("", "."))
    if blank:
        return words | {""}
    return words


def rouge_l_recall(retrieved: str, reference: str) -> float:
    """The share of the reference's distinct words that a common subsequence covers.

    >>> rouge_l_recall("a b c d e f g", "a b c d e f g h i j")
    0.7
    """
    for text, what in ((retrieved, "Hypothesis"), (reference, "Reference")):
        if not _words(text):
            raise InputError(f"{what} is empty.", hint=f"There is no word in {text!r}.")
    return _recall(retrieved, reference)


def reaches(retrieved: str, reference: str, threshold: float, inclusive: bool = True) -> bool:
    """Whether the recall is at least the threshold (more than it unless `inclusive`); empty texts never match."""
    if not _words(retrieved) or not _words(reference):
        return False

    def enough(recall: float) -> bool:
        if inclusive:
            return recall >= threshold
        return recall > threshold

    return enough(_recall(retrieved, reference, enough))


def _recall(retrieved: str, reference: str, enough: Callable[[float], bool] | None = None) -> float:
    """The recall; or, where only `enough` of it is asked for, a value on the same side.

    The words in common are the most that can be covered, so that most pairs are decided without any search.
    """
    wanted = _words(reference)
    most, whole = len(wanted & _words(retrieved)), len(wanted)
    if most == 0 or (enough is not None and not enough(most / whole)):
        if whole:
            return most / whole
        return 0.0
    open_words = set(wanted & _words(retrieved))
    for sentence in _sentences(reference):
        here = open_words.intersection(sentence)
        for other in _sentences(retrieved):
            if not here:
                break
            if here.isdisjoint(other):
                continue  # whatever is in common is covered already
            covered = common_words(sentence, other)
            here -= covered
            open_words -= covered
            if enough is not None and enough((most - len(open_words)) / whole):
                return (most - len(open_words)) / whole
    return (most - len(open_words)) / whole


def common_words(reference: Sentence, retrieved: Sentence) -> set[str]:
    """The words of the longest common subsequence that the walk back from the end finds.

    >>> sorted(common_words(("the", "cat", "the", "dog"), ("the", "the", "the", "cat")))
    ['the']
    """
    if reference == retrieved:
        return set(reference)
    return {reference[i] for i, _ in _walk(reference, retrieved)}


def _walk(reference: Sentence, retrieved: Sentence) -> Iterator[tuple[int, int]]:
    """The places (in reference, in retrieved) of the subsequence, from the end."""
    wanted = set(reference)
    # A retrieved word that the reference lacks is only stepped over, and need not be there.
    kept = [j for j, word in enumerate(retrieved) if word in wanted]
    mask_of = _masks([retrieved[j] for j in kept])
    every = (1 << len(kept)) - 1
    if len(reference) <= KEPT_ROWS:
        step = 1
    else:
        step = math.isqrt(len(reference))

    saved = [every]
    for i, row in enumerate(_rows(every, map(mask_of, reference), every), 1):
        if i % step == 0:
            saved.append(row)

    i, open_bits = len(reference), every
    rows, first = (saved, 0) if step == 1 else ([], i + 1)
    while i and open_bits:
        if i < first:
            first = (i - 1) // step * step + 1
            rows = list(_rows(saved[first // step], map(mask_of, reference[first - 1 : i]), every))
        mask = mask_of(reference[i - 1])
        met = (mask | ~rows[i - first]) & open_bits
        at = met.bit_length() - 1
        if at < 0:
            return
        i -= 1
        if mask >> at & 1:
            yield i, kept[at]
            open_bits &= (1 << at) - 1
        else:
            open_bits &= (2 << at) - 1


def _rows(row: int, masks: Iterable[int], every: int) -> Iterator[int]:
    """The row after each of the reference's words."""
    for mask in masks:
        if mask:
            row = (row + (row & mask) | row & ~mask) & every
        yield row


def _masks(retrieved: Texts) -> Callable[[str], int]:
    """From a word to the bits of its places."""
    if len(retrieved) <= KEPT_ROWS:
        masks: dict[str, int] = {}
        for bit, word in enumerate(retrieved):
            masks[word] = masks.get(word, 0) | 1 << bit
        return lambda word: masks.get(word, 0)
    places: dict[str, list[int]] = {}
    for bit, word in enumerate(retrieved):
        places.setdefault(word, []).append(bit)

    @lru_cache(256)  # the masks of all words of a long text would not fit; those of frequent words do
    def made(word: str) -> int:
        bits = bytearray(len(retrieved) // 8 + 1)
        for bit in places.get(word, ()):
            bits[bit >> 3] |= 1 << (bit & 7)
        return int.from_bytes(bits, "little")

    return made


class Rouge(PruningMatcher):
    """ROUGE-L recall of continuous-eval: the `rouge` package's, by sentences and sets of words."""

    name: ClassVar[str] = "rouge"
    says: ClassVar[str] = "ROUGE-L recall (rouge)"
    default_threshold: ClassVar[float | None] = 0.7

    def degrees(
        self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray, *, deciding: bool = False
    ) -> np.ndarray:
        threshold = self.threshold or 0

        def enough(recall: float) -> bool:
            return recall > 0 and (recall >= threshold if self.inclusive else recall > threshold)

        def recall(i: int, j: int) -> float:
            return _recall(retrieved[i], references[j], enough if deciding else None)

        return np.fromiter(map(recall, left.tolist(), right.tolist()), np.float64, len(left))

    def marks(self, retrieved: str, reference: str) -> Stretches:
        chosen: set[tuple[int, int]] = set()
        for stretch in re.finditer(r"[^.]+", retrieved):
            where = [word.span() for word in _WORD.finditer(retrieved, *stretch.span())]
            other = tuple(stretch[0].split())
            for sentence in _sentences(reference):
                chosen.update(where[j] for _, j in _walk(sentence, other))
        return merged(retrieved, chosen)
