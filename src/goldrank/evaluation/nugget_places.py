"""From items with nuggets to the table that their measures read: what is assigned, and what a matcher decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

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
WHOLE = 0
"""The rank of support that is not of a single text, but of the answer or the context as a whole."""


@dataclass(frozen=True)
class NuggetPassages(Passages):
    """Texts and nuggets, with how far each supports which. Rank 0 is the answer as a whole."""

    def packed(self, budget: int, pack: str = "prefix", depth: int | None = None) -> Passages:
        """There is no such view: support may be of a whole answer."""
        raise MeasureError("measures of nuggets have no budget of tokens", hint="A cut-off: Nugget@5.")


def place_nuggets(items: Iterable[TextItem], matcher: Matcher) -> tuple[Passages, TextCounts, list[Note]]:
    """The passages of nuggets. Those without an assignment are compared with the retrieved texts."""
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
    if empty:
        notes = [Note.of("without-nuggets", count=len(empty), samples=empty)]
    else:
        notes = []
    return passages, counts, notes


def _passages(matched: Passages, items: list[TextItem], nuggets: list[tuple[Nugget, ...]]) -> NuggetPassages:
    """One row for each nugget and text, or answer, that supports it."""
    covering = _covering(matched, items)
    rows: list[tuple[int, int, float, int, float]] = []
    label = 0
    for query, needed in enumerate(nuggets):
        for nugget in needed:
            if nugget.support is None:
                found = [(rank, 1.0) for rank in covering.get((query, nugget.text), ())]
            elif isinstance(nugget.support, tuple):
                found = list(enumerate(nugget.support, 1))
            else:
                found = [(WHOLE, nugget.support)]
            rows += [(query, rank, nugget.grade, label, degree) for rank, degree in found]
            label += 1

    rows.sort(key=lambda row: row[:2])
    columns = np.array(rows, np.float64).reshape(-1, 5).T
    query_of, rank_of, label_of = (columns[at].astype(np.int64) for at in (0, 1, 3))
    sizes = [len(needed) for needed in nuggets]
    grades = [grade for needed in nuggets for grade in sorted((nugget.grade for nugget in needed), reverse=True)]
    pairs = Placements(
        queries=matched.queries,
        retrieved=matched.pairs.retrieved,
        answered=matched.pairs.answered,
        judged_start=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        judged=np.array(grades, np.float64),
        query=query_of,
        rank=rank_of,
        grade=columns[2],
        tie_first=rank_of,
        tie_last=rank_of,
        label=label_of,
        shared=True,
    )
    return NuggetPassages(
        pairs=pairs,
        query=matched.query,
        rank=matched.rank,
        repeated=matched.repeated,
        answerable=matched.answerable,
        confidence=matched.confidence,
        support=columns[4],
    )


def _covering(matched: Passages, items: list[TextItem]) -> dict[tuple[int, str], list[int]]:
    """By question and nugget, the ranks of the texts that a matcher says hold it."""
    pairs = matched.pairs
    assert pairs.label is not None
    covering: dict[tuple[int, str], list[int]] = {}
    for query, rank, label in zip(pairs.query.tolist(), pairs.rank.tolist(), pairs.label.tolist(), strict=True):
        references = [each for each in items[query].references if each.texts[0].strip()]
        text = references[label - int(pairs.judged_start[query])].texts[0]
        covering.setdefault((query, text), []).append(rank)
    return covering
