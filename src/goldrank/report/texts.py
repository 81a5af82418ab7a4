"""An evaluation of texts as one HTML file: scores, how coverage grows, and what covers what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from goldrank import ids
from goldrank.data.explanation import Explanation
from goldrank.data.scores import Scores, ScoresByRun
from goldrank.report.coverage import CoverageCurves
from goldrank.report.page import page


def render(
    scores: Sequence[Scores],
    curves: CoverageCurves | None = None,
    explanations: Mapping[str, Explanation] | None = None,
) -> str:
    """One page for one or more systems; `explanations` are by the system's name."""
    names = [ids.show(one.run, 60) for one in scores]
    several = len(scores) > 1
    parts = [f'<div class="explained">{ScoresByRun(scores)._repr_html_()}</div>']
    if curves is not None and curves.charts:
        parts.append("<h2>Coverage</h2><p>The mean share of references that are covered.</p>")
        figures = (
            f"<figure><figcaption>{escape(chart.title)}</figcaption>{chart.inline()}</figure>"
            for chart in curves.charts
        )
        parts.append(f'<div class="charts">{"".join(figures)}</div>')
    for run, one in (explanations or {}).items():
        named = f" ({escape(ids.show(run, 60))})" if several else ""
        parts.append(f"<h2>Question {escape(one.title)}{named}</h2>")
        parts.append(f'<p class="dim">{escape(one.summary)}</p><div class="explained">{one.html()}</div>')
    return page("Retrieved texts: " + ", ".join(names), "".join(parts))
