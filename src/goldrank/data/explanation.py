"""Which retrieved text covered which reference of one question, by which rule, and by which words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from goldrank.data.texts import Reference


@dataclass(frozen=True)
class Explanation:
    """One question's texts and references, pair by pair."""

    query: str
    question: str
    matcher: str
    """The rule, as it is spelled: `rouge-l:0.7`."""
    says: str
    """What a degree is, in words."""
    retrieved: Sequence[str]
    references: Sequence[Reference]
    degrees: np.ndarray
    """How much each text (row) matches each reference (column): its best alternative's degree."""
    matched: np.ndarray
    """Whether that is enough."""
    marks: Mapping[tuple[int, int], Sequence[tuple[int, int]]]
    """For each matched pair (row, column), the stretches of the text that speak for it."""
