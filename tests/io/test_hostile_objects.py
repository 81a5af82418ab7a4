"""Python objects that are wrong or unusual: exact ids, checked numbers, joins by id, and no magic names."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import Q1, Q2, SOUND, mean, only_ours, words
from raising import raises_code

from goldrank import GoldrankError, Qrels, Run, evaluate, read_qrels, read_run

QRELS: dict[str, dict[str, int]] = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1, "d4": 1}}
RUN: dict[str, dict[str, float]] = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d4": 3.0, "d5": 2.0}}

Change = Callable[[Any], Any]


def cast(data: Any, query: Change = lambda x: x, doc: Change = lambda x: x, value: Change = lambda x: x) -> Any:
    """A dict of dicts with other ids or values."""
    return {query(q): {doc(d): value(v) for d, v in row.items()} for q, row in data.items()}


def ap_and_ndcg(qrels: Any, run: Any, **options: Any) -> tuple[float, float]:
    scores = evaluate(qrels, run, ["AP", "nDCG"], **options)
    return scores["AP"], scores["nDCG"]


def number(id: str) -> int:
    return int(id[1:])


def tweet(id: str) -> int:
    """Ids that are one double: 1.7e18 + 1 to 1.7e18 + 5."""
    return 1_700_000_000_000_000_000 + int(id[1:])


@pytest.mark.parametrize(
    "change",
    [
        {"query": number, "doc": number},
        {"doc": number},
        {"query": number},
        {"doc": tweet},
        {"query": tweet, "doc": tweet},
        {"doc": lambda d: -number(d)},
        {"doc": lambda d: np.int64(number(d))},
        {"doc": lambda d: np.str_(d)},
        {"doc": str.encode, "query": str.encode},
        {"doc": lambda d: f"d\0{d}"},
        {"doc": lambda d: f" {d} x\ty\n"},
        {"query": {"q1": "no query", "q2": "no_query"}.__getitem__},
        {"query": {"q1": "2023-1", "q2": "2024-1"}.__getitem__},
        {"query": {"q1": "all", "q2": "mean"}.__getitem__},
        {"query": {"q1": "nan", "q2": "NA"}.__getitem__},
        {"query": {"q1": "\t", "q2": " "}.__getitem__},
        {"doc": lambda d: d * 32_768},
    ],
)  # fmt: skip
def test_ids_of_all_kinds(change: dict[str, Change]) -> None:
    """Rows 68, 70, 71, 74 to 78: whatever the ids, the same numbers."""
    assert ap_and_ndcg(cast(QRELS, **change), cast(RUN, **change)) == pytest.approx(SOUND, abs=1e-12)


def test_integer_ids_are_declared() -> None:
    scores = evaluate(cast(QRELS, doc=number), cast(RUN, doc=number), "AP")
    assert "run: integer ids are compared as text" in words(scores)


@pytest.mark.parametrize("change", [{"doc": number}, {"query": number}, {"query": number, "doc": number}])
@pytest.mark.parametrize("swap", [False, True])
def test_integers_on_one_side(change: dict[str, Change], swap: bool) -> None:
    """Row 69."""
    qrels, run = (QRELS, cast(RUN, **change)) if swap else (cast(QRELS, **change), RUN)
    what = "query" if "query" in change else "document"
    ours, theirs = ("int", "str") if swap else ("str", "int")
    with raises_code(GoldrankError, "different-id-types", match=f"{what} ids .* {ours}, .* {theirs}"):
        evaluate(qrels, run)


def test_text_that_looks_like_integers_matches_files(tmp_path: Any) -> None:
    """Ids of files have no type: integers on the other side are their digits."""
    (tmp_path / "qrels").write_text("1 0 2 1\n")
    assert ap_and_ndcg(tmp_path / "qrels", {1: {2: 0.5}}) == (1.0, 1.0)


def test_mixed_ids() -> None:
    with pytest.raises(GoldrankError, match="some document ids are of type int and some of type str"):
        evaluate(QRELS, {"q1": {"d1": 1.0, 2: 0.5}})
    with pytest.raises(GoldrankError, match="some query ids are of type bytes and some of type str"):
        evaluate({"q1": {"d1": 1}, b"q1": {"d1": 0}}, RUN)


@pytest.mark.parametrize("bad", [1.5, None, True, ("d", 1), float("nan")])
def test_ids_that_are_none(bad: Any) -> None:
    for qrels, run in (({"q1": {bad: 1}}, RUN), (QRELS, {"q1": {bad: 1.0}}), ({bad: {"d1": 1}}, RUN)):
        with raises_code(GoldrankError, "bad-id"):
            evaluate(qrels, run)


def test_empty_run() -> None:
    """Row 64."""
    for nothing in ({}, [], iter(()), pl.DataFrame({"query": [], "doc": [], "score": []})):
        with raises_code(GoldrankError, "empty-input"):
            evaluate(QRELS, nothing)


def test_empty_qrels() -> None:
    for nothing in ({}, [], pl.DataFrame({"query": [], "doc": [], "grade": []})):
        with raises_code(GoldrankError, "empty-input"):
            evaluate(nothing, RUN)


def test_query_without_judgements() -> None:
    """Row 65: it has no relevant document, which has a policy."""
    qrels = {**QRELS, "q3": {}}
    run = {**RUN, "q3": {"d1": 1.0}}
    scores = evaluate(qrels, run, ["AP", "nDCG"])
    assert (scores["AP"], scores["nDCG"]) == pytest.approx(mean(Q1, Q2, (0, 0)), abs=1e-12)
    assert "1 query has no relevant document" in words(scores)
    assert ap_and_ndcg(qrels, run, empty="skip") == pytest.approx(SOUND, abs=1e-12)
    with pytest.raises(GoldrankError, match="1 queries have no relevant document for AP: 'q3'"):
        evaluate(qrels, run, "AP", empty="error")


def test_query_without_results() -> None:
    scores = evaluate(QRELS, {**RUN, "q2": {}}, ["AP", "nDCG"])
    assert (scores["AP"], scores["nDCG"]) == pytest.approx(mean(Q1, (0, 0)), abs=1e-12)
    assert "1 query is in the run without any document" in words(scores)


BAD_SCORES = [
    None,
    "0.5",
    b"1",
    "abc",
    [1],
    {},
    1j,
    math.nan,
    Decimal("nan"),
    np.float32("nan"),
    10**400,
    object(),
    pd.NA,
]


@pytest.mark.parametrize("bad", BAD_SCORES, ids=lambda bad: type(bad).__name__)
def test_bad_score(bad: Any) -> None:
    """Row 66: the error names query and document."""
    with raises_code(GoldrankError, "bad-score") as caught:
        evaluate(QRELS, {**RUN, "q2": {"d4": 1.0, "d5": bad}})
    assert "query 'q2', document 'd5'" in str(caught.value)
    with pytest.raises(GoldrankError, match="row 2, query 'q2', document 'd5'"):
        evaluate(QRELS, [("q2", "d4", 1.0), ("q2", "d5", bad)])


BAD_GRADES = [None, "1", "yes", [1], math.nan, math.inf, 0.5, 20_240_101, 2**31, 2**63, -(2**63), 10**400, 10**5000]


@pytest.mark.parametrize("bad", BAD_GRADES, ids=lambda bad: "huge" if isinstance(bad, int) else repr(bad)[:20])
def test_bad_grade(bad: Any) -> None:
    """Row 67."""
    with raises_code(GoldrankError, "bad-grade") as caught:
        evaluate({**QRELS, "q2": {"d4": bad}}, RUN)
    assert "query 'q2', document 'd4'" in str(caught.value)
    with pytest.raises(GoldrankError, match="row 2"):
        evaluate([("q1", "d1", 1), ("q2", "d4", bad)], RUN)


@pytest.mark.parametrize("kind", [np.int64, np.int8, np.uint64, float, np.float32, Decimal, Fraction])
def test_grades_of_other_types(kind: Any) -> None:
    """Row 73."""
    qrels = {"q1": {"d1": kind(1), "d2": kind(0)}}
    assert evaluate(qrels, {"q1": {"d2": 2, "d1": 1}}, "AP")["AP"] == 1 / 2


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, int, Decimal, Fraction, np.longdouble])
def test_scores_of_other_types(kind: Any) -> None:
    run = cast(RUN, value=lambda score: kind(int(score)))
    assert ap_and_ndcg(QRELS, run) == pytest.approx(SOUND, abs=1e-12)


def test_queries_are_joined_by_id() -> None:
    """Row 72."""
    backwards = dict(reversed(RUN.items()))
    assert ap_and_ndcg(QRELS, backwards) == pytest.approx(SOUND, abs=1e-12)


def test_arguments_are_left_alone() -> None:
    qrels, run = cast(QRELS), cast(RUN)
    evaluate(qrels, run)
    assert (qrels, run) == (QRELS, RUN)


@pytest.mark.parametrize("given", [5, None, b"q1 Q0 d1", 1.5, object, "q1"])
def test_other_objects(given: Any) -> None:
    with pytest.raises(GoldrankError, match=r"cannot be read as|cannot be opened"):
        evaluate(given, RUN)
    with pytest.raises(GoldrankError, match=r"cannot be read as|cannot be opened|there is no run"):
        evaluate(QRELS, given)


@pytest.mark.parametrize(
    "run",
    [
        {"q1": 5}, {"q1": "d1"}, {"q1": None}, {"q1": [("d1", 1, 2)]}, {"q1": [["d1"]]}, {"q1": [None]}, [5], ["ab"],
        [("q1", "d1")], [{"a": 1}], [{1: 2}], [("q1", "d1", 1), 7], {"q1": {"d1": {"score": 1}}}, {"q1": [{}]},
        {"q1": [("d1", 1.0), ("d1", 2.0)]}, {"q1": ["d1", "d1"]}, [("q1", "d1", 1), ("q1", "d1", 2)],
    ],
    ids=str,
)  # fmt: skip
def test_runs_of_the_wrong_shape(run: Any) -> None:
    with pytest.raises(GoldrankError):
        evaluate(QRELS, run)


@pytest.mark.parametrize(
    "qrels",
    [{"q1": 5}, {"q1": None}, {"q1": [{}]}, {"q1": [("d1", 1)]}, [5], [("q1", "d1"), ("q1",)], [{1: 2}], ["ab"]],
    ids=str,
)
def test_qrels_of_the_wrong_shape(qrels: Any) -> None:
    with pytest.raises(GoldrankError):
        evaluate(qrels, RUN)


def test_repeated_document_in_a_list() -> None:
    with raises_code(GoldrankError, "duplicate-document", match="first at run: row 1"):
        evaluate(QRELS, {"q1": ["d1", "d2", "d1"]})
    # d3, d1, d3: by the first, AP (1/1 + 2/2) / 2; by the last, d1 then d3, the same; counted, d3 counts twice.
    twice = {"q1": ["d3", "d1", "d3"]}
    qrels = {"q1": QRELS["q1"]}
    assert evaluate(qrels, twice, "AP", duplicates="first")["AP"] == 1
    assert evaluate(qrels, twice, "RR(rel=2)", duplicates="last")["RR(rel=2)"] == 1 / 2
    assert evaluate(qrels, twice, "NumRelRet", duplicates="count")["NumRelRet"] == 3
    assert "1 repeated document was dropped" in words(evaluate(qrels, twice, duplicates="first"))


def test_direct_construction_is_checked() -> None:
    with raises_code(GoldrankError, "wrong-type"):
        Run({"q1": 3})  # type: ignore[dict-item]
    with raises_code(GoldrankError, "wrong-type"):
        Qrels({"q1": 3})  # type: ignore[dict-item]
    assert evaluate(Qrels(cast(QRELS, doc=number)), Run(cast(RUN, doc=number)), "AP")["AP"] == pytest.approx(SOUND[0])


# Row 79: data frames.


def frame(data: Any, value: str) -> dict[str, list[Any]]:
    rows = [(q, d, v) for q, row in data.items() for d, v in row.items()]
    return dict(zip(("query_id", "doc_id", value), map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
@pytest.mark.parametrize("doc", [str, tweet, number])
def test_frames(kind: Any, doc: Any) -> None:
    qrels, run = kind(frame(cast(QRELS, doc=doc), "relevance")), kind(frame(cast(RUN, doc=doc), "score"))
    assert ap_and_ndcg(qrels, run) == pytest.approx(SOUND, abs=1e-12)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_with_integers_on_one_side(kind: Any) -> None:
    with raises_code(GoldrankError, "different-id-types", match="are int, .* are str"):
        evaluate(QRELS, kind(frame(cast(RUN, doc=number), "score")))


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("score", [1.0, None], "row 2: the score is missing"),
        ("score", [1.0, math.nan], "row 2: the score is"),
        ("score", ["1.0", "x"], "row 2: score 'x' is not a number"),
        ("score", ["1.0", "1_000"], "row 2: score '1_000' is not a number"),
        ("score", ["1.0", "3,5"], "decimal comma"),
        ("doc_id", ["d1", None], "row 2: the doc id is missing"),
        ("doc_id", ["d1", ""], "row 2: the doc id is empty"),
        ("doc_id", [1.0, 2.0], "document ids of the run are int"),
        ("doc_id", [[1], [2]], "doc ids are of type"),
        ("query_id", [None, None], "row 1: the query id is missing"),
        ("doc_id", ["d1", "d1"], "row 2: document 'd1' is in this ranking twice, first at run: row 1"),
        ("doc_id", ["d1", "d" * 70_000], "row 2: the doc id has more than 65,536 bytes"),
    ],
)
@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame])
def test_bad_frame(kind: Any, column: str, values: list[Any], words: str) -> None:
    table = {"query_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "score": [2.0, 1.0]} | {column: values}
    with pytest.raises(GoldrankError) as caught:
        evaluate(QRELS, kind(table))
    assert words in str(caught.value)


def test_frame_without_a_column() -> None:
    with raises_code(GoldrankError, "no-column", match="query, doc") as caught:
        evaluate(QRELS, pl.DataFrame({"query": ["q1"], "doc": ["d1"]}))
    assert "known names are score, sim" in str(caught.value)
    with raises_code(GoldrankError, "no-column", match="the doc"):
        evaluate(pl.DataFrame({"query": ["q1"], "grade": [1]}), RUN)


def test_empty_grade_is_not_judged() -> None:
    qrels = pl.DataFrame({"query": ["q1", "q1"], "doc": ["d1", "d2"], "grade": [1, None]})
    scores = evaluate(qrels, RUN, ["NumRel", "Judged@3"])
    assert scores["Judged@3"] == pytest.approx(1 / 3)
    assert "qrels: rows without a grade, taken as not judged: 1" in words(scores)


# Rows 80 and 81: JSON.


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"{}", "the run is empty"),
        (b"[]", "the run is empty"),
        (b'{"q1": 5}', "$.q1: holds 5 where documents should be"),
        (b'{"q1": {"d1": null}}', "$.q1.d1: score None is of type NoneType"),
        (b'{"q1": {"d1": "x"}}', "$.q1.d1: score 'x' is of type str"),
        (b'{"q1": {"d1": NaN}}', "$.q1.d1: score is NaN"),
        (b'{"q1": {"d1": {}}}', "$.q1.d1: score {} is of type dict"),
        (b'{"q 1": {"d.1": null}}', "$['q 1']['d.1']: score None"),
        (b'{"q1": {"d1": 1, "d2": 2, "d1": 3}}', "key 'd1' occurs twice in the object at $.q1"),
        (b'{"q1": {"d1": 1},\n "q1": {"d2": 2}}', "key 'q1' occurs twice in the object at $"),
        (b'{"q1": {"d1": 1}', ":1:17: is not JSON: Expecting ',' delimiter"),
        (b'{"q1": {"d1": 1},\n "q2": {d1: 2}}', ":2:9: is not JSON: Expecting property name"),
        (b'{"q1": {"d1": 1}} x', ":1:19: is not JSON: Extra data, found 'x'"),
        (b"[" * 200_000, "is nested too deeply"),
        (b'{"a":' * 200_000, "is nested too deeply"),
        (b"[1, 2]", "$[0]: is 1, not an object"),
        (b'[{"a": 1}]', "$[0]: has no query; it has: a"),
        (b'[{"qid": "q1", "docid": "d1"}]', "$[0]: has no score; it has: qid, docid"),
        (b'[{"qid": "q1"}]', "$[0]: has no document; it has: qid"),
        (b'{"qid": "q1", "docid": "d1", "score": 1}\n{"qid": "q1", "docid": "d2", "score": null}\n', ":2, query 'q1'"),
        (b'{"qid": "q1", "docid": "d1", "score": 1}\n\n{"qid": "q1", "docid": \n', ":3:24: is not JSON"),
        (b'{"qid": "q1", "docid": "d1", "score": 1}\n{"qid": "q1", "docid": "d1", "score": 1}\n', "twice, first at"),
        (b'{"qid": "q1", "results": [{"x": 1}]}\n', ":1, results[0]: has no document id; it has: x"),
        (b'{"details": {"q1": {"hits": [{"hit": {}}]}}}', "$.details.q1.hits[0]: is not a hit with an _id"),
        (b'{"details": {"q1": {"hits": 5}}}', "$.details.q1.hits: is 5, not a list"),
        (b'{"mteb_model_meta": {}, "a": {"x": {}, "y": {}}}', "holds 2 runs: $.a.x, $.a.y"),
        (b'{"requests": []}', "these are judgements, not a run"),
    ],
    ids=lambda value: value[:40] if isinstance(value, bytes) else "",
)  # fmt: skip
def test_bad_json_run(text: bytes, words: str) -> None:
    with pytest.raises(GoldrankError) as caught:
        evaluate(QRELS, read_run(io.BytesIO(text)))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"{}", "no judgements"),
        (b'{"q1": 5}', "$.q1: holds 5 where documents should be"),
        (b'{"q1": {"d1": null}}', "$.q1.d1: grade None is of type NoneType"),
        (b'{"q1": {"d1": 0.5}}', "$.q1.d1: grade '0.5' is not a whole number"),
        (b'{"q1": {"d1": 1e400}}', "$.q1.d1: grade '1e400' is not a whole number"),
        (b'{"q1": {"d1": 1, "d1": 2}}', "key 'd1' occurs twice in the object at $.q1"),
        (b'{"q1": [{"a": 1}]}', "the documents of query 'q1' are not ids"),
        (b'{"requests": [{"id": "q1"}]}', "$.requests[0].ratings: is None, not a list"),
        (b'{"requests": [{"ratings": []}]}', "$.requests[0]: has no id"),
        (b'{"requests": [{"id": "q1", "ratings": [{"_id": "d"}]}]}',
         "$.requests[0].ratings[0]: has no _id with a rating"),
        (b'{"requests": [{"id": "q", "ratings": [{"_id": "d", "rating": 1}, {"_id": "d", "rating": 2}]}]}',
         "$.requests[0].ratings[1]: document 'd' of query 'q' is judged 2 here"),
        (b'{"judgmentRatings": [{"query": "q", "ratings": [{"docId": "d", "rating": "high"}]}]}',
         "$.judgmentRatings[0].ratings[0]: grade 'high' is not a whole number"),
        (b'{"judgmentRatings": 1}', "$.judgmentRatings: is 1, not a list"),
        (b'{"metric_score": 1, "details": {}}', "this is a response with rankings"),
        (b'{"relevant_docs": 3, "queries": {}}', "$.relevant_docs: is a JSON int, not an object"),
    ],
    ids=lambda value: value[:40] if isinstance(value, bytes) else "",
)  # fmt: skip
def test_bad_json_qrels(text: bytes, words: str) -> None:
    with pytest.raises(GoldrankError) as caught:
        read_qrels(io.BytesIO(text))
    assert words in str(caught.value)


def test_random_objects() -> None:
    """Whatever is put where ids, scores, rows or runs should be: our error or a result."""
    rng = np.random.default_rng(0)
    atoms: list[Any] = [
        None, 0, 1, -1, 1.5, math.nan, math.inf, "", "q1", "d1", b"d1", "\ud800", "é", 10**30, True, (), [], {},
        object(),
        np.int64(3), np.float32(2), ("d1", 1.0), ["d1"], "d\0", pd.NA, Decimal(1), {"d1": 1},
    ]  # fmt: skip

    def some() -> Any:
        return atoms[rng.integers(len(atoms))]

    def key() -> Any:
        value = some()
        return value if isinstance(value, str | bytes | int | float | None | tuple) else "q1"

    def table() -> Any:
        kind = rng.integers(6)
        if kind == 0:
            return [tuple(some() for _ in range(rng.integers(1, 5))) for _ in range(rng.integers(3))]
        if kind == 1:
            return {key(): [some() for _ in range(rng.integers(4))] for _ in range(rng.integers(3))}
        if kind == 2:
            return some()
        usual = {"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 1}}
        if kind == 3:
            usual["q1"][key()] = some()
        if kind == 4:
            usual[key()] = some()
        return usual

    given = [(table(), table()) for _ in range(300)]
    refused = [only_ours(lambda pair=pair: evaluate(*pair), list(pair)) is None for pair in given]
    assert set(refused) == {True, False}


@pytest.mark.parametrize(
    "odd",
    [10**400, 2**63, Decimal("1E400"), Decimal("NaN"), 1 + 0j, np.datetime64("2020"), np.longdouble(1) / 3, object()],
    ids=lambda odd: type(odd).__name__,
)
@pytest.mark.parametrize("kept", [object, None], ids=["objects", "as pandas likes"])
def test_frames_of_odd_objects(odd: Any, kept: Any) -> None:
    """Arrow and polars refuse them in their own words, as OverflowError, RuntimeError or worse."""
    values = pd.Series([odd, odd], dtype=kept)
    for column in ("grade", "doc"):
        frame = pd.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "grade": [1, 0]}).assign(**{column: values})
        with pytest.raises(GoldrankError):
            evaluate(frame, {"q": ["a"]}, "AP")


def test_numbers_that_are_none_have_codes(tmp_path):
    cases = {"bad-score": [("s.json", '{"q1": {"d1": "x"}}'), ("s.run", "q Q0 d 1 nan x\n")]}
    for code, files in cases.items():
        for name, text in files:
            (tmp_path / name).write_text(text)
            with raises_code(GoldrankError, code):
                dict(read_run(str(tmp_path / name)))
    (tmp_path / "g.qrels").write_text("q 0 d high\n")
    with raises_code(GoldrankError, "bad-grade"):
        read_qrels(str(tmp_path / "g.qrels"))


def test_searches_that_all_failed_are_told(tmp_path):
    path = tmp_path / "responses.json"
    path.write_text('{"q1": {"error": {"type": "parse", "reason": "no such field"}, "status": 400}}')
    with pytest.raises(GoldrankError, match=r"\$\.q1: this search failed: no such field"):
        dict(read_run(str(path)))
