"""What a command writes is for no more people than the files that it was made from."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from goldrank.cli import run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")

COMMANDS = {
    "eval": ["eval", "qrels", "run", "-o", "out.json"],
    "eval of a named run": ["eval", "qrels", "mine=run", "-o", "out.json"],
    "convert": ["convert", "run", "out.json"],
    "fuse": ["fuse", "run", "other", "-o", "out"],
    "compare": ["compare", "qrels", "run", "other", "-o", "out.json"],
    "record": ["record", "qrels", "run", "--db", "out.db"],
    "baseline": ["gate", "qrels", "run", "-m", "P@1", "--baseline", "out.json", "--update"],
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    Path("run").write_text("q1 Q0 d1 1 2.0 a\nq2 Q0 d3 1 2.0 a\n")
    Path("other").write_text("q1 Q0 d4 1 2.0 b\nq2 Q0 d2 1 2.0 b\n")
    before = os.umask(0o022)
    for path in tmp_path.iterdir():
        path.chmod(0o644)
    yield
    os.umask(before)


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir() if path.name.startswith("out")}


@pytest.mark.parametrize(("mode", "expected"), [(0o600, 0o600), (0o640, 0o640), (0o644, 0o644), (0o400, 0o600)])
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_wider_than_what_it_was_made_from(command: str, mode: int, expected: int, tmp_path: Path) -> None:
    Path("run").chmod(mode)
    assert run(COMMANDS[command]) == 0
    assert modes(tmp_path) == {expected}
    assert os.umask(0o022) == 0o022, "the umask of the process is as before"


def test_a_file_that_exists_keeps_its_permissions(tmp_path: Path) -> None:
    Path("out.json").write_text("")
    Path("out.json").chmod(0o644)
    Path("run").chmod(0o600)
    assert run(COMMANDS["eval"]) == 0
    assert modes(tmp_path) == {0o644}
