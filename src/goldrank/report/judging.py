"""What a judge was asked, answered and cost."""

from __future__ import annotations

import json
from collections import Counter

from goldrank.data.table import Cell, Head, Part, Table, note_sentences
from goldrank.escaping import json_text
from goldrank.judging.ask import Judged
from goldrank.judging.probes import TRICKS, Gullibility
from goldrank.report.numbers import counted, number


def parts(found: Judged, *, dry_run: bool = False) -> list[Part]:
    """The counts of a job, the grades that were given, and its notes."""
    outcome = found.outcome
    rows: list[list[Cell | str]] = [
        ["pairs", counted(outcome.total)],
        ["answered by the log", counted(outcome.from_log)],
        ["to ask" if dry_run else "asked for", counted(found.asked)],
    ]
    if dry_run:
        rows.append(["tokens of prompts, estimated", counted(found.tokens)])
        rows.append(["cost at most", Cell(f"{found.most_cost:.4f}", found.most_cost)])
    else:
        rows.append(["calls", counted(outcome.calls)])
        rows.append(["tokens of prompts", counted(outcome.tokens_in)])
        rows.append(["tokens of answers", counted(outcome.tokens_out)])
        rows.append(["cost", Cell(f"{outcome.cost:.4f}", outcome.cost)])
    made: list[Part] = [Table([*Head.texts(found.judge), *Head.numbers("")], rows)]
    grades = Counter(found.grades.values())
    if grades:
        by_grade: list[list[Cell | str]] = [[str(grade), counted(grades[grade])] for grade in sorted(grades)]
        made.append(Table([*Head.names("grade"), *Head.numbers("pairs")], by_grade))
    steady = found.consistency
    if steady is not None:
        told: list[list[Cell | str]] = [
            ["pairs asked several times", counted(steady.pairs)],
            ["of them, always the same grade", share(steady.unanimous, steady.low, steady.high)],
            ["Krippendorff's alpha (ordinal)", Cell(number(steady.alpha, 3), steady.alpha)],
        ]
        made.append(Table([*Head.texts("does it agree with itself?"), *Head.numbers("")], told))
    return [*made, *note_sentences((*found.notes, *(n for n in found.qrels.notes if n.code == "who-judged")))]


def doubts_lines(found: Judged) -> str:
    """How far the judge's answers lie apart, by query, as JSON Lines: strata for `goldrank corrected`."""
    rows = ({"query": query, "stratum": apart} for query, apart in found.doubts.items())
    return "".join(json_text(json.dumps(row) + "\n") for row in rows)


def gullible_parts(found: Gullibility) -> list[Part]:
    """How often each trick raised the grade of a text that is not relevant."""
    rows: list[list[Cell | str]] = [
        [TRICKS[one.name], counted(one.pairs), counted(one.raised), share(one.share, one.low, one.high),
         Cell(f"{one.mean_rise:+.2f}", one.mean_rise)]
        for one in found.tricks
    ]  # fmt: skip
    heads = [*Head.texts(found.judge), *Head.numbers("pairs", "raised", "share, 95% interval", "mean rise")]
    return [Table(heads, rows, title="Texts that people call not relevant"), *note_sentences(found.notes)]


def share(value: float, low: float, high: float) -> Cell:
    """A share with its interval."""
    return Cell(f"{value:.1%} ({low:.1%} to {high:.1%})", value)
