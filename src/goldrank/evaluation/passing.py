"""What is noticed of questions while they are read: nothing of them has to be kept for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from goldrank.data.texts import TextItem
from goldrank.io.items import Items, ReadItem

SHOWN_IDS = 1_000
"""Ids that are looked at where none match."""


class Passing:
    """What the last pass of items showed: how long texts are, equal scores next to each other, ids."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.characters = 0
        self.tied: dict[int, list[int]] = {}
        """By question, ranks whose score the next rank has too."""
        self.retrieved: list[str] = []
        self.expected: list[str] = []

    def by(self, given_items: Iterable[ReadItem]) -> Iterator[ReadItem]:
        """The items as they are."""
        self._clear()
        for number, given in enumerate(given_items):
            self.characters += sum(map(len, given.item.retrieved))
            if given.scores is not None:
                pairs = enumerate(pairwise(given.scores), 1)
                if ranks := [rank for rank, (a, b) in pairs if a is not None and a == b]:
                    self.tied[number] = ranks
            if given.by_id and len(self.expected) < SHOWN_IDS:
                self.retrieved += given.item.retrieved
                self.expected += (text for reference in given.item.references for text in reference.texts)
            yield given

    def items(self, data: Items) -> Iterator[TextItem]:
        """The same, without what else was said of them."""
        return (given.item for given in self.by(data.given()))
