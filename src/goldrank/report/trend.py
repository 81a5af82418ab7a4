"""A measure over time, for the terminal, as a chart, and as an HTML page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from goldrank import ids
from goldrank.data.scores import format_value
from goldrank.data.table import NAME_LIMIT, Cell, Head, Part, Row, Sentence, Table, escape_html, facts
from goldrank.history import Record
from goldrank.history.trends import TrendChange, TrendLine
from goldrank.report.numbers import count
from goldrank.report.sparkline import sparkline

if TYPE_CHECKING:
    from goldrank.report.charts import Chart

MOST_BARS = 60
MOST_ROWS = 30
MOST_HTML_ROWS = 1_000
PAGE_HEADS = ("Change", "Record", "Time", "Commit", "", "Difference", "Note")
MOST_LINES = 24
MOST_DOTS = 200
"""With more records a line is drawn without a dot for each."""


def parts(found: Sequence[Sequence[TrendLine]], baselines: Mapping[str, int], alpha: float) -> list[Part]:
    """The lines of each measure: a sparkline, the newest records and every change."""
    shown: list[Part] = []
    for lines in found:
        shown.append(Sentence(lines[0].measure, "strong"))
        shown += [part for line in lines for part in _line(line, baselines)]
    return [*shown, Sentence(method(alpha), "remark")]


def _line(line: TrendLine, baselines: Mapping[str, int]) -> list[Part]:
    shown: list[Part] = []
    if line.new_because:
        shown.append(Sentence(f"A new line, not comparable with the one before: {line.new_because}."))
    drawn = f"{ids.show(line.name)}  {spark(line.values)}  {line.shown}  ({count(len(line.records), 'record')})"
    older = len(line.records) - MOST_ROWS
    caption = f"{older:,} older ones are not listed here" if older > 0 else ""
    shown.append(replace(records(line, baselines, MOST_ROWS), title=drawn, caption=caption))
    shown += [Sentence(f"{'+' if c.better else '!'} {c.words}", _way(c)) for c in line.changes]
    if len(line.records) + line.hidden == 1:
        return [*shown, Sentence("one record: nothing to compare with", "remark")]
    if not line.changes:
        shown.append(Sentence("no change beyond what chance does", "remark"))
    return [*shown, *remarks(line)]


def remarks(line: TrendLine) -> list[Sentence]:
    """What to know of a line's marks."""
    found = [Sentence(line.noise_words, "remark")]
    if line.late:
        what = f"{count(line.late, 'record')} with a time before what had been looked at: not looked at for changes"
        found.append(Sentence(f"{what}; `goldrank history --reanalyse` does", "warning"))
    return found


def _way(change: TrendChange) -> str:
    return "better" if change.better else "worse"


def records(line: TrendLine, baselines: Mapping[str, int], most: int) -> Table:
    """The newest records of a line, the newest last; sorted and filtered in a page."""
    named = {number: name for name, number in baselines.items()}
    changed = {change.record.id: change for change in line.changes}
    rows = []
    for i in range(max(0, len(line.records) - most), len(line.records)):
        record, value = line.records[i], line.values[i]
        delta = value - line.values[i - 1] if i else math.nan
        remarks = [f"baseline {named[record.id]}"] if record.id in named else []
        remarks += [record.note] if record.note else []
        change = changed.get(record.id)
        cells: list[Cell | str] = [
            Cell("+" if change.better else "!", style=_way(change)) if change else "",
            Cell(str(record.id), record.id),
            _when(record),
            _commit(record),
            Cell(format_value(value, record.averages[line.measure]), value),
            Cell("" if math.isnan(delta) or delta == 0 else f"{delta:+.4f}", delta),
            ids.show(", ".join(remarks)),
        ]
        rows.append(Row(cells, "flag" if change else ""))
    heads = [*Head.texts(""), *Head.numbers("id"), *Head.texts("time", "commit"), *Head.numbers(line.measure, "")]
    return Table([*heads, *Head.texts("note")], rows)


def method(alpha: float) -> str:
    """How changes are found."""
    return (
        "A change: the records since the last one, split in two wherever that shows most, query by query, against "
        f"random flips of the queries' signs; a line shows a false one with a probability of at most {alpha:g}. "
        "Marks stay when records are added; `goldrank history --reanalyse` sets them anew."
    )


def spark(values: Sequence[float]) -> str:
    """A line of bars, from the least to the greatest value; of the newest ones if there are many."""
    drawn = [value if math.isfinite(value) else math.nan for value in list(values)[-MOST_BARS:]]
    known = [value for value in drawn if not math.isnan(value)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    # Where nothing changes, the bars are of middle height.
    return sparkline(drawn, low, high) if low < high else sparkline(drawn, low - 1.0, low + 1.25)


def brief(record: Record) -> str:
    """A record in a few words."""
    commit = f"  {_commit(record)}" if record.commit else ""
    return f"{record.id}  {_when(record)}  {ids.show(record.label or record.run)}{commit}"


def about(record: Record, baselines: Sequence[str] = ()) -> Table:
    """What a record is, without its values."""
    return facts(
        {
            "record": str(record.id),
            "label": record.label,
            "baseline": ", ".join(baselines),
            "time": record.time.isoformat(sep=" "),
            "commit": record.commit,
            "branch": record.branch,
            "note": record.note,
            "tags": ", ".join(record.tags),
            "criteria": record.criteria,
            "run": f"{record.run}  {record.run_sha256[:16]}".strip(),
            "qrels": f"{record.qrels_name}  {record.qrels_sha256[:16]}".strip(),
            "goldrank": record.version,
            "digest": record.digest,
        }
    )


def chart(lines: Sequence[TrendLine]) -> Chart:
    """The lines of one measure, records evenly spaced in their order, changes marked."""
    from goldrank.report import charts

    left_out = f" (the newest {MOST_LINES} of {len(lines):,} lines)" if len(lines) > MOST_LINES else ""
    lines = sorted(lines, key=lambda line: line.records[-1].time)[-MOST_LINES:] if left_out else lines
    ordered = sorted((r for line in lines for r in line.records), key=lambda record: (record.time, record.id))
    order = {record.id: i for i, record in enumerate(ordered)}
    values = [v for line in lines for v in line.values if math.isfinite(v)]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    room = 0.08 * (high - low) or 0.05 * abs(high) or 0.5
    low, high = low - room, high + room
    left, right, top, bottom = 52.0, charts.WIDTH - 12.0, 10.0, 200.0
    last = max(len(order) - 1, 1)

    def x(record: Record) -> float:
        return left + order[record.id] / last * (right - left)

    def y(value: float) -> float:
        return bottom - (value - low) / (high - low) * (bottom - top)

    parts = [charts.y_axis(y, charts.ticks(low, high), left, right)]
    parts.append(f'<text class="dim" x="{left:g}" y="{bottom + 16:g}">{ordered[0].time:%Y-%m-%d}</text>')
    if len(ordered) > 1:
        parts.append(f'<text class="end dim" x="{right:g}" y="{bottom + 16:g}">{ordered[-1].time:%Y-%m-%d}</text>')
    row = bottom + 38
    for i, line in enumerate(lines):
        colour, dashes = f"s{i % charts.COLOURS}", charts.dash(i)
        drawn = [(x(r), y(v), r, v) for r, v in zip(line.records, line.values, strict=True) if math.isfinite(v)]
        parts.append(f"<g><title>{escape_html(line.name, NAME_LIMIT)}</title>")
        if drawn:
            path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b, *_ in drawn)
            parts.append(f'<path class="line {colour}"{dashes} d="{path}"/>')
        if len(drawn) <= MOST_DOTS:
            for a, b, record, value in drawn:
                label = f"{brief(record)}: {format_value(value, record.averages[line.measure])}"
                dot = f'<circle class="{colour}" cx="{a:.1f}" cy="{b:.1f}" r="2.5">'
                parts.append(f"{dot}<title>{escape_html(label, 200)}</title></circle>")
        for change in line.changes:
            a, b = x(change.record), y(change.record.summaries[line.measure])
            parts.append(
                f'<g class="{"up" if change.better else "down"}"><title>{escape_html(change.words, 300)}</title>'
                f'<path stroke-width="1" stroke-dasharray="2 3" d="M{a:.1f} {top:g}V{bottom:g}"/>'
                f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4.5"/></g>'
            )
        why = f" ({line.new_because.partition(' (')[0]})" if line.new_because else ""
        parts.append(f'<path class="line {colour}"{dashes} d="M{left:g} {row - 4:g}h22"/>')
        parts.append(f'<text x="{left + 28:g}" y="{row:g}">{charts.short(line.name, 36)}{why}</text></g>')
        row += 18
    description = "; ".join(
        f"{line.name}: {count(len(line.records), 'record')}, newest {line.shown}, {count(len(line.changes), 'change')}"
        for line in lines[:10]
    )
    return charts.Chart(f"{lines[0].measure} over time{left_out}", description, row, "".join(parts))


def page(found: Sequence[Sequence[TrendLine]], baselines: Mapping[str, int], alpha: float) -> str:
    """One HTML file for the lines of several measures."""
    from goldrank.report import html

    measures = []
    for lines in found:
        changes = [Sentence(f"{line.name}: {change.words}", _way(change)) for line in lines for change in line.changes]
        tables = [(line, _page_table(line, baselines)) for line in lines]
        measures.append({"name": lines[0].measure, "chart": chart(lines), "lines": tables, "changes": changes})
    listed = [lines[0].measure for lines in found]
    records = len({record.id for lines in found for line in lines for record in line.records})
    values = {"measures": measures, "method": method(alpha), "records": records}
    title = "History: " + ", ".join(listed[:3]) + ", …" * (len(listed) > 3)
    return html.render("trend.html.jinja", title, values)


def _page_table(line: TrendLine, baselines: Mapping[str, int]) -> Table:
    """Newest first, and sorted by a click."""
    table = records(line, baselines, MOST_HTML_ROWS)
    heads = [Head(text or head.text, head.kind) for text, head in zip(PAGE_HEADS, table.heads, strict=True)]
    older = len(line.records) - MOST_HTML_ROWS
    caption = f"{older:,} older records are not listed here." if older > 0 else ""
    return replace(table, heads=heads, rows=table.rows[::-1], caption=caption, sortable=True)


def _when(record: Record) -> str:
    return f"{record.time:%Y-%m-%d %H:%M}"


def _commit(record: Record) -> str:
    """The first ten characters of a commit, and whether there was more than the commit."""
    return ids.show(record.commit[:10]) + ("+" if record.commit.endswith("-dirty") else "")
