"""What a Spark frame may look like, what is refused and with which words, and what leaves the cluster."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from conftest import MASTER
from frames import frame, lines, qrels_frame, run_frame
from helpers import IDEAL_Q1, Q1, Q2, mean
from raising import raises_code

import goldrank
from goldrank import GoldrankError, evaluate, evaluate_spark
from goldrank.base.errors import InputError
from goldrank.base.packages import MissingPackageError
from goldrank.engine import spark_engine as engine
from goldrank.io.tables import spark_frames as door

QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1, "d4": 1}}
RUN = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d4": 3.0, "d5": 2.0}}
MEASURES = ["AP", "nDCG"]
SOUND = mean(Q1, Q2)
RANKED = {"q1": ["d1", "d2", "d3"], "q2": ["d4", "d5"]}
STRUCTS = pa.list_(pa.struct({"docid": pa.string(), "sim": pa.float64()}))


def check(scores) -> None:
    assert (scores["AP"], scores["nDCG"]) == pytest.approx(SOUND, abs=1e-12)


def test_either_side_may_be_in_spark(spark, tmp_path):
    assert 2 + 1 / math.log2(3) == IDEAL_Q1
    run, qrels = run_frame(spark, lines(RUN)), qrels_frame(spark, QRELS)
    goldrank.read_qrels(QRELS).save(tmp_path / "qrels")
    goldrank.read_run(RUN).save(tmp_path / "run")
    for judged in (QRELS, qrels, tmp_path / "qrels"):
        check(evaluate(judged, run, MEASURES))
    for ranked in (RUN, tmp_path / "run"):
        check(evaluate(qrels, ranked, MEASURES))
    several = evaluate(QRELS, goldrank.Runs(one=run, two=run.where("query_id = 'q1'")), MEASURES)
    check(several["one"])
    assert several["two"].counts["missing"] == 1


def nested(spark, form):
    if form == "ids":
        return frame(spark, RANKED.items(), {"query": pa.string(), "docs": pa.list_(pa.string())})
    if form == "map":
        rows = [(query, list(docs.items())) for query, docs in RUN.items()]
        return frame(spark, rows, {"query": pa.string(), "results": pa.map_(pa.string(), pa.float64())})
    rows = [(q, [{"docid": d, "sim": s} for d, s in docs.items()]) for q, docs in RUN.items()]
    return frame(spark, rows, {"query": pa.string(), "results": STRUCTS})


@pytest.mark.parametrize("form", ["ids", "map", "structs"])
def test_lists_of_results(spark, form):
    check(evaluate(QRELS, nested(spark, form), MEASURES))


def test_a_query_with_an_empty_list_is_answered(spark):
    rows = [("q1", [{"docid": "d1", "sim": 1.0}]), ("q2", [])]
    counts = evaluate(QRELS, frame(spark, rows, {"query": pa.string(), "results": STRUCTS}), "AP").counts
    assert (counts["missing"], counts["no_results"], counts["retrieved"]) == (0, 1, 1)


def test_ids_and_scores_of_other_types(spark):
    """Integers are their digits, decimals and text are numbers, and a rank stands in for a score."""
    run = run_frame(spark, lines(RUN)).selectExpr(
        "CAST(substr(query_id, 2) AS INT) AS user", "CAST(substr(doc_id, 2) AS DECIMAL(20,0)) AS item", "score"
    )
    judged = {int(q[1:]): {int(d[1:]): g for d, g in docs.items()} for q, docs in QRELS.items()}
    check(evaluate(judged, run, MEASURES))
    check(evaluate(judged, run.selectExpr("user", "item", "CAST(score AS STRING) AS score"), MEASURES))
    check(evaluate(judged, run.selectExpr("user", "item", "CAST(10 - score AS INT) AS rank"), MEASURES))
    with pytest.raises(InputError, match="query ids of the run are int, judged query ids are str"):
        evaluate(QRELS, run, MEASURES)


def test_order_of_ids_is_that_of_bytes(spark):
    """U+FF5E sorts before U+10000 by bytes, and after it by UTF-16; a collation without case changes nothing."""
    docs = ["\uff5e", "\U00010000", "Z", "a", "z", "A"]
    descending = sorted(docs, key=str.encode, reverse=True)
    qrels = {f"q{place}": {doc: 1} for place, doc in enumerate(descending, 1)}
    run = run_frame(spark, [(query, doc, 1.0) for query in qrels for doc in docs])
    for ranked in (run, run.selectExpr("query_id", "doc_id COLLATE UTF8_LCASE AS doc_id", "score")):
        expected = {f"q{place}": 1 / place for place in range(1, len(docs) + 1)}
        assert evaluate(qrels, ranked, "RR").per_query["RR"] == expected


def test_zeros_and_infinities(spark):
    """0.0 and -0.0 are one score: by id, descending, 'c' comes first. Infinity is above all, minus infinity below."""
    run = run_frame(spark, [(query, doc, -0.0 if doc == "b" else 0.0) for query in "123" for doc in "abc"])
    found = evaluate({"1": {"c": 1}, "2": {"b": 1}, "3": {"a": 1}}, run, "RR")
    assert found.per_query["RR"] == {"1": 1, "2": 1 / 2, "3": 1 / 3}
    run = run_frame(spark, [("q", "a", math.inf), ("q", "b", 1e308), ("q", "c", -math.inf)])
    scores = evaluate({"q": {"c": 1}}, run, "RR")
    assert (scores["RR"], scores.counts["infinite"]) == (1 / 3, 2)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("q1", "d9", None), ("query 'q1', document 'd9'", "score is missing", "column 'score'")),
        (("q1", "d9", math.nan), ("query 'q1', document 'd9'", "NaN", "column 'score'")),
        (("q1", None, 1.0), ("query 'q1'", "document id is missing", "column 'doc_id'")),
        ((None, "d1", 1.0), ("document 'd1'", "query id is missing", "column 'query_id'")),
        (("q1", "d1", 0.5), ("document 'd1'", "query 'q1'", "2 times", "duplicates='count'")),
    ],
)
def test_lines_that_cannot_be_ranked(spark, row, words):
    with pytest.raises(InputError) as caught:
        evaluate(QRELS, run_frame(spark, [*lines(RUN), row]), MEASURES)
    for word in words:
        assert word in str(caught.value)


def test_flags_are_no_numbers(spark):
    """As in every other kind of table: whether true is 1 or simply "relevant" is not ours to say."""
    flags = spark.createDataFrame([("q1", "d1", True)], ["query_id", "doc_id", "relevance"])
    with pytest.raises(InputError, match=r"(?i)of type boolean"):
        evaluate(flags, RUN, MEASURES)
    with pytest.raises(InputError, match=r"(?i)of type boolean"):
        evaluate(QRELS, flags.withColumnRenamed("relevance", "score"), MEASURES)


def test_what_needs_an_order_is_refused(spark):
    repeated = run_frame(spark, [*lines(RUN), ("q1", "d1", 0.5)])
    for policy in ("first", "last"):
        with pytest.raises(InputError, match=f"duplicates='{policy}' needs an order of lines"):
            evaluate(QRELS, repeated, MEASURES, duplicates=policy)
        check(evaluate(QRELS, run_frame(spark, lines(RUN)), MEASURES, duplicates=policy))
    with pytest.raises(InputError, match="ties='input' needs an order of lines"):
        evaluate(QRELS, run_frame(spark, [("q1", "d1", 1.0), ("q1", "d2", 1.0)]), MEASURES, ties="input")
    twice = qrels_frame(spark, QRELS).union(qrels_frame(spark, {"q1": {"d1": 2}}))
    with pytest.raises(InputError, match="judged"):
        evaluate(twice, RUN, MEASURES, judgements="last")


def test_nothing_in_common_is_an_error(spark):
    run = run_frame(spark, lines(RUN))
    with raises_code(GoldrankError, "no-judged-query"):
        evaluate({"Q1": {"d1": 1}}, run, MEASURES)
    with raises_code(GoldrankError, "no-judged-document"):
        evaluate({"q1": {"D1": 1}}, run, MEASURES)
    with raises_code(GoldrankError, "empty-input"):
        evaluate(QRELS, run.where("false"), MEASURES)
    with raises_code(GoldrankError, "no-column"):
        evaluate(QRELS, run.drop("doc_id"), MEASURES)


def test_values_per_query_stay_in_spark(spark):
    run = run_frame(spark, lines(RUN))
    found = evaluate_spark(QRELS, run, MEASURES)
    rows = {row["query"]: (row["AP"], row["nDCG"]) for row in found.collect()}
    expected = evaluate(QRELS, RUN, MEASURES)
    assert rows == {q: (expected.per_query["AP"][q], expected.per_query["nDCG"][q]) for q in ("q1", "q2")}
    with raises_code(GoldrankError, "not-in-spark"):
        evaluate_spark(QRELS, RUN, MEASURES)


def test_errors_are_the_same_on_the_executors(spark, monkeypatch):
    monkeypatch.setattr(door, "MOST_JUDGEMENTS", 1)
    qrels = qrels_frame(spark, QRELS)
    check(evaluate(qrels, run_frame(spark, lines(RUN)), MEASURES))
    with pytest.raises(InputError, match="2 times"):
        evaluate(qrels, run_frame(spark, [*lines(RUN), ("q1", "d1", 0.5)]), MEASURES)
    with pytest.raises(InputError, match="NaN"):
        evaluate(qrels, run_frame(spark, [*lines(RUN), ("q1", "d9", math.nan)]), MEASURES)
    with raises_code(InputError, "contradicting-judgements"):
        evaluate(qrels.union(qrels_frame(spark, {"q1": {"d1": 2}})), run_frame(spark, lines(RUN)), MEASURES)
    with pytest.raises(InputError, match="with a run that is in Spark too"):
        evaluate(qrels, RUN, MEASURES)


# What leaves the cluster, and how often a frame is computed.


def test_only_judged_documents_leave_the_cluster(spark, monkeypatch):
    """A run of 20,000 lines and 150 queries, of which 100 are judged: 3 documents each, 2 of them retrieved."""
    run = run_frame(spark, [(f"q{i % 150}", f"d{i}", float(i)) for i in range(20_000)])
    qrels = {f"q{i}": {f"d{i}": 1, f"d{i + 150}": 0, f"x{i}": 1} for i in range(100)}
    collected = []
    kind = type(run)
    real = kind.toArrow

    def counting(self, *arguments, **options):
        table = real(self, *arguments, **options)
        collected.append(table.num_rows)
        return table

    monkeypatch.setattr(kind, "toArrow", counting)
    scores = evaluate(qrels, run, "RR")
    assert (scores.counts["judged_retrieved"], scores.counts["unjudged_queries"]) == (200, 50)
    # The judged documents; the numbers of lines between them, at most two for each and one for each query; examples of
    # unjudged queries, and none of those with repeated documents.
    found, between, unjudged = collected
    assert found == 200
    assert between <= 2 * 200 + 100
    assert unjudged <= 50
    monkeypatch.setattr(engine, "MOST_COUNTED", 0)
    collected.clear()
    assert evaluate(qrels, run, "RR").per_query == scores.per_query
    # The judged documents that were found first; then, sorted, with the last line of each query, which is one of them.
    assert collected == [200, 200, unjudged]


def test_a_frame_that_is_work_is_computed_once(spark, tmp_path):
    """Rows that a Python function makes are made once, though two jobs use them; files are read again."""
    marks = tmp_path / "marks"
    marks.mkdir()

    def leave_a_mark(batches):
        import uuid

        for batch in batches:
            (marks / uuid.uuid4().hex).write_text(str(batch.num_rows))
            yield batch

    made = spark.createDataFrame(run_frame(spark, lines(RUN), pa.string()).toArrow()).coalesce(1)
    lazy = made.mapInArrow(leave_a_mark, "query_id string, doc_id string, score double")
    assert not engine.is_plain(lazy)
    check(evaluate(QRELS, lazy, MEASURES))
    assert [mark.read_text() for mark in marks.iterdir()] == [str(len(lines(RUN)))]
    made.write.parquet(str(tmp_path / "run"))
    stored = spark.read.parquet(str(tmp_path / "run"))
    assert engine.is_plain(stored.where("score > 0").selectExpr("query_id", "doc_id", "score * 2 AS score"))
    check(evaluate(QRELS, stored, MEASURES))


def test_first_documents(spark):
    """Hole@k names documents that nobody judged: here d5 at rank 2 of q2, so 0 of 2 and 1 of 2."""
    ours = evaluate(QRELS, run_frame(spark, lines(RUN)), "Hole@2")
    assert ours.per_query == evaluate(QRELS, RUN, "Hole@2").per_query


# What can be known before a job is said before it.

BAD = {
    "unknown measure": ({"measures": "nDGC"}, "MeasureError"),
    "wrong columns of the run": ({"run": ["query_id", "score"]}, "InputError"),
    "bad policy": ({"ties": "coin"}, "OptionError"),
    "bad shard": ({"shard": "9/8"}, "OptionError"),
    "bad depth": ({"depth": 0}, "OptionError"),
    "judgements of another kind": ({"measures": "alpha_nDCG@10"}, "MeasureError"),
    "texts": ({"measures": "Cover"}, "MeasureError"),
    "bounds that a measure has not": ({"measures": "bpref", "ties": "bounds"}, "MeasureError"),
    "a convention that looks at scores": ({"convention": "torchmetrics"}, "GoldrankError"),
}


@pytest.mark.parametrize("name", BAD)
def test_refused_before_any_job(spark, name, monkeypatch):
    """Both sides are in Spark; whoever collects anything has started a job."""
    options = dict(BAD[name][0])
    run, qrels = run_frame(spark, lines(RUN)), qrels_frame(spark, QRELS)
    run = run.select(*options.pop("run", run.columns))

    def collected(self, *arguments, **more):
        raise AssertionError("a job was started")

    for method in ("toArrow", "collect", "count"):
        monkeypatch.setattr(type(run), method, collected)
    with pytest.raises(GoldrankError) as caught:
        evaluate(qrels, run, options.pop("measures", MEASURES), **options)
    assert BAD[name][1] in {kind.__name__ for kind in type(caught.value).__mro__}


def test_ratings_in_spark(spark):
    """Ratings with decimals, relevant from 4 on: d1 is not, d3 is, at rank 3."""
    rows = [("q1", "d1", 3.5), ("q1", "d3", 4.0)]
    ratings = frame(spark, rows, {"qid": pa.string(), "docno": pa.string(), "rating": pa.float64()})
    run = run_frame(spark, lines({"q1": RUN["q1"]}))
    for ranked in (run, {"q1": RUN["q1"]}):
        assert evaluate(goldrank.read_qrels(ratings, relevant_from=4), ranked, "RR")["RR"] == 1 / 3


def test_named_columns_on_both_sides(spark, monkeypatch):
    """Columns that the user names are taken; those of judgements that stay in Spark are renamed there."""
    judged = [(q, d, 0, g) for q, docs in QRELS.items() for d, g in docs.items()]
    kinds = {"qid": pa.string(), "docno": pa.string(), "relevance": pa.int64(), "stars": pa.int64()}
    qrels = frame(spark, judged, kinds)
    run = run_frame(spark, lines(RUN)).selectExpr("query_id", "doc_id", "0.0D AS score", "score AS weight")
    ranked = goldrank.read_run(run, columns={"score": "weight"})
    check(evaluate(goldrank.read_qrels(qrels, columns={"grade": "stars"}), ranked, MEASURES))
    with raises_code(GoldrankError, "no-column"):
        goldrank.read_run(run, columns={"score": "weight", "tag": "x"})

    # Judgements that stay in Spark are named there.
    monkeypatch.setattr(door, "MOST_JUDGEMENTS", 1)
    with raises_code(InputError, "judgements-stay-in-spark"):
        goldrank.read_qrels(qrels, columns={"grade": "stars"})
    renamed = qrels.drop("relevance").withColumnRenamed("stars", "relevance")
    check(evaluate(renamed, ranked, MEASURES))


def test_values_tell_which_column_holds_the_ids(spark):
    """As PyTerrier's frames have them: qid beside the text of the query, docno beside a number."""
    run = run_frame(spark, lines(RUN)).selectExpr(
        "query_id AS qid", "concat('text of ', query_id) AS query", "doc_id AS docno", "hash(doc_id) AS docid", "score"
    )
    scores = evaluate(QRELS, run, MEASURES)
    check(scores)
    chosen = [note for note in scores.notes if note.code == "column-choice"]
    assert [dict(note.facts)["column"] for note in chosen] == ["qid", "docno"]
    assert {dict(note.facts)["why"] for note in chosen} == {"judged"}


FOUND = {
    "raise ModuleNotFoundError(\"No module named 'goldrank'\", name='goldrank')": "it is not installed there",
    "__version__ = '0.0.1'": "it is version 0.0.1 there and",
}


@pytest.mark.skipif(MASTER != "local[2]", reason="it needs a session whose Python processes are started here")
@pytest.mark.parametrize(("found", "told"), FOUND.items(), ids=["none", "old"])
def test_executors_without_goldrank(spark, tmp_path, monkeypatch, found, told):
    """They find another package of that name, which is none or an old one; each in Python processes of its own."""
    (tmp_path / "goldrank").mkdir()
    (tmp_path / "goldrank/__init__.py").write_text(found)
    # The first folder of their path. Processes that were started with another path are not used again.
    monkeypatch.setitem(spark.sparkContext.environment, "PYTHONPATH", str(tmp_path))
    qrels = spark.createDataFrame([("q1", "d1", 1)], "query string, doc string, grade int")
    run = spark.createDataFrame([("q1", "d1", 1.0)], "query string, doc string, score double")
    assert evaluate(qrels, run, "AP")["AP"] == 1.0  # no Python runs there
    with pytest.raises(Exception, match="cannot score with goldrank"):
        evaluate_spark(qrels, run, "AP").collect()
    monkeypatch.setattr(door, "MOST_JUDGEMENTS", 0)
    with pytest.raises(MissingPackageError, match=re.escape(told)) as caught:
        evaluate(qrels, run, "AP")
    assert "addArtifacts" in str(caught.value)
