"""Solr's answers in JSON (wt=json). The query is that of the echoed parameters (echoParams)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldrank.io.shapes import Hit, Page, Shape, at, listed, whole


def _recognised(data: Mapping[str, Any]) -> bool:
    return isinstance(at(data, "response", "docs"), list)


def _page(response: Mapping[str, Any], where: str) -> Page:
    inner, path = response["response"], f"{where}.response.docs"
    hits = [
        Hit(doc, doc.get("id"), doc.get("score"), f"{path}[{i}]") for i, doc in enumerate(listed(inner["docs"], path))
    ]
    partial = bool(at(response, "responseHeader", "partialResults"))
    return Page(hits, at(response, "responseHeader", "params", "q"), whole(inner.get("start")), partial)


def _failure(response: Mapping[str, Any]) -> Any:
    error = response.get("error")
    if error is None and "grouped" in response:
        return "it has grouped results, which are no ranking; ask with group=false, or group.main=true"
    return None if error is None or "response" in response else at(error, "msg") or error


SHAPE = Shape(
    "Solr",
    ("responseHeader", "response", "highlighting", "facet_counts", "debug"),
    '{"responseHeader": {"params": {"q": "..."}}, "response": {"docs": [{"id": "d1", "score": 1.5}]}}',
    _recognised,
    _page,
    failure=_failure,
)
