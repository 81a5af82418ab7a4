"""From items with nuggets to the table that their measures read: what is assigned, and what a matcher decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from goldrank.base.errors import InputError, MeasureError
from goldrank.base.notes import Note
from goldrank.data.passages import Passages
from goldrank.data.placements import Placements
from goldrank.data.text_item import Nugget, Reference, TextItem
from goldrank.match import Matcher, place_items
from goldrank.match.pairs import TextCounts

DEFAULT = ("Nugget", "NuggetVital", "NuggetWeighted")
"""What is measured where questions have nuggets and nothing else that should be found."""
ANSWER_RANK = 0
"""The rank of support that is not of a single text, but of the answer or the context as a whole."""


@dataclass(frozen=True)
class NuggetPassages(Passages):
    """Texts and nuggets, with how far each supports which. Rank 0 is the answer as a whole."""

    def packed(self, budget: int, pack: str = "prefix", depth: int | None = None) -> Passages:
        """There is no such view: support may be of a whole answer."""
        raise MeasureError("measures of nuggets have no budget of tokens", hint="A cut-off: Nugget@5.")


def place_nuggets(items: Iterable[TextItem], matcher: Matcher) -> tuple[Passages, TextCounts, list[Note]]:
    """The passages of nuggets. Nuggets without an assignment are compared with the retrieved texts."""
    compared: list[TextItem] = []
    nuggets: list[tuple[Nugget, ...]] = []
    for item in items:
        needed = tuple(item.nuggets) or tuple(Nugget(each.texts[0], each.grade) for each in item.references)
        unassigned = dict.fromkeys(nugget.text for nugget in needed if nugget.support is None)
        references = tuple(Reference((text,)) for text in unassigned)
        compared.append(replace(item, references=references))
        nuggets.append(needed)

    matched, counts = place_items(compared, matcher)
    if not any(nuggets):
        hint = 'A question has "nuggets": [{"text": ..., "importance": "vital", "assignment": "support"}].'
        raise InputError("no question has nuggets", hint=hint, code="no-nuggets")

    passages = _passages(matched, compared, nuggets)
    counts.references = len(passages.pairs.judged)
    empty = [item.query for item, needed in zip(compared, nuggets, strict=True) if not needed]
    notes = []
    if empty:
        notes = [Note.of("without-nuggets", count=len(empty), samples=empty)]
    return passages, counts, notes


class _SupportRow(NamedTuple):
    """How far a text, or the answer, supports a nugget."""

    query: int
    rank: int
    grade: float
    label: int
    degree: float


def _passages(matched: Passages, items: list[TextItem], nuggets: list[tuple[Nugget, ...]]) -> NuggetPassages:
    """One row for each nugget and text, or answer, that supports it."""
    covering = _covering(matched, items)
    rows: list[_SupportRow] = []
    grades: list[float] = []
    label = 0
    for query, needed in enumerate(nuggets):
        grades += sorted((nugget.grade for nugget in needed), reverse=True)
        for nugget in needed:
            if nugget.support is None:
                supports = [(rank, 1.0) for rank in covering.get((query, nugget.text), ())]
            elif isinstance(nugget.support, tuple):
                supports = list(enumerate(nugget.support, 1))
            else:
                supports = [(ANSWER_RANK, nugget.support)]
            rows += [_SupportRow(query, rank, nugget.grade, label, degree) for rank, degree in supports]
            label += 1

    rows.sort(key=lambda row: (row.query, row.rank))
    query_column = np.array([row.query for row in rows], np.int64)
    rank_column = np.array([row.rank for row in rows], np.int64)
    grade_column = np.array([row.grade for row in rows], np.float64)
    label_column = np.array([row.label for row in rows], np.int64)
    support = np.array([row.degree for row in rows], np.float64)
    sizes = [len(needed) for needed in nuggets]
    pairs = Placements(
        queries=matched.queries,
        retrieved=matched.pairs.retrieved,
        answered=matched.pairs.answered,
        judged_start=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        judged=np.array(grades, np.float64),
        query=query_column,
        rank=rank_column,
        grade=grade_column,
        tie_first=rank_column,
        tie_last=rank_column,
        label=label_column,
        shared=True,
    )
    return NuggetPassages(
        pairs=pairs,
        query=matched.query,
        rank=matched.rank,
        repeated=matched.repeated,
        answerable=matched.answerable,
        confidence=matched.confidence,
        support=support,
    )


def _covering(matched: Passages, items: list[TextItem]) -> dict[tuple[int, str], list[int]]:
    """By question and nugget, the ranks of the texts that hold it, by the matcher."""
    pairs = matched.pairs
    assert pairs.label is not None
    covering: dict[tuple[int, str], list[int]] = {}
    for query, rank, label in zip(pairs.query.tolist(), pairs.rank.tolist(), pairs.label.tolist(), strict=True):
        references = [each for each in items[query].references if each.texts[0].strip()]
        text = references[label - int(pairs.judged_start[query])].texts[0]
        covering.setdefault((query, text), []).append(rank)
    return covering
