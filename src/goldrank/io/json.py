"""JSON and JSON Lines: the shapes that ranx, MTEB, LlamaIndex, Elasticsearch and OpenSearch write.

Each shape is recognised by its keys and becomes either a table {query: {doc: number}} or rows (query, doc, number),
which `objects` checks. Errors give the JSON path ($.q1.d1) of what is wrong.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from goldrank import ids
from goldrank.data import budget
from goldrank.data.qrels import Grade, Qrels, check_grade, reserve_judgements
from goldrank.data.run import Rankings, Run, check_score
from goldrank.errors import InputError
from goldrank.io import aliases, json_rows, json_text, objects
from goldrank.io.formats import Reading
from goldrank.io.json_rows import ROW
from goldrank.io.json_text import step
from goldrank.io.numbers import grade_of
from goldrank.io.records import HINT, Records, of_mapping
from goldrank.io.sources import ByteSource

HELD_LINES = 1_000
"""After how many lines it is asked whether more fit."""
ONE_OBJECT = "Each query has one object, and each document stands in it once."
ONE_NAME = "Each field of an item has one name."
TABLE_HINT = 'Expected {"q1": {"d1": 1, ...}, ...}.'
RECORD_HINT = 'Expected {"query_id": ..., "doc_id": ..., "score": ...} or {"query_id": ..., "results": [...]}.'


def read_run(source: ByteSource, how: Reading) -> Run:
    """A run from any of the shapes of a run."""
    is_lines = how.format == "jsonl" or json_text.is_lines(source)
    results = json_rows.rankings(source) if is_lines else None
    if results is not None:
        return Run(Rankings(results), name=source.label, id_kind="text", notes=tuple(source.notes))
    data, numbers = _load(source, how, json_text.SCORES)
    where = source.name
    places: list[str] = []
    if isinstance(data, dict) and isinstance(data.get("rank_eval"), dict):
        data = data["rank_eval"]
    if isinstance(data, list):
        budget.reserve(ROW * len(data), f"a run of {len(data):,} records", where)
        rows = _records(data, "score", where, numbers, places)
        run = objects.run_from_rows(rows, source.label, how.duplicates, where=places.__getitem__)
    elif isinstance(data.get("details"), Mapping):
        rows, queries = _hits(data["details"], where, places), tuple(data["details"])
        run = objects.run_from_rows(rows, source.label, how.duplicates, queries, where=places.__getitem__)
    elif "requests" in data or "judgmentRatings" in data or "relevant_docs" in data:
        raise InputError("these are judgements, not a run", where=where, hint="Are the two files swapped?")
    else:
        table, path = _mteb(data, where) if "mteb_model_meta" in data else (data, "$")
        _check_table(table, f"{where}: {path}", lambda score: check_score(score, where))
        run = objects.run_from_mapping(table, source.label, how.duplicates)
    run.id_kind = "text"
    run.notes = (*source.notes, *run.notes)
    return run


def read_qrels(source: ByteSource, how: Reading) -> Qrels:
    """Qrels from any of the shapes of judgements."""
    data, numbers = _load(source, how, json_text.GRADES)
    where = source.name
    places: list[str] = []
    if isinstance(data, list) or "requests" in data or "judgmentRatings" in data:
        if isinstance(data, list):
            reserve_judgements(len(data), where)
            rows = _records(data, "grade", where, numbers, places)
        else:
            rows = _ratings(data, where, places)
        graded = ((query, doc, _grade(grade, places[-1], how.real_grades)) for query, doc, grade in rows)
        qrels = objects.qrels_from_rows(graded, source.label, how.judgements, how.real_grades, where=places.__getitem__)
    elif "details" in data and ("metric_score" in data or "quality_level" in data):
        raise InputError("this is a response with rankings, not judgements", where=where, hint="Are the files swapped?")
    else:
        table, path = (data["relevant_docs"], "$.relevant_docs") if "relevant_docs" in data else (data, "$")
        _check_table(table, f"{where}: {path}", lambda grade: _grade(grade, where, how.real_grades))
        qrels = objects.qrels_from_mapping(table, source.label, how.real_grades)
    if not len(qrels):
        raise InputError("no judgements", where=where, hint="Is it the right file, and is it complete?")
    qrels.id_kind = "text"
    qrels.notes = (*source.notes, *qrels.notes)
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
    table = {query: dict(data[query]) for query in data}
    for query, row in table.items():
        for doc, value in row.items():
            if not math.isfinite(value):
                scored = f"the score of '{ids.show(doc)}' in query '{ids.show(query)}'"
                hint = "Write TREC or Parquet instead."
                raise InputError(f"{scored} is infinite: JSON has no such number", hint=hint)
    return json.dumps(table, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _load(source: ByteSource, how: Reading, kinds: dict[str, Any]) -> tuple[Any, Sequence[int] | None]:
    """An object or a list; JSON Lines as a list of records, with the lines that they stand in."""
    if how.format == "jsonl" or json_text.is_lines(source):
        numbered = []
        for line in json_text.read_lines(source, Counter(), ONE_OBJECT, kinds):
            numbered.append(line)
            if len(numbered) % HELD_LINES == 0:
                needed = ROW * (len(numbered) + HELD_LINES)
                budget.reserve(needed, f"holding {len(numbered):,} lines of JSON", source.name)
        return [record for _, record in numbered], [number for number, _ in numbered]
    data = json_text.read_whole(source, ONE_OBJECT, kinds)
    if isinstance(data, Mapping) and (query := aliases.find(data, "query")) and isinstance(data[query], str | int):
        return [data], [1]
    if not isinstance(data, dict | list):
        raise InputError(f"is a JSON {type(data).__name__}, not an object", where=source.name, hint=TABLE_HINT)
    return data, None


def _check_table(table: Any, where: str, check: Callable[[Any], Any]) -> None:
    """Check every number of {query: {doc: number}}; a list of documents has none."""
    if not isinstance(table, Mapping):
        raise InputError(f"is a JSON {type(table).__name__}, not an object", where=where, hint=TABLE_HINT)
    for query, row in table.items():
        if not isinstance(row, Mapping | list):
            raise InputError(f"holds {row!r:.40} where documents should be", where=where + step(query), hint=TABLE_HINT)
        if isinstance(row, Mapping):
            for doc, value in row.items():
                try:
                    check(value)
                except InputError as error:
                    raise InputError(error.what, where=where + step(query) + step(doc), hint=error.hint) from None


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
        hits = detail.get("hits") if isinstance(detail, Mapping) else None
        for rank, item in enumerate(_items(hits, path), 1):
            place = f"{path}[{rank - 1}]"
            hit = item.get("hit") if isinstance(item, Mapping) else None
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
            places.append(f"{path}.ratings[{j}]")
            if not isinstance(item, Mapping) or doc not in item or "rating" not in item:
                raise InputError(f"has no {doc} with a rating", where=places[-1], hint=hint)
            rating = item["rating"]  # which OpenSearch writes as text
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


def _records(
    records: Sequence[Any], value: str, where: str, lines: Sequence[int] | None, places: list[str]
) -> Iterator[tuple[Any, Any, Any]]:
    """Rows of records: one per document, or one per query with its documents in a list."""
    known: dict[tuple[str, ...], tuple[str | None, str | None, str | None]] = {}
    for number, record in enumerate(records):
        place = f"{where}: $[{number}]" if lines is None else f"{where}:{lines[number]}"
        if not isinstance(record, Mapping):
            raise InputError(f"is {record!r:.60}, not an object", where=place, hint=RECORD_HINT)
        names = tuple(record)
        if names not in known:
            known[names] = aliases.find(names, "query"), aliases.find(names, "doc"), aliases.find(names, value)
        query, doc, key = known[names]
        items = None
        if doc is None:
            lists = (k for k in record if k.casefold() in aliases.RANKED_LISTS and isinstance(record[k], list))
            items = next(lists, None)
        if query is None or (doc is None and items is None) or (doc is not None and key is None):
            missing = "query" if query is None else "document" if doc is None else value
            raise InputError(f"has no {missing}; it has: {_keys(record)}", where=place, hint=RECORD_HINT)
        if doc is not None and key is not None:
            places.append(place)
            yield record[query], record[doc], record[key]
            continue
        assert items is not None
        for rank, item in enumerate(record[items], 1):
            implied: Any = 1 if value == "grade" else -float(rank)
            places.append(f"{place}, {items}[{rank - 1}]")
            if isinstance(item, Mapping):
                doc = aliases.first_present(item, aliases.LISTED_DOC)
                if doc is None:
                    raise InputError(f"has no document id; it has: {_keys(item)}", where=places[-1])
                key = aliases.find(item, value)
                yield record[query], item[doc], implied if key is None else item[key]
            else:
                yield record[query], item, implied


def _keys(record: Mapping[str, Any]) -> str:
    return ", ".join(map(ids.show, record)) or "nothing"
