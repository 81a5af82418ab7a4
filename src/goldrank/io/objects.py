"""Runs and qrels from Python objects: dicts of dicts, dicts of ranked lists, lists of tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from goldrank import ids
from goldrank.data.blocks import Block, BlockSource, Rows
from goldrank.data.id_column import IdColumn
from goldrank.data.qrels import Qrels, check_grade
from goldrank.data.run import Rankings, Run, check_score, notes_on_ids, with_text_ids
from goldrank.errors import InputError
from goldrank.io import aliases
from goldrank.notes import from_counts

RowName = Callable[[int], str]

SHORT = ids.MAX_ID_BYTES // 4
"""Characters that are surely not too long for an id."""


def run_from_mapping(given: Mapping[Any, Any], name: str, duplicates: str = "error") -> Run:
    """A run from {query: {doc: score}}, {query: [doc, ...]} or {query: [(doc, score), ...]}."""
    if not given:
        raise InputError("the run is empty", where=name, hint="Did the system return anything?")
    if all(isinstance(row, Mapping) for row in given.values()):
        texts, kind = with_text_ids(given, name)
        return Run(Rankings(texts), name=name, id_kind=kind, notes=notes_on_ids(kind))
    rows = (row for query, docs in given.items() for row in _rows_of(query, docs, name))
    return run_from_rows(rows, name, duplicates, queries=tuple(given))


def _rows_of(query: Any, docs: Any, name: str) -> Iterator[tuple[Any, Any, Any]]:
    if isinstance(docs, Mapping):
        yield from ((query, doc, score) for doc, score in docs.items())
        return
    try:
        listed = iter(docs) if not isinstance(docs, str | bytes) else None
    except TypeError:
        listed = None
    if listed is None:
        hint = 'Results are {"d1": 0.9, "d2": 0.4} or a ranked list ["d1", "d2"].'
        raise InputError(f"results of query {query!r:.80} are a {type(docs).__name__}", where=name, hint=hint)
    refuse_unordered(docs, f"{name}: query {query!r:.80}")
    for rank, item in enumerate(listed, 1):
        if isinstance(item, tuple | list):
            if len(item) != 2:
                what = f"result {rank} of query {query!r:.80} is {item!r:.80}, not (doc, score)"
                raise InputError(what, where=name)
            yield query, item[0], item[1]
        else:
            yield query, item, -float(rank)


def refuse_unordered(given: Any, where: str) -> None:
    """Raises for a ranking that has no order of its own: the same set would give another result the next time."""
    if ids.has_no_order(given):
        hint = "Give a list, best first, or a dict from documents to scores."
        raise InputError(f"is a {type(given).__name__}, which has no order", where=where, hint=hint, code="no-order")


def run_from_rows(
    rows: Iterable[Any], name: str, duplicates: str = "error", queries: Sequence[Any] = (), where: RowName | None = None
) -> Run:
    """A run from (query, doc, score) tuples, or named tuples with those fields under any of their names.

    `queries` are there even if no row is about them; `where` names a row in messages.
    """
    refuse_unordered(rows, name)
    results: dict[str, dict[str, float]] = {ids.as_text(query, "query id", name): {} for query in queries}
    query_types: set[type] = set(map(type, queries))
    doc_types: set[type] = set()
    kept: list[tuple[str, str, float]] = []
    repeated = 0
    row_name = where or (lambda number: f"{name}: row {number + 1}")

    def place(number: int) -> str:
        query, doc, _ = kept[number]
        return f"{row_name(number)}, query '{ids.show(query)}', document '{ids.show(doc)}'"

    for number, (query, doc, score) in enumerate(_columns(rows, ("query", "doc", "score"), name)):
        query_types.add(type(query))
        doc_types.add(type(doc))
        if type(query) is not str or type(doc) is not str or not query or not doc or len(query) + len(doc) > SHORT:
            place_of_id = row_name(number)
            query, doc = ids.as_text(query, "query id", place_of_id), ids.as_text(doc, "document id", place_of_id)
        q, d = query, doc
        kept.append((q, d, score))
        if type(score) is not float or score != score:
            score = check_score(score, place(number))
            kept[number] = (q, d, score)
        row = results.setdefault(q, {})
        if d in row:
            repeated += 1
            if duplicates == "error":
                before = next(i for i, other in enumerate(kept) if other[:2] == (q, d))
                what = f"this document is in the ranking twice, first at {row_name(before)}"
                hint = "Remove one of the two, or choose: duplicates='first', 'last', 'count' or 'places'."
                raise InputError(what, where=place(number), hint=hint)
            if duplicates == "first":
                continue
            del row[d]
        row[d] = score
    if not results:
        raise InputError("the run is empty", where=name, hint="Did the system return anything?")
    kind = ids.kind(query_types, doc_types, name)
    notes = notes_on_ids(kind)
    if repeated and duplicates in ("count", "places"):
        return Run(RowsInMemory(kept, name), name=name, id_kind=kind, notes=notes)
    notes += from_counts({"repeated-documents": repeated})
    return Run(Rankings(results), name=name, id_kind=kind, notes=notes)


def joined_run(runs: Sequence[Run], places: Sequence[str], name: str, duplicates: str) -> Run:
    """One run from several that are held in memory, such as JSON files."""
    rows = (row for run in runs for query, docs in run.items() for row in _rows_of(query, docs, name))
    ends = np.cumsum([sum(map(len, run.values())) for run in runs])

    def where(row: int) -> str:
        return places[int(np.searchsorted(ends, row, "right"))]

    joined = run_from_rows(rows, name, duplicates, [query for run in runs for query in run], where)
    joined.id_kind = "text"
    joined.notes = (*dict.fromkeys(note for run in runs for note in run.notes), *joined.notes)
    return joined


class RowsInMemory(BlockSource):
    """Rows in memory in which a document may come twice."""

    def __init__(self, rows: Sequence[tuple[str, str, float]], name: str) -> None:
        self.name = name
        self._rows = rows

    def pieces(self, share: float = 1.0) -> Iterator[Callable[[], Block]]:
        yield self._block

    def memory(self, threads: int, share: float) -> int:
        return 0

    def keys(self, docs: IdColumn) -> np.ndarray:
        return docs.hashes()

    def digest(self) -> str:
        import hashlib

        return hashlib.sha256(repr(self._rows).encode("utf-8", "surrogateescape")).hexdigest()

    def _block(self) -> Block:
        queries = [ids.encode(query) for query, _, _ in self._rows]
        docs = IdColumn.of(ids.encode(doc) for _, doc, _ in self._rows)
        begin = [i for i in range(len(queries)) if i == 0 or queries[i] != queries[i - 1]]
        score = np.array([score for _, _, score in self._rows], np.float64)
        key = self.keys(docs)

        def columns(lines: np.ndarray) -> dict[str, Any]:
            texts, place = lambda some: docs.take(lines[some]), lambda i: f"{self.name}: row {lines[i] + 1}"
            return {"score": score[lines], "key": key[lines], "docs": texts, "place": place}

        return Block(
            **columns(np.arange(len(docs))),
            queries=IdColumn.of(queries[i] for i in begin),
            start=np.array([*begin, len(docs)], np.int64),
            keep=lambda lines: Rows(**columns(lines)),
        )


def checked(run: Run) -> Run:
    """The same run with every score checked and a float."""
    results = {
        query: {
            doc: check_score(score, f"{run.name}: query '{ids.show(query)}', document '{ids.show(doc)}'")
            for doc, score in run[query].items()
        }
        for query in run
    }
    return Run(Rankings(results), name=run.name, id_kind=run.id_kind)


def qrels_from_mapping(given: Mapping[Any, Any], name: str, real_grades: bool = False) -> Qrels:
    """Qrels from {query: {doc: grade}}, or {query: [doc, ...]} where every document listed is relevant."""
    table = {query: _graded(query, docs, name) for query, docs in given.items()}
    return Qrels(table, name=name, real_grades=real_grades)


def _graded(query: Any, docs: Any, name: str) -> Any:
    if isinstance(docs, Mapping | str | bytes) or not isinstance(docs, Iterable):
        return docs  # for Qrels to take or refuse
    try:
        return dict.fromkeys(docs, 1)
    except TypeError:
        hint = 'Judgements look like {"q1": {"d1": 2, "d2": 0}}, or {"q1": ["d1"]} if all listed are relevant.'
        raise InputError(f"the documents of query {query!r} are not ids", where=name, hint=hint) from None


def qrels_from_rows(
    rows: Iterable[Any], name: str, judgements: str = "error", real_grades: bool = False, where: RowName | None = None
) -> Qrels:
    """Qrels from (query, doc, grade) tuples, or named tuples with those fields under any of their names."""
    place = where or (lambda number: f"{name}: row {number + 1}")
    if judgements == "last":
        refuse_unordered(rows, name)
    columns: tuple[list[str], list[str], list[Any]] = ([], [], [])
    query_types: set[type] = set()
    doc_types: set[type] = set()
    for number, (query, doc, grade) in enumerate(_columns(rows, ("query", "doc", "grade"), name)):
        query_types.add(type(query))
        doc_types.add(type(doc))
        columns[0].append(ids.as_text(query, "query id", place(number)))
        columns[1].append(ids.as_text(doc, "document id", place(number)))
        columns[2].append(check_grade(grade, place(number), real_grades))
    kind = ids.kind(query_types, doc_types, name)
    return Qrels.from_rows(*columns, name=name, where=place, judgements=judgements, kind=kind)


def _columns(rows: Iterable[Any], wanted: tuple[str, str, str], name: str) -> Iterator[tuple[Any, Any, Any]]:
    """Three values of each row: by field name for named tuples, objects with fields and dicts, else the first three."""
    fields: dict[str, str] | None = None
    for number, row in enumerate(rows, 1):
        if number == 1:
            declared = getattr(row, "_fields", None) or (list(row) if isinstance(row, Mapping) else None)
            fields = aliases.find_all(declared, wanted, name) if declared else None
        try:
            if isinstance(row, Mapping) and fields:
                yield row[fields[wanted[0]]], row[fields[wanted[1]]], row[fields[wanted[2]]]
            elif fields:
                yield tuple(getattr(row, fields[word]) for word in wanted)
            elif isinstance(row, str | bytes | Mapping) or ids.has_no_order(row):
                raise TypeError
            else:
                query, doc, value, *_ = row
                yield query, doc, value
        except (KeyError, AttributeError, TypeError, ValueError):
            hint = f"Each row has {', '.join(wanted)}."
            raise InputError(f"row {number} is {row!r:.80}, not ({', '.join(wanted)})", where=name, hint=hint) from None
