"""Files and objects -> `Qrels` and `Run`, and back. What others call is here; `formats` has the table of formats."""

from __future__ import annotations

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
from goldrank.data.judgement_columns import JUDGED_BY, WHO_JUDGED
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
"""A path, '-' for standard input, an open binary stream, or an input that was opened before."""


ColumnsLike = Columns | Mapping[str, str] | None
"""Names of columns by what they hold, {"query": "qid", "doc": "docno"}."""


@named_arguments
def read_run(
    source: types.RunLike | ByteSource,
    *,
    format: str | None = None,
    columns: ColumnsLike = None,
    name: str | None = None,
) -> Run:
    """Read a run: what a system returned for each query.

    Parameters
    ----------
    source : path, pattern, "-", open binary file, data frame, mapping or rows
        A file of almost any kind, recognised by its content; a pattern ("runs/part-*.parquet") or a folder of part
        files is one run too. Or a data frame, {"q1": {"d1": 0.9}}, {"q1": ["d1", "d2"]}, or rows.
    format : str, optional
        The format of a file, where its content does not tell.
    columns : mapping, optional
        The names of columns or fields by what they hold, {"query": "qid", "doc": "docno"}.
    name : str, optional
        What to call the run; by default its file's name without the ending.

    Returns
    -------
    Run
        Files are read when the run is used.

    Raises
    ------
    InputError
        If it cannot be read as a run.

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


def _run_of_object(given: Any, name: str, columns: Columns) -> Run:
    """A run from what holds a ranking in memory: a dict, rows, a data frame, results of vector stores by query."""
    from goldrank.io.objects import mappings as objects

    given = as_table(given, name)
    if isinstance(given, Mapping):
        return objects.run_from_mapping(given, name)
    if is_spark(given):
        from goldrank.io.tables import spark_frames as spark

        return spark.run_from_spark(given, name, columns)
    if is_frame(given):
        from goldrank.io.tables import polars_tables as tables

        return tables.run_from_frame(given, name, columns)
    return objects.run_from_rows(_iterable(given, "a run"), name, columns=columns)


def _known_columns(columns: Columns, thing: str) -> KnownColumns:
    """Whether the header of a text table has columns for a run or for qrels, by their names or by the user's."""
    named = {name for role in ROLES if (name := columns.named(role, thing)) is not None}

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
    """Several runs: in one file or data frame, told apart by tag, or in several files.

    Parameters
    ----------
    source : path, pattern, list of paths or data frame
        By tag: a file, pattern, folder or data frame with a tag in each line: column 6 of TREC files, a column of
        tables. It is then read once for all runs. By file: a pattern such as "runs/*.run", or a list of paths.
    by : {"tag", "file"}
        What tells runs apart.
    format : str, optional
        The format, where the content does not tell.
    columns : mapping, optional
        The names of columns by what they hold, {"query": "qid", "tag": "system"}.

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
    if isinstance(run.source, BlockSource):
        first = next(run.source.pieces(), None)
    else:
        first = None
    if not isinstance(run.source, BlockSource) or first is None or first().tags is None:
        hint = f"TREC runs have them in column 6, tables in a column named {', '.join(aliases.COLUMNS['tag'])}."
        what = "has no tags to tell runs apart by"
        raise InputError(what, where=getattr(run.source, "name", run.name), hint=hint, code="no-tags")
    tagged = TaggedRuns(run.source, name=run.name, notes=run.notes, alternatives=run.alternatives)
    return Runs(tagged)


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
        # All are opened now, so that a damaged file is found before the work begins.
        runs: list[Any] = [read() for read in parts]
        parts = [lambda run=run: run for run in runs if run.source.rows]  # type: ignore[misc]
        empty = [name for name, run in zip(names, runs, strict=True) if not run.source.rows]
        if not parts:
            what = "no rows in any file"
            raise InputError(what, where=files.name, hint="Did the system return anything?", code="empty-input")
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
        The format of a file, where its content does not tell.
    columns : mapping, optional
        The names of columns or fields by what they hold, {"grade": "stars"}.
    split : str, optional
        Which qrels of a BEIR folder: "test", "dev" or "train".
    relevant_from : float, optional
        Grades are ratings: those from this number on are relevant (1), the others not (0).
    real_grades : bool
        Whether grades may have decimals, such as gains from clicks.
    judgements : {"error", "last"}
        What to do where a document is judged twice with different grades.
    name : str, optional
        What to call them.

    Returns
    -------
    Qrels

    Raises
    ------
    InputError
        If it cannot be read as judgements, or they contradict each other.

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


def _qrels_of_files(given: Any, format: str | None, split: str | None, reading: Reading) -> Qrels:
    if format is None:
        asked = None
    else:
        asked = formats.chosen(format, "qrels")
    if isinstance(given, str | os.PathLike) and os.path.isdir(given):
        folder = Path(os.fsdecode(given))
    else:
        folder = None
    if folder is None:
        whole = None
    else:
        whole = formats.of_folder(folder)
    if whole or split is not None or (asked and asked.folder):
        if folder is None:
            raise _no_beir_folder()
        whole = whole or formats.FORMATS["beir"]
        given, format = whole.implementation.find_file(folder, split), None

    files = open_files(given, "qrels", format, known_columns=_known_columns(reading.columns, "qrels"))
    parts = files.read("qrels", reading)
    if not files.several and isinstance(parts[0], Qrels):
        return parts[0]
    rows = [_rows(part, source.name) for part, (source, _) in zip(parts, files.opened, strict=True)]
    try:
        return Qrels.from_parts(rows, name=files.label, judgements=reading.judgements)
    except InputError as error:
        if error.code == "contradicting-judgements" and _has_subtopics(given):
            error.hint = (
                "The second column names subtopics or judges. Measures of them take it as it is: alpha_nDCG@20, "
                "ERR_IA@20; read_aspects reads it."
            )
        raise


def _has_subtopics(path: Any) -> bool:
    """Whether a file of judgements tells several aspects of a query apart in its second column."""
    if not isinstance(path, str | os.PathLike) or not os.path.isfile(path):
        return False
    try:
        return read_aspects(path).has_several
    except InputError:
        return False


def _no_beir_folder() -> OptionError:
    what = "split= chooses among the qrels of a BEIR folder"
    return OptionError(what, hint="Name the folder, not a file.", code="not-a-beir-folder")


def _qrels_of_object(given: Any, reading: Reading) -> Qrels:
    """Qrels from what holds judgements in memory: a dict, rows, a data frame, a data set of HuggingFace."""
    from goldrank.io.objects import mappings as objects

    given = as_table(given, "qrels")
    if isinstance(given, Mapping):
        return objects.qrels_from_mapping(given, "qrels", reading.real_grades)
    if is_spark(given):
        from goldrank.io.tables import spark_frames as spark

        in_driver = spark.qrels_from_spark(given, "qrels", reading.judgements, reading.columns, reading.real_grades)
        if in_driver is None:
            what = f"there are more than {spark.MOST_JUDGEMENTS:,} judgements in Spark"
            hint = "Pass the data frame itself to goldrank.evaluate, with a run that is in Spark too: they stay there."
            raise InputError(what, where="qrels", hint=hint, code="judgements-stay-in-spark")
        return in_driver
    if is_frame(given):
        from goldrank.io.tables import polars_tables as tables

        return tables.qrels_from_frame(given, "qrels", reading)
    return objects.qrels_from_rows(_iterable(given, "qrels"), "qrels", reading)


def _reading(judgements: str, columns: Columns, relevant_from: float | None, real_grades: bool) -> Reading:
    """How judgements are read. Ratings may have decimals."""
    if relevant_from is not None and (
        isinstance(relevant_from, bool) or not isinstance(relevant_from, int | float) or relevant_from != relevant_from
    ):
        raise OptionError(f"relevant_from is {relevant_from!r:.80}, not a number", hint="For example relevant_from=4.")
    if not isinstance(real_grades, bool):
        raise OptionError(f"real_grades is {shown(real_grades)}, not True or False", code="wrong-type")
    return Reading(
        judgements=judgements,
        real_grades=real_grades or relevant_from is not None,
        columns=columns,
        relevant_from=relevant_from,
    )


def _cut(ratings: Qrels, relevant_from: float | None) -> Qrels:
    """Judgements of ratings: 1 from a certain one on, 0 below."""
    if relevant_from is None:
        return ratings

    if ratings.judges:
        human, model = (_cut(ratings.judges.get(who, Qrels({})), relevant_from) for who in JUDGED_BY)
        return Qrels.joined(human, model)

    judged = {
        query: {doc: int(grade >= relevant_from) for doc, grade in docs.items()} for query, docs in ratings.items()
    }
    cut = Qrels(judged, name=ratings.name, criteria=ratings.criteria)
    part, whole = (sum(map(count, judged.values())) for count in (lambda docs: sum(docs.values()), len))
    cut.id_kind = ratings.id_kind
    cut.notes = (*ratings.notes, Note.of("ratings-cut", least=f"{relevant_from:g}", part=part, whole=whole))
    return cut


def _rows(judged: Judgements | Qrels, where: str) -> Judgements:
    """Rows of judgements from what a reader returned."""
    if isinstance(judged, Judgements):
        return judged

    parts = judged.judges or {"": judged}
    rows: list[Any] = [
        (query, doc, grade, who == "model")
        for who, part in parts.items()
        for query, docs in part.raw.items()
        for doc, grade in docs.items()
    ]
    queries, docs, grades, by_model = ([row[i] for row in rows] for i in range(4))
    notes = [note for note in judged.notes if note.code != WHO_JUDGED]
    if judged.judges:
        marks = np.array(by_model)
    else:
        marks = None

    return Judgements(queries, docs, grades, lambda _: where, notes, by_model=marks)


@named_arguments
def read_aspects(source: FileLike) -> AspectQrels:
    """Qrels in four columns of which the second is an aspect of the query (a subtopic, a judge)."""
    aspects: AspectQrels = formats.chosen("aspects", "aspects").read("aspects", sources.open_source(source))
    return aspects


@named_arguments
def read_preferences(source: FileLike, *, format: str | None = None) -> Preferences:
    """Preferences in five columns (query, judge, list, document, level: "prefs"), or in four ("qrels_prefs")."""
    if format is None:
        chosen = None
    else:
        chosen = formats.chosen(format, "preferences")
    opened = sources.open_source(source)
    if chosen is None:
        _, first = next(opened.filled_lines(), (0, b""))
        chosen = formats.FORMATS["qrels_prefs" if len(first.split()) == 4 else "prefs"]
    preferences: Preferences = chosen.read("preferences", opened)
    return preferences


def as_qrels(given: types.QrelsLike, *, judgements: Literal["error", "last"] = "error") -> Qrels:
    """Qrels from whatever holds judgements."""
    if isinstance(given, Qrels):
        return given
    return read_qrels(given, judgements=judgements)


def as_run(given: types.RunLike, *, name: str | None = None) -> Run:
    """A run from whatever holds a ranking."""
    if isinstance(given, Run):
        return given
    return read_run(given, name=name)


def as_runs(given: types.RunsLike) -> Runs:
    """Several runs from what callers give."""
    if isinstance(given, Runs):
        return given
    return Runs(given)


def is_one_run(value: object) -> bool:
    """Whether something in a mapping is a run, and not the results of a query."""
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


def _iterable(given: Any, what: str) -> Iterable[Any]:
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        return given
    hint = "Give a path, a dict of dicts, a list of tuples or a data frame."
    raise InputError(f"{type(given).__name__} cannot be read as {what}", hint=hint, code="unreadable-object")


# Data sets of HuggingFace `datasets` and of `ir_datasets`. Neither is imported: an object is known by its attributes.


def as_table(given: Any, name: str) -> Any:
    """A HuggingFace data set as an Arrow table, an ir_datasets one as its judgements; anything else as it is."""
    if isinstance(given, Mapping) and given and all(map(_is_huggingface, given.values())):
        if len(given) != 1:
            listed = ", ".join(ids.show(str(split), 40) for split in given)
            raise InputError(f"has several splits: {listed}", where=name, hint='Give one of them: dataset["test"].')
        given = next(iter(given.values()))

    if _is_huggingface(given) and hasattr(type(given), "set_epoch"):
        return given.with_format(None)  # streamed: read as rows, whatever form they were asked for in
    if _is_huggingface(given):
        # Formatted so, a selection or a shuffle of rows is respected; the table behind it knows nothing of them.
        return given.with_format("arrow")[:]
    # Frames of Spark Connect have an attribute, a column, of every name: only what can be called is a method.
    if name == "qrels" and callable(getattr(given, "has_qrels", None)) and not given.has_qrels():
        raise InputError("this data set of ir_datasets has no judgements", where=name)
    if name == "qrels" and callable(getattr(given, "qrels_iter", None)):
        return given.qrels_iter()
    return given


def _is_huggingface(given: Any) -> bool:
    """Whether it is a `datasets.Dataset`, which is held whole, or a `datasets.IterableDataset`, which is streamed."""
    kind: Any = type(given)
    return _of_huggingface(kind)


@lru_cache(64)  # whoever evaluates in a loop gives objects of the same few classes each time
def _of_huggingface(kind: type) -> bool:
    return hasattr(kind, "with_format") and hasattr(kind, "column_names")
