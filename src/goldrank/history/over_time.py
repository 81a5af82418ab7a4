"""A measure over time, with all that people look at: `Trend`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from goldrank.base.notes import Note
from goldrank.base.types import QueriesLike
from goldrank.comparison.settings import Statistics
from goldrank.data.showing import Form, Forms, Result
from goldrank.data.table import ChartPart, Part
from goldrank.history.details import LineDetails, line_details
from goldrank.history.store import History
from goldrank.history.trends import trend_lines
from goldrank.io.by_id.query_files import read_queries


@dataclass(frozen=True, eq=False)
class Trend(Result):
    """A measure over time: lines of records that may be compared, and where they changed by more than chance does.

    Attributes
    ----------
    measure : str
        The measure.
    changes : tuple of str
        Where a line changed, in words.
    lines : tuple of LineDetails
        The lines in the order in which they began: records with their intervals, changes and slices.
    """

    own_forms: ClassVar[Forms] = {
        "html": Form("a page with charts and all records", "goldrank.history.trend_page:render", (".html",))
    }

    measure: str
    lines: tuple[LineDetails, ...]
    baselines: Mapping[str, int]
    """The number of each baseline's record, by its name."""
    statistics: Statistics = Statistics()

    @property
    def changes(self) -> tuple[str, ...]:
        """Where a line changed, in words."""
        return tuple(
            f"{details.line.name}: {change.words}" for details in self.lines for change in details.line.changes
        )

    @property
    def words(self) -> str:
        """The trend in one sentence."""
        if self.changes:
            return f"{self.measure}: {'; '.join(self.changes)}"
        lines = [details.line for details in self.lines]
        steps = [f"{line.name}: {line.step_words}" for line in lines if line.step_words]
        if steps:
            return f"{self.measure}: {'; '.join(steps)}"
        return f"{self.measure}: no change beyond what chance does"

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on slices."""
        return tuple(dict.fromkeys(note for details in self.lines for note in details.notes))

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.history.trend_chart import chart
        from goldrank.history.trend_report import parts

        lines = [details.line for details in self.lines]
        return [*parts(self), ChartPart(self.measure, partial(chart, lines))]

    def rows(self) -> list[dict[str, Any]]:
        """A row per record."""
        records = []
        for details in self.lines:
            changed = {change.record.id: change.side for change in details.line.changes}
            for record, value, interval in zip(
                details.line.records, details.line.values, details.intervals, strict=True
            ):
                records.append(
                    {
                        "line": details.line.name,
                        "record": record.id,
                        "time": record.time.isoformat(),
                        "commit": record.commit,
                        "measure": self.measure,
                        "value": value,
                        "low": interval.low,
                        "high": interval.high,
                        "change": changed.get(record.id, ""),
                        "note": record.note,
                    }
                )

        return records

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        notes = [note.to_dict() for note in self.notes]
        return {"measure": self.measure, "changes": list(self.changes), "records": self.rows(), "notes": notes}

    def __repr__(self) -> str:
        return f"Trend({self.words!r})"


@dataclass(frozen=True)
class TrendRequest:
    """Which records of a history a trend has, and what it shows of them."""

    label: str | None = None
    """Only the records with this label."""
    limit: int | None = None
    """Only the newest records; changes are looked for in all."""
    queries: QueriesLike | None = None
    slice_by: str | Sequence[str] = ()
    statistics: Statistics = Statistics()
    reanalyse: bool = False
    """Whether marks are set anew."""
    detailed: bool = True
    """Whether there are intervals and slices, for which the values of all records are read."""


def trend_of(history: History, measure: object = None, request: TrendRequest = TrendRequest()) -> Trend:
    """What `History.trend` returns."""
    statistics = request.statistics
    lines = trend_lines(
        history,
        measure,
        label=request.label,
        limit=request.limit,
        statistics=statistics,
        reanalyse=request.reanalyse,
    )
    if not request.detailed:
        return Trend(lines[0].measure, tuple(LineDetails(line, ()) for line in lines), history.baselines(), statistics)

    query_table = None
    if request.queries is not None:
        query_table = read_queries(request.queries)
    names = request.slice_by
    if isinstance(names, str):
        names = [names]
    details = [
        line_details(history, line, level=statistics.level, slice_by=names, queries=query_table) for line in lines
    ]
    return Trend(lines[0].measure, tuple(details), history.baselines(), statistics)
