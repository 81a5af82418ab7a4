"""Fusion by hand, tuning by cross-validation."""

import math

import numpy as np
import pytest
from raising import raises_code

from goldrank import evaluate, fuse, tune_fusion
from goldrank.errors import InputError, OptionError

RUNS = {"a": {"q": {"x": 3.0, "y": 2.0, "z": 1.0}}, "b": {"q": {"y": 10.0, "w": 0.0}}}


def test_rrf_by_hand():
    fused = fuse(RUNS, "rrf", k=60)["q"]
    assert fused == pytest.approx({"x": 1 / 61, "y": 1 / 62 + 1 / 61, "z": 1 / 63, "w": 1 / 62})


def test_weighted_rrf_by_hand():
    fused = fuse(RUNS, "rrf", k=0, weights=[2, 1])["q"]
    assert fused == pytest.approx({"x": 2 / 1, "y": 2 / 2 + 1 / 1, "z": 2 / 3, "w": 1 / 2})


def test_combsum_and_combmnz_by_hand():
    # min-max: a gives x 1, y 0.5, z 0; b gives y 1, w 0.
    assert fuse(RUNS, "combsum")["q"] == {"x": 1.0, "y": 1.5, "z": 0.0, "w": 0.0}
    assert fuse(RUNS, "combmnz")["q"] == {"x": 1.0, "y": 3.0, "z": 0.0, "w": 0.0}


def test_weighted_sum_by_hand():
    assert fuse(RUNS, "wsum", weights=[0.25, 0.75])["q"] == {"x": 0.25, "y": 0.875, "z": 0.0, "w": 0.0}


def test_z_scores_by_hand():
    # a: mean 2, deviation sqrt(2/3); b: mean 5, deviation 5. Absent documents get the run's lowest z.
    low = -1 / math.sqrt(2 / 3)
    fused = fuse(RUNS, "wsum", normalise="z-score")["q"]
    assert fused == pytest.approx({"x": -low - 1, "y": 0 + 1, "z": low - 1, "w": low - 1})


def test_sums_of_z_scores_are_never_lower_for_a_document_that_one_run_more_returned():
    # a: z of 1.22, 0, -1.22, less the lowest: 2.45, 1.22, 0; b: 1, -1, less the lowest: 2, 0.
    step = 1 / math.sqrt(2 / 3)
    assert fuse(RUNS, "combsum", normalise="z-score")["q"] == pytest.approx(
        {"x": 2 * step, "y": step + 2, "z": 0, "w": 0}
    )
    assert fuse(RUNS, "combmnz", normalise="z-score")["q"] == pytest.approx(
        {"x": 2 * step, "y": 2 * (step + 2), "z": 0, "w": 0}
    )
    # "low" is below the mean of both runs, "other" is one run's alone and lower still.
    both = {"a": {"q": {"t": 9.0, "low": 3.0, "other": 1.0}}, "b": {"q": {"t": 9.0, "u": 8.0, "low": 3.0}}}
    for method in ("combsum", "combmnz"):
        fused = fuse(both, method, normalise="z-score")["q"]
        assert fused["low"] > fused["other"]
        assert min(fused.values()) >= 0


def test_tuning_and_the_best_run_know_that_less_may_be_better():
    from goldrank.fusion import best_run

    # FallOut@1 is 0 where the relevant document is first, as in a, and 1/2 where a wrong one is, as in b.
    qrels = {f"q{i}": {"r": 1, "n": 0, "m": 0} for i in range(10)}
    a, b = ({q: dict(zip(docs, (3.0, 2.0, 1.0), strict=True)) for q in qrels} for docs in ("rnm", "nmr"))
    tuned = tune_fusion(qrels, {"a": a, "b": b}, "FallOut@1")
    assert (tuned.value, tuned.optimistic) == (0.0, 0.0)
    assert tuned.weights[0] > tuned.weights[1]
    scored = evaluate(qrels, {"b": b, "a": a}, "FallOut@1")
    assert best_run(scored) == "a"
    assert best_run(evaluate(qrels, {"b": b, "a": a}, "P@1")) == "a"


def test_rank_normalisation_by_hand():
    assert fuse(RUNS, "combsum", normalise="rank")["q"] == pytest.approx(
        {"x": 1.0, "y": 2 / 3 + 1, "z": 1 / 3, "w": 0.5}
    )


def test_equal_scores_and_missing_queries():
    fused = fuse({"a": {"q": {"x": 5.0, "y": 5.0}}, "b": {"other": {"z": 1.0}}}, "combsum")
    assert fused["q"] == {"x": 1.0, "y": 1.0}
    assert fused["other"] == {"z": 1.0}


@pytest.mark.parametrize(
    ("call", "error", "code"),
    [
        (lambda: fuse({"a": {"q": ["d"]}}), InputError, "too-few-runs"),
        (lambda: fuse(RUNS, "maximum"), OptionError, "unknown-choice"),
        (lambda: fuse(RUNS, normalise="l2", method="wsum"), OptionError, "unknown-choice"),
        (lambda: fuse(RUNS, weights=[1]), OptionError, "bad-weights"),
        (lambda: fuse(RUNS, weights=[0, 0]), OptionError, "bad-weights"),
        (lambda: fuse(RUNS, weights=[1, math.nan]), OptionError, "bad-weights"),
        (lambda: fuse(RUNS, "combsum", weights=[1, 2]), OptionError, "unknown-option"),
        (lambda: fuse(RUNS, k=-1), OptionError, "bad-number"),
        (lambda: fuse({"a": {"q": {"x": math.inf}}, "b": {"q": {"x": 1.0}}}, "wsum"), InputError, "not-finite"),
        (lambda: tune_fusion({"q": {"d": 1}}, RUNS), OptionError, "bad-number"),
        (lambda: tune_fusion({q: {"d": 1} for q in "abcde"}, RUNS, method="combsum"), OptionError, "nothing-to-tune"),
    ],
)
def test_bad_input_is_a_clear_error(call, error, code):
    with raises_code(error, code):
        call()


def two_halves(seed, queries=60):
    """Two systems that each find what the other misses, the first more reliably."""
    rng = np.random.default_rng(seed)
    qrels, a, b = {}, {}, {}
    for i in range(queries):
        q = f"q{i}"
        qrels[q] = {"r": 1}
        docs = ["r", *(f"n{j}" for j in range(15))]
        signal = np.array([1.0] + [0.0] * 15)
        a[q] = dict(zip(docs, (rng.normal(0, 0.7, 16) + signal).tolist(), strict=True))
        b[q] = dict(zip(docs, (rng.normal(0, 1.2, 16) + signal).tolist(), strict=True))
    return qrels, {"a": a, "b": b}


def test_tuning_is_honest_and_repeatable():
    qrels, runs = two_halves(1)
    tuned = tune_fusion(qrels, runs, "RR", seed=4)
    assert tuned.value <= tuned.optimistic
    assert tuned.value == pytest.approx(evaluate(qrels, tuned.run, "RR")["RR"])
    assert tune_fusion(qrels, runs, "RR", seed=4).by_fold == tuned.by_fold
    assert sum(tuned.weights) == pytest.approx(1.0)
    alone = max(evaluate(qrels, run, "RR")["RR"] for run in runs.values())
    assert tuned.optimistic >= alone


def test_tuning_never_looks_at_the_held_out_fold():
    # Left out of its own fold, a query's judgement does not choose its weights: swap its judgement and its
    # fused ranking stays.
    qrels, runs = two_halves(2, 20)
    before = tune_fusion(qrels, runs, "RR", folds=20, seed=0)
    changed = dict(qrels) | {"q3": {"n1": 1}}
    after = tune_fusion(changed, runs, "RR", folds=20, seed=0)
    assert before.run["q3"] == after.run["q3"]


def test_many_runs_are_tuned_by_random_weights():
    qrels, runs = two_halves(3, 10)
    six = {f"{name}{i}": run for i in range(3) for name, run in runs.items()}
    tuned = tune_fusion(qrels, six, "RR", folds=2, steps=10)
    assert len(tuned.weights) == 6
