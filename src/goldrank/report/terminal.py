"""A comparison for the terminal."""

from __future__ import annotations

import io

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from goldrank import ids
from goldrank.comparison.rank_changes import CAUSES, Diff
from goldrank.comparison.result import Comparison
from goldrank.report import cells

STYLES = {"better": "green", "worse": "red", "same": "dim", "equivalent": "cyan", "unclear": "yellow"}
MOST_ROWS = 60


def render(comparison: Comparison, width: int = 120) -> str:
    """The comparison as plain text."""
    file = io.StringIO()
    Console(file=file, width=width, color_system=None, force_terminal=False).print(view(comparison))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def view(comparison: Comparison) -> RenderableType:
    """The comparison as rich shows it: systems, verdicts of the first measure, differences, notes."""
    first = comparison.measures[0]
    verdicts = [Text(f"{ids.show(pair.words, 2000)}", style=STYLES[pair.verdict]) for pair in comparison.of(first)[:10]]
    parts: list[RenderableType] = [_systems(comparison), Text(cells.letters_note(comparison), style="dim"), Text("")]
    parts += [Padding(text, (0, 0, 0, 0)) for text in verdicts]
    parts += [Text(""), _differences(comparison)]
    if comparison.slices is not None:
        parts += [Text(""), _slices(comparison)]
        parts += [Text(f"! {ids.show(str(note), 500)}", style="yellow") for note in comparison.slices.notes]
    parts.append(Text(f"{len(comparison.queries):,} queries. {comparison.method}.", style="dim"))
    parts += [Text(f"- {ids.show(str(note), 500)}", style="dim") for note in comparison.notes]
    return Group(*parts)


def _table(title: str) -> Table:
    return Table(title=Text(title, style="bold"), title_justify="left", box=None, pad_edge=False, header_style="bold")


def _systems(comparison: Comparison) -> Table:
    table = _table("Systems")
    table.add_column("")
    table.add_column("system", overflow="fold")
    for measure in comparison.measures:
        table.add_column(Text(measure), justify="right", no_wrap=True)
    for run, letter in comparison.letters.items():
        row = [Text(letter, style="dim"), Text(ids.show(run) + (" (baseline)" if run == comparison.baseline else ""))]
        for measure in comparison.measures:
            best = run in comparison.best(measure)
            beaten = " ".join(comparison.beats(measure, run))
            text = Text(("*" if best else "") + cells.value(comparison, measure, run), style="bold" if best else "")
            row.append(text.append(f" {beaten}" if beaten else "", style="green"))
        table.add_row(*row)
    return table


def _differences(comparison: Comparison) -> Table:
    left = len(comparison.pairs) - MOST_ROWS
    more = f" (the first {MOST_ROWS} of {len(comparison.pairs):,})" if left > 0 else ""
    table = _table(f"Differences, B minus A{more}")
    for name in ("measure", "A", "B"):
        table.add_column(name, overflow="fold")
    level = f"{comparison.settings.level:.0%} interval"
    for name in ("difference", level, "effect d", "win / tie / loss", "p", "corrected", "verdict"):
        table.add_column(name, justify="right", no_wrap=True)
    for pair in comparison.pairs[:MOST_ROWS]:
        texts = [
            pair.measure,
            ids.show(pair.a),
            ids.show(pair.b),
            cells.number(pair.difference, signed=True),
            cells.interval(pair.interval, signed=True),
            cells.number(pair.effect, 2),
            cells.counts(pair),
            cells.p_value(pair.p[comparison.settings.test]),
            cells.p_value(pair.adjusted),
        ]
        table.add_row(*map(Text, texts), Text(pair.verdict, style=STYLES[pair.verdict]))
    return table


def _slices(comparison: Comparison) -> Table:
    assert comparison.slices is not None
    first = comparison.measures[0]
    table = _table(f"Slices, {first}")
    for name in ("attribute", "value"):
        table.add_column(name)
    table.add_column("queries", justify="right")
    for run in comparison.runs:
        table.add_column(Text(ids.show(run)), justify="right")
    for one in comparison.slices.slices:
        if one.measure == first:
            values = [cells.number(one.means[run]) for run in comparison.runs]
            small = " (few)" if one.small else ""
            texts = [ids.show(one.attribute), ids.show(one.value), f"{one.n:,}{small}", *values]
            table.add_row(*map(Text, texts), style="dim" if one.small else "")
    return table


def view_diff(changes: Diff, count: int = 10) -> RenderableType:
    """What moved between two runs: causes, then the queries to read first."""
    a, b = ids.show(changes.a), ids.show(changes.b)
    ups = sum(change.delta > 0 for change in changes.changes)
    downs = sum(change.delta < 0 for change in changes.changes)
    head = (
        f"{changes.measure}: {changes.delta:+.4f} from {a} to {b}; "
        f"{ups:,} queries better, {downs:,} worse, {len(changes.changes) - ups - downs:,} equal"
    )
    why = _table("What happened to the relevant documents")
    why.add_column("cause")
    why.add_column("documents", justify="right")
    why.add_column("")
    for cause, number in changes.causes.items():
        why.add_row(cause, f"{number:,}", Text(CAUSES[cause], style="dim"))
    parts: list[RenderableType] = [Text(head, style="bold"), Text(""), why, Text("")]
    for change in changes.read_first(count):
        style = "green" if change.delta > 0 else "red"
        line = Text(f"{ids.show(change.query)}  ").append(f"{change.delta:+.4f}", style=style)
        line.append(f"  {change.before:.4f} to {change.after:.4f}  {change.cause}", style="dim")
        parts.append(line)
        for document in change.documents[:6]:
            ranks = " -> ".join("-" if rank is None else f"{rank:,}" for rank in (document.before, document.after))
            parts.append(
                Text(f"    {ids.show(document.doc):<40} grade {document.grade:g}  {ranks:>16}  {document.cause}")
            )
        if len(change.documents) > 6:
            parts.append(Text(f"    and {len(change.documents) - 6:,} more", style="dim"))
    return Group(*parts)
