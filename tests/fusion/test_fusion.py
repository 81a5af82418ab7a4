"""Fusion by hand, tuning by cross-validation."""

import math
import pickle
import re

import numpy as np
import pytest
from raising import raises_code

from goldrank import Convention, Fusion, Runs, evaluate, fuse, normalize, read_run, tune_fusion
from goldrank.base.errors import InputError, OptionError

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
    fused = fuse(RUNS, "wsum", normalization="z-score")["q"]
    assert fused == pytest.approx({"x": -low - 1, "y": 0 + 1, "z": low - 1, "w": low - 1})


def test_sums_of_z_scores_are_never_lower_for_a_document_that_one_run_more_returned():
    # a: z of 1.22, 0, -1.22, less the lowest: 2.45, 1.22, 0; b: 1, -1, less the lowest: 2, 0.
    step = 1 / math.sqrt(2 / 3)
    assert fuse(RUNS, "combsum", normalization="z-score")["q"] == pytest.approx(
        {"x": 2 * step, "y": step + 2, "z": 0, "w": 0}
    )
    assert fuse(RUNS, "combmnz", normalization="z-score")["q"] == pytest.approx(
        {"x": 2 * step, "y": 2 * (step + 2), "z": 0, "w": 0}
    )
    # "low" is below the mean of both runs, "other" is one run's alone and lower still.
    both = {"a": {"q": {"t": 9.0, "low": 3.0, "other": 1.0}}, "b": {"q": {"t": 9.0, "u": 8.0, "low": 3.0}}}
    for method in ("combsum", "combmnz"):
        fused = fuse(both, method, normalization="z-score")["q"]
        assert fused["low"] > fused["other"]
        assert min(fused.values()) >= 0


def test_tuning_and_the_best_run_know_that_less_may_be_better():
    from goldrank.fusion.tuning import best_run

    # FallOut@1 is 0 where the relevant document is first, as in a, and 1/2 where a wrong one is, as in b.
    qrels = {f"q{i}": {"r": 1, "n": 0, "m": 0} for i in range(10)}
    a, b = ({q: dict(zip(docs, (3.0, 2.0, 1.0), strict=True)) for q in qrels} for docs in ("rnm", "nmr"))
    tuned = tune_fusion(qrels, {"a": a, "b": b}, "FallOut@1")
    assert (tuned.value, tuned.optimistic) == (0.0, 0.0)
    assert tuned.fusion.options["weights"][0] > tuned.fusion.options["weights"][1]
    scored = evaluate(qrels, Runs(b=b, a=a), "FallOut@1")
    assert best_run(scored) == "a"
    assert best_run(evaluate(qrels, Runs(b=b, a=a), "P@1")) == "a"


def test_rank_normalisation_by_hand():
    assert fuse(RUNS, "combsum", normalization="rank")["q"] == pytest.approx(
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
        (lambda: fuse(RUNS, "wsum", normalization="l2"), OptionError, "unknown-choice"),
        (lambda: fuse(RUNS, weights=[1]), OptionError, "bad-weights"),
        (lambda: fuse(RUNS, weights=[0, 0]), OptionError, "bad-weights"),
        (lambda: fuse(RUNS, weights=[1, math.nan]), OptionError, "bad-weights"),
        (lambda: fuse(RUNS, "combsum", weights=[1, 2]), OptionError, "unknown-option"),
        (lambda: fuse(RUNS, k=-1), OptionError, "bad-number"),
        (lambda: fuse({"a": {"q": {"x": math.inf}}, "b": {"q": {"x": 1.0}}}, "wsum"), InputError, "not-finite"),
        (lambda: tune_fusion({"q": {"d": 1}}, RUNS), OptionError, "bad-number"),
        (lambda: tune_fusion({q: {"d": 1} for q in "abcde"}, RUNS, fusion="combsum"), OptionError, "nothing-to-tune"),
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
    assert sum(tuned.fusion.options["weights"]) == pytest.approx(1.0)
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
    assert len(tuned.fusion.options["weights"]) == 6


def test_the_words_are_those_of_the_registries():
    """Type checkers know every method, normalization and parameter, and no other."""
    from typing import get_args

    from goldrank.fusion.lists import TIES
    from goldrank.fusion.methods import all_methods
    from goldrank.fusion.normalisations import NORMALISATIONS
    from goldrank.fusion.options import SHARED, FusionMethod, FusionOptions, FusionTies, Normalization

    assert sorted(get_args(FusionMethod)) == sorted(all_methods())  # which are in the order of their imports
    assert get_args(Normalization) == tuple(NORMALISATIONS)
    assert get_args(FusionTies) == tuple(TIES)
    declared = {each.name for method in all_methods().values() for each in (*method.parameters, *method.settings)}
    assert set(FusionOptions.__annotations__) == {*SHARED, *declared}


def test_a_fusion_is_equal_by_content_and_never_changes():
    assert Fusion("rrf", k=60) == Fusion("rrf", k=60.0) != Fusion("rrf")
    assert repr(Fusion("rrf", k=60)) == "Fusion('rrf', k=60)"
    assert repr(Fusion("wsum", weights=np.array([0.5, 0.25]))) == "Fusion('wsum', weights=(0.5, 0.25))"
    assert hash(Fusion("wsum", weights=[0.5, 0.25])) == hash(Fusion("wsum", weights=(0.5, 0.25)))
    assert pickle.loads(pickle.dumps(Fusion("rrf", k=60))) == Fusion("rrf", k=60)
    assert Fusion("combsum").method == "sum"
    assert Fusion("rrf", weights=None) == Fusion("rrf")
    assert len(repr(Fusion("posfuse", probs=[[0.5] * 1000, [0.25] * 1000]))) < 120
    with pytest.raises(AttributeError):
        Fusion("rrf").method = "sum"


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        (lambda: Fusion("bordafus"), "unknown-choice", "Did you mean bordafuse?"),
        (lambda: Fusion("rrf", gamma=1), "unknown-option", "rrf takes no gamma"),
        (lambda: Fusion("rrf", gamma=1), "unknown-option", "It takes weights, k, normalization, ties, equal."),
        (lambda: Fusion("sum", weights=[1, 2]), "unknown-option", "Weighted sums are 'wsum'."),
        (lambda: Fusion("wsum", normalisation="max"), "unknown-option", "Did you mean normalization?"),
        (lambda: Fusion("rrf", ties="expected"), "unknown-choice", "docid, docid-ascending, input"),
        (lambda: Fusion("rrf", k="60"), "bad-number", "60 is usual"),
        (lambda: Fusion("sum", equal=2), "bad-number", "from 0 to 1"),
        (lambda: fuse(RUNS, Fusion("rrf"), k=60), "options-conflict", "Fusion('rrf', k=...)"),
        (lambda: fuse(RUNS, method="rrf"), "unknown-argument", "It is called fusion=."),
        (lambda: tune_fusion({}, RUNS, method="rrf"), "unknown-argument", "It is called fusion=."),
        (lambda: tune_fusion({}, RUNS, missing="skip"), "unknown-argument", "convention=Convention(missing=...)"),
    ],
)
def test_what_a_method_does_not_take_is_said(call, code, words):
    with raises_code(OptionError, code, match=re.escape(words)):
        call()


def test_runs_without_names_are_fused_too():
    expected = fuse(RUNS, "sum")
    assert fuse(list(RUNS.values()), "sum") == expected == fuse(Runs(RUNS), Fusion("sum"))
    with raises_code(InputError, "one-run", match="their mapping is one run"):
        fuse(RUNS["a"])


def test_a_document_that_is_repeated_is_named_with_the_way_out():
    """RRF with k=0: x has 1/1, y 1/2 + 1/1, once its second row is gone."""
    rows = [("q", "x", 3.0), ("q", "y", 2.0), ("q", "x", 1.0)]
    other = {"q": ["y"]}
    with raises_code(InputError, "duplicate-document", match=r"run\.drop_duplicates\(\)"):
        fuse({"a": rows, "b": other})
    fused = fuse({"a": read_run(rows).drop_duplicates(), "b": other}, k=0)
    assert fused["q"] == {"x": 1.0, "y": 1.5}


def test_what_a_fusion_is_given_is_not_tuned():
    qrels, runs = two_halves(1, 20)
    tuned = tune_fusion(qrels, runs, "RR", Fusion("rrf", k=7, normalization="rank"), folds=4, steps=2)
    assert [each.options["k"] for each in (tuned.fusion, *tuned.by_fold)] == [7] * 5
    assert {each.options["normalization"] for each in (tuned.fusion, *tuned.by_fold)} == {"rank"}
    assert "weights" in tuned.fusion.options
    assert "RR" in str(tuned)


def test_fusing_with_what_was_tuned_is_what_was_measured():
    """`optimistic` is the value of the tuned fusion on the same queries, also by another order of ties."""
    qrels, runs = two_halves(5, 20)
    for convention in (Convention(), Convention(ties="input")):
        tuned = tune_fusion(qrels, runs, "RR", "rrf", convention=convention)
        scores = evaluate(qrels, fuse(runs, tuned.fusion), "RR", convention=convention)
        assert scores["RR"] == tuned.optimistic


def test_normalize_takes_a_word():
    with raises_code(OptionError, "unknown-choice", match="normalization is 'l2'"):
        normalize(RUNS["a"], "l2")
    with raises_code(OptionError, "unknown-argument"):
        normalize(RUNS["a"], ties="input")
