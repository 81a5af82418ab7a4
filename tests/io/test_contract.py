"""Records of the contract, and of tools that write something near it, as `eval FILE` reads them."""

from __future__ import annotations

import json

import pytest

from goldrank import InputError, evaluate, read_items, read_qrels, read_run
from goldrank.io import aliases

SHAPES = {
    "canonical": {"id": "q", "retrieved": [{"id": "x", "score": 2}, {"id": "d1", "score": 1}],
                  "expected": [{"id": "d1"}]},
    "scores order": {
        "id": "q", "retrieved": [{"id": "d1", "score": 1}, {"id": "x", "score": 2.5}], "expected": [{"id": "d1"}],
    },
    "without scores": {"id": "q", "retrieved": [{"id": "x"}, {"id": "d1"}], "expected": [{"id": "d1", "grade": 3}]},
    "map of grades": {"id": "q", "retrieved": [{"id": "x"}, {"id": "d1"}], "expected": {"d1": 1, "x": 0}},
    "objects and ids": {"id": "q", "retrieved": [{"id": "x"}, {"id": "d1"}], "expected_ids": ["d1"]},
    "ids and objects": {"id": "q", "retrieved_ids": ["x", "d1"], "expected": [{"id": "d1"}]},
    "results": {"id": "q", "results": [{"id": "x"}, {"id": "d1"}], "expected": ["d1"]},
    "ids": {"id": "q", "retrieved_ids": ["x", "d1"], "expected_ids": ["d1"]},
    "by question": {"question": "q", "retrieved": [{"id": "x"}, {"id": "d1"}], "expected": [{"id": "d1"}]},
    "words that expected_ids decide": {"id": "q", "retrieved": ["x", "d1"], "expected_ids": ["d1"]},
    "camelCase": {"queryId": "q", "retrievedIds": ["x", "d1"], "expectedIds": ["d1"]},
    "camelCase of objects": {"queryId": "q", "retrieved": [{"docId": "x"}, {"docId": "d1"}], "expectedIds": ["d1"]},
    "relevant": {"id": "q", "retrieved_ids": ["x", "d1"], "relevant": ["d1"]},
    "gold": {"id": "q", "retrieved_ids": ["x", "d1"], "gold": ["d1"]},
    "LongMemEval": {
        "question_id": "q",
        "answer_session_ids": ["d1"],
        "retrieval_results": {"query": "who?", "ranked_items": [{"corpus_id": "x"}, {"corpus_id": "d1"}]},
    },
    "OpenTelemetry": {
        "id": "q",
        "attributes": {"gen_ai.retrieval.documents": '[{"id":"x","score":2},{"id":"d1","score":1}]'},
        "expected_ids": ["d1"],
    },
    "OpenInference": {
        "id": "q",
        "attributes": {
            "openinference.span.kind": "RETRIEVER",
            "retrieval.documents.1.document.id": "d1",
            "retrieval.documents.0.document.id": "x",
            "retrieval.documents.0.document.content": "...",
        },
        "expected_ids": ["d1"],
    },
}  # fmt: skip


@pytest.mark.parametrize("form", ["a line", "two lines", "a list", "rows"])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape, form, tmp_path):
    """d1 is the one relevant document, second of two."""
    record = SHAPES[shape]
    other = {"id": "other", "retrieved_ids": ["x", "d1"], "expected_ids": ["d1"]}
    source: object = [record]
    if form != "rows":
        text = {
            "a line": json.dumps(record) + "\n",
            "two lines": f"{json.dumps(record)}\n{json.dumps(other)}\n",
            "a list": json.dumps([record]),
        }[form]
        file = tmp_path / ("records.json" if form == "a list" else "records.jsonl")
        file.write_text(text)
        source = str(file)
    scores = evaluate(read_qrels(source), read_run(source), ["RR", "R@1", "R@2"])
    assert dict(scores) == {"RR": 0.5, "R@1": 0.0, "R@2": 1.0}
    assert "q" in scores.queries


def in_file(tmp_path, *records: dict) -> str:
    """A file of records."""
    file = tmp_path / "records.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(file)


def test_whole_numbers_and_words_are_one_id(tmp_path):
    file = in_file(tmp_path, {"id": 7, "retrieved": [{"id": 1}], "expected_ids": ["1"]})
    assert evaluate(read_qrels(file), read_run(file), "RR")["RR"] == 1.0


def test_a_failed_question_is_told_apart_from_an_empty_result():
    records = [
        {"id": "a", "error": {"code": "timeout"}, "expected_ids": ["d"]},
        {"id": "b", "retrieved_ids": [], "expected_ids": ["d"]},
        {"id": "c", "retrieved_ids": ["d"], "expected_ids": ["d"]},
    ]
    run = read_run(records)
    assert {note.code: dict(note.facts).get("count") for note in run.notes} == {"system-errors": 1}
    assert evaluate(read_qrels(records), run, "RR")["RR"] == pytest.approx(1 / 3)


def test_scores_of_some_are_refused():
    records = [{"id": "q", "retrieved": [{"id": "x", "score": 1}, {"id": "d"}], "expected_ids": ["d"]}]
    with pytest.raises(InputError, match="some documents have a score"):
        read_run(records)


def test_words_that_may_be_ids_or_texts_are_refused_with_both_ways_out():
    records = [{"id": "q", "retrieved": ["x", "d1"], "expected": ["d1"]}]
    with pytest.raises(InputError, match="may be ids or texts") as caught:
        read_qrels(records)
    assert "retrieved_ids" in str(caught.value.hint)
    assert "goldrank texts" in str(caught.value.hint)


def test_objects_without_ids_are_refused():
    records = [{"id": "q", "retrieved_ids": ["x"], "expected": [{"id": "a"}, {"text": "a passage"}]}]
    with pytest.raises(InputError, match="has no id"):
        read_qrels(records)


def test_a_misspelled_field_is_no_empty_run():
    records = [{"id": "q", "retreived_ids": ["x"], "expected_ids": ["d"]}]
    with pytest.raises(InputError, match="the unknown field 'retreived_ids'") as caught:
        read_run(records)
    assert "Did you mean retrieved_ids?" in str(caught.value.hint)


def test_runs_with_ranked_lists_are_read_as_before(tmp_path):
    """These have scores and no expected side: a record for each query, and no record of the contract."""
    record = {"query_id": "q", "results": [{"doc_id": "a", "score": 1.5}, {"doc_id": "b", "score": 2.5}]}
    assert dict(read_run(in_file(tmp_path, record))["q"]) == {"a": 1.5, "b": 2.5}


@pytest.mark.parametrize(
    ("field", "value", "seconds"), [("latency_ms", 12.5, 0.0125), ("latencyMs", 12.5, 0.0125), ("latency", 0.5, 0.5)]
)
def test_milliseconds_are_said(field, value, seconds):
    """goldrank's own files have seconds under `latency`; the contract has a name with its unit."""
    (item,) = read_items([{"id": "q", "retrieved": ["a"], "references": ["a"], field: value}])
    assert item.latency == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("name", "folded"),
    [("retrievedIds", "retrieved_ids"), ("corpusID", "corpus_id"), ("QID", "qid"), ("Query ID", "query_id")],
)
def test_names_in_camel_case(name, folded):
    assert aliases.normal(name) == folded


def test_names_that_were_known_without_a_hump_stay_known():
    assert aliases.first_present(["movieId"], ("movieid",)) == "movieId"
    assert aliases.first_present(["searchText"], aliases.COLUMNS["query"]) == "searchText"


# Spans, as collectors export them and as SDKs print them. d1 is second of two.


def typed(value: object) -> dict:
    """A value as OTLP writes it."""
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": value}


OPENINFERENCE = {
    "openinference.span.kind": "RETRIEVER", "input.value": "what?",
    "retrieval.documents.0.document.id": "x", "retrieval.documents.0.document.score": 2.0,
    "retrieval.documents.1.document.id": "d1", "retrieval.documents.1.document.score": 1.0,
}  # fmt: skip
OPENTELEMETRY = {
    "gen_ai.retrieval.query.text": "what?",
    "gen_ai.retrieval.documents": '[{"id": "x", "score": 2.0}, {"id": "d1", "score": 1.0}]',
}
PHOENIX = {
    "input.value": "what?",
    "retrieval.documents": [{"document.id": "x"}, {"document": {"id": "d1"}}],
}


@pytest.mark.parametrize("attributes", [OPENINFERENCE, OPENTELEMETRY, PHOENIX])
@pytest.mark.parametrize("ending", ["json", "jsonl"])
@pytest.mark.parametrize("export", [True, False])
def test_spans(attributes, ending, export, tmp_path):
    other: dict = {"spanId": "2", "name": "llm", "attributes": {"openinference.span.kind": "LLM"}}
    span: dict = {"spanId": "1", "name": "retrieve", "attributes": attributes}
    if export and attributes is not PHOENIX:
        other["attributes"] = []
        span["attributes"] = [{"key": key, "value": typed(value)} for key, value in attributes.items()]
    text = f"{json.dumps(span)}\n{json.dumps(other)}\n"
    if ending == "json":
        text = json.dumps([span, other])
    if export:
        text = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span, other]}]}]})
    file = tmp_path / f"spans.{ending}"
    file.write_text(text)
    scores = evaluate({"what?": {"d1": 1}}, read_run(str(file)), ["RR"])
    assert dict(scores) == {"RR": 0.5}
    assert scores.queries == ("what?",)


# Slips, and several systems.


@pytest.mark.parametrize(
    ("record", "words", "hint"),
    [
        ({"id": "q", "retreived_ids": ["a"], "expected_ids": ["a"]}, "retreived_ids", "Did you mean retrieved_ids?"),
        ({"id": "q", "retrieved_ids": ["a"], "expected_id": ["a"]}, "expected_id", "Did you mean expected_ids?"),
        (
            {"id": "q", "retrieved_ids": ["a"], "expected_ids": ["a"], "forbiden_ids": ["b"]},
            "forbiden_ids",
            "forbidden",
        ),
        ({"id": "q", "retrievedIds": ["a"], "expectedIds": ["a"], "latencyMS": 1, "metadatas": {}}, "metadatas", "Did"),
        ({"id": "q", "retrieved": [{"id": "a"}], "retrieved_ids": ["a"], "expected_ids": ["a"]}, "both", "Leave one"),
        ({"id": "q", "retrieved_ids": ["a"], "expected": {"a": 1}, "expectedIds": ["a"]}, "both expected", "Leave one"),
    ],
)
def test_slips_are_refused(record, words, hint, tmp_path):
    file = in_file(tmp_path, record)
    for read in (read_qrels, read_run):
        with pytest.raises(InputError, match=words) as caught:
            read(file)
        assert hint in str(caught.value.hint)
        assert caught.value.code == "bad-record"


def test_fields_of_other_tools_are_no_slips(tmp_path):
    record = {"id": "q", "retrieved_ids": ["x", "d1"], "expected_ids": ["d1"], "category": "how", "x_outcomes": 1}
    file = in_file(tmp_path, record | {"user_input": "who?", "answer": "he", "calls": []})
    assert evaluate(read_qrels(file), read_run(file), "RR")["RR"] == 0.5


def test_several_systems(tmp_path, capsys):
    """d1 is second for A, first for B."""
    from goldrank.cli import run

    common = {"id": "q", "expected_ids": ["d1"]}
    records = [
        common | {"system": "A", "retrieved_ids": ["x", "d1"]},
        common | {"system": "B", "retrieved_ids": ["d1"]},
    ]
    file = in_file(tmp_path, *records)
    assert run(["eval", file, "-m", "RR", "--as", "csv"]) == 0
    assert capsys.readouterr().out == "run,RR\nA,0.5\nB,1.0\n"
    with pytest.raises(InputError, match="several systems"):
        read_run(file)
    file = in_file(tmp_path, records[0], records[1] | {"expected_ids": ["x"]})
    assert run(["eval", file, "-m", "RR"]) == 2
    assert "expects something else" in capsys.readouterr().err


def test_strict_renames_nothing(tmp_path, capsys):
    from goldrank.cli import run

    file = in_file(tmp_path, SHAPES["camelCase"])
    assert run(["eval", file, "-m", "RR"]) == 0
    assert run(["eval", file, "-m", "RR", "--contract"]) == 2
    assert run(["eval", in_file(tmp_path, SHAPES["canonical"]), "-m", "RR", "--contract"]) == 0
    capsys.readouterr()
