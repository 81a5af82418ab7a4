"""What a judge was asked, answered and cost."""

from __future__ import annotations

import json
from collections import Counter

from goldrank.base.escaping import json_text
from goldrank.data.table import Cell, Head, Part, Table, note_sentences
from goldrank.judging.ask import Judged
from goldrank.report.numbers import counted, figures, number, share


def parts(found: Judged) -> list[Part]:
    """The counts of a job, the grades that were given, and its notes."""
    outcome = found.outcome
    rows: dict[str, int | float] = {"pairs": outcome.total, "answered by the log": outcome.from_log}
    if found.dry_run:
        rows |= {"to ask": found.asked, "tokens of prompts, estimated": found.tokens}
        rows["cost at most"] = float(found.most_cost)
    else:
        rows |= {"asked for": found.asked, "calls": outcome.calls, "tokens of prompts": outcome.tokens_in}
        rows |= {"tokens of answers": outcome.tokens_out, "cost": outcome.cost}

    shown: list[Part] = [figures(found.judge, rows)]
    grades = Counter(found.grades.values())
    if grades:
        by_grade: list[list[Cell | str]] = [[str(grade), counted(grades[grade])] for grade in sorted(grades)]
        shown.append(Table([*Head.names("grade"), *Head.numbers("pairs")], by_grade))

    steady = found.consistency
    if steady is not None:
        repeated: dict[str, int | float | Cell] = {
            "pairs asked several times": steady.pairs,
            "of them, always the same grade": share(steady.unanimous, steady.low, steady.high),
            "Krippendorff's alpha (ordinal)": Cell(number(steady.alpha, 3), steady.alpha),
        }
        shown.append(figures("does it agree with itself?", repeated))

    return [*shown, *note_sentences((*found.notes, *(n for n in found.qrels.notes if n.code == "who-judged")))]


def doubts_lines(found: Judged) -> str:
    """How far the judge's answers lie apart, by query, as JSON Lines: strata for `goldrank judge corrected`."""
    rows = ({"query": query, "stratum": apart} for query, apart in found.doubts.items())
    return "".join(json_text(json.dumps(row) + "\n") for row in rows)
