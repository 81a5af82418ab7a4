"""Every golden case of the seed systems.

A case that a document prints is asked of the plain facade, one that the released code gave is asked with
`as_released=True`. The defects that goldrank does not imitate are listed by case, each with what it gives.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
from typing import Any

import numpy as np
import places
import pytest

import goldrank
from goldrank.base.errors import GoldrankError
from goldrank.compat import axion, continuous_eval, ir_eval_numba, lesson, remem
from goldrank.match.rouge import rouge_l_recall

CASES = json.loads((places.FILES / "golden" / "seeds.json").read_text(encoding="utf-8"))

NO_ZERO_DIVISION = 0.0
DEFECTS: dict[str, Any] = {
    # Values above 1 stop at 1.
    "000-049": 1.0,  # recall of a repeated document
    "001-074": 1.0,  # nDCG of a repeated document
    "003-086": {"average_precision": 1.0, "reciprocal_rank": 1.0, "ndcg": 1.0},  # pairs
    "003-087": {"context_precision": 1.0, "context_recall": 1.0, "context_f1": 1.0},
    "003-088": {"average_precision": 1.0, "reciprocal_rank": 1.0, "ndcg": 1.0},
    "003-090": {"average_precision": 1.0, "reciprocal_rank": 1.0, "ndcg": 1.0},
    # A ratio of two negative numbers is no nDCG.
    "001-084": 0.0,
    # One bad relevance is a reason, not an exception.
    "000-059": math.nan,
    # Division by zero: there is no hit, or nothing relevant.
    "004-040": NO_ZERO_DIVISION,
    "004-043": NO_ZERO_DIVISION,
    "004-045": NO_ZERO_DIVISION,
    "004-072": (1 + 2 / 3) / 2 / 2,  # hits at 1 and 3 of one query, none of the other
    "001-096": {0: 0.0},
    # A negative precision, and k = 0 where the original divides by it: errors that name k.
    "004-050": GoldrankError,
    "004-052": GoldrankError,
    "004-056": GoldrankError,
    # Reads past the end of the array: only what is there counts.
    "004-065": 0.0,
    "004-066": 0.0,
}


def ids(case: dict[str, Any]) -> str:
    return case["id"]


def of(*systems: str) -> list[dict[str, Any]]:
    return [case for case in CASES if case["system"].startswith(systems)]


def released(case: dict[str, Any]) -> bool:
    return case["source"] != "printed"


def agree(found: Any, expected: Any) -> bool:
    """Equal, numbers to 1e-12; "NaN" is NaN; keys of JSON are text."""
    if isinstance(expected, dict):
        keyed = {str(key): value for key, value in found.items()}
        return keyed.keys() == expected.keys() and all(agree(keyed[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(agree, found, expected))
    if expected == "NaN":
        return isinstance(found, float) and math.isnan(found)
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        return found == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
    return bool(found == expected)


def error_in(case: dict[str, Any]) -> bool:
    return isinstance(case["expected"], dict) and "error" in case["expected"]


def wanted(case: dict[str, Any]) -> Any:
    """What goldrank must give: the listed defect's value or the case's."""
    return DEFECTS.get(case["id"], case["expected"])


def test_the_defects_are_cases() -> None:
    assert DEFECTS.keys() <= {case["id"] for case in CASES}


def test_every_case_is_asked_below() -> None:
    asked = of("axion", "lesson", "formula", "remem", "continuous", "rouge", "ir_eval_numba")
    assert len(asked) == len(CASES)


# Axion.


def axion_metric(case: dict[str, Any], name: str | None = None) -> Any:
    make = getattr(axion, name or case["metric"])
    options = {key: value for key, value in case["params"].items() if key == "main_k"}
    if case["k"] is not None:
        options["k"] = case["k"]
    return make(**options, as_released=released(case))


def only_given(signals: Any) -> Any:
    if isinstance(signals, axion.MultiKResult):
        details = {
            str(k): {name: value for name, value in vars(detail).items() if value is not None}
            for k, detail in signals.results_by_k.items()
        }
        return {**vars(signals), "results_by_k": details}
    return None if signals is None else vars(signals)


AXION_METRICS = ("HitRateAtK", "MeanReciprocalRank", "NDCGAtK", "PrecisionAtK", "RecallAtK")


@pytest.mark.parametrize("case", [c for c in of("axion") if c["metric"] in AXION_METRICS], ids=ids)
def test_axion_metric(case: dict[str, Any]) -> None:
    expected = case["expected"]
    if error_in(case) and case["id"] not in DEFECTS:
        if expected["stage"] == "construct":
            with pytest.raises(GoldrankError) as caught:
                axion_metric(case)
            assert caught.value.what == expected["message"]
        else:
            with pytest.raises(GoldrankError, match="entry 1 of actual_ranking is 1, not a dictionary"):
                axion.DatasetItem(**case["inputs"])
        return
    result = axion_metric(case).score(axion.DatasetItem(**case["inputs"]))
    if case["id"] in DEFECTS:
        assert agree(result.score, DEFECTS[case["id"]])
        assert result.explanation
        return
    assert agree(result.score, expected["score"])
    assert result.explanation == expected["explanation"]
    assert agree(only_given(result.signals), expected.get("signals"))


@pytest.mark.parametrize("case", [c for c in of("axion") if c["metric"] == "conflict matrix"], ids=ids)
def test_axion_conflict(case: dict[str, Any]) -> None:
    classes = {"hit": "HitRateAtK", "precision": "PrecisionAtK", "recall": "RecallAtK", "ndcg": "NDCGAtK"}
    item = axion.DatasetItem(actual_ranking=case["inputs"]["retrieved"], expected_reference=case["inputs"]["relevant"])
    found = {name: axion_metric(case, cls).score(item).score for name, cls in classes.items()}
    found["rr"] = axion.MeanReciprocalRank(as_released=True).score(item).score
    assert agree(found, case["expected"])


def test_axion_aliases() -> None:
    (case,) = (c for c in of("axion") if c["metric"] == "DatasetItem aliases")
    item = axion.DatasetItem(**case["inputs"])
    assert item.actual_ranking == case["expected"]["actual_ranking"]
    assert item.expected_reference == case["expected"]["expected_reference"]
    assert axion.MeanReciprocalRank().score(item).score == case["expected"]["score"]


def runner_metrics(texts: list[str]) -> list[Any]:
    made = []
    for text in texts:
        name, _, k = text.removesuffix(")").partition("(k=")
        made.append(getattr(axion, name)(k=int(k), as_released=True))
    return made


@pytest.mark.parametrize("case", [c for c in of("axion") if c["metric"] == "MetricRunner.execute_batch"], ids=ids)
def test_axion_runner(case: dict[str, Any]) -> None:
    runner = axion.MetricRunner(metrics=runner_metrics(case["params"].get("metrics", ["HitRateAtK(k=5)"])))
    items = case["inputs"]["items"]
    if error_in(case):
        with pytest.raises(TypeError) as caught:
            asyncio.run(runner.execute_batch(items))
        assert str(caught.value) == case["expected"]["message"]
        return
    cases = [axion.DatasetItem(id=i, actual_ranking=a, expected_reference=e) for i, a, e in items]
    results = asyncio.run(runner.execute_batch(cases))
    found = [
        [
            {key: getattr(one, key) for key in ("name", "score", "threshold", "passed", "explanation")}
            for one in result.score_results
        ]
        for result in results
    ]
    expected = case["expected"]
    if case["id"] == "000-083":  # two items of one id: Axion mixes their results up, goldrank does not
        expected = [[expected[0][0]], [expected[0][1]]]
    assert agree(found, expected)


def test_axion_cache_knows_the_parameters() -> None:
    (case,) = (c for c in of("axion") if c["metric"] == "MetricRunner cache collision")
    item = axion.DatasetItem(
        actual_ranking=case["inputs"]["actual_ranking"], expected_reference=case["inputs"]["expected_reference"]
    )
    for cache in (None, {}):
        runner = axion.MetricRunner(metrics=runner_metrics(case["inputs"]["metrics"]), cache_manager=cache)
        assert [one.score for one in runner.score([item])] == case["expected"]["without cache"]


# The lesson.


def lesson_value(case: dict[str, Any]) -> Any:
    metric, inputs, k = case["metric"], case["inputs"], case["k"]
    if metric == "conflict matrix":
        retrieved, relevant = inputs["retrieved"], set(inputs["relevant"])
        return {
            "hit": lesson.hit_rate_at_k(retrieved, relevant, k),
            "precision": lesson.precision_at_k(retrieved, relevant, k),
            "recall": lesson.recall_at_k(retrieved, relevant, k),
            "rr": lesson.reciprocal_rank(retrieved, relevant),
            "ndcg": lesson.ndcg_at_k(retrieved, dict.fromkeys(relevant, 1), k),
        }
    if metric == "dcg table":
        rows = lesson.dcg_table(inputs["retrieved"], inputs["relevance_scores"], k)
        return [{key: value for key, value in row.items() if key != "dcg"} for row in rows]
    if metric in ("mean_reciprocal_rank", "mean_hit_rate"):
        queries = [(query["retrieved"], set(query["relevant"])) for query in inputs["queries"]]
        return getattr(lesson, metric)(queries, *([] if k is None else [k]))
    if metric == "reciprocal_rank":
        return lesson.reciprocal_rank(inputs["retrieved"], set(inputs["relevant"]))
    if metric.endswith("_at_k") and "." not in metric:
        judged = inputs["relevance_scores"] if "relevance_scores" in inputs else set(inputs["relevant"])
        return getattr(lesson, metric)(inputs["retrieved"], judged, k, as_released=released(case))
    if metric == "RetrievalEvaluator._ndcg_at_k":
        evaluator = lesson.RetrievalEvaluator([k])
        found = evaluator.evaluate_single_query(inputs["retrieved"], set(), inputs["relevance_scores"])
        return found.ndcg_at_k[k]
    if metric == "RetrievalEvaluator.evaluate_single_query":
        relevant = set(inputs["relevant"])
        evaluator = lesson.RetrievalEvaluator(k)
        return vars(evaluator.evaluate_single_query(inputs["retrieved"], relevant, inputs.get("relevance_scores")))
    if metric == "RetrievalEvaluator.print_report":
        evaluator = lesson.RetrievalEvaluator(k)
        return evaluator.report(evaluator.evaluate_dataset(inputs["dataset"])) + "\n"
    if metric.startswith("RetrievalEvaluator.evaluate_dataset."):
        found = lesson.RetrievalEvaluator([k] if k else [1]).evaluate_dataset(inputs["dataset"])
        value = getattr(found, metric.rpartition(".")[2])
        return value if k is None else value[k]
    if metric == "RetrieverComparison.evaluate_retriever":
        return lesson.RetrieverComparison(k or [1]).evaluate_retriever("A", inputs["queries"]).precision
    if metric == "RetrieverComparison.compare":
        comparison = lesson.RetrieverComparison(k)
        results = [comparison.evaluate_retriever(f"Retriever {name}", queries) for name, queries in inputs.items()]
        return comparison.compare(results)
    found = lesson.RetrieverComparison([k] if k else [1]).evaluate_retriever(inputs["retriever"], inputs["queries"])
    value = getattr(found, {"NDCG": "ndcg"}.get(metric.rpartition(".")[2], metric.rpartition(".")[2].lower()))
    return value if k is None else value[k]


@pytest.mark.parametrize("case", of("lesson"), ids=ids)
def test_lesson(case: dict[str, Any]) -> None:
    if error_in(case) and case["id"] not in DEFECTS:
        with pytest.raises(GoldrankError):
            lesson_value(case)
        return
    expected = wanted(case)
    found = lesson_value(case)
    assert agree(found, {str(k): v for k, v in expected.items()} if isinstance(expected, dict) else expected)
    if case["metric"] == "hit_rate_at_k":
        assert type(found) is int


# Formulas, asked of goldrank itself.


@pytest.mark.parametrize("case", of("formula"), ids=ids)
def test_formula(case: dict[str, Any]) -> None:
    inputs, params = case["inputs"], case["params"]
    judged = inputs.get("relevance_scores") or dict.fromkeys(inputs["relevant"], 1)
    options = {
        "gain": {"exp2": 'gain="exp2"', "linear": 'gain="linear"'},
        "discount": {"log2(i+1)": 'discount="log2"', "log2(max(i,2))": 'discount="log2_from_2"'},
        "ideal": {"judged": 'ideal="judged"'},
        "denominator": {"min(k,retrieved)": 'divisor="retrieved"'},
        "normaliser": {"relevant": 'divisor="relevant"', "retrieved": 'divisor="hits"'},
    }
    name = {"ndcg": "nDCG", "precision": "P", "average_precision": "AP"}[case["metric"]]
    spelled = ", ".join(options[key][value] for key, value in params.items())
    at = f"@{case['k']}" if case["k"] else ""
    query: Any = 0 if isinstance(inputs["retrieved"][0], int) else "q"
    scores = goldrank.evaluate({query: judged}, {query: inputs["retrieved"]}, f"{name}({spelled}){at}")
    assert agree(next(iter(scores.mean.values())), case["expected"])


# REMem.


def remem_metric(case: dict[str, Any]) -> remem.BaseMetric:
    return getattr(remem, case["metric"])(as_released=True)


@pytest.mark.parametrize("case", [c for c in of("remem") if c["metric"].startswith("Retrieval")], ids=ids)
def test_remem(case: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    inputs = case["inputs"]
    if error_in(case):  # division by zero and an index error in the original
        with pytest.raises(GoldrankError):
            remem_metric(case).calculate_metric_scores(**inputs, k_list=case["k"])
        return
    with caplog.at_level(logging.WARNING):
        pooled, each = remem_metric(case).calculate_metric_scores(**inputs, k_list=case["k"])
    assert agree({"pooled": pooled, "per_example": each, "warnings": caplog.messages}, case["expected"])


@pytest.mark.parametrize("case", [c for c in of("remem") if c["metric"] == "is_chunk_from_original"], ids=ids)
def test_remem_chunk(case: dict[str, Any]) -> None:
    assert remem.is_chunk_from_original(**case["inputs"], as_released=True) is case["expected"]


@pytest.mark.parametrize("case", [c for c in of("remem") if c["metric"] == "conflict matrix"], ids=ids)
def test_remem_conflict(case: dict[str, Any]) -> None:
    classes = {"recall": "RetrievalRecall", "recall_all": "RetrievalRecallAll", "ndcg": "RetrievalNDCGAny"}
    found = {}
    for name, cls in classes.items():
        metric = getattr(remem, cls)(as_released=True)
        _, each = metric.calculate_metric_scores(
            [case["inputs"]["relevant"]], [case["inputs"]["retrieved"]], [case["k"]]
        )
        (found[name],) = each[0].values()
    assert agree(found, case["expected"])


# continuous-eval.


def continuous_metric(case: dict[str, Any]) -> Any:
    params = dict(case["params"])
    name = params.pop("matching_strategy")
    strategy = None if name == "default" else getattr(continuous_eval, name)(**params)
    return getattr(continuous_eval, case["metric"])(strategy, as_released=released(case))


CONTINUOUS = [c for c in of("continuous-eval") if c["metric"] in ("RankedRetrievalMetrics", "PrecisionRecallF1")]


@pytest.mark.parametrize("case", CONTINUOUS, ids=ids)
def test_continuous_eval(case: dict[str, Any]) -> None:
    older = "retrieved_contexts" in case["inputs"]

    def ask() -> Any:
        metric = continuous_metric(case)
        return metric.calculate(**case["inputs"]) if older else metric(**case["inputs"])

    if error_in(case):
        with pytest.raises(GoldrankError) as caught:
            ask()
        assert caught.value.what == case["expected"]["message"]
        return
    assert agree(ask(), wanted(case))


def binary_dataset(rows: list[list[int]]) -> list[dict[str, list[str]]]:
    """A dataset with these hits, and two ground truth contexts in each query."""
    data = []
    for row in rows:
        hits = iter(("first", "second"))
        retrieved = [next(hits) if hit else f"other {i}" for i, hit in enumerate(row)]
        data.append({"retrieved_contexts": retrieved, "ground_truth_contexts": ["first", "second"]})
    return data


@pytest.mark.parametrize(
    "case",
    [c for c in of("continuous-eval") if c["metric"].endswith("aggregated_results") and c["k"]],
    ids=ids,
)
def test_continuous_eval_evaluator(case: dict[str, Any]) -> None:
    metrics = [
        continuous_eval.PrecisionRecallF1(as_released=True),
        continuous_eval.RankedRetrievalMetrics(as_released=True),
    ]
    evaluator = continuous_eval.RetrievalEvaluator(binary_dataset(case["inputs"]["binary_relevance"]), metrics)
    evaluator.run(k=case["k"])
    assert agree(evaluator.aggregated_results, case["expected"])


def test_continuous_eval_means_are_of_the_last_run() -> None:
    (case,) = (c for c in CASES if c["id"] == "003-124")
    assert case["expected"] == {"stale": True}  # the defect that is not imitated
    evaluator = continuous_eval.RetrievalEvaluator(
        binary_dataset([[0, 1]]), [continuous_eval.RankedRetrievalMetrics(as_released=True)]
    )
    evaluator.run(k=10)
    assert evaluator.aggregated_results["reciprocal_rank"] == 0.5
    evaluator.run(k=1)
    assert evaluator.aggregated_results["reciprocal_rank"] == 0.0


def test_continuous_eval_refuses_k() -> None:
    (case,) = (c for c in of("continuous-eval") if c["metric"] == "RetrievalEvaluator.run")
    evaluator = continuous_eval.RetrievalEvaluator(binary_dataset([[1]]), [continuous_eval.PrecisionRecallF1()])
    with pytest.raises(GoldrankError) as caught:
        evaluator.run(k=case["k"])
    assert caught.value.what == case["expected"]["message"]


def test_continuous_eval_batch_keeps_the_order() -> None:
    (case,) = (c for c in of("continuous-eval") if c["metric"] == "Metric.batch")
    assert case["expected"] == {"order_kept": False}  # the defect that is not imitated
    retrieved = [["x"] * i + ["a"] for i in range(12)]
    found = continuous_eval.RankedRetrievalMetrics().batch(retrieved, [["a"]] * 12)
    assert [one["reciprocal_rank"] for one in found] == pytest.approx([1 / (i + 1) for i in range(12)])


def test_continuous_eval_aggregate() -> None:
    (case,) = (c for c in of("continuous-eval") if c["metric"] == "Metric.aggregate")
    found = continuous_eval.RankedRetrievalMetrics().aggregate(case["inputs"]["results"])
    assert found == case["expected"]


@pytest.mark.parametrize("case", of("continuous_eval HEAD"), ids=ids)
def test_continuous_eval_conflict(case: dict[str, Any]) -> None:
    texts = {"retrieved_context": case["inputs"]["retrieved"], "ground_truth_context": case["inputs"]["relevant"]}
    exact = continuous_eval.ExactChunkMatch()
    ranked = continuous_eval.RankedRetrievalMetrics(exact, as_released=True)(**texts)
    sets = continuous_eval.PrecisionRecallF1(exact, as_released=True)(**texts)
    found = {
        "precision": sets["context_precision"],
        "recall": sets["context_recall"],
        "f1": sets["context_f1"],
        "rr": ranked["reciprocal_rank"],
        "ap": ranked["average_precision"],
        "ndcg": ranked["ndcg"],
    }
    # Division by zero is not imitated.
    expected = {key: 0.0 if isinstance(value, dict) else value for key, value in case["expected"].items()}
    assert agree(found, expected)


@pytest.mark.parametrize("case", of("rouge"), ids=ids)
def test_rouge(case: dict[str, Any]) -> None:
    assert agree(rouge_l_recall(*case["inputs"].values()), case["expected"])


# ir_eval_numba.


@pytest.mark.parametrize("case", [c for c in of("ir_eval_numba") if c["metric"] != "conflict matrix"], ids=ids)
def test_ir_eval_numba(case: dict[str, Any]) -> None:
    function = getattr(ir_eval_numba, case["metric"])
    inputs = case["inputs"]

    def ask() -> float:
        arrays = {
            key: [np.array(one) for one in value] if key.endswith("_list") else np.array(value)
            for key, value in inputs.items()
        }
        return function(**arrays, k=case["k"], as_released=released(case))

    expected = wanted(case)
    if expected is GoldrankError or (error_in(case) and case["id"] not in DEFECTS):
        with pytest.raises(GoldrankError):
            ask()
        return
    assert agree(ask(), expected)


@pytest.mark.parametrize("case", [c for c in of("ir_eval_numba") if c["metric"] == "conflict matrix"], ids=ids)
def test_ir_eval_numba_conflict(case: dict[str, Any]) -> None:
    number: dict[str, int] = {}
    arrays = {
        key: np.array([number.setdefault(doc, len(number)) for doc in case["inputs"][key]], np.int64)
        for key in ("relevant", "retrieved")
    }
    functions = {"f1": "f1_score", "rr": "reciprocal_rank", "ap": "average_precision"}
    for name, expected in case["expected"].items():
        function = getattr(ir_eval_numba, functions.get(name, name))
        found = function(arrays["relevant"], arrays["retrieved"], case["k"], as_released=True)
        assert agree(found, 0.0 if isinstance(expected, dict) else expected), name
