"""A leaderboard: which is best, systems with the ranks that they may have, all pairs, and a diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldrank import ids
from goldrank.data.scores import format_value
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, escape_html, note_sentences, plain
from goldrank.errors import one_of
from goldrank.report.numbers import interval, number

if TYPE_CHECKING:
    from goldrank.comparison.leaderboard import Leaderboard
    from goldrank.report.charts import Chart

FORMS = ("text", "markdown", "latex", "csv", "json", "svg")
ENDINGS = {".txt": "text", ".md": "markdown", ".tex": "latex", ".csv": "csv", ".json": "json", ".svg": "svg"}
MOST_IN_MATRIX = 30


def render(board: Leaderboard, form: str) -> str:
    """A leaderboard in one of the `FORMS`."""
    from goldrank.report import WIDTH, latex, markdown, separated

    one_of(form, FORMS, "form")
    if form == "json":
        return board.to_json() + "\n"
    if form == "svg":
        return diagram(board).alone()
    if form == "csv":
        return separated.write(systems_table(board))
    if form == "text":
        return plain(parts(board), WIDTH) + "\n"
    return markdown.write(parts(board)) if form == "markdown" else latex.write(parts(board))


def parts(board: Leaderboard) -> list[Part]:
    """What people read."""
    shown: list[Part] = [Sentence(board.words, "strong"), systems(board), matrix(board)]
    method = Sentence(f"{board.queries:,} queries. {board.method}.", "remark")
    return [*shown, method, *note_sentences(board.notes)]


def systems(board: Leaderboard) -> Table:
    """A row per system, best first."""
    rows: list[Cells] = []
    for standing in board.standings:
        low, high = standing.rank
        best = "best" if low == 1 else ""
        rows.append(
            [
                Cell(str(standing.place), standing.place),
                standing.run,
                Cell(format_value(standing.value, "mean"), standing.value, best),
                interval(standing.interval),
                Cell(f"{low} to {high}" if low < high else str(low), low),
            ]
        )
    heads = [*Head.numbers("place"), *Head.names("system"), *Head.numbers(board.measure, "interval", "rank")]
    caption = "Rank: from 1 + the systems that are surely better, to all less those that are surely worse."
    return Table(heads, rows, "Leaderboard", caption)


def systems_table(board: Leaderboard) -> Table:
    """The same as exact numbers, for CSV."""
    heads = [*Head.numbers("place"), *Head.names("run"), *Head.texts("measure")]
    heads += Head.numbers("value", "low", "high", "rank_low", "rank_high")
    rows: list[Cells] = []
    for row in board.rows():
        first = [Cell("", row["place"]), row["run"], board.measure]
        rows.append([*first, *(Cell("", row[name]) for name in ("value", "low", "high", "rank_low", "rank_high"))])
    return Table(heads, rows)


def matrix(board: Leaderboard) -> Table:
    """Differences of all pairs, row minus column; those that are clear are marked."""
    runs = [standing.run for standing in board.standings][:MOST_IN_MATRIX]
    difference = {(pair.b, pair.a): pair.difference for pair in board.pairs}
    difference |= {(a, b): -value for (b, a), value in difference.items()}
    rows: list[Cells] = []
    for i, run in enumerate(runs):
        cells = [Cell(str(board.standings[i].place)), Cell(run)]
        for j, other in enumerate(runs):
            if i == j:
                cells.append(Cell(""))
                continue
            value = difference[run, other]
            sign = ">" if board.better[i, j] else "<" if board.better[j, i] else ""
            style = {">": "better", "<": "worse"}.get(sign, "dim")
            cells.append(Cell(f"{number(value, signed=True)}{sign}", value, style))
        rows.append(cells)
    heads = [*Head.texts(""), *Head.names("system"), *Head.numbers(*(ids.show(run, 12) for run in runs))]
    left_out = f" The first {len(runs)} systems." if len(runs) < len(board.standings) else ""
    caption = f"Row minus column; > clearly better, < clearly worse.{left_out}"
    return Table(heads, rows, f"All pairs, {board.measure}", caption)


def diagram(board: Leaderboard) -> Chart:
    """Systems on the axis of their means; a bar joins neighbours of which no two are told apart."""
    from goldrank.report.charts import WIDTH, Chart, short, ticks, x_axis

    values = [standing.value for standing in board.standings]
    low, high = min(values), max(values)
    pad = 0.08 * (high - low) or 0.5
    low, high = low - pad, high + pad
    left, right, top, step = 8.0, WIDTH - 8.0, 8.0, 20.0
    axis = top + 12.0 * max(1, len(board.groups)) + 10
    height = axis + 26 + step * len(values)

    def x(value: float) -> float:
        return left + (value - low) / (high - low) * (right - left)

    drawn = [x_axis(x, {tick: f"{tick:g}" for tick in ticks(low, high)}, axis, top)]
    drawn.append(f'<path class="axis" d="M{left:g} {axis:g}H{right:g}"/>')
    for row, (first, last) in enumerate(board.groups):
        y, ends = top + 12.0 * row + 6, sorted((x(values[first]), x(values[last])))
        names = " and ".join(escape_html(board.standings[i].run) for i in (first, last))
        bar = f"M{ends[0] - 3:.1f} {y:g}H{ends[1] + 3:.1f}"
        drawn.append(
            f'<path class="even" stroke-width="4" stroke-linecap="round" d="{bar}">'
            f"<title>not told apart: from {names}</title></path>"
        )
    for i, standing in enumerate(board.standings):
        y, at = axis + 34 + step * i, x(standing.value)
        side, anchor = (at + 6, "") if at < WIDTH / 2 else (at - 6, "end ")
        drawn.append(f'<path class="axis" d="M{at:.1f} {axis:g}V{y - 4:.1f}"/>')
        drawn.append(f'<circle class="s0" cx="{at:.1f}" cy="{axis:g}" r="4"/>')
        words = f"{short(standing.run, 26)} {standing.value:.4f}, rank {standing.rank[0]} to {standing.rank[1]}"
        drawn.append(f'<text class="{anchor}lab" x="{side:.1f}" y="{y:.1f}">{words}</text>')
    return Chart(f"{board.measure}: systems that are not told apart are joined", board.words, height, "".join(drawn))
