"""Axion's facade beyond the golden cases."""

from __future__ import annotations

import asyncio
import importlib
import math
import pydoc
from typing import Any

import pandas as pd
import pytest
from raising import raises_code

from goldrank.base.errors import InputError, OptionError
from goldrank.compat import axion
from goldrank.compat.axion import (
    ContextualPrecision,
    ContextualRanking,
    ContextualRecall,
    DatasetItem,
    HitRateAtK,
    MeanReciprocalRank,
    MetricEvaluationResult,
    MetricRunner,
    NDCGAtK,
    PrecisionAtK,
    RecallAtK,
    registry,
)

ALL = (HitRateAtK, MeanReciprocalRank, NDCGAtK, PrecisionAtK, RecallAtK)
GOOD = DatasetItem(id="good", actual_ranking=["x", "a"], expected_reference=["a", "b"])


def item(ranking: list[Any], reference: list[Any], id: str = "q1") -> DatasetItem:
    return DatasetItem(id=id, actual_ranking=ranking, expected_reference=reference)


def test_all_k_in_one_pass() -> None:
    found = RecallAtK(k=[20, 1, 2, 2]).score(GOOD)
    assert found.signals.k_values == [1, 2, 20]
    assert {k: detail.score for k, detail in found.signals.results_by_k.items()} == {1: 0.0, 2: 0.5, 20: 0.5}
    assert (found.score, found.signals.overall_score, found.signals.main_k_used) == (0.5, 0.5, 20)


def test_main_k_makes_the_score() -> None:
    assert RecallAtK(k=[1, 2], main_k=1).score(GOOD).score == 0.0
    with pytest.raises(OptionError, match=r"main_k \(5\) must be one of the specified k values: \[1, 3\]"):
        RecallAtK(k=[1, 3], main_k=5)


@pytest.mark.parametrize("k", [0, -1, "5", 2.0, None, True, [], [1.0], [3, 0], [2, "x"]])
def test_k_is_refused(k: Any) -> None:
    with raises_code(OptionError, "bad-number"):
        PrecisionAtK(k=k)


def test_released_k_drops_what_is_not_positive() -> None:
    assert PrecisionAtK(k=[3, 0, -1], as_released=True).k == [3]


def test_relevance_is_optional_and_above_zero_counts() -> None:
    one = item(["a", "b", "c"], [{"id": "a", "relevance": 0.0}, {"id": "b", "relevance": 0.2}, {"id": "c"}])
    assert PrecisionAtK(k=3).score(one).signals.results_by_k[3].hits_in_top_k == 2
    assert MeanReciprocalRank().score(one).signals.rank_of_first_relevant == 2


def test_ids_are_compared_as_text() -> None:
    assert HitRateAtK(k=1).score(item([{"id": 1}], [{"id": "1"}])).score == 1.0


def test_precision_divides_by_k_and_released_by_what_was_retrieved() -> None:
    assert PrecisionAtK(k=10).score(GOOD).score == 0.1
    assert PrecisionAtK(k=10, as_released=True).score(GOOD).score == 0.5


def test_repeated_documents_count_once_unless_released() -> None:
    one = item(["a", "a", "b"], ["a", "b", "c"])
    assert RecallAtK(k=3).score(one).score == pytest.approx(2 / 3)
    assert PrecisionAtK(k=3).score(one).score == pytest.approx(2 / 3)
    # 1 at rank 1 and 0.5 at rank 3 of 1 + 0.6309 + 0.5
    assert NDCGAtK(k=3).score(one).score == pytest.approx(1.5 / 2.130929753571457)
    assert RecallAtK(k=3, as_released=True).score(one).score == 1.0
    assert NDCGAtK(k=3, as_released=True).score(one).score == 1.0
    assert RecallAtK(k=3, as_released=True).score(item(["a", "a"], ["a"])).score == 1.0  # 2 / 1 stops at 1


def test_nothing_relevant() -> None:
    one = item(["a"], [{"id": "a", "relevance": 0}])
    plain = RecallAtK(k=[1, 2]).score(one)
    assert (plain.score, plain.signals.results_by_k[1].total_relevant) == (0.0, 0)
    assert "No relevant documents were expected" in plain.explanation
    released = RecallAtK(k=[1, 2], as_released=True).score(one)
    assert released.score == 1.0
    assert released.explanation == "No relevant documents were expected, so recall is trivially 1.0 for all K."
    assert [detail.score for detail in released.signals.results_by_k.values()] == [1.0, 1.0]
    for metric in (HitRateAtK(k=1), MeanReciprocalRank(), NDCGAtK(k=1), PrecisionAtK(k=1)):
        assert metric.score(one).score == 0.0


def test_negative_relevance_is_no_ndcg_above_one() -> None:
    one = item(["b", "a"], [{"id": "a", "relevance": -1}, {"id": "b", "relevance": -2}])
    assert NDCGAtK(k=2).score(one).score == 0.0
    one = item(["a", "b"], [{"id": "a", "relevance": -1}, {"id": "b", "relevance": 2}])
    # The document: 0.0 to 1.0. -1 / 2 is below it, and (-1 + 2 / 1.585) / (2 - 1 / 1.585) is not.
    for as_released in (False, True):
        found = NDCGAtK(k=1, as_released=as_released).score(one)
        assert (found.score, found.signals.results_by_k[1].dcg, found.signals.results_by_k[1].idcg) == (0.0, -1.0, 2.0)
    assert NDCGAtK(k=2).score(one).score == pytest.approx(0.26185950714291484 / 1.3690702464285425)


BAD = {
    "no ranking": (item([], ["a"]), "`actual_ranking` field is missing or empty"),
    "no reference": (item(["a"], []), "`expected_reference` field is missing or empty"),
    "no id": (item([{"doc": "a"}], ["a"]), "'id' key. Error: 'id' (entry 1 of item 'q1')"),
    "no id in the reference": (item(["a"], [{"id": "a"}, {}]), "'id' key. Error: 'id' (entry 2 of item 'q1')"),
    "none": (item(["a"], [{"id": "a", "relevance": None}]), "relevance must be a number"),
    "word": (item(["a"], [{"id": "a", "relevance": "high"}]), "could not convert string to float: 'high'"),
    "none as an id": (item(["a", None], ["a"]), "an 'id' of `actual_ranking` is None, which is not an id (entry 2"),
    "none as a judged id": (item(["a"], [{"id": None}]), "an 'id' of `expected_reference` is None"),
    "only none": (item([None], [None]), "an 'id' of `actual_ranking` is None"),
    "digits": (item(["a"], [{"id": "a", "relevance": "3"}]), "relevance must be a number. Error: '3' is text"),
    "bytes": (item(["a"], [{"id": "a", "relevance": b"3"}]), "relevance must be a number. Error: b'3' is text"),
    "nan": (item(["a"], [{"id": "a", "relevance": math.nan}]), "relevance is nan, not a finite number"),
    "no item": ("text", "a str is not a DatasetItem"),
}


READ_BY_AXION = {"none as an id", "none as a judged id", "only none", "digits", "bytes"}
"""Axion's code makes texts of ids and numbers of relevances, whatever they are."""


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("as_released", [False, True])
def test_bad_items_give_nan_and_the_reason(case: str, as_released: bool) -> None:
    bad, reason = BAD[case]
    if as_released and case in READ_BY_AXION:
        return
    for make in ALL:
        found = make(as_released=as_released).score(bad)
        assert math.isnan(found.score)
        assert found.signals is None
        if not as_released:
            assert reason in found.explanation


@pytest.mark.parametrize("given", [[1, 2], ["a", {"id": "b"}], "abc", 5, {"id": "a"}])
def test_items_refuse_what_is_no_list_of_ids(given: Any) -> None:
    with pytest.raises(InputError, match=r"item 'q1': .*actual_ranking"):
        DatasetItem(id="q1", actual_ranking=given, expected_reference=["a"])


def test_items_keep_axions_other_fields() -> None:
    one = DatasetItem(actual_ranking=["a"], expected_reference=["a"], latency=0.5, trace_id="t", user_tags=["x"])
    assert (one.latency, one.trace_id) == (0.5, "t")  # type: ignore[attr-defined]
    assert HitRateAtK(k=1, required_fields=["latency"]).score(one).score == 1.0
    with pytest.raises(InputError, match="Did you mean actual_ranking"):
        DatasetItem(actual_rankings=["a"])
    with pytest.raises(InputError, match="retrieved_content is a int"):
        DatasetItem(retrieved_content=5)  # type: ignore[arg-type]
    assert DatasetItem(retrieved_content="one text").retrieved_content == ["one text"]


def test_metrics_show_themselves() -> None:
    assert repr(NDCGAtK(k=[5, 1])) == "NDCGAtK(k=[1, 5], main_k=5, name='NDCG @ K')"
    assert repr(MeanReciprocalRank(name="first")) == "MeanReciprocalRank(name='first')"


def test_the_two_names_of_a_field_are_one() -> None:
    one = item(["a"], ["a"])
    one.actual_reference = ["x", "a"]  # type: ignore[assignment]
    one.expected_ranking = [{"id": "a"}]
    assert one.actual_ranking == ["x", "a"]
    assert MeanReciprocalRank().score(one).score == 0.5
    assert DatasetItem(actual_ranking=["a"], actual_reference=[{"id": "a"}]).actual_ranking == [{"id": "a"}]
    for given in (
        {"actual_ranking": ["a"], "actual_reference": ["b"]},
        {"expected_reference": ["a"], "expected_ranking": ["b"]},
    ):
        with raises_code(InputError, "fields-differ"):
            DatasetItem(**given)  # type: ignore[arg-type]


def test_contradicting_judgements_are_told() -> None:
    one = item(["a", "b"], [{"id": "a", "relevance": 3}, {"id": "b"}, {"id": "a", "relevance": 0}])
    for metric in (NDCGAtK(k=2), RecallAtK(k=2), MeanReciprocalRank(), HitRateAtK(k=2), PrecisionAtK(k=2)):
        told = metric.score(one)
        assert told.explanation.endswith("Judged twice, differently, where the last counts: 'a'.")
    assert MeanReciprocalRank().score(one).score == 0.5
    twice = item(["a"], ["a", "a"])
    assert "Judged twice" not in HitRateAtK(k=2).score(twice).explanation
    assert "Judged twice" not in NDCGAtK(k=2, as_released=True).score(one).explanation  # Axion's words


def test_execute_and_score_agree() -> None:
    for make in ALL:
        assert asyncio.run(make().execute(GOOD)) == make().score(GOOD)


# The runner.


def test_one_bad_item_does_not_lose_the_others() -> None:
    items = [GOOD, BAD["word"][0], BAD["no item"][0], GOOD]
    found = MetricRunner(metrics=[HitRateAtK(k=2), RecallAtK(k=2)]).score(items)
    assert len(found) == 8
    assert [one.score for one in (found[0], found[1], found[6], found[7])] == [1.0, 0.5, 1.0, 0.5]
    assert all(math.isnan(one.score) and one.passed is None for one in found[2:6])


def test_results_are_in_order_of_items_then_metrics() -> None:
    items = [item(["a"], ["a"], "same"), item(["x"], ["a"], "same")]
    found = MetricRunner(metrics=[HitRateAtK(k=1), MeanReciprocalRank()]).score(items)
    assert [(one.metric_name, one.score) for one in found] == [
        ("Hit Rate @ K", 1.0),
        ("Mean Reciprocal Rank (MRR)", 1.0),
        ("Hit Rate @ K", 0.0),
        ("Mean Reciprocal Rank (MRR)", 0.0),
    ]
    assert [one.name for one in found] == [one.metric_name for one in found]


@pytest.mark.parametrize("key", ["RecallAtK", "recall_at_k", "Recall @ K"])
def test_thresholds(key: str) -> None:
    runner = MetricRunner(metrics=[RecallAtK(k=2), HitRateAtK(k=2, threshold=0.0)], thresholds={key: 0.6})
    first, second = runner.score([GOOD])
    assert (first.threshold, first.passed) == (0.6, False)
    assert (second.threshold, second.passed) == (0.0, True)


class Slow:
    """A metric of one's own that records how many run at a time."""

    metric_name = "Slow"
    threshold = 0.5

    def __init__(self) -> None:
        self.running = self.most = self.calls = 0

    async def execute(self, item: DatasetItem) -> MetricEvaluationResult:
        self.calls += 1
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        if item.id == "broken":
            raise RuntimeError("no connection")
        return MetricEvaluationResult("Slow", 0.75, "fine")


def test_own_metrics_run_concurrently_and_apart() -> None:
    slow = Slow()
    items = [item(["a"], ["a"], name) for name in ("1", "2", "broken", "4", "5")]
    found = MetricRunner(metrics=[slow], max_concurrent=2).score(items)
    assert slow.most == 2
    assert [one.score for one in found[:2]] == [0.75, 0.75]
    assert found[2].explanation == "Error executing metric: no connection"
    assert math.isnan(found[2].score)


def test_cache_keeps_what_was_computed_and_no_failures() -> None:
    slow, cache = Slow(), {}
    items = [item(["a"], ["a"], "1"), item(["a"], ["a"], "broken")]
    for _ in range(2):
        MetricRunner(metrics=[slow], cache_manager=cache).score(items)
    assert slow.calls == 3  # the good one once, the broken one twice


def test_summary_and_progress() -> None:
    told: list[tuple[int, int]] = []
    runner = MetricRunner(metrics=[RecallAtK(k=2), HitRateAtK(k=2)], progress=lambda *step: told.append(step))
    runner.score([GOOD, item(["a", "b"], ["a", "b"]), item([], ["a"])])
    summary = runner.summary["Recall @ K"]
    assert told == [(3, 6), (6, 6)]
    assert (summary["avg"], summary["median"], summary["min"], summary["max"]) == (0.75, 0.75, 0.5, 1.0)
    assert summary["std_dev"] == pytest.approx(0.3535533905932738)  # sqrt(2 * 0.25^2)
    assert (summary["valid_count"], summary["total_count"], summary["pass_rate"]) == (2, 3, 1.0)
    assert summary["success_rate"] == pytest.approx(2 / 3)
    assert runner.elapsed_time is not None


def test_runner_takes_frames_and_dictionaries() -> None:
    rows = [{"id": "1", "actual_ranking": ["a"], "expected_reference": ["a"]}, {"unknown": 1}]
    runner = MetricRunner(metrics=[HitRateAtK(k=1)])
    assert [str(one.score) for one in runner.score(rows)] == ["1.0", "nan"]
    assert [one.score for one in runner.score(pd.DataFrame(rows[:1]))] == [1.0]
    assert runner.score([]) == []


@pytest.mark.parametrize("number", [0, -1, True, 1.5])
def test_max_concurrent_is_refused(number: Any) -> None:
    with pytest.raises(OptionError, match="max_concurrent"):
        MetricRunner(metrics=[], max_concurrent=number)


# The registry, and the tables of the document.


def test_registry() -> None:
    assert registry.get("ndcg_at_k") is NDCGAtK
    assert registry.find("heuristic") == list(ALL)
    assert set(ALL) == set(registry.compatible(GOOD))
    with pytest.raises(OptionError, match="Did you mean ndcg_at_k"):
        registry.get("ndcg_at_kk")


def test_metrics_at_a_glance() -> None:
    """The tables of the document: overview, at a glance, comparison guide, quick reference."""
    overview = {
        "hit_rate_at_k": ("Any relevant result in top K?", "Quick relevance check"),
        "mean_reciprocal_rank": ("Rank of first relevant result", "First-result quality"),
        "ndcg_at_k": ("Graded relevance with position discount", "Ranking quality"),
        "precision_at_k": ("Fraction of top K that's relevant", "Result purity"),
        "recall_at_k": ("Fraction of relevant docs in top K", "Coverage"),
    }
    by_key = {row["key"]: row for row in registry.describe()}
    for key, shown in overview.items():
        assert (by_key[key]["measures"], by_key[key]["use_case"]) == shown
        assert registry.get(key)().description == shown[0]
    assert by_key["recall_at_k"]["key_question"] == "Did we miss relevant docs?"
    assert by_key["hit_rate_at_k"]["best_for"] == "Quick sanity check"
    assert by_key["mean_reciprocal_rank"]["default_k"] is None
    assert by_key["precision_at_k"]["formula"] == "relevant_in_K / K"
    assert [by_key[key]["scores"] for key in overview] == ["0 or 1", *["0 to 1"] * 4]
    assert by_key["ndcg_at_k"]["score_range"] == (0.0, 1.0)
    assert by_key["ndcg_at_k"]["required_fields"] == ("actual_ranking", "expected_reference")


def test_groups_and_relations() -> None:
    """The document's diagram: two groups, and three arrows."""
    rows = [row for row in registry.describe() if "heuristic" in row["tags"]]  # type: ignore[operator]
    groups = {group: {row["key"] for row in rows if row["group"] == group} for group in ("coverage", "quality")}
    assert groups == {
        "coverage": {"hit_rate_at_k", "recall_at_k"},
        "quality": {"precision_at_k", "mean_reciprocal_rank", "ndcg_at_k"},
    }
    assert {row["key"]: row["relations"] for row in rows if row["relations"]} == {
        "hit_rate_at_k": (("binary version of", "recall_at_k"),),
        "precision_at_k": (("complementary to", "recall_at_k"),),
        "mean_reciprocal_rank": (("position-aware, as is", "ndcg_at_k"),),
    }


def test_tags_of_the_document() -> None:
    assert registry.find("Multi-K") == [HitRateAtK, NDCGAtK, PrecisionAtK, RecallAtK]
    assert registry.find("Heuristic") == list(ALL)
    assert set(registry.find("Retrieval")) > set(ALL)


@pytest.mark.parametrize("make", [HitRateAtK, NDCGAtK, PrecisionAtK, RecallAtK])
def test_help_explains_the_options(make: type) -> None:
    shown = pydoc.plain(pydoc.render_doc(make))
    for word in ("`k` is", "`main_k` is", "`threshold` is", "`as_released=True` gives", "field_mapping"):
        assert word in shown
    for word in ("`k`", "`main_k`", "`threshold`", "as_released"):
        assert word in (make.__doc__ or "")
    assert "execute(self, item" in shown


def test_modules_are_named_as_in_the_document() -> None:
    """`from axion.metrics import ...` needs nothing but the new prefix."""
    for module, name in (("metrics", "NDCGAtK"), ("runners", "MetricRunner"), ("dataset", "DatasetItem")):
        assert getattr(importlib.import_module(f"goldrank.compat.axion.{module}"), name) is getattr(axion, name)
    assert importlib.import_module("goldrank.compat.axion.metrics").ContextualRecall is ContextualRecall


def test_metric_relationships() -> None:
    """Hit rate is the binary version of recall, and MRR looks at positions as nDCG does."""
    early, late = item(["a", "x", "y"], ["a"]), item(["x", "y", "a"], ["a"])
    for one in (early, late, GOOD):
        assert HitRateAtK(k=3).score(one).score == float(RecallAtK(k=3).score(one).score > 0)
    for metric in (MeanReciprocalRank(), NDCGAtK(k=3)):
        assert metric.score(early).score > metric.score(late).score
    assert RecallAtK(k=3).score(early).score == RecallAtK(k=3).score(late).score


# Metrics that ask a judge.


def test_contextual_metrics_ask_the_judge() -> None:
    one = DatasetItem(
        query="q", retrieved_content=["no", "yes 1", "yes 2"], expected_output="It is one. It is two. It is three."
    )

    def useful(item: DatasetItem, text: str) -> bool:
        return text.startswith("yes")

    async def supported(item: DatasetItem, text: str) -> float:
        return float("two" not in text)

    assert ContextualPrecision(judge=useful).score(one).score == pytest.approx((1 / 2 + 2 / 3) / 2)
    # gains at 2 and 3 of an ideal at 1 and 2
    expected = (0.6309297535714575 + 0.5) / (1 + 0.6309297535714575)
    assert ContextualRanking(judge=useful).score(one).score == pytest.approx(expected)
    assert ContextualRecall(judge=supported).score(one).score == pytest.approx(2 / 3)


def test_contextual_metrics_in_a_runner() -> None:
    def judge(item: DatasetItem, text: str) -> bool:
        if text == "bad":
            raise ValueError("no answer")
        return True

    items = [DatasetItem(retrieved_content=["a"]), DatasetItem(retrieved_content=["bad"]), GOOD]
    found = MetricRunner(metrics=[ContextualPrecision(judge=judge)]).score(items)
    assert found[0].score == 1.0
    assert found[1].explanation.startswith(
        "Error executing metric: the judge failed with ValueError: no answer (text 1"
    )
    assert "`retrieved_content` field is missing" in found[2].explanation


def test_progress_can_be_left_out() -> None:
    told: list[tuple[int, int]] = []
    runner = MetricRunner(metrics=[HitRateAtK()], progress=lambda *step: told.append(step))
    asyncio.run(runner.execute_batch([GOOD], show_progress=False))
    assert told == []


def test_public_names() -> None:
    assert all(hasattr(axion, name) for name in axion.__all__)
