"""A document that comes twice in a ranking: one rule for every kind of input. Only judged queries are looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from raising import raises_code

from goldrank import Convention, Run, evaluate, read_run
from goldrank.base.errors import InputError, OptionError
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


REPEATED = [("q1", "x", 5.0), ("q1", "d1", 4.0), ("q1", "d1", 3.0), ("q1", "d2", 2.0), ("q1", "d1", 1.0)]
VALUES = {
    # The first line of d1: x d1 d2.
    "first": {"RR(rel=2)": 1 / 2, "P@5": 2 / 5, "AP": (1 / 2 + 2 / 3) / 2},
    # The last line of d1: x d2 d1.
    "last": {"RR(rel=2)": 1 / 3, "P@5": 2 / 5, "AP": (1 / 2 + 2 / 3) / 2},
    # Every line is a document: relevant ones at 2, 3, 4 and 5.
    "count": {"RR(rel=2)": 1 / 2, "P@5": 4 / 5, "AP": (1 / 2 + 2 / 3 + 3 / 4 + 4 / 5) / 2},
    # Lines keep their ranks, and d1 counts at 2, d2 at 4.
    "places": {"RR(rel=2)": 1 / 2, "P@5": 2 / 5, "AP": (1 / 2 + 2 / 4) / 2},
}


@pytest.mark.parametrize("route", ROUTES)
def test_the_convention_decides_on_every_route(route: str, tmp_path: Path) -> None:
    """One ranking, four ways to count what is repeated, and one to refuse it; worked out by hand."""
    qrels = {"q1": {"d1": 2, "d2": 1}}
    source = given(route, REPEATED, tmp_path)
    for duplicates, expected in VALUES.items():
        scores = evaluate(qrels, source, list(expected), convention=Convention(duplicates=duplicates))  # type: ignore[arg-type]
        assert scores.mean == pytest.approx(expected, rel=1e-12), duplicates
    with raises_code(InputError, "duplicate-document", match="'d1' is in this ranking twice"):
        evaluate(qrels, source, "AP")


@pytest.mark.parametrize("route", ROUTES)
def test_duplicates_are_dropped_on_every_route(route: str, tmp_path: Path) -> None:
    """A run keeps every row; without repeats it is a mapping, and says how many rows went."""
    run = read_run(given(route, REPEATED, tmp_path))
    first, last = run.drop_duplicates(), run.drop_duplicates(keep="last")
    assert (first.ranking("q1"), last.ranking("q1")) == (["x", "d1", "d2"], ["x", "d2", "d1"])
    assert (list(first["q1"]), list(last["q1"])) == (["x", "d1", "d2"], ["x", "d2", "d1"])
    assert [note.fact("count") for note in first.notes if note.code == "repeated-documents"] == [2]
    assert (first.name, first.has_scores) == (run.name, run.has_scores)
    with raises_code(InputError, "duplicate-document") as refused:
        run["q1"]
    assert "run.drop_duplicates()" in str(refused.value)


def test_without_repeats_nothing_is_dropped(tmp_path: Path) -> None:
    in_memory = Run({"q": {"a": 1.0}})
    assert in_memory.drop_duplicates() is in_memory
    rows = [("q1", "a", 2.0), ("q2", "b", 1.0)]
    run = read_run(given("trec", rows, tmp_path)).drop_duplicates(keep="last")
    assert run == {"q1": {"a": 2.0}, "q2": {"b": 1.0}}
    assert run.notes == ()


def test_queries_without_documents_are_kept() -> None:
    run = read_run({"q1": ["a", "a"], "q2": []}).drop_duplicates()
    assert run == {"q1": {"a": -1.0}, "q2": {}}


def test_a_wrong_word_lists_the_right_ones() -> None:
    with raises_code(OptionError, "unknown-choice", match="keep is 'both'"):
        Run({"q": {"a": 1.0}}).drop_duplicates(keep="both")  # type: ignore[arg-type]
