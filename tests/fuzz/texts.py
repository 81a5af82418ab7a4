"""Questions with retrieved texts and references: the same items as dicts, files and frames, changed, score alike."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from goldrank import evaluate_texts
from tests.fuzz import cannot_say, mutations
from tests.fuzz.outcomes import agree, outcome, pieces_of, scores_value

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
        return scores_value(evaluate_texts(given, MEASURES, matcher=spec["matcher"], name="x"), notes=True)

    path = folder / "fuzzed"
    if spec["data"] is not None:
        path.write_bytes(spec["data"])
        ways = {"file": outcome(lambda: scored(path)), "stream": outcome(lambda: scored(io.BytesIO(spec["data"])))}
        with pieces_of(max(spec["piece"], len(spec["data"]) // 500)):
            ways["pieces"] = outcome(lambda: scored(path))
        agree(ways)
        return
    items = spec["items"]
    found = {"dicts": outcome(lambda: scored(items))}
    for form, make_bytes in _files(items).items():
        if form == "csv" and not cannot_say.cells_can_say(items):
            continue
        path = folder / f"fuzzed.{form}"
        path.write_bytes(make_bytes())
        found[form] = outcome(lambda path=path: scored(path))
    found["polars"] = outcome(lambda: scored(_frame(items)))
    found["pandas"] = outcome(lambda: scored(_frame(items).to_pandas()))
    agree(found)
