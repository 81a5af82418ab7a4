"""The benchmark of texts: its data, and that it notices other decisions. No times are asserted."""

from __future__ import annotations

import importlib.util
import json
import sys

import places

FILE = places.ROOT / "benchmarks" / "texts.py"
specification = importlib.util.spec_from_file_location("goldrank_benchmarks_texts", FILE)
assert specification
assert specification.loader
texts = importlib.util.module_from_spec(specification)
sys.modules[specification.name] = texts
specification.loader.exec_module(texts)


def test_the_data_have_their_shape() -> None:
    made = texts.questions(5)
    assert made == texts.questions(5)
    assert made != texts.questions(5, seed=1)
    for chunks, references in made:
        assert len(chunks) == 10
        assert len(references) == 3
        assert all(100 <= len(chunk.split()) <= 200 for chunk in chunks)
        assert all(20 <= len(reference.split()) <= 60 for reference in references)


def test_all_tools_decide_alike(tmp_path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(json.dumps(question) + "\n" for question in texts.questions(6)))
    answers = {name: texts.run_tool(name, file, 6) for name in ("rouge-score", "rouge-l", "rouge")}
    answers["rouge-score-package"] = texts.run_tool("rouge-score-package", file, 2)
    decisions = [one for question in texts.questions(2) for one in texts._one_with_rouge(question)]
    matches = [i for i, decision in enumerate(decisions) if decision]
    answers["rouge-package"] = {"seconds": 1.0, "cpu": 1.0, "questions": 2, "matches": matches}
    assert matches
    assert texts.check(answers) == []
    page = texts.table(answers, dict.fromkeys(answers, 10**6), 6)
    assert "about 3 (extrapolated)" in page
    answers["rouge-package"]["matches"] = matches[1:]
    assert texts.check(answers) == ["goldrank `rouge` and rouge, two processes differ in 1 of 60 pairs"]


def test_prose_has_its_shape(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(FILE.parent))
    made = texts.prose_questions(3)
    assert made == texts.prose_questions(3)
    for chunks, references in made:
        assert len(chunks) == texts.CHUNKS
        assert len(references) == texts.REFERENCES
        assert any(references[0] in chunk for chunk in chunks)
        assert all(texts.in_ascii(chunk).isascii() for chunk in chunks)
    answer = texts.run_prose(3, "prose")
    assert 1 / 3 <= answer["cover"] <= 1
    assert "| prose |" in texts.prose_table({"prose": answer}, 3)
    sys.modules.pop("paragraphs", None)
