"""ir_eval_numba's facade beyond the golden cases; values by plain loops over the definition."""

from __future__ import annotations

import importlib
import inspect
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from raising import raises_code

import goldrank
from goldrank.base.errors import InputError, OptionError
from goldrank.compat import ir_eval_numba as functions

SINGLE = ("recall", "precision", "f1_score", "average_precision", "ndcg", "reciprocal_rank")


def loops(actual: list[int], predicted: list[int], k: int) -> dict[str, float]:
    """The definitions, one after the other."""
    top, wanted = predicted[:k], set(actual)
    hits = [rank for rank, doc in enumerate(top, 1) if doc in wanted]
    found = len(wanted & set(top))
    recall = found / len(wanted) if wanted else 0.0
    precision = found / k
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(wanted)) + 1))
    gained = sum(1 / math.log2(rank + 1) for rank in hits)
    return {
        "recall": recall,
        "precision": precision,
        "f1_score": 2 * precision * recall / (precision + recall) if precision and recall else 0.0,
        "average_precision": sum(len(wanted & set(top[:r])) / r for r in hits) / len(hits) if hits else 0.0,
        "ndcg": min(gained / ideal, 1.0) if ideal else 0.0,
        "reciprocal_rank": 1 / hits[0] if hits else 0.0,
    }


def random_queries(seed: int, n: int) -> list[tuple[list[int], list[int]]]:
    rng = np.random.default_rng(seed)
    return [
        (rng.integers(-20, 20, rng.integers(0, 8)).tolist(), rng.integers(-20, 20, rng.integers(0, 15)).tolist())
        for _ in range(n)
    ]


@pytest.mark.parametrize("seed", range(15))
def test_functions_are_the_definitions(seed: int) -> None:
    for actual, predicted in random_queries(seed, 10):
        for k in (1, 3, 10, 50):
            expected = loops(actual, predicted, k)
            for name in SINGLE:
                found = getattr(functions, name)(np.array(actual), np.array(predicted), k)
                assert found == pytest.approx(expected[name], abs=1e-15), (name, actual, predicted, k)
                assert type(found) is float


@pytest.mark.parametrize("k", [1, 5, 20])
def test_means_are_means(k: int) -> None:
    queries = random_queries(3, 300)
    actual = [np.array(one, np.int64) for one, _ in queries]
    predicted = [np.array(one, np.int64) for _, one in queries]
    for name, single in (
        ("mean_average_precision", "average_precision"),
        ("mean_reciprocal_rank", "reciprocal_rank"),
    ):
        expected = sum(loops(a, p, k)[single] for a, p in queries) / len(queries)
        assert getattr(functions, name)(actual, predicted, k) == pytest.approx(expected)


TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("other", TYPES)
def test_any_integer_type(kind: str, other: str) -> None:
    actual, predicted = np.array([1, 100], kind), np.array([5, 100], other)
    assert functions.recall(actual, predicted, 2) == 0.5
    assert functions.mean_reciprocal_rank([actual, predicted], [predicted, actual], 2) == 0.5


def test_large_ids_stay_exact() -> None:
    high = 2**63 + 1
    actual, predicted = np.array([high], np.uint64), np.array([high - 1, high], np.uint64)
    assert functions.reciprocal_rank(actual, predicted, 2) == 0.5
    assert functions.mean_reciprocal_rank([actual, actual], [predicted, predicted], 2) == 0.5
    # -1 and 2**64 - 1 are the same bits and not the same id
    assert functions.recall(np.array([2**64 - 1], np.uint64), np.array([-1]), 1) == 0.0
    # the whole range of int64 in several queries
    low, top = -(2**63), 2**63 - 1
    assert functions.mean_reciprocal_rank([[low], [top]], [[top, low], [low, top]], 2) == 0.5


def test_bounds_are_respected() -> None:
    base = np.array([7, 8, 9, 1, 3])
    assert functions.reciprocal_rank(np.array([1, 3]), base[:3], 5) == 0.0
    assert functions.ndcg(np.array([1, 3]), base[:3], 5) == 0.0
    assert functions.average_precision(np.array([7]), base[:3], 5) == 1.0


@pytest.mark.parametrize("far", [0, 10**6, 2**62, -(2**62)])
def test_ids_near_and_far_apart(far: int) -> None:
    """One call looks ids up in a table where they are near each other, and searches them where they are not."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        actual = rng.integers(-10, 10, rng.integers(0, 9)) + rng.choice((0, far), 1)
        predicted = rng.integers(-12, 12, rng.integers(0, 12)) + rng.choice((0, 0, far), 1)
        if rng.random() < 0.3 and len(actual):
            actual[0] = -(2**63) if rng.random() < 0.5 else 2**63 - 1
        k = int(rng.integers(1, 14))
        expected = loops(actual.tolist(), predicted.tolist(), k)
        for name in SINGLE:
            assert getattr(functions, name)(actual, predicted, k) == pytest.approx(expected[name], abs=1e-15)
    # So far apart that a difference does not fit into 64 bits.
    low, high = -(2**63), 2**63 - 1
    assert functions.recall(np.array([high, high - 1]), np.array([low, low + 1]), 2) == 0.0
    assert functions.recall(np.array([low, low + 1]), np.array([high, high - 1, low]), 3) == 0.5


def test_views_and_readonly_arrays() -> None:
    base = np.arange(10)
    base.setflags(write=False)
    assert functions.recall(base[::3], base[::-1], 4) == 0.5  # 9 and 6 of 0 3 6 9


def test_nothing_relevant_and_nothing_found_are_zero() -> None:
    for name in SINGLE:
        function = getattr(functions, name)
        assert function(np.array([], np.int64), np.array([1, 2]), 2) == 0.0
        assert function(np.array([1]), np.array([], np.int64), 2) == 0.0
        assert function(np.array([9]), np.array([1, 2]), 2) == 0.0
    assert functions.mean_average_precision([[1], [9]], [[1], [2]], 1) == 0.5
    assert functions.mean_average_precision([], [], 1) == 0.0
    assert functions.mean_reciprocal_rank([[], []], [[], []], 1) == 0.0


@pytest.mark.parametrize("k", [0, -1, 2.0, "3", None, True])
@pytest.mark.parametrize("name", SINGLE)
def test_k_is_refused(name: str, k: Any) -> None:
    with raises_code(OptionError, "bad-number", match="k is"):
        getattr(functions, name)(np.array([1]), np.array([1]), k)


def test_released_k_below_one() -> None:
    actual, predicted = np.array([1, 3, 5]), np.array([1, 2, 3, 4, 5])
    assert functions.recall(actual, predicted, 0, as_released=True) == 0.0
    assert functions.recall(actual, predicted, -1, as_released=True) == pytest.approx(2 / 3)
    assert functions.reciprocal_rank(actual, predicted, -1, as_released=True) == 0.0
    for k in (0, -1, -3):
        assert functions.mean_reciprocal_rank([actual], [predicted], k, as_released=True) == 0.0
        assert functions.recall(actual, predicted, k, as_released=True) == pytest.approx(
            len(set(actual) & set(predicted[:k])) / 3
        )
        # The original divides by zero, or gives values below 0 or above 1.
        for name in ("precision", "f1_score", "average_precision", "ndcg"):
            with pytest.raises(OptionError, match="k is"):
                getattr(functions, name)(actual, predicted, k, as_released=True)
        with pytest.raises(OptionError, match="k is"):
            functions.mean_average_precision([actual], [predicted], k, as_released=True)
    with pytest.raises(InputError, match="1 queries and predicted_list 2"):
        functions.mean_reciprocal_rank([actual], [predicted, predicted], 0, as_released=True)
    with pytest.raises(OptionError):
        functions.recall(actual, predicted, "x", as_released=True)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="ids are of type <U1, not integers"):
        functions.recall(np.array(["a"]), np.array(["a"]), 1)
    with pytest.raises(InputError, match="ids are of type float64"):
        functions.recall(np.array([1.5]), np.array([1]), 1)
    with raises_code(InputError, "wrong-type"):
        functions.recall(np.ones((2, 2), int), np.array([1]), 1)
    with pytest.raises(InputError, match="predicted of query 1 is not an array"):
        functions.mean_reciprocal_rank([[1], [1]], [[1], [[1], [2, 3]]], 1)
    with pytest.raises(InputError, match="actual_list has 1 queries and predicted_list 2"):
        functions.mean_reciprocal_rank([[1]], [[1], [2]], 1)


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("wrong", [{1, 2}, 5, None, "12", iter([1])])
def test_what_is_no_array(name: str, wrong: Any) -> None:
    for given in ((wrong, np.array([1])), (np.array([1]), wrong)):
        with pytest.raises(InputError):
            getattr(functions, name)(*given, 1)
    with pytest.raises(InputError):
        functions.mean_average_precision([np.array([1])], [wrong], 1)
    with pytest.raises(InputError):
        functions.mean_reciprocal_rank([wrong], [np.array([1])], 1)


@pytest.mark.parametrize("wrong", [5, None, "12", iter([np.array([1])])])
def test_what_is_no_list_of_arrays(wrong: Any) -> None:
    for name in ("mean_average_precision", "mean_reciprocal_rank"):
        for given in ((wrong, [np.array([1])]), ([np.array([1])], wrong)):
            with pytest.raises(InputError, match=r"_list is a \w+, not a list of arrays"):
                getattr(functions, name)(*given, 1)


def test_modules_are_named_as_in_the_document() -> None:
    """`from ir_eval_numba.metrics import recall` needs nothing but the new prefix."""
    found = importlib.import_module("goldrank.compat.ir_eval_numba.metrics")
    assert all(getattr(found, name) is getattr(functions, name) for name in functions.__all__)


def test_helpers() -> None:
    found = functions.find_relevant_indices(np.array([1, 3]), np.array([3, 2, 1, 3]), 4)
    assert found.tolist() == [0, 2, 3]
    assert functions.mean_of_array(np.array([0.25, 0.75])) == 0.5
    assert functions.mean_of_array(np.array([])) == 0.0
    for k in (0, -2):
        assert functions.find_relevant_indices(np.array([1]), np.array([1]), k, as_released=True).tolist() == []
        with pytest.raises(OptionError, match="k is"):
            functions.find_relevant_indices(np.array([1]), np.array([1]), k)
    for wrong in (np.ones((2, 2)), ["a"], 5):
        with pytest.raises(InputError):
            functions.mean_of_array(wrong)  # type: ignore[arg-type]


def test_every_function_has_help_and_takes_the_relevant_ids_first() -> None:
    for name in functions.__all__:
        assert len((inspect.getdoc(getattr(functions, name)) or "").split()) > 5
    for name in SINGLE:
        assert list(inspect.signature(getattr(functions, name)).parameters)[:3] == ["actual", "predicted", "k"]


SCENARIOS = {
    "recall": ("early retrieval stages", "many candidates"),
    "precision": ("later ranking stages", "false positives"),
    "average_precision": ("how well the relevant items are ranked", "within the first k"),
    "mean_average_precision": ("many queries", "recall and precision against each other"),
    "ndcg": ("relevant items should come first", "good overall measure"),
    "reciprocal_rank": ("one or very few results",),
    "mean_reciprocal_rank": ("many queries", "how soon"),
}
"""What the document says of each metric, in goldrank's words."""


@pytest.mark.parametrize("name", SCENARIOS)
def test_docstrings_have_the_usage_scenarios(name: str) -> None:
    told = " ".join((inspect.getdoc(getattr(functions, name)) or "").split())
    assert [words for words in SCENARIOS[name] if words not in told.partition("Use it")[2]] == []


def test_several_threads() -> None:
    queries = random_queries(5, 200)
    expected = [[loops(actual, predicted, 5)[name] for name in SINGLE] for actual, predicted in queries]

    def asked(query: tuple[list[int], list[int]]) -> list[float]:
        return [getattr(functions, name)(*map(np.array, query), 5) for name in SINGLE]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(asked, queries))
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-15)


def test_import_is_light() -> None:
    source = str(Path(goldrank.__file__).parents[1])
    code = (
        f"import sys; sys.path.insert(0, {source!r}); import goldrank.compat.ir_eval_numba; "
        "print([m for m in ('numba', 'polars', 'scipy', 'rapidfuzz', 'click') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("name", SINGLE)
def test_one_short_ranking_has_the_values_of_arrays(name: str) -> None:
    # Lists, and integers of another width, are placed by numpy; a plain array of few ids is not.
    rng = np.random.default_rng(11)
    call = getattr(functions, name)
    for _ in range(200):
        predicted = rng.permutation(40)[: rng.integers(0, 40)]
        actual = rng.permutation(40)[: rng.integers(0, 12)]
        k = int(rng.integers(1, 50))
        expected = call(actual.astype(np.int32), predicted.astype(np.int32), k)
        assert call(actual, predicted, k) == expected
        assert call(actual[::-1], predicted, k) == expected
        assert call(actual.tolist(), predicted.tolist(), k) == expected
