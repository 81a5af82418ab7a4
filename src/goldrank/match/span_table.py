"""From items and sources to `Spans`, the table that measures of spans read; and where all texts of a corpus stand: the
chunks of an index, given by place or looked for in their sources."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
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
"""The texts of a corpus: places, chunks, or for each source its texts or their offsets."""


def corpus_spans(finder: Finder, given: ChunksLike) -> list[Span]:
    """The places of all texts of the corpus."""
    if isinstance(given, Mapping):
        return [span for source, parts in given.items() for span in _of_source(finder, source, parts)]
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"chunks are a {type(given).__name__}", hint="They are a list of (source, start, end).")
    listed = list(given)
    chunks = [chunk for chunk in listed if isinstance(chunk, Chunk)]
    if len(chunks) == len(listed):
        return [span for spans in chunk_places(finder, chunks) for span in spans]
    return [finder.span(place, f"chunk {i}", empty=True) for i, place in enumerate(listed, 1)]


def chunk_places(finder: Finder, chunks: Iterable[Chunk]) -> list[tuple[Span, ...]]:
    """Where each chunk of an index stands: nowhere, in one place, or in parts. Equal texts take places in order."""
    places: list[tuple[Span, ...]] = []
    seen: Counter[tuple[str, str | None]] = Counter()
    for chunk in chunks:
        where = f"chunk '{ids.show(chunk.id)}'"
        if chunk.span is not None:
            places.append((finder.span(chunk.span, where, empty=True),))
            continue
        if chunk.source is None or not finder.sources:
            source = None
        else:
            source = finder.source(chunk.source, where)
        alternatives = finder.chunk(chunk.text, source)
        places.append(alternatives[min(seen[chunk.text, source], len(alternatives) - 1)] if alternatives else ())
        seen[chunk.text, source] += 1

    return places


def _of_source(finder: Finder, source: object, parts: Iterable[object]) -> Iterator[Span]:
    """The parts of one source. A text that occurs several times takes the places in order."""
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
        if places := finder.chunk(part, name):
            yield from places[min(seen[part], len(places) - 1)]
            seen[part] += 1


Offsets = Callable[[str], Sequence[tuple[int, int]]]
"""The tokens of a text: first character and one past the last of each, in order."""

_WORD = re.compile(r"\w+")


def word_offsets(text: str) -> list[tuple[int, int]]:
    """The words of a text, by place.

    >>> word_offsets("So it is.")
    [(0, 2), (3, 5), (6, 8)]
    """
    return [word.span() for word in _WORD.finditer(text)]


def spans_of(
    items: Sequence[TextItem],
    sources: Mapping[str, str] | None = None,
    *,
    unit: str = "char",
    quotes: Mapping[str, Sequence[EvidenceLike]] | None = None,
    chunks: ChunksLike | None = None,
    chunk_sources: Mapping[str, Sequence[str | None]] | None = None,
    tokens: Offsets = word_offsets,
    count_tokens: Callable[[str], int] | None = None,
    cut_for: Sequence[int] = (),
    several: str = "any",
    unlocated: str = "error",
    similarity: float | None = SIMILARITY,
    overlap: str = "error",
    keep: list[TextItem] | None = None,
) -> tuple[Spans, tuple[Note, ...]]:
    """The table of spans, and notes on how places were found.

    `sources` gives the texts in which quotations are located, retrieved texts without offsets are aligned, and
    tokens are counted; without any of these it is not needed. `quotes` gives for each query evidence as
    `EvidenceLike` says, beside what the items have; `chunk_sources` for each query the sources of its retrieved
    texts. `chunks` are all texts of the corpus: spans, or for each source its texts or their offsets. Lengths are
    in characters, or with `unit="token"` in what `tokens` finds. `several`, `unlocated` and `similarity` are as in
    `Finder`. `count_tokens` says what a text takes of a budget, `cut_for` for which budgets texts are cut. With
    `overlap="error"` retrieved texts and evidence without any source in common are an error. `keep` is given the items
    with all places that were found.

    >>> item = TextItem("q", ["It was\\nso."], evidence=[])
    >>> table, notes = spans_of([item], {"doc": "So far. It was so. "}, quotes={"q": [{"quote": "was so."}]})
    >>> table.share(1).tolist(), [note.code for note in notes]
    ([1.0], ['texts-near'])
    """
    one_of(unit, ("char", "token"), "unit")
    one_of(overlap, ("error", "allow"), "overlap")

    def size(text: str) -> int:
        if unit == "token":
            return len(tokens(text))
        return len(text)

    finder = Finder(sources, several=several, unlocated=unlocated, similarity=similarity, size=size)
    resolved = resolve(items, finder, quotes, chunk_sources)
    if keep is not None:
        keep += resolved
    if chunks is None:
        corpus = None
    else:
        corpus = corpus_spans(finder, chunks)
    retrieved = {span.source for item in resolved for place in item.spans or () for span in parts_of(place)}
    gold = {span.source for item in resolved for span in gold_spans(item.evidence)} - {NOWHERE}
    if overlap == "error" and not finder.sources and retrieved and gold and not retrieved & gold:
        raise MismatchError(
            "retrieved texts and evidence have no source in common: "
            f"retrieved {ids.samples(sorted(retrieved))}, evidence {ids.samples(sorted(gold))}",
            hint='Are the sources named alike? overlap="allow" goes on.',
        )
    source_tokens = None
    if unit == "token":
        used = sorted(retrieved | gold | {chunk.source for chunk in corpus or ()})
        source_tokens = {source: _tokens(source, finder.sources.get(source), tokens) for source in used}
    if unit == "char" and finder.sources:
        white = WhiteSpace(finder.sources)
    else:
        white = None
    made = partial(Spans.of, tokens=source_tokens, size=size, chunks=corpus, white=white)
    if count_tokens is None:
        return made(resolved), finder.notes
    counted = [
        [_taken(item, rank, finder.sources, count_tokens) for rank in range(1, len(item.retrieved) + 1)]
        for item in resolved
    ]
    cut_tables = {}
    for budget in dict.fromkeys(cut_for):
        cut = [
            _cut(item, taken, budget, finder.sources, count_tokens)
            for item, taken in zip(resolved, counted, strict=True)
        ]
        taken_of = [count for _, taken in cut for count in taken]
        cut_tables[budget] = made([item for item, _ in cut], tokens_of=taken_of)
    table = made(resolved, tokens_of=[count for taken in counted for count in taken])
    return replace(table, cut_for=cut_tables), finder.notes


def _taken(item: TextItem, rank: int, sources: Mapping[str, str], count: Callable[[str], int]) -> int:
    """What a text takes of a budget; its source tells if the text itself was not given."""
    text = item.retrieved[rank - 1]
    if item.spans:
        place = item.spans[rank - 1]
    else:
        place = None

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
    item: TextItem, taken: Sequence[int], budget: int, sources: Mapping[str, str], count: Callable[[str], int]
) -> tuple[TextItem, list[int]]:
    """The texts of an item that fit into a budget, and the beginning of the next one."""
    fits, left = 0, budget
    while fits < len(taken) and taken[fits] <= left and budget > 0:
        left -= taken[fits]
        fits += 1

    texts = list(item.retrieved[:fits])
    places: list[Span | Located | None]
    if item.spans:
        places = list(item.spans[:fits])
    else:
        places = [None] * fits

    counts = list(taken[:fits])
    if fits < len(taken) and left > 0:
        text, place = item.retrieved[fits], item.spans[fits] if item.spans else None
        start = beginning(text, left, count)
        if place is not None:
            # What stands in no source is paid first; then the spans, one after the other.
            if isinstance(place, Located):
                outside = place.outside
            else:
                outside = ""
            if count(outside) > left:
                paid = beginning(outside, left, count)
            else:
                paid = outside
            if paid == outside:
                rest = left - count(paid)
            else:
                rest = 0
            spans: list[Span] = []
            for span in parts_of(place):
                if span.source in sources:
                    there = sources[span.source][span.start : span.end]
                else:
                    there = text
                if count(there) > rest:
                    part = beginning(there, rest, count)[: span.end - span.start]
                else:
                    part = there
                rest -= count(part)
                if part:
                    spans.append(span._replace(end=min(span.start + len(part), span.end)))
            place = Located(tuple(spans), paid)
            start = start or paid
        if start or (place is not None and parts_of(place)):
            texts.append(start)
            places.append(place if place is None or parts_of(place) else None)
            counts.append(min(left, taken[fits]))

    return replace(item, retrieved=texts, spans=places), counts


def _tokens(source: str, text: str | None, tokens: Offsets) -> np.ndarray:
    """The places of the tokens of a source."""
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
