"""The rule that two texts match when they are the same."""

from __future__ import annotations


def same(retrieved: str, reference: str) -> bool:
    """Whether the texts are equal, character for character.

    >>> same("Paris", "paris")
    False
    """
    return retrieved == reference
