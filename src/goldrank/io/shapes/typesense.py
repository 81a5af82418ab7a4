"""Typesense's answers, also to multi_search. Its text_match is a number of more digits than a double has, and results
may be sorted by other things: their order is the ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldrank.io.shapes import Hit, Page, Shape, at, failed, listed, whole


def _recognised(data: Mapping[str, Any]) -> bool:
    hits = data.get("hits")
    if isinstance(hits, list) and hits:
        return isinstance(hits[0], Mapping) and isinstance(hits[0].get("document"), Mapping)
    return isinstance(hits, list) and ("request_params" in data or "out_of" in data)


def _page(response: Mapping[str, Any], where: str) -> Page:
    path = f"{where}.hits"
    hits = [
        Hit(hit, at(hit, "document", "id"), None, f"{path}[{i}]")
        for i, hit in enumerate(listed(response["hits"], path))
    ]
    size = whole(at(response, "request_params", "per_page"))
    before = max(0, whole(response.get("page")) - 1) * size
    return Page(hits, at(response, "request_params", "q"), before, bool(response.get("search_cutoff")))


def _failure(response: Mapping[str, Any]) -> Any:
    if "grouped_hits" in response:
        return "it has grouped results, which are no ranking; ask without group_by"
    return failed("error")(response)


SHAPE = Shape(
    "Typesense",
    ("hits", "found", "out_of", "page", "request_params", "search_time_ms", "facet_counts", "results"),
    '{"hits": [{"document": {"id": "d1"}}], "request_params": {"q": "..."}}, or {"results": [...]} of such',
    _recognised,
    _page,
    several="results",
    failure=_failure,
)
