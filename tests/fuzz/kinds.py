"""What is fuzzed, and how often. A kind is a module with `make(rng) -> spec` and `check(spec, folder)`.

A spec is plain data, so that a finding can be kept in a file and tried again. `check` raises on a finding.
"""

from __future__ import annotations

import base64
import json
import os
import random
from importlib import import_module
from typing import Any

SHARES = {"readers": 10, "rows": 4, "saved": 3, "spellings": 4, "texts": 2, "written": 2}
PLANTED = "planted"
"""A kind that has faults of every sort, for the test of the fuzzer itself."""

_TURNS = [kind for kind, share in SHARES.items() for _ in range(share)]


def kind_of(number: int) -> str:
    """The kind of a mutation, by its number."""
    return os.environ.get("GOLDRANK_FUZZ_KIND") or _TURNS[number % len(_TURNS)]


def make(kind: str, number: int) -> dict[str, Any]:
    """The mutation of a number: the same at all times and everywhere."""
    made: dict[str, Any] = import_module(f"tests.fuzz.{kind}").make(random.Random(f"{kind}:{number}"))
    return made


def check(kind: str, spec: dict[str, Any], folder: Any) -> None:
    import_module(f"tests.fuzz.{kind}").check(spec, folder)


def to_json(data: Any) -> str:
    return json.dumps(data, indent=1, default=lambda value: {"base64": base64.b64encode(value).decode()})


def from_json(text: str) -> Any:
    def restored(found: dict[str, Any]) -> Any:
        return base64.b64decode(found["base64"]) if list(found) == ["base64"] else found

    return json.loads(text, object_hook=restored)
