"""Data about items and users beside the judgements: `Catalogue`, and earlier items of users (`UserHistory`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, of_type, one_of
from goldrank.base.frozen import Frozen
from goldrank.base.types import Id, RunLike, SeenLike
from goldrank.data.equality import same

if TYPE_CHECKING:
    from goldrank.data.run import Run


SEEN = {
    "remove": "items that a user had before are removed from the run, and items below move up",
    "keep": "they stay: they may be recommended again, such as music or groceries",
}


class Catalogue(Frozen):
    """The data that measures of recommendations read beside judgements and run.

    Parameters
    ----------
    items : iterable of ids, optional
        All items that can be recommended. Without them, all items of the training data, the judgements and the run
        are the catalogue.
    train : mapping, rows, path or data frame, optional
        The items that users had before: they are removed from the run before any cut-off, and measures of popularity
        and novelty read them.
    seen : {"remove", "keep"}
        Whether items that a user had before are removed from the run.
    vectors : mapping or array, optional
        Features or embeddings by item, or as rows in the order of `items`.
    genres, groups : mapping, optional
        One name or several by item.
    against : run, optional
        The run of a simple recommender, for Serendipity.

    Raises
    ------
    InputError
        If items repeat, or vectors, genres or training data cannot be read.

    Examples
    --------
    >>> Catalogue(["a", "b", "c"], train={"u1": ["a"]}, groups={"a": "new", "b": "old", "c": "old"})
    Catalogue(3 items, train, groups)
    """

    items: tuple[str, ...] | None
    train: UserHistory | None
    seen: Literal["remove", "keep"]
    vectors: tuple[dict[str, int], np.ndarray] | None
    """The row of each item, and rows of length 1."""
    genres: dict[str, tuple[str, ...]] | None
    groups: dict[str, tuple[str, ...]] | None
    against: Run | None

    def __init__(
        self,
        items: Iterable[Id] | None = None,
        *,
        train: SeenLike | None = None,
        seen: Literal["remove", "keep"] = "remove",
        vectors: Mapping[Any, Any] | Any | None = None,  # by id, or any array of rows
        genres: Mapping[Any, Any] | None = None,
        groups: Mapping[Any, Any] | None = None,
        against: RunLike | None = None,
    ) -> None:
        item_ids: tuple[str, ...] | None = None
        if items is not None:
            item_ids = _distinct(items)
        self._keep(items=item_ids, train=None, seen=one_of(seen, SEEN, "seen"))
        self._keep(vectors=None, genres=None, groups=None, against=None)

        if train is not None:
            self._keep(train=_history(train))
        if vectors is not None:
            self._keep(vectors=_vectors(vectors, item_ids))
        if genres is not None:
            self._keep(genres=_labels(genres, "genres"))
        if groups is not None:
            self._keep(groups=_labels(groups, "groups"))
        if against is not None:
            self._keep(against=_run(against))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Catalogue):
            return NotImplemented
        names = ("items", "seen", "vectors", "genres", "groups", "against")
        if not all(same(getattr(self, name), getattr(other, name)) for name in names):
            return False
        return _digest_of(self.train) == _digest_of(other.train)

    def __hash__(self) -> int:
        return hash((self.items, self.seen))

    @property
    def removed(self) -> UserHistory | None:
        """The items that are removed from runs; None if they are kept."""
        if self.seen == "remove":
            return self.train
        return None

    @property
    def label(self) -> str:
        """Words beside the convention: numbers with and without removed items do not belong into one history."""
        if self.removed is None:
            return ""
        return f", train removed ({self.removed.digest[:12]})"

    @property
    def provenance(self) -> dict[str, Any]:
        """Its part of the provenance of results; an empty dict if it has no data."""
        facts: dict[str, Any] = {}
        if self.train is not None:
            facts["train"] = {
                "sha256": self.train.digest,
                "users": len(self.train.items),
                "pairs": self.train.pairs,
                "seen": self.seen,
            }

        if self.items is not None:
            facts["catalogue"] = {"sha256": self.digest, "items": len(self.items)}

        if self.against is not None:
            facts["against"] = {"name": self.against.name, "sha256": self.against.digest}

        return facts

    @cached_property
    def digest(self) -> str | None:
        """A hash of the items, independent of their order; None if they were not given."""
        import hashlib

        if self.items is None:
            return None
        return hashlib.sha256(b"\n".join(sorted(map(ids.encode, self.items)))).hexdigest()

    def __repr__(self) -> str:
        if self.items is None:
            size = "items not given"
        else:
            size = f"{len(self.items):,} items"
        fields = ("train", "vectors", "genres", "groups", "against")
        known = [name for name in fields if getattr(self, name) is not None]
        return f"Catalogue({', '.join([size, *known])})"


def _digest_of(train: UserHistory | None) -> str | None:
    if train is None:
        return None
    return train.digest


def _history(source: SeenLike) -> UserHistory:
    from goldrank.io.objects.user_history import as_history

    return as_history(source)


def _run(source: RunLike) -> Run:
    from goldrank.io import as_run

    return as_run(source, name="against")


def _distinct(items: Any) -> tuple[str, ...]:
    if isinstance(items, str | bytes) or not isinstance(items, Iterable) or isinstance(items, type):
        raise InputError(f"the catalogue is of type {type(items).__name__}", hint="Give the ids of all items.")
    item_ids = [ids.as_text(_plain(item), "item id", "catalogue") for item in items]
    if not item_ids:
        raise InputError("the catalogue is empty", hint="Give the ids of all items, or leave it out.")
    if len(set(item_ids)) < len(item_ids):
        twice = Counter(item_ids).most_common(1)[0][0]
        raise InputError(f"item '{ids.show(twice)}' is in the catalogue twice", hint="Give each item once: set(items).")
    return tuple(item_ids)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return value


def _vectors(vectors: Any, items: tuple[str, ...] | None) -> tuple[dict[str, int], np.ndarray]:
    """The row of each item, and rows of length 1."""
    if isinstance(vectors, Mapping):
        names = [ids.as_text(_plain(item), "item id", "vectors") for item in vectors]
        rows = list(vectors.values())
    else:
        if items is None:
            raise InputError("vectors have no ids", hint="Give them by item, or items in the same order.")
        names, rows = list(items), vectors

    try:
        table = np.asarray(rows, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            "vectors are not numbers, or not equally long", hint="Give as many numbers for each."
        ) from None

    if table.ndim != 2 or len(table) != len(names):
        raise InputError(f"vectors are of shape {table.shape}, for {len(names):,} items", hint="A row for each item.")

    length = np.sqrt((table**2).sum(axis=1))
    wrong = np.flatnonzero(~np.isfinite(length) | (length == 0))
    if len(wrong):
        raise InputError(
            f"the vector of item '{ids.show(names[int(wrong[0])])}' is zero or not finite",
            where="vectors",
            hint="A zero vector has no direction: leave the item out of what is recommended, or give it features.",
        )

    return {name: row for row, name in enumerate(names)}, table / length[:, None]


def _labels(table: Mapping[Any, Any], noun: str) -> dict[str, tuple[str, ...]]:
    """One or several names by item."""
    of_type(table, Mapping, noun, "a mapping from items to names")
    by_item = {}
    for item, labels in table.items():
        listed: list[Any] = [labels]
        if isinstance(labels, Iterable) and not isinstance(labels, str):
            listed = list(labels)
        if not all(isinstance(label, str) for label in listed):
            raise InputError(f"{noun} of item {item!r:.80} are {labels!r:.80}", hint="Give a name, or a list of names.")
        by_item[ids.as_text(_plain(item), "item id", noun)] = tuple(dict.fromkeys(listed))
    return by_item


class UserHistory:
    """The items that users had before, in the training data: for each user the items, each once."""

    def __init__(self, items: Mapping[str, Iterable[str]], name: str = "train") -> None:
        self.items = {user: tuple(dict.fromkeys(row)) for user, row in items.items()}
        self.name = name
        if not any(self.items.values()):
            raise InputError("the training data is empty", where=name, hint="Give the items of each user.")

    @property
    def pairs(self) -> int:
        """How many pairs of a user and an item there are."""
        return sum(map(len, self.items.values()))

    @cached_property
    def popularity(self) -> dict[str, int]:
        """How many users had each item."""
        return Counter(item for row in self.items.values() for item in row)

    @cached_property
    def digest(self) -> str:
        """A hash of the pairs, independent of their order."""
        import hashlib

        digest = hashlib.sha256()
        for user in sorted(self.items, key=ids.encode):
            for item in sorted(self.items[user], key=ids.encode):
                digest.update(b"%b\x00%b\n" % (ids.encode(user), ids.encode(item)))
        return digest.hexdigest()
