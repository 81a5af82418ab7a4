"""Was the answer right, and was all that it needs in the context? So wrong answers have a cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from goldrank.comparison.intervals import Interval, wilson
from goldrank.data.table import Cells, Head, Part, Row, Sentence, Table, notebook_html, plain
from goldrank.data.text_item import TextItem

MEANINGS = {
    (True, True): "as it should be",
    (True, False): "the generator is at fault",
    (False, True): "known or guessed: no credit to retrieval",
    (False, False): "the retriever is at fault",
}
"""By whether all was retrieved and whether the answer is right, what that says."""


class OutcomeCell(NamedTuple):
    """Questions of which all was retrieved or not, and whose answer is right or wrong."""

    retrieved: bool
    right: bool
    questions: int
    share: float
    """Of the questions with an answer whose outcome is known."""
    interval: Interval
    """Wilson's, of the share."""

    @property
    def meaning(self) -> str:
        """What it says."""
        return MEANINGS[self.retrieved, self.right]

    def cells(self) -> Cells:
        """A row of a table."""
        retrieved, answer = "not retrieved", "wrong"
        if self.retrieved:
            retrieved = "retrieved"
        if self.right:
            answer = "right"
        low, high = self.interval
        interval = f"{low:.3f} to {high:.3f}"
        return [retrieved, answer, f"{self.questions:,}", f"{self.share:.3f}", interval, self.meaning]


@dataclass(frozen=True)
class Outcomes:
    """Retrieved x answered right: four cells of questions, and those without an answer apart. `Causes` has it.

    Examples
    --------
    >>> from goldrank import find_causes
    >>> items = [{"id": "a", "retrieved": ["one"], "references": ["one"], "correct": True},
    ...          {"id": "b", "retrieved": ["x"], "references": ["one"], "correct": False}]
    >>> find_causes(items, matching="contains").outcomes.sentence
    'The retriever is at fault for 1 of 1 wrong answers (95% interval of the share: 0.207 to 1.000).'
    """

    counts: Mapping[tuple[bool, bool], int]
    """By whether all that is needed was in the context, and whether the answer is right."""
    unanswerable: Mapping[bool, int]
    """Of questions without an answer, by whether what the system did is right."""
    unknown: int = 0
    """Questions whose outcome is not known."""

    @property
    def cells(self) -> tuple[OutcomeCell, ...]:
        """The four cells; none if the outcome of no question with an answer is known."""
        total = sum(self.counts.values())
        if not total:
            return ()
        cells = []
        for retrieved, right in MEANINGS:
            count = self.counts.get((retrieved, right), 0)
            cells.append(OutcomeCell(retrieved, right, count, count / total, wilson(count, total)))
        return tuple(cells)

    @property
    def wrong(self) -> int:
        """How many answers are wrong, of questions that have one."""
        return self.counts.get((True, False), 0) + self.counts.get((False, False), 0)

    @property
    def sentence(self) -> str:
        """Whether retriever or generator is at fault, in words."""
        if not self.wrong:
            return "No answer is wrong."
        missed = self.counts.get((False, False), 0)
        low, high = wilson(missed, self.wrong)
        return (
            f"The retriever is at fault for {missed:,} of {self.wrong:,} wrong answers (95% interval of the share: "
            f"{low:.3f} to {high:.3f})."
        )

    def parts(self) -> list[Part]:
        """What people see."""
        parts: list[Part] = []
        if self.cells:
            rows: list[Row | Cells] = [cell.cells() for cell in self.cells]
            heads = [*Head.texts("all that is needed", "answer"), *Head.numbers("questions", "share", "95% interval")]
            parts += [Table([*heads, *Head.texts("meaning")], rows, "Retrieved and answered"), Sentence(self.sentence)]

        if self.unanswerable:
            right, wrong = self.unanswerable.get(True, 0), self.unanswerable.get(False, 0)
            parts.append(Sentence(f"Questions without an answer: {right:,} dealt with right, {wrong:,} wrong."))

        if self.unknown:
            parts.append(Sentence(f"Questions whose outcome is not known, left out here: {self.unknown:,}.", "remark"))

        return parts

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "cells": [
                {"retrieved": cell.retrieved, "right": cell.right, "questions": cell.questions, "share": cell.share,
                 "interval": list(cell.interval)}
                for cell in self.cells
            ],
            "unanswerable": {"right": self.unanswerable.get(True, 0), "wrong": self.unanswerable.get(False, 0)},
            "unknown": self.unknown,
        }  # fmt: skip

    def __str__(self) -> str:
        return plain(self.parts())

    def _repr_html_(self) -> str:
        return notebook_html(self.parts())


def outcomes_of(items: Iterable[TextItem], is_retrieved: Mapping[str, bool]) -> Outcomes | None:
    """The outcomes of items; None if nothing is known of any.

    `is_retrieved` says of each question that needs anything whether all of it was in the context.
    """
    counts: Counter[tuple[bool, bool]] = Counter()
    unanswerable: Counter[bool] = Counter()

    unknown = 0
    for item in items:
        if item.correct is not None and item.answerable is False:
            unanswerable[item.correct] += 1
        elif item.correct is not None and item.query in is_retrieved:
            counts[is_retrieved[item.query], item.correct] += 1
        else:
            unknown += 1
    if not counts and not unanswerable:
        return None
    return Outcomes(dict(counts), dict(unanswerable), unknown)
