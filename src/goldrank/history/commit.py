"""The commit and the branch of a git repository, read from its files.

git itself is not asked: it runs programs that the repository's configuration names (`core.fsmonitor`, filters, helpers
of partial clones), and a repository may come from anybody. Whether files were changed since the commit cannot be known
without it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from goldrank.base.errors import StoreError

MOST_BYTES = 64 << 20
"""Of a file of refs; packed-refs has a line for each branch and tag."""
MOST_LINKS = 5
"""Refs that point to refs."""
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def read_commit(folder: str | os.PathLike[str] = ".") -> tuple[str, str]:
    """The hash of the commit that is checked out, and its branch ('' if there is none, as after `checkout HASH`)."""
    git_folder, shared_folder = _git_folders(Path(folder))
    ref = "HEAD"
    for _ in range(MOST_LINKS):
        content = _look_up(ref, git_folder, shared_folder)
        if not content.startswith("ref:"):
            break
        ref = content.removeprefix("ref:").strip()
        _check_name(ref)

    if not content:
        raise StoreError(f"there is no commit on {ref} yet")
    if not _HASH.fullmatch(content):
        raise StoreError(f"{ref} of the repository is not a commit: {content[:60]!r}")

    branch = ""
    if ref.startswith("refs/heads/"):
        branch = ref.removeprefix("refs/heads/")
    return content, branch


def _git_folders(start: Path) -> tuple[Path, Path]:
    """The folder of the working tree's own files (HEAD), and the folder that all working trees share."""
    git_folder = _find_git_folder(start)
    if git_folder.is_file():  # of another working tree, or of a submodule
        pointer = _read(git_folder)
        if not pointer.startswith("gitdir:"):
            raise StoreError(f"is not a git repository: {pointer[:60]!r}", where=str(git_folder))
        git_folder = git_folder.parent / pointer.removeprefix("gitdir:").strip()

    common_folder = _read(git_folder / "commondir")
    if not (git_folder / "HEAD").exists():
        raise StoreError("is not a git repository: there is no HEAD", where=str(git_folder))
    if not common_folder:
        return git_folder, git_folder
    return git_folder, git_folder / common_folder


def _find_git_folder(start: Path) -> Path:
    """What GIT_DIR names, else the first `.git` from a folder upwards."""
    environment_folder = os.environ.get("GIT_DIR")
    if environment_folder:
        return Path(environment_folder)

    start = Path(os.path.abspath(start))
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder / ".git"
    raise StoreError("this is not a git repository")


def _look_up(ref: str, git_folder: Path, shared_folder: Path) -> str:
    """What a ref says: a hash, 'ref: ' and another ref, or '' if there is none."""
    for folder in dict.fromkeys((git_folder, shared_folder)):
        content = _read(folder / ref)
        if content:
            return content
    for line in _read(shared_folder / "packed-refs").splitlines():
        commit, _, name = line.partition(" ")
        if name == ref:
            return commit
    return ""


def _check_name(ref: str) -> None:
    """Only names that stay inside the repository."""
    parts = ref.split("/")
    if parts[0] != "refs" or not ref.isprintable() or "\\" in ref or any(part in ("", ".", "..") for part in parts):
        raise StoreError(f"HEAD of the repository points to {ref[:60]!r}, which is not a branch")


def _read(path: Path) -> str:
    """The text of a small file; '' if there is none."""
    try:
        if not path.is_file():  # nor a pipe, which would block
            return ""
        with open(path, "rb") as file:
            return file.read(MOST_BYTES).decode("utf-8", "replace").strip()
    except (OSError, ValueError) as error:
        raise StoreError(f"cannot be read: {getattr(error, 'strerror', error)}", where=str(path)) from None
