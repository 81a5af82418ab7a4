"""docs/gate.md and the examples: what they show works as it is printed."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import places
import pytest

from goldrank import Rule, evaluate, gate
from goldrank.cli import run as command
from goldrank.gating.rules import KINDS

ROOT = places.ROOT
PAGE = (ROOT / "docs" / "gate.md").read_text()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (toml,) = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    Path("rules.toml").write_text(toml)


@pytest.mark.usefixtures("folder")
def test_commands_print_what_the_page_shows(capsys):
    lines = re.findall(r"^\$ goldrank (.*)$", PAGE, re.M)
    assert [command(shlex.split(line)) for line in lines[:2]] == [0, 0]
    capsys.readouterr()
    assert command(shlex.split(lines[2])) == 1
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.S)
    printed = re.sub(r"sha256 \w+", "sha256 ...", capsys.readouterr().out)
    assert printed.startswith(shown)
    assert Path("gate.md").exists()
    assert Path("gate.xml").exists()


@pytest.mark.usefixtures("folder")
def test_python(capsys):
    fixture, code = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    assert "goldrank_gate" in fixture
    exec(code, {})
    # q14 fell from 1 to 0 as five others did, and is the first of them.
    assert capsys.readouterr().out.splitlines() == ["nDCG@10: -1% q14", "fail ()"]


def test_nine_queries_that_fell():
    """All signs of nine differences are alike in one of 2^9 flips."""
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(9)}
    before, after = (evaluate(qrels, dict.fromkeys(qrels, run), "P@1") for run in (["a", "b"], ["b", "a"]))
    (finding,) = gate(after, "P@1: -5%", before)
    assert (finding.status, finding.p) == ("fail", 1 / 2**9)
    assert f"nine queries that fell from 1 to 0 fail with p = 1/{2**9}" in " ".join(PAGE.split())


def test_table_of_rules():
    """Each line is a rule, and its keys are keys of that rule."""
    rows = re.findall(r"^\| `([^|]*)` \| (.*?) \| .* \|$", PAGE, re.M)
    seen = set()
    for line, keys in rows:
        rule = Rule.parse(line)
        seen.add(rule.kind)
        assert Rule.from_table(_table(keys, rule)) == rule
    assert seen == set(KINDS)
    for word in ("terminal", "markdown", "junit", "github", "json", ".txt", ".md", ".xml", ".json"):
        assert f"`{word}`" in PAGE


def _table(keys, rule):
    import tomllib

    table = tomllib.loads("\n".join(re.findall(r"`([^`]*)`", keys)))
    if rule.measure is not None:
        table.setdefault("measure", rule.measure)
        if not {"floor", "ceiling", "drop"} & set(table):
            table[rule.kind] = f"{rule.limit:.0%}" if rule.relative else rule.limit
    return table


@pytest.mark.slow
def test_example_in_a_repository():
    """Records, breaks, fails the gate, reads the report; the example checks its own exit codes."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "gate_in_ci.py")],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "GIT_CONFIG_GLOBAL": "/dev/null"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nDCG@10: -1%: look at q14 first, 1.00 -> 0.00" in done.stdout
    assert "was changed after it was written" in done.stdout


def test_workflow_calls_the_gate_as_it_is():
    """The workflow's options exist, and nothing in it is bound to one machine."""
    text = (ROOT / "examples" / "github-actions.yml").read_text()
    call = re.search(r"goldrank (gate .*?)\n\n", text, re.S)[1]
    from goldrank.gating.gate_command import command as gate

    known = {name for option in gate.params for name in (*option.opts, *option.secondary_opts)}
    used = {word for word in shlex.split(call) if word.startswith("-")}
    assert used <= known
    assert not re.search(r"(?<![\w$.])/(home|usr|tmp|root)\b|https?://", text)
