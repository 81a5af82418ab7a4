"""Files and objects that people have: columns, search responses, lists of ids, ratings; and errors about them."""

from __future__ import annotations

import io
import json
import sys
from types import SimpleNamespace
from typing import Any

import pandas as pd
import places
import polars as pl
import pytest
from helpers import codes

from goldrank import Catalogue, Runs, compare, evaluate, evaluate_texts, read_items, read_qrels, read_run, read_runs
from goldrank.base.errors import GoldrankError, InputError, OptionError
from goldrank.cli import run as command
from goldrank.io import as_qrels

sys.path.insert(0, str(places.ROOT / "tests" / "docs"))
from sources import SEARCH, SOLR, TYPESENSE, VESPA

QRELS = {"q1": {"d1": 1}, "q2": {"d3": 1}}
"""RR is 1/2 for q1 and 1 for q2 in all runs here."""
TERRIER = {
    "qid": ["q1", "q1", "q2"], "docid": [11, 12, 13], "docno": ["d2", "d1", "d3"], "rank": [0, 1, 0],
    "score": [2.0, 1.0, 5.0], "query": ["gold", "gold", "rush"],
}  # fmt: skip


def choices(scores: Any) -> dict[str, tuple[str, str]]:
    """Which column was taken for what, and why."""
    found = [note for note in scores.notes if note.code == "column-choice"]
    return {note.fact("role"): (note.fact("column"), note.fact("why")) for note in found}


# 1. Columns.


def forms(table: dict[str, list[Any]], folder: Any, name: str) -> list[Any]:
    """A table in every form that has named columns."""
    frame = pl.DataFrame(table)
    frame.write_csv(folder / f"{name}.csv")
    frame.write_csv(folder / f"{name}.tsv", separator="\t")
    frame.write_parquet(folder / f"{name}.parquet")
    frame.write_ndjson(folder / f"{name}.jsonl")
    (folder / f"{name}.json").write_text(json.dumps(frame.to_dicts()))
    (folder / f"{name}.parts").mkdir()
    for i in range(len(frame)):
        frame[i : i + 1].write_parquet(folder / f"{name}.parts" / f"{i}.parquet")
    files = [str(folder / f"{name}.{end}") for end in ("csv", "tsv", "parquet", "jsonl", "json", "parts")]
    return [*files, frame, frame.to_arrow(), pd.DataFrame(table), frame.to_dicts(), iter(frame.to_dicts())]


@pytest.mark.parametrize("columns", [list(TERRIER), list(reversed(TERRIER))], ids=["as it is", "reversed"])
def test_pyterrier(tmp_path: Any, columns: list[str]) -> None:
    table = {name: TERRIER[name] for name in columns}
    for run in forms(table, tmp_path, "run"):
        scores = evaluate(QRELS, run, "RR")
        assert scores.mean["RR"] == 0.75, run
        assert choices(scores) == {"query": ("qid", "judged"), "doc": ("docno", "judged")}, run


def test_pyterrier_qrels(tmp_path: Any) -> None:
    table = {"qid": ["q1", "q2"], "docno": ["d1", "d3"], "label": [1, 1], "iteration": ["0", "0"]}
    for qrels in forms(table, tmp_path, "qrels"):
        assert evaluate(qrels, pd.DataFrame(TERRIER), "RR").mean["RR"] == 0.75


@pytest.mark.parametrize(
    "judged", [{"gold": {"11": 0, "12": 1}, "rush": {"13": 1}}, {"gold": {"d1": 1}, "rush": {"d3": 1}}]
)
def test_values_decide(tmp_path: Any, judged: Any) -> None:
    """Judgements by the query's text, or by the integer: whichever they are, that column is taken."""
    for run in forms(TERRIER, tmp_path, "run")[:5]:
        scores = evaluate(judged, run, "RR")
        assert scores.mean["RR"] == 0.75
        assert choices(scores)["query"] == ("query", "judged")


def test_a_document_counts_for_its_query() -> None:
    """11 and 12 are judged documents of another query: they are no sign that docid holds the ids."""
    qrels = {"q1": {"d1": 1}, "q2": {"d3": 1}, "q3": {"11": 1, "12": 1, "13": 1}}
    scores = evaluate(qrels, pd.DataFrame(TERRIER), "RR", missing="skip")
    assert choices(scores)["doc"] == ("docno", "judged")
    assert scores.mean["RR"] == 0.75


def test_a_run_that_was_opened_before(tmp_path: Any) -> None:
    """Judgements decide when they are there, also where a run has other names or several tags."""
    path, *_ = forms(TERRIER | {"tag": ["a", "a", "a"]}, tmp_path, "run")
    judged = {"gold": {"d1": 1}, "rush": {"d3": 1}}
    assert evaluate(judged, read_run(path, name="x"), "RR").mean["RR"] == 0.75
    assert evaluate(judged, read_runs(path), "RR")["a"].mean["RR"] == 0.75
    assert compare(judged, {"a": read_run(path), "b": read_run(path)}, "RR")["RR", "a", "b"].difference == 0


OWN = {"topic_nr": ["q1", "q1", "q2"], "hit": ["d2", "d1", "d3"], "points": [2.0, 1.0, 5.0]}
MAP = {"query": "topic_nr", "doc": "hit", "score": "points"}


def test_named_columns(tmp_path: Any) -> None:
    for run in forms(OWN, tmp_path, "run"):
        assert evaluate(QRELS, read_run(run, columns=MAP), "RR").mean["RR"] == 0.75, run


def test_named_columns_everywhere(tmp_path: Any) -> None:
    pl.DataFrame(OWN).write_csv(tmp_path / "run.csv")
    pl.DataFrame({"q": ["q1", "q2"], "d": ["d1", "d3"], "stars": [1, 1]}).write_csv(tmp_path / "qrels.csv")
    qrels, run = str(tmp_path / "qrels.csv"), str(tmp_path / "run.csv")
    columns = {"run.query": "topic_nr", "run.doc": "hit", "score": "points"}
    columns |= {"qrels.query": "q", "qrels.doc": "d", "grade": "stars"}
    judged = read_qrels(qrels, columns={"query": "q", "doc": "d", "grade": "stars"})
    found = read_run(run, columns=MAP)
    assert evaluate(judged, found, "RR").mean["RR"] == 0.75
    mapping = ["--map", ",".join(f"{role}={name}" for role, name in columns.items())]
    assert command(["eval", qrels, run, "-m", "RR", *mapping]) == 0
    assert command(["compare", qrels, run, f"b={run}", "-m", "RR", *mapping]) == 0
    only_run = ["--map", "query=topic_nr,doc=hit", "--map", "score=points"]
    assert command(["convert", run, str(tmp_path / "out.trec"), *only_run]) == 0
    assert read_run(tmp_path / "out.trec")["q2"] == {"d3": 5.0}


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        ({"query": "no_such"}, GoldrankError), ({"run.query": "no_such"}, InputError), ({"question": "x"}, OptionError),
        ({"query": ""}, OptionError), ("query=qid", OptionError), ({"grade": "points"}, OptionError),
    ],
)  # fmt: skip
def test_names_that_are_wrong(columns: Any, error: type) -> None:
    with pytest.raises(error):
        read_run(pl.DataFrame(TERRIER), columns=columns)


def test_distances_are_better_the_lower() -> None:
    rows = [{"query": "q1", "id_": 0, "doc": d, "distance": x} for d, x in (("d1", 0.4), ("d2", 0.1))]
    for run in (rows, pl.DataFrame(rows)):
        assert evaluate({"q1": {"d1": 1}}, run, "RR").mean["RR"] == 0.5


def test_pairs_that_ascend_are_noted() -> None:
    run = {"q1": [("d2", 0.1), ("d1", 0.2), ("d9", 0.3)]}
    assert "ascending-scores" in codes(evaluate({"q1": {"d1": 1}}, run, "RR"))
    assert "ascending-scores" not in codes(evaluate({"q1": {"d1": 1}}, {"q1": [("d2", 2), ("d1", 1), ("d9", 0)]}, "RR"))


# 2. Search responses.


def responses(tmp_path: Any, data: Any, **columns: str) -> Any:
    path = tmp_path / ("r.jsonl" if isinstance(data, list) else "r.json")
    text = "".join(json.dumps(record) + "\n" for record in data) if isinstance(data, list) else json.dumps(data)
    path.write_text(text)
    return read_run(path, columns=columns or None)


ONE = {"d2": 2.0, "d1": 1.0}


@pytest.mark.parametrize(
    ("data", "columns"),
    [
        ({"q1": SEARCH, "q2": SEARCH}, {}),
        ([{"qid": q, "response": SEARCH} for q in ("q1", "q2")], {}),
        ([{"id": q, **SEARCH} for q in ("q1", "q2")], {}),
        ([{"name": q, "body": {"x": 1}, "response": SEARCH} for q in ("q1", "q2")], {}),
        ([SEARCH, SEARCH], {"query": "q{n}"}),
        ({"responses": [SEARCH, SEARCH]}, {"query": "q{n}"}),
        ({"queries": ["q1", "q2"], "answer": {"responses": [SEARCH, SEARCH]}}, {}),
        ([{"request": {"nr": n}, "response": SEARCH} for n in (1, 2)], {"query": "q{request.nr}"}),
        ([{"request": {"text": q}, "response": SEARCH} for q in ("q1", "q2")], {"query": "request.text"}),
        ({"q1": SOLR, "q2": SOLR}, {}),
        ({"q1": VESPA, "q2": VESPA}, {"doc": "fields.sku"}),
    ],
    ids=str,
)
def test_which_query_a_response_is_for(tmp_path: Any, data: Any, columns: Any) -> None:
    run = responses(tmp_path, data, **columns)
    assert {query: dict(run[query]) for query in run} == {"q1": ONE, "q2": ONE}


def test_queries_by_the_lines_of_a_file(tmp_path: Any) -> None:
    names = tmp_path / "queries.txt"
    names.write_text("q1\twhat is it\n\nq2\n")
    run = responses(tmp_path, [SEARCH, SEARCH], query=f"@{names}")
    assert {query: dict(run[query]) for query in run} == {"q1": ONE, "q2": ONE}
    names.write_text("q1\nq2\nq3\n")
    with pytest.raises(InputError, match=r"has 2 responses, and .* has 3 queries"):
        responses(tmp_path, [SEARCH, SEARCH], query=f"@{names}")
    with pytest.raises(InputError, match="cannot be read: No such file"):
        responses(tmp_path, [SEARCH, SEARCH], query=f"@{tmp_path / 'none.txt'}")


@pytest.mark.parametrize(("template", "queries"), [("{stem}", ["q1", "q2"]), ("{file}", ["q1.json", "q2.json"])])
def test_queries_by_the_names_of_files(tmp_path: Any, template: str, queries: list[str]) -> None:
    for query in ("q1", "q2"):
        (tmp_path / f"{query}.json").write_text(json.dumps(SEARCH))
    run = read_run(tmp_path / "*.json", columns={"query": template})
    assert {query: dict(run[query]) for query in run} == dict.fromkeys(queries, ONE)


def test_pages_are_put_together(tmp_path: Any) -> None:
    second = json.loads(json.dumps(SOLR))
    second["response"] |= {"start": 2, "docs": [{"id": "d9", "score": 0.5}]}
    assert responses(tmp_path, [second, SOLR]).ranking("q1") == ["d2", "d1", "d9"]
    without = json.loads(json.dumps([TYPESENSE, TYPESENSE]))
    without[1] |= {"page": 2, "hits": [{"document": {"id": "d9"}}]}
    assert responses(tmp_path, without).ranking("q1") == ["d2", "d1", "d9"]


def test_order_counts_where_scores_do_not_descend(tmp_path: Any) -> None:
    data = json.loads(json.dumps(SEARCH))
    data["hits"]["hits"][0]["_score"] = 0.5
    run = responses(tmp_path, {"q1": data})
    assert run.ranking("q1") == ["d2", "d1"]
    assert "scores-not-descending" in [note.code for note in run.notes]
    data["hits"]["hits"][0]["_score"] = None
    assert responses(tmp_path, {"q1": data}).ranking("q1") == ["d2", "d1"]


def test_partial_responses_are_counted(tmp_path: Any) -> None:
    run = responses(tmp_path, {"q1": {**SEARCH, "timed_out": True}, "q2": SEARCH})
    (note,) = [note for note in run.notes if note.code == "partial-responses"]
    assert note.fact("count") == 1
    assert note.is_warning


def test_nothing_found_is_an_empty_ranking(tmp_path: Any) -> None:
    run = responses(tmp_path, {"q1": SEARCH, "q2": {**SEARCH, "hits": {"hits": []}}})
    assert dict(run["q2"]) == {}


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ([SEARCH, SEARCH], "r.jsonl:1"),
        ({"responses": [SEARCH]}, "r.json: $.responses[0]"),
        ([{"qid": "q1", "response": SEARCH}, {"qid": "q1", "response": SEARCH}], "r.jsonl:2.response"),
        ([{"qid": "q1", **SEARCH}, {"qid": "q2", "error": {"reason": "no such index"}, "status": 404}], "r.jsonl:2"),
        ({"q1": SEARCH, "q2": {"hits": {"hits": [{"_source": {}}]}}}, "r.json: $.q2.hits.hits[0]"),
        ({"q1": SOLR, "q2": {"grouped": {}, "responseHeader": {}}}, "r.json: $.q2"),
    ],
    ids=str,
)
def test_responses_that_are_refused(tmp_path: Any, data: Any, where: str) -> None:
    with pytest.raises(InputError) as caught:
        responses(tmp_path, data)
    assert str(caught.value.where).endswith(where)
    assert caught.value.hint


def test_batches_of_chroma_are_refused() -> None:
    with pytest.raises(InputError):
        evaluate(QRELS, {"q1": {"ids": [["d1"], ["d2"]], "distances": [[1], [2]]}}, "RR")


def test_several_runs_of_result_objects() -> None:
    point = SimpleNamespace(points=[SimpleNamespace(id="d1", score=1.0)])
    scores = evaluate({"q1": {"d1": 1}}, Runs({"a": {"q1": point}, "b": {"q1": SEARCH}}), "RR")
    assert {name: found.mean["RR"] for name, found in scores.items()} == {"a": 1.0, "b": 0.5}


# 3. Judgements.


def test_quepid_says_what_was_not_rated(tmp_path: Any) -> None:
    path = tmp_path / "q.csv"
    path.write_text('query,docid,rating\nq1,d1,1\nnever rated\n"quoted, too"\nq1,d2,\n')
    qrels = read_qrels(path)
    assert {query: dict(qrels[query]) for query in qrels} == {"q1": {"d1": 1}}
    assert {"unrated-queries", "ungraded-rows"} <= {note.code for note in qrels.notes}


def test_a_short_row_is_an_error_elsewhere(tmp_path: Any) -> None:
    path = tmp_path / "q.csv"
    path.write_text("query,doc,grade\nq1,d1,1\nq2\n")
    with pytest.raises(InputError):
        read_qrels(path)


@pytest.mark.parametrize("given", [[("q1", "d1")], {"q1": "d1"}, [{"user": "q1", "item": "d1"}]], ids=str)
def test_implicit_feedback(given: Any) -> None:
    assert evaluate(given, {"q1": ["d2", "d1"]}, "RR").mean["RR"] == 0.5


def test_implicit_grades_are_said(tmp_path: Any) -> None:
    (tmp_path / "p.csv").write_text("user_id,item_id\nu,a\nu,b\n")
    (note,) = [note for note in read_qrels(tmp_path / "p.csv").notes if note.code == "implicit-grades"]
    assert note.fact("count") == 2
    assert note.fact("unread") == ()


PAIRS: dict[str, Any] = {
    "csv": lambda rows, **how: read_qrels(_written(rows, lambda frame, path: frame.write_csv(path)), **how),
    "parquet": lambda rows, **how: read_qrels(_written(rows, lambda frame, path: frame.write_parquet(path)), **how),
    "json": lambda rows, **how: read_qrels(io.BytesIO(json.dumps(rows).encode()), **how),
    "json lines": lambda rows, **how: read_qrels(io.BytesIO("\n".join(map(json.dumps, rows)).encode()), **how),
    "ratings in a list": lambda rows, **how: read_qrels(
        io.BytesIO(json.dumps([{"topic": row["topic"], "ratings": [row]} for row in rows]).encode()), **how
    ),
    "rows": read_qrels,
    "an iterator": lambda rows, **how: read_qrels(iter(rows), **how),
    "polars": lambda rows, **how: read_qrels(pl.DataFrame(rows), **how),
}


def _written(rows: Any, write: Any) -> io.BytesIO:
    buffer = io.BytesIO()
    write(pl.DataFrame(rows), buffer)
    return io.BytesIO(buffer.getvalue())


def _pairs(name: str, *values: Any) -> list[dict[str, Any]]:
    return [{"topic": f"q{i}", "item": "a", name: value} for i, value in enumerate(values)]


@pytest.mark.parametrize("form", PAIRS)
@pytest.mark.parametrize("values", [(1, 0), (0.5, 3.0), (True, False), ("yes", "no"), ("Not relevant", "relevant")])
def test_pairs_do_not_count_as_relevant_where_a_column_may_hold_the_grade(form: str, values: Any) -> None:
    with pytest.raises(InputError, match="'verdict' may be it; columns are: ") as caught:
        PAIRS[form](_pairs("verdict", *values))
    assert "--map grade=verdict, or columns={'grade': 'verdict'}" in str(caught.value)
    assert "every pair is relevant, say grade=1" in str(caught.value)


def test_ids_that_are_numbers_are_no_grades() -> None:
    rows = [{"who": 1, "what": 2, "when": 1700000000}]
    assert read_qrels(rows, columns={"query": "who", "doc": "what"}) == {"1": {"2": 1}}
    frame = pl.DataFrame(rows)
    assert read_qrels(frame, columns={"query": "who", "doc": "what"}) == {"1": {"2": 1}}


def test_what_users_had_needs_no_grades() -> None:
    """Training data are pairs, whatever else they have."""
    run, train = {"u": {"a": 2.0, "b": 1.0}}, [{"user": "u", "item": "a", "stars": 1}]
    assert evaluate({"u": {"b": 1}}, run, "RR", catalogue=Catalogue(train=train)).mean["RR"] == 1.0


@pytest.mark.parametrize("form", PAIRS)
def test_the_way_on_for_such_a_column(form: str) -> None:
    if form != "ratings in a list":  # whose fields have names of their own
        rows = _pairs("verdict", 1, 0)
        assert PAIRS[form](rows, columns={"grade": "verdict"}) == {"q0": {"a": 1}, "q1": {"a": 0}}
    for rows in (_pairs("verdict", 1, 0), _pairs("grade", 1, 0)):
        assert PAIRS[form](rows, columns={"grade": "1"}) == {"q0": {"a": 1}, "q1": {"a": 1}}


@pytest.mark.parametrize("form", PAIRS)
@pytest.mark.parametrize(
    ("name", "values"),
    [("timestamp", (1700000000, 1700000001)), ("session_id", (1, 2)), ("title", ("a", "b")), ("system", ("0", "1"))],
)
def test_other_columns_beside_pairs(form: str, name: str, values: Any) -> None:
    """Times are larger than any grade, ids say so by their names, and words are no grades."""
    qrels = PAIRS[form](_pairs(name, *values))
    assert qrels == {"q0": {"a": 1}, "q1": {"a": 1}}
    assert "implicit-grades" in {note.code for note in qrels.notes}


def test_a_record_without_the_grade_that_others_have() -> None:
    lines = b'{"query": "q", "doc": "a", "grade": 0}\n{"query": "q", "doc": "b"}\n'
    with pytest.raises(InputError, match="<stream>:2: has no grade, and others have; it has: query, doc"):
        read_qrels(io.BytesIO(lines))


@pytest.mark.parametrize("name", ["grade", "relevance", "rel", "Rating"])
def test_expected_ids_have_their_grade_by_any_name(name: str) -> None:
    record = {"id": "q", "retrieved": [{"id": "a", "text": "x"}], "expected_ids": [{"id": "a", name: 0}, "b"]}
    assert evaluate_texts([record], "R@1").mean["R@1"] == 0.0
    listed = {"id": "q", "retrieved_ids": ["a"], "expected_ids": [{"id": "a", name: 0}, {"id": "b", name: 1}]}
    assert as_qrels([listed]) == {"q": {"a": 0, "b": 1}}


@pytest.mark.parametrize("text", ["query,doc,rank\nq,d,1\n", "query,doc,distance\nq,d,0.1\n"])
def test_a_run_is_no_implicit_feedback(tmp_path: Any, text: str) -> None:
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(InputError):
        read_qrels(tmp_path / "r.csv")


def test_a_missing_grade_is_not_1(tmp_path: Any) -> None:
    (tmp_path / "r.jsonl").write_text('{"query": "q", "doc": "d", "grade": null}\n')
    with pytest.raises(InputError):
        read_qrels(tmp_path / "r.jsonl")


def test_ratings(tmp_path: Any) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("userId,movieId,rating,timestamp\nu,a,4,1\nu,b,2,1\n")
    assert dict(read_qrels(path)["u"]) == {"a": 4, "b": 2}
    assert "ratings-as-grades" in [note.code for note in read_qrels(path).notes]
    cut = read_qrels(path, relevant_from=3.5)
    assert dict(cut["u"]) == {"a": 1, "b": 0}
    assert [note.fact("part") for note in cut.notes if note.code == "ratings-cut"] == [1]
    path.write_text("userId,movieId,rating,timestamp\nu,a,4.5,1\nu,b,2,1\n")
    with pytest.raises(InputError):
        read_qrels(path)
    assert dict(read_qrels(path, relevant_from=4)["u"]) == {"a": 1, "b": 0}


def test_trec_qrels_are_no_ratings(tmp_path: Any) -> None:
    (tmp_path / "q.txt").write_text("1\t0\t77\t2\n")
    assert dict(read_qrels(tmp_path / "q.txt")["1"]) == {"77": 2}


# 4. Expected and retrieved ids in one file.

ITEMS = [
    {"user_input": "one", "retrieved_context_ids": ["d2", "d1"], "reference_context_ids": ["d1"]},
    {"user_input": "two", "retrieved_context_ids": ["d3"], "reference_context_ids": ["d3"]},
    {"user_input": "none", "retrieved_context_ids": [], "reference_context_ids": ["d3"]},
]


def test_one_file(tmp_path: Any) -> None:
    """RR: 1/2, 1 and 0."""
    frame = pl.DataFrame(ITEMS)
    frame.write_parquet(tmp_path / "i.parquet")
    cells = [{k: v if isinstance(v, str) else json.dumps(v) for k, v in item.items()} for item in ITEMS]
    pl.DataFrame(cells).write_csv(tmp_path / "i.csv")
    (tmp_path / "i.json").write_text(json.dumps({"examples": ITEMS}))
    (tmp_path / "i.jsonl").write_text("".join(json.dumps(item) + "\n" for item in ITEMS))
    files = [str(tmp_path / f"i.{end}") for end in ("parquet", "csv", "json", "jsonl")]
    stream = io.BytesIO((tmp_path / "i.jsonl").read_bytes())
    for given in (*files, frame, pd.DataFrame(ITEMS), ITEMS, iter(ITEMS), stream):
        items = read_items(given)
        scores = evaluate(items.qrels, items.run, "RR")
        assert scores.mean["RR"] == 0.5, given
        assert scores.queries == ("none", "one", "two")


def test_one_file_at_the_prompt(tmp_path: Any, capsys: Any, monkeypatch: Any) -> None:
    path = tmp_path / "i.jsonl"
    path.write_text("".join(json.dumps({"n": i, "got": ["d2", "d1"], "want": ["d1"]}) + "\n" for i in range(2)))
    mapping = ["--map", "query=n,retrieved_ids=got,reference_ids=want"]
    assert command(["eval", str(path), "-m", "RR,P@1", *mapping]) == 0
    assert "0.5000" in capsys.readouterr().out
    assert command(["eval", str(path)]) == 2
    assert "--map" in capsys.readouterr().err


def test_repeated_questions_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        _ = read_items([ITEMS[0], ITEMS[0]]).qrels
    assert "--map query=" in str(caught.value)


# 5. Errors that show the way.


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"took": 1, "hits": {"total": 3}}', ["Elasticsearch", "took"]),
        ('{"responseHeader": {"status": 0}, "response": {"numFound": 0}}', ["Solr", "responseHeader"]),
        ('[{"question": "x", "contexts": ["a text"]}]', ["goldrank texts", "texts and no ids"]),
        ('[{"q": "x", "docno": "d", "score": 1}]', ["--map query=", "docno"]),
    ],
)
def test_unreadable_json(tmp_path: Any, text: str, words: list[str]) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(InputError) as caught:
        read_run(tmp_path / "r.json")
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "flag"),
    [
        ("q.txt", "q1 0 d1 1\n", "--qrels"), ("q.csv", "query,doc,grade\nq,d,1\n", "--qrels"),
        ("q.json", '{"relevant_docs": {"q": ["d"]}}', "--qrels"), ("r.csv", "query,hit,score\nq,d,1\n", "--map doc="),
    ],
)  # fmt: skip
def test_convert_names_the_flag(tmp_path: Any, capsys: Any, name: str, text: str, flag: str) -> None:
    (tmp_path / name).write_text(text)
    assert command(["convert", str(tmp_path / name), str(tmp_path / "out.trec")]) == 2
    assert flag in capsys.readouterr().err
