"""`corrected_values`: from judgements of people and a model to corrected means of systems."""

from __future__ import annotations

import numpy as np
import pytest

import goldrank
from goldrank import corrected_values
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


def test_it_is_the_mean_of_the_pipelines_values():
    human, model, runs = world()
    found = corrected_values(human, model, runs, ["nDCG@4", "P@4"])
    for measure in ("nDCG@4", "P@4"):
        y = {name: goldrank.evaluate(human, run, measure).columns[measure].values for name, run in runs.items()}
        f = {name: goldrank.evaluate(model, run, measure).columns[measure].values for name, run in runs.items()}
        for name in runs:
            assert found[measure, name] == corrected_mean(y[name], f[name][:30], f[name][30:])
        both = corrected_mean(y["two"] - y["one"], (f["two"] - f["one"])[:30], (f["two"] - f["one"])[30:])
        assert found[measure, "two", "one"] == both
    assert len(found.judged) == 30
    assert len(found.rows()) == 6
    assert found.to_polars().shape[0] == 6
    assert "corrected" in found._repr_html_()


def test_only_queries_that_people_judged_to_the_depth_count():
    human, model, runs = world()
    first = runs["one"]["q000"][3]
    human["q000"] = {doc: grade for doc, grade in human["q000"].items() if doc != first}
    found = corrected_values(human, model, runs, "nDCG@4")
    assert "q000" not in found.judged
    assert found["nDCG@4", "one"].judged == 29
    (note,) = [note for note in found.notes if note.code == "partly-judged-queries"]
    assert (note.fact("count"), note.samples) == (1, ("q000",))


def test_what_the_model_did_not_judge_is_said():
    human, model, runs = world()
    del model["q050"][runs["one"]["q050"][0]]
    found = corrected_values(human, model, runs["one"], "nDCG@4")
    assert "model-holes" in [note.code for note in found.notes]


def test_clusters():
    human, model, runs = world()
    cluster = {q: f"c{i // 3}" for i, q in enumerate(model)}
    found = corrected_values(human, model, runs["one"], "nDCG@4", clusters=cluster)["nDCG@4", "run"]
    y = goldrank.evaluate(human, runs["one"], "nDCG@4").columns["nDCG@4"].values
    f = goldrank.evaluate(model, runs["one"], "nDCG@4").columns["nDCG@4"].values
    code = np.arange(60) // 3
    parts = (y, code[:30]), (f[:30], code[:30]), (f[30:], code[30:])
    assert found == corrected_mean(*(cluster_means(*part)[0] for part in parts))
    assert (found.judged, found.others) == (10, 10)


def test_the_rest_of_a_cluster_is_no_draw_of_its_own():
    human, model, runs = world(judged=29)
    cluster = {q: f"c{i // 3}" for i, q in enumerate(model)}
    found = corrected_values(human, model, runs["one"], "nDCG@4", clusters=cluster)["nDCG@4", "run"]
    assert (found.judged, found.others) == (10, 10)


def test_few_or_useless_judgements_are_warned_of():
    human, model, runs = world(judged=8)
    codes = [note.code for note in corrected_values(human, model, runs["one"], "nDCG@4").notes]
    assert "weak-correction" in codes
    assert "random-draw" in codes


def test_two_valued_measures():
    human, model, runs = world()
    found = corrected_values(human, model, runs, "Success@1")
    assert found["Success@1", "one"].method == "wilson"
    assert found["Success@1", "two", "one"].method == "human"


def test_next_queries_are_drawn_from_the_others():
    found = corrected_values(*world(), "nDCG@4")
    drawn = found.next_queries(10)
    assert len(set(drawn)) == 10
    assert not set(drawn) & set(found.judged)
    assert found.next_queries(10) == drawn != found.next_queries(10, seed=1)


def test_what_cannot_be_corrected():
    human, model, runs = world()
    with pytest.raises(OptionError):
        corrected_values(human, model, runs, "nDCG@4", drawn="most doubtful first")
    with pytest.raises(InputError):
        corrected_values(human, {q: model[q] for q in list(model)[5:]}, runs, "nDCG@4")
    with pytest.raises(InputError):
        corrected_values({"q000": human["q000"]}, model, runs, "nDCG@4")
    with pytest.raises(MeasureError):
        corrected_values(human, model, runs, "NumRet")
    for wrong in ({"level": 2}, {"depth": 0}, {"clusters": {"q000": 1}}):
        with pytest.raises(GoldrankError):
            corrected_values(human, model, runs, "nDCG@4", **wrong)
