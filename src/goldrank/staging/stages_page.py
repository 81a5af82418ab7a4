"""Stages as a page: where most is lost, where the relevant documents go, what each part costs, and which queries."""

from __future__ import annotations

from typing import Any

from goldrank.base import ids
from goldrank.comparison.intervals import percent
from goldrank.data.table import note_sentences
from goldrank.measures import known
from goldrank.report import html
from goldrank.report.numbers import interval, number
from goldrank.staging.stages import QueryStages, Stages
from goldrank.staging.stages_report import documents, steps

MOST_QUERIES = 50


def render(stages: Stages) -> str:
    """One file for any browser."""
    relevant = sum(each.relevant for each in stages.per_query)
    left_out = max(0, len(stages.per_query) - MOST_QUERIES)
    more_queries = ""
    if left_out:
        more_queries = f"{left_out:,} more queries lose less."
    values = {
        "subtitle": f"{len(stages.per_query):,} queries, {relevant:,} relevant documents, decided by {stages.measure}.",
        "word": _most_lost(stages),
        "sentence": _sentence(stages),
        "figures": _figures(stages),
        "relevant": f"{relevant:,}",
        "cutoff": _cutoff(stages),
        "bars": _bars(stages, relevant),
        "measure": stages.measure,
        "highest": f"{_highest(stages):g}",
        "falls": _falls(stages),
        "queries": _queries(stages),
        "left_out": more_queries,
        "more": [documents(stages), *note_sentences(stages.notes)],
    }
    title = " → ".join(ids.show(name, 40) for name in stages.stages)
    return html.render("stages.html.jinja", title, values, scripted=False, styles=["now.css"])


def _most_lost(stages: Stages) -> str:
    losses = {
        "the candidates": stages.missed_before,
        "what is thrown out": sum(stages.thrown),
        "the order": stages.order,
    }
    worst = max(losses, key=lambda name: losses[name])
    if losses[worst] <= 0:
        return "nothing is lost"
    return f"most is lost by {worst}"


def _sentence(stages: Stages) -> str:
    reached = f"{stages.stages[-1]} reaches {number(stages.got)} of a possible {number(stages.ceiling)}"
    if stages.missed_before > 0:
        return f"{reached}; the candidates lack {number(stages.missed_before)}"
    return reached


def _figures(stages: Stages) -> list[dict[str, str]]:
    gain = f"{number(stages.gained, signed=True)} by later stages, {percent(stages.level)} "
    gain += interval(stages.gained_interval)
    figures = [
        {"name": "ceiling of the candidates", "value": number(stages.ceiling), "more": "in the best order"},
        {"name": f"without {stages.stages[-1]}", "value": number(stages.base), "more": gain},
        {"name": f"after {stages.stages[-1]}", "value": number(stages.got), "more": _of_ceiling(stages)},
    ]
    if stages.taken is not None:
        more = f"of what the candidates allow, {percent(stages.level)} {interval(stages.taken_interval, 2)}"
        figures.append({"name": "taken", "value": f"{stages.taken:.0%}", "more": more})
    return figures


def _of_ceiling(stages: Stages) -> str:
    if stages.ceiling:
        return f"{stages.got / stages.ceiling:.0%} of the ceiling"
    return "the ceiling is 0"


def _cutoff(stages: Stages) -> str:
    measure = known(stages.measure)
    if measure is None or measure.k is None:
        return "documents, all of them"
    return str(int(measure.k))


def _bars(stages: Stages, relevant: int) -> list[dict[str, Any]]:
    """For each stage, where all relevant documents are: in the first k, below, thrown out, never retrieved."""
    bars = []
    ever = sum(each.held[0] for each in stages.per_query)
    for i, name in enumerate(stages.stages):
        taken = sum(each.hits[i] for each in stages.per_query)
        held = sum(each.held[i] for each in stages.per_query)
        thrown = max(0, ever - held)
        counts = {
            "fg": (taken, f"{taken:,} in the first"),
            "fgrid": (held - taken, f"{held - taken:,} below"),
            "fdown": (thrown, f"{thrown:,} thrown out"),
            "fnone": (relevant - held - thrown, f"{relevant - held - thrown:,} never retrieved"),
        }
        x, pieces = 0.0, []
        for style, (size, _) in counts.items():
            width = 100 * size / max(relevant, 1)
            if size:
                pieces.append({"x": f"{x:.2f}", "width": f"{width:.2f}", "style": style})
            x += width
        words = ", ".join(text for size, text in counts.values() if size)
        bars.append({"name": name, "words": words, "pieces": pieces})
    return bars


def _highest(stages: Stages) -> float:
    return max(stages.perfect, stages.got, stages.ceiling) or 1.0


def _falls(stages: Stages) -> list[dict[str, str]]:
    """From a perfect ranking down to what was returned."""
    highest = _highest(stages)

    def row(name: str, ends: tuple[float, float], change: str, style: str, way: str) -> dict[str, str]:
        low, high = sorted(ends)
        return {
            "name": name,
            "change": change,
            "after": number(ends[1]),
            "x": f"{100 * low / highest:.2f}",
            "width": f"{100 * (high - low) / highest:.2f}",
            "style": style,
            "way": way,
        }

    level = stages.perfect
    rows = [row("perfect order of all that is judged", (0.0, level), "", "fgrid", "")]
    for step in steps(stages):
        after = level - step.value
        style, way = "fdown", "fall"
        if step.value < 0:
            style, way = "fup", "rise"
        rows.append(row(step.label, (level, after), number(0.0 - step.value, signed=True), style, way))
        level = after
    rows.append(row(f"{stages.stages[-1]} as ranked", (0.0, stages.got), "", "fg", ""))
    return rows


def _queries(stages: Stages) -> list[dict[str, str]]:
    highest = max((max(each.perfect, each.got, each.ceiling) for each in stages.per_query), default=1.0) or 1.0
    worst = sorted(stages.per_query, key=lambda each: each.got - each.perfect)[:MOST_QUERIES]
    rows = []
    for each in worst:
        rows.append(
            {
                "name": each.query,
                "ceiling": number(each.ceiling),
                "base": number(each.base),
                "got": number(each.got),
                "got_width": f"{100 * each.got / highest:.2f}",
                "ceiling_width": f"{100 * each.ceiling / highest:.2f}",
                "happened": _happened(each),
            }
        )
    return rows


def _happened(each: QueryStages) -> str:
    """What cost most, in words."""
    losses = {
        f"{len(each.never_retrieved)} of {each.relevant} relevant never among the candidates": each.missed_before,
        f"{len(each.thrown_out)} relevant thrown out": sum(each.thrown),
        "relevant documents are too low": each.order,
    }
    worst = max(losses, key=lambda words: losses[words])
    if losses[worst] <= 0:
        return "all taken"
    return worst
