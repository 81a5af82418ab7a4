"""Blocks of a run that is too large for memory: readers make them, engines read them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, ClassVar

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, Position
from goldrank.core import core
from goldrank.data.id_column import IdColumn

SAMPLED_TAGS = 64
"""Lines of a block whose tags are checked where the tags do not distinguish runs."""


@dataclass(frozen=True)
class Rows:
    """Lines of a run as columns. Engines read them independently of their source."""

    score: np.ndarray
    """Each line's score, a double, never NaN."""
    key: np.ndarray
    """A 64-bit hash of each line's document id, equal for equal ids (see `BlockSource.keys`)."""
    docs: Callable[[np.ndarray], IdColumn]
    """The document ids of some lines."""
    position: Callable[[int], Position | str]
    """The position of a line in its file, for messages."""
    claimed: Callable[[np.ndarray], np.ndarray] | None = field(default=None, kw_only=True)
    """The values of the rank column in some lines, -1 where a line has none."""

    def __len__(self) -> int:
        return len(self.score)

    def columns_of(self, lines: np.ndarray) -> dict[str, Any]:
        """The columns of some of the lines, in the order of `lines`."""
        columns: dict[str, Any] = {
            "score": self.score[lines],
            "key": self.key[lines],
            "docs": lambda rows: self.docs(lines[rows]),
            "position": lambda row: self.position(int(lines[row])),
        }
        claimed = self.claimed
        if claimed is not None:
            columns["claimed"] = lambda rows: claimed(lines[rows])
        return columns


@dataclass(frozen=True)
class Block(Rows):
    """Some consecutive lines of a run, in stretches of one query each."""

    queries: IdColumn
    """The query of each stretch."""
    start: np.ndarray
    """The line at which each stretch starts; one more entry than stretches."""
    keep: Callable[[np.ndarray], Rows]
    """Copies some lines; the copy may also hold the lines between them."""
    tags: Tags | None = field(default=None, kw_only=True)
    """The run of each line, if the input has tags."""
    notes: Counter[str] = field(default_factory=Counter, kw_only=True)
    """What the reader tolerated in these lines: codes of notes, with how often."""

    def rankings(self) -> list[dict[str, float]]:
        """For each stretch the scores by document; the last score of a repeated document."""
        docs = self.docs(np.arange(len(self)))
        return core.rankings(docs.data, docs.start, docs.end, self.score, self.start)

    def by_tag(self) -> Iterator[tuple[bytes, Block]]:
        """The lines of each tag, in the order in which tags first appear."""
        if self.tags is None:
            yield b"", self
            return

        start = self.tags.starts()
        names = self.tags.names(start[:-1])
        number: dict[bytes, int] = {}
        codes = np.array([number.setdefault(name, len(number)) for name in names], np.int64)
        if len(number) < 2:
            yield from ((name, self) for name in number)
            return

        line_code = np.repeat(codes, np.diff(start))
        order = np.argsort(line_code, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(line_code))[:-1])
        yield from ((name, self.select(lines)) for name, lines in zip(number, parts, strict=True))

    @cached_property
    def _line_query(self) -> np.ndarray:
        """For each line the first stretch of its query."""
        code, first = self.queries.numbered()
        return np.repeat(first[code], np.diff(self.start))

    def select(self, lines: np.ndarray) -> Block:
        """Some of the lines, in ascending order."""
        line_code = self._line_query[lines]
        begin = np.concatenate((np.zeros(min(1, len(lines)), np.int64), np.flatnonzero(np.diff(line_code)) + 1))
        return Block(
            **self.columns_of(lines),
            queries=self.queries.take(line_code[begin]),
            start=np.append(begin, len(lines)),
            keep=lambda rows: self.keep(lines[rows]),
            notes=self.notes,
        )


@dataclass(frozen=True)
class Tags:
    """The runs of the lines of a block, in stretches of one tag each."""

    size: int
    """How many lines there are."""
    starts: Callable[[], np.ndarray]
    """Finds the line at which each stretch starts, and the number of lines; it takes time."""
    names: Callable[[np.ndarray], list[bytes]]
    """The tags of some lines."""

    def some(self) -> list[bytes]:
        """Tags of the first, the last and some lines between, which shows most files that were concatenated."""
        lines = np.linspace(0, self.size - 1, min(SAMPLED_TAGS, self.size)).astype(np.int64)
        return list(dict.fromkeys(self.names(lines)))


class BlockSource(ABC):
    """A run that can be read several times, piece by piece; the streaming engine places it."""

    engine: ClassVar[str] = "streaming"
    name: str

    @abstractmethod
    def pieces(self) -> Iterator[Callable[[], Block]]:
        """The pieces in order, as functions: each parses its piece when called, so that threads can share the work."""

    @abstractmethod
    def keys(self, docs: IdColumn) -> np.ndarray:
        """The `Block.key` of lines with these documents."""

    def empty_queries(self) -> IdColumn:
        """Queries of the run that have no documents."""
        return IdColumn.of(())

    def files(self) -> Sequence[Any]:
        """The files that are read, for a progress bar."""
        return ()

    def digest(self) -> str | None:
        """A hash of the input's bytes; of the rankings where the input has no bytes."""
        from goldrank.data.run import digest_of

        return digest_of(self.results())

    def distinct(self, keep: str) -> tuple[dict[str, dict[str, float]], int]:
        """The whole run with each document of a query once, and the number of lines that were left out.

        `keep` chooses the line of a document that stays, "first" or "last".
        """
        results: dict[str, dict[str, float]] = {query: {} for query in self.empty_queries().texts()}
        dropped = 0
        for piece in self.pieces():
            block = piece()
            docs = block.docs(np.arange(len(block))).texts()
            scores = block.score.tolist()
            for query, (low, high) in zip(block.queries.texts(), pairwise(block.start.tolist()), strict=True):
                row = results.setdefault(query, {})
                for doc, score in zip(docs[low:high], scores[low:high], strict=True):
                    if doc in row:
                        dropped += 1
                        if keep == "first":
                            continue
                        del row[doc]  # the last line decides the document's order
                    row[doc] = score
        return results, dropped

    def results(self) -> dict[str, dict[str, float]]:
        """The whole run as a mapping of mappings."""
        results: dict[str, dict[str, float]] = {query: {} for query in self.empty_queries().texts()}
        for piece in self.pieces():
            block = piece()
            stretches = zip(block.queries.texts(), block.rankings(), pairwise(block.start.tolist()), strict=True)
            for query, scores, (low, high) in stretches:
                row = results.setdefault(query, scores)
                before = 0
                if row is not scores:
                    before = len(row)
                    row.update(scores)
                if len(row) < before + high - low:
                    raise _repetition(block, query, range(low, high), set(islice(row, before)))

        return results


def _repetition(block: Block, query: str, lines: range, seen: set[str]) -> InputError:
    """The error for lines of a query in which a document is repeated, or is one of `seen`."""
    docs = block.docs(np.arange(lines.start, lines.stop)).texts()
    index = 0
    while docs[index] not in seen:
        seen.add(docs[index])
        index += 1
    return InputError(
        f"a document is duplicated in the ranking of query '{ids.show(query)}': '{ids.show(docs[index])}'",
        where=block.position(lines[index]),
        hint="Each document can be here once: run.drop_duplicates() keeps the first, or with keep='last' the last.",
        code="duplicate-document",
    )


class ParsedBlocks(BlockSource):
    """A run whose pieces are parsed once and kept, so later changes of its files do not matter."""

    def __init__(self, source: BlockSource) -> None:
        self.name = source.name
        self._source = source
        self._blocks = [piece() for piece in source.pieces()]

    def pieces(self) -> Iterator[Callable[[], Block]]:
        for block in self._blocks:
            yield lambda block=block: block  # type: ignore[misc]

    def keys(self, docs: IdColumn) -> np.ndarray:
        return self._source.keys(docs)

    def empty_queries(self) -> IdColumn:
        return self._source.empty_queries()

    def queries(self) -> set[str]:
        """The ids of all queries."""
        return set(self.empty_queries().texts()).union(*(block.queries.texts() for block in self._blocks))

    def first_tag(self) -> str | None:
        """The tag of the first line, if lines have tags."""
        tags = next((block.tags for block in self._blocks if len(block)), None)
        if tags is None:
            return None
        return ids.decode(tags.names(np.zeros(1, np.int64))[0])


class OneTag(BlockSource):
    """The lines of one tag of an input with several."""

    def __init__(self, source: BlockSource, tag: bytes) -> None:
        self.name = source.name
        self.tag = tag
        self._source = source

    def pieces(self) -> Iterator[Callable[[], Block]]:
        for piece in self._source.pieces():
            yield lambda piece=piece: self._lines_of_tag(piece())  # type: ignore[misc]

    def _lines_of_tag(self, block: Block) -> Block:
        part = dict(block.by_tag()).get(self.tag)
        if part is None:
            part = block.select(np.zeros(0, np.int64))
        return replace(part, tags=None)

    def keys(self, docs: IdColumn) -> np.ndarray:
        return self._source.keys(docs)

    def digest(self) -> str | None:
        import hashlib

        of_file = self._source.digest()
        if of_file is None:
            return None
        return hashlib.sha256(of_file.encode() + b"\0" + self.tag).hexdigest()

    def files(self) -> Sequence[Any]:
        return self._source.files()
