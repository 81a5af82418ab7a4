"""A comparison of systems, for every form but its page: systems, verdicts, differences, slices and notes."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from goldrank.base import ids
from goldrank.comparison.costs import cost_differences, frontier, system_costs
from goldrank.comparison.intervals import percent
from goldrank.data.query_costs import UNITS, short
from goldrank.data.scores import format_value
from goldrank.data.table import Cell, Cells, ChartPart, Head, Part, Row, Sentence, Table, count, note_sentences
from goldrank.report import latex, markdown
from goldrank.report.numbers import interval, number, p_value
from goldrank.report.separated import rows_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldrank.comparison.costs import CostDifference
    from goldrank.comparison.leaderboard import Leaderboard, Standing
    from goldrank.comparison.pair import Pair
    from goldrank.comparison.result import Comparison
    from goldrank.comparison.settings import Statistics
    from goldrank.data.query_costs import CostSummary
    from goldrank.data.run import Run
    from goldrank.report.charts import Chart

MOST_ROWS = 60
MOST_VERDICTS = 10
MOST_QUERIES = 10
MOST_MOVED = 3
"""Queries that a sentence names."""
MOST_OF_REFERENCE = 40
"""Characters of a reference that a table shows."""
MOST_DRAWN = 30
"""Systems whose ranks are drawn."""
MARKED = ("secondary", "diagnostic")
"""Roles of rows that are named in the table."""


def parts(comparison: Comparison, complete: bool = False) -> list[Part]:
    """What people read, the answer first; if `complete`, with all pairs, and with the slices of all measures."""
    if complete:
        shown_parts: list[Part] = [systems(comparison), *verdicts(comparison), differences(comparison, complete)]
    elif len(comparison.runs) == 2:
        pair = comparison.of(comparison.primary)[0]
        shown_parts = [Sentence(pair.sentence, style(pair)), two_systems(comparison), *moved_most(comparison)]
        shown_parts += reasons(pair)
    elif _has_board(comparison):
        shown_parts = many_systems(comparison)
    else:
        shown_parts = [*verdicts(comparison), systems(comparison), differences(comparison)]

    if complete or not _has_board(comparison):
        shown_parts += caveats(comparison)

    shown_parts += queries(comparison)
    shown_parts += costs(comparison)
    if comparison.slices or comparison.slices.notes:
        if comparison.slices:
            shown_parts.append(slices(comparison, complete))
        shown_parts += note_sentences(comparison.slices.notes)

    method = Sentence(f"{count(len(comparison.queries), 'query')}. {comparison.method}.", "remark")
    return [*shown_parts, method, *note_sentences(comparison.notes)]


def markdown_text(comparison: Comparison) -> str:
    """All that people read as Markdown; pages are narrower than terminals, so p is left out."""
    return markdown.write(_narrow(comparison, "p"))


def latex_text(comparison: Comparison) -> str:
    """All that people read as tables for a paper."""
    return latex.write([paper_systems(comparison), *_narrow(comparison, "p", "word")[1:]], comparison.signatures)


def _narrow(comparison: Comparison, *left_out: str) -> list[Part]:
    narrow: list[Part] = []
    for part in parts(comparison, complete=True):
        if isinstance(part, Table):
            part = part.without(*left_out)
        narrow.append(part)
    return narrow


def charts(comparison: Comparison) -> list[ChartPart]:
    """Each measure's differences with their intervals."""
    from goldrank.report.charts import forest

    return [ChartPart(measure, partial(forest, comparison, measure)) for measure in comparison.measures]


def costs(comparison: Comparison) -> list[Part]:
    """Latency, tokens and money of each system, and what the compared pairs differ by; nothing if none is known."""
    by_system = system_costs(comparison)
    if not by_system:
        return []

    on_frontier = _on_frontier(comparison, by_system)
    rows: list[Cells] = []
    for name, summaries in by_system.items():
        for cost in summaries:
            numbers = [Cell(short(value), value) for value in (cost.p50, cost.p95, cost.mean, cost.total)]
            mark = "frontier" * on_frontier.get((name, cost.kind), False)
            rows.append([name, UNITS[cost.kind], *numbers, mark])
    heads = [
        *Head.names("system"), *Head.texts("costs"), *Head.numbers("p50", "p95", "mean", "total"),
        *Head.texts("is on the"),
    ]  # fmt: skip
    caption = f"Frontier: no other system has as much {comparison.primary} for a lower mean."
    shown: list[Part] = [Table(heads, rows, "Costs", caption)]
    for kind, means in _means_by_kind(by_system).items():
        if len(means) > 1:
            title = f"{comparison.primary} against {UNITS[kind]}"
            shown.append(ChartPart(title, partial(_cost_chart, comparison, kind, means)))

    differences_of_pairs = cost_differences(comparison)
    if differences_of_pairs:
        shown.append(_cost_differences(comparison, differences_of_pairs))
    return shown


def _on_frontier(comparison: Comparison, by_system: Mapping[str, Sequence[CostSummary]]) -> dict[tuple[str, str], bool]:
    """By system and kind of cost, whether no other system is as good for less."""
    marks: dict[tuple[str, str], bool] = {}
    for kind, means in _means_by_kind(by_system).items():
        quality = [comparison.summaries[comparison.primary, name].mean for name in means]
        is_high_good = comparison.systems[0].columns[comparison.primary].higher_is_better
        for name, is_on in zip(means, frontier(quality, list(means.values()), is_high_good), strict=True):
            marks[name, kind] = is_on
    return marks


def _means_by_kind(by_system: Mapping[str, Sequence[CostSummary]]) -> dict[str, dict[str, float]]:
    """By kind of cost and system, the mean of a query."""
    means: dict[str, dict[str, float]] = {}
    for name, summaries in by_system.items():
        for cost in summaries:
            means.setdefault(cost.kind, {})[name] = cost.mean
    return means


def _cost_chart(comparison: Comparison, kind: str, means: Mapping[str, float]) -> Chart:
    from goldrank.report.cost_chart import quality_against_cost

    return quality_against_cost(comparison, kind, means)


def _cost_differences(comparison: Comparison, pairs: Sequence[CostDifference]) -> Table:
    rows: list[Cells] = []
    for each in pairs[:MOST_ROWS]:
        within = "-"
        if each.interval.low == each.interval.low:
            within = f"{_signed_cost(each.interval.low)} to {_signed_cost(each.interval.high)}"
        rows.append(
            [each.a, each.b, UNITS[each.kind], Cell(_signed_cost(each.difference), each.difference), Cell(within)]
        )
    within_head = f"{percent(1 - comparison.statistics.alpha)} interval"
    heads = [*Head.names("A", "B"), *Head.texts("costs"), *Head.numbers("B minus A", within_head)]
    return Table(heads, rows, "Differences of costs", "Means over queries; below 0, B costs less.")


def _signed_cost(value: float) -> str:
    if value < 0:
        return f"-{short(-value)}"
    return f"+{short(value)}"


def reasons(pair: Pair) -> list[Sentence]:
    """What a verdict rests on and what would change it."""
    sentences = [Sentence(text, "remark") for text in pair.reasons]
    for note in pair.caveats:
        note_style = "remark"
        if note.is_warning:
            note_style = "warning"
        sentences.append(Sentence(note.sentence, note_style))
    return sentences


def _has_board(comparison: Comparison) -> bool:
    """Whether the systems are shown in order: there are several, and none is the baseline of all."""
    is_diagnostic = comparison.of(comparison.primary)[0].role == "diagnostic"
    return len(comparison.runs) > 2 and comparison.baseline is None and not is_diagnostic


def verdicts(comparison: Comparison, limit: int = MOST_VERDICTS) -> list[Sentence]:
    """Which system is best, if there are several, and the verdicts about the measure that decides."""
    pairs = comparison.of(comparison.primary)
    sentences = [Sentence(pair.words, style(pair)) for pair in pairs[:limit]]
    if _has_board(comparison):
        sentences.insert(0, Sentence(comparison.leaderboard().words, "strong"))
    return sentences


def many_systems(comparison: Comparison) -> list[Part]:
    """The order of several systems, what would separate the first two, and where all pairs are."""
    from goldrank.report.leaderboard import systems as board_table

    board = comparison.leaderboard()
    other_measures = [measure for measure in comparison.measures if measure != board.measure]
    table = board_table(board)
    rows: list[Row] = []
    is_drawn = len(board.standings) <= MOST_DRAWN
    for standing, row in zip(board.standings, table.full_rows, strict=True):
        position, name, _, *ranks = row.cells
        best = "best" * (standing.run in comparison.best(board.measure))
        cells = [position, name, Cell(format_value(standing.value, "mean"), standing.value, best), *ranks]
        if is_drawn:
            cells.append(Cell(_rank_bar(standing, len(board.standings))))
        for measure in other_measures:
            summary = comparison.summaries[measure, standing.run]
            best = "best" * (standing.run in comparison.best(measure))
            cells.append(Cell(format_value(summary.shown, summary.average), summary.mean, best))
        rows.append(replace(row, cells=cells))

    heads = [*table.heads, *Head.numbers(*other_measures)]
    if is_drawn:
        scale = "1".ljust(len(board.standings) - len(str(len(board.standings)))) + str(len(board.standings))
        heads = [*table.heads, *Head.numbers(scale, *other_measures)]

    level = f"{100 * comparison.statistics.level:g} of 100 cases"
    separated = f"{board.told_apart:,} of {count(len(board.pairs), 'pair')} are told apart"
    caption = f"* best mean. Ranks hold together in {level}; {separated}."
    shown_parts: list[Part] = [
        Sentence(board.words, "strong"),
        replace(table, heads=heads, rows=rows, caption=caption),
    ]
    sentences = [first_two(board), to_judge_words(board)]
    shown_parts += [Sentence(text, "remark") for text in sentences if text]
    pairs = f"All {count(len(comparison.pairs), 'pair')} and measures: -o pairs.csv, or a page: -o page.html. "
    return [*shown_parts, Sentence(f"{pairs}Two systems: goldrank compare QRELS A.run B.run.", "remark")]


def _rank_bar(standing: Standing, size: int) -> str:
    """The ranks that a system may have, from the first to the last, and where its mean stands: '.=o==.....'."""
    low, high = standing.rank
    bar = ["."] * size
    bar[low - 1 : high] = "=" * (high - low + 1)
    bar[standing.position - 1] = "o"
    return "".join(bar)


def first_two(board: Leaderboard) -> str:
    """How many queries would separate the first two, and which difference these queries show."""
    first, second = (standing.run for standing in board.standings[:2])
    pair = next(pair for pair in board.pairs if {pair.a, pair.b} == {first, second})
    needed = ""
    if pair.verdict == "unclear" and pair.queries_needed:
        needed = f"To tell 1 from 2: about {pair.queries_needed:,} queries ({pair.n:,} now). "
    detectable = sorted(pair.detectable for pair in board.pairs if math.isfinite(pair.detectable))
    if not detectable:
        return needed.strip()
    return f"{needed}A difference of about {detectable[len(detectable) // 2]:.4f} is told apart here."


def to_judge_words(board: Leaderboard) -> str:
    """How many pairs wait for judgements."""
    waiting = [pair for pair in board.pairs if pair.could_be_turned]
    if not waiting:
        return ""
    documents = {(document.query, document.doc) for pair in waiting for document in pair.judge_first}
    words = f"Judge first for {count(len(waiting), 'pair')}"
    if documents:
        words += f": {len(documents):,} documents first"
    return f"{words}."


def two_systems(comparison: Comparison) -> Table:
    """A row per measure of two systems: both means, the difference, and what it means."""
    level, alpha = percent(comparison.statistics.level), comparison.statistics.alpha
    pairs = {pair.measure: pair for pair in comparison.pairs}
    rows: list[Cells] = []
    for measure in comparison.measures:
        pair = pairs[measure]
        means = []
        for run in (pair.a, pair.b):
            summary = comparison.summaries[measure, run]
            best = "best" * (run in comparison.best(measure))
            means.append(Cell(format_value(summary.shown, summary.average), summary.mean, best))
        rows.append(
            [
                _measure_words(pair),
                *means,
                Cell(number(pair.difference, signed=True), pair.difference),
                interval(pair.interval, signed=True),
                win_tie_loss(pair),
                number(pair.effect, 2),
                p_value(pair.p_adjusted, pair.at_most, alpha),
                Cell(pair.word, style=style(pair)),
            ]
        )

    first = pairs[comparison.primary]
    names = [ids.show(run) + " (baseline)" * (run == comparison.baseline) for run in (first.a, first.b)]
    numbers = (*names, "difference", f"{level} interval", "better / equal / worse", "d", "p")
    return Table([*Head.texts("measure"), *Head.numbers(*numbers), *Head.texts("word")], rows)


def _measure_words(pair: Pair) -> str:
    """The measure, with its role where that is not the usual one."""
    if pair.role in MARKED:
        return f"{pair.measure} ({pair.role})"
    return pair.measure


def style(pair: Pair) -> str:
    """How a verdict is shown."""
    if pair.verdict == "diagnostic":
        return "remark"
    return pair.verdict


def caveats(comparison: Comparison, limit: int = MOST_VERDICTS) -> list[Sentence]:
    """Warnings about rows that have no sentence, once for all rows that share one."""
    rows_by_note: dict[str, list[str]] = {}
    for pair in comparison.pairs:
        if pair.measure == comparison.primary or pair.role == "diagnostic":
            continue
        row = f"{pair.measure} ({ids.show(pair.b)} against {ids.show(pair.a)})"
        for note in pair.caveats:
            if note.is_warning:
                rows_by_note.setdefault(str(note), []).append(row)

    sentences = []
    for words, rows in list(rows_by_note.items())[:limit]:
        row_words = ", ".join(rows[:3])
        if len(rows) > 3:
            row_words += f" and {len(rows) - 3:,} more rows"
        sentences.append(Sentence(f"{row_words}: {words}", "warning"))

    return sentences


def moved_most(comparison: Comparison) -> list[Sentence]:
    """The queries on which B lost most and gained most, for comparisons that have no table of queries."""
    if comparison.texts or comparison.is_explained:
        return []

    pair = comparison.of(comparison.primary)[0]
    values = comparison.values[comparison.primary]
    row_of = {run: i for i, run in enumerate(comparison.runs)}
    differences = np.nan_to_num(values[row_of[pair.b]] - values[row_of[pair.a]])
    gains = differences
    if not pair.higher_is_better:
        gains = -differences

    sentences = []
    for words, order in (
        ("Lost most", np.argsort(gains, kind="stable")),
        ("Gained most", np.argsort(-gains, kind="stable")),
    ):
        sign = -1.0
        if words == "Gained most":
            sign = 1.0
        moved = [int(i) for i in order[:MOST_MOVED] if sign * gains[i] > 0]
        named = [f"{ids.show(comparison.queries[i])} {number(float(differences[i]), signed=True)}" for i in moved]
        if named:
            sentences.append(f"{words}: {', '.join(named)}.")
    if not sentences:
        return []
    return [Sentence(" ".join(sentences), "remark")]


def queries(comparison: Comparison) -> list[Table]:
    """The queries whose values differ most, with their texts; nothing if no texts are known."""
    if not comparison.texts and not comparison.is_explained:
        return []

    values = comparison.values[comparison.primary]
    spread = np.nan_to_num(values.max(axis=0) - values.min(axis=0))
    order = [int(i) for i in np.argsort(-spread, kind="stable")[:MOST_QUERIES] if spread[i] > 0]
    rows: list[Cells] = []
    for i in order:
        query = comparison.queries[i]
        cells: list[Cell | str | float] = [query, comparison.question(query) or "-", *map(float, values[:, i])]
        if comparison.is_explained:
            cells.append(not_covered_words(comparison, query))
        rows.append(cells)

    heads = [*Head.names("query"), *Head.texts("text"), *Head.numbers(*comparison.runs)]
    if comparison.is_explained:
        heads += Head.texts("not covered")
    title = f"Queries that differ most, {comparison.primary}"
    if rows:
        return [Table(heads, rows, title)]
    return []


def not_covered_words(comparison: Comparison, query: str) -> str:
    """Which references of a question each system leaves uncovered: the first of each, and how many more."""
    runs_by_words: dict[str, list[str]] = {}
    for run in comparison.runs:
        missed = comparison.not_covered(run, query)
        if missed:
            words = f'"{ids.show(missed[0], MOST_OF_REFERENCE)}"'
            if len(missed) > 1:
                words += f" and {len(missed) - 1:,} more"
            runs_by_words.setdefault(words, []).append(ids.show(run, MOST_OF_REFERENCE))
    return "; ".join(f"{', '.join(runs)}: {words}" for words, runs in runs_by_words.items())


def letters_note(comparison: Comparison) -> str:
    """What the letters after values mean."""
    return (
        "A letter after a value: clearly better than that system (corrected p at most"
        f" {comparison.statistics.alpha:g})."
    )


def systems(comparison: Comparison, merged: bool = False) -> Table:
    """A row per system, a column per measure; `merged` with letter and name in one column, to be sorted by a click."""
    rows: list[Cells] = []
    for run, letter in comparison.letters.items():
        is_baseline = run == comparison.baseline
        cells = [Cell(letter, style="dim"), Cell(ids.show(run) + " (baseline)" * is_baseline)]
        if merged:
            cells = [Cell(f"{letter} {run}", detail="baseline" * is_baseline)]
        for measure in comparison.measures:
            summary = comparison.summaries[measure, run]
            value_words, best = format_value(summary.shown, summary.average), "best" * (run in comparison.best(measure))
            letters = " ".join(comparison.beats(measure, run))
            cells.append(Cell(value_words, summary.mean, best, letters, interval(summary.shown_interval)))
        rows.append(cells)

    if merged:
        return Table([*Head.names("System"), *Head.numbers(*comparison.measures)], rows, sortable=True)

    heads = [*Head.texts("", "system"), *Head.numbers(*comparison.measures)]
    return Table(heads, rows, "Systems", letters_note(comparison))


def paper_systems(comparison: Comparison) -> Table:
    """The table of systems, with the method in its caption, for a paper."""
    caption = f"A raised letter: clearly better than that system. {comparison.method}."
    return replace(
        systems(comparison), title=f"{count(len(comparison.queries), 'query')}; best in bold", caption=caption
    )


def differences(comparison: Comparison, complete: bool = False) -> Table:
    """A row per measure and pair of systems; secondary measures and diagnostics are marked."""
    pairs = comparison.pairs
    if not complete:
        pairs = pairs[:MOST_ROWS]
    title = "Differences, B minus A"
    if len(pairs) < len(comparison.pairs):
        title += f" (the first {len(pairs)} of {len(comparison.pairs):,})"
    return _differences(pairs, comparison.statistics, title)


def pair_parts(pair: Pair) -> list[Part]:
    """One pair: the verdict as a sentence, its numbers, and what it rests on."""
    table = _differences([pair], pair.statistics, "Difference, B minus A")
    return [Sentence(pair.sentence, style(pair)), table, *reasons(pair)]


def _differences(pairs: Sequence[Pair], statistics: Statistics, title: str) -> Table:
    alpha = statistics.alpha
    numbers = ("difference", f"{percent(statistics.level)} interval", "d", "better / equal / worse")
    heads = [*Head.texts("measure"), *Head.names("A", "B"), *Head.numbers(*numbers, "p", "corrected p")]
    rows: list[Cells] = [
        [
            _measure_words(pair),
            pair.a,
            pair.b,
            number(pair.difference, signed=True),
            interval(pair.interval, signed=True),
            number(pair.effect, 2),
            win_tie_loss(pair),
            p_value(pair.p, alpha=alpha),
            p_value(pair.p_adjusted, pair.at_most, alpha),
            Cell(pair.word, style=style(pair)),
        ]
        for pair in pairs
    ]

    return Table([*heads, *Head.texts("word")], rows, title)


def win_tie_loss(pair: Pair) -> str:
    """On how many queries B is better, equal, worse."""
    return f"{pair.wins:,} / {pair.ties:,} / {pair.losses:,}"


def slices(comparison: Comparison, complete: bool = False) -> Table:
    """Means on groups of queries; small groups are dim, and those that go the other way than all queries flagged."""
    first = comparison.measures[0]
    reversed_slices = {
        (difference.attribute, difference.value, difference.measure)
        for difference in comparison.slices.differences
        if difference.reversed
    }
    rows = []
    for group in comparison.slices.slices:
        if not complete and group.measure != first:
            continue
        count = Cell(f"{group.n:,}" + " (few)" * group.small, group.n)
        cells: list[Cell | str] = [group.attribute, group.value, group.measure, count]
        for run in comparison.runs:
            cells.append(Cell(number(group.means[run]), group.means[run], detail=interval(group.intervals[run])))
        row_style = ""
        if group.small:
            row_style = "dim"
        elif (group.attribute, group.value, group.measure) in reversed_slices:
            row_style = "flag"
        rows.append(Row(cells, row_style, {"measure": group.measure}))

    heads = [*Head.names("attribute", "value"), *Head.texts("measure"), *Head.numbers("queries", *comparison.runs)]
    if complete:
        return Table(heads, rows, "Slices")
    return Table(heads, rows, f"Slices, {first}").without("measure")


def pairs_table(comparison: Comparison) -> Table:
    """Everything about each pair as exact numbers, for CSV; empty where a value is not defined."""
    return rows_table(comparison.rows())


def agreement_parts(comparison: Comparison, runs: Mapping[str, Run]) -> list[Part]:
    """How alike each two rankings are, and how alike each two measures order the systems."""
    from goldrank.comparison.agreement import STATISTICS, measures_agree, rank_agreement

    rows: list[Cells] = []
    for a, b in combinations(runs, 2):
        means = rank_agreement(runs[a], runs[b]).mean
        rows.append([f"{ids.show(a)}, {ids.show(b)}", *(number(means[name]) for name in STATISTICS)])
    title = "How alike the rankings are (jaccard of the first 10)"
    shown_parts: list[Part] = [Table([*Head.texts("rankings"), *Head.numbers(*STATISTICS)], rows, title)]
    taus_of_measures = measures_agree(comparison)
    if taus_of_measures and len(comparison.runs) > 2:
        taus = [[f"{a}, {b}", number(tau)] for (a, b), tau in taus_of_measures.items()]
        heads = [*Head.texts("order of systems"), *Head.numbers("tau")]
        shown_parts.append(Table(heads, taus, "How alike the measures order the systems"))
    return shown_parts
