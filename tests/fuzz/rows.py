"""Rows of ids and numbers as text, written in every format and handed over as every object: one rule for all.

`cannot_say` is the table of what a format or object cannot say, with the reasons.
"""

from __future__ import annotations

import csv
import io
import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from goldrank import evaluate, read_qrels, read_run
from goldrank.core import core, portable
from goldrank.io import as_qrels, as_run
from tests.fuzz import cannot_say, mutations
from tests.fuzz.cannot_say import Row
from tests.fuzz.outcomes import (
    MEASURES,
    agree,
    drawn,
    outcome,
    pieces_of,
    qrels_value,
    run_value,
    scores_value,
    without_core,
)

Spec = dict[str, Any]
IDS = ("d1", "d2", "d3", "d10", "doc", "a", "longer-than-sixteen-bytes", "b#1", "1", "2", "é", "Z", "z")
SCORES = ("3", "2.5", "2.5", "1", "0.25", "-1", "1e-3", "7", "0")
GRADES = ("0", "1", "2", "1", "0", "3", "-1")


def make(rng: random.Random) -> Spec:
    thing = rng.choice(("run", "qrels"))
    queries = rng.sample(("q1", "q2", "q10", "é", "7", "all"), rng.choice((1, 2, 3)))
    numbers = SCORES if thing == "run" else GRADES
    rows = [(query, doc, rng.choice(numbers)) for query in queries for doc in rng.sample(IDS, rng.choice((1, 2, 4, 8)))]
    for _ in range(rng.choice((0, 1, 1, 2))):
        at = rng.randrange(len(rows))
        query, doc, number = rows[at]
        kind = rng.randrange(6)
        if kind <= 1:
            number = mutations.number(rng)
        elif kind == 2:
            doc = mutations.name(rng)
        elif kind == 3:
            query = mutations.name(rng)
        elif kind == 4:
            doc = mutations.changed_text(rng, doc)[:80]
        else:
            rows.insert(rng.randrange(len(rows) + 1), rows[at])
            continue
        rows[at] = (query, doc, number)
    if rng.random() < 0.3:
        rng.shuffle(rows)
    judged = [[*list(row[:2]), rng.randrange(3)] for row in rows if rng.random() < 0.6]
    return {
        "thing": thing,
        "rows": [list(row) for row in rows],
        "judged": judged,
        "piece": rng.choice((3, 17, 64)),
        "routes": rng.sample(sorted(route for route in cannot_say.REASONS if not route.startswith("written ")), 5),
        "draw": rng.getrandbits(32),
    }


def _literal(text: str, thing: str) -> Any:
    """The number that a text stands for, as an object holds it."""
    value = float(text)
    whole = thing == "qrels" and math.isfinite(value) and value == int(value) and "e" not in text.lower()
    return int(text.split(".")[0] or 0) if whole else value


def _separated(rows: Sequence[Row], value: str, **how: Any) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", **how).writerows([("query", "doc", value), *rows])
    return text.getvalue().encode()


def _json(rows: Sequence[Row]) -> bytes:
    """Nested objects, with names repeated where rows are."""
    queries: dict[str, list[str]] = {}
    for query, doc, number in rows:
        queries.setdefault(query, []).append(f"{json.dumps(doc)}: {number}")
    inner = (f"{json.dumps(query)}: {{{', '.join(docs)}}}" for query, docs in queries.items())
    return ("{" + ", ".join(inner) + "}").encode()


def _frame(rows: Sequence[Row], value: str, numbers: Sequence[Any]) -> Any:
    import polars

    if any(isinstance(number, float) for number in numbers):
        numbers = [float(number) for number in numbers]
    columns = {"query": [row[0] for row in rows], "doc": [row[1] for row in rows], value: list(numbers)}
    return polars.DataFrame(columns)


def _file(frame: Any, kind: str) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer) if kind == "parquet" else frame.write_ipc(buffer)
    return buffer.getvalue()


def routes(thing: str, rows: Sequence[Row]) -> dict[str, Callable[[], Any]]:
    """The same rows on every route that can say them: files as bytes, objects as they are."""
    value = "score" if thing == "run" else "grade"
    text = [row[2] for row in rows]
    middle = {"run": lambda row, i: f"{row[0]} Q0 {row[1]} {i} {row[2]}", "qrels": lambda row, i: " 0 ".join(row[:2])}
    lines = [middle[thing](row, i) + ("" if thing == "run" else f" {row[2]}") for i, row in enumerate(rows, 1)]

    def joined(made: Sequence[str]) -> bytes:
        return ("\n".join(made) + "\n").encode("utf-8", "surrogateescape")

    def numbers() -> list[Any]:
        return [_literal(row[2], thing) for row in rows]

    def mapping() -> Any:
        found: dict[str, dict[str, Any]] = {}
        for (query, doc, _), number in zip(rows, numbers(), strict=True):
            found.setdefault(query, {})[doc] = number
        return found

    records = [f'{{"query": {json.dumps(q)}, "doc": {json.dumps(d)}, "{value}": {n}}}' for q, d, n in rows]
    made: dict[str, Callable[[], Any]] = {
        "trec": lambda: joined([f"{line} t" for line in lines] if thing == "run" else lines),
        "tsv": lambda: joined(["\t".join(row) for row in [("query", "doc", value), *rows]]),
        "csv": lambda: _separated(rows, value, quoting=csv.QUOTE_ALL),
        "json": lambda: _json(rows),
        "jsonl": lambda: joined(records),
        "polars": lambda: _frame(rows, value, text),
        "pandas": lambda: _frame(rows, value, text).to_pandas(),
        "parquet": lambda: _file(_frame(rows, value, text), "parquet"),
        "arrow": lambda: _file(_frame(rows, value, text), "arrow"),
        "dict": mapping,
        "rows": lambda: [(q, d, n) for (q, d, _), n in zip(rows, numbers(), strict=True)],
        "polars numbers": lambda: _frame(rows, value, numbers()),
        "pandas numbers": lambda: _frame(rows, value, numbers()).to_pandas(),
        "parquet numbers": lambda: _file(_frame(rows, value, numbers()), "parquet"),
    }
    if thing == "run":
        made["trec-no-tag"] = lambda: joined(lines)
    else:
        made["trec-3col"] = lambda: joined([" ".join(row) for row in rows])
    return {route: make for route, make in made.items() if _can(route, thing, rows)}


def _can(route: str, thing: str, rows: Sequence[Row]) -> bool:
    if not cannot_say.can_say(route, rows):
        return False
    if thing == "qrels" and (route in ("dict", "rows") or route.endswith("numbers")):
        return all(cannot_say.is_exact_grade(row) for row in rows)
    return True


NAMED = ("trec", "trec-no-tag", "trec-3col")
"""Formats that are named, because rows may look like something else."""
FORMAT = {"tsv": "table", "csv": "table"}


def check(spec: Spec, folder: Path) -> None:
    thing = spec["thing"]
    rows: list[Row] = [(q, d, n) for q, d, n in spec["rows"]]
    judged: dict[str, dict[str, int]] = {}
    for query, doc, grade in spec["judged"]:
        judged.setdefault(query, {})[doc] = grade
    possible = routes(thing, rows)
    if not possible:
        return
    first, *others = possible
    chosen = [first, *(route for route in spec["routes"] if route in others)]
    ways: dict[str, list[tuple[str, Callable[[], Any]]]]
    ways = {"held": [], "scored": []} if thing == "run" and judged else {"held": []}
    for route in chosen:
        given = cache(possible[route])
        for kind, name, action in _ways(thing, route, given, judged, spec["piece"]):
            if kind in ways:
                ways[kind].append((name, action))
    for (name, base), *more in ways.values():
        found = outcome(base)
        for other, action in drawn(more, spec["draw"]):
            agree({name: found, other: outcome(action)})


Way = tuple[str, str, Callable[[], Any]]


def _ways(thing: str, route: str, given: Callable[[], Any], judged: Any, piece: int) -> Iterator[Way]:
    """What a route gives: what it holds and how it is scored, also in pieces and without the compiled core."""
    kind = route.split()[0]
    format = FORMAT.get(kind, kind)

    def opened() -> Any:
        data = given()
        if thing == "run":
            return read_run(io.BytesIO(data), format=format) if isinstance(data, bytes) else as_run(data)
        return read_qrels(io.BytesIO(data), format=format) if isinstance(data, bytes) else as_qrels(data)

    def held() -> Any:
        return run_value(opened()) if thing == "run" else qrels_value(opened())

    def scored() -> Any:
        return scores_value(evaluate(judged, opened(), MEASURES))

    def in_pieces() -> Any:
        with pieces_of(piece, given()):
            return held()

    def pure(action: Callable[[], Any]) -> Any:
        with without_core():
            return action()

    yield "held", route, held
    yield "scored", route, scored
    if kind in NAMED:
        yield "held", f"{route} in pieces", in_pieces
    if core is not portable and (kind in NAMED or route == "dict"):
        if kind in NAMED:
            yield "held", f"{route} without the core", partial(pure, held)
        yield "scored", f"{route} without the core", partial(pure, scored)
