"""The reference values of `tests/files/golden/statistics.json`: each case says which other program made it."""

import json
from typing import Any

import places

DATA = json.loads((places.FILES / "golden" / "statistics.json").read_text(encoding="utf-8"))


def case(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Inputs and expected values of a case."""
    found = next(case for case in DATA["cases"] if case["id"] == name)
    return found["inputs"], found["expected"]
