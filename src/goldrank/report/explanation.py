"""One question's matches as an HTML file of its own, with the report's look."""

from __future__ import annotations

from goldrank import __version__
from goldrank.data.explanation import Explanation
from goldrank.data.table import entities
from goldrank.report.html import page


def render(explanation: Explanation) -> str:
    """The texts with the words that speak for a match marked, and the references, covered ones first."""
    head = f'<p class="dim">{entities(explanation.summary)}. Made by goldrank {__version__}.</p>'
    return page(explanation.title, f'{head}<div class="explained">{explanation.html()}</div>')
