"""LangChain writes -1 where its splitter did not find a text in its source: the place is not known."""

from __future__ import annotations

from goldrank import Evidence, evaluate_texts
from goldrank.io.questions.source_texts import read_chunks
from goldrank.io.questions.text_values import retrieved_text

SOURCE = "It is so. It was not so."


def _document(start: int) -> dict[str, object]:
    return {"page_content": "It was not so.", "metadata": {"source": "doc", "start_index": start}}


def test_a_text_that_its_splitter_did_not_find_has_a_source_and_no_place() -> None:
    text = retrieved_text(_document(-1), "here")
    assert (text.source, text.span) == ("doc", None)


def test_it_is_looked_for_in_its_source() -> None:
    item = {"retrieved": [_document(-1)], "evidence": [{"source": "doc", "start": 10, "end": 24}]}
    assert evaluate_texts([item], evidence=Evidence({"doc": SOURCE}))["EvidenceRecall@5"] == 1


def test_chunks_have_such_places_too() -> None:
    (chunk,) = read_chunks([{"id": "c1", **_document(-1)}])
    assert (chunk.id, chunk.source, chunk.span) == ("c1", "doc", None)
