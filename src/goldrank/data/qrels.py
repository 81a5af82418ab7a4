"""Judgements: `Qrels`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypedDict, Unpack, cast
from zlib import crc32

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, Position, of_type, one_of, whole_number
from goldrank.base.frozen import Frozen
from goldrank.base.machine import fits
from goldrank.base.notes import Note
from goldrank.base.packages import needed
from goldrank.core import core
from goldrank.data.grades import HIGH_GRADE, are_usual, check_grade, notes_on_grades
from goldrank.data.id_column import IdColumn
from goldrank.data.judgement_columns import (
    JUDGED_BY,
    WHO_JUDGED,
    JudgementColumns,
    as_grades,
    grade_array,
    who_judged,
)
from goldrank.data.judgement_columns import Grade as Grade
from goldrank.data.judgement_columns import Judgements as Judgements
from goldrank.data.placements import Ideals
from goldrank.data.read_only import ReadOnlyRows, read_only

if TYPE_CHECKING:
    import pandas
    import polars

    from goldrank.base.types import DocumentOf, Path, QrelsLike, QrelsMapping

JUDGEMENT = 320
"""Bytes of memory for a judgement while qrels are made, without the file's bytes: benchmarks/memory.py measures 170 to
240 from Parquet, 210 from CSV and 310 from JSON, with nine-byte ids."""
TEXT_JUDGEMENT = 150
"""`JUDGEMENT` for TREC text, which is read in pieces: 140, of which a third is in use before the check."""

Id: TypeAlias = str | bytes
"""An id as text, or as the bytes of a file."""


@dataclass(frozen=True)
class JudgementArrays:
    """Qrels prepared for engines: queries in byte order, numbered from 0, and their judgements as rows.

    Rows are ordered by query and, within a query, in the order of the input. `Placements.label` is such a row.
    """

    queries: tuple[str, ...]
    start: np.ndarray
    """Where each query's rows begin; one more entry than queries."""
    grade: np.ndarray
    """The grade of each row."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", read_only(self.start))
        object.__setattr__(self, "grade", read_only(self.grade))

    @cached_property
    def descending(self) -> np.ndarray:
        """Every judged grade, descending within its query."""
        return read_only(self._descending())

    def _descending(self) -> np.ndarray:
        falls = self.grade[1:] <= self.grade[:-1]
        falls[self.start[1:-1][(self.start[1:-1] > 0) & (self.start[1:-1] < len(self.grade))] - 1] = True
        if falls.all():
            return self.grade

        query = np.repeat(np.arange(len(self.queries)), np.diff(self.start))
        if self.grade.dtype != np.int64:
            return self.grade[np.lexsort((-self.grade, query))]

        # Grades are below 10**8, so a query and a grade fit into one number, and one sort of numbers suffices.
        high, low = self.grade.max(initial=0), self.grade.min(initial=0)
        before = query * (high - low + 1) + high
        descending: np.ndarray = before - np.sort(before - self.grade)
        return descending

    @cached_property
    def ideals(self) -> Ideals:
        """Values that measures compute from the judgements alone."""
        return Ideals(self.descending, self.start)


class JudgedRows(NamedTuple):
    """Judgements as parallel columns; `where(i)` names row i in a message."""

    queries: Sequence[Id]
    docs: Sequence[Id]
    grades: Sequence[Grade]
    where: Callable[[int], Position | str]

    def take(self, is_taken: np.ndarray) -> JudgedRows:
        """Some of the rows."""
        rows = np.flatnonzero(is_taken).tolist()
        return JudgedRows(
            [self.queries[row] for row in rows],
            [self.docs[row] for row in rows],
            [self.grades[row] for row in rows],
            lambda row: self.where(rows[row]),
        )


class StoredJudgements(NamedTuple):
    """Checked judgements for the constructor of `Qrels`, in one of three forms: by text, by bytes, or as columns."""

    text: dict[str, dict[str, Grade]] | None = None
    raw: dict[bytes, dict[bytes, Grade]] | None = None
    columns: JudgementColumns | None = None
    notes: Iterable[Note] = ()
    id_kind: str = "text"


class QrelsFacts(TypedDict, total=False):
    """What is known of judgements beside their grades: attributes of `Qrels`."""

    name: str
    notes: tuple[Note, ...]
    id_kind: str
    shard_number: tuple[int, int] | None
    part_of: Qrels | None
    judges: Mapping[str, Qrels]


class Qrels(Frozen, Mapping[str, Mapping[str, Grade]]):
    """Judgements: for each query the grade of each judged document. They never change.

    Grades are whole numbers; 0 is judged not relevant and a negative grade means pooled but not judged.
    Gains that are not whole numbers need `real_grades=True`.

    >>> qrels = Qrels({"q1": {"d1": 2, "d2": 0}})
    >>> qrels["q1"]["d1"]
    2
    """

    name: str
    criteria: str | None
    """The relevance criteria that the judges followed, in words."""
    notes: tuple[Note, ...]
    """What the reader tolerated."""
    id_kind: str
    """'int', 'str' or for example 'str/int' for ids from Python objects, 'text' for ids from files."""
    shard_number: tuple[int, int] | None
    """The number of this shard of the queries, from 1, and the number of all shards; None if these are all."""
    part_of: Qrels | None
    """The qrels that a shard was taken from; None for all. (A reference to `self` would not be freed at once.)"""
    judges: Mapping[str, Qrels]
    """If a model judged: the judgements of each, by 'human' (if there are any) and 'model'."""

    def __init__(
        self,
        judgements: QrelsMapping | StoredJudgements,
        *,
        name: str = "qrels",
        criteria: str | None = None,
        real_grades: bool = False,
    ) -> None:
        if not isinstance(judgements, StoredJudgements):
            judgements = _stored(judgements, name, real_grades)

        self._keep(name=name, criteria=criteria, notes=tuple(judgements.notes), id_kind=judgements.id_kind)
        self._keep(shard_number=None, part_of=None, judges={})
        self._text = judgements.text
        self._raw = judgements.raw
        self._columns = judgements.columns
        self._labels: dict[str, dict[str, int]] = {}

    def with_facts(self, **facts: Unpack[QrelsFacts]) -> Qrels:
        """A copy with other facts about the judgements; readers know more than grades tell."""
        qrels = copy(self)
        qrels._keep(**facts)
        return qrels

    def shard(self, number: int, of: int) -> Qrels:
        """The judgements of one part of the queries, for evaluating parts on several machines.

        The hash of a query's id decides its part. A part may have no query, and then its scores have no query.
        `Scores.merge` joins the scores of all parts.

        Parameters
        ----------
        number : int
            Which part, counted from 1.
        of : int
            How many parts there are.

        Returns
        -------
        Qrels

        Raises
        ------
        OptionError
            If the numbers are not whole, or the part is not one of them.

        Examples
        --------
        >>> qrels = Qrels({f"q{i}": {"d": 1} for i in range(10)})
        >>> sum(len(qrels.shard(i, 2)) for i in (1, 2))
        10
        """
        whole_number(of, "of", 1)
        whole_number(number, "number", 1, of)
        raw = {query: docs for query, docs in self._raw_rows.items() if shard_of(query, of) == number}
        stored = StoredJudgements(raw=raw, notes=self.notes, id_kind=self.id_kind)
        part = Qrels(stored, name=self.name, criteria=self.criteria)
        return part.with_facts(shard_number=(number, of), part_of=self)

    def renamed(self, name: str) -> Qrels:
        """These judgements under another name."""
        return self.with_facts(name=name)

    def rolled_up(self, doc_of: DocumentOf) -> Qrels:
        """These judgements with documents instead of their parts; a document gets the highest grade of its parts.

        Parameters
        ----------
        doc_of : str, pattern, mapping, path or function
            How to find the document from the id of a part, as in `Run.rolled_up`.

        Returns
        -------
        Qrels

        Raises
        ------
        OptionError
            If `doc_of` is none of these.

        Examples
        --------
        >>> qrels = Qrels({"q1": {"a#1": 0, "a#2": 2, "b#1": 1}})
        >>> dict(qrels.rolled_up("#")["q1"])
        {'a': 2, 'b': 1}
        """
        from goldrank.data.parents import document_of, unmoved_note

        document = document_of(doc_of)
        rolled: dict[str, dict[str, Grade]] = {}
        for query, row in self._text_rows.items():
            documents = rolled.setdefault(query, {})
            for part, grade in row.items():
                name = document(part)
                documents[name] = max(grade, documents.get(name, grade))

        parts = sum(map(len, self._text_rows.values()))
        note = Note.of("rolled-up", count=parts, documents=sum(map(len, rolled.values())))
        unmoved = unmoved_note((part for row in self._text_rows.values() for part in row), document)
        notes = (*self.notes, note, *unmoved)
        stored = StoredJudgements(text=rolled, notes=notes, id_kind=self.id_kind)
        qrels = Qrels(stored, name=self.name, criteria=self.criteria)
        return qrels.with_facts(judges={who: judged.rolled_up(doc_of) for who, judged in self.judges.items()})

    def only(self, queries: Iterable[str]) -> Qrels:
        """The judgements of some queries.

        Parameters
        ----------
        queries : iterable of str
            Their ids; ids that are not judged are ignored.

        Returns
        -------
        Qrels

        Raises
        ------
        InputError
            If none of them is judged.
        """
        query_ids = set(queries)
        text = {query: docs for query, docs in self._text_rows.items() if query in query_ids}
        if not text:
            problem = f"none of these queries is judged: {ids.samples(query_ids)}"
            raise InputError(problem, where=self.name, hint=f"Judged are: {ids.samples(self)}.", code="no-queries")

        stored = StoredJudgements(text=text, notes=self.notes, id_kind=self.id_kind)
        part = Qrels(stored, name=self.name, criteria=self.criteria)
        return part.with_facts(judges={who: _some(judged, query_ids) for who, judged in self.judges.items()})

    def with_model(self, model: QrelsLike) -> Qrels:
        """These judgements of people together with a model's; `by` separates them again.

        Where both judged a document, the grade of people counts, and the model's grade is kept beside it.

        Parameters
        ----------
        model : judgements
            The judgements of the model.

        Returns
        -------
        Qrels

        Examples
        --------
        >>> both = Qrels({"q": {"a": 0}}).with_model({"q": {"a": 3, "b": 1}})
        >>> dict(both["q"]), dict(both.by("model")["q"])
        ({'a': 0, 'b': 1}, {'a': 3, 'b': 1})
        """
        from goldrank.io import read_qrels

        people = self.judges.get("human", self)
        return Qrels.joined(people, read_qrels(model, real_grades=True))

    def save(self, path: Path, *, format: str | None = None) -> None:
        """Write these judgements in the given format, or in the format of the file's ending; else as TREC text.

        Reading the file gives equal judgements. A warning says if the format cannot store who judged.

        Parameters
        ----------
        path : str or path
            The file. A name such as qrels.txt.gz makes a compressed file.
        format : {"trec", "json", "jsonl", "csv", "tsv", "parquet", "arrow"}, optional
            The format, if the ending does not name it.

        Raises
        ------
        OptionError
            If the format cannot be written, or the ending belongs to another format.
        """
        from goldrank.io.writing_files import save_qrels

        for note in save_qrels(self, path, format):
            warnings.warn(str(note), stacklevel=2)

    @classmethod
    def joined(
        cls,
        human: Qrels | Mapping[Any, Mapping[Any, Any]] | None,
        model: Qrels | Mapping[Any, Mapping[Any, Any]],
        *,
        people: int = 0,
    ) -> Qrels:
        """Join people's and a model's judgements; see `with_model`.

        `people` is the number of judgements known to be by people; a file does not say it of the others.
        """
        human_qrels = _as_qrels(human or {})
        model_qrels = _as_qrels(model)
        table: dict[str, dict[str, Grade]] = {query: dict(docs) for query, docs in human_qrels.text.items()}
        for query, docs in model_qrels.text.items():
            row = table.setdefault(query, {})
            for doc, grade in docs.items():
                row.setdefault(doc, grade)

        total = _count(table)
        judged = who_judged(people=people, models=total - _count(human_qrels.text), total=total)
        notes = _without_who_judged((*human_qrels.notes, *model_qrels.notes))
        first = model_qrels
        judges = {"model": model_qrels}
        if len(human_qrels):
            first = human_qrels
            judges = {"human": human_qrels, "model": model_qrels}

        stored = StoredJudgements(text=table, notes=dict.fromkeys([*notes, *judged]), id_kind=first.id_kind)
        return cls(stored, name=first.name, criteria=first.criteria).with_facts(judges=judges)

    def by(self, who: Literal["human", "model"]) -> Qrels:
        """The judgements by people (also those of files that do not name a judge), or those by a model.

        Parameters
        ----------
        who : {"human", "model"}
            The judge.

        Returns
        -------
        Qrels

        Raises
        ------
        InputError
            If there are none.
        """
        one_of(who, JUDGED_BY, "who")
        if not self.judges and who == "human":
            return self
        part = self.judges.get(who)
        if part is None or not len(part):
            hint = (
                "Files say it in a column `judged_by` (in TREC text in the second column); or people.with_model(model)."
            )
            raise InputError(f"no judgement is known to be by a {who}", where=self.name, hint=hint, code="no-judge")

        total = _count(part.text)
        left_out = _count(self.text) - total
        models = 0
        if who == "model":
            models = total
        notes = [
            *_without_who_judged((*self.notes, *part.notes)),
            *who_judged(people=0, models=models, total=total),
        ]
        if left_out > 0:
            notes.append(Note.of("judgements-left-out", count=left_out, by=who))
        stored = StoredJudgements(text=part._text_rows, notes=dict.fromkeys(notes), id_kind=self.id_kind)
        return Qrels(stored, name=self.name, criteria=self.criteria)

    def to_polars(self) -> polars.DataFrame:
        """A data frame of polars with the columns query, doc and grade, and judged_by where a model judged."""
        from goldrank.io.formats import columns_of

        with needed("polars"):
            import polars
        return polars.DataFrame(columns_of(self))

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame of pandas with the columns query, doc and grade, and judged_by where a model judged."""
        from goldrank.io.formats import columns_of

        with needed("pandas"):
            import pandas
        return pandas.DataFrame(columns_of(self))

    def owns(self, query: bytes) -> bool:
        """Whether a query belongs to this shard, judged or not."""
        return self.shard_number is None or shard_of(query, self.shard_number[1]) == self.shard_number[0]

    @classmethod
    def from_rows(
        cls,
        rows: JudgedRows,
        *,
        name: str,
        judgements: str = "error",
        notes: Sequence[Note] = (),
        kind: str = "text",
        by_model: np.ndarray | None = None,
    ) -> Qrels:
        """Make qrels from rows with checked grades; `by_model` says which of them a model judged."""
        one_of(judgements, ("error", "last"), "judgements")
        if by_model is not None:
            human = cls.from_rows(rows.take(~by_model), name=name, judgements=judgements, kind=kind)
            model = cls.from_rows(rows.take(by_model), name=name, judgements=judgements, kind=kind)
            joined: Qrels = cls.joined(human, model)
            return joined.with_facts(notes=(*notes, *joined.notes))

        queries, docs, grades, where = rows
        table: dict[Id, dict[Id, Grade]] = {}
        repeated = 0
        for i, (query, doc, grade) in enumerate(zip(queries, docs, grades, strict=True)):
            judged = table.get(query)
            if judged is None:
                table[query] = {doc: grade}
            elif doc not in judged:
                judged[doc] = grade
            else:
                if judged[doc] != grade and judgements == "error":
                    pairs = enumerate(zip(queries, docs, strict=True))
                    before = next(j for j, pair in pairs if pair == (query, doc))
                    raise InputError(
                        f"document {_quote(doc)} of query {_quote(query)} is judged {grade} here "
                        f"and {judged[doc]} at {where(before)}",
                        where=where(i),
                        hint="Remove one of the two lines, or let the last one count: judgements='last'.",
                        code="contradicting-judgements",
                    )
                judged[doc] = grade
                repeated += 1

        all_notes = list(notes)
        if repeated:
            all_notes.append(Note.of("repeated-judgements", count=repeated))
        all_notes += notes_on_grades(max(grades, default=0))
        if queries and isinstance(queries[0], bytes):
            raw = cast("dict[bytes, dict[bytes, Grade]]", table)
            return cls(StoredJudgements(raw=raw, notes=all_notes, id_kind=kind), name=name)
        text = cast("dict[str, dict[str, Grade]]", table)
        return cls(StoredJudgements(text=text, notes=all_notes, id_kind=kind), name=name)

    @classmethod
    def from_parts(cls, parts: Sequence[Judgements], *, name: str, judgements: str = "error") -> Qrels:
        """Make qrels from the judgements of one or more files."""
        one_of(judgements, ("error", "last"), "judgements")
        rows = Judgements.joined(parts)
        notes = list(dict.fromkeys(rows.notes))
        if rows.by_model is not None:
            by_people = rows.take(np.flatnonzero(~rows.by_model))
            by_model = rows.take(np.flatnonzero(rows.by_model))
            human = cls.from_parts([by_people], name=name, judgements=judgements)
            model = cls.from_parts([by_model], name=name, judgements=judgements)
            joined = cls.joined(human, model)
            return joined.with_facts(notes=(*notes, *joined.notes))

        converted = JudgementColumns.of(rows, judgements)
        if converted is not None:
            columns, repeated = converted
            if repeated:
                notes.append(Note.of("repeated-judgements", count=repeated))
            notes += notes_on_grades(max(as_grades(columns.grade[columns.grade > HIGH_GRADE]), default=0))
            return cls(StoredJudgements(columns=columns, notes=notes), name=name)

        grades = as_grades(grade_array(rows.grades))
        judged = JudgedRows(list(rows.row_queries()), list(rows.docs), grades, rows.where)
        return cls.from_rows(judged, name=name, judgements=judgements, notes=notes)

    @property
    def text(self) -> Mapping[str, Mapping[str, Grade]]:
        """The judgements by text ids, as a read-only mapping."""
        return ReadOnlyRows(self._text_rows)

    @property
    def raw(self) -> Mapping[bytes, Mapping[bytes, Grade]]:
        """The judgements by ids as bytes, as a read-only mapping."""
        return ReadOnlyRows(self._raw_rows)

    @property
    def _text_rows(self) -> dict[str, dict[str, Grade]]:
        """The judgements by text ids, without a read-only view; they must not be changed."""
        if self._text is not None:
            return self._text

        if self._columns is not None:
            docs = self._columns.docs.texts()
            self._text = dict(zip(self.arrays.queries, self._columns.rows(docs), strict=True))
            return self._text

        decode = ids.decode
        self._text = {}
        for query, row in self._raw_rows.items():
            self._text[decode(query)] = {decode(doc): grade for doc, grade in row.items()}
        return self._text

    @property
    def _raw_rows(self) -> dict[bytes, dict[bytes, Grade]]:
        """The judgements by ids as bytes, without a read-only view; they must not be changed."""
        if self._raw is not None:
            return self._raw

        if self._columns is not None:
            rows = self._columns.rows(self._columns.docs.to_list())
            self._raw = dict(zip(self.order, rows, strict=True))
            return self._raw

        assert self._text is not None
        encode = ids.encode
        self._raw = {}
        for query, row in self._text.items():
            self._raw[encode(query)] = {encode(doc): grade for doc, grade in row.items()}
        return self._raw

    @cached_property
    def order(self) -> list[bytes]:
        """The queries in byte order."""
        if self._columns is None:
            return sorted(self._raw_rows)
        return self._columns.queries.to_list()

    @cached_property
    def columns(self) -> JudgementColumns:
        """The judgements as columns."""
        if self._columns is not None:
            return self._columns
        arrays = self.arrays
        raw = self._raw_rows
        docs = IdColumn.of([doc for query in self.order for doc in raw[query]])
        return JudgementColumns(IdColumn.of(self.order), arrays.start, arrays.grade, docs)

    @cached_property
    def arrays(self) -> JudgementArrays:
        """Queries in byte order and grades as arrays."""
        if self._columns is not None:
            return JudgementArrays(self._columns.queries.texts(), self._columns.start, self._columns.grade)

        if self._raw is not None:
            queries = ids.decode_all(self.order)
            rows = [self._raw[query] for query in self.order]
        else:
            text = self._text_rows
            if "".join(text).isascii():
                queries = tuple(sorted(text))  # ASCII text is in the order of its bytes
            else:
                queries = tuple(sorted(text, key=ids.encode))
            rows = [text[query] for query in queries]  # type: ignore[misc]

        start = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=start[1:])
        grades = np.empty(start[-1], np.int64)
        if not core.grades(rows, grades):
            grades = grade_array([grade for row in rows for grade in row.values()])
        return JudgementArrays(queries, start, grades)

    @cached_property
    def docs(self) -> tuple[str, ...]:
        """The document of each row of `arrays`."""
        text = self._text_rows
        return tuple(doc for query in self.arrays.queries for doc in text[query])

    def labels(self, query: str) -> dict[str, int]:
        """The row of each document of a query in `arrays`; made once for each query."""
        labels = self._labels.get(query)
        if labels is None:
            first = int(self.arrays.start[self.numbers[query]])
            labels = {doc: label for label, doc in enumerate(self._text_rows[query], first)}
            self._labels[query] = labels
        return labels

    @cached_property
    def _rows(self) -> list[dict[str, Grade]]:
        """The judgements of each query of `arrays`."""
        text = self._text_rows
        return [text[query] for query in self.arrays.queries]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each query in `arrays`."""
        return {query: number for number, query in enumerate(self.arrays.queries)}

    @cached_property
    def near_forms(self) -> dict[str, dict[str, str]]:
        """For each query the other Unicode forms of its judged ids, where they differ: form -> judged id."""
        near: dict[str, dict[str, str]] = {}
        if self._columns is not None and (self._columns.docs.data < 128).all():
            return near
        if self._raw is not None and b"".join(chain.from_iterable(self._raw.values())).isascii():
            return near

        for query, docs in self._text_rows.items():
            if "".join(docs).isascii():
                continue
            for doc in docs:
                for form in ids.other_forms(doc):
                    if form not in docs:
                        near.setdefault(query, {})[form] = doc
        return near

    @cached_property
    def digest(self) -> str:
        """A hash of the judgements, independent of the file or object that they came from."""
        import hashlib

        if self.part_of is not None:
            return self.part_of.digest

        digest = hashlib.sha256()
        if self._columns is not None:
            docs, grades = self._columns.docs, self._columns.grade
            rows: Iterable[tuple[bytes, Iterable[tuple[bytes, Grade]]]] = (
                (query, zip(docs.part(low, high), as_grades(grades[low:high]), strict=True))
                for query, low, high in self._columns.bounds()
            )
        else:
            raw = self._raw_rows
            rows = ((query, raw[query].items()) for query in self.order)

        for query, row in rows:
            for doc, grade in sorted(row):
                digest.update(b"%b\x00%b\x00%r\n" % (query, doc, grade))
        return digest.hexdigest()

    def __getitem__(self, query: str) -> Mapping[str, Grade]:
        return MappingProxyType(self._text_rows[query])

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays.queries)

    def __len__(self) -> int:
        if self._columns is not None:
            return len(self._columns.queries)
        if self._text is not None:
            return len(self._text)
        return len(self._raw_rows)

    @property
    def size(self) -> int:
        """How many judgements there are."""
        if self._columns is not None:
            return len(self._columns.grade)
        return len(self.arrays.grade)

    def __repr__(self) -> str:
        return f"Qrels({self.name!r})"


def judged_rows(qrels: Qrels) -> list[dict[str, Grade]]:
    """The judgements of each query of `Qrels.arrays`, for code that neither changes nor returns them."""
    return qrels._rows


def plain_qrels(judgements: Mapping[Any, Any]) -> Qrels | None:
    """Judgements in which all ids and grades are plain; None if something needs a closer check."""
    text = core.judgements(judgements, ids.SHORT, HIGH_GRADE)
    if text is None:
        return None
    id_kind = ""
    if text:
        id_kind = "str"
    return Qrels(StoredJudgements(text=text, id_kind=id_kind))


def _stored(judgements: QrelsMapping, name: str, real_grades: bool) -> StoredJudgements:
    """Judgements that a user passed, checked and copied."""
    table = of_type(judgements, Mapping, name, "a mapping")
    if any(isinstance(docs, list | tuple | set | frozenset | np.ndarray) for docs in table.values()):
        from goldrank.io.objects.mappings import graded

        table = {query: graded(query, docs, name) for query, docs in table.items()}

    text = core.judgements(table, ids.SHORT, HIGH_GRADE)
    if text is None:
        text, kind = _checked(table, name, real_grades)
        highest = max((max(row.values()) for row in text.values() if row), default=0)
        return StoredJudgements(text=text, notes=notes_on_grades(highest), id_kind=kind)

    kind = ""
    if text:
        kind = "str"
    return StoredJudgements(text=text, id_kind=kind)


def _checked(judgements: Mapping[Any, Any], name: str, real_grades: bool) -> tuple[dict[str, dict[str, Grade]], str]:
    """The judgements by text ids, with checked grades, and the kind of the ids."""
    text: dict[str, dict[str, Grade]] = {}
    query_types: set[type] = set()
    doc_types: set[type] = set()
    # Copied first: ids and grades may run code, which must not change the mappings while they are read.
    for query, docs in dict(judgements).items():
        if not isinstance(docs, Mapping):
            raise InputError(
                f"judgements of query {query!r} are a {type(docs).__name__}, not a mapping",
                where=name,
                hint='Judgements look like {"q1": {"d1": 2, "d2": 0}}.',
                code="wrong-type",
            )

        docs = dict(docs)
        query_types.add(type(query))
        doc_types.update(map(type, docs))
        row = text.setdefault(ids.as_text(query, "query id", name), {})
        if doc_types <= {str} and set(map(type, docs.values())) <= {int} and are_usual(docs.values()):
            ids.check_keys(docs, "document id", f"{name}: query {query!r:.80}")
            row.update(docs)
            continue

        for doc, grade in docs.items():
            where = f"{name}: query {query!r:.80}, document {doc!r:.80}"
            row[ids.as_text(doc, "document id", where)] = check_grade(grade, where, real_grades)

    return text, ids.kind(query_types, doc_types, name)


def _some(qrels: Qrels, queries: set[str]) -> Qrels:
    """The judgements of some queries; the result may be empty."""
    return Qrels({query: docs for query, docs in qrels.text.items() if query in queries}, real_grades=True)


def _as_qrels(judgements: Qrels | Mapping[Any, Mapping[Any, Any]]) -> Qrels:
    if isinstance(judgements, Qrels):
        return judgements
    return Qrels(judgements, real_grades=True)


def _count(rows: Mapping[str, Mapping[str, Grade]]) -> int:
    return sum(map(len, rows.values()))


def _without_who_judged(notes: Iterable[Note]) -> list[Note]:
    return [note for note in notes if note.code != WHO_JUDGED]


def judgements_fit(count: int, where: str, beside: int = 0, each: int = JUDGEMENT) -> None:
    """Raise if `count` judgements, and `beside` further bytes, do not fit into memory."""
    fits(each * count + beside, f"holding {count:,} judgements", where)


def shard_of(query: bytes, of: int) -> int:
    """The shard, from 1 to `of`, that a query belongs to."""
    return crc32(query) % of + 1


def _quote(text: str | bytes) -> str:
    if isinstance(text, bytes):
        text = ids.decode(text)
    return f"'{ids.show(text)}'"
