"""The field's many names for a handful of columns, turned into goldrank's words."""

from __future__ import annotations

from collections.abc import Iterable

from goldrank.errors import InputError

ALIASES: dict[str, tuple[str, ...]] = {
    "query": ("query", "query_id", "qid", "q_id", "query-id", "queryid", "topic", "topic_id", "user", "user_id"),
    "doc": (
        "doc", "doc_id", "docid", "docno", "corpus-id", "corpus_id", "pid", "document", "document_id", "passage_id",
        "did", "item", "item_id",
    ),
    "score": ("score", "sim", "similarity"),
    "rank": ("rank", "position"),
    "grade": ("grade", "relevance", "rel", "rating", "label", "score"),
    "tag": ("tag", "run", "run_id", "runid", "run_name", "system", "system_id"),
}  # fmt: skip


def find(columns: Iterable[str], wanted: str) -> str | None:
    """The column that goes by one of the names for `wanted`, the more usual name first."""
    folded = {column.casefold().strip(): column for column in reversed(list(columns)) if isinstance(column, str)}
    return next((folded[alias] for alias in ALIASES[wanted] if alias in folded), None)


def find_all(columns: Iterable[str], wanted: Iterable[str], where: str) -> dict[str, str]:
    """Columns for all of `wanted`, or the error that lists what there is."""
    present = list(columns)
    found = {word: find(present, word) for word in wanted}
    for word, column in found.items():
        if column is None:
            raise InputError(
                f"no column for the {word}; columns are: {', '.join(map(str, present)) or 'none'}",
                where=where,
                hint=f"Name it one of: {', '.join(ALIASES[word])}.",
            )
    return {word: column for word, column in found.items() if column is not None}
