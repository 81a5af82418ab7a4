"""What clicks say about two interleaved rankings."""

from __future__ import annotations

from goldrank.clicks.interleaving import Preference
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, count, note_sentences
from goldrank.report.forms import writers
from goldrank.report.numbers import p_value


def parts(found: Preference) -> list[Part]:
    """The verdict, its numbers, and what to know of them."""
    heads = [*Head.names("B", "A"), *Head.numbers("B's share", "low", "high", "wins", "losses", "ties", "p")]
    shares = [Cell(f"{value:.1%}", value) for value in (found.share, *found.interval)]
    counts = [Cell(f"{value:,}", value) for value in (found.wins, found.losses, found.ties)]
    rows: list[Cells] = [[found.b, found.a, *shares, *counts, Cell(p_value(found.p), found.p)]]
    if found.unit == "impression":
        together = ""
    else:
        together = f"; those of one {found.unit} are drawn together"

    method = f"{found.method}; {count(found.units, found.unit)}{together}; p-value: {found.how}"
    return [
        Sentence(f"{found.words}.", found.verdict),
        Table(heads, rows),
        Sentence(method, "remark"),
        *note_sentences(found.notes),
    ]


WRITERS = writers()
