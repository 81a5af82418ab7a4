"""Lucene by way of Anserini and Pyserini: answers of Anserini's REST API and requests of rerankers (RankLLM), with
`candidates`; runs for DPR, with `contexts`. TREC and MS MARCO output are formats of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldrank.io import aliases
from goldrank.io.shapes import Hit, Page, Shape, listed


def _recognised(data: Mapping[str, Any]) -> bool:
    if isinstance(data.get("candidates"), list):
        return True
    contexts = data.get("contexts", data.get("ctxs"))
    return isinstance(contexts, list) and "question" in data and all(_has_id(hit) for hit in contexts)


def _has_id(hit: Any) -> bool:
    """Texts without an id are those of a data set of questions and answers."""
    return isinstance(hit, Mapping) and aliases.first_present(hit, aliases.LISTED_DOC) is not None


def _page(response: Mapping[str, Any], where: str) -> Page:
    key = next(key for key in ("candidates", "contexts", "ctxs") if key in response)
    path = f"{where}.{key}"
    hits = []
    for i, hit in enumerate(listed(response[key], path)):
        name = aliases.first_present(hit, aliases.LISTED_DOC)
        hits.append(Hit(hit, hit[name] if name else None, hit.get("score"), f"{path}[{i}]"))
    query = response.get("query")
    if isinstance(query, Mapping):
        query = query.get("qid") or query.get("id") or query.get("text")
    return Page(hits, query if query is not None else response.get("question"))


SHAPE = Shape(
    "Anserini or Pyserini",
    ("query", "candidates", "question", "contexts", "ctxs", "answers"),
    '{"query": {"qid": "q1", "text": "..."}, "candidates": [{"docid": "d1", "score": 1.5}]}',
    _recognised,
    _page,
)
