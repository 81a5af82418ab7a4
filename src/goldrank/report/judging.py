"""What a judge was asked, answered and cost."""

from __future__ import annotations

from collections import Counter

from goldrank.data.table import Cell, Head, Part, Table, note_sentences
from goldrank.judging.ask import Judged


def parts(found: Judged, *, dry_run: bool = False) -> list[Part]:
    """The counts of a job, the grades that were given, and its notes."""
    outcome = found.outcome
    rows: list[list[Cell | str]] = [
        ["pairs", _count(outcome.total)],
        ["answered by the log", _count(outcome.from_log)],
        ["to ask" if dry_run else "asked for", _count(found.asked)],
    ]
    if dry_run:
        rows.append(["tokens of prompts, estimated", _count(found.tokens)])
        rows.append(["cost at most", Cell(f"{found.most_cost:.4f}", found.most_cost)])
    else:
        rows.append(["calls", _count(outcome.calls)])
        rows.append(["tokens of prompts", _count(outcome.tokens_in)])
        rows.append(["tokens of answers", _count(outcome.tokens_out)])
        rows.append(["cost", Cell(f"{outcome.cost:.4f}", outcome.cost)])
    made: list[Part] = [Table([*Head.texts(found.judge), *Head.numbers("")], rows)]
    grades = Counter(found.grades.values())
    if grades:
        counted: list[list[Cell | str]] = [[str(grade), _count(grades[grade])] for grade in sorted(grades)]
        made.append(Table([*Head.names("grade"), *Head.numbers("pairs")], counted))
    return [*made, *note_sentences((*found.notes, *(n for n in found.qrels.notes if n.code == "who-judged")))]


def _count(number: int) -> Cell:
    return Cell(f"{number:,}", number)
