"""How many tokens pairs of texts have in common, in order or in any order, counted by rapidfuzz in all cores.

Each distinct token of the references becomes a character, so that a text becomes a string; tokens that no
reference has are left out, because they cannot be in common. What is common in any order is what is
common in order once both sides are sorted. Pairs are worked off in blocks, which bounds the memory.

In a long text the words of almost any sentence occur somewhere, in order. So a match must be found within a window of
2n + 4 words, where n is the number of words of the reference; windows begin every n / 2 words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence, Sized
from itertools import chain
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

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

Tokeniser = Callable[[str], Sequence[Hashable]]
"""From a text to its tokens."""

BLOCK_CHARACTERS = 50_000_000
"""The characters of the texts of all pairs in a block; a text counts in each of its pairs."""
CODES = 0x110000 - 0x800
"""The number of tokens that can be characters: all code points but surrogates."""
EXPENSIVE = 1 << 26
"""From this product of lengths on, the words of a pair are counted before its subsequence is searched."""
GROUP_PAIRS = 2_000
"""The most pairs that are coded together."""
THREADS_FROM = 2_000
"""The number of pairs from which on starting threads is worth it."""
SHOWN = 1 << 31
"""Up to this product of lengths a subsequence is searched to be shown; its table has a bit for each cell."""
SLACK = 1e-9
"""More than rounding can change a degree: what is below a threshold by this much is certainly below it."""


class TokenCounts(NamedTuple):
    """For each pair: the tokens in common, of the retrieved text and of the reference."""

    common: np.ndarray
    retrieved: np.ndarray
    reference: np.ndarray


def _blocks(retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> list[tuple[int, int]]:
    """Ranges of pairs whose texts fit together in memory."""
    return blocks(lengths_of(retrieved)[left] + lengths_of(references)[right], BLOCK_CHARACTERS)


def lengths_of(texts: Sequence[Sized]) -> np.ndarray:
    """The lengths of some texts, or of lists of tokens."""
    return np.fromiter(map(len, texts), np.int64, len(texts))


def _groups(left: np.ndarray, right: np.ndarray) -> list[tuple[int, int]]:
    """Ranges of pairs that share no text, so that each is coded by itself: the questions, mostly.

    Few codes are found faster than many. A range that is too long is cut all the same.
    """
    index = np.arange(len(left))
    reach = np.zeros(len(left), np.int64)
    for side in (left, right):
        last = np.zeros(int(side.max()) + 1, np.int64)
        np.maximum.at(last, side, index)
        np.maximum(reach, last[side], out=reach)
    natural = np.flatnonzero(np.maximum.accumulate(reach) == index) + 1

    groups = []
    for begin, end in between(natural[:-1], len(left)):
        groups += [(i, min(i + GROUP_PAIRS, end)) for i in range(begin, end, GROUP_PAIRS)]
    return groups


class _CodedPair(NamedTuple):
    """A retrieved text and a reference as strings of codes, or as numbers where there are more tokens than codes."""

    text: str | list[int]
    text_size: int
    """The number of tokens, with those that were left out."""
    reference: str | list[int]
    reference_size: int


def _code(
    retrieved: Texts, references: Texts, left: list[int], right: list[int], matcher: CountingMatcher
) -> list[_CodedPair]:
    reference_tokens = {j: matcher.tokens(references[j]) for j in dict.fromkeys(right)}
    distinct = dict.fromkeys(chain.from_iterable(reference_tokens.values()))
    pairs = zip(left, right, strict=True)
    if len(distinct) > CODES:
        return [_numbered(matcher.tokens(retrieved[i]), reference_tokens[j]) for i, j in pairs]

    codes = {token: _character(number) for number, token in enumerate(distinct)}
    arranged: Callable[[Iterable[str]], Iterable[str]] = iter
    if not matcher.ordered:
        arranged = sorted
    coded_references: dict[int, tuple[str, int]] = {}
    for j, tokens in reference_tokens.items():
        coded_references[j] = "".join(arranged(map(codes.__getitem__, tokens))), len(tokens)
    coded_texts: dict[int, tuple[str, int]] = {}
    for i in dict.fromkeys(left):
        tokens = matcher.tokens(retrieved[i])
        coded_texts[i] = "".join(arranged(filter(None, map(codes.get, tokens)))), len(tokens)

    return [_CodedPair(*coded_texts[i], *coded_references[j]) for i, j in pairs]


def _character(number: int) -> str:
    """The character that stands for a token; surrogates are passed over."""
    if number < 0xD800:
        return chr(number)
    return chr(number + 0x800)


def scored(
    texts: Any, references: Any, left: np.ndarray, right: np.ndarray, scorer: Callable[..., Any], dtype: type
) -> np.ndarray:
    """The scores of rapidfuzz for pairs of texts, which are looked up by number: in threads where that is worth it."""
    paired_texts = list(map(texts.__getitem__, left.tolist()))
    paired_references = list(map(references.__getitem__, right.tolist()))
    workers = 1
    if len(left) >= THREADS_FROM:
        workers = -1
    return np.asarray(cpdist(paired_texts, paired_references, scorer=scorer, dtype=dtype, workers=workers))


def _numbered(tokens: Sequence[Hashable], reference: Sequence[Hashable]) -> _CodedPair:
    number: dict[Hashable, int] = {}
    reference_numbers = [number.setdefault(token, len(number)) for token in reference]
    text_numbers = [number[token] for token in tokens if token in number]
    return _CodedPair(text_numbers, len(tokens), reference_numbers, len(reference))


def _counted(pairs: list[_CodedPair], matcher: CountingMatcher, lowest: float) -> TokenCounts:
    """The counts of every pair; one that cannot reach the `lowest` degree has nothing in common.

    In order, what is common is the longest common subsequence; else each token as often as it occurs in both.
    """

    def can_reach(most: TokenCounts) -> np.ndarray:
        return np.asarray(matcher.degree(most) >= lowest)

    texts, text_sizes, references, reference_sizes = zip(*pairs, strict=True)
    text_length, reference_length = lengths_of(texts), lengths_of(references)
    text_size, reference_size = np.array(text_sizes, np.int64), np.array(reference_sizes, np.int64)
    most = np.minimum(text_length, reference_length)
    open_pairs = (most > 0) & can_reach(TokenCounts(most, text_size, reference_size))
    numbered = np.fromiter((not isinstance(text, str) for text in references), bool, len(references))
    expensive = open_pairs & (numbered | (text_length * reference_length > EXPENSIVE))

    common = np.zeros(len(texts), np.int64)
    cheap = np.flatnonzero(open_pairs & ~expensive)
    if len(cheap):
        common[cheap] = scored(texts, references, cheap, cheap, LCSseq.similarity, np.int64)
    for i in np.flatnonzero(expensive).tolist():
        shared = Counter(texts[i]) & Counter(references[i])
        bound = np.array([shared.total()])
        if not matcher.ordered:
            common[i] = bound[0]
        elif can_reach(TokenCounts(bound, text_size[i : i + 1], reference_size[i : i + 1]))[0]:
            shared_in_text = [token for token in texts[i] if token in shared]
            shared_in_reference = [token for token in references[i] if token in shared]
            common[i] = LCSseq.similarity(shared_in_text, shared_in_reference)
    return TokenCounts(common, text_size, reference_size)


class CountingMatcher(PruningMatcher):
    """A matcher whose degree follows from how many tokens there are and how many are in common.

    `words` is a function of the user from a text to its tokens.
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
        """The tokens that are counted."""
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
        lowest = 0.0
        if deciding:
            lowest = (self.threshold or 0) - SLACK
        if lowest > 0:
            chosen = self._reachable(retrieved, references, left, right, lowest)
        else:
            chosen = np.arange(len(left))

        degrees = np.zeros(len(left))
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
                group = slice(begin + first, begin + after)
                pairs += _code(retrieved, references, left[group].tolist(), right[group].tolist(), self)
            parts.append(_counted(pairs, self, lowest))

        counts = TokenCounts(*map(np.concatenate, zip(*parts, strict=True)))
        degrees = self.degree(counts)
        if self.window is not None:
            # A window has no more in common than the whole text, so that only what passes without is looked at.
            if deciding:
                passing = self.enough(degrees)
            else:
                passing = degrees > 0
            is_long = counts.retrieved > size_of(counts.reference)
            chosen = np.flatnonzero(is_long & passing)
            degrees[chosen] = self._in_windows(retrieved, references, left[chosen], right[chosen])

        bare = np.flatnonzero(counts.reference == 0)
        if len(bare) and self.folds:
            degrees[bare] = by_characters(retrieved, references, left[bare], right[bare])

        return degrees

    def _in_windows(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Degrees by the best window of each text."""
        text_tokens = {i: self.tokens(retrieved[i]) for i in np.unique(left).tolist()}
        reference_tokens = {j: self.tokens(references[j]) for j in np.unique(right).tolist()}
        lines = {}
        if not self.words:
            lines = {i: _line(tokens) for i, tokens in text_tokens.items()}

        def in_common(i: int, j: int) -> int:
            if i in lines and _line(reference_tokens[j]) in lines[i]:
                return len(reference_tokens[j])  # word for word, as most quotations
            return best_windows(text_tokens[i], reference_tokens[j], ordered=self.ordered, tight=False).common

        common = np.array(list(map(in_common, left.tolist(), right.tolist())), np.int64)
        text_sizes = np.array([len(text_tokens[i]) for i in left.tolist()], np.int64)
        reference_sizes = np.array([len(reference_tokens[j]) for j in right.tolist()], np.int64)
        return self.degree(TokenCounts(common, text_sizes, reference_sizes))

    def stretches(self, retrieved: str, reference: str) -> Stretches:
        text, part = retrieved, reference
        if self.parts_of_reference:
            text, part = reference, retrieved
        where = self.spans(text)
        if not where:  # tokens of a user's function, whose positions are not known
            return word_stretches(text, part, ordered=self.ordered)
        tokens = TextTokens(self.tokens(text), where)
        return stretches_of(text, tokens, self.tokens(part), ordered=self.ordered, windowed=self.window is not None)

    def marks(self, retrieved: str, reference: str) -> Stretches:
        where = self.spans(retrieved)
        if not where:
            return []
        tokens, reference_tokens = self.tokens(retrieved), self.tokens(reference)
        first, past = 0, len(tokens)
        if self.window is not None and len(tokens) > size_of(len(reference_tokens)):
            windows = best_windows(tokens, reference_tokens, ordered=self.ordered).stretches
            if not windows:
                return []
            first, past = windows[0]
        chosen = common_positions(tokens[first:past], reference_tokens, ordered=self.ordered)
        return merged(retrieved, (where[first + i] for i in chosen))


class TextTokens(NamedTuple):
    """The tokens of a text, and where each of them stands."""

    tokens: Sequence[Hashable]
    where: Stretches


def word_stretches(text: str, part: str, *, ordered: bool) -> Stretches:
    """The parts of a text that have most words of another text: guards look at these, whatever the matcher counts."""
    return stretches_of(text, TextTokens(words(text), spans(text)), words(part), ordered=ordered, windowed=False)


def stretches_of(
    text: str, text_tokens: TextTokens, part: Sequence[Hashable], *, ordered: bool, windowed: bool
) -> Stretches:
    """The tight stretches of the best windows; if no window is needed and none has as much, of the whole text."""
    tokens, where = text_tokens
    if not where or not part or len(where) * len(part) > SHOWN >> 2:
        return [(0, len(text))]

    best = best_windows(tokens, part, ordered=ordered)
    if not windowed and len(tokens) > size_of(len(part)):
        best_of_text = best_windows(tokens, part, ordered=ordered, one_window=True)
        if best_of_text.common > best.common:
            best = best_of_text
    return [(where[first][0], where[past - 1][1]) for first, past in best.stretches] or [(0, len(text))]


def _line(tokens: Sequence[Hashable]) -> str:
    return f" {' '.join(cast(Sequence[str], tokens))} "


def common_positions(retrieved: Sequence[Hashable], reference: Sequence[Hashable], *, ordered: bool) -> list[int]:
    """Which tokens of the retrieved text are in common: one longest subsequence, or the first of each.

    Where the table of the subsequences would be too large, the order is left out of account.
    """
    left = Counter(reference)
    positions = [i for i, token in enumerate(retrieved) if token in left]
    chosen: list[int] = []
    if ordered:
        number = {token: code for code, token in enumerate(left)}
        present = {retrieved[i] for i in positions}
        text_codes = [number[retrieved[i]] for i in positions]
        reference_codes = [number[token] for token in reference if token in present]
        if len(text_codes) * len(reference_codes) <= SHOWN:
            for step in LCSseq.opcodes(text_codes, reference_codes):
                if step.tag == "equal":
                    chosen += positions[step.src_start : step.src_end]
            return chosen

    for i in positions:
        if left[retrieved[i]]:
            left[retrieved[i]] -= 1
            chosen.append(i)
    return chosen


def share(part: np.ndarray, total: np.ndarray) -> np.ndarray:
    """part / total, and 0 where the total is 0."""
    return np.asarray(np.divide(part, total, out=np.zeros(len(part)), where=total > 0))


def recall(counts: TokenCounts) -> np.ndarray:
    """The share of the reference's tokens that are in common."""
    return share(counts.common, counts.reference)


def precision(counts: TokenCounts) -> np.ndarray:
    """The share of the retrieved text's tokens that are in common."""
    return share(counts.common, counts.retrieved)


def f1(counts: TokenCounts) -> np.ndarray:
    """The harmonic mean of recall and precision."""
    return share(2 * counts.common, counts.retrieved + counts.reference)


MOST_TIES = 8
"""The most windows that are looked at if they are equally like the reference."""


class BestWindows(NamedTuple):
    """How many words the best window has in common with the reference, and the stretches in which it has them."""

    common: int
    stretches: list[tuple[int, int]]
    """First word and one past the last: windows shrunk from the right, then left, while they keep as many."""


Size = TypeVar("Size", int, np.ndarray)


def size_of(reference: Size) -> Size:
    """The number of words in a window for a reference with a number of words."""
    return 2 * reference + 4


def best_windows(
    tokens: Sequence[Hashable],
    reference: Sequence[Hashable],
    *,
    ordered: bool,
    one_window: bool = False,
    tight: bool = True,
) -> BestWindows:
    """The windows that have most words in common with the reference; with `one_window`, the text is one window."""
    code = {token: _character(i) for i, token in enumerate(dict.fromkeys(reference[:CODES]))}
    coded = list(map(code.get, tokens))
    positions = [i for i, letter in enumerate(coded) if letter is not None]
    text = "".join(filter(None, coded))
    needle = "".join(code[token] for token in reference if token in code)
    if not ordered:
        needle = "".join(sorted(needle))

    width, last_begin = size_of(len(reference)), max(len(tokens) - size_of(len(reference)), 0)
    if one_window:
        width, last_begin = len(tokens), 0
    step = max(len(reference) // 2, 1)
    windows: dict[tuple[int, int], None] = {}
    for begin in range(0, -(-last_begin // step) * step + 1, step):
        windows.setdefault((bisect_left(positions, begin), bisect_left(positions, begin + width)))

    def common(first: int, past: int) -> int:
        part = text[first:past]
        if not ordered:
            part = "".join(sorted(part))
        return int(LCSseq.similarity(part, needle))

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
    if not tight:
        return BestWindows(best, [])

    stretches: dict[tuple[int, int], None] = {}
    for first, past in sorted(tied):
        start, end = _shrunk(first, past, best, common)
        stretches.setdefault((positions[start], positions[end - 1] + 1))
    return BestWindows(best, list(stretches))


def _shrunk(first: int, past: int, best: int, common: Callable[[int, int], int]) -> tuple[int, int]:
    """A window that lost words at its end, then at its beginning, and still has as many in common."""
    low_end, end = first + best, past  # the fewest words that can hold as many
    while low_end < end:
        middle = (low_end + end) // 2
        if common(first, middle) == best:
            end = middle
        else:
            low_end = middle + 1

    start, high_start = first, end - best
    while start < high_start:
        middle = (start + high_start + 1) // 2
        if common(middle, end) == best:
            start = middle
        else:
            high_start = middle - 1
    return start, end
