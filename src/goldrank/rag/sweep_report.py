"""A sweep as parts and as a page: recall against cost with its frontier, all settings, real differences."""

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
    """What people read of a sweep: the answer first, then all settings, how coverage grows, and what was tested."""
    if tests is None:
        tests = sweep.tests()
    shown: list[Part] = [*_answers(sweep), table(sweep), *curves_of_sweep(sweep).tables()]
    if tests.comparison is not None:
        shown.append(tests_table(tests.comparison, f"Against {tests.baseline} (paired, corrected by Holm)"))
    for factor, comparison in tests.effects.items():
        shown.append(tests_table(comparison, f"Main effect of the {factor} (mean over all else)"))
    return [*shown, *note_sentences(_notes(sweep, tests))]


def _notes(sweep: Sweep, tests: SweepTests) -> list[Note]:
    """The notes of a sweep, and of its curves; the note that nothing was tested only if that is true."""
    notes = [note for note in sweep.notes if tests.baseline is None or note != UNTESTED]
    return [*notes, *curves_of_sweep(sweep).notes]


def _answers(sweep: Sweep) -> list[Sentence]:
    best = sweep.best
    answers = [
        f"{best.name} covers most: {sweep.measure} {best.mean:.3f} ({interval(best.interval, 3)}) for "
        f"{best.tokens:,.0f} tokens a question; {len(sweep)} settings, {len(sweep.queries):,} questions."
    ]
    choice = sweep.choice
    if choice is not None:
        answers.append(
            f"The best of many is flattered: {choice.name} was chosen on half of the questions with "
            f"{choice.chosen_on:.3f}, and has {choice.mean:.3f} ({interval(choice.interval, 3)}) on the other "
            f"{choice.questions:,}."
        )

    if sweep.cheaper:
        more = ""
        if len(sweep.cheaper) > 8:
            more = f" and {len(sweep.cheaper) - 8} more"
        answers.append(f"Cheaper, and not to be told from it: {', '.join(sweep.cheaper[:8])}{more}.")

    return list(map(Sentence, answers))


def table(sweep: Sweep) -> Table:
    """One row per setting; a star is on the frontier."""
    present = set().union(*(row.causes for row in sweep.values()))
    causes = [cause for cause in NAMES if cause in present]
    by_chance = any(row.chance is not None for row in sweep.values())
    by_budget = any(row.setting.budget is not None for row in sweep.values())
    systems = _systems(sweep)
    rows: list[Row | Cells] = []
    for row in sweep.values():
        setting = row.setting
        cells: list[Cell | str | float] = [setting.chunking, setting.retriever, _k_cell(setting.k)]
        if by_budget:
            cells.append(_budget_cell(setting.budget))
        cells += _value_cells(row)
        if by_chance:
            cells.append(_chance_cell(row.chance))
        cells += [Cell(f"{row.causes.get(cause, 0):,}", row.causes.get(cause, 0)) for cause in causes]
        rows.append(Row(cells, data={"system": str(systems.index(setting.system))}))

    heads = [*Head.names("chunking", "retriever"), *Head.numbers("k")]
    if by_budget:
        heads += Head.numbers("budget")
    heads += Head.numbers(sweep.measure, "95% interval", "tokens", "95% of them up to", "frontier")
    if by_chance:
        heads += Head.numbers("by chance, at most")
    heads += Head.numbers(*causes)
    caption = (
        "On the frontier (marked): no other setting costs no more and covers no less. Frontier: in how many of "
        f"{SAMPLES:,} resamples of the questions a setting is on it."
    )
    return Table(heads, rows, "Settings", caption, id="settings", sortable=True)


def _k_cell(k: int | None) -> Cell:
    if k is None:
        return Cell("all", math.inf)
    return Cell(str(k), k)


def _budget_cell(budget: int | None) -> Cell:
    if budget is None:
        return Cell("", 0)
    return Cell(f"{budget:,}", budget)


def _chance_cell(chance: float | None) -> Cell | str:
    if chance is None:
        return ""
    return Cell(f"{chance:.1%}", chance)


def _value_cells(row: SweepRow) -> list[Cell]:
    """What a setting covers and costs, and how often it is on the frontier."""
    style = ""
    if row.on_frontier:
        style = "best"
    return [
        Cell(f"{row.mean:.3f}", row.mean, style=style),
        Cell(interval(row.interval, 3), row.interval.low),
        Cell(f"{row.tokens:,.0f}", row.tokens),
        Cell(f"{row.tokens_high:,.0f}", row.tokens_high),
        Cell(f"{row.support:.0%}", row.support),
    ]


def _systems(sweep: Sweep) -> list[str]:
    """Each system once, in order: pages know it by its position in this list."""
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
            _verdict_cell(pair.verdict),
        ]
        for pair in pairs[:MOST_TESTS]
    ]
    heads = [
        *Head.names("setting", "against"),
        *Head.numbers("difference", "95% interval", "p"),
        *Head.texts("verdict"),
    ]
    caption = ""
    if len(pairs) > MOST_TESTS:
        caption = f"{len(pairs) - MOST_TESTS:,} more are not listed here."

    return Table(heads, rows, title, caption)


def _verdict_cell(verdict: str) -> Cell:
    if verdict in ("better", "worse"):
        return Cell(verdict, style=verdict)
    return Cell(verdict, style="same")


def chart(sweep: Sweep, width: int = WIDE) -> Chart:
    """Recall against cost: a point with its interval for each setting, a colour for each system, and the frontier."""
    rows = list(sweep.values())
    systems = _systems(sweep)
    paid = [max(row.tokens, 1.0) for row in rows]
    low, high = min(paid) / 1.1, max(paid) * 1.1
    top_value = max(0.05, min(1.0, max(row.interval.high for row in rows) * 1.05))
    if width >= WIDE:
        bottom, most_ticks, columns = 330.0, 7, 3
    else:
        bottom, most_ticks, columns = 260.0, 3, 1
    left, right, top = 40.0, width - 14.0, 10.0
    x, y = log_scale(low, high, left, right), scale(0.0, top_value, bottom, top)
    body = [y_axis(y, round_ticks(0.0, top_value), left, right)]
    body.append(x_axis(x, {cost: f"{cost:,.0f}" for cost in _costs(low, high, most_ticks)}, bottom, top))

    edge = sorted((i for i, row in enumerate(rows) if row.on_frontier), key=lambda i: rows[i].tokens)
    steps = f"M{x(paid[edge[0]]):.1f} {y(rows[edge[0]].mean):.1f}"
    steps += "".join(f"H{x(paid[i]):.1f}V{y(rows[i].mean):.1f}" for i in edge[1:])
    body.append(f'<path class="zero" d="{steps}H{right:g}"/>')
    for row, cost in zip(rows, paid, strict=True):
        body.append(_point(row, systems.index(row.setting.system), x(cost), y))

    middle, line = (left + right) / 2, bottom + 34
    body.append(
        f'<text class="mid dim" x="{middle:.1f}" y="{line:g}">tokens of the context, mean over questions</text>'
    )
    for i, system in enumerate(systems):
        if i % columns == 0:
            line += 20
        column = left + (i % columns) * (right - left) / columns
        body.append(f'<circle class="s{i % COLOURS}" cx="{column + 5:.1f}" cy="{line - 4:g}" r="4.5"/>')
        body.append(f'<text x="{column + 16:.1f}" y="{line:g}">{escape_html(system, 34)}</text>')

    words = f"{len(rows)} settings; on the frontier: {', '.join(rows[i].name for i in edge[:10])}"
    return Chart(f"{sweep.measure} against tokens", words, line + 12, "".join(body), width)


def _point(row: SweepRow, system: int, x: float, y: Scale) -> str:
    """A setting: filled where it is surely on the frontier, hollow where that is likely, else small."""
    kind = f"s{system % COLOURS}"
    middle, low, high = y(row.mean), y(row.interval.low), y(row.interval.high)
    size, hollow = "2.5", ""
    if row.support >= LIKELY:
        size = "5.5"
    if LIKELY <= row.support < FIRM:
        hollow = ' fill-opacity="0" stroke-width="2"'

    title = f"{row.name}: {row.mean:.3f} ({interval(row.interval, 3)}), {row.tokens:,.0f} tokens, on the frontier in "
    title += f"{row.support:.0%} of resamples"
    return (
        f"<g><title>{escape_html(title, 300)}</title>"
        f'<path class="line {kind}" stroke-opacity=".35" d="M{x:.1f} {low:.1f}V{high:.1f}"/>'
        f'<circle class="{kind}" cx="{x:.1f}" cy="{middle:.1f}" r="{size}"{hollow}/></g>'
    )


def _costs(low: float, high: float, most: int) -> list[float]:
    """A few round numbers of tokens between two, in equal ratios."""
    steps: list[float] = []
    for exponent in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        steps += [digit * 10.0**exponent for digit in (1, 2, 5)]
    inside = [step for step in steps if low <= step <= high] or [round(math.sqrt(low * high))]
    return inside[:: math.ceil(len(inside) / most)]


def page(sweep: Sweep, tests: SweepTests | None = None) -> str:
    """One HTML file: the answer, recall against cost, all settings to sort and filter, curves, tests and notes."""
    from goldrank.report import html

    if tests is None:
        tests = sweep.tests()
    tables = []
    if tests.comparison is not None:
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
