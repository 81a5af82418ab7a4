"""JSON and JSON Lines: the shapes that ranx, MTEB, LlamaIndex, Elasticsearch and OpenSearch write.

Each shape is told by its keys. Whatever it is, it becomes a mapping of mappings and goes through
`objects`, so that ids and numbers are checked in one place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from goldrank.data import ids
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.errors import InputError, Place
from goldrank.io import names, objects
from goldrank.io.sources import Source

NESTED = ("results", "ranking", "hits", "documents", "docs", "retrieved", "documentids", "ratings", "judgements")
"""Names under which a record may hold a list of documents."""


def read_run(source: Source, *, lines: bool, duplicates: str = "error") -> Run:
    """A run from any of the shapes of a run."""
    data = _load(source, lines)
    name = source.path.name if source.path is not None else source.name
    if isinstance(data, list):
        run = objects.run_from_rows(_flat(data, "score", source.name), name, duplicates)
    else:
        run = objects.run_from_mapping(_run_mapping(data, source.name), name, duplicates)
    return Run(
        None if run.blocks else run.results,
        name=name,
        blocks=run.blocks,
        id_kind="text",
        notes=(*source.notes, *run.notes),
    )


def read_qrels(source: Source, *, lines: bool, judgements: str = "error", real_grades: bool = False) -> Qrels:
    """Qrels from any of the shapes of judgements."""
    data = _load(source, lines)
    name = source.path.name if source.path is not None else source.name
    if isinstance(data, list):
        qrels = objects.qrels_from_rows(_flat(data, "grade", source.name), name, judgements)
    else:
        mapping = _qrels_mapping(data, source.name)
        listed = {q: d if isinstance(d, Mapping) else dict.fromkeys(d, 1) for q, d in mapping.items()}
        qrels = Qrels(listed, name=name, real_grades=real_grades)
    if not len(qrels):
        raise InputError("no judgements", where=source.name, hint="Is it the right file, and is it complete?")
    qrels.id_kind = "text"
    qrels.notes = (*source.notes, *qrels.notes)
    return qrels


def dump(data: Run | Qrels) -> bytes:
    """{query: {doc: value}} as JSON bytes."""
    plain = {query: dict(data[query]) for query in data}
    for query, row in plain.items():
        for doc, value in row.items():
            if value in (float("inf"), float("-inf")):
                raise InputError(
                    f"the score of '{ids.show(doc)}' in query '{ids.show(query)}' is infinite: JSON has no such number",
                    hint="Write TREC or Parquet instead.",
                )
    return json.dumps(plain, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _load(source: Source, lines: bool) -> Any:
    """The parsed text; a key that occurs twice in one object is an error."""
    raw = source.read()
    if not lines:
        data = _parse(raw, source.name, 1)
        return [data] if _is_record(data) else data
    return [_parse(line, source.name, number) for number, line in enumerate(raw.split(b"\n"), 1) if line.strip()]


def _is_record(data: Any) -> bool:
    """Whether an object is the only record of JSON Lines: it names its query, which an object of queries does not."""
    query = names.find(data, "query") if isinstance(data, Mapping) else None
    return query is not None and isinstance(data[query], str | int)


def _parse(raw: bytes, name: str, line: int) -> Any:
    try:
        text = raw.decode("utf-8", "surrogateescape")
        return json.loads(text, object_pairs_hook=_no_repeats, parse_constant=_constant)
    except _RepeatedKeyError as error:
        raise InputError(f"key {error} occurs twice in one object", where=Place(name, line)) from None
    except json.JSONDecodeError as error:
        where = Place(name, line + error.lineno - 1, error.colno)
        raise InputError(f"is not JSON: {error.msg}", where=where) from None
    except RecursionError:
        raise InputError("is nested too deeply", where=Place(name, line)) from None


class _RepeatedKeyError(ValueError):
    pass


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedKeyError(f"'{ids.show(key)}'")
            seen.add(key)
    return found


def _constant(text: str) -> float:
    return float(text.replace("Infinity", "inf"))


# The shapes of one big object.


def _run_mapping(data: Any, name: str) -> Mapping[str, Any]:
    found = _object(data, name)
    if "rank_eval" in found:
        found = _object(found["rank_eval"], name)
    if "details" in found and "metric_score" in found:
        return {query: list(_hits(detail, f"{name}: $.details.{query}")) for query, detail in found["details"].items()}
    if "mteb_model_meta" in found:
        return _mteb(found, name)
    if "requests" in found or "judgmentRatings" in found or "relevant_docs" in found:
        raise InputError("these are judgements, not a run", where=name, hint="Are the two files swapped?")
    return found


def _hits(detail: Any, where: str) -> Iterator[tuple[str, float]]:
    try:
        for rank, item in enumerate(detail["hits"], 1):
            hit = item["hit"]
            score = hit.get("_score")
            yield hit["_id"], -float(rank) if score is None else score
    except (KeyError, TypeError, AttributeError):
        raise InputError("hits are not as _rank_eval gives them", where=where) from None


def _mteb(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The only subset and split of MTEB predictions."""
    parts = [
        (subset, split, run)
        for subset, splits in found.items()
        if subset != "mteb_model_meta" and isinstance(splits, Mapping)
        for split, run in splits.items()
    ]
    if len(parts) != 1:
        listed = ", ".join(f"{subset}/{split}" for subset, split, _ in parts) or "none"
        raise InputError(
            f"holds {len(parts)} runs: {listed}",
            where=name,
            hint="Take out the one that you mean: data[subset][split].",
        )
    return _object(parts[0][2], name)


def _qrels_mapping(data: Any, name: str) -> Mapping[str, Any]:
    found = _object(data, name)
    if "relevant_docs" in found and "queries" in found:
        return _object(found["relevant_docs"], name)
    if "requests" in found:
        return _rated(found["requests"], "id", "_id", ("rating", "quality_level"), f"{name}: $.requests")
    if "judgmentRatings" in found:
        return _rated(found["judgmentRatings"], "query", "docId", ("rating",), f"{name}: $.judgmentRatings")
    if "details" in found and "metric_score" in found:
        raise InputError("this is a response with rankings, not judgements", where=name, hint="Are the files swapped?")
    return found


def _rated(entries: Any, query: str, doc: str, grades: Iterable[str], where: str) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = {}
    try:
        for i, entry in enumerate(entries):
            row = table.setdefault(entry[query], {})
            for j, rating in enumerate(entry["ratings"]):
                value = next(rating[key] for key in grades if key in rating)
                row[rating[doc]] = _number(value, f"{where}[{i}].ratings[{j}]")
    except (KeyError, TypeError, AttributeError, StopIteration):
        raise InputError("ratings are not as expected", where=where) from None
    return table


def _number(value: Any, where: str) -> Any:
    """A rating, which OpenSearch writes as text."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise InputError(f"rating {value!r} is not a number", where=where) from None
    return value


def _object(data: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise InputError(
            f"is a JSON {type(data).__name__}, not an object", where=name, hint='Expected {"q1": {"d1": 1, ...}, ...}.'
        )
    for query, row in data.items():
        if not isinstance(row, Mapping | list):
            raise InputError(
                f"holds {row!r:.40} where documents should be",
                where=f"{name}: $.{ids.show(query)}",
                hint='Expected {"q1": {"d1": 1, ...}, ...}.',
            )
    return data


# Records: one per document, or one per query with its documents in a list.


def _flat(records: Iterable[Any], value: str, name: str) -> Iterator[tuple[Any, Any, Any]]:
    for number, record in enumerate(records, 1):
        where = f"{name}: record {number}"
        if not isinstance(record, Mapping):
            raise InputError(f"is {record!r:.60}, not an object", where=where)
        query = names.find(record, "query") or next((k for k in record if k in ("searchText", "queryText")), None)
        doc = names.find(record, "doc")
        if doc is None:
            yield from _listed(record, query, value, where)
            continue
        found = names.find(record, value)
        if query is None or found is None:
            missing = "query" if query is None else value
            raise InputError(
                f"has no {missing}; it has: {', '.join(record)}",
                where=where,
                hint=f"Name it one of: {', '.join(names.ALIASES[missing])}.",
            )
        yield record[query], record[doc], record[found]


def _listed(record: Mapping[str, Any], query: str | None, value: str, where: str) -> Iterator[tuple[Any, Any, Any]]:
    key = next((k for k in record if k.casefold() in NESTED), None)
    if query is None or key is None or not isinstance(record[key], list):
        raise InputError(
            f"has no {'query' if query is None else 'document'}; it has: {', '.join(record)}",
            where=where,
            hint='Expected {"query_id": ..., "doc_id": ..., "score": ...} or {"query_id": ..., "results": [...]}.',
        )
    for rank, item in enumerate(record[key], 1):
        otherwise: Callable[[], Any] = lambda rank=rank: 1 if value == "grade" else -float(rank)  # type: ignore[misc]  # noqa: E731
        if isinstance(item, Mapping):
            doc = names.find(item, "doc") or next((k for k in item if k in ("id", "_id", "docId")), None)
            if doc is None:
                raise InputError(f"item {rank} has no document id; it has: {', '.join(item)}", where=where)
            found = names.find(item, value)
            yield record[query], item[doc], item[found] if found else otherwise()
        else:
            yield record[query], item, otherwise()
