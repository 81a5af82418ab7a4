"""The engine for runs that arrive in pieces: files, frames, anything larger than memory.

Each piece is parsed and ranked by a thread of its own, and only judged documents survive it. A query
whose lines lie in one stretch is finished on the spot. The stretches at the edges of a piece are kept and
joined with their neighbours; if a query turns up again later, the input is read a second time for those
queries alone, and their lines are sorted by query in a temporary file.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from goldrank import ids
from goldrank.conventions import Convention
from goldrank.data.blocks import USUAL, Block, BlockSource, Plan, Rows
from goldrank.data.placements import Placements
from goldrank.data.qrels import Grade, Qrels
from goldrank.engine.counts import RunCounts, assemble
from goldrank.errors import GoldrankError, InputError

In = TypeVar("In")
Out = TypeVar("Out")

_MIX = np.uint64(0x9E3779B97F4A7C15)
_LARGE_BLOCK = 31 << 20


class Judged:
    """The judgements as an engine asks for them: is this (query, document) pair judged, and how?"""

    def __init__(self, qrels: Qrels, source: BlockSource) -> None:
        raw = qrels.raw
        self.arrays = qrels.arrays
        self.owns = qrels.owns
        order = qrels.order
        self.code = {query: code for code, query in enumerate(order)}
        self.grades: list[dict[bytes, Grade]] = [raw[query] for query in order]
        docs = [doc for row in self.grades for doc in row]
        codes = np.repeat(np.arange(len(order)), np.diff(self.arrays.start))
        self.near: list[dict[bytes, str]] | None = None
        if qrels.near_forms:
            forms = qrels.near_forms
            self.near = [{ids.encode(f): d for f, d in forms.get(q, {}).items()} for q in self.arrays.queries]
            docs += [form for row in self.near for form in row]
            codes = np.append(codes, np.repeat(np.arange(len(order)), [len(row) for row in self.near]))
        keys = pair_keys(source.keys(docs), codes)
        bits = min(24, max(16, (128 * len(docs)).bit_length()))
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, bool)
        self._table[(keys >> self._shift).view(np.int64)] = True

    def candidates(self, keys: np.ndarray) -> np.ndarray:
        """The lines that may be judged: all that are, and a few that are not."""
        return np.flatnonzero(self._table[(keys >> self._shift).view(np.int64)])


def pair_keys(doc_keys: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """A hash of (query, document) pairs from the document's hash and the query's number."""
    mixed: np.ndarray = (doc_keys ^ (codes.view(np.uint64) + np.uint64(1)) * _MIX) * _MIX
    mixed ^= mixed >> np.uint64(29)
    return mixed


@dataclass
class Lines:
    """Lines of judged queries, as columns, with access to their documents."""

    code: np.ndarray
    score: np.ndarray
    key: np.ndarray
    docs: Callable[[np.ndarray], list[bytes]]
    place: Callable[[int], object]
    claimed: Callable[[np.ndarray], np.ndarray] | None

    def take(self, which: np.ndarray) -> Lines:
        """Some of the lines, in the order given."""
        claimed = self.claimed
        return Lines(
            self.code[which],
            self.score[which],
            self.key[which],
            lambda lines: self.docs(which[lines]),
            lambda line: self.place(int(which[line])),
            None if claimed is None else lambda lines: claimed(which[lines]),
        )


@dataclass
class Found:
    """Placements of some queries, and per query what was returned and seen."""

    query: np.ndarray
    rank: np.ndarray
    grade: np.ndarray
    tie_first: np.ndarray
    tie_last: np.ndarray

    code: np.ndarray
    """The number of each query; the columns below go with it."""
    retrieved: np.ndarray
    infinite: np.ndarray
    contradicted: np.ndarray
    constant: np.ndarray
    repeated: np.ndarray
    near_forms: np.ndarray

    def without(self, queries: np.ndarray) -> Found:
        """The same less some queries, marked by number."""
        rows, codes = ~queries[self.query], ~queries[self.code]
        per_row = {name: getattr(self, name)[rows] for name in PER_ROW}
        return Found(**per_row, **{name: getattr(self, name)[codes] for name in ("code", *PER_QUERY)})


PER_ROW = ("query", "rank", "grade", "tie_first", "tie_last")
PER_QUERY = ("retrieved", "infinite", "contradicted", "constant", "repeated", "near_forms")


@dataclass
class Piece:
    """What a thread makes of one block."""

    found: Found
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

    def __init__(self, judged: Judged, convention: Convention) -> None:
        size = len(judged.arrays.queries)
        self.judged = judged
        self.convention = convention
        self.counts = RunCounts()
        self.parts: list[Found] = []
        self.lines = np.zeros(size, np.int64)
        """How many lines each query has."""
        self._stretches = np.zeros(size, np.int64)
        self._open: list[tuple[int, Rows]] = []
        """The query at the end of the last piece, which the next one may continue."""
        self._last = -1
        self._unjudged: set[bytes] = set()

    def add(self, piece: Piece) -> None:
        """Take the next piece."""
        self._unjudged |= piece.unjudged
        self.counts.lines += piece.lines
        self.counts.example_docs = self.counts.example_docs or piece.example_docs
        self.counts.tolerated.update(piece.block_notes)
        for tag in piece.tags:
            if tag not in self.counts.tags:
                self.counts.example(self.counts.tags, tag, MOST_TAGS)
        codes = piece.codes
        if not len(codes):
            return
        judged = codes >= 0
        np.add.at(self._stretches, codes[judged], 1)
        np.add.at(self.lines, codes[judged], piece.sizes[judged])
        if codes[0] == self._last >= 0:
            self._stretches[self._last] -= 1
        else:
            self._close()
        # What a piece says of scattered queries is of no use, and would grow with the run.
        scattered = self._stretches > 1
        self.parts.append(piece.found.without(scattered) if scattered.any() else piece.found)
        if judged[0]:
            self._open.append(piece.edges[0])
        if len(codes) > 1:
            self._close()
            if judged[-1]:
                self._open.append(piece.edges[-1])
        self._last = int(codes[-1])

    def _close(self) -> None:
        """Rank the query that no later piece continues; should it turn up again, it is among the scattered."""
        if self._open:
            self.parts.append(_rank(_join(self._open), self.judged, self.convention))
            self._open = []

    def scattered(self) -> np.ndarray:
        """Which queries have lines in more than one place. What was found for them so far is forgotten."""
        self._close()
        found: np.ndarray = self._stretches > 1
        if found.any():
            self.parts = [part.without(found) for part in self.parts]
        return found

    def finish(self) -> tuple[Placements, RunCounts]:
        """The placements, when all parts are there."""
        size = len(self.judged.arrays.queries)
        counts = self.counts
        total = {name: np.zeros(size, np.int64) for name in PER_QUERY}
        answered = np.zeros(size, bool)
        for found in self.parts:
            answered[found.code] = True
            for name in PER_QUERY:
                total[name][found.code] += getattr(found, name)
        for name in PER_QUERY[1:]:
            setattr(counts, name, int(total[name].sum()))
        counts.unjudged_queries = len(self._unjudged)
        counts.unjudged_examples = [ids.decode(query) for query in sorted(self._unjudged)[:3]]
        empty = [np.zeros(0, np.int64)]
        joined = [np.concatenate([getattr(found, name) for found in self.parts] or empty) for name in PER_ROW]
        return assemble(self.judged.arrays, total["retrieved"], answered, *joined), counts


MOST_TAGS = 4


def place(
    qrels: Qrels, source: BlockSource, convention: Convention, plan: Plan = USUAL
) -> tuple[Placements, RunCounts]:
    """Placements of a run that comes in blocks."""
    found = _place(qrels, source, convention, plan, lambda block: [(b"", block)])
    return found[b""]


def place_by_tag(
    qrels: Qrels, source: BlockSource, convention: Convention, plan: Plan = USUAL
) -> dict[bytes, tuple[Placements, RunCounts]]:
    """Placements of several runs in one input, told apart by their tags; it is read once for all of them."""
    return _place(qrels, source, convention, plan, Block.by_tag)


Split = Callable[[Block], list[tuple[bytes, Block]]]


def _place(
    qrels: Qrels, source: BlockSource, convention: Convention, plan: Plan, split: Split
) -> dict[bytes, tuple[Placements, RunCounts]]:
    judged = Judged(qrels, source)
    gathered: dict[bytes, RunAccumulator] = {}

    def work(piece: Callable[[], Block]) -> list[tuple[bytes, Piece]]:
        return [(tag, _rank_piece(block, judged, convention)) for tag, block in split(piece())]

    for pieces in in_threads(work, source.pieces(plan.share), plan.threads):
        for tag, piece in pieces:
            if tag not in gathered:
                gathered[tag] = RunAccumulator(judged, convention)
            gathered[tag].add(piece)
    again = {tag: one for tag, one in gathered.items() if one.scattered().any()}
    if again:
        _rank_again(source, judged, convention, plan, split, again)
    return {tag: one.finish() for tag, one in gathered.items()}


def processors() -> int:
    """How many threads can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(work: Callable[[In], Out], items: Iterator[In], threads: int | None = None) -> Iterator[Out]:
    """`work` over `items` in order, with no more in flight than threads can use."""
    # glibc hands freed memory of more than twice the largest block freed so far back to the system, and
    # getting it again page by page would take a third of the time. Freeing one large block raises that
    # limit; it is never touched, so it costs nothing.
    np.empty(_LARGE_BLOCK, np.uint8)
    threads = threads or processors()
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


def _rank_piece(block: Block, judged: Judged, convention: Convention) -> Piece:
    """Finish the inner stretches of a block; hand on those at its edges."""
    get = judged.code.get
    codes = np.fromiter((get(query, -1) for query in block.queries), np.int64, len(block.queries))
    inner = codes.copy()
    edges: list[tuple[int, Rows]] = []
    for i in sorted({0, len(codes) - 1} if len(codes) else ()):
        if codes[i] >= 0:
            edges.append((int(codes[i]), block.keep(np.arange(block.start[i], block.start[i + 1]))))
            inner[i] = -1
    line_code = np.repeat(inner, np.diff(block.start))
    key = pair_keys(block.key, line_code)
    lines = Lines(line_code, block.score, key, block.docs, block.place, block.claimed)
    if (inner < 0).any():
        lines = lines.take(np.flatnonzero(line_code >= 0))
    return Piece(
        found=_rank(lines, judged, convention),
        edges=edges,
        codes=codes,
        sizes=np.diff(block.start),
        unjudged={q for i in np.flatnonzero(codes < 0).tolist() if judged.owns(q := block.queries[i])},
        lines=len(block),
        example_docs=list(map(ids.decode, block.docs(np.arange(min(3, len(block)))))),
        tags=[] if block.tags is None else block.tags.some()[:MOST_TAGS],
        block_notes=block.notes,
    )


def _rank_again(
    source: BlockSource,
    judged: Judged,
    convention: Convention,
    plan: Plan,
    split: Split,
    gathered: Mapping[bytes, RunAccumulator],
) -> None:
    """Rank queries whose lines are scattered over the input: a second pass sorts those lines by query.

    They go through a temporary file (in memory while it is small), from which a few queries are ranked at a time.
    """
    import tempfile

    def gather(piece: Callable[[], Block]) -> list[tuple[bytes, list[tuple[int, Stored]]]]:
        blocks = [(tag, block) for tag, block in split(piece()) if tag in gathered]
        return [(tag, spills[tag].sort(block, judged)) for tag, block in blocks]

    with tempfile.SpooledTemporaryFile(max_size=min(IN_MEMORY, 32 * plan.lines), prefix="goldrank-") as file:
        spills = {tag: ExternalSort(file, one.scattered(), one.lines, plan.lines) for tag, one in gathered.items()}
        for number, pieces in enumerate(in_threads(gather, source.pieces(plan.share), plan.threads)):
            for tag, parts in pieces:
                spills[tag].write(number, parts)
        for tag, spill in spills.items():
            for bucket in spill.filled():

                def place_of(number: int, line: int, tag: bytes = tag) -> object:
                    """Where a line stands: its piece is read once more, for a message."""
                    piece = next(islice(source.pieces(plan.share), number, None))
                    return dict(split(piece()))[tag].place(line)

                lines = spill.read(bucket, place_of)
                gathered[tag].parts.append(_rank(lines, judged, convention, scattered=True))


IN_MEMORY = 64 << 20
"""Bytes of scattered lines that are kept in memory rather than in a temporary file."""
MOST_BUCKETS = 256


@dataclass
class Stored:
    """Lines on their way through a file; one entry each per line."""

    code: np.ndarray
    score: np.ndarray
    key: np.ndarray
    line: np.ndarray
    claimed: np.ndarray
    length: np.ndarray
    docs: bytes


STORED = {"code": "<i8", "score": "<f8", "key": "<u8", "line": "<i8", "claimed": "<i8", "length": "<i8"}


class ExternalSort:
    """Lines of scattered queries, sorted into buckets of whole queries in a file."""

    def __init__(self, file: Any, scattered: np.ndarray, lines: np.ndarray, most: int) -> None:
        self._file = file
        which = np.flatnonzero(scattered)
        before = np.cumsum(lines[which]) - lines[which]
        most = max(most, int(lines[which].sum()) // MOST_BUCKETS + 1)
        self._bucket = np.full(len(scattered), -1)
        self._bucket[which] = before // most
        self.index: list[list[tuple[int, int, int, int]]] = [[] for _ in range(int(self._bucket.max(initial=-1)) + 1)]
        """For each bucket where its parts are: offset, lines, bytes of ids, number of the piece."""

    def sort(self, block: Block, judged: Judged) -> list[tuple[int, Stored]]:
        """The lines of a block that are wanted, by bucket."""
        codes = np.array([judged.code.get(query, -1) for query in block.queries], np.int64)
        line_code = np.repeat(codes, np.diff(block.start))
        bucket = np.where(line_code >= 0, self._bucket[line_code], -1)
        lines = np.argsort(bucket, kind="stable")[np.count_nonzero(bucket < 0) :]
        claims = np.full(len(block), -1)
        if block.claimed is not None and len(lines):
            # Only those of judged documents are ever asked for.
            asked = judged.candidates(pair_keys(block.key, line_code))
            claims[asked] = block.claimed(asked)
        found = []
        for some in np.split(lines, np.flatnonzero(np.diff(bucket[lines])) + 1):
            if len(some):
                docs = block.docs(some)
                length = np.fromiter(map(len, docs), np.int64, len(docs))
                columns = (line_code[some], block.score[some], block.key[some], some, claims[some], length)
                found.append((int(bucket[some[0]]), Stored(*columns, b"".join(docs))))
        return found

    def write(self, piece: int, parts: Sequence[tuple[int, Stored]]) -> None:
        """Add the sorted lines of a piece, which come in order."""
        try:
            for bucket, part in parts:
                self.index[bucket].append((self._file.tell(), len(part.code), len(part.docs), piece))
                for name, kind in STORED.items():
                    self._file.write(np.ascontiguousarray(getattr(part, name), kind).tobytes())
                self._file.write(part.docs)
        except OSError as error:
            raise GoldrankError(
                f"lines of scattered queries cannot be sorted in a temporary file: {error.strerror}",
                hint="Sort the run by query, or set TMPDIR to a folder with as much room as the run takes.",
            ) from None

    def filled(self) -> list[int]:
        """The buckets that have lines: a large query leaves numbers free."""
        return [number for number, parts in enumerate(self.index) if parts]

    def read(self, bucket: int, place_of: Callable[[int, int], object]) -> Lines:
        """The lines of a bucket, in input order."""
        columns: dict[str, list[np.ndarray]] = {name: [] for name in STORED}
        texts: list[bytes] = []
        for offset, size, doc_bytes, _ in self.index[bucket]:
            self._file.seek(offset)
            for name, kind in STORED.items():
                columns[name].append(np.frombuffer(self._file.read(8 * size), kind))
            texts.append(self._file.read(doc_bytes))
        whole = {name: np.concatenate(found) for name, found in columns.items()}
        text = b"".join(texts)
        end = np.cumsum(whole["length"])
        owner = np.repeat([piece for *_, piece in self.index[bucket]], [size for _, size, *_ in self.index[bucket]])
        begin = end - whole["length"]

        def docs(lines: np.ndarray) -> list[bytes]:
            return [text[a:b] for a, b in zip(begin[lines].tolist(), end[lines].tolist(), strict=True)]

        return Lines(
            whole["code"],
            whole["score"],
            pair_keys(whole["key"], whole["code"]),
            docs,
            lambda line: place_of(int(owner[line]), int(whole["line"][line])),
            lambda lines: whole["claimed"][lines],
        )


def _join(parts: Sequence[tuple[int | np.ndarray, Rows]]) -> Lines:
    """Lines from several places, in input order, as one table."""
    all_rows = [rows for _, rows in parts]
    begin = np.concatenate(([0], np.cumsum([len(rows) for rows in all_rows])))
    code = np.concatenate([np.broadcast_to(np.asarray(code), len(rows)) for code, rows in parts])

    def docs(lines: np.ndarray) -> list[bytes]:
        owner = np.searchsorted(begin, lines, "right") - 1
        found: list[bytes] = [b""] * len(lines)
        for i in np.unique(owner):
            mine = np.flatnonzero(owner == i)
            for at, doc in zip(mine.tolist(), all_rows[i].docs(lines[mine] - begin[i]), strict=True):
                found[at] = doc
        return found

    def place_of(line: int) -> object:
        owner = int(np.searchsorted(begin, line, "right")) - 1
        return all_rows[owner].place(int(line - begin[owner]))

    def claimed(lines: np.ndarray) -> np.ndarray:
        owner = np.searchsorted(begin, lines, "right") - 1
        found = np.full(len(lines), -1)
        for i in np.unique(owner):
            ask = all_rows[i].claimed
            if ask is not None:
                found[owner == i] = ask(lines[owner == i] - begin[i])
        return found

    return Lines(
        code,
        np.concatenate([rows.score for rows in all_rows]),
        pair_keys(np.concatenate([rows.key for rows in all_rows]), code),
        docs,
        place_of,
        claimed,
    )


def _rank(lines: Lines, judged: Judged, convention: Convention, scattered: bool = False) -> Found:
    """Place the judged documents among lines that hold all there is of their queries.

    Lines of one query are neighbours unless they are `scattered`.
    """
    if convention.score_type == "float32":
        with np.errstate(over="ignore"):  # beyond single precision lies infinity
            lines.score = lines.score.astype(np.float32).astype(np.float64)
    dropped = np.zeros(0, np.int64)
    if convention.duplicates != "count":
        lines, dropped = _without_repeats(lines, convention.duplicates)
    same_query = lines.code[1:] == lines.code[:-1]
    if scattered or (same_query & (lines.score[1:] > lines.score[:-1])).any():
        lines = lines.take(np.lexsort((-lines.score, lines.code)))
        same_query = lines.code[1:] == lines.code[:-1]
    code, score = lines.code, lines.score
    same_score = same_query & (score[1:] == score[:-1])
    start, end = _stretches(same_query, len(code))
    tie_start, tie_end = _stretches(same_score, len(code))

    hits, grades, near = _hits(lines, judged)
    tie = np.searchsorted(tie_start, hits, "right") - 1
    begin = start[np.searchsorted(start, hits, "right") - 1]
    rank = hits - begin + 1
    first, last = tie_start[tie] - begin + 1, tie_end[tie] - begin
    if convention.ties != "input":
        _order_ties(rank, hits, tie, first, last, tie_start, lines, convention.ties != "docid-ascending")

    codes = code[start]

    def tally(of: np.ndarray) -> np.ndarray:
        """How often each query occurs in a list of query numbers, which is mostly empty."""
        return np.bincount(of, minlength=len(judged.grades))[codes] if len(of) else np.zeros_like(codes)

    higher = np.zeros(0, np.int64)
    if lines.claimed is not None and len(hits):
        # Ranks may begin at 0 and may have gaps, but none can claim to be better than it is.
        claim = lines.claimed(hits)
        higher = code[hits[(claim >= 0) & (claim < first - 1)]]
    return Found(
        query=code[hits],
        rank=rank,
        grade=grades,
        tie_first=first,
        tie_last=last,
        code=codes,
        retrieved=end - start,
        infinite=tally(code[np.isinf(score)]),
        contradicted=tally(higher),
        constant=((end - start > 1) & (score[start] == score[end - 1])).astype(np.int64),
        repeated=tally(dropped),
        near_forms=tally(near),
    )


def _stretches(same: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Begin and end of each stretch of `size` lines; `same` says which lines continue the one before."""
    if not size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    start = np.concatenate(([0], np.flatnonzero(~same) + 1))
    return start, np.append(start[1:], size)


def _order_ties(
    rank: np.ndarray,
    hits: np.ndarray,
    tie: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    tie_start: np.ndarray,
    lines: Lines,
    descending: bool,
) -> None:
    """Rank the hits that share their score with others by document id, in the order of its bytes."""
    tied = np.flatnonzero(first < last)
    for group in np.split(tied, np.flatnonzero(np.diff(tie[tied])) + 1):
        if len(group):
            low = tie_start[tie[group[0]]]
            docs = lines.docs(np.arange(low, low + last[group[0]] - first[group[0]] + 1))
            order = sorted(range(len(docs)), key=docs.__getitem__, reverse=descending)
            position = np.empty(len(docs), np.int64)
            position[order] = np.arange(len(docs))
            rank[group] = first[group] + position[hits[group] - low]


def _hits(lines: Lines, judged: Judged) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lines with judged documents, their grades, and the queries of near misses."""
    maybe = judged.candidates(lines.key)
    docs = lines.docs(maybe)
    codes = lines.code[maybe].tolist()
    grades = judged.grades
    found = [grades[code].get(doc) for code, doc in zip(codes, docs, strict=True)]
    near: list[int] = []
    if judged.near is not None:
        rows = zip(codes, docs, found, strict=True)
        near = [code for code, doc, grade in rows if grade is None and doc in judged.near[code]]
    keep = [i for i, grade in enumerate(found) if grade is not None]
    values = np.array([found[i] for i in keep], judged.arrays.grade.dtype)
    return maybe[np.array(keep, np.int64)], values, np.array(near, np.int64)


def _without_repeats(lines: Lines, policy: str) -> tuple[Lines, np.ndarray]:
    """The lines with each document of a query once and the queries of those dropped, or an error."""
    ordered = np.sort(lines.key)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return lines, np.zeros(0, np.int64)
    suspects = np.flatnonzero(np.isin(lines.key, twice))
    seen: dict[tuple[int, bytes], int] = {}
    drop: list[int] = []
    for line, doc in zip(suspects.tolist(), lines.docs(suspects), strict=True):
        pair = (int(lines.code[line]), doc)
        before = seen.setdefault(pair, line)
        if before == line:
            continue
        if policy == "error":
            raise InputError(
                f"document '{ids.show(ids.decode(doc))}' is in this ranking twice, first at {lines.place(before)}",
                where=str(lines.place(line)),
                hint="Remove one of the lines, or choose: duplicates='first', 'last' or 'count'. "
                "Several runs in one file, told apart by tag, are scored with read_runs, or --by-tag.",
            )
        drop.append(before if policy == "last" else line)
        if policy == "last":
            seen[pair] = line
    keep = np.ones(len(lines.code), bool)
    keep[drop] = False
    return lines.take(np.flatnonzero(keep)), lines.code[drop]
