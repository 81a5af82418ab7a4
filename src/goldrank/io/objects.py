"""Runs and qrels from Python objects: dicts of dicts, dicts of ranked lists, lists of tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from goldrank.data import ids
from goldrank.data.blocks import Block, Rows
from goldrank.data.qrels import Qrels, check_grade, id_kind
from goldrank.data.run import Run
from goldrank.errors import InputError
from goldrank.io import names


def run_from_mapping(given: Mapping[Any, Any], name: str, duplicates: str = "error") -> Run:
    """A run from {query: {doc: score}}, {query: [doc, ...]} or {query: [(doc, score), ...]}."""
    if not given:
        raise InputError("the run is empty", where=name, hint="Did the system return anything?")
    kinds: set[type] = set()
    plain = True
    for query, row in given.items():
        kinds.add(type(query))
        if isinstance(row, Mapping):
            # A mixture of types within one ranking is found by its first and last document.
            kinds.update(type(doc) for doc in (*islice(row, 1), *islice(_reversed(row), 1)))
        else:
            plain = False
    if plain:
        kind = id_kind(kinds)
        if kinds <= {str}:
            return Run(given, name=name, id_kind=kind)
        text = ids.as_text
        cast = {text(q, "query id"): {text(d, "document id"): s for d, s in row.items()} for q, row in given.items()}
        return Run(
            cast, name=name, id_kind=kind, notes=("ids were integers and are compared as text",) * (kind == "int")
        )
    rows = [row for query, docs in given.items() for row in _rows_of(query, docs, name)]
    known = dict.fromkeys(given)
    return run_from_rows(rows, name, duplicates, queries=known)


def _reversed(row: Mapping[Any, Any]) -> Iterator[Any]:
    return reversed(row) if isinstance(row, dict) else iter(row)


def _rows_of(query: Any, docs: Any, name: str) -> Iterator[tuple[Any, Any, Any]]:
    if isinstance(docs, Mapping):
        yield from ((query, doc, score) for doc, score in docs.items())
        return
    if isinstance(docs, str | bytes) or not isinstance(docs, Iterable):
        raise InputError(
            f"results of query {query!r} are a {type(docs).__name__}",
            where=name,
            hint='Results are {"d1": 0.9, "d2": 0.4} or a ranked list ["d1", "d2"].',
        )
    for rank, item in enumerate(docs, 1):
        if isinstance(item, tuple | list):
            if len(item) != 2:
                raise InputError(f"result {rank} of query {query!r} is {item!r}, not (doc, score)", where=name)
            yield query, item[0], item[1]
        else:
            yield query, item, -float(rank)


def run_from_rows(
    rows: Iterable[Any], name: str, duplicates: str = "error", queries: Mapping[Any, Any] | None = None
) -> Run:
    """A run from (query, doc, score) tuples, or named tuples with those fields under any of their names."""
    results: dict[str, dict[str, float]] = {ids.as_text(q, "query id"): {} for q in queries or ()}
    kinds: set[type] = {type(q) for q in queries or ()}
    kept: list[tuple[str, str, float]] = []
    dropped = 0
    twice = False
    for number, (query, doc, score) in enumerate(_columns(rows, ("query", "doc", "score"), name), 1):
        kinds.update((type(query), type(doc)))
        q, d = ids.as_text(query, "query id"), ids.as_text(doc, "document id")
        where = f"{name}: row {number}, query '{ids.show(q)}', document '{ids.show(d)}'"
        value = _score(score, where)
        row = results.setdefault(q, {})
        kept.append((q, d, value))
        if d in row:
            twice = True
            if duplicates == "error":
                raise InputError(
                    "this document is in the ranking twice",
                    where=where,
                    hint="Remove one of the two, or choose: duplicates='first', 'last' or 'count'.",
                )
            dropped += 1
            if duplicates == "first":
                continue
            del row[d]
        row[d] = value
    if not results:
        raise InputError("the run is empty", where=name, hint="Did the system return anything?")
    kind = id_kind(kinds)
    notes: tuple[str, ...] = ("ids were integers and are compared as text",) if kind == "int" else ()
    if twice and duplicates == "count":
        return Run(blocks=Listed(kept, name), name=name, id_kind=kind, notes=notes)
    if dropped:
        notes += (f"{dropped:,} repeated documents were dropped",)
    return Run(results, name=name, id_kind=kind, notes=notes)


class Listed:
    """Rows in memory in which a document may come twice (a `BlockSource`)."""

    def __init__(self, rows: Sequence[tuple[str, str, float]], name: str) -> None:
        self.name = name
        self._rows = rows

    def pieces(self) -> Iterator[Callable[[], Block]]:
        yield self._block

    def keys(self, docs: Sequence[bytes]) -> np.ndarray:
        return np.fromiter(map(hash, docs), np.int64, len(docs)).view(np.uint64)

    def digest(self) -> str | None:
        return None

    def _block(self) -> Block:
        queries = [ids.encode(q) for q, _, _ in self._rows]
        docs = [ids.encode(d) for _, d, _ in self._rows]
        begin = [i for i in range(len(queries)) if i == 0 or queries[i] != queries[i - 1]]
        columns = {
            "score": np.array([s for _, _, s in self._rows], np.float64),
            "key": self.keys(docs),
        }

        def rows(lines: np.ndarray) -> Rows:
            return Rows(
                columns["score"][lines],
                columns["key"][lines],
                lambda some: [docs[lines[i]] for i in some],
                lambda line: f"{self.name}: row {lines[line] + 1}",
            )

        everything = rows(np.arange(len(docs)))
        return Block(
            everything.score,
            everything.key,
            everything.docs,
            everything.place,
            [queries[i] for i in begin],
            np.array([*begin, len(docs)], np.int64),
            rows,
        )


def qrels_from_mapping(given: Mapping[Any, Any], name: str) -> Qrels:
    """Qrels from {query: {doc: grade}}, or {query: [doc, ...]} where every document listed is relevant."""
    listed = {
        query: docs if isinstance(docs, Mapping) or not _is_listing(docs) else dict.fromkeys(docs, 1)
        for query, docs in given.items()
    }
    return Qrels(listed, name=name)


def qrels_from_rows(rows: Iterable[Any], name: str, judgements: str = "error") -> Qrels:
    """Qrels from (query, doc, grade) tuples, or named tuples with those fields under any of their names."""
    columns: tuple[list[str], list[str], list[Any]] = ([], [], [])
    kinds: set[type] = set()
    for number, (query, doc, grade) in enumerate(_columns(rows, ("query", "doc", "grade"), name), 1):
        kinds.update((type(query), type(doc)))
        columns[0].append(ids.as_text(query, "query id"))
        columns[1].append(ids.as_text(doc, "document id"))
        columns[2].append(check_grade(grade, f"{name}: row {number}"))
    return Qrels.from_rows(
        *columns, name=name, where=lambda i: f"{name}: row {i + 1}", judgements=judgements, kind=id_kind(kinds)
    )


def _is_listing(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _columns(rows: Iterable[Any], wanted: tuple[str, str, str], name: str) -> Iterator[tuple[Any, Any, Any]]:
    """Three values of each row: by field name for named tuples, objects with fields and dicts, else the first three."""
    fields: dict[str, str] | None = None
    first = True
    for number, row in enumerate(rows, 1):
        if first:
            first = False
            declared = getattr(row, "_fields", None) or (list(row) if isinstance(row, Mapping) else None)
            fields = names.find_all(declared, wanted, name) if declared else None
        try:
            if isinstance(row, Mapping) and fields:
                yield row[fields[wanted[0]]], row[fields[wanted[1]]], row[fields[wanted[2]]]
            elif fields:
                yield tuple(getattr(row, fields[word]) for word in wanted)
            else:
                query, doc, value, *_ = row
                yield query, doc, value
        except (KeyError, AttributeError, TypeError, ValueError):
            raise InputError(
                f"row {number} is {row!r:.80}, not ({', '.join(wanted)})",
                where=name,
                hint=f"Each row has {', '.join(wanted)}.",
            ) from None


def _score(score: Any, where: str) -> float:
    if isinstance(score, str | bytes) or score is None:
        raise InputError(f"score {score!r} is of type {type(score).__name__}", where=where, hint="Scores are numbers.")
    try:
        value = float(score)
    except (TypeError, ValueError):
        raise InputError(f"score {score!r} is not a number", where=where, hint="Scores are numbers.") from None
    if value != value:
        raise InputError(
            "score is NaN", where=where, hint="A document that was not scored has no place in a ranking: leave it out."
        )
    return value
