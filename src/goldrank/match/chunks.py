"""Where all texts of a corpus stand: the chunks of an index, given by place or looked for in their sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from goldrank import ids
from goldrank.data.texts import Chunk, Span
from goldrank.errors import InputError
from goldrank.match.evidence import Finder

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
    chunks = [one for one in listed if isinstance(one, Chunk)]
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
        source = None if chunk.source is None or not finder.sources else finder.source(chunk.source, where)
        found = finder.chunk(chunk.text, source)
        places.append(found[min(seen[chunk.text, source], len(found) - 1)] if found else ())
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
