"""The items recommended to each user: `Recommended`, the table of measures beyond accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, MeasureError
from goldrank.data.catalogue import Catalogue, UserHistory


class NumberLists(NamedTuple):
    """For each user, or item, a list of numbers."""

    start: np.ndarray
    """Where each list begins; one more entry than lists."""
    value: np.ndarray

    @property
    def owner(self) -> np.ndarray:
        """The index of the user or item that each number belongs to."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> NumberLists:
        size = np.fromiter(map(len, rows), np.int64, len(rows))
        start = np.concatenate(([0], np.cumsum(size))).astype(np.int64)
        values = (value for row in rows for value in row)
        return cls(start, np.fromiter(values, np.int64, int(size.sum())))


class Labelled(NamedTuple):
    """The labels of some items: one entry for each item and label."""

    position: np.ndarray
    """The position of the item in the list of items."""
    label: np.ndarray
    """An index into `names`."""
    weight: np.ndarray
    """The labels of an item share a weight of 1."""
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Items by number, those of the catalogue first, and the data about them."""

    names: tuple[str, ...]
    size: int
    """How many of them belong to the catalogue."""
    is_given: bool
    """Whether the user gave the items of the catalogue."""
    catalogue: Catalogue
    train: UserHistory | None
    history: NumberLists | None
    """The items that each user of the table had before."""
    against: NumberLists | None
    """The items that the primitive recommender gives to each user of the table."""

    @cached_property
    def popularity(self) -> np.ndarray:
        """How many users of the training data had each item."""
        assert self.train is not None
        users = self.train.popularity
        return np.fromiter((users.get(name, 0) for name in self.names), np.int64, len(self.names))

    def vectors(self, items: np.ndarray) -> np.ndarray:
        """The vectors of some items, each of length 1."""
        if self.catalogue.vectors is None:
            raise _missing("features or vectors of items", "catalogue=Catalogue(items, vectors={...})")
        row_of, table = self.catalogue.vectors
        rows = self._rows(row_of, items, "vector")
        return np.asarray(table[rows])

    def labelled(self, items: np.ndarray, kind: str) -> Labelled:
        """The genres or groups of some items, each with its weight."""
        table: Mapping[str, tuple[str, ...]] | None = getattr(self.catalogue, kind)
        if table is None:
            raise _missing(f"{kind} of items", f"catalogue=Catalogue(items, {kind}={{...}})")

        distinct, inverse = np.unique(items, return_inverse=True)
        self._rows(dict.fromkeys(table, 0), distinct, kind.removesuffix("s"))

        names = tuple(sorted({label for labels in table.values() for label in labels}))
        number_of = {name: i for i, name in enumerate(names)}
        numbers = []
        for item in distinct.tolist():
            numbers.append([number_of[label] for label in table[self.names[item]]])
        lists = NumberLists.of(numbers)

        size = np.diff(lists.start)[inverse]
        position = np.repeat(np.arange(len(items)), size)
        index_in_item = np.arange(len(position)) - np.repeat(np.cumsum(size) - size, size)
        label = lists.value[lists.start[:-1][inverse][position] + index_in_item]
        return Labelled(position, label, 1.0 / size[position], names)

    def _rows(self, row_of: Mapping[str, int], items: np.ndarray, noun: str) -> np.ndarray:
        """The row of each item; an error names the items that have none."""
        distinct, inverse = np.unique(items, return_inverse=True)
        names = [self.names[item] for item in distinct.tolist()]
        lost = [name for name in names if name not in row_of]
        if lost:
            raise InputError(
                f"{len(lost):,} items have no {noun}: {ids.samples(lost)}",
                where="catalogue",
                hint="Items that are recommended, or that users had, need one each.",
            )
        return np.array([row_of[name] for name in names], np.int64)[inverse]


def _missing(data: str, argument: str) -> MeasureError:
    return MeasureError(f"{data} are needed", hint=f"Give {argument}.")


@dataclass(frozen=True, eq=False)
class Recommended:
    """The items recommended to each judged user, by rank; without the user's earlier items if the catalogue says so."""

    queries: tuple[str, ...]
    known: Knowledge
    user: np.ndarray
    """The user of each recommended item, ascending."""
    rank: np.ndarray
    item: np.ndarray
    """Its number in `known.names`."""
    grade: np.ndarray
    """NaN where the item is not judged for the user."""

    @classmethod
    def of(
        cls,
        queries: tuple[str, ...],
        lists: Sequence[Sequence[str]],
        judged: Mapping[str, Mapping[str, float]],
        catalogue: Catalogue,
        train: UserHistory | None,
        against: Sequence[Sequence[str]] | None,
    ) -> Recommended:
        """Make the table from each user's list, best first."""
        if catalogue.items is not None:
            number_of = {item: i for i, item in enumerate(catalogue.items)}
            _check_in_catalogue(lists, number_of)
        else:
            number_of = _guessed_catalogue(lists, judged, train)
        size = len(number_of)

        def numbered(rows: Sequence[Sequence[str]]) -> NumberLists:
            numbers = []
            for row in rows:
                numbers.append([number_of.setdefault(item, len(number_of)) for item in row])
            return NumberLists.of(numbers)

        recommended = numbered(lists)
        history = None
        if train is not None:
            history = numbered([train.items.get(query, ()) for query in queries])
        primitive = None
        if against is not None:
            primitive = numbered(against)
        known = Knowledge(
            names=tuple(number_of),
            size=size,
            is_given=catalogue.items is not None,
            catalogue=catalogue,
            train=train,
            history=history,
            against=primitive,
        )

        grades: list[float] = []
        for query, row in zip(queries, lists, strict=True):
            of_query = judged.get(query, {})
            grades += [of_query.get(item, np.nan) for item in row]
        owner = recommended.owner
        rank = np.arange(1, len(owner) + 1) - recommended.start[owner]
        return cls(queries, known, owner, rank, recommended.value, np.array(grades, np.float64))

    def __len__(self) -> int:
        return len(self.queries)

    def cut(self, depth: int | None) -> Recommended:
        """The first `depth` items of each user; all without a depth."""
        if depth is None:
            return self
        return self._where(self.rank <= depth)

    @property
    def condensed(self) -> Recommended:
        """Only items that were judged for their user; ranks close up."""
        judged = self._where(self.grade >= 0)
        rank = np.arange(1, len(judged.user) + 1) - np.searchsorted(judged.user, judged.user)
        return replace(judged, rank=rank)

    def _where(self, keep: np.ndarray) -> Recommended:
        columns = {name: getattr(self, name)[keep] for name in ("user", "rank", "item", "grade")}
        return replace(self, **columns)

    # Parts of measures.

    @cached_property
    def size(self) -> np.ndarray:
        """How many items each user got."""
        return np.bincount(self.user, minlength=len(self))

    @cached_property
    def shown(self) -> np.ndarray:
        """How often each item was recommended."""
        return np.bincount(self.item, minlength=len(self.known.names))

    @property
    def train(self) -> UserHistory:
        """The training data, or the error that asks for it."""
        if self.known.train is None:
            raise _missing("the items that users had before", "train=, the training data")
        return self.known.train

    @property
    def history(self) -> NumberLists:
        """The items that each user had before."""
        assert self.train is not None
        assert self.known.history is not None
        return self.known.history

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Per user, the sum of one value per recommended item, in rank order."""
        return np.bincount(self.user, weights=values, minlength=len(self))

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Per user, the mean of one value per recommended item; NaN without any."""
        return np.where(self.size > 0, self.sum(values) / np.maximum(self.size, 1), np.nan)

    def parts(self, values: np.ndarray) -> np.ndarray:
        """Each user's part of a sum over all recommended items: the mean over users with a list is the sum."""
        return np.where(self.size > 0, self.sum(values) * np.count_nonzero(self.size), np.nan)


def _check_in_catalogue(lists: Sequence[Sequence[str]], number_of: Mapping[str, int]) -> None:
    unknown = dict.fromkeys(item for row in lists for item in row if item not in number_of)
    if unknown:
        raise InputError(
            f"{len(unknown):,} recommended items are not in the catalogue: {ids.samples(unknown)}",
            where="catalogue",
            hint="Give all items that can be recommended, or leave the catalogue out.",
        )


def _guessed_catalogue(
    lists: Sequence[Sequence[str]], judged: Mapping[str, Mapping[str, float]], train: UserHistory | None
) -> dict[str, int]:
    """Numbers of all items that are recommended, judged or in the training data."""
    rows = [*lists, *judged.values()]
    if train is not None:
        rows += train.items.values()
    items = {item for row in rows for item in row}
    return {item: i for i, item in enumerate(sorted(items, key=ids.encode))}
