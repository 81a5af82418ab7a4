"""A BEIR folder: corpus.jsonl, queries.jsonl and qrels/<split>.tsv."""

from __future__ import annotations

from pathlib import Path

from goldrank.errors import InputError, did_you_mean


def find_file(folder: Path, split: str | None = None) -> Path:
    """The file with the judgements of a split: the one named, else test, else the only one."""
    found = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    if not found:
        hint = "Name a file, or the folder of a BEIR data set."
        raise InputError("is a folder without qrels/*.tsv", where=str(folder), hint=hint)
    if split is None:
        split = "test" if "test" in found else next(iter(found))
        if len(found) > 1 and split != "test":
            hint = "Choose one with split=."
            raise InputError(f"has several splits: {', '.join(found)}", where=str(folder), hint=hint)
    if split not in found:
        hint = did_you_mean(split, found)
        raise InputError(f"has no split {split!r}; there are: {', '.join(found)}", where=str(folder), hint=hint)
    return found[split]
