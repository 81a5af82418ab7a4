"""Questions that a model wrote: how many, of which sources, and what was left out."""

from __future__ import annotations

from goldrank.data.table import Cell, Head, Part, Table, note_sentences
from goldrank.judging.questions import REASONS, Questions


def parts(found: Questions) -> list[Part]:
    """Counts of questions and calls, why others were left out, and the notes."""
    by_source = found.by_source.values()
    if (planned := found.planned) is not None:
        asked: list[list[Cell | str]] = [
            ["sources", _count(len(by_source))],
            ["passages to ask about", _count(planned.passages)],
            ["calls, if every question holds", _count(planned.calls)],
            ["tokens of their prompts, estimated", _count(planned.tokens)],
            ["cost of these at most", Cell(f"{planned.cost:.4f}", planned.cost)],
            ["calls at most, if many have to be written again", _count(planned.most_calls)],
        ]
        return [Table([*Head.texts("would be asked"), *Head.numbers("")], asked)]
    rows: list[list[Cell | str]] = [
        ["questions", _count(len(found))],
        ["passages asked about", _count(found.written)],
        ["sources", _count(len(by_source))],
        ["questions of a source, fewest", _count(min(by_source))],
        ["questions of a source, most", _count(max(by_source))],
        ["calls", _count(found.outcome.calls)],
        ["cost", Cell(f"{found.outcome.cost:.4f}", found.outcome.cost)],
    ]
    made: list[Part] = [Table([*Head.texts("questions"), *Head.numbers("")], rows)]
    if found.rejected:
        left: list[list[Cell | str]] = [[REASONS[name], _count(count)] for name, count in found.rejected.items()]
        made.append(Table([*Head.texts("left out"), *Head.numbers("questions")], left))
    return [*made, *note_sentences(found.notes)]


def _count(number: int) -> Cell:
    return Cell(f"{number:,}", number)
