"""The engine for runs that arrive in pieces: files, frames, anything larger than memory.

A thread parses and ranks each piece, and only judged documents stay in memory. A query whose lines form one stretch is
placed at once. The stretches at the edges of a piece are kept and joined with their neighbours. If a query occurs again
later, the input is read a second time for such queries only, and their lines are sorted by query in a temporary file.
If the first piece shows that most queries are scattered, all lines are sorted in the first pass.
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
from goldrank.engine.counts import PlacedRows, RunCounts, assemble, compared, in_order, ranked_with_scores
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
"""Lines of scattered queries that are ranked at a time, and ids that are counted in memory."""
RANKED_LINE = 320
"""Bytes of memory for each line of a query while it is ranked. Measured with a million lines of 15-byte ids, including
the kept line (about 80): 144 with distinct scores, 318 if all are tied."""
RUN, RUN_QUERY = 36_000, 150
"""Bytes of memory for each of several runs that tags distinguish, and for each of its judged queries. Measured with
30,000 runs of one line: 17,000 for each at the end, and the same again for the pieces in work."""
BUCKET = 4 << 20
"""Stored bytes for each bucket into which a run with scattered queries is sorted."""
MOST_BUCKETS = 256
QUERY_HINT = "Use a machine with more memory, or leave out of the run what lies deeper than you measure."
TAGS_HINT = "Is the last column a tag? If not, leave --by-tag (read_runs) out; else split the file by tag."
_LARGE_BLOCK = 31 << 20


@dataclass
class RankedBlock:
    """The result of a thread for one block."""

    placements: PartialPlacements
    """Placements of the inner stretches."""
    edges: list[tuple[int, Rows]]
    """The first and the last stretch, by query number: a neighbouring block may continue them."""
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
    """Collects the pieces of one run in order; its size depends on the judged queries, not on the run."""

    def __init__(self, judged: JudgementIndex, convention: Convention, where: str) -> None:
        size = judged.size
        self.judged = judged
        self.convention = convention
        self._where = where

        self.counts = RunCounts()
        self._parts: list[PartialPlacements] = []
        """Placements, without their columns per query."""
        self._retrieved = np.zeros(size, np.int64)
        self._rare: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {name: [] for name in RARE}
        """Counts that are 0 for most queries: arrays of queries and of their counts."""
        self._answered = np.zeros(size, bool)
        self.lines = np.zeros(size, np.int32)
        """The number of lines of each query."""
        self._stretches = np.zeros(size, np.int32)
        self._open: list[tuple[int, Rows]] = []
        """The query at the end of the last piece, which the next piece may continue."""
        self._last = -1
        self._unjudged = DistinctIds(LINES_AT_A_TIME)

    def count(self, piece: RankedBlock) -> None:
        """Add the counts of the next piece."""
        self._unjudged.add(piece.unjudged)
        self.counts.lines += piece.lines
        self.counts.example_docs = self.counts.example_docs or piece.example_docs
        self.counts.tolerated.update(piece.block_notes)
        for tag in piece.tags:
            if tag not in self.counts.tags and len(self.counts.tags) < MOST_TAGS:
                self.counts.tags.append(tag)

        judged = np.flatnonzero(piece.codes >= 0)
        codes = piece.codes[judged]
        # Numbers of the width of the totals: numpy adds other numbers one by one, which takes twenty times as long.
        np.add.at(self._stretches, codes, np.ones(len(codes), self._stretches.dtype))
        np.add.at(self.lines, codes, piece.sizes[judged].astype(self.lines.dtype))

    def add(self, piece: RankedBlock) -> None:
        """Add the next piece."""
        self.count(piece)
        codes = piece.codes
        if not len(codes):
            return

        judged = codes >= 0
        if codes[0] == self._last >= 0:
            self._stretches[self._last] -= 1
        else:
            self._close()

        # Placements of scattered queries are not needed, and would grow with the run.
        placements = piece.placements
        if (self._stretches[codes[judged]] > 1).any():
            placements = placements.without(self._stretches > 1)
        self.take(placements)
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
            activity = f"ranking the {lines:,} lines (and perhaps more) of query '{query}'"
            fits(RANKED_LINE * lines, activity, self._where, QUERY_HINT)

    def _close(self) -> None:
        """Rank the query that the next piece does not continue; if it occurs again, it is a scattered query."""
        if self._open:
            self.take(rank_lines(join(self._open), self.judged, self.convention))
            self._open = []

    def take(self, placements: PartialPlacements) -> None:
        """Add the placements of complete queries."""
        self._answered[placements.code] = True
        self._retrieved[placements.code] += placements.retrieved
        for name, counts in self._rare.items():
            values = getattr(placements, name)
            nonzero = np.flatnonzero(values)
            if len(nonzero):
                counts.append((placements.code[nonzero], values[nonzero]))
        self._parts.append(placements.without_queries())

    def scattered(self) -> np.ndarray:
        """Which queries have lines in more than one stretch. Their placements so far are dropped."""
        self._close()
        scattered: np.ndarray = self._stretches > 1
        if not scattered.any():
            return scattered

        self._parts = [part.without(scattered) for part in self._parts]
        self._answered[scattered] = False
        self._retrieved[scattered] = 0
        for name, counts in self._rare.items():
            remaining = []
            for code, values in counts:
                keep = ~scattered[code]
                remaining.append((code[keep], values[keep]))
            self._rare[name] = remaining
        return scattered

    def finish(self, empty: IdColumn) -> tuple[Placements, RunCounts]:
        """The placements, after all parts were added; `empty` are queries of the run without documents."""
        counts = self.counts
        if len(empty):
            codes = self.judged.codes(empty)
            self._answered[codes[codes >= 0]] = True
            self._unjudged.add(query for query in empty.take(np.flatnonzero(codes < 0)) if self.judged.owns(query))

        for name, rare in self._rare.items():
            setattr(counts, name, sum(int(values.sum()) for _, values in rare))

        counts.unjudged_queries, examples = self._unjudged.finish()
        counts.unjudged_examples = list(map(ids.decode, examples))
        query, rank = self._joined("query"), self._joined("rank")
        order = in_order(query, rank)
        columns = [query[order], rank[order]]
        del query, rank
        columns += [self._joined(name)[order] for name in PER_ROW[2:]]
        rows = PlacedRows(*columns)
        return assemble(self.judged.arrays, self._retrieved, self._answered, rows, is_ordered=True), counts

    def _joined(self, name: str) -> np.ndarray:
        """A column of all placements; the parts lose it, because there may be millions of rows."""
        nothing = np.zeros(0, np.int64)
        joined = np.concatenate([nothing, *(getattr(part, name) for part in self._parts)])
        for part in self._parts:
            setattr(part, name, nothing)
        return joined


Split = Callable[[Block], Iterable[tuple[bytes, Block]]]
"""Splits a block by the tags of the runs in it."""


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
        """Placements of several runs in one input, distinguished by their tags; the input is read once for all."""
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
    """Lines of one query in one piece of a run that may be among the query's first documents."""

    query: int
    scores: np.ndarray
    docs: list[bytes]


class TopCollector:
    """Collects the first documents of some queries; pieces of the run may come in any order and from any thread."""

    def __init__(self, queries: Sequence[str], top: TopRequest) -> None:
        self._queries = queries
        self._number = {ids.encode(query): number for number, query in enumerate(queries)}
        self._top = top
        # Which line of a repeated document counts is known only at the end: it may have a low rank.
        self._cuts = top.convention.duplicates not in ("first", "last")
        self._pieces: dict[int, list[QueryPart]] = {}

    def add(self, number: int, block: Block) -> None:
        """Add a piece of the run by its number; a piece that was added before is ignored."""
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
                # Documents that tie with the last one may come before it.
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
            scores = np.concatenate([np.zeros(0), *(part.scores for part in parts)])
            if convention.duplicates == "error" and len(set(docs)) < len(docs):
                raise _repeated(docs, query, name)
            lines = _counted_lines(docs, convention.duplicates)
            yield ranked_with_scores(scores[lines], [docs[line] for line in lines], depth, convention)


ENGINE = StreamingEngine()


def _repeated(docs: Sequence[bytes], query: str, name: str) -> InputError:
    """The error for a ranking that repeats a document, when only first documents are read."""
    doc = next(doc for doc, count in Counter(docs).items() if count > 1)
    return InputError(
        f"document '{ids.show(ids.decode(doc))}' is in the ranking of query '{ids.show(query)}' twice",
        where=name,
        hint=f"{REMOVE_REPEATS}.",
        code="duplicate-document",
    )


def _counted_lines(docs: Sequence[bytes], duplicates: str) -> list[int]:
    """The lines of a query that count, in the order of the input; `docs` are the documents of all lines."""
    lines = range(len(docs))
    if duplicates == "last":
        return sorted(dict(zip(docs, lines, strict=True)).values())
    if duplicates == "first":
        return sorted(dict(zip(reversed(docs), reversed(lines), strict=True)).values())
    return list(lines)


def _place(
    qrels: Qrels,
    source: BlockSource,
    convention: Convention,
    split: Split,
    collector: TopCollector | None = None,
) -> dict[bytes, tuple[Placements, RunCounts]]:
    return _Placing(source, JudgementIndex(qrels, source), convention, split, collector).place()


def processors() -> int:
    """The number of threads that can run at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(work: Callable[[In], Out], items: Iterator[In]) -> Iterator[Out]:
    """`work` over `items` in order, with at most as many items in work as there are threads."""
    # glibc returns freed memory of more than twice the largest block freed so far to the system, and getting it
    # again page by page would take a third of the time. Freeing one large block raises that limit; the block is
    # never written to, so it costs nothing.
    np.empty(_LARGE_BLOCK, np.uint8)
    threads = processors()
    first = list(islice(items, 2))
    if len(first) < 2:  # most files are one piece, for which starting threads takes too long
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
    """Place the inner stretches of a block, and keep the stretches at its edges."""
    codes = judged.codes(block.queries)
    # Placements of a query with several stretches are not needed.
    inner = np.where(_is_repeated(codes), -1, codes)
    edges: list[tuple[int, Rows]] = []
    stretches: set[int] = set()
    if len(codes):
        stretches = {0, len(codes) - 1}
    for i in sorted(stretches):
        if codes[i] >= 0:
            edge = np.arange(block.start[i], block.start[i + 1])
            if convention.duplicates == "error":
                # Also checked when the query is complete; a query of endless repetition would never be complete.
                refuse_repeats(block, edge)
            edges.append((int(codes[i]), block.keep(edge)))
            inner[i] = -1

    placed = rank_block(block, inner, judged, convention)
    if placed is None:
        line_code = np.repeat(inner, np.diff(block.start))
        lines = RunLines(block.score, block.key, block.docs, block.position, line_code, claimed=block.claimed)
        if (inner < 0).any():
            lines = lines.take(np.flatnonzero(line_code >= 0))
        placed = rank_lines(lines, judged, convention)

    return _ranked_block(block, judged, codes, placed, edges)


def _ranked_block(
    block: Block,
    judged: JudgementIndex,
    codes: np.ndarray,
    placements: PartialPlacements,
    edges: list[tuple[int, Rows]],
) -> RankedBlock:
    """The result for a block: its placements, and counts of its lines."""
    unjudged = block.queries.take(np.flatnonzero(codes < 0))
    unjudged = unjudged.take(unjudged.numbered()[1])
    tags: list[bytes] = []
    if block.tags is not None:
        tags = block.tags.some()[:MOST_TAGS]

    return RankedBlock(
        placements=placements,
        edges=edges,
        codes=codes,
        sizes=np.diff(block.start),
        unjudged={query for query in unjudged if judged.owns(query)},
        lines=len(block),
        example_docs=list(map(ids.decode, block.docs(np.arange(min(3, len(block)))))),
        tags=tags,
        block_notes=block.notes,
    )


def _is_repeated(codes: np.ndarray) -> np.ndarray:
    """Which stretches are of a query that has another stretch, too; -1 is not a query."""
    judged = codes >= 0
    low = int(codes.min(initial=0, where=judged))
    high = int(codes.max(initial=0))
    if high - low > 64 * len(codes) + 1024:
        codes = np.unique(codes, return_inverse=True)[1]
        low, high = 0, len(codes)
    has_several = np.bincount(codes[judged] - low, minlength=high - low + 1) > 1
    is_repeated: np.ndarray = judged & has_several[np.maximum(codes - low, 0)]
    return is_repeated


def _is_shuffled(codes: np.ndarray, block: Block) -> bool:
    """Whether most lines of judged queries in a block belong to queries with several stretches."""
    sizes = np.diff(block.start)
    return 2 * int(sizes[_is_repeated(codes)].sum()) > int(sizes[codes >= 0].sum())


@dataclass(frozen=True)
class _Placing:
    """An input, and the rules for placing the judged documents of the runs in it."""

    source: BlockSource
    judged: JudgementIndex
    convention: Convention
    split: Split
    collector: TopCollector | None = None
    """Collects the first documents of each query from the pieces that are read."""

    def _pieces(self) -> Iterator[Callable[[], Block]]:
        """Functions that load one piece of the input each, in order."""
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
        runs: dict[bytes, RunAccumulator] = {}
        with memory_errors_name(source.name):
            loaders = self._pieces()
            if self.split is one_run:
                first = [load() for load in islice(loaders, 1)]
                loaders = chain((lambda block=block: block for block in first), loaders)  # type: ignore[misc]
                if any(_is_shuffled(judged.codes(block.queries), block) for block in first):
                    placed = self._rank_shuffled(loaders)
                    if placed is not None:
                        return {b"": placed}
                    loaders = self._pieces()
                del first

            for pieces in in_threads(self._rank, loaders):
                for tag, piece in pieces:
                    if tag not in runs:
                        runs[tag] = RunAccumulator(judged, self.convention, source.name)
                        self._check_runs(len(runs))
                    runs[tag].add(piece)

            scattered_runs = {tag: run for tag, run in runs.items() if run.scattered().any()}
            if scattered_runs:
                self._rank_again(scattered_runs)
            judged.release()
            return {tag: run.finish(source.empty_queries()) for tag, run in runs.items()}

    def _rank(self, piece: Callable[[], Block]) -> list[tuple[bytes, RankedBlock]]:
        ranked = []
        for tag, block in self.split(piece()):
            ranked.append((tag, _rank_piece(block, self.judged, self.convention)))
            self._check_runs(len(ranked))
        return ranked

    def _check_runs(self, count: int) -> None:
        """Check memory whenever the number of runs has doubled: it may double again."""
        if count & (count - 1) == 0:
            activity = f"evaluating {count:,} runs (and perhaps more), one for each tag,"
            fits((RUN + RUN_QUERY * self.judged.size) * count, activity, self.source.name, TAGS_HINT)

    def _rank_shuffled(self, pieces: Iterator[Callable[[], Block]]) -> tuple[Placements, RunCounts] | None:
        """Rank a run by sorting all lines by query, in one pass; None if it is too large for that."""
        judged = self.judged
        stored = sum(file.size or 0 for file in self.source.files()) or 1 << 62
        buckets = min(MOST_BUCKETS, 1 + stored // BUCKET)
        one_line_each = np.ones(judged.size, np.int64)
        nothing = no_placements()
        run = RunAccumulator(judged, self.convention, self.source.name)

        def gather(piece: Callable[[], Block]) -> tuple[RankedBlock, list[BucketPart]]:
            block = piece()
            codes, parts = sort.sort(block, judged)
            return _ranked_block(block, judged, codes, nothing, []), parts

        with self._spool() as file:
            sort = ExternalSort(file, one_line_each > 0, one_line_each, -(-judged.size // buckets))
            for number, (block, parts) in enumerate(in_threads(gather, pieces)):
                if run.counts.lines > buckets * LINES_AT_A_TIME:
                    return None
                run.count(block)
                sort.write(number, parts)

            self._rank_buckets({b"": sort}, {b"": run})
            judged.release()
            return run.finish(self.source.empty_queries())

    def _rank_again(self, runs: Mapping[bytes, RunAccumulator]) -> None:
        """Rank queries whose lines are scattered over the input: a second pass sorts these lines by query.

        The lines go to a temporary file, from which a few queries are ranked at a time.
        """

        def gather(piece: Callable[[], Block]) -> list[tuple[bytes, list[BucketPart]]]:
            blocks = [(tag, block) for tag, block in self.split(piece()) if tag in runs]
            return [(tag, sorts[tag].sort(block, self.judged)[1]) for tag, block in blocks]

        with self._spool() as file:
            sorts = {tag: ExternalSort(file, run.scattered(), run.lines, LINES_AT_A_TIME) for tag, run in runs.items()}
            for number, pieces in enumerate(in_threads(gather, self.source.pieces())):
                for tag, parts in pieces:
                    sorts[tag].write(number, parts)
            self._rank_buckets(sorts, runs)

    def _spool(self) -> IO[bytes]:
        """A temporary file, in memory while it is small."""
        import tempfile

        return tempfile.SpooledTemporaryFile(max_size=IN_MEMORY, prefix="goldrank-")

    def _rank_buckets(self, sorts: Mapping[bytes, ExternalSort], runs: Mapping[bytes, RunAccumulator]) -> None:
        """Rank the sorted lines, bucket by bucket, several at a time."""

        def read() -> Iterator[tuple[bytes, RunLines]]:
            for tag, sort in sorts.items():
                for bucket in sort.filled():
                    lines, memory = sort.size(bucket)
                    activity = f"ranking {lines:,} lines of queries that are scattered over the run"
                    fits(memory, activity, self.source.name, QUERY_HINT)
                    yield tag, sort.read(bucket, partial(self._position, tag))

        def rank(item: tuple[bytes, RunLines]) -> tuple[bytes, PartialPlacements]:
            tag, lines = item
            return tag, rank_lines(lines, self.judged, self.convention, scattered=True)

        for tag, placed in in_threads(rank, read()):
            runs[tag].take(placed)

    def _position(self, tag: bytes, number: int, line: int) -> Position | str:
        """The position of a line of a piece, for a message; the piece is read again."""
        piece = next(islice(self.source.pieces(), number, None))
        return dict(self.split(piece()))[tag].position(line)
