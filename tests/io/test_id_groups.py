"""Groups of expected ids: alternatives, and ids that are needed together."""

from __future__ import annotations

import math

import now_cases
import pytest

import goldrank

ONE_OF_TWO = [["a1", "a2"], ["b"]]


def values(expected, retrieved, *measures):
    """The values of one question; another one has a hit, so that ids are seen to match."""
    other = {"id": "other", "retrieved_ids": ["z"], "expected_ids": ["z"]}
    items = [{"id": "q", "retrieved_ids": retrieved, "expected_ids": expected}, other]
    scores = goldrank.evaluate_texts(items, list(measures))
    return [scores.per_query[measure]["q"] for measure in measures]


@pytest.mark.parametrize("case", now_cases.group("groups"))
def test_the_reference_cases(case):
    inputs = case["inputs"]
    cut = "" if inputs["k"] is None else f"@{inputs['k']}"
    expected = inputs["groups"]
    if inputs["grades"]:
        expected = [{"any_of": group, "grade": grade} for group, grade in zip(expected, inputs["grades"], strict=True)]
    deep = cut or "@100"
    names = {"R": f"R{deep}", "RecallAll": f"RecallAll{deep}", "RR": f"RR{cut}", "nDCG": f"nDCG{cut}", "AP": f"AP{cut}"}
    found = values(expected, inputs["ranked"], *names.values())
    wanted = [case["expected"][name] for name in names]
    assert found == pytest.approx(wanted, abs=1e-9)


def test_by_hand():
    # Places 1 and 3: AP (1 + 2/3) / 2, nDCG (1 + 1/2) / (1 + 1/log2 3); all three documents are in some group.
    found = values(ONE_OF_TWO, ["a1", "a2", "b"], "AP", "nDCG", "P@3", "R@2", "RecallAll@2", "Success@1")
    assert found == pytest.approx([5 / 6, 1.5 / (1 + 1 / math.log2(3)), 1.0, 0.5, 0.0, 1.0])


def test_a_field_names_the_group():
    by_field = [{"id": "a1", "group": 1}, {"id": "a2", "group": 1}, {"id": "b", "group": 2}]
    for retrieved in (["a1", "a2", "b"], ["x", "b"], ["a2", "b"]):
        measures = ("AP", "nDCG", "R@2", "RR")
        assert values(by_field, retrieved, *measures) == values(ONE_OF_TWO, retrieved, *measures)


def test_ids_that_are_needed_together():
    expected = [{"all_of": ["h1", "h2"]}]
    assert values(expected, ["h1", "x", "h2"], "RR", "R@2", "R@3") == [1 / 3, 0, 1]
    assert values(expected, ["h1", "x"], "RR", "R@2") == [0, 0]


def test_a_repeated_id_counts_at_its_first_place_and_ranks_close_up():
    assert values(ONE_OF_TWO, ["a1", "a1", "b"], "AP", "nDCG") == [1, 1]


def test_plain_records_with_expected():
    items = [{"id": "q", "retrieved": ["a2", "b"], "expected": ONE_OF_TWO}]
    assert goldrank.evaluate_texts(items, "RecallAll@2")["RecallAll@2"] == 1


def test_an_empty_group_is_an_error():
    with pytest.raises(goldrank.InputError, match="the group is empty"):
        values([["a"], []], ["a"], "RR")
