"""A sweep as parts and as a page: recall against cost with its frontier, all settings, what differs really."""

from __future__ import annotations

import math
from dataclasses import replace

from goldrank.base.notes import Note
from goldrank.comparison.resampling import SAMPLES
from goldrank.comparison.result import Comparison
from goldrank.data.table import Cell, Cells, Head, Part, Row, Sentence, Table, escape_html, note_sentences
from goldrank.rag.causes import NAMES
from goldrank.rag.coverage_curves import curves_of_sweep
from goldrank.rag.sweep import FIRM, LIKELY, UNTESTED, Sweep, SweepRow, SweepTests
from goldrank.report.charts import COLOURS, Chart, Scale, log_scale, scale, x_axis, y_axis
from goldrank.report.charts import ticks as round_ticks
from goldrank.report.numbers import interval, p_value

WIDE, NARROW = 760, 380
"""Widths of the drawing, for large and for small screens."""
MOST_TESTS = 60


def parts(sweep: Sweep, tests: SweepTests | None = None) -> list[Part]:
    """What a sweep has to say: the answer first, then all settings, how coverage grows, and what was tested."""
    if tests is None:
        tests = sweep.tests()
    else:
        tests = tests
    shown: list[Part] = [*_answers(sweep), table(sweep), *curves_of_sweep(sweep).tables()]
    if tests.comparison is not None:
        shown.append(tests_table(tests.comparison, f"Against {tests.baseline} (paired, corrected by Holm)"))
    for factor, comparison in tests.effects.items():
        shown.append(tests_table(comparison, f"Main effect of the {factor} (mean over all else)"))
    return [*shown, *note_sentences(_notes(sweep, tests))]


def _notes(sweep: Sweep, tests: SweepTests) -> list[Note]:
    """The notes of a sweep, and of its curves. One that was tested is not said to be untested."""
    notes = [note for note in sweep.notes if tests.baseline is None or note != UNTESTED]
    return [*notes, *curves_of_sweep(sweep).notes]


def _answers(sweep: Sweep) -> list[Sentence]:
    best = sweep.best
    told = [
        f"{best.name} covers most: {sweep.measure} {best.mean:.3f} ({interval(best.interval, 3)}) for "
        f"{best.tokens:,.0f} tokens a question; {len(sweep)} settings, {len(sweep.queries):,} questions."
    ]
    if (choice := sweep.choice) is not None:
        told.append(
            f"The best of many is flattered: {choice.name} was chosen on half of the questions with "
            f"{choice.chosen_on:.3f}, and has {choice.mean:.3f} ({interval(choice.interval, 3)}) on the other "
            f"{choice.questions:,}."
        )

    if sweep.cheaper:
        if len(sweep.cheaper) > 8:
            more = f" and {len(sweep.cheaper) - 8} more"
        else:
            more = ""
        told.append(f"Cheaper, and not to be told from it: {', '.join(sweep.cheaper[:8])}{more}.")

    return list(map(Sentence, told))


def table(sweep: Sweep) -> Table:
    """One row per setting; a star is on the frontier."""
    causes = [cause for cause in NAMES if any(cause in row.causes for row in sweep.values())]
    by_chance = any(row.chance is not None for row in sweep.values())
    by_budget = any(row.setting.budget is not None for row in sweep.values())
    systems = _systems(sweep)
    rows: list[Row | Cells] = []
    for row in sweep.values():
        setting = row.setting
        cells: list[Cell | str | float] = [setting.chunking, setting.retriever]
        cells.append(Cell("all", math.inf) if setting.k is None else Cell(str(setting.k), setting.k))
        if by_budget:
            cells.append(Cell("", 0) if setting.budget is None else Cell(f"{setting.budget:,}", setting.budget))
        cells += [
            Cell(f"{row.mean:.3f}", row.mean, style="best" if row.on_frontier else ""),
            Cell(interval(row.interval, 3), row.interval.low),
            Cell(f"{row.tokens:,.0f}", row.tokens),
            Cell(f"{row.tokens_high:,.0f}", row.tokens_high),
            Cell(f"{row.support:.0%}", row.support),
        ]
        if by_chance:
            cells.append("" if row.chance is None else Cell(f"{row.chance:.1%}", row.chance))
        cells += [Cell(f"{row.causes.get(cause, 0):,}", row.causes.get(cause, 0)) for cause in causes]
        rows.append(Row(cells, data={"system": str(systems.index(setting.system))}))

    heads = [*Head.names("chunking", "retriever"), *Head.numbers("k")]
    heads += Head.numbers("budget") if by_budget else []
    heads += Head.numbers(sweep.measure, "95% interval", "tokens", "95% of them up to", "frontier")
    heads += Head.numbers("by chance, at most") if by_chance else []
    heads += Head.numbers(*causes)
    caption = (
        "On the frontier (marked): no other setting costs no more and covers no less. Frontier: in how many of "
        f"{SAMPLES:,} resamples of the questions a setting is on it."
    )
    return Table(heads, rows, "Settings", caption, id="settings", sortable=True)


def _systems(sweep: Sweep) -> list[str]:
    """Each system once, in order: pages know it by its place in this list."""
    return list(dict.fromkeys(row.setting.system for row in sweep.values()))


def tests_table(comparison: Comparison, title: str) -> Table:
    """What was tested, with its verdict."""
    pairs = comparison.of(comparison.measures[0])
    rows: list[Row | Cells] = [
        [
            pair.b,
            pair.a,
            Cell(f"{pair.difference:+.3f}", pair.difference),
            f"{pair.interval.low:+.3f} to {pair.interval.high:+.3f}",
            Cell(p_value(pair.p_adjusted), pair.p_adjusted),
            Cell(pair.verdict, style=pair.verdict if pair.verdict in ("better", "worse") else "same"),
        ]
        for pair in pairs[:MOST_TESTS]
    ]
    heads = [
        *Head.names("setting", "against"),
        *Head.numbers("difference", "95% interval", "p"),
        *Head.texts("verdict"),
    ]
    if len(pairs) > MOST_TESTS:
        caption = f"{len(pairs) - MOST_TESTS:,} more are not listed here."
    else:
        caption = ""

    return Table(heads, rows, title, caption)


def chart(sweep: Sweep, width: int = WIDE) -> Chart:
    """Recall against cost: a point with its interval for each setting, a colour for each system, and the frontier."""
    rows = list(sweep.values())
    systems = _systems(sweep)
    paid = [max(row.tokens, 1.0) for row in rows]
    low, high = min(paid) / 1.1, max(paid) * 1.1
    top_value = max(0.05, min(1.0, max(row.interval.high for row in rows) * 1.05))
    left, right, top, bottom = 40.0, width - 14.0, 10.0, 330.0 if width >= WIDE else 260.0
    at_cost, y = log_scale(low, high, left, right), scale(0.0, top_value, bottom, top)
    x = [at_cost(cost) for cost in paid]
    body = [y_axis(y, round_ticks(0.0, top_value), left, right)]
    body.append(x_axis(at_cost, {at: f"{at:,.0f}" for at in _costs(low, high, 3 if width < WIDE else 7)}, bottom, top))
    edge = sorted((i for i, row in enumerate(rows) if row.on_frontier), key=lambda i: rows[i].tokens)
    steps = f"M{x[edge[0]]:.1f} {y(rows[edge[0]].mean):.1f}"
    steps += "".join(f"H{x[i]:.1f}V{y(rows[i].mean):.1f}" for i in edge[1:])
    body.append(f'<path class="zero" d="{steps}H{right:g}"/>')
    body += [_point(row, systems.index(row.setting.system), at, y) for row, at in zip(rows, x, strict=True)]
    middle, line = (left + right) / 2, bottom + 34
    body.append(
        f'<text class="mid dim" x="{middle:.1f}" y="{line:g}">tokens of the context, mean over questions</text>'
    )
    if width >= WIDE:
        columns = 3
    else:
        columns = 1

    for i, system in enumerate(systems):
        if i % columns == 0:
            line += 20
        at = left + (i % columns) * (right - left) / columns
        body.append(f'<circle class="s{i % COLOURS}" cx="{at + 5:.1f}" cy="{line - 4:g}" r="4.5"/>')
        body.append(f'<text x="{at + 16:.1f}" y="{line:g}">{escape_html(system, 34)}</text>')

    words = f"{len(rows)} settings; on the frontier: {', '.join(rows[i].name for i in edge[:10])}"
    return Chart(f"{sweep.measure} against tokens", words, line + 12, "".join(body), width)


def _point(row: SweepRow, system: int, x: float, y: Scale) -> str:
    """A setting: filled where it is surely on the frontier, hollow where that is likely, else small."""
    kind = f"s{system % COLOURS}"
    at, low, high = y(row.mean), y(row.interval.low), y(row.interval.high)
    if row.support >= LIKELY:
        size = "5.5"
    else:
        size = "2.5"

    if LIKELY <= row.support < FIRM:
        hollow = ' fill-opacity="0" stroke-width="2"'
    else:
        hollow = ""

    told = f"{row.name}: {row.mean:.3f} ({interval(row.interval, 3)}), {row.tokens:,.0f} tokens, on the frontier in "
    told += f"{row.support:.0%} of resamples"
    return (
        f"<g><title>{escape_html(told, 300)}</title>"
        f'<path class="line {kind}" stroke-opacity=".35" d="M{x:.1f} {low:.1f}V{high:.1f}"/>'
        f'<circle class="{kind}" cx="{x:.1f}" cy="{at:.1f}" r="{size}"{hollow}/></g>'
    )


def _costs(low: float, high: float, most: int) -> list[float]:
    """A few round numbers of tokens between two, in equal ratios."""
    steps = [
        m * 10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1) for m in (1, 2, 5)
    ]
    inside = [step for step in steps if low <= step <= high] or [round(math.sqrt(low * high))]
    return inside[:: math.ceil(len(inside) / most)]


def page(sweep: Sweep, tests: SweepTests | None = None) -> str:
    """One HTML file: the answer, recall against cost, all settings to sort and filter, curves, tests and notes."""
    from goldrank.report import html

    if tests is None:
        tests = sweep.tests()
    else:
        tests = tests
    if tests.comparison is None:
        tables = []
    else:
        tables = [tests_table(tests.comparison, "")]
    values = {
        "answers": _answers(sweep),
        "charts": [chart(sweep, WIDE), chart(sweep, NARROW)],
        "table": replace(table(sweep), title=""),
        "systems": _systems(sweep),
        "curves": curves_of_sweep(sweep).charts,
        "tests": tables,
        "baseline": tests.baseline or "",
        "effects": [(factor, tests_table(comparison, "")) for factor, comparison in tests.effects.items()],
        "notes": note_sentences(_notes(sweep, tests)),
        "count": f"{len(sweep):,} settings, {len(sweep.queries):,} questions, {sweep.measure}",
    }
    return html.render("sweep.html.jinja", "Sweep: recall against cost", values, styles=["trend.css"])
