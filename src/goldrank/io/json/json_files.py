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
from goldrank.data.run import Alternatives, Rankings, Run, check_score
from goldrank.io import aliases
from goldrank.io.engines import responses
from goldrank.io.engines.answer_shapes import failed_search
from goldrank.io.formats import Reading, header_of, rows_of
from goldrank.io.json import json_text
from goldrank.io.json.json_records import ROW, RecordRows, is_answer, keys_of, nearest_shape, rankings
from goldrank.io.json.json_text import NumberRule, step
from goldrank.io.objects import mappings as objects
from goldrank.io.objects.id_lists import IdLists
from goldrank.io.records import HINT, Records, is_list_of_records, of_mapping
from goldrank.io.sources import ByteSource
from goldrank.io.text.number_text import grade_of

HELD_LINES = 1_000
"""After how many lines it is asked whether more fit."""
ONE_OBJECT = "Each query has one object, and each document stands in it once."
ONE_NAME = "Each field of an item has one name."
_QUEPID = 'Expected {"queries": [{"query": ..., "ratings": {doc: rating}}]}.'
TABLE_HINT = 'Expected {"q1": {"d1": 1, ...}, ...}.'


def read_run(source: ByteSource, how: Reading) -> Run:
    """A run from any of the shapes of a run."""
    is_lines = how.format == "jsonl" or json_text.is_lines(source)
    if is_lines and not how.columns:
        batches = json_text.read_batches(source, Counter(), ONE_OBJECT, json_text.SCORES)
        results = rankings(batches, source.name)
        if results is not None:
            return Run(Rankings(results), name=source.label, id_kind="text", notes=tuple(source.notes))

    data, lines = _load(source, how, json_text.SCORES)
    where = source.name
    if isinstance(data, dict) and isinstance(data.get("rank_eval"), dict):
        data = data["rank_eval"]
    if isinstance(data, Mapping) and isinstance(data.get("details"), Mapping):
        places: list[str] = []
        rows, queries = _hits(data["details"], where, places), tuple(data["details"])
        run = objects.run_from_rows(rows, source.label, queries, where=places.__getitem__)
    elif (reply := responses.find(data, where, lines, how.columns)) is not None:
        ranked = list(reply.rows())
        run = objects.run_from_rows(ranked, source.label, reply.queries, where=reply.places.__getitem__)
        run.notes += from_counts(reply.counts)
    elif isinstance(data, list):
        fits(ROW * len(data), f"a run of {len(data):,} records", where)
        run = _run_of_records(data, lines, source, how)
    elif _judgement_keys(data):
        hint = "Are the two files swapped? To convert judgements, say --qrels."
        raise InputError("these are judgements, not a run", where=where, hint=hint)
    else:
        table, path = _mteb(data, where) if "mteb_model_meta" in data else (data, "$")
        if is_answer(table):
            what = "has the keys of an answer of a search engine, and no results that can be read"
            raise InputError(what, where=where, hint=nearest_shape(table))
        _check_table(table, f"{where}: {path}", lambda score: check_score(score, where))
        run = objects.run_from_mapping(table, source.label)
    run.id_kind = "text"
    run.notes = (*source.notes, *run.notes)
    return run


def read_qrels(source: ByteSource, how: Reading) -> Qrels:
    """Qrels from any of the shapes of judgements."""
    data, lines = _load(source, how, json_text.GRADES)
    where = source.name
    noticed: Counter[str] = Counter()
    if _is_quepid(data):
        places: list[str] = []
        rows = _quepid_rows(data["queries"], where, noticed, places)
        qrels = _qrels_of_rows(rows, places.__getitem__, source, how)
    elif isinstance(data, list):
        judgements_fit(len(data), where)
        qrels = _qrels_of_records(data, lines, source, how)
    elif "requests" in data or "judgmentRatings" in data:
        places = []
        qrels = _qrels_of_rows(_ratings(data, where, places), places.__getitem__, source, how)
    elif ("details" in data and ("metric_score" in data or "quality_level" in data)) or responses.find(
        data, where, None, how.columns
    ):
        hint = "Are the files swapped? Judgements come first."
        raise InputError("this is a response with rankings, not judgements", where=where, hint=hint)
    else:
        table, path = (data["relevant_docs"], "$.relevant_docs") if "relevant_docs" in data else (data, "$")
        _check_table(table, f"{where}: {path}", lambda grade: _grade(grade, where, how.real_grades), one_doc=True)
        qrels = objects.qrels_from_mapping(table, source.label, how.real_grades)

    if not len(qrels):
        raise InputError("no judgements", where=where, hint="Is it the right file, and is it complete?")

    qrels.id_kind = "text"
    qrels.notes = (*source.notes, *qrels.notes, *from_counts(noticed))
    return qrels


def _qrels_of_rows(
    rows: Iterable[tuple[Any, Any, Any]],
    where: Callable[[int], str],
    source: ByteSource,
    how: Reading,
    judged_by: Sequence[Any] = (),
) -> Qrels:
    """Qrels from rows of query, document and grade; `where` and `judged_by` know the rows that were read."""

    def graded() -> Iterator[tuple[Any, Any, Any]]:
        for number, (query, doc, grade) in enumerate(rows):
            try:
                checked = _grade(grade, source.name, how.real_grades)
            except InputError as error:
                error.where = where(number)
                raise error from None
            yield query, doc, checked

    return objects.qrels_from_rows(graded(), source.label, how, where=where, judged_by=judged_by)


def _judgement_keys(data: Mapping[str, Any]) -> bool:
    return "requests" in data or "judgmentRatings" in data or "relevant_docs" in data or _is_quepid(data)


def _run_of_records(data: Sequence[Any], lines: Sequence[int] | None, source: ByteSource, how: Reading) -> Run:
    """A run from records: one for each document, or for each query with its documents in a list."""
    shape = RecordRows("run", data, lines, source.name, how.columns)
    if shape.lists is not None:
        return objects.run_of_lists(shape.lists, data, source.label, shape.place)

    def taken(columns: Mapping[str, str]) -> Run:
        chosen = shape.with_ids(columns)
        run = objects.run_from_rows(chosen.rows(), source.label, where=chosen.place_of_row)
        run.id_kind = "text"
        run.notes += shape.notes
        return run

    run = taken({})
    if shape.is_open:
        run.alternatives = Alternatives(shape.candidates, taken, partial(objects.matches, data))
    return run


def _qrels_of_records(data: Sequence[Any], lines: Sequence[int] | None, source: ByteSource, how: Reading) -> Qrels:
    """Qrels from the same."""
    shape = RecordRows("qrels", data, lines, source.name, how.columns)
    if shape.lists is not None:
        return objects.qrels_from_rows(data, source.label, how, where=shape.place)

    qrels = _qrels_of_rows(shape.rows(), shape.place_of_row, source, how, shape.judged_by)
    qrels.notes = (*qrels.notes, *shape.notes)
    if shape.ungraded:
        row, record = shape.ungraded[0]
        place = shape.place_of_row(row)
        if len(shape.ungraded) < len(shape.origins) and not how.columns.all_relevant():
            hint = "If it was not judged, leave it out; if it is relevant, say so with a grade."
            raise InputError(f"has no grade, and others have; it has: {keys_of(record)}", where=place, hint=hint)
        how.columns.refuse_likely_grades((record for _, record in shape.ungraded), place)
        qrels.notes += (Note.of("implicit-grades", count=len(shape.ungraded)),)

    return qrels


def read_records(source: ByteSource, how: Reading) -> Records:
    """Records from lines, from an array, or from one object."""
    assert how.fields is not None
    if how.format == "jsonl":
        return Records.of_source(source, partial(json_text.read_lines, source, hint=ONE_NAME))
    if source.head.lstrip().startswith(b"["):
        rows = partial(json_text.read_array, source, hint=ONE_NAME)
        return Records.of_source(source, rows, place=lambda number: f"{source.name}[{number}]")
    data = json_text.read_whole(source, ONE_NAME)
    if not isinstance(data, Mapping):
        raise InputError(f"is {ids.show(repr(data), 60)}, not an object", where=source.name, hint=HINT)
    inner = of_mapping(data, how.fields, source.name, 1)
    return Records.of_source(source, inner.rows, place=inner.place)


def dump(data: Run | Qrels) -> bytes:
    """{query: {doc: value}} as JSON bytes."""
    table = {query: {doc: _finite(query, doc, value) for doc, value in data[query].items()} for query in data}
    return json.dumps(table, separators=(",", ":")).encode() + b"\n"


def dump_lines(data: Run | Qrels) -> bytes:
    """An object for each document of each query, in a line each."""
    names = header_of(data)
    lines = []
    for query, doc, value, *who in rows_of(data):
        row = (query, doc, _finite(query, doc, value), *who)
        lines.append(json.dumps(dict(zip(names, row, strict=True))) + "\n")
    return "".join(lines).encode()


def _finite(query: str, doc: str, value: Grade) -> Grade:
    if not math.isfinite(value):
        scored = f"the score of '{ids.show(doc)}' in query '{ids.show(query)}'"
        hint = "Write TREC or Parquet instead."
        raise InputError(f"{scored} is infinite: JSON has no such number", hint=hint)
    return value


def _load(source: ByteSource, how: Reading, rule: NumberRule) -> tuple[Any, Sequence[int] | None]:
    """An object or a list; JSON Lines as a list of records, with the lines that they stand in."""
    if how.format == "jsonl" or json_text.is_lines(source):
        records: list[Any] = []
        lines: list[int] = []
        for batch in json_text.read_batches(source, Counter(), ONE_OBJECT, rule):
            before = len(records)
            records += batch.values
            lines += batch.lines
            if len(records) // HELD_LINES > before // HELD_LINES:
                needed = ROW * (len(records) + HELD_LINES)
                fits(needed, f"holding {len(records):,} lines of JSON", source.name)
        return records, lines

    data = json_text.read_whole(source, ONE_OBJECT, rule)
    if isinstance(data, Mapping) and _is_record(data, how):
        return [data], [1]

    key = next(
        (key for key in aliases.RECORD_LISTS if isinstance(data, Mapping) and is_list_of_records(data.get(key))), None
    )
    if key is not None:
        return data[key], None
    if not isinstance(data, dict | list):
        raise InputError(f"is a JSON {type(data).__name__}, not an object", where=source.name, hint=TABLE_HINT)
    return data, None


def _is_record(data: Mapping[str, Any], how: Reading) -> bool:
    """Whether an object is the one record of a file, rather than a table of queries."""
    query = aliases.find(data, "query")
    return (query is not None and isinstance(data[query], str | int)) or IdLists("run", how.columns).is_record(data)


def _check_table(table: Any, where: str, check: Callable[[Any], Any], one_doc: bool = False) -> None:
    """Check every number of {query: {doc: number}}; a list of documents has none, nor has the one of `one_doc`."""
    if not isinstance(table, Mapping):
        raise InputError(f"is a JSON {type(table).__name__}, not an object", where=where, hint=TABLE_HINT)

    for query, row in table.items():
        if not isinstance(row, Mapping | list | str if one_doc else Mapping | list):
            what = f"holds {ids.show(repr(row), 40)} where documents should be"
            raise InputError(what, where=where + step(query), hint=nearest_shape(table))
        if isinstance(row, Mapping):
            for doc, value in row.items():
                try:
                    check(value)
                except InputError as error:
                    if doc == "error" and isinstance(value, Mapping):
                        raise failed_search(value.get("reason") or value, where + step(query)) from None
                    if isinstance(value, Mapping | list):
                        error.hint = nearest_shape(table)
                    else:
                        error.hint = error.hint
                    error.where = where + step(query) + step(doc)
                    raise error from None


def _mteb(data: Mapping[str, Any], where: str) -> tuple[Any, str]:
    """The only subset and split of MTEB predictions, and its path."""
    parts = [
        (run, f"${step(subset)}{step(split)}")
        for subset, splits in data.items()
        if subset != "mteb_model_meta" and isinstance(splits, Mapping)
        for split, run in splits.items()
    ]
    if len(parts) != 1:
        hint, listed = "Take out the one that you mean: data[subset][split].", ", ".join(path for _, path in parts)
        raise InputError(f"holds {len(parts)} runs: {listed or 'none'}", where=where, hint=hint)
    return parts[0]


def _hits(details: Mapping[str, Any], where: str, places: list[str]) -> Iterator[tuple[Any, Any, Any]]:
    """Rows of a response of Elasticsearch's _rank_eval; `places` gets the path of each."""
    for query, detail in details.items():
        path = f"{where}: $.details{step(query)}.hits"
        if isinstance(detail, Mapping):
            hits = detail.get("hits")
        else:
            hits = None

        for rank, item in enumerate(_items(hits, path), 1):
            place = f"{path}[{rank - 1}]"
            if isinstance(item, Mapping):
                hit = item.get("hit")
            else:
                hit = None
            if not isinstance(hit, Mapping) or "_id" not in hit:
                raise InputError("is no hit with an _id", where=place, hint='Expected {"hit": {"_id": ...}, ...}.')
            score = hit.get("_score")
            places.append(place)
            yield query, hit["_id"], -float(rank) if score is None else score


def _ratings(data: Mapping[str, Any], where: str, places: list[str]) -> Iterator[tuple[Any, Any, Any]]:
    """Rows of the rated searches of Elasticsearch or OpenSearch; `places` gets the path of each."""
    top, query, doc = ("requests", "id", "_id") if "requests" in data else ("judgmentRatings", "query", "docId")
    hint = f'Expected {{"{top}": [{{"{query}": ..., "ratings": [{{"{doc}": ..., "rating": ...}}, ...]}}, ...]}}.'
    for i, entry in enumerate(_items(data[top], f"{where}: $.{top}")):
        path = f"{where}: $.{top}[{i}]"
        if not isinstance(entry, Mapping) or query not in entry:
            raise InputError(f"has no {query}", where=path, hint=hint)
        for j, item in enumerate(_items(entry.get("ratings"), f"{path}.ratings")):
            place = f"{path}.ratings[{j}]"
            if not isinstance(item, Mapping) or doc not in item or "rating" not in item:
                raise InputError(f"has no {doc} with a rating", where=place, hint=hint)
            rating = item["rating"]  # which OpenSearch writes as text
            places.append(place)
            yield entry[query], item[doc], _WrittenGrade(rating) if isinstance(rating, str) else rating


class _WrittenGrade(NamedTuple):
    """A grade that is given as text where numbers are."""

    text: str


def _grade(value: Any, where: str, real_grades: bool) -> Grade:
    """A grade, by the rule for text where it is written with a point or an exponent."""
    if isinstance(value, json_text.WrittenNumber | _WrittenGrade):
        return grade_of(ids.encode(value.text), where, real_grades=real_grades)
    return check_grade(value, where, real_grades)


def _items(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"is {value!r:.40}, not a list", where=where)
    return value


def _is_quepid(data: Any) -> bool:
    """Whether it is an export of Quepid with ratings: by query, of a case, or for the Rated Ranking Evaluator."""
    if isinstance(data, Mapping):
        queries = data.get("queries")
    else:
        queries = None
    if not isinstance(queries, list) or not queries or not isinstance(queries[0], Mapping):
        return False
    return bool(queries[0].keys() & {"ratings", "relevant_documents"}) and "relevant_docs" not in data


def _quepid_rows(
    queries: list[Any], where: str, counts: Counter[str], places: list[str]
) -> Iterator[tuple[Any, Any, Any]]:
    """Rows of query, document and rating; `counts` gets codes of notes, `places` where each row stands."""
    for i, entry in enumerate(queries):
        place = f"{where}: $.queries[{i}]"
        if not isinstance(entry, Mapping):
            raise InputError(f"is {ids.show(repr(entry), 60)}, not an object", where=place, hint=_QUEPID)

        query = entry.get("query", entry.get("query_text"))
        placeholders = entry.get("placeholders")
        if query is None and isinstance(placeholders, Mapping):
            query = placeholders.get("$query", next(iter(placeholders.values()), None))

        if query is None:
            raise InputError("has no query", where=place, hint=_QUEPID)

        rated = list(_rated(entry, place))
        counts["unrated-queries"] += not rated
        for doc, rating, at in rated:
            if rating is None:
                counts["ungraded-rows"] += 1
            else:
                places.append(at)
                yield query, doc, rating


def _rated(entry: Mapping[str, Any], place: str) -> Iterator[tuple[Any, Any, str]]:
    """Documents with their ratings: {doc: rating}, or {rating: [doc, ...]} for the Rated Ranking Evaluator."""
    if "ratings" in entry:
        name = "ratings"
    else:
        name = "relevant_documents"

    given = entry.get(name) or {}
    if not isinstance(given, Mapping):
        raise InputError(f"is {ids.show(repr(given), 60)}, not an object", where=f"{place}.{name}", hint=_QUEPID)

    for key, value in given.items():
        at = f"{place}.{name}['{ids.show(key, 40)}']"
        if name == "ratings":
            yield key, value, at
            continue
        if isinstance(value, Mapping):
            docs = value.get("relevant", value.get("docs"))
        else:
            docs = value
        if not isinstance(docs, list) or not str(key).lstrip("-").isdigit():
            raise InputError("is no rating with a list of documents", where=at, hint=_QUEPID)
        for doc in docs:
            yield doc, int(key), at
