"""The data set of the demo is whole, and its two retrievers are what they are said to be."""

from __future__ import annotations

import math

import pytest

from goldrank import demo


def test_all_that_is_judged_is_there() -> None:
    data = demo.load()
    assert data["qrels"].keys() <= data["queries"].keys()
    judged = {doc for docs in data["qrels"].values() for doc in docs}
    assert judged
    assert judged <= data["documents"].keys()


def test_runs_answer_every_question_with_documents_that_there_are() -> None:
    data = demo.load()
    for name, run in demo.runs(depth=3).items():
        assert run.keys() == data["queries"].keys(), name
        for docs in run.values():
            assert 1 <= len(docs) <= 3
            assert docs.keys() <= data["documents"].keys()
            assert list(docs.values()) == sorted(docs.values(), reverse=True)


def test_scores_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two documents of 3 words and 1 word, so 2 on average; "red" is in one of the two, and twice in it.

    BM25: ln(1 + 1.5 / 1.5) * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2)).
    """
    documents = {"a": "Red, red blue", "b": "green"}
    monkeypatch.setattr(demo, "load", lambda: {"documents": documents, "queries": {"q": "red"}, "qrels": {}})
    found = demo.runs()
    assert found["overlap"] == {"q": {"a": 1.0}}
    assert found["bm25"] == {"q": {"a": pytest.approx(math.log(2) * 4.4 / 3.65, abs=1e-12)}}
