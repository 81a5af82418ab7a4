"""The convention `chroma`: values of sets of characters, made by following its public evaluation code."""

from __future__ import annotations

from typing import Any

import pytest
from rag_cases import cases
from raising import raises_code

from goldrank import Evidence, evaluate_texts
from goldrank.base.errors import OptionError

CASES = cases("chroma")
NAMES = {
    "recall": "SpanRecall",
    "precision": "SpanPrecision",
    "iou": "SpanIoU",
    "precision_omega": "SpanPrecisionOmega",
}


def items(given: dict[str, Any]) -> list[dict[str, Any]]:
    retrieved = [{"text": "x" * (end - start), "source": source, "start": start, "end": end}
                 for source, start, end in given["retrieved"]]  # fmt: skip
    evidence = [{"source": given["corpus"], "start": start, "end": end} for start, end in given["evidence"]]
    return [{"id": "q", "retrieved": retrieved, "evidence": evidence}]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_reference_values(case: dict[str, Any]) -> None:
    given = case["inputs"]
    found = evaluate_texts(
        items(given), list(NAMES.values()), convention="chroma", evidence=Evidence(chunks=given["chunks"])
    )
    assert found.convention.startswith("chroma")
    by_name = {name.partition("(")[0]: value for name, value in found.mean.items()}
    expected = {NAMES[name]: value for name, value in case["expected"].items()}
    assert by_name == pytest.approx(expected, abs=1e-12)


def test_overlapping_evidence_and_chunks() -> None:
    """Evidence 10-30 and 20-40, chunks 0-25 and 20-30 of d and 0-40 of another corpus: covered are 10 to 30."""
    given = {"corpus": "d", "retrieved": [["d", 0, 25], ["d", 20, 30], ["e", 0, 40]], "evidence": [[10, 30], [20, 40]]}
    found = evaluate_texts(items(given), ["SpanRecall", "SpanPrecision", "SpanIoU"], convention="chroma")
    assert list(found.mean.values()) == pytest.approx([20 / 40, 20 / 75, 20 / (75 + 10)])


def test_it_measures_in_characters() -> None:
    with raises_code(OptionError, "options-conflict"):
        evaluate_texts(items(CASES[0]["inputs"]), "SpanRecall", convention="chroma", evidence=Evidence(lengths="token"))
