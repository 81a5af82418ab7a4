"""Runs of a few queries, in dicts, by judgements that are kept: what is done again for each run takes microseconds.

A query's judgements are prepared when a run first has it. The core places its documents, and measures are taken in
plain Python (`measures/short.py`). Whatever is not plain is left to the pipeline, which gives the same values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.conventions import Convention, tool_of
from goldrank.core import TIES_DESCENDING, core
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels, judged_rows
from goldrank.engine.memory import TIES
from goldrank.measures import Measure
from goldrank.measures.short import Short, short_kernel

FEW_QUERIES = 9
"""Up to how many queries this is faster than arrays of all judged queries; and one more for each 700 of these."""
FEW_DOCUMENTS = 100
"""Up to how many judged documents of a query are looked at one by one."""


class PreparedQuery(NamedTuple):
    """What the judgements of one query say, once and for all."""

    query: str
    numbers: dict[str, int]
    """The query alone, as the core takes the judged queries; its judgements follow in the same way."""
    judged: list[dict[str, Any]]
    start: np.ndarray
    grades: list[float]
    kernels: list[Short]


class ShortRow(NamedTuple):
    """The values of one query."""

    number: int
    """The position of the query among all that are judged."""
    query: str
    values: list[float]


class ShortRuns:
    """Judgements, measures and rules by which short runs are measured."""

    def __init__(self, qrels: Qrels, measures: Sequence[Measure], rules: Convention) -> None:
        self._measures = measures
        self._qrels = qrels
        self._ties = TIES.get(rules.ties, TIES_DESCENDING)  # others are not plain
        self._single = rules.score_type == "float32"
        self._needs_overlap = rules.overlap == "error"
        self._prepared: dict[str, PreparedQuery] = {}
        self._numbers: dict[str, int] = {}
        self._most = -1
        if _is_plain(qrels, rules) and self._kernels(judgements_of("", np.empty(0))) is not None:
            self._numbers = qrels.numbers
            self._most = FEW_QUERIES + len(self._numbers) // 700

    def rows(self, run: object) -> list[ShortRow] | None:
        """The values of the judged queries of the run, in the order of the judgements; None if it is not plain."""
        if type(run) is not dict or len(run) > self._most:
            return None
        copied = core.copied(run, ids.MAX_ID_BYTES)
        if copied is None:
            return None

        results, scores = copied
        rows: list[ShortRow] = []
        hits = end = 0
        for query, documents in results.items():
            start, end = end, end + 8 * len(documents)
            number = self._numbers.get(query)
            if number is None:
                continue
            prepared = self._prepared.get(query) or self._prepare(query, number)
            placed = self._place(documents, scores[start:end], prepared)
            if placed is None:
                return None

            ranks, grades = placed
            hits += len(ranks)
            rows.append(ShortRow(number, query, [kernel(ranks, grades) for kernel in prepared.kernels]))

        if not hits and self._needs_overlap:  # the pipeline says what is wrong
            return None
        if len(rows) > 1:
            rows.sort()
        return rows

    def _prepare(self, query: str, number: int) -> PreparedQuery:
        arrays = self._qrels.arrays
        rows = slice(int(arrays.start[number]), int(arrays.start[number + 1]))
        judged = judgements_of(query, arrays.descending[rows])
        kernels = self._kernels(judged)
        assert kernels is not None
        documents = judged_rows(self._qrels)[number]
        prepared = PreparedQuery(
            query, {query: 0}, [documents], judged.judged_start, arrays.grade[rows].tolist(), kernels
        )
        self._prepared[query] = prepared
        return prepared

    def _kernels(self, judged: Placements) -> list[Short] | None:
        """The measures for rankings of a query; None if a measure has to be left to the pipeline."""
        kernels = []
        for measure in self._measures:
            if measure.declaration.over != "placements":
                return None
            kernel = short_kernel(measure, judged)
            if kernel is None:
                return None
            kernels.append(kernel)
        return kernels

    def _place(
        self, documents: dict[str, float], scores: bytes, prepared: PreparedQuery
    ) -> tuple[Sequence[int], Sequence[float]] | None:
        """The ranks and grades of the judged documents; None if the core declines them, or they are many."""
        columns = np.empty((5, len(prepared.grades)), np.int64)
        placed = core.place(
            {prepared.query: documents}, scores, prepared.numbers, prepared.judged, prepared.start,
            self._ties, self._single, np.empty(1, np.int64), np.empty(1, bool), columns,
        )  # fmt: skip
        if placed is None:
            return None

        hits, _, _, declined, *_ = placed
        if declined or hits > FEW_DOCUMENTS:
            return None
        grades = prepared.grades
        return columns[1, :hits].tolist(), [grades[label] for label in columns[4, :hits].tolist()]


def _is_plain(qrels: Qrels, rules: Convention) -> bool:
    """Whether nothing but the judged documents and their ranks decides the values."""
    tool = tool_of(rules)
    return (
        not (tool.quirks or tool.refusals)
        and rules.ties in ("docid", "docid-ascending", "input")
        and rules.bounds == "none"
        and rules.empty == "zero"
        and rules.missing in ("zero", "skip")
        and qrels.shard_number is None
        and len(qrels) > 0
        and not ids.kinds_differ("str", qrels.id_kind)
    )


def judgements_of(query: str, descending: np.ndarray) -> Placements:
    """The judgements of one query, as measures read them, with nothing returned."""
    none = np.empty(0, np.int64)
    return Placements(
        queries=(query,),
        retrieved=np.zeros(1, np.int64),
        answered=np.zeros(1, bool),
        judged_start=np.array([0, len(descending)]),
        judged=descending,
        query=none,
        rank=none,
        grade=descending[:0],
        tie_first=none,
        tie_last=none,
        label=none,
    )
