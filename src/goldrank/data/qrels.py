"""Who judged what: `Qrels`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar
from zlib import crc32

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, Position, of_type, one_of, whole_number
from goldrank.base.machine import fits
from goldrank.base.notes import Note
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
from goldrank.data.read_only import ReadOnlyRows

if TYPE_CHECKING:
    from goldrank.base.types import DocumentOf, Path, QrelsLike, QrelsMapping

JUDGEMENT = 320
"""Bytes that a judgement takes while qrels are made, beside those of the file: benchmarks/memory.py measures 170 to 240
from Parquet, 210 from CSV and 310 from JSON, with nine-byte ids."""
TEXT_JUDGEMENT = 150
"""The same from TREC text, which is read in pieces: 140, of which the reader has taken a third before it asks."""

Id = TypeVar("Id", str, bytes)


@dataclass(frozen=True)
class JudgementArrays:
    """Qrels made ready for engines: queries in byte order, numbered from 0, and their judgements as rows.

    Rows are ordered by query and, within a query, as the judgements were given. `Placements.label` is such a row.
    """

    queries: tuple[str, ...]
    start: np.ndarray
    """Where each query's rows begin; one more entry than queries."""
    grade: np.ndarray
    """The grade of each row."""

    @cached_property
    def descending(self) -> np.ndarray:
        """Every judged grade, descending within its query."""
        falls = self.grade[1:] <= self.grade[:-1]
        falls[self.start[1:-1][(self.start[1:-1] > 0) & (self.start[1:-1] < len(self.grade))] - 1] = True
        if falls.all():
            return self.grade
        query = np.repeat(np.arange(len(self.queries)), np.diff(self.start))
        if self.grade.dtype != np.int64:
            return self.grade[np.lexsort((-self.grade, query))]
        # Grades are below 10**8, so that a query and a grade are one number, and one sort of numbers does it.
        high, low = self.grade.max(initial=0), self.grade.min(initial=0)
        before = query * (high - low + 1) + high
        descending: np.ndarray = before - np.sort(before - self.grade)
        return descending

    @cached_property
    def ideals(self) -> Ideals:
        """What measures make of the judgements alone."""
        return Ideals(self.descending, self.start)


class Qrels(Mapping[str, Mapping[str, Grade]]):
    """Judgements: for each query the grade of each judged document.

    Grades are whole numbers; 0 is judged not relevant and a negative one means pooled but not judged.
    Gains that are not whole numbers are taken with `real_grades=True`.

    >>> qrels = Qrels({"q1": {"d1": 2, "d2": 0}})
    >>> qrels["q1"]["d1"]
    2
    """

    def __init__(
        self,
        judgements: QrelsMapping,
        *,
        name: str = "qrels",
        criteria: str | None = None,
        real_grades: bool = False,
    ) -> None:
        given = of_type(judgements, Mapping, name, "a mapping")
        if any(isinstance(docs, list | tuple | set | frozenset | np.ndarray) for docs in given.values()):
            from goldrank.io.objects.mappings import graded

            given = {query: graded(query, docs, name) for query, docs in given.items()}
        text = core.judgements(given, ids.SHORT, HIGH_GRADE)
        if text:
            kind = "str"
        else:
            kind = ""
        notes: tuple[Note, ...] = ()
        if text is None:
            text, kind = _checked(given, name, real_grades)
            notes = notes_on_grades(max((max(row.values()) for row in text.values() if row), default=0))
        self._set(name=name, text=text, notes=notes, criteria=criteria, id_kind=kind)

    def _set(
        self,
        *,
        name: str,
        text: dict[str, dict[str, Grade]] | None = None,
        raw: dict[bytes, dict[bytes, Grade]] | None = None,
        columns: JudgementColumns | None = None,
        notes: Iterable[Note] = (),
        criteria: str | None = None,
        id_kind: str,
    ) -> None:
        self.name = name
        self.criteria = criteria
        """The relevance criteria that the judges followed, in words."""
        self.notes = tuple(notes)
        """What the reader tolerated."""
        self.id_kind = id_kind
        """'int', 'str' or for example 'str/int' for ids given as Python objects, 'text' for ids from files."""
        self.shard_number: tuple[int, int] | None = None

        """Which of how many shards of the queries these are, counted from 1; None for all."""
        self.part_of: Qrels | None = None
        """What a shard was taken from, None for all. (Themselves would be a cycle, which is not freed at once.)"""
        self.judges: dict[str, Qrels] = {}
        """Where a model judged: all judgements of each, by 'human' (if there are any) and 'model'."""
        self._text = text
        self._raw = raw
        self._columns = columns
        self._labels: dict[str, dict[str, int]] = {}

    @classmethod
    def _made(cls, **fields: Any) -> Self:
        """Judgements of which all is known; `fields` are those of `_set`."""
        qrels = cls.__new__(cls)
        qrels._set(**fields)
        return qrels

    def shard(self, number: int, of: int) -> Qrels:
        """The judgements of one part of the queries, for evaluating parts on several machines.

        A query is in a part by a hash of its id alone. A part may have no query, and its scores then have
        none. `Scores.merge` puts the scores of all parts together.

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
        part = Qrels._made(name=self.name, raw=raw, notes=self.notes, criteria=self.criteria, id_kind=self.id_kind)
        part.shard_number = (number, of)
        part.part_of = self
        return part

    def renamed(self, name: str) -> Qrels:
        """These judgements under another name."""
        fields = {"text": self._text, "raw": self._raw, "columns": self._columns}
        same = Qrels._made(name=name, **fields, notes=self.notes, criteria=self.criteria, id_kind=self.id_kind)
        same.shard_number, same.part_of, same.judges = self.shard_number, self.part_of, self.judges
        return same

    def rolled_up(self, doc_of: DocumentOf) -> Qrels:
        """These judgements with documents in the place of their parts; a document has the highest grade of its parts.

        Parameters
        ----------
        doc_of : str, pattern, mapping, path or function
            How the document is told from the id of a part, as in `Run.rolled_up`.

        Returns
        -------
        Qrels

        Raises
        ------
        OptionError
            If `doc_of` says nothing of documents.

        Examples
        --------
        >>> qrels = Qrels({"q1": {"a#1": 0, "a#2": 2, "b#1": 1}})
        >>> dict(qrels.rolled_up("#")["q1"])
        {'a': 2, 'b': 1}
        """
        from goldrank.data.parents import document_of

        document = document_of(doc_of)
        rolled: dict[str, dict[str, Grade]] = {}
        for query, row in self._text_rows.items():
            documents = rolled.setdefault(query, {})
            for part, grade in row.items():
                name = document(part)
                documents[name] = max(grade, documents.get(name, grade))

        parts = sum(map(len, self._text_rows.values()))
        note = Note.of("rolled-up", count=parts, documents=sum(map(len, rolled.values())))
        notes = (*self.notes, note)
        whole = Qrels._made(name=self.name, text=rolled, notes=notes, criteria=self.criteria, id_kind=self.id_kind)
        whole.judges = {who: judged.rolled_up(doc_of) for who, judged in self.judges.items()}
        return whole

    def only(self, queries: Iterable[str]) -> Qrels:
        """The judgements of some queries.

        Parameters
        ----------
        queries : iterable of str
            Their ids; those that are not judged are passed over.

        Returns
        -------
        Qrels

        Raises
        ------
        InputError
            If none of them is judged.
        """
        wanted = set(queries)
        text = {query: docs for query, docs in self._text_rows.items() if query in wanted}
        if not text:
            what = f"none of these queries is judged: {ids.samples(wanted)}"
            raise InputError(what, where=self.name, hint=f"Judged are: {ids.samples(self)}.", code="no-queries")
        part = Qrels._made(name=self.name, text=text, notes=self.notes, criteria=self.criteria, id_kind=self.id_kind)
        part.judges = {who: _some(judged, wanted) for who, judged in self.judges.items()}
        return part

    def with_model(self, model: QrelsLike) -> Qrels:
        """These judgements of people together with a model's, which can be told apart again by `by`.

        Where both judged a document the grade of people counts, and the model's is kept beside it.

        Parameters
        ----------
        model : judgements
            What the model judged.

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

        if self.judges:
            people = self.judges.get("human", self)
        else:
            people = self
        return Qrels.joined(people, read_qrels(model, real_grades=True))

    def save(self, path: Path, *, format: str | None = None) -> None:
        """Write these judgements, in the format that goes with the file's name or is named; else as TREC text.

        What was written reads back the same. A warning says if the format cannot keep who judged.

        Parameters
        ----------
        path : str or path
            The file. A name such as qrels.txt.gz says that it is compressed.
        format : {"trec", "json", "jsonl", "csv", "tsv", "parquet", "arrow"}, optional
            The format, where the ending does not tell.

        Raises
        ------
        OptionError
            If the format cannot be written, or the ending is that of something else.
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
        """People's and a model's judgements in one; see `with_model`.

        `people` is how many are known to be theirs; the others are a file's, which does not say.
        """
        theirs, models = (
            given if isinstance(given, Qrels) else Qrels(given, real_grades=True) for given in (human or {}, model)
        )
        table: dict[str, dict[str, Grade]] = {query: dict(docs) for query, docs in theirs.text.items()}
        for query, docs in models.text.items():
            row = table.setdefault(query, {})
            for doc, grade in docs.items():
                row.setdefault(doc, grade)
        if len(theirs):
            first = theirs
        else:
            first = models
        total, own = (sum(map(len, rows.values())) for rows in (table, theirs.text))
        noticed = (note for part in (theirs, models) for note in part.notes if note.code != WHO_JUDGED)
        notes = dict.fromkeys([*noticed, *who_judged(people=people, models=total - own, total=total)])
        both = cls._made(name=first.name, text=table, notes=notes, criteria=first.criteria, id_kind=first.id_kind)
        both.judges = {**({"human": theirs} if len(theirs) else {}), "model": models}
        return both

    def by(self, who: Literal["human", "model"]) -> Qrels:
        """Those by people, with those of files that do not say, or those by a model.

        Parameters
        ----------
        who : {"human", "model"}
            Whose.

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
        total, other = (sum(map(len, qrels.text.values())) for qrels in (part, self))
        notes = tuple(note for note in (*self.notes, *part.notes) if note.code != WHO_JUDGED)
        noticed = who_judged(people=0, models=total if who == "model" else 0, total=total)
        if other > total:
            noticed.append(Note.of("judgements-left-out", count=other - total, by=who))
        notes = tuple(dict.fromkeys((*notes, *noticed)))
        return Qrels._made(
            name=self.name, text=part._text_rows, notes=notes, criteria=self.criteria, id_kind=self.id_kind
        )

    def owns(self, query: bytes) -> bool:
        """Whether a query belongs to this shard, judged or not."""
        return self.shard_number is None or shard_of(query, self.shard_number[1]) == self.shard_number[0]

    @classmethod
    def from_rows(
        cls,
        queries: Iterable[Id],
        docs: Iterable[Id],
        grades: Iterable[Grade],
        *,
        name: str,
        where: Callable[[int], Position | str],
        judgements: str = "error",
        notes: Sequence[Note] = (),
        kind: str = "text",
        by_model: np.ndarray | None = None,
    ) -> Qrels:
        """Qrels from parallel columns with checked grades; `where(i)` names row i in a message."""
        one_of(judgements, ("error", "last"), "judgements")
        queries, docs, grades = list(queries), list(docs), list(grades)
        if by_model is not None:

            def part(rows: list[int]) -> Qrels:
                columns: Any = ([column[i] for i in rows] for column in (queries, docs, grades))
                own: Callable[[int], Position | str] = lambda row: where(rows[row])  # noqa: E731
                return cls.from_rows(*columns, name=name, where=own, judgements=judgements, kind=kind)

            both: Qrels = cls.joined(*(part(np.flatnonzero(which).tolist()) for which in (~by_model, by_model)))
            both.notes = (*notes, *both.notes)
            return both
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
        noticed = list(notes)
        if repeated:
            noticed.append(Note.of("repeated-judgements", count=repeated))
        noticed += notes_on_grades(max(grades, default=0))
        if queries and isinstance(queries[0], bytes):
            ids_are = "raw"
        else:
            ids_are = "text"
        return cls._made(name=name, **{ids_are: table}, notes=noticed, id_kind=kind)

    @classmethod
    def from_parts(cls, parts: Sequence[Judgements], *, name: str, judgements: str = "error") -> Qrels:
        """Qrels from the judgements of one or more files."""
        one_of(judgements, ("error", "last"), "judgements")
        whole = Judgements.joined(parts)
        notes = list(dict.fromkeys(whole.notes))
        if whole.by_model is not None:
            by_judge = [whole.taken(np.flatnonzero(rows)) for rows in (~whole.by_model, whole.by_model)]
            both = cls.joined(*(cls.from_parts([part], name=name, judgements=judgements) for part in by_judge))
            both.notes = (*notes, *both.notes)
            return both

        converted = JudgementColumns.of(whole, judgements)
        if converted is not None:
            columns, repeated = converted
            if repeated:
                notes.append(Note.of("repeated-judgements", count=repeated))
            notes += notes_on_grades(max(as_grades(columns.grade[columns.grade > HIGH_GRADE]), default=0))
            return cls._made(name=name, columns=columns, notes=notes, id_kind="text")

        rows = whole.row_queries(), whole.docs, as_grades(grade_array(whole.grades))
        return cls.from_rows(*rows, name=name, where=whole.where, judgements=judgements, notes=notes)

    @property
    def text(self) -> Mapping[str, Mapping[str, Grade]]:
        """The judgements by text ids, which can be read and not be changed."""
        return ReadOnlyRows(self._text_rows)

    @property
    def raw(self) -> Mapping[bytes, Mapping[bytes, Grade]]:
        """The judgements by ids as bytes, which can be read and not be changed."""
        return ReadOnlyRows(self._raw_rows)

    @property
    def _text_rows(self) -> dict[str, dict[str, Grade]]:
        """The judgements by text ids themselves: nobody writes to them."""
        if self._text is None:
            if self._columns is not None:
                docs = self._columns.docs.texts()
                self._text = dict(zip(self.arrays.queries, self._columns.rows(docs), strict=True))
            else:
                decode, raw = ids.decode, self._raw_rows
                self._text = {decode(q): {decode(d): grade for d, grade in docs.items()} for q, docs in raw.items()}
        return self._text

    @property
    def _raw_rows(self) -> dict[bytes, dict[bytes, Grade]]:
        """The judgements by ids as bytes themselves."""
        if self._raw is None and self._columns is not None:
            rows = self._columns.rows(self._columns.docs.to_list())
            self._raw = dict(zip(self.order, rows, strict=True))
        if self._raw is None:
            assert self._text is not None
            encode = ids.encode
            self._raw = {encode(q): {encode(d): grade for d, grade in docs.items()} for q, docs in self._text.items()}
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
            # Letters are in the order of their bytes, except for bytes that are no text.
            text = self._text_rows
            queries = tuple(sorted(text, key=None if "".join(text).isascii() else ids.encode))
            rows = [text[query] for query in queries]  # type: ignore[misc]

        start = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=start[1:])
        whole = np.empty(start[-1], np.int64)
        if not core.grades(rows, whole):
            return JudgementArrays(queries, start, grade_array([grade for row in rows for grade in row.values()]))
        return JudgementArrays(queries, start, whole)

    @cached_property
    def docs(self) -> tuple[str, ...]:
        """The document of each row of `arrays`."""
        text = self._text_rows
        return tuple(doc for query in self.arrays.queries for doc in text[query])

    def labels(self, query: str) -> dict[str, int]:
        """The row of each document of a query in `arrays`; made once for each query that asks."""
        known = self._labels.get(query)
        if known is None:
            first = int(self.arrays.start[self.numbers[query]])
            known = self._labels[query] = {doc: label for label, doc in enumerate(self._text_rows[query], first)}
        return known

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
            for doc in () if "".join(docs).isascii() else docs:
                for form in ids.other_forms(doc):
                    if form not in docs:
                        near.setdefault(query, {})[form] = doc
        return near

    @cached_property
    def digest(self) -> str:
        """A hash of the judgements themselves, the same whatever file or object they came from."""
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
        return len(self._text if self._text is not None else self._raw_rows)

    @property
    def size(self) -> int:
        """How many judgements there are."""
        return len((self.arrays if self._columns is None else self._columns).grade)

    def __repr__(self) -> str:
        return f"Qrels({self.name!r})"


def judged_rows(qrels: Qrels) -> list[dict[str, Grade]]:
    """The judgements of each query of `Qrels.arrays`, for those who only read them and do not hand them out."""
    return qrels._rows


def plain_qrels(given: Mapping[Any, Any]) -> Qrels | None:
    """Judgements in which all ids and grades are plain; None if something must be looked at more closely."""
    text = core.judgements(given, ids.SHORT, HIGH_GRADE)
    if text is None:
        return None
    return Qrels._made(name="qrels", text=text, id_kind="str" if text else "")


def _checked(given: Mapping[Any, Any], name: str, real_grades: bool) -> tuple[dict[str, dict[str, Grade]], str]:
    """The judgements by text ids, with checked grades, and what the ids were."""
    text: dict[str, dict[str, Grade]] = {}
    query_types: set[type] = set()
    doc_types: set[type] = set()
    # Copied first: whatever code ids and grades run, nobody else has what it is run on.
    for query, docs in dict(given).items():
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
    """The judgements of some queries; perhaps of none."""
    return Qrels({query: docs for query, docs in qrels.text.items() if query in queries}, real_grades=True)


def judgements_fit(count: int, where: str, beside: int = 0, each: int = JUDGEMENT) -> None:
    """Raises if so many judgements, and some bytes beside, do not fit into memory."""
    fits(each * count + beside, f"holding {count:,} judgements", where)


def shard_of(query: bytes, of: int) -> int:
    """The shard, from 1 to `of`, that a query belongs to."""
    return crc32(query) % of + 1


def _quote(text: str | bytes) -> str:
    return f"'{ids.show(ids.decode(text) if isinstance(text, bytes) else text)}'"
