"""Values that were corrected by people's judgements, beside those of people and of the model alone."""

from __future__ import annotations

from goldrank.comparison.intervals import percent
from goldrank.data.table import Cell, Head, Part, Table, note_sentences
from goldrank.judging.corrected import CorrectedValues
from goldrank.report.forms import writers
from goldrank.report.numbers import interval

_BY = {"corrected": "corrected", "human": "people alone", "wilson": "people alone (Wilson)"}


def parts(found: CorrectedValues) -> list[Part]:
    """One table, and the notes."""
    rows: list[list[Cell | str | float]] = []
    pairs = any(value.against for value in found.values)
    for value in found.values:
        made = value.estimate
        if value.against:
            system = f"{value.run} - {value.against}"
        else:
            system = value.run
        by = _BY[made.method] + (f": {made.why}" if made.why else "")
        numbers: list[Cell | str | float] = [value.value, interval(value.interval), value.by_people, value.by_model]
        shares = [f"{made.rho:.2f}", f"{made.weight:.2f}", f"{made.effective:.0f}"]
        rows.append([system, value.measure, *numbers, *shares, by, *([value.verdict or ""] if pairs else [])])

    heads = [
        *Head.names("system", "measure"),
        *Head.numbers("value", f"{percent(found.level)} interval", "people", "model", "rho", "weight", "worth queries"),
        *Head.texts("by", *(["verdict"] if pairs else [])),
    ]
    caption = (
        "people: the mean of the queries that people judged; model: the model's mean of all queries, as it is; rho: "
        "how people's and the model's values go together; worth queries: as many judged by people would say as much"
    )
    if pairs:
        caption += "; verdict: by the interval; those of pairs hold together, for all pairs and measures"

    return [Table(heads, rows, caption=caption), *note_sentences(found.notes)]


WRITERS = writers()
