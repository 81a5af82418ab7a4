"""Schemas: what they accept and refuse, what goldrank writes by them, and the validator beside jsonschema."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import goldrank
from goldrank import compare, evaluate, gate
from goldrank.base.validating import problems, schema, schema_files, schema_text
from goldrank.cli import group
from goldrank.referee.cases import kit

FOLDER = Path(goldrank.__file__).parent / "base" / "schemas"
HASHES = {
    "record-1.json": "e65c004474a18dfa82c7f4db2125b18d2ef056c6704c2077c43c385900d6ed71",
    "conformance-1.json": "748d02a29169aa12cc2059dafad8f2cd1cdf214d0a782d01f3cf9936b5472dfd",
    "error-1.json": "1814b2e0a5c84b415854b3ae6138d5e14b9ee1226f34587c5057a88fe7c3d4fc",
}
"""A published file never changes: what changes gets another number."""


@pytest.mark.parametrize("file", HASHES)
def test_published_files_never_change(file):
    assert hashlib.sha256((FOLDER / file).read_bytes()).hexdigest() == HASHES[file]


def test_every_file_says_who_it_is():
    for path in FOLDER.iterdir():
        data = json.loads(path.read_text(encoding="utf-8"))
        assert data["$id"].endswith(f"/schemas/{path.name}")


def test_every_schema_is_that_of_something():
    """A new schema needs a test here that holds what goldrank reads or writes against it."""
    assert set(schema_files()) == {"record", "scores", "verdict", "comparison", "conformance", "error"}


GOOD = [
    {"id": "q1", "question": "remove rust?", "retrieved": [{"id": "d3", "score": 12.5}, {"id": "d1", "text": "..."}],
     "expected": [{"id": "d1", "grade": 2}], "latency_ms": 12.4},
    {"id": "q2", "retrieved_ids": ["d7"], "expected_ids": ["d2"]},
    {"id": "q3", "error": {"code": "timeout"}, "expected_ids": ["d9"]},
    {"id": 7, "retrieved_ids": [], "expected": {"d1": 2, "d2": 0}},
    {"question": "who?", "retrieved_ids": [1, 2], "expected_ids": []},
    {"id": "q", "schema": "goldrank-record/1", "retrieved": [], "expected": [{"text": "a passage"}]},
    {"id": "q", "searches": [{"query": "a", "retrieved_ids": ["d1"], "latency_ms": 1}], "outcome": 0.5},
    {"id": "q", "retrieved_ids": ["d"], "metadata": {"kind": "how", "n": 1, "ok": True, "none": None}, "x-own": [1]},
    {"id": "q", "system": "bm25", "error": "timeout", "forbidden_ids": ["d"], "answerable": False, "cost": 0,
     "tokens": 0},
]  # fmt: skip
BAD = [
    ({"retrieved_ids": ["d"]}, "needs one of id, question"),
    ({"id": "q"}, "needs one of retrieved"),
    ({"id": "q", "retreived_ids": ["d"], "expected_ids": ["d"]}, "Did you mean retrieved_ids?"),
    ({"id": "q", "retrieved": ["d1"]}, "$.retrieved[0]: is 'd1', not object"),
    ({"id": "q", "retrieved": [], "retrieved_ids": []}, "has retrieved beside retrieved_ids"),
    ({"id": "q", "expected": [], "expected_ids": []}, "has expected beside expected_ids"),
    ({"id": "q", "expected": {"d": 0.5}}, "not integer"),
    ({"id": "q", "expected": {"d": True}}, "not integer"),
    ({"id": "q", "expected": [{"grade": 1}]}, "needs one of id, text"),
    ({"id": 1.5, "retrieved_ids": []}, "$.id"),
    ({"id": "", "retrieved_ids": []}, "$.id: is too short"),
    ({"id": 2**53, "retrieved_ids": []}, "$.id"),
    ({"id": "q", "retrieved_ids": [], "latency_ms": -1}, "below 0"),
    ({"id": "q", "retrieved_ids": [], "latency": 1}, "unknown field"),
    ({"id": "q", "retrieved_ids": [], "metadata": {"a": [1]}}, "$.metadata.'a'"),
    ({"id": "q", "retrieved_ids": [], "outcome": 2}, "$.outcome"),
    ({"id": "q", "retrieved_ids": [], "schema": "goldrank-record/2"}, "$.schema"),
    ({"id": "q", "searches": [{"retrieved": [], "retrieved_ids": []}]}, "$.searches[0]"),
    ([], "not object"),
]


@pytest.mark.parametrize("record", GOOD)
def test_good_records(record):
    assert problems(record, "record") == []


@pytest.mark.parametrize(("record", "words"), BAD)
def test_bad_records(record, words):
    assert any(words in problem for problem in problems(record, "record")), problems(record, "record")


SCORES = evaluate({"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}, {"q1": ["x", "a"], "q2": ["c"]}, ["RR", "nDCG@10"])
WRITTEN = {
    "scores": lambda: SCORES.to_json(),
    "verdict": lambda: json.dumps(gate(SCORES, ["RR >= 0.4"]).to_dict()).replace("NaN", "null"),
    "comparison": lambda: json.dumps(
        compare({"q1": {"a": 1}, "q2": {"c": 1}}, {"A": {"q1": ["x", "a"]}, "B": {"q1": ["a"]}}, ["RR"]).to_dict()
    ).replace("NaN", "null").replace("Infinity", "null"),
    "conformance": lambda: json.dumps(kit()),
    "error": lambda: json.dumps({
        "format": "goldrank-error", "version": 1, "code": "bad-grade", "what": "grade '1e0' is not a whole number",
        "where": {"file": "q.qrels", "line": 3, "column": 9}, "hint": "...", "exit_code": 2, "command": "eval",
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_what_goldrank_writes_is_valid(name):
    assert problems(json.loads(WRITTEN[name]()), name) == []


def test_the_json_of_eval_is_valid(tmp_path, capsys):
    (tmp_path / "records.jsonl").write_text(json.dumps(GOOD[1] | {"expected_ids": ["d7"]}) + "\n")
    group.main(["eval", str(tmp_path / "records.jsonl"), "-m", "RR", "--as", "json"], standalone_mode=False)
    data = json.loads(capsys.readouterr().out)
    assert problems(data, "scores") == []
    assert data["measures"]["RR"]["signature"].startswith("goldrank:")


def test_the_package_jsonschema_says_the_same():
    jsonschema = pytest.importorskip("jsonschema")
    referencing = pytest.importorskip("referencing")
    every = [json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.iterdir()]
    registry = referencing.Registry().with_resources(
        [(one["$id"], referencing.Resource.from_contents(one)) for one in every]
    )
    for one in every:
        jsonschema.Draft202012Validator.check_schema(one)

    def is_valid(value: object, name: str) -> bool:
        return bool(jsonschema.Draft202012Validator(schema(name), registry=registry).is_valid(value))

    records = [*GOOD, *(record for record, _ in BAD)]
    assert [is_valid(record, "record") for record in records] == [not problems(record, "record") for record in records]
    for name, text in WRITTEN.items():
        assert is_valid(json.loads(text()), name), name


# At the prompt.


def code_of(*words: str) -> int:
    """What the command exits with."""
    return group.main(["schema", *words], standalone_mode=False) or 0


def test_schemas_are_printed(capsys):
    assert code_of("record") == 0
    assert json.loads(capsys.readouterr().out) == json.loads(schema_text("record"))
    assert code_of() == 0
    assert "record-1.json" in capsys.readouterr().out
    with pytest.raises(goldrank.OptionError, match="no schema"):
        code_of("recordd")


def test_files_are_checked(tmp_path, capsys):
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(json.dumps(record) for record in GOOD) + "\n\n")
    assert code_of("record", "--check", str(file)) == 0
    file.write_text(json.dumps(GOOD[0]) + "\n{\n" + json.dumps(BAD[2][0]) + "\n")
    assert code_of("record", "--check", str(file)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{file}:2: is not JSON")
    assert lines[1].startswith(f"{file}:3: $: has the unknown field 'retreived_ids'")
    with pytest.raises(goldrank.InputError):
        code_of("record", "--check", str(tmp_path / "none"))
