"""Judgements that prefer one document to another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, as_list, of_type
from goldrank.base.escaping import shown
from goldrank.base.notes import Note
from goldrank.data.document_rows import DocumentRows, StoredRows, Where
from goldrank.data.placements import Placements


@dataclass(frozen=True)
class Opinion:
    """One judge's preferences for a query: a level for each document, and which document is preferred to which."""

    doc: np.ndarray
    """The documents, by number within their query."""
    level: np.ndarray
    """How good each is; 0 is not relevant, and otherwise only the order matters."""
    over: np.ndarray
    """A square of flags: the document of the row is preferred to the document of the column."""
    partial: bool
    """Whether it joins several lists; then documents of different levels may be not comparable."""


class Preferences(DocumentRows):
    """Preferences: for each query and judge, lists in which a higher level is preferred to a lower one.

    A judge's lists are joined: if a is preferred to b in one and b to c in another, a is preferred to c.

    >>> preferences = Preferences({"q1": {"judge": [{"a": 2, "b": 1, "c": 0}]}})
    >>> evaluate(preferences, {"q1": ["a", "c", "b"]}, "Prefs")["Prefs"]
    0.6666666666666666
    """

    table: ClassVar[str] = "preferences"

    def __init__(
        self,
        judgements: Mapping[Any, Mapping[Any, Sequence[Mapping[Any, float]]]] | StoredRows,
        *,
        name: str = "preferences",
    ) -> None:
        if isinstance(judgements, StoredRows):
            super().__init__(judgements, name=name)
            return

        rows: list[tuple[bytes, bytes, bytes, bytes, float]] = []
        doc_types: set[type] = set()
        for query, judges in of_type(judgements, Mapping, name, "a mapping").items():
            for judge, lists in of_type(judges, Mapping, f"preferences of query {query!r}", "a mapping").items():
                if isinstance(lists, Mapping):
                    raise InputError(
                        f"preferences of query {query!r}, judge {judge!r} are a mapping, not a list of mappings",
                        where=name,
                        hint='Preferences look like {"q1": {"judge": [{"d1": 2, "d2": 1}]}}.',
                        code="wrong-type",
                    )
                mappings = as_list(lists, f"preferences of query {query!r}, judge {judge!r}", Mapping, "mappings")
                for number, levels in enumerate(mappings):
                    doc_types.update(map(type, levels))
                    for doc, level in levels.items():
                        keys = (ids.encode(ids.as_text(key, "id")) for key in (query, judge, str(number), doc))
                        where = f"{name}: query {query!r:.80}, document {doc!r:.80}"
                        rows.append((*keys, _level(level, where)))  # type: ignore[arg-type]

        ids.kind(map(type, judgements), doc_types, name)
        columns = list(zip(*rows, strict=True)) or [()] * 5
        super().__init__(StoredRows(columns, lambda row: name), name=name)

    @classmethod
    def from_rows(
        cls,
        queries: Sequence[bytes],
        judges: Sequence[bytes],
        lists: Sequence[bytes],
        docs: Sequence[bytes],
        levels: Sequence[float],
        *,
        name: str,
        where: Where,
        notes: Sequence[Note] = (),
    ) -> Preferences:
        """Preferences from parallel columns; `where(i)` names row i in a message."""
        return cls(StoredRows((queries, judges, lists, docs, levels), where, notes), name=name)

    def _take(self, where: Where, *columns: Sequence[Any]) -> None:
        queries, judges, lists, docs, levels = columns
        self._number(queries, docs, [int(level > 0) for level in levels])
        self._start = self.documents.arrays.start
        number = self._label - self._start[self._query]

        groups: dict[tuple[bytes, bytes], dict[bytes, list[int]]] = {}
        for i, (query, judge, number_of_list) in enumerate(zip(queries, judges, lists, strict=True)):
            groups.setdefault((query, judge), {}).setdefault(number_of_list, []).append(i)

        self._opinions: list[list[Opinion]] = [[] for _ in self.documents]
        for (query, judge), parts in sorted(groups.items()):
            rows = [np.array(parts[key]) for key in sorted(parts)]
            who = f"query '{ids.show(ids.decode(query))}', judge '{ids.show(ids.decode(judge))}'"
            opinion = _opinion(rows, number, np.array(levels, np.float64), who, where)
            self._opinions[int(self._query[rows[0][0]])].append(opinion)

    @cached_property
    def digest(self) -> str:
        """A hash of the judgements themselves."""
        import hashlib

        documents = [(query, dict(docs)) for query, docs in self.documents.raw.items()]
        digest = hashlib.sha256(repr(documents).encode())
        for opinions in self._opinions:
            digest.update(b"query")
            for opinion in opinions:
                for column in (opinion.doc, opinion.level, opinion.over):
                    digest.update(column.tobytes())
        return digest.hexdigest()

    def table_of(self, placed: Placements) -> Preferred:
        """The preferences, and the ranks of the documents in a run."""
        return Preferred(placed.queries, placed.answered, self._opinions, self._start, placed.by_label(placed.rank))


@dataclass(frozen=True)
class Preferred:
    """The opinions of each query's judges, and the ranks of the documents in a run."""

    queries: tuple[str, ...]
    answered: np.ndarray
    opinions: Sequence[Sequence[Opinion]]
    start: np.ndarray
    rank: np.ndarray
    """The rank of each document, 0 if it was not returned; `start` says where each query's begin."""

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def condensed(self) -> Preferred:
        """Preferences are between judged documents only."""
        return self

    def cut(self, depth: int) -> Preferred:
        """As if the run had returned no more than `depth` documents a query."""
        rank = np.where(self.rank <= depth, self.rank, 0)
        return Preferred(self.queries, self.answered, self.opinions, self.start, rank)

    def order(self, query: int) -> tuple[np.ndarray, int]:
        """The position of each judged document of a query in the run's order, and how many of them were returned.

        Documents that were not returned follow in the order of their ids.
        """
        rank = self.rank[self.start[query] : self.start[query + 1]]
        position = np.empty(len(rank), np.int64)
        position[np.lexsort((rank, rank == 0))] = np.arange(len(rank))
        return position, int((rank > 0).sum())


def _opinion(rows: Sequence[np.ndarray], number: np.ndarray, level: np.ndarray, who: str, where: Where) -> Opinion:
    doc = np.unique(number[np.concatenate(rows)])
    merged = np.full(len(doc), np.nan)
    over = np.zeros((len(doc), len(doc)), bool)
    for part in rows:
        column = np.searchsorted(doc, number[part])
        if len(np.unique(column)) < len(column):
            twice = part[np.flatnonzero(np.bincount(column)[column] > 1)]
            raise InputError(
                f"{who}: a document is in one list twice, first at {where(int(twice[0]))}",
                where=where(int(twice[1])),
                hint="Remove one of the two lines.",
            )

        known = ~np.isnan(merged[column])
        clash = known & ((merged[column] == 0) != (level[part] == 0))
        if clash.any():
            raise InputError(
                f"{who}: a document has level 0 (not relevant) in one list and another level in this one",
                where=where(int(part[np.flatnonzero(clash)[0]])),
                hint="Correct one of the lists, or give them to different judges.",
            )

        merged[column] = level[part]
        over[np.ix_(column, column)] |= level[part][:, None] > level[part][None, :]

    if len(rows) > 1:
        while True:
            wider = over | (over.astype(np.float32) @ over.astype(np.float32) > 0)
            if (wider == over).all():
                break
            over = wider
        if (over & over.T).any():
            raise InputError(
                f"{who}: preferences contradict each other",
                where=where(int(rows[0][0])),
                hint="Contradicting opinions belong to different judges.",
            )

    return Opinion(doc, merged, over, len(rows) > 1)


def _level(value: Any, where: str) -> float:
    """A level of preference; an error if the value is not a number."""
    try:
        if isinstance(value, str | bytes | bool):
            number = math.nan
        else:
            number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan

    if math.isnan(number):
        hint = "Levels are numbers; a higher one is preferred to a lower one."
        raise InputError(f"the level is {shown(value)}", where=where, hint=hint)
    return number
