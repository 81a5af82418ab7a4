"""A measure over time, for the terminal; `trend_chart` draws it, `trend_page` is the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from goldrank.base import ids
from goldrank.data.scores import format_value
from goldrank.data.table import Cell, Head, Part, Row, Sentence, Table, count, facts
from goldrank.history.over_time import Trend
from goldrank.history.record import Record
from goldrank.history.trends import TrendChange, TrendLine
from goldrank.report.numbers import sparkline

MOST_BARS = 60
MOST_ROWS = 30


def parts(trend: Trend) -> list[Part]:
    """The lines of a measure: a sparkline, the newest records and every change."""
    return several_parts([trend])


def several_parts(trends: Sequence[Trend]) -> list[Part]:
    """The lines of several measures of one history."""
    shown_parts: list[Part] = []
    for trend in trends:
        shown_parts.append(Sentence(trend.measure, "strong"))
        shown_parts += [part for details in trend.lines for part in _line(details.line, trend.baselines)]
    return [*shown_parts, Sentence(method(trends[0].statistics.alpha), "remark")]


def _line(line: TrendLine, baselines: Mapping[str, int]) -> list[Part]:
    shown_parts: list[Part] = []
    if line.new_because:
        shown_parts.append(Sentence(f"A new line, not comparable with the one before: {line.new_because}."))

    title = f"{ids.show(line.name)}  {spark(line.values)}  {line.shown}  ({count(len(line.records), 'record')})"
    older = line.hidden + max(0, len(line.records) - MOST_ROWS)
    caption = ""
    if older > 0:
        caption = f"{older:,} older ones are not listed here"
    shown_parts.append(replace(records(line, baselines, MOST_ROWS), title=title, caption=caption))
    shown_parts += [Sentence(f"{_sign(change)} {change.words}", change_style(change)) for change in line.changes]
    if len(line.records) + line.hidden == 1:
        return [*shown_parts, Sentence("one record: nothing to compare with", "remark")]

    if not line.changes:
        shown_parts.append(no_change(line))

    return [*shown_parts, *remarks(line)]


def no_change(line: TrendLine) -> Sentence:
    """What is said of a line without a mark."""
    if line.step_words:
        return Sentence(line.step_words, "warning")
    return Sentence("no change beyond what chance does", "remark")


def remarks(line: TrendLine) -> list[Sentence]:
    """Remarks on a line's marks."""
    sentences = [Sentence(line.noise_words, "remark")]
    if line.late:
        late_records = (
            f"{count(line.late, 'record')} with a time before what had been looked at: not looked at for changes"
        )
        sentences.append(Sentence(f"{late_records}; `goldrank history --dry-run` shows it", "warning"))
    return sentences


def change_style(change: TrendChange) -> str:
    """The style of a change."""
    return change.side


def _sign(change: TrendChange) -> str:
    if change.better:
        return "+"
    return "!"


def records(line: TrendLine, baselines: Mapping[str, int], limit: int) -> Table:
    """The newest records of a line, the newest last; sorted and filtered in a page."""
    baseline_of = {number: name for name, number in baselines.items()}
    changed = {change.record.id: change for change in line.changes}
    rows = []
    for i in range(max(0, len(line.records) - limit), len(line.records)):
        record, value = line.records[i], line.values[i]
        delta = math.nan
        if i:
            delta = value - line.values[i - 1]
        delta_words = ""
        if delta and not math.isnan(delta):
            delta_words = f"{delta:+.4f}"
        remarks = []
        if record.id in baseline_of:
            remarks.append(f"baseline {baseline_of[record.id]}")
        if record.note:
            remarks.append(record.note)
        sign, row_style = Cell(""), ""
        if record.id in changed:
            change = changed[record.id]
            sign, row_style = Cell(_sign(change), style=change_style(change)), "flag"

        cells: list[Cell | str] = [
            sign,
            Cell(str(record.id), record.id, link=f"#r{record.id}"),
            when(record),
            commit_of(record),
            Cell(format_value(value, record.averages[line.measure]), value),
            Cell(delta_words, delta),
            ids.show(", ".join(remarks)),
        ]
        rows.append(Row(cells, row_style))

    heads = [*Head.texts(""), *Head.numbers("id"), *Head.texts("time", "commit"), *Head.numbers(line.measure, "")]
    return Table([*heads, *Head.texts("note")], rows)


def method(alpha: float) -> str:
    """How changes are found."""
    return (
        "A change: the records since the last one, split in two, against random flips of the queries' signs and "
        f"against other orders of the records; each test finds a false one with a probability of at most {alpha:g} for "
        "a line. 'Perhaps': one of them alone. Marks stay when records are added; `goldrank history --dry-run` looks "
        "at all records anew."
    )


def spark(values: Sequence[float]) -> str:
    """A line of bars, from the least to the greatest value; of the newest ones if there are many."""
    values_drawn = [value if math.isfinite(value) else math.nan for value in list(values)[-MOST_BARS:]]
    finite = [value for value in values_drawn if not math.isnan(value)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    # Where nothing changes, the bars are of middle height.
    if low < high:
        return sparkline(values_drawn, low, high)
    return sparkline(values_drawn, low - 1.0, low + 1.25)


def brief(record: Record) -> str:
    """A record in a few words."""
    words = f"{record.id}  {when(record)}  {ids.show(record.label or record.run)}"
    if record.commit:
        words += f"  {commit_of(record)}"
    return words


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
            "signature": record.signature,
            "digest": record.digest,
        }
    )


def when(record: Record) -> str:
    """Its time, to the minute."""
    return f"{record.time:%Y-%m-%d %H:%M}"


def commit_of(record: Record) -> str:
    """The first ten characters of a commit, with a + if files were changed since."""
    commit = ids.show(record.commit[:10])
    if record.commit.endswith("-dirty"):
        commit += "+"
    return commit
