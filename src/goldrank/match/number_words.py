"""Numbers that are written as words: two to twelve, and tens, in some European languages.

One is left out, since it is an article in most of them; so are words that mean something else in another language, such
as the Italian "due". "Two hundred" and other numbers of several words are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from goldrank.match.folding import fold
from goldrank.match.tokens import words

_WORDS: dict[int, str] = {
    2: "two zwei deux twee dois duas два две kaksi två",
    3: "three drei trois tres drie três три kolme",
    4: "four vier quatre cuatro quattro quatro четыре neljä fyra",
    5: "five fünf cinq cinco cinque vijf пять viisi fem",
    6: "six sechs seis zes шесть sex",
    7: "seven sieben siete sette zeven семь seitsemän sju",
    8: "eight acht huit ocho oito восемь kahdeksan åtta",
    9: "nine neun nueve nove negen девять yhdeksän nio",
    10: "ten zehn dix diez dieci tien десять kymmenen tio",
    11: "eleven onze once undici",
    12: "twelve zwölf douze doce dodici twaalf двенадцать",
    15: "fifteen fünfzehn quinze quince quindici vijftien",
    20: "twenty zwanzig vingt veinte venti twintig двадцать",
    30: "thirty dreißig trente treinta trenta dertig тридцать",
    40: "forty vierzig quarante cuarenta veertig сорок",
    50: "fifty fünfzig cinquante cincuenta cinquanta vijftig пятьдесят",
    60: "sixty sechzig soixante sesenta sessanta zestig",
    90: "ninety neunzig noventa novanta negentig",
}
_LEFT_OUT = ("once", "sex")
"""Words of other languages that mean something else in English."""
_PARTS = ("hundred", "hundert", "cent", "cents", "cien", "honderd", "thousand", "tausend", "mille", "mil", "duizend")
"""Words that make a number of several words."""


class NumberWord(NamedTuple):
    """A number in words, and where it stands."""

    start: int
    end: int
    value: int


@cache
def _values() -> dict[str, int]:
    listed = ((word, value) for value, line in _WORDS.items() for word in line.split())
    return {word: value for word, value in listed if word not in _LEFT_OUT}


@cache
def _folded() -> frozenset[str]:
    return frozenset(map(fold, _values()))


@cache
def _pattern() -> re.Pattern[str]:
    parts = "|".join((*_values(), *_PARTS))
    word = "|".join(sorted(_values(), key=len, reverse=True))
    return re.compile(rf"(?<![\w-])(?<!\d )({word})(?![\w-]| (?:{parts})\b)", re.IGNORECASE)


def number_words(text: str) -> Iterator[NumberWord]:
    """The numbers in words.

    >>> [(found.start, found.value) for found in number_words("Five days or two hundred")]
    [(0, 5)]
    """
    if _folded().isdisjoint(words(text)):
        return
    for match in _pattern().finditer(text):
        yield NumberWord(match.start(), match.end(), _values()[match[0].lower()])
