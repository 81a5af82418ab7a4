"""Questions that a model wrote: how many, of which sources, and what was left out."""

from __future__ import annotations

from goldrank.data.table import Cell, Head, Part, Table, note_sentences
from goldrank.judging.questions import REASONS, Questions
from goldrank.report.numbers import counted, figures


def parts(questions: Questions) -> list[Part]:
    """Counts of questions and calls, why others were left out, and the notes."""
    by_source = questions.by_source.values()
    planned = questions.planned
    if planned is not None:
        counts = {
            "sources": len(by_source),
            "passages to ask about": planned.passages,
            "calls, if every question holds": planned.calls,
            "tokens of their prompts, estimated": planned.tokens,
            "cost of these at most": float(planned.cost),
            "calls at most, if many have to be written again": planned.most_calls,
        }
        return [figures("would be asked", counts)]

    rows = {
        "questions": len(questions),
        "passages asked about": questions.written,
        "sources": len(by_source),
        "questions of a source, fewest": min(by_source),
        "questions of a source, most": max(by_source),
        "calls": questions.outcome.calls,
        "cost": questions.outcome.cost,
    }
    shown: list[Part] = [figures("questions", rows)]
    if questions.rejected:
        left: list[list[Cell | str]] = [[REASONS[name], counted(count)] for name, count in questions.rejected.items()]
        shown.append(Table([*Head.texts("left out"), *Head.numbers("questions")], left))

    return [*shown, *note_sentences(questions.notes)]
