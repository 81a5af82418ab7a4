"""`JudgementLog`: who judged what and when, in one file that only ever grows.

An event is one transaction, synced before `add` returns: a process that is killed loses nothing that was acknowledged.
People (`goldrank serve`) and models (`goldrank judge`) share the file.
"""

from __future__ import annotations

import datetime
import hashlib
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from goldrank.base import ids
from goldrank.base.errors import GoldrankError, InputError, OptionError, StoreError, of_type, whole_number
from goldrank.base.types import QrelsLike
from goldrank.data.qrels import Grade, Qrels
from goldrank.judging.log_events import Entry, Event, chained, checked, standing_numbers
from goldrank.judging.log_file import JudgementFile
from goldrank.judging.log_merge import By, Merge, StandingJudgement, exported

_COLUMNS = "seq, key, at, judge, query, doc, action, grade, comment, criteria, seen, whole, blind, seconds, knew, data"
_ROWS = f"SELECT {_COLUMNS}, chain FROM events"  # noqa: S608 - constants
_ADD = f"INSERT INTO events ({_COLUMNS}, chain) VALUES ({', '.join('?' * 17)})"  # noqa: S608 - constants

CONFLICT = "newer-judgement"
"""The code of the error when a judge has judged the pair since, for example in another tab."""


class JudgementLog(JudgementFile):
    """Judgements by people and models, in one file that only grows.

    It is a context that closes the file, and iterates over its events in the order in which they were added.

    Parameters
    ----------
    path : str or path
        The file.
    mode : {"a", "r"}
        Read it and add to it, and make it if it is not there; or read it alone.

    Raises
    ------
    StoreError
        If the file cannot be opened, is not a log, or is damaged.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "judgements.db")
    >>> with JudgementLog(path) as log:
    ...     event = log.add("ann", "q1", "d1", 2)
    ...     dict(log.qrels()["q1"])
    {'d1': 2}
    """

    def __iter__(self) -> Iterator[Event]:
        return (entry.event for entry in self.entries())

    def __repr__(self) -> str:
        return f"JudgementLog({self.path!r})"

    def add(self, judge: str, query: str, doc: str, grade: Grade, *, reason: str = "") -> Event:
        """Add a person's grade of a document. It is on the disk when this returns.

        A later grade of the same judge replaces an earlier one.

        Parameters
        ----------
        judge : str
            Who judged.
        query, doc : str
            What was judged.
        grade : float
            How relevant the document is to the query.
        reason : str
            Why, in words.

        Returns
        -------
        Event

        Raises
        ------
        InputError
            If an id, the grade or a text cannot be kept.
        OptionError
            If the judge is a model in this log.
        """
        return self.add_entry(Entry(judge, query, doc, grade=grade, comment=reason)).event

    def add_entry(self, entry: Entry) -> Entry:
        """Add what a page or a model has to say of a pair; as it is kept. One with a known key is not added again."""
        given = checked(entry)
        if not given.key:
            given = replace(given, key=secrets.token_hex(16))
        with self._writing():
            return self._add(given)

    def _add(self, entry: Entry) -> Entry:
        """Add a checked entry within a transaction; as it is kept."""
        db = self._db
        there = db.execute(_ROWS + " WHERE key = ?", (entry.key,)).fetchone()
        if there is not None:
            old = self._entry(there, self._judges(), self._criteria())
            if replace(old, seq=0, at="", knew=None) != replace(entry, seq=0, at="", knew=None):
                what = f"the key '{ids.show(entry.key)}' was used for another judgement (number {old.seq})"
                raise InputError(what, where=self.path, hint="Every judgement has a key of its own.", code="used-key")
            return old

        judge = self._judge_number(entry)
        raw = ids.encode(entry.query), ids.encode(entry.doc)
        self._check_known(entry, judge, raw)

        last = db.execute("SELECT seq, chain FROM events ORDER BY seq DESC LIMIT 1").fetchone() or (0, "")
        kept = replace(entry, seq=max(last[0], self._sequence()) + 1, at=timestamp())
        if kept.grade is None:
            grade = None
        else:
            grade = float(kept.grade)
        row = (
            *(kept.seq, kept.key, kept.at, judge, *raw, kept.action, grade, kept.comment),
            *(self._criteria_number(kept.criteria), kept.seen, _flag(kept.whole), _flag(kept.blind)),
            *(None if kept.seconds is None else float(kept.seconds), kept.knew, kept.data),
        )
        db.execute(_ADD, (*row, chained(last[1], row, (kept.judge, kept.kind), kept.criteria)))
        return kept

    def _check_known(self, event: Entry, judge: int, raw: tuple[bytes, bytes]) -> None:
        """Raises if the judge did something with the pair since, or takes back what cannot be."""
        where = f"{self.path}: query '{ids.show(event.query)}', document '{ids.show(event.doc)}'"
        pair = "SELECT seq, action, knew FROM events WHERE query = ? AND doc = ? AND judge = ? ORDER BY seq"

        rows = self._db.execute(pair, (*raw, judge)).fetchall()
        if event.action == "withdraw":
            open_ = standing_numbers(rows)
            if not open_ or (event.knew is not None and event.knew not in open_):
                if not open_:
                    what = "there is nothing of this judge to take back here"
                else:
                    what = f"event {event.knew} is not this judge's, or was taken back already"
                raise StoreError(what, where=where, code="nothing-to-withdraw")
        elif event.knew is not None and event.knew != (rows[-1][0] if rows else 0):
            what = f"{event.judge} has judged this since: event {rows[-1][0] if rows else 0}, not {event.knew}, is last"
            hint = "Look at it again, and choose which one counts."
            raise StoreError(what, where=where, hint=hint, code=CONFLICT)

    def undo(self, judge: str) -> Event | None:
        """Take back the last thing that a judge did and that stands.

        Parameters
        ----------
        judge : str
            Whose.

        Returns
        -------
        Event or None
            What was taken back; None if there was nothing.
        """
        with self._writing():
            taken = self._take_back(self._standing_of(judge)[-1:])
        if taken:
            return taken[0]
        return None

    def withdraw(self, judge: str, *, since: int = 0) -> list[Event]:
        """Take back all that a judge did and that stands, in one transaction.

        Parameters
        ----------
        judge : str
            Whose.
        since : int
            Only what came after the event of this number.

        Returns
        -------
        list of Event
            What was taken back.
        """
        whole_number(since, "since")
        with self._writing():
            return self._take_back([number for number in self._standing_of(judge) if number > since])

    def _standing_of(self, judge: str) -> list[int]:
        """The numbers of a judge's events that were not taken back, in order."""
        number = self._db.execute("SELECT id FROM judges WHERE name = ?", (_name(judge),)).fetchone() or (-1,)
        rows = self._db.execute("SELECT seq, action, knew, query, doc FROM events WHERE judge = ? ORDER BY seq", number)
        by_pair: dict[tuple[bytes, bytes], list[tuple[Any, ...]]] = {}
        for seq, action, knew, query, doc in rows:
            by_pair.setdefault((query, doc), []).append((seq, action, knew))
        return sorted(seq for each in by_pair.values() for seq in standing_numbers(each))

    def _take_back(self, numbers: list[int]) -> list[Event]:
        judges, criteria = self._judges(), self._criteria()
        taken = []
        for number in numbers:
            row = self._db.execute(_ROWS + " WHERE seq = ?", (number,)).fetchone()
            old = self._entry(row, judges, criteria)
            key = secrets.token_hex(16)
            self._add(Entry(old.judge, old.query, old.doc, "withdraw", kind=old.kind, knew=number, key=key))
            taken.append(old.event)
        return taken

    def entries(
        self,
        *,
        judge: str | None = None,
        query: str | None = None,
        doc: str | None = None,
        since: int = 0,
        as_of: int | None = None,
    ) -> Iterator[Entry]:
        """Entries in the order in which they were added: of a judge, a query, a document, after `since`, up to `as_of`.

        Without `since` the chain is checked: a `StoreError` says which row is not the one that was added.
        """
        if as_of is not None:
            whole_number(as_of, "as_of")
        with self._reading():
            judges, criteria = self._judges(), self._criteria()
            rows = self._db.execute(_ROWS + " WHERE seq > ? ORDER BY seq", (whole_number(since, "since"),)).fetchall()
            if not since:
                self._check_chain(rows, judges, criteria)
        for row in rows:
            if as_of is not None and row[0] > as_of:
                return
            event = self._entry(row, judges, criteria)
            if judge in (None, event.judge) and query in (None, event.query) and doc in (None, event.doc):
                yield event

    def latest(self, *, as_of: int | None = None) -> dict[tuple[str, str], dict[str, StandingJudgement]]:
        """By pair of query and document, and by judge: what stands after all that was taken back.

        A later grade replaces an earlier one, and so does "cannot tell"; a skip leaves a grade as it is.
        """
        rows: dict[tuple[str, str], dict[str, list[Entry]]] = {}
        for event in self.entries(as_of=as_of):
            rows.setdefault(event.pair, {}).setdefault(event.judge, []).append(event)
        return {
            pair: {judge: StandingJudgement.of(events) for judge, events in by_judge.items()}
            for pair, by_judge in rows.items()
        }

    def qrels(
        self,
        *,
        by: By = "person",
        merge: Merge = "median",
        adjudicator: str | None = None,
        as_of: int | None = None,
        onto: QrelsLike | None = None,
    ) -> Qrels:
        """Judgements of what stands in the log, one grade for each pair.

        Parameters
        ----------
        by : {"person", "model", "any"}
            Whose grades count; "any" takes models' where people gave none. They are never merged with each other.
        merge : {"median", "majority", "max", "min", "error"}
            One grade out of those of several judges; "median" is the lower one, which somebody gave.
        adjudicator : str, optional
            Where this judge has a grade, it counts.
        as_of : int, optional
            As the log was after the event of this number.
        onto : judgements, optional
            Judgements that the log's are put on top of.

        Returns
        -------
        Qrels

        Raises
        ------
        InputError
            If there is no grade.
        OptionError
            If a choice is not one of those, or nobody has the adjudicator's name.
        StoreError
            If judges differ and `merge` is "error", or the log is damaged.
        """
        standing = self.latest(as_of=as_of)
        return exported(standing, onto, merge=merge, adjudicator=adjudicator, by=by, where=self.path).qrels

    @property
    def last(self) -> int:
        """The number of the last event; 0 if there is none."""
        with self._reading():
            return int(self._db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0])

    def judges(self) -> dict[str, Literal["person", "model"]]:
        """Who each judge is, by name: a person, now or when a file was made, or a model."""
        with self._reading():
            kinds = dict(self._judges().values())
        return {name: "model" if kind == "model" else "person" for name, kind in kinds.items()}

    def check(self) -> int:
        """Read everything and compare it with its chain; how many events there are."""
        with self._reading():
            problems = [row[0] for row in self._db.execute("PRAGMA integrity_check(5)")]
            if problems != ["ok"]:
                raise self._damaged("; ".join(map(str, problems)))
        return sum(1 for _ in self.entries())

    def _check_chain(
        self, rows: list[tuple[Any, ...]], judges: Mapping[int, tuple[str, str]], criteria: Mapping[int, str]
    ) -> None:
        previous, before = "", 0
        for row in rows:
            link = chained(previous, row[:-1], judges.get(row[3], ("", "")), criteria.get(row[9], ""))
            if row[0] != before + 1 or link != row[-1]:
                raise self._damaged(f"event {before + 1} is not the one that was added")
            previous, before = row[-1], row[0]
        if before != self._sequence():
            raise self._damaged(f"{self._sequence():,} events were added and {before:,} can be read")

    def _sequence(self) -> int:
        row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
        if row:
            return int(row[0])
        return 0

    def _judge_number(self, event: Entry) -> int:
        row = self._db.execute("SELECT id, kind FROM judges WHERE name = ?", (event.judge,)).fetchone()
        if row is None:
            added = self._db.execute("INSERT INTO judges (name, kind) VALUES (?, ?)", (event.judge, event.kind))
            assert added.lastrowid is not None
            return added.lastrowid
        if row[1] != event.kind:
            what = f"the judge '{ids.show(event.judge)}' is a {row[1]} here, not a {event.kind}"
            raise OptionError(what, hint="Give the judge another name.")
        return int(row[0])

    def _criteria_number(self, text: str) -> int | None:
        if not text:
            return None
        digest = hashlib.sha256(text.encode()).hexdigest()
        row = self._db.execute("SELECT id FROM criteria WHERE hash = ?", (digest,)).fetchone()
        if row is not None:
            return int(row[0])
        return self._db.execute("INSERT INTO criteria (hash, text) VALUES (?, ?)", (digest, text)).lastrowid

    def _judges(self) -> dict[int, tuple[str, str]]:
        return {number: (name, kind) for number, name, kind in self._db.execute("SELECT id, name, kind FROM judges")}

    def _criteria(self) -> dict[int, str]:
        return dict(self._db.execute("SELECT id, text FROM criteria").fetchall())

    def _entry(self, row: tuple[Any, ...], judges: Mapping[int, tuple[str, str]], criteria: Mapping[int, str]) -> Entry:
        seq, key, at, judge, query, doc, action, grade, comment, rules, seen, whole, blind, seconds, knew, data, _ = row
        try:
            name, kind = judges[judge]
            if rules is not None:
                words = criteria[rules]
            else:
                words = ""
        except KeyError:
            raise self._damaged(f"nobody knows who added event {seq}") from None

        try:
            return checked(
                Entry(
                    judge=name, query=_decoded(query), doc=_decoded(doc), action=action, grade=_number(grade),
                    comment=comment, kind=kind, key=key, criteria=words, seen=seen, whole=_bool(whole),
                    blind=_bool(blind), seconds=seconds, knew=knew, data=data, seq=seq,
                    at=of_type(at, str, "at", "text"),
                )
            )  # fmt: skip
        except GoldrankError as error:  # the chain fits what another program wrote, too
            raise self._damaged(f"event {seq} cannot be read: {error.what}") from None


def _decoded(raw: object) -> str:
    return ids.decode(of_type(raw, bytes, "an id", "bytes"))  # type: ignore[arg-type]


def _name(judge: object) -> str:
    if isinstance(judge, str):
        return judge
    raise OptionError(f"the judge is {judge!r:.80}; it must be a name")


def timestamp() -> str:
    """The time of now, as logs have it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def _flag(value: bool | None) -> int | None:
    if value is None:
        return None
    return int(value)


def _bool(value: int | None) -> bool | None:
    if value is None:
        return None
    return bool(value)


def _number(grade: object) -> int | float | None:
    if grade is None:
        return None
    number: float = of_type(grade, (int, float), "a grade", "a number")  # type: ignore[assignment]
    if float(number).is_integer():
        return int(number)
    return number
