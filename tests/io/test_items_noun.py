"""The noun `Items`: what it has, how it compares, and ids as judgements and a run."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import goldrank
from goldrank import Item, Items, evaluate, read_items
from goldrank.base.errors import InputError, OptionError

TEXTS = [
    {"id": "a", "question": "who?", "retrieved": ["a man", "a plan"], "references": ["a plan"], "latency": 0.5},
    {"id": "b", "question": "why?", "retrieved": [], "references": [["x", "y"]], "response": "so", "answerable": True},
]
RAGAS = [
    {"user_input": "who?", "retrieved_context_ids": ["d1", "d2", "d3"], "reference_context_ids": ["d2", "d9"]},
    {"user_input": "why?", "retrieved_context_ids": ["d4"], "reference_context_ids": ["d4"]},
    {"user_input": "when?", "retrieved_context_ids": [], "reference_context_ids": ["d5"]},
]
LLAMAINDEX = [
    {"query": record["user_input"], "retrieved_ids": record["retrieved_context_ids"],
     "expected_ids": record["reference_context_ids"]} for record in RAGAS
]  # fmt: skip
LANGSMITH = [
    {"inputs": {"question": record["user_input"]}, "outputs": {"retrieved_ids": record["retrieved_context_ids"]},
     "reference_outputs": {"expected_ids": record["reference_context_ids"]}, "id": f"run{i}"}
    for i, record in enumerate(RAGAS)
]  # fmt: skip
GRADED = [
    {"qid": "q1", "retrieved_ids": {"d1": 0.2, "d2": 0.9}, "expected_ids": {"d1": 2, "d2": 1}},
    {"qid": "q2", "retrieved_ids": ["d1"], "expected_ids": [{"id": "d1", "grade": 3}]},
]
MEASURES = ["RR", "R@2", "nDCG@3"]


def test_iteration_gives_items() -> None:
    first, second = Items(TEXTS)
    assert first == Item("a", "who?", ("a man", "a plan"), (("a plan",),), "", None, 0.5)
    assert second == Item("b", "why?", (), (("x", "y"),), "so", True, None)


def test_what_items_have(tmp_path: Path) -> None:
    items = Items(TEXTS, name="bm25")
    assert (items.name, len(items), repr(items)) == ("bm25", 2, "Items('bm25')")
    assert {query: known.text for query, known in items.queries.items()} == {"a": "who?", "b": "why?"}
    assert items.failures == ()
    assert len(items.digest) == 64
    assert items.renamed("dense").name == "dense"
    assert items.name == "bm25"
    items.save(tmp_path / "items.jsonl")
    assert [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()] == TEXTS
    assert read_items(tmp_path / "items.jsonl") == items
    assert read_items(tmp_path / "items.jsonl").name == "items.jsonl"


def test_items_are_equal_by_content() -> None:
    assert Items(TEXTS) == Items([dict(record) for record in TEXTS], name="other")
    assert Items(TEXTS) != Items(TEXTS[:1])
    assert Items(TEXTS) != TEXTS
    with pytest.raises(TypeError, match="unhashable"):
        hash(Items(TEXTS))


def test_items_do_not_change_with_the_list_they_were_made_of() -> None:
    records = [dict(record) for record in TEXTS]
    items = Items(records)
    records.clear()
    assert len(items) == 2
    with pytest.raises(AttributeError):
        items.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize("wrong", ["rag.jsonl", {"retrieved": [["a"]]}, pl.DataFrame({"a": [1]}), 5, None])
def test_items_are_made_of_records(wrong: Any) -> None:
    with pytest.raises(InputError):
        Items(wrong)


def test_reading_again_says_otherwise_only_what_is_said() -> None:
    records = [{**TEXTS[0], "retrieved": ["a", None]}, {**TEXTS[1], "retrieval_error": {"type": "E", "text": "no"}}]
    skipped = read_items(records, failures="skip")
    both = read_items(skipped, nulls="empty", name="both")
    assert [(item.query, item.retrieved) for item in both] == [("a", ("a", ""))]
    assert both.name == "both"
    other = read_items([{**TEXTS[0], "docs": ["other"]}], fields={"latency": None})
    assert next(iter(read_items(other, fields={"retrieved": "docs"}))).retrieved == ("other",)
    assert next(iter(read_items(other, fields={"retrieved": "docs"}))).latency is None
    with pytest.raises(OptionError, match="Items already"):
        read_items(other, format="json")


def test_gold_with_fields_of_its_own() -> None:
    found = [{"id": "a", "docs": ["x"]}]
    gold = read_items([{"key": "a", "wanted": ["x"]}], fields={"query": "key", "references": "wanted"})
    [item] = read_items(found, fields={"retrieved": "docs"}, gold=gold)
    assert (item.retrieved, item.references) == (("x",), (("x",),))
    fields = {"retrieved": "docs", "references": "wanted"}
    [item] = read_items(found, fields=fields, gold=[{"id": "a", "wanted": ["y"]}])
    assert item.references == (("y",),)


# Ids as judgements and as a run.


@pytest.mark.parametrize("records", [RAGAS, LLAMAINDEX, LANGSMITH, GRADED], ids=["ragas", "llama", "smith", "graded"])
def test_ids_give_what_records_gave(records: list[dict[str, Any]], tmp_path: Path) -> None:
    """Records that name ids are judgements and a run. nDCG@3 of the first: 1/log2(3) of 1 + 1/log2(3)."""
    second = 1 / math.log2(3)
    expected = [(1 / 2, 1 / 2, second / (1 + second)), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)]
    if records is GRADED:
        expected = [(1.0, 1.0, (1 + 2 * second) / (2 + second)), (1.0, 1.0, 1.0)]
    file = tmp_path / "records.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    for items in (Items(records), read_items(file)):
        after = evaluate(items.qrels, items.run, MEASURES)
        values = list(zip(*(after.per_query[measure].values() for measure in MEASURES), strict=True))
        assert sorted(values) == [pytest.approx(row, abs=1e-15) for row in sorted(expected)]


def test_ids_by_hand() -> None:
    """Second, first, and nothing: RR is (1/2 + 1 + 0) / 3."""
    items = Items(RAGAS)
    assert dict(items.qrels) == {"who?": {"d2": 1, "d9": 1}, "why?": {"d4": 1}, "when?": {"d5": 1}}
    assert items.run.ranking("who?") == ["d1", "d2", "d3"]
    assert set(items.queries) == set(items.qrels)
    assert evaluate(items.qrels, items.run, "RR")["RR"] == (1 / 2 + 1 + 0) / 3
    assert goldrank.evaluate_texts(items, "RR").per_query["RR"] == {"who?": 1 / 2, "why?": 1.0, "when?": 0.0}


def test_ids_under_other_names() -> None:
    records = [{"id": "q", "found": {"ids": ["a", "b"]}, "right": ["b"]}]
    items = read_items(records, fields={"retrieved_ids": "found.ids", "expected_ids": "right"})
    assert evaluate(items.qrels, items.run, "RR")["RR"] == 0.5


def test_records_without_ids_have_neither() -> None:
    with pytest.raises(InputError, match=r"items\[0\]: has no ids that were expected(.|\n)*fields={'expected_ids'"):
        _ = Items(TEXTS).qrels
    with pytest.raises(InputError, match="result 1 of query 'a' has no id"):
        _ = Items(TEXTS).run


def test_failures_that_are_left_out_are_not_judged_either() -> None:
    """A judged query without results would be a zero."""
    failed = {"query": "b", "question": "b", "retrieved": [], "expected_ids": ["d"], "retrieval_error": {"type": "E"}}
    records = [{"query": "a", "question": "a", "retrieved": [{"id": "d"}], "expected_ids": ["d"]}, failed]
    items = read_items(records, failures="skip")
    assert evaluate(items.qrels, items.run, "RR").per_query["RR"] == {"a": 1.0}
    zero = read_items(records, failures="zero")
    assert evaluate(zero.qrels, zero.run, "RR").per_query["RR"] == {"a": 1.0, "b": 0.0}
    with pytest.raises(InputError, match="failures='skip'"):
        _ = Items(records).run
