"""Quality against cost: a point for each system, and the frontier that no other system is above for less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from goldrank.comparison.costs import frontier
from goldrank.data.query_costs import UNITS, short
from goldrank.data.table import escape_html
from goldrank.report.charts import WIDTH, Chart, scale, ticks, x_axis, y_axis

if TYPE_CHECKING:
    from goldrank.comparison.result import Comparison


def quality_against_cost(comparison: Comparison, kind: str, means: Mapping[str, float]) -> Chart:
    """The systems of a comparison by the mean of a cost and the mean of the primary measure."""
    measure = comparison.primary
    quality = {name: comparison.summaries[measure, name].mean for name in means}
    is_high_good = comparison.systems[0].columns[measure].higher_is_better
    marks = dict(zip(means, frontier(list(quality.values()), list(means.values()), is_high_good), strict=True))

    dearest = max(means.values()) * 1.1 or 1.0
    low, high = min(0.0, *quality.values()), max(quality.values()) * 1.1 or 1.0
    left, right, top, bottom = 40.0, WIDTH - 14.0, 10.0, 230.0
    x, y = scale(0.0, dearest, left, right), scale(low, high, bottom, top)
    drawn = [y_axis(y, ticks(low, high), left, right)]
    drawn.append(x_axis(x, {tick: short(tick) for tick in ticks(0.0, dearest)}, bottom, top))

    edge = sorted((name for name in means if marks[name]), key=lambda name: means[name])
    path = f"M{x(means[edge[0]]):.1f} {y(quality[edge[0]]):.1f}"
    path += "".join(f"H{x(means[name]):.1f}V{y(quality[name]):.1f}" for name in edge[1:])
    drawn.append(f'<path class="zero" d="{path}H{right:g}"/>')
    for name in means:
        size = "3"
        if marks[name]:
            size = "5.5"
        drawn.append(f'<circle class="s0" cx="{x(means[name]):.1f}" cy="{y(quality[name]):.1f}" r="{size}"/>')
        anchor, shift = "", 8
        if x(means[name]) > (left + right) / 2:
            anchor, shift = ' class="end"', -8
        position = f'x="{x(means[name]) + shift:.1f}" y="{y(quality[name]) - 6:.1f}"'
        drawn.append(f"<text{anchor} {position}>{escape_html(name, 28)}</text>")

    line = bottom + 34
    drawn.append(
        f'<text class="mid dim" x="{(left + right) / 2:.1f}" y="{line:g}">{UNITS[kind]}, mean of a query</text>'
    )
    words = f"On the frontier: {', '.join(edge[:10])}."
    return Chart(f"{measure} against {UNITS[kind]}", words, line + 12, "".join(drawn))
