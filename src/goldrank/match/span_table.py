"""From items and sources to `Spans`, the table that measures of spans read; and where all texts of a corpus stand: the
chunks of an index, given by position or looked for in their sources.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TypeAlias

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, MismatchError, one_of
from goldrank.base.notes import Note
from goldrank.data.spans import NOWHERE, Spans, parts_of
from goldrank.data.text_item import Chunk, Located, Span, TextItem
from goldrank.data.white_space import WhiteSpace
from goldrank.match.evidence import EvidenceLike, Finder, gold_spans, resolve
from goldrank.match.locate import SIMILARITY
from goldrank.match.pairs import beginning

ChunksLike: TypeAlias = (
    Mapping[str, Iterable[str | Sequence[int]]] | Iterable[Mapping[str, object] | Sequence[object] | Chunk]
)
"""The texts of a corpus: positions, chunks, or for each source its texts or their offsets."""


def corpus_spans(finder: Finder, corpus: ChunksLike) -> list[Span]:
    """The positions of all texts of the corpus."""
    if isinstance(corpus, Mapping):
        return [span for source, parts in corpus.items() for span in _of_source(finder, source, parts)]
    if isinstance(corpus, str) or not isinstance(corpus, Iterable):
        raise InputError(f"chunks are a {type(corpus).__name__}", hint="They are a list of (source, start, end).")

    listed = list(corpus)
    chunks = [chunk for chunk in listed if isinstance(chunk, Chunk)]
    if len(chunks) == len(listed):
        return list(chain.from_iterable(chunk_places(finder, chunks)))
    return [finder.span(entry, f"chunk {i}", empty=True) for i, entry in enumerate(listed, 1)]


def chunk_places(finder: Finder, chunks: Iterable[Chunk]) -> list[tuple[Span, ...]]:
    """Where each chunk of an index stands: nowhere, in one span, or in parts. Equal texts take positions in order."""
    places: list[tuple[Span, ...]] = []
    seen: Counter[tuple[str, str | None]] = Counter()
    for chunk in chunks:
        where = f"chunk '{ids.show(chunk.id)}'"
        if chunk.span is not None:
            places.append((finder.span(chunk.span, where, empty=True),))
            continue

        source = None
        if chunk.source is not None and finder.sources:
            source = finder.source(chunk.source, where)
        alternatives = finder.chunk(chunk.text, source)
        if alternatives:
            places.append(alternatives[min(seen[chunk.text, source], len(alternatives) - 1)])
        else:
            places.append(())
        seen[chunk.text, source] += 1

    return places


def _of_source(finder: Finder, source: object, parts: Iterable[object]) -> Iterator[Span]:
    """The parts of one source. A text that occurs several times takes the positions in order."""
    name = finder.source(source, "chunks")
    seen: Counter[str] = Counter()
    for i, part in enumerate(parts, 1):
        where = f"source '{ids.show(name)}', chunk {i}"
        if not isinstance(part, str):
            if not isinstance(part, list | tuple) or len(part) != 2:
                raise InputError("a chunk is a text, or a start and an end", where=where)
            yield finder.span((name, *part), where, empty=True)
            continue

        if name not in finder.sources:
            raise InputError("a text can be located only in its source", where=where, hint="Give the sources.")
        places = finder.chunk(part, name)
        if places:
            yield from places[min(seen[part], len(places) - 1)]
            seen[part] += 1


Offsets = Callable[[str], Sequence[tuple[int, int]]]
"""The tokens of a text: first character and one past the last of each, in order."""

_WORD = re.compile(r"\w+")


def word_offsets(text: str) -> list[tuple[int, int]]:
    """The positions of the words of a text.

    >>> word_offsets("So it is.")
    [(0, 2), (3, 5), (6, 8)]
    """
    return [word.span() for word in _WORD.finditer(text)]


@dataclass(frozen=True)
class SpanRules:
    """How spans are found and measured."""

    unit: str = "char"
    """In what lengths are measured: characters, or with "token" what `tokens` finds."""
    tokens: Offsets = word_offsets
    count_tokens: Callable[[str], int] | None = None
    """What a text takes of a budget."""
    cut_for: Sequence[int] = ()
    """The budgets for which texts are cut."""
    several: str = "any"
    """As in `Finder`, as `unlocated` and `similarity` are."""
    unlocated: str = "error"
    similarity: float | None = SIMILARITY
    overlap: str = "error"
    """Whether retrieved texts and evidence without any source in common are an "error", or are allowed ("allow")."""

    def size(self, text: str) -> int:
        """The length of a text."""
        if self.unit == "token":
            return len(self.tokens(text))
        return len(text)


USUAL_RULES = SpanRules()


def spans_of(
    items: Sequence[TextItem],
    sources: Mapping[str, str] | None = None,
    rules: SpanRules = USUAL_RULES,
    *,
    quotes: Mapping[str, Sequence[EvidenceLike]] | None = None,
    chunks: ChunksLike | None = None,
    chunk_sources: Mapping[str, Sequence[str | None]] | None = None,
    keep: list[TextItem] | None = None,
) -> tuple[Spans, tuple[Note, ...]]:
    """The table of spans, and notes on how positions were found.

    `sources` gives the texts in which quotations are located, retrieved texts without offsets are aligned, and
    tokens are counted; without any of these it is not needed. `quotes` gives for each query evidence as
    `EvidenceLike` says, beside what the items have; `chunk_sources` for each query the sources of its retrieved
    texts. `chunks` are all texts of the corpus: spans, or for each source its texts or their offsets. The items with
    all positions that were found are added to `keep`.

    >>> item = TextItem("q", ["It was\\nso."], evidence=[])
    >>> table, notes = spans_of([item], {"doc": "So far. It was so. "}, quotes={"q": [{"quote": "was so."}]})
    >>> table.share(1).tolist(), [note.code for note in notes]
    ([1.0], ['texts-near'])
    """
    one_of(rules.unit, ("char", "token"), "unit")
    one_of(rules.overlap, ("error", "allow"), "overlap")

    finder = Finder(
        sources, several=rules.several, unlocated=rules.unlocated, similarity=rules.similarity, size=rules.size
    )
    resolved = resolve(items, finder, quotes, chunk_sources)
    if keep is not None:
        keep += resolved
    corpus = None
    if chunks is not None:
        corpus = corpus_spans(finder, chunks)

    retrieved_sources = _retrieved_sources(resolved)
    gold_sources = {span.source for item in resolved for span in gold_spans(item.evidence)} - {NOWHERE}
    if rules.overlap == "error" and not finder.sources:
        _check_overlap(retrieved_sources, gold_sources)

    source_tokens = None
    if rules.unit == "token":
        used = sorted(retrieved_sources | gold_sources | {chunk.source for chunk in corpus or ()})
        source_tokens = {source: _tokens(source, finder.sources.get(source), rules.tokens) for source in used}
    white = None
    if rules.unit == "char" and finder.sources:
        white = WhiteSpace(finder.sources)

    table_of = partial(Spans.of, tokens=source_tokens, size=rules.size, chunks=corpus, white=white)
    if rules.count_tokens is None:
        return table_of(resolved), finder.notes
    counted = [_token_counts(item, finder.sources, rules.count_tokens) for item in resolved]
    table = table_of(resolved, tokens_of=list(chain.from_iterable(counted)))

    cut_tables = {}
    for budget in dict.fromkeys(rules.cut_for):
        cut_items: list[TextItem] = []
        cut_counts: list[int] = []
        for item, token_counts in zip(resolved, counted, strict=True):
            cut_item, item_counts = _cut(item, token_counts, budget, finder.sources, rules.count_tokens)
            cut_items.append(cut_item)
            cut_counts += item_counts
        cut_tables[budget] = table_of(cut_items, tokens_of=cut_counts)
    return replace(table, cut_for=cut_tables), finder.notes


def _retrieved_sources(items: Iterable[TextItem]) -> set[str]:
    """The sources of all retrieved texts with a known position."""
    sources: set[str] = set()
    for item in items:
        for place in item.spans or ():
            sources.update(span.source for span in parts_of(place))
    return sources


def _check_overlap(retrieved_sources: set[str], gold_sources: set[str]) -> None:
    """Refuse retrieved texts and evidence without any source in common."""
    if retrieved_sources and gold_sources and not retrieved_sources & gold_sources:
        raise MismatchError(
            "retrieved texts and evidence have no source in common: "
            f"retrieved {ids.samples(sorted(retrieved_sources))}, evidence {ids.samples(sorted(gold_sources))}",
            hint='Are the sources named alike? overlap="allow" goes on.',
        )


def _token_counts(item: TextItem, sources: Mapping[str, str], count: Callable[[str], int]) -> list[int]:
    """What each text of an item takes of a budget."""
    return [_token_count(item, rank, sources, count) for rank in range(1, len(item.retrieved) + 1)]


def _token_count(item: TextItem, rank: int, sources: Mapping[str, str], count: Callable[[str], int]) -> int:
    """What a text takes of a budget; its source says it if the text itself was not given."""
    text = item.retrieved[rank - 1]
    place = None
    if item.spans:
        place = item.spans[rank - 1]

    if text or not any(span.start < span.end for span in parts_of(place)):
        return count(text)
    if any(span.source not in sources for span in parts_of(place)):
        raise InputError(
            f"the length of text {rank} of query '{ids.show(item.query)}' is not known: there is neither its text nor "
            "its source",
            where=item.where or None,
            hint="Give the retrieved texts, or the sources; a budget of tokens needs lengths.",
        )

    return sum(count(sources[span.source][span.start : span.end]) for span in parts_of(place))


def _cut(
    item: TextItem, token_counts: Sequence[int], budget: int, sources: Mapping[str, str], count: Callable[[str], int]
) -> tuple[TextItem, list[int]]:
    """The texts of an item that fit into a budget, and the beginning of the next one."""
    fits, left = 0, budget
    while fits < len(token_counts) and token_counts[fits] <= left and budget > 0:
        left -= token_counts[fits]
        fits += 1

    texts = list(item.retrieved[:fits])
    places: list[Span | Located | None] = [None] * fits
    if item.spans:
        places = list(item.spans[:fits])
    counts = list(token_counts[:fits])

    if fits < len(token_counts) and left > 0:
        text = item.retrieved[fits]
        start = beginning(text, left, count)
        cut_place = None
        if item.spans and item.spans[fits] is not None:
            cut_place = _cut_place(item.spans[fits], text, left, sources, count)
            start = start or cut_place.outside
        if cut_place is not None and not cut_place.spans:
            cut_place = None
        if start or cut_place is not None:
            texts.append(start)
            places.append(cut_place)
            counts.append(min(left, token_counts[fits]))

    return replace(item, retrieved=texts, spans=places), counts


def _cut_place(
    place: Span | Located | None, text: str, budget: int, sources: Mapping[str, str], count: Callable[[str], int]
) -> Located:
    """The position of a text that is cut for a budget: first what stands in no source, then the spans in order."""
    outside = ""
    if isinstance(place, Located):
        outside = place.outside
    left = budget - count(outside)
    if left < 0:
        outside, left = beginning(outside, budget, count), 0

    spans: list[Span] = []
    for span in parts_of(place):
        part = text
        if span.source in sources:
            part = sources[span.source][span.start : span.end]
        if count(part) > left:
            part = beginning(part, left, count)[: span.end - span.start]
        left -= count(part)
        if part:
            spans.append(span._replace(end=min(span.start + len(part), span.end)))
    return Located(tuple(spans), outside)


def _tokens(source: str, text: str | None, tokens: Offsets) -> np.ndarray:
    """The positions of the tokens of a source."""
    if text is None:
        raise InputError(
            f"the tokens of source '{ids.show(source)}' cannot be counted without its text",
            hint='Give the sources: a mapping from id to text; or unit="char".',
        )
    table = np.array(list(tokens(text)), np.int64).reshape(-1, 2)
    if (np.diff(table.ravel()) < 0).any() or (table < 0).any() or (table > len(text)).any():
        raise InputError(
            f"the tokens of source '{ids.show(source)}' overlap, are not in order or lie outside",
            hint="A function for tokens returns pairs (start, end) of characters, ascending.",
        )
    return table
