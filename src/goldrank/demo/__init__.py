"""A small data set to try goldrank on: household tips, questions, judgements, and three simple retrievers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

RankingsByRun: TypeAlias = "Mapping[str, Mapping[str, Mapping[str, float]]]"
"""By run and query: scores of documents, the best first."""

COMMANDS = {
    "demo": (
        "look",
        "goldrank.demo.demo_command",
        "Compare three small retrievers and say what the numbers mean.",
    ),
}


@cache
def load() -> dict[str, Any]:
    """The data: `documents`, `queries` with their text and kind, `qrels`, and by which rule they were judged."""
    data: dict[str, Any] = json.loads(files(__name__).joinpath("household.json").read_bytes())
    return data


def runs(depth: int = 10) -> dict[str, dict[str, dict[str, float]]]:
    """What each retriever returns for each question, at most `depth` documents."""
    from goldrank.demo.retrievers import RETRIEVERS

    data = load()
    questions = {query: fields["text"] for query, fields in data["queries"].items()}
    return {name: retriever.search(questions, data["documents"], depth) for name, retriever in RETRIEVERS.items()}


def title(text: str) -> str:
    """The title of a tip, which is its first sentence."""
    return text.partition(". ")[0]
