"""The outside world -> `Qrels` and `Run`, and back. One file per family of formats; here is the door."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from goldrank.conventions import POLICIES
from goldrank.data.aspects import AspectQrels
from goldrank.data.preferences import Preferences
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.errors import InputError, OptionError, one_of
from goldrank.io import names, objects, sources, trec
from goldrank.io.sources import Source

RUN_FORMATS = ("trec", "trec-no-tag", "msmarco", "table", "json", "jsonl", "parquet", "arrow")
QRELS_FORMATS = ("trec", "trec-3col", "table", "json", "jsonl", "parquet", "arrow", "beir")


def read_run(given: Any, *, format: str | None = None, name: str | None = None, duplicates: str = "error") -> Run:
    """A run from a path, an open binary stream or '-' for standard input; the format is told by the content."""
    if format is not None:
        one_of(format, RUN_FORMATS, "format")
    one_of(duplicates, POLICIES["duplicates"], "duplicates")
    folder = _parquet_files(given)
    if folder is not None:
        from goldrank.io import tables

        return _named(tables.read_run(folder, "parquet"), name)
    source = sources.open_source(given)
    kind = format or _detect(source, "run")
    if kind in trec.RUN_LAYOUTS:
        run = trec.read_run(source, kind)
    elif kind in ("json", "jsonl"):
        from goldrank.io import json

        run = json.read_run(source, lines=kind == "jsonl", duplicates=duplicates)
    else:
        from goldrank.io import tables

        run = tables.read_run(source, kind)
    return _named(run, name)


def read_qrels(
    given: Any,
    *,
    format: str | None = None,
    split: str | None = None,
    judgements: str = "error",
    real_grades: bool = False,
) -> Qrels:
    """Qrels from a path, a BEIR folder, an open binary stream or '-'; the format is told by the content."""
    if format is not None:
        one_of(format, QRELS_FORMATS, "format")
    one_of(judgements, POLICIES["judgements"], "judgements")
    folder = _parquet_files(given)
    if folder is not None and split is None:
        from goldrank.io import tables

        return tables.read_qrels(folder, "parquet", judgements=judgements, real_grades=real_grades)
    if isinstance(given, str | os.PathLike) and os.fspath(given) != "-" and os.path.isdir(given):
        from goldrank.io import beir

        given = beir.qrels_file(Path(os.fsdecode(given)), split)
        format = None
    elif split is not None:
        raise OptionError("split= chooses among the qrels of a BEIR folder", hint="Name the folder, not a file.")
    source = sources.open_source(given)
    kind = format or _detect(source, "qrels")
    if kind in trec.QRELS_LAYOUTS:
        return trec.read_qrels(source, kind, judgements)
    if kind in ("json", "jsonl"):
        from goldrank.io import json

        return json.read_qrels(source, lines=kind == "jsonl", judgements=judgements, real_grades=real_grades)
    from goldrank.io import tables

    return tables.read_qrels(source, kind, judgements=judgements, real_grades=real_grades)


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
    head = source.head
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
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


def _parquet_files(given: Any) -> str | None:
    """A folder or pattern of Parquet files."""
    if not isinstance(given, str | os.PathLike):
        return None
    path = os.fsdecode(given)
    if os.path.isdir(path):
        return path if any(glob.iglob("**/*.parquet", root_dir=path, recursive=True)) else None
    return path if glob.has_magic(path) and not os.path.exists(path) and glob.glob(path) else None


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
