"""Meilisearch's answers, also to multi-search. Results are documents; their order is the ranking unless they have a
`_rankingScore` (showRankingScore)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldrank.io import aliases
from goldrank.io.shapes import Hit, Page, Shape, failed, listed, whole


def _recognised(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("hits"), list) and bool(
        data.keys() & {"processingTimeMs", "estimatedTotalHits", "indexUid", "totalHits"}
    )


def _page(response: Mapping[str, Any], where: str) -> Page:
    path = f"{where}.hits"
    hits = []
    for i, doc in enumerate(listed(response["hits"], path)):
        key = "id" if "id" in doc else aliases.first_present(doc, aliases.LISTED_DOC)
        hits.append(Hit(doc, doc[key] if key else None, doc.get("_rankingScore"), f"{path}[{i}]"))
    before = whole(response.get("offset")) or max(0, whole(response.get("page")) - 1) * whole(
        response.get("hitsPerPage")
    )
    return Page(hits, response.get("query"), before, bool(response.get("degraded")))


SHAPE = Shape(
    "Meilisearch",
    ("hits", "query", "processingTimeMs", "estimatedTotalHits", "indexUid", "limit", "offset", "results"),
    '{"hits": [{"id": "d1"}], "query": "...", "processingTimeMs": 1}, or {"results": [...]} of such',
    _recognised,
    _page,
    several="results",
    failure=failed("message"),
)
