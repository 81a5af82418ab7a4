"""Evidence by place, looked at: explanations and curves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldrank import coverage_curves, evaluate_texts
from goldrank.cli import run as command

SOURCE = "Alpha beta gamma delta. Epsilon zeta eta theta. Iota kappa lambda mu. Nu xi omicron pi."
FIRST, SECOND = "Epsilon zeta eta theta.", "Nu xi omicron pi."


def items(**more: Any) -> list[dict[str, Any]]:
    return [
        {"id": "q", "question": "What?",
         "retrieved": [{"text": text, "source": "s"}
                       for text in ("Alpha beta gamma delta.", "Epsilon zeta eta", "eta theta.")],
         "evidence": [{"source": "s", "quote": FIRST}, {"source": "s", "quote": SECOND}], **more},
    ]  # fmt: skip


def test_explain_says_which_text_holds_what() -> None:
    found = evaluate_texts(items(), "EvidenceRecall@3", sources={"s": SOURCE}).explain("q")
    # The second and the third text hold the first evidence together.
    assert found.matched.tolist() == [[False, False], [True, False], [True, False]]
    assert found.degrees[1:, 0].tolist() == [16 / 23, 10 / 23]
    assert [reference.texts for reference in found.references] == [(FIRST,), (SECOND,)]
    assert found.marks[1, 0] == [(0, 16)]
    told = str(found)
    assert "1 of 2 references covered, by 2 of 3 texts" in told
    assert SECOND in told
    found._repr_html_()


def test_explain_without_sources() -> None:
    given = [{"id": "q", "retrieved": [{"text": "abcd", "source": "d", "start": 4, "end": 8}],
              "evidence": [{"source": "d", "start": 5, "end": 7}]}]  # fmt: skip
    found = evaluate_texts(given, "SpanRecall").explain("q")
    assert found.matched.tolist() == [[True]]
    assert found.marks[0, 0] == [(1, 3)]


def test_curves() -> None:
    drawn = coverage_curves(items(), sources={"s": SOURCE}, depths=[1, 2, 3], budgets=[4, 7, 9])
    assert drawn.by_texts["items"] == [(1, 0.0), (2, 0.0), (3, 0.5)]
    assert drawn.by_tokens["items"] == [(4, 0.0), (7, 0.0), (9, 0.5)]
    assert "<svg" in drawn.svg()


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, page = tmp_path / "data.jsonl", tmp_path / "page.html"
    missing = {"source": "s", "quote": "This was never said by anybody there"}
    (item,) = items()
    record = {**item, "evidence": [*item["evidence"], missing], "sources": {"s": SOURCE}}
    file.write_text(json.dumps(record), encoding="utf-8")

    def told(*args: str) -> str:
        code = command(["texts", str(file), *args])
        shown = capsys.readouterr()
        assert (code == 0) == ("--unlocated" in args)
        return shown.out + shown.err

    assert "--unlocated" in told("-m", "EvidenceRecall@3")
    shown = told("-m", "EvidenceRecall@3", "--unlocated", "missed", "--curves", "--html", str(page))
    assert "0.3333" in shown
    assert "first k texts" in shown
    assert "<svg" in page.read_text(encoding="utf-8")
    assert "holds evidence" in told("-m", "SpanRecall", "--unlocated", "skip", "--explain", "q")
    assert "0.5000" in told("-m", "EvidenceRecall", "--unlocated", "skip", "--several", "first", "--similarity", "0.95")


def test_guards_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "data.jsonl"
    file.write_text(json.dumps({"id": "q", "retrieved": ["It is 300 in all."], "references": ["It is 30 in all."]}))
    assert command(["texts", str(file), "-m", "Cover"]) == 0
    assert "0.0000" in capsys.readouterr().out
    assert command(["texts", str(file), "-m", "Cover", "--guards", "none"]) == 0
    assert "1.0000" in capsys.readouterr().out
    assert command(["texts", str(file), "-m", "Cover", "--guards", "numerals"]) == 2
