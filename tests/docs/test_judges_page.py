"""docs/judges.md: its Python runs, its commands parse, and its example of a prompt is one."""

from __future__ import annotations

import re
import shlex

import places
import pytest

from goldrank.cli import group
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
