"""Matching by one's own functions, which may be wrong in every way."""

from __future__ import annotations

import numpy as np
import pytest
from raising import raises_code

from goldrank.base.errors import GoldrankError, InputError, OptionError
from goldrank.match.matcher import matcher
from goldrank.match.own import Embedding, Own

OURS = ["red car", "blue car", "x" * 500]
THEIRS = ["red", "blue"]
LEFT = np.array([0, 0, 1, 1, 2, 2])
RIGHT = np.array([0, 1, 0, 1, 0, 1])


def asked(found: Own | Embedding) -> list[float]:
    return found.degrees(OURS, THEIRS, LEFT, RIGHT).tolist()


def test_a_function_of_a_pair() -> None:
    own = matcher(lambda retrieved, reference: reference in retrieved)
    assert isinstance(own, Own)
    assert asked(own) == [1, 0, 0, 1, 0, 0]
    assert own.decide(OURS, THEIRS, LEFT, RIGHT).tolist() == [True, False, False, True, False, False]
    assert own.marks("red car", "red") == []


def test_numbers_need_a_threshold() -> None:
    def half(retrieved: str, reference: str) -> float:
        return 0.5 if reference in retrieved else 0.25

    with raises_code(InputError, "no-threshold", match=r"0\.5") as caught:
        asked(Own(half))
    assert "red car" in str(caught.value)
    assert "Return True or False" in str(caught.value)
    assert asked(Own(half, 0.5)) == [0.5, 0.25, 0.25, 0.5, 0.25, 0.25]
    assert Own(half, 0.5).decide(OURS, THEIRS, LEFT, RIGHT).sum() == 2
    assert Own(half, 0.5, inclusive=False).decide(OURS, THEIRS, LEFT, RIGHT).sum() == 0
    assert str(Own(half, 0.5)) == "own function half:0.5"


@pytest.mark.parametrize("value", [np.float32(0.5), np.float64(0.5), np.True_, 1, 0, True, np.int64(1)])
def test_values_that_are_numbers(value: object) -> None:
    assert asked(Own(lambda *_: value, 0.5)) == [float(value)] * 6  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1, 1.0001, 2, None, "maybe", [1], np.nan, 1j])
def test_values_that_are_not(value: object) -> None:
    for made in (Own(lambda *_: value, 0.5), Own.batched(lambda ours, _: [value] * len(ours), 0.5)):
        with raises_code(GoldrankError, "bad-answer") as caught:
            asked(made)
        assert "retrieved 'red car', reference 'red'" in str(caught.value)


def test_a_failure_names_the_pair_in_short() -> None:
    def fails(retrieved: str, reference: str) -> bool:
        if retrieved.startswith("x"):
            raise ZeroDivisionError("oh no")
        return True

    with pytest.raises(GoldrankError, match="own function fails failed with ZeroDivisionError: oh no") as caught:
        asked(Own(fails))
    assert "'xxxx" in str(caught.value)
    assert len(str(caught.value)) < 400
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_interrupts_pass() -> None:
    def stops(*_: str) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asked(Own(stops))


def test_batches() -> None:
    sizes = []

    def together(ours: list[str], theirs: list[str]) -> np.ndarray:
        sizes.append((len(ours), len(theirs)))
        return np.array([reference in retrieved for retrieved, reference in zip(ours, theirs, strict=True)])

    assert asked(Own.batched(together, at_once=4)) == [1, 0, 0, 1, 0, 0]
    assert sizes == [(4, 4), (2, 2)]
    with pytest.raises(GoldrankError, match="gave 5 values for 6 pairs"):
        asked(Own.batched(lambda ours, _: [0] * (len(ours) - 1)))
    with raises_code(GoldrankError, "function-failed", match="failed with TypeError") as caught:
        asked(Own.batched(lambda ours, _: None))
    assert "the first of 6 pairs" in str(caught.value)
    with pytest.raises(OptionError, match="at_once"):
        Own.batched(together, at_once=0)


def test_what_is_no_function() -> None:
    for made in (Own, lambda given: Embedding(given, 0.5)):
        with raises_code(OptionError, "not-a-function"):
            made(5)
    with raises_code(OptionError, "not-a-function"):
        Own("rouge-l")  # type: ignore[arg-type]
    with raises_code(OptionError, "bad-number"):
        Own(len, 2)
    with raises_code(OptionError, "bad-number"):
        Embedding(len, float("nan"))  # type: ignore[arg-type]


# Vectors.

VECTORS = {"red car": [3, 4], "blue car": [-1, 0], "x" * 500: [0, 2], "red": [1, 0], "blue": [0, 1]}


def test_cosines() -> None:
    """(3, 4) has length 5, so that its cosines with the axes are 3/5 and 4/5; -1 counts as 0."""
    seen: list[list[str]] = []

    def embed(texts: list[str]) -> list[list[float]]:
        seen.append(texts)
        return [[float(x) for x in VECTORS[text]] for text in texts]

    found = Embedding(embed, 0.8, at_once=3)
    assert asked(found) == pytest.approx([0.6, 0.8, 0, 0, 0, 1])
    assert [len(texts) for texts in seen] == [3, 2]
    assert sorted(text for texts in seen for text in texts) == sorted(VECTORS)  # each once
    assert found.decide(OURS, THEIRS, LEFT, RIGHT).tolist() == [False, True, False, False, False, True]
    assert str(found) == "embedding:0.8"


def test_a_text_is_itself_whatever_the_rounding() -> None:
    vectors = np.random.default_rng(1).normal(size=(500, 7)).astype(np.float32)
    texts = [str(i) for i in range(500)]
    found = Embedding(lambda given: vectors[[int(text) for text in given]], 1.0)
    same = np.arange(500)
    assert found.decide(texts, texts, same, same).all()
    degrees = found.degrees(texts, texts, same, same[::-1])
    assert ((degrees >= 0) & (degrees <= 1)).all()


@pytest.mark.parametrize(
    ("embed", "code"),
    [
        (lambda texts: [1.0] * len(texts), "bad-vectors"),
        (lambda texts: [[1.0]], "bad-vectors"),
        (lambda texts: [[0.0, 0.0]] * len(texts), "bad-vectors"),
        (lambda texts: [[float("nan"), 1.0]] * len(texts), "bad-vectors"),
        (lambda texts: 1 / 0, "function-failed"),
        (lambda texts: [["a"]] * len(texts), "bad-vectors"),
    ],
)
def test_bad_vectors(embed: object, code: str) -> None:
    with raises_code(GoldrankError, code) as caught:
        asked(Embedding(embed, 0.5))  # type: ignore[arg-type]
    assert "red car" in str(caught.value)
