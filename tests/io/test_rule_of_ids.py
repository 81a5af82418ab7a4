"""One rule for ids, whatever holds them: none is empty, over-long or not text; every other text is one."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from raising import raises_code

from goldrank import (
    GoldrankError,
    Qrels,
    Run,
    Runs,
    Scores,
    compare,
    evaluate,
    evaluate_arrays,
    evaluate_texts,
    fuse,
    read_qrels,
    read_run,
)
from goldrank.compat import pytrec_eval
from goldrank.data.aspects import AspectQrels
from goldrank.data.preferences import Preferences
from goldrank.io import as_qrels, as_run

LONG = "d" * 65_537
Q, R = {"q1": {"d1": 1}}, {"q1": {"d1": 1.0, "d2": 0.5}}


def stream(data: Any, lines: bool = False) -> io.BytesIO:
    """JSON, or a text as it is."""
    text = data if isinstance(data, str) else "\n".join(map(json.dumps, data)) if lines else json.dumps(data)
    return io.BytesIO(text.encode("utf-8", "surrogateescape"))


def parquet(columns: dict[str, Any]) -> io.BytesIO:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return io.BytesIO(buffer.getvalue())


def objects(columns: dict[str, Any]) -> pd.DataFrame:
    """A frame of pandas whose columns hold Python's own objects."""
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


OBJECTS: dict[str, Callable[[str, str], Any]] = {
    "dict run": lambda q, d: evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}, q: {d: 1.0, "e": 0.5}}),
    "dict run, unjudged document": lambda q, d: evaluate({q: {"e": 1}}, {q: {"e": 1.0, d: 0.5}}),
    "dict qrels": lambda q, d: evaluate({"q": {"d": 1}, q: {d: 1}}, {"q": {"d": 1.0}}),
    "integers": lambda q, d: as_run({q: {d: 1}}),
    "Run": lambda q, d: Run({q: {d: 1.0}}),
    "Qrels": lambda q, d: Qrels({q: {d: 1}}),
    "real grades": lambda q, d: Qrels({q: {d: 0.5}}, real_grades=True),
    "lists": lambda q, d: as_run({q: [d]}),
    "pairs": lambda q, d: as_run({q: [(d, 1.0)]}),
    "relevant": lambda q, d: as_qrels({q: [d]}),
    "rows": lambda q, d: as_run([(q, d, 1.0)]),
    "named rows": lambda q, d: as_run([{"query": q, "doc": d, "score": 1.0}]),
    "rows of qrels": lambda q, d: as_qrels([(q, d, 1)]),
    "json": lambda q, d: dict(read_run(stream({q: {d: 1.0}}))),
    "json qrels": lambda q, d: read_qrels(stream({q: {d: 1}})),
    "json records": lambda q, d: dict(read_run(stream([{"query": q, "doc": d, "score": 1}]))),
    "json lines": lambda q, d: dict(
        read_run(stream([{"query": "q", "doc": "d", "score": 1}, {"query": q, "doc": d, "score": 1}], lines=True))
    ),
    "json lines of qrels": lambda q, d: read_qrels(stream([{"query": q, "doc": d, "grade": 1}] * 2, lines=True)),
    "items": lambda q, d: evaluate_texts(
        [{"id": q, "question": "x", "retrieved": [{"id": d, "text": "a"}], "references": ["a"]}], "P@1"
    ),
    "ids of passages": lambda q, d: evaluate_texts(
        [{"id": q, "question": "x", "retrieved": ["a"], "retrieved_ids": [d], "references": ["a"]}], "P@1"
    ),
    "fusion": lambda q, d: fuse({"a": {q: {d: 1.0}}, "b": R}),
    "aspects": lambda q, d: AspectQrels({q: {"1": {d: 1}}}),
    "preferences": lambda q, d: Preferences({q: {"judge": [{d: 1, "e": 0}]}}),
    "pytrec_eval": lambda q, d: pytrec_eval.RelevanceEvaluator({q: {d: 1}}, {"map"}).evaluate({q: {d: 1.0}}),
}
"""Whatever Python's text can hold comes in by these."""
TABLES: dict[str, Callable[[str, str], Any]] = {
    "arrays": lambda q, d: as_run({q: np.array([d, "x"])}),
    "bytes": lambda q, d: as_run({q.encode(): {d.encode(): 1.0}}),
    "polars": lambda q, d: dict(as_run(pl.DataFrame({"query": [q], "doc": [d], "score": [1.0]}))),
    "pandas": lambda q, d: as_qrels(pd.DataFrame({"query": [q], "doc": [d], "grade": [1]})),
    "pandas' objects": lambda q, d: dict(as_run(objects({"query": [q], "doc": [d], "score": [1.0]}))),
    "parquet": lambda q, d: dict(read_run(parquet({"query": [q], "doc": [d], "score": [1.0]}))),
    "csv": lambda q, d: dict(read_run(stream(f'query,doc,score\n"{q}","{d}",1\n'))),
}
DOORS = OBJECTS | TABLES


@pytest.mark.parametrize("door", DOORS)
def test_lengths_of_ids(door: str) -> None:
    """Empty ids and those of more than 65,536 bytes are refused wherever they come from."""
    DOORS[door]("q2", LONG[:-1])
    DOORS[door](LONG[:-1], "d")
    for query, doc in (("", "d"), ("q2", ""), (LONG, "d"), ("q2", LONG), ("q2", "ü" * 32_769), ("😀" * 16_385, "d")):
        with pytest.raises(GoldrankError, match=r"id is empty|has more than 65,536 bytes"):
            DOORS[door](query, doc)


def test_long_ids_in_trec_text() -> None:
    assert list(read_run(stream(f"q Q0 {LONG[:-1]} 1 1 t\n"))["q"]) == [LONG[:-1]]
    with raises_code(GoldrankError, "bad-id"):
        dict(read_run(stream(f"q Q0 {LONG} 1 1 t\n")))


def test_ids_of_many_digits() -> None:
    with raises_code(GoldrankError, "bad-id"):
        evaluate({"q": {"d": 1}}, {"q": {10**5000: 1.0}})


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "text", [" ", "a b", " a", "\t", "a\n", "\x01", "\x7f", "\x85", "\u2028", "\ufeff", "\U0010ffff"]
)
def test_every_other_text_is_an_id(door: str, text: str) -> None:
    """White space and control characters too, where the format can hold them."""
    if door == "csv" and text in (" ", "\t"):
        return  # an empty cell
    DOORS[door](text, "d")
    DOORS[door]("q2", text)


@pytest.mark.parametrize("door", [*OBJECTS, "arrays", "pandas' objects"])
@pytest.mark.parametrize("text", ["\ud800", "d\udfff", "\ud83d-\ude00", "\udcc3\udca9"])
def test_halves_of_surrogate_pairs(door: str, text: str) -> None:
    """They have no bytes, so that nothing could write or order them: told when they are read, with the text."""
    for query, doc in ((text, "d"), ("q2", text)):
        with raises_code(GoldrankError, "bad-id") as caught:
            DOORS[door](query, doc)
        shown = "".join(f"\\u{ord(letter):04x}" if ord(letter) > 127 else letter for letter in text)
        assert f"'{shown}'" in str(caught.value)
        assert "Repair it where it was decoded" in str(caught.value)


@pytest.mark.parametrize("door", OBJECTS)
def test_bytes_that_are_not_utf8(door: str) -> None:
    """They came from a file, and go back into one."""
    DOORS[door]("q\udc80", "d\udcff\udcfe")


@pytest.mark.parametrize(
    ("door", "place"),
    [
        ("dict run", "run: query 'q2': "),
        ("dict qrels", "qrels: query 'q2': "),
        ("rows", "run: row 1: "),
        ("json lines", "<stream>:2: "),
        ("json records", "<stream>: $[0]: "),
        ("items", "items[0]: $.retrieved[0]: "),
        ("pandas' objects", "run: row 1: "),
    ],
)
def test_where_a_half_stands(door: str, place: str) -> None:
    with pytest.raises(GoldrankError, match=re.escape(place)):
        DOORS[door]("q2", "\ud800")


NAMES: dict[str, Callable[[str], Any]] = {
    "Run": lambda name: Run(R, name=name),
    "renamed": lambda name: Run(R).renamed(name),
    "read_run": lambda name: read_run(stream("q1 Q0 d1 1 1 t\n"), name=name),
    "evaluate": lambda name: evaluate(Q, Runs({name: R, "other": R})),
    "compare": lambda name: compare(Q, {name: R, "other": R}),
    "arrays": lambda name: evaluate_arrays([1, 0], [1.0, 0.5], indexes=[name, "x"]),
}


@pytest.mark.parametrize("door", NAMES)
def test_names_are_text(door: str) -> None:
    """The same for names of runs and of groups."""
    NAMES[door]("é\udc80")
    with raises_code(GoldrankError, "bad-id"):
        NAMES[door]("\ud800")


def test_saved_scores_have_text(tmp_path: Path) -> None:
    saved = evaluate(Q, R, "P@1").to_dict()
    for key, value in (("run", "\ud800"), ("queries", ["\ud800"])):
        path = tmp_path / "scores.json"
        path.write_text(json.dumps({**saved, key: value}))
        with raises_code(GoldrankError, "damaged-file", match="half of a surrogate pair"):
            Scores.load(path)
