"""Credit from clicks on interleaved lists: by hand, with the statistics of every comparison, and errors with lines."""

import json

import numpy as np
import pytest
from raising import raises_code
from scipy import stats

from goldrank import GoldrankError, Statistics, analyse_interleaving
from goldrank.clicks.impressions import read_impressions
from goldrank.clicks.interleaving import probabilistic_credit, team_draft_credit
from goldrank.comparison.intervals import difference_interval


def draft(*clicked, user=None, **more):
    """A list of four, picked by a, b, b, a."""
    row = {"shown": ["d1", "d2", "d3", "d4"], "team": ["a", "b", "B", "A"], "clicks": list(clicked), **more}
    return row if user is None else {**row, "user": user}


@pytest.mark.parametrize(
    ("clicked", "credit"),
    [(["d2"], 0.5), (["d1"], -0.5), (["d1", "d2"], 0.0), (["d2", "d3", "d4"], 0.5), (["d1", "d4", "d2"], -0.5)],
)
def test_team_draft_by_hand(clicked, credit):
    ((impression,), _) = read_impressions([draft(*clicked)])
    assert team_draft_credit(impression) == credit


def test_a_pick_of_both_is_nobodys():
    row = {"shown": ["x", "y"], "team": [None, "b"], "clicks": ["x"]}
    assert team_draft_credit(read_impressions([row])[0][0]) == 0.0


def test_probabilistic_by_hand():
    """A ranks x, y, z, and B y, z, x; chances are 1, 1/8, 1/27, in all 251/216 (A's x: 216/251, B's x: 8/251).

    First x: B's share 8 / (8 + 216) = 1/28. Without x, A has y 1/8 of 35/216 (27/35) and z 8/35; B has y 1 of 9/8
    (8/9) and z 1/9. Then y: 8/9 / (8/9 + 27/35) = 280/523. z is all that is left: 1/2.
    """
    row = {"a": ["x", "y", "z"], "b": ["y", "z", "x"], "shown": ["x", "y", "z"]}
    expected = {"x": 1 / 28, "y": 280 / 523, "z": 1 / 2}
    for clicks in (["x"], ["y"], ["z"], ["x", "y"], ["x", "y", "z"]):
        ((impression,), _) = read_impressions([{**row, "clicks": clicks}])
        mean = np.mean([2 * expected[doc] - 1 for doc in clicks]) / 2
        assert probabilistic_credit(impression) == pytest.approx(mean, abs=1e-12)


def test_a_document_of_one_ranking_is_its_credit():
    row = {"a": ["x"], "b": ["y", "x"], "shown": ["y", "x"], "clicks": ["y"]}
    assert probabilistic_credit(read_impressions([row])[0][0]) == 0.5


def test_the_statistics_are_those_of_every_comparison():
    rng = np.random.default_rng(0)
    clicks = [["d2"] if win else ["d1"] for win in rng.random(60) < 0.7] + [["d1", "d2"]] * 5 + [[]] * 7
    found = analyse_interleaving([draft(*clicked) for clicked in clicks])
    wins = sum(clicked == ["d2"] for clicked in clicks)
    assert (found.wins, found.losses, found.ties, found.impressions) == (wins, 60 - wins, 5, 65)
    assert found.p == pytest.approx(stats.binomtest(wins, 60).pvalue, rel=1e-9), "flips of equal sizes: the sign test"
    credit = np.array([0.5] * wins + [-0.5] * (60 - wins) + [0.0] * 5)
    assert found.share == pytest.approx(0.5 + credit.mean())
    expected = difference_interval(credit, reach=0.5)
    assert found.interval == pytest.approx((0.5 + expected.low, 0.5 + expected.high))
    assert found.verdict == "better"
    assert [note.code for note in found.notes] == ["no-clicks"]
    assert [note.fact("count") for note in found.notes] == [7]


def test_clicks_of_one_user_count_together():
    """One user who clicks b's picks 40 times proves no more than one user."""
    log = [draft("d2", user="u0") for _ in range(40)] + [draft("d1", user=f"u{i}") for i in range(1, 9)]
    found = analyse_interleaving(log)
    assert (found.unit, found.units) == ("user", 9)
    # One sum of 20 and eight of -1/2: half of all flips have the 20 up, the other half are as extreme or more.
    assert found.p == 1.0
    assert found.verdict == "unclear"
    alone = analyse_interleaving([{**row, "user": None} for row in log])
    assert (alone.unit, alone.verdict) == ("impression", "better")
    by_query = analyse_interleaving([{**row, "user": None, "query": row["user"]} for row in log])
    assert (by_query.unit, by_query.p) == ("query", 1.0)


def test_few_users_give_no_verdict():
    log = [draft("d2", user=f"u{i % 5}") for i in range(100)]
    found = analyse_interleaving(log, statistics=Statistics(alpha=0.1))
    assert found.verdict == "unclear"
    assert "too-few-clusters" in [note.code for note in found.notes]


def test_users_that_are_known_in_part_are_said():
    log = [draft("d2", user="u1"), *(draft("d2") for _ in range(9))]
    assert "partly-known-users" in [note.code for note in analyse_interleaving(log).notes]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[1]", "is not an object"),
        ('{"clicks": []}', "no field 'shown'"),
        ('{"shown": ["x"]}', "no field 'clicks'"),
        ('{"shown": "x", "clicks": []}', "shown is 'x', not a list"),
        ('{"shown": ["x"], "clicks": ["y"]}', "'y', which was not shown"),
        ('{"shown": ["x", "x"], "clicks": []}', "'x' twice"),
        ('{"shown": ["x"], "clicks": ["x"], "team": []}', "0 entries for 1 shown"),
        ('{"shown": ["x"], "clicks": ["x"], "team": ["c"]}', "'c'; it must be 'a', 'b' or null"),
        ('{"shown": ["x"], "clicks": ["x"], "team": [["a"]]}', "it must be 'a', 'b' or null"),
        ('{"shown": [1.5], "clicks": []}', "document id 1.5 is of type float"),
        ('{"shown": ["x"], "clicks": ["x"]}', "needs the field 'team'"),
        ('{"shown": ["x"], "clicks"', "Expecting|delimiter|JSON"),
    ],
)
def test_mistakes_have_a_line(tmp_path, line, words):
    import re

    path = tmp_path / "log.jsonl"
    path.write_text(f"{json.dumps(draft('d2'))}\n\n{line}\n")
    with pytest.raises(GoldrankError) as caught:
        analyse_interleaving(path)
    assert re.search(words, str(caught.value))
    assert str(caught.value).startswith(f"{path}:3")


def test_a_shown_document_of_nobody_is_an_error():
    row = {"a": ["x"], "b": ["x"], "shown": ["y", "x"], "clicks": ["x"]}
    with pytest.raises(GoldrankError, match=r"log:1: 'y' was shown but is in neither ranking"):
        analyse_interleaving([row])


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda: analyse_interleaving([]), "empty-log"),
        (lambda: analyse_interleaving([draft()]), "no-clicks"),
        (lambda: analyse_interleaving([draft("d1")], "balanced"), "unknown-choice"),
        (lambda: analyse_interleaving([draft("d1")], alpha=0.1), "unknown-argument"),
        (lambda: analyse_interleaving([draft("d1")], statistics=0.1), "wrong-type"),
        (lambda: analyse_interleaving([draft("d1")], names="abc"), "two-names-needed"),
    ],
)
def test_other_mistakes(ask, code):
    with raises_code(GoldrankError, code):
        ask()


def test_frames_and_open_files_say_the_same(tmp_path):
    import polars as pl

    log = [draft("d2", user=f"u{i}", query="q") for i in range(12)]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in log))
    with path.open("rb") as file:
        found = [analyse_interleaving(given) for given in (log, path, file, pl.DataFrame(log))]
    assert {preference.p for preference in found} == {2 / 2**12}


def test_what_is_tolerated_is_counted(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join([json.dumps(draft("d2", "d2")), "", json.dumps(draft("d2"))]) + "\n")
    assert {"blank-lines", "repeated-clicks"} <= {note.code for note in analyse_interleaving(path).notes}


@pytest.mark.parametrize("impressions_of_a_user", [1, 2])
def test_a_preference_of_all_users_has_an_interval(impressions_of_a_user):
    log = [
        {"user": f"u{i // impressions_of_a_user}", "shown": ["x", "y"], "team": ["a", "b"], "clicks": ["y"]}
        for i in range(60)
    ]
    preference = analyse_interleaving(log)
    low, high = preference.interval
    assert preference.share == high == 1.0
    assert 0.8 < low < 0.99
