"""The marks of a line: found once, kept in the history, and never moved by later records.

The history keeps how far the search has come (`changes.ChangeSearch`, the records of the open segment) and the marks.
A later analysis looks at what was recorded since; `afresh` forgets what was kept.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from goldrank.base.packages import special
from goldrank.comparison.flips import t_of_u
from goldrank.history.changes import (
    FLIPS,
    NO_NOISE,
    ChangeSearch,
    FoundBy,
    RecordWindow,
    RunNoise,
    Segment,
    Split,
    run_noise,
    stands_out,
)
from goldrank.history.record import Record
from goldrank.history.store import History

Column = tuple[tuple[str, ...], np.ndarray]
"""A record's query ids and the values of a measure."""


@dataclass
class Mark:
    """A record from which on a line is at another level. Records are given by their numbers."""

    record: int
    since: int
    """The first of the records that it is compared with."""
    until: int
    """The last of them."""
    first: int
    last: int
    """The range of records in which the change surely came."""
    seen: int
    """The record at which the evidence was enough."""
    difference: float
    t: float | None
    """None if all queries differ by the same."""
    p: float
    differing: int
    queries: int
    look: int
    seed: int
    found_by: FoundBy = "queries"
    """Which test found it."""
    is_sure: bool = True
    """Whether both tests found it, or queries did and replicates say how far runs differ."""
    confirmed: int = 0
    """The record at which those after `seen` alone showed the same; 0 if none has yet."""

    @property
    def p_words(self) -> str:
        """The p-value for people: '= 0.012', or 'at most 0.0001' where no flip got as far."""
        if self.p * FLIPS <= 1:
            return f"at most {self.p:.2g}"
        return f"= {self.p:.2g}"


@dataclass
class Analysis:
    """What is known about the changes of one measure on one line."""

    seed: int
    search: ChangeSearch = field(default_factory=ChangeSearch)
    segment: list[int] = field(default_factory=list)
    """The records since the last mark that were looked at."""
    window: list[int] = field(default_factory=list)
    """The records since the last change that is sure, or that records alone showed; the segment is its end."""
    seen: tuple[str, int] = ("", 0)
    """Time and number of the last record that was looked at."""
    newest: int = 0
    """The greatest number of a record that there was."""
    values: str = ""
    """The hash of the values of the last record."""
    marks: list[Mark] = field(default_factory=list)
    noise: RunNoise = NO_NOISE
    late: int = 0
    """Records that were added later with a time before the last one looked at: only a new analysis counts them."""

    def to_dict(self) -> dict[str, Any]:
        """Everything that later analyses need, as plain values."""
        crossed = base64.b64encode(np.packbits(self.search.crossed).tobytes()).decode()

        return {
            "seed": self.seed,
            "looks": self.search.looks,
            "spent": self.search.spent,
            "unspent": self.search.unspent,
            "flips": len(self.search.crossed),
            "crossed": crossed,
            "segment": self.segment,
            "window": self.window,
            "seen": list(self.seen),
            "newest": self.newest,
            "values": self.values,
            "marks": [asdict(mark) for mark in self.marks],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Analysis:
        """The inverse of `to_dict`."""
        packed = np.frombuffer(base64.b64decode(data["crossed"]), np.uint8)
        crossed = np.unpackbits(packed, count=data["flips"]).astype(bool)
        time, number = data["seen"]

        return cls(
            seed=data["seed"],
            search=ChangeSearch(data["looks"], data["spent"], crossed, data.get("unspent", 0.0)),
            segment=list(data["segment"]),
            window=list(data.get("window", data["segment"])),
            seen=(time, number),
            newest=data["newest"],
            values=data["values"],
            marks=[Mark(**mark) for mark in data["marks"]],
        )


def analyse(
    history: History, measure: str, records: Sequence[Record], alpha: float, *, seed: int = 0, afresh: bool = False
) -> Analysis:
    """The marks of a line: those that were kept, and those that the records since then show.

    They are kept, unless the history is opened read-only.
    """
    line = line_key(records[0])
    stored = None
    if not afresh:
        stored = history.analysis(line, measure, alpha)
    state = Analysis(seed)
    if stored is not None:
        state = Analysis.from_dict(stored)

    state.noise = _noise(history, measure, records)
    new = [record for record in records if _moment(record) > state.seen]
    state.late = sum(record.id > state.newest and _moment(record) <= state.seen for record in records)
    if new:
        look_at(history, measure, records, new, state, alpha)
        state.seen = _moment(new[-1])
        state.newest = max(record.id for record in records)
        if not history.read_only:
            history.keep_analysis(line, measure, alpha, state.to_dict())
    return state


def line_key(record: Record) -> str:
    """What all records of a line have in common."""
    return json.dumps([record.label or record.run, *record.basis], ensure_ascii=True)


def _moment(record: Record) -> tuple[str, int]:
    """What orders records in time."""
    return record.time.isoformat(timespec="seconds"), record.id


def look_at(
    history: History, measure: str, records: Sequence[Record], new: Sequence[Record], state: Analysis, alpha: float
) -> None:
    """Look at the new records one by one, setting marks."""
    by_id = {record.id: record for record in records}
    rows = [by_id[number] for number in state.window if number in by_id]
    if state.segment and (state.segment[0] not in by_id or not rows):
        state.search.close()  # the segment's first record was pruned: its flips were of other queries

    rows_seen = len(rows)
    segment_ids = set(state.segment)
    segment_start = next((i for i, record in enumerate(rows) if record.id in segment_ids), 0)
    window_start = 0
    rows += moved(new, measure, state.values)
    state.values = new[-1].values_sha256[measure]
    columns = history.values(rows, measure)
    numbers = [record.id for record in rows]

    segment: Segment | None = None
    window: RecordWindow | None = None
    for newest in range(max(rows_seen, 1), len(rows)):
        if segment is None:
            segment = Segment(_matrix(columns[segment_start:]), numbers[segment_start:], state.seed, state.noise)
        if window is None:
            window = RecordWindow(_matrix(columns[window_start:]), numbers[window_start:], state.seed)

        by_queries: Split | None = None
        by_records: Split | None = None
        if newest > segment_start:
            by_queries = segment.look(newest - segment_start, state.search, alpha)
        if newest > window_start:
            by_records = window.look(newest - window_start, state.search, alpha)
        if by_queries is not None and by_records is None and not state.noise.known:
            # Without replicates, the records themselves show how far runs and seasons move them.
            marked = {mark.record for mark in state.marks}
            levels = [i for i in range(1, segment_start - window_start) if numbers[window_start + i] in marked]
            if segment_start > window_start:
                levels.append(segment_start - window_start)
            change = segment_start - window_start + by_queries.row
            if not stands_out(window.means(newest - window_start), change, levels):
                by_queries = None

        marks_before = len(state.marks)
        if by_queries is not None:
            state.marks.append(_mark(by_queries, numbers[segment_start : newest + 1], state))
            state.search.close()
            segment_start, segment = segment_start + by_queries.last, None
        if by_records is not None:
            _by_records(_mark(by_records, numbers[window_start : newest + 1], state), state)

        has_new_mark = len(state.marks) > marks_before
        if by_records is not None:
            window_start, window = window_start + by_records.last, None
        elif has_new_mark and state.marks[-1].is_sure:
            window_start, window = segment_start, None
        if segment_start < window_start:
            state.search.close()
            segment_start, segment = window_start, None
        if not has_new_mark and state.marks and not state.marks[-1].confirmed:
            _confirm(history, measure, records, rows[: newest + 1], state, alpha)

    state.segment, state.window = numbers[segment_start:], numbers[window_start:]


def _by_records(mark: Mark, state: Analysis) -> None:
    """Make a mark sure that queries set in the range of this one; if there is none, add this one."""
    for earlier in reversed(state.marks):
        is_same_direction = (earlier.difference > 0) == (mark.difference > 0)
        if is_same_direction and earlier.found_by == "queries" and mark.first <= earlier.record <= mark.last:
            earlier.found_by, earlier.is_sure = "both", True
            return
    state.marks.append(mark)


def moved(records: Sequence[Record], measure: str, values: str = "") -> list[Record]:
    """The records without those that equal the one before: the same files measured again. Replicates always count.

    `values` is the hash of the values before the first record.
    """
    moved_records = []
    for record in records:
        if record.replicate or record.values_sha256[measure] != values:
            moved_records.append(record)
        values = record.values_sha256[measure]
    return moved_records


def _mark(split: Split, numbers: Sequence[int], state: Analysis) -> Mark:
    t = None
    if np.isfinite(split.t):
        t = split.t

    return Mark(
        record=numbers[split.row],
        since=numbers[0],
        until=numbers[split.row - 1],
        first=numbers[split.first],
        last=numbers[split.last],
        seen=numbers[-1],
        difference=split.difference,
        t=t,
        p=split.p,
        differing=split.differing,
        queries=split.queries,
        look=state.search.looks,
        seed=state.seed,
        found_by=split.found_by,
        is_sure=split.found_by == "queries" and state.noise.known,
    )


def _confirm(
    history: History, measure: str, records: Sequence[Record], rows: Sequence[Record], state: Analysis, alpha: float
) -> None:
    """Confirm the newest mark if the records after it was seen show its change alone."""
    mark = state.marks[-1]
    position_of = {record.id: i for i, record in enumerate(records)}
    if mark.since not in position_of or mark.first not in position_of or mark.seen not in position_of:
        return  # pruned

    before = moved(records[position_of[mark.since] : position_of[mark.first]], measure)
    after = [record for record in rows if position_of[record.id] > position_of[mark.seen]]
    if not before or not after or len(after) & (len(after) - 1):
        return  # asked with 1, 2, 4, 8, ... records

    values = _matrix(history.values([*before, *after], measure))
    values = values[:, np.isfinite(values).all(axis=0)]
    d = values[len(before) :].mean(axis=0) - values[: len(before)].mean(axis=0)
    n = len(d)
    shared = (n * state.noise.deviation) ** 2 * (1 / len(before) + 1 / len(after))
    root = float(np.sqrt(d @ d + shared))
    if n < 2 or not root or (float(d.sum()) > 0) != (mark.difference > 0):
        return

    t = t_of_u(float(d.sum()) / root, n)
    freedom = n - 1
    if state.noise.deviation:
        freedom = min(n - 1, state.noise.freedom)
    if 2 * float(special.stdtr(freedom, -abs(t))) <= alpha:
        mark.confirmed = rows[-1].id


def _matrix(columns: Sequence[Column]) -> np.ndarray:
    """A row per record, a column per query of the first one, ordered by id; NaN where a record has no value."""
    first = columns[0][0]
    order = np.argsort(np.array(first, dtype=object), kind="stable")
    position = {first[column]: i for i, column in enumerate(order.tolist())}
    matrix = np.full((len(columns), len(first)), np.nan)
    for row, (queries, values) in zip(matrix, columns, strict=True):
        if queries is first or queries == first:
            row[:] = values[order]
        else:
            for query, value in zip(queries, values.tolist(), strict=True):
                if query in position:
                    row[position[query]] = value
    return matrix


def _noise(history: History, measure: str, records: Sequence[Record]) -> RunNoise:
    """The noise of runs, from all replicates of a line."""
    means = []
    for group in replicate_groups(records, measure):
        values = _matrix(history.values(group, measure))
        counted = values[:, np.isfinite(values).all(axis=0)]
        if counted.size:
            means.append(counted.mean(axis=1).tolist())
    return run_noise(means)


def replicate_groups(records: Sequence[Record], measure: str) -> list[list[Record]]:
    """Records of the same system: marked as replicates of the one before them, or of one commit."""
    groups: dict[tuple[str, object], list[Record]] = {}
    key: tuple[str, object] = ("", 0)
    for record in moved(records, measure):
        if not (record.replicate and key[0]):
            key = ("record", record.id)
            if record.commit and not record.commit.endswith("-dirty"):
                key = ("commit", record.commit)
        groups.setdefault(key, []).append(record)
    return [group for group in groups.values() if len(group) > 1]
