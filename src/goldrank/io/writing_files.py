"""Writing runs and qrels to files, in the format that the ending or the caller names."""

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
    """Write qrels; the notes say what the format cannot store.

    Tables and JSON Lines store who judged (a column `judged_by`), and so does TREC text (`model` in the second column).
    """
    used = _write(qrels, path, format)
    if not qrels.judges or used.keeps_judges == "all":
        return ()

    total = qrels.size
    human = 0
    if "human" in qrels.judges:
        human = qrels.judges["human"].size
    if not used.keeps_judges:
        return (Note.of("judges-not-kept", format=used.name, models=total - human, total=total),)

    left_out = human + qrels.judges["model"].size - total
    if not left_out:
        return ()
    return (Note.of("model-grades-not-kept", format=used.name, count=left_out),)


def _write(data: Run | Qrels, path: types.Path, format: str | None) -> formats.Format:
    stem, suffix = split_suffix(file_name(path))
    chosen = formats.to_write(Path(stem), format)
    content = getattr(chosen.implementation, chosen.writer)(data)
    compression = named_by(suffix)
    if compression is not None:
        content = compression.pack(content)
    write_whole(path, content)
    return chosen
