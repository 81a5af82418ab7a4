"""Ranks of judged documents among lines that hold all there is of their queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from goldrank import ids
from goldrank.conventions import Convention
from goldrank.data.blocks import Block
from goldrank.engine.counts import compared, tie_order
from goldrank.engine.lines import JudgementIndex, RunLines
from goldrank.errors import InputError


@dataclass
class PartialPlacements:
    """Placements of some queries, and per query what was returned and seen."""

    query: np.ndarray
    rank: np.ndarray
    label: np.ndarray
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

    def without(self, queries: np.ndarray) -> PartialPlacements:
        """The same less some queries, marked by number."""
        rows, codes = ~queries[self.query], ~queries[self.code]
        per_row = {name: getattr(self, name)[rows] for name in PER_ROW}
        return PartialPlacements(**per_row, **{name: getattr(self, name)[codes] for name in ("code", *PER_QUERY)})


SUSPECTS = 10_000
"""Lines whose ids are looked at together where documents may repeat."""
PER_ROW = ("query", "rank", "label", "tie_first", "tie_last")
PER_QUERY = ("retrieved", "infinite", "contradicted", "constant", "repeated", "near_forms")


def rank_lines(
    lines: RunLines, judged: JudgementIndex, convention: Convention, scattered: bool = False
) -> PartialPlacements:
    """Place the judged documents among lines that hold all there is of their queries.

    RunLines of one query are neighbours unless they are `scattered`.
    """
    if convention.score_type == "float32":
        with np.errstate(over="ignore"):  # beyond single precision lies infinity
            lines.score = compared(lines.score, convention)
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

    hits, labels, near = _hits(lines, judged)
    tie = np.searchsorted(tie_start, hits, "right") - 1
    begin = start[np.searchsorted(start, hits, "right") - 1]
    rank = hits - begin + 1
    first, last = tie_start[tie] - begin + 1, tie_end[tie] - begin
    if convention.ties != "input":
        _order_ties(rank, hits, tie, first, last, tie_start, lines, convention.ties)

    codes = code[start]

    def tally(of: np.ndarray) -> np.ndarray:
        """How often each query occurs in a list of query numbers, which is mostly empty."""
        return np.bincount(of, minlength=len(judged.judged))[codes] if len(of) else np.zeros_like(codes)

    higher = np.zeros(0, np.int64)
    if lines.claimed is not None and len(hits):
        # Ranks may begin at 0 and may have gaps, but none can claim to be better than it is.
        claim = lines.claimed(hits)
        higher = code[hits[(claim >= 0) & (claim < first - 1)]]
    return PartialPlacements(
        query=code[hits],
        rank=rank,
        label=labels,
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
    lines: RunLines,
    ties: str,
) -> None:
    """Rank the hits that share their score with others as the tie rule says."""
    tied = np.flatnonzero(first < last)
    for group in np.split(tied, np.flatnonzero(np.diff(tie[tied])) + 1):
        if len(group):
            low = tie_start[tie[group[0]]]
            docs = lines.docs(np.arange(low, low + last[group[0]] - first[group[0]] + 1))
            position = np.empty(len(docs), np.int64)
            position[tie_order(docs, ties)] = np.arange(len(docs))
            rank[group] = first[group] + position[hits[group] - low]


def _hits(lines: RunLines, judged: JudgementIndex) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lines with judged documents, the labels of those, and the queries of near misses."""
    candidates = judged.candidates(lines.key)
    docs = lines.docs(candidates)
    codes = lines.code[candidates].tolist()
    rows = judged.judged
    hits = [i for i, (code, doc) in enumerate(zip(codes, docs, strict=True)) if doc in rows[code]]
    positions = np.array([judged.position(codes[i], docs[i]) for i in hits], np.int64)
    near: list[int] = []
    if judged.near is not None:
        pairs = zip(codes, docs, strict=True)
        near = [code for code, doc in pairs if doc in judged.near[code] and doc not in rows[code]]
    lines_of_hits = candidates[np.array(hits, np.int64)]
    labels = judged.arrays.start[lines.code[lines_of_hits]] + positions
    return lines_of_hits, labels, np.array(near, np.int64)


def refuse_repeats(block: Block, lines: np.ndarray) -> None:
    """Raises if lines of one query have a document twice."""
    code = np.zeros(len(block), np.int64)
    _without_repeats(RunLines(code, block.score, block.key, block.docs, block.place, None).take(lines), "error")


def _without_repeats(lines: RunLines, policy: str) -> tuple[RunLines, np.ndarray]:
    """The lines with each document of a query once and the queries of those dropped, or an error."""
    ordered = np.sort(lines.key)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return lines, np.zeros(0, np.int64)
    suspects = np.flatnonzero(np.isin(lines.key, twice))
    seen: dict[tuple[int, bytes], int] = {}
    drop: list[int] = []
    # Some at a time: a run of one line again and again is refused by its first two.
    some = (suspects[low : low + SUSPECTS] for low in range(0, len(suspects), SUSPECTS))
    for line, doc in ((line, doc) for part in some for line, doc in zip(part.tolist(), lines.docs(part), strict=True)):
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
