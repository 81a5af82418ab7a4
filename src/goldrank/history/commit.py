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
    own, common = _git_folders(Path(folder))
    ref = "HEAD"
    for _ in range(MOST_LINKS):
        said = _look_up(ref, own, common)
        if not said.startswith("ref:"):
            break
        ref = said.removeprefix("ref:").strip()
        _check_name(ref)

    if not said:
        raise StoreError(f"there is no commit on {ref} yet")
    if not _HASH.fullmatch(said):
        raise StoreError(f"{ref} of the repository is no commit: {said[:60]!r}")
    return said, ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else ""


def _git_folders(start: Path) -> tuple[Path, Path]:
    """The folder of the working tree's own files (HEAD), and the one with what all working trees share."""
    named = os.environ.get("GIT_DIR")
    if named:
        own = Path(named)
    else:
        own = None

    if own is None:
        start = Path(os.path.abspath(start))
        own = next((git for folder in (start, *start.parents) if (git := folder / ".git").exists()), None)

    if own is None:
        raise StoreError("this is not a git repository")

    if own.is_file():  # of another working tree, or of a submodule
        pointer = _read(own)
        if not pointer.startswith("gitdir:"):
            raise StoreError(f"is no git repository: {pointer[:60]!r}", where=str(own))
        own = own.parent / pointer.removeprefix("gitdir:").strip()

    shared = _read(own / "commondir")
    if not (own / "HEAD").exists():
        raise StoreError("is no git repository: there is no HEAD", where=str(own))
    return own, own / shared if shared else own


def _look_up(ref: str, own: Path, common: Path) -> str:
    """What a ref says: a hash, 'ref: ' and another ref, or '' if there is none."""
    for folder in dict.fromkeys((own, common)):
        if said := _read(folder / ref):
            return said
    for line in _read(common / "packed-refs").splitlines():
        commit, _, name = line.partition(" ")
        if name == ref:
            return commit
    return ""


def _check_name(ref: str) -> None:
    """Only names that stay inside the repository."""
    parts = ref.split("/")
    if parts[0] != "refs" or not ref.isprintable() or "\\" in ref or any(part in ("", ".", "..") for part in parts):
        raise StoreError(f"HEAD of the repository points to {ref[:60]!r}, which is no branch")


def _read(path: Path) -> str:
    """The text of a small file; '' if there is none."""
    try:
        if not path.is_file():  # nor a pipe, which would block
            return ""
        with open(path, "rb") as file:
            return file.read(MOST_BYTES).decode("utf-8", "replace").strip()
    except (OSError, ValueError) as error:
        raise StoreError(f"cannot be read: {getattr(error, 'strerror', error)}", where=str(path)) from None
