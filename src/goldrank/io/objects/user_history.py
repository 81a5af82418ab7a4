"""What users had before, from whatever holds pairs of a user and an item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from goldrank import io
from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.data.catalogue import UserHistory
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.io.columns import Columns


def as_history(given: Any, columns: Columns | None = None) -> UserHistory:
    """What users had, from whatever holds pairs: a mapping, rows, a file, a data frame. Ratings do not matter."""
    columns = (Columns() if columns is None else columns).for_pairs()
    given = io.as_table(given, "train")
    if isinstance(given, UserHistory):
        return given

    if isinstance(given, Mapping) and not isinstance(given, Qrels | Run):
        by_user: dict[str, list[str]] = {}
        for user, items in given.items():
            if isinstance(items, str | bytes | type) or not isinstance(items, Iterable):
                items = [items]
            listed = by_user.setdefault(ids.as_text(user, "user id", "train"), [])
            listed += [ids.as_text(item, "item id", "train") for item in items]
        return UserHistory(by_user)

    if isinstance(given, Iterable) and not (io.is_file(given) or io.is_frame(given) or isinstance(given, Mapping)):
        given = list(given)
        if all(isinstance(row, tuple | list) and len(row) >= 2 for row in given):
            return _of_pairs((row[0], row[1]) for row in given)
        if not all(isinstance(row, Mapping) for row in given):
            raise InputError(
                "training data is no list of pairs", where="train", hint='Rows look like ("u1", "i7", ...).'
            )

    try:
        rated = io.read_qrels(given, judgements="last", columns=columns, real_grades=True)
    except InputError as refused:
        try:  # it may be a table of scores
            return _of_run(io.read_run(given, name="train", columns=columns))
        except InputError:
            raise refused from None

    left_out = [note for note in rated.notes if note.code == "ungraded-rows"]
    if left_out:
        hint = "What a user had counts, whatever its rating: fill in any number, or leave the column out."
        raise InputError(f"{left_out[0].fact('count'):,} rows have no rating", where=rated.name, hint=hint)

    return UserHistory(rated.text)


def _of_pairs(pairs: Iterable[tuple[Any, Any]]) -> UserHistory:
    by_user: dict[str, list[str]] = {}
    for user, item in pairs:
        by_user.setdefault(ids.as_text(user, "user id", "train"), []).append(ids.as_text(item, "item id", "train"))
    return UserHistory(by_user)


def _of_run(run: Run) -> UserHistory:
    """What a table of scores lists for each user; repeated pairs do not matter."""
    return UserHistory(run.results)
