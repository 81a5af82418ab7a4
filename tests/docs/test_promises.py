"""What docs/promises.md promises about names."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import goldrank

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.slow
def test_public_names_are_those_of_the_list():
    """Whoever changes something public sees it here. `python docs/public_names.py` writes the list anew."""
    code = "import public_names; print('\\n'.join(public_names.lines()))"
    found = subprocess.run([sys.executable, "-c", code], cwd=DOCS, capture_output=True, text=True, check=True)
    listed = (DOCS / "public_names.txt").read_text(encoding="utf-8").splitlines()
    assert set(found.stdout.splitlines()) == set(listed)
    assert "goldrank.evaluate" in "\n".join(listed)


def test_the_same_call_gives_the_same_numbers():
    """Of functions that draw random numbers and take no seed; those that take one have it as an argument."""
    texts = [(f"word{i % 7} was here in {1900 + i % 5}", 1 - i / 100) for i in range(60)]
    items = [
        {"id": str(i), "retrieved": texts[i : i + 5], "references": [texts[(3 * i) % 60][0]], "answerable": i % 3 != 0}
        for i in range(40)
    ]
    calls = (
        lambda: goldrank.evaluate_texts(items, "Cover@5", matching="token-recall:0.5").notes,
        lambda: str(goldrank.sweep({"items": items}, k=[1, 2], matching="contains")),
        lambda: str(goldrank.abstention_curve(items, matching="contains")),
    )
    for call in calls:
        assert call() == call()


def test_a_name_of_now_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert goldrank.rank_agreement
        assert goldrank.compare
