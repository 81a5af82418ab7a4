"""Elasticsearch and OpenSearch: the answers to _search and _msearch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldrank.io.shapes import Hit, Page, Shape, at, listed


def _recognised(data: Mapping[str, Any]) -> bool:
    return isinstance(at(data, "hits", "hits"), list)


def _page(response: Mapping[str, Any], where: str) -> Page:
    path = f"{where}.hits.hits"
    hits = [
        Hit(hit, hit.get("_id"), hit.get("_score"), f"{path}[{i}]")
        for i, hit in enumerate(listed(response["hits"]["hits"], path))
    ]
    partial = bool(response.get("timed_out")) or bool(at(response, "_shards", "failed"))
    return Page(hits, is_partial=partial)


def _failure(response: Mapping[str, Any]) -> Any:
    error = response.get("error")
    return (at(error, "reason") or error) if error is not None and "hits" not in response else None


SHAPE = Shape(
    "Elasticsearch or OpenSearch",
    ("took", "timed_out", "_shards", "hits", "responses", "aggregations", "_scroll_id"),
    '{"hits": {"hits": [{"_id": "d1", "_score": 1.5}]}}, or {"responses": [...]} of such',
    _recognised,
    _page,
    several="responses",
    failure=_failure,
)
