"""Evidence by place, looked at: explanations and curves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import goldrank
from goldrank import evaluate_texts
from goldrank.cli import run as command
from goldrank.rag.coverage_curves import curve_measures, curves_of

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
    found = evaluate_texts(items(), "EvidenceRecall@3", evidence={"s": SOURCE}).explain("q")
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
    measures = curve_measures([1, 2, 3], [4, 7, 9], "EvidenceRecall")
    drawn = curves_of([evaluate_texts(items(), measures, evidence={"s": SOURCE})], "EvidenceRecall")
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
        assert (code == 0) == any("unlocated=" in word for word in args)
        return shown.out + shown.err

    assert "--evidence unlocated=" in told("-m", "EvidenceRecall@3")
    shown = told("-m", "EvidenceRecall@3", "--evidence", "unlocated=missed", "-o", str(page))
    assert "0.3333" in shown
    assert "<svg" in page.read_text(encoding="utf-8")
    assert "holds evidence" in told("-m", "SpanRecall", "--evidence", "unlocated=skip", "--explain", "q")
    assert "0.5000" in told(
        "-m",
        "EvidenceRecall",
        "--evidence",
        "unlocated=skip,several=first,similarity=0.95",
    )


def test_guards_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "data.jsonl"
    file.write_text(json.dumps({"id": "q", "retrieved": ["It is 300 in all."], "references": ["It is 30 in all."]}))
    assert command(["texts", str(file), "-m", "Cover"]) == 0
    assert "0.0000" in capsys.readouterr().out
    assert command(["texts", str(file), "-m", "Cover", "--matching", "guards=none"]) == 0
    assert "1.0000" in capsys.readouterr().out
    assert command(["texts", str(file), "-m", "Cover", "--matching", "guards=numerals"]) == 2


SPACED = {"doc": "First part.\n\n Second part."}
"""Evidence of two chunks; a splitter that strips drops the white space between them, characters 11 to 14."""


def spaced(retrieved: list[dict], **more: object) -> dict:
    return {"id": "q", "retrieved": retrieved, "evidence": [{"source": "doc", "start": 0, "end": 26}], **more}


def chunk(start: int, end: int) -> dict:
    return {"text": SPACED["doc"][start:end], "source": "doc", "start": start, "end": end}


@pytest.mark.parametrize(
    ("chunks", "covered"),
    [
        ([(0, 11), (14, 26)], 1.0),  # all but white space
        ([(0, 12), (13, 26)], 1.0),
        ([(0, 10), (14, 26)], 0.0),  # the full stop is lost
        ([(0, 11)], 0.0),
        ([(0, 26)], 1.0),
    ],
)
def test_white_space_between_texts_is_no_loss(chunks: list[tuple[int, int]], covered: float) -> None:
    items = [spaced([chunk(*one) for one in chunks])]
    found = evaluate_texts(items, ["EvidenceRecall", "EvidenceAll"], evidence=SPACED).mean
    assert found == {"EvidenceRecall": covered, "EvidenceAll": covered}


def test_shares_of_evidence_are_without_white_space() -> None:
    """10 of the 21 signs that are not white space, though 11 of 26 characters."""
    items = [spaced([chunk(0, 11)])]
    asked = [f"EvidenceRecall(coverage={share})" for share in (10 / 21, 0.48)]
    assert list(evaluate_texts(items, asked, evidence=SPACED).mean.values()) == [1.0, 0.0]
    assert evaluate_texts(items, ["SpanRecall"], evidence=SPACED).mean["SpanRecall"] == 11 / 26  # by length, as ever


def test_without_the_source_nothing_is_known_of_white_space() -> None:
    items = [spaced([chunk(0, 11), chunk(14, 26)])]
    assert evaluate_texts(items, ["EvidenceRecall"]).mean["EvidenceRecall"] == 0.0


def test_evidence_of_white_space_is_covered_by_length() -> None:
    items = [{"id": "q", "retrieved": [chunk(0, 13)], "evidence": [{"source": "doc", "start": 11, "end": 13}]}]
    assert evaluate_texts(items, ["EvidenceRecall"], evidence=SPACED).mean["EvidenceRecall"] == 1.0


def test_causes_and_measures_agree_on_white_space() -> None:
    cut = [{"id": str(i), **chunk(*place)} for i, place in enumerate([(0, 11), (14, 26)])]
    both = goldrank.find_causes(
        [spaced([chunk(0, 11), chunk(14, 26)])], k=5, evidence=goldrank.Evidence(SPACED, chunks=cut)
    )
    assert dict(both) == {"covered": 1}
    one = goldrank.find_causes([spaced([chunk(0, 11)])], k=5, evidence=goldrank.Evidence(SPACED, chunks=cut))
    assert dict(one) == {"cut by a border": 1}
    ends = [{"id": "q", "retrieved": [], "evidence": [{"source": "doc", "start": 0, "end": 13}]}]
    neither = goldrank.find_causes(ends, k=5, evidence=goldrank.Evidence(SPACED, chunks=cut))
    assert dict(neither) == {"not retrieved": 1}
