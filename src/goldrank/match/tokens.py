"""The words of a text: what ROUGE-L and the overlap of tokens count.

A word is a run of letters, digits and underscores with the marks on them (accents, vowel signs) in the folded text
(`folding.fold`), so that neither case nor the way in which an accent is written makes a difference.
Scripts that put no blanks between words (Han, Kana, Bopomofo, Thai, Lao, Burmese, Khmer) give one token for
each character with its marks; Korean, which puts blanks, gives words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import chain

import numpy as np

from goldrank.match.folding import FoldedText, fold, has_gaps, without_gaps

Stretches = list[tuple[int, int]]
"""Parts of a text: first character and one past the last of each, ascending, not overlapping."""

_ASCII = re.compile(r"\w+", re.ASCII)
_PLAIN = re.compile(r"\w+")
_NOT_PLAIN = re.compile("[\u0300-\u036f\u0483-\u0489\u0590-\u1dff\u20d0-\u20ff\u2cef-\U0001efff\U0001fb00-\U0010ffff]")
"""Characters that need the full pattern: marks, and scripts without blanks. Latin, Greek, Cyrillic, typographic signs
and emoji do not."""
_LONGEST_PIECE = 32
"""Characters between two blanks that are looked up: longer ones are prose without blanks, and hardly come again."""
_ROUGE_SCORE = re.compile("[a-z0-9]+")


def _folding(kept: str) -> bytes:
    """For `bytes.translate`: capitals in lower case, and blanks for all but letters, digits and what is kept."""
    return "".join(
        chr(code).lower() if code < 128 and (chr(code).isalnum() or chr(code) in kept) else " " for code in range(256)
    ).encode("ascii")


_LETTERS = _folding("_")
_ROUGE_SCORE_LETTERS = _folding("")

_WITHOUT_BLANKS = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Burmese
    "\u1780-\u17ff"  # Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b"  # Han: radicals and signs
    "\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # Kana, Bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uff66-\uff9f"  # Kana of half width
    "\U0001aff0-\U0001b16f"  # more Kana
    "\U00020000-\U0003ffff"  # more Han
)


@cache
def _any_script() -> re.Pattern[str]:
    code = [point for point in range(0x300, 0x20000) if unicodedata.category(chr(point))[0] == "M"]
    begins = [point for point, before in zip(code, [0, *code], strict=False) if point != before + 1]
    ends = [point for point, after in zip(code, [*code[1:], 0], strict=True) if point != after - 1]
    ranges = "".join(f"{chr(begin)}-{chr(end)}" for begin, end in zip(begins, ends, strict=True))
    marks = f"[{ranges}\U000e0100-\U000e01ef]"  # beyond these ranges there are only the selectors of variants
    letters = rf"[^\W{_WITHOUT_BLANKS}]"
    return re.compile(rf"{letters}+(?:{marks}+{letters}*)*|\w{marks}*")


def _pattern(text: str) -> re.Pattern[str]:
    if text.isascii():
        return _ASCII
    if _NOT_PLAIN.search(text):
        return _any_script()
    return _PLAIN


def words(text: str) -> list[str]:
    """The words of a text, folded.

    >>> words("Don't stop: 3.5 Straße!")
    ['don', 't', 'stop', '3', '5', 'strasse']
    >>> words("東京 Tower, हिन्दी")
    ['東', '京', 'tower', 'हिन्दी']
    """
    if _is_plain(text):
        return text.encode("ascii").translate(_LETTERS).decode("ascii").split()
    return list(_words_beyond_ascii(text))


@lru_cache(64)
def _words_beyond_ascii(text: str) -> list[str]:
    """The words of a text that has to be folded. Texts are asked for several times, one after the other."""
    pieces = without_gaps(text).split()
    if len(text) > _LONGEST_PIECE * len(pieces):
        return list(_cut(fold(text)))  # prose without blanks
    return list(chain.from_iterable(map(_PIECES.__getitem__, pieces)))


class _Pieces(dict[str, tuple[str, ...]]):
    """The words of what stands between two blanks: no rule of `fold` but `without_gaps` looks beyond a blank.

    Texts have most pieces many times; these are folded and cut once.
    """

    MOST = 1 << 16

    def __missing__(self, piece: str) -> tuple[str, ...]:
        cut = _cut(fold(piece))
        if len(piece) <= _LONGEST_PIECE:
            if len(self) >= self.MOST:
                self.clear()
            self[piece] = cut
        return cut


_PIECES = _Pieces()
_ALONE = re.compile("[ぁ-ゖァ-ヺ一-鿿]|[^ぁ-ゖァ-ヺ一-鿿]+")
"""A letter that is a word by itself, if no mark follows; and what stands between these."""


@lru_cache(1 << 16)
def _words_of_part(part: str) -> list[str] | None:
    """The words of a letter that is a word by itself, or of what stands between such; None if it begins with a mark."""
    if unicodedata.category(part[0])[0] == "M":
        return None
    return _pattern(part).findall(part)


def _cut(folded: str) -> tuple[str, ...]:
    """The words of a folded text. Han and Kana are told apart first: the pattern of all scripts is slower."""
    parts = _ALONE.findall(folded)
    if len(parts) < 2:
        return tuple(_pattern(folded).findall(folded))

    cut: list[str] = []
    for part in parts:
        within = _words_of_part(part)
        if within is None:
            return tuple(_pattern(folded).findall(folded))
        cut += within
    return tuple(cut)


def _is_plain(text: str) -> bool:
    """Whether the words of a text are those of its folded form: ASCII, and nothing of it is left out."""
    return text.isascii() and not has_gaps(text)


def line(text: str) -> bytes:
    """The words of a text in UTF-8, with blanks between them.

    >>> line("A cat!"), line("ﬁn-\\nish")
    (b'a cat ', b'finish')
    """
    if _is_plain(text):
        return text.encode("ascii").translate(_LETTERS)
    return " ".join(_words_beyond_ascii(text)).encode("utf-8", "surrogatepass")


def rouge_score_line(text: str) -> bytes:
    """The tokens of `rouge_score_words`, with blanks between them."""
    if text.isascii():
        return text.encode("ascii").translate(_ROUGE_SCORE_LETTERS)
    return " ".join(rouge_score_words(text)).encode("ascii")


def spans(text: str) -> Stretches:
    """Where the words of a text stand, one stretch for each of `words`.

    >>> spans("a cat")
    [(0, 1), (2, 5)]
    """
    if _is_plain(text):
        return [word.span() for word in _ASCII.finditer(text)]
    return list(_spans_beyond_ascii(text))


@lru_cache(64)
def _spans_beyond_ascii(text: str) -> Stretches:
    """The places of a text that has to be folded. Texts are asked for several times, one after the other."""
    folded = FoldedText.of(text)
    places = [word.span() for word in _pattern(folded.text).finditer(folded.text)]
    if not places:
        return []

    begin, past = np.array(places, np.int64).T
    return list(zip(folded.start[begin].tolist(), folded.end[past - 1].tolist(), strict=True))


def verbatim_places(text: str, part: str) -> Stretches:
    """Where all words of a part stand in a row in a text: at most the first few places.

    >>> verbatim_places("Say it: it is so; it is so!", "it is so.")
    [(8, 16), (18, 26)]
    """
    if places := _raw_places(text, _EDGES.sub("", part)):
        return places

    wanted = f" {' '.join(words(part))} "
    line = f" {' '.join(words(text))} "
    if wanted.strip():
        at = line.find(wanted)
    else:
        at = -1
    if at < 0:
        return []

    where = spans(text)
    while at >= 0 and len(places) < _MOST_PLACES:
        first = line.count(" ", 0, at)
        places.append((where[first][0], where[first + wanted.count(" ") - 2][1]))
        at = line.find(wanted, at + 1)
    return places


_EDGES = re.compile(r"^[\W_]+|[\W_]+\Z")


def _raw_places(text: str, inner: str) -> Stretches:
    """Where a part stands as it is, between whole words; what has marks at its end is looked for by words."""
    places: Stretches = []
    if inner and inner[-1].isalnum():
        at = text.find(inner)
    else:
        at = -1
    while at >= 0 and len(places) < _MOST_PLACES:
        end = at + len(inner)
        if not _goes_on(text[at - 1 : at]) and not _goes_on(text[end : end + 1]):
            places.append((at, end))
        at = text.find(inner, at + 1)
    return places


def _goes_on(character: str) -> bool:
    """Whether a character may belong to the word beside it."""
    return (
        character.isalnum() or character == "_" or (character > "\u02ff" and unicodedata.category(character)[0] == "M")
    )


_MOST_PLACES = 8


def has_words(text: str) -> bool:
    """Whether there is any letter or digit; what has none is compared character by character.

    >>> has_words("--- ?!")
    False
    """
    return _PLAIN.search(text) is not None


def rouge_score_words(text: str) -> list[str]:
    """The tokens of the rouge-score package: runs of a to z and digits, in lower case.

    >>> rouge_score_words("Été 2024")
    ['t', '2024']
    """
    if text.isascii():
        return text.encode("ascii").translate(_ROUGE_SCORE_LETTERS).decode("ascii").split()
    return _ROUGE_SCORE.findall(text.lower())


def rouge_score_spans(text: str) -> Stretches:
    """Where the tokens of `rouge_score_words` stand."""
    lowered = text.lower()
    stretches = [match.span() for match in _ROUGE_SCORE.finditer(lowered)]
    if len(lowered) == len(text):
        return stretches
    # Some letters have two characters in lower case: each of them goes back to its letter.
    home = [at for at, character in enumerate(text) for _ in character.lower()]
    return [(home[begin], home[end - 1] + 1) for begin, end in stretches]


def merged(text: str, stretches: Iterable[tuple[int, int]]) -> Stretches:
    """Stretches in ascending order, as one where they overlap or only blanks lie between.

    >>> merged("the cat, sat", [(4, 7), (0, 3), (9, 12)])
    [(0, 7), (9, 12)]
    """
    joined: Stretches = []
    for begin, end in sorted(stretches):
        if joined and not text[joined[-1][1] : begin].strip():
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined


def approximate_tokens(text: str) -> int:
    """About how many tokens a language model makes of a text: one for every four characters.

    >>> approximate_tokens("abcdefghijk")
    2
    """
    return len(text) // 4
