"""A document that comes twice in a ranking: one rule for every kind of input. Only judged queries are looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from raising import raises_code

from goldrank import Run, evaluate, read_run
from goldrank.errors import InputError
from goldrank.io import as_run

JUDGED = {"q1": {"d1": 1}, "q3": {"d1": 1}}
ROWS = [("q1", "d1", 2.0), ("q1", "d2", 1.0), ("q2", "d1", 2.0), ("q2", "d1", 1.0)]
ROUTES = (
    "trec", "jsonl", "json lists", "parts", "csv", "parquet", "arrow", "polars", "pandas", "rows", "records", "lists",
    "pairs",
)  # fmt: skip


def given(route: str, rows: list[tuple[str, str, float]], folder: Path) -> Any:
    """The rows by a route; rows of one query are in the order of their scores."""
    records = [dict(zip(("query", "doc", "score"), row, strict=True)) for row in rows]
    frame = pl.DataFrame(records)
    queries = dict.fromkeys(query for query, *_ in rows)
    ranked = {query: [doc for of, doc, _ in rows if of == query] for query in queries}
    pairs = {query: [(doc, score) for of, doc, score in rows if of == query] for query in queries}
    texts = {
        "trec": "".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in rows),
        "jsonl": "".join(json.dumps(record) + "\n" for record in records),
        "json lists": json.dumps(ranked),
        "csv": frame.write_csv(),
    }
    if route in texts:
        path = folder / f"run.{route.split()[0]}"
        path.write_text(texts[route])
        return path
    if route == "parts":
        for i, query in enumerate(queries):
            (folder / f"part{i}.json").write_text(json.dumps({query: ranked[query]}))
        return str(folder / "part*.json")
    if route in ("parquet", "arrow"):
        path = folder / f"run.{route}"
        frame.write_parquet(path) if route == "parquet" else frame.write_ipc(path)
        return path
    objects = {"polars": frame, "rows": rows, "records": records, "lists": ranked, "pairs": pairs}
    return frame.to_pandas() if route == "pandas" else objects[route]


@pytest.mark.parametrize("route", ROUTES)
def test_only_judged_queries_matter(route: str, tmp_path: Path) -> None:
    """q2 is not judged: RR is 1 for q1 and 0 for q3, which is not in the run. Where q2 is judged, it is an error."""
    run = given(route, ROWS, tmp_path)
    scores = evaluate(JUDGED, run, "RR")
    assert scores["RR"] == 0.5
    assert (scores.counts["unjudged_queries"], scores.counts["missing"], scores.counts["repeated"]) == (1, 1, 0)
    with raises_code(InputError, "duplicate-document", match="'d1'"):
        evaluate({**JUDGED, "q2": {"d1": 1}}, run, "RR")


@pytest.mark.parametrize("route", ROUTES)
def test_a_mapping_cannot_hold_it(route: str, tmp_path: Path) -> None:
    """Whoever looks into the run sees all of it."""
    run = given(route, ROWS, tmp_path)
    with raises_code(InputError, "duplicate-document", match="'q2': 'd1'"):
        as_run(run)["q1"]


@pytest.mark.parametrize("duplicates", ["error", "count"])
def test_queries_without_documents_stay_answered(duplicates: Any) -> None:
    """q3 and q4 were answered with nothing, whether or not another query repeats a document."""
    lists = {"q1": ["d1", "d2"], "q2": ["d1", "d1"], "q3": [], "q4": []}
    scores = evaluate(JUDGED, lists, "RR", duplicates=duplicates)
    assert (scores.counts["missing"], scores.counts["no_results"], scores.counts["unjudged_queries"]) == (0, 1, 2)
    assert evaluate(JUDGED, lists, "RR", duplicates=duplicates, missing="skip")["RR"] == 0.5


def test_the_policy_of_the_evaluation_counts(tmp_path: Path) -> None:
    """A run that was opened before is judged by the rules of the evaluation, be it a file or rows."""
    rows = [("q1", "d2", 3.0), ("q1", "d1", 2.0), ("q1", "d2", 1.0)]
    opened = [as_run(rows), read_run(given("trec", rows, tmp_path)), read_run(given("jsonl", rows, tmp_path))]
    for run in opened:
        assert isinstance(run, Run)
        for duplicates, expected in (("first", 0.5), ("last", 1.0)):
            assert evaluate({"q1": {"d1": 1}}, run, "RR", duplicates=duplicates)["RR"] == expected
        with raises_code(InputError, "duplicate-document"):
            evaluate({"q1": {"d1": 1}}, run, "RR")


def test_parts_may_repeat_where_every_line_counts(tmp_path: Path) -> None:
    """d1 stands at ranks 1 and 2 of q1: both count, as in one file."""
    (tmp_path / "a.json").write_text('{"q1": ["d1", "d1"]}')
    (tmp_path / "b.json").write_text('{"q2": ["d2"]}')
    scores = evaluate({"q1": {"d1": 1}, "q2": {"d2": 1}}, f"{tmp_path}/*.json", "P@2", duplicates="count")
    assert scores.per_query["P@2"] == {"q1": 1.0, "q2": 0.5}
