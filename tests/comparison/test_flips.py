"""Flips of signs: against golden values, full enumeration with exact fractions, and each other."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from golden_statistics import case
from lanes import many
from scipy import stats

from goldrank.comparison import flips

CLOSE = {"rel": 1e-10, "abs": 1e-12}


def share(numbers, tail="both"):
    """The share of all flips that reach the observed sum, with fractions."""
    numbers = [Fraction(x).limit_denominator(10**6) for x in numbers]
    observed = sum(numbers)
    sums = [
        sum(s * x for s, x in zip(signs, numbers, strict=True))
        for signs in itertools.product((1, -1), repeat=len(numbers))
    ]
    turn = {"both": abs, "greater": lambda x: x, "less": lambda x: -x}[tail]
    return float(Fraction(sum(turn(x) >= turn(observed) for x in sums), len(sums)))


def test_exact_flips_are_golden():
    given, expected = case("flips-exact")
    flipped = flips.flip(np.array([given["differences"]]))
    assert flipped.exact
    assert flips.raw_p(flipped, 0) == (expected["p_two_sided"], "exact")
    assert flips.raw_p(flipped, 0, "less") == (expected["p_loss"], "exact")
    # "at least" and "at most" share the flips that are equal.
    assert flips.raw_p(flipped, 0, "greater").value == pytest.approx(share(given["differences"], "greater"))


def test_exact_flips_equal_scipy():
    d = np.random.default_rng(5).normal(0.02, 0.1, 10)
    expected = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert flips.raw_p(flips.flip(d[None]), 0).value == pytest.approx(expected, abs=1e-12)


def test_lattice_and_saddlepoint_are_golden():
    given, expected = case("flips-lattice-tail")
    d = np.array(given["differences"])
    assert flips.lattice_unit(d) == given["unit"]
    assert flips.lattice_p(d, 0.1) == pytest.approx(expected["p_exact"], **CLOSE)
    assert flips.saddlepoint_p(d) == pytest.approx(expected["p_saddlepoint"], **CLOSE)
    assert flips.saddlepoint_p(d, 0.1) == pytest.approx(expected["p_saddlepoint_continuity"], **CLOSE)
    assert flips.raw_p(flips.flip(d[None]), 0) == (pytest.approx(expected["p_exact"], **CLOSE), "exact")


def test_step_down_maximum_is_golden():
    given, expected = case("maxT-exact")
    flipped = flips.flip(np.array(given["rows"]))
    family = flips.max_t(flipped, alpha=given["alpha"])
    assert flipped.u.tolist() == pytest.approx(expected["u"], **CLOSE)
    assert [flips.raw_p(flipped, i).value for i in range(3)] == pytest.approx(expected["p_raw"], **CLOSE)
    assert family.adjusted.tolist() == pytest.approx(expected["p_step_down"], **CLOSE)
    assert family.critical == pytest.approx(expected["critical_u"], **CLOSE)
    assert flips.t_of_u(family.critical, 10) == pytest.approx(expected["critical_t"], **CLOSE)
    assert not family.at_most.any()


def test_a_later_row_is_never_surer_than_one_before_it():
    """Three units, u = 1.73, alone 1/4; six others, u = 1.63, alone 14/64. Stepping down must not turn their order."""
    rows = np.array([[1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1, 1, -1]], float)
    either = 1 - (1 - 1 / 4) * (1 - 2 / 64)  # all three one way, or all six
    assert flips.max_t(flips.flip(rows)).adjusted == pytest.approx([either, either])


def test_tiny_differences_are_on_no_lattice():
    # 1e-9 is as near to 0 as a multiple of 1 may be, but it is no 0: all of 30 go one way.
    tiny = np.full(30, 1e-9)
    assert flips.lattice_unit(tiny) is None
    assert flips.raw_p(flips.flip(tiny[None]), 0).value == pytest.approx(2 / 2**30)


@pytest.mark.parametrize("tail", ["both", "greater", "less"])
@pytest.mark.parametrize("k", [1, 2, 5, 8, 12])
def test_the_three_exact_ways_agree_with_fractions(k, tail):
    numbers = np.random.default_rng(k).choice([-0.3, -0.1, 0.1, 0.2, 0.5], k)
    expected = share(numbers.tolist(), tail)
    turned = -numbers if tail == "less" else numbers
    sided = "greater" if tail == "less" else tail
    assert flips.enumerated_p(turned, sided) == pytest.approx(expected)
    assert flips.lattice_p(turned, 0.1, sided) == pytest.approx(expected)
    flipped = flips.flip(numbers[None])
    assert flips.raw_p(flipped, 0, tail).value == pytest.approx(expected)
    assert flips.max_t(flipped, tail=tail).adjusted[0] == pytest.approx(expected)


def test_a_drawn_share_is_near_the_exact_one():
    d = np.random.default_rng(3).normal(0.05, 0.1, 40)
    p, how = flips.raw_p(flips.flip(d[None]), 0)
    assert how == "sampled"
    # The same by 200,000 flips of another generator; both have errors below 0.002 at p near 0.01.
    signs = np.random.default_rng(9).choice([-1.0, 1.0], (200_000, 40))
    assert p == pytest.approx((np.abs(signs @ d) >= abs(d.sum())).mean(), abs=4 * np.sqrt(p / 10_000))


@pytest.mark.parametrize("n", [14, 18, 20])
def test_beyond_the_floor_of_sampling_all_flips_are_taken(n):
    d = np.random.default_rng(n).uniform(0.1, 0.9, n)
    # All of one sign: of 2^n flips, the data and their mirror image.
    assert flips.raw_p(flips.flip(d[None]), 0) == (2 / 2**n, "exact")
    assert flips.raw_p(flips.flip(-d[None]), 0, "less") == (1 / 2**n, "exact")


@pytest.mark.parametrize("n", [30, 300])
def test_far_tails_are_those_of_the_exact_distribution(n):
    d = np.random.default_rng(n).choice([-0.2, -0.1, 0.1, 0.2, 0.3], n) + 0.0
    exact = flips.lattice_p(d, 0.1)
    assert flips.saddlepoint_p(d, 0.1) == pytest.approx(exact, rel=0.6 if n == 30 else 0.1)
    assert flips.saddlepoint_p(d, 0.1, "greater") == pytest.approx(flips.lattice_p(d, 0.1, "greater"), rel=0.6)


def test_no_p_value_is_zero_and_rows_far_out_are_told_apart():
    rng = np.random.default_rng(5)
    rows = np.abs(rng.normal(0.1, 0.1, (2, 2_000))) * np.array([[1.0], [1.0]])
    rows[1, ::3] *= -1
    flipped = flips.flip(rows)
    family = flips.max_t(flipped)
    assert (family.adjusted > 0).all()
    assert family.at_most.all()
    assert family.adjusted[0] < family.adjusted[1] <= 1e-4


def test_nothing_differs():
    flipped = flips.flip(np.zeros((2, 30)))
    assert flips.raw_p(flipped, 0) == (1.0, "exact")
    assert flips.max_t(flipped).adjusted.tolist() == [1.0, 1.0]
    assert flipped.u.tolist() == [0.0, 0.0]


def test_pairs_of_columns_are_rows_of_differences():
    values = np.random.default_rng(0).random((4, 50)).round(3)
    pairs = np.array(list(itertools.combinations(range(4), 2)))
    direct = flips.flip(values[pairs[:, 1]] - values[pairs[:, 0]])
    paired = flips.flip(values - values[0], pairs)
    assert paired.u == pytest.approx(direct.u)
    assert flips.max_t(paired).adjusted.tolist() == flips.max_t(direct).adjusted.tolist()
    assert flips.max_t(paired).critical == pytest.approx(flips.max_t(direct).critical)
    assert [flips.raw_p(paired, i) for i in range(6)] == [flips.raw_p(direct, i) for i in range(6)]


def test_signs_do_not_depend_on_the_chunk_nor_on_other_rows(monkeypatch):
    rows = np.random.default_rng(0).random((3, 70))
    whole = flips.flip(rows, samples=500, seed=4).flips
    monkeypatch.setattr(flips, "CHUNK", 350)
    np.testing.assert_allclose(flips.flip(rows, samples=500, seed=4).flips, whole, atol=1e-12)
    np.testing.assert_allclose(flips.flip(rows[1:2], samples=500, seed=4).flips, whole[1:2], atol=1e-12)
    assert not np.allclose(flips.flip(rows, samples=500, seed=5).flips, whole)


def test_clusters_are_flipped_together():
    given, expected = case("clusters-equal")
    units = flips.unit_sums(np.array([given["differences"]]), np.array(given["cluster"]))
    assert units[0].tolist() == pytest.approx([-0.21, -0.19, 0.21, 0.05, 1.73, 0.61])
    assert flips.raw_p(flips.flip(units), 0).value == pytest.approx(expected["p_flips"])


def test_units_in_any_order_of_queries():
    rows, units = np.array([[1.0, 2.0, 4.0, 8.0]]), np.array([1, 0, 1, 2])
    assert flips.unit_sums(rows, units).tolist() == [[2.0, 5.0, 8.0]]
    assert flips.unit_sums(rows, units, np.array([1.0, 0.5, 0.25, 0.0])).tolist() == [[1.0, 2.0, 0.0]]


def test_u_and_t_are_inverse():
    d = np.random.default_rng(1).normal(0.1, 1, 20)
    u = flips.flip(d[None]).u[0]
    t = d.mean() / (d.std(ddof=1) / np.sqrt(20))
    assert flips.t_of_u(u, 20) == pytest.approx(t)
    assert flips.u_of_t(t, 20) == pytest.approx(u)
    assert flips.t_of_u(np.sqrt(20), 20) == np.inf


def test_any_false_finding_is_at_most_alpha():
    """15 rows that are alike, nothing true, n = 30: 400 rounds of 999 flips."""
    rng = np.random.default_rng(8)
    false = uncorrected = 0
    for _ in range(400):
        shared = rng.normal(0, 1, (3, 30))
        rows = np.concatenate([shared + rng.normal(0, 0.7, (3, 30)) for _ in range(5)])
        flipped = flips.flip(rows, samples=999)
        adjusted = flips.max_t(flipped).adjusted
        false += adjusted.min() <= 0.05
        uncorrected += max(abs(flipped.u)) > 1.96
    # 5 % of 400 is 20, and three standard errors of that are 13.
    assert 7 <= false <= 33
    assert uncorrected > 60


@pytest.mark.parametrize("units", [9, 200])
def test_blocks_are_rows_with_zeros_elsewhere(units):
    """What a slice comes to under flips is what its rows come to among all units."""
    rng = np.random.default_rng(8)
    about = [np.sort(rng.choice(units, size, replace=False)) for size in (units // 3, units // 2, units)]
    rows = [rng.normal(size=(4, len(chosen))) for chosen in about]
    whole = np.zeros((12, units))
    for i, (chosen, values) in enumerate(zip(about, rows, strict=True)):
        whole[4 * i : 4 * i + 4, chosen] = values
    pairs = np.array([(4 * i, 4 * i + j) for i in range(3) for j in (1, 2, 3)])
    blocks = [flips.UnitBlock(*block) for block in zip(about, rows, strict=True)]
    in_blocks, at_once = flips.flip_blocks(blocks, units, pairs, samples=400), flips.flip(whole, pairs, samples=400)
    np.testing.assert_allclose(in_blocks.flips, at_once.flips, atol=1e-12)
    assert in_blocks.exact == at_once.exact == (units == 9)
    np.testing.assert_allclose(in_blocks.u, at_once.u)
    for i in range(len(pairs)):
        assert flips.raw_p(in_blocks, i) == pytest.approx(flips.raw_p(at_once, i))


@pytest.mark.parametrize(
    "sizes", [[1] * many(700), [1] * 40 + [2] * 30 + [3] * 5 + [7], [3] * 20 + [10] * many(600) + [9]]
)
def test_the_exact_distribution_of_equal_numbers(sizes):
    """Equal numbers are added at once; Python's whole numbers, one by one, are the reference."""
    rng = np.random.default_rng(len(sizes))
    changed = np.array(sizes) * np.where(rng.random(len(sizes)) < 0.45, -1, 1)
    ways = {0: 1}
    for size in sizes:
        both = [(total + sign * size, count) for total, count in ways.items() for sign in (-1, 1)]
        ways = {}
        for total, count in both:
            ways[total] = ways.get(total, 0) + count
    reached = sum(count for total, count in ways.items() if abs(total) >= abs(int(changed.sum())))
    assert flips.lattice_p(changed.astype(float), 1.0) == pytest.approx(reached / 2 ** len(sizes), rel=1e-10)
