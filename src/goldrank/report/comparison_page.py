"""The page of a comparison: the verdict and how far to trust it, then queries, systems, differences and slices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.comparison import rank_changes
from goldrank.comparison.intervals import percent
from goldrank.comparison.leaderboard import Leaderboard, leaderboard
from goldrank.comparison.pair import Pair
from goldrank.comparison.rank_changes import Ranks
from goldrank.comparison.result import Comparison
from goldrank.comparison.slice_table import SMALL
from goldrank.data.documents import Document
from goldrank.data.table import Cell, Cells, Head, Row, Sentence, Table, count, note_sentences, warnings_first
from goldrank.report import charts, comparison_queries, decision, html
from goldrank.report import leaderboard as board_tables
from goldrank.report.comparison import MARKED, costs, letters_note, style, systems, win_tie_loss
from goldrank.report.comparison_queries import excerpt
from goldrank.report.decision import Decision
from goldrank.report.numbers import interval, number, p_value

MOST_BYTES = 2_900_000
"""The file stays below this as long as the tables of systems and differences allow it."""
TEMPLATE = "comparison.html.jinja"
MOST_VERDICTS = 6
MOST_PAIRS = 500
MOST_SLICES = 400
MOST_TO_JUDGE = 5
"""Documents to judge that are shown at once; the others are folded."""
MOST_CHART_PAIRS = 4
MOST_FORESTS = 12
MOST_LINES = 16
"""Systems in a chart of curves."""
SAMPLE = 1_000
"""How many queries, at even distances, show where documents went if there are more than twice as many."""


@dataclass(frozen=True)
class _Lead:
    """What the page opens with."""

    pair: Pair
    """The pair to look at first."""
    board: Leaderboard | None
    """Of more than two systems."""
    words: str
    style: str
    other_verdicts: list[Sentence]
    """Verdicts on other pairs."""


def render(comparison: Comparison) -> str:
    """The report. What the size limit leaves out is counted."""
    c = comparison
    lead = _lead(c)
    listed = comparison_queries.listed(c, lead.pair)
    sample = _sample(c)
    ranks = _ranks(c, listed.with_documents, sample)
    first = [lead.pair, *(pair for pair in c.of(c.primary) if pair != lead.pair)]
    board = None
    if lead.board is not None:
        board = _board(lead.board)
    slices = None
    if c.slices or c.slices.notes:
        slices = _slices(c, lead.pair)
    first_words = ""
    if c.baseline is not None and len(c.runs) > 2:
        first_words = lead.pair.short_words
    chosen_measure = ""
    if len(c.runs) > 2 and len(c.measures) > 1:
        chosen_measure = c.primary
    curves = [charts.curves(name, dict(list(points.items())[:MOST_LINES])) for name, points in c.curves.items()]

    values = {
        "c": c,
        "lead": lead,
        "decision": _decision(c, lead),
        "first_words": first_words,
        "to_judge": _to_judge(c, first),
        "level": percent(c.statistics.level),
        "letters_note": letters_note(c),
        "first_queries": comparison_queries.first_queries(c, lead.pair, ranks, listed),
        "by_pair": _by_pair(c, first, ranks, sample),
        "board": board,
        "systems": replace(systems(c, merged=True), stacks=True),
        "many": len(c.measures) > 5,
        "differences": _differences(c),
        "more_pairs": max(0, len(c.pairs) - MOST_PAIRS),
        "chosen": chosen_measure,
        "verdict_words": list(dict.fromkeys(pair.word for pair in c.pairs)),
        "forests": _forests(c),
        "curves": curves,
        "slices": slices,
        "costs": costs(c),
        "small": SMALL,
        "listed": listed,
        "notes": warnings_first([*_method(c), *note_sentences(c.notes)]),
        "data": "",
        "signatures": c.signatures,
    }
    title = _title(c)
    room = MOST_BYTES - len(html.render(TEMPLATE, title, values).encode()) - 500
    values["data"] = comparison_queries.data(c, lead.pair, ranks, listed, room)

    return html.render(TEMPLATE, title, values)


def _title(c: Comparison) -> str:
    """The names of the first three systems."""
    limit = 40
    if len(c.runs) > 3:
        limit = 24
    title = " vs ".join(ids.show(run, limit) for run in c.runs[:3])
    if len(c.runs) > 3:
        title += f" and {len(c.runs) - 3} more"
    return title


def _lead(c: Comparison) -> _Lead:
    """The answer in a sentence, and the pair that it is about."""
    pairs = c.of(c.primary)
    if len(c.runs) == 2 or pairs[0].role == "diagnostic":
        pair = pairs[0]
        return _Lead(pair, None, f"{pair.short_words}.", style(pair), _verdicts(pairs[1:]))

    board = leaderboard(c)
    position_of = {standing.run: i for i, standing in enumerate(board.standings)}
    pair = min(pairs, key=lambda pair: sorted((position_of[pair.a], position_of[pair.b])))
    verdict_style = "unclear"
    if c.baseline is None:
        if len(board.may_be_best) == 1:
            verdict_style = "better"
        return _Lead(pair, board, board.words, verdict_style, _verdicts(pairs))

    pair = min(pairs, key=lambda pair: position_of[pair.b])
    better = sum(compared.verdict == "better" for compared in pairs)
    worse = sum(compared.verdict == "worse" for compared in pairs)
    undecided = len(pairs) - better - worse
    words = f"Of {count(len(pairs), 'system')}, {better:,} better than {ids.show(c.baseline)} by {c.primary}, "
    words += f"{worse:,} worse, {undecided:,} not told apart."
    if better:
        verdict_style = "better"
    return _Lead(pair, board, words, verdict_style, _verdicts(pairs))


def _verdicts(pairs: Sequence[Pair]) -> list[Sentence]:
    return [Sentence(pair.words, style(pair)) for pair in pairs[:MOST_VERDICTS]]


def _decision(c: Comparison, lead: _Lead) -> Decision:
    """The box: of many systems who may be best, else the pair that decides."""
    if lead.board is not None and c.baseline is None:
        return decision.of_board(lead.board, percent(c.statistics.level))

    more = []
    open_pairs = [pair for pair in c.of(c.primary) if pair.could_be_turned and pair != lead.pair]
    if open_pairs:
        names = ", ".join(_pair_name(pair.a, pair.b) for pair in open_pairs[:3])
        if len(open_pairs) > 3:
            names += f" and {len(open_pairs) - 3:,} more"
        more.append(Sentence(f"Unjudged documents could decide {names} too.", "warning"))
    serious = sum(note.is_warning for note in c.notes)
    if serious:
        more.append(Sentence(f"{count(serious, 'warning')} about the data below, in the notes.", "remark"))

    return decision.of_pair(lead.pair, more)


def _to_judge(c: Comparison, pairs: Iterable[Pair]) -> dict[str, Any]:
    """The documents to judge first, of the first pair that they could decide."""
    pair = next((pair for pair in pairs if pair.judge_first), None)
    if pair is None:
        return {}

    rows: list[Cells] = []
    for document in pair.judge_first:
        rows.append(
            [
                Cell(document.query, detail=excerpt(c.texts.get(document.query, ""))),
                Cell(document.doc, detail=excerpt(c.documents.get(document.doc, Document()).line())),
                Cell(str(document.before or "-"), float(document.before or math.nan)),
                Cell(str(document.after or "-"), float(document.after or math.nan)),
                Cell(number(document.move, signed=True), document.move, _direction(document.move > 0)),
            ]
        )

    ranks = Head.numbers(f"rank in {ids.show(pair.a, 24)}", f"rank in {ids.show(pair.b, 24)}")
    heads = [*Head.names("Query", "Document"), *ranks, *Head.numbers(f"{pair.measure} B − A, if relevant")]
    return {
        "about": f"{_pair_name(pair.a, pair.b)}; ordered by how likely they are relevant, times their effect.",
        "first": Table(heads, rows[:MOST_TO_JUDGE], stacks=True),
        "others": Table(heads, rows[MOST_TO_JUDGE:], stacks=True),
    }


def _method(c: Comparison) -> list[Sentence]:
    effect = "d is the mean difference in units of its standard deviation over queries."
    conventions = ", ".join(sorted({scores.convention for scores in c.systems} - {""}))
    texts = [f"{c.method}.", effect]
    if conventions:
        texts.append(f"Convention {conventions}.")
    return [Sentence(text, "remark") for text in texts]


def _direction(is_rise: bool) -> str:
    """The style of a change."""
    if is_rise:
        return "rise"
    return "fall"


def _board(board: Leaderboard) -> dict[str, Any]:
    return {
        "diagram": board_tables.diagram(board),
        "systems": replace(board_tables.systems(board), title="", stacks=True),
        "matrix": replace(board_tables.matrix(board), title=""),
    }


def _differences(c: Comparison) -> Table:
    """As `comparison.differences`, with pairs in one column and intervals below their differences."""
    heads = [*Head.names("B against A"), *Head.texts("Measure", "verdict")]
    heads += Head.numbers("B − A", "d", "better / equal / worse", "p corrected")
    alpha = c.statistics.alpha
    rows = []
    for pair in c.pairs[:MOST_PAIRS]:
        alone = p_value(pair.p, alpha=alpha)
        role = ""
        if pair.role in (*MARKED, "primary"):
            role = pair.role
        verdict_style: str = pair.verdict
        if pair.verdict == "diagnostic":
            verdict_style = "dim"
        row_style = ""
        if pair.role == "diagnostic":
            row_style = "dim"

        cells = [
            Cell(pair.b, detail=f"against {ids.show(pair.a)}"),
            Cell(pair.measure, detail=role),
            Cell(pair.word, style=verdict_style),
            Cell(number(pair.difference, signed=True), pair.difference, detail=interval(pair.interval, signed=True)),
            Cell(number(pair.effect, 2), pair.effect, detail=f"{pair.moved:.0%} moved"),
            Cell(win_tie_loss(pair), pair.wins),
            Cell(p_value(pair.p_adjusted, pair.at_most, alpha), pair.p_adjusted, detail=f"{alone} alone"),
        ]
        rows.append(Row(cells, row_style, {"measure": pair.measure, "verdict": pair.word}))

    return Table(heads, rows, id="pairs", sortable=True, stacks=True)


def _forests(c: Comparison) -> list[charts.Chart]:
    """One chart for all measures of a single pair, else one per measure; measures on another scale separately."""
    if len(c.of(c.primary)) > 1:
        return [charts.forest(c, measure) for measure in c.measures[:MOST_FORESTS]]
    on_unit_scale = [
        pair for pair in c.pairs if max(map(abs, pair.interval), default=0) <= 1 or math.isnan(pair.interval.low)
    ]
    other_charts = [charts.forest(c, pair.measure) for pair in c.pairs if pair not in on_unit_scale]
    groups = [on_unit_scale[i : i + charts.MOST_ROWS] for i in range(0, len(on_unit_scale), charts.MOST_ROWS)]
    return [*(charts.measures_forest(c, part) for part in groups), *other_charts[:MOST_FORESTS]]


def _slices(c: Comparison, lead: Pair) -> dict[str, Any]:
    """A row per slice and pair of systems: the means and the difference with its interval."""
    means = {(part.attribute, part.value, part.measure): part.means for part in c.slices.slices}
    differences = [
        difference
        for difference in c.slices.differences
        if difference.measure == c.primary or (difference.a, difference.b) == (lead.a, lead.b)
    ]
    differences.sort(
        key=lambda difference: (difference.measure != c.primary, (difference.a, difference.b) != (lead.a, lead.b))
    )
    pairs = dict.fromkeys((difference.a, difference.b) for difference in differences[:MOST_SLICES])
    numbers = {pair: i for i, pair in enumerate(pairs)}
    has_several_pairs = len(numbers) > 1
    rows = []
    for part in differences[:MOST_SLICES]:
        means_of_slice = means[part.attribute, part.value, part.measure]
        is_clear = part.p_adjusted <= c.statistics.alpha
        is_higher = (part.difference > 0) == c.higher_is_better(part.measure)
        sign = ""
        if is_clear:
            sign = _direction(is_higher)
        cells = [
            Cell(f"{part.attribute}: {part.value}", detail=_pair_name(part.a, part.b) * has_several_pairs),
            Cell(part.measure),
            Cell(f"{part.n:,}" + " (few)" * part.small, part.n),
            Cell(number(means_of_slice[part.a]), means_of_slice[part.a]),
            Cell(number(means_of_slice[part.b]), means_of_slice[part.b]),
            Cell(
                number(part.difference, signed=True), part.difference, sign, detail=interval(part.interval, signed=True)
            ),
            Cell(p_value(part.p_adjusted), part.p_adjusted),
        ]
        row_style = ""
        if part.small and not is_clear:
            row_style = "dim"
        elif part.reversed:
            row_style = "flag"
        rows.append(Row(cells, row_style, {"measure": part.measure, "pair": str(numbers[part.a, part.b])}))

    names = (f"A: {ids.show(lead.a, 30)}", f"B: {ids.show(lead.b, 30)}")
    pair_names: list[str] = []
    if has_several_pairs:
        names = ("A", "B")
        pair_names = [_pair_name(*pair) for pair in pairs]

    heads = [*Head.names("Slice"), *Head.texts("Measure"), *Head.numbers("queries", *names, "B − A", "p corrected")]
    lead_differences = [
        difference
        for difference in differences
        if difference.measure == c.primary and (difference.a, difference.b) == (lead.a, lead.b)
    ]
    level, higher_is_better = c.statistics.level, c.higher_is_better(c.primary)
    chart = None
    if lead_differences:
        chart = charts.slices_forest(lead_differences, c.statistics.alpha, level, higher_is_better)
    return {
        "table": Table(heads, rows, id="slice-table", sortable=True, stacks=True),
        "chart": chart,
        "measures": list(dict.fromkeys(difference.measure for difference in differences[:MOST_SLICES])),
        "pairs": pair_names,
        "notes": note_sentences(c.slices.notes),
        "more": len(c.slices.differences) - len(rows),
    }


def _pair_name(a: str, b: str) -> str:
    return f"{ids.show(b)} against {ids.show(a)}"


def _ranks(c: Comparison, listed_queries: np.ndarray, sample: set[str] | None) -> Ranks | None:
    """The ranks of the judged documents of listed queries and of the sample; of all queries without a sample."""
    if not c.placed:
        return None
    chosen = None
    if sample is not None:
        chosen = sample.union(c.queries[i] for i in listed_queries.tolist())
    return rank_changes.locate(c.placed, chosen)


def _sample(c: Comparison) -> set[str] | None:
    """Queries at even distances, where there are too many to locate the documents of all; else None."""
    if len(c.queries) <= 2 * SAMPLE:
        return None
    return set(c.queries[:: -(-len(c.queries) // SAMPLE)])


def _by_pair(
    c: Comparison, pairs: Sequence[Pair], ranks: Ranks | None, sample: set[str] | None
) -> list[tuple[str, dict[str, charts.Chart]]]:
    titles = ("Difference of each query", "One dot per query", "Where the relevant documents went")
    return [
        (f"{_pair_name(pair.a, pair.b)}, {pair.measure}",
         dict(zip(titles, charts.of_pair(c, pair, ranks, sample), strict=False)))
        for pair in pairs[:MOST_CHART_PAIRS]
    ]  # fmt: skip
