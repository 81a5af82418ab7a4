"""The data set of the demo is complete, judged by its rule, and shows the verdicts that it was made to show."""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files
from typing import Any

import places
import pytest

from goldrank import Comparison, compare, demo, evaluate
from goldrank.demo.retrievers import RETRIEVERS, plain_words, stems

DATA = demo.load()
RUNS = demo.runs()
KINDS = {"problem": 16, "how to": 16, "fact": 14, "overview": 14}
LONG = 100
"""Words of a tip that is a long list; the others have fewer than half as many."""
STORY = "q46"


def questions(kind: str) -> list[str]:
    return [query for query, fields in DATA["queries"].items() if fields["kind"] == kind]


def answers(kind: str) -> set[str]:
    """The tips that answer a question of a kind."""
    return {doc for query in questions(kind) for doc, grade in DATA["qrels"][query].items() if grade == 2}


class TestData:
    def test_it_is_small_and_has_the_size_that_pages_tell(self) -> None:
        assert files("goldrank.demo").joinpath("household.json").stat().st_size < 120_000
        assert len(DATA["documents"]) == 149
        assert len(DATA["queries"]) == 60
        assert {kind: len(questions(kind)) for kind in KINDS} == KINDS

    def test_every_text_has_a_title_and_words_of_its_own(self) -> None:
        texts = list(DATA["documents"].values())
        assert len(set(texts)) == len(texts)
        assert all(1 <= len(demo.title(text).split()) <= 9 for text in texts)
        assert all(text.endswith((".", "?", "!")) and ". " in text for text in texts)
        assert len({fields["text"] for fields in DATA["queries"].values()}) == 60

    def test_every_question_is_judged_by_the_grades_that_are_explained(self) -> None:
        assert DATA["qrels"].keys() == DATA["queries"].keys()
        for query, judged in DATA["qrels"].items():
            assert judged.keys() <= DATA["documents"].keys(), query
            assert {str(grade) for grade in judged.values()} <= DATA["grades"].keys(), query
            assert max(judged.values()) >= 1, query

    def test_the_first_ten_of_each_retriever_are_judged_but_newer_tips(self) -> None:
        unjudged = {
            (query, doc)
            for run in RUNS.values()
            for query, ranking in run.items()
            for doc in ranking
            if doc not in DATA["qrels"][query]
        }
        assert (STORY, "food-16") in unjudged
        assert {doc for _, doc in unjudged} == {"food-16"} == set(DATA["newer"])
        assert all("food-16" not in judged for judged in DATA["qrels"].values())

    def test_long_lists_answer_questions_of_kind_overview_and_hardly_any_other(self) -> None:
        lengths = {doc: len(plain_words(text)) for doc, text in DATA["documents"].items()}
        assert all(length > LONG or length < LONG / 2 for length in lengths.values())
        assert {lengths[doc] > LONG for doc in answers("overview")} == {True}
        others = answers("problem") | answers("how to") | answers("fact")
        assert {doc for doc in others if lengths[doc] > LONG} == {"list-1", "list-10"}


class TestRetrievers:
    def test_runs_answer_every_question_with_tips_in_order(self) -> None:
        for name, run in demo.runs(depth=3).items():
            assert run.keys() == DATA["queries"].keys(), name
            for query, ranking in run.items():
                assert 1 <= len(ranking) <= 3
                assert list(ranking.items()) == list(RUNS[name][query].items())[: len(ranking)]
                assert list(ranking.values()) == sorted(ranking.values(), reverse=True)

    def test_scores_by_hand(self) -> None:
        """Documents of 3 words and 1 word, so 2 on average; "red" is in one of the two, and twice in it.

        overlap: 1 common word, and 2 / 1000 for its two occurrences.
        BM25: ln(1 + 1.5 / 1.5) * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2)).
        """
        documents = {"a": "Red, red blue", "b": "greens"}
        found = {name: RETRIEVERS[name].search({"q": "red"}, documents, 10)["q"] for name in ("overlap", "bm25")}
        assert found == {"overlap": {"a": 1.002}, "bm25": {"a": pytest.approx(math.log(2) * 4.4 / 3.65, abs=1e-12)}}
        assert RETRIEVERS["bm25"].search({"q": "green"}, documents, 10) == {"q": {}}
        # "greens" without its ending, in one document of 1 word: ln(2) * 2.2 / (1 + 1.2 * (0.25 + 0.75 / 2))
        assert RETRIEVERS["stems"].search({"q": "green"}, documents, 10) == {
            "q": {"b": pytest.approx(math.log(2) * 2.2 / 1.75, abs=1e-12)}
        }

    def test_equal_scores_are_in_the_order_of_trec_eval(self) -> None:
        documents = {"a": "red", "c": "red", "b": "red"}
        assert list(RETRIEVERS["overlap"].search({"q": "red"}, documents, 2)["q"]) == ["c", "b"]

    def test_endings(self) -> None:
        words = "Leaks leaking leaked boxes red bed its glue"
        assert stems(words) == ["leak", "leak", "leak", "box", "red", "bed", "its", "glue"]


def of_trec_eval(name: str) -> dict[str, dict[str, float]]:
    """By measure and query what trec_eval printed; tests/files/demo/README.md says how it was called."""
    values: dict[str, dict[str, float]] = {}
    for line in (places.FILES / "demo" / f"{name}.txt").read_text().splitlines():
        measure, query, value = line.split()
        values.setdefault(measure, {})[query] = float(value)
    return values


@pytest.mark.parametrize("name", RETRIEVERS)
def test_values_are_those_of_trec_eval(name: str) -> None:
    expected = of_trec_eval(name)
    scores = evaluate(DATA["qrels"], RUNS[name], list(expected))
    assert len(expected) == 5
    for measure, by_query in expected.items():
        assert len(by_query) == 61
        values = {**scores.per_query[measure], "all": scores[measure]}
        assert values == pytest.approx(by_query, abs=0.5e-4 + 1e-9), measure


@cache
def compared(a: str, b: str) -> Comparison:
    """What `goldrank compare` makes of two retrievers, with slices by kind."""
    return compare(DATA["qrels"], {name: RUNS[name] for name in (a, b)}, queries=DATA["queries"], slice_by="kind")


class TestVerdicts:
    def test_bm25_is_better_than_overlap_by_every_measure(self) -> None:
        assert words(compared("overlap", "bm25")) == dict.fromkeys(["nDCG@10", "AP", "RR", "P@10", "R@100"], "better")

    def test_the_order_of_equal_scores_does_not_decide_it(self) -> None:
        best = evaluate(DATA["qrels"], RUNS["overlap"], "nDCG@10", ties="bounds").bounds["nDCG@10"].high.summary
        worst = evaluate(DATA["qrels"], RUNS["bm25"], "nDCG@10", ties="bounds").bounds["nDCG@10"].low.summary
        assert best < worst - 0.2

    def test_one_kind_of_question_goes_the_other_way(self) -> None:
        slices = compared("overlap", "bm25").slices
        assert slices is not None
        kinds = {part.value: part.reversed for part in slices.differences if part.measure == "nDCG@10"}
        assert kinds == {"problem": False, "how to": False, "fact": False, "overview": True}

    def test_stems_are_unclear_by_every_measure(self) -> None:
        comparison = compared("bm25", "stems")
        assert words(comparison) == dict.fromkeys(["nDCG@10", "AP", "RR", "P@10", "R@100"], "unclear")
        assert comparison.pair.wins > 5
        assert comparison.pair.losses > 5

    def test_with_three_systems_two_may_be_best(self) -> None:
        ranks = {place.run: place.rank for place in compare(DATA["qrels"], RUNS).leaderboard().standings}
        assert ranks == {"stems": (1, 2), "bm25": (1, 2), "overlap": (3, 3)}


def words(comparison: Comparison) -> dict[str, str]:
    return {pair.measure: pair.word for pair in comparison if pair.role != "diagnostic"}


class TestStory:
    """An unjudged tip at the top of bm25 makes overlap look better on one question.

    One tip is relevant, list-10 with grade 2; overlap has it at rank 1, bm25 at rank 2 below food-16, which is
    unjudged. So overlap has 1, and bm25 (2 / log2(3)) / 2 = 0.6309. With grade 2 for food-16 the ideal is
    2 + 2 / log2(3) = 3.2619, which bm25 has; overlap does not return food-16 and has 2 / 3.2619 = 0.6131.
    """

    def values(self, qrels: dict[str, Any]) -> dict[str, float]:
        return {name: evaluate(qrels, {STORY: RUNS[name][STORY]}, "nDCG@10")["nDCG@10"] for name in ("overlap", "bm25")}

    def test_as_judged_overlap_is_ahead(self) -> None:
        qrels = {STORY: DATA["qrels"][STORY]}
        assert list(RUNS["bm25"][STORY])[:2] == ["food-16", "list-10"]
        assert self.values(qrels) == pytest.approx({"overlap": 1.0, "bm25": 0.6309}, abs=5e-5)

    def test_with_one_more_judgement_bm25_is_ahead(self) -> None:
        qrels = {STORY: {**DATA["qrels"][STORY], "food-16": 2}}
        assert "food-16" not in RUNS["overlap"][STORY]
        assert self.values(qrels) == pytest.approx({"overlap": 0.6131, "bm25": 1.0}, abs=5e-5)
