"""What evaluating recommendations takes beside judgements and a run: what users had, the catalogue, another run.

What a user had before is removed from the run before anything is cut, and the rest moves up. It is placed
together with the judged items, so that a run is read once, whatever engine has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from goldrank.base.notes import Note
from goldrank.conventions import Convention
from goldrank.data.catalogue import Catalogue, UserHistory
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels
from goldrank.data.scores import Column
from goldrank.engine import engine_for
from goldrank.measures import Measure

if TYPE_CHECKING:
    from goldrank.data.recommended import Recommended


@dataclass(frozen=True, eq=False)
class JoinedQrels:
    """Judgements together with what users had: what an engine places."""

    qrels: Qrels
    label: np.ndarray
    """For each row of the joined judgements the row of the judgements themselves, -1 if there is none."""
    seen: np.ndarray
    """Which rows users had."""


def join(qrels: Qrels, train: UserHistory) -> JoinedQrels:
    """The judgements with the items that their users had."""
    table: dict[str, dict[str, Any]] = {}
    label: list[int] = []
    seen: list[bool] = []
    for number, user in enumerate(qrels.arrays.queries):
        judged = qrels.text[user]
        had = dict.fromkeys(train.items.get(user, ()), 0)
        first = int(qrels.arrays.start[number])
        only = {item: 0 for item in had if item not in judged}
        table[user] = {**judged, **only}
        label += [*range(first, first + len(judged)), *([-1] * len(only))]
        seen += [*(item in had for item in judged), *([True] * len(only))]

    joined = Qrels(table, name=qrels.name, real_grades=True)
    joined.shard_number, joined.part_of = qrels.shard_number, qrels if qrels.part_of is None else qrels.part_of
    vars(joined)["near_forms"] = qrels.near_forms  # what users had is not judged, in no form
    return JoinedQrels(joined, np.array(label, np.int64), np.array(seen, bool))


def without_seen(placements: Placements, joined: JoinedQrels, qrels: Qrels) -> tuple[Placements, np.ndarray]:
    """The placements as if the run had not returned what users had, and how many were removed for each."""
    p = placements
    assert p.label is not None
    gone = joined.seen[p.label]
    removed = np.bincount(p.query[gone], minlength=len(p))
    step = int(p.retrieved.max(initial=0)) + 2
    place = p.query[gone] * step + p.rank[gone]
    before = np.cumsum(removed) - removed

    def above(rank: np.ndarray, query: np.ndarray, side: str) -> np.ndarray:
        """How many of the query's removed items are above a rank, or not below it."""
        return np.searchsorted(place, query * step + rank, side) - before[query]  # type: ignore[call-overload, no-any-return]

    label = joined.label[p.label]
    kept = p.where(~gone & (label >= 0))
    return replace(
        kept,
        retrieved=p.retrieved - removed,
        judged_start=qrels.arrays.start,
        judged=qrels.arrays.descending,
        rank=kept.rank - above(kept.rank, kept.query, "left"),
        tie_first=kept.tie_first - above(kept.tie_first, kept.query, "left"),
        tie_last=kept.tie_last - above(kept.tie_last, kept.query, "right"),
        label=label[~gone & (label >= 0)],
        grade=qrels.arrays.grade[label[~gone & (label >= 0)]],
    ), removed


def unseen(rows: Sequence[Sequence[str]], queries: Sequence[str], train: UserHistory, depth: int) -> list[list[str]]:
    """The first documents of each list that its user did not have."""
    kept = []
    for user, row in zip(queries, rows, strict=True):
        had = set(train.items.get(user, ()))
        kept.append([item for item in row if item not in had][:depth])
    return kept


def table_of(
    queries: tuple[str, ...], lists: Sequence[Sequence[str]], qrels: Qrels, catalogue: Catalogue, rules: Convention
) -> Recommended:
    """What measures beyond accuracy read."""
    against = None
    if catalogue.against is not None:
        longest = max(map(len, lists), default=0)
        train = catalogue.removed
        if train:
            more = max((len(had) for had in train.items.values()), default=0)
        else:
            more = 0
        against = engine_for(catalogue.against).top_documents(catalogue.against, queries, longest + more, rules)
        if train is None:
            against = against
        else:
            against = unseen(against, queries, train, longest)
    from goldrank.data.recommended import Recommended

    return Recommended.of(queries, lists, qrels.text, catalogue, catalogue.train, against)


def notes(
    catalogue: Catalogue,
    qrels: Qrels,
    queries: Sequence[str],
    removed: np.ndarray | None,
    retrieved: np.ndarray,
    table: Recommended | None,
    columns: Mapping[Measure, Column],
) -> list[Note]:
    """What a reader must know of train, catalogue and users that were left out."""
    told: list[Note] = []
    train = catalogue.train
    if train is not None:
        known = sum(user in train.items for user in queries)
        if not known:
            told.append(Note.of("train-without-users", samples=train.items))

    if train is not None and removed is not None:
        deepest = max((int(measure.k) for measure in columns if isinstance(measure.k, int)), default=1)
        short = int(np.count_nonzero((retrieved < deepest) & (retrieved + removed >= deepest)))
        users = int(np.count_nonzero(removed))
        told.append(Note.of("seen-removed", count=int(removed.sum()), users=users, short=short, k=deepest))
        both = sum(item in docs for user, docs in qrels.text.items() for item in train.items.get(user, ()))
        if both:
            told.append(Note.of("judged-in-train", count=both))

    if table is not None:
        if not table.known.given:
            told.append(Note.of("guessed-catalogue", count=table.known.size))
        for measure, column in columns.items():
            if measure.declaration.over != "recommended":
                continue
            left_out = int(np.count_nonzero(np.isnan(column.values)))
            if left_out:
                told.append(Note.of("users-left-out", measure=str(measure), count=left_out, users=len(column.values)))
            if measure.declaration.caveat == "never-seen-items" and train is not None:
                new = table.cut(None if measure.k is None else int(measure.k))
                never = int(np.count_nonzero(new.known.popularity[new.item] == 0))
                if never:
                    told.append(Note.of("never-seen-items", count=never))

    return list(dict.fromkeys(told))
