"""A small data set to try goldrank on: household tips, questions, judgements, and two simple retrievers."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Any

COMMANDS = {
    "demo": (
        "look",
        "goldrank.demo.demo_command",
        "Evaluate two small retrievers and say what the numbers mean.",
    ),
}


@cache
def load() -> dict[str, Any]:
    """The data: `documents`, `queries` and `qrels`."""
    data: dict[str, Any] = json.loads(files(__name__).joinpath("household.json").read_bytes())
    return data


def runs(depth: int = 10) -> dict[str, dict[str, dict[str, float]]]:
    """What the two retrievers return for each question, at most `depth` documents."""
    data = load()
    documents = {doc: Counter(_words(text)) for doc, text in data["documents"].items()}
    scorers = {"overlap": _overlap, "bm25": _bm25}
    return {
        name: {query: _best(score(_words(text), documents), depth) for query, text in data["queries"].items()}
        for name, score in scorers.items()
    }


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _best(scores: dict[str, float], depth: int) -> dict[str, float]:
    best = sorted((doc for doc in scores if scores[doc] > 0), key=lambda doc: (-scores[doc], doc))
    return {doc: scores[doc] for doc in best[:depth]}


def _overlap(words: list[str], documents: dict[str, Counter[str]]) -> dict[str, float]:
    """How many words of the question are in the document."""
    return {doc: float(sum(word in counts for word in set(words))) for doc, counts in documents.items()}


def _bm25(words: list[str], documents: dict[str, Counter[str]]) -> dict[str, float]:
    """Okapi BM25 with k1 = 1.2 and b = 0.75."""
    mean = sum(map(Counter.total, documents.values())) / len(documents)
    scores = dict.fromkeys(documents, 0.0)
    for word in dict.fromkeys(words):  # in their order, so that sums are the same in every process
        holders = sum(word in counts for counts in documents.values())
        weight = math.log(1 + (len(documents) - holders + 0.5) / (holders + 0.5))
        for doc, counts in documents.items():
            often = counts[word]
            if often:
                length = 0.25 + 0.75 * counts.total() / mean
                scores[doc] += weight * often * 2.2 / (often + 1.2 * length)
    return scores
