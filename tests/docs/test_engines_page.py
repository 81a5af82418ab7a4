"""docs/engines.md: its commands run, and it lists what the code has."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from pathlib import Path

import places
import pytest

import goldrank
from goldrank import demo
from goldrank.cli import run
from goldrank.explorer.judging_session import Judging
from goldrank.explorer.start import PageTexts, session_of
from goldrank.retrieval import hits, http_engine
from goldrank.retrieval.engine_file import EngineLimits, SearchEngine
from goldrank.retrieval.failures import FAILURES

PAGE = (places.ROOT / "docs" / "engines.md").read_text(encoding="utf-8")


def test_the_commands_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """SQLite's, as they stand there."""
    (tmp_path / "examples").symlink_to(places.ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    lines = [line.strip() for line in PAGE.splitlines() if line.startswith("    goldrank ")]
    assert len(lines) == 11
    told = ""
    for line in lines[3:]:
        words = shlex.split(line)[1:]
        if words[0] == "serve":
            judged_by_a_person(words[1:])
            continue
        assert run(words) == 0, (line, capsys.readouterr().err)
        told += capsys.readouterr().out
    assert "Judge these first" in told
    assert re.search(r"new is better than old: \+0\.1022 nDCG@10 \(95% interval \+0\.0207 to \+0\.1885\)", told)
    assert "PASS" in told
    gate = shlex.split(lines[-1])[1:]
    assert run([word.replace("new.run", "old.run") for word in gate]) == 1, "the page says that old fails"


def judged_by_a_person(words: list[str]) -> None:
    """Judge the first 40 documents as the demo's judgements have them; what the browser sends goes in here."""
    old, new = words[0], words[1]
    runs = {
        path.removesuffix(".run"): goldrank.read_run(path).renamed(path.removesuffix(".run")) for path in (old, new)
    }
    session = session_of(None, runs, PageTexts(queries=words[words.index("--queries") + 1]), paths=[old, new])
    judging = Judging(session, "judgements.db", "ann")
    grades = demo.load()["qrels"]
    for number in range(40):
        item, _ = judging.next("ann", session.view(), False)
        assert item is not None
        grade = grades[item.query].get(item.doc, 0)
        judging.add(
            {"query": item.query, "doc": item.doc, "grade": grade, "data": session.data_hash, "key": str(number)}
        )
    judging.close()


def test_the_engine_file_of_the_page(tmp_path: Path) -> None:
    text = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert text is not None
    path = tmp_path / "engine.toml"
    path.write_text(text[1])
    engine = SearchEngine.load(path)
    assert (engine.name, engine.k) == ("bm25-b0.4", 100)
    assert engine.limits == EngineLimits(), "the page shows what is usual"
    assert {field.name for field in fields(EngineLimits)} == set(engine.table["limits"])


def test_every_failure_is_named() -> None:
    assert {code for code in FAILURES if f"`{code}`" not in PAGE} == set()


def test_the_limits_of_the_page() -> None:
    assert f"bytes, {hits.MOST_DEPTH} levels, {hits.MOST_HITS:,} results" in PAGE
    assert http_engine.MOST_REDIRECTS == 3


def test_python_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("queries.tsv").write_text("q1\tgold rush\n")
    Path("engine.toml").write_text('kind = "python"\nfunction = "itertools:repeat"\n')
    Path("old.run").write_text("q1 Q0 d 1 1.0 t\n")
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert code is not None
    names: dict[str, object] = {}
    # The words "gold rush" have a blank, and no run holds such an id: the page's lines are run with one word.
    Path("queries.tsv").write_text("q1\tgold\n")
    exec(code[1], names)
    churn = names["churn"]
    assert isinstance(churn, goldrank.Churn)
    assert churn["q1"].came == ("gold",)
