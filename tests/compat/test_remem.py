"""REMem's facade beyond the golden cases."""

from __future__ import annotations

import logging
import math
import random
from typing import Any

import numpy as np
import pytest
from raising import raises_code

from goldrank.base.errors import InputError, OptionError
from goldrank.compat import remem
from goldrank.compat.remem import (
    BaseMetric,
    RetrievalNDCGAny,
    RetrievalRecall,
    RetrievalRecallAll,
    RetrievalRecallAny,
    is_chunk_from_original,
)
from goldrank.data.placements import Placements


def per_example(metric: BaseMetric, gold: list[str], retrieved: list[str], k: int) -> float:
    _, each = metric.calculate_metric_scores([gold], [retrieved], [k])
    (value,) = each[0].values()
    return value


def test_both_spellings_of_the_second_argument() -> None:
    gold, retrieved = [["a"]], [["x", "a"]]
    plain = RetrievalRecall().calculate_metric_scores(gold, retrieved, [1, 2])
    assert plain == RetrievalRecall().calculate_metric_scores(gold, retrieved_docs=retrieved, k_list=[1, 2])
    assert plain == RetrievalRecall().calculate_metric_scores(gold, retrieved_chunks=retrieved, k_list=[1, 2])
    assert plain[0] == {"Recall@1": 0.0, "Recall@2": 1.0}


def test_default_k_list() -> None:
    pooled, _ = RetrievalRecall().calculate_metric_scores([["a"]], [["a"]])
    assert list(pooled) == ["Recall@1", "Recall@5", "Recall@10", "Recall@20"]


def test_pooled_values_are_rounded_and_examples_are_not() -> None:
    pooled, each = RetrievalRecall().calculate_metric_scores([["a", "b", "c"]], [["a"]], [1])
    assert pooled == {"Recall@1": 0.3333}
    assert each == [{"Recall@1": 1 / 3}]


def test_all_metrics_match_chunks_unless_released() -> None:
    gold, retrieved = ["The sky is blue. Grass is green."], ["sky is blue"]
    assert per_example(RetrievalRecall(), gold, retrieved, 1) == 1.0
    assert per_example(RetrievalRecall(as_released=True), gold, retrieved, 1) == 0.0
    assert per_example(RetrievalRecallAll(as_released=True), gold, retrieved, 1) == 1.0


METRICS = (RetrievalRecall, RetrievalRecallAll, RetrievalNDCGAny, RetrievalRecallAny)


@pytest.mark.parametrize("metric", METRICS)
def test_ids_are_compared_as_ids(metric: type[BaseMetric]) -> None:
    for gold, retrieved in (
        (["doc10", "doc11"], ["doc1"]),
        (["doc1"], ["doc10"]),
        (["D1:30"], ["D1:3"]),
        (["a-b"], ["a"]),
        (["x"], [""]),
    ):
        assert per_example(metric(), gold, retrieved, 1) == 0.0, (gold, retrieved)
        assert per_example(metric(gold="ids"), gold, retrieved, 1) == 0.0
    assert per_example(metric(), ["doc1"], ["doc1"], 1) == 1.0
    assert per_example(metric(gold="ids"), ["my doc"], ["my doc"], 1) == 1.0
    assert per_example(metric(gold="ids"), ["Doc 10"], ["Doc 1"], 1) == 0.0


@pytest.mark.parametrize("metric", METRICS)
def test_ids_may_be_integers(metric: type[BaseMetric]) -> None:
    for gold, retrieved in (([10, 11], [1]), ([1], [10]), (np.array([10]), np.array([1]))):
        plain = metric()
        assert per_example(plain, gold, retrieved, 1) == 0.0  # type: ignore[arg-type]
        assert not plain.notes  # nothing was guessed
    for said in (metric(), metric(gold="ids")):
        assert per_example(said, [10], [3, 10], 2) == 1.0  # type: ignore[list-item]
        assert not said.notes
    assert per_example(metric(), np.array([10]), np.array([10]), 1) == 1.0  # type: ignore[arg-type]
    for wrong in (metric(gold="content"), metric(as_released=True)):
        with raises_code(InputError, "wrong-type"):
            per_example(wrong, [10], [10], 1)  # type: ignore[list-item]
    for gold, retrieved in (([1], ["1"]), (["1"], [1]), ([1, "2"], [1]), ([True], [True]), ([1.0], [1.0])):
        with raises_code(InputError, "wrong-type"):
            per_example(metric(), gold, retrieved, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("metric", METRICS)
def test_content_is_compared_as_content(metric: type[BaseMetric]) -> None:
    assert per_example(metric(), ["user: hello there"], ["hello there"], 1) == 1.0
    assert per_example(metric(), ["say hello world"], ["hello"], 1) == 1.0
    assert per_example(metric(gold="content"), ["doc10"], ["doc1"], 1) == 1.0  # because it was said


def test_a_guess_that_matters_is_shown(caplog: pytest.LogCaptureFixture) -> None:
    metric = RetrievalRecall()
    metric.calculate_metric_scores([["doc10"], ["doc2"]], [["doc1"], ["doc2"]], [1])
    (note,) = metric.notes
    assert (note.code, note.fact("taken"), note.fact("count"), note.is_warning) == ("guessed-gold", "ids", 1, True)
    assert caplog.messages == [str(note)]
    metric.calculate_metric_scores([["doc10"]], [["doc10"]], [1])  # both readings agree
    assert not metric.notes
    metric.calculate_metric_scores([["Doc 10"]], [["Doc 1"]], [1])
    assert metric.notes[0].fact("taken") == "content"
    assert "'Doc 10' has white space in it" in str(metric.notes[0])
    for said in ("ids", "content"):
        metric = RetrievalRecall(gold=said)
        metric.calculate_metric_scores([["doc10"]], [["doc1"]], [1])
        assert not metric.notes


def test_what_gold_may_be() -> None:
    with pytest.raises(OptionError, match="gold"):
        RetrievalRecall(gold="titles")
    with raises_code(OptionError, "options-conflict"):
        RetrievalRecall(gold="ids", as_released=True)
    # REMem's code finds the id doc1 in doc10, except in its recall.
    assert per_example(RetrievalRecall(as_released=True), ["doc10"], ["doc1"], 1) == 0.0
    assert per_example(RetrievalRecallAll(as_released=True), ["doc10"], ["doc1"], 1) == 1.0


def test_gold_listed_twice() -> None:
    gold, retrieved = ["a", "a", "b"], ["a", "b"]
    assert per_example(RetrievalRecallAll(), gold, retrieved, 2) == 1.0
    assert per_example(RetrievalRecallAll(as_released=True), gold, retrieved, 2) == 0.0


def test_ndcg_any_is_the_documents_formula() -> None:
    # gains 0 1 1: DCG@3 = 0 + 1/log2(2) + 1/log2(3); ideal 1 + 1
    value = per_example(RetrievalNDCGAny(), ["a", "b", "c"], ["x", "a", "b"], 3)
    assert value == pytest.approx((1 + 0.6309297535714575) / 2)
    assert per_example(RetrievalNDCGAny(), ["a"], ["a", "x"], 2) == 1.0
    assert per_example(RetrievalNDCGAny(), ["a"], ["x", "a"], 2) == 1.0  # ranks 1 and 2 weigh the same
    assert per_example(RetrievalNDCGAny(), ["a", "b", "c"], ["a"], 5) == 1.0  # what is missing costs nothing
    # several chunks of one gold document each gain: 1 0 1 of an ideal 1 1
    assert per_example(RetrievalNDCGAny(), ["one two"], ["one", "x", "two"], 3) == pytest.approx(1.6309297535714575 / 2)


def test_recall_any() -> None:
    assert per_example(RetrievalRecallAny(), ["a", "b"], ["x", "b"], 1) == 0.0
    assert per_example(RetrievalRecallAny(), ["a", "b"], ["x", "b"], 2) == 1.0
    assert per_example(RetrievalRecallAny(as_released=True), ["a"], ["a", "x"], -1) == 1.0


@pytest.mark.parametrize(
    ("chunk", "original", "expected"),
    [
        ("hello", "say hello world", True),
        ("hello", "say Hello world", False),
        ("Date: 2023-01-02\nhello", "say hello", True),
        ("Date: 2023-01-02\nassistant: hello", "say hello", True),
        ("user: a: b", "only a here", False),
        ("user: a: b", "so a: b it is", True),
        ('say "hi"', '{"content": "say \\"hi\\" now"}', True),
        ("", "anything", False),
        ("Date: 2023-01-02", "anything", False),
        ("user: ", "anything", False),
        ("system: hi", "hi", False),
    ],
)
def test_is_chunk_from_original(chunk: str, original: str, expected: bool) -> None:
    assert is_chunk_from_original(chunk, original) is expected


def test_short_lists_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        RetrievalNDCGAny().calculate_metric_scores([["a"], ["a"]], [["a"], ["a", "b", "c"]], [1, 3])
    assert caplog.messages == ["Length of retrieved docs (1) is smaller than largest topk for ndcg score (3)"]


def test_unequal_numbers_of_queries() -> None:
    gold, retrieved = [["a"], ["b"], ["c"]], [["a"], ["b"]]
    with pytest.raises(InputError, match="gold_docs has 3 queries and retrieved_docs 2"):
        RetrievalRecall().calculate_metric_scores(gold, retrieved, [1])
    assert RetrievalRecall(as_released=True).calculate_metric_scores(gold, retrieved, [1])[0] == {"Recall@1": 0.6667}


@pytest.mark.parametrize("k_list", [[0], [-1], [1.5], [True]])
def test_k_is_refused(k_list: list[Any]) -> None:
    with raises_code(OptionError, "bad-number"):
        RetrievalRecall().calculate_metric_scores([["a"]], [["a"]], k_list)


def test_released_negative_k_is_a_slice() -> None:
    found, _ = RetrievalRecall(as_released=True).calculate_metric_scores([["a", "c"]], [["a", "b", "c"]], [-1])
    assert found == {"Recall@-1": 0.5}


@pytest.mark.parametrize("k_list", [5, None, "15", [1, "2"], [None], {1: 2}])
@pytest.mark.parametrize("as_released", [False, True])
def test_k_list_is_a_list_of_integers(k_list: Any, as_released: bool) -> None:
    with pytest.raises(OptionError, match=r"k_list|k is"):
        RetrievalRecall(as_released=as_released).calculate_metric_scores([["a"]], [["a"]], k_list)


def test_arguments_that_are_missing_or_doubled() -> None:
    for gold, retrieved in ((None, [["a"]]), (5, [["a"]]), ([["a"]], 5), ("ab", [["a"]]), ([["a"]], {"q": ["a"]})):
        with pytest.raises(InputError, match=r"(gold_docs|retrieved_docs) is "):
            RetrievalRecall().calculate_metric_scores(gold, retrieved, [1])  # type: ignore[arg-type]
    with raises_code(InputError, "fields-differ"):
        RetrievalRecall().calculate_metric_scores([["a"]], [["a"]], [1], retrieved_chunks=[["b"]])
    for pair in ((None, "a"), ("a", None), (b"a", "a"), (["a"], "a")):
        with raises_code(InputError, "wrong-type"):
            is_chunk_from_original(*pair)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", ["text", [1]])
def test_bad_lists_are_named(bad: Any) -> None:
    with pytest.raises(InputError, match="retrieved_docs of query 1"):
        RetrievalRecall().calculate_metric_scores([["a"], ["a"]], [["a"], bad], [1])
    with raises_code(InputError, "missing-argument"):
        RetrievalRecall().calculate_metric_scores([["a"]])


class HitsAtK(BaseMetric):
    """A metric of one's own."""

    metric_name = "hits"
    label = "Hits"

    def measured(self, placed: Placements, k: int) -> np.ndarray:
        return placed.per_rank.cut(k).count(placed.per_rank.cut(k).grade > 0).astype(float)


def test_own_metric() -> None:
    pooled, _ = HitsAtK().calculate_metric_scores([["a", "b"]], [["a", "x", "b"]], [1, 3])
    assert pooled == {"Hits@1": 1.0, "Hits@3": 2.0}
    assert HitsAtK.metric_name == "hits"


def test_per_example_analysis() -> None:
    _, each = RetrievalRecall().calculate_metric_scores([["a"], ["b"], ["c", "d"]], [["a"], ["x"], ["c"]], [1])
    assert remem.problem_queries(each, "Recall@1") == [(1, 0.0), (2, 0.5)]
    assert remem.problem_queries(each, "Recall@1", below=0.5) == [(1, 0.0)]
    # quartiles of 0, 0.5, 1
    assert remem.score_distribution(each, "Recall@1") == {
        "min": 0.0,
        "lower quartile": 0.25,
        "median": 0.5,
        "upper quartile": 0.75,
        "max": 1.0,
    }
    with pytest.raises(InputError, match="query 0 has no 'Recall@9'"):
        remem.problem_queries(each, "Recall@9")


def test_interpretation_of_each_metric() -> None:
    for metric in (RetrievalRecall, RetrievalRecallAll, RetrievalNDCGAny):
        assert metric.score_range == (0.0, 1.0)
        assert metric.higher_is_better
        assert metric.label.casefold().split("_")[0] in metric.formula.casefold()
        assert metric.best_for
        assert metric.use_when
        told = metric.interpretation()
        assert {"Score range", "Higher is better", "Formula", "Use case"} < set(told)
        assert all(told.values())
    recall, strict, ndcg = (
        metric.interpretation() for metric in (RetrievalRecall, RetrievalRecallAll, RetrievalNDCGAny)
    )
    assert recall["Formula"] == "Recall@k = (# relevant docs in top-k) / (# total relevant docs)"
    assert recall["Note"].startswith("1.0 means that every relevant document")
    assert strict["Formula"] == "Recall_all@k = 1.0 if all relevant docs are in top-k, else 0.0"
    assert strict["Score range"] == "0.0 or 1.0 per example"
    assert "0.0" in strict["Difference from RetrievalRecall"]
    assert "is_chunk_from_original" in strict["Chunk matching"]
    assert ndcg["Formula"] == "NDCG@k = DCG@k / IDCG@k"
    assert "up scores higher" in ndcg["Key insight"]
    assert "rank 1 than at rank 10" in ndcg["Position matters"]
    assert "rel[0] + sum of rel[i] / log2(i + 1)" in ndcg["How it works"]


def test_metrics_side_by_side() -> None:
    rows = remem.describe()
    assert [row["metric"] for row in rows] == ["RetrievalRecall", "RetrievalRecallAll", "RetrievalNDCGAny"]
    assert [row["considers ranking"] for row in rows] == [False, False, True]
    assert [row["best for"] for row in rows] == [
        "Coverage of relevant documents",
        "Tasks requiring complete retrieval",
        "Overall retrieval quality with ranking",
    ]
    for word, row in zip(("share", "ALL", "ranked"), rows, strict=True):
        assert word in row["what it measures"]
    for word, row in zip(("fraction", "ALL", "higher"), rows, strict=True):
        assert word in row["use when"]


def released_ndcg(gains: list[int], k: int) -> float:
    """REMem's rules by plain loops: what was retrieved is sliced twice, the sorted gains once."""

    def dcg(values: list[int]) -> float:
        return sum(value / math.log2(max(rank, 2)) for rank, value in enumerate(values[:k], 1))

    best = dcg(sorted(gains, reverse=True))
    return dcg(gains[:k]) / best if best else 0.0


@pytest.mark.parametrize("k", range(-8, 0))
def test_released_ndcg_with_a_negative_k(k: int) -> None:
    rng = random.Random(k)
    for _ in range(50):
        gains = [rng.randint(0, 1) for _ in range(rng.randint(1, 8))]
        chunks = [f"gold{i}" if gain else f"other{i}" for i, gain in enumerate(gains)]
        gold = [chunk for chunk in chunks if chunk.startswith("gold")] or ["gold"]
        found = per_example(RetrievalNDCGAny(as_released=True), gold, chunks, k)
        assert found == pytest.approx(released_ndcg(gains, k)), (gains, k)


def test_released_ndcg_with_a_negative_k_by_hand() -> None:
    """Of a, x, b two cuts of the last leave a: 1. The ideal a, b, x without its last is 1 + 1."""
    assert per_example(RetrievalNDCGAny(as_released=True), ["a", "b"], ["a", "x", "b"], -1) == 0.5


@pytest.mark.parametrize("chunk", [".", " . ", "-", "?!", "", "\n", "Date: 2023-01-02\n.", "user: .", "\N{BULLET}"])
def test_a_chunk_without_a_letter_or_digit_matches_nothing(chunk: str) -> None:
    assert not is_chunk_from_original(chunk, "Hello. - ?! \N{BULLET}")
    assert not is_chunk_from_original(chunk, "Hello. - ?! \N{BULLET}", fuzzy=0.5)
    assert per_example(RetrievalRecall(gold="content"), ["Hello. - ?!"], [chunk], 1) == 0.0


ORIGINAL = "Date: 2023-01-02\nuser: I moved to Oslo in May of that year, and I never went back to Rome again."


@pytest.mark.parametrize(
    ("chunk", "words_found", "words"),
    [
        ("I moved to OSLO in may of that year", 9, 9),
        ("user: I moved, to Oslo; in May of that year!", 9, 9),
        ("I moved to Oslo in May of that century", 8, 9),
        ("I went to Rome", 3, 4),  # "went back to Rome" has three of them in four words
        ("Oslo Rome", 1, 2),  # ten words apart
        ("Berlin", 0, 1),
    ],
)
def test_fuzzy_matching_is_the_share_of_words_that_stand_together(chunk: str, words_found: int, words: int) -> None:
    assert not is_chunk_from_original(chunk, ORIGINAL)
    share = words_found / words
    if share:
        assert is_chunk_from_original(chunk, ORIGINAL, fuzzy=share)
    if share < 1:
        assert not is_chunk_from_original(chunk, ORIGINAL, fuzzy=share + 0.001)


def test_metrics_match_fuzzily_if_asked() -> None:
    chunk = "I moved to Oslo in May of that century"
    for metric in (RetrievalRecall, RetrievalRecallAll, RetrievalRecallAny, RetrievalNDCGAny):
        assert per_example(metric(gold="content"), [ORIGINAL], [chunk], 1) == 0.0
        assert per_example(metric(gold="fuzzy"), [ORIGINAL], [chunk], 1) == 0.0  # 8 of 9 is less than 90%
        assert per_example(metric(gold="fuzzy:0.8"), [ORIGINAL], [chunk], 1) == 1.0


def test_fuzzy_finds_all_that_content_finds() -> None:
    chunk = "ell"  # a part of a word
    assert is_chunk_from_original(chunk, "Hello.")
    assert is_chunk_from_original(chunk, "Hello.", fuzzy=1)


@pytest.mark.parametrize("share", [0, -1, 1.1, math.nan, math.inf, "0.9", True])
def test_fuzzy_is_a_share(share: Any) -> None:
    with pytest.raises(OptionError, match="above 0 and up to 1"):
        is_chunk_from_original("a", "a", fuzzy=share)


@pytest.mark.parametrize(
    "gold", ["fuzzy:", "fuzzy:0", "fuzzy:2", "fuzzy:high", "fuzzy:nan", "content:0.9", 0.9, b"ids"]
)
def test_gold_is_a_word_or_a_share(gold: Any) -> None:
    with pytest.raises(OptionError, match="gold"):
        RetrievalRecall(gold=gold)


def test_the_released_code_matches_in_its_own_way_only() -> None:
    with raises_code(OptionError, "options-conflict"):
        is_chunk_from_original("a", "a", fuzzy=0.9, as_released=True)
    with raises_code(OptionError, "options-conflict"):
        RetrievalRecall(gold="fuzzy", as_released=True)
