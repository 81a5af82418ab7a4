"""The outside world -> `Qrels` and `Run`, and back. One file per family of formats; here is the door."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from goldrank.conventions import POLICIES
from goldrank.data.aspects import AspectQrels
from goldrank.data.preferences import Preferences
from goldrank.data.qrels import Judgements, Qrels
from goldrank.data.run import Run, Runs
from goldrank.errors import InputError, OptionError, one_of
from goldrank.io import names, objects, parts, sources, trec
from goldrank.io.parts import Part
from goldrank.io.sources import Source

RUN_FORMATS = ("trec", "trec-no-tag", "msmarco", "table", "json", "jsonl", "parquet", "arrow")
QRELS_FORMATS = ("trec", "trec-3col", "table", "json", "jsonl", "parquet", "arrow", "beir")


def read_run(given: Any, *, format: str | None = None, name: str | None = None, duplicates: str = "error") -> Run:
    """A run from a path, an open binary stream or '-' for standard input; the format is told by the content.

    A pattern ('runs/part-*.parquet') or a folder of part files is one run too, read file by file.
    """
    if format is not None:
        one_of(format, RUN_FORMATS, "format")
    one_of(duplicates, POLICIES["duplicates"], "duplicates")
    several = parts.find(given)
    if several is not None:
        return _named(_run_of_parts(os.fsdecode(given), several, format, duplicates), name)
    source = sources.open_source(given)
    return _named(_run(source, format or _detect(source, "run"), (), duplicates), name)


def read_runs(given: Any, *, format: str | None = None) -> Runs:
    """Several runs in one file, pattern or folder, told apart by tag: column 6 of TREC files, a column of tables.

    The result maps tags to runs. Give it to `evaluate` as it is: the files are then read once for all runs.
    """
    run = read_run(given, format=format)
    if run.blocks is None or not _has_tags(run.blocks):
        raise InputError(
            "has no tags to tell runs apart by",
            where=run.name if run.blocks is None else run.blocks.name,
            hint=f"TREC runs have them in column 6, tables in a column named {', '.join(names.ALIASES['tag'])}.",
        )
    return Runs(run.blocks, name=run.name, notes=run.notes)


def _has_tags(blocks: Any) -> bool:
    first = next(blocks.pieces(), None)
    return first is not None and first().tags is not None


def _run(source: Source, kind: str, partition: Any, duplicates: str) -> Run:
    """A run in one file."""
    if kind in trec.RUN_LAYOUTS:
        return trec.read_run(source, kind)
    if kind in ("json", "jsonl"):
        from goldrank.io import json

        return json.read_run(source, lines=kind == "jsonl", duplicates=duplicates)
    from goldrank.io import tables

    return tables.read_run(source, kind, partition)


def _run_of_parts(where: str, found: list[Part], format: str | None, duplicates: str) -> Run:
    """One run in several files."""
    opened, kind = _open_parts(where, found, format, "run")
    label = Path(where).name
    if kind in ("json", "jsonl"):
        runs = [_run(source, kind, (), duplicates) for _, source in opened]
        return objects.joined_run(runs, [source.name for _, source in opened], label, duplicates)
    if kind == "parquet" and not _is_packed(opened):
        # Their footers are read now, so that a damaged file is found before the work begins.
        ready = [_run(source, kind, part.partition, duplicates) for part, source in opened]
        rows = [run.blocks.shape.rows for run in ready]  # type: ignore[union-attr]
        empty = [source.name for (_, source), size in zip(opened, rows, strict=True) if not size]
        if len(empty) == len(ready):
            raise InputError("no rows in any file", where=where, hint="Did the system return anything?")
        notes = [note for run in ready for note in run.notes]
        if empty:
            notes.append(f"files without rows: {len(empty):,} of {len(ready):,}, the first is {empty[0]}")
        full = [run for run, size in zip(ready, rows, strict=True) if size]
        blocks = parts.PartsRun(where, [partial(getattr, run, "blocks") for run in full])
        return Run(blocks=blocks, name=label, id_kind="text", notes=tuple(dict.fromkeys(notes)))

    def opener(part: Part, source: Source) -> Any:
        return lambda: _run(source, kind, part.partition, duplicates).blocks

    notes = [f"{source.label}: {note}" for _, source in opened for note in source.notes]
    blocks = parts.PartsRun(where, [opener(part, source) for part, source in opened])
    return Run(blocks=blocks, name=label, id_kind="text", notes=tuple(notes))


def _open_parts(where: str, found: list[Part], format: str | None, what: str) -> tuple[list[tuple[Part, Source]], str]:
    """The files of a pattern or folder, and the one format that they have."""
    opened = [(part, sources.open_source(part.path)) for part in found]
    kinds = [(part, format or _detect(source, what)) for part, source in opened]
    return opened, parts.one_format(kinds, where)


def held_bytes(given: Any, what: str) -> int:
    """About how many bytes of a path must be held at once to read it: all of qrels, none of a TREC run."""
    if os.fspath(given) == "-":
        return 0
    if os.path.isdir(os.path.join(given, "qrels")):
        return 0
    found = parts.find(given)
    opened = [sources.open_source(given)] if found is None else [sources.open_source(part.path) for part in found]
    if what == "qrels":
        return sum(source.unpacked() for source in opened)
    return sum(source.unpacked() for source in opened if source.head.lstrip()[:1] in (b"{", b"["))


def _is_packed(opened: list[tuple[Part, Source]]) -> bool:
    return any(source.compression is not None for _, source in opened)


def read_qrels(
    given: Any,
    *,
    format: str | None = None,
    split: str | None = None,
    judgements: str = "error",
    real_grades: bool = False,
) -> Qrels:
    """Qrels from a path, a BEIR folder, an open binary stream or '-'; the format is told by the content.

    A pattern or a folder of part files is one set of qrels too.
    """
    if format is not None:
        one_of(format, QRELS_FORMATS, "format")
    one_of(judgements, POLICIES["judgements"], "judgements")
    if (isinstance(given, str | os.PathLike) and os.path.isdir(os.path.join(given, "qrels"))) or split is not None:
        from goldrank.io import beir

        if not (isinstance(given, str | os.PathLike) and os.path.isdir(given)):
            raise OptionError("split= chooses among the qrels of a BEIR folder", hint="Name the folder, not a file.")
        given = beir.qrels_file(Path(os.fsdecode(given)), split)
        format = None
    several = parts.find(given)
    if several is not None:
        where = os.fsdecode(given)
        opened, kind = _open_parts(where, several, format, "qrels")
        rows = [_judgements(source, kind, part.partition, judgements, real_grades) for part, source in opened]
        return Qrels.from_parts(rows, name=Path(where).name, judgements=judgements)
    source = sources.open_source(given)
    kind = format or _detect(source, "qrels")
    if kind in ("json", "jsonl"):
        from goldrank.io import json

        return json.read_qrels(source, lines=kind == "jsonl", judgements=judgements, real_grades=real_grades)
    rows = [_judgements(source, kind, (), judgements, real_grades)]
    return Qrels.from_parts(rows, name=source.label, judgements=judgements)


def _judgements(source: Source, kind: str, partition: Any, judgements: str, real_grades: bool) -> Judgements:
    """The judgements in one file."""
    if kind in trec.QRELS_LAYOUTS:
        return trec.read_qrels(source, kind)
    if kind in ("json", "jsonl"):
        from goldrank.io import json

        qrels = json.read_qrels(source, lines=kind == "jsonl", judgements=judgements, real_grades=real_grades)
        rows: list[Any] = [(query, doc, grade) for query, docs in qrels.raw.items() for doc, grade in docs.items()]
        queries, docs, grades = ([row[i] for row in rows] for i in range(3))
        return Judgements(queries, docs, grades, lambda _: source.name, qrels.notes)
    from goldrank.io import tables

    return tables.read_qrels(source, kind, partition, real_grades=real_grades)


def read_aspects(given: Any) -> AspectQrels:
    """Qrels in four columns of which the second is an aspect of the query (a subtopic, a judge)."""
    from goldrank.io import prefs

    return prefs.read_aspects(sources.open_source(given))


def read_preferences(given: Any, *, format: str = "prefs") -> Preferences:
    """Preferences in five columns (query, judge, list, document, level), or in four as "qrels_prefs"."""
    from goldrank.io import prefs

    one_of(format, ("prefs", "qrels_prefs"), "format")
    return prefs.read_preferences(sources.open_source(given), format)


def write_run(run: Any, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write a run as TREC text, JSON or Parquet, by the file's name or by `format`."""
    _write(as_run(run), path, format)


def write_qrels(qrels: Any, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write qrels as TREC text, JSON or Parquet, by the file's name or by `format`."""
    _write(as_qrels(qrels), path, format)


def as_qrels(given: Any, *, judgements: str = "error") -> Qrels:
    """Qrels from whatever holds judgements: a file, a dict, rows, a data frame."""
    if isinstance(given, Qrels):
        return given
    if _is_file(given):
        return read_qrels(given, judgements=judgements)
    if isinstance(given, Mapping):
        return objects.qrels_from_mapping(given, "qrels")
    if is_spark(given):
        from goldrank.io import spark

        found = spark.qrels_from_spark(given, "qrels", judgements)
        if found is None:
            raise InputError(
                f"there are more than {spark.MOST_JUDGEMENTS:,} judgements in Spark",
                where="qrels",
                hint="Give goldrank.evaluate a run that is in Spark too: then they stay there.",
            )
        return found
    if _is_frame(given):
        from goldrank.io import tables

        return tables.qrels_from_frame(given, "qrels", judgements=judgements)
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        return objects.qrels_from_rows(given, "qrels", judgements)
    raise _cannot(given, "qrels")


def as_run(given: Any, *, format: str | None = None, duplicates: str = "error", name: str = "run") -> Run:
    """A run from whatever holds a ranking: a file, a dict, rows, a data frame."""
    if isinstance(given, Run):
        return given
    if _is_file(given):
        return read_run(given, format=format, duplicates=duplicates)
    if isinstance(given, Mapping):
        return objects.run_from_mapping(given, name, duplicates)
    if is_spark(given):
        from goldrank.io import spark

        return spark.run_from_spark(given, name)
    if _is_frame(given):
        from goldrank.io import tables

        return tables.run_from_frame(given, name)
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        return objects.run_from_rows(given, name, duplicates)
    raise _cannot(given, "a run")


def as_runs(given: Any, *, format: str | None = None, duplicates: str = "error") -> list[Run] | None:
    """Several runs, each with a name of its own; None if what is given is one run."""
    if isinstance(given, Run) or _is_file(given) or _is_frame(given):
        return None
    if isinstance(given, Mapping):
        first = next(iter(given.values()), None)
        if isinstance(first, Mapping) and not isinstance(first, Run):
            inner = next(iter(first.values()), None)
            if not isinstance(inner, Mapping | list | tuple):
                return None
        elif not (isinstance(first, Run) or _is_file(first) or _is_frame(first)):
            return None
        return [
            as_run(run, format=format, duplicates=duplicates, name=str(name)).renamed(str(name))
            for name, run in given.items()
        ]
    if isinstance(given, list | tuple) and given and all(isinstance(one, Run) or _is_file(one) for one in given):
        runs = [as_run(one, format=format, duplicates=duplicates) for one in given]
        return [run.renamed(name) for run, name in zip(runs, distinct(runs), strict=True)]
    return None


def distinct(runs: list[Run]) -> list[str]:
    """Names for runs, told apart by their paths or, failing that, by a number."""
    found = [run.name for run in runs]
    if len(set(found)) < len(found):
        found = [run.blocks.name if run.blocks is not None else run.name for run in runs]
    seen: dict[str, int] = {}
    for i, name in enumerate(found):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            found[i] = f"{name} ({seen[name]})"
    return found


def _detect(source: Source, kind: str) -> str:
    """The format of a source, from its first bytes."""
    if source.table is not None:
        return source.table
    head = source.head
    text = head.lstrip()
    lines = _data_lines(head)
    if text.startswith((b"{", b"[")):
        return "json"
    if not lines:
        if not _data_lines(source.read(lines=True)):
            raise trec.empty(source)
        return "trec"
    for separator in (b"\t", b","):
        header = [cell.strip().strip(b'"').decode("utf-8", "replace") for cell in lines[0].split(separator)]
        if names.find(header, "query") and (names.find(header, "doc") or names.find(header, "grade")):
            return "table"
    if kind == "run" and len(lines[0].split()) == 3 and all(line.split()[-1].isdigit() for line in lines[:3]):
        return "msmarco"
    return "trec"


def _data_lines(raw: bytes) -> list[bytes]:
    return [line for line in re.split(rb"[\r\n]+", raw) if line.strip() and not line.lstrip().startswith(b"#")]


def _is_file(given: Any) -> bool:
    return isinstance(given, str | os.PathLike) or (hasattr(given, "read") and not _is_frame(given))


def _is_frame(given: Any) -> bool:
    kind = type(given)
    return hasattr(kind, "__arrow_c_stream__") or (hasattr(kind, "columns") and not isinstance(given, Mapping))


def is_spark(given: Any) -> bool:
    """Whether something is a Spark DataFrame, classic or Connect."""
    if not any(kind.__module__.startswith("pyspark.") for kind in type(given).__mro__):
        return False
    from goldrank.io import spark

    return spark.is_spark(given)


def _named(run: Run, name: str | None) -> Run:
    return run if name is None else run.renamed(name)


def _cannot(given: Any, what: str) -> InputError:
    return InputError(
        f"{type(given).__name__} cannot be read as {what}",
        hint="Give a path, a dict of dicts, a list of tuples or a data frame.",
    )


def _write(data: Run | Qrels, path: str | os.PathLike[str], format: str | None) -> None:
    target = Path(path)
    by_name = {".json": "json", ".parquet": "parquet", ".pq": "parquet"}
    kind = one_of(format or by_name.get(target.suffix.lower(), "trec"), ("trec", "json", "parquet"), "format")
    if isinstance(data, Run):
        data = objects.checked(data)
    # All of it is made before the file is opened: an id that cannot be written leaves no half of a file.
    if kind == "parquet":
        from goldrank.io import tables

        content = tables.dump(data)
    elif kind == "json":
        from goldrank.io import json

        content = json.dump(data)
    else:
        parts: list[bytes] = []
        if isinstance(data, Run):
            trec.write_run(data, parts.append)
        else:
            trec.write_qrels(data, parts.append)
        content = b"".join(parts)
    try:
        target.write_bytes(content)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", where=str(target)) from None
