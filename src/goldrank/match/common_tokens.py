"""How many tokens pairs of texts have in common, in order or in any order, counted by rapidfuzz in all cores.

Each distinct token of the references becomes a character, so that a text becomes a string; tokens that no
reference has are left out, as they can be in nothing that is common. What is common in any order is what is
common in order once both sides are sorted. Pairs are worked off in blocks, which bounds the memory.

In a long text the words of almost any sentence occur somewhere, in order. So a match must be found within a window of
2n + 4 words, n being those of the reference; windows begin every n / 2 words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from goldrank.base.packages import needed
from goldrank.data.text_item import Texts
from goldrank.match.exact import by_characters
from goldrank.match.guards import DEFAULT as DEFAULT_GUARDS
from goldrank.match.matcher import PruningMatcher
from goldrank.match.reachable import between, blocks, bounds
from goldrank.match.tokens import Stretches, line, merged, spans, words

with needed("rapidfuzz"):
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cpdist
from bisect import bisect_left
from typing import TypeVar

from goldrank.base.packages import needed

with needed("rapidfuzz"):
    from rapidfuzz.distance import LCSseq

Tokeniser = Callable[[str], Sequence[Hashable]]
"""From a text to its tokens."""

BLOCK_CHARACTERS = 50_000_000
"""Of the texts of all pairs in a block, each text counted in each of its pairs."""
CODES = 0x110000 - 0x800
"""How many tokens can be told apart as characters: all but surrogates."""
EXPENSIVE = 1 << 26
"""From this product of lengths on, the words of a pair are counted before its subsequence is searched."""
GROUP_PAIRS = 2_000
"""Pairs that are coded together at most."""
THREADS_FROM = 2_000
"""Pairs that are worth the start of threads."""
SHOWN = 1 << 31
"""Up to this product of lengths a subsequence is searched to be shown; its table has a bit for each cell."""
SLACK = 1e-9
"""More than rounding can make of a degree, so that what falls short of a threshold by it certainly does."""


class TokenCounts(NamedTuple):
    """For each pair: the tokens in common, of the retrieved text and of the reference."""

    common: np.ndarray
    retrieved: np.ndarray
    reference: np.ndarray


def _blocks(retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> list[tuple[int, int]]:
    """Stretches of pairs whose texts fit together in memory."""
    ours, theirs = (np.fromiter(map(len, side), np.int64, len(side)) for side in (retrieved, references))
    return blocks(ours[left] + theirs[right], BLOCK_CHARACTERS)


def _groups(left: np.ndarray, right: np.ndarray) -> list[tuple[int, int]]:
    """Stretches of pairs that share no text, so that each is coded by itself: the questions, mostly.

    Few codes are found faster than many. A stretch that is too long is cut all the same.
    """
    at = np.arange(len(left))
    reach = np.zeros(len(left), np.int64)
    for side in (left, right):
        last = np.zeros(int(side.max()) + 1, np.int64)
        np.maximum.at(last, side, at)
        np.maximum(reach, last[side], out=reach)
    natural = np.flatnonzero(np.maximum.accumulate(reach) == at) + 1
    edges = between(natural[:-1], len(left))
    return [(i, min(i + GROUP_PAIRS, end)) for begin, end in edges for i in range(begin, end, GROUP_PAIRS)]


_CodedPair = tuple[str | list[int], int, str | list[int], int]
"""Retrieved text and reference as strings of codes, or as numbers where there are more tokens than codes, each with
how many tokens it has, with those that were left out."""


def _code(
    retrieved: Texts, references: Texts, left: list[int], right: list[int], matcher: CountingMatcher
) -> list[_CodedPair]:
    wanted = {j: matcher.tokens(references[j]) for j in dict.fromkeys(right)}
    distinct = dict.fromkeys(chain.from_iterable(wanted.values()))
    if len(distinct) > CODES:
        return [_numbered(matcher.tokens(retrieved[i]), wanted[j]) for i, j in zip(left, right, strict=True)]

    codes = dict(zip(distinct, map(chr, chain(range(0xD800), range(0xE000, 0x110000))), strict=False))
    arranged = iter if matcher.ordered else sorted
    theirs = {j: ("".join(arranged(map(codes.__getitem__, tokens))), len(tokens)) for j, tokens in wanted.items()}
    ours: dict[int, tuple[str, int]] = {}
    for i in dict.fromkeys(left):
        tokens = matcher.tokens(retrieved[i])
        ours[i] = "".join(arranged(filter(None, map(codes.get, tokens)))), len(tokens)

    return [ours[i] + theirs[j] for i, j in zip(left, right, strict=True)]


def scored(
    ours: Any, theirs: Any, left: np.ndarray, right: np.ndarray, scorer: Callable[..., Any], dtype: type
) -> np.ndarray:
    """What rapidfuzz says of pairs of texts, which are looked up by number: in threads where that is worth it."""
    texts = (list(map(side.__getitem__, which.tolist())) for side, which in ((ours, left), (theirs, right)))
    return np.asarray(cpdist(*texts, scorer=scorer, dtype=dtype, workers=-1 if len(left) >= THREADS_FROM else 1))


def _numbered(tokens: Sequence[Hashable], wanted: Sequence[Hashable]) -> _CodedPair:
    number: dict[Hashable, int] = {}
    theirs = [number.setdefault(token, len(number)) for token in wanted]
    return [number[token] for token in tokens if token in number], len(tokens), theirs, len(wanted)


def _counted(pairs: list[_CodedPair], matcher: CountingMatcher, lowest: float) -> TokenCounts:
    """The counts of every pair; one that cannot reach the `lowest` degree has nothing in common.

    In order, what is common is the longest common subsequence; else each token as often as it occurs in both.
    """

    def can_reach(most: TokenCounts) -> np.ndarray:
        return np.asarray(matcher.degree(most) >= lowest)

    ours, our_sizes, theirs, their_sizes = zip(*pairs, strict=True)
    our_length, their_length = (np.fromiter(map(len, side), np.int64, len(side)) for side in (ours, theirs))
    our_size, their_size = np.array(our_sizes, np.int64), np.array(their_sizes, np.int64)
    common = np.zeros(len(ours), np.int64)
    most = np.minimum(our_length, their_length)
    open_pairs = (most > 0) & can_reach(TokenCounts(most, our_size, their_size))
    numbered = np.fromiter((not isinstance(text, str) for text in theirs), bool, len(theirs))
    expensive = open_pairs & (numbered | (our_length * their_length > EXPENSIVE))
    cheap = np.flatnonzero(open_pairs & ~expensive)
    if len(cheap):
        common[cheap] = scored(ours, theirs, cheap, cheap, LCSseq.similarity, np.int64)
    for i in np.flatnonzero(expensive).tolist():
        shared = Counter(ours[i]) & Counter(theirs[i])
        bound = np.array([shared.total()])
        if not matcher.ordered:
            common[i] = bound[0]
        elif can_reach(TokenCounts(bound, our_size[i : i + 1], their_size[i : i + 1]))[0]:
            shared_tokens = ([token for token in side if token in shared] for side in (ours[i], theirs[i]))
            common[i] = LCSseq.similarity(*shared_tokens)
    return TokenCounts(common, our_size, their_size)


class CountingMatcher(PruningMatcher):
    """A matcher whose degree follows from how many tokens there are and how many are in common.

    `words` is one's own function from a text to its tokens.
    """

    ordered: ClassVar[bool]
    """Whether the tokens in common are in the same order, or in any."""
    folds = True
    default_guards: ClassVar[tuple[str, ...]] = DEFAULT_GUARDS
    window: str | None = None
    """Whether tokens in common are counted in the best window (`best_windows`), or in the whole text (None)."""

    def __init__(
        self,
        threshold: float | None = None,
        *,
        inclusive: bool = True,
        words: Tokeniser | None = None,
        guards: Iterable[str] | None = None,
    ) -> None:
        super().__init__(threshold, inclusive=inclusive, guards=guards)
        self.words = words

    def __str__(self) -> str:
        spelled = super().__str__()
        if self.words:
            return f"{spelled} by {getattr(self.words, '__name__', 'own words')}"
        return spelled

    def tokens(self, text: str) -> Sequence[Hashable]:
        """What is counted."""
        return (self.words or words)(text)

    has_line: ClassVar[bool] = True
    """Whether `line` gives the tokens."""

    @staticmethod
    def line(text: str) -> bytes:
        """The tokens of a text as bytes with blanks between them."""
        return line(text)

    def spans(self, text: str) -> Stretches:
        """Where each of the tokens stands; empty where that is not known."""
        if self.words:
            return []
        return spans(text)

    @staticmethod
    def degree(counts: TokenCounts) -> np.ndarray:
        """From 0 to 1, and 0 where one side has no tokens. It never falls where more is in common."""
        raise NotImplementedError

    def degrees(
        self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray, *, deciding: bool = False
    ) -> np.ndarray:
        lowest = (self.threshold or 0) - SLACK if deciding else 0
        degrees = np.zeros(len(left))
        chosen = self._reachable(retrieved, references, left, right, lowest) if lowest > 0 else np.arange(len(left))
        degrees[chosen] = self._measured(retrieved, references, left[chosen], right[chosen], lowest, deciding)
        return degrees

    def _reachable(
        self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray, lowest: float
    ) -> np.ndarray:
        """Which pairs can reach the lowest degree, as far as that is seen without cutting texts into words."""
        if self.words or not self.has_line:
            return np.arange(len(left))

        most = bounds(retrieved, references, left, right, self.line)
        reach = self.degree(TokenCounts(most.common, most.retrieved, most.reference)) >= lowest
        return np.flatnonzero(reach | (most.reference == 0))

    def _measured(
        self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray, lowest: float, deciding: bool
    ) -> np.ndarray:
        parts = [TokenCounts(*np.empty((3, 0), np.int64))]
        for begin, end in _blocks(retrieved, references, left, right):
            pairs: list[_CodedPair] = []
            for first, after in _groups(left[begin:end], right[begin:end]):
                here = slice(begin + first, begin + after)
                pairs += _code(retrieved, references, left[here].tolist(), right[here].tolist(), self)
            parts.append(_counted(pairs, self, lowest))

        counts = TokenCounts(*map(np.concatenate, zip(*parts, strict=True)))
        degrees = self.degree(counts)
        if self.window is not None:
            # A window has no more in common than the whole text, so that only what passes without is looked at.
            long = counts.retrieved > size_of(counts.reference)
            chosen = np.flatnonzero(long & (self.enough(degrees) if deciding else degrees > 0))
            degrees[chosen] = self._in_windows(retrieved, references, left[chosen], right[chosen])

        bare = np.flatnonzero(counts.reference == 0)
        if len(bare) and self.folds:
            degrees[bare] = by_characters(retrieved, references, left[bare], right[bare])

        return degrees

    def _in_windows(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Degrees by the best window of each text."""
        ours = {i: self.tokens(retrieved[i]) for i in np.unique(left).tolist()}
        theirs = {j: self.tokens(references[j]) for j in np.unique(right).tolist()}

        lines = {} if self.words else {i: _line(tokens) for i, tokens in ours.items()}

        def in_common(i: int, j: int) -> int:
            if i in lines and _line(theirs[j]) in lines[i]:
                return len(theirs[j])  # word for word, as most quotations
            return best_windows(ours[i], theirs[j], ordered=self.ordered, tight=False).common

        common = list(map(in_common, left.tolist(), right.tolist()))
        sizes = (
            np.array([len(side[at]) for at in which.tolist()], np.int64)
            for side, which in ((ours, left), (theirs, right))
        )
        return self.degree(TokenCounts(np.array(common, np.int64), *sizes))

    def stretches(self, retrieved: str, reference: str) -> Stretches:
        text, part = (reference, retrieved) if self.parts_of_reference else (retrieved, reference)
        where = self.spans(text)
        if not where:  # tokens of one's own, of which nobody knows where they stand
            return word_stretches(text, part, ordered=self.ordered)
        tokens = TextTokens(self.tokens(text), where)
        return stretches_of(text, tokens, self.tokens(part), ordered=self.ordered, windowed=self.window is not None)

    def marks(self, retrieved: str, reference: str) -> Stretches:
        where = self.spans(retrieved)
        if not where:
            return []
        tokens, wanted = self.tokens(retrieved), self.tokens(reference)
        first, past = 0, len(tokens)
        if self.window is not None and len(tokens) > size_of(len(wanted)):
            windows = best_windows(tokens, wanted, ordered=self.ordered).stretches
            first, past = windows[0] if windows else (0, 0)
        chosen = common_positions(tokens[first:past], wanted, ordered=self.ordered)
        return merged(retrieved, (where[first + i] for i in chosen))


class TextTokens(NamedTuple):
    """The tokens of a text, and where each of them stands."""

    tokens: Sequence[Hashable]
    where: Stretches


def word_stretches(text: str, part: str, *, ordered: bool) -> Stretches:
    """The parts of a text that have most words of another text: what guards look at, whatever the matcher counts."""
    return stretches_of(text, TextTokens(words(text), spans(text)), words(part), ordered=ordered, windowed=False)


def stretches_of(text: str, given: TextTokens, part: Sequence[Hashable], *, ordered: bool, windowed: bool) -> Stretches:
    """The tight stretches of the best windows; of matches that need no window, all of it if no window has as much."""
    tokens, where = given
    if not where or not part or len(where) * len(part) > SHOWN >> 2:
        return [(0, len(text))]

    best = best_windows(tokens, part, ordered=ordered)
    if not windowed and len(tokens) > size_of(len(part)):
        whole = best_windows(tokens, part, ordered=ordered, whole=True)
        if whole.common > best.common:
            best = whole
    return [(where[first][0], where[past - 1][1]) for first, past in best.stretches] or [(0, len(text))]


def _line(tokens: Sequence[Hashable]) -> str:
    return f" {' '.join(cast(Sequence[str], tokens))} "


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


def recall(counts: TokenCounts) -> np.ndarray:
    """The share of the reference's tokens that are in common."""
    return share(counts.common, counts.reference)


def precision(counts: TokenCounts) -> np.ndarray:
    """The share of the retrieved text's tokens that are in common."""
    return share(counts.common, counts.retrieved)


def f1(counts: TokenCounts) -> np.ndarray:
    """The harmonic mean of both."""
    return share(2 * counts.common, counts.retrieved + counts.reference)


MOST_TIES = 8
"""Windows that are equally like the reference and looked at."""


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
    code = {token: chr(i if i < 0xD800 else i + 0x800) for i, token in enumerate(dict.fromkeys(reference[:CODES]))}
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
    tied: list[tuple[int, int]] = []
    for first, past in sorted(windows, key=lambda window: window[0] - window[1]):
        if past - first < max(best, 1):
            break
        number = common(first, past)
        if number > best:
            best, tied = number, []
        if number == best and number and len(tied) < MOST_TIES:
            tied.append((first, past))
    stretches: list[tuple[int, int]] = []
    for first, past in sorted(tied) if tight else ():
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
