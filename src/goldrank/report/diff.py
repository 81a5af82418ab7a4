"""What moved between two runs: causes, then the queries to read first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldrank.base import ids
from goldrank.comparison.rank_changes import CAUSES
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table

if TYPE_CHECKING:
    from goldrank.comparison.rank_changes import Diff, QueryChange

MOST_DOCUMENTS = 6
MOST_INTRUDERS = 3


def parts(changes: Diff, count: int = 10) -> list[Part]:
    """The difference in a sentence, what happened to the relevant documents, and `count` queries."""
    rows: list[Cells] = [
        [cause, f"{number:,}", Cell(CAUSES[cause], style="dim")] for cause, number in changes.causes.items()
    ]
    heads = [*Head.texts("cause"), *Head.numbers("documents"), *Head.texts("")]
    why = Table(heads, rows, "What happened to the relevant documents")
    return [Sentence(changes.words, "strong"), why, *(_documents(change) for change in changes.read_first(count))]


def _documents(change: QueryChange) -> Table:
    ranks = [["-" if r is None else f"{r:,}" for r in (d.before, d.after)] for d in change.documents]
    rows: list[Cells] = [
        [document.doc, f"{document.grade:g}", *both, document.cause]
        for document, both in zip(change.documents[:MOST_DOCUMENTS], ranks, strict=False)
    ]
    rows += [
        [hole.doc, "unjudged", "-" if hole.before is None else f"{hole.before:,}", f"{hole.after:,}", "intruder"]
        for hole in change.intruders[:MOST_INTRUDERS]
    ]
    left_out = max(0, len(change.documents) - MOST_DOCUMENTS) + max(0, len(change.intruders) - MOST_INTRUDERS)
    both = f"{change.before:.4f} to {change.after:.4f}"

    return Table(
        [*Head.names("document"), *Head.numbers("grade", "before", "after"), *Head.texts("cause")],
        rows,
        f"{ids.show(change.query)}  {change.difference:+.4f}  {both}  {change.cause}",
        f"and {left_out:,} more" if left_out > 0 else "",
    )
