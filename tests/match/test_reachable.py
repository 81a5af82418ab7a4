"""Bounds of what texts have in common: never too low, and low where nothing is in common."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrank.match import matcher, reachable
from goldrank.match.tokens import line, words

PIECES = st.sampled_from(
    [
        "a",
        "the",
        "Cat",
        "internationalisation",
        "internationals",
        "x_1",
        "30",
        "-\n",
        " ",
        ".",
        "\r\n",
        "'",
        "é",
        "ﬁn",
        "東",
    ]
)
TEXTS = st.lists(st.lists(PIECES, max_size=30).map(" ".join), min_size=1, max_size=6)


def bounds_of(retrieved: list[str], references: list[str]) -> tuple[reachable.WordBounds, list[tuple[int, int]]]:
    pairs = [(i, j) for j in range(len(references)) for i in range(len(retrieved))]  # not in order of the texts
    left, right = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    return reachable.bounds(retrieved, references, left, right, line), pairs


@given(retrieved=TEXTS, references=TEXTS, block=st.sampled_from([1, 40, 1 << 20]))
def test_no_bound_is_too_low(retrieved: list[str], references: list[str], block: int) -> None:
    """Beside the words themselves, counted one by one."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reachable, "BLOCK", block)
        found, pairs = bounds_of(retrieved, references)
    for at, (i, j) in enumerate(pairs):
        ours, theirs = words(retrieved[i]), words(references[j])
        assert (found.retrieved[at], found.reference[at]) == (len(ours), len(theirs))
        assert (Counter(ours) & Counter(theirs)).total() <= found.common[at] <= len(theirs)


def test_what_has_nothing_in_common_is_seen() -> None:
    found, _ = bounds_of(["red green blue", "one two", ""], ["yellow orange one", "red blue"])
    assert found.common.tolist() == [0, 1, 0, 2, 0, 0]


def test_texts_of_all_scripts_have_bounds() -> None:
    found, _ = bounds_of(["東京都", "a bird", "Ça va – très bien…"], ["京 a", "très bien ça"])
    assert found.common.tolist() == [1, 1, 0, 0, 0, 3]
    assert found.retrieved.tolist() == [3, 2, 4, 3, 2, 4]


@pytest.mark.parametrize(
    "name", ["rouge-l:0.7", "token-recall:0.7", "rouge-score:0.7", "token-iou:0.5", "token-f1:0.7"]
)
def test_few_pairs_are_measured_when_deciding(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 90 pairs only the one that matches is cut into words; `token-f1` has words of its own."""
    texts = [f"chunk {i} " + " ".join(f"w{i}x{j}" for j in range(8)) for i in range(30)]
    references = [texts[7], "chunk of something else entirely different", "nothing that any of them has here"]
    pair = np.arange(90)
    rule = matcher(name)
    cut: list[str] = []
    tokens = rule.tokens  # type: ignore[attr-defined]
    monkeypatch.setattr(rule, "tokens", lambda text: cut.append(text) or tokens(text), raising=False)
    decided = rule.decide(texts, references, pair // 3, pair % 3)
    assert np.flatnonzero(decided).tolist() == [21]
    assert set(cut) <= {texts[7]} or name.startswith("token-f1")
