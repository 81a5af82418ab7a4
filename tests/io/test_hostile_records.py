"""Records that other programs wrote, or somebody who means harm: an error with its place, never a traceback."""

# ruff: noqa: UP031 - the braces are those of JSON
from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from goldrank import GoldrankError, memory_scores, score_searches
from goldrank.base import satellites
from goldrank.cli import run

DEEP = "[" * 200_000
NESTED = "[" * 900 + "]" * 900
"""As deep as JSON can be read, and deeper than some functions can go."""
NUMBER = "9" * 400
"""An integer that no float holds."""


def searches(entry: str) -> str:
    return '{"id": "q1", "expected_ids": ["a"], "searches": [%s]}' % entry


SPANS = '{"resourceSpans": [{"scopeSpans": [{"spans": [%s]}]}]}'
SPAN = '{"spanId": "1", "attributes": [%s]}'
FILES = {
    "deep": DEEP,
    "deep object": '{"a": ' * 100_000,
    "deep line": '{"id": "q1", "retrieved": ' + DEEP,
    "nested": '{"id": "q1", "question": "?", "retrieved": %s, "references": ["a"]}' % NESTED,
    "nested id": '{"id": %s, "retrieved": ["a"], "references": ["a"]}' % NESTED,
    "nested search": searches(NESTED),
    "tokens": searches('{"retrieved_ids": ["a"], "tokens": %s}' % NUMBER),
    "cost": '{"id": "q1", "expected_ids": ["a"], "cost": %s, "searches": [{"retrieved_ids": ["a"]}]}' % NUMBER,
    "cost of texts": '{"id": "q1", "retrieved": ["a"], "references": ["a"], "cost": %s}' % NUMBER,
    "digits": '{"id": "q1", "retrieved_ids": ["a"], "expected_ids": ["a"], "latency_ms": %s}' % ("9" * 5_000),
    "no spans": SPANS % "5, null",
    "no attributes": SPANS % '{"spanId": "1", "attributes": [5, null, {"key": 5, "value": 5}]}',
    "no number": SPANS % (SPAN % '{"key": "retrieval.documents.0.document.score", "value": {"intValue": "x"}}'),
    "list as number": SPANS % (SPAN % '{"key": "a", "value": {"doubleValue": []}}'),
    "no keys": SPANS % (SPAN % '{"key": "a", "value": {"kvlistValue": {"values": [5, {}]}}}'),
    "digits of a rank": SPANS
    % (SPAN % ('{"key": "retrieval.documents.%s.document.id", "value": {"stringValue": "a"}}' % ("1" * 5_000))),
    "nested values": SPANS
    % (SPAN % ('{"key": "a", "value": %s}' % ('{"arrayValue": {"values": [' * 300 + "]}}" * 300))),
    "context": '{"context": "x", "attributes": {"openinference.span.kind": "RETRIEVER"}}',
    "nested attributes": '{"context": {"trace_id": "t"}, "attributes": {"openinference.span.kind": "LLM", "a": %s}}'
    % ('{"a": ' * 400 + "1" + "}" * 400),
}


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "records.jsonl"
    path.write_text(FILES[request.param] + "\n")
    return path


@pytest.mark.parametrize("words", [[], *(["--convention", name] for name in satellites.readers())], ids=" ".join)
def test_no_command_ends_in_a_traceback(file: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["eval", str(file), *words], ["texts", str(file)]):
        code = run(command)
        shown = capsys.readouterr().err
        assert code in (0, 2), shown
        assert "internal error" not in shown


def test_no_function_raises_anything_else(file: Path) -> None:
    for call in (score_searches, lambda path: memory_scores(path, "longmemeval")):
        with suppress(GoldrankError):
            call(file)


def test_a_line_end_of_unicode_is_no_line_end(tmp_path: Path) -> None:
    """JSON may have U+2028 in its texts, and `str.splitlines` divides there."""
    record: dict[str, Any] = {"question_id": "q1", "question": "a\u2028b", "answer_session_ids": 5}
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for _ in range(2)) + "\n")
    with pytest.raises(GoldrankError) as caught:
        memory_scores(path, "longmemeval")
    assert "is not JSON" not in str(caught.value)
