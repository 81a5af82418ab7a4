"""What public functions take, by name, so that editors complete and type checkers check."""

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
"""A file, or one that is open."""

Id: TypeAlias = str | int | bytes
"""A query or document id. Integers count as their digits."""


class ArrowStream(Protocol):
    """A table that can be handed over by Arrow: pandas, polars, pyarrow, DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class SparkFrame(Protocol):
    """A Spark DataFrame, classic or Connect."""

    @property
    def sparkSession(self) -> Any:  # noqa: N802 - Spark's name; its type is not ours
        ...


Frame: TypeAlias = ArrowStream | SparkFrame

Columns: TypeAlias = Mapping[str, str]
"""Names of columns or fields by what they hold: {"query": "qid", "doc": "docno"}."""
Rows: TypeAlias = Iterable[tuple[Any, ...]] | Iterable[Mapping[str, Any]]
"""Records: dicts, or tuples."""

IdList: TypeAlias = "list[str] | list[int] | list[bytes] | tuple[Id, ...] | np.ndarray[Any, Any]"
"""Ids of documents, the best first. No list of paths and no list of runs is one."""

QrelsMapping: TypeAlias = "Mapping[Any, Mapping[Any, SupportsFloat] | IdList | set[str] | frozenset[str]]"
"""{"q1": {"d1": 2}} or {"q1": ["d1"]}. Grades are whatever can be made a number: numpy's and pandas' are too."""

RunMapping: TypeAlias = "Mapping[Any, Mapping[Any, SupportsFloat] | IdList | list[tuple[Any, Any]]]"
"""{"q1": {"d1": 0.9}}, {"q1": ["d1", "d2"]} or {"q1": [("d1", 0.9)]}: one run. Several runs are `Runs`."""

QrelsLike: TypeAlias = "Qrels | Source | Frame | QrelsMapping | Rows"
"""Judgements: `Qrels`, a file, a data frame, {"q1": {"d1": 2}}, {"q1": ["d1"]} or rows of (query, doc, grade)."""

JudgementsLike: TypeAlias = "QrelsLike | AspectQrels | Preferences"
"""The same, or judgements that say more than one grade."""

RunLike: TypeAlias = "Run | Source | Frame | RunMapping | Rows"
"""What a system returned: `Run`, a file, a data frame, {"q1": {"d1": 0.9}}, {"q1": ["d1", "d2"]} or rows."""

RunsLike: TypeAlias = "Runs | Mapping[str, RunLike] | Iterable[Run | Path] | Iterable[tuple[str, RunLike]]"
"""Several runs: `Runs`, runs by name, a list of paths or of `Run`s, or a list of (name, run)."""

DocumentOf: TypeAlias = "str | re.Pattern[str] | os.PathLike[str] | Mapping[Any, Any] | Callable[[str], Any]"
"""How the document of a chunk is told by its id: `Run.rolled_up`."""

SeenLike: TypeAlias = "UserHistory | Mapping[Any, Iterable[Any]] | Iterable[Sequence[Any]] | Path | IO[bytes] | Frame"
"""What users had: {"u1": ["i1", "i2"]}, {"u1": {"i1": 4.5}}, rows of (user, item, ...), a file or a data frame."""

CatalogueLike: TypeAlias = "Catalogue | Iterable[Id]"
"""All items that could be recommended: a `Catalogue`, or their ids."""

QueriesLike: TypeAlias = (
    "Queries | Path | IO[bytes] | Frame | Mapping[Any, str] | Mapping[Any, Mapping[str, Any]] | Iterable[Any]"
)
"""What is known of queries: `Queries`, a file, a data frame, {"q1": "some words"} or {"q1": {"kind": "short"}}."""

DocumentsLike: TypeAlias = (
    "Documents | Path | IO[bytes] | Frame | Mapping[Any, str] | Mapping[Any, Mapping[str, str]]"
    " | Iterable[Any] | Callable[[str], Any]"
)
"""Texts of documents: `Documents`, a file, a data frame, {"d1": "some text"}, or a function of an id."""

MeasureLike: TypeAlias = "str | Measure | Callable[..., Any]"
"""'nDCG@10', a `Measure`, or a function of one's own (see `goldrank.measure`)."""

MeasuresLike: TypeAlias = "MeasureLike | Iterable[MeasureLike] | None"
"""One measure, several, or None for the usual ones."""

Pack: TypeAlias = Literal["prefix", "skip", "truncate"]
"""How texts are packed into a budget of tokens: up to the first that does not fit, without those, or cut."""


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
"""Whose rules to follow."""

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
    """What tools differ in; each by default as the convention has it. `goldrank.conventions.POLICIES` explains them."""

    ties: Ties
    score_type: ScoreType
    duplicates: Duplicates
    judgements: Judgements
    missing: Missing
    empty: Empty
    bounds: Bounds
    overlap: Overlap
