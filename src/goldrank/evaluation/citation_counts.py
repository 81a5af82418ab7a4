"""From answers that cite documents to the table that measures of citations read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from goldrank.base.errors import InputError
from goldrank.base.notes import Note
from goldrank.data.citations import CitationCounts, Citations
from goldrank.data.passages import Passages
from goldrank.data.text_item import TextItem
from goldrank.io.questions.item_reader import ReadItem
from goldrank.match import Matcher, place_items
from goldrank.match.pairs import TextCounts


def count_citations(given_items: Iterable[ReadItem], matcher: Matcher) -> tuple[Passages, TextCounts, list[Note]]:
    """The passages of answers with what they cite. Nothing is matched: citations are ids."""
    items: list[TextItem] = []
    counts: list[CitationCounts] = []
    silent = 0
    for given in given_items:
        items.append(replace(given.item, references=()))
        sentences = given.item.sentences or ()
        if given.ids is None:
            retrieved = None
        else:
            retrieved = [doc for doc in given.ids if doc is not None]
        counts.append(CitationCounts.of(sentences, given.expected_ids, retrieved))
        silent += not any(sentence.citations for sentence in sentences)

    if all(item.sentences is None for item in items):
        hint = 'An answer has "cited_ids": ["d1"], or "sentences": [{"text": ..., "citations": ["d1"]}].'
        raise InputError("no question has an answer with citations", hint=hint, code="no-citations")
    passages, text_counts = place_items(items, matcher)
    if silent:
        notes = [Note.of("nothing-cited", count=silent)]
    else:
        notes = []
    return replace(passages, citations=Citations.of(counts)), text_counts, notes
