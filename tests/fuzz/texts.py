"""Questions with retrieved texts and references: the same items as dicts, files and frames, changed, score alike."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from goldrank import Matching, evaluate_texts, read_items
from tests.fuzz import cannot_say, mutations
from tests.fuzz.outcomes import agree, drawn, outcome, pieces_of, scores_value

Spec = dict[str, Any]
MEASURES = ["RR", "P@2", "Cover@2", "AP"]
ITEMS: list[dict[str, Any]] = [
    {"query_id": "1", "question": "Where is Rome?", "retrieved": ["Rome is in Italy.", "Paris is in France."],
     "references": ["Rome is in Italy."]},
    {"query_id": "2", "question": "é?", "retrieved": ["a b c d", "1,234 people", ""], "references": ["a b c", "1234"]},
    {"query_id": "3", "question": "x", "retrieved": [], "references": ["never"]},
]  # fmt: skip
MATCHERS = ("exact", "contains", "rouge-l:0.7", "token-overlap:0.5", "fuzzy:0.8")


def make(rng: random.Random) -> Spec:
    spec: Spec = {"matcher": rng.choice(MATCHERS), "piece": rng.choice((3, 40)), "data": None, "items": None}
    spec["draw"] = rng.getrandbits(32)
    if rng.random() < 0.5:
        items = json.loads(json.dumps(ITEMS))
        for _ in range(rng.choice((1, 2, 3))):
            item = rng.choice(items)
            field = rng.choice(list(item))
            if isinstance(item[field], list):
                text = rng.choice((*item[field], mutations.name(rng), mutations.number(rng), "Rome is in Italy"))
                item[field].insert(0, mutations.changed_text(rng, text)[:2000].encode("utf-8", "replace").decode())
            else:
                item[field] = mutations.name(rng)
        return spec | {"items": items}
    form = rng.choice(("jsonl", "json", "json", "csv", "parquet"))
    if form == "json" and rng.random() < 0.6:
        return spec | {"data": json.dumps(mutations.changed_json(rng, ITEMS)).encode()}
    return spec | {"data": mutations.changed(rng, _files(ITEMS)[form]())}


def _lists_in_cells(items: list[dict[str, Any]]) -> bytes:
    text = io.StringIO(newline="")
    rows = [[json.dumps(cell) if isinstance(cell, list) else cell for cell in item.values()] for item in items]
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([list(items[0]), *rows])
    return text.getvalue().encode()


def _frame(items: list[dict[str, Any]]) -> Any:
    import polars

    lists = polars.List(polars.String)
    schema = {"query_id": polars.String, "question": polars.String, "retrieved": lists, "references": lists}
    return polars.DataFrame(items, schema=schema)


def _parquet(items: list[dict[str, Any]]) -> bytes:
    buffer = io.BytesIO()
    _frame(items).write_parquet(buffer)
    return buffer.getvalue()


def _files(items: list[dict[str, Any]]) -> dict[str, Callable[[], bytes]]:
    return {
        "jsonl": lambda: b"".join(json.dumps(item).encode() + b"\n" for item in items),
        "json": lambda: json.dumps(items).encode(),
        "csv": lambda: _lists_in_cells(items),
        "parquet": lambda: _parquet(items),
    }


def check(spec: Spec, folder: Path) -> None:
    def scored(given: Any) -> Any:
        return scores_value(
            evaluate_texts(read_items(given, name="x"), MEASURES, matching=Matching(spec["matcher"])), notes=True
        )

    if spec["data"] is not None:
        first, *routes = _of_bytes(spec, folder / "fuzzed", scored)
    else:
        first, *routes = _of_items(spec["items"], folder, scored)
    found = outcome(first[1])
    for name, route in drawn(routes, spec["draw"]):
        agree({first[0]: found, name: outcome(route)})


Route = tuple[str, Callable[[], Any]]


def _of_bytes(spec: Spec, path: Path, scored: Callable[[Any], Any]) -> list[Route]:
    path.write_bytes(spec["data"])

    def in_pieces() -> Any:
        with pieces_of(spec["piece"], spec["data"]):
            return scored(path)

    return [
        ("file", lambda: scored(path)),
        ("stream", lambda: scored(io.BytesIO(spec["data"]))),
        ("pieces", in_pieces),
    ]


def _of_items(items: list[dict[str, Any]], folder: Path, scored: Callable[[Any], Any]) -> list[Route]:
    def written(form: str) -> Any:
        path = folder / f"fuzzed.{form}"
        path.write_bytes(_files(items)[form]())
        return scored(path)

    forms = [form for form in _files(items) if form != "csv" or cannot_say.cells_can_say(items)]
    return [
        ("dicts", lambda: scored(items)),
        *((form, partial(written, form)) for form in forms),
        ("polars", lambda: scored(_frame(items))),
        ("pandas", lambda: scored(_frame(items).to_pandas())),
    ]
