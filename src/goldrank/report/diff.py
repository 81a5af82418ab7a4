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
    causes = Table(heads, rows, "What happened to the relevant documents")
    return [Sentence(changes.words, "strong"), causes, *(_documents(change) for change in changes.read_first(count))]


def _documents(change: QueryChange) -> Table:
    rows: list[Cells] = []
    for document in change.documents[:MOST_DOCUMENTS]:
        before, after = _rank(document.before), _rank(document.after)
        rows.append([document.doc, f"{document.grade:g}", before, after, document.cause])
    for intruder in change.intruders[:MOST_INTRUDERS]:
        rows.append([intruder.doc, "unjudged", _rank(intruder.before), _rank(intruder.after), "intruder"])

    heads = [*Head.names("document"), *Head.numbers("grade", "before", "after"), *Head.texts("cause")]
    values = f"{change.before:.4f} to {change.after:.4f}"
    title = f"{ids.show(change.query)}  {change.difference:+.4f}  {values}  {change.cause}"
    left_out = max(0, len(change.documents) - MOST_DOCUMENTS) + max(0, len(change.intruders) - MOST_INTRUDERS)
    caption = ""
    if left_out > 0:
        caption = f"and {left_out:,} more"
    return Table(heads, rows, title, caption)


def _rank(rank: int | None) -> str:
    if rank is None:
        return "-"
    return f"{rank:,}"
