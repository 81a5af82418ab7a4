"""Types of the arguments of public functions, with names for editors and type checkers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol, SupportsFloat, TypeAlias, TypedDict

if TYPE_CHECKING:
    import numpy as np

    from goldrank.conventions import Convention
    from goldrank.data.aspects import AspectQrels
    from goldrank.data.catalogue import Catalogue, UserHistory
    from goldrank.data.documents import Documents
    from goldrank.data.preferences import Preferences
    from goldrank.data.qrels import Qrels
    from goldrank.data.queries import Queries
    from goldrank.data.run import Run
    from goldrank.data.runs import Runs
    from goldrank.measures import Measure

Path: TypeAlias = str | os.PathLike[str]
"""A file, a folder of part files, a pattern, or '-' for standard input."""

Source: TypeAlias = Path | IO[bytes]
"""A path, or an open file."""

Id: TypeAlias = str | int | bytes
"""A query or document id. Integers count as their digits."""


class ArrowStream(Protocol):
    """A table that can be handed over by Arrow: pandas, polars, pyarrow, DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class SparkFrame(Protocol):
    """A Spark DataFrame, classic or Connect."""

    @property
    def sparkSession(self) -> Any:  # noqa: N802 - Spark's name and type
        ...


Frame: TypeAlias = ArrowStream | SparkFrame

Columns: TypeAlias = Mapping[str, str]
"""Names of columns or fields by their role: {"query": "qid", "doc": "docno"}."""
Rows: TypeAlias = Iterable[tuple[Any, ...]] | Iterable[Mapping[str, Any]]
"""Records: dicts, or tuples."""

IdList: TypeAlias = "list[str] | list[int] | list[bytes] | tuple[Id, ...] | np.ndarray[Any, Any]"
"""Ids of documents, the best first; not a list of paths and not a list of runs."""

QrelsMapping: TypeAlias = "Mapping[Any, Mapping[Any, SupportsFloat] | IdList | set[str] | frozenset[str]]"
"""{"q1": {"d1": 2}} or {"q1": ["d1"]}. Grades are any values that `float` accepts, also those of numpy and pandas."""

RunMapping: TypeAlias = "Mapping[Any, Mapping[Any, SupportsFloat] | IdList | list[tuple[Any, Any]]]"
"""{"q1": {"d1": 0.9}}, {"q1": ["d1", "d2"]} or {"q1": [("d1", 0.9)]}: one run. Several runs are `Runs`."""

QrelsLike: TypeAlias = "Qrels | Source | Frame | QrelsMapping | Rows"
"""Judgements: `Qrels`, a file, a data frame, {"q1": {"d1": 2}}, {"q1": ["d1"]} or rows of (query, doc, grade)."""

JudgementsLike: TypeAlias = "QrelsLike | AspectQrels | Preferences"
"""Judgements of one grade (`QrelsLike`), by aspects, or as preferences."""

RunLike: TypeAlias = "Run | Source | Frame | RunMapping | Rows"
"""What a system returned: `Run`, a file, a data frame, {"q1": {"d1": 0.9}}, {"q1": ["d1", "d2"]} or rows."""

RunsLike: TypeAlias = "Runs | Mapping[str, RunLike] | Iterable[Run | Path] | Iterable[tuple[str, RunLike]]"
"""Several runs: `Runs`, runs by name, a list of paths or of `Run`s, or a list of (name, run)."""

DocumentOf: TypeAlias = "str | re.Pattern[str] | os.PathLike[str] | Mapping[Any, Any] | Callable[[str], Any]"
"""How to find the document of a chunk from the chunk's id: `Run.rolled_up`."""

SeenLike: TypeAlias = "UserHistory | Mapping[Any, Iterable[Any]] | Iterable[Sequence[Any]] | Path | IO[bytes] | Frame"
"""Earlier items of users: {"u1": ["i1", "i2"]}, {"u1": {"i1": 4.5}}, rows (user, item, ...), a file or a data frame."""

CatalogueLike: TypeAlias = "Catalogue | Iterable[Id]"
"""All items that can be recommended: a `Catalogue`, or their ids."""

QueriesLike: TypeAlias = (
    "Queries | Path | IO[bytes] | Frame | Mapping[Any, str] | Mapping[Any, Mapping[str, Any]] | Iterable[Any]"
)
"""Data about queries: `Queries`, a file, a data frame, {"q1": "some words"} or {"q1": {"kind": "short"}}."""

DocumentsMapping: TypeAlias = "Mapping[Any, str] | Mapping[Any, Mapping[str, str]]"
"""{"d1": "some text"} or {"d1": {"title": "A title", "text": "some text"}}."""

DocumentsLike: TypeAlias = "Documents | Source | Frame | DocumentsMapping | Iterable[Any] | Callable[[str], Any]"
"""Texts of documents: `Documents`, a file, a data frame, {"d1": "some text"}, or a function of an id."""

MeasureLike: TypeAlias = "str | Measure | Callable[..., Any]"
"""'nDCG@10', a `Measure`, or a function (see `goldrank.measure`)."""

MeasuresLike: TypeAlias = "MeasureLike | Iterable[MeasureLike] | None"
"""One measure, several, or None for the usual ones."""

Pack: TypeAlias = Literal["prefix", "skip", "truncate"]
VerdictWord: TypeAlias = Literal["better", "worse", "same", "equivalent", "unclear", "diagnostic"]
"""How texts fill a budget of tokens: stop at the first that does not fit, leave such texts out, or cut them."""

ConventionName: TypeAlias = Literal[
    "trec_eval-10",
    "trec_eval-9",
    "ranx",
    "sklearn",
    "torchmetrics",
    "lightgbm",
    "xgboost",
    "beir",
    "chroma",
    "axion",
    "lesson",
    "remem",
    "continuous_eval",
    "continuous_eval_released",
    "ir_eval_numba",
]
"""The name of a tool whose rules are followed."""

ConventionLike: TypeAlias = "ConventionName | Convention"
"""A convention, or its name."""

Ties: TypeAlias = Literal["docid", "docid-ascending", "input", "expected", "bounds"]
ScoreType: TypeAlias = Literal["float64", "float32"]
Duplicates: TypeAlias = Literal["error", "first", "last", "count", "places"]
Judgements: TypeAlias = Literal["error", "last"]
Missing: TypeAlias = Literal["zero", "skip", "error"]
Empty: TypeAlias = Literal["zero", "skip", "one", "nan", "error"]
Bounds: TypeAlias = Literal["none", "unjudged"]
Overlap: TypeAlias = Literal["error", "allow"]


class Policies(TypedDict, total=False):
    """Rules in which tools differ. The default is the convention's. `goldrank.conventions.POLICIES` explains them."""

    ties: Ties
    score_type: ScoreType
    duplicates: Duplicates
    judgements: Judgements
    missing: Missing
    empty: Empty
    bounds: Bounds
    overlap: Overlap
