"""Measures beyond accuracy: by hand, by other programs, and what must hold for all of them."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import numpy as np
import places
import pytest
from helpers import codes
from raising import raises_code
from recommender_cases import CATALOGUE, KEPT, PAIR, QRELS, RECOMMENDED, RUN, SAMPLED, TRAIN

from goldrank import Catalogue, GoldrankError, Runs, Scores, compare, evaluate, gate, score_intervals
from goldrank.measures import REGISTRY, parse
from goldrank.measures.sampled import corrected, rank_chances

GOLDEN = {
    case["id"]: case
    for case in json.loads((places.FILES / "golden" / "recommenders.json").read_text(encoding="utf-8"))["cases"]
}
TOY = GOLDEN["toy"]["inputs"]
TOY_GRADES = {user: dict.fromkeys(items, 1) for user, items in TOY["relevant"].items()}
NAMES = sorted(name for name, one in REGISTRY.items() if one.over == "recommended")


def toy(measure: str, *, seen: Any = "keep", **catalogue: Any) -> float:
    known = Catalogue(TOY["catalogue"], train=TOY["train"], seen=seen, **catalogue)
    scores = evaluate(TOY_GRADES, TOY["recommended"], measure, catalogue=known)
    return float(scores[measure])


@pytest.mark.parametrize("case", RECOMMENDED, ids=[case.measure for case in RECOMMENDED])
def test_value(case):
    found = evaluate(QRELS, RUN, case.measure, catalogue=Catalogue(**KEPT))[case.measure]
    assert found == pytest.approx(case.value, abs=1e-12), case.why


@pytest.mark.parametrize(
    ("measure", "golden", "key", "seen"),
    [
        ("ItemCoverage@3", "catalogue-coverage", "value", "keep"),
        ("ItemCoverage@3", "catalogue-coverage", "with_train_removed", "remove"),
        ("UserCoverage@3", "user-coverage", "hit", "keep"),
        ("UserCoverage(served=True)@3", "user-coverage", "served", "keep"),
        ("Gini@3", "gini", "value", "keep"),
        ("Gini(adjusted=True)@3", "gini", "adjusted_n_over_n_minus_1", "keep"),
        ("Entropy@3", "entropy", "bits", "keep"),
        ("Entropy(normalize=True)@3", "entropy", "normalised", "keep"),
        ("AveragePopularity@3", "average-popularity", "counts", "keep"),
        ("AveragePopularity(share=True)@3", "average-popularity", "share", "keep"),
        ("PopularityLift@3", "popularity-lift", "ratio_of_means", "keep"),
        ("Novelty@3", "novelty", "share_of_users", "remove"),
        ('Novelty(of="interactions")@3', "novelty", "share_of_interactions", "remove"),
        ("IntraListDiversity@3", "intra-list-diversity", "all", "keep"),
        ("IntraListDiversity@3", "intra-list-diversity", "train_removed", "remove"),
        ('Serendipity(relevance="one")@3', "serendipity", "relevance_one", "remove"),
        ("Serendipity@3", "serendipity", "relevance_test", "remove"),
        ("Personalisation@3", "personalisation", None, "keep"),
        ("ExposureParity@3", "exposure", "parity_ratio", "keep"),
    ],
)
def test_golden(measure, golden, key, seen):
    groups = GOLDEN["exposure"]["inputs"]["groups"]
    expected = GOLDEN[golden]["expected"]
    wanted = expected if key is None else expected[key]
    assert toy(measure, seen=seen, vectors=TOY["vectors"], groups=groups) == pytest.approx(wanted, abs=1e-11)


def test_golden_shares_of_exposure():
    case = GOLDEN["exposure"]
    for group, share in case["expected"]["share"].items():
        assert toy(f'ExposureShare(group="{group}")@3', groups=case["inputs"]["groups"]) == pytest.approx(share)


@pytest.mark.parametrize(
    ("measure", "golden"),
    [
        ("P@3", "recommenders-precision_at_k"),
        ("R@3", "recommenders-recall_at_k"),
        ("nDCG@3", "recommenders-ndcg_at_k"),
        ('AP(divisor="min")@3', "recommenders-map_at_k"),
    ],
)
def test_golden_accuracy(measure, golden):
    """The recommenders package divides AP by the lesser of k and the relevant items."""
    assert toy(measure) == pytest.approx(GOLDEN[golden]["expected"], abs=1e-11)


def test_golden_gini_edges():
    for counts, wanted in zip(GOLDEN["gini-edges"]["inputs"]["counts"], GOLDEN["gini-edges"]["expected"], strict=True):
        lists = {f"u{i}{n}": [f"i{i}"] for i, count in enumerate(counts) for n in range(count)}
        qrels = {user: {"i0": 1} for user in lists}
        found = evaluate(qrels, lists, "Gini@1", catalogue=[f"i{i}" for i in range(len(counts))], overlap="allow")
        assert found["Gini@1"] == pytest.approx(wanted, abs=1e-12)


def test_golden_calibration():
    """A user who had 7 of x and 3 of y, and lists in other proportions."""
    inputs, expected = GOLDEN["calibration"]["inputs"], GOLDEN["calibration"]["expected"]
    for shares, wanted in zip(inputs["q"], expected, strict=True):
        genres = {f"{genre}{i}": genre for genre in "xyz" for i in range(40)}
        had = [f"x{i}" for i in range(7)] + [f"y{i}" for i in range(3)]
        shown = [f"{g}{i}" for g, share in zip("xyz", shares, strict=True) for i in range(20, 20 + round(10 * share))]
        scores = evaluate({"u": {"x30": 1}}, {"u": shown}, "Calibration", overlap="allow",
                          catalogue=Catalogue(train={"u": had}, genres=genres))  # fmt: skip
        assert scores["Calibration"] == pytest.approx(wanted, abs=1e-10)


def test_hit_rate_by_all_its_names():
    scores = evaluate(TOY_GRADES, TOY["recommended"], ["HR@3", "HitRate@3", "Success@3"])
    assert {scores["HR@3"], scores["HitRate@3"], scores["Success@3"], scores["hit_rate_at_3"]} == {0.75}
    assert "HR@3" in scores.measures


# What was had before.


def test_train_is_removed_before_the_cut_and_said():
    qrels = {"u": {"c": 1}, "v": {"c": 1}}
    run = {"u": ["a", "b", "c", "d"], "v": ["a", "c"]}
    scores = evaluate(qrels, run, ["RR", "P@2", "R@2"], catalogue=Catalogue(train={"u": ["a", "b"], "w": ["c"]}))
    assert scores.per_query["RR"] == {"u": 1.0, "v": 0.5}
    assert scores["R@2"] == 1.0
    note = next(note for note in scores.notes if note.code == "seen-removed")
    assert (note.fact("count"), note.fact("users"), note.fact("short")) == (2, 1, 0)
    assert scores.provenance["train"]["pairs"] == 3


def test_users_left_short_are_counted():
    scores = evaluate({"u": {"c": 1}}, {"u": ["a", "b", "c"]}, "P@3", catalogue=Catalogue(train=[("u", "a", 5.0)]))
    note = next(note for note in scores.notes if note.code == "seen-removed")
    assert note.fact("short") == 1
    assert scores["P@3"] == pytest.approx(1 / 3)


def test_judged_items_that_were_had_are_warned_of():
    scores = evaluate(
        {"u": {"a": 1, "b": 1}}, {"u": ["a", "b"]}, ["R@2", "RR"], catalogue=Catalogue(train={"u": ["a"]})
    )
    assert scores["R@2"] == 0.5
    assert scores["RR"] == 1.0
    assert "judged-in-train" in codes(scores)


def test_train_of_other_users_is_warned_of():
    scores = evaluate({"u": {"a": 1}}, {"u": ["a"]}, "RR", catalogue=Catalogue(train={"U": ["b"]}))
    assert "train-without-users" in codes(scores)


@pytest.mark.parametrize(
    "train",
    [
        {"u": ["a", "b"]},
        {"u": {"a": 4.5, "b": 1}},
        {"u": {"a", "b"}},
        [("u", "a"), ("u", "b", 3.5, 99)],
        [["u", "a"], ["u", "b"]],
    ],
)
def test_train_in_any_shape(train):
    assert evaluate({"u": {"c": 1}}, {"u": ["a", "b", "c"]}, "RR", catalogue=Catalogue(train=train))["RR"] == 1.0


def test_train_in_frames_and_files(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"user_id": ["u", "u"], "item_id": ["a", "b"], "rating": [5, 4]})
    assert evaluate({"u": {"c": 1}}, {"u": ["a", "b", "c"]}, "RR", catalogue=Catalogue(train=frame))["RR"] == 1.0
    frame.write_csv(tmp_path / "train.csv")
    assert (
        evaluate({"u": {"c": 1}}, {"u": ["a", "b", "c"]}, "RR", catalogue=Catalogue(train=tmp_path / "train.csv"))["RR"]
        == 1.0
    )


@pytest.mark.parametrize("ties", ["docid", "input", "docid-ascending", "expected"])
def test_train_does_what_leaving_out_does(ties):
    """On random data with ties, by the memory engine and by files: values, counts of ties and heads."""
    rng = random.Random(ties)
    measures = ["nDCG@5", "AP", "P@3"] + ([] if ties == "expected" else ["Hole@3", "ItemCoverage@2"])
    for _ in range(40):
        items = [f"i{i}" for i in range(12)]
        users = [f"u{i}" for i in range(rng.randint(1, 4))]
        qrels = {user: {item: rng.randint(0, 2) for item in rng.sample(items, 4)} for user in users}
        run = {user: {item: rng.randint(0, 4) / 4 for item in rng.sample(items, 9)} for user in users}
        train = {user: rng.sample(items, rng.randint(0, 5)) for user in users}
        if not any(train.values()):
            continue
        rest = {user: {item: s for item, s in row.items() if item not in train[user]} for user, row in run.items()}
        ours = evaluate(qrels, run, measures, catalogue=Catalogue(items, train=train), ties=ties, overlap="allow")
        theirs = evaluate(qrels, rest, measures, catalogue=items, ties=ties, overlap="allow")
        assert ours.per_query == theirs.per_query
        assert ours.counts["tied"] == theirs.counts["tied"]
        assert ours.counts["retrieved"] == theirs.counts["retrieved"]


def test_train_with_a_file_of_a_run(tmp_path):
    (tmp_path / "run").write_text("".join(f"u Q0 {item} {i} {9 - i} t\n" for i, item in enumerate("abcd", 1)))
    scores = evaluate(
        {"u": {"c": 1}}, tmp_path / "run", ["RR", "ItemCoverage@1"], catalogue=Catalogue(train={"u": ["a"]})
    )
    assert scores["RR"] == 0.5
    assert scores["ItemCoverage@1"] == 1 / 4


# What is missing is said.


@pytest.mark.parametrize(
    ("measure", "known"),
    [
        ("Novelty@2", {}),
        ("AveragePopularity@2", {}),
        ("IntraListDiversity@2", {}),
        ("IntraListDiversity@2", {"catalogue": Catalogue(vectors={"c": [1, 0]})}),
        ("IntraListDiversity@2", {"catalogue": list("abcdef")}),
        ("Serendipity@2", {"catalogue": CATALOGUE}),
        ('Serendipity(unexpected="run")@2', {"catalogue": Catalogue(train=TRAIN)}),
        ("Calibration@2", {"catalogue": Catalogue(train=TRAIN)}),
        ("Calibration@2", {"catalogue": Catalogue(train=TRAIN, genres={"c": "x"})}),
        ("ExposureParity@2", {}),
        ("ExposureShare@2", {"catalogue": CATALOGUE}),
        ('ExposureShare(group="no")@2', {"catalogue": CATALOGUE}),
        ("ItemCoverage@2", {"catalogue": ["c"]}),
    ],
)
def test_missing_knowledge_is_asked_for(measure, known):
    with pytest.raises(GoldrankError) as caught:
        evaluate(QRELS, RUN, measure, **known)
    assert caught.value.hint


@pytest.mark.parametrize(
    "make",
    [
        lambda: Catalogue([]),
        lambda: Catalogue("abc"),
        lambda: Catalogue(["a", "a"]),
        lambda: Catalogue(vectors={"a": [0, 0]}),
        lambda: Catalogue(vectors={"a": [1, 0], "b": [1]}),
        lambda: Catalogue(vectors={"a": [math.nan, 1]}),
        lambda: Catalogue(vectors=[[1, 0]]),
        lambda: Catalogue(["a", "b"], vectors=[[1, 0]]),
        lambda: Catalogue(genres={"a": 3}),
        lambda: Catalogue(groups=["a"]),
        lambda: evaluate(QRELS, RUN, "RR", catalogue=Catalogue(train=3)),
        lambda: evaluate(QRELS, RUN, "RR", catalogue=Catalogue(train={})),
        lambda: evaluate(QRELS, RUN, "RR", catalogue=Catalogue(train=[("u",)])),
        lambda: evaluate(QRELS, RUN, "RR", catalogue=Catalogue(train=TRAIN, seen="forget")),
    ],
)
def test_wrong_knowledge_is_refused(make):
    with pytest.raises(GoldrankError):
        make()


def test_a_guessed_catalogue_and_users_left_out_are_said():
    scores = evaluate(QRELS, RUN, ["Gini@2", "Novelty@2"], catalogue=Catalogue(train=TRAIN))
    assert {"guessed-catalogue", "users-left-out", "never-seen-items"} <= set(codes(scores))
    assert evaluate(QRELS, RUN, "Gini@2", catalogue=CATALOGUE).notes[-1].code == "users-left-out"


def test_rows_of_vectors_in_the_order_of_items():
    known = Catalogue(["c", "d", "e"], vectors=np.array([[0, 1], [0, 2], [3, 0]]))
    assert evaluate(QRELS, RUN, "ILD@2", catalogue=known)["ILD@2"] == 0.5


# All users together.


def test_numbers_of_all_users_do_not_merge():
    parts = [evaluate({u: QRELS[u]}, {u: RUN[u]}, "Gini@2", catalogue=CATALOGUE) for u in ("u", "v")]
    with raises_code(GoldrankError, "all-queries-together"):
        Scores.merge(parts)


def test_numbers_of_users_merge_if_the_training_data_is_the_same():
    parts = [evaluate({u: QRELS[u]}, {u: RUN[u]}, "Novelty@2", catalogue=Catalogue(**KEPT)) for u in ("u", "v", "w")]
    whole = evaluate(QRELS, RUN, "Novelty@2", catalogue=Catalogue(**KEPT))
    assert Scores.merge(parts)["Novelty@2"] == whole["Novelty@2"]
    other = evaluate(
        {"v": QRELS["v"]}, {"v": RUN["v"]}, "Novelty@2", catalogue=Catalogue(train={"v": ["a"]}, seen="keep")
    )
    with pytest.raises(GoldrankError, match="train"):
        Scores.merge([parts[0], other])


def test_a_comparison_tests_nothing_with_them():
    qrels = {f"u{i}": {"a": 1} for i in range(30)}
    runs = {"one": {u: ["a", "b"] for u in qrels}, "other": {u: ["b", f"x{u}"] for u in qrels}}
    found = compare(
        evaluate(qrels, Runs(runs), ["RR", "Gini@2"], catalogue=Catalogue(train={"u0": ["z"]}), overlap="allow")
    )
    assert found["RR", "one", "other"].verdict == "worse"
    assert found["Gini@2", "one", "other"].verdict == "diagnostic"


def test_a_gate_holds_them_to_limits_alone():
    qrels = {f"u{i}": {"a": 1} for i in range(30)}
    before, after = (evaluate(qrels, {u: ["a", x] for u in qrels}, "Gini@2", catalogue=["a", "b", "c"])
                     for x in "bb")  # fmt: skip
    assert gate(after, rules=["Gini@2 <= 0.9"]).status == "pass"
    assert gate(after, rules=["Gini@2 <= 0.1"]).status == "fail"
    with raises_code(GoldrankError, "all-queries-together"):
        gate(after, rules=["Gini@2: +1%"], baseline=before)


def test_there_is_no_interval_of_a_number_of_all_users():
    qrels = {f"u{i}": {"a": 1} for i in range(30)}
    scores = evaluate(qrels, {u: ["a", f"x{u}"] for u in qrels}, ["Gini@2", "RR"])
    found = score_intervals(scores)
    assert math.isnan(found["Gini@2"].low)
    assert found["RR"].low > 0.5
    assert "of-all-queries" in codes(found)


@pytest.mark.parametrize("name", NAMES)
def test_saved_scores_come_back(name, tmp_path):
    spelled = f'{name}(group="g")@2' if name == "ExposureShare" else f"{name}@2"
    scores = evaluate(QRELS, RUN, spelled, catalogue=Catalogue(**KEPT))
    scores.save(tmp_path / "scores.json")
    assert Scores.load(tmp_path / "scores.json") == scores


# Samples.


@pytest.mark.slow
def test_golden_sampled():
    case = GOLDEN["sampled-hit"]
    n, m, k = (case["inputs"][key] for key in ("n_items", "negatives", "k"))
    chances = rank_chances(np.array(case["inputs"]["true_rank"]), n, m)[:, :k].sum(axis=1)
    assert chances == pytest.approx(case["expected"], rel=1e-9)
    case = GOLDEN["sampled-bv"]
    found = corrected(n, m, "Success", k, "bias-variance", case["inputs"]["gamma"], True)
    assert found[:6] == pytest.approx(case["expected"], abs=1e-9)
    case = GOLDEN["sampled-rank-estimate"]
    estimate = corrected(n, m, "RR", None, "rank", 0.1, True)
    assert [1 / estimate[r - 1] for r in case["inputs"]["sampled_rank"]] == pytest.approx(case["expected"])


def sample(rank: int, negatives: int = 100) -> list[str]:
    others = [f"n{i}" for i in range(negatives)]
    return [*others[: rank - 1], "a", *others[rank - 1 :]]


def test_sampled_measure():
    qrels, run = {"u": {"a": 1}, "v": {"a": 1}}, {"u": sample(1), "v": sample(4)}
    scores = evaluate(qrels, run, ["Sampled(items=1001, negatives=100)@10", "SampledRR(items=1001, negatives=100)"])
    assert list(scores.per_query["Sampled(items=1001, negatives=100)@10"].values()) == pytest.approx(
        [1.10258794391, -0.148847658949], abs=1e-9
    )
    assert codes(scores).count("sampled") == 2
    plain = 'Sampled(correction="none", items=1001, negatives=100)@3'
    assert evaluate(qrels, run, plain)[plain] == 0.5
    rank = 'Sampled(correction="rank", items=1001, negatives=100, of="RR")'
    assert evaluate(qrels, run, rank).per_query[rank]["v"] == pytest.approx(1 / 31)
    gain = 'Sampled(correction="rank", items=1001, negatives=100, of="nDCG")'
    assert evaluate(qrels, run, gain).per_query[gain]["v"] == pytest.approx(1 / 5)


@pytest.mark.parametrize("case", SAMPLED, ids=[case.measure for case in SAMPLED])
def test_sampled_by_hand(case):
    assert evaluate({"u": {"a": 1}}, PAIR, case.measure)[case.measure] == pytest.approx(case.value), case.why


@pytest.mark.parametrize("replacement", [True, False])
def test_sampled_correction_is_near_the_truth(replacement):
    """True ranks are known, samples are drawn: the corrected mean is near, the sampled one is far away."""
    rng = np.random.default_rng(5)
    items, negatives, k = 500, 50, 10
    true_rank = rng.integers(1, items + 1, 4000)
    if replacement:
        drawn = 1 + rng.binomial(negatives, (true_rank - 1) / (items - 1))
    else:
        drawn = 1 + rng.hypergeometric(true_rank - 1, items - true_rank, negatives)
    values = np.array(corrected(items, negatives, "Success", k, "bias-variance", 0.01, replacement))
    truth = (true_rank <= k).mean()
    assert values[drawn - 1].mean() == pytest.approx(truth, abs=0.02)
    assert (drawn <= k).mean() > truth + 0.1


@pytest.mark.parametrize(
    "measure",
    [
        "Sampled@10",
        "Sampled(items=1001)@10",
        "Sampled(items=1001, negatives=99)@10",
        'Sampled(items=1001, negatives=100, drawn="popularity")@10',
        "Sampled(items=50, negatives=100, replacement=False)@10",
        "Sampled(items=1001, negatives=100, rel=2)@10",
    ],
)
def test_samples_that_cannot_be_corrected(measure):
    with pytest.raises(GoldrankError):
        evaluate({"u": {"a": 1}}, {"u": sample(3)}, measure)


def test_samples_by_popularity_as_they_are():
    measure = (
        'Sampled(correction="none", drawn="popularity", gamma=0.5, items=1001, negatives=100, replacement=False)@3'
    )
    assert evaluate({"u": {"a": 1}}, {"u": sample(3)}, measure)[measure] == 1.0


def test_a_sample_without_the_positive_is_refused():
    with pytest.raises(GoldrankError):
        evaluate({"u": {"b": 1}}, {"u": sample(3)}, "Sampled(items=1001, negatives=100)@3", overlap="allow")


def test_every_name_is_found():
    for alias, name in {
        "ILD": "IntraListDiversity",
        "ARP": "AveragePopularity",
        "catalog_coverage": "ItemCoverage",
    }.items():
        assert parse(f"{alias}@5").name == name


def test_all_items_of_a_catalogue_are_a_share_of_1():
    """However many there are, in however many lists: what is counted is divided once."""
    rng = random.Random(5)
    for size in range(1, 200):
        items = [f"i{i}" for i in range(size)]
        users = rng.randint(1, 12)
        lists: dict[str, list[str]] = {f"u{user}": [] for user in range(users)}
        for item in items:
            for user in rng.sample(sorted(lists), rng.randint(1, users)):
                lists[user].append(item)
        lists = {user: held for user, held in lists.items() if held}
        qrels = {user: {"i0": 1} for user in lists}
        known = Catalogue(items, groups=dict.fromkeys(items, "x"))
        scores = evaluate(qrels, lists, ["ItemCoverage", 'ExposureShare(group="x")'], catalogue=known, overlap="allow")
        assert list(scores.mean.values()) == [1.0, 1.0], size


def test_one_item_for_everybody_is_as_uneven_as_can_be():
    for users in range(1, 120):
        lists = {f"u{user}": ["a"] for user in range(users)}
        qrels = {user: {"a": 1} for user in lists}
        scores = evaluate(qrels, lists, "Gini(adjusted=True)@1", catalogue=["a", "b", "c"])
        assert scores["Gini(adjusted=True)@1"] == 1.0, users


def test_variants_of_recommender_libraries_by_hand():
    """Hits at ranks 1 and 3 of three relevant items: precisions 1 and 2/3; DCG 1 + 1/2."""
    judged, run = {"u": {"a": 1, "b": 1, "c": 1}}, {"u": ["a", "x", "b"]}
    ten = sum(1 / math.log2(rank + 1) for rank in range(1, 11))
    three = sum(1 / math.log2(rank + 1) for rank in range(1, 4))
    expected = {
        'AP(divisor="k")@10': (1 + 2 / 3) / 10,
        'AP(divisor="k")': (1 + 2 / 3) / 3,
        'nDCG(ideal="full")@10': 1.5 / ten,
        'nDCG(ideal="full")': 1.5 / three,
        "R_cap@2": 1 / 2,
    }
    assert evaluate(judged, run, list(expected)).mean == pytest.approx(expected, rel=1e-15)


def test_diversity_by_the_users_that_items_share():
    """a: v w, b: v t, x: w. Cosines: a and b 1/2, a and x 1/sqrt(2), b and x 0."""
    known = Catalogue(train={"v": ["a", "b"], "w": ["a", "x"], "t": ["b"]})
    value = evaluate({"u": {"a": 1}}, {"u": ["a", "x", "b"]}, 'ILD(alike="users")', catalogue=known)
    assert list(value.mean.values()) == pytest.approx([1 - (1 / 2 + 1 / math.sqrt(2)) / 3], rel=1e-15)
