"""docs/judges.md: its Python runs, its commands parse, and its example of a prompt is one."""

from __future__ import annotations

import json
import re
import shlex
import sys

import places
import pytest

from goldrank.cli import group
from goldrank.cli import run as command
from goldrank.judging.prompt import Prompt

PAGE = (places.ROOT / "docs" / "judges.md").read_text(encoding="utf-8")


def test_code_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    assert blocks
    for block in blocks:
        exec(block, scope)


def test_the_prompt_is_one():
    (text,) = re.findall(r"```text\n(.*?)```", PAGE, re.S)
    assert Prompt.parse(text, "page").scale == (0, 1, 2)


COMMANDS = [
    shlex.split(line.replace("\\\n", " "), comments=True)
    for block in re.findall(r"```bash\n(.*?)```", PAGE, re.S)
    for line in re.findall(r"^goldrank (?:.*\\\n)*.*$", block, re.M)
    if "..." not in line
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_commands_have_these_options(words):
    command, rest = group, words[1:]
    while hasattr(command, "get_command"):
        _, command, rest = command.resolve_command(
            command.make_context("goldrank", list(rest), resilient_parsing=True), rest
        )
    known = {flag for option in command.params for flag in option.opts}
    assert {word for word in rest if word.startswith("--")} <= known


def test_there_are_commands():
    assert len(COMMANDS) >= 4


PROGRAM = """
import json, sys
for line in sys.stdin:
    read = json.loads(line)
    assert list(read) == {fields}, read
    print(json.dumps({{**{answer}, "id": read["id"]}}), flush=True)
"""


@pytest.mark.slow
def test_a_program_reads_and_writes_what_the_page_shows(tmp_path, monkeypatch, capsys):
    """The program wants the fields of the first line, and answers with those of the second."""
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, re.S)
    asked, answer = map(json.loads, block.splitlines())
    (tmp_path / "judge.py").write_text(PROGRAM.format(fields=list(asked), answer=answer))
    (tmp_path / "qrels.txt").write_text("q1 0 d1 0\n")
    (tmp_path / "run.txt").write_text("q1 Q0 d1 1 2 t\nq1 Q0 d3 2 1 t\n")
    docs = [{"_id": "d1", "text": "Paris is old."}, {"_id": "d3", "text": asked["text"]}]
    (tmp_path / "docs.jsonl").write_text("\n".join(map(json.dumps, docs)))
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": asked["question"]}))
    line = [
        "judge",
        "ask",
        "qrels.txt",
        "run.txt",
        "--documents",
        "docs.jsonl",
        "--queries",
        "queries.jsonl",
        "-o",
        "out.qrels",
    ]
    assert command([*line, "--judge", "command:" + shlex.join([sys.executable, "judge.py"])]) == 0, (
        capsys.readouterr().err
    )
    rows = [row.split() for row in (tmp_path / "out.qrels").read_text().splitlines()]
    assert {(row[2], row[3]) for row in rows} == {("d1", "0"), ("d3", str(answer["grade"]))}
