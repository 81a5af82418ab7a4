"""Sentences with the ids of the documents that they cite, from answers in the formats of TREC's tracks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.data.text_item import CitedSentence
from goldrank.io.objects.field_values import absent
from goldrank.io.questions.text_values import SUPPORT, document_ids, listed, shown

SENTENCE_HINT = 'A sentence is {"text": ..., "citations": ["d1", "d2"]}, perhaps with "support": ["full", "none"].'


def cited_sentences(value: Any, where: str) -> tuple[CitedSentence, ...]:
    """Sentences from a list of objects with text, citations and perhaps support."""
    entries = listed(value, "sentences", where)
    return tuple([_sentence(entry, f"{where}[{i}]") for i, entry in enumerate(entries)])


def _sentence(entry: Any, where: str) -> CitedSentence:
    if not isinstance(entry, Mapping):
        raise InputError(f"is {shown(entry)}, not a sentence", where=where, hint=SENTENCE_HINT)

    text = entry.get("text")
    if not isinstance(text, str):
        text = ""
    citations = document_ids(entry.get("citations") or [], f"{where}.citations")
    degrees = None
    if not absent(entry.get("support")):
        degrees = _degrees(entry["support"], citations, where)
    return CitedSentence(text, citations, degrees)


def _degrees(support: Any, citations: Sequence[str], where: str) -> tuple[float, ...]:
    """How far each citation supports its sentence: labels in their order, or by id."""
    if isinstance(support, Mapping):
        support = [support.get(doc) for doc in citations]

    if isinstance(support, str):
        support = [support]
    labels = listed(support, "labels", where)
    if len(labels) != len(citations):
        problem = f"has {len(labels):,} labels of support for {len(citations):,} citations"
        raise InputError(problem, where=where, hint=SENTENCE_HINT)

    degrees = []
    for label in labels:
        if label not in SUPPORT:
            hint = f"It is one of: {', '.join(SUPPORT)}."
            raise InputError(f"the support is {shown(label)}", where=where, hint=hint)
        degrees.append(SUPPORT[label])

    return tuple(degrees)


def is_trec_answer(record: Mapping[str, Any]) -> bool:
    """Whether a record is an answer in the format of TREC RAG or RAGTIME: sentences with citations, and references."""
    sentences = record.get("answer", record.get("responses"))
    if not isinstance(sentences, list) or "references" not in record:
        return False
    return all(isinstance(sentence, Mapping) and "citations" in sentence for sentence in sentences)


def from_trec(record: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The record with goldrank's names: citations are ids, and `references`, which are not texts, are left out."""
    facts = dict(record)
    metadata = record.get("metadata")
    if isinstance(metadata, Mapping):
        facts = {**metadata, **record}

    references = document_ids(record["references"], f"{where}: $.references")
    sentences = []
    for i, sentence in enumerate(record.get("answer", record.get("responses")) or (), 1):
        cited = _cited(sentence["citations"], references, f"{where}: sentence {i}")
        sentences.append({**sentence, "citations": cited})

    converted = ("answer", "responses", "references", "metadata")
    plain = {name: value for name, value in facts.items() if name not in converted}
    for name in ("topic_id", "narrative_id"):
        if name in plain:
            plain["query_id"] = plain.pop(name)

    for name in ("topic", "narrative"):
        if name in plain:
            plain["question"] = plain.pop(name)

    return {**plain, "sentences": sentences}


def _cited(citations: Any, references: Sequence[str], where: str) -> list[str]:
    """The ids of citations: these are ids, ids with scores, or indices into the list of references."""
    cited: list[str] = []
    for citation in list(citations):
        if isinstance(citation, str):
            cited.append(citation)
        elif isinstance(citation, int) and not isinstance(citation, bool) and 0 <= citation < len(references):
            cited.append(references[citation])
        else:
            problem = f"cites {ids.show(repr(citation), 40)}, and there are {len(references):,} references"
            raise InputError(problem, where=where, hint="Citations are ids, or positions in the references from 0.")
    return cited
