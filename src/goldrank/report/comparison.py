"""A comparison of systems, for every form but its page: systems, verdicts, differences, slices and notes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from goldrank import ids
from goldrank.comparison.intervals import percent
from goldrank.data.scores import format_value
from goldrank.data.table import Cell, Cells, Head, Part, Row, Sentence, Table, count, note_sentences
from goldrank.report.forms import rows_table
from goldrank.report.numbers import interval, number, p_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldrank.comparison.pair import Pair
    from goldrank.comparison.result import Comparison
    from goldrank.data.run import Run

MOST_ROWS = 60
MOST_VERDICTS = 10
MOST_QUERIES = 10
MARKED = ("secondary", "diagnostic")
"""Roles of rows that are named in the table."""


def parts(comparison: Comparison, whole: bool = False) -> list[Part]:
    """What people read; `whole` with all pairs, and with the slices of all measures."""
    shown: list[Part] = [systems(comparison), *verdicts(comparison), differences(comparison, whole)]
    shown += [*caveats(comparison), *queries(comparison)]
    if comparison.slices is not None:
        shown += [slices(comparison, whole), *note_sentences(comparison.slices.notes)]
    method = Sentence(f"{count(len(comparison.queries), 'query')}. {comparison.method}.", "remark")
    return [*shown, method, *note_sentences(comparison.notes)]


def verdicts(comparison: Comparison, most: int = MOST_VERDICTS) -> list[Sentence]:
    """Which system is best, if there are several, and the verdicts about the measure that decides."""
    pairs = comparison.of(comparison.primary)
    shown = [Sentence(pair.words, style(pair)) for pair in pairs[:most]]
    if len(comparison.runs) > 2 and comparison.baseline is None and pairs[0].role != "diagnostic":
        from goldrank.comparison.leaderboard import leaderboard

        shown.insert(0, Sentence(leaderboard(comparison).words, "strong"))
    return shown


def style(pair: Pair) -> str:
    """How a verdict is shown."""
    return "remark" if pair.verdict == "diagnostic" else pair.verdict


def caveats(comparison: Comparison, most: int = MOST_VERDICTS) -> list[Sentence]:
    """What keeps rows from being trusted that no verdict is worded for, said once for rows that share it."""
    said: dict[str, list[str]] = {}
    for pair in comparison.pairs:
        if pair.measure != comparison.primary and pair.role != "diagnostic":
            for note in pair.caveats:
                if note.is_warning:
                    row = f"{pair.measure} ({ids.show(pair.b)} against {ids.show(pair.a)})"
                    said.setdefault(str(note), []).append(row)
    shown = []
    for words, rows in list(said.items())[:most]:
        more = f" and {len(rows) - 3:,} more rows" if len(rows) > 3 else ""
        shown.append(Sentence(f"{', '.join(rows[:3])}{more}: {words}", "warning"))
    return shown


def queries(comparison: Comparison) -> list[Table]:
    """The queries whose values differ most, with their texts; nothing if no texts are known."""
    if not comparison.texts:
        return []
    values = comparison.values[comparison.primary]
    spread = np.nan_to_num(values.max(axis=0) - values.min(axis=0))
    order = [int(i) for i in np.argsort(-spread, kind="stable")[:MOST_QUERIES] if spread[i] > 0]
    rows: list[Cells] = []
    for i in order:
        query = comparison.queries[i]
        rows.append([query, comparison.texts.get(query, "-"), *(float(value) for value in values[:, i])])
    heads = [*Head.names("query"), *Head.texts("text"), *Head.numbers(*comparison.runs)]
    title = f"Queries that differ most, {comparison.primary}"
    return [Table(heads, rows, title)] if rows else []


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
            shown, best = format_value(summary.shown, summary.average), "best" * (run in comparison.best(measure))
            letters = " ".join(comparison.beats(measure, run))
            cells.append(Cell(shown, summary.mean, best, letters, interval(summary.shown_interval)))
        rows.append(cells)
    if merged:
        return Table([*Head.names("System"), *Head.numbers(*comparison.measures)], rows, sortable=True)
    heads = [*Head.texts("", "system"), *Head.numbers(*comparison.measures)]
    return Table(heads, rows, "Systems", letters_note(comparison))


def paper_systems(comparison: Comparison) -> Table:
    """The table of systems with all that a paper has to say about it in the caption."""
    caption = f"A raised letter: clearly better than that system. {comparison.method}."
    return replace(
        systems(comparison), title=f"{count(len(comparison.queries), 'query')}; best in bold", caption=caption
    )


def differences(comparison: Comparison, whole: bool = False) -> Table:
    """A row per measure and pair of systems; secondary measures and diagnostics are marked."""
    pairs = comparison.pairs if whole else comparison.pairs[:MOST_ROWS]
    more = f" (the first {len(pairs)} of {len(comparison.pairs):,})" if len(pairs) < len(comparison.pairs) else ""
    numbers = ("difference", f"{percent(comparison.statistics.level)} interval", "effect d", "win / tie / loss")
    heads = [*Head.texts("measure"), *Head.names("A", "B"), *Head.numbers(*numbers, "p", "corrected p")]
    rows: list[Cells] = [
        [
            pair.measure + (f" ({pair.role})" if pair.role in MARKED else ""),
            pair.a,
            pair.b,
            number(pair.difference, signed=True),
            interval(pair.interval, signed=True),
            number(pair.effect, 2),
            win_tie_loss(pair),
            p_value(pair.p),
            p_value(pair.p_adjusted, pair.at_most),
            Cell(pair.verdict, style=style(pair)),
        ]
        for pair in pairs
    ]
    return Table([*heads, *Head.texts("verdict")], rows, f"Differences, B minus A{more}")


def win_tie_loss(pair: Pair) -> str:
    """On how many queries B is better, equal, worse."""
    return f"{pair.wins:,} / {pair.ties:,} / {pair.losses:,}"


def slices(comparison: Comparison, whole: bool = False) -> Table:
    """Means on groups of queries; small groups are dim, and those that go the other way than all queries flagged."""
    assert comparison.slices is not None
    first = comparison.measures[0]
    turned = {(d.attribute, d.value, d.measure) for d in comparison.slices.differences if d.reversed}
    rows = []
    for group in comparison.slices.slices:
        if not whole and group.measure != first:
            continue
        count = Cell(f"{group.n:,}" + " (few)" * group.small, group.n)
        cells: list[Cell | str] = [group.attribute, group.value, group.measure, count]
        for run in comparison.runs:
            cells.append(Cell(number(group.means[run]), group.means[run], detail=interval(group.intervals[run])))
        is_turned = (group.attribute, group.value, group.measure) in turned
        style = "dim" if group.small else "flag" if is_turned else ""
        rows.append(Row(cells, style, {"measure": group.measure}))
    heads = [*Head.names("attribute", "value"), *Head.texts("measure"), *Head.numbers("queries", *comparison.runs)]
    if whole:
        return Table(heads, rows, "Slices")
    return Table(heads, rows, f"Slices, {first}").without("measure")


def pairs_table(comparison: Comparison) -> Table:
    """Everything about each pair as exact numbers, for CSV; empty where a value is not defined."""
    rows = ({**row, "p_at_most": float(row["p_at_most"])} for row in comparison.rows())
    return rows_table([{name: None if value != value else value for name, value in row.items()} for row in rows])


def agreement_parts(comparison: Comparison, runs: Mapping[str, Run]) -> list[Part]:
    """How alike each two rankings are, and how alike each two measures order the systems."""
    from goldrank.comparison.agreement import STATISTICS, measures_agree, rank_agreement

    rows: list[Cells] = []
    for a, b in combinations(runs, 2):
        means = rank_agreement(runs[a], runs[b]).mean
        rows.append([f"{ids.show(a)}, {ids.show(b)}", *(number(means[name]) for name in STATISTICS)])
    title = "How alike the rankings are (jaccard of the first 10)"
    shown: list[Part] = [Table([*Head.texts("rankings"), *Head.numbers(*STATISTICS)], rows, title)]
    alike = measures_agree(comparison)
    if alike and len(comparison.runs) > 2:
        taus = [[f"{a}, {b}", number(tau)] for (a, b), tau in alike.items()]
        heads = [*Head.texts("order of systems"), *Head.numbers("tau")]
        shown.append(Table(heads, taus, "How alike the measures order the systems"))
    return shown
