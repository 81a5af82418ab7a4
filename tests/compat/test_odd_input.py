"""Whatever a call of the five seed systems' drop-ins gets, it gives values from 0 to 1, or an error of goldrank.

Every argument of every call is replaced by things that are no such argument: None, NaN, text, arrays without a
dimension, sets, numbers of other types. One bad item of Axion gives NaN and the reason.
"""

from __future__ import annotations

import math
from collections import UserList
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from goldrank import GoldrankError
from goldrank.compat import axion, lesson, remem
from goldrank.compat import continuous_eval as ce
from goldrank.compat import ir_eval_numba as numba

ODD: list[Any] = [
    *(
        None,
        math.nan,
        math.inf,
        -1,
        0,
        2.5,
        True,
        1j,
        10**30,
        10**400,
        -(2**63) - 1,
        Decimal(1),
        Fraction(1, 2),
        object(),
        float,
    ),
    *("", "a", "3", "\ud800", b"a", bytearray(b"a"), memoryview(b"a")),
    *(
        [],
        (),
        set(),
        {},
        [None],
        [math.nan],
        [1, "a"],
        [["a"]],
        [[]],
        [object()],
        [10**30],
        [10**400],
        [-(2**63) - 1],
        [[2**63]],
    ),
    *([b"a"], [True], [{}], {None: 1}, {"a": 10**400}),
    *({"a": 1}, {"a": None}, {"a": "3"}, {"a": 1j}, {1, 2}, range(3), UserList(["a"]), ["a", "a"], [("a", "b")]),
    *(np.array(3), np.array([1, 2]), np.array([[1]]), np.array(["a"]), np.array([1.5]), np.array([None])),
]
IDS = ["a", "b"]
QUERY = {"retrieved": IDS, "relevant": {"a"}}
DATUM = {"retrieved_contexts": ["a"], "ground_truth_contexts": ["a"]}
RESULT = lesson.RetrievalEvaluator([1]).evaluate_single_query(IDS, {"a"})
ACTUAL, PREDICTED = np.array([1]), np.array([1, 2])


TEXTS = axion.DatasetItem(query="?", retrieved_content=["a"], expected_output="a")


def axion_score(metric: axion.HitRateAtK, ranking: Any, reference: Any) -> float:
    """The score, 0 for a bad item, which must give a reason."""
    result = metric.score({"actual_ranking": ranking, "expected_reference": reference})
    assert result.explanation
    return 0.0 if math.isnan(result.score) else result.score


def calls(released: bool) -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """By name, a function and arguments that it takes."""
    found: dict[str, tuple[Callable[..., Any], list[Any]]] = {}
    for function in (lesson.recall_at_k, lesson.precision_at_k, lesson.hit_rate_at_k, lesson.ndcg_at_k):
        found[function.__name__] = (lambda *a, f=function: f(*a, as_released=released), [IDS, {"a": 1}, 2])
    for function in (numba.recall, numba.precision, numba.f1_score, numba.average_precision, numba.ndcg):
        found[function.__name__] = (lambda *a, f=function: f(*a, as_released=released), [ACTUAL, PREDICTED, 2])
    for mean in (numba.mean_average_precision, numba.mean_reciprocal_rank):
        found[mean.__name__] = (lambda *a, f=mean: f(*a, as_released=released), [[ACTUAL], [PREDICTED], 2])
    for metric in (remem.RetrievalRecall, remem.RetrievalRecallAll, remem.RetrievalNDCGAny, remem.RetrievalRecallAny):
        of = metric(as_released=released).calculate_metric_scores
        found[metric.metric_name] = (of, [[["a"]], [["a"]], [1]])
        found[f"{metric.metric_name} of one"] = (lambda g, r, k, f=of: f([g], [r], [k]), [["a"], ["a"], 1])
    for made in (ce.RankedRetrievalMetrics(as_released=released), ce.PrecisionRecallF1(as_released=released)):
        found[f"{made.name}.calculate"] = (made.calculate, [["a"], ["a"], None])
        found[made.name] = (made, [["a"], ["a"], None])
        found[f"{made.name}.batch"] = (made.batch, [[["a"]], [["a"]]])
        found[f"{made.name}.batch_calculate"] = (made.batch_calculate, [[DATUM]])
    for make in (axion.HitRateAtK, axion.NDCGAtK, axion.PrecisionAtK, axion.RecallAtK):
        scored = make(k=3, as_released=released)
        found[make.__name__] = (lambda k, main, f=make: f(k=k, main_k=main, as_released=released), [3, None])
        found[f"{make.__name__}.score"] = (lambda *a, m=scored: axion_score(m, *a), [IDS, IDS])
        found[f"{make.__name__} of one"] = (
            lambda doc, judged, grade, m=scored: axion_score(
                m, [{"id": doc}], [{"id": judged, "relevance": grade}, {"id": "z", "relevance": 1}]
            ),
            ["a", "a", 1],
        )
    return found


OTHERS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "reciprocal_rank": (lesson.reciprocal_rank, [IDS, {"a"}]),
    "mean_reciprocal_rank of the lesson": (lesson.mean_reciprocal_rank, [[(IDS, {"a"})]]),
    "mean_hit_rate": (lesson.mean_hit_rate, [[(IDS, {"a"})], 1]),
    "dcg_table": (lambda *a: lesson.format_dcg_table(lesson.dcg_table(*a)), [IDS, {"a": 1}, 2]),
    "format_dcg_table": (lesson.format_dcg_table, [lesson.dcg_table(IDS, {"a": 1}, 2)]),
    "row of a table": (lambda row: lesson.format_dcg_table([row]), [lesson.dcg_table(IDS, {"a": 1}, 2)[0]]),
    "pair of lists": (lambda pair: lesson.mean_reciprocal_rank([pair]), [(IDS, {"a"})]),
    "relevant_from_grades": (lesson.relevant_from_grades, [{"a": 1}, 1]),
    "evaluate_dataset": (lambda k, data: lesson.RetrievalEvaluator(k).evaluate_dataset(data), [[1], [QUERY]]),
    "report": (lesson.RetrievalEvaluator([1]).report, [RESULT]),
    "evaluate_retriever": (lesson.RetrieverComparison([1]).evaluate_retriever, ["A", [QUERY]]),
    "compare": (lesson.RetrieverComparison([1]).compare, [[]]),
    "is_chunk_from_original": (remem.is_chunk_from_original, ["a", "a"]),
    "gold": (lambda gold: remem.RetrievalRecall(gold=gold), ["ids"]),
    "problem_queries": (remem.problem_queries, [[{"R": 1.0}], "R", 1.0]),
    "score_distribution": (remem.score_distribution, [[{"R": 1.0}], "R"]),
    "Dataset": (ce.Dataset, [[DATUM]]),
    "RetrievalEvaluator": (
        lambda data, metrics, k, size: ce.RetrievalEvaluator(data, metrics).run(k, size),
        [[DATUM], [ce.PrecisionRecallF1()], 1, 32],
    ),
    "RougeChunkMatch": (lambda share, *texts: ce.RougeChunkMatch(share).is_relevant(*texts), [0.7, "a", "a"]),
    "ExactChunkMatch": (ce.ExactChunkMatch().is_relevant, ["a", "a"]),
    "GreaterOrEqualThan": (lambda *a: ce.GreaterOrEqualThan(*a[:3]).run(a[3]), ["t", "x", 0.5, [{"x": 1.0}]]),
    "MeanGreaterOrEqualThan": (lambda *a: ce.MeanGreaterOrEqualThan(*a[:3]).run(a[3]), ["t", "x", 0.5, [{"x": 1.0}]]),
    "DatasetItem": (lambda *a: axion.DatasetItem(actual_ranking=a[0], expected_reference=a[1]), [IDS, IDS]),
    "fields of an item": (
        lambda *a: axion.DatasetItem(retrieved_content=a[0], additional_input=a[1], metadata=a[2]),
        [["a"], {}, {}],
    ),
    "options of a metric": (
        lambda *a: axion.NDCGAtK(name=a[0], threshold=a[1], required_fields=a[2], field_mapping=a[3]),
        ["x", 0.5, ["query"], {}],
    ),
    "aggregate": (lambda value: str(ce.Metric.aggregate([{"x": value}])), [1.0]),
    "results": (lambda value: ce.MeanGreaterOrEqualThan("t", "x", 0.5).run([{"x": value}]), [1.0]),
    "values of queries": (lambda value: str(remem.score_distribution([{"R": value}], "R")), [1.0]),
    "TokenCount": (lambda encoder: ce.TokenCount(encoder), ["approx"]),
    "number of tokens": (lambda count: ce.TokenCount(lambda text: count).calculate(["a"]), [1]),
    "answer of Axion's judge": (
        lambda answer: axion.ContextualPrecision(judge=lambda *_: answer).score(TEXTS).explanation,
        [True],
    ),
    "answer of a judge": (
        lambda answer: ce.ContextPrecision(judge=lambda *_: answer)(question="?", retrieved_context=["a"]),
        [True],
    ),
    "fuzzy": (lambda share: remem.is_chunk_from_original("a", "a", fuzzy=share), [0.9]),
    "MetricRunner": (lambda *a: axion.MetricRunner(metrics=a[0], thresholds=a[1]).metrics, [[], None]),
    "registry": (axion.registry.get, ["recall_at_k"]),
}
ALL = {f"{name}, released": call for name, call in calls(True).items()} | calls(False) | OTHERS


def numbers(value: Any) -> Iterator[float]:
    """All floats in a result."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for inner in value:
            yield from numbers(inner)
    elif isinstance(value, float):
        yield value


@pytest.mark.parametrize("name", ALL)
def test_odd_arguments_give_values_or_errors(name: str) -> None:
    call, arguments = ALL[name]
    call(*arguments)
    for at in range(len(arguments)):
        for odd in ODD:
            given = [*arguments[:at], odd, *arguments[at + 1 :]]
            try:
                result = call(*given)
            except GoldrankError:
                continue
            if name != "MetricRunner":  # which keeps what is no metric, and says so in its results
                assert all(0 <= number <= 1 for number in numbers(result)), (at, odd, result)


def test_lists_may_be_generators_and_columns_of_frames() -> None:
    for column in (pd.Series, iter, tuple):
        item = axion.DatasetItem(actual_ranking=column(["x", "a"]), expected_reference=column(["a"]))
        assert axion.PrecisionAtK(k=column([2])).score(item).score == 0.5
        assert lesson.RetrievalEvaluator(column([1])).evaluate_dataset(column([QUERY])).mrr == 1.0
        metric = remem.RetrievalRecall()
        assert metric.calculate_metric_scores(column([["a"]]), column([["a"]]), column([1]))[0] == {"Recall@1": 1.0}
        plain = ce.PrecisionRecallF1()
        assert plain.batch(column([["a"]]), column([["a"]]))[0]["context_f1"] == 1.0
        assert len(ce.RetrievalEvaluator(column([DATUM]), column([plain])).run()) == 1
    for lists in (pd.Series, tuple):
        assert numba.mean_reciprocal_rank(lists([ACTUAL]), lists([PREDICTED]), 2) == 1.0


@pytest.mark.parametrize("ids", [[1], [b"a"], [1.5], [("a",)]])
def test_ids_of_types_that_are_never_equal_are_no_zero(ids: list[Any]) -> None:
    """The document's `recall_at_k([b"a"], {"a"}, 1)` is 0.0, which looks like a bad retriever."""
    for call in (lesson.recall_at_k, lesson.precision_at_k, lesson.ndcg_at_k, lesson.hit_rate_at_k):
        with pytest.raises(GoldrankError, match="ids of the rankings are"):
            call(ids, {"a": 1}, 1)
    assert lesson.recall_at_k([1.0], [1], 1) == 1.0
    assert lesson.recall_at_k([2.0], [1], 1) == 0.0


@pytest.mark.parametrize("doc", [b"a", print, object(), int, iter("a")])
def test_what_has_no_text_of_its_own_is_no_id_of_axion(doc: Any) -> None:
    result = axion.RecallAtK(k=1).score({"actual_ranking": [{"id": doc}], "expected_reference": [{"id": doc}]})
    assert math.isnan(result.score)
    assert "not an id" in result.explanation


def test_ids_that_are_missing_are_not_relevant() -> None:
    for doc in (None, math.nan, ""):
        with pytest.raises(GoldrankError, match="not an id"):
            lesson.relevant_from_grades({doc: 1})


def test_a_judge_is_not_asked_about_what_is_no_text() -> None:
    item = axion.DatasetItem(query="?", retrieved_content=[None], expected_output="a")  # type: ignore[list-item]
    for metric in (axion.ContextualPrecision, axion.ContextualRecall, axion.ContextualRanking):
        result = metric(judge=lambda item, text: True).score(item)
        assert math.isnan(result.score)
        assert "not a list of texts" in result.explanation


@pytest.mark.parametrize("path", [None, 1.5, "a\0b", [], "\ud800"])
def test_a_dataset_is_not_written_to_what_is_no_name(path: Any) -> None:
    with pytest.raises(GoldrankError):
        ce.Dataset([DATUM]).to_jsonl(path)


def test_half_of_a_surrogate_pair_is_written_as_json_has_it(tmp_path: Path) -> None:
    datum = {"retrieved_contexts": ["\ud800"], "ground_truth_contexts": ["a"]}
    ce.Dataset([datum]).to_jsonl(tmp_path / "data.jsonl")
    assert b'"\\ud800"' in (tmp_path / "data.jsonl").read_bytes()
