"""The engine files of examples/engines: against a server that answers as each engine's documentation shows, which is
not the engine itself; and against a real one, SQLite's FTS5."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import places
import pytest
from engine_server import serving

import goldrank
from goldrank import demo
from goldrank.cli import run as command_line
from goldrank.retrieval.engine_file import SearchEngine
from goldrank.retrieval.engine_run import EngineRun, run_engine

pytest.importorskip("httpx")
FOLDER = places.ROOT / "examples" / "engines"
SECRET = "Key 0123456789abcdef"
VARIABLES = (
    *("ES_AUTH", "OPENSEARCH_AUTH", "TYPESENSE_KEY", "MEILI_AUTH", "QDRANT_KEY", "WEAVIATE_AUTH", "ALGOLIA_KEY"),
)
QUERIES = {"q1": {"text": 'red "shoes"', "vector": [0.5, 0.25]}}


class Documented(NamedTuple):
    """What an engine answers, and what is read of it."""

    answer: Any
    empty: Any
    documents: dict[str, float]
    took_ms: float | None
    sent: Any
    """What stands in the body, the form or the parameters of the request."""


def elastic(hits: list[Any], failed: int = 0) -> dict[str, Any]:
    return {
        "took": 5,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": failed},
        "hits": {"total": {"value": 20, "relation": "eq"}, "max_score": 1.3862942, "hits": hits},
    }


ELASTIC_HITS = [
    {"_index": "products", "_id": "0", "_score": 1.3862942},
    {"_index": "products", "_id": "b", "_score": 1.0},
]


def solr(docs: list[Any]) -> dict[str, Any]:
    return {
        "responseHeader": {"status": 0, "QTime": 1, "params": {"q": "x"}},
        "response": {"numFound": len(docs), "start": 0, "maxScore": 0.5, "docs": docs},
    }


def vespa(**children: Any) -> dict[str, Any]:
    coverage = {"coverage": 100, "documents": 3, "full": True, "nodes": 1, "results": 1, "resultsFull": 1}
    return {"root": {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 2}, "coverage": coverage, **children}}


def typesense(hits: list[Any]) -> dict[str, Any]:
    return {
        "facet_counts": [], "found": len(hits), "hits": hits, "out_of": 10, "page": 1,
        "request_params": {"collection_name": "products", "per_page": 7, "q": "x"},
        "search_cutoff": False, "search_time_ms": 3,
    }  # fmt: skip


def meilisearch(hits: list[Any]) -> dict[str, Any]:
    return {"hits": hits, "offset": 0, "limit": 7, "estimatedTotalHits": 2, "processingTimeMs": 4, "query": "x"}


def qdrant(points: list[Any]) -> dict[str, Any]:
    return {"result": {"points": points}, "status": "ok", "time": 0.002}


DOCUMENTED = {
    "elasticsearch": Documented(
        elastic(ELASTIC_HITS), elastic([]), {"0": 1.3862942, "b": 1.0}, 5,
        {"size": 7, "_source": False, "query": {"match": {"title": 'red "shoes"'}}},
    ),
    "opensearch": Documented(
        elastic(ELASTIC_HITS), elastic([]), {"0": 1.3862942, "b": 1.0}, 5,
        {"size": 7, "_source": False,
         "query": {"multi_match": {"query": 'red "shoes"', "fields": ["title^2", "body"]}}},
    ),
    "solr": Documented(
        solr([{"id": "a", "score": 0.5}, {"id": "b", "score": 0.25}]), solr([]), {"a": 0.5, "b": 0.25}, 1,
        {"q": 'red "shoes"', "rows": "7", "fl": "id,score", "defType": "edismax", "qf": "title^2 body", "wt": "json"},
    ),
    "vespa": Documented(
        vespa(children=[{"id": "id:s:doc::1", "relevance": 0.75, "source": "s", "fields": {"sku": "a"}},
                        {"id": "id:s:doc::2", "relevance": 0.5, "source": "s", "fields": {"sku": "b"}}]),
        vespa(), {"a": 0.75, "b": 0.5}, None,
        {"yql": "select * from doc where userQuery()", "query": 'red "shoes"', "hits": 7, "ranking": "bm25",
         "timeout": "5s"},
    ),
    "typesense": Documented(
        typesense([{"document": {"id": "a"}, "highlights": [], "text_match": 578730123365711993},
                   {"document": {"id": "b"}, "highlights": [], "text_match": 578730123365711992}]),
        typesense([]), {"a": -1.0, "b": -2.0}, 3,
        {"q": 'red "shoes"', "query_by": "title,body", "per_page": "7"},
    ),
    "meilisearch": Documented(
        meilisearch([{"sku": "a", "_rankingScore": 0.9}, {"sku": "b", "_rankingScore": 0.8}]), meilisearch([]),
        {"a": 0.9, "b": 0.8}, 4, {"q": 'red "shoes"', "limit": 7, "showRankingScore": True},
    ),
    "qdrant": Documented(
        qdrant([{"id": 1, "version": 0, "score": 0.9, "payload": {"doc": "a"}},
                {"id": 2, "version": 0, "score": 0.8, "payload": {"doc": "b"}}]),
        qdrant([]), {"a": 0.9, "b": 0.8}, 2,
        {"query": [0.5, 0.25], "limit": 7, "with_payload": ["doc"]},
    ),
    "weaviate": Documented(
        {"data": {"Get": {"Docs": [{"_additional": {"id": "a", "score": "1.5"}},
                                   {"_additional": {"id": "b", "score": "0.5"}}]}}},
        {"data": {"Get": {"Docs": []}}}, {"a": 1.5, "b": 0.5}, None,
        {"query": "query($q: String!) { Get { Docs(bm25: {query: $q}, limit: 7) { _additional { id score } } } }",
         "variables": {"q": 'red "shoes"'}},
    ),
    "algolia": Documented(
        {"hits": [{"objectID": "a"}, {"objectID": "b"}], "nbHits": 2, "page": 0, "processingTimeMS": 1, "query": "x"},
        {"hits": [], "nbHits": 0, "page": 0, "processingTimeMS": 1, "query": "x"}, {"a": -1.0, "b": -2.0}, 1,
        {"query": 'red "shoes"', "hitsPerPage": 7, "attributesToRetrieve": ["objectID"]},
    ),
}  # fmt: skip


def example(name: str, url: str) -> SearchEngine:
    """An example whose engine is at another address."""
    engine = SearchEngine.load(FOLDER / f"{name}.toml", allow_env=VARIABLES)
    assert engine.request is not None
    path = urlsplit(engine.request.url).path
    return replace(engine, request=replace(engine.request, url=url + path))


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, SECRET)


def asked(name: str, answer: Any) -> tuple[EngineRun, Any]:
    with serving(lambda request, number: answer) as server:
        found = run_engine(QUERIES, example(name, server.url), k=7)
    return found, server.requests[0]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_documented_answers(name: str) -> None:
    documented = DOCUMENTED[name]
    found, request = asked(name, documented.answer)
    assert dict(found.run["q1"]) == documented.documents
    assert found["q1"].took_ms == documented.took_ms
    assert not found.partial
    if request.method == "GET":
        assert request.params == documented.sent
    elif name == "solr":
        assert request.form == documented.sent
    else:
        assert request.json == documented.sent
    if name not in ("solr", "vespa"):
        assert SECRET in request.headers.values()


@pytest.mark.parametrize("name", DOCUMENTED)
def test_no_results_are_no_failure(name: str) -> None:
    found, _ = asked(name, DOCUMENTED[name].empty)
    assert found.empty == ("q1",)
    assert not found.failures


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("elasticsearch", elastic(ELASTIC_HITS, failed=1)),
        ("solr", {**solr([{"id": "a"}]), "responseHeader": {"status": 0, "QTime": 1, "partialResults": True}}),
        ("vespa", {"root": {"relevance": 1, "coverage": {"full": False, "degraded": {"timeout": True}}}}),
        ("typesense", {**typesense([]), "search_cutoff": True}),
    ],
)
def test_partial_answers_are_counted(name: str, answer: Any) -> None:
    assert asked(name, answer)[0].partial == ("q1",)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("elasticsearch", {"error": {"reason": "no such index"}, "status": 404}),
        ("solr", {"responseHeader": {"status": 400}, "error": {"msg": "undefined field", "code": 400}}),
        ("vespa", {"root": {"relevance": 1, "errors": [{"code": 8, "message": "timeout"}]}}),
        ("weaviate", {"data": None, "errors": [{"message": "Cannot query field"}]}),
        ("qdrant", {"status": {"error": "Not found"}, "time": 0.1}),
    ],
)
def test_errors_with_200_are_failures(name: str, answer: Any) -> None:
    with pytest.raises(goldrank.RetrievalError) as caught:
        asked(name, answer)
    assert caught.value.code == "engine-error"


def test_every_example_is_tried() -> None:
    real = {"sqlite_fts5", "sqlite_stems", "sqlite_command"}
    assert {path.stem for path in FOLDER.glob("*.toml")} == {*DOCUMENTED, *real}


# A real engine.


def test_sqlite_from_engine_to_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From queries to a score with the commands of the page."""
    out = str(tmp_path / "fts5.run")
    assert command_line(["demo", "--write", str(tmp_path)]) == 0
    words = ["run", str(tmp_path / "queries.jsonl"), "--engine", str(FOLDER / "sqlite_fts5.toml"), "-o", out]
    assert command_line([*words, "--allow-commands", "--quiet"]) == 0
    assert command_line(["eval", str(tmp_path / "household.qrels"), out, "-m", "nDCG@10"]) == 0
    assert "nDCG@10" in capsys.readouterr().out

    found = goldrank.read_run(out)
    assert set(found) == set(demo.load()["queries"])
    assert found.ranking("q01")[0] == "bread-1", "the one document about dough that does not rise"
    # FTS5 with stems finds more than common words do.
    simple = goldrank.evaluate(demo.load()["qrels"], demo.runs()["overlap"], "nDCG@10").mean["nDCG@10"]
    assert goldrank.evaluate(demo.load()["qrels"], found, "nDCG@10").mean["nDCG@10"] > simple


def test_the_program_gives_what_the_function_gives() -> None:
    function = run_engine(demo.load()["queries"], FOLDER / "sqlite_fts5.toml", allow_commands=True)
    program = run_engine(demo.load()["queries"], FOLDER / "sqlite_command.toml", allow_commands=True)
    assert dict(program.run.results) == dict(function.run.results)
    assert not program.failures
