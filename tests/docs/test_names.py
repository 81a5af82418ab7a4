"""Commands, options and names of Python that any page mentions are there, whether or not an example runs them."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType

import click
import places
import pytest

from goldrank.cli import group
from goldrank.cli.commands import options_of

FOLDERS = (".", "docs", "docs/users", "examples")
OF_THE_PAST = ("CHANGES.md", "moved.md")
PAGES = sorted(
    page for folder in FOLDERS for page in (places.ROOT / folder).glob("*.md") if page.name not in OF_THE_PAST
)
OF_OTHERS = {"--no-deps", "--group", "--always", "--dirty", "--abbrev", "--query", "--reformat", "--fast"}
"""Options of pip, git, djlint and a made-up program, and a shortened one of trec_eval."""
OF_PYTEST = ("--goldrank-rules", "--goldrank-baseline", "--goldrank-db", "--goldrank-update")
SPAN = re.compile(r"`([^`\n]+)`")
BLOCK = re.compile(r"^```.*?^```\s*?$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^(?:\$ )?(goldrank [a-z](?:.*\\\n)*.*)$", re.MULTILINE)
INDENTED = re.compile(r"^    (goldrank [a-z].*)$", re.MULTILINE)


def commands() -> dict[str, set[str]]:
    """The options of every command, those of its own commands included."""
    context = click.Context(group, info_name="goldrank")
    found: dict[str, set[str]] = {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        params = list(options_of(command, context))
        found[name] = {spelled for param in params for spelled in (*param.opts, *param.secondary_opts)}
    return found


KNOWN = commands()
ALL = {"--help", "--help-all", "--version", *OF_PYTEST}.union(*KNOWN.values())


def wrong_options(text: str) -> list[str]:
    """Commands that are not there, and long options that no command has, or not the one in whose line they are."""
    wrong = []
    lines = LINE.findall("\n".join(BLOCK.findall(text)))
    for code in (*SPAN.findall(BLOCK.sub("", text)), *lines, *INDENTED.findall(text)):
        named = re.match(r"goldrank ([a-z_][\w-]*)", code)
        if named and named[1] not in KNOWN:
            wrong.append(named[0])
            continue
        known = KNOWN[named[1]] | {"--help", "--help-all"} if named else ALL | OF_OTHERS
        alone = re.split(r" && | \| |  #", code)[0]
        wrong += [one for one in re.findall(r"(?<![\w-])--[a-z][a-z-]*", alone) if one not in known]
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(places.ROOT).as_posix())
def test_commands_and_options_are_there(page: Path) -> None:
    assert not wrong_options(page.read_text(encoding="utf-8"))


def test_a_wrong_option_is_found() -> None:
    assert wrong_options("`goldrank eval a b --interval`, `-o x`, `goldrank diff a b`") == []
    assert wrong_options("`goldrank eval a --margin 1` `--colour` `goldrank evaluate a`") == [
        "--margin",
        "--colour",
        "goldrank evaluate",
    ]


def is_there(name: str) -> bool:
    """Whether a dotted name means something to who has written `import goldrank`, or is a module with its name."""
    parts = name.split(".")
    found: object = importlib.import_module("goldrank")
    for i, part in enumerate(parts[1:], 2):
        if not hasattr(found, part) and isinstance(found, ModuleType):
            try:
                importlib.import_module(".".join(parts[:i]))
            except ModuleNotFoundError:
                return False
        found = getattr(found, part, None)
        if found is None:
            return False
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(places.ROOT).as_posix())
def test_names_of_python_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w./-])goldrank(?:\.[A-Za-z_]\w*)+(?![\w/])", text))
    added = {path.stem for path in map(Path, re.findall(r"^# (src/goldrank/\S+\.py)$", text, re.MULTILINE))}
    absent = [name for name in named if not name.endswith(".zip") and not is_there(name)]
    assert not [name for name in absent if name.rpartition(".")[2] not in added], (
        "a new file of an example may be named"
    )


def test_a_wrong_name_is_found() -> None:
    assert is_there("goldrank.evaluate")
    assert is_there("goldrank.compat.ranx")
    assert not is_there("goldrank.evaluation_of")
    assert not is_there("goldrank.Scores.to_excel")
