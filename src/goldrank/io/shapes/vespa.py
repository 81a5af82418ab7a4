"""Vespa's answers: hits are the children of the root."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldrank.errors import InputError
from goldrank.io.shapes import Hit, Page, Shape, at, listed


def _recognised(data: Mapping[str, Any]) -> bool:
    root = data.get("root")
    return isinstance(root, Mapping) and ("children" in root or "relevance" in root or "coverage" in root)


def _page(response: Mapping[str, Any], where: str) -> Page:
    path = f"{where}.root.children"
    hits = []
    for i, child in enumerate(listed(response["root"].get("children", []), path)):
        if "children" in child:
            hint = "Ask without grouping: groups are no ranking."
            raise InputError("is a group of results, not a result", where=f"{path}[{i}]", hint=hint)
        doc = at(child, "fields", "documentid") or child.get("id")
        hits.append(Hit(child, doc, child.get("relevance"), f"{path}[{i}]"))
    partial = at(response, "root", "coverage", "full") is False
    return Page(hits, is_partial=partial)


def _failure(response: Mapping[str, Any]) -> Any:
    errors = at(response, "root", "errors")
    if isinstance(errors, list) and errors and not at(response, "root", "children"):
        return at(errors[0], "message") or at(errors[0], "summary") or errors[0]
    return None


SHAPE = Shape(
    "Vespa",
    ("root", "trace", "timing"),
    '{"root": {"children": [{"id": "id:ns:type::d1", "relevance": 0.5, "fields": {...}}]}}',
    _recognised,
    _page,
    failure=_failure,
)
