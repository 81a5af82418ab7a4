"""Judgements from clicks: each pair with its counts and interval."""

from __future__ import annotations

from collections.abc import Sequence

from goldrank.clicks.judgements import MODELS, ClickJudgement, ClickJudgements
from goldrank.data.table import Cell, Head, Part, Row, Sentence, Table, note_sentences
from goldrank.report import separated

MOST = 20
"""Pairs that are shown."""


def parts(judgements: ClickJudgements) -> list[Part]:
    """The pairs that were shown most often, and what to know of all of them."""
    rows = sorted(judgements.pairs, key=lambda row: -row.shown)[:MOST]
    caption = ""
    if len(judgements) > MOST:
        caption = f"the {MOST} shown most often of {len(judgements):,}; --as csv has all"

    return [
        Sentence(f"{judgements.model}: {MODELS[judgements.model][1]}."),
        _table(judgements, rows, caption),
        *note_sentences(judgements.notes),
    ]


def _table(judgements: ClickJudgements, rows: Sequence[ClickJudgement], caption: str = "") -> Table:
    columns = [*Head.names("query", "doc"), *Head.numbers("value", "low", "high", "shown", "clicks")]
    return Table(columns, [_row(row, judgements.min_views) for row in rows], caption=caption)


def _row(pair: ClickJudgement, min_views: int) -> Row:
    shown, clicks = Cell(f"{pair.shown:,}", pair.shown), Cell(f"{pair.clicks:,}", pair.clicks)
    style = ""
    if pair.shown < min_views:
        style = "dim"
    return Row([pair.query, pair.doc, pair.value, pair.low, pair.high, shown, clicks], style)


def csv(judgements: ClickJudgements) -> str:
    """Every pair, for programs."""
    return separated.write(_table(judgements, list(judgements.pairs)))
