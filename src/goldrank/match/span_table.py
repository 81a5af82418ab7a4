"""From items and sources to `Spans`, the table that measures of spans read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from goldrank import ids
from goldrank.data.spans import NOWHERE, Spans
from goldrank.data.texts import TextItem
from goldrank.errors import InputError, MismatchError, one_of
from goldrank.match.evidence import ChunksLike, EvidenceLike, Finder, gold_spans, resolve
from goldrank.match.locate import SIMILARITY
from goldrank.notes import Note

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
    several: str = "any",
    unlocated: str = "error",
    similarity: float | None = SIMILARITY,
    overlap: str = "error",
) -> tuple[Spans, tuple[Note, ...]]:
    """The table of spans, and notes on how places were found.

    `sources` gives the texts in which quotations are located, retrieved texts without offsets are aligned, and
    tokens are counted; without any of these it is not needed. `quotes` gives for each query evidence as
    `evidence_of` takes it, beside what the items have; `chunk_sources` for each query the sources of its retrieved
    texts. `chunks` are all texts of the corpus: spans, or for each source its texts or their offsets. Lengths are
    in characters, or with `unit="token"` in what `tokens` finds. `several`, `unlocated` and `similarity` are as in
    `Finder`. With `overlap="error"` retrieved texts and evidence without any source in common are an error.

    >>> item = TextItem("q", ["It was\\nso."], evidence=[])
    >>> table, notes = spans_of([item], {"doc": "So far. It was so. "}, quotes={"q": [{"quote": "was so."}]})
    >>> table.share(1).tolist(), [note.code for note in notes]
    ([1.0], ['texts-near'])
    """
    one_of(unit, ("char", "token"), "unit")
    one_of(overlap, ("error", "allow"), "overlap")

    def size(text: str) -> int:
        return len(tokens(text)) if unit == "token" else len(text)

    finder = Finder(sources, several=several, unlocated=unlocated, similarity=similarity, size=size)
    resolved = resolve(items, finder, quotes, chunk_sources)
    corpus = None if chunks is None else finder.chunks(chunks)
    retrieved = {span.source for item in resolved for span in item.spans or () if span is not None}
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
    return Spans.of(resolved, tokens=source_tokens, size=size, chunks=corpus), finder.notes


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
