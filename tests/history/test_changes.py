"""Where a line changed: the statistic, the spending of alpha, and simulations with fixed seeds."""

import json
import math
from types import SimpleNamespace

import numpy as np
import places
import pytest
from lanes import few, many
from scipy import stats

from goldrank.history import changes
from goldrank.history.analysis import Analysis, look_at
from goldrank.history.changes import NO_NOISE, ChangeSearch, RunNoise, Segment, run_noise, stands_out, step_p

ALPHA = 0.05


def marks(values, noise=NO_NOISE, alpha=ALPHA, seed=0):
    """Every mark of a line: (record, first, last, seen), from 0."""
    search, start, found = ChangeSearch(), 0, []
    segment = Segment(values, range(len(values)), seed, noise)
    for row in range(1, len(values)):
        split = segment.look(row - start, search, alpha)
        if split is not None:
            found.append((start + split.row, start + split.first, start + split.last, row))
            search.close()
            start += split.last
            segment = Segment(values[start:], range(start, len(values)), seed, noise)
    return found


def test_the_statistic_is_the_reference():
    """tests/files/golden/statistics.json, `history-statistics`: by another program, from the formula."""
    cases = json.loads((places.FILES / "golden" / "statistics.json").read_text())["cases"]
    case = next(case for case in cases if case["id"] == "history-statistics")
    records = case["inputs"]["records"]
    u = Segment(records, range(len(records))).splits(len(records) - 1).u
    assert u == pytest.approx(case["expected"]["u_by_first_record_after"], rel=1e-10)
    assert 1 + int(np.abs(u).argmax()) == case["expected"]["best"]


def test_run_noise_widens_the_statistic():
    """Two queries go from 0 to 0.1 and 0.3 in the second of two records: sum 0.4, sum of squares 0.10.

    With a run noise of 0.05: 2^2 x 0.05^2 x (1/1 + 1/1) = 0.02 more under the root.
    """
    records = [[0.0, 0.0], [0.1, 0.3]]
    assert Segment(records, [1, 2]).splits(1).u == pytest.approx([0.4 / math.sqrt(0.10)])
    assert Segment(records, [1, 2], 0, RunNoise(0.05, 4)).splits(1).u == pytest.approx([0.4 / math.sqrt(0.12)])


def test_noise_is_the_pooled_variance_of_replicates():
    """(0.1, 0.3): squares 0.02, freedom 1; (0.5, 0.5, 0.8): squares 0.06, freedom 2. 0.08 / 3."""
    noise = run_noise([[0.1, 0.3], [0.7], [0.5, 0.5, 0.8]])
    assert noise.freedom == 3
    assert noise.deviation == pytest.approx(math.sqrt(0.08 / 3))
    assert run_noise([[0.4]]) == NO_NOISE


def test_the_first_look_by_hand():
    """13 queries, all better: one of 2^13 flips, and its mirror, is as extreme; look 1 may spend 0.05 / 6 of them.

    floor(8192 x 0.05 / 6) = 68 flips may cross. With 6 of 13 queries better and the rest equal, 2 of 64 flips tie at
    the top: 256 of 8192, more than 68; with 8, 2 of 256: 64 of 8192.
    """
    for better, found in ((6, False), (7, False), (8, True), (13, True)):
        step = np.where(np.arange(13) < better, 0.25, 0.0)
        search = ChangeSearch()
        split = Segment([np.zeros(13), step], [1, 2]).look(1, search, ALPHA)
        assert (split is not None) == found, better
        if split:
            assert split.p == pytest.approx(2 / 2**better)
            assert (split.row, split.first, split.last, split.differing) == (1, 1, 1, better)
        assert search.crossed.sum() <= 68


def test_spending_never_passes_its_limit():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(30, 40))
    segment, search = Segment(values, range(30)), ChangeSearch()
    for row in range(1, 30):
        segment.look(row, search, ALPHA)
        assert search.crossed.mean() <= ALPHA * (search.looks + 3) / (search.looks + 23)
    assert search.crossed.mean() > 0.03, "unused alpha is carried over"


def test_marks_do_not_depend_on_what_comes_later():
    rng = np.random.default_rng(4)
    values = rng.random(60) + rng.normal(0, 0.1, (25, 60))
    values[8:] += 0.1
    values[17:] -= 0.12
    all_of_them = marks(values)
    assert {8, 17} <= {mark[0] for mark in all_of_them}
    for end in few(range(2, 26), 6):
        assert marks(values[:end]) == [mark for mark in all_of_them if mark[3] < end]


def test_few_queries_that_differ_prove_nothing():
    values = np.zeros((6, 50))
    values[3:, :5] = 0.9
    assert marks(values) == []
    values[3:, :12] = 0.9
    assert [mark[0] for mark in marks(values)] == [3]


def test_queries_that_a_record_lacks_do_not_count():
    rng = np.random.default_rng(5)
    values = rng.random(40) + rng.normal(0, 0.02, (6, 40))
    values[3:] += 0.1
    values[1, :10] = np.nan
    split = None
    segment, search = Segment(values, range(6)), ChangeSearch()
    for row in range(1, 6):
        split = split or segment.look(row, search, ALPHA)
    assert split.queries == 30
    without = Segment(values[:, 10:], range(6)).splits(3).u
    assert Segment(values, range(6)).splits(3).u == pytest.approx(without, rel=1e-12)


def test_long_segments_try_the_newest_splits_and_some_older_ones():
    assert changes.candidates(64).tolist() == list(range(1, 65))
    tried = changes.candidates(1000)
    assert len(tried) <= changes.MOST_SPLITS
    assert tried[-20:].tolist() == list(range(981, 1001))
    assert tried[0] == 1
    assert (np.diff(tried) > 0).all()


# Simulations with fixed seeds. Limits are those of the binomial distribution: one seed in a thousand would fail.
# benchmarks/history_marks.py has the same with more lines, for docs/history.md.

LINES = many(80)


def base(rng, records, queries=100):
    return rng.random(queries) + rng.normal(0, 0.1, (records, queries))


def test_chance_alone_rarely_makes_a_mark():
    rng = np.random.default_rng(6)
    false = sum(bool(marks(base(rng, 25))) for _ in range(LINES))
    assert false <= stats.binom.ppf(0.999, LINES, ALPHA)


def test_a_step_is_found_at_its_record():
    """A step of 0.06 (queries differ in it by 0.1) on 100 queries is found in all but a few lines."""
    rng = np.random.default_rng(7)
    found = near = 0
    lines = many(40, 10)
    for _ in range(lines):
        values = base(rng, 24)
        values[12:] += rng.normal(0.06, 0.1, 100)
        later = [mark for mark in marks(values) if mark[3] >= 12]
        found += bool(later)
        near += bool(later) and abs(later[0][0] - 12) <= 1
    assert found >= lines - 2
    assert near >= lines * 3 // 4


@pytest.mark.slow
def test_shifts_of_whole_runs_are_no_change_if_replicates_show_them():
    """All queries of a run move together, by 0.03: without replicates nearly every line has a false mark."""
    rng = np.random.default_rng(8)
    blind = aware = 0
    for _ in range(25):
        values = base(rng, 20) + rng.normal(0, 0.03, (20, 1))
        blind += bool(marks(values))
        aware += bool(marks(values, run_noise([values[:5].mean(axis=1)])))
    assert blind >= 15
    assert aware <= stats.binom.ppf(0.999, 25, ALPHA)


# Where, and whether.


def line_marks(rows):
    """The marks of a line of records, looked at one by one."""
    queries = tuple(f"q{i:04d}" for i in range(rows.shape[1]))
    records = [SimpleNamespace(id=i + 1, replicate=False, values_sha256={"m": str(i)}) for i in range(len(rows))]
    history = SimpleNamespace(values=lambda wanted, _: [(queries, rows[record.id - 1]) for record in wanted])
    state = Analysis(0)
    look_at(history, "m", records, records, state, 0.05)
    return state.marks


def noise(rng, records=40, queries=100):
    return rng.uniform(0.2, 0.8, queries) + rng.normal(0, 0.1, (records, queries))


def test_a_step_is_at_its_record_and_sure():
    """The split of least squares: the record itself was blamed in 37 of 100 lines."""
    rng = np.random.default_rng(11)
    exact = sure = 0
    for _ in range(8):
        rows = noise(rng)
        rows[20:] -= 0.04
        marks = [mark for mark in line_marks(rows) if mark.first <= 21 <= mark.last]
        exact += any(mark.record == 21 for mark in marks)
        sure += any(mark.is_sure and mark.found_by == "both" for mark in marks)
    assert exact >= 5
    assert sure >= 7


def test_queries_that_die_are_found_by_records_alone():
    """4 of 50 queries fall to 0: flips of four signs show nothing, and 7 of 100 lines were found."""
    rng = np.random.default_rng(12)
    found = 0
    for _ in range(5):
        rows = noise(rng, queries=50)
        rows[20:, :4] = 0.0
        found += any(mark.first <= 21 <= mark.last and mark.difference < 0 for mark in line_marks(rows))
    assert found >= 4


@pytest.mark.parametrize("cause", ["shift", "season", "wandering"])
def test_what_runs_share_and_queries_that_wander_are_no_sure_change(cause):
    """53, 100 and 7 of 100 lines had a false mark that said it was sure."""
    rng = np.random.default_rng(13)
    for _ in range(5):
        rows = noise(rng)
        if cause == "shift":
            rows += rng.normal(0, 0.01, 40)[:, None]
        elif cause == "season":
            rows += 0.03 * np.isin(np.arange(40) % 7, (5, 6))[:, None]
        else:
            rows += np.cumsum(rng.normal(0, 0.03, rows.shape), axis=0)
        assert not any(mark.is_sure for mark in line_marks(rows))


def test_orders_of_records_by_hand():
    """Five low and five high: 2 of the 252 ways to place them split as cleanly, so p is 2/252."""
    p = step_p(np.repeat([0.0, 1.0], 5), 0.05, [0])
    assert p == pytest.approx(2 / 252, rel=0.15)
    assert step_p(np.repeat([0.0, 1.0], 5), 0.005, [0]) is None
    assert step_p(np.tile([0.0, 1.0], 5), 0.05, [0]) is None


def test_a_season_is_not_marked_by_queries_alone():
    """Two of seven records are 0.03 higher: from the sixth record on, records show how far they are apart."""
    means = np.array([0.50, 0.51, 0.49, 0.50, 0.50, 0.53, 0.53, 0.50, 0.49, 0.51, 0.50, 0.50, 0.53])
    assert not stands_out(means, 12)
    assert stands_out(np.append(means[:12], 0.30), 12)
    assert stands_out(means[:5], 4), "too few records to know"


def test_a_change_back_is_measured_at_its_own_level():
    """Four records at 0.5, four at 0.6, one at 0.5 again: the step up is no noise."""
    means = np.array([0.500, 0.502, 0.499, 0.501, 0.600, 0.601, 0.599, 0.602, 0.500])
    assert not stands_out(means, 8)
    assert stands_out(means, 8, levels=[4])
