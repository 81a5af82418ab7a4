"""The HTML page of a history: an overview, and for each measure what changed, a chart, slices and records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from goldrank.base import ids
from goldrank.comparison.intervals import percent
from goldrank.data.scores import format_value
from goldrank.data.table import Cell, Cells, Head, Row, Sentence, Table, count, note_sentences
from goldrank.history import trend_chart
from goldrank.history import trend_report as trend
from goldrank.history.analysis import Mark
from goldrank.history.changes import FoundBy
from goldrank.history.details import LineDetails
from goldrank.history.over_time import Trend
from goldrank.history.record import Record
from goldrank.history.trends import DOUBTS, TrendChange, TrendLine
from goldrank.report.decision import SIGNS, Decision
from goldrank.report.numbers import interval, number

MOST_ROWS = 1_000
MOST_BARS = 24
FOUND_BY: dict[FoundBy, str] = {
    "both": "Shown by queries and by records",
    "queries": "Shown by queries alone",
    "records": "Shown by records alone",
}
"""Which of the two tests found a change."""
HEADS = ("change", "record", "time", "commit", "", "difference", "note")


def render(trend: Trend) -> str:
    """One HTML file for one measure."""
    return page([trend])


def page(trends: Sequence[Trend]) -> str:
    """One HTML file for several measures of one history."""
    from goldrank.report import html

    lines_of_measures = [one_trend.lines for one_trend in trends]
    baselines, statistics = trends[0].baselines, trends[0].statistics
    records = {record.id: record for lines in lines_of_measures for details in lines for record in details.line.records}
    listed = sorted(records.values(), key=lambda record: (record.time, record.id), reverse=True)
    baseline_of = {number: name for name, number in baselines.items()}
    shown_records = []
    for record in listed[:MOST_ROWS]:
        names_of_record = []
        if record.id in baseline_of:
            names_of_record.append(baseline_of[record.id])
        shown_records.append(_record(record, names_of_record))

    measures = [_measure(lines, baselines) for lines in lines_of_measures]
    newest = newest_line(lines_of_measures[0])
    values = {
        "decision": decision(newest),
        "words": _lead_words(newest),
        "button": _button(newest),
        "overview": _overview(lines_of_measures, statistics.level),
        "measures": measures,
        "method": trend.method(statistics.alpha),
        "count": count(len(records), "record"),
        "records": shown_records,
        "left_out": max(0, len(listed) - MOST_ROWS),
    }
    names = [lines[0].line.measure for lines in lines_of_measures]
    title = "History: " + ", ".join(names[:3]) + ", …" * (len(names) > 3)
    return html.render("trend.html.jinja", title, values, styles=["trend.css"])


def newest_line(lines: Sequence[LineDetails]) -> TrendLine:
    """The line that has the newest record."""
    return max((details.line for details in lines), key=lambda line: (line.records[-1].time, line.records[-1].id))


def decision(line: TrendLine) -> Decision:
    """The box: the last change of the line, or that there is none."""
    changes: list[str] = []
    facts = [count(len(line.records), "record")]
    if line.changes:
        change = line.changes[-1]
        facts = _facts(change)
        changes += _doubts(change.mark)
    elif line.step is not None:
        changes.append(f"{line.step_words}.")
    if line.noise.known:
        facts.append(f"Runs of the same system differ by {line.noise.deviation:.4f}")
    else:
        changes.append("How far runs of the same system differ is not known; `record --replicate` tells.")

    word, style, value, about = "no change shown", "unclear", line.shown, f"{line.measure} of {ids.show(line.name)}"
    if line.changes:
        mark = change.mark
        word, style, value = (
            f"{change.side} since record {mark.record}",
            change.side,
            number(mark.difference, signed=True),
        )
        about = f"{line.measure}, against records {mark.since} to {mark.until}; {line.shown} now"
        if not mark.is_sure:
            word, style = f"perhaps {word}", "unclear"
    elif line.step is not None:
        word = "moved on these queries"

    sentences = [Sentence(text, "remark") for text in changes]
    return Decision(word, SIGNS[style], style, value, about, None, None, facts, sentences)


def _facts(change: TrendChange) -> list[str]:
    """What a change rests on."""
    mark, facts = change.mark, []
    if change.record.commit:
        facts.append(f"It came with commit {ids.show(change.record.commit[:10])}")
    facts.append(f"{mark.differing:,} of {mark.queries:,} queries differ")
    facts.append(f"{FOUND_BY[mark.found_by]}, p {mark.p_words}")
    return facts


def _doubts(mark: Mark) -> list[str]:
    """What could still be otherwise about a change."""
    doubts = []
    if mark.first != mark.last:
        doubts.append(f"It may have come with any of records {mark.first} to {mark.last}.")
    if mark.confirmed:
        doubts.append(f"Later records alone showed the same, at record {mark.confirmed}.")
    else:
        doubts.append("Later records alone have not shown it yet.")
    if not mark.is_sure:
        doubts.append(f"It is {DOUBTS[mark.found_by]}.")
    return doubts


def _lead_words(line: TrendLine) -> str:
    """The state of the line, to be read aloud."""
    name = f"{line.measure} of {ids.show(line.name)}"
    if not line.changes:
        if line.step is not None:
            return f"{name} moved on these queries; for queries like these no change is shown."
        return f"{name} has not changed by more than chance does."
    change = line.changes[-1]
    verb = "fell"
    if change.difference > 0:
        verb = "rose"
    perhaps = ""
    if not change.mark.is_sure:
        perhaps = "perhaps "
    day = change.record.time.strftime("%Y-%m-%d")
    return f"{name} {perhaps}{verb} by {abs(change.difference):.4f} with record {change.record.id} ({day})."


def _button(line: TrendLine) -> dict[str, object]:
    """The record to read next."""
    record = line.records[-1]
    if line.changes:
        record = line.changes[-1].record
    elif line.step is not None:
        record = line.records[line.step]
    return {"id": record.id, "words": f"Read record {record.id}"}


def _measure(lines: Sequence[LineDetails], baselines: Mapping[str, int]) -> dict[str, object]:
    changes = [
        Sentence(f"{details.line.name}: {change.words}", trend.change_style(change))
        for details in lines
        for change in details.line.changes
    ]
    charts = [(trend_chart.detailed(lines, trend_chart.WIDE), trend_chart.detailed(lines, trend_chart.NARROW))]
    for details in lines:
        for attribute in dict.fromkeys(part.attribute for part in details.slices):
            sizes = (trend_chart.WIDE, trend_chart.NARROW)
            charts.append(tuple(trend_chart.sliced(details, attribute, size) for size in sizes))  # type: ignore[arg-type]

    return {
        "name": lines[0].line.measure,
        "charts": charts,
        "changes": changes or [trend.no_change(details.line) for details in lines],
        "lines": [
            {
                "line": details.line,
                "remarks": [*trend.remarks(details.line), *note_sentences(details.notes)],
                "table": _table(details, baselines),
            }
            for details in lines
        ],
    }


def _overview(measures: Sequence[Sequence[LineDetails]], level: float) -> Table:
    """A row per line and measure: where it is now, and since when."""
    rows: list[Cells] = []
    for i, lines in enumerate(measures, 1):
        for details in lines:
            line, last = details.line, details.line.records[-1]
            change_cell = Cell("")
            if line.changes:
                change = line.changes[-1]
                words = f"{change.side} since record {change.record.id}"
                change_cell = Cell(words, style=trend.change_style(change))
            rows.append(
                [
                    Cell(line.measure, link=f"#m{i}"),
                    line.name,
                    Cell(line.shown, line.values[-1]),
                    interval(details.intervals[-1]),
                    change_cell,
                    Cell(str(last.id), last.id, link=f"#r{last.id}"),
                    trend.when(last),
                    trend.spark(line.values[-MOST_BARS:]),
                ]
            )

    heads = [*Head.texts("measure"), *Head.names("line"), *Head.numbers("now", f"{percent(level)} interval")]
    heads += [*Head.texts("last change"), *Head.numbers("record"), *Head.texts("time", "trend")]
    return Table(heads, rows, stacks=True)


def _table(details: LineDetails, baselines: Mapping[str, int]) -> Table:
    """The records of a line, newest first, and sorted by a click."""
    line = details.line
    table = trend.records(line, baselines, MOST_ROWS)
    intervals = details.intervals[-len(table.rows) :]
    heads = [Head(text or head.text, head.kind) for text, head in zip(HEADS, table.heads, strict=True)]
    rows = []
    for row, mean_interval in zip(table.full_rows, intervals, strict=True):
        rows.append(Row([*row.cells[:5], interval(mean_interval), *row.cells[5:]], row.style, row.data))

    older = line.hidden + len(line.records) - len(rows)
    caption = ""
    if older:
        caption = f"{count(older, 'older record')} not listed here."
    heads = [*heads[:5], *Head.numbers("95% interval"), *heads[5:]]
    return replace(table, heads=heads, rows=rows[::-1], caption=caption, sortable=True, stacks=True)


def _record(record: Record, baselines: Sequence[str]) -> dict[str, object]:
    """A record in full: what dots and tables link to."""
    summaries = [[name, format_value(value, record.averages[name])] for name, value in record.mean.items()]
    values = Table([*Head.texts("measure"), *Head.numbers("value")], summaries)
    return {"id": record.id, "title": trend.brief(record), "parts": [trend.about(record, baselines), values]}
