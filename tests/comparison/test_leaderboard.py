"""Leaderboards: ranks against golden values, groups by hand, and which is best."""

import numpy as np
import pytest
from golden_statistics import case
from raising import raises_code

from goldrank import Statistics, compare
from goldrank.comparison.leaderboard import leaderboard, rank_intervals, unseparated
from goldrank.data.scores import Column, Scores
from goldrank.errors import OptionError
from goldrank.report.leaderboard import FORMS, diagram, render


def systems(means, n=60, noise=0.05, measure="AP", higher=True):
    rng = np.random.default_rng(0)
    base = rng.uniform(-0.1, 0.1, n)
    found = []
    for name, mean in means.items():
        values = np.clip(mean + base + rng.normal(0, noise, n), 0, 1)
        column = Column(measure, values, float(values.mean()), "mean", higher)
        found.append(Scores(name, tuple(f"q{i}" for i in range(n)), {measure: column}))
    return found


def test_ranks_are_golden():
    given, expected = case("rank-intervals")
    low, high = rank_intervals(np.array(given["surely_better"]))
    assert (low.tolist(), high.tolist()) == (expected["low"], expected["high"])


def matrix(n, apart):
    better = np.zeros((n, n), bool)
    for i, j in apart:
        better[i, j] = True
    return better


@pytest.mark.parametrize(
    ("n", "apart", "expected"),
    [
        (3, [], [(0, 2)]),
        (3, [(0, 1), (0, 2), (1, 2)], []),
        (4, [(0, 2), (0, 3), (1, 3)], [(0, 1), (1, 2), (2, 3)]),
        (4, [(0, 3)], [(0, 2), (1, 3)]),
        # The ends are not told apart, but two in between are: no bar may join all of them.
        (4, [(1, 2)], [(0, 1), (2, 3)]),
        (5, [(0, 1)], [(1, 4)]),
    ],
)
def test_bars_join_neighbours_of_which_no_two_are_apart(n, apart, expected):
    assert unseparated(matrix(n, apart)) == expected


def test_sorted_with_ranks_and_an_answer():
    board = leaderboard(compare(systems({"low": 0.3, "top": 0.7, "mid": 0.5, "mid2": 0.501})))
    assert board.standings[0].run == "top"
    assert {standing.run: standing.rank for standing in board.standings} == {
        "top": (1, 1), "mid": (2, 3), "mid2": (2, 3), "low": (4, 4)
    }  # fmt: skip
    assert board.words == "Best by AP: top."
    assert board.groups == ((1, 2),)
    assert [standing.value for standing in board.standings] == sorted((s.value for s in board.standings), reverse=True)


def test_systems_that_may_be_best_are_named():
    board = leaderboard(compare(systems({"a": 0.5, "b": 0.5, "c": 0.501, "d": 0.2})))
    assert set(board.may_be_best) == {"a", "b", "c"}
    assert "may be best" in board.words
    assert board.standings[-1].rank == (4, 4)


def test_less_is_better():
    board = leaderboard(compare(systems({"slow": 0.7, "fast": 0.3, "same": 0.7}, measure="FallOut@5", higher=False)))
    assert (board.standings[0].run, board.may_be_best) == ("fast", ("fast",))


def test_only_its_own_measure_is_corrected_for_and_a_baseline_does_not_matter():
    scores = systems({"a": 0.5, "b": 0.53, "c": 0.56})
    alone = leaderboard(compare(scores))
    rng = np.random.default_rng(1)
    for system in scores:
        system.columns["RR"] = Column("RR", rng.random(60), 0.5, "mean")
    both = leaderboard(compare(scores, baseline="a"), "AP")
    assert [pair.p_adjusted for pair in both.pairs] == [pair.p_adjusted for pair in alone.pairs]
    assert np.array_equal(both.better, alone.better)


@pytest.mark.slow
def test_rank_intervals_hold_the_true_ranks():
    """Two groups of four equal systems, n = 40, 20 rounds: all eight intervals hold every rank that ties allow."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(20):
        found = []
        for i in range(8):
            values = np.clip(rng.normal(0.5 + 0.03 * (i < 4), 0.1, 40), 0, 1)
            found.append(Scores(f"s{i}", tuple(map(str, range(40))), {"AP": Column("AP", values, 0.0, "mean")}))
        board = leaderboard(compare(found, statistics=Statistics(samples=500)))
        ranks = {standing.run: standing.rank for standing in board.standings}
        true = {f"s{i}": (1, 4) if i < 4 else (5, 8) for i in range(8)}
        held += all(ranks[run][0] <= low and high <= ranks[run][1] for run, (low, high) in true.items())
    # Expected in 19 of 20; fewer than 16 happens once in 400.
    assert held >= 16


def test_diagnostics_order_nothing():
    with raises_code(OptionError, "diagnostic-measure"):
        leaderboard(compare(systems({"a": 0.5, "b": 0.6}, measure="Judged@10")))


@pytest.mark.parametrize("form", FORMS)
def test_every_form(form):
    board = leaderboard(
        compare(systems({"one": 0.5, "two & <more>": 0.52, "three": 0.8}), statistics=Statistics(samples=200))
    )
    text = render(board, form)
    assert "three" in text
    if form == "svg":
        from xml.etree import ElementTree

        bars = [e for e in ElementTree.fromstring(text.split("\n", 1)[1]).iter() if e.get("stroke-linecap") == "round"]
        assert len(bars) == len(board.groups)
        assert diagram(board).inline() in text.replace(text[text.index("<style>") : text.index("</style>") + 8], "")


def test_frames_and_notebooks():
    board = leaderboard(compare(systems({"one": 0.5, "two": 0.52, "three": 0.8}), statistics=Statistics(samples=200)))
    assert board.to_polars()["run"].to_list() == [standing.run for standing in board.standings]
    assert "Best by AP: three." in board._repr_html_()
