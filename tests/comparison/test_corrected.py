"""`corrected_values`: from judgements of people and a model to corrected means of systems."""

from __future__ import annotations

import numpy as np
import pytest

import goldrank
from goldrank import Qrels, corrected_values
from goldrank.comparison.ppi import cluster_means, corrected_mean
from goldrank.errors import GoldrankError, InputError, MeasureError, OptionError


def world(queries=60, judged=30, seed=0):
    """People's and a lenient model's judgements of six documents a query, and two runs."""
    rng = np.random.default_rng(seed)
    names = [f"q{i:03}" for i in range(queries)]
    truth = {q: {f"d{j}": int(rng.integers(0, 4)) for j in range(6)} for q in names}
    model = {q: {d: min(3, g + int(rng.random() < 0.3)) for d, g in docs.items()} for q, docs in truth.items()}
    human = {q: truth[q] for q in names[:judged]}
    runs = {
        name: {q: [f"d{j}" for j in rng.permutation(6)[:4]] for q in names} for name in ("one", "two")
    }  # fmt: skip
    return human, model, runs


def corrected(human, model, runs, measures, **more):
    return corrected_values(Qrels(human).with_model(model), runs, measures, **more)


def test_it_is_the_mean_of_the_pipelines_values():
    human, model, runs = world()
    found = corrected(human, model, runs, ["nDCG@4", "P@4"])
    for measure in ("nDCG@4", "P@4"):
        y = {name: goldrank.evaluate(human, run, measure).columns[measure].values for name, run in runs.items()}
        f = {name: goldrank.evaluate(model, run, measure).columns[measure].values for name, run in runs.items()}
        for name in runs:
            assert found[measure, name].estimate == corrected_mean(y[name], f[name][:30], f[name][30:])
        both = corrected_mean(y["two"] - y["one"], (f["two"] - f["one"])[:30], (f["two"] - f["one"])[30:])
        assert found[measure, "two", "one"].estimate == both
    assert len(found.judged) == 30
    assert len(found.rows()) == 6
    one = found["ndcg_cut_4", "one"]
    assert (one.value, one.interval.low, one.interval.high) == (
        one.estimate.estimate,
        one.estimate.low,
        one.estimate.high,
    )
    assert (one.by_people, one.by_model, one.against) == (one.estimate.human, one.estimate.model, None)
    assert str(one).strip() == f"{one.words}."
    assert found.to_polars().shape[0] == 6
    assert "corrected" in found._repr_html_()


def test_only_queries_that_people_judged_to_the_depth_count():
    human, model, runs = world()
    first = runs["one"]["q000"][3]
    human["q000"] = {doc: grade for doc, grade in human["q000"].items() if doc != first}
    found = corrected(human, model, runs, "nDCG@4")
    assert "q000" not in found.judged
    assert found["nDCG@4", "one"].estimate.judged == 29
    (note,) = [note for note in found.notes if note.code == "partly-judged-queries"]
    assert (note.fact("count"), note.samples) == (1, ("q000",))


def test_what_the_model_did_not_judge_is_said():
    human, model, runs = world()
    del model["q050"][runs["one"]["q050"][0]]
    found = corrected(human, model, {"one": runs["one"]}, "nDCG@4")
    assert "model-holes" in [note.code for note in found.notes]


def test_clusters():
    human, model, runs = world()
    queries = {q: {"cluster": f"c{i // 3}"} for i, q in enumerate(model)}
    found = corrected(human, model, {"one": runs["one"]}, "nDCG@4", queries=queries)["nDCG@4", "one"].estimate
    y = goldrank.evaluate(human, runs["one"], "nDCG@4").columns["nDCG@4"].values
    f = goldrank.evaluate(model, runs["one"], "nDCG@4").columns["nDCG@4"].values
    code = np.arange(60) // 3
    parts = (y, code[:30]), (f[:30], code[:30]), (f[30:], code[30:])
    assert found == corrected_mean(*(cluster_means(*part)[0] for part in parts))
    assert (found.judged, found.others) == (10, 10)


def test_the_rest_of_a_cluster_is_no_draw_of_its_own():
    human, model, runs = world(judged=29)
    queries = {q: {"cluster": f"c{i // 3}"} for i, q in enumerate(model)}
    found = corrected(human, model, {"one": runs["one"]}, "nDCG@4", queries=queries)["nDCG@4", "one"].estimate
    assert (found.judged, found.others) == (10, 10)


def test_few_or_useless_judgements_are_warned_of():
    human, model, runs = world(judged=8)
    codes = [note.code for note in corrected(human, model, {"one": runs["one"]}, "nDCG@4").notes]
    assert "weak-correction" in codes
    assert "random-draw" in codes


def test_two_valued_measures():
    human, model, runs = world()
    found = corrected(human, model, runs, "Success@1")
    assert found["Success@1", "one"].estimate.method == "wilson"
    assert found["Success@1", "two", "one"].estimate.method == "human"


def test_next_queries_are_drawn_from_the_others():
    found = corrected(*world(), "nDCG@4")
    drawn = found.next_queries(10)
    assert len(set(drawn)) == 10
    assert not set(drawn) & set(found.judged)
    assert found.next_queries(10) == drawn != found.next_queries(10, seed=1)


def test_what_cannot_be_corrected():
    human, model, runs = world()
    with pytest.raises(OptionError):
        corrected(human, model, runs, "nDCG@4", drawn="most doubtful first")
    with pytest.raises(InputError):
        corrected(human, {q: model[q] for q in list(model)[5:]}, runs, "nDCG@4")
    with pytest.raises(InputError):
        corrected({"q000": human["q000"]}, model, runs, "nDCG@4")
    with pytest.raises(MeasureError):
        corrected(human, model, runs, "NumRet")
    for wrong in ({"statistics": 0.05}, {"depth": 0}, {"queries": {"q000": {"cluster": 1}}}, {"drawn": "strata"}):
        with pytest.raises(GoldrankError):
            corrected(human, model, runs, "nDCG@4", **wrong)


def test_judgements_of_both_are_needed():
    human, _, runs = world()
    for given in (human, Qrels(human), "people.txt"):
        with pytest.raises(InputError, match="of a model"):
            corrected_values(given, runs, "nDCG@4")


def test_keys_that_are_not_there():
    found = corrected(*world(), "nDCG@4")
    for key in (("nDCG@4", "three"), ("AP", "one"), ("nDCG@4", "one", "three"), ("nDCG@4", "one", "one")):
        with pytest.raises(KeyError):
            found[key]
    for key in ("nDCG@4", ("nDCG@4",), ("no such measure", "one")):
        with pytest.raises(GoldrankError):
            found[key]
