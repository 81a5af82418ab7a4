"""continuous-eval's datasets: shapes, files, frames, example data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from raising import raises_code

from goldrank.base.errors import InputError, OptionError
from goldrank.compat.continuous_eval import (
    SHAPES,
    Dataset,
    LLMBasedContextCoverage,
    LLMBasedContextPrecision,
    PrecisionRecallF1,
    RankedRetrievalMetrics,
    RetrievalEvaluator,
    TokenCount,
    example_data,
    example_data_downloader,
)

VALUES: dict[str, Any] = {
    "question": "What is the capital of France?",
    "answer": "Paris",
    "ground_truths": ["Paris"],
    "retrieved_contexts": ["Paris is in France."],
    "ground_truth_contexts": ["Paris is the capital of France."],
}
DATA = [VALUES, {**VALUES, "answer": "I don't know", "question": "Why?"}]


def test_shapes_of_the_documents_version() -> None:
    assert [tuple(one.names[0] for one in shape) for shape in SHAPES] == [
        ("answer", "question"),
        ("answer", "ground_truths"),
        ("answer", "retrieved_contexts"),
        ("question", "retrieved_contexts"),
        ("retrieved_contexts", "ground_truth_contexts"),
    ]
    for shape in SHAPES:
        Dataset([{one.names[0]: VALUES[one.names[0]] for one in shape}])


@pytest.mark.parametrize("fields", [("question",), ("answer",), ("ground_truth_contexts", "question"), ()])
def test_what_is_no_shape(fields: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="datum 0 has only") as caught:
        Dataset([{name: VALUES[name] for name in fields}])
    assert "retrieved_contexts, ground_truth_contexts" in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("question", 5),
        ("question", ["?"]),
        ("answer", None),
        ("retrieved_contexts", 5),
        ("retrieved_contexts", ["a", 5]),
        ("ground_truth_contexts", "a"),
        ("ground_truths", [5]),
        ("ground_truth_relevance", ["high"]),
    ],
)
def test_fields_are_checked(field: str, value: Any) -> None:
    good = {**VALUES, "ground_truth_relevance": [1]}
    with pytest.raises(InputError, match=f"datum 1: {field} is"):
        Dataset([good, {**good, field: value}])


def test_one_context_may_stand_alone() -> None:
    dataset = Dataset([{**VALUES, "retrieved_contexts": "Paris is in France."}])
    dataset.validate()
    assert len(dataset.data) == 1


def test_names_of_later_versions() -> None:
    data = [{"retrieved_context": ["a"], "ground_truth_context": ["a"]}]
    Dataset(data)
    assert RetrievalEvaluator(data, [RankedRetrievalMetrics()]).run()[0]["ndcg"] == 1.0


def test_an_empty_dataset() -> None:
    with pytest.raises(InputError, match="Dataset is empty"):
        Dataset([])


def test_a_dataset_is_checked_when_it_is_made(tmp_path: Path) -> None:
    """As in 0.2.4. Parts of a dataset, which there are plain frames, may be empty."""
    for wrong in ([{"question": "?"}], [{**VALUES, "question": 5}], [VALUES, {"answer": "x"}], iter([])):
        with pytest.raises(InputError):
            Dataset(wrong)
        with pytest.raises(InputError):
            Dataset.from_data(wrong)
    path = tmp_path / "data.jsonl"
    path.write_text('{"question": "?"}\n')
    with pytest.raises(InputError, match="datum 0 has only: 'question'") as caught:
        Dataset.from_jsonl(path)
    assert "data.jsonl" in str(caught.value.where)
    assert len(Dataset(DATA)[:0]) == len(Dataset(DATA).filter(lambda datum: False)) == 0
    assert len(Dataset(datum for datum in DATA)) == 2


@pytest.mark.parametrize("given", ["data.jsonl", {"question": ["?"]}, 5, None, [["a"]]])
def test_what_is_no_dataset(given: Any) -> None:
    with pytest.raises(InputError):
        Dataset(given)


def test_a_dataset_is_used_as_in_its_documents() -> None:
    dataset = Dataset(DATA)
    assert len(dataset) == 2
    assert [datum["answer"] for datum in dataset.iterate()] == ["Paris", "I don't know"]
    assert dataset.datum(0)["question"] == dataset[0]["question"] == VALUES["question"]
    assert dataset["answer"] == ["Paris", "I don't know"]
    assert dataset.columns == list(VALUES)
    assert isinstance(dataset[:1], Dataset)
    assert len(dataset[:1]) == 1
    assert len(dataset.filter(lambda datum: datum["answer"] == "Paris")) == 1
    assert dataset.to_pandas()["answer"].str.contains("I don't know").sum() == 1
    with pytest.raises(InputError, match="datum 0 has no 'x'"):
        dataset["x"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda data: pl.DataFrame(data).to_arrow()])
def test_frames(make: Any) -> None:
    dataset = Dataset(make([*DATA, {**VALUES, "note": "x"}]))
    assert list(dataset[:2]) == DATA  # a cell that is missing is left out
    assert dataset.datum(2) == {**VALUES, "note": "x"}
    with pytest.raises(InputError, match="datum 2 has no 'answer'"):
        Dataset(make([*DATA, {"question": "?", "retrieved_contexts": ["a"]}]))
    evaluator = RetrievalEvaluator(make(DATA), [PrecisionRecallF1()])
    assert len(evaluator.run()) == 2
    assert Dataset.from_data(DATA)["answer"] == dataset[:2]["answer"]


# Files.


def test_what_was_tolerated_is_told(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_bytes(b'{"question": "caf\xe9", "answer": ""}\n\n{"question": "b", "answer": ""}\r\n')
    found = Dataset.from_jsonl(path)
    assert len(found) == 2
    assert {note.code for note in found.notes} == {"not-utf8", "blank-lines"}


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('{"a": 1}\n\nnot json\n', ":3:1", "is not JSON"),
        ("[1]\n", ":1", "is not a JSON object"),
        ('{"a": 1}\n{"a": 1, "a": 2}\n', ":2", "key 'a' occurs twice"),
        ('{"a": 1}\n{"a": \n', ":2", "is not JSON"),
    ],
)
def test_files_that_are_wrong(text: str, place: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        Dataset.from_jsonl(path)
    assert f"data.jsonl{place}" in str(caught.value.where)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl"):
        Dataset.from_jsonl(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="datum 0 cannot be written as JSON"):
        Dataset([{**VALUES, "note": object()}]).to_jsonl(tmp_path / "out.jsonl")


# Example data.


@pytest.mark.parametrize("resource", ["retrieval", "graded", "correctness", "faithfulness"])
def test_example_data_are_valid_and_their_own(resource: str) -> None:
    dataset = example_data_downloader(resource)
    dataset.validate()
    dataset.data[0]["question"] = "changed"  # type: ignore[index]
    assert example_data(resource).datum(0)["question"] != "changed"


def test_example_data_fit_their_metrics() -> None:
    matching = [RankedRetrievalMetrics(), PrecisionRecallF1(), TokenCount()]
    judged = [LLMBasedContextPrecision(judge=lambda *_: True), LLMBasedContextCoverage(judge=lambda *_: True)]
    for resource in ("retrieval", "graded"):
        assert RetrievalEvaluator(example_data(resource), [*matching, judged[0]]).run()
    assert RetrievalEvaluator(example_data("faithfulness"), judged).run()


def test_example_data_that_are_not_here() -> None:
    with raises_code(OptionError, "downloads-nothing"):
        example_data_downloader("graham_essays/small/txt")
    with pytest.raises(OptionError, match="resource"):
        example_data_downloader(5)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="Did you mean retrieval"):
        example_data_downloader("retrievall")
