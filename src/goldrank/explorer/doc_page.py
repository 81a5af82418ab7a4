"""A document: its whole text in pieces, its ranks in all systems, and its judgements."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from goldrank.data.documents import Document
from goldrank.data.explanation import ShownPart
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
        known |= dict.fromkeys(system.head(query).docs)
    return known


def values(session: Session, view: View, doc: str, query: str | None, piece: int = 1) -> dict[str, Any]:
    """What the template shows."""
    whole_text = session.texts.get(doc)
    words = QueryWords(session.text_of(query) if query is not None else "")
    title, body = titled(whole_text) if whole_text else ("", "")
    if whole_text:
        pieces = piece_count(whole_text)
    else:
        pieces = 1

    piece = min(max(1, piece), pieces)
    start, end = (piece - 1) * PIECE, min(len(body), piece * PIECE)
    text = body[start:end]
    hits = [(low, high) for _, low, high in words.found(text[:SEARCHED])]
    if query is not None:
        grades = session.judged(query)
    else:
        grades = {}

    highest = max([criterion.grade for criterion in session.offered] + list(grades.values()))
    ranks = []
    if query is not None:
        for system in session.systems:
            spot = system.head(query).ranks().get(doc) or system.rank(query, doc, list(grades))
            ranks.append((system.name, spot))

    grade = grades.get(doc)
    return {
        "doc": doc,
        "heading": snippet(title, words, 200) if title else [ShownPart(visible(doc)[:200])],
        "body": marked(text, hits, 0, len(text), keep_lines=True),
        "has_text": whole_text is not None,
        "texts_state": session.texts.state,
        "piece": piece,
        "pieces": pieces,
        "query": query,
        "query_text": visible(session.text_of(query)) if query is not None else "",
        "ranks": ranks,
        "grade": grade_text(grade),
        "grade_class": ladder.grade_class(grade, highest),
        "grade_name": session.grade_name(grade),
        "file_grade": grade_text(session.qrels.text.get(query, {}).get(doc)) if query is not None else "",
        "offered": offered(session, highest),
    }


def offered(session: Session, highest: float) -> list[tuple[float, str, str, str]]:
    """The grades that a judge can give: grade, class, name and sentence of each."""
    return [
        (criterion.grade, ladder.grade_class(criterion.grade, highest), criterion.name, criterion.sentence)
        for criterion in session.offered
    ]


def piece_count(found: Document) -> int:
    """In how many pieces a text is shown."""
    return max(1, -(-len(titled(found)[1]) // PIECE))
