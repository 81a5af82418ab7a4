"""The shown part of a text: the stretch that has most of the query's words, with these marked.

Words are those that matchers compare (`match.tokens`), without accents, and pairs of signs where a script has no
spaces. A word of the text is marked if it is one of the query's, or shares its first four letters with one.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from goldrank.data.explanation import ShownPart
from goldrank.match import tokens

WINDOW = 240
"""Characters of a snippet."""
SEARCHED = 100_000
"""Characters of a text that are searched."""
PREFIX = 4
STOP = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "but", "by", "can", "do", "does", "for", "from", "had", "has"),
        *("have", "how", "i", "if", "in", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "s"),
        *("so", "t", "that", "the", "their", "there", "these", "they", "this", "to", "was", "we", "were", "what"),
        *("when", "where", "which", "who", "why", "will", "with", "you", "your"),
    )
)
_CONTINUOUS = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_SENTENCE = re.compile(r"[.!?。！？]\s*")
_SHOWN = str.maketrans({"\n": " ", "\r": " ", "\t": " "})
_JOINERS = "\u200c\u200d"
_WIDE_SPACES = "\xa0\u3000"


class QueryWords:
    """The words of a query, in the form that texts are searched for."""

    def __init__(self, query: str) -> None:
        words = [word for word, *_ in _words(query[:2_000])]
        content_words = [word for word in words if word not in STOP]
        self.words = frozenset(content_words or words)
        self._prefixes = {word[:PREFIX]: word for word in self.words if len(word) >= PREFIX and word.isalpha()}

    def match(self, word: str) -> str | None:
        """The query's word that a word of a text matches."""
        if word in self.words:
            return word
        if len(word) >= PREFIX and word.isalpha():
            return self._prefixes.get(word[:PREFIX])
        return None

    def hits(self, text: str) -> list[tuple[str, int, int]]:
        """The query's words in a text, with their start and end."""
        if not self.words:
            return []
        hits = ((self.match(word), start, end) for word, start, end in _words(text))
        return [(word, start, end) for word, start, end in hits if word is not None]


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """Words without case and accents, with their start and end; pairs of signs in scripts without spaces."""
    stretches = tokens.spans(text)
    for i, (start, end) in enumerate(stretches):
        if not _CONTINUOUS.match(text, start):
            word = _bare(text[start:end])
            if word:
                yield word, start, end
            continue

        next_start, next_end = -1, -1
        if i + 1 < len(stretches):
            next_start, next_end = stretches[i + 1]
        if next_start == end and _CONTINUOUS.match(text, next_start):
            yield _bare(text[start:next_end]), start, next_end
        elif i == 0 or stretches[i - 1][1] != start or not _CONTINUOUS.match(text, stretches[i - 1][0]):
            yield _bare(text[start:end]), start, end  # a single sign


def _bare(text: str) -> str:
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in apart if not unicodedata.combining(c))


def snippet(text: str, words: QueryWords, room: int = WINDOW) -> list[ShownPart]:
    """The window of a text with most different words of the query, then the rarest; begun at a sentence or word."""
    searched = text[:SEARCHED]
    hits = words.hits(searched)
    start = 0
    if len(searched) > room:
        start = _best_window(searched, hits, room)

    end = min(len(searched), start + room)
    if end < len(searched):
        space = searched.rfind(" ", start + room // 2, end)
        if space > start:
            end = space

    return marked(text, [(a, b) for _, a, b in hits], start, end)


def _best_window(text: str, hits: Sequence[tuple[str, int, int]], room: int) -> int:
    if not hits:
        return 0

    counts = Counter(word for word, *_ in hits)
    inside: Counter[str] = Counter()
    best, best_start, low, rarity = (0, 0.0), 0, 0, 0.0
    for word, _, end in hits:
        if not inside[word]:
            rarity += 1 / counts[word]
        inside[word] += 1
        while end - hits[low][1] > room and low < len(hits) - 1:
            left_word = hits[low][0]
            inside[left_word] -= 1
            if not inside[left_word]:
                del inside[left_word]
                rarity -= 1 / counts[left_word]
            low += 1

        worth = (len(inside), round(rarity, 9))
        if worth > best:
            best, best_start = worth, hits[low][1]

    if best_start <= room // 3:
        return 0

    sentence_end = _SENTENCE.search(text, max(0, best_start - room // 2), best_start)
    if sentence_end is not None:
        return sentence_end.end()

    space = text.rfind(" ", max(0, best_start - room // 4), best_start)
    if space >= 0:
        return space + 1
    return best_start


def marked(
    text: str, marks: Iterable[tuple[int, int]], start: int, end: int, keep_lines: bool = False
) -> list[ShownPart]:
    """A stretch of a text, cut where marks begin and end; unprintable characters are shown as escapes."""
    parts: list[ShownPart] = []
    position = start
    for low, high in marks:
        low, high = max(low, position), min(high, end)
        if low >= high:
            continue
        if low > position:
            parts.append(ShownPart(visible(text[position:low], keep_lines)))
        parts.append(ShownPart(visible(text[low:high]), True))
        position = high

    if position < end:
        parts.append(ShownPart(visible(text[position:end], keep_lines)))

    return parts


def visible(text: str, keep_lines: bool = False) -> str:
    """A text with escapes for characters that would control the reader's screen (control and direction characters)."""
    if not keep_lines:
        return _visible_line(text.translate(_SHOWN))
    lines = text.replace("\r\n", "\n").replace("\t", " ").split("\n")
    return "\n".join(map(_visible_line, lines))


def _visible_line(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(map(_visible_character, line))


def _visible_character(character: str) -> str:
    if character.isprintable() or character in _JOINERS or character in _WIDE_SPACES:
        return character
    if character.isspace():
        return " "
    return character.encode("unicode_escape").decode()
