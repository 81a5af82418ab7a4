"""Is what was not found in the corpus at all, in the index, and in one piece? What sources and chunks tell of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from goldrank.data.spans import NOWHERE, length_within, merge, parts_of
from goldrank.data.texts import Chunk, Evidence, Reference, Span
from goldrank.match import Matcher
from goldrank.match.chunks import chunk_places
from goldrank.match.evidence import Finder
from goldrank.match.tokens import words

PIECE, STEP = 2_000, 1_000
"""Sources are searched in pieces of so many characters, which overlap."""
CANDIDATES = 30
"""Pieces with the most words of a reference that its matcher is asked about."""
COMMON = 0.2
"""Words that more than this share of pieces have tell nothing, unless a reference has no others."""
UNKNOWN, NO, YES = -1, 0, 1


class Availability(NamedTuple):
    """What the corpus has of one thing that an answer needs; -1 is not known, 0 no, 1 yes."""

    in_corpus: int = UNKNOWN
    indexed: int = UNKNOWN
    whole: int = UNKNOWN
    """Whether one chunk holds it."""
    joined: int = UNKNOWN
    """Whether chunks hold it together."""

    @property
    def stage(self) -> int:
        """How far it came; of alternatives the one that came furthest counts."""
        return sum(value == YES for value in self) * 10 + sum(value == UNKNOWN for value in self)


class WordIndex:
    """Texts by their words, to find those that have most words of another one."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        found: dict[str, list[int]] = {}
        for number, text in enumerate(texts):
            for word in set(words(text)):
                found.setdefault(word, []).append(number)
        self._holders = {word: np.array(numbers, np.int64) for word, numbers in found.items()}

    def nearest(self, text: str, most: int = CANDIDATES) -> list[int]:
        """The texts with at least half of the telling words of a text, those with most first."""
        wanted = set(words(text))
        holders = [self._holders[word] for word in wanted if word in self._holders]
        rare = [numbers for numbers in holders if len(numbers) <= max(COMMON * len(self.texts), 5)]
        holders = rare if len(rare) >= 3 else holders
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
        finding: Mapping[str, Any],
        coverage: float = 1.0,
    ) -> None:
        self.sources, self.chunks, self.coverage = sources, chunks, coverage
        self._finder = Finder(sources, **{**finding, "unlocated": "missed"})
        self._index: dict[str, WordIndex] = {}
        self._pieces: list[Span] = []
        self._texts: list[str] = []
        self._placed: dict[str, tuple[Span, ...]] = {}
        places = chunk_places(self._finder, chunks) if chunks is not None else []
        self.is_placed = any(places)
        by_source: dict[str, list[tuple[int, int]]] = {}
        for spans in places:
            for span in spans:
                by_source.setdefault(span.source, []).append((span.start, span.end))
        self._bounds = {name: np.array(sorted(pairs), np.int64) for name, pairs in by_source.items()}
        self._merged = {name: self._bridged(name, *merge(*pairs.T)) for name, pairs in self._bounds.items()}
        self.notes = self._finder.notes

    def _bridged(self, name: str, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Stretches with the white space between them, which many a splitter drops: nothing of a text is lost there."""
        whole = self.sources.get(name)
        ends = end.copy()
        for i, (a, b) in enumerate(zip(end[:-1].tolist(), start[1:].tolist(), strict=True)):
            if b - a <= 2 if whole is None else not whole[a:b].strip():
                ends[i] = b
        return merge(start, ends)

    # Evidence by place.

    def of_evidence(self, evidence: Evidence) -> Availability:
        """What is there of the alternative that came furthest."""
        return max((self.of_spans(spans) for spans in evidence.alternatives), key=lambda found: found.stage)

    def of_spans(self, spans: Sequence[Span]) -> Availability:
        """What is there of some stretches that are needed together."""
        if any(span.source == NOWHERE for span in spans):
            return Availability(NO)
        if not self.is_placed:
            return Availability(YES)
        touched = whole = joined = True
        for span in spans:
            low, high = np.array([span.start]), np.array([span.end])
            bounds = self._bounds.get(span.source, np.zeros((0, 2), np.int64))
            held = np.minimum(bounds[:, 1], span.end) - np.maximum(bounds[:, 0], span.start)
            enough = self.coverage * (span.end - span.start)
            together = length_within(*self._merged[span.source], low, high)[0] if len(bounds) else 0
            touched &= bool((held > 0).any())
            whole &= bool((held >= enough - 1e-9).any())
            joined &= bool(together >= enough - 1e-9)
        return Availability(YES, int(touched), int(whole), int(joined))

    def stands_in(self, text: str, span: Span) -> bool:
        """Whether a retrieved text stands where some stretch of a source does, and holds enough of it."""
        if text not in self._placed:
            self._placed[text] = parts_of(self._finder.place(text, None)) if text.strip() else ()
        held = sum(min(part.end, span.end) - max(part.start, span.start) for part in self._placed[text]
                   if part.source == span.source and part.start < span.end and span.start < part.end)  # fmt: skip
        return held >= max(self.coverage * (span.end - span.start) - 1e-9, 1)

    # References by their words.

    def of_reference(self, reference: Reference, matcher: Matcher) -> tuple[Availability, list[Span]]:
        """What is there of a reference, and where it stands in the sources as far as that was found."""
        found = [self._of_text(text, matcher) for text in reference.texts]
        return max(found, key=lambda pair: pair[0].stage)

    def _of_text(self, text: str, matcher: Matcher) -> tuple[Availability, list[Span]]:
        spans = self._places(text, matcher) if self.sources else []
        by_words = self._matching("chunks", [chunk.text for chunk in self.chunks or ()], text, matcher)
        if self.sources and not spans and not by_words:
            # Meaning is not in words: pieces with other words may say the same.
            return Availability(NO if matcher.free else UNKNOWN), []
        if self.chunks is None:
            return Availability(YES if spans else UNKNOWN), spans
        if by_words:
            return Availability(YES, YES, YES, YES), spans
        if spans and self.is_placed:
            return max((self.of_spans([span]) for span in spans), key=lambda found: found.stage), spans
        if spans:
            return Availability(YES), spans
        pairs = self._neighbours()
        if self._matching("pairs", pairs, text, matcher):
            return Availability(YES, YES, NO, YES), []
        return Availability(NO if matcher.free else UNKNOWN), []

    def _neighbours(self) -> list[str]:
        """Each chunk with the next one of its source."""
        chunks = sorted(
            self.chunks or (), key=lambda chunk: (chunk.source or "", chunk.span.start if chunk.span else 0)
        )
        return [f"{a.text} {b.text}" for a, b in pairwise(chunks) if a.source == b.source]

    def _places(self, text: str, matcher: Matcher) -> list[Span]:
        """Where a text stands: as a quotation, or in a piece that its matcher takes for it."""
        located = self._finder.quoted(text)
        if located:
            return located
        if not self._pieces:
            self._pieces = [
                Span(name, start, min(start + PIECE, len(whole)))
                for name, whole in self.sources.items()
                for start in range(0, max(len(whole) - STEP, 1), STEP)
            ]
            self._texts = [self.sources[span.source][span.start : span.end] for span in self._pieces]
        found = []
        for number in self._matching("pieces", self._texts, text, matcher):
            piece, marks = self._pieces[number], matcher.marks(self._texts[number], text)
            low, high = (min(a for a, _ in marks), max(b for _, b in marks)) if marks else (0, piece.end - piece.start)
            found.append(Span(piece.source, piece.start + low, piece.start + high))
        return found

    def _matching(self, kind: str, texts: Sequence[str], wanted: str, matcher: Matcher) -> list[int]:
        """The texts that cover a reference, among those that have most of its words."""
        if not texts:
            return []
        if kind not in self._index:
            self._index[kind] = WordIndex(texts)
        near = self._index[kind].nearest(wanted)
        if not near:
            return []
        ours = [texts[number] for number in near]
        rows = np.arange(len(ours))
        decided = matcher.decide(ours, [wanted], rows, np.zeros(len(ours), np.int64))
        return [near[i] for i in np.flatnonzero(decided).tolist()]
