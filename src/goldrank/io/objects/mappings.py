"""Runs and qrels from Python objects: dicts of dicts, dicts of ranked lists, lists of tuples."""

from __future__ import annotations

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
from goldrank.data.qrels import Qrels
from goldrank.data.run import Alternatives, Rankings, Run, check_score, notes_on_ids, plain_copy, rankings_of
from goldrank.io import aliases
from goldrank.io.columns import LOOKED_AT, Columns
from goldrank.io.engines import result_objects
from goldrank.io.formats import Reading
from goldrank.io.objects.field_values import as_mapping
from goldrank.io.objects.id_lists import IdLists

RowName = Callable[[int], str]


def run_from_mapping(given: Mapping[Any, Any], name: str) -> Run:
    """A run from {query: {doc: score}}, {query: [doc, ...]} or {query: [(doc, score), ...]}."""
    if not given:
        raise InputError("the run is empty", where=name, hint="Did the system return anything?", code="empty-input")

    plain = plain_copy(given, name)
    if plain is not None:
        return Run(plain, name=name, id_kind="str")

    given = {
        query: docs if _is_scored(docs) else result_objects.ranked(docs, f"{name}: query {query!r:.80}")
        for query, docs in given.items()
    }
    if all(isinstance(row, Mapping) for row in given.values()):
        rankings, kind = rankings_of(given, name)
        return Run(rankings, name=name, id_kind=kind, notes=notes_on_ids(kind))

    rows = (row for query, docs in given.items() for row in _rows_of(query, docs, name))
    run = run_from_rows(rows, name, queries=tuple(given))
    run.has_scores = any(isinstance(docs, Mapping) or _has_scored_pairs(docs) for docs in given.values())
    run.notes += _ascending(given)
    return run


def _is_scored(docs: Any) -> bool:
    """Whether results are documents with scores; what a client returns has more than numbers in it."""
    return type(docs) is dict and set(map(type, docs.values())) <= {float, int}


def _has_scored_pairs(docs: Any) -> bool:
    """Whether results are a list of documents with scores."""
    return isinstance(docs, list | tuple) and any(isinstance(item, list | tuple) for item in docs[:1])


def _ascending(given: Mapping[Any, Any]) -> tuple[Note, ...]:
    """A warning where every longer list of (document, number) begins with the lowest number, as distances do."""
    longer = [docs for docs in given.values() if isinstance(docs, list | tuple) and len(docs) > 2]
    pairs = [docs for docs in longer if all(isinstance(item, tuple | list) and len(item) == 2 for item in docs)]
    if not pairs or not all(all(a[1] < b[1] for a, b in pairwise(docs)) for docs in pairs):
        return ()
    return (Note.of("ascending-scores", count=len(pairs)),)


def _rows_of(query: Any, docs: Any, name: str) -> Iterator[tuple[Any, Any, Any]]:
    if isinstance(docs, Mapping):
        yield from ((query, doc, score) for doc, score in docs.items())
        return

    try:
        if not isinstance(docs, str | bytes):
            listed = iter(docs)
        else:
            listed = None
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
    rows: Iterable[Any],
    name: str,
    queries: Sequence[Any] = (),
    where: RowName | None = None,
    columns: Columns | None = None,
) -> Run:
    """A run from (query, doc, score) tuples, or rows with those fields under any of their names.

    Rows are named tuples, dicts or objects with fields. `queries` are there even if no row is about them; `where` names
    a row in messages.
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
    value = columns.ordered_by(fields, name)
    choice = columns.find_all(fields, ("query", "doc", value), "run", name)
    if choice.is_open and not isinstance(rows, Sequence):
        rows = list(rows)

    def taken(by_role: Mapping[str, str]) -> Run:
        chosen = {**choice.columns, **by_role}
        lines = _named(rows, [chosen[role] for role in ("query", "doc", value)], name)
        if value != "score":
            lines = ((query, doc, -check_score(number, name)) for query, doc, number in lines)
        run = _run(lines, name, queries, where)
        run.has_scores = value == "score"
        run.notes += choice.notes()
        return run

    run = taken({})
    if choice.is_open:
        run.alternatives = Alternatives(choice.candidates, taken, partial(matches, rows))
    return run


def run_of_lists(lists: IdLists, rows: Iterable[Any], name: str, where: RowName | None) -> Run:
    """A run from records with the ids that were retrieved."""
    entries, queries = lists.read(rows, where or (lambda number: f"{name}[{number}]"))
    lines = [(entry.query, entry.doc, entry.score) for entry in entries]
    run = _run(lines, name, queries, lambda number: entries[number].where)
    run.has_scores = lists.has_scores
    run.notes += from_counts(lists.counts)
    return run


def matches(rows: Iterable[Any], names: Sequence[str], chosen: Mapping[str, str], judged: Qrels) -> list[int]:
    """How many ids in each field of rows are judged (`data.run.Alternatives`)."""
    counts = [0] * len(names)
    for row in rows:
        known: Any
        if chosen:
            known = judged.get(_text(_field(row, chosen["query"])), ())
        else:
            known = judged
        for i, name in enumerate(names):
            counts[i] += _text(_field(row, name)) in known
    return counts


def _field(row: Any, name: str) -> Any:
    if isinstance(row, Mapping):
        return row.get(name)
    return getattr(row, name, None)


def _text(value: Any) -> str:
    """An id as text; nothing that is judged for what is none."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    return ""


def _run(rows: Iterable[tuple[Any, Any, Any]], name: str, queries: Sequence[Any], where: RowName | None) -> Run:
    """A run from rows of query, document and score. It keeps every row, also those that repeat a document."""
    results: dict[str, dict[str, float]] = {ids.as_text(query, "query id", name): {} for query in queries}
    query_types: set[type] = set(map(type, queries))
    doc_types: set[type] = set()
    kept: list[tuple[str, str, float]] = []
    is_repeated = False
    row_name = where or (lambda number: f"{name}: row {number + 1}")

    def place(number: int) -> str:
        query, doc, _ = kept[number]
        return f"{row_name(number)}, query '{ids.show(query)}', document '{ids.show(doc)}'"

    for number, (query, doc, score) in enumerate(rows):
        query_types.add(type(query))
        doc_types.add(type(doc))
        if not (ids.is_plain(query) and ids.is_plain(doc)):
            query, doc = _id_texts(query, doc, row_name, number)
        q, d = query, doc
        kept.append((q, d, score))
        if type(score) is not float or score != score:
            score = check_score(score, place(number))
            kept[number] = (q, d, score)
        row = results.setdefault(q, {})
        is_repeated = is_repeated or d in row
        row[d] = score
    if not results:
        raise InputError("the run is empty", where=name, hint="Did the system return anything?", code="empty-input")
    kind = ids.kind(query_types, doc_types, name)
    notes = notes_on_ids(kind)
    if is_repeated:
        # As in files: what becomes of a document that comes twice is said by the convention of an evaluation.
        empty = [query for query, row in results.items() if not row]
        return Run(RowsInMemory(kept, empty, name, row_name), name=name, id_kind=kind, notes=notes)
    return Run(Rankings(results), name=name, id_kind=kind, notes=notes)


def _id_texts(query: Any, doc: Any, row_name: RowName, number: int) -> tuple[str, str]:
    """The ids of a row as text; the row gets its name if one of them is none."""
    try:
        return ids.as_text(query, "query id"), ids.as_text(doc, "document id")
    except InputError as error:
        error.where = row_name(number)
        raise error from None


def joined_run(runs: Sequence[Run], places: Sequence[str], name: str) -> Run:
    """One run from several that are held in memory, such as JSON files."""
    rows = [_rows_in(run) for run in runs]
    ends = np.cumsum([len(part) for part in rows])

    def where(row: int) -> str:
        return places[int(np.searchsorted(ends, row, "right"))]

    queries = [query for run in runs if not isinstance(run.source, RowsInMemory) for query in run]
    queries += [query for run in runs if isinstance(run.source, RowsInMemory) for query in run.source.empty]
    joined = run_from_rows(chain.from_iterable(rows), name, queries, where)
    joined.id_kind = "text"
    joined.has_scores = any(run.has_scores for run in runs)
    joined.notes = (*dict.fromkeys(note for run in runs for note in run.notes), *joined.notes)
    return joined


def _rows_in(run: Run) -> Sequence[tuple[str, str, float]]:
    """The lines of a run that is held in memory."""
    if isinstance(run.source, RowsInMemory):
        return run.source.rows
    return [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]


class RowsInMemory(BlockSource):
    """Rows in memory in which a document comes twice."""

    def __init__(
        self, rows: Sequence[tuple[str, str, float]], empty: Sequence[str], name: str, row_name: RowName
    ) -> None:
        self.name = name
        self.rows = rows
        self.empty = empty
        """Queries without documents."""
        self._row_name = row_name

    def _place(self, row: int) -> str:
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
        block = Block(
            score=np.array([score for _, _, score in self.rows], np.float64),
            key=self.keys(docs),
            docs=docs.take,
            place=self._place,
            queries=IdColumn.of(queries[i] for i in begin),
            start=np.array([*begin, len(docs)], np.int64),
            keep=lambda lines: Rows(**block.taken(lines)),
        )
        return block


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
    """Qrels from {query: {doc: grade}}, or {query: [doc, ...]} or {query: doc} where all that is listed is relevant."""
    if not all(type(docs) is dict for docs in given.values()):
        given = {query: graded(query, docs, name) for query, docs in given.items()}
    return Qrels(given, name=name, real_grades=real_grades)


def graded(query: Any, docs: Any, name: str) -> Any:
    """The judgements of a query: what is only listed is relevant."""
    if isinstance(docs, str | bytes):  # leave-one-out: the one item of a user
        return {docs: 1}
    if isinstance(docs, Mapping) or not isinstance(docs, Iterable):
        return docs  # for Qrels to take or refuse
    try:
        return dict.fromkeys(docs, 1)
    except TypeError:
        hint = 'Judgements look like {"q1": {"d1": 2, "d2": 0}}, or {"q1": ["d1"]} if all listed are relevant.'
        raise InputError(f"the documents of query {query!r} are not ids", where=name, hint=hint) from None


def qrels_from_rows(
    rows: Iterable[Any], name: str, how: Reading, where: RowName | None = None, judged_by: Sequence[Any] = ()
) -> Qrels:
    """Qrels from (query, doc, grade) tuples, or rows with those fields under any of their names.

    A pair without a grade counts as relevant. `judged_by` says of each row who judged, where rows do not; it may be
    filled while they are read.
    """
    place = where or (lambda number: f"{name}: row {number + 1}")
    if how.judgements == "last":
        refuse_unordered(rows, name)
    beginning, rows = _first(rows)
    first = next(iter(beginning), None)
    fields = _fields(first)
    notes: tuple[Note, ...] = ()
    queries: list[str] = []
    counts: dict[str, int] = {}
    lines: Iterable[tuple[Any, Any, Any]]
    lists = IdLists("qrels", how.columns)
    implicit = fields is None and _is_pair(first)
    unread: tuple[str, ...] = ()
    said: str | None = None
    if implicit:
        lines = _pairs(rows, name)
    elif fields is None:
        lines = _triples(rows, ("query", "doc", "grade"), name)
    elif lists.is_record(as_mapping(first, name)):
        entries, queries = lists.read(rows, where or (lambda number: f"{name}[{number}]"))
        lines = [(entry.query, entry.doc, 1 if entry.number is None else entry.number) for entry in entries]
        place = lambda number: entries[number].where  # noqa: E731
        counts = dict(lists.counts)
    else:
        choice = how.columns.find_qrels(fields, name)
        implicit = "grade" not in choice.columns
        notes = choice.notes()
        wanted = [choice.columns[role] for role in choice.columns]
        unread = tuple(field for field in fields if field not in wanted)
        said = aliases.find(unread, "judged_by")
        if said is not None:
            rows = list(rows)
            judged_by = [_field(row, said) for row in rows]
        if implicit:
            first_rows, rows = _first(rows, LOOKED_AT)
            how.columns.refuse_likely_grades((as_mapping(row, name) for row in first_rows), name)
        lines = _named(rows, wanted, name)
        if not implicit and how.relevant_from is None and aliases.is_rating(wanted[0], wanted[2]):
            notes += (Note.of("ratings-as-grades"),)
    qrels = _qrels(lines, name, how, place, judged_by)
    if implicit:
        others = tuple(ids.show(field) for field in unread if field not in (said, None))
        notes += (Note.of("implicit-grades", count=sum(map(len, qrels.values())), unread=others),)
    empty = [query for query in queries if query not in qrels]
    if empty:
        qrels = Qrels({query: qrels.get(query, {}) for query in queries}, name=name, real_grades=True)
    qrels.notes = (*qrels.notes, *notes, *from_counts(counts))
    return qrels


def _qrels(
    lines: Iterable[tuple[Any, Any, Any]], name: str, how: Reading, place: RowName, judged_by: Sequence[Any]
) -> Qrels:
    columns: tuple[list[str], list[str], list[Any]] = ([], [], [])
    query_types: set[type] = set()
    doc_types: set[type] = set()
    for number, (query, doc, grade) in enumerate(lines):
        query_types.add(type(query))
        doc_types.add(type(doc))
        if not (ids.is_plain(query) and ids.is_plain(doc)):
            query, doc = _id_texts(query, doc, place, number)
        if type(grade) is not int or abs(grade) > MAX_GRADE:
            grade = check_grade(grade, place(number), how.real_grades)
        columns[0].append(query)
        columns[1].append(doc)
        columns[2].append(grade)

    kind = ids.kind(query_types, doc_types, name)
    by_model, notes = models_rows(judged_by)
    return Qrels.from_rows(
        *columns, name=name, where=place, judgements=how.judgements, kind=kind, by_model=by_model, notes=notes
    )


# Rows of any kind.


def _first(rows: Iterable[Any], most: int = 1) -> tuple[Sequence[Any], Iterable[Any]]:
    """The first rows, as many as there are, and all of them."""
    if isinstance(rows, list | tuple):
        return rows[:most], rows
    numbered = iter(rows)
    first = list(islice(numbered, most))
    return first, chain(first, numbered)


def _fields(row: Any) -> list[str] | None:
    """The names of a row's fields; None for a plain tuple and for what is no row."""
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
    """Query, document and number of rows with fields; where no number is named it is 1."""
    for number, row in enumerate(rows, 1):
        try:
            values = [row[name] if isinstance(row, Mapping) else getattr(row, name) for name in names]
        except (KeyError, AttributeError, TypeError):
            wanted = ", ".join(names)
            raise InputError(f"row {number} is {row!r:.80}, without {wanted}", where=where) from None
        query, doc, *rest = values
        yield query, doc, rest[0] if rest else 1


def _pairs(rows: Iterable[Any], where: str) -> Iterator[tuple[Any, Any, Any]]:
    """Pairs of query and document, each with the grade 1."""
    for number, row in enumerate(rows, 1):
        if not _is_pair(row):
            hint = "The first row has no grade, so that none may have one."
            raise InputError(f"row {number} is {row!r:.80}, not (query, doc)", where=where, hint=hint)
        yield row[0], row[1], 1


def _triples(rows: Iterable[Any], wanted: tuple[str, str, str], where: str) -> Iterator[tuple[Any, Any, Any]]:
    """The first three values of each row."""
    for number, row in enumerate(rows, 1):
        if type(row) is tuple and len(row) == len(wanted):
            yield row
            continue

        try:
            if isinstance(row, str | bytes | Mapping) or ids.has_no_order(row):
                raise TypeError
            query, doc, value, *_ = row
        except (TypeError, ValueError):
            hint = f"Each row has {', '.join(wanted)}."
            what = f"row {number} is {row!r:.80}, not ({', '.join(wanted)})"
            raise InputError(what, where=where, hint=hint) from None

        yield query, doc, value
