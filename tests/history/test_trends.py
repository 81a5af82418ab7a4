"""Lines of records that may be compared, and changes that are more than chance."""

import datetime
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from made_up_scores import make
from scipy import stats

from goldrank import GoldrankError, History
from goldrank.data.table import plain
from goldrank.history.trends import ALPHA, LEAST_DIFFERING, _changes, paired_p, trend_lines
from goldrank.report import trend

DAY = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


@pytest.fixture
def history(tmp_path):
    with History.open(tmp_path / "history.db", create=True) as opened:
        yield opened


def fill(history, all_values, label="main", **more):
    for i, values in enumerate(all_values):
        history.record(make(values, **more), label=label, time=DAY + datetime.timedelta(days=i))


def as_text(*args):
    return plain(trend.parts(*args))


def noisy(rng, base, shift=0.0):
    """Values as a system gives them after a small change: three in ten queries move, by chance, and all by `shift`."""
    return base + shift + rng.normal(0, 0.1, len(base)) * (rng.random(len(base)) < 0.3)


# The test.


def test_the_p_value_is_that_of_the_paired_t_test():
    rng = np.random.default_rng(0)
    for size in (7, 30, 500):
        a, b = rng.random(size), rng.random(size)
        assert paired_p(b - a) == pytest.approx(stats.ttest_rel(b, a).pvalue, rel=1e-10)


def test_few_differing_queries_prove_nothing():
    for count in range(LEAST_DIFFERING + 1):
        differences = np.zeros(50)
        differences[:count] = 0.5 + np.arange(count) * 1e-3
        assert (paired_p(differences) == 1.0) == (count < LEAST_DIFFERING)
    assert paired_p(np.full(20, 0.1)) == 0.0
    assert paired_p(np.array([])) == 1.0


class MadeUp:
    """As much of a history as finding changes needs, without a file."""

    def __init__(self, all_values):
        self.all_values = all_values
        self.records = [
            SimpleNamespace(id=i, values_sha256={"RR": str(i)}, higher_is_better={"RR": True})
            for i in range(len(all_values))
        ]

    def values(self, records, measure):
        return [((), self.all_values[record.id]) for record in records]


NOISE = {
    "a third of the queries move a little": lambda rng: noisy(rng, np.zeros(60)),
    "few queries move a lot": lambda rng: rng.choice([-1, 1], 60) * (rng.random(60) < 0.2) * rng.choice([0.5, 1], 60),
    "everything is measured anew": lambda rng: rng.random(60),
}


@pytest.mark.parametrize("kind", NOISE)
def test_chance_alone_rarely_makes_a_change(kind):
    """The promise: without a real change, at most 5% of lines show one. 500 lines of 12 records, 60 queries.

    The number of false alarms is binomial: with 5%, one in a thousand such tests would see more than allowed here.
    """
    rng = np.random.default_rng(2)
    false = 0
    for _ in range(500):
        history = MadeUp([NOISE[kind](rng) for _ in range(12)])
        false += bool(_changes(history, "RR", history.records, ALPHA))
    assert false <= stats.binom.ppf(0.999, 500, ALPHA)


# Changes.


@pytest.mark.parametrize("better", [True, False])
def test_a_step_is_found_where_it_is(history, better):
    rng = np.random.default_rng(0)
    base = rng.random(100)
    fill(history, [noisy(rng, base, 0.0 if i < 6 else -0.1) for i in range(12)], higher_is_better=better)
    (line,) = trend_lines(history)
    (change,) = line.changes
    assert (change.record.id, change.since.id, change.better) == (7, 1, not better)
    values = [history.scores(n).columns["nDCG@10"].values for n in (1, 7)]
    assert change.difference == pytest.approx((values[1] - values[0]).mean(), abs=1e-15)
    assert change.p == pytest.approx(stats.ttest_rel(*values).pvalue)
    assert change.queries == 100
    assert f"record 7 is {'worse' if better else 'better'} than record 1 by" in change.words


def test_a_slow_decline_is_found_though_no_step_is(history):
    rng = np.random.default_rng(1)
    base = rng.random(100)
    fill(history, [noisy(rng, base, -0.004 * i) for i in range(12)])
    (line,) = trend_lines(history)
    assert line.changes
    assert not any(change.better for change in line.changes)
    alone = [history.values(line.records[i : i + 2], "nDCG@10") for i in range(11)]
    assert min(paired_p(b - a) for (_, a), (_, b) in alone) > ALPHA / 11, "neighbours alone do not tell"


def test_there_and_back_are_two_changes(history):
    rng = np.random.default_rng(2)
    base = rng.random(100)
    fill(history, [noisy(rng, base, 0.1 * (4 <= i < 8)) for i in range(12)])
    (line,) = trend_lines(history)
    assert [(c.record.id, c.since.id, c.better) for c in line.changes] == [(5, 1, True), (9, 5, False)]


def test_noise_is_no_change_and_repetition_costs_nothing(history):
    rng = np.random.default_rng(3)
    base = rng.random(100)
    fill(history, [noisy(rng, base) for _ in range(10)])
    assert trend_lines(history)[0].changes == ()
    # The same system measured fifty times, then another: one test, so that 0.05 itself is the limit.
    moved = base.copy()
    moved[:8] += [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2]  # mean 0.009, t about 2.6
    fill(history, [base] * 50 + [moved], label="still")
    p = paired_p(moved - base)
    assert ALPHA / 50 < p < ALPHA
    (line,) = trend_lines(history, label="still")
    assert [change.p for change in line.changes] == [p]
    # The same after fifty small changes: each was tested, and the limit is 0.05 / 51.
    restless = [base + 0.01 * (np.arange(100) == i) for i in range(51)]
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
    assert [(change.queries, change.better) for change in line.changes] == [(28, False)]
    expected = np.mean([new[29 - i] - 0.8 - old[i] for i in range(1, 30) if i != 3])
    assert line.changes[0].difference == pytest.approx(expected, abs=1e-12)


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
    text = as_text([[first, second]], {}, ALPHA)
    assert f"A new line, not comparable with the one before: {words}." in text
    drawn = trend.chart([first, second]).body
    assert drawn.count('class="line s0"') == drawn.count('class="line s1"') == 2, "a path and its key, for each line"
    page = trend.page([[first, second]], {}, ALPHA)
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
    with pytest.raises(GoldrankError, match="nothing has been recorded yet"):
        trend_lines(history)
    fill(history, [[0.1]])
    for call, words in (
        (lambda: trend_lines(history, "nDCG@11"), r"nDCG@11 was never recorded\n  Did you mean nDCG@10\?"),
        (lambda: trend_lines(history, label="mian"), r"Did you mean main\?"),
        (lambda: trend_lines(history, alpha=2), "between 0 and 1"),
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
    text = as_text([[line]], history.baselines(), ALPHA)
    assert "5 older ones are not listed here" in text
    assert re.search(r"^\+ +34 +2026-02-03 00:00 .* \+0\.3000 +baseline release$", text, re.M)
    assert "record 34 is better than record 1 by 0.3000: 50 of 50 queries differ" in text
    assert "at most 0.05" in text


def test_names_run_no_script_and_send_no_escape_codes(history):
    hostile = "<script>alert(1)</script>\x1b[31m & \"'"
    history.record(make(np.zeros(3), run=hostile, criteria=hostile), commit=hostile, note=hostile)
    history.record(make(np.ones(3), run=hostile, criteria="x"), commit=hostile)
    found = [trend_lines(history)]
    assert "\x1b" not in as_text(found, {hostile: 1}, ALPHA)
    assert "\x1b" not in plain([trend.about(history.get(1), [hostile])])
    for shown in (trend.page(found, {hostile: 1}, ALPHA), trend.chart(found[0]).alone()):
        assert "<script>alert" not in shown
        assert "\x1b" not in shown
    assert "script-src 'sha256-" in trend.page(found, {}, ALPHA)


def test_the_chart_is_xml_and_its_marks_are_where_the_changes_are(history):
    import xml.etree.ElementTree as ElementTree

    fill(history, [np.linspace(0, 1, 30) + 0.3 * (i >= 2) for i in range(5)])
    found = trend_lines(history)
    root = ElementTree.fromstring(trend.chart(found).alone())
    space = "{http://www.w3.org/2000/svg}"
    marks = [g for g in root.iter(f"{space}g") if g.get("class") == "up"]
    assert len(marks) == 1
    circles = [c for c in root.iter(f"{space}circle") if c.get("class") == "s0"]
    assert len(circles) == 5
    third = circles[2].get("cx"), circles[2].get("cy")
    assert third == (marks[0][2].get("cx"), marks[0][2].get("cy"))
    assert float(circles[1].get("cy")) > float(circles[2].get("cy")), "higher values are drawn higher"


def test_hundreds_of_lines_are_drawn_in_part(history):
    for i in range(30):
        fill(history, [[i / 30]], label=f"line {i}")
    assert "(the newest 24 of 30 lines)" in trend.chart(trend_lines(history)).title
