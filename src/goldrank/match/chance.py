"""How many references are covered by chance: the references of a question, compared with the texts of another one.

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
"""With fewer questions there is no estimate."""
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
        self.questions: list[Sourced] = []
        self._random = np.random.default_rng(SEED)
        self._seen = 0

    def passing(self, items: Iterable[Sourced]) -> Iterator[TextItem]:
        """The items as they are; each is as likely to be in the sample as any other."""
        for item, sources in items:
            if item.references:
                self._add(item, sources)
            yield item

    def _add(self, item: TextItem, sources: frozenset[str]) -> None:
        self._seen += 1
        if len(self.questions) < MOST_QUESTIONS:
            index = len(self.questions)
        else:
            index = int(self._random.integers(self._seen))

        if index == len(self.questions):
            self.questions.append((item, sources))
        elif index < MOST_QUESTIONS:
            self.questions[index] = item, sources


def covered(pairs: Placements, k: int | None) -> np.ndarray:
    """Per question, how many references the first k texts cover."""
    first = pairs.per_label
    if k is None:
        is_near = np.ones(len(first.query), bool)
    else:
        is_near = first.rank <= k
    return first.count(is_near)


def chance_level(
    sample: Sequence[Sourced], matcher: Matcher, split: Splitter | None = None, k: int | None = None
) -> ChanceLevel | None:
    """The level of chance for the first k texts; None for too few questions."""
    if len(sample) < LEAST_QUESTIONS:
        return None

    generator = np.random.default_rng(SEED)
    shift = int(generator.integers(1, len(sample)))
    contents = [_contents(*sourced) for sourced in sample]
    swapped: list[TextItem] = []
    for i, (item, _) in enumerate(sample):
        others = ((i + shift + step) % len(sample) for step in range(len(sample)))
        j = next((j for j in others if j != i and contents[i].isdisjoint(contents[j])), None)
        if j is not None:
            swapped.append(replace(item, query=str(len(swapped)), retrieved=sample[j][0].retrieved, spans=None))

    if len(swapped) < LEAST_QUESTIONS:
        return None

    pairs = place_items(swapped, matcher, split=split)[0].pairs
    hits = covered(pairs, k).astype(np.float64)
    totals = np.diff(pairs.judged_start).astype(np.float64)
    drawn = generator.integers(0, len(hits), (RESAMPLES, len(hits)))
    shares = hits[drawn].sum(axis=1) / np.maximum(totals[drawn].sum(axis=1), 1.0)
    low, high = np.quantile(shares, (0.025, 0.975)).tolist()
    # Where questions are all alike, no resample differs; then it is the exact limit for this number of questions.
    if not hits.any():
        high = 1 - 0.025 ** (1 / len(hits))
    elif (hits == totals).all():
        low = 0.025 ** (1 / len(hits))

    return ChanceLevel(float(hits.sum() / max(totals.sum(), 1.0)), low, high, len(swapped))


def _contents(item: TextItem, sources: frozenset[str]) -> set[tuple[str, str]]:
    """What two questions must not share: a match between them would not be one by chance."""
    texts = {("text", text) for text in item.retrieved if text.strip()}
    references = {("reference", text) for reference in item.references for text in reference.texts}
    source_names = set(sources)
    for position in item.spans or ():
        source_names.update(span.source for span in parts_of(position))
    return texts | references | {("source", name) for name in source_names}
