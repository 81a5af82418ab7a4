"""A leaderboard: which is best, systems with the ranks that they may have, all pairs, and a diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldrank.base import ids
from goldrank.data.scores import format_value
from goldrank.data.table import Cell, Cells, Head, Part, Row, Sentence, Table, count, escape_html, note_sentences
from goldrank.report.numbers import interval, number

if TYPE_CHECKING:
    from goldrank.comparison.leaderboard import Leaderboard
    from goldrank.report.charts import Chart

MOST_IN_MATRIX = 30
MOST_GROUPS = 12
BEATEN = "worse than the best for sure"
"""What is said of the systems that a pair shows to be worse."""


def parts(board: Leaderboard) -> list[Part]:
    """What people read."""
    shown_parts: list[Part] = [Sentence(board.words, "strong"), systems(board), matrix(board)]
    method = Sentence(f"{count(board.queries, 'query')}. {board.method}.", "remark")
    return [*shown_parts, method, *note_sentences(board.notes)]


def systems(board: Leaderboard) -> Table:
    """A row per system, best first."""
    rows: list[Row] = []
    for standing in board.standings:
        low, high = standing.rank
        ranks = str(low)
        if low < high:
            ranks = f"{low} to {high}"
        best = ""
        if low == 1:
            best = "best"
        above = ""
        if standing.run == board.first_beaten:
            above = BEATEN
        cells: Cells = [
            Cell(str(standing.position), standing.position),
            standing.run,
            Cell(format_value(standing.value, "mean"), standing.value, best),
            interval(standing.interval),
            Cell(ranks, low),
        ]
        rows.append(Row(cells, above=above))

    heads = [*Head.numbers("place"), *Head.names("system"), *Head.numbers(board.measure, "interval", "rank")]
    caption = "Rank: from 1 + the systems that are surely better, to all less those that are surely worse."
    return Table(heads, rows, "Leaderboard", caption)


def matrix(board: Leaderboard) -> Table:
    """Differences of all pairs, row minus column; those that are clear are marked."""
    runs = [standing.run for standing in board.standings][:MOST_IN_MATRIX]
    difference = {(pair.b, pair.a): pair.difference for pair in board.pairs}
    difference |= {(a, b): -value for (b, a), value in difference.items()}
    values = {standing.run: standing.value for standing in board.standings}
    rows: list[Cells] = []
    for i, run in enumerate(runs):
        cells = [Cell(str(board.standings[i].position)), Cell(run)]
        for j, other_run in enumerate(runs):
            if i == j:
                cells.append(Cell(""))
                continue
            # With a baseline not every pair was tested.
            value = difference.get((run, other_run), values[run] - values[other_run])
            sign, style = "", "dim"
            if board.better[i, j]:
                sign, style = ">", "better"
            elif board.better[j, i]:
                sign, style = "<", "worse"
            cells.append(Cell(f"{number(value, signed=True)}{sign}", value, style))
        rows.append(cells)

    heads = [*Head.texts(""), *Head.names("system"), *Head.numbers(*(ids.show(run, 12) for run in runs))]
    caption = "Row minus column; > clearly better, < clearly worse."
    if len(runs) < len(board.standings):
        caption += f" The first {len(runs)} systems."
    return Table(heads, rows, f"All pairs, {board.measure}", caption)


def diagram(board: Leaderboard) -> Chart:
    """Systems, best first, on the axis of their means; a bar on the right joins those without a clear difference.

    A critical-difference diagram on its side: a row per system has room for its name at any width.
    """
    from goldrank.report.charts import WIDTH, Chart, scale, ticks, x_axis

    standings = board.standings
    ends = [value for standing in standings for value in (standing.value, *standing.interval) if value == value]
    low, high = min(ends), max(ends)
    pad = 0.04 * (high - low) or 0.5
    low, high = low - pad, high + pad

    groups = board.groups[:MOST_GROUPS]
    left, top, step = 8.0, 4.0, 36.0
    right = WIDTH - 16.0 - 10.0 * max(1, len(groups))
    bottom = top + step * len(standings)
    x = scale(low, high, left, right)
    labels = {tick: f"{tick:g}" for tick in ticks(low, high) if x(tick) > left + 8}
    drawn_parts = [x_axis(x, labels, bottom, bottom - 4), f'<path class="axis" d="M{left:g} {bottom:g}H{right:g}"/>']

    rows = []
    for i, standing in enumerate(standings):
        y = top + step * i + 26
        rows.append(y)
        first, last = standing.rank
        ranks = f"rank {first}"
        if first < last:
            ranks += f" to {last}"
        drawn_parts.append(f'<text x="{left:g}" y="{y - 12:g}">{escape_html(standing.run, 34)}</text>')
        drawn_parts.append(
            f'<text class="end dim" x="{right:g}" y="{y - 12:g}">{number(standing.value)}, {ranks}</text>'
        )
        drawn_parts.append(f'<path class="grid" d="M{left:g} {y:g}H{right:g}"/>')
        if standing.interval.low == standing.interval.low:
            interval_path = f"M{x(standing.interval.low):.1f} {y:g}H{x(standing.interval.high):.1f}"
            drawn_parts.append(f'<path class="s0" stroke-width="2" d="{interval_path}"/>')
        drawn_parts.append(f'<circle class="s0" cx="{x(standing.value):.1f}" cy="{y:g}" r="4.5"/>')

    for column, (first, last) in enumerate(groups):
        names = " to ".join(escape_html(standings[i].run, 60) for i in (first, last))
        bar = f"M{right + 12 + 10 * column:g} {rows[first] - 18:g}V{rows[last] + 4:g}"
        drawn_parts.append(
            f'<path class="even" stroke-width="5" stroke-linecap="round" d="{bar}">'
            f"<title>not told apart: {names}</title></path>"
        )

    title = f"{board.measure}: systems that are not told apart are joined by a bar"
    if len(groups) < len(board.groups):
        title += f" (the first {MOST_GROUPS} of {len(board.groups)} groups)"
    return Chart(title, board.words, bottom + 22, "".join(drawn_parts))
