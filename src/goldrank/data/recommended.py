"""What each user was recommended, by item: `Recommended`, the table of measures beyond accuracy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
        """Whose each number is."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> NumberLists:
        size = np.fromiter(map(len, rows), np.int64, len(rows))
        return cls(
            np.concatenate(([0], np.cumsum(size))).astype(np.int64),
            np.fromiter((value for row in rows for value in row), np.int64, int(size.sum())),
        )


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Items by number, those of the catalogue first, and what is known of them."""

    names: tuple[str, ...]
    size: int
    """How many of them are the catalogue."""
    given: bool
    """Whether somebody said what the catalogue is."""
    catalogue: Catalogue
    train: UserHistory | None
    had: NumberLists | None
    """What each user of the table had before."""
    against: NumberLists | None
    """What each user of the table would get from the primitive recommender."""

    @cached_property
    def popularity(self) -> np.ndarray:
        """How many users of the training data had each item."""
        assert self.train is not None
        counted = self.train.popularity
        return np.fromiter((counted.get(name, 0) for name in self.names), np.int64, len(self.names))

    def vectors(self, wanted: np.ndarray) -> np.ndarray:
        """The vectors of some items, each of length 1."""
        if self.catalogue.vectors is None:
            raise _missing("features or vectors of items", "catalogue=Catalogue(items, vectors={...})")
        row_of, table = self.catalogue.vectors
        rows = self._looked_up(row_of.get, wanted, "vector")
        return np.asarray(table[rows])

    def labelled(self, wanted: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[str, ...]]:
        """For some items: place in `wanted`, number and weight of each of their genres or groups, and all names.

        An item's labels share a weight of 1.
        """
        table: Mapping[str, tuple[str, ...]] | None = getattr(self.catalogue, kind)
        if table is None:
            raise _missing(f"{kind} of items", f"catalogue=Catalogue(items, {kind}={{...}})")
        names = tuple(sorted({label for labels in table.values() for label in labels}))
        number = {name: i for i, name in enumerate(names)}
        numbers = {item: [number[label] for label in labels] for item, labels in table.items()}
        distinct, inverse = np.unique(wanted, return_inverse=True)
        self._looked_up(dict.fromkeys(table, 0).get, distinct, kind.removesuffix("s"))
        lists = NumberLists.of([numbers[self.names[item]] for item in distinct.tolist()])
        size = np.diff(lists.start)[inverse]
        place = np.repeat(np.arange(len(wanted)), size)
        at = np.arange(len(place)) - np.repeat(np.cumsum(size) - size, size) + lists.start[:-1][inverse][place]
        return place, lists.value[at], 1.0 / size[place], names

    def _looked_up(self, of: Callable[[str], int | None], wanted: np.ndarray, what: str) -> np.ndarray:
        distinct, inverse = np.unique(wanted, return_inverse=True)
        rows = [of(self.names[item]) for item in distinct.tolist()]
        lost = [self.names[item] for item, row in zip(distinct.tolist(), rows, strict=True) if row is None]
        if lost:
            raise InputError(
                f"{len(lost):,} items have no {what}: {ids.samples(lost)}",
                where="catalogue",
                hint="Items that are recommended, or that users had, need one each.",
            )
        return np.array(rows, np.int64)[inverse]


def _missing(what: str, how: str) -> MeasureError:
    return MeasureError(f"{what} are needed", hint=f"Give {how}.")


@dataclass(frozen=True, eq=False)
class Recommended:
    """The items that each judged user got, in order of rank; what the user had before is gone if that was asked for."""

    queries: tuple[str, ...]
    known: Knowledge
    user: np.ndarray
    """The user of each recommended item, ascending."""
    rank: np.ndarray
    item: np.ndarray
    """Its number in `known.names`."""
    grade: np.ndarray
    """NaN where nobody judged it for the user."""

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
        """From each user's list, best first."""
        number: dict[str, int] = {}
        if catalogue.items is not None:
            number = {item: i for i, item in enumerate(catalogue.items)}
            unknown = dict.fromkeys(item for row in lists for item in row if item not in number)
            if unknown:
                raise InputError(
                    f"{len(unknown):,} recommended items are not in the catalogue: {ids.samples(unknown)}",
                    where="catalogue",
                    hint="Give all items that can be recommended, or leave the catalogue out.",
                )
        else:
            everything = [*lists, *judged.values(), *(train.items.values() if train else ())]
            for item in sorted({item for row in everything for item in row}, key=ids.encode):
                number[item] = len(number)
        size = len(number)

        def numbered(rows: Sequence[Sequence[str]]) -> NumberLists:
            return NumberLists.of([[number.setdefault(item, len(number)) for item in row] for row in rows])

        shown = numbered(lists)
        if train is None:
            had = None
        else:
            had = numbered([train.items.get(query, ()) for query in queries])
        if against is None:
            other = None
        else:
            other = numbered(against)
        grade = [
            judged.get(query, {}).get(item, np.nan) for query, row in zip(queries, lists, strict=True) for item in row
        ]
        known = Knowledge(tuple(number), size, catalogue.items is not None, catalogue, train, had, other)
        owner = shown.owner
        rank = np.arange(1, len(owner) + 1) - shown.start[owner]
        return cls(queries, known, owner, rank, shown.value, np.array(grade, np.float64))

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
        kept = self._where(self.grade >= 0)
        return replace(kept, rank=np.arange(1, len(kept.user) + 1) - np.searchsorted(kept.user, kept.user))

    def _where(self, keep: np.ndarray) -> Recommended:
        columns = {name: getattr(self, name)[keep] for name in ("user", "rank", "item", "grade")}
        return replace(self, **columns)

    # What measures are made of.

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
    def had(self) -> NumberLists:
        """What each user had before."""
        assert self.train is not None
        assert self.known.had is not None
        return self.known.had

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Per user, the sum of one value per recommended item, in rank order."""
        return np.bincount(self.user, weights=values, minlength=len(self))

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Per user, the mean of one value per recommended item; NaN without any."""
        return np.where(self.size > 0, self.sum(values) / np.maximum(self.size, 1), np.nan)

    def parts(self, values: np.ndarray) -> np.ndarray:
        """What each user adds to a sum over all recommended items: the mean over users with a list is the sum."""
        return np.where(self.size > 0, self.sum(values) * np.count_nonzero(self.size), np.nan)
