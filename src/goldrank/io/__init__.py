"""Reading `Qrels` and `Run` from files and objects. The readers are here; `formats` has the table of formats."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from goldrank.base import ids, types
from goldrank.base.errors import InputError, OptionError, one_of
from goldrank.base.escaping import shown
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.conventions import POLICIES
from goldrank.data.aspects import AspectQrels
from goldrank.data.blocks import BlockSource
from goldrank.data.judgement_columns import WHO_JUDGED, Grade
from goldrank.data.preferences import Preferences
from goldrank.data.qrels import Judgements, Qrels
from goldrank.data.run import Run, TaggedRuns
from goldrank.data.runs import Runs, stem_of
from goldrank.io import aliases, formats, sources
from goldrank.io.columns import ROLES, Columns
from goldrank.io.files import InputFiles, find, is_file, is_frame, is_spark, open_files, parts_run
from goldrank.io.formats import KnownColumns, Reading
from goldrank.io.sources import ByteSource

__all__ = [
    "as_qrels", "as_run", "as_runs", "is_file", "is_frame", "is_one_run", "is_spark", "read_aspects",
    "read_preferences", "read_qrels", "read_run", "read_runs",
]  # fmt: skip


FileLike = types.Path | IO[bytes] | ByteSource
"""A path, '-' for standard input, an open binary stream, or an opened input."""


ColumnsLike = Columns | Mapping[str, str] | None
"""Names of columns by their role, {"query": "qid", "doc": "docno"}."""


@named_arguments
def read_run(
    source: types.RunLike | ByteSource,
    *,
    format: str | None = None,
    columns: ColumnsLike = None,
    name: str | None = None,
) -> Run:
    """Read a run: the documents that a system returned for each query.

    Parameters
    ----------
    source : path, pattern, "-", open binary file, data frame, mapping or rows
        A file of almost any kind, recognised by its content; a pattern ("runs/part-*.parquet") or a folder of part
        files is one run too. Or a data frame, {"q1": {"d1": 0.9}}, {"q1": ["d1", "d2"]}, or rows.
    format : str, optional
        The format of a file, if its content does not show it.
    columns : mapping, optional
        The names of columns or fields by their role, {"query": "qid", "doc": "docno"}.
    name : str, optional
        The name of the run; by default its file's name without the ending.

    Returns
    -------
    Run
        Files and data frames are read when the run is used: do not change them before.

    Raises
    ------
    InputError
        If the source cannot be read as a run.

    Examples
    --------
    >>> read_run([("q1", "d1", 0.9), ("q1", "d2", 0.4)], name="bm25").ranking("q1")
    ['d1', 'd2']
    """
    if isinstance(source, Run):
        if format is not None or columns is not None:
            raise OptionError("this run was read before", hint="Pass format= and columns= where it is read.")
        if name is None:
            return source
        return source.renamed(name)

    named = Columns.of(columns)
    if isinstance(source, ByteSource) or is_file(source):
        files = open_files(source, "run", format, known_columns=_known_columns(named, "run"))
        reading = Reading(columns=named)
        run: Run
        if files.several:
            run = _run_of_parts(files, reading)
        else:
            run = files.read("run", reading)[0]
        run = run.renamed(stem_of(run.name))
    else:
        run = _run_of_object(source, name or "run", named)

    if named is not columns:
        named.check_used()
    if name is None:
        return run
    return run.renamed(name)


def _run_of_object(source: Any, name: str, columns: Columns) -> Run:
    """A run from an object in memory: a dict, rows, a data frame, results of vector stores by query."""
    from goldrank.io.objects import mappings as objects

    source = as_table(source, name)
    if isinstance(source, Mapping):
        return objects.run_from_mapping(source, name)
    if is_spark(source):
        from goldrank.io.tables import spark_frames as spark

        return spark.run_from_spark(source, name, columns)
    if is_frame(source):
        from goldrank.io.tables import polars_tables as tables

        return tables.run_from_frame(source, name, columns)
    return objects.run_from_rows(_iterable(source, "a run"), name, columns=columns)


def _known_columns(columns: Columns, thing: str) -> KnownColumns:
    """A test whether the header of a text table has columns for a run or for qrels, by known or the user's names."""
    named = {columns.named(role, thing) for role in ROLES} - {None}

    def known(header: Sequence[str]) -> bool:
        from goldrank.io.objects.id_lists import IdLists
        from goldrank.io.wide_tables import ranked_columns

        if named & set(header) or formats.has_ranking_columns(header):
            return True
        if IdLists(thing, columns).is_header(header):
            return True
        return thing == "run" and aliases.find(header, "query") is not None and bool(ranked_columns(header))

    return known


@named_arguments
def read_runs(
    source: types.Path | Sequence[types.Path] | types.Frame,
    *,
    by: Literal["tag", "file"] = "tag",
    format: str | None = None,
    columns: ColumnsLike = None,
) -> Runs:
    """Read several runs: in one file or data frame, distinguished by tag, or in several files.

    Parameters
    ----------
    source : path, pattern, list of paths or data frame
        By tag: a file, pattern, folder or data frame with a tag in each line: column 6 of TREC files, a column of
        tables. The source is then read once for all runs. By file: a pattern such as "runs/*.run", or a list of paths.
    by : {"tag", "file"}
        What distinguishes runs.
    format : str, optional
        The format, if the content does not show it.
    columns : mapping, optional
        The names of columns by their role, {"query": "qid", "tag": "system"}.

    Returns
    -------
    Runs

    Raises
    ------
    InputError
        If there are no tags, or no files.

    Examples
    --------
    >>> read_runs("runs/*.run", by="file")  # doctest: +SKIP
    Runs('bm25', 'dense')
    """
    one_of(by, ("tag", "file"), "by")
    if by == "file":
        return _runs_of_files(source, format, columns)
    if isinstance(source, Sequence) and not isinstance(source, str):
        hint = "Give one file or pattern, or read_runs(paths, by='file')."
        raise InputError("a list of paths has a run in each file", hint=hint, code="several-runs")

    run = read_run(source, format=format, columns=columns)
    blocks = run.source
    if not isinstance(blocks, BlockSource) or not _has_tags(blocks):
        hint = f"TREC runs have them in column 6, tables in a column named {', '.join(aliases.COLUMNS['tag'])}."
        problem = "has no tags to tell runs apart by"
        raise InputError(problem, where=getattr(run.source, "name", run.name), hint=hint, code="no-tags")
    return Runs(TaggedRuns(blocks, name=run.name, notes=run.notes, alternatives=run.alternatives))


def _has_tags(blocks: BlockSource) -> bool:
    """Whether the first lines of a run have tags."""
    first = next(blocks.pieces(), None)
    return first is not None and first().tags is not None


def _runs_of_files(source: Any, format: str | None, columns: ColumnsLike) -> Runs:
    if isinstance(source, list | tuple):
        paths = list(source)
    else:
        paths = [path for path, _ in find(source) or [(source, ())]]
    names = Runs(paths).names
    runs = [read_run(path, format=format, columns=columns) for path in paths]
    return Runs([(name, run.renamed(name)) for name, run in zip(names, runs, strict=True)])


def _run_of_parts(files: InputFiles, reading: Reading) -> Run:
    """One run in several files."""
    names = [source.name for source, _ in files.opened]
    if files.format.in_memory:
        from goldrank.io.objects import mappings as objects

        return objects.joined_run(files.read("run", reading), names, files.label)

    parts: list[Callable[[], Run]] = files.readers("run", reading)
    notes = [note.with_about(source.label) for source, _ in files.opened for note in source.notes]
    if files.format.counts_rows and not any(source.compression for source, _ in files.opened):
        # All files are opened now, so that a damaged file is found before the work begins.
        runs: list[Any] = [read() for read in parts]
        parts = [lambda run=run: run for run in runs if run.source.rows]  # type: ignore[misc]
        if not parts:
            problem = "no rows in any file"
            raise InputError(problem, where=files.name, hint="Did the system return anything?", code="empty-input")
        empty = [name for name, run in zip(names, runs, strict=True) if not run.source.rows]
        if empty:
            notes.append(Note.of("empty-files", count=len(empty), files=len(runs), first=empty[0]))

    return parts_run(files.name, files.label, parts, tuple(notes))


@named_arguments
def read_qrels(
    source: types.QrelsLike | ByteSource,
    *,
    format: str | None = None,
    columns: ColumnsLike = None,
    split: str | None = None,
    relevant_from: float | None = None,
    real_grades: bool = False,
    judgements: Literal["error", "last"] = "error",
    name: str | None = None,
) -> Qrels:
    """Read judgements: the grade of each judged document of each query.

    Parameters
    ----------
    source : path, pattern, "-", open binary file, data frame, mapping or rows
        A file of almost any kind, recognised by its content; a pattern, a folder of part files or the folder of a BEIR
        data set. Or a data frame, {"q1": {"d1": 2}}, {"q1": ["d1"]}, or rows of (query, doc, grade).
    format : str, optional
        The format of a file, if its content does not show it.
    columns : mapping, optional
        The names of columns or fields by their role, {"grade": "stars"}.
    split : str, optional
        Which qrels of a BEIR folder: "test", "dev" or "train".
    relevant_from : float, optional
        Grades are ratings: ratings of at least this number are relevant (1), the others not (0).
    real_grades : bool
        Whether grades may have decimals, such as gains from clicks.
    judgements : {"error", "last"}
        What to do where a document is judged twice with different grades.
    name : str, optional
        The name of the judgements.

    Returns
    -------
    Qrels

    Raises
    ------
    InputError
        If the source cannot be read as judgements, or they contradict each other.

    Examples
    --------
    >>> read_qrels({"u1": {"i1": 4.5, "i2": 2.0}}, relevant_from=4)["u1"]["i1"]
    1
    """
    one_of(judgements, POLICIES["judgements"], "judgements")
    named = Columns.of(columns)
    reading = _reading(judgements, named, relevant_from, real_grades)

    if isinstance(source, Qrels):
        if format is not None or columns is not None or split is not None:
            raise OptionError("these judgements were read before", hint="Pass these options where they are read.")
        qrels = source
    elif isinstance(source, ByteSource) or is_file(source):
        qrels = _qrels_of_files(source, format, split, reading)
    else:
        if split is not None:
            raise _no_beir_folder()
        qrels = _qrels_of_object(source, reading)

    if named is not columns:
        named.check_used()
    qrels = _cut(qrels, relevant_from)
    if name is None:
        return qrels
    return qrels.renamed(name)


def _qrels_of_files(source: Any, format: str | None, split: str | None, reading: Reading) -> Qrels:
    folder_format = None
    if format is not None and formats.chosen(format, "qrels").folder:
        folder_format = formats.FORMATS["beir"]
    folder = None
    if isinstance(source, str | os.PathLike) and os.path.isdir(source):
        folder = Path(os.fsdecode(source))
        folder_format = formats.of_folder(folder) or folder_format

    if folder_format is not None or split is not None:
        if folder is None:
            raise _no_beir_folder()
        folder_format = folder_format or formats.FORMATS["beir"]
        source = folder_format.implementation.find_file(folder, split)
        format = None

    files = open_files(source, "qrels", format, known_columns=_known_columns(reading.columns, "qrels"))
    parts = files.read("qrels", reading)
    if not files.several and isinstance(parts[0], Qrels):
        return parts[0]

    rows = [_rows(part, file.name) for part, (file, _) in zip(parts, files.opened, strict=True)]
    try:
        return Qrels.from_parts(rows, name=files.label, judgements=reading.judgements)
    except InputError as error:
        if error.code == "contradicting-judgements" and _has_subtopics(source):
            error.code = "judged-by-subtopic"
            error.hint = (
                "The second column names subtopics or judges. Measures of them take it as it is: alpha_nDCG@20, "
                "ERR_IA@20; read_aspects reads it."
            )
        raise


def _has_subtopics(path: Any) -> bool:
    """Whether a file of judgements has several aspects of a query in its second column."""
    if not isinstance(path, str | os.PathLike) or not os.path.isfile(path):
        return False
    try:
        return read_aspects(path).has_several
    except InputError:
        return False


def _no_beir_folder() -> OptionError:
    problem = "split= chooses among the qrels of a BEIR folder"
    return OptionError(problem, hint="Name the folder, not a file.", code="not-a-beir-folder")


def _qrels_of_object(source: Any, reading: Reading) -> Qrels:
    """Qrels from an object in memory: a dict, rows, a data frame, a data set of HuggingFace."""
    from goldrank.io.objects import mappings as objects

    source = as_table(source, "qrels")
    if isinstance(source, Mapping):
        return objects.qrels_from_mapping(source, "qrels", reading.real_grades)
    if is_spark(source):
        from goldrank.io.tables import spark_frames as spark

        in_driver = spark.qrels_from_spark(source, "qrels", reading.judgements, reading.columns, reading.real_grades)
        if in_driver is None:
            problem = f"there are more than {spark.MOST_JUDGEMENTS:,} judgements in Spark"
            hint = "Pass the data frame itself to goldrank.evaluate, with a run that is in Spark too: they stay there."
            raise InputError(problem, where="qrels", hint=hint, code="judgements-stay-in-spark")
        return in_driver
    if is_frame(source):
        from goldrank.io.tables import polars_tables as tables

        return tables.qrels_from_frame(source, "qrels", reading)
    return objects.qrels_from_rows(_iterable(source, "qrels"), "qrels", reading)


def _reading(judgements: str, columns: Columns, relevant_from: float | None, real_grades: bool) -> Reading:
    """Check the options of reading judgements. Ratings may have decimals."""
    if relevant_from is not None and not _is_threshold(relevant_from):
        raise OptionError(f"relevant_from is {relevant_from!r:.80}, not a number", hint="For example relevant_from=4.")
    if not isinstance(real_grades, bool):
        raise OptionError(f"real_grades is {shown(real_grades)}, not True or False", code="wrong-type")
    return Reading(
        judgements=judgements,
        real_grades=real_grades or relevant_from is not None,
        columns=columns,
        relevant_from=relevant_from,
    )


def _is_threshold(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or not math.isnan(value)


def _cut(ratings: Qrels, relevant_from: float | None) -> Qrels:
    """Judgements from ratings: 1 from `relevant_from` on, 0 below; `ratings` themselves if that is None."""
    if relevant_from is None:
        return ratings

    if ratings.judges:
        human = _cut(ratings.judges.get("human", Qrels({})), relevant_from)
        model = _cut(ratings.judges.get("model", Qrels({})), relevant_from)
        return Qrels.joined(human, model)

    judged: dict[str, dict[str, int]] = {}
    relevant = 0
    for query, docs in ratings.items():
        judged[query] = {doc: int(grade >= relevant_from) for doc, grade in docs.items()}
        relevant += sum(judged[query].values())

    cut = Qrels(judged, name=ratings.name, criteria=ratings.criteria)
    note = Note.of("ratings-cut", least=f"{relevant_from:g}", part=relevant, whole=cut.size)
    return cut.with_facts(id_kind=ratings.id_kind, notes=(*ratings.notes, note))


def _rows(judged: Judgements | Qrels, where: str) -> Judgements:
    """Rows of judgements from the result of a reader."""
    if isinstance(judged, Judgements):
        return judged

    queries: list[bytes] = []
    docs: list[bytes] = []
    grades: list[Grade] = []
    is_model: list[bool] = []
    for judge, part in (judged.judges or {"": judged}).items():
        for query, row in part.raw.items():
            queries += [query] * len(row)
            docs += row
            grades += row.values()
            is_model += [judge == "model"] * len(row)

    by_model = None
    if judged.judges:
        by_model = np.array(is_model)
    notes = [note for note in judged.notes if note.code != WHO_JUDGED]
    return Judgements(queries, docs, grades, lambda _: where, notes, by_model=by_model)


@named_arguments
def read_aspects(
    source: FileLike | types.Frame | types.Rows | Mapping[Any, Mapping[Any, Mapping[Any, Any]]],
    *,
    format: str | None = None,
    columns: types.Columns | None = None,
) -> AspectQrels:
    """Read judgements by aspect: an aspect of a query is a subtopic, or one of several judges.

    Parameters
    ----------
    source : path, open binary file, data frame, mapping or rows
        Lines of query, aspect, document and grade, as TREC has them; a table (CSV, TSV, Parquet) with a header, JSON, a
        data frame or dicts with these fields; or {"q1": {"aspect": {"d1": 1}}}.
    format : str, optional
        The format of a file, if its content does not show it; "aspects" for lines as TREC has them.
    columns : mapping, optional
        The names of columns by their role, {"query": "topic", "aspect": "intent"}.

    Returns
    -------
    AspectQrels

    Raises
    ------
    InputError
        If a line cannot be read; the message has its position.
    OptionError
        If `format` or a role in `columns` is unknown, or if lines have no names of columns.

    Examples
    --------
    >>> import io, goldrank
    >>> aspects = goldrank.read_aspects(io.BytesIO(b"q1 1 d1 1\\nq1 2 d2 1\\n"))
    >>> goldrank.evaluate(aspects, {"q1": ["d1", "d9", "d2"]}, "SubtopicRecall@2").mean
    {'StRecall@2': 0.5}
    """
    from goldrank.io import aspect_tables

    if isinstance(source, AspectQrels):
        return source
    if isinstance(source, Mapping):
        return AspectQrels(source)
    if not isinstance(source, ByteSource) and not is_file(source):
        return aspect_tables.read(source, columns, format, "aspects")

    opened = sources.open_source(source)
    if format not in (None, "aspects") or (format is None and aspect_tables.is_table(opened, columns)):
        return aspect_tables.read(opened, columns, format, opened.label)

    if columns is not None:
        problem = "lines as TREC has them have no names of columns"
        raise OptionError(problem, hint="Leave columns= out, or give the file a header.", code="no-header")
    aspects: AspectQrels = formats.chosen("aspects", "aspects").read("aspects", opened)
    return aspects


@named_arguments
def read_preferences(source: FileLike, *, format: str | None = None) -> Preferences:
    """Read preferences: which document of a query a judge prefers.

    Parameters
    ----------
    source : path or open binary file
        Lines of query, judge, list, document and level; or of query, judge, document and level.
    format : {"prefs", "qrels_prefs"}, optional
        "prefs" for five columns, "qrels_prefs" for four. By default the first line decides.

    Returns
    -------
    Preferences

    Raises
    ------
    InputError
        If a line cannot be read; the message has its position.

    Examples
    --------
    >>> import io, goldrank
    >>> preferences = goldrank.read_preferences(io.BytesIO(b"q1 ann d1 2\\nq1 ann d2 1\\n"))
    >>> goldrank.evaluate(preferences, {"q1": ["d1", "d2"]}, "Prefs").mean
    {'Prefs': 1.0}
    """
    if format is not None:
        format = formats.chosen(format, "preferences").name

    opened = sources.open_source(source)
    if format is None:
        _, first_line = next(opened.filled_lines(), (0, b""))
        format = "prefs"
        if len(first_line.split()) == 4:
            format = "qrels_prefs"
    preferences: Preferences = formats.FORMATS[format].read("preferences", opened)
    return preferences


def as_qrels(source: types.QrelsLike, *, judgements: Literal["error", "last"] = "error") -> Qrels:
    """Qrels from any source of judgements."""
    if isinstance(source, Qrels):
        return source
    return read_qrels(source, judgements=judgements)


def as_run(source: types.RunLike, *, name: str | None = None) -> Run:
    """A run from any source of rankings."""
    if isinstance(source, Run):
        return source
    return read_run(source, name=name)


def as_runs(runs: types.RunsLike) -> Runs:
    """`Runs` from any form of several runs."""
    if isinstance(runs, Runs):
        return runs
    return Runs(runs)


def is_one_run(value: object) -> bool:
    """Whether a value of a mapping is a run, and not the results of a query."""
    if isinstance(value, Mapping) and not isinstance(value, Run):
        return _holds_rankings(value)
    return isinstance(value, Run) or is_file(value) or is_frame(value)


def _holds_rankings(value: Mapping[Any, Any]) -> bool:
    """Whether a mapping is a run, rather than the results of one query."""
    inner = next(iter(value.values()), None)
    if type(inner) is float:
        return False

    from goldrank.io.engines import result_objects

    if result_objects.is_result(value):
        return False
    return isinstance(inner, Mapping | list | tuple) or result_objects.is_result(inner)


def _iterable(source: Any, noun: str) -> Iterable[Any]:
    if _is_numeric_table(source):
        problem = f"a table of numbers of shape {tuple(source.shape)} cannot be read as {noun}"
        hint = (
            "evaluate_arrays(grades, scores, measures) takes arrays, and "
            "compare({'old': evaluate_arrays(...), 'new': evaluate_arrays(...)}) compares two."
        )
        raise InputError(problem, hint=hint, code="unreadable-object")
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        return source
    hint = "Give a path, a dict of dicts, a list of tuples or a data frame."
    raise InputError(f"{type(source).__name__} cannot be read as {noun}", hint=hint, code="unreadable-object")


def _is_numeric_table(source: Any) -> bool:
    """Whether an array has a query in each row, and not a query, a document and a number."""
    kind = getattr(getattr(source, "dtype", None), "kind", "f")
    shape: tuple[int, ...] = getattr(source, "shape", ())
    return len(shape) == 2 and kind in "fiub" and shape[1] not in (3, 4)


# Data sets of HuggingFace `datasets` and of `ir_datasets`. Neither is imported: an object is known by its attributes.


def as_table(source: Any, name: str) -> Any:
    """A HuggingFace data set as an Arrow table, a data set of ir_datasets as its judgements; others unchanged."""
    if isinstance(source, Mapping) and source and all(map(_is_huggingface, source.values())):
        if len(source) != 1:
            listed = ", ".join(ids.show(str(split), 40) for split in source)
            raise InputError(f"has several splits: {listed}", where=name, hint='Give one of them: dataset["test"].')
        source = next(iter(source.values()))

    if _is_huggingface(source) and hasattr(type(source), "set_epoch"):
        return source.with_format(None)  # streamed: it is read as rows, whatever its format is
    if _is_huggingface(source):
        # In this format, a selection or a shuffle of rows is respected; the table inside does not have them.
        return source.with_format("arrow")[:]

    # Frames of Spark Connect have an attribute (a column) of every name: only a callable one is a method.
    if name == "qrels" and callable(getattr(source, "has_qrels", None)) and not source.has_qrels():
        raise InputError("this data set of ir_datasets has no judgements", where=name)
    if name == "qrels" and callable(getattr(source, "qrels_iter", None)):
        return source.qrels_iter()
    return source


def _is_huggingface(source: Any) -> bool:
    """Whether an object is a `datasets.Dataset`, held in memory, or a `datasets.IterableDataset`, which is streamed."""
    kind: Any = type(source)
    return _of_huggingface(kind)


@lru_cache(64)  # a loop of evaluations has objects of few classes
def _of_huggingface(kind: type) -> bool:
    return hasattr(kind, "with_format") and hasattr(kind, "column_names")
