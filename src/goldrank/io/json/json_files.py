"""JSON and JSON Lines: the shapes that ranx, MTEB, LlamaIndex, Quepid, Elasticsearch and OpenSearch write.

Each shape is recognised by its keys and becomes either a table {query: {doc: number}} or rows (query, doc, number),
which `objects` checks. Errors give the JSON path ($.q1.d1) of what is wrong.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.base.machine import fits
from goldrank.base.notes import Note, from_counts
from goldrank.data.grades import check_grade
from goldrank.data.qrels import Grade, Qrels, judgements_fit
from goldrank.data.query_costs import FIELDS as ABOUT_QUERIES
from goldrank.data.query_costs import about_query
from goldrank.data.run import Alternatives, Rankings, Run, check_score
from goldrank.io import aliases
from goldrank.io.engines import responses
from goldrank.io.engines.answer_shapes import failed_search
from goldrank.io.formats import Reading, header_of, rows_of
from goldrank.io.json import json_text
from goldrank.io.json.json_records import ROW, RecordRows, is_answer, keys_of, nearest_shape, rankings
from goldrank.io.json.json_text import NumberRule, step
from goldrank.io.objects import mappings as objects
from goldrank.io.objects.id_lists import IdLists, texts_error
from goldrank.io.objects.spans import as_records
from goldrank.io.records import HINT, Records, is_list_of_records, of_mapping
from goldrank.io.sources import ByteSource
from goldrank.io.text.number_text import grade_of

HELD_LINES = 1_000
"""Lines after which memory is checked again."""
ONE_OBJECT = "Each query has one object, and each document is in it once."
ONE_NAME = "Each field of an item has one name."
_QUEPID = 'Expected {"queries": [{"query": ..., "ratings": {doc: rating}}]}.'
TABLE_HINT = 'Expected {"q1": {"d1": 1, ...}, ...}.'


def read_run(source: ByteSource, reading: Reading) -> Run:
    """A run from any of the shapes of a run."""
    is_lines = reading.format == "jsonl" or json_text.is_lines(source)
    if is_lines and not reading.columns:
        batches = json_text.read_batches(source, Counter(), ONE_OBJECT, json_text.SCORES)
        results = rankings(batches, source.name)
        if results is not None:
            return Run(Rankings(results), name=source.label).with_facts(notes=tuple(source.notes))

    data, lines = _load(source, reading, json_text.SCORES)
    where = source.name

    if isinstance(data, dict) and isinstance(data.get("rank_eval"), dict):
        data = data["rank_eval"]
    if isinstance(data, Mapping) and isinstance(data.get("details"), Mapping):
        positions: list[str] = []
        rows = _hits(data["details"], where, positions)
        queries = tuple(data["details"])
        return _finished(objects.run_from_rows(rows, source.label, queries, where=positions.__getitem__), source)

    answers = responses.find(data, where, lines, reading.columns)
    if answers is not None:
        ranked = list(answers.rows())
        run = objects.run_from_rows(ranked, source.label, answers.queries, where=answers.positions.__getitem__)
        run = run.with_facts(notes=(*run.notes, *from_counts(answers.counts)))
    elif isinstance(data, list):
        fits(ROW * len(data), f"a run of {len(data):,} records", where)
        run = _run_of_records(data, lines, source, reading)
    elif _judgement_keys(data):
        hint = "Are the two files swapped? To convert judgements, say --qrels."
        raise InputError("these are judgements, not a run", where=where, hint=hint)
    else:
        table, path = data, "$"
        if "mteb_model_meta" in data:
            table, path = _mteb(data, where)
        if is_answer(table):
            problem = "has the keys of an answer of a search engine, and no results that can be read"
            raise InputError(problem, where=where, hint=nearest_shape(table))
        _check_table(table, f"{where}: {path}", lambda score: check_score(score, where))
        run = objects.run_from_mapping(table, source.label)
    return _finished(run, source)


def _finished(run: Run, source: ByteSource) -> Run:
    """A run with the notes of its file."""
    return run.with_facts(id_kind="text", notes=(*source.notes, *run.notes))


def read_qrels(source: ByteSource, reading: Reading) -> Qrels:
    """Qrels from any of the shapes of judgements."""
    data, lines = _load(source, reading, json_text.GRADES)
    where = source.name
    counts: Counter[str] = Counter()
    positions: list[str] = []

    if _is_quepid(data):
        rows = _quepid_rows(data["queries"], where, counts, positions)
        qrels = _qrels_of_rows(rows, positions.__getitem__, source, reading)
    elif isinstance(data, list):
        judgements_fit(len(data), where)
        qrels = _qrels_of_records(data, lines, source, reading)
    elif "requests" in data or "judgmentRatings" in data:
        qrels = _qrels_of_rows(_ratings(data, where, positions), positions.__getitem__, source, reading)
    elif _is_rank_eval(data) or responses.find(data, where, None, reading.columns):
        hint = "Are the files swapped? Judgements come first."
        raise InputError("this is a response with rankings, not judgements", where=where, hint=hint)
    else:
        table, path = data, "$"
        if "relevant_docs" in data:
            table, path = data["relevant_docs"], "$.relevant_docs"
        _check_table(table, f"{where}: {path}", lambda grade: _grade(grade, where, reading.real_grades), one_doc=True)
        qrels = objects.qrels_from_mapping(table, source.label, reading.real_grades)

    if not len(qrels):
        raise InputError("no judgements", where=where, hint="Is it the right file, and is it complete?")

    return qrels.with_facts(id_kind="text", notes=(*source.notes, *qrels.notes, *from_counts(counts)))


def _is_rank_eval(data: Mapping[str, Any]) -> bool:
    """Whether data is a response of Elasticsearch's _rank_eval."""
    return "details" in data and ("metric_score" in data or "quality_level" in data)


def _qrels_of_rows(
    rows: Iterable[tuple[Any, Any, Any]],
    where: Callable[[int], str],
    source: ByteSource,
    reading: Reading,
    judged_by: Sequence[Any] = (),
) -> Qrels:
    """Qrels from rows of query, document and grade; `where` and `judged_by` are about the rows read so far."""

    def graded() -> Iterator[tuple[Any, Any, Any]]:
        for number, (query, doc, grade) in enumerate(rows):
            try:
                checked = _grade(grade, source.name, reading.real_grades)
            except InputError as error:
                error.where = where(number)
                raise error from None
            yield query, doc, checked

    return objects.qrels_from_rows(graded(), source.label, reading, where=where, judged_by=judged_by)


def _judgement_keys(data: Mapping[str, Any]) -> bool:
    return "requests" in data or "judgmentRatings" in data or "relevant_docs" in data or _is_quepid(data)


def _run_of_records(data: Sequence[Any], lines: Sequence[int] | None, source: ByteSource, reading: Reading) -> Run:
    """A run from records: one for each document, or for each query with its documents in a list."""
    shape = RecordRows("run", data, lines, source.name, reading.columns)
    if shape.lists is not None:
        run = objects.run_of_lists(shape.lists, data, source.label, shape.position)
        return run.with_facts(about=_about_queries(data, shape))

    def read_from(columns: Mapping[str, str]) -> Run:
        chosen = shape.with_ids(columns)
        run = objects.run_from_rows(chosen.rows(), source.label, where=chosen.row_position)
        about = _about_queries(data, chosen)
        return run.with_facts(id_kind="text", notes=(*run.notes, *shape.notes), about=about)

    run = read_from({})
    if shape.is_open:
        alternatives = Alternatives(shape.candidates, read_from, partial(objects.matches, data))
        return run.with_facts(alternatives=alternatives)
    return run


def _about_queries(data: Sequence[Any], shape: RecordRows) -> dict[str, dict[str, Any]]:
    """What records say of their queries beside documents; the first record of a query counts."""
    about: dict[str, dict[str, Any]] = {}
    first = next((record for record in data if isinstance(record, Mapping)), {})
    if not any(name in first for name in ABOUT_QUERIES):
        return about

    for number, record in enumerate(data):
        facts = about_query(record)
        if facts:
            about.setdefault(shape.query_of(record, number), facts)
    return about


def _qrels_of_records(data: Sequence[Any], lines: Sequence[int] | None, source: ByteSource, reading: Reading) -> Qrels:
    """Qrels from records: one for each document, or for each query with its documents in a list."""
    shape = RecordRows("qrels", data, lines, source.name, reading.columns)
    if shape.lists is not None:
        return objects.qrels_from_rows(data, source.label, reading, where=shape.position)

    qrels = _qrels_of_rows(shape.rows(), shape.row_position, source, reading, shape.judged_by)
    notes = [*qrels.notes, *shape.notes]
    if shape.ungraded:
        row, record = shape.ungraded[0]
        where = shape.row_position(row)
        if len(shape.ungraded) < len(shape.origins) and not reading.columns.all_relevant():
            hint = "If it was not judged, leave it out; if it is relevant, say so with a grade."
            raise InputError(f"has no grade, and others have; it has: {keys_of(record)}", where=where, hint=hint)
        reading.columns.refuse_likely_grades((record for _, record in shape.ungraded), where)
        notes.append(Note.of("implicit-grades", count=len(shape.ungraded)))

    return qrels.with_facts(notes=tuple(notes))


def read_records(source: ByteSource, reading: Reading) -> Records:
    """Records from lines, from an array, or from one object."""
    assert reading.fields is not None
    if reading.format == "jsonl":
        return Records.of_source(source, partial(json_text.read_lines, source, hint=ONE_NAME))

    if source.head.lstrip().startswith(b"["):
        rows = partial(json_text.read_array, source, hint=ONE_NAME)
        return Records.of_source(source, rows, position=lambda number: f"{source.name}[{number}]")

    data = json_text.read_value(source, ONE_NAME)
    if not isinstance(data, Mapping):
        raise InputError(f"is {ids.show(repr(data), 60)}, not an object", where=source.name, hint=HINT)
    records = of_mapping(data, reading.fields, source.name, 1)
    return Records.of_source(source, records.rows, position=records.position)


def dump(data: Run | Qrels) -> bytes:
    """{query: {doc: value}} as JSON bytes."""
    table = {}
    for query in data:
        table[query] = {doc: _finite(query, doc, value) for doc, value in data[query].items()}
    return json.dumps(table, separators=(",", ":")).encode() + b"\n"


def dump_lines(data: Run | Qrels) -> bytes:
    """A line of JSON for each document of each query."""
    names = header_of(data)
    lines = []
    for query, doc, value, *judge in rows_of(data):
        row = (query, doc, _finite(query, doc, value), *judge)
        lines.append(json.dumps(dict(zip(names, row, strict=True))) + "\n")
    return "".join(lines).encode()


def _finite(query: str, doc: str, value: Grade) -> Grade:
    if not math.isfinite(value):
        problem = f"the score of '{ids.show(doc)}' in query '{ids.show(query)}' is infinite: JSON has no such number"
        raise InputError(problem, hint="Write TREC or Parquet instead.")
    return value


def _load(source: ByteSource, reading: Reading, rule: NumberRule) -> tuple[Any, Sequence[int] | None]:
    """The value of a file, an object or a list; of JSON Lines a list of records, and the line of each record."""
    if reading.format == "jsonl" or json_text.is_lines(source):
        records: list[Any] = []
        lines: list[int] = []
        for batch in json_text.read_batches(source, Counter(), ONE_OBJECT, rule):
            before = len(records)
            records += batch.values
            lines += batch.lines
            if len(records) // HELD_LINES > before // HELD_LINES:
                needed = ROW * (len(records) + HELD_LINES)
                fits(needed, f"holding {len(records):,} lines of JSON", source.name)
        return as_records(records, lines)

    data = json_text.read_value(source, ONE_OBJECT, rule)
    if not isinstance(data, dict | list):
        raise InputError(f"is a JSON {type(data).__name__}, not an object", where=source.name, hint=TABLE_HINT)
    if isinstance(data, list):
        return as_records(data, None)

    spans, span_lines = as_records([data], [1])
    if span_lines != [1] or spans[0] is not data:
        return spans, span_lines
    if _is_record(data, reading):
        return [data], [1]
    for key in aliases.RECORD_LISTS:
        if is_list_of_records(data.get(key)):
            return data[key], None
    return data, None


def _is_record(data: Mapping[str, Any], reading: Reading) -> bool:
    """Whether an object is the only record of a file, and not a table of queries."""
    query = aliases.find(data, "query")
    if query is not None and isinstance(data[query], str | int):
        return True
    return IdLists("run", reading.columns).is_record(data)


def _check_table(table: Any, where: str, check: Callable[[Any], Any], one_doc: bool = False) -> None:
    """Check every number of {query: {doc: number}}; a list of documents has no numbers, nor has a text if `one_doc`."""
    if not isinstance(table, Mapping):
        raise InputError(f"is a JSON {type(table).__name__}, not an object", where=where, hint=TABLE_HINT)

    for query, row in table.items():
        if isinstance(row, list) or (one_doc and isinstance(row, str)):
            continue
        if not isinstance(row, Mapping):
            texts = texts_error(table, where.partition(":")[0])
            if texts is not None:
                raise texts
            problem = f"holds {ids.show(repr(row), 40)} where documents should be"
            raise InputError(problem, where=where + step(query), hint=nearest_shape(table))

        for doc, value in row.items():
            try:
                check(value)
            except InputError as error:
                if doc == "error" and isinstance(value, Mapping):
                    raise failed_search(value.get("reason") or value, where + step(query)) from None
                if isinstance(value, Mapping | list):
                    error.hint = nearest_shape(table)
                error.where = where + step(query) + step(doc)
                raise error from None


def _mteb(data: Mapping[str, Any], where: str) -> tuple[Any, str]:
    """The only subset and split of MTEB predictions, and its path."""
    runs = []
    for subset, splits in data.items():
        if subset != "mteb_model_meta" and isinstance(splits, Mapping):
            runs += [(run, f"${step(subset)}{step(split)}") for split, run in splits.items()]

    if len(runs) != 1:
        hint = "Take out the one that you mean: data[subset][split]."
        listed = ", ".join(path for _, path in runs) or "none"
        raise InputError(f"holds {len(runs)} runs: {listed}", where=where, hint=hint)
    return runs[0]


def _hits(details: Mapping[str, Any], where: str, positions: list[str]) -> Iterator[tuple[Any, Any, Any]]:
    """Rows of a response of Elasticsearch's _rank_eval; the path of each is added to `positions`."""
    for query, detail in details.items():
        path = f"{where}: $.details{step(query)}.hits"
        for rank, item in enumerate(_items(_value(detail, "hits"), path), 1):
            position = f"{path}[{rank - 1}]"
            hit = _value(item, "hit")
            if not isinstance(hit, Mapping) or "_id" not in hit:
                hint = 'Expected {"hit": {"_id": ...}, ...}.'
                raise InputError("is not a hit with an _id", where=position, hint=hint)

            positions.append(position)
            score = hit.get("_score")
            if score is None:
                score = -float(rank)
            yield query, hit["_id"], score


def _value(record: Any, key: str) -> Any:
    """The value of a key; None if the record is not an object."""
    if isinstance(record, Mapping):
        return record.get(key)
    return None


def _ratings(data: Mapping[str, Any], where: str, positions: list[str]) -> Iterator[tuple[Any, Any, Any]]:
    """Rows of the rated searches of Elasticsearch or OpenSearch; the path of each is added to `positions`."""
    top, query, doc = "judgmentRatings", "query", "docId"
    if "requests" in data:
        top, query, doc = "requests", "id", "_id"
    hint = f'Expected {{"{top}": [{{"{query}": ..., "ratings": [{{"{doc}": ..., "rating": ...}}, ...]}}, ...]}}.'

    for i, entry in enumerate(_items(data[top], f"{where}: $.{top}")):
        path = f"{where}: $.{top}[{i}]"
        if not isinstance(entry, Mapping) or query not in entry:
            raise InputError(f"has no {query}", where=path, hint=hint)

        for j, item in enumerate(_items(entry.get("ratings"), f"{path}.ratings")):
            position = f"{path}.ratings[{j}]"
            if not isinstance(item, Mapping) or doc not in item or "rating" not in item:
                raise InputError(f"has no {doc} with a rating", where=position, hint=hint)

            positions.append(position)
            rating = item["rating"]
            if isinstance(rating, str):  # OpenSearch writes ratings as text
                rating = _WrittenGrade(rating)
            yield entry[query], item[doc], rating


class _WrittenGrade(NamedTuple):
    """A grade that is a text in the file."""

    text: str


def _grade(value: Any, where: str, real_grades: bool) -> Grade:
    """A checked grade; if it has a point or an exponent, by the rule for text."""
    if isinstance(value, json_text.WrittenNumber | _WrittenGrade):
        return grade_of(ids.encode(value.text), where, real_grades=real_grades)
    return check_grade(value, where, real_grades)


def _items(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"is {value!r:.40}, not a list", where=where)
    return value


def _is_quepid(data: Any) -> bool:
    """Whether data is an export of Quepid with ratings: by query, of a case, or for the Rated Ranking Evaluator."""
    queries = _value(data, "queries")
    if not isinstance(queries, list) or not queries or not isinstance(queries[0], Mapping):
        return False
    return bool(queries[0].keys() & {"ratings", "relevant_documents"}) and "relevant_docs" not in data


def _quepid_rows(
    queries: list[Any], where: str, counts: Counter[str], positions: list[str]
) -> Iterator[tuple[Any, Any, Any]]:
    """Rows of query, document and rating; `counts` gets codes of notes, `positions` the path of each row."""
    for i, entry in enumerate(queries):
        path = f"{where}: $.queries[{i}]"
        if not isinstance(entry, Mapping):
            raise InputError(f"is {ids.show(repr(entry), 60)}, not an object", where=path, hint=_QUEPID)

        query = entry.get("query", entry.get("query_text"))
        placeholders = entry.get("placeholders")
        if query is None and isinstance(placeholders, Mapping):
            query = placeholders.get("$query", next(iter(placeholders.values()), None))

        if query is None:
            raise InputError("has no query", where=path, hint=_QUEPID)

        rated = list(_rated(entry, path))
        counts["unrated-queries"] += not rated
        for doc, rating, position in rated:
            if rating is None:
                counts["ungraded-rows"] += 1
            else:
                positions.append(position)
                yield query, doc, rating


def _rated(entry: Mapping[str, Any], path: str) -> Iterator[tuple[Any, Any, str]]:
    """Documents with their ratings: {doc: rating}, or {rating: [doc, ...]} for the Rated Ranking Evaluator."""
    name = "relevant_documents"
    if "ratings" in entry:
        name = "ratings"

    ratings = entry.get(name) or {}
    if not isinstance(ratings, Mapping):
        raise InputError(f"is {ids.show(repr(ratings), 60)}, not an object", where=f"{path}.{name}", hint=_QUEPID)

    for key, value in ratings.items():
        position = f"{path}.{name}['{ids.show(key, 40)}']"
        if name == "ratings":
            yield key, value, position
            continue

        docs = value
        if isinstance(value, Mapping):
            docs = value.get("relevant", value.get("docs"))
        if not isinstance(docs, list) or not str(key).lstrip("-").isdigit():
            raise InputError("is not a rating with a list of documents", where=position, hint=_QUEPID)
        for doc in docs:
            yield doc, int(key), position
