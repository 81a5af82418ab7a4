"""How many references are covered by chance: those of a question held against the texts of another one.

It is an upper bound, since a text of another question may truly hold a reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from goldrank.data.placements import Placements
from goldrank.data.spans import parts_of
from goldrank.data.text_item import TextItem
from goldrank.match.matcher import Matcher
from goldrank.match.pairs import Splitter, place_items

LEAST_QUESTIONS = 20
"""With fewer, nothing is said."""
MOST_QUESTIONS = 200
RESAMPLES = 1_000
SEED = 0

Sourced = tuple[TextItem, frozenset[str]]
"""A question, and the sources of its texts as far as they are known."""


class ChanceLevel(NamedTuple):
    """The share of references that texts of other questions cover, and its interval, by bootstrap over questions."""

    share: float
    low: float
    high: float
    questions: int


class Sample:
    """A sample of questions with references, taken while they pass by."""

    def __init__(self) -> None:
        self.kept: list[Sourced] = []
        self._random = np.random.default_rng(SEED)
        self._seen = 0

    def passing(self, items: Iterable[Sourced]) -> Iterator[TextItem]:
        """The items as they are; each is as likely to be kept as any other."""
        for item, sources in items:
            if item.references:
                self._seen += 1
                if len(self.kept) < MOST_QUESTIONS:
                    at = len(self.kept)
                else:
                    at = int(self._random.integers(self._seen))
                if at == len(self.kept):
                    self.kept.append((item, sources))
                elif at < MOST_QUESTIONS:
                    self.kept[at] = item, sources
            yield item


def covered(pairs: Placements, k: int | None) -> np.ndarray:
    """Per question, how many references the first k texts cover."""
    first = pairs.per_label
    return first.count(np.ones(len(first.query), bool) if k is None else first.rank <= k)


def chance_level(
    sample: Sequence[Sourced], matcher: Matcher, split: Splitter | None = None, k: int | None = None
) -> ChanceLevel | None:
    """The level of chance for the first k texts; None for too few questions."""
    if len(sample) < LEAST_QUESTIONS:
        return None

    generator = np.random.default_rng(SEED)
    shift = int(generator.integers(1, len(sample)))
    contents = [_told(*sourced) for sourced in sample]
    swapped: list[TextItem] = []
    for i, (item, _) in enumerate(sample):
        others = ((i + shift + step) % len(sample) for step in range(len(sample)))
        j = next((j for j in others if j != i and contents[i].isdisjoint(contents[j])), None)
        if j is not None:
            swapped.append(replace(item, query=str(len(swapped)), retrieved=sample[j][0].retrieved, spans=None))

    if len(swapped) < LEAST_QUESTIONS:
        return None

    pairs = place_items(swapped, matcher, split=split)[0].pairs
    hits, there = covered(pairs, k).astype(np.float64), np.diff(pairs.judged_start).astype(np.float64)
    drawn = generator.integers(0, len(hits), (RESAMPLES, len(hits)))
    shares = hits[drawn].sum(axis=1) / np.maximum(there[drawn].sum(axis=1), 1.0)
    low, high = np.quantile(shares, (0.025, 0.975)).tolist()
    # Where questions are all alike, no resample differs; then it is the exact limit for so many questions.
    if not hits.any():
        high = 1 - 0.025 ** (1 / len(hits))
    elif (hits == there).all():
        low = 0.025 ** (1 / len(hits))

    return ChanceLevel(float(hits.sum() / max(there.sum(), 1.0)), low, high, len(swapped))


def _told(item: TextItem, sources: frozenset[str]) -> set[tuple[str, str]]:
    """What two questions must not share, since a match would then be none by chance."""
    texts = {("text", text) for text in item.retrieved if text.strip()}
    references = {("reference", text) for reference in item.references for text in reference.texts}
    spans = {("source", span.source) for place in item.spans or () for span in parts_of(place)}
    return texts | references | spans | {("source", source) for source in sources}
