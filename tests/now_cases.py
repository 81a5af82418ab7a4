"""The reference cases of `files/golden/now.json`, by group; its NOTICE says where they come from."""

from __future__ import annotations

import json
from typing import Any

import places
import pytest

CASES = json.loads((places.FILES / "golden" / "now.json").read_text(encoding="utf-8"))["cases"]


def group(name: str) -> list[Any]:
    """The cases of a group, as parameters of a test."""
    return [pytest.param(case, id=case["id"]) for case in CASES if case["group"] == name]
