"""What texts are compared with beside references: claims and entities of an answer, each decided as its measure says.

Measures with one target that is decided in one way share one placing.
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
    """What a measure compares texts with, and who decides."""

    target: str = "references"
    decided: str = ""
    """A matcher's spelling or "judge"; empty: the matcher that the user chose."""


USUAL = ClaimKind()
BY_PLACE = ClaimKind("evidence")


@dataclass(frozen=True)
class ClaimRules:
    """How answers are cut into parts that texts are compared with, and who judges."""

    claims: Cutter | None = None
    entities: Cutter | None = None
    judge: Matcher | None = None
    by_place: bool = False
    """Whether questions have evidence by place."""

    @classmethod
    def of(cls, answers: Answers, *, by_place: bool) -> ClaimRules:
        """The rules of a user's `Answers`."""
        return cls(answers.claims, answers.entities, answers.rule, by_place)

    def kind(self, measure: Measure) -> ClaimKind:
        """What a measure compares texts with."""
        declared = measure.declaration
        if self.by_place and declared.by_place:
            return BY_PLACE

        by = measure.option("by")
        needs_judge = by == "judge" or declared.wanted == "response"
        if needs_judge and self.judge is None:
            raise MeasureError(
                f"{measure} needs a judge",
                hint="Answers(judge=...) takes a function of a text and a claim, which says if the text supports it.",
                code="needs-judge",
            )
        if needs_judge or (by == "auto" and self.judge is not None):
            return ClaimKind(declared.wanted, "judge")
        return ClaimKind(declared.wanted, declared.matched_by or "")

    def matcher(self, kind: ClaimKind, usual: Matcher) -> Matcher:
        """Who decides."""
        if kind.decided == "judge":
            assert self.judge is not None
            return self.judge
        if kind.decided:
            return as_matcher(kind.decided)
        return usual

    def item(self, item: TextItem, target: str) -> TextItem:
        """The item with the parts of its answer instead of its references; these stay where it has no answer."""
        if target == "nuggets" and item.nuggets:
            return replace(item, references=tuple(Reference((each.text,), each.grade) for each in item.nuggets))
        if target in ("references", "nuggets", "citations"):
            return item

        if target in ("response", "statements"):
            answer = item.response
        else:
            answer = item.reference
        if target == "claims" and not answer.strip():
            return item

        if target == "entities":
            cut = self.entities or usual_entities
        else:
            cut = self.claims or usual_claims
        parts = []
        if answer.strip():
            parts = _texts(cut, answer, target, item)
        return replace(item, references=tuple(Reference((part,)) for part in parts))


def _texts(cut: Cutter, answer: str, target: str, item: TextItem) -> list[str]:
    """The parts that a function makes of an answer; forms of one entity are one."""
    from goldrank.match.folding import fold

    returned = finished(cut(answer))
    if isinstance(returned, str) or not isinstance(returned, Iterable):
        returned = [None]
    parts = list(returned)
    if not all(isinstance(part, str) for part in parts):
        noun = "claims"
        if target == "entities":
            noun = "entities"
        raise InputError(
            f"the function for {noun} returned {parts!r:.80}, not texts",
            where=item.where or f"question {item.query!r}",
        )

    filled = [part for part in parts if part.strip()]
    if target == "entities":
        return list({fold(part): part for part in reversed(filled)}.values())[::-1]
    return filled


def kinds_of(measures: Sequence[Measure], answers: ClaimRules) -> dict[ClaimKind, list[Measure]]:
    """The measures of texts by what they compare texts with, the usual kind first."""
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
    placing: Mapping[str, Any],
) -> tuple[Passages, TextCounts]:
    """The passages of a kind other than the usual one; `placing` has the options of `place_items`."""
    matcher = answers.matcher(kind, usual)
    options: Mapping[str, Any] = {}
    if kind.target in ("references", "claims", "statements"):
        options = placing

    def cut(target: str, texts: Callable[[TextItem], Sequence[str]] | None = None) -> Iterable[TextItem]:
        for item in items():
            prepared = answers.item(item, target)
            if texts is not None:
                prepared = replace(prepared, retrieved=texts(item), spans=None)
            yield prepared

    passages, counts = place_items(cut(kind.target), matcher, **options)
    if not counts.references and not passages.unanswerable.any():
        raise InputError(f"no question has {kind.target} to compare texts with", hint=_LACKING.get(kind.target))
    if kind.target != "response":
        return passages, counts

    right, _ = place_items(cut("response", _reference_answer), matcher)
    useful, _ = place_items(cut("claims"), matcher)
    assert right.pairs.label is not None
    wrong = np.ones(int(right.pairs.judged_start[-1]), bool)
    wrong[right.pairs.label] = False
    return replace(passages, wrong=wrong, useful=useful.matches), counts


def _reference_answer(item: TextItem) -> list[str]:
    """The reference answer as the only text, if there is one."""
    if item.reference:
        return [item.reference]
    return []


def tables_for(passages: Passages) -> dict[str, Any]:
    """The tables that measures of texts read."""
    return {"placements": passages.pairs, "texts": passages, "unanswerable": passages.unanswerable}


def notes_on(
    columns: Mapping[Measure, Column],
    passages: Mapping[ClaimKind, Passages],
    answers: ClaimRules,
    items: Iterable[TextItem],
) -> list[Note]:
    """What a reader must know of measures with a special meaning."""
    notes = []
    for measure, column in columns.items():
        caveat = measure.declaration.caveat
        if caveat == "misses-cost-nothing":
            notes.append(Note.of("misses-cost-nothing", measure=str(measure)))
        if caveat == "selective-ends":
            table = measure.packed(passages[answers.kind(measure)])
            assert isinstance(table, Passages)
            notes.append(_both_ends(measure, table, column.values))

    targets = {kind.target for kind in passages}
    by_capitals = "entities" in targets and answers.entities is None
    if not by_capitals and "claims" not in targets:
        return notes

    references = [item.reference for item in items if item.reference]
    if "claims" in targets and not references:
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
    options = {key: value for key, value in measure.options.items() if key == "rel"}
    answered = np.where(table.unanswerable, 0.0, make("Cover", measure.k, options).taken(table))[counted]
    count = max(int(counted.sum()), 1)
    return Note.of(
        "selective-ends",
        measure=str(measure),
        answering=float(answered.sum() / count),
        abstaining=float(table.unanswerable[counted].sum() / count),
    )
