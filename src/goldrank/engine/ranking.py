"""Ranks of judged documents among the lines of complete queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.conventions import Convention
from goldrank.core import core
from goldrank.core.hashing import pair_keys
from goldrank.data.blocks import Block
from goldrank.data.id_column import IdsOf, repeated_pairs
from goldrank.engine.counts import compared, tie_order
from goldrank.engine.lines import JudgementIndex, RunLines

REMOVE_REPEATS = (
    "duplicates='first' keeps the first of them, duplicates='last' the last, duplicates='count' both; or remove a line "
    "(run.drop_duplicates())"
)
"""A hint for a document that a ranking has twice."""
KEEP_REPEATS = ("count", "places")
"""The policies under which a document may be in a ranking twice."""


@dataclass
class PartialPlacements:
    """Placements of some queries, and counts per query."""

    query: np.ndarray
    rank: np.ndarray
    label: np.ndarray
    tie_first: np.ndarray
    tie_last: np.ndarray

    code: np.ndarray
    """The number of each query; the columns below have one entry for each query."""
    retrieved: np.ndarray
    infinite: np.ndarray
    contradicted: np.ndarray
    constant: np.ndarray
    repeated: np.ndarray
    near_forms: np.ndarray

    def without(self, queries: np.ndarray) -> PartialPlacements:
        """These placements without some queries, which are marked by number."""
        rows = ~queries[self.query]
        codes = ~queries[self.code]
        per_row = {name: getattr(self, name)[rows] for name in PER_ROW}
        per_query = {name: getattr(self, name)[codes] for name in ("code", *PER_QUERY)}
        return PartialPlacements(**per_row, **per_query)

    def without_queries(self) -> PartialPlacements:
        """Only the placements, in 32 bits, which suffice: there may be millions of rows."""
        nothing = np.zeros(0, np.int64)
        rows = {name: getattr(self, name).astype(np.int32) for name in PER_ROW}
        return replace(self, **rows, **dict.fromkeys(("code", *PER_QUERY), nothing))


def no_placements() -> PartialPlacements:
    """Placements of no query."""
    return PartialPlacements(**{name: np.zeros(0, np.int64) for name in (*PER_ROW, "code", *PER_QUERY)})


SUSPECTS = 10_000
"""Lines whose ids are compared at a time where documents may repeat."""
PER_ROW = ("query", "rank", "label", "tie_first", "tie_last")
RARE = ("infinite", "contradicted", "constant", "repeated", "near_forms")
PER_QUERY = ("retrieved", *RARE)


@dataclass
class Survey:
    """The queries of sorted lines, and the lines that may have judged documents.

    These are all judged lines, and a few others.
    """

    codes: np.ndarray
    """The query number of each stretch of lines."""
    start: np.ndarray
    end: np.ndarray
    infinite: np.ndarray
    """The number of infinite scores of each stretch."""
    constant: np.ndarray
    """Whether all scores of a stretch of two or more lines are equal."""

    hits: np.ndarray
    """Lines that may be judged, ascending."""
    stretch: np.ndarray
    """The stretch of each of these lines."""
    first: np.ndarray
    """The first and the last rank of the lines with an equal score."""
    last: np.ndarray


def rank_block(
    block: Block, codes: np.ndarray, judged: JudgementIndex, convention: Convention
) -> PartialPlacements | None:
    """`rank_lines` for the stretches of a block that have a query number.

    None if something is unusual: scores that do not descend, a repeated document, single precision.
    """
    if (codes < 0).all():
        return no_placements()
    if convention.score_type != "float64":
        return None

    most_hits = max(1024, len(block) // 16, min(len(block), 4 * judged.rows_end))
    repeats = convention.duplicates not in KEEP_REPEATS
    survey = _surveyed(block.start, codes, block, judged, most_hits, repeats=repeats)
    if survey is None:
        return None
    return _placed(block, survey, judged, convention)


def _surveyed(
    start: np.ndarray,
    codes: np.ndarray,
    lines: Block | RunLines,
    judged: JudgementIndex,
    most_hits: int,
    *,
    repeats: bool,
) -> Survey | None:
    """The survey of the stretches that have a query number; None if the core declines them.

    It declines more than `most_hits` lines that may be judged and, with `repeats`, a document that is in a stretch
    twice.
    """
    score = lines.score
    hits, stretch, first, last = (np.empty(most_hits, np.int64) for _ in range(4))
    infinite = np.empty(len(codes), np.int64)
    columns = (start, codes, score, lines.key, judged.may_be_judged)
    count = core.survey(*columns, repeats, hits, stretch, first, last, infinite)
    if count is None:
        return None

    end = start[1:]
    start = start[:-1]
    constant = (end - start > 1) & (score[start] == score[end - 1])
    return Survey(codes, start, end, infinite, constant, hits[:count], stretch[:count], first[:count], last[:count])


def rank_lines(
    lines: RunLines, judged: JudgementIndex, convention: Convention, scattered: bool = False
) -> PartialPlacements:
    """Place the judged documents among the lines of complete queries.

    Lines of one query are consecutive unless they are `scattered`.
    """
    repeats = convention.duplicates not in KEEP_REPEATS
    if convention.score_type == "float64":
        ordered = lines
        if scattered:
            ordered = lines.take(_arranged(lines.code, lines.score))
        survey = _surveyed(*_stretches(ordered.code), ordered, judged, len(lines), repeats=repeats)
        if survey is not None:
            return _placed(ordered, survey, judged, convention)
    return _rank_closely(lines, judged, convention, scattered)


def _rank_closely(
    lines: RunLines, judged: JudgementIndex, convention: Convention, scattered: bool
) -> PartialPlacements:
    """`rank_lines` if documents may repeat, scores do not descend, or are compared in single precision."""
    dropped = np.zeros(0, np.int64)
    if convention.score_type == "float32":
        with np.errstate(over="ignore"):  # numbers beyond single precision become infinite
            lines = replace(lines, score=compared(lines.score, convention))
    if convention.duplicates not in KEEP_REPEATS:
        lines, dropped = _without_repeats(lines, convention.duplicates)

    same_query = lines.code[1:] == lines.code[:-1]
    if scattered or (same_query & (lines.score[1:] > lines.score[:-1])).any():
        lines = lines.take(_arranged(lines.code, lines.score))

    survey = _surveyed(*_stretches(lines.code), lines, judged, len(lines), repeats=False)
    assert survey is not None  # the core declines nothing of these lines
    placed = _placed(lines, survey, judged, convention)
    if len(dropped):
        placed.repeated = _tally(dropped, judged.size)[placed.code]
    return placed


def _arranged(code: np.ndarray, score: np.ndarray) -> np.ndarray:
    """The order of lines by query, then descending score, then position."""
    low = high = 0
    if len(code):
        low, high = int(code.min()), int(code.max())
    begin = np.empty(high - low + 2, np.int64)
    order = np.empty(len(code), np.int64)
    core.arrange(code - low, score, begin, order)
    return order


def _stretches(code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first line of each query and the end of the last query, and the number of each query."""
    is_first = np.ones(len(code), bool)
    is_first[1:] = code[1:] != code[:-1]
    start = np.flatnonzero(is_first)
    return np.append(start, len(code)), code[start]


def _placed(
    lines: Block | RunLines, survey: Survey, judged: JudgementIndex, convention: Convention
) -> PartialPlacements:
    """The placements of judged documents in sorted lines, and the counts of each query."""
    size = len(survey.codes)
    docs = lines.docs(survey.hits)
    rows = judged.rows(survey.codes[survey.stretch], lines.key[survey.hits], docs)
    is_near = rows >= judged.rows_end
    chosen = np.flatnonzero((rows >= 0) & ~is_near)
    near_forms = _tally(survey.stretch[is_near], size)

    hits, stretch = survey.hits[chosen], survey.stretch[chosen]
    first, last = survey.first[chosen], survey.last[chosen]
    begin = survey.start[stretch]
    rank = hits - begin + 1
    if convention.ties != "input":
        _order_ties(rank, hits, begin + first - 1, begin + last, lines.docs, convention.ties)

    contradicted = np.zeros(size, np.int64)
    if lines.claimed is not None and len(hits):
        # Ranks in the file may begin at 0 and have gaps, but a rank cannot be better than the real one.
        claimed = lines.claimed(hits)
        contradicted = _tally(stretch[(claimed >= 0) & (claimed < first - 1)], size)

    is_judged = survey.codes >= 0
    return PartialPlacements(
        query=survey.codes[stretch],
        rank=rank,
        label=rows[chosen],
        tie_first=first,
        tie_last=last,
        code=survey.codes[is_judged],
        retrieved=(survey.end - survey.start)[is_judged],
        infinite=survey.infinite[is_judged],
        contradicted=contradicted[is_judged],
        constant=survey.constant[is_judged].astype(np.int64),
        repeated=np.zeros(np.count_nonzero(is_judged), np.int64),
        near_forms=near_forms[is_judged],
    )


def _tally(numbers: np.ndarray, size: int) -> np.ndarray:
    """How often each number below `size` occurs in an array, which is usually empty."""
    if len(numbers):
        return np.bincount(numbers, minlength=size)
    return np.zeros(size, np.int64)


def _order_ties(
    rank: np.ndarray, hits: np.ndarray, tie_start: np.ndarray, tie_end: np.ndarray, docs_of: IdsOf, ties: str
) -> None:
    """Set the ranks of hits that tie with the lines from `tie_start` to `tie_end`, by the tie rule."""
    tied = np.flatnonzero(tie_end - tie_start > 1)
    for group in np.split(tied, np.flatnonzero(np.diff(tie_start[tied])) + 1):
        if len(group):
            low, high = int(tie_start[group[0]]), int(tie_end[group[0]])
            docs = docs_of(np.arange(low, high)).to_list()
            position = np.empty(len(docs), np.int64)
            position[tie_order(docs, ties)] = np.arange(len(docs))
            ranks_before = rank[group] - (hits[group] - low)
            rank[group] = ranks_before + position[hits[group] - low]


def refuse_repeats(block: Block, lines: np.ndarray) -> None:
    """Raise if lines of one query have a document twice."""
    _without_repeats(RunLines(**block.columns_of(lines), code=np.zeros(len(lines), np.int64)), "error")


def _without_repeats(lines: RunLines, policy: str) -> tuple[RunLines, np.ndarray]:
    """The lines with each document of a query once, and the queries of dropped lines; an error by policy "error"."""
    key = pair_keys(lines.key, lines.code)
    if not core.repeated(np.array([0, len(key)]), key):
        return lines, np.zeros(0, np.int64)

    if policy != "error":
        pairs = repeated_pairs(lines.code, lines.key, lines.docs)
        if pairs is not None:
            earlier_lines, later_lines = pairs
            if policy == "last":
                return _dropped(lines, earlier_lines)
            return _dropped(lines, later_lines)

    kept_line: dict[tuple[int, bytes], int] = {}
    drop: list[int] = []
    for line, doc in _suspects(lines, key):
        pair = (int(lines.code[line]), doc)
        before = kept_line.setdefault(pair, line)
        if before == line:
            continue
        if policy == "error":
            raise InputError(
                f"document '{ids.show(ids.decode(doc))}' is in this ranking twice, first at {lines.position(before)}",
                where=str(lines.position(line)),
                hint=f"{REMOVE_REPEATS}.",
                code="duplicate-document",
            )
        if policy == "last":
            drop.append(before)
            kept_line[pair] = line
        else:
            drop.append(line)

    return _dropped(lines, np.array(drop, np.int64))


def _suspects(lines: RunLines, key: np.ndarray) -> Iterator[tuple[int, bytes]]:
    """The lines whose key occurs more than once, with their documents.

    Documents are read in parts, so that a run of one line again and again is refused after its first two lines.
    """
    ordered = np.sort(key)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    suspects = np.flatnonzero(np.isin(key, repeated))
    for low in range(0, len(suspects), SUSPECTS):
        part = suspects[low : low + SUSPECTS]
        yield from zip(part.tolist(), lines.docs(part), strict=True)


def _dropped(lines: RunLines, drop: np.ndarray) -> tuple[RunLines, np.ndarray]:
    """The remaining lines, and the queries of dropped lines."""
    keep = np.ones(len(lines.code), bool)
    keep[drop] = False
    return lines.take(np.flatnonzero(keep)), lines.code[drop]
