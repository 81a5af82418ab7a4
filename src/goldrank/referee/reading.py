"""Signatures as they come back from papers, tables and mails: `Signature`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from goldrank.base.errors import InputError
from goldrank.base.escaping import shown
from goldrank.data.signature import SUM, decoded, sum_of

_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))
_VANISHING = str.maketrans(dict.fromkeys("\u00ad\u200b", ""))
_WORD = re.compile(r"[a-z_]+:(?:[A-Za-z0-9._@()=,+/~*-]|%[0-9A-F]{2})*")
_FIRST = ("goldrank", "measure", "rules")
_HASHED_MEASURES = re.compile(r"[0-9a-f]{12}/[0-9]+m")
_CONSTANTS = ("True", "False", "None", "nan", "inf")
_LONGEST = 4_000


@dataclass(frozen=True)
class Signature:
    """The words of a signature, decoded.

    Examples
    --------
    >>> text = "goldrank:1.0.0 measure:nDCG@10 rules:trec_eval-10 qrels:52b5f5a0da46/2q/3j sum:b273"
    >>> Signature.read(text).measures
    ['nDCG@10']
    """

    words: Mapping[str, str]
    """By key, in order, without the sum."""

    @classmethod
    def read(cls, text: str) -> Signature:
        """A signature from text that typesetting may have changed.

        Parameters
        ----------
        text : str
            The whole signature.

        Raises
        ------
        InputError
            If it is not a signature, or was changed or cut: its sum does not fit.
        """
        plain = mended(text)
        before, separator, checksum = plain.rpartition(" sum:")
        if not separator or not before.startswith("goldrank:"):
            raise _no_signature(f"{shown(plain, 80)} does not begin with goldrank: and end with sum:")
        if len(checksum) != SUM or sum_of(before) != checksum:
            raise _no_signature("the sum does not fit: it was changed or cut")

        words: dict[str, str] = {}
        for word in before.split(" "):
            key, _, value = word.partition(":")
            if not _WORD.fullmatch(word) or key in words:
                raise _no_signature(f"the word {shown(word, 60)} is not a word of a signature")
            words[key] = decoded(value)

        missing = [key for key in _FIRST if key not in words]
        if missing:
            raise _no_signature(f"it has no word {missing[0]}:")
        return cls(words)

    @property
    def version(self) -> str:
        """The goldrank that made the number."""
        return self.words["goldrank"]

    @property
    def rules(self) -> str:
        """The convention's name."""
        return self.words["rules"]

    @property
    def measures(self) -> list[str]:
        """The measures, as goldrank spells them; none if they were too many for a signature."""
        if _HASHED_MEASURES.fullmatch(self.words["measure"]):
            return []
        return [with_quotes(measure) for measure in parted(self.words["measure"])]

    @property
    def options(self) -> dict[str, str]:
        """What differs from the convention."""
        fixed_keys = (*_FIRST, "qrels", "run")
        return {key: value for key, value in self.words.items() if key not in fixed_keys}


def mended(text: str) -> str:
    """A signature as it was written, from what typesetting made of it."""
    plain = text[:_LONGEST].translate(_VANISHING).translate(_DASHES)
    plain = plain.replace("\\_", "_").replace("\\%", "%")
    return " ".join(plain.split()).strip("`")


def parted(text: str) -> list[str]:
    """Measures that are joined by commas; a comma inside brackets does not part."""
    parts, depth = [""], 0
    for letter in text:
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def with_quotes(measure: str) -> str:
    """A measure whose words have quotes again: nDCG(gain="exp2")@10."""

    def quoted(match: re.Match[str]) -> str:
        word = match[1]
        if word in _CONSTANTS:
            return match[0]
        return f'="{word}"'

    return re.sub(r"=([A-Za-z][\w.-]*)(?=[,)])", quoted, measure)


def _no_signature(reason: str) -> InputError:
    hint = "Copy the whole line, from goldrank: to sum: and its four characters."
    return InputError(f"this is not a signature: {reason}", hint=hint, code="not-a-signature")
