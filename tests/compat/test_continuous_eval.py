"""continuous-eval's facade beyond the golden cases."""

from __future__ import annotations

import gzip
import importlib
import json
import sys
import threading
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pytest
from raising import raises_code

from goldrank.base.errors import GoldrankError, InputError, OptionError
from goldrank.base.packages import MissingPackageError
from goldrank.compat import continuous_eval
from goldrank.compat.continuous_eval import (
    ContextCoverage,
    ContextPrecision,
    Dataset,
    ExactChunkMatch,
    ExactSentenceMatch,
    GreaterOrEqualThan,
    LLMBasedContextCoverage,
    LLMBasedContextPrecision,
    MatchingStrategy,
    MatchingStrategyType,
    MeanGreaterOrEqualThan,
    Metric,
    PrecisionRecallF1,
    RankedRetrievalMetrics,
    RetrievalEvaluator,
    RougeChunkMatch,
    RougeSentenceMatch,
    TokenCount,
    example_data,
)

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


@pytest.mark.parametrize("texts", [5, None, "abc", b"abc", {"a": 1}, {"a"}, iter(["a"]), ["a", 5], ["a", None]])
def test_what_is_no_list_of_texts(texts: Any) -> None:
    for given in ((texts, ["a"]), (["a"], texts)):
        with pytest.raises(InputError):
            RankedRetrievalMetrics().calculate(*given)
        with pytest.raises(InputError):
            PrecisionRecallF1().batch([given[0]], [given[1]])


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
    assert PrecisionRecallF1()(*texts)["context_recall"] == 1.0
    assert PrecisionRecallF1().batch([texts[0]], [texts[1]])[0]["context_recall"] == 1.0
    assert PrecisionRecallF1(as_released=True).calculate(*texts)["context_recall"] == 0.0  # exact in 0.2
    assert PrecisionRecallF1(as_released=True)(*texts)["context_recall"] == 1.0  # ROUGE later


def test_the_documents_example_in_the_later_form() -> None:
    retrieved = [
        "Lyon is a major city in France.",
        "Paris is the capital of France and also the largest city in the country.",
    ]
    metric = RankedRetrievalMetrics()
    found = metric(retrieved_context=retrieved, ground_truth_context=["Paris is the capital of France."])
    assert found == {"average_precision": 0.5, "reciprocal_rank": 0.5, "ndcg": LOG3}


@pytest.mark.parametrize("strategy", [RougeChunkMatch, "rouge", len])
def test_what_is_no_strategy(strategy: Any) -> None:
    with pytest.raises(OptionError, match="must be an instance of MatchingStrategy"):
        RankedRetrievalMetrics(strategy)


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
    assert saved == results  # the values alone, as 0.2.4 writes them
    assert saved[1]["average_precision"] == 1.0


RELEASED_LINE = (
    '{"average_precision": 0.5, "reciprocal_rank": 0.5, "ndcg": 0.6309297535714574, '
    '"context_precision": 0.5, "context_recall": 1.0, "context_f1": 0.6666666666666666}\n'
)


def test_save_writes_the_lines_of_the_release(tmp_path: Path) -> None:
    """continuous-eval 0.2.4, run on these data, wrote this line: the last metric first, no fields of the data."""
    datum = {
        "question": "caf\u00e9?",
        "retrieved_contexts": ["Lyon is a major city in France.", "Paris is the capital of France."],
        "ground_truth_contexts": ["Paris is the capital of France."],
    }
    metrics = [PrecisionRecallF1(ExactChunkMatch()), RankedRetrievalMetrics(ExactChunkMatch())]
    evaluator = RetrievalEvaluator(Dataset([datum]), metrics)
    evaluator.run()
    evaluator.save(tmp_path / "results.jsonl")
    assert (tmp_path / "results.jsonl").read_text() == RELEASED_LINE


@pytest.mark.parametrize("metrics", [[], (), "ap", None, [RankedRetrievalMetrics], [None]])
def test_an_evaluator_needs_metrics(metrics: Any) -> None:
    with pytest.raises(OptionError, match="metric"):
        RetrievalEvaluator(example_data(), metrics)


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
        RetrievalEvaluator(example_data(), [PrecisionRecallF1()]).run(k=k)


@pytest.mark.parametrize("size", [0, -2, "x", True])
def test_evaluator_refuses_batch_sizes(size: Any) -> None:
    with pytest.raises(OptionError, match="batch_size"):
        RetrievalEvaluator(example_data(), [PrecisionRecallF1()]).run(batch_size=size)


@pytest.mark.parametrize("size", [None, 1, 50, 0.5])
def test_batch_sizes_change_nothing(size: Any) -> None:
    assert len(RetrievalEvaluator(example_data(), [PrecisionRecallF1()]).run(batch_size=size)) == 2


def test_nothing_is_lost_of_equal_keys() -> None:
    data = [{"retrieved_contexts": ["a b c"], "ground_truth_contexts": ["a b c d"]}]
    evaluator = RetrievalEvaluator(data, [PrecisionRecallF1(), PrecisionRecallF1(RougeChunkMatch())])
    evaluator.run()
    assert [column[0]["context_recall"] for column in evaluator.results_by_metric] == [0.0, 1.0]


class Answered(Metric):
    """A metric of one's own, as the document's version has them."""

    def calculate(self, answer: str, retrieved_contexts: list[str], **_: Any) -> dict[str, Any]:
        return {"answered": float(answer in retrieved_contexts)}


class Longest(Metric):
    """A metric of one's own, as later versions have them."""

    def compute(self, retrieved_contexts: list[str], **_: Any) -> dict[str, Any]:
        return {"longest": max(map(len, retrieved_contexts))}


def test_own_metrics() -> None:
    data = [{"answer": "b", "retrieved_contexts": ["a", "b"]}, {"answer": "ccc", "retrieved_contexts": ["ccc"]}]
    evaluator = RetrievalEvaluator(data, [Answered(), Longest()])
    assert evaluator.run() == [{"answered": 1.0, "longest": 1}, {"answered": 1.0, "longest": 3}]
    assert evaluator.run(k=1)[0]["answered"] == 0.0
    assert evaluator.aggregated_results == {"answered": 0.5, "longest": 2.0}
    columns = {"answer": ["b"], "retrieved_contexts": [["b"]]}
    assert Answered().batch(**columns) == Answered().batch_calculate([data[0]]) == [{"answered": 1.0}]
    with pytest.raises(OptionError, match=r"metrics\[0\] is .*, not a Metric"):
        RetrievalEvaluator(data, [Answered])  # type: ignore[list-item]
    for wrong in (Answered(), None, "Answered"):
        with pytest.raises(OptionError, match="metrics"):
            RetrievalEvaluator(data, wrong)  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError):
        Metric().calculate(answer="")


def test_results_before_a_run() -> None:
    with pytest.raises(GoldrankError, match=r"Call run\(\) first"):
        _ = RetrievalEvaluator(example_data(), [PrecisionRecallF1()]).results


def test_the_two_names_of_a_field_are_one() -> None:
    datum = {"retrieved_contexts": ["a"], "ground_truth_contexts": ["a"]}
    same = datum | {"retrieved_context": ["a"], "ground_truth_context": ["a"]}
    assert RetrievalEvaluator([same], [PrecisionRecallF1()]).run()[0]["context_f1"] == 1.0
    for name in ("retrieved_context", "ground_truth_context"):
        wrong = [datum, datum | {name: ["b"]}]
        with pytest.raises(InputError, match=f"datum 1 has '{name}s' and '{name}', and they differ"):
            RetrievalEvaluator(wrong, [PrecisionRecallF1()]).run()
        with raises_code(InputError, "fields-differ"):
            Dataset(wrong).validate()
        with raises_code(InputError, "fields-differ"):
            PrecisionRecallF1().batch(**{key: [value] for key, value in wrong[1].items()})


def test_bad_data_are_named() -> None:
    good = {"retrieved_contexts": ["a"], "ground_truth_contexts": ["a"]}
    with pytest.raises(InputError, match="datum 1 has no 'ground_truth_contexts'"):
        Dataset([good, {"retrieved_contexts": ["a"]}]).validate()
    with pytest.raises(InputError, match="datum 0: retrieved_contexts is 'a', not a list"):
        RetrievalEvaluator([{**good, "retrieved_contexts": "a"}], [PrecisionRecallF1()]).run()
    with pytest.raises(InputError, match="retrieved_contexts is 'abc', not a list of texts"):
        PrecisionRecallF1().calculate("abc", ["abc"])
    with pytest.raises(InputError, match="ground_truth_context is 'abc', not a list of texts"):
        PrecisionRecallF1()(["abc"], "abc")
    with pytest.raises(InputError, match="ground_truth_context of query 1 is 'abc', not a list of texts"):
        PrecisionRecallF1().batch([["a"], ["a"]], [["a"], "abc"])
    with pytest.raises(InputError, match="retrieved_contexts has 1, ground_truth_contexts has 2"):
        PrecisionRecallF1().batch([["a"]], [["a"], ["b"]])


def test_dataset_files(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    example_data().to_jsonl(path)
    found = Dataset.from_jsonl(path)
    assert list(found) == list(example_data())
    assert found.notes == ()
    packed = tmp_path / "data.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(Dataset.from_jsonl(packed)) == list(example_data())


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
    columns = {
        "retrieved_context": [["a"], ["x"]],
        "ground_truth_context": [["a"], ["a"]],
        "question": ["?", "?"],
        "ground_truth_answers": [["It is a."], "It is a."],
    }
    judged = (LLMBasedContextPrecision, ContextPrecision, LLMBasedContextCoverage, ContextCoverage)
    for metric in (
        *(RankedRetrievalMetrics(), PrecisionRecallF1(), TokenCount()),
        *(make(judge=lambda *_: True) for make in judged),
    ):
        for one in metric.batch(**columns):
            assert one.keys() == metric.schema.keys()
            for key, value in one.items():
                field = metric.schema[key]
                assert isinstance(value, field.type)
                if field.limits:
                    assert field.limits[0] <= value <= field.limits[1]
        assert metric.help
        assert metric.args["retrieved_context"].is_required
        assert metric.asdict() == {"__class__": metric.name, "name": type(metric).__name__}
    assert RankedRetrievalMetrics().schema["ndcg"].limits == (0, 1)
    assert RankedRetrievalMetrics().schema["ndcg"].type is float
    assert TokenCount().schema["num_tokens"].type_hint == "int"
    assert TokenCount().schema["num_tokens"].limits is None


def test_token_count() -> None:
    assert TokenCount("approx").calculate(["a" * 11]) == {"num_tokens": 2}
    assert TokenCount()(retrieved_context="a" * 8) == {"num_tokens": 2}
    # 4 characters, a line break and 3 characters
    assert TokenCount().compute(retrieved_context=["aaaa", "bbb"]) == {"num_tokens": 2}
    assert TokenCount(str.split).calculate(["a b", "c"]) == {"num_tokens": 3}
    assert isinstance(TokenCount().calculate(["a"])["num_tokens"], int)
    assert TokenCount().batch(retrieved_context=[["aaaa"], []]) == [{"num_tokens": 1}, {"num_tokens": 0}]
    evaluator = RetrievalEvaluator([{"question": "?", "retrieved_contexts": ["aaaa", "bbb"]}], [TokenCount()])
    assert evaluator.run() == [{"num_tokens": 2}]
    assert evaluator.run(k=1) == [{"num_tokens": 1}]
    with pytest.raises(OptionError, match="encoder_name"):
        TokenCount(5)  # type: ignore[arg-type]
    # one's own function may count, as that of evaluate_texts does
    assert TokenCount(lambda text: len(text.split())).calculate(["a b", "c"]) == {"num_tokens": 3}
    for wrong in (None, 1.5, -1, True):
        with raises_code(InputError, "bad-token-count"):
            TokenCount(lambda text, wrong=wrong: wrong).calculate(["a b"])  # type: ignore[misc]


@pytest.mark.parametrize("name", ["cl100k_base", "gpt-4o-mini"])
def test_token_count_by_tiktoken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a stand-in, because tiktoken loads its vocabularies from the network."""

    def refusing(error: type[Exception], known: str) -> Any:
        def find(asked: str) -> Any:
            if asked != known:
                raise error(asked)
            return SimpleNamespace(encode=str.split)

        return find

    stand_in = ModuleType("tiktoken")
    stand_in.get_encoding = refusing(ValueError, "cl100k_base")  # type: ignore[attr-defined]
    stand_in.encoding_for_model = refusing(KeyError, "gpt-4o-mini")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tiktoken", stand_in)
    assert TokenCount(encoder_name=name).calculate(["a b", "c"]) == {"num_tokens": 3}
    with pytest.raises(OptionError, match="not an encoding or a model of tiktoken"):
        TokenCount("gpt-9")
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(MissingPackageError, match="pip install tiktoken"):
        TokenCount(name)


def test_tokens_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """tiktoken waits for ever where nothing answers, and raises an OSError where nothing can be reached."""
    stand_in = ModuleType("tiktoken")
    waits = threading.Event()
    stand_in.get_encoding = lambda name: waits.wait()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tiktoken", stand_in)
    monkeypatch.setattr("goldrank.compat.continuous_eval.metrics.DOWNLOAD_SECONDS", 0.01)
    with raises_code(GoldrankError, "downloads-nothing", match="within 0.01 seconds") as caught:
        TokenCount("o200k_base")
    assert "'approx'" in str(caught.value.hint)
    waits.set()

    def unreachable(name: str) -> Any:
        raise ConnectionError("openaipublic.blob.core.windows.net cannot be reached")

    stand_in.get_encoding = unreachable  # type: ignore[attr-defined]
    monkeypatch.setattr("goldrank.compat.continuous_eval.metrics.DOWNLOAD_SECONDS", 30)
    with raises_code(GoldrankError, "downloads-nothing", match="cannot be reached"):
        TokenCount("o200k_base")


def test_pass_or_fail() -> None:
    results = [{"context_recall": 0.4}, {"context_recall": 0.6}]
    test = GreaterOrEqualThan("t", "context_recall", 0.6)
    assert test.run(results) is False
    assert test.run(results[1:]) is True
    assert test.each(results) == [False, True]
    assert test.name == "t"
    assert GreaterOrEqualThan(test_name="t", metric_name="context_recall", min_value=0.4).run(results) is True
    assert MeanGreaterOrEqualThan("m", "context_recall", 0.5).run(results) is True
    assert MeanGreaterOrEqualThan("m", "context_recall", 0.51).run(results) is False
    assert MeanGreaterOrEqualThan("m", "context_recall", 0.51).name == "m"


def test_results_may_be_a_frame() -> None:
    for frame in (pd.DataFrame([{"x": 0.4}, {"x": 0.6}]), pl.DataFrame([{"x": 0.4}, {"x": 0.6}])):
        assert GreaterOrEqualThan("t", "x", 0.5).run(frame) is False  # type: ignore[arg-type]
        assert MeanGreaterOrEqualThan("t", "x", 0.5).run(frame) is True  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [GreaterOrEqualThan, MeanGreaterOrEqualThan])
def test_results_that_cannot_pass_or_fail(make: Any) -> None:
    test = make("t", "x", 0.6)
    for results, words in (
        ([{"y": 1.0}], "result 0 has no 'x'"),
        ([], "there are no results"),
        ({"x": 1.0}, "Give a list"),
        ([{"x": 1.0}, {"x": None}], "result 1: x is None"),
        ([{"x": float("nan")}], "result 0: x is nan"),
    ):
        with pytest.raises(InputError, match=words):
            test.run(results)
    with pytest.raises(OptionError, match="min_value"):
        make("t", "x", "high")


def test_judged_metrics_ask_the_judge() -> None:
    """In the evaluator, beside the others, of the first k contexts."""
    data = [
        {
            "question": "What is the capital of France?",
            "retrieved_contexts": ["Lyon is a city.", "Paris is the capital of France."],
            "ground_truth_contexts": ["Paris is the capital of France."],
            "ground_truths": ["Paris is big. It rains."],
        }
    ]

    async def names_paris(question: str, context: str) -> str:
        return "yes" if "Paris" in context else "no"

    def is_supported(statement: str, contexts: str) -> bool:
        return statement.startswith("Paris") and "Paris" in contexts

    metrics = [
        PrecisionRecallF1(),
        LLMBasedContextPrecision(judge=names_paris),
        LLMBasedContextCoverage(judge=is_supported),
    ]
    evaluator = RetrievalEvaluator(data, metrics)
    (found,) = evaluator.run()
    assert found["context_precision"] == 0.5
    assert found["LLM_based_context_precision"] == 0.5
    assert found["LLM_based_context_average_precision"] == 0.5
    assert evaluator.aggregated_results["LLM_based_context_coverage"] == 0.5
    (found,) = evaluator.run(k=1)
    assert (found["LLM_based_context_precision"], found["LLM_based_context_coverage"]) == (0.0, 0.0)


def test_modules_are_named_as_in_the_document() -> None:
    """`from continuous_eval.metrics import ...` needs nothing but the new prefix."""
    for module, names in {
        "metrics": ("RankedRetrievalMetrics", "RougeChunkMatch", "LLMBasedContextPrecision", "TokenCount"),
        "evaluators": ("RetrievalEvaluator",),
        "data_downloader": ("example_data_downloader",),
    }.items():
        found = importlib.import_module(f"goldrank.compat.continuous_eval.{module}")
        for name in names:
            assert getattr(found, name) is getattr(continuous_eval, name)


def test_public_names() -> None:
    assert all(hasattr(continuous_eval, name) for name in continuous_eval.__all__)


@pytest.mark.parametrize("blank", ["", "  ", "\n"])
def test_a_blank_text_matches_nothing(blank: str) -> None:
    """A field that was named wrongly on both sides scored 1.0; the released codes compare it as any other text."""
    for metric, values in (
        (RankedRetrievalMetrics, {"average_precision": 0.0, "reciprocal_rank": 0.0, "ndcg": 0.0}),
        (PrecisionRecallF1, {"context_precision": 0.0, "context_recall": 0.0, "context_f1": 0.0}),
    ):
        assert metric(ExactChunkMatch()).calculate([blank], [blank]) == values
        assert metric(RougeChunkMatch()).calculate([blank], [blank]) == values
        released = metric(ExactChunkMatch(), as_released=True).calculate([blank], [blank])
        assert released == dict.fromkeys(values, 1.0)
    assert not ExactChunkMatch().is_relevant(blank, blank)
