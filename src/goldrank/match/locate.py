"""Where a quotation, or a retrieved text, stands in its source: in characters of the source as it is.

Ways are tried from strict to lenient: the text as it is; folded (`folding.fold`); without white space; letters and
digits alone; and approximately (`seeds.py`, and for quotations the fewest changed letters). Folding keeps for each
character where it came from, so that what is found is always a stretch of the source itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from goldrank.base.packages import needed
from goldrank.data.text_item import Located, Span
from goldrank.match.folding import FoldedText, code_points, fold
from goldrank.match.seeds import JoinedStretch, SeedIndex

SIMILARITY = 0.9
"""The usual similarity that a stretch must have to count as an approximate quotation."""

WAYS = ("exact", "folded", "joined", "letters", "approximate")
"""How a text can be found, from strict to lenient; "joined" is without white space, "letters" without punctuation."""

FEWEST_LETTERS = 16
"""The number of letters from which on the punctuation of a text does not matter: 3.5 is not 35."""
_FIRST_UNSPACED = 0x0E00
"""Thai is the first of the scripts that do not put blanks between words."""


class Location(NamedTuple):
    """Where a text was found."""

    places: tuple[tuple[int, int], ...]
    """First character and one past the last, ascending, not overlapping."""
    way: str
    """One of `WAYS`."""
    similarity: float = 1.0
    """The share of characters that need no change."""


class SourceText:
    """A text in which others are looked for; it is folded once."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def folded(self) -> FoldedText:
        """The text as it is compared."""
        return FoldedText.of(self.text)

    def find(self, quotation: str, *, similarity: float | None = SIMILARITY, words: bool = False) -> Location | None:
        """Where a quotation stands, by the first way that finds it; None if none does.

        With `similarity=None` no letter may be changed. With `words`, stretches that begin or end within a word count
        only if there is no other. An approximate stretch is the most similar one.
        """
        if not quotation.strip():
            return None
        for way, occurrences in self._ways(quotation):
            places = tuple(occurrences)
            if words:
                places = tuple(place for place in places if not self._cuts_a_word(place)) or places
            if places:
                return Location(places, way)
        if similarity is None:
            return None
        return self._approximate(quotation, similarity)

    def _ways(self, quotation: str) -> Iterator[tuple[str, Iterable[tuple[int, int]]]]:
        yield "exact", _occurrences(self.text, quotation)
        needle = fold(quotation)
        if needle:
            yield "folded", places(self.folded, needle)
            yield "joined", places(self.folded.joined, needle.replace(" ", ""))
        letters = "".join(filter(str.isalnum, needle))
        if len(letters) >= FEWEST_LETTERS:
            yield "letters", places(self.folded.letters, letters)

    def _cuts_a_word(self, place: tuple[int, int]) -> bool:
        return any(self._is_inside_word(edge) for edge in place)

    def _is_inside_word(self, index: int) -> bool:
        """Whether an index lies between two letters of a script that puts blanks between words."""
        if not 0 < index < len(self.text):
            return False
        around = self.text[index - 1 : index + 1]
        return all(letter.isalnum() and ord(letter) < _FIRST_UNSPACED for letter in around)

    def nearest_place(self, quotation: str) -> Location | None:
        """The stretch that is most like a quotation, however little that is."""
        return self._approximate(quotation, 0.0)

    def _approximate(self, quotation: str, similarity: float) -> Location | None:
        needle, text = fold(quotation), self.folded.text
        if not needle or len(needle) * similarity > len(text):
            return None

        low, high = 0, len(text)
        if len(needle) < len(text):
            window = _window(needle, text, similarity)
            if window is None:
                return None
            low, high = window

        start, end, changes = nearest(needle, text[low:high])
        if start == end:
            return None

        place = int(self.folded.start[low + start]), int(self.folded.end[low + end - 1])
        # Whole letters: what a stretch of the source has more than the folded one counts as changed.
        first, past = np.searchsorted(self.folded.start, place)
        changes += int(past - first) - (end - start)
        degree = 1 - changes / max(len(needle), int(past - first))
        if degree >= similarity:
            return Location((place,), "approximate", degree)
        return None


LONG_NEEDLE = 1_000
"""In letters. The time of rapidfuzz's alignment grows with their third power: of longer needles it aligns the ends."""


def _window(needle: str, text: str, similarity: float) -> tuple[int, int] | None:
    """Where in a longer text the stretch that is most like a needle may begin and end."""
    with needed("rapidfuzz"):
        from rapidfuzz import fuzz

    margin = 8 + len(needle) // 5
    if len(needle) <= LONG_NEEDLE:
        # A window as long as the needle understates the similarity where letters were left out.
        near = fuzz.partial_ratio_alignment(needle, text, score_cutoff=max(100 * similarity - 15, 1))
        if near is None:
            return None
        return (max(near.dest_start - margin, 0), near.dest_end + margin)

    head = fuzz.partial_ratio_alignment(needle[:LONG_NEEDLE], text)
    tail = fuzz.partial_ratio_alignment(needle[-LONG_NEEDLE:], text)
    assert head is not None
    assert tail is not None  # there is no cut-off
    if tail.score > head.score:
        return max(tail.dest_end - len(needle) - margin, 0), tail.dest_end + margin
    return max(head.dest_start - margin, 0), head.dest_start + len(needle) + margin


def places(text: FoldedText, needle: str) -> Iterator[tuple[int, int]]:
    """Where a folded needle stands, as stretches of the text itself; it does not begin or end within a letter."""
    begin = text.text.find(needle)
    while begin >= 0:
        end = begin + len(needle)
        begins_a_letter = begin == 0 or text.start[begin - 1] != text.start[begin]
        ends_a_letter = end == len(text.text) or text.start[end - 1] != text.start[end]
        if begins_a_letter and ends_a_letter:
            yield text.span(begin, end)
            begin = text.text.find(needle, end)
        else:
            begin = text.text.find(needle, begin + 1)


def _occurrences(text: str, part: str) -> Iterator[tuple[int, int]]:
    """Where a part stands as it is; an accent that follows it would make its last letter another one."""
    begin = text.find(part)
    while begin >= 0:
        end = begin + len(part)
        if not unicodedata.combining(text[end : end + 1] or " "):
            yield begin, end
        begin = text.find(part, end)


def nearest(needle: str, text: str) -> tuple[int, int, int]:
    """The stretch of a text that the fewest changed, missing or additional letters make a needle, and their number.

    >>> nearest("colour", "the color red")
    (4, 9, 1)
    """
    codes = code_points(text)
    index = np.arange(len(codes) + 1)
    cost = np.zeros(len(codes) + 1, np.int64)
    begin = index.copy()
    for row, letter in enumerate(code_points(needle).tolist(), 1):
        replaced = cost[:-1] + (codes != letter)
        left_out = cost[1:] + 1
        best = np.concatenate(([row], np.where(replaced <= left_out, replaced, left_out)))
        origin = np.concatenate(([0], np.where(replaced <= left_out, begin[:-1], begin[1:])))
        # A letter of the text that the needle lacks costs one; the best way here may come from any index before.
        lowest = np.minimum.accumulate(best - index)
        source = np.maximum.accumulate(np.where(best - index == lowest, index, 0))
        cost, begin = lowest + index, origin[source]
    end = int(np.argmin(cost))
    return int(begin[end]), end, int(cost[end])


class SourceIndex(dict[str, SourceText]):
    """The sources by their ids, each prepared when it is first looked into."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.texts = sources

    def __missing__(self, source: str) -> SourceText:
        prepared = self[source] = SourceText(self.texts[source])
        return prepared

    @cached_property
    def seeds(self) -> SeedIndex:
        """The seeds of all sources."""
        return SeedIndex({source: self[source].folded.letters for source in self.texts})

    def likely(self, text: str, limit: int = 3) -> list[str]:
        """The sources that hold most of a text's rarest words, at least half, most first; all if it has few words."""
        # The first and the last word may be cut.
        words = list(dict.fromkeys(_WORD.findall(fold(text))))[1:-1]
        if not words:
            return list(self.texts)
        sources_of_words = [self._holders[word] for word in words if word in self._holders]
        if 2 * len(sources_of_words) < len(words):
            return []

        rarest = sorted(sources_of_words, key=len)[:_RARE_WORDS]
        votes = Counter(source for holders in rarest for source in holders)
        best = [source for source, count in votes.most_common() if 2 * count >= len(rarest)]
        top = [source for source in best if votes[source] == votes[best[0]]]
        return best[: max(limit, len(top))]

    @cached_property
    def _holders(self) -> dict[str, list[str]]:
        """Which sources hold a word."""
        holders: dict[str, list[str]] = {}
        for source in self.texts:
            for word in dict.fromkeys(_WORD.findall(self[source].folded.text)):
                holders.setdefault(word, []).append(source)
        return holders


_WORD = re.compile(r"\w+")
_RARE_WORDS = 12
"""The number of words that decide which source a text is from."""


FEW_SOURCES = 20
"""The most sources in which the stretch nearest to a quotation is looked for."""
MANY_LETTERS, SMALL = 48, 20_000
"""Characters of a text, and of sources, from which on seeds find faster where it may stand."""


class Locator:
    """Finds texts in sources, each text once. An approximate stretch must have this similarity; None allows none."""

    def __init__(self, sources: Mapping[str, str], similarity: float | None) -> None:
        self.sources = sources
        self.similarity = similarity
        self._index = SourceIndex(sources)
        self._located: dict[tuple[str, str | None, bool], list[tuple[str, Location]]] = {}
        self._bodies: dict[tuple[str, str | None], Located | None] = {}

    def find(self, text: str, source: str | None, words: bool = False) -> list[tuple[str, Location]]:
        """Where a text was found by the strictest way that finds it: in one source, or in all that may hold it."""
        key = text, source, words
        if key not in self._located:
            located = self._found(text, self._holders(text, source), None, words)
            if not located and words and self.similarity is not None:
                if source is not None:
                    likely = [source]
                else:
                    likely = self._index.likely(text)
                located = self._found(text, likely, self.similarity, words)
            best = min(map(_rank, located), default=None)
            self._located[key] = [pair for pair in located if _rank(pair) == best]
        return self._located[key]

    def _found(
        self, text: str, names: Iterable[str], similarity: float | None, words: bool
    ) -> list[tuple[str, Location]]:
        locations = ((name, self._index[name].find(text, similarity=similarity, words=words)) for name in names)
        return [(name, location) for name, location in locations if location is not None]

    def _holders(self, text: str, source: str | None) -> list[str]:
        """The sources in which a text may stand, with no changes but those that folding makes alike."""
        if source is None:
            candidates = list(self.sources)
        else:
            candidates = [source]
        if len(text) < MANY_LETTERS or sum(len(self.sources[name]) for name in candidates) < SMALL:
            return candidates

        holders = self._index.seeds.holders(_letters(text).codes)
        if holders is None:
            return candidates
        return [name for name in holders if source is None or name == source]

    def nearest(self, text: str, source: str | None) -> tuple[str, Location] | None:
        """The source and the stretch that are most like a text, however little that is."""
        if source is not None:
            names = [source]
        else:
            names = self._index.likely(text) or list(self.sources)[:FEW_SOURCES]

        nearest_by_source = []
        for name in names:
            location = self._index[name].nearest_place(text)
            if location is not None:
                nearest_by_source.append((name, location))
        return max(nearest_by_source, key=lambda pair: pair[1].similarity, default=None)

    def body(self, text: str, source: str | None) -> Located | None:
        """Where the parts of a text stand that is not in a source as it is: a chunk with a header, or with gaps."""
        if self.similarity is None:
            return None
        key = text, source
        if key not in self._bodies:
            letters = _letters(text)
            located = self._index.seeds.locate(letters.codes, source)
            if located is None:
                self._bodies[key] = None
            else:
                self._bodies[key] = self._parts(text, letters, *located)
        return self._bodies[key]

    def _parts(self, text: str, letters: FoldedText, source: str, parts: Sequence[JoinedStretch]) -> Located:
        source_text, source_letters = self.sources[source], self._index[source].folded.letters
        spans: list[Span] = []
        outside: list[str] = []
        done = 0
        for part in parts:
            low, high = letters.span(part.low, part.high)
            start, end = source_letters.span(part.start, part.end)
            # Punctuation that is equal on both sides belongs to the part.
            while low > done and start and text[low - 1] == source_text[start - 1] and _is_sign(text[low - 1]):
                low, start = low - 1, start - 1
            while text[high : high + 1] == source_text[end : end + 1] and _is_sign(text[high : high + 1]):
                high, end = high + 1, end + 1
            outside.append(text[done:low])
            spans.append(Span(source, start, end))
            done = max(high, done)

        return Located(tuple(spans), "".join([*outside, text[done:]]).strip())


def _rank(located: tuple[str, Location]) -> tuple[int, float]:
    """The lower, the stricter the way by which a text was found."""
    _, location = located
    return WAYS.index(location.way), -location.similarity


def _is_sign(character: str) -> bool:
    return bool(character) and not character.isalnum() and not character.isspace()


@lru_cache(4)
def _letters(text: str) -> FoldedText:
    """The letters of a text; they are needed when the text is looked for, and again when its parts are."""
    return FoldedText.of(text).letters
