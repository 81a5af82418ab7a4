"""For the error about JSON that is of no known shape: the keys that it has, and the shape that is nearest to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldrank import ids
from goldrank.io import aliases, shapes

TABLE = '{"q1": {"d1": 1, ...}, ...}'
RECORD = '{"query_id": ..., "doc_id": ..., "score": ...} or {"query_id": ..., "results": [...]}'
_OTHERS: dict[str, tuple[tuple[str, ...], str]] = {
    "a record for each document": (("query_id", "doc_id", "qid", "docno", "score", "rank", "grade"), RECORD),
    "a record for each query": (("query_id", *aliases.RANKED_LISTS), RECORD),
    "ids that were expected and retrieved": (
        (*aliases.ID_LISTS["retrieved_ids"], *aliases.ID_LISTS["reference_ids"], "user_input", "question"),
        '{"query_id": ..., "retrieved_ids": [...], "expected_ids": [...]}',
    ),
    "predictions of MTEB": (
        ("mteb_model_meta", "default", "test"), '{"mteb_model_meta": ..., subset: {split: {query: {doc: score}}}}'
    ),
    "a data set of LlamaIndex": (
        ("queries", "corpus", "relevant_docs", "mode"), '{"relevant_docs": {query: [doc, ...]}, ...}'
    ),
    "_rank_eval of Elasticsearch": (
        ("requests", "metric", "details", "metric_score", "failures"), '{"requests": [{"id": ..., "ratings": [...]}]}'
    ),
    "judgements of OpenSearch": (("judgmentRatings", "type", "name"), '{"judgmentRatings": [{"query": ..., ...}]}'),
    "ratings of Quepid": (
        ("queries", "case_name", "id_field", "scorer"), '{"queries": [{"query": ..., "ratings": {doc: rating}}]}'
    ),
}  # fmt: skip
"""Shapes that are no answers of search engines: their keys, and what they look like."""


def keys(record: Mapping[Any, Any]) -> str:
    """The keys of an object for a message."""
    shown = [ids.show(str(key), 40) for key in list(record)[:20]]
    return ", ".join(shown) + (", ..." if len(record) > 20 else "") or "nothing"


def is_answer(table: Any) -> bool:
    """Whether all keys of an object are those of some search engine's answer, so that they are no queries."""
    if not isinstance(table, Mapping) or len(table) < 2:
        return False
    return any(table.keys() <= set(shape.keys) for shape in shapes.SHAPES)


def hint(record: Mapping[Any, Any]) -> str:
    """The known shape that has most of an object's keys, or the simplest one if none has any."""
    known = _OTHERS | {f"an answer of {shape.name}": (shape.keys, shape.example) for shape in shapes.SHAPES}
    present = {aliases.normal(key) for key in record if isinstance(key, str)}
    for value in list(record.values())[:3]:
        if isinstance(value, Mapping):
            present |= {aliases.normal(key) for key in list(value)[:20] if isinstance(key, str)}

    def common(name: str) -> int:
        return len(present & {aliases.normal(key) for key in known[name][0]})

    best = max(known, key=common)
    if not common(best):
        return f"Expected {TABLE}, or {RECORD}."
    return f"The nearest known shape is {best}: {known[best][1]}. Found keys: {keys(record)}."
