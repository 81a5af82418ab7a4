"""Events of User Behavior Insights (OpenSearch's ubi_events and ubi_queries) as click logs and interleaving logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldrank import InputError, analyse_interleaving, judgements_from_clicks
from goldrank.clicks.click_log import read_clicks


def event(action: str, search: str, doc: str, ordinal: Any = None, team: str | None = None) -> dict[str, Any]:
    """An event in the shape of the UBI schema."""
    thing = {"object_id": doc, "object_id_field": "sku"}
    if team is not None:
        thing["search_config"] = team
    return {
        "application": "shop",
        "action_name": action,
        "query_id": search,
        "client_id": f"client-{search}",
        "user_query": "laptop",
        "timestamp": "2025-06-01T12:00:00Z",
        "event_attributes": {"object": thing, "position": {"ordinal": ordinal}},
    }


def searched(search: str, docs: list[str]) -> dict[str, Any]:
    """A record of ubi_queries."""
    return {"query_id": search, "user_query": "laptop", "client_id": "c", "query_response_hit_ids": docs}


def log(tmp_path: Path, records: list[dict[str, Any]]) -> Path:
    path = tmp_path / "ubi.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_impressions_and_clicks_make_page_views(tmp_path: Path) -> None:
    records = [event("impression", "s", "b", 2), event("impression", "s", "a", 1), event("item_click", "s", "b", 2)]
    rows, notes = read_clicks(log(tmp_path, records))
    assert [(row.page, row.query, row.doc, row.rank, row.click, row.user) for row in rows] == [
        ("s", "laptop", "a", 1, False, "client-s"),
        ("s", "laptop", "b", 2, True, "client-s"),
    ]
    assert notes == ()


def test_what_the_engine_returned_counts_where_no_impression_was_kept(tmp_path: Path) -> None:
    """Documents below `_source`, as a search returns them."""
    records = [{"_source": searched("s", ["a", "b"])}, {"_source": event("click", "s", "b")}]
    rows, _ = read_clicks(log(tmp_path, records))
    assert [(row.doc, row.rank, row.click) for row in rows] == [("a", 1, False), ("b", 2, True)]


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    records = [
        searched("s", ["a"]),
        event("click", "s", "elsewhere"),
        event("add_to_cart", "s", "a"),
        {"query_id": "t", "action_name": "login", "event_attributes": {}},
    ]
    _, notes = read_clicks(log(tmp_path, records))
    assert {note.code: dict(note.facts)["count"] for note in notes} == {
        "ubi-clicks-elsewhere": 1,
        "ubi-other-events": 2,
        "ubi-nothing-shown": 1,
    }


def test_judgements(tmp_path: Path) -> None:
    """12 of 20 searches have a click on b: the click-through rate without smoothing would be 0.6."""
    records = []
    for i in range(20):
        records += [event("impression", f"s{i}", doc, rank) for rank, doc in enumerate("ab")]
        if i < 12:
            records.append(event("click", f"s{i}", "b", 1))
    judged = judgements_from_clicks(log(tmp_path, records))
    clicks = {row["doc"]: (row["clicks"], row["shown"]) for row in judged.rows()}
    assert clicks == {"a": (0, 20), "b": (12, 20)}


def test_interleaved_lists(tmp_path: Path) -> None:
    """Each of ten searches has its click on team B's document: B wins all, and of 2^10 signs two are as extreme."""
    records = []
    for i in range(10):
        records.append(event("impression", f"s{i}", "x", 1, "teamA"))
        records.append(event("impression", f"s{i}", "y", 2, "teamB"))
        records.append(event("click", f"s{i}", "y", 2, "teamB"))
    preference = analyse_interleaving(log(tmp_path, records))
    assert (preference.wins, preference.losses, preference.unit) == (10, 0, "user")
    assert preference.p == 2 / 2**10


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        ([event("click", "s", "a")], "nothing says what was shown"),
        ([{**searched("s", ["a"]), "user_query": None}], "no user_query"),
        ([searched("s", ["a"]), {"query": "q", "shown": ["a"], "clicks": []}], "not a record of UBI"),
        ([event("impression", "s", "a", "first")], "'first', not a number"),
        ([event("impression", "s", "a", 1, "C")], "search_config is 'C'"),
        ([{**searched("s", ["a"]), "query_id": None}], "query_id"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_place(tmp_path: Path, records: Any, problem: str) -> None:
    with pytest.raises(InputError, match=r"ubi\.jsonl:") as error:
        read_clicks(log(tmp_path, records))
    assert problem in str(error.value)
