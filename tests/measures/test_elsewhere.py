"""Names that people bring along: none of them silently means something else."""

from __future__ import annotations

import re

import pytest

from goldrank import evaluate, evaluate_texts
from goldrank.base.errors import MeasureError
from goldrank.measures import elsewhere, parse

QRELS = {"u": {"a": 1, "b": 1, "c": 1}, "v": {"b": 1}}
RUN = {"u": ["a", "x"], "v": ["a", "b"]}


def codes(scores):
    return {note.code for note in scores.notes}


@pytest.mark.parametrize(
    ("typed", "meant"),
    {
        "HR@10": "Success@10", "hit_rate@10": "Success@10", "HitRatio@10": "Success@10", "hit_ratio@10": "Success@10",
        "hit@10": "Success@10", "catalog_coverage@10": "ItemCoverage@10", "item_coverage@10": "ItemCoverage@10",
        "user_coverage@10": "UserCoverage@10", "novelty@10": "Novelty@10", "ILD@10": "IntraListDiversity@10",
        "gini@10": "Gini@10", "ListGini@10": "Gini@10", "shannon_entropy@10": "Entropy@10",
        "distributional_coverage@10": "Entropy@10", "ARP@10": "AveragePopularity@10", "mrr": "RR", "MRR@10": "RR@10",
        "mean_reciprocal_rank": "RR", "map": "AP", "mean_average_precision": "AP", "precision@5": "P@5",
        "recall@5": "R@5", "precision_at_10": "P@10", "f1@5": "F@5", "NDCG@10": "nDCG@10",
        "personalization@10": "Personalisation@10", "miscalibration@10": "Calibration@10", "auc": "AUROC",
    }.items(),
)  # fmt: skip
def test_names_with_one_meaning(typed, meant):
    assert str(parse(typed).plain) == meant


@pytest.mark.parametrize(
    "typed",
    ["diversity@10", "Diversity", "ils@10", "ILS@5", "intra_list_similarity@10", "hits@10", "fairness@10", "rmse",
     "MAE", "apk@10", "MAPK@10", "aggregate_diversity@10", "AggDiv@10", "EPC@10", "popularity@10", "prec@10", "rec@10",
     "acc@10", "top_k_accuracy", "spearman", "ndcg_score", "lrap", "ARHR@10", "unexpectedness@10",
     "answer_relevancy", "Answer_Relevancy"],
)  # fmt: skip
def test_names_that_lead_on(typed):
    with pytest.raises(MeasureError) as found:
        parse(typed)
    named = re.findall(r"\b[A-Za-z_]+(?:\([^).]*\))?@\d+", found.value.hint or "")
    assert named or "rank_agreement" in found.value.hint or "AP" in found.value.hint
    assert all(parse(name) for name in named)


def test_every_hint_names_measures_that_exist():
    hints = [*elsewhere.TWO_MEANINGS.values(), *elsewhere.NEAREST.values()]
    names = [name for hint in hints for name in re.findall(r"\b[A-Za-z_]+(?:\([^).]*\))?@\d+", hint)]
    assert len(names) > len(hints) / 2
    assert all(parse(name) for name in names)


@pytest.mark.parametrize("word", [*elsewhere.TWO_MEANINGS, *elsewhere.NEAREST, *elsewhere.OF_ANSWERS,
                                  *elsewhere.OF_RATINGS, *elsewhere.OF_RANKINGS])  # fmt: skip
def test_what_is_called_unknown_is_unknown(word):
    for spelled in (word, f"{word}@10"):
        with pytest.raises(MeasureError):
            parse(spelled)


@pytest.mark.parametrize(("typed", "meant"), [("P10", "P@10"), ("ndcg5", "ndcg@5"), ("HR10", "HR@10")])
def test_a_number_without_a_sign(typed, meant):
    with pytest.raises(MeasureError) as found:
        parse(typed)
    assert found.value.hint == f"Did you mean {meant}?"


@pytest.mark.parametrize("typed", ["coverage@10", "Coverage", "Cover@3"])
def test_coverage_of_ids_names_both(typed):
    with pytest.raises(MeasureError) as found:
        evaluate(QRELS, RUN, typed)
    assert "Cover" in found.value.what
    assert "ItemCoverage" in found.value.hint
    assert "texts" in found.value.hint


def test_coverage_of_texts_stays():
    items = [{"retrieved": ["one", "x"], "references": ["one", "two"]}]
    assert evaluate_texts(items, "coverage@2", matching="contains")["Cover@2"] == 0.5


def test_accuracy_says_whose_it_is():
    assert "accuracy-of-pairs" in codes(evaluate(QRELS, RUN, "accuracy@2"))
    assert "accuracy-of-pairs" not in codes(evaluate(QRELS, RUN, "Success@2"))


def test_map_says_what_it_divides_by():
    """u has three relevant items and finds one at rank 1: 1/3 by all of them, 1/2 by the smaller of k and them."""
    scores = evaluate(QRELS, RUN, ["map@2", 'AP(divisor="min")@2', "AP"])
    assert scores.per_query["AP@2"]["u"] == 1 / 3
    assert scores.per_query['AP(divisor="min")@2']["u"] == 1 / 2
    (note,) = (note for note in scores.notes if note.code == "divided-by-relevant")
    assert (note.fact("measure"), note.fact("other"), note.fact("count")) == ("AP@2", 'AP(divisor="min")@2', 1)
