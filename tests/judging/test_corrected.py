"""`corrected_values`: from judgements of people and a model to corrected means of systems."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import goldrank
from goldrank import Qrels, corrected_values
from goldrank.base.errors import GoldrankError, InputError, MeasureError, OptionError
from goldrank.judging.corrected import Units
from goldrank.judging.ppi import corrected_mean


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
        difference = f["two"] - f["one"]
        both = corrected_mean(y["two"] - y["one"], difference[:30], difference[30:], level=1 - 0.05 / 2)  # two measures
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
    # Clusters of the same size: the mean of their means is that of the queries.
    means = [np.array([values[cluster == c].mean() for c in np.unique(cluster)]) for values, cluster in parts]
    expected = corrected_mean(*means)
    assert found.estimate == pytest.approx(expected.estimate, rel=1e-12)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert (found.judged, found.others) == (10, 10)


@pytest.mark.parametrize("drawn", ["clusters", "queries"])
def test_clusters_weigh_as_their_queries_do(drawn):
    """Large clusters are better, so that the mean of queries is not that of clusters; that of queries is asked for."""
    rng = np.random.default_rng(2)
    truth, held, times = 0.0, 0, 60
    for number in range(times + 1):
        clusters = 20_000 if not number else 400
        size = rng.choice([1, 1, 2, 3, 5, 8, 15, 25], clusters)
        cluster = np.repeat(np.arange(clusters), size)
        y = (0.4 + 0.012 * size + rng.normal(0, 0.1, clusters))[cluster] + rng.normal(0, 0.12, len(cluster))
        if not number:
            truth = y.mean()
            continue
        f = 0.2 + 0.8 * y + rng.normal(0, 0.1, len(y))
        at = np.sort(rng.choice(len(y), 120, replace=False))
        if drawn == "clusters":
            at = np.flatnonzero(np.isin(cluster, rng.choice(clusters, 40, replace=False)))
        found = Units(at, len(y), cluster=cluster).estimate(y[at], f, 0.95)
        held += found.low <= truth <= found.high
    assert held >= 0.85 * times  # none, where clusters counted alike


def test_words_and_intervals_of_pairs_agree():
    """Over many worlds and measures: what is unclear holds 0, what is better or worse does not."""
    words = set()
    for seed in range(12):
        for value in corrected(*world(40, 25, seed), ["nDCG@4", "P@1", "AP"]).values:
            if value.against is None:
                continue
            low, high = value.interval
            assert (value.verdict == "unclear") == (low <= 0 <= high)
            assert low < high
            words.add(value.verdict)
    same = {q: ["d0", "d1"] for q in world()[1]}
    found = corrected(*world()[:2], {"one": same, "two": same}, "nDCG@4")["nDCG@4", "two", "one"]
    assert found.interval.low < 0 < found.interval.high  # equal on these queries, not on all that there are


def test_intervals_of_pairs_hold_together():
    """Six systems that are alike: 15 pairs, all of whose intervals hold 0 in 95 of 100 cases; it was 65."""
    rng = np.random.default_rng(6)
    times, held = 60, 0
    for _ in range(times):
        values = rng.normal(0.5, 0.2, (6, 100))
        units = Units(np.arange(50), 100)
        model = values + rng.normal(0, 0.1, (6, 100))
        level = 1 - 0.05 / 15
        held += all(
            units.estimate((values[b] - values[a])[:50], model[b] - model[a], level).holds(0.0)
            for a, b in combinations(range(6), 2)
        )
    assert held >= 0.87 * times


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


def texts_of(count, covered):
    """Questions with one text each, which covers the reference where `covered` says so."""
    return [
        {"id": f"q{i:03}", "retrieved": [f"fact {i}" if covered(i) else "nothing"], "references": [f"fact {i}"]}
        for i in range(count)
    ]


def test_scores_of_texts_by_people_and_by_a_model(tmp_path, capsys):
    """People label 20 of 80 questions: the value is that of the estimator on the values of the questions."""
    by_model = goldrank.evaluate_texts(texts_of(80, lambda i: i % 3 != 0), "Cover@5")
    by_people = goldrank.evaluate_texts(texts_of(80, lambda i: i % 4 != 0)[:20], "Cover@5")
    value = goldrank.corrected_scores(by_people, by_model)["Cover@5", "items"]

    y = np.array([float(i % 4 != 0) for i in range(20)])
    f = np.array([float(i % 3 != 0) for i in range(80)])
    expected = corrected_mean(y, f[:20], f[20:], level=0.95, two_valued=True)
    assert value.value == expected.estimate
    assert (value.by_people, value.by_model) == (15 / 20, f.mean())
    assert value.interval.low < value.value < value.interval.high

    from goldrank.cli import run as command

    by_people.save(tmp_path / "people.json")
    by_model.save(tmp_path / "model.json")
    assert command(["judge", "corrected", str(tmp_path / "people.json"), str(tmp_path / "model.json")]) == 0
    assert f"{value.value:.4f}" in capsys.readouterr().out


def test_scores_that_are_not_of_the_same_questions():
    all_scores = goldrank.evaluate_texts(texts_of(30, bool), "Cover@5")
    with pytest.raises(InputError, match="no score of a question that people scored"):
        goldrank.corrected_scores(all_scores, goldrank.evaluate_texts(texts_of(20, bool), "Cover@5"))
    with pytest.raises(GoldrankError, match="no measure in common"):
        goldrank.corrected_scores(goldrank.evaluate_texts(texts_of(20, bool), "RR"), all_scores)
    with pytest.raises(GoldrankError, match="the scores of one system"):
        goldrank.corrected_scores({"q": 1}, all_scores)


def test_scores_of_rankings_give_the_values_of_judgements():
    human, model, runs = world()
    found = corrected(human, model, {"one": runs["one"]}, "nDCG@4")["nDCG@4", "one"]
    by_people = goldrank.evaluate(human, {q: runs["one"][q] for q in human}, "nDCG@4")
    by_model = goldrank.evaluate(model, runs["one"], "nDCG@4")
    assert goldrank.corrected_scores(by_people, by_model)["nDCG@4", by_model.run].value == found.value
