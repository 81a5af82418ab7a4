"""Words that newcomers could not decode stay out of code, messages, help, pages and docs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import places
import pytest

SOURCE = places.ROOT / "src" / "goldrank"

INSTEAD = {
    r"strangers?": "unjudged queries",
    r"yardsticks?": "judgements, or baseline",
    r"purse": "shared budget",
    r"vouch(es)?": "say what is known",
    r"none that": "not one of",
    r"whoever": "the person, or who",
    r"nobody": "unjudged; no user; not declared",
    r"so many": "the number itself",
    r"one's own": "your own",
    r"without_had|_had\b": "drop_seen",
    r"thereof|wherein|whereby|heretofore": "plain words",
}
"""Patterns of words, and what to write instead."""

TABLES = ("negations.py", "opposites.py", "number_words.py")
"""Tables of words of many languages, which matchers look for."""

FILES = [
    *(path for path in SOURCE.rglob("*.py") if path.name not in TABLES),
    *SOURCE.rglob("*.jinja"),
    *SOURCE.rglob("*.js"),
    *(places.ROOT / "docs").rglob("*.md"),
    *(places.ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "SKILL.md", "AGENTS.md")),
]


def uses(pattern: str, paths: list[Path]) -> Iterator[str]:
    """Where a word stands, as `file:line`."""
    word = re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if word.search(line):
                yield f"{path.name}:{number}: {line.strip()[:100]}"


@pytest.mark.parametrize("pattern", INSTEAD)
def test_a_word_that_newcomers_could_not_decode_is_not_used(pattern):
    assert len(FILES) > 500
    assert list(uses(pattern, FILES)) == [], f"write instead: {INSTEAD[pattern]}"


def test_words_are_seen(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("# so many\n# nobody's\n# somebody\n")
    assert list(uses("nobody", [file])) == ["a.py:2: # nobody's"]


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """The line and text of every docstring of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text is not None:
                yield getattr(node, "lineno", 1), text


def test_a_docstring_says_the_thing():
    """A docstring that begins with "The same" leaves it to the reader to find out what is meant."""
    vague = []
    count = 0
    for path in SOURCE.rglob("*.py"):
        for line, text in docstrings(path):
            count += 1
            if text.startswith(("The same", "As above", "See above", "Same as")):
                vague.append(f"{path.relative_to(SOURCE)}:{line}: {text.splitlines()[0]}")
    assert count > 3_000
    assert vague == []
