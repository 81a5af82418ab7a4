"""JSON and JSON Lines: the shapes that ranx, MTEB, LlamaIndex, Elasticsearch and OpenSearch write.

Each shape is told by its keys and becomes either a table {query: {doc: number}} or rows (query, doc, number),
which `objects` checks. Errors give the JSON path ($.q1.d1) of what is wrong.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from goldrank import ids
from goldrank.data.qrels import Qrels, check_grade
from goldrank.data.run import Run, check_score
from goldrank.errors import InputError, Place
from goldrank.io import names, objects
from goldrank.io.sources import Source

LISTS = ("results", "ranking", "hits", "documents", "docs", "retrieved", "documentids", "ratings", "judgements")
"""Names under which a record may hold a list of documents, in lower case."""
TABLE_HINT = 'Expected {"q1": {"d1": 1, ...}, ...}.'
RECORD_HINT = 'Expected {"query_id": ..., "doc_id": ..., "score": ...} or {"query_id": ..., "results": [...]}.'


def read_run(source: Source, *, lines: bool, duplicates: str = "error") -> Run:
    """A run from any of the shapes of a run."""
    data, numbers = _load(source, lines)
    where = source.name
    places: list[str] = []
    if isinstance(data, dict) and isinstance(data.get("rank_eval"), dict):
        data = data["rank_eval"]
    if isinstance(data, list):
        rows = _records(data, "score", where, numbers, places)
        run = objects.run_from_rows(rows, source.label, duplicates, where=places.__getitem__)
    elif "details" in data and isinstance(data["details"], Mapping):
        rows = _hits(data["details"], where, places)
        queries = tuple(data["details"])
        run = objects.run_from_rows(rows, source.label, duplicates, queries, where=places.__getitem__)
    elif "requests" in data or "judgmentRatings" in data or "relevant_docs" in data:
        raise InputError("these are judgements, not a run", where=where, hint="Are the two files swapped?")
    else:
        table, path = _mteb(data, where) if "mteb_model_meta" in data else (data, "$")
        _check_table(table, f"{where}: {path}", lambda score: check_score(score, where))
        run = objects.run_from_mapping(table, source.label, duplicates)
    run.id_kind = "text"
    run.notes = (*source.notes, *run.notes)
    return run


def read_qrels(source: Source, *, lines: bool, judgements: str = "error", real_grades: bool = False) -> Qrels:
    """Qrels from any of the shapes of judgements."""
    data, numbers = _load(source, lines)
    where = source.name
    places: list[str] = []
    if isinstance(data, list):
        rows = _records(data, "grade", where, numbers, places)
        qrels = objects.qrels_from_rows(rows, source.label, judgements, real_grades, where=places.__getitem__)
    elif "requests" in data or "judgmentRatings" in data:
        rows = _ratings(data, where, places)
        qrels = objects.qrels_from_rows(rows, source.label, judgements, real_grades, where=places.__getitem__)
    elif "details" in data and ("metric_score" in data or "quality_level" in data):
        raise InputError("this is a response with rankings, not judgements", where=where, hint="Are the files swapped?")
    else:
        table, path = (data["relevant_docs"], "$.relevant_docs") if "relevant_docs" in data else (data, "$")
        _check_table(table, f"{where}: {path}", lambda grade: check_grade(grade, where, real_grades))
        qrels = objects.qrels_from_mapping(table, source.label, real_grades)
    if not len(qrels):
        raise InputError("no judgements", where=where, hint="Is it the right file, and is it complete?")
    qrels.id_kind = "text"
    qrels.notes = (*source.notes, *qrels.notes)
    return qrels


def dump(data: Run | Qrels) -> bytes:
    """{query: {doc: value}} as JSON bytes."""
    table = {query: dict(data[query]) for query in data}
    for query, row in table.items():
        for doc, value in row.items():
            if not math.isfinite(value):
                raise InputError(
                    f"the score of '{ids.show(doc)}' in query '{ids.show(query)}' is infinite: JSON has no such number",
                    hint="Write TREC or Parquet instead.",
                )
    return json.dumps(table, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


# Text -> values.


def _load(source: Source, lines: bool) -> tuple[Any, Sequence[int] | None]:
    """An object or a list; JSON Lines as a list of records, with the lines that they stand in."""
    text = source.read().decode("utf-8", "surrogateescape")
    if lines or _is_lines(text):
        filled = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        return [_parse(line, source.name, n) for n, line in filled], [n for n, _ in filled]
    data = _parse(text, source.name, 1)
    if isinstance(data, Mapping) and (query := _query_key(data)) and isinstance(data[query], str | int):
        return [data], [1]
    if not isinstance(data, dict | list):
        raise InputError(f"is a JSON {type(data).__name__}, not an object", where=source.name, hint=TABLE_HINT)
    return data, None


def _is_lines(text: str) -> bool:
    """Whether the first line that is not blank is a whole object, and more follows it."""
    first, _, rest = text.lstrip().partition("\n")
    if not first.startswith("{") or not rest.lstrip().startswith("{"):
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _parse(text: str, name: str, line: int) -> Any:
    return Parser("Each query has one object, and each document stands in it once.").parse(text, name, line)


class Parser:
    """Reads JSON in which no object has a key twice; `hint` says what to do about one that has."""

    def __init__(self, hint: str | None = None) -> None:
        self._hint = hint
        self._repeated: list[_Repeated] = []
        self._decoder = json.JSONDecoder(object_pairs_hook=self._make)

    def _make(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            made = _Repeated(made, pairs)
            self._repeated.append(made)
        return made

    def parse(self, text: str, name: str, line: int, column: int = 1) -> Any:
        """The value of a text that begins at a line and a column of a file."""
        try:
            data = self._decoder.decode(text)
        except (ValueError, RecursionError):
            with self.explained(text, name, line, column):
                raise
        return self.checked(data, name if line == 1 else Place(name, line)) if self._repeated else data

    def parse_first(self, text: str, begin: int) -> tuple[Any, int]:
        """The value that begins at a position and where it ends. Errors are json's own: see `explained`."""
        return self._decoder.raw_decode(text, begin)

    def checked(self, data: Any, where: Place | str) -> Any:
        """The value that was parsed last, if no object in it has a key twice."""
        if self._repeated:
            first = self._repeated[0]
            self._repeated.clear()
            path = next((path for path, node in _walk(data) if node is first), "$")
            raise InputError(
                f"key '{ids.show(first.key)}' occurs twice in the object at {path}", where=where, hint=self._hint
            )
        return data

    @contextmanager
    def explained(self, text: str, name: str, line: int, column: int = 1) -> Iterator[None]:
        """Turn json's errors into ours."""
        try:
            yield
        except json.JSONDecodeError as error:
            where = Place(name, line + error.lineno - 1, error.colno + (column - 1 if error.lineno == 1 else 0))
            found = ids.show(text[error.pos : error.pos + 20]) or "the end"
            raise InputError(
                f"is not JSON: {error.msg}, found '{found}'", where=where, hint=_cut_off(text, error)
            ) from None
        except ValueError as error:  # Python refuses integers of thousands of digits
            raise InputError(f"is not JSON: {error}", where=Place(name, line)) from None
        except RecursionError:
            raise InputError("is nested too deeply", where=Place(name, line)) from None


def _cut_off(text: str, error: json.JSONDecodeError) -> str | None:
    return "Is the file complete?" if error.pos >= len(text.rstrip()) or "Unterminated" in error.msg else None


class _Repeated(dict[str, Any]):
    """An object in which `key` occurs twice."""

    def __init__(self, made: dict[str, Any], pairs: list[tuple[str, Any]]) -> None:
        super().__init__(made)
        seen: set[str] = set()
        self.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]


def _walk(data: Any) -> Iterator[tuple[str, Any]]:
    """Every object and list with its path."""
    waiting = [("$", data)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        children = node.items() if isinstance(node, dict) else enumerate(node)
        waiting += [(path + step(key), child) for key, child in children if isinstance(child, dict | list)]


def step(key: str | int) -> str:
    """A key or position as part of a JSON path."""
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if key.isidentifier() else f"['{ids.show(key)}']"


# Values -> tables and rows.


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
        raise InputError(
            f"holds {len(parts)} runs: {', '.join(path for _, path in parts) or 'none'}",
            where=where,
            hint="Take out the one that you mean: data[subset][split].",
        )
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
            yield entry[query], item[doc], _number(item["rating"])


def _number(value: Any) -> Any:
    """A rating, which OpenSearch writes as text; what is no number is left for `check_grade` to refuse."""
    try:
        return float(value) if isinstance(value, str) and value.isascii() and "_" not in value else value
    except ValueError:
        return value


def _items(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"is {value!r:.40}, not a list", where=where)
    return value


def _records(
    records: Sequence[Any], value: str, where: str, lines: Sequence[int] | None, places: list[str]
) -> Iterator[tuple[Any, Any, Any]]:
    """Rows of records: one per document, or one per query with its documents in a list."""
    for number, record in enumerate(records):
        place = f"{where}: $[{number}]" if lines is None else f"{where}:{lines[number]}"
        if not isinstance(record, Mapping):
            raise InputError(f"is {record!r:.60}, not an object", where=place, hint=RECORD_HINT)
        query = _query_key(record)
        doc = names.find(record, "doc")
        key = names.find(record, value)
        items = next((k for k in record if k.casefold() in LISTS and isinstance(record[k], list)), None)
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
                doc = names.find(item, "doc") or next((k for k in item if k in ("id", "_id")), None)
                if doc is None:
                    raise InputError(f"has no document id; it has: {_keys(item)}", where=places[-1])
                key = names.find(item, value)
                yield record[query], item[doc], implied if key is None else item[key]
            else:
                yield record[query], item, implied


def _query_key(record: Mapping[str, Any]) -> str | None:
    return names.find(record, "query") or next((k for k in record if k in ("searchText", "queryText")), None)


def _keys(record: Mapping[str, Any]) -> str:
    return ", ".join(map(ids.show, record)) or "nothing"
