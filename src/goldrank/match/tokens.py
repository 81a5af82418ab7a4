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
from functools import cache

from goldrank.match.folding import FoldedText, fold

Stretches = list[tuple[int, int]]
"""Parts of a text: first character and one past the last of each, ascending, not overlapping."""

_ASCII = re.compile(r"\w+", re.ASCII)
_PLAIN = re.compile(r"\w+")
_NOT_PLAIN = re.compile("[\u0300-\u036f\u0483-\u0489\u0590-\u1dff\u20d0-\u20ff\u2cef-\U0010ffff]")
"""Characters that need the full pattern: marks, and scripts without blanks. Latin, Greek, Cyrillic and
typographic signs do not."""
_ROUGE_SCORE = re.compile("[a-z0-9]+")


def _folding(kept: str) -> bytes:
    """For `bytes.translate`: capitals in lower case, and blanks for all but letters, digits and what is kept."""
    return "".join(
        chr(code).lower() if code < 128 and (chr(code).isalnum() or chr(code) in kept) else " " for code in range(256)
    ).encode("ascii")


LETTERS = _folding("_")
ROUGE_SCORE_LETTERS = _folding("")

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
    return _any_script() if _NOT_PLAIN.search(text) else _PLAIN


def words(text: str) -> list[str]:
    """The words of a text, folded.

    >>> words("Don't stop: 3.5 Straße!")
    ['don', 't', 'stop', '3', '5', 'strasse']
    >>> words("東京 Tower, हिन्दी")
    ['東', '京', 'tower', 'हिन्दी']
    """
    if not _is_plain(text):
        text = fold(text)
    if text.isascii():
        return text.encode("ascii").translate(LETTERS).decode("ascii").split()
    pattern = _pattern(text)
    if pattern is not _PLAIN:
        return pattern.findall(text)
    cut: list[str] = []
    for piece in text.split():
        if piece.isalnum():
            cut.append(piece)  # most pieces are words as they are, which is seen faster than it is searched
        else:
            cut += pattern.findall(piece)
    return cut


def _is_plain(text: str) -> bool:
    """Whether the words of a text are those of its folded form: ASCII, and no word is cut by a line end."""
    return text.isascii() and not ("-" in text and ("\n" in text or "\r" in text))


def plain(text: str) -> str | None:
    """An ASCII text that has the same words (what `LETTERS` leaves); None where there is none.

    >>> plain("A caf\u00e9"), plain("ﬁn-\\nish")
    (None, 'finish')
    """
    if not _is_plain(text):
        text = fold(text)
    return text if text.isascii() else None


def spans(text: str) -> Stretches:
    """Where the words of a text stand, one stretch for each of `words`.

    >>> spans("a cat")
    [(0, 1), (2, 5)]
    """
    if _is_plain(text):
        return [word.span() for word in _ASCII.finditer(text)]
    folded = FoldedText.of(text)
    return [folded.span(*word.span()) for word in _pattern(folded.text).finditer(folded.text)]


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
        return text.encode("ascii").translate(ROUGE_SCORE_LETTERS).decode("ascii").split()
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
