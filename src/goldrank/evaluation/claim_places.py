"""What texts are held against beside references: claims and entities of an answer, each decided as its measure says.

Measures that want the same, decided in the same way, share one placing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from goldrank.base.errors import InputError, MeasureError
from goldrank.base.notes import Note
from goldrank.base.waiting import finished
from goldrank.data.passages import Passages
from goldrank.data.scores import Column
from goldrank.data.text_item import Reference, TextItem
from goldrank.evaluation.text_settings import Answers
from goldrank.match import Matcher, place_items
from goldrank.match import matcher as as_matcher
from goldrank.match.pairs import TextCounts
from goldrank.match.units import claims as usual_claims
from goldrank.match.units import entities as usual_entities
from goldrank.match.units import without_names_by_capitals
from goldrank.measures import Measure, make

Cutter = Callable[[str], Any]
"""From an answer to its claims, or to its entities: texts, perhaps later."""


class ClaimKind(NamedTuple):
    """What a measure holds texts against, and who decides."""

    wanted: str = "references"
    decided: str = ""
    """A matcher's spelling or "judge"; empty: the matcher that was asked for."""


USUAL = ClaimKind()
BY_PLACE = ClaimKind("evidence")


@dataclass(frozen=True)
class ClaimRules:
    """How answers are cut into what texts are held against, and who judges."""

    claims: Cutter | None = None
    entities: Cutter | None = None
    judge: Matcher | None = None
    by_place: bool = False
    """Whether questions have evidence by place."""

    @classmethod
    def of(cls, answers: Answers, *, by_place: bool) -> ClaimRules:
        """What a user said of answers."""
        return cls(answers.claims, answers.entities, answers.rule, by_place)

    def kind(self, measure: Measure) -> ClaimKind:
        """What a measure wants."""
        declared = measure.declaration
        if self.by_place and declared.by_place:
            return BY_PLACE

        by = measure.option("by")
        judged = by == "judge" or declared.wanted == "response" or (by == "auto" and self.judge is not None)
        if judged and self.judge is None:
            raise MeasureError(
                f"{measure} needs a judge",
                hint="Answers(judge=...) takes a function of a text and a claim, which says if the text supports it.",
                code="needs-judge",
            )
        return ClaimKind(declared.wanted, "judge" if judged else declared.matched_by or "")

    def matcher(self, kind: ClaimKind, usual: Matcher) -> Matcher:
        """Who decides."""
        if kind.decided == "judge":
            assert self.judge is not None
            return self.judge
        if kind.decided:
            return as_matcher(kind.decided)
        return usual

    def item(self, item: TextItem, wanted: str) -> TextItem:
        """The item with what its answer holds in place of its references; those stay where it has no answer."""
        if wanted in ("response", "statements"):
            answer = item.response
        else:
            answer = item.reference
        if wanted == "nuggets" and item.nuggets:
            return replace(item, references=tuple(Reference((each.text,), each.grade) for each in item.nuggets))
        if wanted in ("references", "nuggets", "citations") or (wanted == "claims" and not answer.strip()):
            return item
        if wanted == "entities":
            cut = self.entities or usual_entities
        else:
            cut = self.claims or usual_claims

        if answer.strip():
            parts = _texts(cut, answer, wanted, item)
        else:
            parts = []
        return replace(item, references=tuple(Reference((part,)) for part in parts))


def _texts(cut: Cutter, answer: str, wanted: str, item: TextItem) -> list[str]:
    """What a function makes of an answer; the same entity in another form is one."""
    from goldrank.match.folding import fold

    returned = finished(cut(answer))
    if isinstance(returned, str) or not isinstance(returned, Iterable):
        returned = [None]
    parts = list(returned)
    if not all(isinstance(part, str) for part in parts):
        raise InputError(
            f"the function for {'entities' if wanted == 'entities' else 'claims'} returned {parts!r:.80}, not texts",
            where=item.where or f"question {item.query!r}",
        )
    filled = [part for part in parts if part.strip()]
    if wanted == "entities":
        return list({fold(part): part for part in reversed(filled)}.values())[::-1]
    return filled


def kinds_of(measures: Sequence[Measure], answers: ClaimRules) -> dict[ClaimKind, list[Measure]]:
    """The measures of texts by what they want; that of most other numbers, the usual one, first."""
    by_kind: dict[ClaimKind, list[Measure]] = {}
    for measure in measures:
        if measure.declaration.over != "spans":
            by_kind.setdefault(answers.kind(measure), []).append(measure)
    return dict(sorted(by_kind.items(), key=lambda pair: pair[0] != USUAL))


_LACKING = {
    "claims": 'A question has "reference": "The answer that is right.", or references.',
    "entities": 'A question has "reference": "The answer that is right."; in it are names or numbers.',
    "statements": 'A question has "response": "The answer that was given."',
    "response": 'A question has "response": "The answer that was given." and "reference": "The one that is right."',
}


def place_kind(
    items: Callable[[], Iterable[TextItem]],
    kind: ClaimKind,
    answers: ClaimRules,
    usual: Matcher,
    how: Mapping[str, Any],
) -> tuple[Passages, TextCounts]:
    """The passages of a kind other than the usual one; `how` is what `place_items` takes beside items and matcher."""
    matcher = answers.matcher(kind, usual)
    if kind.wanted in ("references", "claims", "statements"):
        given = how
    else:
        given = {}

    def cut(wanted: str, texts: Callable[[TextItem], Sequence[str]] | None = None) -> Iterable[TextItem]:
        for item in items():
            prepared = answers.item(item, wanted)
            yield prepared if texts is None else replace(prepared, retrieved=texts(item), spans=None)

    passages, counts = place_items(cut(kind.wanted), matcher, **given)
    if not counts.references and not passages.unanswerable.any():
        raise InputError(f"no question has {kind.wanted} to hold texts against", hint=_LACKING.get(kind.wanted))
    if kind.wanted != "response":
        return passages, counts
    right, _ = place_items(cut("response", lambda item: [item.reference] if item.reference else []), matcher)
    useful, _ = place_items(cut("claims"), matcher)
    assert right.pairs.label is not None
    wrong = np.ones(int(right.pairs.judged_start[-1]), bool)
    wrong[right.pairs.label] = False
    return replace(passages, wrong=wrong, useful=useful.matches), counts


def tables_for(passages: Passages) -> dict[str, Any]:
    """What measures of texts read."""
    return {"placements": passages.pairs, "texts": passages, "unanswerable": passages.unanswerable}


def notes_on(
    columns: Mapping[Measure, Column],
    passages: Mapping[ClaimKind, Passages],
    answers: ClaimRules,
    items: Iterable[TextItem],
) -> list[Note]:
    """What a reader must know of measures that have their own meaning."""
    notes = []
    for measure, column in columns.items():
        caveat = measure.declaration.caveat
        if caveat == "misses-cost-nothing":
            notes.append(Note.of("misses-cost-nothing", measure=str(measure)))
        if caveat == "selective-ends":
            table = measure.packed(passages[answers.kind(measure)])
            assert isinstance(table, Passages)
            notes.append(_both_ends(measure, table, column.values))
    wanted = {kind.wanted for kind in passages}
    by_capitals = "entities" in wanted and answers.entities is None
    if not by_capitals and "claims" not in wanted:
        return notes

    references = [item.reference for item in items if item.reference]
    if "claims" in wanted and not references:
        notes.append(Note.of("claims-are-references"))
    if by_capitals:
        languages = Counter(filter(None, map(without_names_by_capitals, references)))
        if languages:
            listed = ", ".join(sorted(languages))
            notes.append(Note.of("entities-by-capitals", languages=listed, count=languages.total()))
    return notes


def _both_ends(measure: Measure, table: Passages, values: np.ndarray) -> Note:
    """What SelectiveCover would be if the system always answered, or always abstained."""
    counted = ~np.isnan(values)
    options = {key: value for key, value in measure.options if key == "rel"}
    answered = np.where(table.unanswerable, 0.0, make("Cover", measure.k, options).taken(table))[counted]
    count = max(int(counted.sum()), 1)
    return Note.of(
        "selective-ends",
        measure=str(measure),
        answering=float(answered.sum() / count),
        abstaining=float(table.unanswerable[counted].sum() / count),
    )
