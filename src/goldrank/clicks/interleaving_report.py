"""The preference between two interleaved rankings, as tables and sentences."""

from __future__ import annotations

from goldrank.clicks.interleaving import Preference
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, count, note_sentences
from goldrank.report.numbers import p_value


def parts(preference: Preference) -> list[Part]:
    """The verdict, its numbers, and what to know of them."""
    columns = [*Head.names("B", "A"), *Head.numbers("B's share", "low", "high", "wins", "losses", "ties", "p")]
    shares = [Cell(f"{value:.1%}", value) for value in (preference.share, *preference.interval)]
    counts = [Cell(f"{value:,}", value) for value in (preference.wins, preference.losses, preference.ties)]
    rows: list[Cells] = [[preference.b, preference.a, *shares, *counts, Cell(p_value(preference.p), preference.p)]]
    together = ""
    if preference.unit != "impression":
        together = f"; those of one {preference.unit} are drawn together"

    method = f"{preference.method}; {count(preference.units, preference.unit)}{together}; p-value: {preference.how}"
    return [
        Sentence(f"{preference.words}.", preference.verdict),
        Table(columns, rows),
        Sentence(method, "remark"),
        *note_sentences(preference.notes),
    ]
