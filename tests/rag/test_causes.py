"""Why what an answer needs is missing: the table of decisions, and each cause on data made for it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import rag_cases

from goldrank import Evidence, find_causes
from goldrank.base.errors import InputError, OptionError
from goldrank.data.text_item import Reference
from goldrank.rag import causes_report as report
from goldrank.rag.causes import NAMES, decide
from goldrank.rag.corpus import NO, UNKNOWN, YES, Availability

GUIDE = (
    "The tower was built in 1889 for a fair. It is 330 metres tall today. It is painted every seven years by hand. "
    "Visitors pay ten euros."
)
SOURCES = {"guide": GUIDE}


def chunk(number: int, start: int, end: int) -> dict[str, Any]:
    return {"id": f"c{number}", "text": GUIDE[start:end], "source": "guide", "start": start, "end": end, "score": 0.5}


BORDER = GUIDE.index("seven")
# The blank before "seven" is in no chunk, as many splitters leave it.
CHUNKS = [chunk(1, 0, 40), chunk(2, 40, BORDER - 1), chunk(3, BORDER, GUIDE.index("Visitors"))]
FIRST, SECOND = CHUNKS[0], CHUNKS[1]
NEEDED = {
    "covered": ("built in 1889", [FIRST]),
    "cut by a border": ("painted every seven years", [FIRST]),
    "not retrieved": ("330 metres", [FIRST]),
    "not indexed": ("Visitors pay ten euros", [FIRST]),
    "not in the corpus": ("the moon is made of green cheese", [FIRST]),
    "ranked too low": ("330 metres", [FIRST, SECOND]),
}
BY_PLACE = [
    {"id": cause, "retrieved": found, "evidence": [{"quote": quote}]} for cause, (quote, found) in NEEDED.items()
]
BY_WORDS = [
    {"id": cause, "retrieved": [one["text"] for one in found], "references": [quote]}
    for cause, (quote, found) in NEEDED.items()
]
GOLDEN = rag_cases.cases("causes")


@pytest.mark.parametrize("case", GOLDEN, ids=[case["id"] for case in GOLDEN])
def test_golden_decisions(case: dict[str, Any]) -> None:
    told = case["inputs"]
    rank, k = told.get("rank", 0), told.get("k", 0)
    matched = "rank" in told
    known = {True: YES, False: NO, None: UNKNOWN}
    indexed = known[told.get("any_chunk_overlaps")]
    if "whole_in_a_chunk" in told:
        indexed = YES
    found = Availability(
        known[told.get("in_sources")],
        indexed,
        known[told.get("whole_in_a_chunk")],
        known[told.get("covered_by_adjacent_chunks")],
    )
    near = told.get("rank_by_place", 99) <= k or told.get("degree", 0) >= told.get("threshold", 9) - 0.2
    row = [matched and rank <= k and told.get("kept_by_packer", True), matched and rank <= k, matched, near]
    assert NAMES[decide(*(np.array([one]) for one in row), [found])[0]] == case["expected"]["cause"]


@pytest.mark.parametrize("items", [BY_PLACE, BY_WORDS], ids=["by place", "by words"])
def test_each_cause(items: list[dict[str, Any]]) -> None:
    causes = find_causes(items, k=1, evidence=Evidence(SOURCES, chunks=CHUNKS))
    assert causes.of_questions == {cause: cause for cause in NEEDED}
    assert dict(causes) == dict.fromkeys([name for name in NAMES if name in NEEDED], 1)


def test_over_the_budget() -> None:
    # The first text has 9 words, the second 13: 10 tokens hold the first alone.
    causes = find_causes(BY_PLACE, k=2, budget=10, evidence=Evidence(SOURCES, chunks=CHUNKS))
    assert causes.of_questions["ranked too low"] == "over the budget"
    assert causes.of_questions["covered"] == "covered"


@pytest.mark.parametrize(("text", "cause", "why"), [
    ("It is 331 metres tall today.", "not matched", "numbers differ"),
    ("It is 330 metres large now, so they say.", "not matched", "0.67"),  # 4 of 6 words in order; 0.7 is needed
    ("Nothing of the kind.", "unknown", "sources and chunks would tell"),
])  # fmt: skip
def test_near_misses(text: str, cause: str, why: str) -> None:
    (row,) = find_causes([{"retrieved": [text], "references": ["It is 330 metres tall today."]}]).needed
    assert row.cause == cause
    assert why in row.why


def test_a_question_counts_under_the_first_that_is_missing() -> None:
    item = {"id": "q", "retrieved": ["one", "two"], "references": ["one", "three", "two"]}
    causes = find_causes([item], k=1, matching="contains", evidence=Evidence(chunks=[{"id": "a", "text": "one"}]))
    assert causes.of_questions == {"q": "not in the corpus"}
    assert causes.reference_counts == {"covered": 1, "ranked too low": 1, "not in the corpus": 1}


def test_without_sources_chunks_tell_what_is_there() -> None:
    causes = find_causes(BY_WORDS, k=1, evidence=Evidence(chunks=CHUNKS))
    assert causes.of_questions["not indexed"] == "not in the corpus"
    assert causes.of_questions["cut by a border"] == "cut by a border"


def test_chunks_that_hold_only_part_of_it_are_no_border() -> None:
    """The index ends before "Visitors": no chunks next to each other hold all of it."""
    item = {"id": "q", "retrieved": [FIRST], "evidence": [{"quote": "years by hand. Visitors pay"}]}
    (row,) = find_causes([item], k=1, evidence=Evidence(SOURCES, chunks=CHUNKS)).needed
    assert (row.cause, row.why) == ("unknown", "chunks hold only part of it")


def test_what_would_tell_is_said() -> None:
    rows = {row.query: row for row in find_causes(BY_PLACE, k=1, evidence=SOURCES).needed}
    assert rows["not retrieved"].cause == "unknown"
    assert "chunks" in rows["not retrieved"].why
    assert rows["not in the corpus"].text == "the moon is made of green cheese"


CHUNK_OF = {
    "covered": (1, "c1"),
    "cut by a border": (None, "c2 + c3"),
    "not retrieved": (None, "c2"),
    "not indexed": (None, None),
    "not in the corpus": (None, None),
    "ranked too low": (2, "c2"),
}
"""By cause, the rank and the chunk that it is about."""


def test_the_chunk_and_its_rank_are_named() -> None:
    causes = find_causes(BY_PLACE, k=1, evidence=Evidence(SOURCES, chunks=CHUNKS))
    assert {each.query: (each.rank, each.chunk) for each in causes.needed} == CHUNK_OF
    assert {row["query"]: (row["rank"], row["chunk"]) for row in causes.to_dict()["needed"]} == CHUNK_OF
    assert "c2 + c3" in str(causes)
    data = json.loads(report.page(causes).split('id="causes-data">')[1].split("</script>")[0])
    assert {row["id"]: (row["needed"][0]["rank"], row["needed"][0]["chunk"]) for row in data["rows"]} == CHUNK_OF


def test_the_chunk_is_named_where_words_are_compared() -> None:
    """Texts that were retrieved without an id have a rank alone."""
    causes = find_causes(BY_WORDS, k=1, matching="contains", evidence=Evidence(SOURCES, chunks=CHUNKS))
    named = {each.query: (each.rank, each.chunk) for each in causes.needed}
    assert named == {**CHUNK_OF, "covered": (1, None), "ranked too low": (2, None)}


def test_a_chunk_that_comes_close_is_named() -> None:
    item = {"id": "q", "retrieved": [SECOND], "references": ["It is 331 metres tall today."]}
    (each,) = find_causes([item]).needed
    assert (each.cause, each.rank, each.chunk) == ("not matched", 1, "c2")


def test_a_text_without_an_id_is_named_by_its_place() -> None:
    text = {key: value for key, value in FIRST.items() if key != "id"}
    (each,) = find_causes([{"id": "q", "retrieved": [text], "evidence": [{"quote": "built in 1889"}]}],
                          evidence=SOURCES).needed  # fmt: skip
    assert (each.rank, each.chunk) == (1, "guide, 0 to 40")


def test_page_has_everything_and_escapes_it() -> None:
    hostile = "</script><script>alert(1)</script>"
    retrieved = [{"text": f"one {hostile}", "id": "c9", "score": float("nan")}]
    item = {"id": "q", "question": hostile, "retrieved": retrieved, "references": ["one"]}
    page = report.page(find_causes([item, {"id": "r", "retrieved": [], "references": ["one"]}], matching="contains"))
    assert hostile not in page
    data = json.loads(page.split('id="causes-data">')[1].split("</script>")[0])
    by_id = {row["id"]: row for row in data["rows"]}
    (hit,) = by_id["q"]["texts"]
    assert (hit["id"], hit["score"], hit["marks"], hit["covers"]) == ("c9", None, [[0, 3]], "r1")
    assert by_id["r"]["texts"] == []
    assert data["rows"][0]["id"] == "r"  # what is missing comes first
    assert data["texts"] == [f"one {hostile}"]


def test_causes_count_questions_and_those_that_do_not_occur_are_0() -> None:
    item = {"id": "q", "retrieved": ["one", "two"], "references": ["two"]}
    causes = find_causes([item], k=1, matching="exact")
    assert causes["ranked too low"] == 1
    assert causes["not retrieved"] == 0
    assert list(causes) == ["ranked too low"]
    assert "not retrieved" not in causes
    assert repr(causes) == "Causes('items')"
    with pytest.raises(KeyError, match="causes are: covered"):
        causes["not found"]
    assert causes.rows() == [
        {"query": "q", "question": "", "text": "two", "cause": "ranked too low", "why": "a text covers it, below the "
         "first k", "rank": 2, "chunk": None},
    ]  # fmt: skip


def test_what_is_not_located_is_not_in_the_corpus_whatever_is_said_of_it() -> None:
    """A cause is told where evaluate_texts has an error."""
    item = {"id": "q", "retrieved": [FIRST], "evidence": [{"quote": "the moon is made of green cheese"}]}
    for unlocated in ("error", "missed"):
        causes = find_causes([item], evidence=Evidence(SOURCES, unlocated=unlocated))
        assert causes.of_questions == {"q": "not in the corpus"}


def test_bad_calls() -> None:
    with pytest.raises(OptionError):
        find_causes(BY_WORDS, evidence=Evidence(coverage=0))
    with pytest.raises(OptionError):
        find_causes(BY_WORDS, pack="all")
    with pytest.raises(OptionError):
        find_causes(BY_WORDS, matchers="exact")
    with pytest.raises(InputError):
        find_causes(BY_WORDS, evidence=Evidence(chunks=[{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]))


def test_a_reference_is_found_in_other_words_of_a_source() -> None:
    from goldrank.match import matcher
    from goldrank.rag.corpus import Corpus

    corpus = Corpus(SOURCES, None, Evidence())
    found, spans = corpus.of_reference(Reference(("It is 330 metres tall.",)), matcher("rouge-l:0.7"))
    assert found.in_corpus == YES
    assert GUIDE[spans[0].start : spans[0].end].startswith("It is 330 metres")
