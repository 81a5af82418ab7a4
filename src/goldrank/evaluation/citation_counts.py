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


def count_citations(entries: Iterable[ReadItem], matcher: Matcher) -> tuple[Passages, TextCounts, list[Note]]:
    """The passages of answers with their citations. Nothing is matched: citations are ids."""
    items: list[TextItem] = []
    counts: list[CitationCounts] = []
    silent = 0
    for entry in entries:
        items.append(replace(entry.item, references=()))
        sentences = entry.item.sentences or ()
        retrieved = None
        if entry.ids is not None:
            retrieved = [doc for doc in entry.ids if doc is not None]
        counts.append(CitationCounts.of(sentences, entry.expected_ids, retrieved))
        silent += not any(sentence.citations for sentence in sentences)

    if all(item.sentences is None for item in items):
        hint = 'An answer has "cited_ids": ["d1"], or "sentences": [{"text": ..., "citations": ["d1"]}].'
        raise InputError("no question has an answer with citations", hint=hint, code="no-citations")

    passages, text_counts = place_items(items, matcher)
    notes = []
    if silent:
        notes = [Note.of("nothing-cited", count=silent)]
    return replace(passages, citations=Citations.of(counts)), text_counts, notes
