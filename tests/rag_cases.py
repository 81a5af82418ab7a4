"""The reference cases of `files/golden/rag.json`, by group; its NOTICE says where they come from."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import places


@cache
def _all() -> list[dict[str, Any]]:
    text = (places.FILES / "golden" / "rag.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["cases"]
    return found


def cases(group: str) -> list[dict[str, Any]]:
    """The cases of a group; a group that is missing is a mistake."""
    found = [case for case in _all() if case["group"] == group]
    assert found, group
    return found
