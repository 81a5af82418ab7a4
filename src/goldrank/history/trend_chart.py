"""A measure over time as a chart: lines with their intervals, a dot for each record, marks where a line changed.

Every dot says what it is when the pointer or the focus is on it, and is a link to its record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from goldrank.comparison.intervals import Interval
from goldrank.data.scores import format_value
from goldrank.data.table import NAME_LIMIT, count, escape_html
from goldrank.history.details import LineDetails
from goldrank.history.record import Record
from goldrank.history.trend_report import brief
from goldrank.history.trends import TrendChange, TrendLine
from goldrank.report import charts
from goldrank.report.charts import Chart, Scale
from goldrank.report.numbers import interval

MOST_LINES = 24
MOST_DOTS = 200
"""With more records a line is drawn without a dot for each."""
MOST_BANDS = 4
"""With more lines their intervals would hide each other; a dot still says its own."""
WIDE, NARROW = (1080.0, 340.0), (380.0, 250.0)
"""Width and height of the drawing: for a screen, and for a phone, where a scaled chart could not be read."""


Across: TypeAlias = Callable[[Record], float]
"""Where a record is drawn across the chart."""


@dataclass(frozen=True)
class Series:
    """One drawn line: a value for each of some records."""

    name: str
    records: Sequence[Record]
    values: Sequence[float]
    average: str
    intervals: Sequence[Interval] = ()
    changes: Sequence[TrendChange] = ()
    remark: str = ""


def series_of(line: TrendLine, intervals: Sequence[Interval] = ()) -> Series:
    """A line as it is drawn."""
    if line.new_because:
        why = f" ({line.new_because.partition(' (')[0]})"
    else:
        why = ""
    average = line.records[-1].averages[line.measure]
    return Series(line.name, line.records, line.values, average, intervals, line.changes, why)


def chart(lines: Sequence[TrendLine], size: tuple[float, float] = WIDE) -> Chart:
    """The lines of one measure without intervals: for a file."""
    return draw(f"{lines[0].measure} over time", [series_of(line) for line in lines], size)


def detailed(found: Sequence[LineDetails], size: tuple[float, float]) -> Chart:
    """The lines of one measure with their intervals: for the page."""
    series = [series_of(details.line, details.intervals) for details in found]
    return draw(f"{found[0].line.measure} over time", series, size, links=True)


def sliced(details: LineDetails, attribute: str, size: tuple[float, float]) -> Chart:
    """One line's means on the slices by an attribute."""
    line = details.line
    average = line.records[-1].averages[line.measure]
    series = [
        Series(
            f"{part.value} ({count(part.of[-1].n, 'query')})",
            line.records,
            [point.mean for point in part.of],
            average,
            [point.interval for point in part.of],
        )
        for part in details.slices
        if part.attribute == attribute
    ]

    return draw(f"{line.measure} of {line.name} by {attribute}", series, size, links=True)


def draw(title: str, series: Sequence[Series], size: tuple[float, float], links: bool = False) -> Chart:
    """Records evenly spaced in their order, of all lines together; the axis holds all values."""
    if len(series) > MOST_LINES:
        left_out = f" (the newest {MOST_LINES} of {len(series):,} lines)"
    else:
        left_out = ""
    if left_out:
        series = sorted(series, key=lambda line: line.records[-1].time)[-MOST_LINES:]
    width, height = size
    is_narrow = width < 600
    banded = len(series) <= MOST_BANDS
    ordered = sorted({r.id: r for line in series for r in line.records}.values(), key=lambda r: (r.time, r.id))
    order = {record.id: i for i, record in enumerate(ordered)}
    low, high = _limits(series, banded)
    left, right, top, bottom = 54.0, width - 14.0, 48.0 if is_narrow else 30.0, height
    last = max(len(order) - 1, 1)

    def x(record: Record) -> float:
        return left + 6 + order[record.id] / last * (right - left - 12)

    y = charts.scale(low, high, bottom, top)
    parts = [charts.y_axis(y, charts.ticks(low, high), left, right), _dates(ordered, x, bottom, left, right)]
    drawn = []
    for i, line in enumerate(series):
        style = f"s{i % charts.COLOURS}"
        parts.append(_band(line, x, y, style) if banded else "")
        drawn.append(_line(line, x, y, style, charts.dash(i)))
    parts += [_mark(change, line, x, y, top, bottom) for line in series for change in line.changes]
    parts += drawn
    for i, line in enumerate(series):
        parts.append(_dots(line, x, y, f"s{i % charts.COLOURS}", is_narrow, links))
    keys, end = _keys(series, left, bottom + 44, right, is_narrow)
    description = "; ".join(
        f"{line.name}: {count(len(line.records), 'record')}, newest {format_value(line.values[-1], line.average)}, "
        f"{count(len(line.changes), 'change')}"
        for line in series[:10]
    )
    return Chart(f"{title}{left_out}", description, end, "".join([*parts, keys]), width)


def _limits(series: Sequence[Series], banded: bool) -> tuple[float, float]:
    values = [v for line in series for v in line.values if math.isfinite(v)]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if banded:
        ends = [end for line in series for band in line.intervals for end in band if math.isfinite(end)]
        low, high = min([low, *ends]), max([high, *ends])
    room = 0.08 * (high - low) or 0.05 * abs(high) or 0.5
    return low - room, high + room


def _dates(ordered: Sequence[Record], x: Across, bottom: float, left: float, right: float) -> str:
    """Some dates below, as many as there is room for; the first and the newest always, if both fit."""
    half = 36.0
    places = [(min(max(x(record), left + half), right - half), record) for record in ordered]
    newest = places[-1]
    chosen = places[:1]
    for place, record in places[1:-1]:
        if chosen[-1][0] + 2.4 * half <= place <= newest[0] - 2.4 * half:
            chosen.append((place, record))

    if newest[0] - chosen[-1][0] >= 2.2 * half:
        chosen.append(newest)

    same_day = ordered[0].time.date() == ordered[-1].time.date()
    if same_day and len(ordered) > 1:
        form = "%m-%d %H:%M"
    else:
        form = "%Y-%m-%d"

    return "".join(
        f'<text class="mid dim" x="{place:.1f}" y="{bottom + 18:g}">{record.time.strftime(form)}</text>'
        for place, record in chosen
    )


def _band(line: Series, x: Across, y: Scale, style: str) -> str:
    """The intervals of the records, as an area; a bar where there is one record only."""
    known = [(x(r), band) for r, band in zip(line.records, line.intervals, strict=False) if math.isfinite(band.low)]
    if not known:
        return ""
    if len(known) == 1:
        a, band = known[0]
        known = [(a - 3, band), (a + 3, band)]
    up = "L".join(f"{a:.1f} {y(band.high):.1f}" for a, band in known)
    down = "L".join(f"{a:.1f} {y(band.low):.1f}" for a, band in reversed(known))
    return f'<path class="band {style}" d="M{up}L{down}Z"/>'


def _line(line: Series, x: Across, y: Scale, style: str, dashes: str) -> str:
    points = [(x(r), y(v)) for r, v in zip(line.records, line.values, strict=True) if math.isfinite(v)]
    if not points:
        return ""
    path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
    title = escape_html(line.name, NAME_LIMIT)
    return f'<g><title>{title}</title><path class="line {style}"{dashes} d="{path}"/></g>'


def _mark(change: TrendChange, line: Series, x: Across, y: Scale, top: float, bottom: float) -> str:
    """Where a line changed: the range as an area, the record as a line across."""
    known = {record.id: record for record in line.records}
    a = x(change.record)
    ends = [x(known[number]) for number in (change.mark.first, change.mark.last) if number in known]
    parts = [f'<g class="{"up" if change.better else "down"}"><title>{escape_html(change.words, 400)}</title>']
    if ends and max(ends) > min(ends):
        area = f'x="{min(ends):.1f}" y="{top:g}" width="{max(ends) - min(ends):.1f}" height="{bottom - top:g}"'
        parts.append(f'<rect class="range" {area}/>')
    parts.append(f'<path stroke-width="1" stroke-dasharray="2 3" d="M{a:.1f} {top:g}V{bottom:g}"/>')
    parts.append(f'<circle cx="{a:.1f}" cy="{y(line.values[list(line.records).index(change.record)]):.1f}" r="6"/></g>')
    return "".join(parts)


def _dots(line: Series, x: Across, y: Scale, style: str, is_narrow: bool, links: bool) -> str:
    """A dot for each record, with what it says when it is pointed at."""
    drawn = [(i, r, v) for i, (r, v) in enumerate(zip(line.records, line.values, strict=True)) if math.isfinite(v)]
    if len(drawn) > MOST_DOTS:
        marked = {change.record.id for change in line.changes}
        drawn = [(i, r, v) for i, r, v in drawn if r.id in marked or i == len(line.records) - 1]

    parts = []
    for i, record, value in drawn:
        said = format_value(value, line.average)
        if line.intervals and math.isfinite(line.intervals[i].low):
            said += f" ({interval(line.intervals[i])})"
        words = [f"{line.name}: {said}", brief(record) + (f"  {record.note}" if record.note else "")]
        if is_narrow:
            shown = words
        else:
            shown = ["   ".join(words)]
        tip = "".join(
            f'<text class="tip" x="4" y="{16 + 17 * row}">{escape_html(text, 56 if is_narrow else 150)}</text>'
            for row, text in enumerate(shown)
        )
        title = f"<title>{escape_html('; '.join(words), 300)}</title>"
        at = f'cx="{x(record):.1f}" cy="{y(value):.1f}"'
        dot = f'{title}<circle class="hit" {at} r="9"/><circle class="{style}" {at} r="3.2"/>{tip}'
        parts.append(f'<a class="dot" href="#r{record.id}">{dot}</a>' if links else f'<g class="dot">{dot}</g>')

    return "".join(parts)


def _keys(series: Sequence[Series], left: float, row: float, right: float, is_narrow: bool) -> tuple[str, float]:
    """Which line is which, in columns; and where they end."""
    if is_narrow:
        columns = 1
    else:
        columns = 3

    width = (right - left) / columns
    limit = int(width / 8) - 6
    parts = []
    for i, line in enumerate(series):
        at = left + (i % columns) * width
        y = row + (i // columns) * 19
        style, dashes = f"s{i % charts.COLOURS}", charts.dash(i)
        parts.append(f'<path class="line {style}"{dashes} d="M{at:g} {y - 4:g}h22"/>')
        parts.append(f'<text x="{at + 28:g}" y="{y:g}">{escape_html(line.name + line.remark, limit)}</text>')

    return "".join(parts), row + 19 * -(-len(series) // columns)
