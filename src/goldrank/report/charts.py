"""Charts as SVG, drawn in Python: inline in the HTML report, or alone for a paper.

Colours are classes, so that a page can show them light or dark; a chart in a separate file brings its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from goldrank.base import ids
from goldrank.comparison.intervals import Interval, percent
from goldrank.comparison.pair import Pair
from goldrank.comparison.rank_changes import Ranks, locate
from goldrank.comparison.result import Comparison
from goldrank.comparison.slice_table import SliceDifference
from goldrank.data.table import NAME_LIMIT, Drawing, escape_html
from goldrank.report.numbers import interval, number

WIDTH = 420
COLOURS = 8
LIGHT = ("#0b6fb8", "#c8500a", "#12805c", "#a8458b", "#9a7000", "#3b8fb5", "#6b55b5", "#6f6f6f")
MOST_BARS = 300
MANY_DOTS = 500
SHADES = ".d0{stroke-opacity:.18}.d1{stroke-opacity:.35}.d2{stroke-opacity:.6}.d3{stroke-opacity:.9}"
MOST_ROWS = 24

STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#222}.dim{fill:#666}.end{text-anchor:end}.mid{text-anchor:middle}"
    ".axis{stroke:#999;fill:none}.grid{stroke:#ddd;fill:none}.zero{stroke:#444;stroke-dasharray:3 3;fill:none}"
    ".up{fill:#12805c;stroke:#12805c}.down{fill:#b3261e;stroke:#b3261e}.even{fill:#777;stroke:#777}"
    ".line{fill:none;stroke-width:2}.dots{fill:none;stroke-linecap:round;stroke:#0b6fb8;stroke-opacity:.55}"
    ".band{stroke:none;fill-opacity:.14}"
    ".lab{paint-order:stroke;stroke:#fff;stroke-width:4px}.flow{fill:none;stroke-opacity:.55}.bars{stroke:none}"
    f"{SHADES}"
) + "".join(
    f".s{i}{{stroke:{colour};fill:{colour}}}.line.s{i}{{fill:none}}.band.s{i}{{stroke:none}}"
    for i, colour in enumerate(LIGHT)
)


@dataclass(frozen=True)
class Chart:
    """A drawing with a name and a description for people who cannot see it."""

    title: str
    description: str
    height: float
    body: str
    width: float = WIDTH

    def inline(self) -> str:
        """For a page that has the styles."""
        return self._svg("")

    def alone(self) -> str:
        """A separate file."""
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + self._svg(f"<style>{STYLE}</style>")

    def placed(self, top: float) -> str:
        """For a drawing that has the styles, at a distance from its top."""
        return self._svg("", f' y="{top:g}" width="{self.width:g}" height="{self.height:g}"')

    def _svg(self, style: str, position: str = "") -> str:
        size = f'viewBox="0 0 {self.width:g} {self.height:g}"{position}'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="chart" role="img">'
            f"<title>{escape_html(self.title, 300)}</title><desc>{escape_html(self.description, 1000)}</desc>"
            f"{style}{self.body}</svg>"
        )


def stacked(charts: Sequence[Drawing]) -> str:
    """A file with several charts, one below the other, each under its title."""
    if len(charts) == 1:
        return charts[0].alone()

    width = max(chart.width for chart in charts)
    parts: list[str] = []
    top = 0.0
    for chart in charts:
        parts.append(f'<text x="8" y="{top + 20:g}">{escape_html(chart.title, 300)}</text>')
        parts.append(chart.placed(top + 32))
        top += chart.height + 48
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {top:g}"><style>{STYLE}</style>'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{opening}{"".join(parts)}</svg>'


def all_charts(c: Comparison) -> dict[str, Chart]:
    """Every chart of a comparison, by a name for its file."""
    ranks = None
    if c.placed:
        ranks = locate(c.placed)
    charts = {f"forest-{i}-{_file_word(m)}": forest(c, m) for i, m in enumerate(c.measures, 1)}
    charts |= {f"curve-{_file_word(name)}": curves(name, points) for name, points in c.curves.items()}
    for pair in c.of(c.measures[0]):
        letters = f"{c.letters[pair.a]}-{c.letters[pair.b]}"
        for kind, chart in zip(("deltas", "scatter", "ranks"), of_pair(c, pair, ranks), strict=False):
            charts[f"{kind}-{letters}"] = chart
    return charts


def of_pair(c: Comparison, pair: Pair, ranks: Ranks | None, only: Collection[str] | None = None) -> list[Chart]:
    """The charts of the queries of one pair: differences, one dot each, and where documents went, if that is known."""
    i, j = c.runs.index(pair.a), c.runs.index(pair.b)
    a, b = c.values[pair.measure][i], c.values[pair.measure][j]
    drawn = [delta_bars(pair, b - a), scatter(pair, a, b)]
    if ranks is None:
        return drawn
    return [*drawn, rank_shift((pair.a, pair.b), ranks, i, j, only)]


def _file_word(text: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in text)[:60]


class ForestRow(NamedTuple):
    """One line of a forest chart."""

    label: str
    difference: float
    interval: Interval
    sign: str
    """'up', 'down' or 'even'."""
    brief: str


def forest(comparison: Comparison, measure: str) -> Chart:
    """Each pair's difference with its interval: right of the dashed line B is higher."""
    pairs = comparison.of(measure)
    labels = [f"{escape_html(pair.b, 26)} − {escape_html(pair.a, 26)}" for pair in pairs]
    return _pairs_forest(measure, comparison, pairs, labels)


def measures_forest(comparison: Comparison, pairs: Sequence[Pair]) -> Chart:
    """One pair's difference by each measure, with its interval."""
    labels = [escape_html(pair.measure + f" ({pair.role})" * bool(pair.role), 50) for pair in pairs]
    names = f"{ids.show(pairs[0].b, 40)} − {ids.show(pairs[0].a, 40)}"
    return _pairs_forest(names, comparison, pairs, labels)


def slices_forest(differences: Sequence[SliceDifference], alpha: float, level: float, higher_is_better: bool) -> Chart:
    """One pair's difference on each group of queries, with its interval."""
    rows = []
    for part in differences:
        is_better = (part.difference > 0) == higher_is_better
        sign = "even"
        if part.p_adjusted <= alpha and is_better:
            sign = "up"
        elif part.p_adjusted <= alpha:
            sign = "down"
        group = f"{part.attribute}: {part.value}"
        label = f"{escape_html(group, 44)} ({part.n:,})"
        brief = f"{group}, {part.n:,} queries: {number(part.difference, signed=True)}"
        rows.append(ForestRow(label, part.difference, part.interval, sign, brief))

    first = differences[0]
    names = f"{ids.show(first.b, 40)} − {ids.show(first.a, 40)}, {first.measure}"
    title = f"{names}: slices with {percent(level)} intervals"
    return forest_chart(title, rows, "; ".join(row.brief for row in rows[:8]))


def _pairs_forest(subject: str, comparison: Comparison, pairs: Sequence[Pair], labels: Sequence[str]) -> Chart:
    rows = []
    for pair, label in zip(pairs, labels, strict=True):
        interval_words = ""
        if not math.isnan(pair.interval.low):
            interval_words = f" ({interval(pair.interval, signed=True)})"
        brief = f"{pair.measure}: {pair.short_words}, {number(pair.difference, signed=True)}{interval_words}"
        sign = {"better": "up", "worse": "down"}.get(pair.verdict, "even")
        rows.append(ForestRow(label, pair.difference, pair.interval, sign, brief))
    title = f"{subject}: differences with {percent(comparison.statistics.level)} intervals"
    return forest_chart(title, rows, " ".join(pair.words for pair in pairs[:5]))


def forest_chart(title: str, rows: Sequence[ForestRow], description: str) -> Chart:
    """Differences with their intervals, one below the other; no line crosses the labels. Labels are escaped."""
    shown_rows = rows[:MOST_ROWS]
    ends = [end for row in shown_rows for end in (row.difference, *row.interval) if not math.isnan(end)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    if high > low:
        low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
    else:
        low, high = -1.0, 1.0

    left, right, top, step = 8.0, WIDTH - 64.0, 4.0, 38.0
    bottom = top + step * len(shown_rows)
    x = scale(low, high, left, right)
    labels = {tick: _signed_tick(tick) for tick in ticks(low, high)}
    bands = [top + step * i for i in range(len(shown_rows))]
    grid = "".join(f"M{x(tick):.1f} {y + 17:g}v20" for tick in labels for y in bands)
    zero = "".join(f"M{x(0):.1f} {y + 17:g}v20" for y in bands)
    parts = [f'<path class="grid" d="{grid}"/><path class="zero" d="{zero}"/>']
    for tick, label in labels.items():
        if x(tick) < right + 20:
            parts.append(f'<text class="mid dim" x="{max(x(tick), 14):.1f}" y="{bottom + 14:g}">{label}</text>')

    for top_of_row, row in zip(bands, shown_rows, strict=True):
        y = top_of_row + 27
        parts.append(f'<text class="lab" x="{left:g}" y="{y - 13:.1f}">{row.label}</text>')
        parts.append(f'<g class="{row.sign}"><title>{escape_html(row.brief, 300)}</title>')
        if not math.isnan(row.interval.low):
            a, b = x(row.interval.low), x(row.interval.high)
            whisker = f"M{a:.1f} {y:g}H{b:.1f}M{a:.1f} {y - 4:g}v8M{b:.1f} {y - 4:g}v8"
            parts.append(f'<path stroke-width="2" fill="none" d="{whisker}"/>')
        parts.append(f'<circle cx="{x(row.difference):.1f}" cy="{y:g}" r="4.5"/></g>')
        value = number(row.difference, signed=True)
        parts.append(f'<text class="end" x="{WIDTH - 4}" y="{y + 4:g}">{value}</text>')

    if len(rows) > MOST_ROWS:
        title += f" (the first {MOST_ROWS} of {len(rows)})"
    return Chart(title, description, bottom + 22, "".join(parts))


def _signed_tick(value: float) -> str:
    if abs(value) <= 1e-12:
        return "0"
    return f"{value:+g}"


def curves(
    name: str,
    points: Mapping[str, Sequence[tuple[float, float]]],
    *,
    label: str | None = None,
    title: str | None = None,
    bands: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    joined: bool = True,
) -> Chart:
    """One line per system over cut-offs, or over recall levels for interpolated precision.

    `bands` are intervals of the points. Points that are not `joined` by a line have their intervals as strokes.
    """
    bands = bands or {}
    xs = [k for line in points.values() for k, _ in line]
    ys = [value for line in points.values() for _, value in line]
    ys += [high for band in bands.values() for _, high in band]
    top_value = _nice_top(max((value for value in ys if not math.isnan(value)), default=1.0))
    lowest, highest = min(xs), max(xs)
    left, right, top, bottom = 40.0, WIDTH - 12.0 - 4 * max(0, len(f"{highest:g}") - 3), 10.0, 210.0
    y = scale(0.0, top_value, bottom, top)
    if name.startswith("IPrec"):
        x, x_ticks = scale(0.0, 1.0, left, right), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        usual_label, usual_title = "recall", "Precision over recall"
    else:
        x, x_ticks = log_scale(lowest, highest, left, right), sorted(set(xs))
        usual_label, usual_title = "first k documents", f"{name} over cut-offs"

    parts = [y_axis(y, ticks(0.0, top_value), left, right)]
    for tick in x_ticks:
        parts.append(f'<text class="mid dim" x="{x(tick):.1f}" y="{bottom + 16:g}">{tick:g}</text>')
    for i, (run, line) in enumerate(points.items()):
        ends_of_points = zip(line, bands.get(run, ()), strict=False)
        intervals = [(x(k), y(low), y(high)) for (k, _), (low, high) in ends_of_points]
        if intervals:
            parts.append(_intervals(intervals, i, joined))

    shift = 3
    if joined:
        shift = 0
    drawn = {}
    for i, (run, line) in enumerate(points.items()):
        drawn[run] = [(x(k) + shift * i, y(value)) for k, value in line if not math.isnan(value)]
    lines, row = _lines(drawn, label or usual_label, left, right, bottom, joined)
    ends = "; ".join(f"{run}: {line[-1][1]:.4f} at {line[-1][0]:g}" for run, line in list(points.items())[:10])
    return Chart(title or usual_title, ends, row, "".join(parts) + lines)


def _intervals(intervals: Sequence[tuple[float, float, float]], index: int, joined: bool) -> str:
    """The intervals of a line's points (x, low, high): an area if points are joined, else a stroke each."""
    if not joined:
        strokes = "".join(f"M{x + 3 * index:.1f} {low:.1f}V{high:.1f}" for x, low, high in intervals)
        return f'<path class="line s{index % COLOURS}" d="{strokes}"/>'

    upper = "L".join(f"{x:.1f} {high:.1f}" for x, _, high in intervals)
    lower = "L".join(f"{x:.1f} {low:.1f}" for x, low, _ in reversed(intervals))
    return f'<path class="band s{index % COLOURS}" d="M{upper}L{lower}z"/>'


def _lines(
    drawn: Mapping[str, Sequence[tuple[float, float]]],
    label: str,
    left: float,
    right: float,
    bottom: float,
    joined: bool = True,
) -> tuple[str, float]:
    """A line with dots for each name, a label below the axis and the names below that, two in a row; and their end."""
    middle, row = (left + right) / 2, bottom + 52
    parts = [f'<text class="mid dim" x="{middle:.1f}" y="{bottom + 32:g}">{escape_html(label, NAME_LIMIT)}</text>']
    for i, (name, points) in enumerate(drawn.items()):
        line = f'<path class="line s{i % COLOURS}"{dash(i)}'
        path = "L".join(f"{point_x:.1f} {point_y:.1f}" for point_x, point_y in points)
        parts.append(f"<g><title>{escape_html(name, NAME_LIMIT)}</title>")
        if joined and points:
            parts.append(f'{line} d="M{path}"/>')
        parts += [
            f'<circle class="s{i % COLOURS}" cx="{point_x:.1f}" cy="{point_y:.1f}" r="2.5"/>'
            for point_x, point_y in points
        ]
        is_right = bool(i % 2)
        key_x = left
        if is_right:
            key_x = middle
        parts.append(f'{line} d="M{key_x:.1f} {row - 4:g}h22"/>')
        parts.append(f'<text x="{key_x + 28:.1f}" y="{row:g}">{escape_html(name, 22)}</text></g>')
        if is_right or i == len(drawn) - 1:
            row += 18

    return "".join(parts), row


def powers(title: str, label: str, series: Mapping[str, Sequence[tuple[float, float]]]) -> Chart:
    """Lines on axes in powers of ten, where what grows in proportion has the slope of the diagonal."""
    points = [point for line in series.values() for point in line if min(point) > 0]
    x_low, x_high = _powers_of_ten([point[0] for point in points])
    y_low, y_high = _powers_of_ten([point[1] for point in points])
    left, right, top, bottom = 48.0, WIDTH - 16.0, 10.0, 230.0
    x, y = log_scale(10.0**x_low, 10.0**x_high, left, right), log_scale(10.0**y_low, 10.0**y_high, bottom, top)
    axes = y_axis(y, [10.0**power for power in range(y_low, y_high + 1)], left, right)
    axes += x_axis(x, {10.0**power: f"1e{power}" for power in range(x_low, x_high + 1)}, bottom, top)

    drawn = {}
    for name, line in series.items():
        drawn[name] = [(x(point_x), y(point_y)) for point_x, point_y in line if min(point_x, point_y) > 0]
    lines, row = _lines(drawn, label, left, right, bottom)
    ends = "; ".join(f"{name}: {line[-1][1]:.3g} at {line[-1][0]:g}" for name, line in series.items())

    return Chart(title, ends, row, axes + lines)


def _powers_of_ten(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten between which positive values lie, at least one apart."""
    low = math.floor(math.log10(min(values)))
    high = math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def delta_bars(pair: Pair, deltas: np.ndarray) -> Chart:
    """One bar per query, from the largest gain to the largest loss."""
    values = np.sort(deltas[~np.isnan(deltas)])[::-1]
    drawn = values
    if len(values) > MOST_BARS:
        drawn = np.array([part.mean() for part in np.array_split(values, MOST_BARS)])
    largest = float(np.abs(drawn).max(initial=0)) or 1.0
    left, right, top, bottom = 44.0, WIDTH - 8.0, 10.0, 190.0
    middle = (top + bottom) / 2
    step = (right - left) / len(drawn)
    heights = middle - drawn / largest * (bottom - top) / 2

    def bars(low: int, high: int) -> str:
        rows = "".join(f"V{y:.1f}h{step:.5g}" for y in heights[low:high].tolist())
        if high > low:
            return f"M{left + low * step:.1f} {middle:g}{rows}V{middle:g}z"
        return ""

    ups, downs = bars(0, int((drawn > 0).sum())), bars(int((drawn >= 0).sum()), len(drawn))
    parts = [_labels([(top + 4, f"{largest:+.2f}"), (middle + 4, "0"), (bottom + 4, f"{-largest:+.2f}")], left - 6)]
    parts.append(f'<path class="axis" d="M{left:g} {middle:g}H{right:g}M{left:g} {top:g}V{bottom:g}"/>')
    parts.append(f'<path class="bars up" d="{ups}"/><path class="bars down" d="{downs}"/>')
    counts_words = f"{pair.wins:,} better, {pair.ties:,} equal, {pair.losses:,} worse"
    parts.append(f'<text class="mid dim" x="{(left + right) / 2:g}" y="{bottom + 18:g}">{counts_words}</text>')
    return Chart(
        f"{pair.measure} of {pair.b} minus {pair.a}, query by query",
        f"{counts_words} of {pair.n:,} queries; largest gain {values[0]:+.4f}, largest loss {values[-1]:+.4f}",
        bottom + 26,
        "".join(parts),
    )


def scatter(pair: Pair, a: np.ndarray, b: np.ndarray) -> Chart:
    """A dot per query: above the diagonal B is higher. Queries at the same point make a larger dot."""
    defined = ~(np.isnan(a) | np.isnan(b))
    a, b = a[defined], b[defined]
    low = float(min(a.min(), b.min(), 0.0))
    high = _nice_top(float(max(a.max(), b.max())))
    side, left, top = 192.0, 60.0, 8.0
    cells = 48  # of 4 units each, so that positions are whole numbers

    def rounded_share(values: np.ndarray) -> np.ndarray:
        scaled: np.ndarray = (values - low) / ((high - low) or 1.0)
        return np.round(scaled * cells) / cells

    spots, counts = np.unique(np.stack([rounded_share(a), rounded_share(b)], axis=1), axis=0, return_counts=True)
    parts = [f'<path class="grid" d="M{left:g} {top + side:g}L{left + side:g} {top:g}"/>']
    parts.append(f'<rect class="axis" x="{left:g}" y="{top:g}" width="{side:g}" height="{side:g}"/>')
    # Few queries are dots that grow; many are a map, darker where there are more of them.
    sizes = [(1, 5, ""), (2, 8, ""), (6, 12, "")]
    if len(a) > MANY_DOTS:
        sizes = [(1, 4, " d0"), (2, 4, " d1"), (4, 4, " d2"), (16, 6, " d3"), (64, 9, " d3")]
    level = np.searchsorted([fewest for fewest, *_ in sizes], counts, side="right") - 1
    for i, (_, size, shade) in enumerate(sizes):
        dots = "".join(f"M{left + x * side:.0f} {top + side - y * side:.0f}h0" for x, y in spots[level == i].tolist())
        if dots:
            parts.append(f'<path class="dots{shade}" stroke-width="{size}" d="{dots}"/>')

    parts.append(_labels([(top + 10, f"{high:g}"), (top + side, f"{low:g}")], left - 6))
    parts.append(f'<text class="dim" x="{left:g}" y="{top + side + 14:g}">{low:g}</text>')
    parts.append(f'<text class="end dim" x="{left + side:g}" y="{top + side + 14:g}">{high:g}</text>')
    parts.append(f'<text class="mid" x="{left + side / 2:g}" y="{top + side + 28:g}">{escape_html(pair.a, 24)}</text>')
    beside = left + side + 14
    for y, row, kind in (
        (top + 14, f"↑ {escape_html(pair.b, 20)}", ""),
        (top + 34, "above the line:", ' class="dim"'),
        (top + 50, f"{escape_html(pair.b, 13)} higher", ' class="dim"'),
        (top + side - 20, "below the line:", ' class="dim"'),
        (top + side - 4, f"{escape_html(pair.a, 13)} higher", ' class="dim"'),
    ):
        parts.append(f'<text{kind} x="{beside:g}" y="{y:g}">{row}</text>')
    return Chart(
        f"{pair.measure}: {pair.a} against {pair.b}",
        f"One dot per query; {pair.b} is better on {pair.wins:,} and worse on {pair.losses:,} of {pair.n:,}",
        top + side + 36,
        "".join(parts),
    )


BANDS = ("1", "2–3", "4–10", "11–100", "> 100", "absent")


def _band(ranks: np.ndarray) -> list[int]:
    """The positions of ranks in `BANDS`; a rank of 0 is absent."""
    bands: list[int] = np.where(ranks == 0, len(BANDS) - 1, np.searchsorted((1, 3, 10, 100), ranks)).tolist()
    return bands


def rank_shift(
    names: tuple[str, str], ranks: Ranks, before: int, after: int, only: Collection[str] | None = None
) -> Chart:
    """Where relevant documents went: a band from their rank before to their rank after, wider for more documents.

    `only` draws the documents of some queries; the chart says of how many.
    """
    drawn = np.array([only is None or query in only for query in ranks.queries], bool)
    relevant = (ranks.grade >= 1) & np.repeat(drawn, np.diff(ranks.start))
    old, new = ranks.rank[before][relevant], ranks.rank[after][relevant]
    flows = Counter(zip(_band(old), _band(new), strict=True))
    largest_flow = max(flows.values(), default=1)
    left, right, top, step = 66.0, WIDTH - 66.0, 34.0, 30.0
    parts = [
        f'<text x="8" y="14">{escape_html(names[0], 28)}</text>',
        f'<text class="end" x="{WIDTH - 8:g}" y="14">{escape_html(names[1], 28)}</text>',
    ]
    for i, label in enumerate(BANDS):
        y = top + i * step + 4
        parts.append(f'<text class="end dim" x="{left - 8:g}" y="{y:g}">{label}</text>')
        parts.append(f'<text class="dim" x="{right + 8:g}" y="{y:g}">{label}</text>')
    for (i, j), count in sorted(flows.items(), key=lambda flow: (-flow[1], flow[0])):
        start, end, middle = top + i * step, top + j * step, (left + right) / 2
        if i == j:
            sign = "even"
        elif j < i:
            sign = "up"
        else:
            sign = "down"
        width = 1 + 17 * count / largest_flow
        flow_words = f"{count:,} documents from {BANDS[i]} to {BANDS[j]}"
        parts.append(
            f'<path class="flow {sign}" stroke-width="{width:.1f}" '
            f'd="M{left:g} {start:g}C{middle:g} {start:g} {middle:g} {end:g} {right:g} {end:g}">'
            f"<title>{flow_words}</title></path>"
        )

    ups = sum(count for (i, j), count in flows.items() if j < i)
    downs = sum(count for (i, j), count in flows.items() if j > i)
    description = f"{len(old):,} relevant documents: {ups:,} rose, {downs:,} fell to another band"
    bottom = top + len(BANDS) * step
    parts.append(f'<text class="mid dim" x="{WIDTH / 2:g}" y="{bottom:g}">{description}</text>')
    if only is not None:
        sample_words = f"in {int(drawn.sum()):,} of the queries"
        bottom += 16
        parts.append(f'<text class="mid dim" x="{WIDTH / 2:g}" y="{bottom:g}">{sample_words}</text>')
        description += f", {sample_words}"
    return Chart(f"Ranks of relevant documents, {names[0]} to {names[1]}", description, bottom + 10, "".join(parts))


def dash(index: int) -> str:
    """How a line is dashed, so that more lines than colours stay distinct."""
    pattern = ("", "6 3", "2 3", "8 3 2 3")[index // COLOURS % 4]
    if pattern:
        return f' stroke-dasharray="{pattern}"'
    return ""


def _labels(rows: Sequence[tuple[float, str]], x: float) -> str:
    return "".join(f'<text class="end dim" x="{x:g}" y="{y:g}">{label}</text>' for y, label in rows)


def _nice_top(value: float) -> float:
    """A round number not below the value, for the top of an axis."""
    if not value > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * power >= value * (1 - 1e-9))


def ticks(low: float, high: float) -> list[float]:
    """A few round numbers from low to high."""
    raw = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= raw)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


Scale: TypeAlias = Callable[[float], float]
"""Where a value is drawn."""


def scale(low: float, high: float, start: float, end: float) -> Scale:
    """Values from low to high, evenly from start to end."""
    return lambda value: start + (value - low) / (high - low) * (end - start)


def log_scale(low: float, high: float, start: float, end: float) -> Scale:
    """`scale` on a logarithmic axis: equal ratios are equal distances."""
    span = math.log(high / low) or 1.0
    return lambda value: start + math.log(value / low) / span * (end - start)


def x_axis(x: Scale, labels: Mapping[float, str], bottom: float, top: float) -> str:
    """Lines up the chart at some values, with their labels below."""
    return "".join(
        f'<path class="grid" d="M{x(tick):.1f} {top:g}V{bottom:g}"/>'
        f'<text class="mid dim" x="{x(tick):.1f}" y="{bottom + 16:g}">{label}</text>'
        for tick, label in labels.items()
    )


def y_axis(y: Scale, values: Sequence[float], left: float, right: float) -> str:
    """Lines across the chart at some values, with their numbers."""
    return "".join(
        f'<path class="grid" d="M{left:g} {y(tick):.1f}H{right:g}"/>'
        f'<text class="end dim" x="{left - 6:g}" y="{y(tick) + 4:.1f}">{tick:g}</text>'
        for tick in values
    )
