"""Lines of records that may be compared, and changes that are more than chance."""

import datetime
import json
import math
import re
import sqlite3
from dataclasses import asdict

import numpy as np
import pytest
from made_up_scores import make
from raising import raises_code
from scipy import stats

from goldrank import GoldrankError, History
from goldrank.cli import run as command
from goldrank.comparison.settings import Statistics
from goldrank.data.table import plain
from goldrank.history import trend_chart, trend_page
from goldrank.history import trend_report as trend
from goldrank.history.analysis import line_key
from goldrank.history.details import LineDetails, line_details
from goldrank.history.over_time import Trend
from goldrank.history.trends import trend_lines
from goldrank.report.show import render

DAY = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


@pytest.fixture
def history(tmp_path):
    with History(tmp_path / "history.db") as opened:
        yield opened


def fill(history, all_values, label="main", **more):
    for i, values in enumerate(all_values):
        history.record(make(values, **more), label=label, time=DAY + datetime.timedelta(days=i))


def trend_with(lines, baselines=None, history=None):
    """A trend of some lines; with the history of their records, with intervals too."""
    details = [LineDetails(line, ()) if history is None else line_details(history, line) for line in lines]
    return Trend(lines[0].measure, tuple(details), baselines or {})


def as_text(lines, baselines=None):
    return plain(trend.parts(trend_with(lines, baselines)), 120)


def page_of(history, lines, baselines=None):
    return trend_page.page([trend_with(lines, baselines, history)])


def noisy(rng, base, shift=0.0):
    """Values as a system gives them after a small change: three in ten queries move, by chance, and all by `shift`."""
    return base + shift + rng.normal(0, 0.1, len(base)) * (rng.random(len(base)) < 0.3)


# Changes.


@pytest.mark.parametrize("better", [True, False])
def test_a_step_is_found_where_it_is(history, better):
    rng = np.random.default_rng(0)
    base = rng.random(100)
    fill(history, [noisy(rng, base, 0.0 if i < 6 else -0.1) for i in range(12)], higher_is_better=better)
    (line,) = trend_lines(history)
    (change,) = line.changes
    mark = change.mark
    assert (change.record.id, mark.since, mark.until, mark.seen, change.better) == (7, 1, 6, 7, not better)
    values = np.array([history.scores(n).columns["nDCG@10"].values for n in range(1, 8)])
    d = values[6] - values[:6].mean(axis=0)
    assert change.difference == pytest.approx(d.mean(), abs=1e-15)
    assert mark.t == pytest.approx(stats.ttest_1samp(d, 0).statistic)
    assert mark.queries == 100
    assert change.words.startswith(f"perhaps {'worse' if better else 'better'} since record 7, by 0.")
    assert "shown by queries alone" in change.words  # nothing is known of how far runs differ, and 12 records are few
    assert "against records 1 to 6" in change.words
    assert "p at most 0.0001" in change.words
    assert mark.confirmed, "the five records after it show it too"
    assert f"confirmed at record {mark.confirmed}" in change.words


def test_a_slow_decline_is_found_though_no_step_is(history):
    rng = np.random.default_rng(1)
    base = rng.random(100)
    fill(history, [noisy(rng, base, -0.004 * i) for i in range(12)])
    (line,) = trend_lines(history)
    assert line.changes
    assert not any(change.better for change in line.changes)
    alone = [history.values(line.records[i : i + 2], "nDCG@10") for i in range(11)]
    assert min(stats.ttest_rel(b, a).pvalue for (_, a), (_, b) in alone) > 0.05 / 11, "neighbours alone do not tell"


def test_there_and_back_are_two_changes(history):
    rng = np.random.default_rng(2)
    base = rng.random(100)
    fill(history, [noisy(rng, base, 0.1 * (4 <= i < 8)) for i in range(12)])
    (line,) = trend_lines(history)
    assert [(c.record.id, c.mark.since, c.better) for c in line.changes] == [(5, 1, True), (9, 5, False)]


def test_noise_is_no_change_and_repetition_costs_nothing(history):
    rng = np.random.default_rng(3)
    base = rng.random(100)
    fill(history, [noisy(rng, base) for _ in range(10)])
    assert trend_lines(history)[0].changes == ()
    # The same system measured fifty times, then another: one look, which may spend 0.05 / 6.
    moved = base.copy()
    moved[:8] += [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2]  # all eight better: 2 of 256 flips
    fill(history, [base] * 50 + [moved], label="still")
    (line,) = trend_lines(history, label="still")
    assert [(change.record.id, change.mark.look) for change in line.changes] == [(61, 1)]
    assert line.changes[0].p == pytest.approx(2 / 256, abs=0.003)
    # The same after fifty small changes: each was looked at.
    restless = [base + 0.05 * rng.normal(size=100) * (rng.random(100) < 0.2) for i in range(51)]
    fill(history, [*restless, restless[0] + (moved - base)], label="restless")
    assert trend_lines(history, label="restless")[0].changes == ()


def test_only_common_queries_that_count_are_compared(history):
    rng = np.random.default_rng(4)
    old, new = rng.random(30), rng.random(30)
    old[3] = math.nan
    fill(history, [old], queries=[f"q{i}" for i in range(30)])
    fill(history, [new - 0.8], queries=[f"q{29 - i}" for i in range(29)] + ["other"])
    (line,) = trend_lines(history)
    # q1 to q29 are in both; q3 does not count in the first.
    assert [(change.mark.queries, change.better) for change in line.changes] == [(28, False)]
    expected = np.mean([new[29 - i] - 0.8 - old[i] for i in range(1, 30) if i != 3])
    assert line.changes[0].difference == pytest.approx(expected, abs=1e-12)


# Marks stay.


def marks_of(lines):
    """What never moves; later records may confirm a mark, and make it sure."""
    later = {"confirmed": 0, "found_by": "", "is_sure": None}
    return [[asdict(change.mark) | later for change in line.changes] for line in lines]


@pytest.mark.slow
def test_marks_stay_as_records_are_added_and_are_the_same_without_a_file_that_keeps_them(tmp_path):
    rng = np.random.default_rng(7)
    base = rng.random(80)
    series = [noisy(rng, base, 0.05 * (i >= 9) - 0.08 * (i >= 16)) for i in range(24)]
    seen = []
    with History(tmp_path / "kept.db") as kept, History(tmp_path / "x.db") as other:
        for i, values in enumerate(series):
            for history in (kept, other):
                history.record(make(values), label="main", time=DAY + datetime.timedelta(days=i))
            (found,) = marks_of(trend_lines(kept))
            assert found[: len(seen)] == seen
            seen = found
        assert len(seen) == 2
        assert [mark["record"] for mark in seen] == [10, 17]
        with History(tmp_path / "x.db", mode="r") as reader:
            assert marks_of(trend_lines(reader)) == [seen], "looking often changes nothing"
            assert reader.analysis(line_key(reader[1]), "nDCG@10", 0.05) is None
            afresh = marks_of(trend_lines(reader, reanalyse=True))
            assert [[mark["record"] for mark in line] for line in afresh] == [[10, 17]]
            assert reader.analysis(line_key(reader[1]), "nDCG@10", 0.05) is None, "nothing is kept"


def test_marks_outlive_pruning(history):
    rng = np.random.default_rng(8)
    base = rng.random(80)
    fill(history, [noisy(rng, base, 0.1 * (i >= 9)) for i in range(14)])
    (before,) = marks_of(trend_lines(history))
    assert [mark["record"] for mark in before] == [10]
    history.prune(keep=5)  # 10 to 14
    (after,) = marks_of(trend_lines(history))
    assert after == before
    assert marks_of(trend_lines(history, limit=2)) == [[]], "its record is not shown"
    assert marks_of(trend_lines(history, reanalyse=True)) == [[]], "what it was compared with is gone"
    fill(history, [noisy(rng, base, 0.1) - 0.2 for i in range(3)], label="main")
    history.check()


def test_a_damaged_mark_is_refused(tmp_path):
    rng = np.random.default_rng(8)
    base = rng.random(80)
    with History(tmp_path / "h.db") as history:
        fill(history, [noisy(rng, base, 0.1 * (i >= 3)) for i in range(6)])
        assert trend_lines(history)[0].changes
    with sqlite3.connect(tmp_path / "h.db") as db:
        db.execute("UPDATE analysis SET content = replace(content, '\"record\": 4', '\"record\": 3')")
    with History(tmp_path / "h.db") as history:
        for asked in (lambda: trend_lines(history), history.check):
            with raises_code(GoldrankError, "damaged-file"):
                asked()


def test_records_from_before_wait_for_a_new_analysis(history):
    rng = np.random.default_rng(9)
    base = rng.random(80)
    fill(history, [noisy(rng, base) for _ in range(4)])
    trend_lines(history)
    history.record(make(noisy(rng, base, 0.3)), label="main", time=DAY + datetime.timedelta(hours=1))
    (line,) = trend_lines(history)
    assert (line.late, line.changes) == (1, ())
    assert "history --dry-run" in as_text([line])
    (line,) = trend_lines(history, reanalyse=True)
    assert (line.late, [change.record.id for change in line.changes]) == (0, [5, 2])


# Run-to-run noise.


def shaken(rng, base, shift):
    """All queries of a run move together."""
    return noisy(rng, base) + rng.normal(0, shift)


def test_replicates_tell_the_noise_of_runs(history):
    rng = np.random.default_rng(10)
    base = rng.random(100)
    series = [shaken(rng, base, 0.03) for _ in range(14)]
    fill(history, series, label="blind")
    (line,) = trend_lines(history, label="blind")
    assert line.changes, "a shift of a whole run looks like a change"
    assert "run-to-run noise unknown" in as_text([line])
    for i, values in enumerate(series):
        history.record(make(values), label="aware", replicate=0 < i < 5, time=DAY + datetime.timedelta(days=i))
    (line,) = trend_lines(history, label="aware")
    assert line.changes == ()
    assert line.noise.freedom == 4
    assert line.noise.deviation == pytest.approx(np.std([values.mean() for values in series[:5]], ddof=1))
    assert f"runs of the same system differ by {line.noise.deviation:.4f}" in as_text([line])


def test_records_of_one_commit_are_replicates(history):
    rng = np.random.default_rng(11)
    base = rng.random(40)
    runs = [base + shift for shift in (0.0, 0.02, 0.05, 0.01, 0.01, 0.07)]
    for values, commit in zip(runs, ["aaaa", "aaaa", "bbbb", "bbbb", "cccc-dirty", "cccc-dirty"], strict=True):
        history.record(make(values), label="main", commit=commit)
    (line,) = trend_lines(history)
    # (0, 0.02): squares 0.0002; (0.05, 0.01): 0.0008; what is not committed may be anything.
    assert line.noise.freedom == 2
    assert line.noise.deviation == pytest.approx(math.sqrt(0.001 / 2))


def test_equal_records_are_replicates_only_if_they_are_called_so(history):
    base = np.random.default_rng(12).random(40)
    for label, replicate in (("again", False), ("replicate", True)):
        for i in range(3):
            history.record(make(base), label=label, commit="aaaa", replicate=replicate and i > 0)
    again, replicate = trend_lines(history)
    assert not again.noise.known
    assert (replicate.noise.freedom, replicate.noise.deviation) == (2, 0.0)


# Lines.


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"qrels": "c" * 64}, "other judgements (gold.qrels cccccccc, before gold.qrels aaaaaaaa)"),
        ({"criteria": "v2"}, "other relevance rules (v2, before none given)"),
        ({"convention": "ranx"}, "another convention (ranx, before trec_eval-10)"),
        ({"depth": 100}, "another depth (100, before all)"),
    ],
)
def test_what_is_not_comparable_is_never_joined(history, other, words):
    rng = np.random.default_rng(5)
    fill(history, [rng.random(20) for _ in range(3)])
    fill(history, [rng.random(20) - 2 for _ in range(3)], **other)  # far below, and yet no change
    first, second = trend_lines(history)
    assert [r.id for r in first.records] == [1, 2, 3]
    assert [r.id for r in second.records] == [4, 5, 6]
    assert (first.new_because, second.new_because) == ("", words)
    assert not first.changes
    assert not second.changes
    text = as_text([first, second])
    assert f"A new line, not comparable with the one before: {words}." in text
    drawn = trend_chart.chart([first, second]).body
    assert drawn.count('class="line s0"') == drawn.count('class="line s1"') == 2, "a path and its key, for each line"
    page = page_of(history, [first, second])
    assert f"not comparable with the one before: {words}" in page


def test_labels_make_lines_and_runs_do_without(history):
    fill(history, [[0.1], [0.2]], label="main")
    fill(history, [[0.3]], label="", run="a.run")
    fill(history, [[0.4]], label="", run="b.run")
    fill(history, [[0.5]], label="main", measure="AP")
    assert [(line.name, line.values) for line in trend_lines(history, "nDCG@10")] == [
        ("main", [0.1, 0.2]),
        ("a.run", [0.3]),
        ("b.run", [0.4]),
    ]
    assert [line.values for line in trend_lines(history, "map")] == [[0.5]]
    assert [line.values for line in trend_lines(history, "nDCG@10", label="main", limit=1)] == [[0.2]]


def test_mistakes_are_explained(history):
    with raises_code(GoldrankError, "nothing-recorded"):
        trend_lines(history)
    fill(history, [[0.1]])
    for call, words in (
        (lambda: trend_lines(history, "nDCG@11"), r"nDCG@11 was never recorded\n  Did you mean nDCG@10\?"),
        (lambda: trend_lines(history, label="mian"), r"Did you mean main\?"),
        (lambda: history.trend(statistics=Statistics(alpha=2)), "between 0 and 0.5"),
        (lambda: trend_lines(history, limit=0), "from 1"),
    ):
        with pytest.raises(GoldrankError) as caught:
            call()
        assert re.search(words, str(caught.value).replace(f"{history.path}: ", ""))


# What is shown.


def test_sparklines():
    assert trend.spark([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█"
    assert trend.spark([0.5, 0.5]) == "▄▄"
    assert trend.spark([1, math.nan, 0]) == "█·▁"
    assert trend.spark([math.nan]) == "·"
    assert trend.spark(range(1000)) == trend.spark(range(940, 1000))


def test_records_and_changes_are_listed(history):
    rng = np.random.default_rng(6)
    base = rng.random(50) / 2
    fill(history, [base + 0.3 * (i >= 33) for i in range(35)])
    history.set_baseline("release", 34)
    (line,) = trend_lines(history)
    text = as_text([line], history.baselines())
    assert "5 older ones are not listed here" in text
    assert re.search(r"^\+ +34 +2026-02-03 00:00 .* \+0\.3000 +baseline release$", text, re.M)
    assert "better since record 34, by 0.3000 against record 1: 50 of 50 queries differ" in text
    assert "at most 0.05" in text


def test_names_run_no_script_and_send_no_escape_codes(history):
    hostile = "<script>alert(1)</script>\x1b[31m & \"'"
    history.record(make(np.zeros(3), run=hostile, criteria=hostile), commit=hostile, note=hostile)
    history.record(make(np.ones(3), run=hostile, criteria="x"), commit=hostile)
    found = trend_lines(history)
    assert "\x1b" not in as_text(found, {hostile: 1})
    assert "\x1b" not in plain([trend.about(history[1], [hostile])])
    for shown in (page_of(history, found, {hostile: 1}), trend_chart.chart(found).alone()):
        assert "<script>alert" not in shown
        assert "\x1b" not in shown
    assert "script-src 'sha256-" in page_of(history, found)


def test_the_chart_is_xml_and_its_marks_are_where_the_changes_are(history):
    import xml.etree.ElementTree as ElementTree

    fill(history, [np.linspace(0, 1, 30) + 0.3 * (i >= 2) for i in range(5)])
    found = trend_lines(history)
    root = ElementTree.fromstring(trend_chart.chart(found).alone())
    space = "{http://www.w3.org/2000/svg}"
    marks = [g for g in root.iter(f"{space}g") if g.get("class") == "up"]
    assert len(marks) == 1
    circles = [c for c in root.iter(f"{space}circle") if c.get("class") == "s0"]  # not what is hit around them
    assert len(circles) == 5
    third = circles[2].get("cx"), circles[2].get("cy")
    assert third == (marks[0][2].get("cx"), marks[0][2].get("cy"))
    assert float(circles[1].get("cy")) > float(circles[2].get("cy")), "higher values are drawn higher"


def test_hundreds_of_lines_are_drawn_in_part(history):
    for i in range(30):
        fill(history, [[i / 30]], label=f"line {i}")
    assert "(the newest 24 of 30 lines)" in trend_chart.chart(trend_lines(history)).title


def test_a_trend_is_shown_saved_and_taken_apart(history, tmp_path):
    rng = np.random.default_rng(6)
    base = rng.random(50) / 2
    fill(history, [base + 0.3 * (i >= 3) for i in range(5)])
    found = history.trend("ndcg_cut_10", queries={f"q{i}": {"half": str(i % 2)} for i in range(50)}, slice_by="half")
    assert found.measure == "nDCG@10"
    (change,) = found.changes
    assert "better since record 4, by 0.3000 against record 1" in change
    assert change in found.words
    assert [row["change"] for row in found.rows()] == ["", "", "", "better", ""]
    assert all(row["low"] < row["value"] < row["high"] for row in found.rows())
    assert [(part.attribute, part.value) for part in found.lines[0].slices] == [("half", "0"), ("half", "1")]
    assert change.partition(": ")[2] in " ".join(str(found).split())
    found.save(tmp_path / "trend.json")
    assert json.loads((tmp_path / "trend.json").read_text())["changes"] == [change]
    assert found.to_polars()["record"].to_list() == [1, 2, 3, 4, 5]


def test_a_dry_run_looks_at_all_records_anew_and_keeps_nothing(tmp_path, capsys):
    rng = np.random.default_rng(8)
    base = rng.random(80)
    with History(tmp_path / "h.db") as history:
        fill(history, [noisy(rng, base, 0.1 * (i >= 9)) for i in range(14)])
    assert command(["history", "--db", str(tmp_path / "h.db"), "--dry-run"]) == 0
    assert "since record 10" in capsys.readouterr().out
    with History(tmp_path / "h.db", mode="r") as reader:
        assert reader.analysis(line_key(reader[1]), "nDCG@10", 0.05) is None


def test_a_step_of_a_system_that_returns_the_same_is_not_called_chance(history):
    """Four of 50 queries fall to 0 at the fifth record: too few for any test, but nothing else ever moves."""
    before = np.full(50, 0.5)
    after = np.where(np.arange(50) < 4, 0.0, before)
    fill(history, [before] * 4 + [after] * 4)
    (line,) = trend_lines(history)
    assert not line.changes
    told = plain(trend._line(line, {}))
    assert "on these queries it moved by -0.0400 with record 5" in " ".join(told.split())
    assert "no change beyond what chance does" not in told


def test_records_that_never_move_have_no_step(history):
    fill(history, [np.full(50, 0.5)] * 4)
    (line,) = trend_lines(history)
    assert "no change beyond what chance does" in plain(trend._line(line, {}))


def test_the_step_of_a_system_that_returns_the_same_is_in_the_words_and_on_the_page(history):
    before = np.full(50, 0.5)
    after = np.where(np.arange(50) < 4, 0.0, before)
    fill(history, [before] * 4 + [after] * 4)
    shown = history.trend("nDCG@10")
    assert "no change beyond what chance does" not in shown.words
    assert "on these queries it moved by -0.0400 with record 5" in shown.words

    box = trend_page.decision(shown.lines[0].line)
    assert box.word == "moved on these queries"
    page = render(shown, "html")
    assert "no change beyond what chance does" not in page
    assert 'class="btn first" href="#r5"' in page


def test_the_page_opens_with_the_last_change(history):
    rng = np.random.default_rng(3)
    base = rng.beta(2, 2, 80)
    fill(history, [noisy(rng, base, -0.1 * (i >= 9)) for i in range(16)])
    shown = history.trend("nDCG@10")
    change = shown.lines[0].line.changes[-1]
    box = trend_page.decision(shown.lines[0].line)
    assert box.word == f"worse since record {change.mark.record}"
    assert (box.style, float(box.value)) == ("worse", pytest.approx(change.difference, abs=5e-5))
    assert any(fact.startswith("Shown by queries and by records, p ") for fact in box.rests_on)
    assert len(box.rests_on) <= 4
    assert len(box.changes) <= 3
    page = render(shown, "html")
    assert page.index('class="say worse"') < page.index('id="overview"')
    assert f'href="#r{change.mark.record}"' in page


def test_the_page_of_a_line_that_stays_says_that_nothing_is_shown(history):
    fill(history, [np.full(50, 0.5)] * 4)
    box = trend_page.decision(history.trend("nDCG@10").lines[0].line)
    assert (box.word, box.style, box.value) == ("no change shown", "unclear", "0.5000")
