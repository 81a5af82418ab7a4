"""Every row of "Where to change what" is tried: its change is made in a copy of the source, and works there.

The changes of the first rows are the examples of CONTRIBUTING.md; those of the others are files of tests/changes. Both
are written alike:

- a block whose first line is a comment with a path is a new file;
- a block of `diff` whose first line is `+++` and a path has hunks. The lines of a hunk that begin with a space or `-`
  must be in the file once; hunks are separated by `@@`, and one of `+` lines only goes to the end of the file;
- the last block of `python` is run with the changed source.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import places
import pytest

SOURCE = places.ROOT / "src" / "goldrank"
CHANGES = places.ROOT / "tests" / "changes"
ARCHITECTURE = (places.ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRIBUTING = (places.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
IN_CONTRIBUTING = ("a measure", "a matcher", "a format", "a policy", "a note", "a column of a report")
"""The changes that people make most; each has a section with a complete example."""


@dataclass(frozen=True)
class Change:
    """A change: new files, hunks of files, and a program that shows that it works."""

    new_files: dict[str, str]
    hunks: list[tuple[str, str]]
    """(path, hunk)."""
    check: str

    @property
    def paths(self) -> set[str]:
        """Every file that is touched."""
        return {*self.new_files, *(path for path, _ in self.hunks)}


def rows() -> dict[str, str]:
    """The rows of the table: what is changed, and the cells that say where."""
    table = ARCHITECTURE.split("## Where to change what")[1]
    lines = re.findall(r"^\| ([^|]+?) \| (.*)\|$", table, re.MULTILINE)
    return {change: cells for change, cells in lines if change != "to change"}


def texts() -> Iterator[tuple[str, str]]:
    """What is changed, and the text with the change."""
    for section in CONTRIBUTING.split("\n## Add ")[1:]:
        title, _, text = section.partition("\n")
        if title in IN_CONTRIBUTING:
            yield title, text.split("\n## ")[0]
    for path in sorted(CHANGES.glob("*.md")):
        title, _, text = path.read_text(encoding="utf-8").partition("\n")
        yield title.removeprefix("# "), text


TEXTS = dict(texts())


def parsed(text: str) -> Change:
    """The change in a text."""
    new_files: dict[str, str] = {}
    hunks: list[tuple[str, str]] = []
    check = ""
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        first, _, rest = block.partition("\n")
        if language == "diff":
            path = first.removeprefix("+++ ")
            hunks += [(path, hunk.removeprefix("\n")) for hunk in re.split(r"^@@$", rest, flags=re.MULTILINE) if hunk]
        elif re.fullmatch(r"# (src|examples)/[\w/.]+", first):
            new_files[first.removeprefix("# ")] = rest
        elif language == "python":
            check = block
    return Change(new_files, hunks, check)


def with_hunk(text: str, hunk: str) -> str:
    """A file's text with a hunk applied."""
    lines = hunk.splitlines(keepends=True)
    assert all(line[0] in " -+\n" for line in lines), hunk
    before = "".join(line[1:] or "\n" for line in lines if not line.startswith("+"))
    after = "".join(line[1:] or "\n" for line in lines if not line.startswith("-"))
    if not before:
        return text + after
    assert text.count(before) == 1, f"these lines are not in the file once:\n{before}"
    return text.replace(before, after)


def linked(source: str, target: str) -> None:
    """A file as a link, which takes no time; as a copy where the target is on another disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def make(change: Change, folder: Path) -> None:
    """Make a change in a copy of the source. Files that stay are links."""
    shutil.copytree(places.ROOT / "src", folder / "src", copy_function=linked)
    for path, text in change.new_files.items():
        target = folder / path
        assert not target.exists(), f"{path} is not new"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    for path, hunk in change.hunks:
        target = folder / path
        text = target.read_text(encoding="utf-8")
        target.unlink()
        target.write_text(with_hunk(text, hunk), encoding="utf-8")


def is_named(path: str, cells: str) -> bool:
    """Whether the cells of a row name a file, or the folder that it is in."""
    spellings = (path, path.removeprefix("src/goldrank/"))
    for name in re.findall(r"`([\w./]+)`", cells):
        if name in spellings:
            return True
        if name.endswith("/") and any(spelling.startswith(name) for spelling in spellings):
            return True
    return False


def test_every_row_has_a_change_and_every_change_a_row():
    assert set(TEXTS) == set(rows())
    assert set(IN_CONTRIBUTING) <= set(rows())


@pytest.mark.parametrize("row", rows())
def test_a_row_names_all_files_of_its_change(row):
    change = parsed(TEXTS[row])
    assert change.check
    assert change.paths
    for path in change.paths:
        assert is_named(path, rows()[row]), f"{row}: the table does not name {path}"


@pytest.mark.slow
@pytest.mark.parametrize("row", rows())
def test_a_change_works(row, tmp_path):
    change = parsed(TEXTS[row])
    make(change, tmp_path)
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src")}
    program = f"import goldrank\nassert goldrank.__file__.startswith({str(tmp_path)!r})\n{change.check}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("row", rows())
def test_without_the_change_its_check_fails(row, tmp_path):
    check = parsed(TEXTS[row]).check
    done = subprocess.run([sys.executable, "-c", check], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0


def test_hunks_must_fit():
    assert with_hunk("a\nb\n", " a\n+x\n") == "a\nx\nb\n"
    assert with_hunk("a\nb\n", "-a\n+x\n b\n") == "x\nb\n"
    assert with_hunk("a\n", "+x\n") == "a\nx\n"
    for text, hunk in (("b\n", " a\n+x\n"), ("a\na\n", " a\n+x\n")):
        with pytest.raises(AssertionError):
            with_hunk(text, hunk)
