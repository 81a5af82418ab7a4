"""None, NaN and empty ids are errors on every route: a field that is named wrongly on both sides scored 1.0."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pytest
from raising import raises_code

from goldrank import GoldrankError, Qrels, Run, compare, evaluate, evaluate_arrays, evaluate_texts, fuse
from goldrank.base import ids
from goldrank.compat import axion, ir_eval_numba, ir_measures, lesson, pytrec_eval, ranx, remem
from goldrank.integrations import huggingface, pyterrier, sentence_transformers
from goldrank.io import as_qrels, as_run

MISSING: dict[str, Any] = {
    "None": None,
    "NaN": math.nan,
    "NaN of NumPy": np.float64("nan"),
    "NaT": pd.NaT,
    "NA": pd.NA,
    "empty text": "",
    "empty bytes": b"",
}


def frame(**columns: list[Any]) -> pd.DataFrame:
    """A frame whose columns hold Python's own objects."""
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def evaluator(query: Any, doc: Any) -> Any:
    """sentence-transformers', with the same wrong id in the corpus and in the judgements."""
    return sentence_transformers.Ranking({query: "x"}, {doc: "y"}, {query: [doc]})


ROUTES: dict[str, Callable[[Any, Any], object]] = {
    "dicts": lambda q, d: evaluate({q: {d: 1}}, {q: {d: 1.0}}),
    "lists": lambda q, d: evaluate({q: [d]}, {q: [d]}),
    "pairs": lambda q, d: as_run({q: [(d, 1.0)]}),
    "Run": lambda q, d: Run({q: {d: 1.0}}),
    "Qrels": lambda q, d: Qrels({q: {d: 1}}),
    "rows of a run": lambda q, d: as_run([(q, d, 1.0)]),
    "rows of qrels": lambda q, d: as_qrels([(q, d, 1)]),
    "records of a run": lambda q, d: as_run([{"query": q, "doc": d, "score": 1.0}]),
    "records of qrels": lambda q, d: as_qrels([{"query": q, "doc": d, "grade": 1}]),
    "a frame of a run": lambda q, d: dict(as_run(frame(query=[q], doc=[d], score=[1.0]))),
    "a frame of qrels": lambda q, d: as_qrels(frame(query=[q], doc=[d], grade=[1])),
    "a frame with other rows": lambda q, d: dict(
        as_run(frame(query=["q", q], doc=["e", d], score=[1.0, 0.5]))
    ),
    "compare": lambda q, d: compare({q: {d: 1}}, {"a": {q: {d: 1.0}}, "b": {q: {d: 2.0}}}, ["P@1"]),
    "fuse": lambda q, d: dict(fuse({"a": {q: {d: 1.0}}, "b": {q: {d: 1.0}}})),
    "pytrec_eval": lambda q, d: pytrec_eval.RelevanceEvaluator({q: {d: 1}}, {"P_5"}).evaluate({q: {d: 1.0}}),
    "ranx": lambda q, d: ranx.evaluate(ranx.Qrels({q: {d: 1}}), ranx.Run({q: {d: 1.0}}), "precision@1"),
    "ir_measures, dicts": lambda q, d: ir_measures.calc_aggregate([ir_measures.P @ 1], {q: {d: 1}}, {q: {d: 1.0}}),
    "ir_measures, rows": lambda q, d: ir_measures.calc_aggregate(
        [ir_measures.P @ 1], [ir_measures.Qrel(q, d, 1)], [ir_measures.ScoredDoc(q, d, 1.0)]
    ),
    "ir_measures, frames": lambda q, d: ir_measures.calc_aggregate(
        [ir_measures.P @ 1],
        frame(query_id=[q], doc_id=[d], relevance=[1]),
        frame(query_id=[q], doc_id=[d], score=[1.0]),
    ),
    "PyTerrier": lambda q, d: pyterrier._table(frame(query_id=[q], doc_id=[d], score=[1.0]), "score"),
    "sentence-transformers": evaluator,
}  # fmt: skip
"""What takes ids of queries and documents."""

DOCUMENTS: dict[str, Callable[[Any], object]] = {
    "recall of the lesson": lambda d: lesson.recall_at_k([d], {d}, 1),
    "nDCG of the lesson": lambda d: lesson.ndcg_at_k([d], {d: 1}, 1),
    "RR of the lesson": lambda d: lesson.reciprocal_rank([d], [d]),
    "MRR of the lesson": lambda d: lesson.mean_reciprocal_rank([([d], {d})]),
    "hit rate of the lesson": lambda d: lesson.mean_hit_rate([([d], {d})], 1),
    "a table of the lesson": lambda d: lesson.dcg_table([d], {d: 1}, 1),
    "only retrieved, in the lesson": lambda d: lesson.recall_at_k(["a", d], {"a"}, 2),
    "only judged, in the lesson": lambda d: lesson.recall_at_k(["a"], {"a", d}, 2),
    "REMem": lambda d: remem.RetrievalRecall(gold="ids").calculate_metric_scores([[d]], [[d]], [1]),
    "REMem, unsaid": lambda d: remem.RetrievalRecall().calculate_metric_scores([[d]], [[d]], [1]),
    "ir_eval_numba": lambda d: ir_eval_numba.precision(np.array([d]), np.array([d]), 1),
    "arrays": lambda d: evaluate_arrays([1.0], [1.0], ["P@1"], indexes=[d]),
    "ids of texts": lambda d: evaluate_texts(
        [{"id": "q", "retrieved": [{"id": d}], "expected_ids": [d]}], ["P@1"]
    ),
    "hits of a client": lambda d: as_run({"q": [SimpleNamespace(id="a", score=2.0), SimpleNamespace(id=d, score=1.0)]}),
    "hits in an object": lambda d: as_run({"q": SimpleNamespace(points=[SimpleNamespace(id=d, score=1.0)])}),
    "hits as dicts": lambda d: as_run({"q": [{"id": d, "score": 1.0}]}),
    "documents of hits": lambda d: as_run({"q": [{"document": {"id": d}, "score": 1.0}]}),
    "Hugging Face": lambda d: huggingface.load("RR").compute(predictions=[["a", d]], references=[["a", d]]),
}  # fmt: skip
"""What takes ids of documents alone."""


@pytest.mark.parametrize("name", MISSING)
@pytest.mark.parametrize("route", ROUTES)
def test_queries_and_documents(route: str, name: str) -> None:
    for query, doc in (("q", MISSING[name]), (MISSING[name], "d")):
        with pytest.raises(GoldrankError):
            ROUTES[route](query, doc)


@pytest.mark.parametrize("name", MISSING)
@pytest.mark.parametrize("route", DOCUMENTS)
def test_documents(route: str, name: str) -> None:
    with pytest.raises(GoldrankError):
        DOCUMENTS[route](MISSING[name])


@pytest.mark.parametrize("route", [*ROUTES, *DOCUMENTS])
def test_the_routes_take_ids(route: str) -> None:
    """Else the errors above would say nothing."""
    if route in ("arrays", "ir_eval_numba"):
        DOCUMENTS[route](1)
    elif route in ROUTES:
        ROUTES[route]("q", "d")
    else:
        DOCUMENTS[route]("d")


def test_polars_has_null() -> None:
    for columns in ({"query": ["q", "q"], "doc": [None, "d"]}, {"query": [None, "q"], "doc": ["d", "d"]}):
        with pytest.raises(GoldrankError):
            dict(as_run(pl.DataFrame({**columns, "score": [1.0, 0.5]})))
        with pytest.raises(GoldrankError):
            as_qrels(pl.DataFrame({**columns, "grade": [1, 0]}))
    with pytest.raises(GoldrankError):
        as_qrels(pl.DataFrame({"query": ["q"], "doc": [math.nan], "grade": [1]}))


def test_what_is_read_once_is_read_all_the_same() -> None:
    assert lesson.recall_at_k(["a", "b"], iter(["a", "c"]), 2) == 0.5
    assert lesson.recall_at_k(np.array([1, 2]), np.array([2]), 2) == 1.0


AXION = ("HitRateAtK", "MeanReciprocalRank", "NDCGAtK", "PrecisionAtK", "RecallAtK")


@pytest.mark.parametrize("name", MISSING)
@pytest.mark.parametrize("metric", AXION)
def test_axion_gives_nan_with_the_reason(metric: str, name: str) -> None:
    """Its metrics never raise."""
    missing = MISSING[name]
    sides = (([missing], [missing]), (["d"], ["d", missing]), (["d", missing], ["d"]))
    for retrieved, expected in sides:
        item = axion.DatasetItem(
            query="x",
            actual_ranking=[{"id": doc} for doc in retrieved],
            expected_reference=[{"id": doc} for doc in expected],
        )
        result = getattr(axion, metric)().score(item)
        assert math.isnan(result.score)
        assert "which is not an id" in result.explanation
        assert "entry" in result.explanation


@pytest.mark.parametrize("name", MISSING)
def test_what_stands_for_no_id(name: str) -> None:
    assert ids.is_missing(MISSING[name])
    with raises_code(GoldrankError, "bad-id"):
        raise ids.missing(MISSING[name], "document id")


@pytest.mark.parametrize("value", ["None", "nan", " ", "0", 0, b"0", np.int64(0)])
def test_what_is_an_id(value: Any) -> None:
    assert not ids.is_missing(value)


@pytest.mark.parametrize("wrong", [1.5, np.float32(2.5), True, ("a",), ["a"], {"a": 1}, frozenset("a")])
def test_hits_have_ids_and_not_any_value(wrong: Any) -> None:
    """Each of them was the id that str() makes of it."""
    with pytest.raises(GoldrankError):
        as_run({"q": [SimpleNamespace(id=wrong, score=1.0)]})


def test_hits_may_have_ids_of_their_own_kind() -> None:
    uuid = UUID(int=5)
    assert dict(as_run({"q": [SimpleNamespace(id=uuid, score=1.0)]})["q"]) == {str(uuid): 1.0}
    assert dict(as_run({"q": [SimpleNamespace(id=np.int64(5), score=1.0)]})["q"]) == {"5": 1.0}


@pytest.mark.parametrize("wrong", [1.5, True, (), ["a"], {}])
def test_what_is_no_id_in_axions_items(wrong: Any) -> None:
    """A mapping of fields that finds {} on both sides scored 1.0, because the texts '{}' are equal."""
    item = axion.DatasetItem(actual_ranking=[{"id": wrong}], expected_reference=[{"id": wrong}])
    for name in AXION:
        result = getattr(axion, name)().score(item)
        assert math.isnan(result.score)
        assert "is not an id" in result.explanation
