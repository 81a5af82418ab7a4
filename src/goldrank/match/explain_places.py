"""What the retrieved texts of one question hold of its evidence, by place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from goldrank.data.explanation import Explanation, SourcePlaces
from goldrank.data.spans import NOWHERE, parts_of
from goldrank.data.stretches import length_within, merge
from goldrank.data.text_item import EvidencePlaces, Reference, Span, TextItem
from goldrank.match.evidence import gold_spans
from goldrank.match.tokens import Stretches


def explain_places(item: TextItem, sources: Mapping[str, str]) -> Explanation:
    """Which text holds how much of which evidence; the item's positions are known (`evidence.resolve`).

    A text counts for an evidence that the texts cover together, if it holds any part of it.
    """
    spans_of_texts = [parts_of(position) for position in item.spans or [None] * len(item.retrieved)]
    all_spans = [span for spans in spans_of_texts for span in spans]
    degrees = np.zeros((len(spans_of_texts), len(item.evidence)))
    covered = np.zeros(len(item.evidence), bool)
    marks: dict[tuple[int, int], Stretches] = {}
    for column, evidence in enumerate(item.evidence):
        covered[column] = max(_share(all_spans, alternative) for alternative in evidence.alternatives) >= 1.0
        for row, spans in enumerate(spans_of_texts):
            shares = [_share(spans, alternative) for alternative in evidence.alternatives]
            degrees[row, column] = max(shares)
            if degrees[row, column]:
                best = evidence.alternatives[int(np.argmax(shares))]
                marks[row, column] = _marks(item.retrieved[row], spans, best, sources)

    matched = (degrees > 0) & covered
    shown_marks = {pair: stretches for pair, stretches in marks.items() if matched[pair]}
    return Explanation(
        query=item.query,
        question=item.question,
        matcher="evidence by place",
        says="holds evidence",
        retrieved=item.retrieved,
        references=[as_reference(evidence, sources) for evidence in item.evidence],
        degrees=degrees,
        matched=matched,
        marks=shown_marks,
        sources=_sources(item, spans_of_texts, sources),
    )


def as_reference(evidence: EvidencePlaces, sources: Mapping[str, str]) -> Reference:
    """The texts of evidence, one for each alternative."""
    texts = []
    for alternative in evidence.alternatives:
        texts.append(" … ".join(shown_span(span, sources) for span in alternative))
    return Reference(tuple(texts))


def _sources(
    item: TextItem, spans_of_texts: Sequence[Sequence[Span]], sources: Mapping[str, str]
) -> list[SourcePlaces]:
    """Every source of evidence, with all that was retrieved of it."""
    evidence: dict[str, list[tuple[str, int, int]]] = {}
    for column, entry in enumerate(item.evidence, 1):
        for span in gold_spans([entry]):
            if span.source != NOWHERE:
                evidence.setdefault(span.source, []).append((f"r{column}", span.start, span.end))

    retrieved: dict[str, list[tuple[int, int, int]]] = {}
    for rank, spans in enumerate(spans_of_texts, 1):
        for span in spans:
            retrieved.setdefault(span.source, []).append((rank, span.start, span.end))
    return [
        SourcePlaces(name, sources.get(name, ""), parts, retrieved.get(name, [])) for name, parts in evidence.items()
    ]


def shown_span(span: Span, sources: Mapping[str, str]) -> str:
    """The text of a stretch of a source, or its position."""
    if span.source == NOWHERE:
        return "a quotation that was not located"
    if span.source in sources:
        return sources[span.source][span.start : span.end]
    return f"{span.source}, {span.start} to {span.end}"


def _share(spans: Sequence[Span], alternative: Sequence[Span]) -> float:
    """How much of some evidence some spans hold, by length."""
    covered = total = 0
    for source in {span.source for span in alternative}:
        low, high = merge(*_bounds(alternative, source))
        start, end = merge(*_bounds(spans, source))
        total += int((high - low).sum())
        if len(start):
            covered += int(length_within(start, end, low, high).sum())
    if total:
        return covered / total
    return 0.0


def _bounds(spans: Sequence[Span], source: str) -> tuple[np.ndarray, np.ndarray]:
    chosen = [(span.start, span.end) for span in spans if span.source == source]
    start, end = np.array(chosen, np.int64).reshape(-1, 2).T
    return start, end


def _marks(text: str, spans: Sequence[Span], alternative: Sequence[Span], sources: Mapping[str, str]) -> Stretches:
    """Where the evidence stands in the text, as far as that is known."""
    marks: Stretches = []
    for span in spans:
        for gold in alternative:
            low, high = max(span.start, gold.start), min(span.end, gold.end)
            if span.source != gold.source or low >= high:
                continue
            if len(spans) == 1 and len(text) == span.end - span.start:
                marks.append((low - span.start, high - span.start))
            elif span.source in sources:
                part = sources[span.source][low:high]
                start = text.find(part)
                if start >= 0:
                    marks.append((start, start + len(part)))

    return sorted(marks)
