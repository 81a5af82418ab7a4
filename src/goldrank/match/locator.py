"""Where texts stand among all sources: which sources may hold them, as they are or in parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from goldrank.data.texts import Located, Span
from goldrank.match.folding import FoldedText
from goldrank.match.locate import WAYS, Location, SourceIndex
from goldrank.match.seeds import Joined

FEW_SOURCES = 20
"""Sources in which the place nearest to a quotation is looked for."""
MANY_LETTERS, SMALL = 48, 20_000
"""Characters of a text, and of sources, from which on seeds tell faster where it may stand."""


class Locator:
    """Finds texts in sources, each text once. An approximate place must have this similarity; None allows none."""

    def __init__(self, sources: Mapping[str, str], similarity: float | None) -> None:
        self.sources = sources
        self.similarity = similarity
        self._index = SourceIndex(sources)
        self._located: dict[tuple[str, str | None, bool], list[tuple[str, Location]]] = {}
        self._bodies: dict[tuple[str, str | None], Located | None] = {}

    def find(self, text: str, source: str | None, words: bool = False) -> list[tuple[str, Location]]:
        """Where a text was found by the strictest way that finds it: in one source, or in those that may hold it."""
        key = text, source, words
        if key not in self._located:
            located = self._found(text, self._holders(text, source), None, words)
            if not located and words and self.similarity is not None:
                likely = [source] if source is not None else self._index.likely(text)
                located = self._found(text, likely, self.similarity, words)
            best = min(map(_rank, located), default=None)
            self._located[key] = [pair for pair in located if _rank(pair) == best]
        return self._located[key]

    def _found(
        self, text: str, names: Iterable[str], similarity: float | None, words: bool
    ) -> list[tuple[str, Location]]:
        found = ((name, self._index[name].find(text, similarity=similarity, words=words)) for name in names)
        return [(name, location) for name, location in found if location is not None]

    def _holders(self, text: str, source: str | None) -> list[str]:
        """The sources in which a text may stand, changed in nothing but what folding makes alike."""
        among = list(self.sources) if source is None else [source]
        if len(text) < MANY_LETTERS or sum(len(self.sources[name]) for name in among) < SMALL:
            return among
        held = self._index.seeds.holders(_letters(text).codes)
        if held is None:
            return among
        return held if source is None else [source] if source in held else []

    def nearest(self, text: str, source: str | None) -> tuple[str, Location] | None:
        """The place that is most like a text, however little that is."""
        names = [source] if source is not None else self._index.likely(text) or list(self.sources)[:FEW_SOURCES]
        near = [(name, place) for name in names if (place := self._index[name].nearest_place(text)) is not None]
        return max(near, key=lambda pair: pair[1].similarity, default=None)

    def body(self, text: str, source: str | None) -> Located | None:
        """Where the parts of a text stand that is not in a source as it is: a chunk with a header, or with gaps."""
        if self.similarity is None:
            return None
        key = text, source
        if key not in self._bodies:
            letters = _letters(text)
            found = self._index.seeds.locate(letters.codes, source)
            self._bodies[key] = None if found is None else self._parts(text, letters, *found)
        return self._bodies[key]

    def _parts(self, text: str, letters: FoldedText, source: str, parts: Sequence[Joined]) -> Located:
        whole, there = self.sources[source], self._index[source].folded.letters
        spans: list[Span] = []
        outside: list[str] = []
        done = 0
        for part in parts:
            low, high = letters.span(part.low, part.high)
            start, end = there.span(part.start, part.end)
            # Punctuation that is the same on both sides belongs to the part.
            while low > done and start and text[low - 1] == whole[start - 1] and _is_sign(text[low - 1]):
                low, start = low - 1, start - 1
            while high < len(text) and end < len(whole) and text[high] == whole[end] and _is_sign(text[high]):
                high, end = high + 1, end + 1
            outside.append(text[done:low])
            spans.append(Span(source, start, end))
            done = max(high, done)
        return Located(tuple(spans), "".join([*outside, text[done:]]).strip())


def _rank(located: tuple[str, Location]) -> tuple[int, float]:
    """The lower, the stricter the way by which a text was found."""
    _, location = located
    return WAYS.index(location.how), -location.similarity


def _is_sign(character: str) -> bool:
    return not character.isalnum() and not character.isspace()


@lru_cache(4)
def _letters(text: str) -> FoldedText:
    """The letters of a text; it is asked for once when the text as it is, and then when its parts are looked for."""
    return FoldedText.of(text).letters
