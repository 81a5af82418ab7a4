"""Judgements from clicks: each pair with its counts and interval."""

from __future__ import annotations

from collections.abc import Sequence

from goldrank.clicks.judgements import MODELS, ClickJudgement, ClickJudgements
from goldrank.data.table import Cell, Head, Part, Row, Sentence, Table, note_sentences
from goldrank.report import separated

MOST = 20
"""Pairs that are shown."""


def parts(found: ClickJudgements) -> list[Part]:
    """The pairs that were shown most often, and what to know of all of them."""
    rows = sorted(found.pairs, key=lambda row: -row.shown)[:MOST]
    if len(found) > MOST:
        more = f"the {MOST} shown most often of {len(found):,}; --as csv has all"
    else:
        more = ""
    return [
        Sentence(f"{found.model}: {MODELS[found.model][1]}."),
        _table(found, rows, more),
        *note_sentences(found.notes),
    ]


def _table(judgements: ClickJudgements, rows: Sequence[ClickJudgement], caption: str = "") -> Table:
    heads = [*Head.names("query", "doc"), *Head.numbers("value", "low", "high", "shown", "clicks")]
    listed = [
        Row(
            [row.query, row.doc, row.value, row.low, row.high, Cell(f"{row.shown:,}", row.shown),
             Cell(f"{row.clicks:,}", row.clicks)],
            "" if row.shown >= judgements.min_views else "dim",
        )
        for row in rows
    ]  # fmt: skip
    return Table(heads, listed, caption=caption)


def csv(found: ClickJudgements) -> str:
    """Every pair, for programs."""
    return separated.write(_table(found, list(found.pairs)))
