"""Logs of interleaving experiments: the lists that were shown, whose pick each document was, and the clicks.

JSON Lines, an object for each time that a list was shown (an impression):

- `shown`: the documents, best first; `clicks`: those that were clicked (each counts once);
- team draft: `team`, for each shown document "a" or "b", whose pick it was (null for a pick of both);
- probabilistic: `a` and `b`, the two rankings that the list was drawn from;
- `user` and `query`, if known: lists of one user, or of one query, are not independent.

Events of UBI (`ubi`) are told by their content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError, Position
from goldrank.base.notes import Note, from_counts
from goldrank.base.types import Frame, Rows, Source
from goldrank.clicks.ubi import is_ubi, page_views
from goldrank.io.by_id.plain_records import AllFields
from goldrank.io.files import is_frame
from goldrank.io.json import json_text
from goldrank.io.records import open_records
from goldrank.io.sources import open_source

_HINT = "Each line is an object with shown and clicks, and team or a and b; docs/interleaving.md has the format."


@dataclass(frozen=True)
class Impression:
    """One list that was shown."""

    shown: tuple[str, ...]
    clicks: tuple[int, ...]
    """Positions in `shown` that were clicked, from 0, ascending."""
    team: tuple[str | None, ...] | None
    """Whose pick each document was: 'a', 'b', or None for both."""
    a: tuple[str, ...] | None
    b: tuple[str, ...] | None
    user: str | None
    query: str | None
    where: Position
    repeated: int
    """Clicks on a document that was clicked before."""


def read_impressions(log: Source | Frame | Rows) -> tuple[list[Impression], tuple[Note, ...]]:
    """The impressions of a JSON Lines file, a data frame or records, and notes about the reading."""
    if is_frame(log):
        rows = open_records(log, AllFields(()), None, name="log").rows(Counter())
        return [_impression(row, Position("log", number)) for number, row in rows], ()
    if isinstance(log, Iterable) and not isinstance(log, str | bytes) and not hasattr(log, "read"):
        return [_impression(row, Position("log", number)) for number, row in enumerate(log, 1)], ()

    source = open_source(log)
    counts: Counter[str] = Counter()
    lines = [
        (Position(source.name, number), row)
        for number, row in json_text.read_lines(source, counts, "Each field has one name.")
    ]
    if lines and is_ubi(lines[0][1]):
        views = page_views(((str(position), row) for position, row in lines), counts)
        lines = [(Position(source.name, number), view) for number, view in enumerate(views, 1)]
    return [_impression(row, position) for position, row in lines], from_counts(counts, source.name)


def _impression(row: object, where: Position) -> Impression:
    if not isinstance(row, Mapping):
        raise InputError(f"{_short(row)} is not an object", where=where, hint=_HINT)

    missing = [name for name in ("shown", "clicks") if name not in row]
    if missing:
        listed = ", ".join(ids.show(str(name), 40) for name in list(row)[:8]) or "none"
        raise InputError(f"there is no field {missing[0]!r}; there are: {listed}", where=where, hint=_HINT)

    shown = _documents(row, "shown", where)
    position = {doc: i for i, doc in enumerate(shown)}
    clicked = _texts(row, "clicks", where)
    for doc in clicked:
        if doc not in position:
            raise InputError(f"clicks has {_short(doc)}, which was not shown", where=where, hint=_HINT)

    clicks = tuple(sorted({position[doc] for doc in clicked}))
    return Impression(
        shown=shown,
        clicks=clicks,
        team=_team(row, shown, where),
        a=_ranking(row, "a", where),
        b=_ranking(row, "b", where),
        user=_name(row, "user", where),
        query=_name(row, "query", where),
        where=where,
        repeated=len(clicked) - len(clicks),
    )


def _team(row: Mapping[str, Any], shown: tuple[str, ...], where: Position) -> tuple[str | None, ...] | None:
    team = row.get("team")
    if team is None:
        return None
    if not isinstance(team, list | tuple):
        raise InputError(f"team is {_short(team)}, not a list", where=where, hint=_HINT)
    if len(team) != len(shown):
        raise InputError(f"team has {len(team):,} entries for {len(shown):,} shown documents", where=where, hint=_HINT)
    known: dict[object, str | None] = {"a": "a", "A": "a", "b": "b", "B": "b", None: None}
    for pick in team:
        if not isinstance(pick, str | None) or pick not in known:
            raise InputError(f"team has {_short(pick)}; it must be 'a', 'b' or null", where=where, hint=_HINT)
    return tuple(known[pick] for pick in team)


def _ranking(row: Mapping[str, Any], field: str, where: Position) -> tuple[str, ...] | None:
    if row.get(field) is None:
        return None
    return _documents(row, field, where)


def _documents(row: Mapping[str, Any], field: str, where: Position) -> tuple[str, ...]:
    docs = _texts(row, field, where)
    if len(set(docs)) < len(docs):
        twice = next(doc for doc, times in Counter(docs).items() if times > 1)
        raise InputError(f"{field} has {_short(twice)} twice", where=where, hint="A ranking has a document once.")
    return docs


def _texts(row: Mapping[str, Any], field: str, where: Position) -> tuple[str, ...]:
    docs = row[field]
    if not isinstance(docs, list | tuple):
        raise InputError(f"{field} is {_short(docs)}, not a list of document ids", where=where, hint=_HINT)
    return tuple(ids.as_text(doc, "document id", str(where)) for doc in docs)


def _name(row: Mapping[str, Any], field: str, where: Position) -> str | None:
    name = row.get(field)
    if name is None:
        return None
    return ids.as_text(name, f"{field} id", str(where))


def _short(value: object) -> str:
    if isinstance(value, str):
        return f"'{ids.show(value, 60)}'"
    return ids.show(repr(value), 60)
