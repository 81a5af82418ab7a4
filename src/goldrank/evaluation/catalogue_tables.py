"""What evaluating recommendations takes beside judgements and a run: histories of users, the catalogue, another run.

Items of a user's history are removed from the run before anything is cut, and the items below move up. They are placed
together with the judged items, so that a run is read once by every engine.
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
    """Judgements together with the histories of users: what an engine places."""

    qrels: Qrels
    label: np.ndarray
    """For each row of the joined judgements the row of the judgements themselves, -1 if there is none."""
    seen: np.ndarray
    """Which rows are in the history of their user."""


def join(qrels: Qrels, train: UserHistory) -> JoinedQrels:
    """The judgements with the items of their users' histories."""
    table: dict[str, dict[str, Any]] = {}
    label: list[int] = []
    seen: list[bool] = []
    for number, user in enumerate(qrels.arrays.queries):
        judged = qrels.text[user]
        history = dict.fromkeys(train.items.get(user, ()), 0)
        first = int(qrels.arrays.start[number])
        unjudged = {item: 0 for item in history if item not in judged}
        table[user] = {**judged, **unjudged}
        label += [*range(first, first + len(judged)), *([-1] * len(unjudged))]
        seen += [*(item in history for item in judged), *([True] * len(unjudged))]

    joined = Qrels(table, name=qrels.name, real_grades=True)
    joined = joined.with_facts(shard_number=qrels.shard_number, part_of=qrels.part_of or qrels)
    vars(joined)["near_forms"] = qrels.near_forms  # items of histories are not judged, in no form
    return JoinedQrels(joined, np.array(label, np.int64), np.array(seen, bool))


def without_seen(placements: Placements, joined: JoinedQrels, qrels: Qrels) -> tuple[Placements, np.ndarray]:
    """The placements as if the run had not returned items of histories, and how many were removed for each user."""
    p = placements
    assert p.label is not None
    is_gone = joined.seen[p.label]
    removed = np.bincount(p.query[is_gone], minlength=len(p))
    step = int(p.retrieved.max(initial=0)) + 2
    removed_keys = p.query[is_gone] * step + p.rank[is_gone]
    before = np.cumsum(removed) - removed

    def above(rank: np.ndarray, query: np.ndarray, side: str) -> np.ndarray:
        """How many of the query's removed items are above a rank, or not below it."""
        return np.searchsorted(removed_keys, query * step + rank, side) - before[query]  # type: ignore[call-overload, no-any-return]

    label = joined.label[p.label]
    is_left = ~is_gone & (label >= 0)
    left = p.where(is_left)
    without = replace(
        left,
        retrieved=p.retrieved - removed,
        judged_start=qrels.arrays.start,
        judged=qrels.arrays.descending,
        rank=left.rank - above(left.rank, left.query, "left"),
        tie_first=left.tie_first - above(left.tie_first, left.query, "left"),
        tie_last=left.tie_last - above(left.tie_last, left.query, "right"),
        label=label[is_left],
        grade=qrels.arrays.grade[label[is_left]],
    )
    return without, removed


def unseen(rows: Sequence[Sequence[str]], queries: Sequence[str], train: UserHistory, depth: int) -> list[list[str]]:
    """The first documents of each list that are not in the history of its user."""
    lists = []
    for user, row in zip(queries, rows, strict=True):
        history = set(train.items.get(user, ()))
        lists.append([item for item in row if item not in history][:depth])
    return lists


def table_of(
    queries: tuple[str, ...], lists: Sequence[Sequence[str]], qrels: Qrels, catalogue: Catalogue, rules: Convention
) -> Recommended:
    """The table that measures beyond accuracy read."""
    from goldrank.data.recommended import Recommended

    longest = max(map(len, lists), default=0)
    against = _primitive_lists(queries, longest, catalogue, rules)
    return Recommended.of(queries, lists, qrels.text, catalogue, catalogue.train, against)


def _primitive_lists(
    queries: tuple[str, ...], depth: int, catalogue: Catalogue, rules: Convention
) -> Sequence[Sequence[str]] | None:
    """The first items of the primitive recommender (`against`), without histories if these are removed."""
    run, train = catalogue.against, catalogue.removed
    if run is None:
        return None
    if train is None:
        return engine_for(run).top_documents(run, queries, depth, rules)

    longest_history = max(map(len, train.items.values()), default=0)
    rows = engine_for(run).top_documents(run, queries, depth + longest_history, rules)
    return unseen(rows, queries, train, depth)


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
    remarks: list[Note] = []
    train = catalogue.train
    if train is not None:
        known = sum(user in train.items for user in queries)
        if not known:
            remarks.append(Note.of("train-without-users", samples=train.items))

    if train is not None and removed is not None:
        deepest = max((int(measure.k) for measure in columns if isinstance(measure.k, int)), default=1)
        short = int(np.count_nonzero((retrieved < deepest) & (retrieved + removed >= deepest)))
        users = int(np.count_nonzero(removed))
        remarks.append(Note.of("seen-removed", count=int(removed.sum()), users=users, short=short, k=deepest))
        judged_before = sum(item in docs for user, docs in qrels.text.items() for item in train.items.get(user, ()))
        if judged_before:
            remarks.append(Note.of("judged-in-train", count=judged_before))

    if table is not None:
        if not table.known.is_given:
            remarks.append(Note.of("guessed-catalogue", count=table.known.size))
        for measure, column in columns.items():
            if measure.declaration.over != "recommended":
                continue
            all_users = len(column.values)
            left_out = int(np.count_nonzero(np.isnan(column.values)))
            if left_out:
                remarks.append(Note.of("users-left-out", measure=str(measure), count=left_out, users=all_users))
            if measure.declaration.caveat == "never-seen-items" and train is not None:
                k = None
                if measure.k is not None:
                    k = int(measure.k)
                shown = table.cut(k)
                never = int(np.count_nonzero(shown.known.popularity[shown.item] == 0))
                if never:
                    remarks.append(Note.of("never-seen-items", count=never))

    return list(dict.fromkeys(remarks))
