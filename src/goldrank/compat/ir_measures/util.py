"""ir_measures' inputs and names: rows, readers, converters, and measures from text."""

from __future__ import annotations

import ast
import io as streams
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from goldrank import io
from goldrank.base.errors import MeasureError
from goldrank.base.packages import needed
from goldrank.compat.ir_measures import measures as measures_module
from goldrank.compat.ir_measures.measures import Measure
from goldrank.measures import trec_names


class Qrel(NamedTuple):
    """A judgement."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    """A result."""

    query_id: str
    doc_id: str
    score: float


class Metric(NamedTuple):
    """A query's value."""

    query_id: str
    measure: Measure
    value: float


class CalcResults(NamedTuple):
    """Summaries, and the values of queries."""

    aggregated: dict[Measure, float] | float
    per_query: list[Metric]


def _deprecated(old: str, new: str) -> None:
    warnings.warn(f"{old} is deprecated; it is {new} now", DeprecationWarning, stacklevel=3)


def GenericQrel(*args: Any, **kwargs: Any) -> Qrel:  # noqa: N802 - its name there
    """The old name of `Qrel`."""
    _deprecated("GenericQrel", "Qrel")
    return Qrel(*args, **kwargs)


def GenericScoredDoc(*args: Any, **kwargs: Any) -> ScoredDoc:  # noqa: N802
    """The old name of `ScoredDoc`."""
    _deprecated("GenericScoredDoc", "ScoredDoc")
    return ScoredDoc(*args, **kwargs)


# Files in TREC's format: a path, compressed or not, an open file, or the text itself.


class TrecFile(Iterator[Any]):
    """The rows of a file. goldrank's own readers read the whole file, unless a row was read before."""

    def __init__(self, file: Any, rows: Callable[[Any], Iterator[Any]]) -> None:
        self.source = _source(file)
        self._make = rows
        self._rows: Iterator[Any] | None = None

    def __next__(self) -> Any:
        if self._rows is None:
            self._rows = iter(())
            if self.source is not None:
                self._rows = self._make(self.source)
        return next(self._rows)

    @property
    def untouched(self) -> bool:
        """Whether the whole file is still to come, and there is a line in it."""
        return self._rows is None and self.source is not None


def read_trec_qrels(file: Any) -> TrecFile:
    """The judgements of a file, by query and iteration, which is the second column."""
    return TrecFile(file, _qrels_of)


def _qrels_of(source: Any) -> Iterator[Qrel]:
    for query, aspects in io.read_aspects(source).items():
        for aspect, docs in aspects.items():
            for doc, grade in docs.items():
                yield Qrel(query, doc, int(grade), aspect)


def read_trec_run(file: Any) -> TrecFile:
    """The results of a file, by query."""
    return TrecFile(file, _results_of)


def _results_of(source: Any) -> Iterator[ScoredDoc]:
    for query, docs in io.read_run(source, format="trec").items():
        for doc, score in docs.items():
            yield ScoredDoc(query, doc, score)


def _source(file: Any) -> Any:
    """A source for goldrank's readers: a path, or the bytes of a text or an open file; None if there is no line."""
    if isinstance(file, os.PathLike):
        return file
    if isinstance(file, str) and "\n" not in file:
        return file

    data: Any = file
    if not isinstance(file, str):
        data = file.read()
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    lines = [line for line in data.split(b"\n") if line.strip()]
    if not lines:
        return None
    return streams.BytesIO(b"\n".join([*lines, b""]))


def parse_trec_qrels(file: Any) -> TrecFile:
    """The old name of `read_trec_qrels`."""
    _deprecated("parse_trec_qrels", "read_trec_qrels")
    return read_trec_qrels(file)


def parse_trec_run(file: Any) -> TrecFile:
    """The old name of `read_trec_run`."""
    _deprecated("parse_trec_run", "read_trec_run")
    return read_trec_run(file)


# Qrels and runs are rows with field names, a data frame, or a mapping.


class _Converter:
    """Converts between three forms: rows, a data frame, and a mapping of mappings."""

    noun: str
    row: type[Qrel | ScoredDoc]
    needed: tuple[str, ...]

    def __init__(self, source: Any, strict: bool = True) -> None:
        self.source = source
        self.strict = strict

    def predict_type(self) -> tuple[str, str | None]:
        """The form, and the reason if it is not one of the three."""
        source = self.source
        if isinstance(source, Mapping):
            return "dict_of_dict", None

        if hasattr(source, "itertuples"):
            missing = [name for name in self.needed if name not in source.columns]
            if missing and self.strict:
                return "UNKNOWN", f"DataFrame missing columns: {missing} (found {list(source.columns)})"
            return "pd_dataframe", None

        if not hasattr(source, "__iter__"):
            return "UNKNOWN", (
                "unexpected format; please provide either: (1) an iterable of namedtuples (fields "
                f"{self.needed}, e.g., from ir_measures.{self.row.__name__}); (2) a pandas DataFrame with columns "
                f"{self.needed}; or (3) a dict-of-dict"
            )

        rows = iter(source)
        first = next(rows, None)
        if first is None:
            return "namedtuple_iter", None
        if rows is source:  # an iterator, from which the first row is gone
            self.source = chain([first], rows)
        if not isinstance(first, tuple) or not hasattr(first, "_fields"):
            return "UNKNOWN", "iterable not a namedtuple iterator"

        missing = [name for name in self.needed if name not in first._fields]
        if missing:
            return "UNKNOWN", f"namedtuple iter missing fields: {missing} (found {list(first._fields)})"
        return "namedtuple_iter", None

    def checked_type(self) -> str:
        """The form; raise if it is unknown."""
        form, error = self.predict_type()
        if form == "UNKNOWN":
            raise ValueError(f"unknown {self.noun} format: {error}")
        return form

    def as_namedtuple_iter(self) -> Iterator[Any]:
        """Row by row."""
        form = self.checked_type()
        if form == "namedtuple_iter":
            yield from self.source
        elif form == "dict_of_dict":
            yield from (
                self.row(query, doc, value) for query, docs in self.source.items() for doc, value in docs.items()
            )
        else:
            columns = [self.source[name].tolist() for name in self.row._fields if name in self.source.columns]
            yield from (self.row(*row) for row in zip(*columns, strict=True))

    def as_dict_of_dict(self) -> Mapping[str, Mapping[str, Any]]:
        """By query and document; the last of several rows counts."""
        if self.checked_type() == "dict_of_dict":
            by_query: Mapping[str, Mapping[str, Any]] = self.source
            return by_query
        result: dict[str, dict[str, Any]] = {}
        for query, doc, value, *_ in self.as_namedtuple_iter():
            result.setdefault(query, {})[doc] = value
        return result

    def as_pd_dataframe(self) -> Any:
        """A row each, with all columns."""
        if self.checked_type() == "pd_dataframe":
            lacking = {
                name: [default] * len(self.source)
                for name, default in self.row._field_defaults.items()
                if name not in self.source.columns
            }
            if lacking:
                return self.source.assign(**lacking)
            return self.source

        with needed("pandas"):
            import pandas

        return pandas.DataFrame(list(self.as_namedtuple_iter()), columns=list(self.row._fields))


class QrelsConverter(_Converter):
    """Judgements as rows, as a frame, or by query and document."""

    noun, row, needed = "qrels", Qrel, ("query_id", "doc_id", "relevance")


class RunConverter(_Converter):
    """Results as rows, as a frame, or by query and document."""

    noun, row, needed = "run", ScoredDoc, ("query_id", "doc_id", "score")

    def as_sorteddict(self) -> dict[str, list[ScoredDoc]]:
        """By query the rows, best first; equal scores keep their order."""
        result: dict[str, list[ScoredDoc]] = {}
        for row in self.as_namedtuple_iter():
            result.setdefault(row.query_id, []).append(row)
        return {query: sorted(rows, key=lambda row: row.score, reverse=True) for query, rows in result.items()}


# Measures from text.


def parse_measure(measure: str | Measure) -> Measure:
    """A measure from its spelling, such as "nDCG(dcg='exp-log2')@20"."""
    if isinstance(measure, Measure):
        return measure

    try:
        tree: ast.expr = ast.parse(measure.strip(), mode="eval").body
        options: dict[str, Any] = {}
        cutoff = None
        if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
            cutoff, tree = ast.literal_eval(tree.right), tree.left
        if isinstance(tree, ast.Call):
            if tree.args:
                raise ValueError("options are given by name")
            options = {str(word.arg): ast.literal_eval(word.value) for word in tree.keywords}
            tree = tree.func
        if not isinstance(tree, ast.Name):
            raise ValueError("it is not a name")
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise MeasureError(f"problem parsing measure {measure!r}: {error}", hint="It looks like P(rel=2)@5.") from None

    if tree.id not in measures_module.registry:
        raise NameError(f"measure not found: {tree.id}")

    parsed: Measure = measures_module.registry[tree.id](**options)
    if cutoff is None:
        return parsed
    cut: Measure = parsed @ cutoff
    return cut


def parse_trec_measure(measure: str) -> list[Measure]:
    """The measures of one of trec_eval's names, with parameters or without, or of one of its nicknames."""
    if measure in trec_names.NICKNAMES:
        measures: list[Measure] = []
        for name in sorted(trec_names.NICKNAMES[measure]):
            measures += _of_trec(name) or []
        return measures

    listed = _of_trec(measure)
    if listed is None:
        raise MeasureError(f"known trec name {measure}, but ir_measures has no such measure")
    return listed


def convert_trec_name(measure: str) -> list[Measure]:
    """The old name of `parse_trec_measure`."""
    _deprecated("convert_trec_name", "parse_trec_measure")
    return parse_trec_measure(measure)


def _of_trec(text: str) -> list[Measure] | None:
    """ir_measures' measures for a name of trec_eval; None if there are none."""
    name, parameters = _split(text)
    if name not in trec_names.TABLE:
        raise MeasureError(f"unknown measure {text}")
    if parameters and trec_names.TABLE[name].parameters == "none":
        raise MeasureError(f"unknown argument for {name}: {parameters}")

    # trec_eval takes the first of several numbers for set_F; here each is a separate measure.
    requests = [parameters]
    if trec_names.TABLE[name].parameters == "numbers":
        requests = parameters.split(",")
    measures = []
    for request in requests:
        spelling = name
        if request:
            spelling = f"{name}.{request}"
        for line in trec_names.lines_of([spelling]):
            measure = _of_line(line)
            if measure is None:
                return None
            measures.append(measure)

    return measures


def _of_line(line: Any) -> Measure | None:
    """ir_measures' measure for a line of trec_eval; None if there is none."""
    measure = measures_module.registry.get(str(line.measure))
    options = {_OPTION_NAMES.get(key, key): value for key, value in line.options.items()}
    if measure is None or any(key not in measure.SUPPORTED_PARAMS for key in options):
        return None
    with_options: Measure = measure(**options)
    if line.k is None:
        return with_options
    cut: Measure = with_options @ line.k
    return cut


_OPTION_NAMES = {"weight": "beta"}
"""ir_measures' names of options that have another name in goldrank."""


def _split(text: str) -> tuple[str, str]:
    """A name and its parameters, which follow a point or, as in pytrec_eval, an underscore."""
    if text in trec_names.TABLE:
        return text, ""
    name, _, parameters = text.partition(".")
    if name not in trec_names.TABLE:
        name, _, parameters = text.rpartition("_")
    return name, parameters


def by_aspect(rows: Iterable[Any]) -> dict[str, dict[str, dict[str, int]]]:
    """Grades by query, iteration and document; the last of several rows counts."""
    grades: dict[str, dict[str, dict[str, int]]] = {}
    for row in rows:
        aspects = grades.setdefault(row.query_id, {})
        aspects.setdefault(getattr(row, "iteration", "0"), {})[row.doc_id] = row.relevance
    return grades
