"""Axion's runner: caches, metrics of one's own that are wrong in every way, names, and its options."""

from __future__ import annotations

import asyncio
import math
from types import SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pytest
from raising import raises_code

from goldrank.base.errors import GoldrankError, OptionError
from goldrank.compat.axion import (
    ContextualPrecision,
    DatasetItem,
    ErrorConfig,
    HitRateAtK,
    MeanReciprocalRank,
    MetricEvaluationResult,
    MetricRunner,
    NDCGAtK,
    PrecisionAtK,
    RecallAtK,
)
from goldrank.compat.axion.base import RetrievalMetric

GOOD = DatasetItem(id="good", actual_ranking=["x", "a"], expected_reference=["a", "b"])


class Own:
    """A metric of one's own that gives what it is told, and counts its calls."""

    def __init__(self, gives: Any) -> None:
        self.gives = gives
        self.calls = 0

    async def execute(self, item: DatasetItem) -> Any:
        self.calls += 1
        return self.gives(item) if callable(self.gives) else self.gives


def result(score: Any, explanation: Any = "fine") -> Any:
    return SimpleNamespace(score=score, explanation=explanation)


# The cache.


class Length(Own):
    """How many documents were retrieved."""

    def __init__(self) -> None:
        super().__init__(lambda item: result(float(len(item.actual_ranking))))


def test_cache_tells_items_of_one_id_apart() -> None:
    items = [DatasetItem(id="same", actual_ranking=["a"] * n, expected_reference=["a"]) for n in (1, 2, 3)]
    runner = MetricRunner(metrics=[Length()], cache_manager={})
    assert [one.score for one in runner.score(items)] == [1.0, 2.0, 3.0]
    assert [one.score for one in runner.score(items)] == [1.0, 2.0, 3.0]


def test_cache_sees_an_item_that_changed() -> None:
    metric, cache = Length(), {}
    runner = MetricRunner(metrics=[metric], cache_manager=cache)
    item = DatasetItem(id="q", actual_ranking=["a"], expected_reference=["a"])
    assert runner.score([item])[0].score == 1.0
    assert runner.score([item])[0].score == 1.0
    assert metric.calls == 1
    item.actual_ranking = [{"id": "a"}, {"id": "b"}]
    assert runner.score([item])[0].score == 2.0
    item.metadata = {"note": "new"}
    runner.score([item])
    assert metric.calls == 3


@pytest.mark.parametrize("field", ["query", "retrieved_content", "expected_output", "expected_reference", "metadata"])
def test_every_field_is_in_the_key(field: str) -> None:
    values: dict[str, tuple[Any, Any]] = {
        "query": ("a", "b"),
        "retrieved_content": (["a"], ["b"]),
        "expected_output": ("a", "b"),
        "expected_reference": ([{"id": "a", "relevance": 1}], [{"id": "a", "relevance": 1.0}]),
        "metadata": ({"a": 1}, {"a": True}),
    }
    metric = Own(result(1.0))
    runner = MetricRunner(metrics=[metric], cache_manager={})
    runner.score([DatasetItem(id="q", **{field: value}) for value in values[field]])  # type: ignore[arg-type]
    assert metric.calls == 2


def test_cache_tells_metrics_apart() -> None:
    cache: dict[Any, Any] = {}
    for value in (1.0, 2.0, 3.0):  # each is gone before the next is made, and may stand in its place
        runner = MetricRunner(metrics=[Own(result(value))], cache_manager=cache)
        assert runner.score([GOOD])[0].score == value


def test_cache_tells_judges_and_options_apart() -> None:
    item, cache = DatasetItem(id="q", retrieved_content=["a", "b"]), {}
    for metric, score in (
        (ContextualPrecision(judge=lambda _, text: text == "b"), 0.5),
        (ContextualPrecision(judge=lambda _, text: text == "a"), 1.0),
        (ContextualPrecision(judge=lambda *_: 0.6), 1.0),
        (ContextualPrecision(judge=lambda *_: 0.6, useful_from=0.7), 0.0),
    ):
        assert MetricRunner(metrics=[metric], cache_manager=cache).score([item])[0].score == score


def test_what_has_no_exact_text_is_not_cached() -> None:
    metric = Own(result(1.0))
    runner = MetricRunner(metrics=[metric], cache_manager={})
    item = DatasetItem(id="q", metadata={"object": object()})
    runner.score([item, item])
    assert metric.calls == 2


class GetAndSet:
    """A cache as Axion's `CacheManager`."""

    def __init__(self) -> None:
        self.held: dict[Any, Any] = {}

    def get(self, key: Any) -> Any:
        return self.held.get(key)

    def set(self, key: Any, value: Any) -> None:
        self.held[key] = value


def test_caches_of_both_kinds() -> None:
    for cache in ({}, GetAndSet()):
        metric = Length()
        runner = MetricRunner(metrics=[metric], cache_manager=cache)  # type: ignore[arg-type]
        items = [DatasetItem(id="same", actual_ranking=["a"] * n, expected_reference=["a"]) for n in (1, 2, 1)]
        for _ in range(2):
            assert [one.score for one in runner.score(items)] == [1.0, 2.0, 1.0]
        assert metric.calls <= 3
    for wrong in (True, 5, "cache", object()):
        with pytest.raises(OptionError, match="cache_manager"):
            MetricRunner(metrics=[], cache_manager=wrong)  # type: ignore[arg-type]


def test_a_cache_that_fails_loses_no_result() -> None:
    class Down(GetAndSet):
        def get(self, key: Any) -> Any:
            raise ConnectionError("cache down")

    first, second = MetricRunner(metrics=[Length(), HitRateAtK(k=2)], cache_manager=Down()).score([GOOD])  # type: ignore[arg-type]
    assert first.explanation == "Error executing metric: cache down"
    assert second.score == 1.0


# Metrics that are wrong.


class NoName:
    """A metric whose name fails."""

    @property
    def name(self) -> str:
        raise RuntimeError("no name")

    async def execute(self, item: DatasetItem) -> Any:
        return result(1.0)


class Broken(HitRateAtK):
    """One of goldrank's, broken."""

    def _measured(self, *_: Any) -> Any:
        raise ZeroDivisionError("oh no")


def failing(item: DatasetItem) -> Any:
    raise ValueError("no answer")


class SpeechlessError(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def raising(error: Exception) -> Any:
    def fail(item: DatasetItem) -> Any:
        raise error

    return Own(fail)


WRONG = {
    "an error without words": (raising(ValueError()), "ValueError"),
    "an error that fails": (raising(SpeechlessError()), "SpeechlessError"),
    "a float": (Own(0.5), "0.5"),
    "nothing": (Own(None), "None"),
    "a score of None": (Own(result(None, "could not say")), "could not say"),
    "a score of text": (Own(result("high")), "'high'"),
    "complex": (Own(result(1j)), "1j"),
    "an error": (Own(failing), "no answer"),
    "a class": (HitRateAtK, "execute"),
    "no metric": (object(), "execute"),
    "text": ("hit_rate", "execute"),
    "broken": (Broken(), "oh no"),
    "a threshold of text": (SimpleNamespace(execute=lambda item: result(1.0), threshold="high"), "'high'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_metric_leaves_the_others_alone(case: str) -> None:
    wrong, reason = WRONG[case]
    runner = MetricRunner(metrics=[HitRateAtK(k=2), wrong, RecallAtK(k=2)])  # type: ignore[list-item]
    first, middle, last = runner.score([GOOD])
    assert (first.score, last.score) == (1.0, 0.5)
    assert math.isnan(middle.score)
    assert middle.passed is None
    assert middle.explanation.startswith("Error executing metric: ")
    assert reason in middle.explanation
    assert len(runner.summary) == 3


class Fails:
    """An object whose attributes fail, all but some."""

    def __init__(self, attribute: str, **others: Any) -> None:
        self.__dict__.update(others)
        self.attribute = attribute

    def __getattr__(self, name: str) -> Any:
        if name == self.attribute:
            raise RuntimeError(f"no {name}")
        raise AttributeError(name)


@pytest.mark.parametrize("attribute", ["parameters", "required_fields", "inverse_scoring_metric", "threshold"])
def test_a_metric_whose_attributes_fail_leaves_the_others_alone(attribute: str) -> None:
    more = {} if attribute == "threshold" else {"threshold": 0.5}
    metric: Any = Fails(attribute, execute=lambda item: result(1.0), **more)
    config = ErrorConfig(skip_on_missing_params=True)
    runner = MetricRunner(metrics=[HitRateAtK(k=2), metric, RecallAtK(k=2)], cache_manager={}, error_config=config)
    first, middle, last = runner.score([GOOD])
    assert (first.score, last.score) == (1.0, 0.5)
    assert math.isnan(middle.score)
    assert middle.explanation == f"Error executing metric: no {attribute}"


@pytest.mark.parametrize("attribute", ["key", "k", "metric_name", "name"])
def test_names_that_fail_are_none(attribute: str) -> None:
    metrics: list[Any] = [Fails(attribute, execute=lambda item: result(1.0)) for _ in range(2)]
    runner = MetricRunner(metrics=[*metrics, HitRateAtK(k=2)])
    assert [one.score for one in runner.score([GOOD])] == [1.0, 1.0, 1.0]
    assert list(runner.summary) == ["Fails", "Fails #2", "Hit Rate @ K"]


@pytest.mark.parametrize("attribute", ["explanation", "signals", "metadata", "score"])
def test_a_result_whose_attributes_fail_leaves_the_others_alone(attribute: str) -> None:
    shown = {"score": 1.0, "explanation": "fine", "signals": None, "metadata": {}}
    shown.pop(attribute)
    metric = Own(lambda item: Fails(attribute, **shown) if item.id == "good" else result(0.25))
    other = DatasetItem(id="other", actual_ranking=["a"], expected_reference=["a"])
    first, second = MetricRunner(metrics=[metric]).score([GOOD, other])
    assert math.isnan(first.score)
    assert first.explanation == f"Error executing metric: no {attribute}"
    assert second.score == 0.25


def test_own_metrics_may_be_plain() -> None:
    """Not asynchronous, without an explanation, with a name that fails, better when low."""
    plain = SimpleNamespace(name="Plain", execute=lambda item: SimpleNamespace(score=True))
    low = SimpleNamespace(
        name="Low", inverse_scoring_metric=True, threshold=0.5, execute=lambda item: result(0.5, explanation=None)
    )
    found = MetricRunner(metrics=[plain, NoName(), low]).score([GOOD])  # type: ignore[list-item]
    assert [(one.metric_name, one.score, one.passed) for one in found] == [
        ("Plain", 1.0, None),
        ("NoName", 1.0, None),
        ("Low", 0.5, False),
    ]


def test_own_subclasses_are_executed() -> None:
    class Mine(RetrievalMetric):
        key, default_name, measures = "mine", "Mine", "something"

        async def execute(self, item: Any, **_: object) -> MetricEvaluationResult:
            return self._result(0.75, "mine")

    class Plainly(RetrievalMetric):
        key, default_name, measures = "plain", "Plain", "something"

        def score(self, item: Any) -> MetricEvaluationResult:
            return self._result(0.25, "plain")

    assert [one.score for one in MetricRunner(metrics=[Mine(), Plainly()]).score([GOOD])] == [0.75, 0.25]


# Names.


def test_metrics_of_one_name_keep_their_summaries() -> None:
    metrics = [NDCGAtK(k=1), NDCGAtK(k=[1, 2]), NDCGAtK(k=2, as_released=True), NDCGAtK(k=2), HitRateAtK(k=1)]
    runner = MetricRunner(metrics=metrics)
    found = runner.score([GOOD])
    assert list(runner.summary) == [
        "NDCG @ K (k=1)",
        "NDCG @ K (k=1, 2)",
        "NDCG @ K (k=2)",
        "NDCG @ K (k=2) #2",
        "Hit Rate @ K",
    ]
    assert runner.summary["NDCG @ K (k=1)"]["avg"] == 0.0
    assert runner.summary["NDCG @ K (k=2)"]["avg"] > 0
    assert [one.summary_key for one in found] == list(runner.summary)
    assert {one.metric_name for one in found} == {"NDCG @ K", "Hit Rate @ K"}


def test_no_key_takes_anothers_name() -> None:
    named = [HitRateAtK(name="a"), HitRateAtK(name="a"), MeanReciprocalRank(name="a (k=10) #2")]
    runner = MetricRunner(metrics=named)
    runner.score([GOOD])
    assert len(runner.summary) == 3
    assert runner.summary["a (k=10) #2"]["avg"] == 0.5


def test_summary_has_what_passed() -> None:
    runner = MetricRunner(metrics=[HitRateAtK(k=2)])
    runner.score([GOOD, DatasetItem(actual_ranking=["x"], expected_reference=["a"]), {}])
    summary = runner.summary["Hit Rate @ K"]
    assert (summary["passed"], summary["pass_rate"], summary["scores"]) == (1, 0.5, [1.0, 0.0])
    assert (summary["valid_count"], summary["total_count"]) == (2, 3)


# Options.


def test_the_runner_takes_axions_keywords() -> None:
    """By the signature of Axion's `MetricRunner`; what has no effect here is said in its help."""
    seen: list[Any] = []

    class Summary:
        def execute(self, results: Any, total_time: float) -> dict[str, Any]:
            seen.append((results, total_time))
            return {"mine": 1}

    runner = MetricRunner(
        metrics=[HitRateAtK(k=2)], name="n", description="d", max_concurrent=2, thresholds={"HitRateAtK": 0.5},
        summary_generator=Summary(), cache_manager={}, error_config=ErrorConfig(), tracer=object(), dataset_name="s",
        enable_internal_caching=False, trace_granularity="single", flush_per_metric=True,
    )  # fmt: skip
    results = asyncio.run(runner.execute_batch(evaluation_inputs=[GOOD], show_progress=False))
    assert results[0].score_results[0].passed is True
    assert seen == [(results, runner.elapsed_time)]
    assert runner.summary == {"mine": 1}
    for name in ("tracer", "enable_internal_caching", "trace_granularity", "flush_per_metric", "summary_generator"):
        assert name in (MetricRunner.__doc__ or "")
    with pytest.raises(OptionError, match="summary_generator"):
        MetricRunner(metrics=[], summary_generator="yes")  # type: ignore[arg-type]


def test_errors_may_be_raised() -> None:
    runner = MetricRunner(metrics=[Own(failing)], error_config=ErrorConfig(ignore_errors=False))
    with pytest.raises(GoldrankError, match="metric 'Own' failed with ValueError: no answer") as caught:
        runner.score([GOOD])
    assert caught.value.where == "item 'good'"
    with pytest.raises(GoldrankError, match="oh no"):
        MetricRunner(metrics=[Broken()], error_config=ErrorConfig(ignore_errors=False)).score([GOOD])


def test_missing_fields_may_be_skipped() -> None:
    own = SimpleNamespace(name="Own", required_fields=["expected_output"], execute=lambda item: result(1.0))
    metrics = [HitRateAtK(k=2), ContextualPrecision(judge=lambda *_: True), own]
    runner = MetricRunner(metrics=metrics, error_config=ErrorConfig(skip_on_missing_params=True))  # type: ignore[arg-type]
    items = [GOOD, DatasetItem(id="texts", retrieved_content=["a"], expected_output="a")]
    first, second = asyncio.run(runner.execute_batch(items))
    assert [one.metric_name for one in first.score_results] == ["Hit Rate @ K"]
    assert first.metadata == {"skipped": ["Contextual Precision", "Own"]}
    assert [one.metric_name for one in second.score_results] == ["Contextual Precision", "Own"]
    assert runner.summary["Hit Rate @ K"]["total_count"] == 1
    plain = MetricRunner(metrics=metrics).score(items)  # type: ignore[arg-type]
    assert len(plain) == 6


@pytest.mark.parametrize(
    "options",
    [
        {"error_config": True},
        {"thresholds": {"NDCGAtK": "high"}},
        {"thresholds": {"NDCGAtK": math.nan}},
        {"thresholds": {"NDCG@K": 0.5}},
    ],
)
def test_wrong_options_are_refused(options: Any) -> None:
    with pytest.raises(OptionError):
        MetricRunner(metrics=[NDCGAtK()], **options)


def test_thresholds_of_metrics_of_one_name() -> None:
    thresholds = {"NDCGAtK": 0.1, "NDCG @ K (k=1)": 0.0}
    found = MetricRunner(metrics=[NDCGAtK(k=1), NDCGAtK(k=2)], thresholds=thresholds).score([GOOD])
    assert [(one.threshold, one.passed) for one in found] == [(0.0, True), (0.1, True)]


@pytest.mark.parametrize("metrics", [HitRateAtK(), "HitRateAtK", None])
def test_metrics_must_be_a_list(metrics: Any) -> None:
    with raises_code(OptionError, "wrong-type"):
        MetricRunner(metrics=metrics)


def test_metrics_take_axions_keywords() -> None:
    metric = PrecisionAtK(
        k=2, name="Mine", metric_description="my own", threshold=0.25, required_fields=["query"],
        field_mapping={"actual_ranking": "additional_output.docs", "expected_reference": "metadata.gold"},
    )  # fmt: skip
    item = DatasetItem(query="q", additional_output={"docs": ["a", "x"]}, metadata={"gold": [{"id": "a"}]})
    found = asyncio.run(metric.execute(item, callbacks=None, cache={}))
    assert (found.metric_name, found.score) == ("Mine", 0.5)
    assert (metric.name, metric.description, metric.threshold) == ("Mine", "my own", 0.25)
    assert HitRateAtK(name="first", metric_name="second").name == "first"
    item.query = None
    assert "`query` field is missing" in metric.score(item).explanation
    item = DatasetItem(query="q", metadata={"gold": [{"id": "a"}]})
    assert "(looked for at 'additional_output.docs')" in metric.score(item).explanation
    item = DatasetItem(query="q", additional_output={"docs": "a"}, metadata={"gold": ["a"]})
    assert "actual_ranking is a str, not a list" in metric.score(item).explanation


def test_mapped_fields_are_read_apart_in_one_runner() -> None:
    item = DatasetItem(actual_ranking=["x"], expected_reference=["a"], additional_output={"docs": ["a"]})
    mapped = HitRateAtK(k=1, name="mapped", field_mapping={"actual_ranking": "additional_output.docs"})
    assert [one.score for one in MetricRunner(metrics=[HitRateAtK(k=1), mapped]).score([item])] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model_name": "gpt-4o"}, "model_name chooses a language model"),
        ({"treshold": 0.5}, "Did you mean threshold"),
        ({"threshold": "high"}, "threshold is 'high'"),
        ({"required_fields": "query"}, "list of names"),
        ({"field_mapping": {"actual_ranking": "a..b"}}, "not a path"),
        ({"field_mapping": {"actual_rankings": "a.b"}}, "Did you mean actual_ranking"),
        ({"k": [1, 3], "main_k": True}, r"main_k \(True\) must be one of"),
    ],
)
def test_wrong_keywords_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        PrecisionAtK(**options)


@pytest.mark.parametrize("make", [dict, lambda **fields: DatasetItem(**fields)])
def test_metrics_take_dictionaries(make: Any) -> None:
    item = make(actual_ranking=["a"], expected_reference=["a"])
    assert HitRateAtK(k=1).score(item).score == 1.0
    assert asyncio.run(HitRateAtK(k=1).execute(item)).score == 1.0


def test_rows_that_make_no_item_say_why() -> None:
    rows = [
        {"actual_ranking": ["a"], "expected_reference": ["a"]},
        {"id": "2", "actual_rank": ["a"]},
        {"actual_ranking": 5},
    ]
    runner = MetricRunner(metrics=[HitRateAtK(k=1)])
    first, second, third = runner.score(rows)
    assert first.score == 1.0
    assert "there is no field 'actual_rank'. Did you mean actual_ranking?" in second.explanation
    assert second.item_id == "2"
    assert "actual_ranking is a int, not a list" in third.explanation
    assert asyncio.run(runner.execute_batch(rows))[1].test_case == rows[1]


def test_frames() -> None:
    columns = {"id": ["1", "2"], "actual_ranking": [["a"], ["a"]], "expected_reference": [["a"], None]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pl.DataFrame(columns).to_arrow()):
        first, second = MetricRunner(metrics=[HitRateAtK(k=1)]).score(frame)
        assert first.score == 1.0
        assert "`expected_reference` field is missing or empty" in second.explanation


def test_one_item_is_no_list() -> None:
    with pytest.raises(TypeError, match="Invalid input type 'DatasetItem'"):
        MetricRunner(metrics=[HitRateAtK()]).score(GOOD)
