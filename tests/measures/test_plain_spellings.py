"""Spellings that people type: words without quotes, and a hit rate without a cut-off."""

from __future__ import annotations

import pytest

from goldrank import Convention, evaluate, evaluate_texts
from goldrank.base.errors import MeasureError
from goldrank.measures import parse


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [
        ("Cover(tokens=300,pack=skip)", 'Cover(tokens=300, pack="skip")'),
        ("nDCG(gain=exp2)@20", 'nDCG(gain="exp2")@20'),
    ],
)
def test_words_need_no_quotes(spelled: str, meant: str) -> None:
    assert parse(spelled) == parse(meant)


def test_a_word_that_is_no_choice_is_named() -> None:
    with pytest.raises(MeasureError, match="pack is 'some'"):
        parse("Cover(tokens=300, pack=some)")


def test_a_hit_rate_without_a_cutoff_is_of_all_that_was_returned() -> None:
    qrels = {"first": {"a": 1}, "last": {"b": 1}, "missed": {"c": 1}}
    returned = {"first": ["a", "x"], "last": ["x", "y", "b"], "missed": ["x"]}
    assert evaluate(qrels, returned, ["hit_rate", "hit_rate@1"]).mean == {
        "hit_rate": pytest.approx(2 / 3),
        "hit_rate@1": pytest.approx(1 / 3),
    }
    items = [{"retrieved": ["x", "one"], "references": ["one"]}, {"retrieved": ["x"], "references": ["one"]}]
    assert evaluate_texts(items, "hit_rate", matching="contains")["hit_rate"] == 0.5


def test_ties_change_nothing_without_a_cutoff() -> None:
    scores = evaluate(
        {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "Success", convention=Convention("trec_eval-10", ties="expected")
    )
    assert scores["Success"] == 1


def test_names_of_trec_eval_keep_their_cutoffs() -> None:
    scores = evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "success")
    assert scores.mean == {"Success@1": 0.0, "Success@5": 1.0, "Success@10": 1.0}
