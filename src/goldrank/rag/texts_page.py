"""An evaluation of texts as one HTML file: scores, how coverage grows, and what covers what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goldrank.base import ids
from goldrank.data.explanation import Explanation
from goldrank.data.score_table import score_parts
from goldrank.data.scores import Scores
from goldrank.data.signature import distinct
from goldrank.data.table import entities, html, note_sentences
from goldrank.rag.abstention_curve import AbstentionCurve
from goldrank.rag.coverage_curves import CoverageCurves
from goldrank.report.html import page


def render(
    scores: Sequence[Scores],
    curves: CoverageCurves | None = None,
    explanations: Mapping[str, Explanation] | None = None,
    thresholds: Mapping[str, AbstentionCurve] | None = None,
) -> str:
    """One page for one or more systems; `explanations` and `thresholds` are by the system's name."""
    names = [ids.show(run.run) for run in scores]
    parts = [f'<div class="explained">{html(score_parts(scores))}</div>']
    if curves is not None and curves.charts:
        parts.append("<h2>Coverage</h2><p>The mean share of references that are covered; shaded: 95% intervals.</p>")
        parts.append(html(note_sentences(curves.notes)))
        figures = (
            f"<figure><figcaption>{entities(chart.title)}</figcaption>{chart.inline()}</figure>"
            for chart in curves.charts
        )
        parts.append(f'<div class="charts">{"".join(figures)}</div>')

    for run, curve in (thresholds or {}).items():
        parts.append(f"<h2>Thresholds{_named(run, scores)}</h2>{html(curve.parts())}")

    for run, explanation in (explanations or {}).items():
        named = _named(run, scores)
        parts.append(f"<h2>Question {entities(explanation.title)}{named}</h2>")
        parts.append(f'<p class="dim">{entities(explanation.summary)}</p>')
        parts.append(f'<div class="explained">{explanation.html()}</div>')

    return page("Retrieved texts: " + ", ".join(names), "".join(parts), distinct(scores))


def _named(run: str, scores: Sequence[Scores]) -> str:
    """Which system a part is about, where there are several."""
    if len(scores) > 1:
        return f" ({entities(ids.show(run))})"
    return ""
