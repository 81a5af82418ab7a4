"""Agreement of matchers with labels: against scikit-learn and statsmodels, and by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from raising import raises_code
from sklearn import metrics
from statsmodels.stats.inter_rater import cohens_kappa

from goldrank import matcher_agreement
from goldrank.base.errors import InputError, OptionError
from goldrank.comparison.settings import Statistics
from goldrank.match.own import Own
from goldrank.rag import matcher_agreement as matching
from goldrank.rag.labelled_pairs import read_labels
from goldrank.rag.matcher_agreement import Confusion, describe_disagreements

QUICK = Statistics(samples=100)


def by_degree(table: dict[tuple[str, str], float], threshold: float = 0.5) -> Own:
    return Own(lambda retrieved, reference: table[retrieved, reference], threshold)


def random_labels(seed: int, n: int = 200) -> tuple[list[tuple[str, str, bool]], Own, np.ndarray]:
    """Pairs whose degree says something about the label, and a matcher that knows the degrees."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    degrees = np.round(np.clip(rng.normal(np.where(truth, 0.65, 0.35), 0.2), 0.01, 1), 3)
    labels = [(f"t{i}", f"r{i}", bool(truth[i])) for i in range(n)]
    return labels, by_degree({(f"t{i}", f"r{i}"): float(degrees[i]) for i in range(n)}), degrees


@pytest.mark.parametrize("seed", range(10))
def test_against_scikit_learn(seed: int) -> None:
    labels, rule, degrees = random_labels(seed)
    truth, decided = np.array([label for _, _, label in labels]), degrees >= 0.5
    (found,) = matcher_agreement(labels, rule, statistics=QUICK)
    c = found.confusion
    tn, fp, fn, tp = metrics.confusion_matrix(truth, decided).ravel().tolist()
    assert c == (tp, fp, fn, tn)
    assert c.precision == pytest.approx(metrics.precision_score(truth, decided))
    assert c.recall == pytest.approx(metrics.recall_score(truth, decided))
    assert found.f1 == pytest.approx(metrics.f1_score(truth, decided))
    assert c.accuracy == pytest.approx(metrics.accuracy_score(truth, decided))
    assert found.kappa == pytest.approx(metrics.cohen_kappa_score(truth, decided))


@pytest.mark.parametrize("seed", range(3))
def test_best_thresholds_against_trying_all(seed: int) -> None:
    labels, rule, degrees = random_labels(seed, 60)
    truth = np.array([label for _, _, label in labels])
    (found,) = matcher_agreement(labels, rule, statistics=QUICK)
    for by, score in (("f1", metrics.f1_score), ("kappa", metrics.cohen_kappa_score)):
        best = found.best[by]
        assert best.value == pytest.approx(max(score(truth, degrees >= t) for t in np.unique(degrees)))
        assert score(truth, degrees >= best.threshold) == pytest.approx(best.value)


def test_kappa_interval_against_statsmodels() -> None:
    """With many pairs the bootstrap and the large-sample formula (Fleiss, Cohen and Everitt 1969) agree."""
    confusion = Confusion(380, 70, 90, 460)
    other = cohens_kappa([[380, 70], [90, 460]])
    assert confusion.kappa == pytest.approx(other.kappa)
    found = matching._kappa_interval(confusion, 0.95, 20_000, 0)
    assert found.low == pytest.approx(other.kappa_low, abs=0.003)
    assert found.high == pytest.approx(other.kappa_upp, abs=0.003)


def test_by_hand() -> None:
    # 3 both, 1 matcher alone, 2 label alone, 4 neither.
    c = Confusion(3, 1, 2, 4)
    assert (c.n, c.precision, c.recall, c.accuracy) == (10, 3 / 4, 3 / 5, 7 / 10)
    assert c.f1 == 2 * 3 / (2 * 3 + 1 + 2)
    # The matcher says yes to 4 of 10 and the label to 5: by chance they agree on 0.4*0.5 + 0.6*0.5 = 0.5.
    assert c.kappa == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert math.isnan(Confusion(0, 0, 2, 3).precision)
    assert Confusion(0, 0, 2, 3).f1 == 0
    assert Confusion(0, 0, 2, 3).kappa == 0
    assert Confusion(2, 0, 0, 3).kappa == 1


def test_thresholds_are_round_and_in_the_gap() -> None:
    degrees = {("a", "x"): 0.91, ("b", "x"): 0.62, ("c", "x"): 0.34, ("d", "x"): 0.33}
    labels = [("a", "x", 1), ("b", "x", 1), ("c", "x", 0), ("d", "x", 0)]
    (found,) = matcher_agreement(labels, by_degree(degrees, 0.9), statistics=QUICK)
    # Any threshold above 0.34 and up to 0.62 is right throughout; 0.5 is the roundest near the middle.
    assert found.best["kappa"] == matching.BestThreshold("kappa", 0.5, 1.0, found.best["kappa"].held_out)
    assert found.confusion == (1, 0, 1, 2)
    assert matching._round_between(0.333, 0.334) == 0.334
    assert matching._round_between(0.0, 1.0) == 0.5
    assert matching._round_between(0.3, 0.4) == 0.4
    low, high = 0.1, float(np.nextafter(0.1, 1))
    assert low < matching._round_between(low, high) <= high


def test_a_degree_of_zero_is_never_a_match() -> None:
    degrees = {("a", "x"): 0.0, ("b", "x"): 0.0, ("c", "x"): 0.4}
    (found,) = matcher_agreement([("a", "x", 1), ("b", "x", 1), ("c", "x", 0)], by_degree(degrees), statistics=QUICK)
    assert found.best["f1"].threshold > 0


def test_held_out_value_is_not_flattered() -> None:
    """Of degrees that say nothing the best threshold still looks good on its own labels, not on others."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(20):
        labels = [(f"t{i}", "r", bool(rng.random() < 0.5)) for i in range(60)]
        table = {(f"t{i}", "r"): float(rng.random()) for i in range(60)}
        found.append(matcher_agreement(labels, by_degree(table), statistics=QUICK).results[0].best["kappa"])
    assert np.mean([best.value for best in found]) > 0.1  # looks like something
    assert abs(np.mean([best.held_out for best in found])) < 0.1  # is nothing


def test_held_out_by_hand() -> None:
    """Clear labels are right for held-out pairs, too; with one pair of a label nothing can be held out."""
    degrees = {(f"t{i}", "r"): 0.9 if i % 2 else 0.1 for i in range(20)}
    labels = [(f"t{i}", "r", i % 2 == 1) for i in range(20)]
    best = matcher_agreement(labels, by_degree(degrees), statistics=QUICK).results[0].best
    assert (best["kappa"].held_out, best["f1"].held_out) == (1.0, 1.0)
    few = matcher_agreement(labels[:3], by_degree(degrees), statistics=QUICK)
    assert few.results[0].best["kappa"].held_out is None
    assert "-" in str(few)


def test_parts_keep_equal_pairs_together_and_labels_apart() -> None:
    labels = [(f"t{i % 15}", "r", i % 15 < 5) for i in range(45)]
    pairs, notes = read_labels(labels)
    parts = matching._folds(pairs, 5, 0)
    assert parts is not None
    for i in range(15):
        assert len({int(parts[j]) for j in range(45) if j % 15 == i}) == 1
    for part in range(5):
        assert sum(pairs[j].label for j in range(15) if parts[j] == part) == 1
    assert [(note.code, note.fact("count")) for note in notes] == [("repeated-pairs", 30)]


def test_ranking_and_distance_from_the_first() -> None:
    labels, rule, degrees = random_labels(1)
    weaker = (degrees + np.random.default_rng(0).random(200)) / 2
    noise = {(f"t{i}", f"r{i}"): float(value) for i, value in enumerate(weaker)}
    found = matcher_agreement(labels, [by_degree(noise, 0.4), rule, "exact"])
    assert [one.matcher for one in found] == ["own function <lambda>:0.5", "own function <lambda>:0.4", "exact"]
    assert [one.kappa for one in found] == sorted((one.kappa for one in found), reverse=True)
    first, second, _ = found
    assert first.behind is None
    assert second.behind is not None
    assert first.kappa - second.kappa in second.behind
    assert second.behind.low > 0  # clearly worse
    # Two rules that decide alike.
    same = matcher_agreement(labels, [rule, by_degree(dict(zip(noise, degrees.tolist(), strict=True)), 0.5001)])
    low, high = same.results[1].behind  # they decide alike on these pairs, and may differ on others
    assert low < 0 < high


def test_paired_bootstrap_against_drawing_pairs() -> None:
    """The counts of eight kinds of pairs stand for the pairs: drawing pairs one by one gives the same interval."""
    rng = np.random.default_rng(2)
    truth = rng.random(300) < 0.5
    a, b = truth ^ (rng.random(300) < 0.1), truth ^ (rng.random(300) < 0.25)

    class Decided:
        def __init__(self, decided: np.ndarray) -> None:
            self.decided = decided

    found = matching._behind(Decided(a), Decided(b), truth, 0.95, 4_000, 0)

    def kappas(decided: np.ndarray, label: np.ndarray) -> np.ndarray:
        p, q = decided.mean(axis=1), label.mean(axis=1)
        chance = p * q + (1 - p) * (1 - q)
        return ((decided == label).mean(axis=1) - chance) / (1 - chance)

    drawn = rng.integers(0, 300, (2_000, 300))
    gaps = kappas(a[drawn], truth[drawn]) - kappas(b[drawn], truth[drawn])
    assert kappas(a[None], truth[None])[0] == pytest.approx(metrics.cohen_kappa_score(truth, a))
    assert found.low == pytest.approx(np.quantile(gaps, 0.025), abs=0.015)
    assert found.high == pytest.approx(np.quantile(gaps, 0.975), abs=0.015)


def test_the_same_seed_gives_the_same_numbers() -> None:
    labels, rule, _ = random_labels(3)
    first, again, other = (
        matcher_agreement(labels, rule, statistics=Statistics(seed=seed)).to_dict() for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_shapes() -> None:
    labels, rule, _ = random_labels(4, 40)
    found = matcher_agreement(labels, [rule, "exact", "exact"], statistics=QUICK)
    assert len(found) == 2
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["matchers"][1]["precision"] is None  # exact says yes to nothing
    assert data["matchers"][1]["best_threshold_f1"] is None
    assert found["exact"].best == {}
    with pytest.raises(KeyError, match="there are: own function"):
        found["ratio"]
    text = str(found)
    assert "chosen on these same labels" in text
    assert f"40 labelled pairs, of which {found.matches} match" in text
    assert "exact" in found._repr_html_()


def test_disagreements_begin_with_the_surest() -> None:
    degrees = {("a", "x"): 0.9, ("b", "x"): 0.6, ("c", "x"): 0.2, ("d", "x"): 0.8}
    labels = [("a", "x", False), ("b", "x", False), ("c", "x", True), ("d", "x", True)]
    (found,) = matcher_agreement(labels, by_degree(degrees), statistics=QUICK)
    assert [(one.retrieved, one.label) for one in found.disagreements] == [("a", False), ("c", True), ("b", False)]
    text = describe_disagreements(found, 2)
    assert text.splitlines()[0] == "own function <lambda>:0.5: 3 disagreements, the first 2"
    assert "degree 0.90: match, the label says no match" in text
    assert "degree 0.20: no match, the label says match" in text


def test_disagreements_are_harmless() -> None:
    labels = [("\x1b[31m" + "x" * 1_000_000, "\u202ey", True), ("a", "a", True), ("a", "b", False)]
    text = describe_disagreements(matcher_agreement(labels, "exact").results[0], 5)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text) < 1000


# Reading labels.


@pytest.mark.parametrize(
    ("value", "label"),
    [(True, True), (False, False), (1, True), (0, False), (1.0, True), (0.0, False), ("yes", True), ("No", False),
     ("TRUE", True), (" false ", False), ("1", True), ("0", False), ("y", True), ("n", False), (np.True_, True),
     (np.int64(0), False)],
)  # fmt: skip
def test_labels(value: object, label: bool) -> None:
    assert read_labels([{"retrieved": "a", "reference": "b", "label": value}])[0][0].label is label


@pytest.mark.parametrize("value", [None, float("nan"), "", "  ", "maybe", 2, -1, 0.5, [True], {"a": 1}, "NaN"])
def test_no_labels(value: object) -> None:
    labels = [("a", "b", True), ("a", "b", value)]
    with pytest.raises(InputError, match=r"labels\[1\]: the label is") as caught:
        read_labels(labels)
    missing = value is None or value != value or (isinstance(value, str) and not value.strip())
    assert ("missing" in str(caught.value)) == missing
    assert "true or false" in str(caught.value)


@pytest.mark.parametrize("value", [None, 3, ["a"], float("nan")])
def test_texts_must_be_texts(value: object) -> None:
    with pytest.raises(InputError, match=r"labels\[0\]: the reference is"):
        read_labels([("a", value, True)])


@pytest.mark.parametrize("label", [True, False])
def test_one_label_alone(label: bool) -> None:
    with pytest.raises(InputError, match=f"all 3 pairs have the label {str(label).lower()}"):
        matcher_agreement([("a", "b", label)] * 3, "exact")


def test_no_pairs(tmp_path) -> None:
    for empty in ([], pl.DataFrame({"retrieved": [], "reference": [], "label": []})):
        with raises_code(InputError, "empty-input"):
            matcher_agreement(empty, "exact")
    for text in ("", " \n\n", "[]", "retrieved,reference,label\n"):
        (tmp_path / "f").write_text(text)
        with raises_code(InputError, "empty-input"):
            matcher_agreement(tmp_path / "f", "exact")


ROWS = [{"retrieved": "a, b", "reference": "a, b", "label": True}, {"retrieved": "c", "reference": "d", "label": False}]


def test_files_and_frames(tmp_path) -> None:
    frame = pl.DataFrame(ROWS)
    (tmp_path / "l.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    (tmp_path / "l.json").write_text(json.dumps(ROWS))
    frame.write_csv(tmp_path / "l.csv")
    frame.write_csv(tmp_path / "l.tsv", separator="\t")
    frame.write_parquet(tmp_path / "l.parquet")
    given = [tmp_path / f"l.{kind}" for kind in ("jsonl", "json", "csv", "tsv", "parquet")]
    for labels in (*given, frame, pd.DataFrame(ROWS), ROWS, frame.to_dict(as_series=False)):
        found = matcher_agreement(labels, "exact")["exact"]
        assert found.confusion == (1, 0, 0, 1), labels


def test_names_of_fields(tmp_path) -> None:
    assert read_labels([{"Text": "a", "gold": "b", "match": 1}])[0][0][:3] == ("a", "b", True)
    mapped = read_labels([{"x": {"y": "a"}, "gold": "b", "human": 0}], fields={"retrieved": "x.y", "label": "human"})
    assert mapped[0][0][:3] == ("a", "b", False)
    with pytest.raises(InputError, match="there is no label; fields are: retrieved, reference"):
        read_labels([{"retrieved": "a", "reference": "b"}])
    with pytest.raises(InputError, match="more than one field may be the retrieved: text, passage"):
        read_labels([{"text": "a", "passage": "b", "reference": "c", "label": 1}])
    with pytest.raises(InputError, match="has no field 'z' for the label"):
        read_labels(ROWS, fields={"label": "z"})
    with raises_code(OptionError, "unknown-choice"):
        read_labels(ROWS, fields={"lable": "z"})
    (tmp_path / "l.csv").write_text("t,g,ok\na,a,yes\nb,c,no\n")
    fields = {"retrieved": "t", "reference": "g", "label": "ok"}
    assert matcher_agreement(tmp_path / "l.csv", "exact", fields=fields)["exact"].kappa == 1


def test_what_was_noticed() -> None:
    labels = [("", "a", False), ("a", "a", True), ("a", "a", False), ("b", "b", True)]
    notes = matcher_agreement(labels, "contains").notes
    assert {"empty-labelled": 1, "both-labels": 1}.items() <= {note.code: note.fact("count") for note in notes}.items()


@pytest.mark.parametrize("options", [{"folds": 1}, {"folds": 2.5}, {"level": 0.9}, {"samples": 100}, {"seed": 1}])
def test_options_are_checked(options: dict[str, float]) -> None:
    with pytest.raises(OptionError, match=next(iter(options))):
        matcher_agreement(ROWS, "exact", **options)


def test_matchers_are_checked() -> None:
    with pytest.raises(OptionError, match="no matcher 'rogue'"):
        matcher_agreement(ROWS, ["rogue"])
    with raises_code(InputError, "no-matchers"):
        matcher_agreement(ROWS, [])
