"""The items that users had before, from any source of pairs of a user and an item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from goldrank import io
from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.base.keywords import with_short_tracebacks
from goldrank.data.catalogue import UserHistory
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.io.columns import Columns


@with_short_tracebacks
def as_history(source: Any, columns: Columns | None = None) -> UserHistory:
    """The items that users had, from a mapping, rows, a file or a data frame. Ratings do not matter."""
    if columns is None:
        columns = Columns()
    columns = columns.for_pairs()
    source = io.as_table(source, "train")
    if isinstance(source, UserHistory):
        return source

    if isinstance(source, Mapping) and not isinstance(source, Qrels | Run):
        by_user: dict[str, list[str]] = {}
        for user, items in source.items():
            if isinstance(items, str | bytes | type) or not isinstance(items, Iterable):
                items = [items]
            item_ids = by_user.setdefault(ids.as_text(user, "user id", "train"), [])
            item_ids += [ids.as_text(item, "item id", "train") for item in items]
        return UserHistory(by_user)

    if isinstance(source, Iterable) and not (io.is_file(source) or io.is_frame(source) or isinstance(source, Mapping)):
        source = list(source)
        if all(isinstance(row, tuple | list) and len(row) >= 2 for row in source):
            return _of_pairs((row[0], row[1]) for row in source)
        if not all(isinstance(row, Mapping) for row in source):
            hint = 'Rows look like ("u1", "i7", ...).'
            raise InputError("training data is not a list of pairs", where="train", hint=hint)

    try:
        rated = io.read_qrels(source, judgements="last", columns=columns, real_grades=True)
    except InputError as refused:
        try:  # it may be a table of scores
            return _of_run(io.read_run(source, name="train", columns=columns))
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
    """The items of each user in a table of scores; repeated pairs do not matter."""
    return UserHistory(run.results)
