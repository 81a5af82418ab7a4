"""What the retrieved texts of one question hold of its evidence, by place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from goldrank.data.explanation import Explanation, SourcePlaces
from goldrank.data.spans import NOWHERE, parts_of
from goldrank.data.stretches import length_within, merge
from goldrank.data.text_item import Reference, Span, TextItem
from goldrank.match.tokens import Stretches


def explain_places(item: TextItem, sources: Mapping[str, str]) -> Explanation:
    """Which text holds how much of which evidence; the item's places are known (`evidence.resolve`).

    A text counts for an evidence that the texts cover together, if it holds any part of it.
    """
    places = [parts_of(place) for place in item.spans or [None] * len(item.retrieved)]
    everything = [span for spans in places for span in spans]
    degrees = np.zeros((len(places), len(item.evidence)))
    covered = np.zeros(len(item.evidence), bool)
    marks: dict[tuple[int, int], Stretches] = {}
    for column, evidence in enumerate(item.evidence):
        covered[column] = max(_share(everything, wanted) for wanted in evidence.alternatives) >= 1.0
        for row, spans in enumerate(places):
            shares = [_share(spans, wanted) for wanted in evidence.alternatives]
            degrees[row, column] = max(shares)
            if degrees[row, column]:
                wanted = evidence.alternatives[int(np.argmax(shares))]
                marks[row, column] = _marks(item.retrieved[row], spans, wanted, sources)
    matched = (degrees > 0) & covered
    return Explanation(
        query=item.query,
        question=item.question,
        matcher="evidence by place",
        says="holds evidence",
        retrieved=item.retrieved,
        references=[
            Reference(
                tuple(" … ".join(shown_span(span, sources) for span in wanted) for wanted in evidence.alternatives)
            )
            for evidence in item.evidence
        ],
        degrees=degrees,
        matched=matched,
        marks={pair: stretches for pair, stretches in marks.items() if matched[pair]},
        sources=_sources(item, places, sources),
    )


def _sources(item: TextItem, places: Sequence[Sequence[Span]], sources: Mapping[str, str]) -> list[SourcePlaces]:
    """Every source of evidence, with all that was retrieved of it."""
    evidence: dict[str, list[tuple[str, int, int]]] = {}
    for column, entry in enumerate(item.evidence, 1):
        for span in (span for wanted in entry.alternatives for span in wanted if span.source != NOWHERE):
            evidence.setdefault(span.source, []).append((f"r{column}", span.start, span.end))
    retrieved: dict[str, list[tuple[int, int, int]]] = {}
    for rank, spans in enumerate(places, 1):
        for span in spans:
            retrieved.setdefault(span.source, []).append((rank, span.start, span.end))
    return [
        SourcePlaces(name, sources.get(name, ""), parts, retrieved.get(name, [])) for name, parts in evidence.items()
    ]


def shown_span(span: Span, sources: Mapping[str, str]) -> str:
    """What stands in a stretch of a source, or where it is."""
    if span.source == NOWHERE:
        return "a quotation that was not located"
    if span.source in sources:
        return sources[span.source][span.start : span.end]
    return f"{span.source}, {span.start} to {span.end}"


def _share(spans: Sequence[Span], wanted: Sequence[Span]) -> float:
    """How much of some evidence some spans hold, by length."""
    held = whole = 0
    for source in {span.source for span in wanted}:
        low, high = merge(*_bounds(wanted, source))
        start, end = merge(*_bounds(spans, source))
        whole += int((high - low).sum())
        held += int(length_within(start, end, low, high).sum()) if len(start) else 0
    if whole:
        return held / whole
    return 0.0


def _bounds(spans: Sequence[Span], source: str) -> tuple[np.ndarray, np.ndarray]:
    chosen = [(span.start, span.end) for span in spans if span.source == source]
    start, end = np.array(chosen, np.int64).reshape(-1, 2).T
    return start, end


def _marks(text: str, spans: Sequence[Span], wanted: Sequence[Span], sources: Mapping[str, str]) -> Stretches:
    """Where the evidence stands in the text, as far as that can be said."""
    marks: Stretches = []
    for span in spans:
        for gold in wanted:
            low, high = max(span.start, gold.start), min(span.end, gold.end)
            if span.source != gold.source or low >= high:
                continue
            if len(spans) == 1 and len(text) == span.end - span.start:
                marks.append((low - span.start, high - span.start))
            elif span.source in sources:
                part = sources[span.source][low:high]
                at = text.find(part)
                marks += [(at, at + len(part))] if at >= 0 else []

    return sorted(marks)
