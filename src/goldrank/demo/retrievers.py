"""Three simple retrievers: common words, BM25, and BM25 on words without their endings."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

ENDINGS = ("ing", "ed", "es", "s")
"""What `stems` takes off, the first that fits."""
SHORTEST_STEM = 3
K1 = 1.2
B = 0.75


@dataclass(frozen=True)
class Retriever:
    """How texts become words, and how the words of a question give each document a score."""

    words: Callable[[str], list[str]]
    score: Callable[[Sequence[str], Mapping[str, Counter[str]]], dict[str, float]]

    def search(
        self, questions: Mapping[str, str], documents: Mapping[str, str], depth: int
    ) -> dict[str, dict[str, float]]:
        """The best documents of each question with their scores, at most `depth`."""
        counts = {doc: Counter(self.words(text)) for doc, text in documents.items()}
        run = {}
        for query, text in questions.items():
            words = list(dict.fromkeys(self.words(text)))  # in their order, so that sums are the same in every process
            run[query] = _best(self.score(words, counts), depth)
        return run


def plain_words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return re.findall(r"\w+", text.lower())


def stems(text: str) -> list[str]:
    """The words of a text without their endings: 'leaks' and 'leaking' are 'leak'."""
    return [_stem(word) for word in plain_words(text)]


def _stem(word: str) -> str:
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


def overlap(words: Sequence[str], documents: Mapping[str, Counter[str]]) -> dict[str, float]:
    """The number of common words; of equal numbers the document that has them more often is ahead."""
    scores = {}
    for doc, counts in documents.items():
        common = sum(word in counts for word in words)
        occurrences = sum(counts[word] for word in words)
        scores[doc] = common + occurrences / 1000
    return scores


def bm25(words: Sequence[str], documents: Mapping[str, Counter[str]]) -> dict[str, float]:
    """Okapi BM25 with k1 = 1.2 and b = 0.75."""
    lengths = {doc: counts.total() for doc, counts in documents.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores = dict.fromkeys(documents, 0.0)

    for word in words:
        holders = [doc for doc, counts in documents.items() if word in counts]
        weight = math.log(1 + (len(documents) - len(holders) + 0.5) / (len(holders) + 0.5))
        for doc in holders:
            frequency = documents[doc][word]
            length = 1 - B + B * lengths[doc] / mean
            scores[doc] += weight * frequency * (K1 + 1) / (frequency + K1 * length)

    return scores


def _best(scores: Mapping[str, float], depth: int) -> dict[str, float]:
    """The documents with the highest scores; equal ones in the order of trec_eval, the last id first."""
    hits = sorted((doc for doc in scores if scores[doc] > 0), reverse=True)
    hits.sort(key=scores.__getitem__, reverse=True)
    return {doc: scores[doc] for doc in hits[:depth]}


RETRIEVERS = {
    "overlap": Retriever(plain_words, overlap),
    "bm25": Retriever(plain_words, bm25),
    "stems": Retriever(stems, bm25),
}
