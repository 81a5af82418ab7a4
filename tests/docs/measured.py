"""The rows of benchmarks/RESULTS.md, for pages that repeat some of them."""

from __future__ import annotations

from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "RESULTS.md"
UNITS = {"ms": 1e-3, "s": 1, "MB": 1e6, "GB": 1e9}


def rows() -> dict[tuple[str, str], dict[str, float]]:
    """By job and tool: seconds, seconds of CPU and bytes of own memory, as far as they are rounded there."""
    text = RESULTS.read_text(encoding="utf-8")
    found = {}
    for line in text[text.index("\n## Measurements") :].splitlines():
        row = line.strip("| ").split(" | ")
        cells = [cell.strip().split() for cell in row[2:5]]
        if len(row) >= 9 and all(len(cell) == 2 and cell[1] in UNITS for cell in cells):
            values = [float(number) * UNITS[unit] for number, unit in cells]
            found[row[0], row[1]] = dict(zip(("time", "cpu", "memory"), values, strict=True))
    return found
