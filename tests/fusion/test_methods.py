"""Every fusion method and normalisation by hand, and what all of them share."""

from __future__ import annotations

import itertools
import math
import random
import statistics

import numpy as np
import pytest
from raising import raises_code

from goldrank import fuse, normalize, tune_fusion
from goldrank.base.errors import InputError, OptionError
from goldrank.fusion.methods import all_methods
from goldrank.fusion.normalisations import NORMALISATIONS

# a ranks x, y, z and b ranks y, w. Candidates: x, y, z, w.
RUNS = {"a": {"q": {"x": 3.0, "y": 2.0, "z": 1.0}}, "b": {"q": {"y": 10.0, "w": 5.0}}}
LEAST = math.log(0.001 / 0.999)

# method: parameters, then the values of x, y, z, w with scores as they are.
CASES = {
    "sum": ({}, (3, 12, 1, 5)),
    "mnz": ({}, (3, 12 * 2, 1, 5)),
    "anz": ({}, (3, 12 / 2, 1, 5)),
    "min": ({}, (3, 2, 1, 5)),
    "max": ({}, (3, 10, 1, 5)),
    "med": ({}, (3, (2 + 10) / 2, 1, 5)),
    "gmnz": ({"gamma": 0.5}, (3, 12 * math.sqrt(2), 1, 5)),
    "wsum": ({"weights": [2, 1]}, (6, 2 * 2 + 10, 2, 5)),
    "wmnz": ({"weights": [2, 1]}, (3 * 2, 12 * 3, 1 * 2, 5 * 1)),
    "mixed": ({"weights": [2, 1]}, (6, (4 + 10) * math.sqrt(2), 2, 5)),
    "rrf": ({"k": 10}, (1 / 11, 1 / 12 + 1 / 11, 1 / 13, 1 / 12)),
    "isr": ({}, (1, (1 / 4 + 1) * 2, 1 / 9, 1 / 4)),
    "log_isr": ({}, (0, (1 / 4 + 1) * math.log(2), 0, 0)),
    "logn_isr": ({"sigma": 0.5}, tuple(v * math.log(n + 0.5) for v, n in ((1, 1), (5 / 4, 2), (1 / 9, 1), (1 / 4, 1)))),
    "rbc": ({"phi": 0.5}, (0.5, 0.25 + 0.5, 0.125, 0.25)),
    # a gives 4, 3, 2 and to w, the one that is left, 1; b gives 4, 3 and to the two others (2 + 1) / 2.
    "bordafuse": ({}, (4 + 1.5, 3 + 4, 2 + 1.5, 1 + 3)),
    "w_bordafuse": ({"weights": [2, 1]}, (8 + 1.5, 6 + 4, 4 + 1.5, 2 + 3)),
    # With b heavier: y before w before what it did not return, and of those x before z by a.
    "w_condorcet": ({"weights": [1, 3]}, (2, 4, 1, 3)),
    # a votes x > y > z > w, b y > w > x, z. y ties x (1:1) and w ties x and z: ties by Borda y 7, x 5.5, w 4, z 3.5.
    "condorcet": ({}, (3, 4, 1, 2)),
    "bayesfuse": (
        {"log_odds": [[1.0, 0.5, -1.0], [2.0, 0.25]]},
        (1 + LEAST, 0.5 + 2, -1 + LEAST, LEAST + 0.25),
    ),
    "mapfuse": ({"map_scores": [0.6, 0.3]}, (0.6, 0.3 + 0.3, 0.2, 0.15)),
    "posfuse": ({"probs": [[0.5, 0.25], [0.1, 0.2]]}, (0.5, 0.25 + 0.1, 0, 0.2)),
    "slidefuse": (
        {"probs": [[0.6, 0.3, 0.0], [0.1, 0.2]], "w": 1},
        ((0.6 + 0.3) / 2, (0.6 + 0.3 + 0) / 3 + 0.15, 0.15, 0.15),
    ),
    # a's three documents make segments of two and one, b's two of one each; the second segment counts half.
    "probfuse": ({"probs": [[0.5, 0.2], [0.3, 0.1]]}, (0.5, 0.5 + 0.3, 0.2 / 2, 0.1 / 2)),
    "segfuse": ({"probs": [[0.5], [0.1]]}, (0.5 * 4, 0.5 * 3 + 0.1 * 11, 0.5 * 2, 0.1 * 6)),
}


@pytest.mark.parametrize("method", all_methods())
def test_method_by_hand(method):
    parameters, values = CASES[method]
    fused = fuse(RUNS, method, normalization="none", **parameters)["q"]
    assert [fused[doc] for doc in "xyzw"] == pytest.approx(values)


SCORES = {"q": {"x": 4.0, "y": 2.0, "z": 1.0, "w": 1.0}}
NORMALISED = {
    "min-max": (1, 1 / 3, 0, 0),
    "inverted": (0, 2 / 3, 1, 1),
    "max": (1, 1 / 2, 1 / 4, 1 / 4),
    "sum": (3 / 4, 1 / 4, 0, 0),
    "zmuv": tuple(score / math.sqrt(1.5) for score in (2, 0, -1, -1)),
    "z-score": tuple(score / math.sqrt(1.5) for score in (2, 0, -1, -1)),
    "rank": (1, 3 / 4, 1 / 2, 1 / 4),
    "borda": (1, 3 / 4, 1 / 2, 1 / 4),
    "none": (4, 2, 1, 1),
}


@pytest.mark.parametrize("name", NORMALISATIONS)
def test_normalisation_by_hand(name):
    found = normalize(SCORES, name)["q"]
    # Of equal scores the higher id is first, as in trec_eval: z before w.
    assert [found[doc] for doc in "xyzw"] == pytest.approx(NORMALISED[name])


def test_borda_shares_what_is_left_among_candidates_of_other_runs():
    # Four candidates: b's y 1, w 3/4; x and z share what is left: 1/2 - 1/8 each.
    found = normalize(RUNS["b"], "borda", among=RUNS)["q"]
    assert found == pytest.approx({"y": 1, "w": 3 / 4, "x": 3 / 8, "z": 3 / 8})


def test_equal_scores():
    equal = {"q": {"x": 2.0, "y": 2.0}}
    assert normalize(equal)["q"] == {"x": 1.0, "y": 1.0}
    assert normalize(equal, equal=0.0)["q"] == {"x": 0.0, "y": 0.0}
    assert normalize({"q": {"x": 0.1, "y": 0.1, "z": 0.1}}, "zmuv")["q"] == {"x": 0.0, "y": 0.0, "z": 0.0}
    with raises_code(InputError, "no-positive-score"):
        normalize({"q": {"x": -2.0}}, "max")


def test_distances_are_ranked_lowest_first():
    runs = {"a": {"q": {"near": 0.1, "far": 5.0}}, "b": {"q": {"near": 0.2, "far": 4.0}}}
    assert fuse(runs, "rrf", normalization="inverted").ranking("q") == ["near", "far"]
    assert fuse(runs, "sum", normalization="inverted").ranking("q") == ["near", "far"]


def test_every_method_has_a_citation_and_every_name_is_documented():
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "fusion.md").read_text()
    for name, method in all_methods().items():
        assert method.citation, name
        assert f"| `{name}` |" in page
    for name in NORMALISATIONS:
        assert f"| `{name}` |" in page


def by_majority(runs, weights, docs):
    """Whether each document of an order has the majority over the next, or ties with it."""
    rank = [{doc: i for i, doc in enumerate(run)} for run in runs]

    def votes(one, other):
        return sum(w for r, w in zip(rank, weights, strict=True) if r.get(one, 99) < r.get(other, 99))

    return all(votes(one, other) >= votes(other, one) for one, other in itertools.pairwise(docs))


def test_condorcet_orders_by_majority():
    rng = random.Random(5)
    for _ in range(60):
        docs = [f"d{i}" for i in range(rng.randint(1, 9))]
        count = rng.randint(2, 5)
        rankings = {
            str(r): {f"q{q}": rng.sample(docs, rng.randint(1, len(docs))) for q in range(3)} for r in range(count)
        }
        weights = [rng.randint(1, 3) for _ in range(count)]
        fused = fuse(rankings, "w_condorcet", weights=weights)
        for query, row in fused.items():
            order = sorted(row, key=row.get, reverse=True)
            assert sorted(row.values()) == list(range(1, len(row) + 1))
            assert by_majority([ranking[query] for ranking in rankings.values()], weights, order)


def judged_runs(seed=0, queries=24):
    rng = np.random.default_rng(seed)
    qrels, runs = {}, {"good": {}, "poor": {}}
    for i in range(queries):
        docs = [f"d{j}" for j in range(12)]
        signal = (rng.random(12) < 0.3).astype(float)
        qrels[f"q{i}"] = {doc: int(grade) for doc, grade in zip(docs, signal, strict=True)}
        for name, noise in (("good", 0.5), ("poor", 2.0)):
            runs[name][f"q{i}"] = dict(zip(docs, (signal + rng.normal(0, noise, 12)).tolist(), strict=True))
    return qrels, runs


@pytest.mark.parametrize("method", [name for name, each in all_methods().items() if each.parameters])
def test_every_method_with_parameters_is_tuned(method):
    qrels, runs = judged_runs()
    tuned = tune_fusion(qrels, runs, "AP", method, folds=3, steps=3)
    assert len(tuned.by_fold) == 3
    assert 0 < tuned.value <= 1
    # What all queries chose can be used for other runs, and gives here what is reported as optimistic.
    from goldrank import evaluate

    again = fuse(runs, tuned.fusion)
    assert evaluate(qrels, again, "AP")["AP"] == pytest.approx(tuned.optimistic)


def test_learning_never_looks_at_the_held_out_fold():
    qrels, runs = judged_runs(3, 12)
    before = tune_fusion(qrels, runs, "AP", "posfuse", folds=12)
    turned = {doc: 1 - grade for doc, grade in qrels["q3"].items()}
    after = tune_fusion(qrels | {"q3": turned}, runs, "AP", "posfuse", folds=12)
    assert before.run["q3"] == after.run["q3"]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: fuse(RUNS, "gmnz", gamma="high"), "bad-number"),
        (lambda: fuse(RUNS, "logn_isr", sigma=2), "bad-number"),
        (lambda: fuse(RUNS, "posfuse"), "missing-option"),
        (lambda: fuse(RUNS, "posfuse", probs=[[0.5]]), "bad-probabilities"),
        (lambda: fuse(RUNS, "slidefuse", probs=[[0.5], [0.5]], w=1.5), "bad-number"),
        (lambda: fuse(RUNS, "sum", gamma=1), "unknown-option"),
        (lambda: fuse(RUNS, ties="random"), "unknown-choice"),
        (lambda: tune_fusion({q: {"x": 1} for q in "qrstu"}, RUNS, fusion="isr"), "nothing-to-tune"),
    ],
)
def test_bad_parameters_are_clear_errors(call, code):
    with raises_code(OptionError, code):
        call()


def test_scores_that_are_no_numbers():
    with pytest.raises(InputError, match="document 'x'"):
        fuse({"a": {"q": {"x": math.nan}}, "b": {"q": {"x": 1.0}}}, "sum")


def test_pieces_change_nothing(monkeypatch):
    _, runs = judged_runs()
    whole = {method: dict(fuse(runs, method).items()) for method in ("sum", "rrf", "condorcet", "bordafuse")}
    from goldrank.fusion import lists

    monkeypatch.setitem(lists.pieces.__kwdefaults__, "size", 30)
    for method, expected in whole.items():
        assert dict(fuse(runs, method).items()) == expected


@pytest.mark.parametrize("cells", [1, 30, 4_000_000])
def test_medians_are_those_of_a_plain_loop(monkeypatch, cells):
    monkeypatch.setattr("goldrank.fusion.lists.CELLS", cells)
    rng = random.Random(cells)
    runs = {
        f"r{i}": {
            f"q{j}": {f"d{k}": rng.uniform(-5, 5) for k in rng.sample(range(9), rng.randint(0, 9))} for j in range(8)
        }
        for i in range(5)
    }
    fused = fuse(runs, "med", normalization="none")
    for query in fused:
        given = [run[query] for run in runs.values()]
        expected = {doc: statistics.median(row[doc] for row in given if doc in row) for row in given for doc in row}
        assert dict(fused[query]) == pytest.approx(expected)


@pytest.mark.parametrize("ties", ["docid", "docid-ascending", "input"])
@pytest.mark.parametrize("shape", ["descending", "ascending", "shuffled", "tied", "infinite"])
def test_ranks_are_those_of_a_plain_loop(ties, shape):
    """Reciprocal ranks of lists of many lengths, in whatever order their documents come."""
    rng = random.Random(shape)
    runs = {}
    for name in "ab":
        runs[name] = {}
        for size in range(20):
            scores = [rng.random() for _ in range(size)]
            if shape in ("descending", "ascending"):
                scores.sort(reverse=shape == "descending")
            elif shape != "shuffled":
                scores = [
                    rng.choice([1.0, 2.0, -math.inf, math.inf] if shape == "infinite" else [0.0, -0.0, 1.0])
                    for _ in scores
                ]
            docs = rng.sample([f"d{i}" for i in range(30)], size)
            runs[name][f"q{size}"] = dict(zip(docs, scores, strict=True))
    fused = fuse(runs, "rrf", k=1, ties=ties)
    for query in fused:
        expected = dict.fromkeys(fused[query], 0.0)
        for run in runs.values():
            ranked = list(run[query])
            if ties != "input":
                ranked.sort(reverse=ties == "docid")
            ranked.sort(key=run[query].get, reverse=True)  # stable, reversed or not
            for rank, doc in enumerate(ranked, 1):
                expected[doc] += 1 / (1 + rank)
        assert dict(fused[query]) == pytest.approx(expected)
