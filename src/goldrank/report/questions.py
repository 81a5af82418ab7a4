"""Questions that a model wrote: how many, of which sources, and what was left out."""

from __future__ import annotations

from goldrank.data.table import Cell, Head, Part, Table, note_sentences
from goldrank.judging.questions import REASONS, Questions
from goldrank.report.numbers import counted


def parts(found: Questions) -> list[Part]:
    """Counts of questions and calls, why others were left out, and the notes."""
    by_source = found.by_source.values()
    if (planned := found.planned) is not None:
        asked: list[list[Cell | str]] = [
            ["sources", counted(len(by_source))],
            ["passages to ask about", counted(planned.passages)],
            ["calls, if every question holds", counted(planned.calls)],
            ["tokens of their prompts, estimated", counted(planned.tokens)],
            ["cost of these at most", Cell(f"{planned.cost:.4f}", planned.cost)],
            ["calls at most, if many have to be written again", counted(planned.most_calls)],
        ]
        return [Table([*Head.texts("would be asked"), *Head.numbers("")], asked)]
    rows: list[list[Cell | str]] = [
        ["questions", counted(len(found))],
        ["passages asked about", counted(found.written)],
        ["sources", counted(len(by_source))],
        ["questions of a source, fewest", counted(min(by_source))],
        ["questions of a source, most", counted(max(by_source))],
        ["calls", counted(found.outcome.calls)],
        ["cost", Cell(f"{found.outcome.cost:.4f}", found.outcome.cost)],
    ]
    made: list[Part] = [Table([*Head.texts("questions"), *Head.numbers("")], rows)]
    if found.rejected:
        left: list[list[Cell | str]] = [[REASONS[name], counted(count)] for name, count in found.rejected.items()]
        made.append(Table([*Head.texts("left out"), *Head.numbers("questions")], left))
    return [*made, *note_sentences(found.notes)]
