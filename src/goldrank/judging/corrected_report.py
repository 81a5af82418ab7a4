"""Values that were corrected by people's judgements, beside the values of people and of the model alone."""

from __future__ import annotations

from goldrank.comparison.intervals import percent
from goldrank.data.table import Cell, Head, Part, Sentence, Table, note_sentences
from goldrank.judging.corrected import CorrectedValue, CorrectedValues
from goldrank.report.numbers import interval

_BY = {"corrected": "corrected", "human": "people alone", "wilson": "people alone (Wilson)"}


def parts(corrected: CorrectedValues) -> list[Part]:
    """One table, and the notes."""
    rows = [_row(value) for value in corrected.values]
    columns = [
        *Head.names("system", "measure"),
        *Head.numbers("value", f"{percent(corrected.level)} interval", "people", "model"),
        *Head.numbers("rho", "weight", "worth queries"),
        *Head.texts("by"),
    ]
    caption = (
        "people: the mean of the queries that people judged; model: the model's mean of all queries, as it is; rho: "
        "how people's and the model's values go together; worth queries: as many judged by people would say as much"
    )

    has_pairs = any(value.against for value in corrected.values)
    if has_pairs:
        columns += Head.texts("verdict")
        caption += "; verdict: by the interval; those of pairs hold together, for all pairs and measures"
        for row, value in zip(rows, corrected.values, strict=True):
            row.append(value.verdict or "")

    return [Table(columns, rows, caption=caption), *note_sentences(corrected.notes)]


def value_parts(corrected: CorrectedValue) -> list[Part]:
    """One value as a sentence."""
    return [Sentence(f"{corrected.words}.", corrected.verdict or "")]


def _row(value: CorrectedValue) -> list[Cell | str | float]:
    estimate = value.estimate
    system = value.run
    if value.against:
        system = f"{value.run} - {value.against}"
    by = _BY[estimate.method]
    if estimate.why:
        by += f": {estimate.why}"

    numbers: list[Cell | str | float] = [value.value, interval(value.interval), value.by_people, value.by_model]
    shares = [f"{estimate.rho:.2f}", f"{estimate.weight:.2f}", f"{estimate.effective:.0f}"]
    return [system, value.measure, *numbers, *shares, by]
