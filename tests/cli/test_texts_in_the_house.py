"""Texts through the whole house: what `goldrank texts -o` writes is what every other command takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from raising import raises_code

import goldrank
from goldrank import Scores, ScoresByRun, evaluate_texts, read_items
from goldrank.base.errors import InputError, MismatchError, OptionError
from goldrank.cli import run as command

SOURCE = "Alpha beta gamma delta. Epsilon zeta eta theta. Iota kappa lambda mu."
# Three questions of ten have their fact in the first text of "old"; eight in that of "new".
FACTS = ["Alpha beta gamma delta.", "Epsilon zeta eta theta."]


def items(hits: int) -> list[dict]:
    return [
        {"id": f"q{i}", "retrieved": FACTS if i < hits else FACTS[::-1], "references": [FACTS[0]]} for i in range(10)
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, hits in (("old", 3), ("new", 8)):
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, items(hits))))
    Path("docs").mkdir()
    Path("docs/guide.md").write_text(SOURCE)
    return tmp_path


@pytest.fixture
def told(folder: Path, capsys: pytest.CaptureFixture[str]):
    def run(*args: object, code: int = 0) -> str:
        assert command([str(arg) for arg in args]) == code, capsys.readouterr().err
        out, err = capsys.readouterr()
        assert "internal error" not in err
        return out + err

    return run


def test_from_texts_to_every_command(told) -> None:
    told("texts", "before=old.jsonl", "after=new.jsonl", "-m", "Cover@1", "-m", "RR", "-o", "both.json")
    old, new = "old.json", "new.json"
    for name, scores in zip((old, new), ScoresByRun.load("both.json").values(), strict=True):
        scores.save(name)
    assert [Scores.load(path).run for path in (old, new)] == ["before", "after"]
    assert Scores.load(old)["Cover@1"] == 0.3
    for files in ((old, new), ("both.json",)):
        shown = told("compare", *files)
        assert "before" in shown
        assert "0.8000" in shown
        assert "unjudged" not in shown  # a matcher judges every text
    assert "mine" in told("compare", f"mine={old}", new)
    told("gate", old, "--baseline", "base.json", "--update")
    passed = told("gate", new, "--baseline", "base.json", "--rule", "Cover@1: -1%", "--rule", "missing <= 0%")
    assert "PASS" in passed
    told("gate", old, "--rule", "Cover@1 >= 0.5", code=1)
    told("gate", old, "--rule", "unjudged <= 0%")
    told("record", new, "--db", "h.db")
    assert "after" in told("history", "--db", "h.db", "-m", "Cover@1")
    told("gate", new, "--baseline", "now", "--db", "h.db", "--update")
    told("gate", new, "--db", "h.db", "--baseline", "now", "--rule", "RR: -1%")


def test_gold_of_another_file(told) -> None:
    """What is needed is in one file, what each system retrieved in others; q10 was not answered: 3 and 8 of 11."""
    for name in ("old", "new"):
        rows = [json.loads(line) for line in Path(f"{name}.jsonl").read_text().splitlines()]
        Path(f"{name}-found.jsonl").write_text("".join(json.dumps({**row, "references": []}) + "\n" for row in rows))
    gold = [{"id": f"q{i}", "references": [FACTS[0]]} for i in range(11)]
    Path("gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    shown = told(
        "texts", "a=old-found.jsonl", "b=new-found.jsonl", "--gold", "gold.jsonl", "-m", "Cover@1", "--as", "json"
    )
    assert "0.2727" in shown
    assert "0.7272" in shown


def test_scores_are_taken_as_they_are(told) -> None:
    told("texts", "old.jsonl", "-m", "RR", "-o", "s.json")
    assert "--convention" in told("gate", "s.json", "--rule", "RR >= 0.1", "--convention", "ties=expected", code=2)
    assert "--convention" in told(
        "gate", "s.json", "--baseline", "b.json", "--update", "--convention", "chroma", code=2
    )
    assert "goldrank texts" in told("gate", "old.jsonl", "--rule", "RR >= 0.1", code=2)
    assert "goldrank texts" in told("gate", "old.jsonl", "--baseline", "b.json", "--update", code=2)


def test_other_gold_is_not_compared() -> None:
    other = [{**item, "references": [FACTS[1]]} for item in items(3)]
    before, after = (
        evaluate_texts(read_items(items(3), name="a"), "RR"),
        evaluate_texts(read_items(other, name="b"), "RR"),
    )
    with raises_code(goldrank.GoldrankError, "other-judgements"):
        goldrank.gate(after, rules="RR: -1%", baseline=before)


@pytest.mark.slow
def test_fixture_takes_scores_of_texts(folder: Path) -> None:
    from goldrank.gating.baseline import Baseline

    Baseline(evaluate_texts(read_items(items(3), name="now"), ["RR"])).save("base.json")
    Path("test_it.py").write_text(
        "import goldrank\n"
        "def test_it(goldrank_gate):\n"
        "    scores = goldrank.evaluate_texts('new.jsonl', ['RR'])\n"
        "    assert goldrank_gate(scores, 'RR: -1%', 'base.json')\n"
        "def test_fails(goldrank_gate):\n"
        "    goldrank_gate(goldrank.evaluate_texts('old.jsonl', ['RR']), 'RR >= 0.9')\n"
    )
    # By name: pytest does not know it where goldrank is found by its path alone.
    call = [sys.executable, "-m", "pytest", "-q", "-p", "goldrank.pytest_plugin", "test_it.py"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(call, capture_output=True, text=True, check=False, env=environment)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr


def test_ids_in_one_file() -> None:
    # q: ranks 2 and 3 of three are relevant. Recall of the first 2 is 1/2, RR 1/2, P@1 0.
    records = [{"id": "q", "retrieved_ids": ["d1", "d2", 3], "expected_ids": ["d2", "3"]}]
    scores = evaluate_texts(records, ["R@2", "RR", "P@1", "Cover@3"])
    assert dict(scores) == {"R@2": 0.5, "RR": 0.5, "P@1": 0.0, "Cover@3": 1.0}
    assert "ids-compared" in [note.code for note in scores.notes]
    ragas = [{"user_input": "?", "retrieved_context_ids": ["a", "b"], "reference_context_ids": {"b": 2, "c": 1}}]
    assert evaluate_texts(ragas, "R(rel=2)@2")["R(rel=2)@2"] == 1
    texts = [{"retrieved": [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}], "expected_ids": ["b"]}]
    assert evaluate_texts(texts, "RR")["RR"] == 0.5
    columns = {"query_id": ["1", "2"], "retrieved_ids": [["a"], ["b"]], "expected_ids": [["a"], ["c"]]}
    assert evaluate_texts(columns, "RR")["RR"] == 0.5
    both = [{"retrieved": ["x"], "references": ["x"], "retrieved_ids": ["a"], "expected_ids": ["b"]}]
    assert evaluate_texts(both, "RR")["RR"] == 1  # texts are compared where there are any


def test_ids_that_cannot_be_evaluated() -> None:
    one = {"id": 1, "retrieved_ids": ["a"], "expected_ids": ["a"]}
    with raises_code(InputError, "mixed-items"):
        evaluate_texts([one, {"id": 2, "retrieved": ["a"], "references": ["a"]}])
    with pytest.raises(MismatchError, match="upper and lower case"):
        evaluate_texts([{"retrieved_ids": ["A"], "expected_ids": ["a"]}])
    with pytest.raises(InputError, match="null"):
        evaluate_texts([{"retrieved_ids": [None], "expected_ids": ["a"]}])
    with raises_code(InputError, "contradicting-judgements"):
        evaluate_texts([{"retrieved_ids": ["a"], "expected_ids": [{"id": "a", "grade": 2}, {"id": "a", "grade": 1}]}])
    with raises_code(OptionError, "needs-texts"):
        evaluate_texts([one], "Cover(tokens=5)")


def test_sources_chunks_lengths_tokens_and_budgets(told) -> None:
    start = SOURCE.index("Epsilon")
    record = {"id": "q", "retrieved": [{"text": FACTS[1], "source": "guide.md"}],
              "evidence": [{"source": "guide.md", "quote": "zeta eta"}]}  # fmt: skip
    Path("place.jsonl").write_text(json.dumps(record))
    chunks = [{"id": "a", "text": SOURCE[:start], "source": "guide.md", "start": 0},
              {"id": "b", "text": SOURCE[start:], "source": "guide.md", "start": start}]  # fmt: skip
    Path("chunks.jsonl").write_text("\n".join(map(json.dumps, chunks)))
    shown = told("texts", "place.jsonl", "--evidence", "docs", "-m", "SpanPrecision@1")
    assert f"{8 / len(FACTS[1]):.4f}" in shown  # "zeta eta" has 8 characters, and 2 of 4 words:
    assert "0.5000" in told("texts", "place.jsonl", "--evidence", "docs,lengths=token", "-m", "SpanPrecision@1")
    # Chunk b holds all evidence: 8 of its characters of the 45 from there to the end.
    omega = f"{8 / len(SOURCE[start:]):.4f}"
    shown = told("texts", "place.jsonl", "--evidence", "docs,chunks=chunks.jsonl", "-m", "SpanPrecisionOmega")
    assert omega in shown
    Path("mine.py").write_text("def letters(text):\n    return list(text)\n")
    assert "23.0000" in told("texts", "old.jsonl", "-m", "Tokens@1", "--matching", "tokens=mine:letters")
    assert "23.0000" in told("texts", "old.jsonl", "-m", "Tokens@1", "--matching", "tokens=characters")
    assert "words, characters" in told("texts", "old.jsonl", "--matching", "tokens=letters", code=2)
    assert "whole numbers" in told("sweep", "a/b=old.jsonl", "--budget", "a,b", code=2)


def test_sweep_and_causes_commands(told) -> None:
    call = ("sweep", "one/old=old.jsonl", "one/new=new.jsonl", "-k", "1,2", "--baseline", "one/old@1")
    shown = told(*call, "-o", "sweep.html", "-o", "sweep.svg")
    assert "one/old@2 covers most" in shown
    assert "Main effect of the retriever" in shown
    assert "<svg" in Path("sweep.svg").read_text()
    assert json.loads(told(*call, "--as", "json"))["rows"][0]["mean"] == 0.3
    assert "CHUNKING/RETRIEVER" in told("sweep", "old.jsonl", code=2)
    shown = told("causes", "mine=old.jsonl", "-k", "1", "-o", "causes.html")
    assert "ranked too low" in shown
    assert "mine" in Path("causes.html").read_text()
    found = json.loads(told("causes", "old.jsonl", "-k", "1", "--as", "json"))
    assert found["questions"] == {"covered": 3, "ranked too low": 7}
    bare = [{"id": one["id"], "retrieved": one["retrieved"]} for one in items(3)]
    Path("bare.jsonl").write_text("\n".join(map(json.dumps, bare)))
    gold = json.loads(told("causes", "bare.jsonl", "--gold", "old.jsonl", "-k", "1", "--as", "json"))
    assert gold["questions"] == found["questions"]


def test_compare_warns_of_texts_of_other_lengths() -> None:
    short = [{"id": str(i), "retrieved": ["a b", "c d"], "references": ["a"]} for i in range(5)]
    long = [{**one, "retrieved": ["a b c d e f g", "c d e f g h i"]} for one in short]
    systems = {name: evaluate_texts(data, ["RR", "Cover(tokens=4)", "Cover"], matching="contains")
               for name, data in {"short": short, "long": long}.items()}  # fmt: skip
    (note,) = [note for note in goldrank.compare(systems).notes if note.code == "different-lengths"]
    assert note.is_warning
    assert (note.fact("longer"), note.fact("shorter"), note.fact("measures")) == ("long", "short", "RR")
    assert (note.fact("long"), note.fact("short")) == (13, 3)
    alone = goldrank.compare(
        {name: evaluate_texts(data, ["Cover(tokens=4)", "Cover"], matching="contains")
         for name, data in {"short": short, "long": long}.items()}
    )  # fmt: skip
    assert "different-lengths" not in [note.code for note in alone.notes]
