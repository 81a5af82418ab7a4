"""Runs and qrels from Python objects: dicts of dicts, dicts of ranked lists, lists of tuples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.base.notes import Note, from_counts
from goldrank.data.blocks import Block, BlockSource, Rows
from goldrank.data.grades import MAX_GRADE, check_grade
from goldrank.data.id_column import IdColumn
from goldrank.data.judgement_columns import models_rows
from goldrank.data.qrels import JudgedRows, Qrels
from goldrank.data.run import Alternatives, Rankings, Run, check_score, notes_on_ids, plain_copy, rankings_of
from goldrank.io import aliases
from goldrank.io.columns import SAMPLED_ROWS, Columns
from goldrank.io.engines import result_objects
from goldrank.io.formats import Reading
from goldrank.io.objects.field_values import as_mapping
from goldrank.io.objects.id_lists import IdLists

RowName = Callable[[int], str]


def run_from_mapping(results: Mapping[Any, Any], name: str) -> Run:
    """A run from {query: {doc: score}}, {query: [doc, ...]} or {query: [(doc, score), ...]}."""
    if not results:
        raise InputError("the run is empty", where=name, hint="Did the system return anything?", code="empty-input")

    plain = plain_copy(results, name)
    if plain is not None:
        return Run(plain, name=name).with_facts(id_kind="str")

    by_query: dict[Any, Any] = {}
    for query, docs in results.items():
        if not _is_scored(docs):
            docs = result_objects.ranked(docs, f"{name}: query {query!r:.80}")
        by_query[query] = docs
    if all(isinstance(row, Mapping) for row in by_query.values()):
        rankings, kind = rankings_of(by_query, name)
        return Run(rankings, name=name).with_facts(id_kind=kind, notes=notes_on_ids(kind))

    rows = (row for query, docs in by_query.items() for row in _rows_of(query, docs, name))
    run = run_from_rows(rows, name, queries=tuple(by_query))
    has_scores = any(isinstance(docs, Mapping) or _has_scored_pairs(docs) for docs in by_query.values())
    return run.with_facts(has_scores=has_scores, notes=(*run.notes, *_ascending(by_query)))


def _is_scored(docs: Any) -> bool:
    """Whether results are documents with scores; results of clients have values that are not numbers."""
    return type(docs) is dict and set(map(type, docs.values())) <= {float, int}


def _has_scored_pairs(docs: Any) -> bool:
    """Whether results are a list of documents with scores."""
    return isinstance(docs, list | tuple) and any(isinstance(item, list | tuple) for item in docs[:1])


def _ascending(results: Mapping[Any, Any]) -> tuple[Note, ...]:
    """A warning if the numbers of every longer list of (document, number) ascend, as distances do."""
    lists = [docs for docs in results.values() if _is_list_of_pairs(docs) and len(docs) > 2]
    for docs in lists:
        if not all(number < following for (_, number), (_, following) in pairwise(docs)):
            return ()
    if not lists:
        return ()
    return (Note.of("ascending-scores", count=len(lists)),)


def _is_list_of_pairs(docs: Any) -> bool:
    return isinstance(docs, list | tuple) and all(map(_is_pair, docs))


def _rows_of(query: Any, docs: Any, name: str) -> Iterator[tuple[Any, Any, Any]]:
    if isinstance(docs, Mapping):
        yield from ((query, doc, score) for doc, score in docs.items())
        return

    refuse_unordered(docs, f"{name}: query {query!r:.80}")
    for rank, item in enumerate(_iterator(docs, query, name), 1):
        if not isinstance(item, tuple | list):
            yield query, item, -float(rank)
            continue
        if len(item) != 2:
            raise InputError(f"result {rank} of query {query!r:.80} is {item!r:.80}, not (doc, score)", where=name)
        yield query, item[0], item[1]


def _iterator(docs: Any, query: Any, name: str) -> Iterator[Any]:
    """The results of a query, which must be iterable."""
    try:
        if isinstance(docs, str | bytes):
            raise TypeError
        return iter(docs)
    except TypeError:
        hint = 'Results are {"d1": 0.9, "d2": 0.4} or a ranked list ["d1", "d2"].'
        problem = f"results of query {query!r:.80} are a {type(docs).__name__}"
        raise InputError(problem, where=name, hint=hint) from None


def refuse_unordered(rows: Any, where: str) -> None:
    """Raise if a ranking has no order: a set may have another order the next time."""
    if ids.has_no_order(rows):
        hint = "Give a list, best first, or a dict from documents to scores."
        raise InputError(f"is a {type(rows).__name__}, which has no order", where=where, hint=hint, code="no-order")


def run_from_rows(
    rows: Iterable[Any],
    name: str,
    queries: Sequence[Any] = (),
    where: RowName | None = None,
    columns: Columns | None = None,
) -> Run:
    """A run from (query, doc, score) tuples, or from rows with these fields under any of their names.

    Rows are named tuples, dicts or objects with fields. The run also has the `queries` that no row is about; `where`
    names a row in messages.
    """
    refuse_unordered(rows, name)
    columns = columns or Columns()
    beginning, rows = _first(rows)
    first = next(iter(beginning), None)
    fields = _fields(first)
    if fields is None:
        return _run(_triples(rows, ("query", "doc", "score"), name), name, queries, where)

    lists = IdLists("run", columns)
    if lists.is_record(as_mapping(first, name)):
        return run_of_lists(lists, rows, name, where)

    order_role = columns.ordered_by(fields, name)
    choice = columns.find_all(fields, ("query", "doc", order_role), "run", name)
    if choice.is_open and not isinstance(rows, Sequence):
        rows = list(rows)

    def read_from(by_role: Mapping[str, str]) -> Run:
        chosen = {**choice.columns, **by_role}
        lines = _named(rows, [chosen["query"], chosen["doc"], chosen[order_role]], name)
        if order_role != "score":
            lines = ((query, doc, -check_score(number, name)) for query, doc, number in lines)
        run = _run(lines, name, queries, where)
        return run.with_facts(has_scores=order_role == "score", notes=(*run.notes, *choice.notes()))

    run = read_from({})
    if choice.is_open:
        return run.with_facts(alternatives=Alternatives(choice.candidates, read_from, partial(matches, rows)))
    return run


def run_of_lists(lists: IdLists, rows: Iterable[Any], name: str, where: RowName | None) -> Run:
    """A run from records with the retrieved ids."""
    entries, queries = lists.read(rows, where or partial(_entry_name, name))
    lines = [(entry.query, entry.doc, entry.score) for entry in entries]
    run = _run(lines, name, queries, lambda number: entries[number].where)
    return run.with_facts(has_scores=lists.has_scores, notes=(*run.notes, *from_counts(lists.counts)))


def matches(rows: Iterable[Any], names: Sequence[str], chosen: Mapping[str, str], judged: Qrels) -> list[int]:
    """The number of judged ids in each of some fields of rows (`data.run.Alternatives`)."""
    counts = [0] * len(names)
    for row in rows:
        known: Any = judged
        if chosen:
            known = judged.get(_text(_field(row, chosen["query"])), ())
        for i, name in enumerate(names):
            counts[i] += _text(_field(row, name)) in known
    return counts


def _field(row: Any, name: str) -> Any:
    if isinstance(row, Mapping):
        return row.get(name)
    return getattr(row, name, None)


def _text(value: Any) -> str:
    """An id as text; '', which is never judged, for a value that is not an id."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    return ""


def _run(rows: Iterable[tuple[Any, Any, Any]], name: str, queries: Sequence[Any], where: RowName | None) -> Run:
    """A run from rows of query, document and score. It keeps every row, also those that repeat a document."""
    results: dict[str, dict[str, float]] = {ids.as_text(query, "query id", name): {} for query in queries}
    query_types: set[type] = set(map(type, queries))
    doc_types: set[type] = set()
    triples: list[tuple[str, str, float]] = []
    is_repeated = False
    row_name = where or partial(_row_name, name)

    for number, (query, doc, score) in enumerate(rows):
        query_types.add(type(query))
        doc_types.add(type(doc))
        if not (ids.is_plain(query) and ids.is_plain(doc)):
            query, doc = _id_texts(query, doc, row_name, number)
        if type(score) is not float or math.isnan(score):
            position = f"{row_name(number)}, query '{ids.show(query)}', document '{ids.show(doc)}'"
            score = check_score(score, position)

        triples.append((query, doc, score))
        row = results.setdefault(query, {})
        is_repeated = is_repeated or doc in row
        row[doc] = score

    if not results:
        raise InputError("the run is empty", where=name, hint="Did the system return anything?", code="empty-input")

    kind = ids.kind(query_types, doc_types, name)
    notes = notes_on_ids(kind)
    if is_repeated:
        # As in files, the convention of an evaluation decides what happens to a repeated document.
        empty = [query for query, row in results.items() if not row]
        return Run(RowsInMemory(triples, empty, name, row_name), name=name).with_facts(id_kind=kind, notes=notes)
    return Run(Rankings(results), name=name).with_facts(id_kind=kind, notes=notes)


def _id_texts(query: Any, doc: Any, row_name: RowName, number: int) -> tuple[str, str]:
    """The ids of a row as text; the error for a wrong id names the row."""
    try:
        return ids.as_text(query, "query id"), ids.as_text(doc, "document id")
    except InputError as error:
        error.where = row_name(number)
        raise error from None


def _row_name(name: str, number: int) -> str:
    return f"{name}: row {number + 1}"


def _entry_name(name: str, number: int) -> str:
    return f"{name}[{number}]"


def joined_run(runs: Sequence[Run], files: Sequence[str], name: str) -> Run:
    """One run from several runs in memory, such as those of JSON files."""
    rows = [_rows_in(run) for run in runs]
    ends = np.cumsum([len(part) for part in rows])

    def where(row: int) -> str:
        return files[int(np.searchsorted(ends, row, "right"))]

    queries = [query for run in runs if not isinstance(run.source, RowsInMemory) for query in run]
    queries += [query for run in runs if isinstance(run.source, RowsInMemory) for query in run.source.empty]
    joined = run_from_rows(chain.from_iterable(rows), name, queries, where)
    notes = dict.fromkeys(note for run in runs for note in run.notes)
    has_scores = any(run.has_scores for run in runs)
    return joined.with_facts(id_kind="text", has_scores=has_scores, notes=(*notes, *joined.notes))


def _rows_in(run: Run) -> Sequence[tuple[str, str, float]]:
    """The rows of a run in memory."""
    if isinstance(run.source, RowsInMemory):
        return run.source.rows
    return [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]


class RowsInMemory(BlockSource):
    """Rows in memory with a repeated document."""

    def __init__(
        self, rows: Sequence[tuple[str, str, float]], empty: Sequence[str], name: str, row_name: RowName
    ) -> None:
        self.name = name
        self.rows = rows
        self.empty = empty
        """Queries without documents."""
        self._row_name = row_name

    def _position(self, row: int) -> str:
        return f"{self._row_name(row)}, query '{ids.show(self.rows[row][0])}'"

    def empty_queries(self) -> IdColumn:
        return IdColumn.of(map(ids.encode, self.empty))

    def pieces(self) -> Iterator[Callable[[], Block]]:
        yield self._block

    def keys(self, docs: IdColumn) -> np.ndarray:
        return docs.hashes()

    def digest(self) -> str:
        import hashlib

        return hashlib.sha256(repr((self.rows, self.empty)).encode("utf-8", "surrogateescape")).hexdigest()

    def _block(self) -> Block:
        queries = [ids.encode(query) for query, _, _ in self.rows]
        docs = IdColumn.of(ids.encode(doc) for _, doc, _ in self.rows)
        begin = [i for i in range(len(queries)) if i == 0 or queries[i] != queries[i - 1]]
        scores = np.array([score for _, _, score in self.rows], np.float64)

        block = Block(
            score=scores,
            key=self.keys(docs),
            docs=docs.take,
            position=self._position,
            queries=IdColumn.of(queries[i] for i in begin),
            start=np.array([*begin, len(docs)], np.int64),
            keep=lambda lines: Rows(**block.columns_of(lines)),
        )
        return block


def checked(run: Run) -> Run:
    """A copy of a run in which every score is a checked float."""
    results: dict[str, dict[str, float]] = {}
    for query in run:
        row = results.setdefault(query, {})
        for doc, score in run[query].items():
            row[doc] = check_score(score, f"{run.name}: query '{ids.show(query)}', document '{ids.show(doc)}'")
    return Run(Rankings(results), name=run.name).with_facts(id_kind=run.id_kind)


def qrels_from_mapping(judgements: Mapping[Any, Any], name: str, real_grades: bool = False) -> Qrels:
    """Qrels from {query: {doc: grade}}, or from {query: [doc, ...]} or {query: doc} if all documents are relevant."""
    if not all(type(docs) is dict for docs in judgements.values()):
        judgements = {query: graded(query, docs, name) for query, docs in judgements.items()}
    return Qrels(judgements, name=name, real_grades=real_grades)


def graded(query: Any, docs: Any, name: str) -> Any:
    """The judgements of a query: documents without a grade are relevant."""
    if isinstance(docs, str | bytes):  # leave-one-out: the only item of a user
        return {docs: 1}
    if isinstance(docs, Mapping) or not isinstance(docs, Iterable):
        return docs  # `Qrels` accepts or refuses it
    try:
        return dict.fromkeys(docs, 1)
    except TypeError:
        hint = 'Judgements look like {"q1": {"d1": 2, "d2": 0}}, or {"q1": ["d1"]} if all listed are relevant.'
        raise InputError(f"the documents of query {query!r} are not ids", where=name, hint=hint) from None


def qrels_from_rows(
    rows: Iterable[Any], name: str, reading: Reading, where: RowName | None = None, judged_by: Sequence[Any] = ()
) -> Qrels:
    """Qrels from (query, doc, grade) tuples, or from rows with these fields under any of their names.

    A pair without a grade counts as relevant. `judged_by` has the judge of each row, if rows do not name it; it may be
    filled while they are read.
    """
    row_name = where or partial(_row_name, name)
    if reading.judgements == "last":
        refuse_unordered(rows, name)
    beginning, rows = _first(rows)
    first = next(iter(beginning), None)
    fields = _fields(first)

    if fields is None and _is_pair(first):
        qrels = _qrels(_pairs(rows, name), name, reading, row_name, judged_by)
        return qrels.with_facts(notes=(*qrels.notes, _implicit_grades(qrels)))
    if fields is None:
        return _qrels(_triples(rows, ("query", "doc", "grade"), name), name, reading, row_name, judged_by)

    lists = IdLists("qrels", reading.columns)
    if lists.is_record(as_mapping(first, name)):
        return _qrels_of_lists(lists, rows, name, reading, where, judged_by)
    return _qrels_of_fields(rows, fields, name, reading, row_name, judged_by)


def _qrels_of_lists(
    lists: IdLists,
    rows: Iterable[Any],
    name: str,
    reading: Reading,
    where: RowName | None,
    judged_by: Sequence[Any],
) -> Qrels:
    """Qrels from records with the expected ids."""
    entries, queries = lists.read(rows, where or partial(_entry_name, name))
    lines = []
    for entry in entries:
        grade = entry.number
        if grade is None:
            grade = 1
        lines.append((entry.query, entry.doc, grade))

    qrels = _qrels(lines, name, reading, lambda number: entries[number].where, judged_by)
    if any(query not in qrels for query in queries):
        qrels = Qrels({query: qrels.get(query, {}) for query in queries}, name=name, real_grades=True)
    return qrels.with_facts(notes=(*qrels.notes, *from_counts(lists.counts)))


def _qrels_of_fields(
    rows: Iterable[Any],
    fields: Sequence[str],
    name: str,
    reading: Reading,
    row_name: RowName,
    judged_by: Sequence[Any],
) -> Qrels:
    """Qrels from rows with fields for the query, the document and perhaps the grade."""
    choice = reading.columns.find_qrels(fields, name)
    has_grade = "grade" in choice.columns
    used = list(choice.columns.values())
    unused = [field for field in fields if field not in used]
    judge_field = aliases.find(unused, "judged_by")
    if judge_field is not None:
        rows = list(rows)
        judged_by = [_field(row, judge_field) for row in rows]
        unused.remove(judge_field)

    if not has_grade:
        first_rows, rows = _first(rows, SAMPLED_ROWS)
        reading.columns.refuse_likely_grades((as_mapping(row, name) for row in first_rows), name)

    qrels = _qrels(_named(rows, used, name), name, reading, row_name, judged_by)
    notes = [*qrels.notes, *choice.notes()]
    if not has_grade:
        notes.append(_implicit_grades(qrels, unused))
    elif reading.relevant_from is None and aliases.is_rating(used[0], used[2]):
        notes.append(Note.of("ratings-as-grades"))
    return qrels.with_facts(notes=tuple(notes))


def _implicit_grades(qrels: Qrels, unused: Sequence[str] = ()) -> Note:
    """The note that pairs without a grade count as relevant."""
    return Note.of("implicit-grades", count=sum(map(len, qrels.values())), unread=tuple(map(ids.show, unused)))


def _qrels(
    lines: Iterable[tuple[Any, Any, Any]], name: str, reading: Reading, row_name: RowName, judged_by: Sequence[Any]
) -> Qrels:
    queries: list[str] = []
    docs: list[str] = []
    grades: list[Any] = []
    query_types: set[type] = set()
    doc_types: set[type] = set()
    for number, (query, doc, grade) in enumerate(lines):
        query_types.add(type(query))
        doc_types.add(type(doc))
        if not (ids.is_plain(query) and ids.is_plain(doc)):
            query, doc = _id_texts(query, doc, row_name, number)
        if type(grade) is not int or abs(grade) > MAX_GRADE:
            grade = check_grade(grade, row_name(number), reading.real_grades)
        queries.append(query)
        docs.append(doc)
        grades.append(grade)

    kind = ids.kind(query_types, doc_types, name)
    by_model, notes = models_rows(judged_by)
    return Qrels.from_rows(
        JudgedRows(queries, docs, grades, row_name),
        name=name,
        judgements=reading.judgements,
        kind=kind,
        by_model=by_model,
        notes=notes,
    )


# Rows of any kind.


def _first(rows: Iterable[Any], most: int = 1) -> tuple[Sequence[Any], Iterable[Any]]:
    """The first rows, and an iterable of all rows."""
    if isinstance(rows, list | tuple):
        return rows[:most], rows
    iterator = iter(rows)
    first = list(islice(iterator, most))
    return first, chain(first, iterator)


def _fields(row: Any) -> list[str] | None:
    """The names of a row's fields; None for a plain tuple and for an object that is not a row."""
    if isinstance(row, Mapping):
        return list(row)
    declared = getattr(row, "_fields", None)
    if declared:
        return list(declared)
    if row is None or isinstance(row, str | bytes | tuple | list | type) or ids.has_no_order(row):
        return None
    return [key for key in getattr(row, "__dict__", ()) if not key.startswith("_")] or None


def _is_pair(row: Any) -> bool:
    return isinstance(row, tuple | list) and len(row) == 2


def _named(rows: Iterable[Any], names: Sequence[str], where: str) -> Iterator[tuple[Any, Any, Any]]:
    """Query, document and value of rows with fields; the value is 1 if `names` has no field for it."""
    for number, row in enumerate(rows, 1):
        try:
            if isinstance(row, Mapping):
                values = [row[name] for name in names]
            else:
                values = [getattr(row, name) for name in names]
        except (KeyError, AttributeError, TypeError):
            raise InputError(f"row {number} is {row!r:.80}, without {', '.join(names)}", where=where) from None

        query, doc, value = (*values, 1)[:3]
        yield query, doc, value


def _pairs(rows: Iterable[Any], where: str) -> Iterator[tuple[Any, Any, Any]]:
    """Pairs of query and document, each with the grade 1."""
    for number, row in enumerate(rows, 1):
        if not _is_pair(row):
            hint = "The first row has no grade, so no row may have one."
            raise InputError(f"row {number} is {row!r:.80}, not (query, doc)", where=where, hint=hint)
        yield row[0], row[1], 1


def _triples(rows: Iterable[Any], fields: tuple[str, str, str], where: str) -> Iterator[tuple[Any, Any, Any]]:
    """The first three values of each row."""
    for number, row in enumerate(rows, 1):
        if type(row) is tuple and len(row) == len(fields):
            yield row
            continue

        try:
            if isinstance(row, str | bytes | Mapping) or ids.has_no_order(row):
                raise TypeError
            query, doc, value, *_ = row
        except (TypeError, ValueError):
            listed = ", ".join(fields)
            problem = f"row {number} is {row!r:.80}, not ({listed})"
            raise InputError(problem, where=where, hint=f"Each row has {listed}.") from None

        yield query, doc, value
