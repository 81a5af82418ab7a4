"""The marks of a line: found once, kept in the history, and never moved by later records.

What is kept is how far the search has come (`changes.Search`, the records of the open segment) and the marks. A later
analysis looks at what was recorded since; `afresh` forgets what was kept.
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
from goldrank.history.changes import NO_NOISE, ChangeSearch, FoundBy, RecordWindow, RunNoise, Segment, Split, run_noise
from goldrank.history.record import Record
from goldrank.history.store import History

Column = tuple[tuple[str, ...], np.ndarray]
"""A record's query ids and the values of a measure."""


@dataclass
class Mark:
    """A record from which on a line is at another height. Records are given by their numbers."""

    record: int
    since: int
    """The first record of those that it is compared with."""
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


@dataclass
class Analysis:
    """What is known of the changes of one measure on one line."""

    seed: int
    search: ChangeSearch = field(default_factory=ChangeSearch)
    segment: list[int] = field(default_factory=list)
    """The records since the last mark that were looked at."""
    window: list[int] = field(default_factory=list)
    """Those since the last change that is sure, or that records alone showed; the segment is its end."""
    seen: tuple[str, int] = ("", 0)
    """Time and number of the last record that was looked at."""
    newest: int = 0
    """The greatest number of a record that there was."""
    values: str = ""
    """The hash of the values of the last record."""
    marks: list[Mark] = field(default_factory=list)
    noise: RunNoise = NO_NOISE
    late: int = 0
    """Records that were added with a time before what had been looked at: they count after a new analysis only."""

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
        when, number = data["seen"]

        return cls(
            seed=data["seed"],
            search=ChangeSearch(data["looks"], data["spent"], crossed, data.get("unspent", 0.0)),
            segment=list(data["segment"]),
            window=list(data.get("window", data["segment"])),
            seen=(when, number),
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
    if afresh:
        kept = None
    else:
        kept = history.analysis(line, measure, alpha)
    if kept is None:
        state = Analysis(seed)
    else:
        state = Analysis.from_dict(kept)
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
    known = {record.id: record for record in records}
    rows = [known[number] for number in state.window if number in known]
    if state.segment and (state.segment[0] not in known or not rows):
        state.search.close()  # the segment's first record was pruned: its flips were of other queries

    looked = len(rows)
    segment_ids = set(state.segment)
    start = next((i for i, record in enumerate(rows) if record.id in segment_ids), 0)
    rows += moved(new, measure, state.values)
    state.values = new[-1].values_sha256[measure]
    columns = history.values(rows, measure)
    numbers = [record.id for record in rows]
    segment: Segment | None = None
    window: RecordWindow | None = None
    first = 0
    for at in range(max(looked, 1), len(rows)):
        if segment is None:
            segment = Segment(_matrix(columns[start:]), numbers[start:], state.seed, state.noise)
        if window is None:
            window = RecordWindow(_matrix(columns[first:]), numbers[first:], state.seed)
        if at > start:
            by_queries = segment.look(at - start, state.search, alpha)
        else:
            by_queries = None
        if at > first:
            by_records = window.look(at - first, state.search, alpha)
        else:
            by_records = None
        marks = len(state.marks)
        if by_queries is not None:
            state.marks.append(_mark(by_queries, numbers[start : at + 1], state))
            state.search.close()
            start, segment = start + by_queries.last, None
        if by_records is not None:
            _by_records(_mark(by_records, numbers[first : at + 1], state), state)
        if state.marks:
            newest = state.marks[-1]
        else:
            newest = None
        if by_records is not None or (newest is not None and len(state.marks) > marks and newest.is_sure):
            if by_records is not None:
                split_last = first + by_records.last
            else:
                split_last = start
            first, window = split_last, None
            if start < first:
                state.search.close()
                start, segment = first, None
        if len(state.marks) == marks and newest is not None and not newest.confirmed:
            _confirm(history, measure, records, rows[: at + 1], state, alpha)

    state.segment, state.window = numbers[start:], numbers[first:]


def _by_records(mark: Mark, state: Analysis) -> None:
    """Say of a mark that queries set in the range of this one that it is sure; else set this one."""
    for before in reversed(state.marks):
        same = (before.difference > 0) == (mark.difference > 0)
        if same and before.found_by == "queries" and mark.first <= before.record <= mark.last:
            before.found_by, before.is_sure = "both", True
            return
    state.marks.append(mark)


def moved(records: Sequence[Record], measure: str, values: str = "") -> list[Record]:
    """Without records that are equal to the one before: the same files measured again; replicates always count.

    `values` is the hash of what comes before the first.
    """
    kept = []
    for record in records:
        if record.replicate or record.values_sha256[measure] != values:
            kept.append(record)
        values = record.values_sha256[measure]
    return kept


def _mark(split: Split, numbers: Sequence[int], state: Analysis) -> Mark:
    return Mark(
        record=numbers[split.at],
        since=numbers[0],
        until=numbers[split.at - 1],
        first=numbers[split.first],
        last=numbers[split.last],
        seen=numbers[-1],
        difference=split.difference,
        t=split.t if np.isfinite(split.t) else None,
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
    """Note it if the records after the newest mark was seen show its change alone."""
    mark = state.marks[-1]
    at = {record.id: i for i, record in enumerate(records)}
    if mark.since not in at or mark.first not in at or mark.seen not in at:
        return  # pruned

    before = moved(records[at[mark.since] : at[mark.first]], measure)
    after = [record for record in rows if at[record.id] > at[mark.seen]]
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
    if state.noise.deviation:
        freedom = min(n - 1, state.noise.freedom)
    else:
        freedom = n - 1

    if 2 * float(special.stdtr(freedom, -abs(t))) <= alpha:
        mark.confirmed = rows[-1].id


def _matrix(columns: Sequence[Column]) -> np.ndarray:
    """A row per record, a column per query of the first one, ordered by id; NaN where a record has no value."""
    first = columns[0][0]
    order = np.argsort(np.array(first, dtype=object), kind="stable")
    position = {first[at]: i for i, at in enumerate(order.tolist())}
    matrix = np.full((len(columns), len(first)), np.nan)
    for row, (queries, values) in zip(matrix, columns, strict=True):
        if queries is first or queries == first:
            row[:] = values[order]
        else:
            both = [(position[query], i) for i, query in enumerate(queries) if query in position]
            row[[to for to, _ in both]] = values[[i for _, i in both]]
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
            clean = bool(record.commit) and not record.commit.endswith("-dirty")
            if clean:
                key = ("commit", record.commit)
            else:
                key = ("record", record.id)
        groups.setdefault(key, []).append(record)
    return [group for group in groups.values() if len(group) > 1]
