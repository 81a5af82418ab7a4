"""The names that tools give to the same thing: in columns, in records, in objects. All of them are here.

Names are in lower case. Where names stand in groups, those of a later group are taken only if there is none of an
earlier one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from goldrank.errors import InputError

COLUMNS: dict[str, tuple[str, ...]] = {
    "query": (
        "query", "query_id", "qid", "q_id", "query-id", "queryid", "topic", "topic_id", "user", "user_id",
        "searchtext", "querytext",
    ),
    "doc": (
        "doc", "doc_id", "docid", "docno", "corpus-id", "corpus_id", "pid", "document", "document_id", "passage_id",
        "did", "item", "item_id",
    ),
    "score": ("score", "sim", "similarity"),
    "rank": ("rank", "position"),
    "grade": ("grade", "relevance", "rel", "rating", "label", "score"),
    "tag": ("tag", "run", "run_id", "runid", "run_name", "system", "system_id"),
}  # fmt: skip
"""Columns of runs and qrels, the more usual name first."""

LISTED_DOC = (*COLUMNS["doc"], "id", "_id")
"""The document of an entry of a ranked list."""

RANKED_LISTS = ("results", "ranking", "hits", "documents", "docs", "retrieved", "documentids", "ratings", "judgements")
"""Where a record of a query has the list of its documents."""

RECORD_LISTS = ("examples", "items", "data", "samples", "test_cases", "goldens", "rows")
"""Where a JSON object has the list of its records."""

Groups = tuple[tuple[str, ...], ...]

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
        ("reference",),
    ),
    "reference": (("reference", "reference_answer", "expected_answer", "expected_output"),
                  ("ground_truth", "ground_truths")),
    "response": (("response", "actual_output", "generated_answer"),),
    "answerable": (("answerable", "is_answerable"),),
    "no_answer": (("no_answer", "unanswerable", "is_impossible"),),
    "scores": (("retrieved_scores", "retrieval_scores", "scores"),),
    "retrieved_ids": (("retrieved_context_ids", "retrieved_ids"),),
    "expected_ids": (("reference_context_ids", "expected_ids"),),
    "evidence": (("evidence",),),
    "sources": (("sources",),),
    "latency": (("latency",),),
}  # fmt: skip
"""Fields of a question with texts."""

ANSWERS = tuple(name for group in ITEM_FIELDS["references"][1:] for name in group)
"""Ragas' names for the answer: references if there are no others."""

DEEPEVAL_FIELDS = ("retrieval_context", "input", "actual_output", "expected_output")
"""Beside one of these, `context` is what should have been retrieved. Elsewhere it may be either."""

LANGSMITH_QUESTIONS = ("question", "query", "input", "user_input")
"""What LangSmith's `inputs` may call the question."""

PAIR_FIELDS: dict[str, tuple[str, ...]] = {
    "retrieved": ("retrieved", "retrieved_text", "text", "context", "chunk", "passage", "candidate"),
    "reference": ("reference", "reference_text", "ref", "gold", "expected"),
    "label": ("label", "match", "matches", "is_match", "relevant", "relevance"),
}
"""Fields of a labelled pair of texts."""

TEXT_FIELDS: dict[str, tuple[str, ...]] = {
    "text": ("page_content", "content", "text", "context", "chunk", "passage"),
    "id": ("id", "node_id", "id_", "doc_id", "document_id", "chunk_id"),
    "source": ("source", "file_path", "source_id", "ref_doc_id"),
    "start": ("start", "start_index", "start_char_idx", "split_idx_start"),
    "end": ("end", "end_index", "end_char_idx"),
    "score": ("score",),
}
"""Fields of a retrieved text that is an object, or of its metadata."""


def first_present(present: Iterable[str], known: Iterable[str]) -> str | None:
    """The name that is one of the known ones, in any case; of several, the one known first."""
    folded = {name.casefold().strip(): name for name in reversed(list(present)) if isinstance(name, str)}
    return next((folded[alias] for alias in known if alias in folded), None)


def find(columns: Iterable[str], wanted: str) -> str | None:
    """The column of a run or of qrels that goes by one of the names for `wanted`."""
    return first_present(columns, COLUMNS[wanted])


def find_all(columns: Collection[str], wanted: Iterable[str], where: str) -> dict[str, str]:
    """Columns for all of `wanted`, or the error that lists what there is."""
    found: dict[str, str] = {}
    for word in wanted:
        column = find(columns, word)
        if column is None:
            what = f"no column for the {word}; columns are: {', '.join(map(str, columns)) or 'none'}"
            raise InputError(what, where=where, hint=f"Name it one of: {', '.join(COLUMNS[word])}.")
        found[word] = column
    return found


def score_or_rank(columns: Collection[str]) -> str:
    """What orders the documents of a run: its scores, or its ranks where it has only those."""
    return "rank" if find(columns, "score") is None and find(columns, "rank") else "score"
