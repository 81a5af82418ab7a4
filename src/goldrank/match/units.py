"""The units into which a text is cut before it is matched; and its names and numbers.

Sentences are found by rules, without a model or data to load: made for the prose of European languages, and
for scripts whose marks are unmistakable. For other needs, any function from a text to a list of texts does.
"""

from __future__ import annotations

import re
import unicodedata

from goldrank.match.citations import without_citations, without_marker
from goldrank.match.folding import fold
from goldrank.match.guards import quantities
from goldrank.match.tokens import has_words, words

BEFORE_NAMES = {
    *("mr", "mrs", "ms", "messrs", "mme", "mlle", "sra", "dr", "dra", "prof", "st", "mt", "ft", "rev", "hon"),
    *("gen", "col", "sgt", "capt", "lt", "maj", "adm", "cmdr", "gov", "sen", "rep", "pres", "vs", "cf", "ca"),
    *("approx", "dept", "est", "ed", "eds", "bzw", "ggf", "vgl", "e.g", "i.e", "z.b", "d.h", "u.a", "p.ej"),
    *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
}
"""Words after which a full stop does not end a sentence, in lower case without their last stop."""

AT_THE_END = {
    *("etc", "usw", "al", "inc", "ltd", "co", "corp", "jr", "sr", "ave", "blvd"),
    *("u.s", "u.k", "u.n", "e.u", "a.m", "p.m", "ph.d", "b.c", "a.d", "d.c"),
}
"""Words after which a full stop ends a sentence only if a word follows that begins sentences."""

BEFORE_NUMBERS = {
    *("no", "nos", "nr", "fig", "figs", "tab", "vol", "vols", "p", "pp", "ch", "art", "sec", "secs", "par"),
    *("eq", "eqs", "ex", "ref", "refs"),
}
"""Words after which a full stop does not end a sentence if a number follows."""

MONTHS = {
    *("januar", "februar", "märz", "april", "mai", "juni"),
    *("juli", "august", "september", "oktober", "november", "dezember"),
}
"""Names that follow the number of a day and its full stop ("am 3. Mai")."""

_BEGINS = re.compile(
    r"""(?:A|After|All|Also|An|And|As|At|Before|But|By|Each|For|From|Had|Has|Have|He|Her|His|How|However|I|If|In|It|Its
    |Later|Most|My|No|On|Once|Or|Our|She|Since|So|Some|That|The|Their|Then|There|These|They|This|Those|To|Was|We|Were
    |What|When|Where|Which|While|Who|Why|With|Yes|You|Your)(?![\w.])""",
    re.VERBOSE,
)
"""Words that begin a sentence more often than they follow an abbreviation."""

_END = re.compile(
    r"""
    (?P<wide>[。！？｡।॥؟۔።။។]+[”’」』）"')\]]*)        # marks of one meaning end a sentence wherever they stand
    | (?<![.!?…])(?P<mark>[.!?…]+)(?P<quote>[”’“«»"')\]]*(?:[ \xa0\u202f]»)?)(?=\s|$)  # others do before white space
    | (?P<blank>\n\s*\n                                # and so does an empty line,
        | \n(?=[ \t]*(?:[-*+•‣◦▪–][ \t]|\d{1,3}[.)][ \t])))  # or the next item of a list,
    | (?P<line>\n)                                     # or the end of a heading or a row of a table
    """,
    re.VERBOSE,
)
_BLOCK_LINE = re.compile(r"[ \t]{0,3}(?:\#{1,6}[ \t]|\|)")
"""A heading, or a row of a table: a separate unit."""
_NOT_OF_A_RULE = re.compile(r"[^|:\-\s]")
"""What does not stand in the line between the head of a table and its rows."""
_WORD_BEFORE = re.compile(r"[^\s(\[\"'“‘«]+$")
_NEXT = re.compile(r"[\s(\[\"'“‘«„]*(.{0,12})", re.DOTALL)
_LONGEST_WORD = 40
"""The number of characters before a full stop that are looked at."""


def sentences(text: str) -> list[str]:
    """The sentences of a text, without the white space around them.

    >>> sentences("Dr. Smith paid 3.50 euros. It rained!")
    ['Dr. Smith paid 3.50 euros.', 'It rained!']
    >>> sentences("今天下雨。我在家。")
    ['今天下雨。', '我在家。']
    >>> sentences("# Prices\\n| tea | 4 |\\n|---|---|\\n| milk | 2 |")
    ['# Prices', '| tea | 4 |', '| milk | 2 |']
    """
    parts: list[str] = []
    begin = 0
    for end in _END.finditer(text):
        if _is_inside(text, begin, end):
            continue
        parts.append(text[begin : end.end()].strip())
        begin = end.end()
    parts.append(text[begin:].strip())
    return [sentence for sentence in parts if sentence and not _is_rule(sentence)]


def _is_rule(sentence: str) -> bool:
    """Whether it is the line between the head of a table and its rows. No pattern: dashes matched in n³ ways."""
    if sentence[0] not in "|:-" or "--" not in sentence or "|" not in sentence.partition("\n")[0]:
        return False
    return _NOT_OF_A_RULE.search(sentence) is None


def claims(text: str) -> list[str]:
    """The statements of an answer, sentence by sentence, without citations, the marks of lists, headings and notes.

    >>> claims("## Tower\\n1. It was built in 1889 [1][2].\\n2. It is 330 m tall.[^3]\\n\\n[^3]: A guide of 2001.")
    ['It was built in 1889.', 'It is 330 m tall.']
    """
    statements = map(without_marker, sentences(without_citations(text)))
    return [sentence for sentence in statements if has_words(sentence) and not _HEADING.match(sentence)]


_HEADING = re.compile(r"\#{1,6}[ \t]")


def begins_sentences(word: str) -> bool:
    """Whether a word begins sentences more often than it is a name.

    >>> begins_sentences("However"), begins_sentences("Paris")
    (True, False)
    """
    return _BEGINS.fullmatch(word) is not None


def _is_inside(text: str, begin: int, end: re.Match[str]) -> bool:
    """Whether the sentence that begins there goes on after the mark."""
    if end["blank"]:
        return False

    if end["line"]:
        line_start = text.rfind("\n", 0, end.start()) + 1
        return not _BLOCK_LINE.match(text, line_start) and not _BLOCK_LINE.match(text, end.end())

    if end["wide"]:
        # A quotation in Japanese is followed by its particle.
        return end["wide"][-1] in "」』" and text.startswith(("と", "って"), end.end())

    following = _NEXT.match(text, end.end())
    if following:
        after = following[1]
    else:
        after = ""

    if not after:
        return False

    mark, stop = end["mark"], end.start("mark")
    if "!" in mark or "?" in mark:
        return bool(end["quote"]) and after[0].islower()  # "Stop!" he said.
    if mark != ".":
        return after[0].islower()  # dots that mark a pause

    before = _WORD_BEFORE.search(text, max(begin, stop - _LONGEST_WORD), stop)
    if before:
        word = before[0]
    else:
        word = ""

    first = before is not None and not text[max(begin, stop - _LONGEST_WORD) : before.start()].strip()
    return _goes_on(word, after, first=first and stop - begin < _LONGEST_WORD)


def _goes_on(word: str, after: str, *, first: bool) -> bool:
    """Whether a full stop belongs to its word, which may be the first of the sentence."""
    folded = word.casefold()
    if folded in BEFORE_NAMES:
        return True
    if folded in BEFORE_NUMBERS and after[0].isdecimal():
        return True
    if len(word) == 1 and word.isalpha() and word.isupper() and (word != "I" or first):
        return first or not _BEGINS.match(after)  # an initial, or the letter of an item
    if word.isdecimal() and len(word) <= 3:
        return first or (len(word) <= 2 and re.split(r"\W", after, maxsplit=1)[0].casefold() in MONTHS)
    if folded in AT_THE_END or re.fullmatch(r"(?:[A-Z]\.)+[A-Z]", word):
        return not _BEGINS.match(after)
    return after[0].islower() and re.fullmatch(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}", word) is not None


_NAME = re.compile(r"(?<!\w)[^\W\d_]['’\w-]*(?:\s+(?:(?:of|the|de|da|van|von|du|di)\s+)?[^\W\d_a-z]['’\w-]*)*")


def entities(text: str) -> list[str]:
    """The distinct names and numbers of a text, in order: runs of capitalised words, and numbers as they stand.

    A word that begins sentences ("The", "However") is not a name, nor the beginning of one.

    >>> entities("The Eiffel Tower in Paris opened in 1889. It is 330 m tall.")
    ['Eiffel Tower', 'Paris', '1889', '330']
    """
    distinct: dict[str, str] = {}
    for sentence in sentences(text):
        numbers = {(number.start, number.end) for number in quantities(sentence)}  # a list of numbers is one span
        positions = [(start, sentence[start:end]) for start, end in numbers]
        for match in _NAME.finditer(sentence):
            parts = list(re.finditer(r"\S+", match[0]))
            while parts and (begins_sentences(parts[0][0]) or not parts[0][0][0].isupper()):
                del parts[0]
            if parts:
                name = match[0][parts[0].start() :].rstrip("'’-")
                positions.append((match.start() + parts[0].start(), name.removesuffix("'s").removesuffix("’s")))
        for _, entity in sorted(positions):
            distinct.setdefault(fold(entity), entity)
    return list(distinct.values())


_GERMAN = frozenset(
    (
        *("der", "die", "das", "und", "ist", "nicht", "ein", "eine", "wurde", "mit"),
        *("von", "im", "den", "dem", "zu", "auf", "für", "sich", "als"),
    )
)
_WITHOUT_CAPITALS = {
    **dict.fromkeys(("CJK", "HIRAGANA", "KATAKANA"), "Chinese and Japanese"),
    "ARABIC": "Arabic",
    "HEBREW": "Hebrew",
    "HANGUL": "Korean",
    "THAI": "Thai",
    "DEVANAGARI": "Hindi",
}


def without_names_by_capitals(text: str) -> str:
    """The language of a text in which capitals do not show names: all nouns have them, or no letter does. Else nothing.

    >>> without_names_by_capitals("Der Turm ist 330 m hoch und wurde 1889 gebaut.")
    'German'
    >>> without_names_by_capitals("The tower is in Paris.")
    ''
    """
    for letter in text:
        if letter.isalpha() and letter > "\u0370":
            script = unicodedata.name(letter, "").split()[0:1]
            if letter.lower() == letter.upper():
                return _WITHOUT_CAPITALS.get("".join(script), "".join(script).title())
            break
    cut = words(text)
    if sum(word in _GERMAN for word in cut) * 8 >= len(cut) > 3:
        return "German"
    return ""
