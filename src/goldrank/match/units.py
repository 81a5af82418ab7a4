"""What a text is cut into before it is matched."""

from __future__ import annotations

import re

ABBREVIATIONS = frozenset(
    (
        *("mr", "mrs", "ms", "dr", "prof", "sr", "jr", "st", "rev", "gen", "col", "sgt", "capt", "lt"),
        *("vs", "etc", "approx", "dept", "est", "ed", "eds", "cf", "al", "inc", "ltd", "co", "corp"),
        *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
        *("e.g", "i.e", "u.s", "u.k", "u.n", "a.m", "p.m", "ph.d"),
    )
)
"""Words after which a full stop does not end a sentence, in lower case without their last stop."""

BEFORE_NUMBERS = frozenset(("no", "nos", "fig", "figs", "vol", "vols", "pp", "art", "sec", "eq"))
"""Words after which it does not if a number follows."""

_END = re.compile(
    r"""
    (?P<wide>[。！？｡]+[”’」』）"')\]]*)      # East Asian marks end a sentence wherever they stand
    | (?P<mark>[.!?…]+)[”’"')\]]*(?=\s|$)     # others do before white space
    | (?P<blank>\n\s*\n)                      # and an empty line does
    """,
    re.VERBOSE,
)
_WORD_BEFORE = re.compile(r"[^\s(\[\"'“‘]+$")


def sentences(text: str) -> list[str]:
    """The sentences of a text, without the white space around them.

    >>> sentences("Dr. Smith paid 3.50 euros. It rained!")
    ['Dr. Smith paid 3.50 euros.', 'It rained!']
    >>> sentences("今天下雨。我在家。")
    ['今天下雨。', '我在家。']
    """
    found: list[str] = []
    begin = 0
    for end in _END.finditer(text):
        if end["mark"] and set(end["mark"]) <= {".", "…"} and _is_inside(text, end.start("mark"), end.end("mark")):
            continue
        found.append(text[begin : end.end()].strip())
        begin = end.end()
    found.append(text[begin:].strip())
    return [sentence for sentence in found if sentence]


def _is_inside(text: str, stop: int, end: int) -> bool:
    """Whether a full stop belongs to its word, an abbreviation or an initial, or dots only mark a pause."""
    following = text[end:].lstrip()
    if not following:
        return False
    if end - stop > 1 or text[stop] == "…":
        return following[0].islower()
    before = _WORD_BEFORE.search(text, 0, stop)
    word = before[0] if before else ""
    if len(word) == 1 and word.isalpha() and word.isupper() and word != "I":
        return True
    word = word.casefold()
    return word in ABBREVIATIONS or (word in BEFORE_NUMBERS and following[0].isdecimal())
