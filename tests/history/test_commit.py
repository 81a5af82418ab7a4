"""The commit of a repository as git itself says it, in every state that a working tree can be in."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from goldrank import GoldrankError
from goldrank.history.commit import read_commit

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git says what is right")


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GIT_DIR", raising=False)
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    for number in (1, 2):
        git(folder, "commit", "--quiet", "--allow-empty", "-m", f"commit {number}")
    return folder


def check(folder: Path, branch: str) -> None:
    assert read_commit(folder) == (git(folder, "rev-parse", "HEAD"), branch)


def test_branches(repository: Path) -> None:
    check(repository, "main")
    git(repository, "checkout", "--quiet", "-b", "feature/deep/name", "HEAD~1")
    check(repository, "feature/deep/name")
    inside = repository / "a" / "b"
    inside.mkdir(parents=True)
    check(inside, "feature/deep/name")


def test_packed_refs(repository: Path) -> None:
    git(repository, "tag", "-a", "v1", "-m", "one")  # its line is followed by one with the commit that it names
    git(repository, "pack-refs", "--all")
    check(repository, "main")
    git(repository, "commit", "--quiet", "--allow-empty", "-m", "newer than the packed one")
    check(repository, "main")


def test_no_branch(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "--detach", "HEAD~1")
    check(repository, "")


def test_another_working_tree(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "tree"), "HEAD~1")
    check(tmp_path / "tree", "other")
    git(repository, "pack-refs", "--all")
    check(tmp_path / "tree", "other")
    check(repository, "main")


def test_submodule(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "--quiet")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository), "inner")
    check(outer / "inner", "main")


def test_programs_of_the_repository_are_not_run(repository: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o700)
    git(repository, "config", "core.fsmonitor", str(program))
    git(repository, "status")
    assert mark.exists(), "git runs it, so that this test could fail"
    mark.unlink()
    read_commit(repository)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("HEAD", "ref: ../../secret\n"),
        ("HEAD", "ref: refs/heads/../../../secret\n"),
        ("HEAD", "ref: refs/heads/new\n"),
        ("HEAD", "not a hash\n"),
        ("HEAD", ""),
        ("refs/heads/main", "ref: refs/heads/main\n"),
    ],
)
def test_damaged(repository: Path, file: str, text: str) -> None:
    (repository.parent / "secret").write_text("secret")
    (repository / ".git" / file).write_text(text)
    with pytest.raises(GoldrankError) as error:
        read_commit(repository)
    assert error.value.__class__.__name__ == "StoreError"
    message = str(error.value)
    assert any(words in message for words in ("not a branch", "not a commit", "no commit"))


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GIT_DIR", raising=False)
    with pytest.raises(GoldrankError):
        read_commit(tmp_path)
