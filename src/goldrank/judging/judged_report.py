"""The questions to a judge, its answers, and their cost."""

from __future__ import annotations

import json
from collections import Counter

from goldrank.base.escaping import json_text
from goldrank.data.table import Cell, Head, Part, Table, note_sentences
from goldrank.judging.ask import Judged
from goldrank.report.numbers import counted, figures, number, share


def parts(judged: Judged) -> list[Part]:
    """The counts of a job, the grades that were given, and its notes."""
    outcome = judged.outcome
    rows: dict[str, int | float] = {"pairs": outcome.total, "answered by the log": outcome.from_log}
    if judged.dry_run:
        rows |= {"to ask": judged.asked, "tokens of prompts, estimated": judged.tokens}
        rows["cost at most"] = float(judged.most_cost)
    else:
        rows |= {"asked for": judged.asked, "calls": outcome.calls, "tokens of prompts": outcome.tokens_in}
        rows |= {"tokens of answers": outcome.tokens_out, "cost": outcome.cost}

    shown: list[Part] = [figures(judged.judge, rows)]
    grades = Counter(judged.grades.values())
    if grades:
        by_grade: list[list[Cell | str]] = [[str(grade), counted(grades[grade])] for grade in sorted(grades)]
        shown.append(Table([*Head.names("grade"), *Head.numbers("pairs")], by_grade))

    steady = judged.consistency
    if steady is not None:
        repeated: dict[str, int | float | Cell] = {
            "pairs asked several times": steady.pairs,
            "of them, always the same grade": share(steady.unanimous, steady.low, steady.high),
            "Krippendorff's alpha (ordinal)": Cell(number(steady.alpha, 3), steady.alpha),
        }
        shown.append(figures("does it agree with itself?", repeated))

    who_judged = [note for note in judged.qrels.notes if note.code == "who-judged"]
    return [*shown, *note_sentences((*judged.notes, *who_judged))]


def doubts_lines(judged: Judged) -> str:
    """How far the judge's answers are apart, by query, as JSON Lines: strata for `goldrank judge corrected`."""
    rows = ({"query": query, "stratum": apart} for query, apart in judged.doubts.items())
    return "".join(json_text(json.dumps(row) + "\n") for row in rows)
