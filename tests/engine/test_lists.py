"""The engine for plain lists."""

from __future__ import annotations

import numpy as np
import pytest

import goldrank
from goldrank.engine.lists import place, place_integers
from goldrank.measures import parse

MEASURES = ("P@3", "R@3", "R", "F@3", "Success@1", "RecallAll@5", "RR", "AP", "nDCG@3", "DCG", "Bpref", "Rprec")


def random_data(seed: int) -> tuple[list[list[str]], list[dict[str, int]]]:
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(10)]
    rankings = [rng.permutation(docs)[: rng.integers(1, 10)].tolist() for _ in range(20)]
    judged = [{doc: int(rng.integers(-1, 4)) for doc in docs if rng.random() < 0.5} or {"d0": 1} for _ in range(20)]
    return rankings, judged


@pytest.mark.parametrize("seed", range(5))
def test_lists_are_placed_as_runs_are(seed: int) -> None:
    rankings, judged = random_data(seed)
    placed = place(rankings, judged)
    names = [f"{i:02}" for i in range(len(rankings))]
    scores = goldrank.evaluate(
        dict(zip(names, judged, strict=True)), dict(zip(names, rankings, strict=True)), MEASURES, overlap="allow"
    )
    for name in MEASURES:
        assert parse(name)(placed).tolist() == list(scores.per_query[name].values()), name


def test_repeated_documents_keep_every_place() -> None:
    placed = place([["a", "a", "x", "b"], ["b"]], [["a", "b"], ["b"]])
    assert placed.rank.tolist() == [1, 2, 4, 1]
    assert placed.novel.tolist() == [True, False, True, True]
    assert placed.per_label.rank.tolist() == [1, 4, 1]
    assert placed.retrieved.tolist() == [4, 1]


def test_without_repeats_there_is_no_aspect() -> None:
    assert not place([["a", "b"]], [["a"]]).shared
    assert not place_integers([np.array([1, 2])], [np.array([1])], 5).shared


def test_integers_are_placed_as_lists_are() -> None:
    rng = np.random.default_rng(1)
    rankings = [rng.integers(0, 12, rng.integers(0, 12)) for _ in range(50)]
    relevant = [rng.integers(0, 12, rng.integers(0, 6)) for _ in range(50)]
    ours = place_integers(rankings, relevant, 6)
    plain = place([one.tolist() for one in rankings], [one.tolist() for one in relevant]).cut(6)
    for name in ("query", "rank", "grade", "judged_start", "judged", "novel"):
        assert getattr(ours, name).tolist() == getattr(plain, name).tolist(), name
    assert np.minimum(ours.retrieved, 6).tolist() == plain.retrieved.tolist()


def test_cut_takes_a_depth_for_each_query() -> None:
    placed = place([["a", "b"], ["a", "b"]], [["a", "b"], ["a", "b"]]).cut(np.array([1, 2]))
    assert (placed.retrieved.tolist(), placed.rank.tolist()) == ([1, 2], [1, 1, 2])


def test_a_repeated_relevant_document_adds_to_average_precision_once() -> None:
    placed = place([["a", "a", "b"]], [["a", "b"]])
    # ranks 1 2 3 hold relevant documents; of distinct ones there are 1, 1 and 2 up to there
    assert parse('AP(divisor="hits")')(placed)[0] == pytest.approx((1 + 1 / 2 + 2 / 3) / 3)
