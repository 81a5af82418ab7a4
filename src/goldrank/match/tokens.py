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
"""The most characters between two blanks that are looked up: longer pieces are prose without blanks, and rare."""
_ROUGE_SCORE = re.compile("[a-z0-9]+")


def _folding(signs: str) -> bytes:
    """For `bytes.translate`: capitals in lower case, and blanks for all but letters, digits and some signs."""
    table = bytearray(b" " * 256)
    for code in range(128):
        if chr(code).isalnum() or chr(code) in signs:
            table[code] = ord(chr(code).lower())
    return bytes(table)


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
    categories = map(unicodedata.category, map(chr, range(0x300, 0x20000)))
    code = [point for point, category in enumerate(categories, 0x300) if category in ("Mn", "Mc", "Me")]
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
    """The words of a text that has to be folded. Callers need a text several times, one after the other."""
    pieces = without_gaps(text).split()
    if len(text) > _LONGEST_PIECE * len(pieces):
        return list(_cut(fold(text)))  # prose without blanks
    return list(chain.from_iterable(map(_PIECES.__getitem__, pieces)))


class _Pieces(dict[str, tuple[str, ...]]):
    """The words of the pieces between two blanks: no rule of `fold` but `without_gaps` looks beyond a blank.

    Texts have most pieces many times; each is folded and cut once.
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
"""A letter that is a word by itself, if no mark follows; and the text between such letters."""


@lru_cache(1 << 16)
def _words_of_part(part: str) -> list[str] | None:
    """The words of a part of `_ALONE`; None if it begins with a mark."""
    if unicodedata.category(part[0])[0] == "M":
        return None
    return _pattern(part).findall(part)


def _cut(folded: str) -> tuple[str, ...]:
    """The words of a folded text. Han and Kana are cut first: the pattern of all scripts is slower."""
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
    """Whether a text has the words of its folded form: it is ASCII, and nothing of it is left out."""
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
    """Where the words of a text stand that has to be folded. Callers need a text several times, one after the other."""
    folded = FoldedText.of(text)
    folded_spans = [word.span() for word in _pattern(folded.text).finditer(folded.text)]
    if not folded_spans:
        return []

    begin, past = np.array(folded_spans, np.int64).T
    return list(zip(folded.start[begin].tolist(), folded.end[past - 1].tolist(), strict=True))


_BEFORE_SENTENCE = re.compile(
    r"""(?:(?:\A|[\n\r])[\s>]*(?:(?:[-*+•‣◦▪–]|\(?[0-9]{1,3}[.)])\s+)?   # the beginning of a line, or an item,
    | [|] | [.!?…:;](?=\s) | [。！？；：।؟۔])                                # or the end of another sentence
    [\s>#*_"'“”„‘’«»(\[|]*\Z""",
    re.VERBOSE,
)
_AFTER_SENTENCE = re.compile(r"[*_\"'“”‘’«»)\]]*(?:[ \t]*(?:[\n\r|]|\Z)|[.!?…](?=\s|\Z)|[。！？；।؟۔])")
_ENDS_SENTENCE = re.compile(r"(?:[.!?…](?=\W*\Z)|[。！？；।؟۔])[*_\"'“”‘’«»)\]]*\Z")


def stands_there(text: str, sentence: str) -> bool:
    """Whether a sentence stands in a text, sign by sign, from the end of another sentence to its own end; line ends are
    blanks.

    >>> stands_there("So it is. It is safe.", "It is safe."), stands_there("It is safe.", "is safe.")
    (True, False)
    """
    sentence = sentence.strip().replace("\n", " ")
    has_end = _ENDS_SENTENCE.search(sentence) is not None
    line = text.replace("\n", " ")
    start = line.find(sentence)
    while start >= 0:
        end = start + len(sentence)
        if has_end:
            is_whole = not text[end : end + 1].isalnum() or not text[end - 1].isascii()
        else:
            is_whole = _AFTER_SENTENCE.match(text, end) is not None
        before = text[max(start - 12, 0) : start]
        if is_whole and _BEFORE_SENTENCE.search(before):
            return True
        start = line.find(sentence, start + 1)
    return False


def verbatim_places(text: str, part: str) -> Stretches:
    """Where all words of a part stand in a row in a text: at most the first few stretches.

    >>> verbatim_places("Say it: it is so; it is so!", "it is so.")
    [(8, 16), (18, 26)]
    """
    stretches = _raw_places(text, _without_edges(part))
    if stretches:
        return stretches

    needle = f" {' '.join(words(part))} "
    if not needle.strip():
        return []
    line = f" {' '.join(words(text))} "
    index = line.find(needle)
    if index < 0:
        return []

    where = spans(text)
    while index >= 0 and len(stretches) < _MOST_PLACES:
        first = line.count(" ", 0, index)
        stretches.append((where[first][0], where[first + needle.count(" ") - 2][1]))
        index = line.find(needle, index + 1)
    return stretches


_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def _without_edges(part: str) -> str:
    """A part of a text without the signs at its ends. No pattern of its end: a run of signs would be searched n² times.

    >>> _without_edges("(so-called)")
    'so-called'
    """
    first = _LETTER_OR_DIGIT.search(part)
    last = _LETTER_OR_DIGIT.search(part[::-1])
    if first is None or last is None:
        return ""
    return part[first.start() : len(part) - last.start()]


def _raw_places(text: str, inner: str) -> Stretches:
    """Where a part stands as it is, between whole words; a part with marks at its end is looked for by words."""
    if not inner or not inner[-1].isalnum():
        return []

    stretches: Stretches = []
    start = text.find(inner)
    while start >= 0 and len(stretches) < _MOST_PLACES:
        end = start + len(inner)
        if not _goes_on(text[start - 1 : start]) and not _goes_on(text[end : end + 1]):
            stretches.append((start, end))
        start = text.find(inner, start + 1)
    return stretches


def _goes_on(character: str) -> bool:
    """Whether a character may belong to the word beside it."""
    return (
        character.isalnum() or character == "_" or (character > "\u02ff" and unicodedata.category(character)[0] == "M")
    )


_MOST_PLACES = 8


def has_words(text: str) -> bool:
    """Whether there is any letter or digit; a text without is compared character by character.

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
    origin: list[int] = []
    for i, character in enumerate(text):
        origin += [i] * len(character.lower())
    return [(origin[begin], origin[end - 1] + 1) for begin, end in stretches]


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
