"""How texts are compared and counted: by which rule, cut into what, with what credit, and what a token is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from typing import Any, NamedTuple

import numpy as np

from goldrank.base.errors import InputError, OptionError, one_of
from goldrank.match import Matcher, folding
from goldrank.match.pairs import Splitter
from goldrank.measures import Measure

UNITS = ("chunk", "sentence")


class TextRules(NamedTuple):
    """How texts are compared: by which rule, cut into what, and with what credit."""

    matcher: Matcher
    split: Splitter | None
    unit: str
    credit: str

    def __str__(self) -> str:
        words = f"{self.matcher} by {self.unit}, credit {self.credit}"
        if self.matcher.folds:
            return f"{words}, {folding.NAME}"
        return words


def splitter(unit: str | Splitter) -> Splitter | None:
    """What cuts texts into units; None for whole texts."""
    if callable(unit):
        return unit
    if one_of(unit, UNITS, "unit") == "chunk":
        return None
    from goldrank.match.units import sentences

    return sentences


def unit_name(unit: str | Splitter) -> str:
    """A unit as it is shown."""
    if isinstance(unit, str):
        return unit
    return getattr(unit, "__name__", "your own unit")


def counts_tokens(measure: Measure) -> bool:
    """Whether a measure needs to know how many tokens texts have."""
    return measure.declaration.counts_tokens or measure.option("tokens") is not None


def token_counter(tokens: Callable[[str], Any] | None) -> Callable[[str], int]:
    """A function that counts the tokens of a text, by the user's function or by words."""
    from goldrank.match.tokens import words

    tokens_of: Callable[[str], Any] = words
    if tokens is not None:
        tokens_of = tokens

    def counted(text: str) -> int:
        returned = tokens_of(text)
        if isinstance(returned, int | np.integer) and not isinstance(returned, bool) and returned >= 0:
            return int(returned)
        is_scalar = isinstance(returned, np.ndarray) and not returned.ndim
        if isinstance(returned, Sized) and not is_scalar and not isinstance(returned, str | bytes | Mapping):
            return len(returned)
        raise InputError(
            f"the function for tokens returned {returned!r:.60}, neither tokens nor their number",
            hint="For example lambda text: len(text.split()); of a tokenizer of transformers, its method tokenize.",
            code="bad-token-count",
        )

    return counted


def token_offsets(tokens: Callable[[str], Any]) -> Callable[[str], list[tuple[int, int]]]:
    """A function that says where the tokens of a user's function stand in a text."""
    wrong = OptionError(
        'lengths="token" needs tokens that say where they stand',
        hint="A function that returns the tokens as they stand in the text, or (start, end) of each.",
        code="tokens-without-places",
    )

    def offsets(text: str) -> list[tuple[int, int]]:
        returned = tokens(text)
        if isinstance(returned, int | np.integer):
            raise wrong

        spans: list[tuple[int, int]] = []
        end = 0
        for token in returned:
            if isinstance(token, str):
                start = text.find(token, end)
                if start < 0:
                    raise wrong
                end = start + len(token)
                spans.append((start, end))
            elif isinstance(token, tuple | list) and len(token) == 2:
                spans.append((int(token[0]), int(token[1])))
            else:
                raise wrong

        return spans

    return offsets
