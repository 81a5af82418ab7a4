"""All names that tools use for a role: in columns, in records, in objects.

Names are in lower case. Where names are in groups, a later group counts only if no name of an earlier group is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import cache
from typing import Any, Generic, TypeVar

COLUMNS: dict[str, tuple[str, ...]] = {
    "query": (
        "query_id", "qid", "q_id", "queryid", "topic_id", "query", "topic", "user_id", "userid", "user", "uid",
        "searchtext", "querytext", "query_text",
    ),
    "doc": (
        "doc_id", "docno", "docid", "corpus_id", "pid", "document_id", "passage_id", "did", "doc", "document",
        "item_id", "itemid", "iid", "movie_id", "movieid", "product_id", "productid", "track_id", "book_id",
        "article_id", "news_id", "video_id", "asin", "sku", "item",
    ),
    "score": ("score", "sim", "similarity", "prediction", "est"),
    "rank": ("rank", "position", "doc_position"),
    "distance": ("distance", "_distance", "vector_distance"),
    "grade": ("grade", "relevance", "rel", "rating", "label", "r_ui", "score"),
    "judged_by": ("judged_by",),
    "tag": ("tag", "run", "run_id", "runid", "run_name", "system", "system_id"),
}  # fmt: skip
"""Columns of runs and qrels, in the spelling of `normal`. Names of ids come before names that may be of texts
(`query`), more usual names first."""

USERS = ("user_id", "userid", "user", "uid")
"""Names of queries that are people, whose grades are ratings."""

ORDERED_BY = ("score", "rank", "distance")
"""Columns that can order the documents of a run, the most reliable first; lower ranks and distances are better."""

ENTRY_GRADE = ("grade", "relevance", "rel", "rating")
"""The grade of an expected document or text; its score may come from a retriever."""

LISTED_DOC = (*COLUMNS["doc"], "id", "_id")
"""The document of an entry of a ranked list."""

RANKED_LISTS = ("results", "ranking", "hits", "documents", "docs", "retrieved", "documentids", "ratings", "judgements")
"""The field with the list of documents in the record of a query."""

QUESTION_IDS = (
    "query_id", "qid", "q_id", "queryid", "question_id", "example_id", "topic_id", "user_id", "userid", "id", "_id",
)  # fmt: skip
QUESTION_TEXTS = ("user_input", "question", "query", "input", "query_text", "query_str", "topic", "user", "uid")
"""The field that identifies a question with lists of ids: its id, else its text."""

_ID_PREFIXES = ("context_", "", "doc_", "document_", "chunk_", "node_", "docs_")
_EXPECTED = ("reference", "expected", "relevant", "gold", "golden", "ground_truth", "positive")
ID_LISTS: dict[str, tuple[str, ...]] = {
    "retrieved_ids": (
        *(f"retrieved_{middle}ids" for middle in _ID_PREFIXES),
        *("retrieved_docids", "recommended_ids", "predicted_ids", "result_ids", "ranked_items"),
        *("recommendations", "recommended", "recommended_items", "recs", "recommended_item_ids", "predicted_items"),
        *("item_ids", "items", "top_k", "topk", "predictions"),
    ),
    "reference_ids": (
        *(f"{who}_{middle}ids" for who in _EXPECTED for middle in _ID_PREFIXES),
        *("expected_docids", "relevant_docids", "answer_session_ids"),
    ),
}
"""Fields with the retrieved ids, and with the ids that should have been retrieved."""

_ANYWHERE = ("metadata", "additional_metadata", "additionalmetadata")
ID_LIST_HOLDERS: dict[str, tuple[str, ...]] = {
    "retrieved_ids": ("outputs", "output", "run_outputs", "retrieval_results", *_ANYWHERE),
    "reference_ids": ("reference_outputs", "referenceoutputs", "reference_output", "expected_outputs", "outputs",
                      *_ANYWHERE),
}  # fmt: skip
"""Objects in a record that may hold those lists: LangSmith's, DeepEval's and LongMemEval's."""

OBJECT_LISTS: dict[str, tuple[str, ...]] = {
    "retrieved_ids": ("retrieved", "results"),
    "reference_ids": ("expected", "relevant", "gold"),
}
"""Fields with lists of objects that have an id: {"id": "d1", "score": 9.1}, {"id": "d1", "grade": 2}. Lists of texts
that are not ids may have these names, too."""

SPAN_DOCUMENTS = "gen_ai.retrieval.documents"
"""OpenTelemetry's attribute for the documents that a span retrieved: a list, or its JSON."""
SPAN_DOCUMENT = re.compile(r"retrieval\.documents\.(\d+)\.document\.(id|score)")
"""OpenInference's attributes for one field of a document that a span retrieved."""

SPAN_DOCUMENT_LIST = "retrieval.documents"
"""OpenInference's attribute for all documents, where a tool has not flattened them."""
SPAN_QUESTIONS = ("gen_ai.retrieval.query.text", "gen_ai.retrieval.query", "input.value")
"""Attributes for what a retriever was asked."""

RECORD_LISTS = ("examples", "items", "data", "samples", "test_cases", "goldens", "rows")
"""The field of a JSON object with the list of its records."""

Groups = tuple[tuple[str, ...], ...]
_ANSWERS = ("reference", "reference_answer", "expected_answer", "expected_output")

ITEM_FIELDS: dict[str, Groups] = {
    "query": (("query_id", "qid", "question_id", "example_id", "id", "_id"),),
    "question": (("question", "user_input", "input", "query_text"), ("query",)),
    "retrieved": (
        (
            "retrieved", "retrieved_contexts", "retrieved_context", "retrieved_texts", "retrieved_docs",
            "retrieved_documents", "retrieved_chunks", "retrieval_context", "contexts", "documents",
        ),
    ),
    "references": (
        (
            "references", "reference_contexts", "expected_texts", "expected_contexts", "ground_truth_documents",
            "ground_truth_contexts", "ground_truth_context", "gold_docs",
        ),
        ("ground_truths", "ground_truth"),
        _ANSWERS,
    ),
    "reference": (_ANSWERS, ("ground_truth", "ground_truths")),
    "response": (("response", "actual_output", "generated_answer", "answer_text"),),
    "answerable": (("answerable", "is_answerable"),),
    "no_answer": (("no_answer", "unanswerable", "is_impossible"),),
    "nuggets": (("nuggets",),),
    "sentences": (("sentences",),),
    "cited_ids": (("cited_ids", "cited_docids"),),
    "correct": (("correct", "is_correct", "outcome"),),
    "scores": (("retrieved_scores", "retrieval_scores", "scores"),),
    "retrieved_ids": (("retrieved_context_ids", "retrieved_ids"),),
    "expected_ids": (("reference_context_ids", "expected_ids"), ("retrieval_gt", "expected")),
    "evidence": (("evidence",),),
    "sources": (("sources",),),
    "latency": (("latency",),),
    "latency_ms": (("latency_ms",),),
    "tokens": (("tokens",),),
    "cost": (("cost",),),
    "conversation": (("conversation",),),
    "turn": (("turn",),),
}  # fmt: skip
"""Fields of a question with texts."""

ANSWERS = tuple(name for group in ITEM_FIELDS["references"][1:] for name in group)
"""Ragas' names for the answer: references if there are no others."""

DEEPEVAL_FIELDS = ("retrieval_context", "input", "actual_output", "expected_output")
"""In a record with one of these, `context` is what should have been retrieved. Else its meaning is not clear."""

LANGSMITH_QUESTIONS = ("question", "query", "input", "user_input")
"""Names of the question in LangSmith's `inputs`."""

PAIR_FIELDS: dict[str, tuple[str, ...]] = {
    "retrieved": ("retrieved", "retrieved_text", "text", "context", "chunk", "passage", "candidate"),
    "reference": ("reference", "reference_text", "ref", "gold", "expected"),
    "label": ("label", "match", "matches", "is_match", "relevant", "relevance"),
}
"""Fields of a labelled pair of texts."""

CLICK_FIELDS: dict[str, tuple[str, ...]] = {
    "query": ("query", "query_id", "qid", "query_text", "user_query", "searchtext"),
    "doc": ("doc", "doc_id", "docid", "docno", "document", "document_id", "item", "item_id", "object_id", "url"),
    "rank": ("rank", "position", "ordinal"),
    "click": ("click", "clicked", "is_click", "clicks"),
    "page": ("page", "page_id", "page_view", "page_view_id", "view_id", "impression", "impression_id", "session",
             "session_id", "serp_id", "search_id"),
    "user": ("user", "user_id", "userid", "client_id"),
    "shown": ("shown", "impressions", "results", "ranking", "documents"),
    "clicks": ("clicks", "clicked", "clicked_docs"),
}  # fmt: skip
"""Fields of a click log."""

TEXT_FIELDS: dict[str, tuple[str, ...]] = {
    "text": ("page_content", "content", "text", "context", "chunk", "passage"),
    "id": ("id", "node_id", "id_", "doc_id", "document_id", "chunk_id"),
    "source": ("source", "file_path", "source_id", "ref_doc_id"),
    "start": ("start", "start_index", "start_char_idx", "split_idx_start"),
    "end": ("end", "end_index", "end_char_idx"),
    "score": ("score",),
}
"""Fields of a retrieved text that is an object, or of its metadata."""


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""The beginning of a word in names of TypeScript, Java and C#."""
_KIND = re.compile(r":(token|float|token_seq|float_seq)$")


def normal(name: str) -> str:
    """A name in the spelling of `COLUMNS`: in lower case, with underscores, without the types that RecBole writes.

    >>> normal("Query ID"), normal("corpus-id"), normal("user_id:token"), normal("retrievedIds")
    ('query_id', 'corpus_id', 'user_id', 'retrieved_ids')
    """
    return _without_kind(_HUMP.sub("_", name))


def _without_kind(name: str) -> str:
    return _KIND.sub("", name.casefold().strip()).replace(" ", "_").replace("-", "_")


_Result = TypeVar("_Result")


class OncePerShape(Generic[_Result]):
    """The result of `find` for the keys of a record, cached by shape: the records of a file have few shapes."""

    MOST = 1_000
    LONGEST = 4_096
    """Most characters of the keys of a shape that is cached."""

    def __init__(self, find: Callable[[tuple[Any, ...]], _Result]) -> None:
        self._find = find
        self._cache: dict[tuple[Any, ...], _Result] = {}

    def __call__(self, keys: tuple[Any, ...]) -> _Result:
        try:
            return self._cache[keys]
        except KeyError:
            result = self._find(keys)

        if sum(len(str(key)) + 1 for key in keys) <= self.LONGEST:
            if len(self._cache) >= self.MOST:
                self._cache.clear()
            self._cache[keys] = result
        return result


@cache
def _names_among(known: tuple[str, ...]) -> OncePerShape[tuple[str, ...]]:
    """A cached function that finds the known names among others."""

    def find(present: tuple[Any, ...]) -> tuple[str, ...]:
        by_name: dict[str, list[str]] = {}
        for name in present:
            if not isinstance(name, str):
                continue
            for spelling in dict.fromkeys((normal(name), _without_kind(name))):  # documentIds is also documentids
                by_name.setdefault(spelling, []).append(name)
        return tuple(dict.fromkeys(name for alias in known for name in by_name.get(alias, ())))

    return OncePerShape(find)


def all_present(present: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """The names that are known, in any spelling, in the order of `known`."""
    return _names_among(tuple(known))(tuple(present))


def first_present(present: Iterable[str], known: Iterable[str]) -> str | None:
    """The name that comes first in `known`; None if no name is known."""
    names = all_present(present, known)
    if names:
        return names[0]
    return None


def find(columns: Iterable[str], role: str) -> str | None:
    """The column of a run or of qrels whose name is one of the names of a role."""
    return first_present(columns, COLUMNS[role])


def ordered_by(columns: Collection[str]) -> str:
    """The role that orders the documents of a run: its scores, or its ranks or distances if it has no scores."""
    return next((role for role in ORDERED_BY if find(columns, role) is not None), "score")


def is_rating(query: str, grade: str) -> bool:
    """Whether columns of these names hold ratings by users, and not grades by judges."""
    return normal(query) in USERS and normal(grade) in ("rating", "r_ui")
