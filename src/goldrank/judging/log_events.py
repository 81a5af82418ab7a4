"""`Event`: one thing that one judge did; `Entry`: an event with everything that the log keeps of it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from goldrank.base import ids
from goldrank.base.errors import InputError, of_type, one_of
from goldrank.data.grades import check_grade
from goldrank.data.qrels import Grade

ACTIONS = ("grade", "withdraw", "skip", "cannot_tell", "comment")
KINDS = ("person", "model", "file")
PEOPLE = ("person", "file")
"""Kinds of judges that are people, now or when their file was made."""
MOST_COMMENT = 2_000
MOST_NAME = 200


class Event(NamedTuple):
    """One thing that a judge did, as `JudgementLog` returns it.

    Examples
    --------
    >>> Event(1, "ann", "q1", "d1", 2, "2026-01-01T00:00:00.000+00:00").grade
    2
    """

    number: int
    """Its number in the log, from 1."""
    judge: str
    query: str
    doc: str
    grade: Grade | None
    """None if it is not a grade: something was taken back or skipped, cannot be judged, or is a comment alone."""
    time: str
    """When it was added, in UTC."""


@dataclass(frozen=True)
class Entry:
    """One thing that a judge did: a grade, a withdrawal, a skip, "cannot tell", or a comment.

    `key` makes repeats harmless: an entry with a key that the log has is not added again. Without one, one is made.
    `knew` is the number of the judge's last event on the pair at the time of the decision (0 for none; None: not known,
    and nothing is compared). For a withdrawal it is the event that is taken back; None takes back all of the pair.
    """

    judge: str
    query: str
    doc: str
    action: str = "grade"
    grade: Grade | None = None
    comment: str = ""
    kind: str = "person"
    """The kind of the judge: person, model or file."""
    key: str = ""
    criteria: str = ""
    """What the grades mean, in words."""
    seen: str = ""
    """SHA-256 of the query and the text as shown."""
    whole: bool | None = None
    """Whether the whole text was shown."""
    blind: bool | None = None
    """Whether systems, ranks and others' grades were hidden."""
    seconds: float | None = None
    knew: int | None = None
    data: str = ""
    """A hash of the inputs."""
    seq: int = 0
    """Its number in the log, from 1; 0 before it is there."""
    at: str = ""
    """When it was added, in UTC."""

    @property
    def event(self) -> Event:
        """The event that users see."""
        return Event(self.seq, self.judge, self.query, self.doc, self.grade, self.at)

    @property
    def pair(self) -> tuple[str, str]:
        """The query and the document that it is about."""
        return self.query, self.doc


def checked(event: Entry) -> Entry:
    """The event with its ids as text and its grade as a number; raise `InputError` if a log cannot keep it."""
    of_type(event, Entry, "what is added to a log", "an Entry")
    query, doc = ids.as_text(event.query, "query id"), ids.as_text(event.doc, "document id")
    where = f"judgement of query '{ids.show(query)}', document '{ids.show(doc)}'"
    ids.encode(query), ids.encode(doc)
    one_of(event.action, ACTIONS, "action")
    one_of(event.kind, KINDS, "the kind of a judge")
    for name, most in (("judge", MOST_NAME), ("comment", MOST_COMMENT), ("key", MOST_NAME)):
        _text(getattr(event, name), name, most, where)

    for name in ("criteria", "seen", "data"):
        _text(getattr(event, name), name, 100_000, where)

    if not event.judge.strip() or not event.judge.isprintable():
        raise InputError("the judge has no name, or one with unprintable characters", where=where)

    grade = event.grade
    if event.action == "grade":
        grade = check_grade(grade, where, real_grades=True)
    elif grade is not None:
        raise InputError(f"'{event.action}' has no grade, and here is {grade!r:.40}", where=where)

    if event.action == "comment" and not event.comment:
        raise InputError("the comment is empty", where=where)

    seconds = event.seconds
    if seconds is not None and not (isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0):
        raise InputError(f"seconds is {seconds!r:.40}, not a number from 0", where=where)

    for name in ("whole", "blind"):
        of_type(getattr(event, name), (bool, type(None)), name, "True, False or None")

    if event.knew is not None and (isinstance(event.knew, bool) or not isinstance(event.knew, int) or event.knew < 0):
        raise InputError(f"knew is {event.knew!r:.40}, not the number of an event", where=where)
    return replace(event, query=query, doc=doc, grade=grade)


def _text(value: object, name: str, most: int, where: str) -> None:
    text: str = of_type(value, str, name, "text")  # type: ignore[assignment]
    if len(text) > most:
        raise InputError(f"the {name} has {len(text):,} characters; at most {most:,} are kept", where=where)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"the {name} is not text: it has half of a surrogate pair in it", where=where) from None


def chained(previous: str, row: tuple[Any, ...], judge: tuple[str, str], criteria: str) -> str:
    """The link of a row: SHA-256 of the link before it and of all values of the row, as text."""
    plain = [_plain(value) for value in (*row, *judge, criteria)]
    return hashlib.sha256(f"{previous}\n{json.dumps(plain)}".encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return value


def standing_numbers(rows: Iterable[tuple[Any, ...]]) -> list[int]:
    """The numbers of one judge's events on a pair that were not taken back; `rows` are (seq, action, knew) in order."""
    left: dict[int, None] = {}
    for seq, action, knew in rows:
        if action != "withdraw":
            left[seq] = None
        elif knew is None:
            left.clear()
        else:
            left.pop(knew, None)
    return list(left)
