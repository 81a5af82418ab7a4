"""docs/planning.md and docs/interleaving.md: their commands print what they show, and their code runs."""

import json
import re
import shlex
from pathlib import Path

import places
import pytest

from goldrank.cli import run as command

PAGES = {
    name: (places.ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("planning", "interleaving")
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """With a log of clicks: 30 users, of whom 22 click what the new ranking picked, and one who clicks nothing."""
    monkeypatch.chdir(tmp_path)
    clicks = [["y"]] * 22 + [["x"]] * 8 + [[]]
    rows = [
        {"user": f"u{i}", "shown": ["x", "y"], "team": ["a", "b"], "clicks": clicked}
        for i, clicked in enumerate(clicks)
    ]
    Path("clicks.jsonl").write_text("\n".join(map(json.dumps, rows)))


@pytest.mark.parametrize("name", PAGES)
def test_commands_print_what_the_page_shows(name, capsys):
    commands = re.findall(r"^\$ goldrank (.*)$", PAGES[name], re.M)
    shown = re.findall(r"```text\n(.*?)```", PAGES[name], re.S)
    printed = []
    assert shown
    for line in commands:
        assert command(shlex.split(line)) == 0
        out = "".join(capsys.readouterr())
        printed += [] if line.startswith("demo") else [out]
    assert printed == shown


@pytest.mark.parametrize("name", PAGES)
def test_the_code_runs(name, capsys):
    command(["demo", "--write", "demo"])
    capsys.readouterr()
    (code,) = re.findall(r"```python\n(.*?)```", PAGES[name], re.S)
    exec(code, {})
    assert capsys.readouterr().out


def test_the_log_of_the_page_is_read():
    from goldrank.clicks.impressions import read_impressions

    (lines,) = re.findall(r"```json\n(.*?)```", PAGES["interleaving"], re.S)
    found, _ = read_impressions([json.loads(line) for line in lines.splitlines()])
    assert [len(impression.clicks) for impression in found] == [1, 2]
