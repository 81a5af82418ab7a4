"""Leaderboards: ranks against golden values, groups by hand, and which is best."""

import numpy as np
import pytest
from golden_statistics import case
from lanes import many
from raising import raises_code

from goldrank import Statistics, compare
from goldrank.base.errors import OptionError
from goldrank.comparison.leaderboard import leaderboard, rank_intervals, unseparated
from goldrank.data.scores import Column, Scores
from goldrank.report.leaderboard import diagram
from goldrank.report.show import FORMS, render


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
    assert board.words == f"3 of 4 may be best by AP: {board.may_be_best[0]} leads, 2 others are not told from it."
    assert board.standings[-1].rank == (4, 4)


def test_less_is_better():
    board = leaderboard(compare(systems({"slow": 0.7, "fast": 0.3, "same": 0.7}, measure="FallOut@5", higher=False)))
    assert (board.standings[0].run, board.may_be_best) == ("fast", ("fast",))


def test_ranks_come_from_the_pairs_that_are_shown():
    """With more measures the same pairs are corrected more; before, a leaderboard corrected its own measure alone."""
    scores = systems({"a": 0.5, "b": 0.53, "c": 0.56})
    rng = np.random.default_rng(1)
    for system in scores:
        for name in ("RR", "P@5", "P@10", "nDCG@10"):
            system.columns[name] = Column(name, rng.random(60), 0.5, "mean")
    result = compare(scores)
    board = leaderboard(result, "AP")
    assert board.pairs == result["AP"]
    with_baseline = leaderboard(compare(scores, baseline="a"), "AP")
    assert {(pair.a, pair.b) for pair in with_baseline.pairs} == {("a", "b"), ("a", "c")}
    assert with_baseline.standings[0].rank[0] == 1


@pytest.mark.parametrize("seed", range(many(40, 8)))
def test_a_leaderboard_never_contradicts_its_pairs(seed):
    """Nobody is shown better than a system: it may be best, and rank 1 is among its ranks. Others are counted."""
    rng = np.random.default_rng(seed)
    count, n = int(rng.integers(3, 8)), int(rng.choice([8, 20, 50]))
    names = [f"s{i}" for i in range(count)]
    shared = rng.normal(0, 0.1, n)
    scores = []
    for name in names:
        columns = {}
        for measure in ("AP", "RR")[: 1 + seed % 2]:
            values = np.clip(0.5 + shared + rng.normal(rng.normal(0, 0.06), 0.1, n), 0, 1)
            columns[measure] = Column(measure, values, float(values.mean()), "mean", measure != "RR")
        scores.append(Scores(name, tuple(f"q{i}" for i in range(n)), columns))
    baseline = names[0] if seed % 5 == 4 else None
    result = compare(scores, baseline=baseline, statistics=Statistics(samples=300))
    for measure in result.measures:
        board = result.leaderboard(measure)
        ahead = dict.fromkeys(names, 0)
        behind = dict.fromkeys(names, 0)
        for pair in result[measure]:
            if pair.verdict in ("better", "worse"):
                winner, loser = (pair.b, pair.a) if pair.verdict == "better" else (pair.a, pair.b)
                ahead[loser] += 1
                behind[winner] += 1
        for standing in board:
            assert standing.rank == (1 + ahead[standing.run], count - behind[standing.run])
            assert (standing.run in board.may_be_best) == (ahead[standing.run] == 0)
        assert board.told_apart == sum(ahead.values())


def test_comparisons_with_the_best_leave_fewer_and_keep_it():
    """Twenty systems on 50 queries; the best of them is among those left, and fewer are left than by pairs."""
    rng = np.random.default_rng(2)
    by_pairs = left = kept = 0
    for _ in range(5):
        skills = np.sort(rng.normal(0.5, 0.04, 20))
        scores = []
        for i, skill in enumerate(skills):
            values = np.clip(rng.normal(skill, 0.1, 50), 0, 1)
            scores.append(Scores(f"s{i:02}", tuple(map(str, range(50))), {"AP": Column("AP", values, 0.0, "mean")}))
        board = leaderboard(compare(scores, statistics=Statistics(samples=500)))
        by_pairs += len(board.may_be_best)
        left += len(board.contenders)
        kept += "s19" in board.contenders
        assert board.contenders[0] == board.standings[0].run
    assert left < by_pairs
    assert kept >= 4


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


@pytest.mark.parametrize("form", [name for name, form in FORMS.items() if not form.binary])
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
