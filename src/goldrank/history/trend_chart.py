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
"""With more lines their intervals would hide each other; each dot still has its interval in words."""
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
    remark = ""
    if line.new_because:
        remark = f" ({line.new_because.partition(' (')[0]})"
    average = line.records[-1].averages[line.measure]
    return Series(line.name, line.records, line.values, average, intervals, line.changes, remark)


def chart(lines: Sequence[TrendLine], size: tuple[float, float] = WIDE) -> Chart:
    """The lines of one measure without intervals: for a file."""
    return draw(f"{lines[0].measure} over time", [series_of(line) for line in lines], size)


def detailed(lines: Sequence[LineDetails], size: tuple[float, float]) -> Chart:
    """The lines of one measure with their intervals: for the page."""
    series = [series_of(details.line, details.intervals) for details in lines]
    return draw(f"{lines[0].line.measure} over time", series, size, links=True)


def sliced(details: LineDetails, attribute: str, size: tuple[float, float]) -> Chart:
    """One line's means on the slices by an attribute."""
    line = details.line
    average = line.records[-1].averages[line.measure]
    series = []
    for part in details.slices:
        if part.attribute != attribute:
            continue
        name = f"{part.value} ({count(part.of[-1].n, 'query')})"
        means = [point.mean for point in part.of]
        intervals = [point.interval for point in part.of]
        series.append(Series(name, line.records, means, average, intervals))

    return draw(f"{line.measure} of {line.name} by {attribute}", series, size, links=True)


def draw(title: str, series: Sequence[Series], size: tuple[float, float], links: bool = False) -> Chart:
    """Records evenly spaced in their order, of all lines together; the axis spans all values."""
    left_out = ""
    if len(series) > MOST_LINES:
        left_out = f" (the newest {MOST_LINES} of {len(series):,} lines)"
        series = sorted(series, key=lambda line: line.records[-1].time)[-MOST_LINES:]
    records = {record.id: record for line in series for record in line.records}
    ordered = sorted(records.values(), key=lambda record: (record.time, record.id))
    order = {record.id: i for i, record in enumerate(ordered)}
    last = max(len(order) - 1, 1)

    banded = len(series) <= MOST_BANDS
    low, high = _limits(series, banded)
    width, height = size
    is_narrow = width < 600
    left, right, top, bottom = 54.0, width - 14.0, 30.0, height
    if is_narrow:
        top = 48.0

    def x(record: Record) -> float:
        return left + 6 + order[record.id] / last * (right - left - 12)

    y = charts.scale(low, high, bottom, top)
    parts = [charts.y_axis(y, charts.ticks(low, high), left, right), _dates(ordered, x, bottom, left, right)]
    styles = [f"s{i % charts.COLOURS}" for i in range(len(series))]
    if banded:
        parts += [_band(line, x, y, style) for line, style in zip(series, styles, strict=True)]
    parts += [_mark(change, line, x, y, top, bottom) for line in series for change in line.changes]
    parts += [_line(line, x, y, styles[i], charts.dash(i)) for i, line in enumerate(series)]
    parts += [_dots(line, x, y, styles[i], is_narrow, links) for i, line in enumerate(series)]

    keys, end = _keys(series, left, bottom + 44, right, is_narrow)
    description = "; ".join(
        f"{line.name}: {count(len(line.records), 'record')}, newest {format_value(line.values[-1], line.average)}, "
        f"{count(len(line.changes), 'change')}"
        for line in series[:10]
    )
    return Chart(f"{title}{left_out}", description, end, "".join([*parts, keys]), width)


def _limits(series: Sequence[Series], banded: bool) -> tuple[float, float]:
    values = [value for line in series for value in line.values if math.isfinite(value)]
    low, high = min(values, default=0.0), max(values, default=1.0)
    if banded:
        ends = [end for line in series for band in line.intervals for end in band if math.isfinite(end)]
        low, high = min([low, *ends]), max([high, *ends])
    room = 0.08 * (high - low) or 0.05 * abs(high) or 0.5
    return low - room, high + room


def _dates(ordered: Sequence[Record], x: Across, bottom: float, left: float, right: float) -> str:
    """Some dates below, as many as there is room for; the first and the newest always, if both fit."""
    half_width = 36.0
    positions = [(min(max(x(record), left + half_width), right - half_width), record) for record in ordered]
    newest = positions[-1]
    chosen = positions[:1]
    for position, record in positions[1:-1]:
        if chosen[-1][0] + 2.4 * half_width <= position <= newest[0] - 2.4 * half_width:
            chosen.append((position, record))

    if newest[0] - chosen[-1][0] >= 2.2 * half_width:
        chosen.append(newest)

    time_format = "%Y-%m-%d"
    if len(ordered) > 1 and ordered[0].time.date() == ordered[-1].time.date():
        time_format = "%m-%d %H:%M"
    return "".join(
        f'<text class="mid dim" x="{position:.1f}" y="{bottom + 18:g}">{record.time.strftime(time_format)}</text>'
        for position, record in chosen
    )


def _band(line: Series, x: Across, y: Scale, style: str) -> str:
    """The intervals of the records, as an area; a bar where there is one record only."""
    intervals = zip(line.records, line.intervals, strict=False)
    bands = [(x(record), band) for record, band in intervals if math.isfinite(band.low)]
    if not bands:
        return ""
    if len(bands) == 1:
        position, band = bands[0]
        bands = [(position - 3, band), (position + 3, band)]
    upper = "L".join(f"{position:.1f} {y(band.high):.1f}" for position, band in bands)
    lower = "L".join(f"{position:.1f} {y(band.low):.1f}" for position, band in reversed(bands))
    return f'<path class="band {style}" d="M{upper}L{lower}Z"/>'


def _line(line: Series, x: Across, y: Scale, style: str, dashes: str) -> str:
    points = [
        (x(record), y(value)) for record, value in zip(line.records, line.values, strict=True) if math.isfinite(value)
    ]
    if not points:
        return ""
    path = "M" + "L".join(f"{point_x:.1f} {point_y:.1f}" for point_x, point_y in points)
    title = escape_html(line.name, NAME_LIMIT)
    return f'<g><title>{title}</title><path class="line {style}"{dashes} d="{path}"/></g>'


def _mark(change: TrendChange, line: Series, x: Across, y: Scale, top: float, bottom: float) -> str:
    """Where a line changed: the range as an area, the record as a line across."""
    by_id = {record.id: record for record in line.records}
    position = x(change.record)
    ends = [x(by_id[number]) for number in (change.mark.first, change.mark.last) if number in by_id]
    style = "down"
    if change.better:
        style = "up"
    parts = [f'<g class="{style}"><title>{escape_html(change.words, 400)}</title>']
    if ends and max(ends) > min(ends):
        area = f'x="{min(ends):.1f}" y="{top:g}" width="{max(ends) - min(ends):.1f}" height="{bottom - top:g}"'
        parts.append(f'<rect class="range" {area}/>')
    parts.append(f'<path stroke-width="1" stroke-dasharray="2 3" d="M{position:.1f} {top:g}V{bottom:g}"/>')
    parts.append(
        f'<circle cx="{position:.1f}" cy="{y(line.values[list(line.records).index(change.record)]):.1f}" r="6"/></g>'
    )
    return "".join(parts)


def _dots(line: Series, x: Across, y: Scale, style: str, is_narrow: bool, links: bool) -> str:
    """A dot for each record, with a text that is shown when the pointer is on it."""
    rows = [i for i, value in enumerate(line.values) if math.isfinite(value)]
    if len(rows) > MOST_DOTS:
        marked = {change.record.id for change in line.changes}
        rows = [i for i in rows if line.records[i].id in marked or i == len(line.records) - 1]

    parts = []
    for i in rows:
        record, value = line.records[i], line.values[i]
        words = _dot_words(line, i)
        title = f"<title>{escape_html('; '.join(words), 300)}</title>"
        centre = f'cx="{x(record):.1f}" cy="{y(value):.1f}"'
        circles = f'<circle class="hit" {centre} r="9"/><circle class="{style}" {centre} r="3.2"/>'
        dot = f"{title}{circles}{_tip(words, is_narrow)}"
        if links:
            parts.append(f'<a class="dot" href="#r{record.id}">{dot}</a>')
        else:
            parts.append(f'<g class="dot">{dot}</g>')

    return "".join(parts)


def _dot_words(line: Series, row: int) -> list[str]:
    """What a dot says: the value with its interval, and the record."""
    value_words = format_value(line.values[row], line.average)
    if line.intervals and math.isfinite(line.intervals[row].low):
        value_words += f" ({interval(line.intervals[row])})"
    record_words = brief(line.records[row])
    if line.records[row].note:
        record_words += f"  {line.records[row].note}"
    return [f"{line.name}: {value_words}", record_words]


def _tip(words: Sequence[str], is_narrow: bool) -> str:
    """The words of a dot as text: on two lines of a narrow chart, on one of a wide one."""
    lines, limit = ["   ".join(words)], 150
    if is_narrow:
        lines, limit = list(words), 56
    texts = (escape_html(text, limit) for text in lines)
    return "".join(f'<text class="tip" x="4" y="{16 + 17 * row}">{text}</text>' for row, text in enumerate(texts))


def _keys(series: Sequence[Series], left: float, row: float, right: float, is_narrow: bool) -> tuple[str, float]:
    """Which line is which, in columns; and where they end."""
    columns = 3
    if is_narrow:
        columns = 1
    width = (right - left) / columns
    limit = int(width / 8) - 6
    parts = []
    for i, line in enumerate(series):
        key_x = left + (i % columns) * width
        y = row + (i // columns) * 19
        style, dashes = f"s{i % charts.COLOURS}", charts.dash(i)
        parts.append(f'<path class="line {style}"{dashes} d="M{key_x:g} {y - 4:g}h22"/>')
        parts.append(f'<text x="{key_x + 28:g}" y="{y:g}">{escape_html(line.name + line.remark, limit)}</text>')

    return "".join(parts), row + 19 * -(-len(series) // columns)
