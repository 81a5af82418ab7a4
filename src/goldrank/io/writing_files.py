"""Runs and qrels to files, in the format that the ending or the caller names."""

from __future__ import annotations

from pathlib import Path

from goldrank.base import types
from goldrank.base.errors import file_name
from goldrank.base.notes import Note
from goldrank.base.writing import write_whole
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.io import formats
from goldrank.io.compression import named_by, split_suffix
from goldrank.io.objects import mappings as objects


def save_run(run: Run, path: types.Path, format: str | None = None) -> None:
    """Write a run."""
    _write(objects.checked(run), path, format)


def save_qrels(qrels: Qrels, path: types.Path, format: str | None = None) -> tuple[Note, ...]:
    """Write qrels; the notes say what the format could not keep.

    Who judged is kept by tables and JSON Lines (a column `judged_by`) and by TREC text (`model` in the second column).
    """
    written = _write(qrels, path, format)
    if not qrels.judges or written.keeps_judges == "all":
        return ()
    total = qrels.size
    if "human" in qrels.judges:
        human = qrels.judges["human"].size
    else:
        human = 0
    if not written.keeps_judges:
        return (Note.of("judges-not-kept", format=written.name, models=total - human, total=total),)
    left_out = human + qrels.judges["model"].size - total
    if not left_out:
        return ()
    return (Note.of("model-grades-not-kept", format=written.name, count=left_out),)


def _write(data: Run | Qrels, path: types.Path, format: str | None) -> formats.Format:
    stem, suffix = split_suffix(file_name(path))
    chosen = formats.to_write(Path(stem), format)
    packing = named_by(suffix)
    content = getattr(chosen.implementation, chosen.writer)(data)
    write_whole(path, content if packing is None else packing.pack(content))
    return chosen
