"""Files and objects -> `Qrels` and `Run`, and back. What others call is here; `formats` has the table of formats."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from goldrank import types
from goldrank.conventions import POLICIES
from goldrank.data.aspects import AspectQrels
from goldrank.data.blocks import BlockSource
from goldrank.data.preferences import Preferences
from goldrank.data.qrels import Judgements, Qrels
from goldrank.data.run import Run, Runs
from goldrank.errors import InputError, OptionError, file_name, one_of
from goldrank.io import aliases, formats, objects, sources
from goldrank.io.files import InputFiles, PartsRun, is_file, is_frame, is_spark, open_files
from goldrank.io.sources import ByteSource
from goldrank.notes import Note
from goldrank.writing import write_whole

__all__ = [
    "as_qrels", "as_run", "as_runs", "distinct", "held_bytes", "is_file", "is_frame", "is_spark", "read_aspects",
    "read_preferences", "read_qrels", "read_run", "read_runs", "write_qrels", "write_run",
]  # fmt: skip


FileLike = types.Path | IO[bytes] | ByteSource
"""A path, '-' for standard input, an open binary stream, or an input that was opened before."""


def read_run(given: FileLike, *, format: str | None = None, name: str | None = None, duplicates: str = "error") -> Run:
    """A run from a path, an open binary stream or '-' for standard input; the format is recognised by the content.

    A pattern ('runs/part-*.parquet') or a folder of part files is one run too, read file by file.
    """
    one_of(duplicates, POLICIES["duplicates"], "duplicates")
    files = open_files(given, "run", format)
    run: Run = _run_of_parts(files, duplicates) if files.several else files.read("run", duplicates=duplicates)[0]
    return run if name is None else run.renamed(name)


def read_runs(given: FileLike, *, format: str | None = None) -> Runs:
    """Several runs in one file, pattern or folder, told apart by tag: column 6 of TREC files, a column of tables.

    The result maps tags to runs. Give it to `evaluate` as it is: the files are then read once for all runs.
    """
    run = read_run(given, format=format)
    if not isinstance(run.source, BlockSource) or not _has_tags(run.source):
        hint = f"TREC runs have them in column 6, tables in a column named {', '.join(aliases.COLUMNS['tag'])}."
        raise InputError("has no tags to tell runs apart by", where=getattr(run.source, "name", run.name), hint=hint)
    return Runs(run.source, name=run.name, notes=run.notes)


def _has_tags(blocks: BlockSource) -> bool:
    first = next(blocks.pieces(), None)
    return first is not None and first().tags is not None


def _run_of_parts(files: InputFiles, duplicates: str) -> Run:
    """One run in several files."""
    names = [source.name for source, _ in files.opened]
    if files.format.in_memory:
        return objects.joined_run(files.read("run", duplicates=duplicates), names, files.label, duplicates)
    parts: list[Callable[[], Run]] = files.readers("run", duplicates=duplicates)
    notes = [note.with_about(source.label) for source, _ in files.opened for note in source.notes]
    if files.format.counts_rows and not any(source.compression for source, _ in files.opened):
        # All are opened now, so that a damaged file is found before the work begins.
        runs: list[Any] = [read() for read in parts]
        parts = [lambda run=run: run for run in runs if run.source.rows]  # type: ignore[misc]
        empty = [name for name, run in zip(names, runs, strict=True) if not run.source.rows]
        if not parts:
            raise InputError("no rows in any file", where=files.name, hint="Did the system return anything?")
        if empty:
            notes.append(Note.of("empty-files", count=len(empty), files=len(runs), first=empty[0]))
    return Run(PartsRun(files.name, parts), name=files.label, notes=tuple(notes))


def held_bytes(given: types.Path, thing: str) -> int:
    """How many bytes of a path, as stored, must be held at once to read it: all of qrels, none of a TREC run."""
    if os.fspath(given) == "-" or formats.of_folder(Path(given)) is not None:
        return 0
    files = open_files(given, thing)
    held = files.opened if thing == "qrels" or files.format.in_memory else []
    return sum(source.size or 0 for source, _ in held)


def read_qrels(
    given: FileLike,
    *,
    format: str | None = None,
    split: str | None = None,
    judgements: str = "error",
    real_grades: bool = False,
) -> Qrels:
    """Qrels from a path, a BEIR folder, an open binary stream or '-'; the format is recognised by the content.

    A pattern or a folder of part files is one set of qrels too.
    """
    one_of(judgements, POLICIES["judgements"], "judgements")
    asked = None if format is None else formats.chosen(format, "qrels")
    folder = Path(os.fsdecode(given)) if isinstance(given, str | os.PathLike) and os.path.isdir(given) else None
    whole = None if folder is None else formats.of_folder(folder)
    if whole or split is not None or (asked and asked.folder):
        if folder is None:
            raise OptionError("split= chooses among the qrels of a BEIR folder", hint="Name the folder, not a file.")
        whole = whole or formats.FORMATS["beir"]
        given, format = whole.implementation.find_file(folder, split), None
    files = open_files(given, "qrels", format)
    found = files.read("qrels", judgements=judgements, real_grades=real_grades)
    if not files.several and isinstance(found[0], Qrels):
        return found[0]
    rows = [_rows(each, source.name) for each, (source, _) in zip(found, files.opened, strict=True)]
    return Qrels.from_parts(rows, name=files.label, judgements=judgements)


def _rows(found: Judgements | Qrels, where: str) -> Judgements:
    """Rows of judgements from what a reader returned."""
    if isinstance(found, Judgements):
        return found
    rows: list[Any] = [(query, doc, grade) for query, docs in found.raw.items() for doc, grade in docs.items()]
    queries, docs, grades = ([row[i] for row in rows] for i in range(3))
    return Judgements(queries, docs, grades, lambda _: where, found.notes)


def read_aspects(given: FileLike) -> AspectQrels:
    """Qrels in four columns of which the second is an aspect of the query (a subtopic, a judge)."""
    found: AspectQrels = formats.chosen("aspects", "aspects").read("aspects", sources.open_source(given))
    return found


def read_preferences(given: FileLike, *, format: str = "prefs") -> Preferences:
    """Preferences in five columns (query, judge, list, document, level), or in four as "qrels_prefs"."""
    found: Preferences = formats.chosen(format, "preferences").read("preferences", sources.open_source(given))
    return found


def write_run(run: types.RunLike, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write a run as TREC text, JSON or Parquet, by the file's name or by `format`."""
    _write(objects.checked(as_run(run)), path, format)


def write_qrels(qrels: types.QrelsLike, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write qrels as TREC text, JSON or Parquet, by the file's name or by `format`."""
    _write(as_qrels(qrels), path, format)


def _write(data: Run | Qrels, path: str | os.PathLike[str], format: str | None) -> None:
    write_whole(path, formats.to_write(Path(file_name(path)), format).implementation.dump(data))


def as_qrels(given: types.QrelsLike, *, judgements: str = "error") -> Qrels:
    """Qrels from whatever holds judgements: a file, a dict, rows, a data frame."""
    if isinstance(given, Qrels):
        return given
    if is_file(given):
        return read_qrels(given, judgements=judgements)
    if isinstance(given, Mapping):
        return objects.qrels_from_mapping(given, "qrels")
    if is_spark(given):
        from goldrank.io import spark

        found = spark.qrels_from_spark(given, "qrels", judgements)
        if found is None:
            what = f"there are more than {spark.MOST_JUDGEMENTS:,} judgements in Spark"
            hint = "Give goldrank.evaluate a run that is in Spark too: then they stay there."
            raise InputError(what, where="qrels", hint=hint)
        return found
    if is_frame(given):
        from goldrank.io import tables

        return tables.qrels_from_frame(given, "qrels", judgements=judgements)
    return objects.qrels_from_rows(_iterable(given, "qrels"), "qrels", judgements)


def as_run(given: types.RunLike, *, format: str | None = None, duplicates: str = "error", name: str = "run") -> Run:
    """A run from whatever holds a ranking: a file, a dict, rows, a data frame."""
    if isinstance(given, Run):
        return given
    if is_file(given):
        return read_run(given, format=format, duplicates=duplicates)
    if isinstance(given, Mapping):
        return objects.run_from_mapping(given, name, duplicates)
    if is_spark(given):
        from goldrank.io import spark

        return spark.run_from_spark(given, name)
    if is_frame(given):
        from goldrank.io import tables

        return tables.run_from_frame(given, name)
    return objects.run_from_rows(_iterable(given, "a run"), name, duplicates)


def as_runs(
    given: types.RunLike | types.RunsLike, *, format: str | None = None, duplicates: str = "error"
) -> list[Run] | None:
    """Several runs, each with a name of its own; None if what is given is one run."""
    how: dict[str, Any] = {"format": format, "duplicates": duplicates}
    if isinstance(given, Run) or is_file(given) or is_frame(given):
        return None
    if isinstance(given, Mapping):
        first = next(iter(given.values()), None)
        if isinstance(first, Mapping) and not isinstance(first, Run):
            several = isinstance(next(iter(first.values()), None), Mapping | list | tuple)
        else:
            several = isinstance(first, Run) or is_file(first) or is_frame(first)
        named = [(str(name), run) for name, run in given.items()]
        return [as_run(run, **how, name=name).renamed(name) for name, run in named] if several else None
    if isinstance(given, list | tuple) and given and all(isinstance(run, Run) or is_file(run) for run in given):
        runs = [as_run(run, **how) for run in given]
        return [run.renamed(name) for run, name in zip(runs, distinct(runs), strict=True)]
    return None


def distinct(runs: list[Run]) -> list[str]:
    """Names for runs, told apart by their paths or, failing that, by a number."""
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        names = [getattr(run.source, "name", run.name) for run in runs]
    before = [names[:i].count(name) for i, name in enumerate(names)]
    return [f"{name} ({count + 1})" if count else name for name, count in zip(names, before, strict=True)]


def _iterable(given: Any, what: str) -> Iterable[Any]:
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        return given
    hint = "Give a path, a dict of dicts, a list of tuples or a data frame."
    raise InputError(f"{type(given).__name__} cannot be read as {what}", hint=hint)
