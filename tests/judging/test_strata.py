"""Strata: which queries people should judge next, and estimates of samples that were drawn so."""

from __future__ import annotations

import math

import lanes
import numpy as np
import pytest
from raising import raises_code

import goldrank
from goldrank import Qrels
from goldrank.base.errors import GoldrankError, InputError, OptionError
from goldrank.judging.strata import allocated, spreads, strata_of, stratified_mean


def by_hand(y, f, at, stratum, level):
    """The estimate and its interval by plain loops: the formulas of the module, L tuned anew for each left out."""
    from scipy.stats import t

    total, names = len(f), sorted(set(stratum.tolist()))
    size = {h: int((stratum == h).sum()) for h in names}
    group = {h: [i for i in range(len(at)) if stratum[at[i]] == h] for h in names}

    def cov(a, b):
        return sum((p - np.mean(a)) * (q - np.mean(b)) for p, q in zip(a, b, strict=True)) / (len(a) - 1)

    def tune(left):
        above = below = 0.0
        for h in names:
            some = [i for i in group[h] if i != left]
            a = (size[h] / total) ** 2 * (1 - len(group[h]) / size[h]) / len(group[h])
            above += a * cov([y[i] for i in some], [f[at[i]] for i in some])
            below += a * cov([f[at[i]] for i in some], [f[at[i]] for i in some])
        return min(1.0, max(0.0, above / below))

    def center(left=None):
        weight = tune(left)
        return sum(
            size[h] / total * (weight * np.mean(f[stratum == h])
                               + np.mean([y[i] - weight * f[at[i]] for i in group[h] if i != left]))
            for h in names
        )  # fmt: skip

    terms = {}
    for h in names:
        n = len(group[h])
        left = [center(i) for i in group[h]]
        terms[h] = (1 - n / size[h]) * (n - 1) / n * sum((each - np.mean(left)) ** 2 for each in left)
    mean = sum(size[h] / total * np.mean([y[i] for i in group[h]]) for h in names)
    square = sum(size[h] / total * np.mean([y[i] ** 2 for i in group[h]]) for h in names)
    n = len(at)
    variance = (square - mean**2) * n / (n - 1) / total + sum(terms.values())
    freedom = sum(terms.values()) ** 2 / sum(terms[h] ** 2 / (len(group[h]) - 1) for h in names)
    half = t.ppf((1 + level) / 2, min(freedom, n - len(names))) * math.sqrt(variance)
    return center(), center() - half, center() + half


def test_against_plain_loops():
    rng = np.random.default_rng(5)
    stratum = rng.integers(0, 3, 90)
    f = rng.random(90) + 0.3 * stratum
    at = np.concatenate([np.flatnonzero(stratum == h)[: 6 + 3 * h] for h in range(3)])
    y = 0.8 * f[at] + rng.normal(0, 0.05 + 0.1 * stratum[at])
    found = stratified_mean(y, f, at, stratum, level=0.9, two_valued=False)
    assert found.method == "corrected"
    assert (found.estimate, found.low, found.high) == pytest.approx(by_hand(y, f, at, stratum, 0.9), rel=1e-9)


def test_a_model_that_is_right_leaves_the_spread_of_queries():
    """Where Y = F the estimate is the mean of all F, and its variance var(Y)/N."""
    f = np.arange(40) / 40
    stratum = np.arange(40) % 2
    at = np.arange(0, 40, 3)
    found = stratified_mean(f[at], f, at, stratum, level=0.95, two_valued=False)
    assert found.estimate == pytest.approx(f.mean())
    assert found.weight == pytest.approx(1.0)


def test_allocation_by_hand():
    # Sizes 100 and 100, deviations 1 and 3: Neyman gives 1 of 4 and 3 of 4, here of 4 + 4 + 12 = 20.
    assert allocated(np.array([100, 100]), np.array([1.0, 3.0]), np.array([4, 4]), 12).tolist() == [1, 11]
    # Each stratum gets its four first, whatever its deviation; a stratum that is used up gets no more.
    assert allocated(np.array([50, 5, 50]), np.array([0.0, 9.0, 1.0]), np.array([0, 4, 4]), 6).tolist() == [4, 1, 1]
    assert allocated(np.array([3, 2]), np.array([1.0, 1.0]), np.array([0, 0]), 100).tolist() == [3, 2]


def test_a_pilot_that_looks_alike_by_chance_still_gets_its_share():
    """Four queries of equal rest among twelve: by its own deviation, 0, the stratum would get none of thirty more."""
    rest = np.array([0.3] * 4 + [1.0, -1.0, 0.5, -0.5] * 2)
    stratum = np.repeat([0, 1], (4, 8))
    # All: mean 0.1; squares around it 4 (0.2)^2, and 5 + 8 (0.1)^2 of values whose mean is 0.
    everything = (4 * 0.2**2 + 5 + 8 * 0.1**2) / 11
    own = 5 / 7
    found = spreads(rest, stratum, 2)
    assert found == pytest.approx([math.sqrt(8 * everything / 11), math.sqrt((7 * own + 8 * everything) / 15)])
    assert allocated(np.array([100, 100]), found, np.array([4, 8]), 30)[0] > 10


def test_numbers_are_cut_and_words_are_taken():
    assert strata_of([1.0, 1.0, 2.0])[1] == ["1.0", "2.0"]
    code, names = strata_of(list(range(100)))
    assert np.bincount(code).tolist() == [20] * 5
    assert names[0] == "0 to 19"
    code, _ = strata_of([0.0] * 90 + [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0])
    assert len(set(code[:90].tolist())) == 1, "equal numbers stay together"


def world(count=60):
    runs = {f"q{i}": ["a", "b"] for i in range(count)}
    model = {query: {"a": i % 3, "b": (i + 1) % 2} for i, query in enumerate(runs)}
    human = {query: {"a": (i % 3 + (i % 5 == 0)) % 3, "b": 1} for i, query in enumerate(runs) if i < 24}
    return human, model, runs


def corrected(human, model, run, **more):
    return goldrank.corrected_values(Qrels(human).with_model(model), {"mine": run}, "nDCG@2", **more)


def in_strata(strata):
    return {query: {"stratum": stratum} for query, stratum in strata.items()}


def test_next_queries_are_drawn_within_strata():
    human, model, run = world()
    strata = {query: "odd" if int(query[1:]) % 2 else "even" for query in run}
    found = corrected(human, model, run, queries=in_strata(strata))
    assert found.draw.strata == ("even", "odd")
    more = found.next_queries(10)
    assert len(set(more)) == 10
    assert not set(more) & set(human)
    assert more == found.next_queries(10)
    assert more != found.next_queries(10, seed=1)
    assert len(found.next_queries(1000)) == 36


def test_many_numbers_are_cut_into_five_strata():
    human, model, run = world()
    numbers = in_strata({query: int(query[1:]) % 12 / 10 for query in run})
    found = corrected(human, model, run, queries=numbers)
    # Twelve numbers from 0 to 1.1, five times each: twelve queries a stratum, equal numbers together.
    assert len(found.draw.strata) == 5
    assert found.draw.strata[0].startswith("0 to ")
    assert found.draw.strata[-1].endswith(" to 1.1")


def test_what_cannot_be_corrected_is_refused():
    human, model, run = world()
    both = {query: {"stratum": "one", "cluster": "one"} for query in run}
    for wrong in ({"drawn": "most doubtful"}, {"drawn": "strata"}, {"queries": both}):
        with pytest.raises(OptionError):
            corrected(human, model, run, **wrong)
    with raises_code(GoldrankError, "no-stratum"):
        corrected(human, model, run, queries=in_strata({"q1": 1}))
    late = {query: "late" if int(query[1:]) >= 23 else "early" for query in run}
    with pytest.raises(InputError) as caught:
        corrected(human, model, run, queries=in_strata(late))
    assert caught.value.code == "few-in-stratum"


def test_a_pilot_that_was_drawn_at_random_goes_on_by_strata():
    human, model, run = world()
    late = {query: "late" if int(query[1:]) >= 23 else "early" for query in run}
    pilot = corrected(human, model, run, queries=in_strata(late), drawn="random")
    assert pilot.rows() == corrected(human, model, run).rows(), "strata say how more queries are drawn, and no more"
    more = pilot.next_queries(6)
    assert sum(late[query] == "late" for query in more) >= 3, "one of them is judged, and four are needed"
    judged = human | {query: {"a": 1, "b": 1} for query in more}
    found = corrected(judged, model, run, queries=in_strata(late))
    assert found["nDCG@2", "mine"].estimate.judged == 30


def test_intervals_hold_the_truth():
    """Two strata of which one is hard for the model, judged by Neyman's allocation. 2.5 % more may miss by chance."""
    rng = np.random.default_rng(2)
    times, hits = lanes.many(2_000, 400), 0
    for _ in range(times):
        stratum = (np.arange(400) >= 300) * 1
        truth = rng.normal(0.5, 0.2, 400)
        f = truth + rng.normal(0, np.where(stratum == 1, 0.3, 0.03))
        at = np.concatenate([rng.permutation(300)[:15], 300 + rng.permutation(100)[:25]])
        found = stratified_mean(truth[at], f, at, stratum, level=0.95, two_valued=False)
        hits += found.low <= 0.5 <= found.high
    assert hits / times > 0.95 - 0.02 - 2.5 * math.sqrt(0.95 * 0.05 / times)
