"""What is known of items and users beside the judgements: `Catalogue`, and what users had before (`UserHistory`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from goldrank import ids
from goldrank.errors import InputError, of_type
from goldrank.types import Id


class Catalogue:
    """All items that could be recommended, and what is known of them.

    `items` are ids; without them the items of the training data, the judgements and the run are taken together.
    `vectors` gives features or embeddings by item, or as rows in the order of `items`; `genres` and `groups` give one
    name or several by item.

    >>> catalogue = Catalogue(["a", "b", "c"], groups={"a": "new", "b": "old", "c": "old"})
    >>> catalogue
    <Catalogue: 3 items, groups>
    """

    def __init__(
        self,
        items: Iterable[Id] | None = None,
        *,
        vectors: Mapping[Any, Any] | Any | None = None,  # by id, or any array of rows
        genres: Mapping[Any, Any] | None = None,
        groups: Mapping[Any, Any] | None = None,
    ) -> None:
        self.items: tuple[str, ...] | None = None if items is None else _distinct(items)
        self.vectors = None if vectors is None else _vectors(vectors, self.items)
        self.genres = None if genres is None else _labels(genres, "genres")
        self.groups = None if groups is None else _labels(groups, "groups")

    @classmethod
    def of(cls, given: Catalogue | Iterable[Id] | None) -> Catalogue:
        """A catalogue from what callers give: one, its items, or nothing."""
        return given if isinstance(given, Catalogue) else cls(given)

    @cached_property
    def digest(self) -> str | None:
        """A hash of the items, whatever their order; None if they were not given."""
        import hashlib

        if self.items is None:
            return None
        return hashlib.sha256(b"\n".join(sorted(map(ids.encode, self.items)))).hexdigest()

    def __repr__(self) -> str:
        size = "items not given" if self.items is None else f"{len(self.items):,} items"
        known = [name for name in ("vectors", "genres", "groups") if getattr(self, name) is not None]
        return f"<Catalogue: {', '.join([size, *known])}>"


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
    return value.item() if isinstance(value, np.generic) else value


def _vectors(given: Any, items: tuple[str, ...] | None) -> tuple[dict[str, int], np.ndarray]:
    """The row of each item, and rows of length 1."""
    if isinstance(given, Mapping):
        names = [ids.as_text(_plain(item), "item id", "vectors") for item in given]
        rows = list(given.values())
    else:
        if items is None:
            raise InputError("vectors have no ids", hint="Give them by item, or items in the same order.")
        names, rows = list(items), given
    try:
        table = np.asarray(rows, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("vectors are no numbers, or not equally long", hint="Give as many numbers for each.") from None
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


def _labels(given: Mapping[Any, Any], what: str) -> dict[str, tuple[str, ...]]:
    """One or several names by item."""
    of_type(given, Mapping, what, "a mapping from items to names")
    by_item = {}
    for item, labels in given.items():
        listed = [labels] if isinstance(labels, str) else list(labels) if isinstance(labels, Iterable) else [None]
        if not all(isinstance(label, str) for label in listed):
            raise InputError(f"{what} of item {item!r:.80} are {labels!r:.80}", hint="Give a name, or a list of names.")
        by_item[ids.as_text(_plain(item), "item id", what)] = tuple(dict.fromkeys(listed))
    return by_item


class UserHistory:
    """What users had before, in the training data: for each user the items, each once."""

    def __init__(self, items: Mapping[str, Iterable[str]], name: str = "train") -> None:
        self.items = {user: tuple(dict.fromkeys(had)) for user, had in items.items()}
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
        return Counter(item for had in self.items.values() for item in had)

    @cached_property
    def digest(self) -> str:
        """A hash of the pairs, whatever their order."""
        import hashlib

        digest = hashlib.sha256()
        for user in sorted(self.items, key=ids.encode):
            for item in sorted(self.items[user], key=ids.encode):
                digest.update(b"%b\x00%b\n" % (ids.encode(user), ids.encode(item)))
        return digest.hexdigest()
