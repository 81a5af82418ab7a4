"""What clicks say about two interleaved rankings."""

from __future__ import annotations

import json
from collections.abc import Callable

from goldrank.comparison.interleaving import Preference
from goldrank.data.json_values import without_nan
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, note_sentences, plain
from goldrank.report import markdown, separated
from goldrank.report.numbers import count, p_value


def parts(found: Preference) -> list[Part]:
    """The verdict, its numbers, and what to know of them."""
    heads = [*Head.names("B", "A"), *Head.numbers("B's share", "low", "high", "wins", "losses", "ties", "p")]
    shares = [Cell(f"{value:.1%}", value) for value in (found.share, *found.interval)]
    counts = [Cell(f"{value:,}", value) for value in (found.wins, found.losses, found.ties)]
    rows: list[Cells] = [[found.b, found.a, *shares, *counts, Cell(p_value(found.p), found.p)]]
    together = "" if found.unit == "impression" else f"; those of one {found.unit} are drawn together"
    method = f"{found.method}; {count(found.units, found.unit)}{together}; p-value: {found.how}"
    return [
        Sentence(f"{found.words}.", found.verdict),
        Table(heads, rows),
        Sentence(method, "remark"),
        *note_sentences(found.notes),
    ]


WRITERS: dict[str, Callable[[Preference], str]] = {
    "table": lambda found: plain(parts(found)),
    "markdown": lambda found: markdown.write(parts(found)),
    "csv": lambda found: separated.write(_long(found)),
    "json": lambda found: json.dumps(without_nan(found.to_dict()), indent=2),
}


def _long(found: Preference) -> Table:
    (row,) = found.rows()
    cells = [Cell(str(value), value) if isinstance(value, int | float) else str(value) for value in row.values()]
    return Table(Head.texts(*row), [cells])
