"""Names and numbers of a text, found by rules: what an answer is about."""

from __future__ import annotations

import re

from goldrank.match.folding import fold
from goldrank.match.guards import quantities
from goldrank.match.units import begins_sentences, sentences

_NAME = re.compile(r"(?<!\w)[^\W\d_]['’\w-]*(?:\s+(?:(?:of|the|de|da|van|von|du|di)\s+)?[^\W\d_a-z]['’\w-]*)*")


def entities(text: str) -> list[str]:
    """The distinct names and numbers of a text, in order: runs of capitalised words, and numbers as they stand.

    A word that begins sentences ("The", "However") is no name, nor the beginning of one.

    >>> entities("The Eiffel Tower in Paris opened in 1889. It is 330 m tall.")
    ['Eiffel Tower', 'Paris', '1889', '330']
    """
    found: dict[str, str] = {}
    for sentence in sentences(text):
        places = [(number.start, sentence[number.start : number.end]) for number in quantities(sentence)]
        for match in _NAME.finditer(sentence):
            words = list(re.finditer(r"\S+", match[0]))
            while words and (begins_sentences(words[0][0]) or not words[0][0][0].isupper()):
                del words[0]
            if words:
                name = match[0][words[0].start() :].rstrip("'’-")
                places.append((match.start() + words[0].start(), name.removesuffix("'s").removesuffix("’s")))
        for _, entity in sorted(places):
            found.setdefault(fold(entity), entity)
    return list(found.values())
