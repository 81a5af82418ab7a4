"""`Matching`, `Evidence` and `Answers`: their choices, how they compare, and how they show themselves."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

import pytest

from goldrank import Answers, Evidence, Matching, evaluate_texts
from goldrank.base.errors import OptionError
from goldrank.base.types import Pack
from goldrank.evaluation import text_settings
from goldrank.io.questions import item_reader
from goldrank.io.questions.items import Failures, Nulls
from goldrank.match.guards import GUARDS
from goldrank.measures.apply import CREDITS
from goldrank.measures.options import PACKERS


def own(retrieved: str, reference: str) -> bool:
    return retrieved == reference


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        (Matching, {"unit": "word"}, "chunk, sentence"),
        (Matching, {"credit": "all"}, "any, one_to_one, first_free, pairs"),
        (Matching, {"guards": ["dates"]}, "numbers, units, negations, opposites, identifiers, names"),
        (Matching, {"tokens": "letters"}, "words, characters"),
        (Matching, {"matcher": "rouge-x"}, "rouge-l"),
        (Evidence, {"lengths": "words"}, "char, token"),
        (Evidence, {"several": "last"}, "any, first, error"),
        (Evidence, {"unlocated": "ignore"}, "error, missed, skip"),
        (Evidence, {"similarity": 0}, "above 0, up to 1, or None"),
        (Evidence, {"similarity": True}, "above 0, up to 1, or None"),
        (Evidence, {"coverage": 1.5}, "above 0, up to 1"),
        (Evidence, {"coverage": None}, "above 0, up to 1"),
        (Answers, {"claims": "sentences"}, "a function from a text"),
        (Answers, {"entities": 3}, "a function from a text"),
        (Answers, {"abstain_below": "low"}, "must be a number"),
        (Answers, {"abstain_below": float("nan")}, "must be a number"),
        (Answers, {"judge": 5}, "no matcher"),
    ],
)
def test_choices_are_checked(kind: Any, given: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError) as caught:
        kind(**given)
    assert words in str(caught.value)


def test_choices_are_those_of_the_tables_that_explain_them() -> None:
    assert get_args(text_settings.Credit) == tuple(CREDITS)
    assert get_args(text_settings.Guard) == tuple(GUARDS)
    assert get_args(Pack) == PACKERS
    assert get_args(Failures) == item_reader.FAILURES
    assert get_args(Nulls) == item_reader.NULLS


def test_nouns_are_equal_by_content_and_frozen() -> None:
    assert Matching("exact", guards=["units", "numbers"]) == Matching("exact", guards=("numbers", "units"))
    assert Matching("exact") != Matching("exact", guards=())
    assert Matching(own) == Matching(own)
    assert Evidence({"s": "text"}) == Evidence({"s": "text"})
    assert Answers(claims=str.split) == Answers(claims=str.split)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Matching().unit = "sentence"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("noun", "shown"),
    [
        (Matching(), "Matching()"),
        (Matching(own, tokens="characters"), "Matching(matcher=own, tokens='characters')"),
        (Matching("exact", guards=["numbers"]), "Matching(matcher='exact', guards=('numbers',))"),
        (Evidence({"s": "a\nb"}, coverage=0.5), "Evidence(sources=<dict>, coverage=0.5)"),
        (Answers(own, abstain_below=0.2), "Answers(judge=own, abstain_below=0.2)"),
    ],
)
def test_they_show_what_is_not_as_usual(noun: Any, shown: str) -> None:
    assert repr(noun) == shown


def test_a_word_and_a_noun_are_the_same() -> None:
    items = [{"retrieved": ["Rome is large."], "references": ["rome is large"]}]
    for word, value in (("exact", 0.0), ("contains-normalised", 1.0)):
        assert evaluate_texts(items, "Cover", matching=word)["Cover"] == value
        assert evaluate_texts(items, "Cover", matching=Matching(word))["Cover"] == value
    place = [{"id": "q", "retrieved": [{"text": "b", "source": "s"}], "evidence": [{"source": "s", "quote": "b"}]}]
    for evidence in ({"s": "a b c"}, Evidence({"s": "a b c"})):
        assert evaluate_texts(place, "SpanRecall", evidence=evidence)["SpanRecall"] == 1.0


def test_characters_are_tokens_on_demand() -> None:
    """ "one" and "three": 3 and 5 characters, one word each."""
    items = [{"retrieved": ["one", "three"], "references": ["three"]}]
    assert evaluate_texts(items, "Tokens", matching=Matching("exact"))["Tokens"] == 2
    assert evaluate_texts(items, "Tokens", matching=Matching("exact", tokens="characters"))["Tokens"] == 8


def test_an_iterator_of_chunks_is_kept() -> None:
    chunks = iter([{"id": "c", "text": "one"}])
    evidence = Evidence(chunks=chunks)
    assert evidence.chunks == ({"id": "c", "text": "one"},)
