"""A BEIR folder: corpus.jsonl, queries.jsonl and qrels/<split>.tsv."""

from __future__ import annotations

from pathlib import Path

from goldrank.errors import InputError, did_you_mean


def find_file(folder: Path, split: str | None = None) -> Path:
    """The file with the judgements of a split: the one named, else test, else the only one."""
    found = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    named = split is not None
    split = split if split is not None else ("test" if "test" in found or len(found) != 1 else next(iter(found)))
    if split in found:
        return found[split]
    what, hint = f"has no split {split!r}; there are: {', '.join(found)}", did_you_mean(split, found)
    if not found:
        what, hint = "is a folder without qrels/*.tsv", "Name a file, or the folder of a BEIR data set."
    elif not named:
        what, hint = f"has several splits: {', '.join(found)}", "Choose one with split=."
    raise InputError(what, where=str(folder), hint=hint)
