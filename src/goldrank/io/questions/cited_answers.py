"""Answers with citations, as the tracks of TREC write them -> sentences with the ids of what they cite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.data.text_item import CitedSentence
from goldrank.io.objects.field_values import absent
from goldrank.io.questions.support_words import SUPPORT
from goldrank.io.questions.text_values import document_ids, listed, shown

SENTENCE_HINT = 'A sentence is {"text": ..., "citations": ["d1", "d2"]}, perhaps with "support": ["full", "none"].'


def cited_sentences(value: Any, at: str) -> tuple[CitedSentence, ...]:
    """Sentences from a list of objects with text, citations and perhaps support."""
    return tuple([_sentence(entry, f"{at}[{i}]") for i, entry in enumerate(listed(value, "sentences", at))])


def _sentence(entry: Any, at: str) -> CitedSentence:
    if not isinstance(entry, Mapping):
        raise InputError(f"is {shown(entry)}, not a sentence", where=at, hint=SENTENCE_HINT)
    text = entry.get("text")
    citations = document_ids(entry.get("citations") or [], f"{at}.citations")
    support = entry.get("support")
    degrees = None if absent(support) else _degrees(support, citations, at)
    return CitedSentence(text if isinstance(text, str) else "", citations, degrees)


def _degrees(support: Any, citations: Sequence[str], at: str) -> tuple[float, ...]:
    """How far each citation supports its sentence: labels in their order, or by id."""
    if isinstance(support, Mapping):
        support = [support.get(doc) for doc in citations]

    labels = [support] if isinstance(support, str) else listed(support, "labels", at)
    if len(labels) != len(citations):
        what = f"has {len(labels):,} labels of support for {len(citations):,} citations"
        raise InputError(what, where=at, hint=SENTENCE_HINT)

    degrees = []
    for label in labels:
        if label not in SUPPORT:
            hint = f"It is one of: {', '.join(SUPPORT)}."
            raise InputError(f"the support is {shown(label)}", where=at, hint=hint)
        degrees.append(SUPPORT[label])

    return tuple(degrees)


def is_trec_answer(record: Mapping[str, Any]) -> bool:
    """Whether a record is an answer as TREC RAG, or RAGTIME, has it: sentences with citations, and what they cite."""
    sentences = record.get("answer", record.get("responses"))
    if not isinstance(sentences, list) or "references" not in record:
        return False
    return all(isinstance(sentence, Mapping) and "citations" in sentence for sentence in sentences)


def from_trec(record: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The record under goldrank's own names: citations are ids, and `references` no texts to be found."""
    metadata = record.get("metadata")
    facts = {**metadata, **record} if isinstance(metadata, Mapping) else dict(record)
    listed_ids = document_ids(record["references"], f"{where}: $.references")
    sentences = [
        {**sentence, "citations": _cited(sentence["citations"], listed_ids, f"{where}: sentence {i}")}
        for i, sentence in enumerate(record.get("answer", record.get("responses")) or (), 1)
    ]
    taken = ("answer", "responses", "references", "metadata")
    plain = {name: value for name, value in facts.items() if name not in taken}
    for name in ("topic_id", "narrative_id"):
        if name in plain:
            plain["query_id"] = plain.pop(name)

    for name in ("topic", "narrative"):
        if name in plain:
            plain["question"] = plain.pop(name)

    return {**plain, "sentences": sentences}


def _cited(citations: Any, references: Sequence[str], at: str) -> list[str]:
    """Ids of what is cited: given as ids, as ids with scores, or as places in the list of references, from 0."""
    cited: list[str] = []
    for citation in list(citations):
        if isinstance(citation, str):
            cited.append(citation)
        elif isinstance(citation, int) and not isinstance(citation, bool) and 0 <= citation < len(references):
            cited.append(references[citation])
        else:
            what = f"cites {ids.show(repr(citation), 40)}, and there are {len(references):,} references"
            raise InputError(what, where=at, hint="Citations are ids, or places in the list of references from 0.")
    return cited
