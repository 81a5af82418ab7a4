"""What is shown of a text: the stretch that has most of the query's words, with these marked.

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
    """The words of a query, as they are looked for."""

    def __init__(self, query: str) -> None:
        words = [word for word, *_ in _words(query[:2_000])]
        telling = [word for word in words if word not in STOP]
        self.words = frozenset(telling or words)
        self._prefixes = {word[:PREFIX]: word for word in self.words if len(word) >= PREFIX and word.isalpha()}

    def match(self, word: str) -> str | None:
        """The query's word that a word of a text stands for."""
        if word in self.words:
            return word
        if len(word) >= PREFIX and word.isalpha():
            return self._prefixes.get(word[:PREFIX])
        return None

    def found(self, text: str) -> list[tuple[str, int, int]]:
        """The query's words in a text, with where they stand."""
        if not self.words:
            return []
        hits = ((self.match(word), start, end) for word, start, end in _words(text))
        return [(word, start, end) for word, start, end in hits if word is not None]


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """Words without case and accents, with their places in the text; of scripts without spaces pairs of signs."""
    stretches = tokens.spans(text)
    for i, (start, end) in enumerate(stretches):
        if not _CONTINUOUS.match(text, start):
            word = _bare(text[start:end])
            if word:
                yield word, start, end
            continue
        if i + 1 < len(stretches):
            after = stretches[i + 1]
        else:
            after = (-1, -1)
        if after[0] == end and _CONTINUOUS.match(text, after[0]):
            yield _bare(text[start : after[1]]), start, after[1]
        elif i == 0 or stretches[i - 1][1] != start or not _CONTINUOUS.match(text, stretches[i - 1][0]):
            yield _bare(text[start:end]), start, end  # a sign that stands alone


def _bare(text: str) -> str:
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in apart if not unicodedata.combining(c))


def snippet(text: str, words: QueryWords, room: int = WINDOW) -> list[ShownPart]:
    """The window of a text with most different words of the query, then the rarest; begun at a sentence or word."""
    searched = text[:SEARCHED]
    hits = words.found(searched)
    if len(searched) > room:
        start = _best_window(searched, hits, room)
    else:
        start = 0

    end = min(len(searched), start + room)
    if end < len(searched):
        space = searched.rfind(" ", start + room // 2, end)
        if space > start:
            end = space
        else:
            end = end

    return marked(text, [(a, b) for _, a, b in hits], start, end)


def _best_window(text: str, hits: Sequence[tuple[str, int, int]], room: int) -> int:
    if not hits:
        return 0

    often = Counter(word for word, *_ in hits)
    inside: Counter[str] = Counter()
    best, best_start, low, rarity = (0, 0.0), 0, 0, 0.0
    for word, _, end in hits:
        if not inside[word]:
            rarity += 1 / often[word]
        inside[word] += 1
        while end - hits[low][1] > room and low < len(hits) - 1:
            gone = hits[low][0]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
                rarity -= 1 / often[gone]
            low += 1
        worth = (len(inside), round(rarity, 9))
        if worth > best:
            best, best_start = worth, hits[low][1]

    if best_start <= room // 3:
        return 0

    begins = [matched.end() for matched in _SENTENCE.finditer(text, max(0, best_start - room // 2), best_start)]
    if begins:
        if begins[0] <= best_start:
            return begins[0]
        return begins[-1]

    space = text.rfind(" ", max(0, best_start - room // 4), best_start)
    if space >= 0:
        return space + 1
    return best_start


def marked(
    text: str, marks: Iterable[tuple[int, int]], start: int, end: int, keep_lines: bool = False
) -> list[ShownPart]:
    """A stretch of a text, cut where marks begin and end; what cannot be printed is shown as escapes."""
    parts: list[ShownPart] = []
    at = start
    for low, high in marks:
        low, high = max(low, at), min(high, end)
        if low >= high:
            continue
        if low > at:
            parts.append(ShownPart(visible(text[at:low], keep_lines)))
        parts.append(ShownPart(visible(text[low:high]), True))
        at = high

    if at < end:
        parts.append(ShownPart(visible(text[at:end], keep_lines)))

    return parts


def visible(text: str, keep_lines: bool = False) -> str:
    """A text in which what would steer the reader's screen (control and direction characters) is shown as escapes."""
    if keep_lines:
        kept = "\n"
    else:
        kept = ""
    if keep_lines:
        plain = text.replace("\r\n", "\n")
    else:
        plain = text.translate(_SHOWN)
    plain = plain.replace("\t", " ")
    if plain.isprintable():
        return plain
    return "".join(c if c in kept else _visible_character(c) for c in plain)


def _visible_character(character: str) -> str:
    if character.isprintable() or character in _JOINERS or character in _WIDE_SPACES:
        return character
    if character.isspace():
        return " "
    return character.encode("unicode_escape").decode()
