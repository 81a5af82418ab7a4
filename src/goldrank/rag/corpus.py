"""Is what was not found in the corpus at all, in the index, and in one piece? Sources and chunks say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from goldrank.data.spans import NOWHERE, parts_of
from goldrank.data.stretches import merge
from goldrank.data.text_item import Chunk, EvidencePlaces, Reference, Span
from goldrank.data.white_space import WhiteSpace
from goldrank.evaluation.text_settings import Evidence
from goldrank.match import Matcher
from goldrank.match.evidence import Finder
from goldrank.match.span_table import chunk_places
from goldrank.match.tokens import words

PIECE, STEP = 2_000, 1_000
"""Sources are searched in overlapping pieces: their length in characters, and the step between them."""
CANDIDATES = 30
"""The number of pieces, those with most words of a reference, that the matcher looks at."""
COMMON = 0.2
"""Words that more than this share of pieces have are ignored, unless a reference has no others."""
UNKNOWN, NO, YES = -1, 0, 1


class Availability(NamedTuple):
    """What the corpus has of one thing that an answer needs; -1 is not known, 0 no, 1 yes."""

    in_corpus: int = UNKNOWN
    indexed: int = UNKNOWN
    in_one_chunk: int = UNKNOWN
    """Whether one chunk holds it."""
    joined: int = UNKNOWN
    """Whether chunks hold it together."""

    @property
    def stage(self) -> int:
        """How far it came; of alternatives the one that came furthest counts."""
        return self.count(YES) * 10 + self.count(UNKNOWN)


class WordIndex:
    """Texts by their words, to find those that have most words of another one."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        holders: dict[str, list[int]] = {}
        for number, text in enumerate(texts):
            for word in set(words(text)):
                holders.setdefault(word, []).append(number)
        self._holders = {word: np.array(numbers, np.int64) for word, numbers in holders.items()}

    def nearest(self, text: str, most: int = CANDIDATES) -> list[int]:
        """The texts with at least half of the rare words of a text, those with most of them first."""
        holders = [self._holders[word] for word in set(words(text)) if word in self._holders]
        rare = [numbers for numbers in holders if len(numbers) <= max(COMMON * len(self.texts), 5)]
        if len(rare) >= 3:
            holders = rare
        if not holders:
            return []

        times = np.bincount(np.concatenate(holders), minlength=len(self.texts))
        order = np.argsort(-times, kind="stable")[:most]
        return [number for number in order.tolist() if times[number] * 2 >= len(holders)]


class Corpus:
    """The sources and the chunks that were searched, as far as they were given."""

    def __init__(
        self,
        sources: Mapping[str, str],
        chunks: Sequence[Chunk] | None,
        evidence: Evidence,
    ) -> None:
        self.sources = sources
        self.chunks = chunks
        self.coverage = evidence.coverage
        self._finder = Finder(sources, several=evidence.several, unlocated="missed", similarity=evidence.similarity)
        self._index: dict[str, WordIndex] = {}
        self._pieces: list[Span] = []
        self._texts: list[str] = []
        self._placed: dict[str, tuple[Span, ...]] = {}
        spans_of_chunks: list[tuple[Span, ...]] = []
        if chunks is not None:
            spans_of_chunks = chunk_places(self._finder, chunks)

        self.is_placed = any(spans_of_chunks)
        by_source: dict[str, list[tuple[int, int, int]]] = {}
        for number, spans in enumerate(spans_of_chunks):
            for span in spans:
                by_source.setdefault(span.source, []).append((span.start, span.end, number))

        rows = {name: np.array(sorted(stretches), np.int64).T for name, stretches in by_source.items()}
        self._bounds = {name: columns[:2] for name, columns in rows.items()}
        self._chunk_numbers = {name: columns[2] for name, columns in rows.items()}
        self._merged = {name: self._joined(name, *merge(*bounds)) for name, bounds in self._bounds.items()}
        self._reach = {name: np.maximum.accumulate(end) for name, (_, end) in self._bounds.items()}
        self._white = WhiteSpace(sources)
        self.notes = self._finder.notes

    def _joined(self, name: str, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Stretches with the gap between them where a source is not known and it may be white space."""
        if name not in self.sources:
            end[:-1] = np.where(start[1:] - end[:-1] <= 2, start[1:], end[:-1])
        return merge(start, end)

    # Evidence by place.

    def of_evidence(self, evidence: EvidencePlaces) -> Availability:
        """What is there of the alternative that came furthest."""
        return max((self.of_spans(spans) for spans in evidence.alternatives), key=lambda state: state.stage)

    def of_spans(self, spans: Sequence[Span]) -> Availability:
        """What is there of some stretches that are needed together."""
        if any(span.source == NOWHERE for span in spans):
            return Availability(NO)
        if not self.is_placed:
            return Availability(YES)

        touched = in_one_chunk = joined = True
        for span in spans:
            enough = self._enough(span)
            lengths, joined_lengths = self._near(span)
            touched &= bool((lengths > 0).any())
            in_one_chunk &= bool((lengths >= enough).any())
            joined &= bool(joined_lengths.sum() >= enough)
        return Availability(YES, int(touched), int(in_one_chunk), int(joined))

    def _near(self, span: Span) -> tuple[np.ndarray, np.ndarray]:
        """How much of a span each chunk near it holds, and how much stretches of chunks side by side."""
        if span.source not in self._bounds:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        start, end = self._bounds[span.source]
        near = self._neighbourhood(span)
        low, high = self._merged[span.source]
        over = slice(np.searchsorted(high, span.start, "right"), np.searchsorted(low, span.end))
        return self._common_length(span, start[near], end[near]), self._common_length(span, low[over], high[over])

    def _neighbourhood(self, span: Span) -> slice:
        """Which rows of the chunks of its source may touch a span."""
        first = np.searchsorted(self._reach[span.source], span.start, "right")
        return slice(first, np.searchsorted(self._bounds[span.source][0], span.end))

    def _common_length(self, span: Span, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """How much of a span stretches of its source hold, without white space: many splitters drop it."""
        low, high = np.maximum(start, span.start), np.minimum(end, span.end)
        return self._white.solid(span.source, low, np.maximum(low, high))

    def _enough(self, span: Span) -> float:
        """How much of a span must be covered."""
        length = self._common_length(span, np.array([span.start]), np.array([span.end])).sum()
        return max(self.coverage * float(length) - 1e-9, 1.0)

    def chunks_of_evidence(self, evidence: EvidencePlaces) -> tuple[str, ...]:
        """The chunks that hold the alternative that came furthest: one for each stretch, or all that share it."""
        best = max(evidence.alternatives, key=lambda spans: self.of_spans(spans).stage)
        return self._chunks_at(best)

    def _chunks_at(self, spans: Sequence[Span]) -> tuple[str, ...]:
        """The first chunk that holds enough of each stretch, or else all that hold some of it."""
        names: dict[str, None] = {}
        for span in spans:
            if span.source not in self._bounds:
                continue
            lengths, _ = self._near(span)
            numbers = self._chunk_numbers[span.source][self._neighbourhood(span)]
            holders = numbers[lengths >= self._enough(span)][:1]
            if not len(holders):
                holders = numbers[lengths > 0]
            names |= dict.fromkeys(self._chunk_id(number) for number in holders.tolist())

        return tuple(names)

    def _chunk_id(self, number: int) -> str:
        assert self.chunks is not None
        return self.chunks[number].id

    def chunks_of_reference(self, reference: Reference, matcher: Matcher) -> tuple[str, ...]:
        """The chunk that covers a reference by its words, or else chunks that hold it by place or side by side."""
        for text in reference.texts:
            by_words = self._matching_chunks(text, matcher)
            if by_words:
                return (self._chunk_id(by_words[0]),)

        for text in reference.texts:
            names = self._chunks_at(self._positions(text, matcher)[:1])
            if names:
                return names
            pairs = self._matching_pairs(text, matcher)
            if pairs:
                first, second = self._neighbours()[pairs[0]]
                return first.id, second.id

        return ()

    def _matching_chunks(self, text: str, matcher: Matcher) -> list[int]:
        """The chunks that cover a text by their words."""
        return self._matching("chunks", [chunk.text for chunk in self.chunks or ()], text, matcher)

    def _matching_pairs(self, text: str, matcher: Matcher) -> list[int]:
        """The chunks next to each other (`_neighbours`) that cover a text together by their words."""
        pairs = [f"{first.text} {second.text}" for first, second in self._neighbours()]
        return self._matching("pairs", pairs, text, matcher)

    def stands_in(self, text: str, span: Span) -> bool:
        """Whether a retrieved text stands where some stretch of a source does, and holds enough of it."""
        if not text.strip():
            return False
        if text not in self._placed:
            self._placed[text] = parts_of(self._finder.place(text, None))
        bounds = [part[1:] for part in self._placed[text] if part.source == span.source]
        length = self._common_length(span, *np.array(bounds, np.int64).reshape(-1, 2).T).sum()
        return bool(length >= self._enough(span))

    # References by their words.

    def of_reference(self, reference: Reference, matcher: Matcher) -> tuple[Availability, list[Span]]:
        """What is there of a reference, and where it stands in the sources, as far as it was found."""
        pairs = [self._of_text(text, matcher) for text in reference.texts]
        return max(pairs, key=lambda pair: pair[0].stage)

    def _of_text(self, text: str, matcher: Matcher) -> tuple[Availability, list[Span]]:
        # A matcher by meaning may see a match in other words, where no words were found.
        not_found = Availability(UNKNOWN)
        if matcher.free:
            not_found = Availability(NO)

        spans = self._positions(text, matcher)
        by_words = self._matching_chunks(text, matcher)
        if self.sources and not spans and not by_words:
            return not_found, []
        if self.chunks is None and not spans:
            return Availability(UNKNOWN), []
        if by_words:
            return Availability(YES, YES, YES, YES), spans
        if spans and self.is_placed:
            return max((self.of_spans([span]) for span in spans), key=lambda state: state.stage), spans
        if spans:
            return Availability(YES), spans

        if self._matching_pairs(text, matcher):
            return Availability(YES, YES, NO, YES), []
        return not_found, []

    def _neighbours(self) -> list[tuple[Chunk, Chunk]]:
        """Each chunk with the next one of its source."""
        chunks = sorted(self.chunks or (), key=_order_in_source)
        return [(first, second) for first, second in pairwise(chunks) if first.source == second.source]

    def _positions(self, text: str, matcher: Matcher) -> list[Span]:
        """Where a text stands in the sources: as a quotation, or in a piece that its matcher takes for it."""
        if not self.sources:
            return []
        located = self._finder.quoted(text)
        if located:
            return located

        if not self._pieces:
            for name, source in self.sources.items():
                starts = range(0, max(len(source) - STEP, 1), STEP)
                self._pieces += [Span(name, start, min(start + PIECE, len(source))) for start in starts]
            self._texts = [self.sources[span.source][span.start : span.end] for span in self._pieces]

        spans = []
        for number in self._matching("pieces", self._texts, text, matcher):
            piece, marks = self._pieces[number], matcher.marks(self._texts[number], text)
            low, high = 0, piece.end - piece.start
            if marks:
                low = min(start for start, _ in marks)
                high = max(end for _, end in marks)
            spans.append(Span(piece.source, piece.start + low, piece.start + high))

        return spans

    def _matching(self, kind: str, texts: Sequence[str], reference: str, matcher: Matcher) -> list[int]:
        """The texts that cover a reference, among those that have most of its words."""
        if not texts:
            return []
        if kind not in self._index:
            self._index[kind] = WordIndex(texts)
        near = self._index[kind].nearest(reference)
        if not near:
            return []
        candidates = [texts[number] for number in near]
        rows = np.arange(len(candidates))
        decided = matcher.decide(candidates, [reference], rows, np.zeros(len(candidates), np.int64))
        return [near[i] for i in np.flatnonzero(decided).tolist()]


def _order_in_source(chunk: Chunk) -> tuple[str, int]:
    """The source of a chunk and where it begins there."""
    if chunk.span is None:
        return chunk.source or "", 0
    return chunk.source or "", chunk.span.start
