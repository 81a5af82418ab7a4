"""The charts of a result as one drawing, one below the other."""

from __future__ import annotations

from goldrank.data.showing import Result
from goldrank.data.table import charts_of
from goldrank.report.charts import stacked


def render(result: Result) -> str:
    """A file with all charts; each has its title and a description for people who cannot see it."""
    return stacked([chart.draw() for chart in charts_of(result.parts())])
