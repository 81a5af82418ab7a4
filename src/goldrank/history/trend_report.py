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
    shown: list[Part] = []
    for trend in trends:
        shown.append(Sentence(trend.measure, "strong"))
        shown += [part for of in trend.lines for part in _line(of.line, trend.baselines)]
    return [*shown, Sentence(method(trends[0].statistics.alpha), "remark")]


def _line(line: TrendLine, baselines: Mapping[str, int]) -> list[Part]:
    shown: list[Part] = []
    if line.new_because:
        shown.append(Sentence(f"A new line, not comparable with the one before: {line.new_because}."))

    drawn = f"{ids.show(line.name)}  {spark(line.values)}  {line.shown}  ({count(len(line.records), 'record')})"
    older = line.hidden + max(0, len(line.records) - MOST_ROWS)
    if older > 0:
        caption = f"{older:,} older ones are not listed here"
    else:
        caption = ""

    shown.append(replace(records(line, baselines, MOST_ROWS), title=drawn, caption=caption))
    shown += [Sentence(f"{'+' if c.better else '!'} {c.words}", way(c)) for c in line.changes]
    if len(line.records) + line.hidden == 1:
        return [*shown, Sentence("one record: nothing to compare with", "remark")]

    if not line.changes:
        shown.append(Sentence("no change beyond what chance does", "remark"))

    return [*shown, *remarks(line)]


def remarks(line: TrendLine) -> list[Sentence]:
    """What to know of a line's marks."""
    sentences = [Sentence(line.noise_words, "remark")]
    if line.late:
        what = f"{count(line.late, 'record')} with a time before what had been looked at: not looked at for changes"
        sentences.append(Sentence(f"{what}; `goldrank history --dry-run` shows it", "warning"))
    return sentences


def way(change: TrendChange) -> str:
    """The style of a change."""
    if change.better:
        return "better"
    return "worse"


def records(line: TrendLine, baselines: Mapping[str, int], most: int) -> Table:
    """The newest records of a line, the newest last; sorted and filtered in a page."""
    named = {number: name for name, number in baselines.items()}
    changed = {change.record.id: change for change in line.changes}
    rows = []
    for i in range(max(0, len(line.records) - most), len(line.records)):
        record, value = line.records[i], line.values[i]
        if i:
            delta = value - line.values[i - 1]
        else:
            delta = math.nan
        if record.id in named:
            remarks = [f"baseline {named[record.id]}"]
        else:
            remarks = []
        remarks += [record.note] if record.note else []
        change = changed.get(record.id)
        cells: list[Cell | str] = [
            Cell("+" if change.better else "!", style=way(change)) if change else "",
            Cell(str(record.id), record.id, link=f"#r{record.id}"),
            when(record),
            commit_of(record),
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
        "A change: the records since the last one, split in two, against random flips of the queries' signs and "
        f"against other orders of the records; each test finds a false one with a probability of at most {alpha:g} for "
        "a line. 'Perhaps': one of them alone. Marks stay when records are added; `goldrank history --dry-run` looks "
        "at all records anew."
    )


def spark(values: Sequence[float]) -> str:
    """A line of bars, from the least to the greatest value; of the newest ones if there are many."""
    drawn = [value if math.isfinite(value) else math.nan for value in list(values)[-MOST_BARS:]]
    known = [value for value in drawn if not math.isnan(value)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    # Where nothing changes, the bars are of middle height.
    if low < high:
        return sparkline(drawn, low, high)
    return sparkline(drawn, low - 1.0, low + 1.25)


def brief(record: Record) -> str:
    """A record in a few words."""
    if record.commit:
        commit = f"  {commit_of(record)}"
    else:
        commit = ""
    return f"{record.id}  {when(record)}  {ids.show(record.label or record.run)}{commit}"


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


def when(record: Record) -> str:
    """Its time, to the minute."""
    return f"{record.time:%Y-%m-%d %H:%M}"


def commit_of(record: Record) -> str:
    """The first ten characters of a commit, and whether there was more than the commit."""
    return ids.show(record.commit[:10]) + ("+" if record.commit.endswith("-dirty") else "")
