"""The form in which matchers and the locator compare texts: `fold`, with or without offsets.

What does not make another text is made alike: case, white space, quotation marks and dashes, compatible forms (width,
ligatures), digits of all scripts, characters that are not seen, vowel signs of Arabic and Hebrew, tatweel, and hyphens
at line ends; and of Markdown, addresses of links and marks of emphasis. Accents, signs and punctuation count. Levels:
characters (`fold`), words (`tokens.words`) and letters and digits alone (`FoldedText.letters`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np

NAME = "fold-2"
"""Shown with every result that was made with it; another set of rules gets another name."""

_SINGLE = "\u2018\u2019\u201a\u201b\u2032\u2035\u02b9\u02bb\u02bc\u00b4\u0060\u2039\u203a\uff07\uff40"
_DOUBLE = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u301d\u301e\u301f\uff02"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d\u05be"
_UNSEEN: tuple[int, ...] = (
    *(0x00AD, 0x061C, 0x0640, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), 0x2060, *range(0x2066, 0x206A)),
    *(0xFEFF, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
)
_UNSEEN_SET = frozenset(_UNSEEN)
_VOWELS = (
    *(*range(0x0610, 0x061B), *range(0x064B, 0x0653), 0x0670, *range(0x06D6, 0x06DD), *range(0x06DF, 0x06E5)),
    *(0x06E7, 0x06E8, *range(0x06EA, 0x06EE)),
    *(code for code in range(0x0591, 0x05C8) if unicodedata.category(chr(code)) == "Mn"),
)
"""Marks of Arabic and Hebrew. They are deleted after letters were composed, so that hamza stays."""
_SIGNS: dict[int, str] = {
    **dict.fromkeys(map(ord, _SINGLE), "'"),
    **dict.fromkeys(map(ord, _DOUBLE), '"'),
    **dict.fromkeys(map(ord, _DASHES), "-"),
    0x2033: "''",
    0x2034: "'''",
    0x2036: "''",
    0x2037: "'''",
    0x2057: "''''",  # primes
    0x2044: "/",
}
_SUPERSCRIPTS = "\u00b2\u00b3\u00b9\u2070\u2074-\u2079"
_FRACTIONS = "\u00bc-\u00be\u2150-\u215f\u2189"

_LINE_END = re.compile(
    "(?<=[^\\W\\d_])[\u0300-\u036f]*([-\u2010\u00ad][^\\S\\r\\n]*(?:\\r\\n?|[\\n\u2028\x85])[^\\S\\r\\n]*)([^\\W\\d_])"
)
"""A hyphen between a letter and a line end, and the letter after it."""


class Replacements:
    """Replaces the characters of a table.

    Which of them a text has is looked up for all its characters at once: a search for any of hundreds of characters
    takes a hundred times as long.
    """

    def __init__(self, table: Mapping[int, str]) -> None:
        self._table = table
        self._replaced = np.zeros(max(table) + 2, bool)
        self._replaced[list(table)] = True

    def __call__(self, text: str) -> str:
        """The text with the characters replaced; no new character is one that would be replaced."""
        if text.isascii() and "`" not in text:
            return text

        codes = _raw_code_points(text)
        known = np.minimum(codes, len(self._replaced) - 1)
        present = self._replaced[known]
        if not present.any():
            return text

        for code in set(codes[present].tolist()):
            text = text.replace(chr(code), self._table[code])
        return text


@cache
def _first() -> Replacements:
    """Steps 2 to 4 by character: what is not seen, signs, digits."""
    characters = _text_of(np.arange(0x80, 0x20000))
    digits = {ord(digit): str(unicodedata.decimal(digit)) for digit in re.findall(r"\d", characters)}
    return Replacements({**digits, **_SIGNS, **dict.fromkeys(_UNSEEN, "")})


@cache
def _last() -> Replacements:
    """What may have come out of compatible forms, and letters that have another form in other languages."""
    letters = {0x0131: "i", 0x06CC: "\u064a", 0x06A9: "\u0643"}
    return Replacements({**_SIGNS, **dict.fromkeys((*_UNSEEN, *_VOWELS), ""), **letters})


_DOTTED = re.compile("i\u0307+")
_POWER = re.compile(f"[{_SUPERSCRIPTS}]")
_SPECIAL = re.compile(f"[{_SUPERSCRIPTS}{_FRACTIONS}]")
_AFTER_DIGIT = re.compile(f"(?<=[0-9])[{_SUPERSCRIPTS}{_FRACTIONS}]")


_LINK = re.compile(
    r"""(?<![\w\])])(?P<open>!?\[)[^\[\]\n]{1,300}
    (?P<address>\]\(
        (?:https?://|mailto:|[./\#]|[\w%-]{1,100}[./\#])(?:[^()\s]|\([^()\s]{0,100}\)){0,500}
        (?:[ ]"[^"\n]{0,200}")?\))""",
    re.VERBOSE,
)
"""A link of Markdown, [text](address), or an image."""
_EMPHASIS = re.compile(
    r"(?<![\w*\\])(?P<open>\*{1,3})(?=[^\s*])[^*\n]{1,300}?(?<=[^\s*\\])(?P<close>(?P=open))(?![\w*])"
)
"""What stands between asterisks; underscores are part of names."""


def left_out(text: str) -> list[tuple[int, int]]:
    """The parts that are left out first: line ends inside words, addresses of links, marks of emphasis."""
    gaps = _line_ends(text)
    if "](" in text:
        for link in _LINK.finditer(text):
            gaps += [link.span("open"), link.span("address")]
    if "*" in text:
        for emphasis in _EMPHASIS.finditer(text):
            gaps += [emphasis.span("open"), emphasis.span("close")]

    apart: list[tuple[int, int]] = []
    for begin, end in sorted(gaps):
        if not apart or begin >= apart[-1][1]:
            apart.append((begin, end))
    return apart


def has_gaps(text: str) -> bool:
    """Whether anything of a text may be left out.

    >>> has_gaps("a *word*"), has_gaps("a word")
    (True, False)
    """
    return "*" in text or "](" in text or ("-" in text and ("\n" in text or "\r" in text))


def _line_ends(text: str) -> list[tuple[int, int]]:
    """Where hyphens at line ends stand, each with its line end; what follows in lower case is the end of the word."""
    has_hyphen = any(sign in text for sign in "-\u2010\u00ad")
    if not has_hyphen or not any(sign in text for sign in "\n\r\u2028\x85"):
        return []
    return [match.span(1) for match in _LINE_END.finditer(text) if match[2].islower()]


def _without(text: str, gaps: list[tuple[int, int]]) -> str:
    ends = [0, *(end for _, end in gaps)]
    begins = [*(begin for begin, _ in gaps), len(text)]
    return "".join(text[end:begin] for end, begin in zip(ends, begins, strict=True))


def without_gaps(text: str) -> str:
    """A text without hyphens at line ends and these line ends, addresses of links and marks of emphasis.

    >>> without_gaps("See *the* [guide](https://example.org/a).")
    'See the guide.'
    """
    gaps = left_out(text)
    if gaps:
        return _without(text, gaps)
    return text


@cache
def _plain_signs() -> Replacements:
    quotes = {**dict.fromkeys(map(ord, _SINGLE.replace("`", "")), "'"), **dict.fromkeys(map(ord, _DOUBLE), '"')}
    return Replacements({**quotes, **dict.fromkeys(_UNSEEN, ""), 0x00A0: " ", 0x202F: " ", 0x2009: " "})


_BLANKS = re.compile(r"[^\S\n\r]*(?:(\r\n?|\n)[^\S\n\r]*|[^\S\n\r])")


def tidied(text: str) -> str:
    """A text as people read it: with lines and capitals, but without what is not seen, and in one way of writing signs.

    >>> tidied("Don’t  go\u00adod\u00a0now \\n  please")
    "Don't good now\\nplease"
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", _plain_signs()(text))
    if any(sign in text for sign in _UNTIDY):
        return _BLANKS.sub(_one_blank, text)
    return text


_UNTIDY = ("  ", " \n", "\n ", "\t", "\r", "\x0b", "\x0c", "\u3000", "\u2003", "\u2002", "\u2028", "\x85")
"""Blanks that are not one blank, or one line end."""


def _one_blank(match: re.Match[str]) -> str:
    if match[1]:
        return "\n"
    return " "


def fold(text: str) -> str:
    """A text in the form in which it is compared.

    >>> fold(" The \\n“ﬁrst” Café—no… ")
    'the "first" café-no...'
    >>> fold("evalua-\\ntion of 10² ＡＢ")
    'evaluation of 10^2 ab'
    """
    text = without_gaps(text)
    if text.isascii():
        return " ".join(text.lower().replace("`", "'").split())
    text = _first()(text)
    if not unicodedata.is_normalized("NFKC", text):  # powers and fractions have other compatible forms
        text = _AFTER_DIGIT.sub(_apart, text)
    return unicodedata.normalize("NFC", " ".join(_small(text).split()))


def _apart(match: re.Match[str]) -> str:
    """A power, or a fraction, after a digit: set off from it."""
    return _separator(match[0]) + match[0]


def _separator(letter: str) -> str:
    """What sets a power, or a fraction, off from the digit before it."""
    if _POWER.match(letter):
        return "^"
    return " "


def _small(text: str) -> str:
    """Steps 5 to 7, which need only the letter and the marks on it."""
    composed = _last()(unicodedata.normalize("NFKC", text))
    small = _DOTTED.sub("i", unicodedata.normalize("NFKC", composed.casefold()))
    return unicodedata.normalize("NFC", _last()(small))


@lru_cache(1 << 16)
def _form(letter: str) -> str:
    """The form of a letter with the marks on it."""
    return _small(_first()(letter))


@dataclass(frozen=True)
class FoldedText:
    """A text as `fold` makes it, and where each character of that form came from.

    Offsets are of whole letters, with the marks on them: they are always positions in the text itself.
    """

    text: str
    start: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, text: str) -> FoldedText:
        """The folded text with offsets."""
        codes = code_points(text)
        keep = np.ones(len(codes), bool)
        for begin, end in left_out(text):
            keep[begin:end] = False
        if text.isascii():
            codes = _ASCII[codes]
            origin = np.flatnonzero(keep)
            return cls._spaced(codes[origin], origin, origin + 1)

        keep &= ~_each(codes, lambda character: ord(character) in _UNSEEN_SET)
        origin = np.flatnonzero(keep)
        return cls._clustered(codes[origin], origin)

    @classmethod
    def _clustered(cls, codes: np.ndarray, origin: np.ndarray) -> FoldedText:
        """Letters with the marks on them are folded together, each kind once."""
        letters, kind = _numbered(codes)
        begins = ~np.array([_is_mark(letter) for letter in letters], bool)[kind]
        begins[:1] = True
        first = np.flatnonzero(begins)
        last = np.concatenate((first[1:], [len(codes)]))[: len(first)]

        # One form for each kind of letter, and more for letters with marks, or whose form depends on what is before.
        forms = list(map(_form, letters))
        cluster = kind[first]
        special = np.array([_SPECIAL.match(letter) is not None for letter in letters], bool)[cluster]
        if special.any():
            digit = np.array([unicodedata.decimal(letter, None) is not None for letter in letters], bool)[kind]
            special &= np.concatenate(([False], digit))[first]

        new_forms: dict[str, int] = {}
        for i in np.flatnonzero((last - first > 1) | special).tolist():
            letter = "".join(map(chr, codes[first[i] : last[i]].tolist()))
            form = _form(letter)
            if special[i]:
                form = _separator(letter) + form
            cluster[i] = new_forms.setdefault(form, len(forms) + len(new_forms))

        forms += new_forms
        width = np.array([len(form) for form in forms], np.int64)
        form_codes = code_points("".join(forms))
        form_start = np.cumsum(width) - width
        cluster_width = width[cluster]
        if (cluster_width == 1).all():
            return cls._spaced(form_codes[form_start[cluster]], origin[first], origin[last - 1] + 1)

        source = np.repeat(np.arange(len(first)), cluster_width)
        within = np.arange(len(source)) - np.repeat(np.cumsum(cluster_width) - cluster_width, cluster_width)
        if len(source):
            folded = form_codes[form_start[cluster[source]] + within]
        else:
            folded = np.zeros(0, np.int64)

        return cls._spaced(folded, origin[first[source]], origin[last[source] - 1] + 1)

    @classmethod
    def _spaced(cls, codes: np.ndarray, start: np.ndarray, end: np.ndarray) -> FoldedText:
        """Runs of white space as one blank, none at the ends."""
        blank = _each(codes, str.isspace)
        keep = ~blank
        keep[1:] |= blank[1:] & ~blank[:-1]
        inside = np.flatnonzero(~blank)
        if len(inside):
            keep[: inside[0]] = False
            keep[inside[-1] + 1 :] = False
        else:
            keep[:] = False
        return cls(_text_of(np.where(blank, 32, codes)[keep]), start[keep], end[keep])

    def where(self, keep: np.ndarray) -> FoldedText:
        """The marked characters alone."""
        return FoldedText(_text_of(self.codes[keep]), self.start[keep], self.end[keep])

    @cached_property
    def codes(self) -> np.ndarray:
        """The characters as numbers."""
        return code_points(self.text)

    @cached_property
    def joined(self) -> FoldedText:
        """The text without blanks."""
        return self.where(self.codes != 32)

    @cached_property
    def letters(self) -> FoldedText:
        """Letters and digits alone."""
        return self.where(_each(self.codes, str.isalnum))

    def span(self, begin: int, end: int) -> tuple[int, int]:
        """Where a stretch of the folded text stands in the text itself."""
        return int(self.start[begin]), int(self.end[end - 1])


def code_points(text: str) -> np.ndarray:
    """The characters of a text as numbers."""
    return _raw_code_points(text).astype(np.int64)


def _raw_code_points(text: str) -> np.ndarray:
    """The characters of a text as they are in memory, without a copy for wider numbers."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _text_of(codes: np.ndarray) -> str:
    return codes.astype(np.uint32).tobytes().decode("utf-32-le", "surrogatepass")


_ASCII = code_points("".join(map(chr, range(128))).lower().replace("`", "'"))


def _numbered(codes: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The different characters, and for each code the number of its character."""
    size = int(codes.max(initial=0)) + 1
    present = np.zeros(size, bool)
    present[codes] = True
    known = np.flatnonzero(present)
    number = np.zeros(size, np.int64)
    number[known] = np.arange(len(known))
    return [chr(code) for code in known.tolist()], number[codes]


def _each(codes: np.ndarray, test: Callable[[str], bool]) -> np.ndarray:
    """The result of a test for each character; the test is called once for each different one."""
    characters, kind = _numbered(codes)
    return np.asarray(np.array([test(character) for character in characters], bool)[kind])


@lru_cache(65536)
def _is_mark(letter: str) -> bool:
    """Whether a character may grow together with the one before: marks, and the later parts of Korean syllables."""
    first = unicodedata.normalize("NFKD", letter)[0]
    return (
        unicodedata.category(letter)[0] == "M"
        or unicodedata.combining(first) > 0
        or "\u1160" <= first <= "\u11ff"
        or "\ud7b0" <= first <= "\ud7ff"
    )
