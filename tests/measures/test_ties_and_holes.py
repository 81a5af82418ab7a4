"""Means and bounds over tied documents and over unjudged ones, against every single possibility."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from lanes import many
from raising import raises_code

from goldrank import evaluate, worth_judging
from goldrank.base.errors import MeasureError, OptionError
from goldrank.base.notes import Note
from goldrank.data.scores import Scores
from goldrank.measures import REGISTRY, parse

Docs = dict[str, Any]


def tied_data(rng: random.Random) -> tuple[Docs, Docs]:
    """One query; groups of up to six documents with the same score, some unjudged or only pooled."""
    docs = [f"d{i}" for i in range(rng.randint(1, 9))]
    run = {doc: rng.choice((1.0, 2.0, 3.0)) for doc in docs}
    while max(list(run.values()).count(score) for score in run.values()) > 6:
        run = {doc: rng.choice((1.0, 2.0, 3.0)) for doc in docs}
    judged = rng.sample([*docs, "missed", "lost"], rng.randint(1, len(docs) + 2))
    return {doc: rng.choice((-1, 0, 0, 1, 2, 3)) for doc in judged}, run


def orders(run: Docs) -> list[list[str]]:
    """All rankings that the scores allow."""
    groups = [[doc for doc in run if run[doc] == score] for score in sorted(set(run.values()), reverse=True)]
    return [
        list(itertools.chain.from_iterable(parts))
        for parts in itertools.product(*(itertools.permutations(group) for group in groups))
    ]


def values_of(cases: list[tuple[Docs, list[str]]], measure: str) -> list[float]:
    """The measure's value for each pair of judgements and ranking."""
    qrels = {f"{i:06}": judged for i, (judged, _) in enumerate(cases)}
    run = {f"{i:06}": ranking for i, (_, ranking) in enumerate(cases)}
    return evaluate(qrels, run, measure, overlap="allow").column(measure).values.tolist()


MEASURES = [
    "P@3",
    'P(divisor="retrieved")@5',
    "P(rel=2)@2",
    "R@3",
    "R",
    "Success@1",
    "Success@3",
    "RR",
    "RR@2",
    "RR(rel=2)",
    "AP",
    "AP@3",
    'AP(divisor="hits")',
    'AP(divisor="min")@3',
    "DCG",
    "DCG@2",
    "nDCG",
    "nDCG@3",
    'nDCG(gain="exp2")@4',
    'nDCG(discount="log2_from_2")@3',
    'nDCG(discount="ln")@3',
    'DCG(discount="ln")',
    'DCG(negative="keep")@3',
    'nDCG(ideal="retrieved", cut_ideal=False)@2',
    "nDCG(judged_only=True)@3",
    "AP(judged_only=True)",
    "SetP",
]


@pytest.mark.parametrize("measure", MEASURES)
def test_expected_is_the_mean_over_all_orders(measure):
    rng = random.Random(measure)
    for _ in range(many(15)):
        qrels, run = tied_data(rng)
        values = values_of([(qrels, ranking) for ranking in orders(run)], measure)
        ours = evaluate({"q": qrels}, {"q": run}, measure, ties="expected", overlap="allow")[measure]
        assert ours == pytest.approx(sum(values) / len(values), abs=1e-12)


def test_the_discount_is_the_same_with_and_without_ties():
    """ "ln" is log2 as a quotient. Seen: 0.8403 against 0.6806."""
    qrels = {"q": {"a": 2, "b": 0, "c": 1, "d": 1}}
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.5}}
    measures = ["nDCG@3", 'nDCG(discount="ln")@3']
    for ties in ("docid", "expected"):
        first, second = evaluate(qrels, run, measures, ties=ties).mean.values()
        assert first == pytest.approx(second, abs=1e-12)


MONOTONE = [
    "P@3",
    "R@2",
    "Success@2",
    "RR",
    "AP",
    "AP@3",
    "nDCG@3",
    "ERR@5",
    "RBP(p=0.5)",
    "Rprec",
    "IPrec@0.5",
    "NCG@2",
]


@pytest.mark.parametrize("measure", MONOTONE)
def test_bounds_over_ties_are_the_extremes(measure):
    rng = random.Random(measure)
    for _ in range(many(15)):
        qrels, run = tied_data(rng)
        values = values_of([(qrels, ranking) for ranking in orders(run)], measure)
        scores = evaluate({"q": qrels}, {"q": run}, measure, ties="bounds", overlap="allow")
        assert scores.bounds[measure].summary == pytest.approx((min(values), max(values)), abs=1e-12)
        assert min(values) - 1e-12 <= scores[measure] <= max(values) + 1e-12


@pytest.mark.slow
def test_tie_aware_ndcg_is_scikit_learns():
    """All documents are judged and returned, as scikit-learn assumes."""
    from sklearn.metrics import dcg_score, ndcg_score

    rng = random.Random("scikit-learn")
    for _ in range(many(200)):
        size = rng.randint(2, 12)
        grades = [rng.randint(0, 4) for _ in range(size)]
        scores = [rng.randint(0, 4) for _ in range(size)]
        k = rng.choice((None, 1, 3, 10))
        qrels = {"q": {str(i): grade for i, grade in enumerate(grades)}}
        run = {"q": {str(i): score for i, score in enumerate(scores)}}
        suffix = "" if k is None else f"@{k}"
        ours = evaluate(qrels, run, [f"nDCG{suffix}", f"DCG{suffix}"], ties="expected")
        assert ours[f"nDCG{suffix}"] == pytest.approx(ndcg_score([grades], [scores], k=k), abs=1e-12)
        assert ours[f"DCG{suffix}"] == pytest.approx(dcg_score([grades], [scores], k=k), abs=1e-12)


def test_untied_values_do_not_change():
    qrels = {"q": {"a": 3, "b": 1, "c": 2}}
    run = {"q": {"a": 0.1, "b": 0.9, "x": 0.5, "c": 0.3}}
    for measure in ("DCG@3", "nDCG", "P@2"):
        assert evaluate(qrels, run, measure, ties="expected")[measure] == evaluate(qrels, run, measure)[measure]


def test_measures_without_a_closed_form_say_so():
    for name, declared in REGISTRY.items():
        if declared.over == "placements" and declared.ties is None:
            measure = name + {"none": "", "optional": "", "needed": "@5"}.get(declared.cutoff, "@0.5")
            with raises_code(MeasureError, "no-closed-form"):
                evaluate({"q": {"a": 1}}, {"q": ["a"]}, measure, ties="expected")
    with raises_code(MeasureError, "no-closed-form"):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, 'AP(divisor="hits")@3', ties="expected")


def test_what_four_decimals_do_not_show_is_no_warning():
    # Of 100 queries q0 has its document at rank 11 or 12, q1 at rank 3: the mean of RR is (1/12 + 1/3) / 100 = 0.00417
    # or (1/11 + 1/3) / 100 = 0.00424, both of which are shown as 0.0042.
    qrels = {f"q{i}": {"a": 1} for i in range(100)}
    run = {f"q{i}": {"x": 1.0} for i in range(100)}
    run["q0"] = {**{f"x{i:02}": 20.0 - i for i in range(10)}, "a": 1.0, "x": 1.0}
    run["q1"] = {"x": 3.0, "y": 2.0, "a": 1.0}
    notes = evaluate(qrels, run, "RR", overlap="allow").notes
    assert "tied-documents" in [note.code for note in notes]
    assert "tie-ranges" not in [note.code for note in notes]


def test_footer_says_how_far_ties_could_move_the_mean():
    # b is relevant and tied with a: at rank 1 RR is 1, at rank 2 it is 1/2.
    notes = evaluate({"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "RR").notes
    assert Note.of("tie-ranges", ranges=(("RR", "0.5000", "1.0000"),)) in notes
    notes = evaluate({"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "R@2").notes
    assert "tie-ranges" not in [note.code for note in notes]
    notes = evaluate({"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "RR", ties="expected").notes
    assert Note.of("tied-documents", count=1, rule="averaged over all orders") in notes


def test_ascending_ties():
    qrels = {"q": {"a": 1}}
    run = {"q": {"a": 1.0, "b": 1.0}}
    assert evaluate(qrels, run, "RR")["RR"] == 0.5
    assert evaluate(qrels, run, "RR", ties="docid-ascending")["RR"] == 1.0


# Holes.


def hole_data(rng: random.Random) -> tuple[Docs, list[str]]:
    docs = [f"d{i}" for i in range(rng.randint(1, 7))]
    judged = rng.sample([*docs, "missed", "lost"], rng.randint(1, len(docs)))
    rng.shuffle(docs)
    return {doc: rng.choice((-1, 0, 1, 2)) for doc in judged}, docs


def labelings(qrels: Docs, ranking: list[str], top: int) -> list[Docs]:
    """Every way to judge the returned documents that were not judged."""
    holes = [doc for doc in ranking if qrels.get(doc, -1) < 0]
    return [
        {**qrels, **dict(zip(holes, grades, strict=True))} for grades in itertools.product((0, top), repeat=len(holes))
    ]


@pytest.mark.parametrize("measure", [*MONOTONE, "R", "nDCG", "GMAP", "F@3", "R_cap@3", "BinG", "Q@3", "GAP"])
def test_bounds_from_unjudged_documents_are_the_extremes(measure):
    rng = random.Random(measure)
    for _ in range(many(40, 6)):
        qrels, ranking = hole_data(rng)
        top = max(1, *qrels.values())
        values = values_of([(one, ranking) for one in labelings(qrels, ranking, top)], measure)
        scores = evaluate({"q": qrels}, {"q": ranking}, measure, bounds="unjudged", overlap="allow")
        assert scores.bounds[measure].summary == pytest.approx((min(values), max(values)), abs=1e-12), (qrels, ranking)
        assert [scores[measure]] == pytest.approx(values_of([(qrels, ranking)], measure))


def test_bounds_go_through_json():
    scores = evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, ["P@2", "RR"], bounds="unjudged")
    ranges = (("P@2", "0.5000", "1.0000"), ("RR", "0.5000", "1.0000"))
    assert Note.of("unjudged-ranges", ranges=ranges) in scores.notes
    back = Scores.from_dict(__import__("json").loads(scores.to_json()))
    assert back.bounds["P@2"].why == "unjudged"
    assert back.bounds["P@2"].summary == scores.bounds["P@2"].summary == (0.5, 1.0)
    assert np.array_equal(back.bounds["RR"].high.values, scores.bounds["RR"].high.values)


@pytest.mark.parametrize("measure", ["Bpref", "Judged@5", "FallOut@5", "AP(judged_only=True)"])
def test_bounds_need_a_monotone_measure(measure):
    for rules in ({"bounds": "unjudged"}, {"ties": "bounds"}):
        with raises_code(MeasureError, "no-bounds"):
            evaluate({"q": {"a": 1}}, {"q": ["a", "x"]}, measure, **rules)


def test_unknown_kind_of_bounds():
    with pytest.raises(OptionError):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, "P@1", bounds="judged")


def test_worth_judging_finds_what_moves_most():
    qrels = {"q1": {"a": 1}, "q2": {"b": 2, "c": 0}}
    run = {"q1": ["x", "a", "y"], "q2": ["b", "c", "z", "w"]}
    found = worth_judging(qrels, run, "RR")
    # In q1 a relevant x raises RR from 1/2 to 1; nothing else changes RR.
    assert [(one.query, one.doc, one.rank, one.gain) for one in found] == [("q1", "x", 1, 0.5)]
    # P@3: each hole among the first three moves its query by 1/3.
    found = worth_judging(qrels, run, "P@3")
    assert {(one.query, one.doc) for one in found} == {("q1", "x"), ("q1", "y"), ("q2", "z")}
    assert all(one.gain == pytest.approx(1 / 3) for one in found)
    assert len(worth_judging(qrels, run, "P@3", limit=2)) == 2


def test_worth_judging_reads_files(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 x 1 3 t\nq Q0 z 2 3 t\nq Q0 a 3 1 t\nother Q0 y 1 1 t\n")
    found = worth_judging(str(tmp_path / "qrels"), str(tmp_path / "run"), "P@2")
    # x and z are tied; by id, descending, z comes first.
    assert [(one.doc, one.rank) for one in found] == [("z", 1), ("x", 2)]


def test_hole_is_beirs():
    """BEIR counts a document as judged if it was judged for any query."""
    qrels = {"q1": {"a": 1}, "q2": {"b": 0}}
    run = {"q1": ["b", "x", "a"], "q2": ["y", "a"]}
    scores = evaluate(qrels, run, ["Hole@2", "Unjudged@2"])
    assert scores.per_query["Hole@2"] == {"q1": 0.5, "q2": 0.5}
    assert scores.per_query["Unjudged@2"] == {"q1": 1.0, "q2": 1.0}


def test_parse_of_the_new_cutoffs():
    assert str(parse("Rprec_mult_0.20")) == "RprecMult@0.2"
    assert str(parse("IPrecAvg(points=[0.2, 0.5])")) == "IPrecAvg(points=[0.2, 0.5])"
    for bad in ("RprecMult", "RprecMult@-1", "IPrecAvg(points=[])", "IPrecAvg(points=[2])", "IPrecAvg(points=1)"):
        with pytest.raises(MeasureError):
            parse(bad)


def test_nothing_is_worth_judging_where_all_is_judged(tmp_path):
    """Be the run a mapping, a file or a table."""
    (tmp_path / "run").write_text("q Q0 a 1 3 t\n")
    (tmp_path / "run.csv").write_text("query,doc,score\nq,a,3\n")
    for run in ({"q": {"a": 3.0}}, str(tmp_path / "run"), str(tmp_path / "run.csv")):
        assert worth_judging({"q": {"a": 1, "b": 1}}, run, "P@1") == []


def test_losses_have_no_expected_ndcg():
    """Each order stops at 0, so that the expected value is not that of the expected gain."""
    run = {"q": {"a": 1.0, "b": 1.0}}
    measure = 'nDCG(negative="keep")@2'
    with raises_code(MeasureError, "no-closed-form"):
        evaluate({"q": {"a": -2, "b": 1}}, run, measure, ties="expected")
    # without a loss or without ties there is one
    assert evaluate({"q": {"a": 2, "b": 1}}, run, measure, ties="expected")[measure] < 1
    apart = {"q": {"a": 2.0, "b": 1.0}}
    assert evaluate({"q": {"a": -2, "b": 1}}, apart, measure, ties="expected")[measure] == 0
