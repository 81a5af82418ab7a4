"""Whether a judge is moved by texts that flatter or command it."""

from __future__ import annotations

from goldrank.data.table import Cell, Head, Part, Table, note_sentences
from goldrank.judging.probes import TRICKS, Gullibility
from goldrank.report.numbers import counted, share


def parts(gullibility: Gullibility) -> list[Part]:
    """How often each trick raised the grade of a text that is not relevant."""
    rows: list[list[Cell | str]] = [
        [TRICKS[trick.name], counted(trick.pairs), counted(trick.raised), share(trick.share, trick.low, trick.high),
         Cell(f"{trick.mean_rise:+.2f}", trick.mean_rise)]
        for trick in gullibility.tricks.values()
    ]  # fmt: skip
    columns = [*Head.texts(gullibility.judge), *Head.numbers("pairs", "raised", "share, 95% interval", "mean rise")]
    return [Table(columns, rows, title="Texts that people call not relevant"), *note_sentences(gullibility.notes)]
