"""Ranks of judged documents among lines that hold all there is of their queries."""

from __future__ import annotations

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
    "Remove one of the lines (run.drop_duplicates()), or choose: duplicates='first', 'last', 'places' or 'count'"
)
"""What to do about a document that a ranking has twice."""
KEEP_REPEATS = ("count", "places")
"""The policies under which a document may be in a ranking twice."""


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

    def without_queries(self) -> PartialPlacements:
        """The placements alone, in 32 bits: there may be millions, and none counts that far."""
        nothing = np.zeros(0, np.int64)
        rows = {name: getattr(self, name).astype(np.int32) for name in PER_ROW}
        return replace(self, **rows, **dict.fromkeys(("code", *PER_QUERY), nothing))


def no_placements() -> PartialPlacements:
    """Those of no query."""
    return PartialPlacements(**{name: np.zeros(0, np.int64) for name in (*PER_ROW, "code", *PER_QUERY)})


SUSPECTS = 10_000
"""Lines whose ids are looked at together where documents may repeat."""
PER_ROW = ("query", "rank", "label", "tie_first", "tie_last")
RARE = ("infinite", "contradicted", "constant", "repeated", "near_forms")
PER_QUERY = ("retrieved", *RARE)


@dataclass
class Survey:
    """Sorted lines looked through: their queries, and the lines that may have judged documents.

    All that are judged are among them, and a few that are not.
    """

    codes: np.ndarray
    """The query number of each stretch of lines."""
    start: np.ndarray
    end: np.ndarray
    infinite: np.ndarray
    """How many scores of each stretch are infinite."""
    constant: np.ndarray
    """Whether all scores of a stretch are the same, if there are two or more."""

    hits: np.ndarray
    """Lines that may be judged, ascending."""
    stretch: np.ndarray
    """The stretch of each of them."""
    first: np.ndarray
    """The first and the last rank of the lines that share its score."""
    last: np.ndarray


def rank_block(
    block: Block, codes: np.ndarray, judged: JudgementIndex, convention: Convention
) -> PartialPlacements | None:
    """`rank_lines` over those stretches of a block that have a query number.

    None where something is unusual: scores that do not descend, a repeated document, single precision.
    """
    if (codes < 0).all():
        return no_placements()
    if convention.score_type != "float64":
        return None
    usual_room = max(1024, len(block) // 16, min(len(block), 4 * judged.rows_end))
    repeats = convention.duplicates not in KEEP_REPEATS
    survey = _surveyed(block.start, codes, block, judged, usual_room, repeats=repeats)
    if survey is None:
        return None
    return _placed(block, survey, judged, convention)


def _surveyed(
    start: np.ndarray, codes: np.ndarray, lines: Block | RunLines, judged: JudgementIndex, room: int, *, repeats: bool
) -> Survey | None:
    """The stretches of lines that have a query number; None where the core declines them.

    There is room for so many lines that may be judged. `repeats` says that no document may be in a stretch twice.
    """
    score = lines.score
    hits, stretch, first, last = (np.empty(room, np.int64) for _ in range(4))
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
    """Place the judged documents among lines that hold all there is of their queries.

    RunLines of one query are neighbours unless they are `scattered`.
    """
    repeats = convention.duplicates not in KEEP_REPEATS
    if convention.score_type == "float64":
        if scattered:
            ordered = lines.take(_arranged(lines.code, lines.score))
        else:
            ordered = lines
        survey = _surveyed(*_stretches(ordered.code), ordered, judged, len(lines), repeats=repeats)
        if survey is not None:
            return _placed(ordered, survey, judged, convention)
    return _rank_closely(lines, judged, convention, scattered)


def _rank_closely(
    lines: RunLines, judged: JudgementIndex, convention: Convention, scattered: bool
) -> PartialPlacements:
    """`rank_lines` where documents may repeat, scores do not descend, or are compared in single precision."""
    dropped = np.zeros(0, np.int64)
    if convention.score_type == "float32":
        with np.errstate(over="ignore"):  # beyond single precision lies infinity
            lines = replace(lines, score=compared(lines.score, convention))
    if convention.duplicates not in KEEP_REPEATS:
        lines, dropped = _without_repeats(lines, convention.duplicates)
    same_query = lines.code[1:] == lines.code[:-1]
    if scattered or (same_query & (lines.score[1:] > lines.score[:-1])).any():
        lines = lines.take(_arranged(lines.code, lines.score))

    survey = _surveyed(*_stretches(lines.code), lines, judged, len(lines), repeats=False)
    assert survey is not None  # nothing is left that the core declines
    placed = _placed(lines, survey, judged, convention)
    if len(dropped):
        placed.repeated = _tally(dropped, judged.size)[placed.code]
    return placed


def _arranged(code: np.ndarray, score: np.ndarray) -> np.ndarray:
    """The order of lines by query, then descending score, then position."""
    low, high = (int(code.min()), int(code.max())) if len(code) else (0, 0)
    begin, order = np.empty(high - low + 2, np.int64), np.empty(len(code), np.int64)
    core.arrange(code - low, score, begin, order)
    return order


def _stretches(code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the lines of each query begin and the last ones end, and the number of each query."""
    is_first = np.ones(len(code), bool)
    is_first[1:] = code[1:] != code[:-1]
    start = np.flatnonzero(is_first)
    return np.append(start, len(code)), code[start]


def _placed(
    lines: Block | RunLines, survey: Survey, judged: JudgementIndex, convention: Convention
) -> PartialPlacements:
    """The placements of what is judged in sorted lines, with what is to be said of each query."""
    size = len(survey.codes)
    docs, claimed = lines.docs, lines.claimed
    rows = judged.rows(survey.codes[survey.stretch], lines.key[survey.hits], docs(survey.hits))
    is_near = rows >= judged.rows_end
    chosen = np.flatnonzero((rows >= 0) & ~is_near)
    near_forms = _tally(survey.stretch[is_near], size)
    hits, stretch = survey.hits[chosen], survey.stretch[chosen]
    first, last = survey.first[chosen], survey.last[chosen]
    begin = survey.start[stretch]
    rank = hits - begin + 1
    if convention.ties != "input":
        _order_ties(rank, hits, begin + first - 1, begin + last, docs, convention.ties)

    contradicted = np.zeros(size, np.int64)
    if claimed is not None and len(hits):
        # Ranks may begin at 0 and may have gaps, but none can claim to be better than it is.
        claim = claimed(hits)
        contradicted = _tally(stretch[(claim >= 0) & (claim < first - 1)], size)

    asked = survey.codes >= 0
    return PartialPlacements(
        query=survey.codes[stretch],
        rank=rank,
        label=rows[chosen],
        tie_first=first,
        tie_last=last,
        code=survey.codes[asked],
        retrieved=(survey.end - survey.start)[asked],
        infinite=survey.infinite[asked],
        contradicted=contradicted[asked],
        constant=survey.constant[asked].astype(np.int64),
        repeated=np.zeros(np.count_nonzero(asked), np.int64),
        near_forms=near_forms[asked],
    )


def _tally(numbers: np.ndarray, size: int) -> np.ndarray:
    """How often each number below `size` occurs in a list, which is mostly empty."""
    if len(numbers):
        return np.bincount(numbers, minlength=size)
    return np.zeros(size, np.int64)


def _order_ties(
    rank: np.ndarray, hits: np.ndarray, tie_start: np.ndarray, tie_end: np.ndarray, docs_of: IdsOf, ties: str
) -> None:
    """Rank the hits that share their score with the lines from `tie_start` to `tie_end` as the tie rule says."""
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
    """Raises if lines of one query have a document twice."""
    _without_repeats(RunLines(**block.taken(lines), code=np.zeros(len(lines), np.int64)), "error")


def _without_repeats(lines: RunLines, policy: str) -> tuple[RunLines, np.ndarray]:
    """The lines with each document of a query once and the queries of those dropped, or an error."""
    key = pair_keys(lines.key, lines.code)
    if not core.repeated(np.array([0, len(key)]), key):
        return lines, np.zeros(0, np.int64)

    ordered = np.sort(key)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if policy == "error":
        pairs = None
    else:
        pairs = repeated_pairs(lines.code, lines.key, lines.docs)

    if pairs is not None:
        return _dropped(lines, pairs[0] if policy == "last" else pairs[1])

    suspects = np.flatnonzero(np.isin(key, twice))
    seen: dict[tuple[int, bytes], int] = {}
    drop: list[int] = []
    # Some at a time: a run of one line again and again is refused by its first two.
    parts = (suspects[low : low + SUSPECTS] for low in range(0, len(suspects), SUSPECTS))
    for line, doc in ((line, doc) for part in parts for line, doc in zip(part.tolist(), lines.docs(part), strict=True)):
        pair = (int(lines.code[line]), doc)
        before = seen.setdefault(pair, line)
        if before == line:
            continue
        if policy == "error":
            raise InputError(
                f"document '{ids.show(ids.decode(doc))}' is in this ranking twice, first at {lines.place(before)}",
                where=str(lines.place(line)),
                hint=f"{REMOVE_REPEATS}. "
                "Several runs in one file, told apart by tag, are scored with read_runs, or --by-tag.",
                code="duplicate-document",
            )
        drop.append(before if policy == "last" else line)
        if policy == "last":
            seen[pair] = line

    return _dropped(lines, np.array(drop, np.int64))


def _dropped(lines: RunLines, drop: np.ndarray) -> tuple[RunLines, np.ndarray]:
    """The other lines, and the queries of those dropped."""
    keep = np.ones(len(lines.code), bool)
    keep[drop] = False
    return lines.take(np.flatnonzero(keep)), lines.code[drop]
