"""The engine for runs that arrive in pieces: files, frames, anything larger than memory.

Each piece is parsed and ranked by a thread of its own, and only judged documents survive it. A query
whose lines lie in one stretch is finished on the spot. The stretches at the edges of a piece are kept and
joined with their neighbours; if a query turns up again later, the input is read a second time for those
queries alone, and their lines are sorted by query in a temporary file. Where the first piece shows that
most queries are scattered, the input is read for nothing but that.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import IO, NamedTuple, TypeVar, cast

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, Position
from goldrank.base.machine import fits, memory_errors_name
from goldrank.conventions import Convention
from goldrank.data.blocks import Block, BlockSource, Rows
from goldrank.data.id_column import IdColumn
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.engine import ScoredEngine, TopRequest
from goldrank.engine.counts import RunCounts, assemble, compared, in_order, ranked_with_scores
from goldrank.engine.external_sort import IN_MEMORY, BucketPart, DistinctIds, ExternalSort
from goldrank.engine.lines import JudgementIndex, RunLines, join
from goldrank.engine.ranking import (
    PER_ROW,
    RARE,
    REMOVE_REPEATS,
    PartialPlacements,
    no_placements,
    rank_block,
    rank_lines,
    refuse_repeats,
)

In = TypeVar("In")
Out = TypeVar("Out")

MOST_TAGS = 4
LINES_AT_A_TIME = 1_000_000
"""How many lines of scattered queries are ranked at a time, and how many ids are held to be counted."""
RANKED_LINE = 320
"""Bytes for each line of a query while it is ranked. Measured with a million lines of 15-byte ids, the line as kept
(some 80) included: 144 with distinct scores, 318 where all are tied."""
RUN, RUN_QUERY = 36_000, 150
"""Bytes for each run of several that are told apart by tag, and for each of its judged queries. Measured with 30,000
runs of one line: 17,000 for one when all is done, and as much again for those of the pieces in work."""
BUCKET = 4 << 20
"""Bytes as stored for each of the parts into which a run is sorted whose queries are all scattered."""
MOST_BUCKETS = 256
QUERY_HINT = "Use a machine with more memory, or leave out of the run what lies deeper than you measure."
TAGS_HINT = "Is the last column a tag? If not, leave --by-tag (read_runs) out; else split the file by tag."
_LARGE_BLOCK = 31 << 20


@dataclass
class RankedBlock:
    """What a thread makes of one block."""

    found: PartialPlacements
    """Placements of the inner stretches."""
    edges: list[tuple[int, Rows]]
    """The first and the last stretch, by query number: a neighbour may continue them."""
    codes: np.ndarray
    """The query number of each stretch, -1 where the query is not judged."""
    sizes: np.ndarray
    """The lines of each stretch."""
    unjudged: set[bytes]
    lines: int
    example_docs: list[str]
    tags: list[bytes]
    """A few of the tags in the block."""
    block_notes: Counter[str]


class RunAccumulator:
    """What the pieces of one run come to, taken in order; it grows with the judged queries, not with the run."""

    def __init__(self, judged: JudgementIndex, convention: Convention, where: str) -> None:
        size = judged.size
        self.judged = judged
        self.convention = convention
        self._where = where
        self.counts = RunCounts()
        self._parts: list[PartialPlacements] = []
        """Placements; what there is to say of each query is in `_totals`."""
        self._retrieved = np.zeros(size, np.int64)
        self._rare: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {name: [] for name in RARE}

        """Counts that most queries have none of: queries, and how often."""
        self._answered = np.zeros(size, bool)
        self.lines = np.zeros(size, np.int32)
        """How many lines each query has."""
        self._stretches = np.zeros(size, np.int32)
        self._open: list[tuple[int, Rows]] = []
        """The query at the end of the last piece, which the next one may continue."""
        self._last = -1
        self._unjudged = DistinctIds(LINES_AT_A_TIME)

    def count(self, piece: RankedBlock) -> None:
        """Take what the next piece says beside placements."""
        self._unjudged.add(piece.unjudged)
        self.counts.lines += piece.lines
        self.counts.example_docs = self.counts.example_docs or piece.example_docs
        self.counts.tolerated.update(piece.block_notes)
        for tag in piece.tags:
            if tag not in self.counts.tags and len(self.counts.tags) < MOST_TAGS:
                self.counts.tags.append(tag)
        judged = np.flatnonzero(piece.codes >= 0)
        codes = piece.codes[judged]
        # Numbers of the same width as the totals: numpy adds others one by one, in twenty times the time.
        np.add.at(self._stretches, codes, np.ones(len(codes), self._stretches.dtype))
        np.add.at(self.lines, codes, piece.sizes[judged].astype(self.lines.dtype))

    def add(self, piece: RankedBlock) -> None:
        """Take the next piece."""
        self.count(piece)
        codes = piece.codes
        if not len(codes):
            return

        judged = codes >= 0
        if codes[0] == self._last >= 0:
            self._stretches[self._last] -= 1
        else:
            self._close()

        # What a piece says of scattered queries is of no use, and would grow with the run.
        scattered = (self._stretches[codes[judged]] > 1).any()
        self.take(piece.found.without(self._stretches > 1) if scattered else piece.found)
        if judged[0]:
            self._open.append(piece.edges[0])

        if len(codes) > 1:
            self._close()
            if judged[-1]:
                self._open.append(piece.edges[-1])

        self._last = int(codes[-1])
        if self._open:
            lines = sum(len(rows) for _, rows in self._open)
            query = ids.show(self.judged.name(self._open[0][0]))
            what = f"ranking the {lines:,} lines (and perhaps more) of query '{query}'"
            fits(RANKED_LINE * lines, what, self._where, QUERY_HINT)

    def _close(self) -> None:
        """Rank the query that no later piece continues; should it turn up again, it is among the scattered."""
        if self._open:
            self.take(rank_lines(join(self._open), self.judged, self.convention))
            self._open = []

    def take(self, found: PartialPlacements) -> None:
        """Take the placements of whole queries."""
        self._answered[found.code] = True
        self._retrieved[found.code] += found.retrieved
        for name, counted in self._rare.items():
            values = getattr(found, name)
            marked = np.flatnonzero(values)
            if len(marked):
                counted.append((found.code[marked], values[marked]))
        self._parts.append(found.without_queries())

    def scattered(self) -> np.ndarray:
        """Which queries have lines in more than one place. What was found for them so far is forgotten."""
        self._close()
        scattered: np.ndarray = self._stretches > 1
        if scattered.any():
            self._parts = [part.without(scattered) for part in self._parts]
            self._answered[scattered] = False
            self._retrieved[scattered] = 0
            for name, counted in self._rare.items():
                kept = [(code, ~scattered[code], values) for code, values in counted]
                self._rare[name] = [(code[keep], values[keep]) for code, keep, values in kept]
        return scattered

    def finish(self, empty: IdColumn) -> tuple[Placements, RunCounts]:
        """The placements, when all parts are there; `empty` are queries of the run without documents."""
        counts = self.counts
        if len(empty):
            codes = self.judged.codes(empty)
            self._answered[codes[codes >= 0]] = True
            self._unjudged.add(query for query in empty.take(np.flatnonzero(codes < 0)) if self.judged.owns(query))

        for name, counted in self._rare.items():
            setattr(counts, name, sum(int(values.sum()) for _, values in counted))

        counts.unjudged_queries, examples = self._unjudged.finish()
        counts.unjudged_examples = list(map(ids.decode, examples))
        query, rank = self._joined("query"), self._joined("rank")
        order = in_order(query, rank)
        rows = [query[order], rank[order]]
        del query, rank
        rows += [self._joined(name)[order] for name in PER_ROW[2:]]
        return assemble(self.judged.arrays, self._retrieved, self._answered, *rows, is_ordered=True), counts

    def _joined(self, name: str) -> np.ndarray:
        """A column of all placements, which the parts then lose: there may be millions."""
        nothing = np.zeros(0, np.int64)
        joined = np.concatenate([nothing, *(getattr(part, name) for part in self._parts)])
        for part in self._parts:
            setattr(part, name, nothing)
        return joined


Split = Callable[[Block], Iterable[tuple[bytes, Block]]]
"""How a block is dealt out to the runs in it, by tag."""


def one_run(block: Block) -> Iterable[tuple[bytes, Block]]:
    """A block whose lines are all of one run."""
    return [(b"", block)]


class StreamingEngine(ScoredEngine):
    """Places runs that come in blocks."""

    holds_runs = False

    def place(self, qrels: Qrels, run: Run, convention: Convention) -> tuple[Placements, RunCounts]:
        source = cast(BlockSource, run.source)
        return _place(qrels, source, convention, one_run)[b""]

    def place_by_tag(
        self, qrels: Qrels, source: BlockSource, convention: Convention
    ) -> dict[bytes, tuple[Placements, RunCounts]]:
        """Placements of several runs in one input, told apart by their tags; it is read once for all of them."""
        return _place(qrels, source, convention, Block.by_tag)

    def place_with_top(
        self, qrels: Qrels, run: Run, convention: Convention, top: TopRequest
    ) -> tuple[Placements, RunCounts, list[list[str]]]:
        source = cast(BlockSource, run.source)
        collector = TopCollector(qrels.arrays.queries, top)
        placements, counts = _place(qrels, source, convention, one_run, collector)[b""]
        return placements, counts, [docs for docs, _ in collector.ranked(run.name)]

    def top_scored(
        self, run: Run, queries: Sequence[str], depth: int, convention: Convention
    ) -> Iterator[tuple[list[str], list[float]]]:
        collector = TopCollector(queries, TopRequest(depth, convention))
        for number, piece in enumerate(cast(BlockSource, run.source).pieces()):
            collector.add(number, piece())
        yield from collector.ranked(run.name)


class QueryPart(NamedTuple):
    """Lines of one query in one piece of a run that may be among its first documents."""

    query: int
    scores: np.ndarray
    docs: list[bytes]


class TopCollector:
    """The first documents of some queries, from pieces of a run that come in any order and from any thread."""

    def __init__(self, queries: Sequence[str], top: TopRequest) -> None:
        self._queries = queries
        self._number = {ids.encode(query): number for number, query in enumerate(queries)}
        self._top = top
        # Which lines of a document count is known when all are there: the one that does may be far down.
        self._cuts = top.convention.duplicates not in ("first", "last")
        self._pieces: dict[int, list[QueryPart]] = {}

    def add(self, number: int, block: Block) -> None:
        """Take a piece of the run by its number; one that was taken before is passed over."""
        if number not in self._pieces:
            self._pieces[number] = list(self._parts(block))

    def _parts(self, block: Block) -> Iterator[QueryPart]:
        depth = self._top.depth
        for i, query in enumerate(block.queries):
            if query not in self._number:
                continue
            low, high = int(block.start[i]), int(block.start[i + 1])
            lines = np.arange(low, high)
            if self._cuts and high - low > depth:
                # Whatever ties with the last of them may come before it.
                score = compared(block.score[low:high], self._top.convention)
                least = np.partition(score, high - low - depth)[high - low - depth]
                lines = lines[score >= least]
            yield QueryPart(self._number[query], block.score[lines], block.docs(lines).to_list())

    def ranked(self, name: str) -> Iterator[tuple[list[str], list[float]]]:
        """For each query its first documents, best first, and their scores."""
        by_query: list[list[QueryPart]] = [[] for _ in self._queries]
        for number in sorted(self._pieces):
            for part in self._pieces[number]:
                by_query[part.query].append(part)

        convention, depth = self._top.convention, self._top.depth
        for query, parts in zip(self._queries, by_query, strict=True):
            docs = [doc for part in parts for doc in part.docs]
            if parts:
                scores = np.concatenate([part.scores for part in parts])
            else:
                scores = np.zeros(0)
            if convention.duplicates == "error" and len(set(docs)) < len(docs):
                raise _repeated(docs, query, name)
            counted = _counted_lines(docs, convention.duplicates)
            yield ranked_with_scores(scores[counted], [docs[line] for line in counted], depth, convention)


ENGINE = StreamingEngine()


def _repeated(docs: Sequence[bytes], query: str, name: str) -> InputError:
    """The error for a ranking that repeats a document, of a run whose rankings are read for their first documents."""
    doc = next(doc for doc, count in Counter(docs).items() if count > 1)
    return InputError(
        f"document '{ids.show(ids.decode(doc))}' is in the ranking of query '{ids.show(query)}' twice",
        where=name,
        hint=f"{REMOVE_REPEATS}.",
        code="duplicate-document",
    )


def _counted_lines(docs: Sequence[bytes], duplicates: str) -> list[int]:
    """The lines of a query that count, in the order of the input, by the documents of all of them."""
    if duplicates == "last":
        return sorted({doc: line for line, doc in enumerate(docs)}.values())
    if duplicates == "first":
        last = len(docs) - 1
        return sorted({doc: last - line for line, doc in enumerate(reversed(docs))}.values())
    return list(range(len(docs)))


def _place(
    qrels: Qrels,
    source: BlockSource,
    convention: Convention,
    split: Split,
    collector: TopCollector | None = None,
) -> dict[bytes, tuple[Placements, RunCounts]]:
    return _Placing(source, JudgementIndex(qrels, source), convention, split, collector).place()


def processors() -> int:
    """How many threads can run at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(work: Callable[[In], Out], items: Iterator[In]) -> Iterator[Out]:
    """`work` over `items` in order, with no more in flight than threads can use."""
    # glibc hands freed memory of more than twice the largest block freed so far back to the system, and
    # getting it again page by page would take a third of the time. Freeing one large block raises that
    # limit; it is never touched, so it costs nothing.
    np.empty(_LARGE_BLOCK, np.uint8)
    threads = processors()
    first = list(islice(items, 2))
    if len(first) < 2:  # most files are one piece, for which threads would only take time to start
        yield from map(work, first)
        return
    items = chain(first, items)
    del first
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Out]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _rank_piece(block: Block, judged: JudgementIndex, convention: Convention) -> RankedBlock:
    """Finish the inner stretches of a block; hand on those at its edges."""
    codes = judged.codes(block.queries)
    # What a block says of a query that it has twice is of no use.
    inner = np.where(_again(codes), -1, codes)
    edges: list[tuple[int, Rows]] = []
    for i in sorted({0, len(codes) - 1} if len(codes) else ()):
        if codes[i] >= 0:
            edge = np.arange(block.start[i], block.start[i + 1])
            if convention.duplicates == "error":
                # Found again when the query is whole; a query of endless repetition would not come to that.
                refuse_repeats(block, edge)
            edges.append((int(codes[i]), block.keep(edge)))
            inner[i] = -1

    placed = rank_block(block, inner, judged, convention)
    if placed is None:
        line_code = np.repeat(inner, np.diff(block.start))
        lines = RunLines(block.score, block.key, block.docs, block.place, line_code, claimed=block.claimed)
        if (inner < 0).any():
            lines = lines.take(np.flatnonzero(line_code >= 0))
        placed = rank_lines(lines, judged, convention)

    return _seen(block, judged, codes, placed, edges)


def _seen(
    block: Block,
    judged: JudgementIndex,
    codes: np.ndarray,
    placed: PartialPlacements,
    edges: list[tuple[int, Rows]],
) -> RankedBlock:
    """What a block has, beside what was placed."""
    strangers = block.queries.take(np.flatnonzero(codes < 0))
    strangers = strangers.take(strangers.numbered()[1])

    return RankedBlock(
        found=placed,
        edges=edges,
        codes=codes,
        sizes=np.diff(block.start),
        unjudged={query for query in strangers if judged.owns(query)},
        lines=len(block),
        example_docs=list(map(ids.decode, block.docs(np.arange(min(3, len(block)))))),
        tags=[] if block.tags is None else block.tags.some()[:MOST_TAGS],
        block_notes=block.notes,
    )


def _again(codes: np.ndarray) -> np.ndarray:
    """Which stretches are of a query that has another one too; -1 is none."""
    judged = codes >= 0
    low, high = int(codes.min(initial=0, where=judged)), int(codes.max(initial=0))
    if high - low > 64 * len(codes) + 1024:
        codes = np.unique(codes, return_inverse=True)[1]
        low, high = 0, len(codes)
    often = np.bincount(codes[judged] - low, minlength=high - low + 1) > 1
    repeated: np.ndarray = judged & often[np.maximum(codes - low, 0)]
    return repeated


def _is_shuffled(codes: np.ndarray, block: Block) -> bool:
    """Whether most lines of judged queries in a block are of those whose lines lie apart."""
    sizes = np.diff(block.start)
    return 2 * int(sizes[_again(codes)].sum()) > int(sizes[codes >= 0].sum())


@dataclass(frozen=True)
class _Placing:
    """An input, and how the judged documents of the runs in it are placed."""

    source: BlockSource
    judged: JudgementIndex
    convention: Convention
    split: Split
    collector: TopCollector | None = None
    """Takes the first documents of each query from the pieces that are read."""

    def _pieces(self) -> Iterator[Callable[[], Block]]:
        """What loads each piece of the input, one after the other."""
        pieces = self.source.pieces()
        if self.collector is None:
            return pieces
        return (partial(self._collected, number, piece) for number, piece in enumerate(pieces))

    def _collected(self, number: int, piece: Callable[[], Block]) -> Block:
        block = piece()
        if self.collector is not None:
            self.collector.add(number, block)
        return block

    def place(self) -> dict[bytes, tuple[Placements, RunCounts]]:
        """The placements of each run, by tag."""
        source, judged = self.source, self.judged
        gathered: dict[bytes, RunAccumulator] = {}
        with memory_errors_name(source.name):
            given = self._pieces()
            if self.split is one_run:
                first = [piece() for piece in islice(given, 1)]
                given = chain((lambda block=block: block for block in first), given)  # type: ignore[misc]
                if any(_is_shuffled(judged.codes(block.queries), block) for block in first):
                    placed = self._rank_shuffled(given)
                    if placed is not None:
                        return {b"": placed}
                    given = self._pieces()
                del first
            for pieces in in_threads(self._rank, given):
                for tag, piece in pieces:
                    if tag not in gathered:
                        gathered[tag] = RunAccumulator(judged, self.convention, source.name)
                        self._check_runs(len(gathered))
                    gathered[tag].add(piece)
            again = {tag: run for tag, run in gathered.items() if run.scattered().any()}
            if again:
                self._rank_again(again)
            judged.release()
            return {tag: run.finish(source.empty_queries()) for tag, run in gathered.items()}

    def _rank(self, piece: Callable[[], Block]) -> list[tuple[bytes, RankedBlock]]:
        ranked = []
        for tag, block in self.split(piece()):
            ranked.append((tag, _rank_piece(block, self.judged, self.convention)))
            self._check_runs(len(ranked))
        return ranked

    def _check_runs(self, count: int) -> None:
        """Asked whenever the number of runs has doubled: as many again may come."""
        if count & (count - 1) == 0:
            what = f"evaluating {count:,} runs (and perhaps more), one for each tag,"
            fits((RUN + RUN_QUERY * self.judged.size) * count, what, self.source.name, TAGS_HINT)

    def _rank_shuffled(self, pieces: Iterator[Callable[[], Block]]) -> tuple[Placements, RunCounts] | None:
        """Rank a run by sorting all lines by query, in one pass; None if it is too large for that."""
        judged = self.judged
        stored = sum(file.size or 0 for file in self.source.files()) or 1 << 62
        buckets = min(MOST_BUCKETS, 1 + stored // BUCKET)
        everything, nothing = np.ones(judged.size, np.int64), no_placements()
        run = RunAccumulator(judged, self.convention, self.source.name)

        def gather(piece: Callable[[], Block]) -> tuple[RankedBlock, list[BucketPart]]:
            block = piece()
            codes, parts = sort.sort(block, judged)
            return _seen(block, judged, codes, nothing, []), parts

        with self._spool() as file:
            sort = ExternalSort(file, everything > 0, everything, -(-judged.size // buckets))
            for number, (seen, parts) in enumerate(in_threads(gather, pieces)):
                if run.counts.lines > buckets * LINES_AT_A_TIME:
                    return None
                run.count(seen)
                sort.write(number, parts)
            self._rank_buckets({b"": sort}, {b"": run})
            judged.release()
            return run.finish(self.source.empty_queries())

    def _rank_again(self, gathered: Mapping[bytes, RunAccumulator]) -> None:
        """Rank queries whose lines are scattered over the input: a second pass sorts those lines by query.

        They go through a temporary file, from which a few queries are ranked at a time.
        """

        def gather(piece: Callable[[], Block]) -> list[tuple[bytes, list[BucketPart]]]:
            blocks = [(tag, block) for tag, block in self.split(piece()) if tag in gathered]
            return [(tag, sorts[tag].sort(block, self.judged)[1]) for tag, block in blocks]

        with self._spool() as file:
            sorts = {
                tag: ExternalSort(file, run.scattered(), run.lines, LINES_AT_A_TIME) for tag, run in gathered.items()
            }
            for number, pieces in enumerate(in_threads(gather, self.source.pieces())):
                for tag, parts in pieces:
                    sorts[tag].write(number, parts)
            self._rank_buckets(sorts, gathered)

    def _spool(self) -> IO[bytes]:
        """A temporary file, in memory while it is small."""
        import tempfile

        return tempfile.SpooledTemporaryFile(max_size=IN_MEMORY, prefix="goldrank-")

    def _rank_buckets(self, sorts: Mapping[bytes, ExternalSort], gathered: Mapping[bytes, RunAccumulator]) -> None:
        """Rank what was sorted by query, bucket by bucket, several at a time."""

        def read() -> Iterator[tuple[bytes, RunLines]]:
            for tag, sort in sorts.items():
                for bucket in sort.filled():

                    def place_of(number: int, line: int, tag: bytes = tag) -> Position | str:
                        """Where a line stands: its piece is read once more, for a message."""
                        piece = next(islice(self.source.pieces(), number, None))
                        return dict(self.split(piece()))[tag].place(line)

                    size, needed = sort.size(bucket)
                    what = f"ranking {size:,} lines of queries that are scattered over the run"
                    fits(needed, what, self.source.name, QUERY_HINT)
                    yield tag, sort.read(bucket, place_of)

        def rank(item: tuple[bytes, RunLines]) -> tuple[bytes, PartialPlacements]:
            tag, lines = item
            return tag, rank_lines(lines, self.judged, self.convention, scattered=True)

        for tag, placed in in_threads(rank, read()):
            gathered[tag].take(placed)
