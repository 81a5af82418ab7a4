"""The lesson's facade beyond the golden cases; values by plain loops over the definition."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from raising import raises_code

from goldrank.base.errors import GoldrankError, InputError, OptionError
from goldrank.compat import lesson


def loops(retrieved: list[str], relevant: set[str], grades: dict[str, float], k: int) -> dict[str, float]:
    """The definitions, one after the other."""
    top = retrieved[:k]
    found = {doc for doc in top if doc in relevant}
    first = next((1 / rank for rank, doc in enumerate(retrieved, 1) if doc in relevant), 0.0)

    def dcg(values: list[float]) -> float:
        return sum(value / math.log2(rank + 1) for rank, value in enumerate(values, 1))

    ideal = dcg(sorted(grades.values(), reverse=True)[:k])
    gained = dcg([grades.get(doc, 0) for doc in top])
    return {
        "recall": len(found) / len(relevant) if relevant else 0.0,
        "precision": len(found) / k,
        "hit": float(bool(found)),
        "rr": first,
        "ndcg": min(gained / ideal, 1.0) if ideal > 0 else 0.0,
        "dcg": gained,
    }


def random_query(rng: random.Random) -> tuple[list[str], set[str], dict[str, float]]:
    docs = [f"d{i}" for i in range(12)]
    retrieved = [rng.choice(docs) for _ in range(rng.randint(0, 12))]  # with repeats
    relevant = {doc for doc in docs if rng.random() < 0.3}
    grades = {doc: rng.choice([0, 1, 2, 3, 0.5]) for doc in docs if rng.random() < 0.4}
    return retrieved, relevant, grades


@pytest.mark.parametrize("seed", range(20))
def test_functions_are_the_definitions(seed: int) -> None:
    retrieved, relevant, grades = random_query(random.Random(seed))
    for k in (1, 3, 5, 20):
        expected = loops(retrieved, relevant, grades, k)
        assert lesson.recall_at_k(retrieved, relevant, k) == pytest.approx(expected["recall"])
        assert lesson.precision_at_k(retrieved, relevant, k) == pytest.approx(expected["precision"])
        assert lesson.hit_rate_at_k(retrieved, relevant, k) == expected["hit"]
        assert lesson.reciprocal_rank(retrieved, relevant) == pytest.approx(expected["rr"])
        assert lesson.dcg_at_k(retrieved, grades, k) == pytest.approx(expected["dcg"])
        assert lesson.ndcg_at_k(retrieved, grades, k) == pytest.approx(expected["ndcg"])


def test_dataset_means_are_the_definitions() -> None:
    rng = random.Random(5)
    queries = [random_query(rng) for _ in range(60)]
    data = [
        {"retrieved": r, "relevant": rel, **({"relevance_scores": g} if i % 2 else {})}
        for i, (r, rel, g) in enumerate(queries)
    ]
    found = lesson.RetrievalEvaluator().evaluate_dataset(data)
    for k in (1, 3, 5, 10):
        each = [loops(r, rel, g if i % 2 else dict.fromkeys(rel, 1), k) for i, (r, rel, g) in enumerate(queries)]
        mean = {name: sum(one[name] for one in each) / len(each) for name in each[0]}
        assert found.recall_at_k[k] == pytest.approx(mean["recall"])
        assert found.precision_at_k[k] == pytest.approx(mean["precision"])
        assert found.hit_rate_at_k[k] == pytest.approx(mean["hit"])
        assert found.ndcg_at_k[k] == pytest.approx(mean["ndcg"])
        assert found.mrr == pytest.approx(mean["rr"])


def test_relevant_may_be_any_collection() -> None:
    for relevant in ({"a"}, ["a", "a"], ("a",), frozenset("a")):
        assert lesson.recall_at_k(["x", "a"], relevant, 2) == 1.0


def test_empty_cases() -> None:
    assert lesson.recall_at_k([], {"a"}, 5) == 0.0
    assert lesson.recall_at_k(["a"], set(), 5) == 0.0
    assert lesson.ndcg_at_k([], {}, 5) == 0.0
    assert lesson.mean_hit_rate([], 5) == 0.0
    assert lesson.mean_reciprocal_rank([]) == 0.0
    for k in (1, 3):
        found = lesson.RetrievalEvaluator([k]).evaluate_single_query([], set())
        assert (found.recall_at_k[k], found.precision_at_k[k], found.mrr) == (0.0, 0.0, 0.0)


def test_k_zero_is_zero_and_negative_is_refused() -> None:
    assert lesson.precision_at_k(["a"], {"a"}, 0) == 0.0
    for function in (lesson.recall_at_k, lesson.precision_at_k, lesson.hit_rate_at_k):
        for k in (-1, 1.5, "3", None, True):
            with raises_code(OptionError, "bad-number", match="k is"):
                function(["a"], {"a"}, k)
    # As in the released code, a slice from the end: all but the last.
    assert lesson.recall_at_k(["a", "b", "c"], {"a", "c"}, -1, as_released=True) == 0.5
    assert lesson.hit_rate_at_k(["x", "c"], {"c"}, -1, as_released=True) == 0
    assert lesson.dcg_at_k(["a", "c"], {"a": 2, "c": 3}, -1, as_released=True) == 2.0


def released(retrieved: list[str], relevant: set[str], grades: dict[str, float], k: int) -> dict[str, float]:
    """The document's code for any k: Python's slices."""
    top = retrieved[:k]
    ideal = sorted(grades, key=lambda doc: grades[doc], reverse=True)[:k]
    dcg, best = (sum(grades.get(doc, 0) / math.log2(i + 1) for i, doc in enumerate(docs, 1)) for docs in (top, ideal))
    return {
        "recall_at_k": len(set(top) & relevant) / len(relevant) if relevant else 0.0,
        "hit_rate_at_k": int(bool(set(top) & relevant)),
        "dcg_at_k": dcg,
        "ndcg_at_k": min(dcg / best, 1.0) if best > 0 else 0.0,
    }


@pytest.mark.parametrize("k", [-1, -2, -4, -9, 0])
def test_released_k_below_one_is_a_slice(k: int) -> None:
    rng = random.Random(k)
    for _ in range(50):
        retrieved = rng.choices("abcdefg", k=rng.randint(0, 6))
        grades = {doc: float(rng.randint(0, 3)) for doc in rng.sample("abcdefg", rng.randint(0, 5))}
        relevant = {doc for doc in grades if grades[doc] > 0}
        for name, value in released(retrieved, relevant, grades, k).items():
            judged = grades if "dcg" in name else relevant
            assert getattr(lesson, name)(retrieved, judged, k, as_released=True) == pytest.approx(value), name
        for as_released in (True, False):
            if k < 0:
                with pytest.raises(OptionError):
                    lesson.precision_at_k(retrieved, relevant, k, as_released=as_released)
        hits = lesson.mean_hit_rate([(retrieved, relevant)], k, as_released=True)
        assert hits == released(retrieved, relevant, grades, k)["hit_rate_at_k"]


def test_k_of_the_classes() -> None:
    data = [{"retrieved": ["a", "b"], "relevant": {"a"}}]
    for make in (lesson.RetrievalEvaluator, lesson.RetrieverComparison):
        for k_values in ("135", 5, None):
            with pytest.raises(InputError, match="k_values"):
                make(k_values)  # type: ignore[arg-type]
    assert lesson.RetrieverComparison([0, 1]).evaluate_retriever("A", data).precision == {0: 0.0, 1: 1.0}
    with pytest.raises(OptionError):
        lesson.RetrievalEvaluator([-1]).evaluate_dataset(data)


LISTS: list[Any] = ["d1", b"d1"]


@pytest.mark.parametrize("text", LISTS)
@pytest.mark.parametrize(
    "call",
    [
        lambda given: lesson.recall_at_k(["d1", "x"], given, 1),
        lambda given: lesson.recall_at_k(given, {"d1"}, 1),
        lambda given: lesson.precision_at_k(["d1", "x"], given, 1),
        lambda given: lesson.precision_at_k(given, {"d1"}, 1),
        lambda given: lesson.reciprocal_rank(["d1", "x"], given),
        lambda given: lesson.reciprocal_rank(given, {"d1"}),
        lambda given: lesson.mean_reciprocal_rank([(["d1"], given)]),
        lambda given: lesson.mean_reciprocal_rank([(given, {"d1"})]),
        lambda given: lesson.mean_reciprocal_rank([given]),
        lambda given: lesson.mean_reciprocal_rank(given),
        lambda given: lesson.dcg_at_k(given, {"d1": 1}, 1),
        lambda given: lesson.dcg_at_k(["d1"], given, 1),
        lambda given: lesson.ndcg_at_k(given, {"d1": 1}, 1),
        lambda given: lesson.ndcg_at_k(["d1"], given, 1),
        lambda given: lesson.hit_rate_at_k(["d1", "x"], given, 1),
        lambda given: lesson.hit_rate_at_k(given, {"d1"}, 1),
        lambda given: lesson.mean_hit_rate([(["d1"], given)], 1),
        lambda given: lesson.mean_hit_rate([(given, {"d1"})], 1),
        lambda given: lesson.mean_hit_rate(given, 1),
        lambda given: lesson.dcg_table(given, {"d1": 1}, 1),
        lambda given: lesson.dcg_table(["d1"], given, 1),
        lambda given: lesson.relevant_from_grades(given),
        lambda given: lesson.RetrievalEvaluator().evaluate_single_query(given, {"d1"}),
        lambda given: lesson.RetrievalEvaluator().evaluate_single_query(["d1"], given),
        lambda given: lesson.RetrievalEvaluator().evaluate_single_query(["d1"], {"d1"}, given),
        lambda given: lesson.RetrievalEvaluator().evaluate_dataset(given),
        lambda given: lesson.RetrievalEvaluator().evaluate_dataset([{"retrieved": ["d1"], "relevant": given}]),
        lambda given: lesson.RetrieverComparison().evaluate_retriever("A", [{"retrieved": given, "relevant": ["d1"]}]),
        lambda given: lesson.RetrieverComparison().evaluate_retriever("A", given),
        lambda given: lesson.RetrieverComparison().evaluate_retriever(
            "A", [{"retrieved": ["d1"], "relevant": ["d1"], "scores": given}]
        ),
    ],
)
def test_a_text_is_no_list(call: Callable[[Any], Any], text: Any) -> None:
    with pytest.raises(InputError):
        call(text)


def test_a_set_is_no_ranking() -> None:
    for ranking in ({"a", "b"}, frozenset("ab"), {"a": 1.0, "b": 0.5}):
        with pytest.raises(InputError, match="ranking of query 0"):
            lesson.recall_at_k(ranking, {"a"}, 1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="query 1"):
        lesson.mean_hit_rate([(["a"], {"a"}), ("ab", {"a"})], 1)
    with pytest.raises(InputError, match=r"query 0 is .*not a pair"):
        lesson.mean_reciprocal_rank([(["a"], {"a"}, 1)])  # type: ignore[list-item]


@pytest.mark.parametrize("key", ["scores", "relevance_scores"])
def test_both_classes_use_grades_by_either_name(key: str) -> None:
    data = [{"retrieved": ["b", "a"], "relevant": {"a", "b"}, key: {"a": 3, "b": 1}}]
    graded = 2.8927892607143724 / 3.6309297535714573  # (1 + 3 / 1.585) / (3 + 1 / 1.585)
    assert lesson.RetrievalEvaluator([2]).evaluate_dataset(data).ndcg_at_k[2] == pytest.approx(graded)
    assert lesson.RetrieverComparison([2]).evaluate_retriever("A", data).ndcg[2] == pytest.approx(graded)
    # by both names in one dataset, and one query without grades, whose nDCG is 1
    other = {"scores": "relevance_scores", "relevance_scores": "scores"}[key]
    mixed = [*data, {"retrieved": ["b", "a"], "relevant": {"a", "b"}, other: {"a": 3, "b": 1}}]
    mixed.append({"retrieved": ["b", "a"], "relevant": {"a", "b"}})
    assert lesson.RetrievalEvaluator([2]).evaluate_dataset(mixed).ndcg_at_k[2] == pytest.approx((2 * graded + 1) / 3)


def test_grades_that_nothing_reads_are_an_error() -> None:
    query = {"retrieved": ["b", "a"], "relevant": {"a", "b"}}
    evaluator, comparison = lesson.RetrievalEvaluator(), lesson.RetrieverComparison()
    for more, told in (
        ({"grades": {"a": 3, "b": 1}}, "'grades', which nothing reads"),
        ({"scores": {"a": 3}, "relevance_scores": {"a": 2}}, "they differ"),
    ):
        for call in (evaluator.evaluate_dataset, lambda data: comparison.evaluate_retriever("A", data)):
            with pytest.raises(InputError, match=told):
                call([query | more])
    # What is about something else is left alone, and grades given twice alike are fine.
    same = {"scores": {"a": 3}, "relevance_scores": {"a": 3}}
    evaluator.evaluate_dataset([query | {"id": "q1", "latency": {"ms": 3}} | same])


def test_one_query_in_all_measures() -> None:
    found = lesson.RetrievalEvaluator(k_values=[1, 3]).evaluate_single_query(["x", "a", "b"], {"a", "b"})
    # binary nDCG@3: (1 / log2(3) + 1 / 2) / (1 + 1 / log2(3))
    ndcg = (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3))
    assert found == lesson.RetrievalMetrics(
        recall_at_k={1: 0.0, 3: 1.0},
        precision_at_k={1: 0.0, 3: pytest.approx(2 / 3)},  # type: ignore[dict-item]
        mrr=0.5,
        ndcg_at_k={1: 0.0, 3: pytest.approx(ndcg)},  # type: ignore[dict-item]
        hit_rate_at_k={1: 0.0, 3: 1.0},
    )
    assert type(found.hit_rate_at_k[3]) is float
    graded = lesson.RetrievalEvaluator(k_values=[3]).evaluate_single_query(
        retrieved_ids=["x", "a", "b"], relevant_ids={"a", "b"}, relevance_scores={"a": 1, "b": 3}
    )
    assert graded.ndcg_at_k[3] == pytest.approx((1 / math.log2(3) + 3 / 2) / (3 + 1 / math.log2(3)))


def test_the_exercise() -> None:
    """Two retrievers, all five measures at k = 1, 3, 5, 10, side by side, for binary and graded judgements."""
    comparison = lesson.RetrieverComparison(k_values=[1, 3, 5, 10])
    results = []
    for name, retrieved in (("first", ["a", "x", "b"]), ("second", ["x", "b", "a"])):
        binary = {"retrieved": retrieved, "relevant": ["a", "b"]}
        results.append(comparison.evaluate_retriever(name, [binary, binary | {"scores": {"a": 3, "b": 1}}]))
    assert [type(result) for result in results] == [lesson.EvalResult] * 2
    lines = comparison.compare(results, hit_rate=True).splitlines()
    rows = dict(line.replace(" ", "").split("|", 1) for line in lines if " | " in line)
    titles = [f"{name}@{k}" for k in (1, 3, 5, 10) for name in ("Recall", "Precision", "NDCG", "HitRate")]
    assert list(rows) == ["Metric", "MRR", *titles]
    assert rows["Metric"] == "first|second"
    assert (rows["MRR"], rows["Recall@1"], rows["Precision@10"]) == ("1.0000|0.5000", "0.5000|0.0000", "0.2000|0.2000")
    assert (rows["HitRate@1"], rows["HitRate@3"]) == ("1.0000|0.0000", "1.0000|1.0000")
    # first: binary 1.5 / 1.63093 = 0.91972, graded 3.5 / 3.63093 = 0.96394; second: 1.13093 / 1.63093 = 0.69343 and
    # 2.13093 / 3.63093 = 0.58688
    assert rows["NDCG@3"] == "0.9418|0.6402"


WORDS = {
    "recall_at_k": (("found", "miss", "costly", "legal discovery", "research"), ("order", "coverage")),
    "precision_at_k": (("first results", "search", "recommendations", "costly", "spam"), ("everything",)),
    "reciprocal_rank": (("one answer", "questions", "facts", "how soon"), ("several", "equally")),
    "ndcg_at_k": (("order", "search", "recommendations", "grades", "earlier ranks"), ("all ranks", "equally")),
    "hit_rate_at_k": (("one relevant result", "questions", "simple", "understands"), ("order", "everything")),
}
"""What the document says of each metric: when to use it, and when to avoid it."""


@pytest.mark.parametrize("name", WORDS)
def test_docstrings_say_when_to_use_and_avoid(name: str) -> None:
    told = " ".join((getattr(lesson, name).__doc__ or "").split())
    use, avoid = told.partition("Use it where")[2].split("avoid it where")
    for words, part in zip(WORDS[name], (use, avoid), strict=True):
        assert [word for word in words if word not in part] == []


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"relevant": {"a"}}, "query 1 has no 'retrieved'"),
        ({"retrieved": ["a"]}, "query 1 has no 'relevant'"),
    ],
)
def test_missing_keys_are_named(query: dict[str, Any], told: str) -> None:
    good = {"retrieved": ["a"], "relevant": {"a"}}
    with pytest.raises(InputError, match=told):
        lesson.RetrievalEvaluator().evaluate_dataset([good, query])
    with pytest.raises(InputError, match=told):
        lesson.RetrieverComparison().evaluate_retriever("A", [good, query])


def test_no_queries_are_an_error_in_the_classes() -> None:
    with raises_code(InputError, "empty-input"):
        lesson.RetrievalEvaluator().evaluate_dataset([])


def test_unusable_judgements_are_an_error() -> None:
    with raises_code(InputError, "bad-number"):
        lesson.ndcg_at_k(["a"], {"a": "high"}, 3)
    with raises_code(InputError, "unreadable-object"):
        lesson.recall_at_k([["a"]], {"a"}, 3)  # type: ignore[list-item]


BAD_GRADES = [None, math.nan, math.inf, -math.inf, "high", [1], "3", b"3", bytearray(b"3"), np.str_("3"), 1j, 10**400]


@pytest.mark.parametrize("grade", BAD_GRADES, ids=lambda grade: f"{grade!r:.20}")
def test_grades_are_numbers(grade: Any) -> None:
    """In whichever query, and whether or not the document was retrieved."""
    judged = {"a": 1, "b": grade}
    query = {"retrieved": ["a"], "relevant": {"a"}}
    evaluator, comparison = lesson.RetrievalEvaluator(), lesson.RetrieverComparison()
    for call in (
        lambda: lesson.ndcg_at_k(["a"], judged, 3),
        lambda: lesson.dcg_at_k(["b"], judged, 3),
        lambda: lesson.dcg_table(["b"], judged, 3),
        lambda: lesson.relevant_from_grades(judged),
        lambda: evaluator.evaluate_single_query(["a"], {"a"}, judged),
        lambda: evaluator.evaluate_dataset([query, query | {"relevance_scores": judged}]),
        lambda: comparison.evaluate_retriever("A", [query, query | {"scores": judged}]),
    ):
        with pytest.raises(InputError):
            call()
    if isinstance(grade, float):
        with pytest.raises(InputError, match="query 1: the grade of 'b' is"):
            evaluator.evaluate_dataset([query, query | {"relevance_scores": judged}])


def test_ids_of_two_kinds_never_agree() -> None:
    for retrieved, relevant in ((["1", "2"], {1, 2}), ([1, 2], ["1"]), ([np.int64(1)], {"1"})):
        with raises_code(InputError, "different-id-types", match=r"are (str|int), .* are (str|int)"):
            lesson.recall_at_k(retrieved, relevant, 2)
        with raises_code(InputError, "different-id-types"):
            lesson.mean_hit_rate([(retrieved, relevant)] * 2, 2)
        with raises_code(InputError, "different-id-types"):
            lesson.RetrievalEvaluator().evaluate_dataset([{"retrieved": retrieved, "relevant": relevant}])
        with raises_code(InputError, "different-id-types"):
            lesson.ndcg_at_k(retrieved, dict.fromkeys(relevant, 1), 2)
    # What merely was not found is no error, and neither are ids of both kinds.
    assert lesson.recall_at_k(["1", "2"], {"3"}, 2) == 0.0
    assert lesson.recall_at_k([1, "2"], {"1"}, 2) == 0.0
    assert lesson.recall_at_k([], {"1"}, 2) == lesson.recall_at_k([1], set(), 2) == 0.0
    assert lesson.recall_at_k([np.int64(1), 2.5], {1}, 2) == 1.0


def test_queries_are_a_list() -> None:
    pairs = [(["a", "b"], {"b"}), (["x"], {"x"})]
    assert lesson.mean_reciprocal_rank(iter(pairs)) == 0.75  # type: ignore[arg-type]
    assert lesson.mean_hit_rate(iter(pairs), 1) == 0.5  # type: ignore[arg-type]
    data = [{"retrieved": ["a"], "relevant": {"a"}}]
    assert lesson.RetrievalEvaluator([1]).evaluate_dataset(iter(data)).mrr == 1.0  # type: ignore[arg-type]
    for wrong in (None, 5, {}, "", {"a": 1}):
        for call in (
            lesson.mean_reciprocal_rank,
            lambda given: lesson.mean_hit_rate(given, 1),
            lesson.RetrievalEvaluator().evaluate_dataset,
            lambda given: lesson.RetrieverComparison().evaluate_retriever("A", given),
        ):
            with pytest.raises(InputError):
                call(wrong)
    with pytest.raises(OptionError):
        lesson.mean_hit_rate([], -1)


def test_reports_need_their_k() -> None:
    found = lesson.RetrievalEvaluator([1]).evaluate_single_query(["a"], {"a"})
    with pytest.raises(InputError, match="evaluated at k = 1, not at 3"):
        lesson.RetrievalEvaluator([1, 3]).print_report(found)
    with raises_code(InputError, "wrong-type"):
        lesson.RetrieverComparison([1]).compare([found])  # type: ignore[list-item]
    assert lesson.dcg_table(["a"], {"a": 1}, 0) == []  # as k = 0 has no value elsewhere


def test_comparison_refuses_different_k() -> None:
    data = [{"retrieved": ["a"], "relevant": ["a"]}]
    one = lesson.RetrieverComparison([1]).evaluate_retriever("A", data)
    other = lesson.RetrieverComparison([1, 3])
    with pytest.raises(InputError, match="retriever 'A' was evaluated at k = 1, not at 3"):
        other.compare([one, other.evaluate_retriever("B", data)])


def test_graded_comparison_uses_scores() -> None:
    data = [{"retrieved": ["b", "a"], "relevant": ["a", "b"], "scores": {"a": 3, "b": 1}}]
    found = lesson.RetrieverComparison([2]).evaluate_retriever("A", data)
    # (1 + 3 / 1.585) / (3 + 1 / 1.585)
    assert found.ndcg[2] == pytest.approx(2.8927892607143724 / 3.6309297535714573)


def test_evaluators_do_not_share_their_k() -> None:
    first, second = lesson.RetrievalEvaluator(), lesson.RetrievalEvaluator()
    first.k_values.append(99)
    assert second.k_values == [1, 3, 5, 10]


@pytest.mark.parametrize("grade", [2, 2.0, np.int8(2), np.float32(2), Decimal(2), Fraction(2), np.array(2)])
def test_grades_may_be_numbers_of_any_type(grade: Any) -> None:
    assert lesson.dcg_at_k(["a"], {"a": grade}, 1) == 2.0
    assert lesson.relevant_from_grades({"a": grade}) == {"a"}


@pytest.mark.parametrize("k_values", [[], (), [-1], [1, -3], [1.5], ["3"], [None], [True], "13", 5, None])
@pytest.mark.parametrize("make", [lesson.RetrievalEvaluator, lesson.RetrieverComparison])
def test_cutoffs_are_checked_when_an_evaluator_is_made(make: Any, k_values: Any) -> None:
    for as_released in (False, True):
        with pytest.raises(GoldrankError, match="k_values"):
            make(k_values, as_released=as_released)


def test_cutoffs_may_come_from_a_generator() -> None:
    evaluator = lesson.RetrievalEvaluator(k for k in (1, 3))  # type: ignore[arg-type]
    assert evaluator.evaluate_single_query(["a"], {"a"}).recall_at_k == {1: 1.0, 3: 1.0}


def test_ndcg_of_losses_is_never_below_zero() -> None:
    """The document: "Returns NDCG score between 0 and 1". Its DCG has no such limit."""
    grades = {"a": -1, "b": 2}
    assert lesson.dcg_at_k(["a"], grades, 1) == -1.0
    assert lesson.ndcg_at_k(["a"], grades, 1) == 0.0
    assert lesson.ndcg_at_k(["a", "x", "y"], grades, -1, as_released=True) == 0.0
    # (2 / 1 - 1 / 1.585) / the same
    assert lesson.ndcg_at_k(["b", "a"], grades, 2) == 1.0
    assert lesson.RetrievalEvaluator([1]).evaluate_single_query(["a"], {"b"}, grades).ndcg_at_k == {1: 0.0}
