"""continuous-eval's facade beyond the golden cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldrank.compat import continuous_eval
from goldrank.compat.continuous_eval import (
    Dataset,
    ExactChunkMatch,
    ExactSentenceMatch,
    GreaterOrEqualThan,
    LLMBasedContextCoverage,
    LLMBasedContextPrecision,
    MatchingStrategy,
    MatchingStrategyType,
    MeanGreaterOrEqualThan,
    PrecisionRecallF1,
    RankedRetrievalMetrics,
    RetrievalEvaluator,
    RougeChunkMatch,
    RougeSentenceMatch,
    TokenCount,
    example_data,
)
from goldrank.errors import GoldrankError, InputError, OptionError

LOG3 = 0.6309297535714574  # 1 / log2(3), as the document has it


def test_both_call_forms() -> None:
    metric = RankedRetrievalMetrics(ExactChunkMatch())
    older = metric.calculate(retrieved_contexts=["x", "a"], ground_truth_contexts=["a"])
    assert older == metric(retrieved_context=["x", "a"], ground_truth_context=["a"])
    assert older == metric.compute(["x", "a"], ["a"])
    assert older == {"average_precision": 0.5, "reciprocal_rank": 0.5, "ndcg": LOG3}


def test_other_fields_of_a_datum_are_left_alone() -> None:
    datum = {"question": "?", "retrieved_contexts": ["a"], "ground_truth_contexts": ["a"]}
    assert PrecisionRecallF1().calculate(**datum)["context_f1"] == 1.0


def test_average_precision_divides_by_all_ground_truth() -> None:
    texts = (["a", "b", "c", "d"], ["b", "d", "z"])
    assert RankedRetrievalMetrics().calculate(*texts)["average_precision"] == pytest.approx((1 / 2 + 2 / 4) / 3)
    released = RankedRetrievalMetrics(as_released=True).calculate(*texts)
    assert released["average_precision"] == pytest.approx((1 / 2 + 2 / 4) / 2)


def test_a_ground_truth_is_found_once() -> None:
    found = RankedRetrievalMetrics().calculate(["a", "a"], ["a"])
    assert found == {"average_precision": 1.0, "reciprocal_rank": 1.0, "ndcg": 1.0}
    found = RankedRetrievalMetrics(ExactChunkMatch(), as_released=True)(["a", "a", "b"], ["a", "b", "c"])
    # the later release: matching chunks 1 2 3, ideal of three, gains at 1 and 3
    assert found["average_precision"] == 1.0
    assert found["ndcg"] == pytest.approx(1.5 / (1 + LOG3 + 0.5))


def test_one_chunk_with_two_ground_truths() -> None:
    chunk = ["Paris is the capital of France. Lyon is a major city in France."]
    truths = ["Paris is the capital of France.", "Lyon is a major city in France."]
    found = PrecisionRecallF1(RougeChunkMatch()).calculate(chunk, truths)
    assert found == {"context_precision": 1.0, "context_recall": 1.0, "context_f1": 1.0}
    # one chunk gets one of the two: 1/2 of AP, 1 of 1 + 1/log2(3) of NDCG
    ranked = RankedRetrievalMetrics(RougeChunkMatch()).calculate(chunk, truths)
    assert ranked == pytest.approx({"average_precision": 0.5, "reciprocal_rank": 1.0, "ndcg": 1 / (1 + LOG3)})


def test_the_ideal_is_cut_at_k() -> None:
    data = [{"retrieved_contexts": ["a", "x", "b"], "ground_truth_contexts": ["a", "b"]}]
    plain = RetrievalEvaluator(data, [RankedRetrievalMetrics()])
    assert plain.run(k=1)[0]["ndcg"] == 1.0
    released = RetrievalEvaluator(data, [RankedRetrievalMetrics(as_released=True)])
    assert released.run(k=1)[0]["ndcg"] == pytest.approx(1 / (1 + LOG3))


def test_ground_truth_listed_twice() -> None:
    texts = (["a", "x", "y"], ["a", "a"])
    plain = PrecisionRecallF1().calculate(*texts)
    assert (plain["context_precision"], plain["context_recall"]) == (pytest.approx(1 / 3), 1.0)
    # 0.2.4: two pairs of three chunks, one distinct hit of a list of two
    older = PrecisionRecallF1(as_released=True).calculate(*texts)
    assert (older["context_precision"], older["context_recall"]) == (pytest.approx(2 / 3), 0.5)
    later = PrecisionRecallF1(ExactChunkMatch(), as_released=True)(*texts)
    assert (later["context_precision"], later["context_recall"]) == (pytest.approx(1 / 3), 1.0)
    # the later release's NDCG credits the string once, of an ideal of two
    ranked = RankedRetrievalMetrics(ExactChunkMatch(), as_released=True)(*texts)
    assert ranked["ndcg"] == pytest.approx(1 / (1 + LOG3))


def test_without_ground_truth_everything_is_zero() -> None:
    for as_released in (False, True):
        found = RankedRetrievalMetrics(as_released=as_released).calculate(["a"], [])
        assert found == {"average_precision": 0.0, "reciprocal_rank": 0.0, "ndcg": 0.0}


# Matching.


def test_thresholds_of_the_releases() -> None:
    texts = (["a b c d e f g"], ["a b c d e f g h i j"])  # recall exactly 0.7
    assert RankedRetrievalMetrics(RougeChunkMatch()).calculate(*texts)["reciprocal_rank"] == 1.0
    assert RankedRetrievalMetrics(RougeChunkMatch(), as_released=True).calculate(*texts)["reciprocal_rank"] == 0.0
    assert RankedRetrievalMetrics(RougeChunkMatch(), as_released=True)(*texts)["reciprocal_rank"] == 1.0
    strict = RougeChunkMatch(inclusive=False)
    assert RankedRetrievalMetrics(strict).calculate(*texts)["reciprocal_rank"] == 0.0
    texts = (["a b c d"], ["a b c d e"])  # recall exactly 0.8
    for as_released in (False, True):
        found = PrecisionRecallF1(RougeSentenceMatch(), as_released=as_released).calculate(*texts)
        assert found["context_recall"] == 1.0


@pytest.mark.parametrize("threshold", [-0.1, 1.1, "0.7", True])
def test_thresholds_are_refused(threshold: Any) -> None:
    with pytest.raises(OptionError, match="threshold"):
        RougeChunkMatch(threshold)


def test_default_strategies() -> None:
    texts = (["Paris is the capital of France and more"], ["Paris is the capital of France"])
    assert PrecisionRecallF1().calculate(*texts)["context_recall"] == 0.0
    assert PrecisionRecallF1(as_released=True).calculate(*texts)["context_recall"] == 0.0  # exact in 0.2
    assert PrecisionRecallF1(as_released=True)(*texts)["context_recall"] == 1.0  # ROUGE later


def test_sentences() -> None:
    texts = (["Paris is big. It rains."], ["It rains. Snow is cold."])
    found = PrecisionRecallF1(ExactSentenceMatch()).calculate(*texts)
    assert found == {"context_precision": 0.5, "context_recall": 0.5, "context_f1": 0.5}
    assert ExactSentenceMatch().type is MatchingStrategyType.SENTENCE_MATCH
    with pytest.raises(OptionError, match=r"Ranked metrics are calculated at chunk level\."):
        RankedRetrievalMetrics(RougeSentenceMatch())


class FirstWord(MatchingStrategy):
    """A strategy of one's own."""

    type = MatchingStrategyType.CHUNK_MATCH

    def is_relevant(self, retrieved_component: str, ground_truth_component: str) -> bool:
        return retrieved_component.split()[0] == ground_truth_component.split()[0]


def test_own_strategy() -> None:
    for as_released in (False, True):
        metric = RankedRetrievalMetrics(FirstWord(), as_released=as_released)
        assert metric.calculate(["Lyon x", "Paris y"], ["Paris z"])["reciprocal_rank"] == 0.5


def test_long_texts_equal_themselves() -> None:
    text = " ".join(f"word{i}" for i in range(1700))
    assert RougeChunkMatch().is_relevant(text, text)
    assert RougeChunkMatch().is_relevant(text + " more", text)


# Evaluators and datasets.


def test_evaluator_aggregates_and_saves(tmp_path: Path) -> None:
    evaluator = RetrievalEvaluator(example_data(), [PrecisionRecallF1(), RankedRetrievalMetrics()])
    results = evaluator.run(k=2, batch_size=50, quiet=True)
    assert results == evaluator.results
    # hits at 2; hits at 1 and 2
    assert [one["average_precision"] for one in results] == [0.5, 1.0]
    assert evaluator.aggregated_results["average_precision"] == 0.75
    assert evaluator.aggregated_results["context_precision"] == 0.75
    evaluator.save(tmp_path / "results.jsonl")
    saved = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert saved[0]["question"] == "What is the capital of France?"
    assert saved[1]["average_precision"] == 1.0


def test_the_first_metric_wins_equal_keys() -> None:
    data = [{"retrieved_contexts": ["a b c"], "ground_truth_contexts": ["a b c d"]}]
    for metrics, expected in (
        ([PrecisionRecallF1(), PrecisionRecallF1(RougeChunkMatch())], 0.0),
        ([PrecisionRecallF1(RougeChunkMatch()), PrecisionRecallF1()], 1.0),
    ):
        assert RetrievalEvaluator(data, metrics).run()[0]["context_recall"] == expected


@pytest.mark.parametrize("k", [0, -1, 1.5, "2", True])
def test_evaluator_refuses_k(k: Any) -> None:
    with pytest.raises(OptionError, match=r"K must be a positive integer or None\."):
        RetrievalEvaluator(example_data(), []).run(k=k)


@pytest.mark.parametrize("size", [0, -2, "x", True])
def test_evaluator_refuses_batch_sizes(size: Any) -> None:
    with pytest.raises(OptionError, match="batch_size"):
        RetrievalEvaluator(example_data(), []).run(batch_size=size)


def test_results_before_a_run() -> None:
    with pytest.raises(GoldrankError, match=r"Call run\(\) first"):
        _ = RetrievalEvaluator(example_data(), []).results


def test_bad_data_are_named() -> None:
    good = {"retrieved_contexts": ["a"], "ground_truth_contexts": ["a"]}
    with pytest.raises(InputError, match="datum 1 has no 'ground_truth_contexts'"):
        Dataset([good, {"retrieved_contexts": ["a"]}]).validate()
    with pytest.raises(InputError, match="datum 0: retrieved_contexts is 'a', not a list"):
        RetrievalEvaluator([{**good, "retrieved_contexts": "a"}], [PrecisionRecallF1()]).run()
    with pytest.raises(InputError, match="retrieved contexts of query 0"):
        PrecisionRecallF1().calculate("abc", ["abc"])


def test_dataset_files(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    example_data().to_jsonl(path)
    assert list(Dataset.from_jsonl(path)) == list(example_data())
    assert len(Dataset.from_jsonl(path)) == 2
    path.write_text('{"a": 1}\n\nnot json\n')
    with pytest.raises(InputError, match=r"data\.jsonl:3: is not JSON"):
        Dataset.from_jsonl(path)
    path.write_text("[1]\n")
    with pytest.raises(InputError, match=r"data\.jsonl:1: is no JSON object"):
        Dataset.from_jsonl(path)
    with pytest.raises(InputError, match="cannot be opened"):
        Dataset.from_jsonl(tmp_path / "none.jsonl")


def test_mean_over_a_dataset_at_k() -> None:
    """MAP and MRR of the first k chunks."""
    data = [
        {"retrieved_contexts": ["a", "x"], "ground_truth_contexts": ["a"]},
        {"retrieved_contexts": ["x", "a"], "ground_truth_contexts": ["a"]},
    ]
    evaluator = RetrievalEvaluator(data, [RankedRetrievalMetrics()])
    evaluator.run(k=1)
    assert evaluator.aggregated_results["reciprocal_rank"] == 0.5
    evaluator.run(k=2)
    assert evaluator.aggregated_results["reciprocal_rank"] == 0.75


# The rest of the surface.


def test_schema_says_what_comes_out() -> None:
    for metric in (RankedRetrievalMetrics(), PrecisionRecallF1(), TokenCount()):
        found = metric.batch([["a"], ["x"]], [["a"], ["a"]])
        for one in found:
            assert one.keys() == metric.schema.keys()
            for key, value in one.items():
                low, high = metric.schema[key]["limits"]
                assert low <= value <= high
        assert metric.help
        assert "retrieved_context" in metric.args


def test_token_count() -> None:
    assert TokenCount("approx").calculate(["a" * 10], []) == {"num_tokens": 3.0}
    assert TokenCount(str.split).calculate(["a b", "c"], []) == {"num_tokens": 3.0}
    with pytest.raises(OptionError, match="encoder_name"):
        TokenCount("cl100k")


def test_pass_or_fail() -> None:
    results = [{"context_recall": 0.4}, {"context_recall": 0.6}]
    assert GreaterOrEqualThan("t", "context_recall", 0.6).run(results) == [False, True]
    assert MeanGreaterOrEqualThan("t", "context_recall", 0.5).run(results) is True
    assert MeanGreaterOrEqualThan("t", "context_recall", 0.51).run(results) is False
    with pytest.raises(InputError, match="result 0 has no 'x'"):
        GreaterOrEqualThan("t", "x", 0.6).run(results)


def test_judged_metrics_ask_the_judge() -> None:
    precision = LLMBasedContextPrecision(judge=lambda question, context: question in context)
    found = precision(question="Paris", retrieved_context=["Lyon", "Paris 1", "Paris 2"])
    assert found == pytest.approx({"context_precision": 2 / 3, "average_precision": (1 / 2 + 2 / 3) / 2})
    coverage = LLMBasedContextCoverage(judge=lambda statement, contexts: statement in contexts)
    found = coverage(retrieved_context=["It rains."], ground_truth_answer="It rains. It snows. It pours.")
    assert found == pytest.approx({"context_coverage": 1 / 3})
    assert coverage.aggregate([found, {"context_coverage": 1.0}]) == pytest.approx({"context_coverage": 2 / 3})


def test_public_names() -> None:
    assert all(hasattr(continuous_eval, name) for name in continuous_eval.__all__)
