"""docs/texts_inputs.md: every name of a field that it lists is known, and means what its row says."""

from __future__ import annotations

import re
from typing import Any

import places
import pytest

import goldrank
from goldrank import evaluate_texts

PAGE = (places.ROOT / "docs" / "texts_inputs.md").read_text(encoding="utf-8")
ROWS = {what: re.findall(r"`([\w.]+)`", names) for what, names in re.findall(r"^\| ([^|]+) \| (.+) \|$", PAGE, re.M)}
CONTRARY = ("no_answer", "unanswerable", "is_impossible")


def item(what: str, name: str) -> tuple[dict[str, Any], str]:
    """A question that has the field, and the measure that is 1 only if the field was read."""
    plain = {"retrieved": ["it was a tower.", "x"], "references": ["tower"]}
    if what.startswith("retrieved texts"):
        return {name: plain["retrieved"], "references": ["tower"]}, "Cover@2"
    if what == "references":
        fields = {"input": "?", "actual_output": "y", "retrieval_context": plain["retrieved"]}
        return (fields if name == "context" else {"retrieved": plain["retrieved"]}) | {name: ["tower"]}, "Cover@2"
    if what.startswith("references, if"):
        return {"retrieved": plain["retrieved"], name: "tower"}, "Cover@2"
    if what == "the answer that is right":
        return plain | {"references": ["nothing of it"], name: "it was a tower."}, "context_recall"
    return plain | {name: "it was a tower."}, "Faithfulness"


CASES = [
    (what, name)
    for what in ROWS
    if what.startswith(("retrieved texts", "references", "the answer"))
    for name in ROWS[what]
]


@pytest.mark.parametrize(("what", "name"), CASES)
def test_fields_of_texts(what: str, name: str) -> None:
    asked, measure = item(what, name)
    assert evaluate_texts([asked], [measure], matching="contains")[measure] == 1.0


def test_there_are_cases() -> None:
    assert len(CASES) > 25


@pytest.mark.parametrize("name", ROWS["whether there is an answer"])
def test_whether_there_is_an_answer(name: str) -> None:
    items = [{"retrieved": [], name: name in CONTRARY}, {"retrieved": ["a"], "references": ["a"]}]
    assert evaluate_texts(items, "AbstainRight", matching="contains")["AbstainRight"] == 1.0


@pytest.mark.parametrize("name", [name for name in ROWS["query id"] if name != "query"])
def test_ids_of_queries(name: str) -> None:
    scores = evaluate_texts([{"retrieved": ["a"], "references": ["a"], name: "mine"}], "RR", matching="contains")
    assert list(scores.per_query["RR"]) == ["mine"]


@pytest.mark.parametrize("name", ROWS["scores of the retrieved texts"])
def test_scores_of_texts(name: str) -> None:
    items = [
        {"retrieved": ["a"], "references": ["a"], name: [0.2]},
        {"retrieved": ["b"], "answerable": False, name: [0.1]},
    ]
    assert evaluate_texts(items, "AUROC", matching="contains")["AUROC"] == 1.0


def test_the_code_runs(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record = {"outputs": {"documents": ["it was a tower."]}, "reference_outputs": {"passages": ["tower"]}}
    names: dict[str, Any] = {
        "goldrank": goldrank,
        "runs": [record],
        "retriever": lambda question: ["it was a tower."],
        "questions": [{"question": "what was it?", "references": ["a tower"]}],
    }
    fields, retrieving = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    *before, last = fields.strip().splitlines()
    exec("\n".join(before), names)
    assert eval(last, names)["Cover@5"] == 1.0
    exec(retrieving, names)
    assert names["scores"].mean == {"Cover@5": 1.0, "nDCG@10": 1.0}
    assert evaluate_texts("retrieved.jsonl", "Cover@5")["Cover@5"] == 1.0
