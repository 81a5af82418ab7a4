"""The answers of search engines: how an answer is recognised, and its page of results.

A new engine is one `AnswerShape` in `SHAPES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.io import aliases

Answer = Mapping[str, Any]
"""An answer of an engine, or one of its results."""


class Hit(NamedTuple):
    """One result of an engine, and its position."""

    record: Answer
    doc: Any
    """None if the usual field has no id."""
    score: Any
    """None if the result has no score, or scores do not order results."""
    where: str


class Page(NamedTuple):
    """The results of one search."""

    hits: Sequence[Hit]
    query: Any
    """The query according to the response."""
    before: int
    """The number of results on earlier pages."""
    is_partial: bool
    """Whether the engine reports that not all of its parts answered."""


@dataclass(frozen=True)
class AnswerShape:
    """The answers of one engine."""

    name: str
    keys: tuple[str, ...]
    """Keys of such an answer, for the error that names the most similar shape."""
    example: str
    recognised: Callable[[Answer], bool]
    lists: tuple[str, ...]
    """Possible dotted paths of the list of results."""
    doc: Callable[[Answer], Any]
    """The id of a result."""
    score: str | None = None
    """The field of a result with its score."""
    query: Callable[[Answer], Any] = lambda response: None
    before: Callable[[Answer], int] = lambda response: 0
    is_partial: Callable[[Answer], Any] = lambda response: False
    """These are the fields of `Page`."""
    group: str = ""
    """A field of groups of results, which are not results."""
    several: str | None = None
    """The key of the list of responses in the answer to several searches at once."""
    failure: Callable[[Answer], Any] = lambda response: None
    """The engine's reason if the search failed; None if it did not."""

    def responses(self, data: Answer) -> list[Any] | None:
        """The responses of an answer to several searches; None for an answer to one search."""
        if not self.several:
            return None
        inner = data.get(self.several)
        if not isinstance(inner, list) or not inner or not isinstance(inner[0], Mapping):
            return None
        if any(isinstance(response, Mapping) and self.recognised(response) for response in inner):
            return inner
        return None

    def holds(self, data: Any) -> bool:
        """Whether data is an answer of this engine, to one search or several."""
        return isinstance(data, Mapping) and (self.recognised(data) or self.responses(data) is not None)

    def page(self, response: Any, where: str) -> Page:
        """The page of the response at a position; an error if it is not a response of this engine."""
        if not isinstance(response, Mapping):
            raise InputError(f"is {ids.show(repr(response), 60)}, not a response", where=where, hint=self.example)

        reason = self.failure(response)
        if reason is not None:
            raise failed_search(reason, where)

        if not self.recognised(response):
            keys = ", ".join(ids.show(str(key), 40) for key in list(response)[:12]) or "nothing"
            raise InputError(f"is not a response of {self.name}; it has: {keys}", where=where, hint=self.example)

        path = next(path for path in self.lists if path.partition(".")[0] in response)
        *outer, last = path.split(".")
        hits = []
        records = _listed(inner_value(response, *outer).get(last, []), f"{where}.{path}")
        for i, record in enumerate(records):
            position = f"{where}.{path}[{i}]"
            if self.group and self.group in record:
                hint = "Ask without grouping: groups are not a ranking."
                raise InputError("is a group of results, not a result", where=position, hint=hint)
            score = None
            if self.score:
                score = record.get(self.score)
            hits.append(Hit(record, self.doc(record), score, position))

        return Page(hits, self.query(response), self.before(response), bool(self.is_partial(response)))


def failed_search(reason: Any, where: str) -> InputError:
    """The error for a search that has no results because the engine refused it."""
    hint = "A search that failed has no ranking: run it again, or take it out."
    return InputError(f"this search failed: {ids.show(str(reason), 200)}", where=where, hint=hint)


def shape_of(data: Any) -> AnswerShape | None:
    """The engine of an answer; None if data is not an answer."""
    return next((shape for shape in SHAPES if shape.holds(data)), None)


def _listed(value: Any, where: str) -> list[Answer]:
    """A value that must be a list of objects."""
    if not isinstance(value, list):
        raise InputError(f"is {ids.show(repr(value), 60)}, not a list", where=where)
    for i, entry in enumerate(value):
        if not isinstance(entry, Mapping):
            raise InputError(f"is {ids.show(repr(entry), 60)}, not an object", where=f"{where}[{i}]")
    return value


def inner_value(record: Any, *path: str) -> Any:
    """The value at a path of keys; None if there is no value."""
    for key in path:
        if not isinstance(record, Mapping):
            return None
        record = record.get(key)
    return record


def _count(value: Any) -> int:
    """A number of results; 0 if the value is not a positive integer."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    return 0


def _before(page: Any, size: Any) -> int:
    """The number of results before a page, whose number counts from 1."""
    return max(0, _count(page) - 1) * _count(size)


def _listed_doc(hit: Answer) -> Any:
    """The id of a result, under any of its names."""
    name = aliases.first_present(hit, aliases.LISTED_DOC)
    if name:
        return hit[name]
    return None


def _failed(key: str, response: Answer) -> Any:
    """The value of a key in an answer with a code and without results."""
    if "code" in response and "hits" not in response:
        return response.get(key)
    return None


def _elasticsearch_failure(response: Answer) -> Any:
    error = response.get("error")
    if error is not None and "hits" not in response:
        return inner_value(error, "reason") or error
    return None


def _solr_failure(response: Answer) -> Any:
    error = response.get("error")
    if error is None and "grouped" in response:
        return "it has grouped results, which are not a ranking; ask with group=false, or group.main=true"
    if error is None or "response" in response:
        return None
    return inner_value(error, "msg") or error


def _is_vespa(data: Answer) -> bool:
    root = data.get("root")
    return isinstance(root, Mapping) and ("children" in root or "relevance" in root or "coverage" in root)


def _vespa_failure(response: Answer) -> Any:
    errors = inner_value(response, "root", "errors")
    if isinstance(errors, list) and errors and not inner_value(response, "root", "children"):
        return inner_value(errors[0], "message") or inner_value(errors[0], "summary") or errors[0]
    return None


def _is_typesense(data: Answer) -> bool:
    hits = data.get("hits")
    if isinstance(hits, list) and hits:
        return isinstance(hits[0], Mapping) and isinstance(hits[0].get("document"), Mapping)
    return isinstance(hits, list) and ("request_params" in data or "out_of" in data)


def _typesense_failure(response: Answer) -> Any:
    if "grouped_hits" in response:
        return "it has grouped results, which are not a ranking; ask without group_by"
    return _failed("error", response)


def _is_meilisearch(data: Answer) -> bool:
    signs = {"processingTimeMs", "estimatedTotalHits", "indexUid", "totalHits"}
    return isinstance(data.get("hits"), list) and bool(data.keys() & signs)


def _meilisearch_doc(hit: Answer) -> Any:
    if "id" in hit:
        return hit["id"]
    return _listed_doc(hit)


def _is_anserini(data: Answer) -> bool:
    if isinstance(data.get("candidates"), list):
        return True
    contexts = data.get("contexts", data.get("ctxs"))
    if not isinstance(contexts, list) or "question" not in data:
        return False
    # Texts without an id belong to a data set of questions and answers.
    return all(isinstance(hit, Mapping) and aliases.first_present(hit, aliases.LISTED_DOC) for hit in contexts)


def _anserini_query(response: Answer) -> Any:
    query = response.get("query")
    if isinstance(query, Mapping):
        query = query.get("qid") or query.get("id") or query.get("text")
    if query is not None:
        return query
    return response.get("question")


SHAPES = (
    AnswerShape(
        "Elasticsearch or OpenSearch",  # the answers to _search and _msearch
        ("took", "timed_out", "_shards", "hits", "responses", "aggregations", "_scroll_id"),
        '{"hits": {"hits": [{"_id": "d1", "_score": 1.5}]}}, or {"responses": [...]} of such',
        recognised=lambda data: isinstance(inner_value(data, "hits", "hits"), list),
        lists=("hits.hits",),
        doc=lambda hit: hit.get("_id"),
        score="_score",
        is_partial=lambda response: response.get("timed_out") or inner_value(response, "_shards", "failed"),
        several="responses",
        failure=_elasticsearch_failure,
    ),
    AnswerShape(
        "Solr",  # in JSON (wt=json); the query is in the echoed parameters (echoParams)
        ("responseHeader", "response", "highlighting", "facet_counts", "debug"),
        '{"responseHeader": {"params": {"q": "..."}}, "response": {"docs": [{"id": "d1", "score": 1.5}]}}',
        recognised=lambda data: isinstance(inner_value(data, "response", "docs"), list),
        lists=("response.docs",),
        doc=lambda hit: hit.get("id"),
        score="score",
        query=lambda response: inner_value(response, "responseHeader", "params", "q"),
        before=lambda response: _count(response["response"].get("start")),
        is_partial=lambda response: inner_value(response, "responseHeader", "partialResults"),
        failure=_solr_failure,
    ),
    AnswerShape(
        "Vespa",
        ("root", "trace", "timing"),
        '{"root": {"children": [{"id": "id:ns:type::d1", "relevance": 0.5, "fields": {...}}]}}',
        recognised=_is_vespa,
        lists=("root.children",),
        doc=lambda hit: inner_value(hit, "fields", "documentid") or hit.get("id"),
        score="relevance",
        is_partial=lambda response: inner_value(response, "root", "coverage", "full") is False,
        group="children",
        failure=_vespa_failure,
    ),
    AnswerShape(
        "Typesense",  # text_match has more digits than a double, and other things may sort results: no scores
        ("hits", "found", "out_of", "page", "request_params", "search_time_ms", "facet_counts", "results"),
        '{"hits": [{"document": {"id": "d1"}}], "request_params": {"q": "..."}}, or {"results": [...]} of such',
        recognised=_is_typesense,
        lists=("hits",),
        doc=lambda hit: inner_value(hit, "document", "id"),
        query=lambda response: inner_value(response, "request_params", "q"),
        before=lambda response: _before(response.get("page"), inner_value(response, "request_params", "per_page")),
        is_partial=lambda response: response.get("search_cutoff"),
        several="results",
        failure=_typesense_failure,
    ),
    AnswerShape(
        "Meilisearch",  # results are documents; they have a score if it was asked for (showRankingScore)
        ("hits", "query", "processingTimeMs", "estimatedTotalHits", "indexUid", "limit", "offset", "results"),
        '{"hits": [{"id": "d1"}], "query": "...", "processingTimeMs": 1}, or {"results": [...]} of such',
        recognised=_is_meilisearch,
        lists=("hits",),
        doc=_meilisearch_doc,
        score="_rankingScore",
        query=lambda response: response.get("query"),
        before=lambda response: (
            _count(response.get("offset")) or _before(response.get("page"), response.get("hitsPerPage"))
        ),
        is_partial=lambda response: response.get("degraded"),
        several="results",
        failure=lambda response: _failed("message", response),
    ),
    AnswerShape(
        # Lucene: answers of Anserini's REST API and requests of rerankers (RankLLM), with `candidates`; runs for DPR,
        # with `contexts`. TREC and MS MARCO output are separate formats.
        "Anserini or Pyserini",
        ("query", "candidates", "question", "contexts", "ctxs", "answers"),
        '{"query": {"qid": "q1", "text": "..."}, "candidates": [{"docid": "d1", "score": 1.5}]}',
        recognised=_is_anserini,
        lists=("candidates", "contexts", "ctxs"),
        doc=_listed_doc,
        score="score",
        query=_anserini_query,
    ),
)
"""All engines; the most reliable signs come first."""
HOLDERS = frozenset(path.partition(".")[0] for shape in SHAPES for path in (*shape.lists, shape.several) if path)
"""An object without any of these keys is not an answer; this check is fast also for a long ranking."""
