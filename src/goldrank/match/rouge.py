"""ROUGE-L recall as continuous-eval uses it (the `rouge` package, 1.0.1), by sentences and sets of words.

Sentences end at each full stop, words at white space, and case counts. For each pair of a retrieved and a
reference sentence one longest common subsequence is taken; the recall is the share of the reference's
distinct words that is in any of them. Which subsequence is taken matters when words repeat: the walk back
from the end steps in the retrieved sentence unless the other way is strictly longer.

The table of lengths is stored as rows of bits (H. Hyyrö, Bit-parallel LCS-length computation revisited, 2004):
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
"""A blank sentence after the first one."""
STORED_ROWS = 1_000
"""Up to this number of rows all are stored; of more, some from which the others can be made again in parts."""


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
    for text, noun in ((retrieved, "Hypothesis"), (reference, "Reference")):
        if not _words(text):
            raise InputError(f"{noun} is empty.", hint=f"There is no word in {text!r}.")
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
    """The recall; or, if `enough` is given, a value for which it returns the same.

    The words in common are the most that can be covered, so that most pairs are decided without any search.
    """
    shared = _words(reference) & _words(retrieved)
    most, total = len(shared), len(_words(reference))
    if most == 0:
        return 0.0
    if enough is not None and not enough(most / total):
        return most / total

    open_words = set(shared)
    for sentence in _sentences(reference):
        open_here = open_words.intersection(sentence)
        for other in _sentences(retrieved):
            if not open_here:
                break
            if open_here.isdisjoint(other):
                continue  # whatever is in common is covered already
            covered = common_words(sentence, other)
            open_here -= covered
            open_words -= covered
            if enough is not None and enough((most - len(open_words)) / total):
                return (most - len(open_words)) / total
    return (most - len(open_words)) / total


def common_words(reference: Sentence, retrieved: Sentence) -> set[str]:
    """The words of the longest common subsequence that the walk back from the end finds.

    >>> sorted(common_words(("the", "cat", "the", "dog"), ("the", "the", "the", "cat")))
    ['the']
    """
    if reference == retrieved:
        return set(reference)
    return {reference[i] for i, _ in _walk(reference, retrieved)}


def _walk(reference: Sentence, retrieved: Sentence) -> Iterator[tuple[int, int]]:
    """The positions (in reference, in retrieved) of the subsequence, from the end."""
    reference_words = set(reference)
    # A retrieved word that the reference lacks is only stepped over, and can be left out.
    positions = [j for j, word in enumerate(retrieved) if word in reference_words]
    mask_of = _masks([retrieved[j] for j in positions])
    all_bits = (1 << len(positions)) - 1
    if len(reference) <= STORED_ROWS:
        step = 1
    else:
        step = math.isqrt(len(reference))

    saved = [all_bits]
    for i, row in enumerate(_rows(all_bits, map(mask_of, reference), all_bits), 1):
        if i % step == 0:
            saved.append(row)

    i, open_bits = len(reference), all_bits
    rows, first = saved, 0
    if step > 1:
        rows, first = [], i + 1
    while i and open_bits:
        if i < first:
            first = (i - 1) // step * step + 1
            rows = list(_rows(saved[first // step], map(mask_of, reference[first - 1 : i]), all_bits))
        mask = mask_of(reference[i - 1])
        met = (mask | ~rows[i - first]) & open_bits
        bit = met.bit_length() - 1
        if bit < 0:
            return
        i -= 1
        if mask >> bit & 1:
            yield i, positions[bit]
            open_bits &= (1 << bit) - 1
        else:
            open_bits &= (2 << bit) - 1


def _rows(row: int, masks: Iterable[int], all_bits: int) -> Iterator[int]:
    """The row after each of the reference's words."""
    for mask in masks:
        if mask:
            row = (row + (row & mask) | row & ~mask) & all_bits
        yield row


def _masks(retrieved: Texts) -> Callable[[str], int]:
    """From a word to the bits of its positions."""
    if len(retrieved) <= STORED_ROWS:
        masks: dict[str, int] = {}
        for bit, word in enumerate(retrieved):
            masks[word] = masks.get(word, 0) | 1 << bit
        return lambda word: masks.get(word, 0)

    positions: dict[str, list[int]] = {}
    for bit, word in enumerate(retrieved):
        positions.setdefault(word, []).append(bit)

    @lru_cache(256)  # the masks of all words of a long text would not fit; the masks of frequent words do
    def mask(word: str) -> int:
        bits = bytearray(len(retrieved) // 8 + 1)
        for bit in positions.get(word, ()):
            bits[bit >> 3] |= 1 << (bit & 7)
        return int.from_bytes(bits, "little")

    return mask


class Rouge(PruningMatcher):
    """ROUGE-L recall of continuous-eval: the `rouge` package's, by sentences and sets of words."""

    name: ClassVar[str] = "rouge"
    says: ClassVar[str] = "ROUGE-L recall (rouge)"
    default_threshold: ClassVar[float | None] = 0.7

    def degrees(
        self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray, *, deciding: bool = False
    ) -> np.ndarray:
        threshold = self.threshold or 0

        def is_match(recall: float) -> bool:
            if self.inclusive:
                return recall > 0 and recall >= threshold
            return recall > threshold

        enough = None
        if deciding:
            enough = is_match

        def recall(i: int, j: int) -> float:
            return _recall(retrieved[i], references[j], enough)

        return np.fromiter(map(recall, left.tolist(), right.tolist()), np.float64, len(left))

    def marks(self, retrieved: str, reference: str) -> Stretches:
        chosen: set[tuple[int, int]] = set()
        for stretch in re.finditer(r"[^.]+", retrieved):
            where = [word.span() for word in _WORD.finditer(retrieved, *stretch.span())]
            other = tuple(stretch[0].split())
            for sentence in _sentences(reference):
                chosen.update(where[j] for _, j in _walk(sentence, other))
        return merged(retrieved, chosen)
