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


@dataclass(frozen=True)
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
        return tuple(f"{of.line.name}: {change.words}" for of in self.lines for change in of.line.changes)

    @property
    def words(self) -> str:
        """The trend in one sentence."""
        if not self.changes:
            return f"{self.measure}: no change beyond what chance does"
        return f"{self.measure}: {'; '.join(self.changes)}"

    @property
    def notes(self) -> tuple[Note, ...]:
        """What to know of slices."""
        return tuple(dict.fromkeys(note for of in self.lines for note in of.notes))

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.history.trend_chart import chart
        from goldrank.history.trend_report import parts

        lines = [of.line for of in self.lines]
        return [*parts(self), ChartPart(self.measure, partial(chart, lines))]

    def rows(self) -> list[dict[str, Any]]:
        """A row per record."""
        made = []
        for of in self.lines:
            changed = {change.record.id: "better" if change.better else "worse" for change in of.line.changes}
            for record, value, interval in zip(of.line.records, of.line.values, of.intervals, strict=True):
                made.append(
                    {
                        "line": of.line.name,
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

        return made

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        notes = [note.to_dict() for note in self.notes]
        return {"measure": self.measure, "changes": list(self.changes), "records": self.rows(), "notes": notes}

    def __repr__(self) -> str:
        return f"Trend({self.words!r})"


def trend_of(
    history: History,
    measure: object = None,
    *,
    label: str | None = None,
    limit: int | None = None,
    queries: QueriesLike | None = None,
    slice_by: str | Sequence[str] = (),
    statistics: Statistics = Statistics(),
    reanalyse: bool = False,
    detailed: bool = True,
) -> Trend:
    """What `History.trend` gives; `limit` shows the newest records only, `reanalyse` sets marks anew.

    Without `detailed` there are no intervals and slices, which take reading the values of all records.
    """
    lines = trend_lines(history, measure, label=label, limit=limit, statistics=statistics, reanalyse=reanalyse)
    if not detailed:
        return Trend(lines[0].measure, tuple(LineDetails(line, ()) for line in lines), history.baselines(), statistics)
    if queries is None:
        known = None
    else:
        known = read_queries(queries)
    if isinstance(slice_by, str):
        names = [slice_by]
    else:
        names = list(slice_by)
    details = [line_details(history, line, level=statistics.level, slice_by=names, queries=known) for line in lines]
    return Trend(lines[0].measure, tuple(details), history.baselines(), statistics)
