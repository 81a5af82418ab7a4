"""Fields of the items themselves are what results are sliced by: no second file is needed."""

from __future__ import annotations

import pytest

from goldrank import Items, compare, evaluate_texts, read_items, score_intervals

RECORDS = [
    {"id": f"q{i}", "question": f"{i}?", "retrieved": ["yes" if i % 4 else "no"], "references": ["yes"],
     "language": "de" if i % 2 else "en", "metadata": {"hops": 2}, "tags": ["not", "a", "value"], "weight": "heavy"}
    for i in range(8)
]  # fmt: skip


def test_questions_have_the_single_values_of_their_records() -> None:
    query = Items(RECORDS).queries["q1"]
    assert query.text == "1?"
    assert dict(query.attributes) == {"language": "de", "hops": 2}
    assert query.weight == 1


def test_intervals_by_a_field_of_the_items() -> None:
    """Of the English questions 0 and 4 are missed and 2 and 6 found; the German ones are all found."""
    items = Items(RECORDS)
    scores = evaluate_texts(items, "Cover@5")
    sliced = score_intervals(scores, queries=items.queries, slice_by="language")
    means = {row["value"]: row["mean"] for row in sliced.rows() if row["attribute"] == "language"}
    assert means == {"de": 1.0, "en": 0.5}


def test_comparisons_by_a_field_of_the_items() -> None:
    items = Items(RECORDS, name="a")
    other = Items([{**record, "retrieved": ["yes"]} for record in RECORDS], name="b")
    scores = [evaluate_texts(data, "Cover@5") for data in (items, other)]
    compared = compare(scores, queries=items.queries, slice_by="language")
    assert compared.slices is not None
    assert {part.value for part in compared.slices.slices} == {"de", "en"}


def test_gold_of_another_file_says_them_too() -> None:
    gold = [{"id": "q", "references": ["yes"], "language": "de"}]
    items = read_items([{"id": "q", "retrieved": ["yes"], "language": "unknown", "run": 3}], gold=gold)
    assert dict(items.queries["q"].attributes) == {"run": 3, "language": "de"}


def test_a_field_that_is_none_of_theirs_is_named() -> None:
    items = Items(RECORDS)
    with pytest.raises(Exception, match="language"):
        score_intervals(evaluate_texts(items, "Cover@5"), queries=items.queries, slice_by="lang")
