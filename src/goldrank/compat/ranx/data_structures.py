"""ranx's `Qrels` and `Run`: mutable mappings of mappings, with its methods and file formats."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from io import BytesIO
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

import goldrank
from goldrank import io
from goldrank.base.errors import InputError, cannot_open
from goldrank.base.packages import needed
from goldrank.compat._common import rows_of
from goldrank.data.blocks import BlockSource, ParsedBlocks
from goldrank.data.qrels import plain_qrels
from goldrank.data.run import Rankings, plain_copy
from goldrank.io.sources import FREE, MAX_RATIO

Number = TypeVar("Number", int, float)
Made = TypeVar("Made", bound="_Table[Any]")

KINDS = ("json", "trec", "gz", "parquet", "lz4")


class QueryMismatchError(InputError, AssertionError):
    """Queries that should be the same are not. ranx raises an AssertionError here."""


def get_file_kind(path: str = "run.json", kind: str | None = None) -> str:
    """The kind of a file by its name, in ranx's words."""
    if kind is None:
        kind = os.path.splitext(path)[1][1:]
        kind = {"txt": "trec", "parq": "parquet"}.get(kind, kind)
    if kind not in KINDS:
        message = f"`kind` is {kind!r}; it must be one of: {', '.join(KINDS)}"
        raise QueryMismatchError(message, where=str(path), code="unknown-choice")
    return kind


class _Table(Generic[Number]):
    """The base of `Qrels` and `Run`: {query: {document: number}}, queries in order and the highest number first.

    Measures do not need this order. So data from a file, or plain data, stay a goldrank object until rows are read.
    """

    number: ClassVar[type]

    def __init__(self, rows: Mapping[str, Mapping[str, Any]] | None = None, name: str | None = None) -> None:
        self.name = name
        self.sorted = rows is not None
        self._rows: dict[str, dict[str, Number]] = {}
        self._unseen: Any = None
        """goldrank's `Qrels` or `Run` with this data, until the rows are read and may be changed."""
        if rows is not None:
            self._unseen = self._plain(rows)
            if self._unseen is None:
                self._put_in_order(rows)

    @staticmethod
    def _plain(rows: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]] | None:
        """A copy as a goldrank object; None unless ids are text and values are plain numbers."""
        raise NotImplementedError

    @classmethod
    def _from_native(cls: type[Made], unseen: Mapping[str, Mapping[str, Any]], name: str | None = None) -> Made:
        """A table of a goldrank object."""
        table = cls(name=name)
        table._unseen, table.sorted = unseen, True
        return table

    def _number(self, value: Any) -> Any:
        return self.number(value)

    def _put_in_order(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        number = self._number
        for query, row in rows.items():
            if not isinstance(row, Mapping):
                raise TypeError(f"results of query {query!r:.80} are of type {type(row).__name__}, not a mapping")

        converted: dict[str, dict[str, Number]] = {}
        for query, row in rows.items():
            converted[query] = {doc: number(value) for doc, value in row.items()}
        self.rows = converted
        self.sort()

    @property
    def rows(self) -> dict[str, dict[str, Number]]:
        if self._unseen is not None:
            self._put_in_order(self._unseen)
        return self._rows

    @rows.setter
    def rows(self, rows: dict[str, dict[str, Number]]) -> None:
        self._rows, self._unseen = rows, None

    def keys(self) -> Any:
        return self.rows.keys()

    def add_score(self, q_id: str, doc_id: str, score: Any) -> None:
        """Add a document to a query, or change its value."""
        self.rows.setdefault(q_id, {})[doc_id] = self._number(score)
        self.sorted = False

    def add(self, q_id: str, doc_ids: Sequence[str], scores: Sequence[Any]) -> None:
        """Add a query with its documents; it replaces what the query had."""
        self.add_multi([q_id], [doc_ids], [scores])

    def add_multi(
        self, q_ids: Sequence[str], doc_ids: Sequence[Sequence[str]], scores: Sequence[Sequence[Any]]
    ) -> None:
        """Add several queries at once."""
        for query, docs, values in zip(q_ids, doc_ids, scores, strict=True):
            self.rows[query] = {doc: self._number(value) for doc, value in zip(docs, values, strict=True)}
        self.sort()

    def get_query_ids(self) -> list[str]:
        return list(self.rows)

    def get_doc_ids_and_scores(self) -> list[dict[str, Number]]:
        return list(self.rows.values())

    def sort(self) -> None:
        """Queries in order, documents by value; those of equal values stay as they are."""
        by_value = itemgetter(1)
        self.rows = {
            query: dict(sorted(self.rows[query].items(), key=by_value, reverse=True)) for query in sorted(self.rows)
        }
        self.sorted = True

    def to_typed_list(self) -> list[np.ndarray]:
        """For each query an array of (hash of the document id, value), sorted."""
        if not self.sorted:
            self.sort()
        arrays = []
        for row in self.rows.values():
            hashed = [(hash(doc), value) for doc, value in row.items()]
            arrays.append(np.array(hashed, np.float64).reshape(-1, 2))
        return arrays

    def to_dict(self) -> dict[str, dict[str, Number]]:
        return {query: dict(row) for query, row in self.rows.items()}

    def to_dataframe(self) -> Any:  # a pandas DataFrame, which is not imported here
        """A pandas DataFrame with the columns q_id, doc_id and score."""
        with needed("pandas"):
            import pandas as pd

        rows = [(query, doc, value) for query, row in self.rows.items() for doc, value in row.items()]
        return pd.DataFrame(rows, columns=["q_id", "doc_id", "score"])

    @property
    def size(self) -> int:
        return len(self.rows)

    def __getitem__(self, q_id: str) -> dict[str, Number]:
        return dict(self.rows[q_id])

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Any:
        return iter(self.rows)

    def __repr__(self) -> str:
        return repr(self.rows)

    @classmethod
    def from_df(
        cls: type[Made],
        df: Any,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        name: str | None = None,
    ) -> Made:
        """From a data frame (pandas, polars, pyarrow)."""
        columns = (q_id_col, doc_id_col, score_col)
        rows: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for number, row in enumerate(rows_of(df)):
            values = [row.get(column) for column in columns]
            for column, value in zip(columns, values, strict=True):
                if value is None:
                    raise InputError(f"row {number} has no {column!r}; it has: {', '.join(map(repr, row))}")
            query, doc, value = values
            if not isinstance(query, str) or not isinstance(doc, str):
                message = f"row {number} has ids {query!r} and {doc!r}, which are not text"
                raise QueryMismatchError(message, hint="Convert them with str.")
            rows[query][doc] = value

        return cls(rows, name)

    @classmethod
    def from_parquet(
        cls: type[Made],
        path: str,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        pd_kwargs: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> Made:
        """From a Parquet file; `pd_kwargs` go to `pandas.read_parquet`, without them pandas is not needed."""
        if pd_kwargs:
            with needed("pandas"):
                import pandas as pd

            return cls.from_df(pd.read_parquet(path, **pd_kwargs), q_id_col, doc_id_col, score_col, name)

        with needed("polars"):
            import polars as pl

        frame = pl.read_parquet(path, columns=[q_id_col, doc_id_col, score_col])
        return cls.from_df(frame, q_id_col, doc_id_col, score_col, name)

    def _save(self, path: str, kind: str | None, data: Callable[[], Any]) -> None:
        kind = get_file_kind(path, kind)
        if not self.sorted:
            self.sort()
        if kind == "lz4":
            _write_lz4(self.to_dict(), path)
        elif kind == "parquet":
            with needed("polars"):
                import polars as pl

            rows = [(query, doc, value) for query, row in self.rows.items() for doc, value in row.items()]
            pl.DataFrame(rows, schema=["q_id", "doc_id", "score"], orient="row").write_parquet(path)
        elif kind == "json":
            data().save(path, format="json")
        else:
            data().save(path, format="trec")


class Qrels(_Table[int]):
    """Judgements, as ranx has them."""

    number = int

    def __init__(self, qrels: Mapping[str, Mapping[str, Any]] | None = None, name: str | None = None) -> None:
        super().__init__(qrels, name)

    def _number(self, value: Any) -> int:
        if int(value) != value:
            message = f"grade {value!r} is not a whole number"
            raise InputError(message, hint="ranx would make it one by cutting it off.", code="bad-grade")
        return int(value)

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        return self.rows

    def set_relevance_level(self, rel_lvl: int = 1) -> None:
        """Make a grade of `rel_lvl` the lowest relevant one, by moving all grades."""
        shift = rel_lvl - 1
        shifted: dict[str, dict[str, int]] = {}
        for query, row in self.rows.items():
            shifted[query] = {doc: grade - shift for doc, grade in row.items()}
        self.rows = shifted

    def save(self, path: str = "qrels.json", kind: str | None = None) -> None:
        """Write JSON, TREC text or Parquet."""
        self._save(path, kind, self.native)

    @staticmethod
    def _plain(rows: Mapping[str, Mapping[str, Any]]) -> goldrank.Qrels | None:
        return plain_qrels(rows)

    def native(self) -> goldrank.Qrels:
        """The judgements as goldrank's `Qrels`."""
        qrels: goldrank.Qrels = self._unseen
        if qrels is None:
            qrels = goldrank.Qrels(self._rows)
        return qrels.renamed(self.name or "qrels")

    @staticmethod
    def from_dict(d: Mapping[str, Mapping[str, Any]], name: str | None = None) -> Qrels:
        return Qrels(d, name)

    @staticmethod
    def from_file(path: str, kind: str | None = None) -> Qrels:
        """From a JSON, TREC (also compressed) or Parquet file."""
        kind = get_file_kind(path, kind)
        if kind == "lz4":
            return Qrels(_read_lz4(path))
        return Qrels._from_native(
            io.read_qrels(path, format={"json": "json", "trec": "trec"}.get(kind), judgements="last")
        )

    @staticmethod
    def from_ir_datasets(dataset_id: str) -> Qrels:
        """From a dataset of ir_datasets, which must be installed."""
        import ir_datasets  # type: ignore[import-untyped]

        return Qrels(ir_datasets.load(dataset_id).qrels_dict(), dataset_id)


class Run(_Table[float]):
    """A run, as ranx has it. `evaluate` leaves the values of measures in `scores`, `mean_scores` and `std_scores`."""

    number = float

    def __init__(self, run: Mapping[str, Mapping[str, Any]] | None = None, name: str | None = None) -> None:
        super().__init__(run, name)
        self.metadata: dict[str, Any] = {}
        self.scores: defaultdict[str, dict[str, float]] = defaultdict(dict)
        self.mean_scores: dict[str, float] = {}
        self.std_scores: dict[str, float] = {}

    @staticmethod
    def _plain(rows: Mapping[str, Mapping[str, Any]]) -> goldrank.Run | None:
        copy = plain_copy(rows)
        if copy is None:
            return None
        return goldrank.Run(copy)

    @property
    def run(self) -> dict[str, dict[str, float]]:
        return self.rows

    def make_comparable(self, qrels: Qrels) -> Run:
        """Add empty results for judged queries, drop those of others. This changes the run, as it does in ranx."""
        self.rows = {query: self.rows.get(query, {}) for query in qrels}
        self.sort()
        return self

    def save(self, path: str = "run.json", kind: str | None = None) -> None:
        """Write JSON, TREC text, Parquet or ranx's LZ4."""
        self._save(path, kind, self.native)

    def native(self) -> goldrank.Run:
        """The run as goldrank's `Run`."""
        if not self.sorted:
            self.sort()
        return goldrank.Run(Rankings(self.rows), name=self.name or "run")

    def _in_any_order(self) -> tuple[goldrank.Run, Set[str]]:
        """The run as goldrank's, with documents in any order except those of equal scores; and its queries."""
        if self._unseen is None:
            return self.native(), self._rows.keys()
        run: goldrank.Run = self._unseen.renamed(self.name or "run")
        if isinstance(run.source, ParsedBlocks):
            return run, run.source.queries()
        return run, run.results.keys()

    @staticmethod
    def from_dict(d: Mapping[str, Mapping[str, Any]], name: str | None = None) -> Run:
        return Run(d, name)

    @staticmethod
    def from_file(path: str, kind: str | None = None, name: str | None = None) -> Run:
        """From a JSON, TREC (also compressed), Parquet or LZ4 file."""
        kind = get_file_kind(path, kind)
        if kind == "lz4":
            return Run(_read_lz4(path), name)
        run = io.read_run(path, format={"json": "json", "trec": "trec"}.get(kind))
        if not isinstance(run.source, BlockSource):
            return Run._from_native(run, name)
        source = ParsedBlocks(run.source)
        parsed = goldrank.Run(source, name=run.name).with_facts(notes=run.notes)
        return Run._from_native(parsed, name or source.first_tag())


def native_runs(runs: Iterable[Run]) -> list[goldrank.Run]:
    """goldrank's runs, each with a different name."""
    return [run.native().renamed(run.name or f"run_{number}") for number, run in enumerate(runs, 1)]


def _lz4() -> tuple[Any, Any]:
    with needed("lz4", install="lz4 cbor2"):
        import cbor2
        import lz4.frame  # type: ignore[import-untyped]
    return lz4.frame, cbor2


def _write_lz4(content: Mapping[str, Any], path: str) -> None:
    frame, cbor2 = _lz4()
    with frame.open(path, mode="wb") as file:  # ranx compresses twice
        file.write(frame.compress(cbor2.dumps(content), compression_level=16))


def _read_lz4(path: str) -> Any:
    """The content of a file; raise if it unpacks to far more than runs do, before it fills the memory."""
    frame, cbor2 = _lz4()
    try:
        data = Path(path).read_bytes()
        most = FREE + MAX_RATIO * len(data)
        for _ in range(2):  # ranx compresses twice
            with frame.open(BytesIO(data), mode="r") as file:
                data = file.read(most + 1)
            if len(data) > most:
                raise ValueError(f"it unpacks to more than {most:,} bytes")
        return cbor2.loads(data)
    except OSError as error:
        raise cannot_open(error, str(path)) from None
    except (RuntimeError, ValueError, EOFError, RecursionError) as error:
        raise InputError(f"is not one of ranx's LZ4 files: {error}", where=str(path)) from None
