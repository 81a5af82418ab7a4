"""A measure over time, for the terminal, as a chart, and as an HTML page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goldrank import __version__, ids
from goldrank.data.scores import format_value
from goldrank.history import Record
from goldrank.history.trends import TrendLine
from goldrank.report.sparkline import sparkline

if TYPE_CHECKING:
    from goldrank.report.charts import Chart

MOST_BARS = 60
MOST_ROWS = 30
MOST_HTML_ROWS = 1_000
MOST_LINES = 24
MOST_DOTS = 200
"""With more records a line is drawn without a dot for each."""


def text(found: Sequence[Sequence[TrendLine]], baselines: Mapping[str, int], alpha: float) -> str:
    """The lines of each measure: a sparkline, the newest records and every change."""
    return "\n\n".join([*(_measure(lines, baselines) for lines in found), method(alpha)]) + "\n"


def _measure(lines: Sequence[TrendLine], baselines: Mapping[str, int]) -> str:
    parts = [lines[0].measure]
    for line in lines:
        parts.append("")
        if line.new_because:
            parts.append(f"A new line, not comparable with the one before: {ids.show(line.new_because, 500)}.")
        count = len(line.records)
        parts.append(f"{ids.show(line.name)}  {spark(line.values)}  {line.shown}  ({_many(count, 'record')})")
        parts += [f"  {one}" for one in _table(line, baselines)]
        parts += [f"  {'+' if change.better else '!'} {change.words}" for change in line.changes]
        if not line.changes:
            parts.append(
                "  no change beyond what chance does" if count > 1 else "  one record: nothing to compare with"
            )
    return "\n".join(parts)


def method(alpha: float) -> str:
    """How changes are found."""
    return (
        "A change: paired t-test against the first record since the change before, corrected for the number of tests;\n"
        f"a line shows a false one with a probability of at most {alpha:g}."
    )


def spark(values: Sequence[float]) -> str:
    """A line of bars, from the least to the greatest value; of the newest ones if there are many."""
    drawn = [value if math.isfinite(value) else math.nan for value in list(values)[-MOST_BARS:]]
    there = [value for value in drawn if not math.isnan(value)]
    low, high = min(there, default=0.0), max(there, default=1.0)
    # Where nothing changes, the bars are of middle height.
    return sparkline(drawn, low, high) if low < high else sparkline(drawn, low - 1.0, low + 1.25)


def brief(record: Record) -> str:
    """A record in a few words."""
    commit = f"  {_commit(record)}" if record.commit else ""
    return f"{record.id}  {_when(record)}  {ids.show(record.label or record.run)}{commit}"


def about(record: Record, baselines: Sequence[str] = ()) -> str:
    """What a record is, without its values."""
    rows = {
        "record": str(record.id),
        "label": record.label,
        "baseline": ", ".join(baselines),
        "time": record.time.isoformat(sep=" "),
        "commit": record.commit,
        "branch": record.branch,
        "note": record.note,
        "tags": ", ".join(record.tags),
        "criteria": record.criteria,
        "run": f"{record.run}  {record.run_sha256[:16]}",
        "qrels": f"{record.qrels_name}  {record.qrels_sha256[:16]}",
        "goldrank": record.version,
        "digest": record.digest,
    }
    return "\n".join(f"{name:<9} {ids.show(value.strip(), 500)}" for name, value in rows.items() if value.strip())


def chart(lines: Sequence[TrendLine]) -> Chart:
    """The lines of one measure, records evenly spaced in their order, changes marked."""
    from goldrank.report import charts

    left_out = f" (the newest {MOST_LINES} of {len(lines):,} lines)" if len(lines) > MOST_LINES else ""
    lines = sorted(lines, key=lambda line: line.records[-1].time)[-MOST_LINES:] if left_out else lines
    order = {
        record.id: i
        for i, record in enumerate(sorted((r for line in lines for r in line.records), key=lambda r: (r.time, r.id)))
    }
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

    parts = [charts.y_axis(y, high, left, right, low)]
    ends = sorted((r for line in lines for r in line.records), key=lambda r: (r.time, r.id))
    parts.append(f'<text class="dim" x="{left:g}" y="{bottom + 16:g}">{_day(ends[0])}</text>')
    if len(ends) > 1:
        parts.append(f'<text class="end dim" x="{right:g}" y="{bottom + 16:g}">{_day(ends[-1])}</text>')
    row = bottom + 38
    for i, line in enumerate(lines):
        colour, dashes = f"s{i % charts.COLOURS}", charts.dash(i)
        drawn = [(x(r), y(v), r, v) for r, v in zip(line.records, line.values, strict=True) if math.isfinite(v)]
        parts.append(f"<g><title>{charts.text(line.name)}</title>")
        if drawn:
            path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b, *_ in drawn)
            parts.append(f'<path class="line {colour}"{dashes} d="{path}"/>')
        if len(drawn) <= MOST_DOTS:
            for a, b, record, value in drawn:
                said = f"{brief(record)}: {format_value(value, record.averages[line.measure])}"
                dot = f'<circle class="{colour}" cx="{a:.1f}" cy="{b:.1f}" r="2.5">'
                parts.append(f"{dot}<title>{charts.text(said, 200)}</title></circle>")
        for change in line.changes:
            a, b = x(change.record), y(change.record.summaries[line.measure])
            parts.append(
                f'<g class="{"up" if change.better else "down"}"><title>{charts.text(change.words, 300)}</title>'
                f'<path stroke-width="1" stroke-dasharray="2 3" d="M{a:.1f} {top:g}V{bottom:g}"/>'
                f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4.5"/></g>'
            )
        why = f" ({line.new_because.partition(' (')[0]})" if line.new_because else ""
        parts.append(f'<path class="line {colour}"{dashes} d="M{left:g} {row - 4:g}h22"/>')
        parts.append(f'<text x="{left + 28:g}" y="{row:g}">{charts.short(line.name, 36)}{why}</text></g>')
        row += 18
    said = "; ".join(
        f"{line.name}: {_many(len(line.records), 'record')}, newest {line.shown}, {_many(len(line.changes), 'change')}"
        for line in lines[:10]
    )
    return charts.Chart(f"{lines[0].measure} over time{left_out}", said, row, "".join(parts))


def html(found: Sequence[Sequence[TrendLine]], baselines: Mapping[str, int], alpha: float) -> str:
    """One page for the lines of several measures, with the assets of the comparison's page."""
    from goldrank.report import html as page

    assets = page.assets()
    named = {number: name for name, number in baselines.items()}
    measures: list[dict[str, Any]] = [
        {
            "name": lines[0].measure,
            "chart": chart(lines),
            "lines": lines,
            "changes": [(line, change) for line in lines for change in line.changes],
        }
        for lines in found
    ]
    return page.template("trend.html.jinja").render(
        {
            "title": "History: " + ", ".join(one["name"] for one in measures[:3]) + (", …" * (len(measures) > 3)),
            "version": __version__,
            "style": assets["report.css"],
            "script": assets["report.js"],
            "style_hash": page.csp_hash(assets["report.css"]),
            "script_hash": page.csp_hash(assets["report.js"]),
            "measures": measures,
            "named": named,
            "method": method(alpha),
            "records": len({record.id for lines in found for line in lines for record in line.records}),
            "rows": _rows,
            "most": MOST_HTML_ROWS,
        }
    )


def _rows(line: TrendLine, named: Mapping[int, str]) -> list[dict[str, Any]]:
    """The newest records of a line for its table in the page, newest first."""
    changes = {change.record.id: change for change in line.changes}
    found = []
    for i in range(len(line.records) - 1, max(-1, len(line.records) - 1 - MOST_HTML_ROWS), -1):
        record, value = line.records[i], line.values[i]
        delta = value - line.values[i - 1] if i else math.nan
        found.append(
            {
                "record": record,
                "when": _when(record),
                "commit": _commit(record),
                "value": value,
                "shown": format_value(value, record.averages[line.measure]),
                "delta": delta,
                "change": changes.get(record.id),
                "baseline": named.get(record.id, ""),
            }
        )
    return found


def _table(line: TrendLine, baselines: Mapping[str, int]) -> list[str]:
    named = {number: name for name, number in baselines.items()}
    changed = {change.record.id: "+" if change.better else "!" for change in line.changes}
    rows = [["", "id", "time", "commit", line.measure, "", "note"]]
    shown = list(zip(line.records, line.values, strict=True))
    for i in range(max(0, len(shown) - MOST_ROWS), len(shown)):
        record, value = shown[i]
        delta = value - shown[i - 1][1] if i else math.nan
        notes = [f"baseline {named[record.id]}"] if record.id in named else []
        notes += [record.note] if record.note else []
        rows.append(
            [
                changed.get(record.id, ""),
                str(record.id),
                _when(record),
                _commit(record),
                format_value(value, record.averages[line.measure]),
                "" if math.isnan(delta) or delta == 0 else f"{delta:+.4f}",
                ids.show(", ".join(notes), 60),
            ]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = {1, 4, 5}
    told = [
        "  ".join(c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]
    if len(shown) > MOST_ROWS:
        told.insert(1, f"  {len(shown) - MOST_ROWS:,} older ones are not listed here")
    return [one.rstrip() for one in told]


def _when(record: Record) -> str:
    return f"{record.time:%Y-%m-%d %H:%M}"


def _day(record: Record) -> str:
    return f"{record.time:%Y-%m-%d}"


def _commit(record: Record) -> str:
    """The first ten characters of a commit, and whether there was more than the commit."""
    return ids.show(record.commit[:10]) + ("+" if record.commit.endswith("-dirty") else "")


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"
