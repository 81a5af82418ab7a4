"""A document: its whole text in pieces, its ranks in all systems, and its judgements."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from goldrank.data.documents import Document
from goldrank.data.explanation import ShownPart
from goldrank.data.qrels import Grade
from goldrank.explorer import ladder
from goldrank.explorer.page_numbers import grade_text
from goldrank.explorer.query_page import titled
from goldrank.explorer.session import Session, View
from goldrank.explorer.snippets import SEARCHED, QueryWords, marked, snippet, visible

PIECE = 50_000
"""Characters of a text that a page shows at a time."""


def known_documents(session: Session, query: str | None) -> Collection[str]:
    """Documents that a page of a query can name: judged ones and the first of each system."""
    if query is None:
        return ()
    known = dict.fromkeys(session.judged(query))
    for system in session.systems:
        known |= dict.fromkeys(system.query_top(query).docs)
    return known


def values(session: Session, view: View, doc: str, query: str | None, piece: int = 1) -> dict[str, Any]:
    """The values of the template."""
    query_text, file_grade, ranks = "", "", []
    grades: Mapping[str, Grade] = {}
    if query is not None:
        query_text = session.text_of(query)
        file_grade = grade_text(session.qrels.text.get(query, {}).get(doc))
        grades = session.judged(query)
        for system in session.systems:
            rank = system.query_top(query).ranks().get(doc) or system.rank(query, doc, list(grades))
            ranks.append((system.name, rank))

    document = session.texts.get(doc)
    title, body, pieces = "", "", 1
    if document:
        title, body = titled(document)
        pieces = piece_count(document)
    piece = min(max(1, piece), pieces)
    start, end = (piece - 1) * PIECE, min(len(body), piece * PIECE)
    text = body[start:end]

    words = QueryWords(query_text)
    hits = [(low, high) for _, low, high in words.hits(text[:SEARCHED])]
    heading: Sequence[ShownPart] = [ShownPart(visible(doc)[:200])]
    if title:
        heading = snippet(title, words, 200)
    highest = max([criterion.grade for criterion in session.offered] + list(grades.values()))
    grade = grades.get(doc)
    return {
        "doc": doc,
        "heading": heading,
        "body": marked(text, hits, 0, len(text), keep_lines=True),
        "has_text": document is not None,
        "texts_state": session.texts.state,
        "piece": piece,
        "pieces": pieces,
        "query": query,
        "query_text": visible(query_text),
        "ranks": ranks,
        "grade": grade_text(grade),
        "grade_class": ladder.grade_class(grade, highest),
        "grade_name": session.grade_name(grade),
        "file_grade": file_grade,
        "offered": offered(session, highest),
    }


class OfferedGrade(NamedTuple):
    """A grade that a judge can give."""

    grade: float
    style: str
    """The class of its chip."""
    name: str
    sentence: str


def offered(session: Session, highest: float) -> list[OfferedGrade]:
    """The grades that a judge can give."""
    grades = []
    for criterion in session.offered:
        style = ladder.grade_class(criterion.grade, highest)
        grades.append(OfferedGrade(criterion.grade, style, criterion.name, criterion.sentence))
    return grades


def piece_count(document: Document) -> int:
    """The number of pieces that a text is shown in."""
    return max(1, -(-len(titled(document)[1]) // PIECE))
