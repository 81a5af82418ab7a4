"""Several searches for one question: what they find, how soon, and which add nothing."""

from __future__ import annotations

import json
import math

import now_cases
import pytest

import goldrank

GOLD = ["a", "b", "c"]
SEARCHES = [
    {"retrieved": ["x", "a"], "tokens": 400},
    {"retrieved": ["x", "y"], "tokens": 300},
    {"retrieved": ["a", "x"], "tokens": 300},
    {"retrieved": ["b", "c"], "tokens": 500},
    {"retrieved": ["c", "a"], "tokens": 500},
]
FIELDS = {
    "UnionRecall": "union_recall",
    "LastRecall": "last_recall",
    "BestRecall": "best_recall",
    "SearchesToFirst": "searches_to_first",
    "ReciprocalFirst": "reciprocal_first",
    "SearchesToCover": "searches_to_cover",
    "ReciprocalCover": "reciprocal_cover",
    "Searches": "searches",
    "NewPerSearch": "new_per_search",
    "Wasted": "wasted",
    "WastedShare": "wasted_share",
    "RecallPer1000Tokens": "recall_per_1000_tokens",
    "RecallWithinTokens": "within",
}


def one(searches, gold, **options):
    return goldrank.score_searches([{"id": "q", "searches": searches, "expected": gold}], **options)


@pytest.mark.parametrize("case", now_cases.group("agents"))
def test_the_reference_cases(case):
    inputs, expected = case["inputs"], case["expected"]
    found = one(inputs["searches"], inputs["gold"], k=inputs["k"], tokens=inputs["token_budget"]).per_question[0]
    for name, field in FIELDS.items():
        value = expected[name]
        assert getattr(found, field) == (None if value is None else pytest.approx(value, abs=1e-9)), name
    assert list(found.new) == expected["new"]
    assert list(found.kinds) == expected["kinds"]


def test_the_worked_case():
    found = one(SEARCHES, GOLD, tokens=1000)
    mean = found.mean
    assert mean["UnionRecall"] == 1
    assert mean["LastRecall"] == mean["BestRecall"] == pytest.approx(2 / 3)
    assert mean["UnionRecall(tokens=1000)"] == pytest.approx(1 / 3)
    assert found.recall_per_1000_tokens == pytest.approx(0.5)
    assert found.reached("searches_to_cover") == (1.0, 4.0)
    (question,) = found.per_question
    assert question.kinds == ("useful", "miss", "repeat", "useful", "late")


def test_never_is_infinite_in_the_median_and_0_in_the_mean():
    records = [{"id": str(i), "searches": [["a"]] if i == 0 else [["x"]], "expected": ["a"]} for i in range(3)]
    found = goldrank.score_searches(records)
    assert found.reached("searches_to_first") == (pytest.approx(1 / 3), math.inf)
    assert found.mean["1/SearchesToFirst"] == pytest.approx(1 / 3)


def test_the_share_that_covers_and_the_cut():
    searches = [["a", "b"], ["c", "d"], ["e"]]
    gold = ["a", "b", "c", "d", "e"]
    assert one(searches, gold, cover=0.8).per_question[0].searches_to_cover == 2
    assert one(searches, gold).per_question[0].searches_to_cover == 3
    assert one(searches, gold, k=1).per_question[0].found == (1, 2, 3)


def test_groups_are_covered_by_the_union_of_searches():
    found = one([["h1"], ["h2", "a2"]], [["a1", "a2"], [["h1", "h2"]]]).per_question[0]
    assert found.found == (0, 2)
    assert found.alone == (0, 1)


def test_a_ratio_of_means():
    first = {"id": "p", "searches": [{"retrieved": ["a"], "tokens": 100}], "expected": ["a"]}
    second = {"id": "q", "searches": [{"retrieved": ["x"], "tokens": 900}], "expected": ["a"]}
    found = goldrank.score_searches([first, second])
    # Mean recall 0.5, mean tokens 500.
    assert found.recall_per_1000_tokens == pytest.approx(1.0)
    assert found.new_per_search == 0.5


def test_scores_can_be_compared():
    def system(hits):
        return goldrank.score_searches(
            [{"id": str(i), "searches": [["a"] if i < hits else ["x"]], "expected": ["a"]} for i in range(20)]
        ).scores

    comparison = goldrank.compare({"few": system(3), "many": system(19)})
    assert comparison["UnionRecall", "few", "many"].verdict == "better"


def test_gold_from_qrels_and_questions_without():
    records = [{"id": "q", "searches": [["a"]]}, {"id": "r", "searches": [["a"]]}]
    found = goldrank.score_searches(records, goldrank.Qrels({"q": {"a": 1, "b": 0}}))
    assert [each.query for each in found.per_question] == ["q"]
    assert [note.code for note in found.notes] == ["searches-without-gold"]
    with pytest.raises(goldrank.InputError, match="what is expected"):
        goldrank.score_searches(records)


@pytest.mark.parametrize("case", now_cases.group("browsecomp_plus"))
def test_browsecomp_plus(case):
    inputs, expected = case["inputs"], case["expected"]
    if "error" in expected:
        with pytest.raises(goldrank.InputError, match="no evidence"):
            goldrank.browsecomp_scores(inputs["runs"], inputs["qrels"])
        return
    found = goldrank.browsecomp_scores(inputs["runs"], inputs["qrels"])
    assert found.recall_percent == expected["Recall (%)"]
    assert len(found.files) == len(expected["per_file"])
    for mine, theirs in zip(found.files, expected["per_file"], strict=True):
        assert mine.recall == pytest.approx(theirs["recall"], abs=1e-9)
        assert list(mine.retrieved) == sorted(theirs["retrieved"])
        if theirs["citations"] is None:
            assert mine.citations is None
            continue
        assert list(mine.citations.cited) == theirs["citations"]["cited"]
        assert mine.citations.precision == pytest.approx(theirs["citations"]["precision"], abs=1e-9)
        assert mine.citations.recall == pytest.approx(theirs["citations"]["recall"], abs=1e-9)
    citing = f"{len(found.citing)}/{len(found.files)}"
    assert citing in expected["citation_lines"][1]


def test_a_folder_of_browsecomp_plus(tmp_path):
    (case,) = (case for case in now_cases.CASES if case["id"] == "bcp-basic")
    for i, run in enumerate(case["inputs"]["runs"]):
        (tmp_path / f"run_{i}.json").write_text(json.dumps(run))
    found = goldrank.score_searches(tmp_path, case["inputs"]["qrels"])
    assert [each.searches for each in found.per_question] == [2, 1]
    assert found.mean["UnionRecall"] == pytest.approx((2 / 3 + 1) / 2)
