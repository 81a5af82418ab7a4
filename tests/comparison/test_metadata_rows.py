"""Queries and documents as ir_datasets gives them."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest

from goldrank.comparison.metadata import document_texts, lookup
from goldrank.errors import InputError

Query = namedtuple("GenericQuery", "query_id text")
Topic = namedtuple("TrecQuery", "query_id title description narrative")
Doc = namedtuple("GenericDoc", "doc_id text")


class DataSet:
    """As much of a data set as is used."""

    def queries_iter(self) -> Any:
        yield Query("q1", "gold rush")

    def docs_iter(self) -> Any:
        yield Doc("d1", "a nugget")


def test_iterators_as_they_are() -> None:
    data = DataSet()
    for given in (data, data.queries_iter(), [{"query_id": "q1", "text": "gold rush"}]):
        assert lookup(given, "queries")("q1") == "gold rush"
    assert lookup(iter([Topic("q1", "gold rush", "", "")]), "queries")("q1") == "gold rush"
    for given in (data, data.docs_iter()):
        assert document_texts(given, ["d1"]) == {"d1": "a nugget"}


def test_rows_that_are_none() -> None:
    with pytest.raises(InputError):
        lookup([5], "queries")


def test_the_real_package() -> None:
    formats = pytest.importorskip("ir_datasets.formats")
    assert lookup([formats.GenericQuery("q1", "gold rush")], "queries")("q1") == "gold rush"
    assert document_texts([formats.GenericDoc("d1", "a nugget")], ["d1"]) == {"d1": "a nugget"}
