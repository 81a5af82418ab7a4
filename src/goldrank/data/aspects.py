"""Judgements by aspect: subtopics of a query, or the opinions of several judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, of_type
from goldrank.base.notes import Note
from goldrank.data.document_rows import DocumentRows, StoredRows, Where
from goldrank.data.grades import check_grade
from goldrank.data.judgement_columns import Grade, grade_array
from goldrank.data.placements import Placements
from goldrank.data.read_only import ReadOnlyRows


class AspectQrels(DocumentRows, Mapping[str, Mapping[str, Mapping[str, Grade]]]):
    """Judgements: for each query and aspect of it, the grade of each judged document.

    An aspect is a subtopic, a reference that an answer needs, or one of several judges.

    >>> qrels = AspectQrels({"q1": {"price": {"d1": 1}, "taste": {"d1": 1, "d2": 1}}})
    >>> evaluate(qrels, {"q1": ["d2", "d1"]}, "StRecall@1")["StRecall@1"]
    0.5
    """

    table: ClassVar[str] = "aspects"

    def __init__(
        self, judgements: Mapping[Any, Mapping[Any, Mapping[Any, Any]]] | StoredRows, *, name: str = "qrels"
    ) -> None:
        if isinstance(judgements, StoredRows):
            super().__init__(judgements, name=name)
            return

        rows: list[tuple[bytes, bytes, bytes, Grade]] = []
        doc_types: set[type] = set()
        for query, aspects in of_type(judgements, Mapping, name, "a mapping").items():
            for aspect, docs in _items(aspects, f"judgements of query {query!r}", name):
                for doc, grade in _items(docs, f"judgements of query {query!r}, aspect {aspect!r}", name):
                    where = f"{name}: query {query!r}, aspect {aspect!r}, document {doc!r}"
                    query_key = ids.encode(ids.as_text(query, "query id", where))
                    aspect_key = ids.encode(ids.as_text(aspect, "aspect", where))
                    doc_key = ids.encode(ids.as_text(doc, "document id", where))
                    rows.append((query_key, aspect_key, doc_key, check_grade(grade, where)))
                    doc_types.add(type(doc))

        ids.kind(map(type, judgements), doc_types, name)
        columns = list(zip(*rows, strict=True)) or [()] * 4
        super().__init__(StoredRows(columns, lambda row: name), name=name)

    @classmethod
    def from_rows(
        cls,
        queries: Sequence[bytes],
        aspects: Sequence[bytes],
        docs: Sequence[bytes],
        grades: Sequence[Grade],
        *,
        name: str,
        where: Where,
        notes: Sequence[Note] = (),
    ) -> AspectQrels:
        """Judgements from parallel columns with checked grades; `where(i)` names row i in a message."""
        seen: dict[tuple[bytes, bytes, bytes], int] = {}
        for i, key in enumerate(zip(queries, aspects, docs, strict=True)):
            before = seen.setdefault(key, i)
            if before != i:
                query, aspect, doc = (ids.show(ids.decode(text)) for text in key)
                raise InputError(
                    f"document '{doc}' of query '{query}', aspect '{aspect}' is judged here and at {where(before)}",
                    where=where(i),
                    hint="Remove one of the two lines.",
                )

        return cls(StoredRows((queries, aspects, docs, grades), where, notes), name=name)

    def _take(self, where: Where, *columns: Sequence[Any]) -> None:
        queries, aspects, docs, grades = columns
        self._number(queries, docs, grades)

        pairs = sorted(set(zip(queries, aspects, strict=True)))
        code = {pair: i for i, pair in enumerate(pairs)}
        query_code: dict[bytes, int] = {}
        for query, _ in pairs:
            query_code.setdefault(query, len(query_code))
        self._aspects = tuple(ids.decode(aspect) for _, aspect in pairs)
        self._owner = np.array([query_code[query] for query, _ in pairs], np.int64)

        aspect = np.array([code[pair] for pair in zip(queries, aspects, strict=True)], np.int64)
        grade = grade_array(grades)
        order = np.lexsort((-grade, aspect))
        self._aspect, self._doc, self._grade = aspect[order], self._label[order], grade[order]

    @property
    def has_several(self) -> bool:
        """Whether a query has more than one aspect."""
        return len(self._owner) > len(set(self._owner.tolist()))

    @cached_property
    def digest(self) -> str:
        """A hash of the judgements themselves."""
        import hashlib

        documents = [(query, dict(docs)) for query, docs in self.documents.raw.items()]
        digest = hashlib.sha256(repr((documents, self._aspects)).encode())
        for column in (self._owner, self._aspect, self._doc, self._grade):
            digest.update(column.tobytes())
        return digest.hexdigest()

    def table_of(self, placed: Placements) -> Aspects:
        """The placements of each aspect."""
        rank = placed.by_label(placed.rank)[self._doc]
        rows = np.flatnonzero(rank)
        rows = rows[np.lexsort((rank[rows], self._aspect[rows]))]
        parts = Placements(
            queries=self._aspects,
            retrieved=placed.retrieved[self._owner],
            answered=placed.answered[self._owner],
            judged_start=np.searchsorted(self._aspect, np.arange(len(self._aspects) + 1)),
            judged=self._grade,
            query=self._aspect[rows],
            rank=rank[rows],
            grade=self._grade[rows],
            tie_first=placed.by_label(placed.tie_first)[self._doc[rows]],
            tie_last=placed.by_label(placed.tie_last)[self._doc[rows]],
        )

        return Aspects(placed.queries, placed.retrieved, placed.answered, self._owner, parts, self._doc)

    @cached_property
    def _text(self) -> dict[str, dict[str, dict[str, Grade]]]:
        docs = [doc for query in self.documents for doc in self.documents[query]]
        table: dict[str, dict[str, dict[str, Grade]]] = {query: {} for query in self.documents}
        names = list(table)
        for aspect, doc, grade in zip(self._aspect.tolist(), self._doc.tolist(), self._grade.tolist(), strict=True):
            table[names[self._owner[aspect]]].setdefault(self._aspects[aspect], {})[docs[doc]] = grade
        return table

    def __getitem__(self, query: str) -> Mapping[str, Mapping[str, Grade]]:
        return ReadOnlyRows(self._text[query])

    def __iter__(self) -> Iterator[str]:
        return iter(self.documents)


@dataclass(frozen=True)
class Aspects:
    """Placements of each aspect, and the query of each aspect."""

    queries: tuple[str, ...]
    retrieved: np.ndarray
    answered: np.ndarray
    owner: np.ndarray
    """The query of each aspect, ascending."""
    parts: Placements
    """One ranking per aspect: `parts.query` numbers aspects."""
    judged_doc: np.ndarray
    """The document of each entry of `parts.judged`; equal numbers in different aspects mean one document."""

    def __len__(self) -> int:
        return len(self.queries)

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Per query, the sum of one value per aspect."""
        return np.bincount(self.owner, weights=values, minlength=len(self))

    def count(self, which: np.ndarray) -> np.ndarray:
        """Per query, how many aspects are marked."""
        return np.bincount(self.owner[which], minlength=len(self))

    def relevant(self, rel: float) -> np.ndarray:
        """Per query, how many aspects have a relevant document."""
        return self.count(self.parts.relevant(rel) > 0)

    def cut(self, depth: int) -> Aspects:
        """As if the run had returned no more than `depth` documents a query."""
        return replace(self, parts=self.parts.cut(depth), retrieved=np.minimum(self.retrieved, depth))

    @cached_property
    def condensed(self) -> Aspects:
        """Each aspect as if the run had returned only documents judged for it."""
        return replace(self, parts=self.parts.condensed)


def _items(value: Any, label: str, name: str) -> Any:
    if not isinstance(value, Mapping):
        raise InputError(
            f"{label} are a {type(value).__name__}, not a mapping",
            where=name,
            hint='Judgements by aspect look like {"q1": {"aspect": {"d1": 1}}}.',
            code="wrong-type",
        )
    return value.items()
