"""Results of clients of search engines and vector stores for one query, as a list of (document, score).

Nothing is imported: an object is recognised by its attributes. Weaviate has `.objects` with `.uuid`, Qdrant `.points`
with `.id` and `.score`, Chroma {"ids": [[...]], "distances": [[...]]}, Pinecone `.matches`; Pyserini, LangChain,
LlamaIndex and Haystack return lists of objects. Clients of Elasticsearch return dicts or objects with a `.body`
(`answer_shapes`).
Results are sorted, best first: scores are kept if they descend; else the order of the list is the ranking.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from numbers import Number
from typing import TYPE_CHECKING, Any

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.data.run import check_score
from goldrank.io import aliases

if TYPE_CHECKING:
    from goldrank.io.engines.answer_shapes import AnswerShape

_LISTS = ("objects", "points", "matches", "documents", "source_nodes")
"""Attributes of a result object with the list of its hits."""
_IDS = (*aliases.COLUMNS["doc"], "uuid", "node_id", "id_", "id", "_id", "pk")
_INSIDE = ("node", "document", "entity")
"""Attributes of a hit with the object whose id counts."""


def ranked(docs: Any, where: str) -> Any:
    """The results of one query as (document, score) pairs; an object that is not a result is returned unchanged."""
    if docs is None or isinstance(docs, str | bytes | int | float | type):
        return docs

    body = getattr(docs, "body", None)
    if isinstance(body, Mapping):
        docs = body

    if isinstance(docs, Mapping):
        return _of_mapping(docs, where)

    if not isinstance(docs, Sequence):
        name = next((name for name in _LISTS if isinstance(getattr(docs, name, None), list | tuple)), None)
        if name is None:
            return docs
        docs = getattr(docs, name)

    if not docs or isinstance(docs[0], str | bytes | int | float | tuple | list):
        return docs
    return _pairs(docs, where)


def is_result(value: Any) -> bool:
    """Whether a value is a client's result for one query."""
    if isinstance(value, Mapping):
        return isinstance(value.get("ids"), list) or _list_of_hits(value) is not None or _shape(value) is not None
    if any(isinstance(getattr(value, name, None), list | tuple) for name in _LISTS):
        return True
    return isinstance(getattr(value, "body", None), Mapping)


def _shape(value: Mapping[Any, Any]) -> AnswerShape | None:
    from goldrank.io.engines import answer_shapes as shapes

    if value.keys().isdisjoint(shapes.HOLDERS):
        return None
    return shapes.shape_of(value)


def _list_of_hits(value: Mapping[Any, Any]) -> str | None:
    """The key of the list of hits in a result that is a dict."""
    for key in _LISTS:
        hits = value.get(key)
        if isinstance(hits, list) and all(isinstance(hit, Mapping) for hit in hits):
            return key
    return None


def _of_mapping(docs: Mapping[Any, Any], where: str) -> Any:
    if isinstance(docs.get("ids"), list):
        return _of_chroma(docs, where)

    key = _list_of_hits(docs)
    if key is not None:
        return _pairs(docs[key], f"{where}, {key}")

    shape = _shape(docs)
    if shape is None:
        return docs
    if shape.responses(docs) is not None:
        raise InputError("is the answer to several searches", where=where, hint="Give each query its own response.")
    hits = shape.page(docs, where).hits
    doc_ids = [hit.doc for hit in hits]
    return _with_scores(doc_ids, [hit.score for hit in hits])


def _of_chroma(docs: Mapping[Any, Any], where: str) -> list[Any]:
    """Chroma's columns, each with a list for each query of the call."""
    doc_ids = docs["ids"]
    if doc_ids and isinstance(doc_ids[0], list):
        if len(doc_ids) != 1:
            hint = "Give each query its own: {q: {'ids': [i]} for q, i in zip(queries, result['ids'])}."
            raise InputError(f"holds the results of {len(doc_ids):,} queries", where=where, hint=hint)
        doc_ids = doc_ids[0]
    return list(doc_ids)


def _pairs(hits: Sequence[Any], where: str) -> list[Any]:
    docs = []
    scores = []
    for i, hit in enumerate(hits):
        docs.append(_id(hit, f"{where}[{i}]"))
        scores.append(_score(hit))
    return _with_scores(docs, scores)


def _with_scores(docs: list[Any], scores: list[Any]) -> list[Any]:
    """Documents with their scores, if each has a score and they descend; else documents only, best first."""
    try:
        numbers = [check_score(score, "") for score in scores]
    except InputError:
        return docs

    if all(a >= b for a, b in pairwise(numbers)):
        return list(zip(docs, numbers, strict=True))
    return docs


def _id(hit: Any, where: str) -> Any:
    for holder in (hit, *(_get(hit, name) for name in _INSIDE)):
        values = (_get(holder, name) for name in _IDS)
        value = next((value for value in values if value is not None), None)
        if value is None or isinstance(value, Mapping | list):
            continue
        if ids.is_missing(value):
            raise ids.missing(value, "document id", where)
        if isinstance(value, str | bytes | Number | Collection):
            return value  # it is an id, or refused by type
        return str(value)  # a UUID, or MongoDB's ObjectId

    names = getattr(hit, "__dict__", ())
    if isinstance(hit, Mapping):
        names = hit
    listed = ", ".join(ids.show(str(name), 40) for name in list(names)[:12]) or type(hit).__name__
    hint = "Results are ids, (id, score) pairs, or objects with an id. Give {query: [id, ...]}, best first."
    raise InputError(f"has no document id; it has: {listed}", where=where, hint=hint)


def _score(hit: Any) -> Any:
    score = _get(hit, "score")
    if score is not None:
        return score
    return _get(_get(hit, "metadata"), "score")


def _get(holder: Any, name: str) -> Any:
    if isinstance(holder, Mapping):
        return holder.get(name)
    value = getattr(holder, name, None)
    if callable(value):
        return None
    return value
