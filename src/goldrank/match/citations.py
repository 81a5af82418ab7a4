"""What an answer has beside its statements: citations, the texts of notes, and the marks of lists.

None of them is a fact: `[1]` is not a number that a text must hold.
"""

from __future__ import annotations

import re

from goldrank.match.tokens import Stretches

_CITATION = re.compile(
    r"""(?<![ \t])[ \t]*+(?:\[\^?[0-9]{1,3}(?:\s?[,;–-]\s?\^?[0-9]{1,3})*\](?!\()  # [1], [1, 2], [2-4], [^1]
    | \[\^[\w-]{1,20}\]                                              # [^note]
    | 【[0-9]{1,3}[^】\n]{0,40}】                                      # 【1†source】
    | <sup>\s?\[?[0-9]{1,3}\]?\s?</sup>
    | (?<=[.!?,;:。！？])[⁰¹²³⁴-⁹]+(?!\w))""",
    re.VERBOSE,
)
_NOTE = re.compile(
    r"^[ \t]*\[\^?[\w-]{1,20}\]:[^\n]*$ | ^[ \t]*\[[0-9]{1,3}\][ \t]*https?://\S*[ \t]*$", re.MULTILINE | re.VERBOSE
)
"""What a citation stands for, in a separate line."""
_MARKER = re.compile(r"[ \t]*(?:(?:[-*+•‣◦▪–]|\(?[0-9]{1,3}[.)]|>)[ \t]+)+")
"""What stands before an item of a list, or a quotation."""
_ITEM_NUMBER = re.compile(
    r"^[ \t]*(?:[-*+•>][ \t]+)?\(?[0-9]{1,3}[.)](?=[ \t]+(?!(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)))",
    re.MULTILINE,
)
"""The number of an item, not the number of a day ("3. Mai")."""


def without_citations(text: str) -> str:
    """A text without citations and the texts of its notes.

    >>> without_citations("It was built in 1889 [1].\\n[^1]: A guide.")
    'It was built in 1889.\\n'
    """
    return _CITATION.sub("", _NOTE.sub("", text))


def without_marker(item: str) -> str:
    """An item of a list without the mark before it.

    >>> without_marker("2. Turn it off.")
    'Turn it off.'
    """
    marker = _MARKER.match(item)
    if marker:
        return item[marker.end() :]
    return item


def number_marks(text: str) -> Stretches:
    """Where numbers of citations and of items stand, in order of their kinds.

    >>> number_marks("1. It was built in 1889 [1].")
    [(23, 27), (0, 2)]
    """
    if "[" in text or not text.isascii():
        cited = [match.span() for match in _CITATION.finditer(text)]
    else:
        cited = []
    return cited + [match.span() for match in _ITEM_NUMBER.finditer(text)]
