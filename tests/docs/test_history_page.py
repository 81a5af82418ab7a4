"""docs/history.md: its commands print what it shows, and its code runs."""

import datetime
import json
import re
import shlex
from pathlib import Path

import places
import pytest

from goldrank import History, evaluate
from goldrank.cli import all_commands
from goldrank.cli import run as command
from goldrank.history import store
from goldrank.history.changes import HEAD_START, PATIENCE

PAGE = (places.ROOT / "docs" / "history.md").read_text(encoding="utf-8")


class Noon(datetime.datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz=None):
        return cls(2026, 1, 31, 12, tzinfo=tz)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GOLDRANK_DB", raising=False)


@pytest.fixture
def recorded(monkeypatch, capsys):
    """The page's commands, run; what the last one printed."""
    monkeypatch.setattr(store.datetime, "datetime", Noon)
    for line in re.findall(r"^\$ goldrank (.*)$", PAGE, re.M):
        capsys.readouterr()
        assert command(shlex.split(line)) == 0
    return "".join(capsys.readouterr())


def test_commands_print_what_the_page_shows(recorded):
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.S)
    assert recorded == shown


def test_the_code_runs(recorded, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(code, {})
    first, second, changes, *lines, verdict = capsys.readouterr().out.splitlines()
    assert first == str(44 / 60)  # the P_1 of trec_eval is 0.7333
    assert second in ("0.0", "1.0")
    assert "better since record 2" in changes
    # The code's record has relevance rules, the commands' have none: two lines.
    assert len(lines) == 2
    assert "relevance rules v3" in lines[1]
    assert verdict == "better"
    assert len(json.loads(Path("history.json").read_text())["records"]) == 3


def test_what_the_page_names_is_there():
    named = set(re.findall(r"`goldrank (\w+)", PAGE))
    assert named
    assert named <= set(all_commands())
    assert "probability of at most 5%" in PAGE
    assert f"alpha x (j + {HEAD_START}) / (j + {HEAD_START + PATIENCE})" in PAGE


def test_diagnostics_get_no_marks():
    """All documents of the first run are judged and few of the second: a change of P@1 is marked, of Judged@1 none."""
    assert "Diagnostics such as Judged@10 get no marks" in " ".join(PAGE.split())
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(40)}
    with History("history.db") as history:
        for first in ("a", "x"):
            history.record(evaluate(qrels, {q: [first, "b"] for q in qrels}, ["P@1", "Judged@1"]), label="main")
    marks = {}
    for measure in ("P@1", "Judged@1"):
        with History("history.db") as history:
            marks[measure] = len(history.trend(measure).changes)
    assert marks == {"P@1": 1, "Judged@1": 0}
