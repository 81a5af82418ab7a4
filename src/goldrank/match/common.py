"""How many tokens pairs of texts have in common, in order or in any order, counted by rapidfuzz in all cores.

Each distinct token of the references becomes a character, so that a text becomes a string; tokens that no
reference has are left out, as they can be in nothing that is common. What is common in any order is what is
common in order once both sides are sorted. Pairs are worked off in blocks, which bounds the memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from goldrank.match.matcher import Marks, Matcher
from goldrank.match.tokens import Spans, merged, spans, words

Cut = Callable[[str], Sequence[Hashable]]
"""From a text to its tokens."""

BLOCK_CHARACTERS = 50_000_000
"""Of the texts of all pairs in a block, each text counted in each of its pairs."""
CODES = 0x110000 - 0x800
"""How many tokens can be told apart as characters: all but surrogates."""
DEAR = 1 << 26
"""From this product of lengths on, a pair is looked at more closely before its subsequence is searched."""
THREADS_FROM = 2_000
"""Pairs that are worth the start of threads."""
SHOWN = 1 << 31
"""Up to this product of lengths a subsequence is searched to be shown; its table has a bit for each cell."""
SLACK = 1e-9
"""More than rounding can make of a degree, so that what falls short of a threshold by it certainly does."""


@dataclass(frozen=True)
class Counts:
    """For each pair: the tokens in common, of the retrieved text and of the reference."""

    common: np.ndarray
    retrieved: np.ndarray
    reference: np.ndarray


Hopeful = Callable[[Counts], np.ndarray]
"""Which pairs could still match if they had this much in common."""


def in_common(
    retrieved: Sequence[str],
    references: Sequence[str],
    left: np.ndarray,
    right: np.ndarray,
    cut: Cut,
    *,
    ordered: bool,
    hopeful: Hopeful | None = None,
) -> Counts:
    """The counts of every pair; a pair that is not hopeful has nothing in common.

    In order, this is the length of the longest common subsequence; else each token counts as often as it
    occurs in both.
    """
    parts = []
    for begin, end in _blocks(retrieved, references, left, right):
        here = slice(begin, end)
        parts += _block(retrieved, references, left[here], right[here], cut, ordered, hopeful)
    return Counts(
        *(
            np.concatenate([np.empty(0, np.int64), *(getattr(part, column) for part in parts)])
            for column in ("common", "retrieved", "reference")
        )
    )


def _blocks(
    retrieved: Sequence[str], references: Sequence[str], left: np.ndarray, right: np.ndarray
) -> list[tuple[int, int]]:
    ours = np.fromiter(map(len, retrieved), np.int64, len(retrieved))
    theirs = np.fromiter(map(len, references), np.int64, len(references))
    seen = np.cumsum(ours[left] + theirs[right])
    inner = np.flatnonzero(np.diff(seen // BLOCK_CHARACTERS)) + 1
    edges = [0, *inner.tolist(), len(left)]
    return [(begin, end) for begin, end in pairwise(edges) if begin < end]


class _Codes(dict[Hashable, str]):
    """A character for each token, given when it is first asked for."""

    def __missing__(self, token: Hashable) -> str:
        code = self[token] = _character(len(self))
        return code


class _Known(dict[Hashable, str]):
    """The characters that were given, and nothing for other tokens."""

    def __missing__(self, token: Hashable) -> str:
        return ""


def _character(number: int) -> str:
    return chr(number if number < 0xD800 else number + 0x800)


def _block(
    retrieved: Sequence[str],
    references: Sequence[str],
    left: np.ndarray,
    right: np.ndarray,
    cut: Cut,
    ordered: bool,
    hopeful: Hopeful | None,
) -> list[Counts]:
    wanted, their_place = np.unique(right, return_inverse=True)
    tokens = [cut(references[i]) for i in wanted.tolist()]
    if sum(map(len, tokens)) > CODES and len({token for one in tokens for token in one}) > CODES:
        if len(wanted) == 1:
            return [_uncoded(retrieved, left, tokens[0], cut, ordered)]
        # Too many tokens for one numbering: half of the references at a time.
        lower = their_place < len(wanted) // 2
        halves = [
            _block(retrieved, references, left[chosen], right[chosen], cut, ordered, hopeful)
            for chosen in (lower, ~lower)
        ]
        order = np.argsort(np.concatenate([np.flatnonzero(lower), np.flatnonzero(~lower)]))
        return [
            Counts(
                *(
                    np.concatenate([getattr(part, column) for half in halves for part in half])[order]
                    for column in ("common", "retrieved", "reference")
                )
            )
        ]
    order_of = _in_order if ordered else _sorted
    codes = _Codes()
    theirs = [order_of(map(codes.__getitem__, one)) for one in tokens]
    their_size = np.fromiter(map(len, tokens), np.int64, len(tokens))
    del tokens
    known = _Known(codes)
    needed, our_place = np.unique(left, return_inverse=True)
    ours: list[str] = []
    our_size = np.empty(len(needed), np.int64)
    for at, i in enumerate(needed.tolist()):
        found = cut(retrieved[i])
        our_size[at] = len(found)
        ours.append(order_of(map(known.__getitem__, found)))
    return [_counted(ours, theirs, our_place, their_place, our_size, their_size, ordered, hopeful)]


def _in_order(characters: Any) -> str:
    return "".join(characters)


def _sorted(characters: Any) -> str:
    return "".join(sorted(characters))


def _counted(
    ours: list[str],
    theirs: list[str],
    left: np.ndarray,
    right: np.ndarray,
    our_size: np.ndarray,
    their_size: np.ndarray,
    ordered: bool,
    hopeful: Hopeful | None,
) -> Counts:
    our_length = np.fromiter(map(len, ours), np.int64, len(ours))[left]
    their_length = their_size[right]
    most = Counts(np.minimum(our_length, their_length), our_size[left], their_length)
    common = np.zeros(len(left), np.int64)
    tried = most.common > 0
    if hopeful is not None:
        tried &= hopeful(most)
    dear = tried & (our_length * their_length > DEAR)
    cheap = np.flatnonzero(tried & ~dear)
    if len(cheap):
        common[cheap] = cpdist(
            [ours[i] for i in left[cheap].tolist()],
            [theirs[i] for i in right[cheap].tolist()],
            scorer=LCSseq.similarity,
            dtype=np.int64,
            workers=-1 if len(cheap) >= THREADS_FROM else 1,
        )
    for i in np.flatnonzero(dear).tolist():
        mine, other = ours[left[i]], theirs[right[i]]
        shared = Counter(mine) & Counter(other)
        bound = Counts(np.array([shared.total()]), most.retrieved[i : i + 1], most.reference[i : i + 1])
        if not ordered:
            common[i] = shared.total()
        elif hopeful is None or hopeful(bound)[0]:
            keep = shared.__contains__
            common[i] = LCSseq.similarity("".join(filter(keep, mine)), "".join(filter(keep, other)))
    return Counts(common, most.retrieved, most.reference)


def _uncoded(
    retrieved: Sequence[str], left: np.ndarray, reference: Sequence[Hashable], cut: Cut, ordered: bool
) -> Counts:
    """One reference that has more distinct tokens than there are characters: its tokens as numbers."""
    number: dict[Hashable, int] = {}
    theirs = [number.setdefault(token, len(number)) for token in reference]
    known: dict[int, tuple[int, int]] = {}
    for i in set(left.tolist()):
        tokens = cut(retrieved[i])
        ours = [number[token] for token in tokens if token in number]
        if ordered:
            present = set(ours)
            common = LCSseq.similarity(ours, [code for code in theirs if code in present])
        else:
            common = (Counter(ours) & Counter(theirs)).total()
        known[i] = common, len(tokens)
    found = np.array([known[i] for i in left.tolist()], np.int64).reshape(-1, 2)
    return Counts(found[:, 0], found[:, 1], np.full(len(left), len(reference), np.int64))


class Counting(Matcher):
    """A matcher whose degree follows from how many tokens there are and how many are in common.

    `words` is one's own function from a text to its tokens.
    """

    ordered: ClassVar[bool]
    """Whether the tokens in common are in the same order, or in any."""

    def __init__(self, threshold: float | None = None, *, inclusive: bool = True, words: Cut | None = None) -> None:
        super().__init__(threshold, inclusive=inclusive)
        self.words = words

    def __str__(self) -> str:
        spelled = super().__str__()
        return f"{spelled} by {getattr(self.words, '__name__', 'own words')}" if self.words else spelled

    def tokens(self, text: str) -> Sequence[Hashable]:
        """What is counted."""
        return (self.words or words)(text)

    def spans(self, text: str) -> Spans:
        """Where each of the tokens stands; empty where that is not known."""
        return [] if self.words else spans(text)

    def degree(self, counts: Counts) -> np.ndarray:
        """From 0 to 1, and 0 where one side has no tokens. It never falls where more is in common."""
        raise NotImplementedError

    def degrees(
        self, retrieved: Sequence[str], references: Sequence[str], left: np.ndarray, right: np.ndarray
    ) -> np.ndarray:
        return self.degree(in_common(retrieved, references, left, right, self.tokens, ordered=self.ordered))

    def decide(
        self, retrieved: Sequence[str], references: Sequence[str], left: np.ndarray, right: np.ndarray
    ) -> np.ndarray:
        threshold = self.threshold or 0

        def hopeful(most: Counts) -> np.ndarray:
            return np.asarray(self.degree(most) >= threshold - SLACK)

        return self.enough(
            self.degree(
                in_common(retrieved, references, left, right, self.tokens, ordered=self.ordered, hopeful=hopeful)
            )
        )

    def marks(self, retrieved: str, reference: str) -> Marks:
        where = self.spans(retrieved)
        if not where:
            return []
        chosen = common_positions(self.tokens(retrieved), self.tokens(reference), ordered=self.ordered)
        return merged(retrieved, (where[i] for i in chosen))


def common_positions(retrieved: Sequence[Hashable], reference: Sequence[Hashable], *, ordered: bool) -> list[int]:
    """Which tokens of the retrieved text are in common: one longest subsequence, or the first of each.

    Where the table of the subsequences would be too large, the order is left out of account.
    """
    wanted = Counter(reference)
    kept = [i for i, token in enumerate(retrieved) if token in wanted]
    if ordered:
        number = {token: code for code, token in enumerate(wanted)}
        present = {retrieved[i] for i in kept}
        ours = [number[retrieved[i]] for i in kept]
        theirs = [number[token] for token in reference if token in present]
        if len(ours) * len(theirs) <= SHOWN:
            same = (step for step in LCSseq.opcodes(ours, theirs) if step.tag == "equal")
            return [kept[at] for step in same for at in range(step.src_start, step.src_end)]
    chosen = []
    for i in kept:
        if wanted[retrieved[i]]:
            wanted[retrieved[i]] -= 1
            chosen.append(i)
    return chosen


def share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, and 0 where there is no whole."""
    return np.asarray(np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0))
