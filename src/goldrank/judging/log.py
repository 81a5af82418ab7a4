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
_COLUMN_NAMES = (*_COLUMNS.split(", "), "chain")

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
        """Add an entry of a page or a model, and return it as it is kept. One with a known key is not added again."""
        entry_to_add = checked(entry)
        if not entry_to_add.key:
            entry_to_add = replace(entry_to_add, key=secrets.token_hex(16))
        with self._writing():
            return self._add(entry_to_add)

    def _add(self, entry: Entry) -> Entry:
        """Add a checked entry within a transaction, and return it as it is kept."""
        db = self._db
        known_row = db.execute(_ROWS + " WHERE key = ?", (entry.key,)).fetchone()
        if known_row is not None:
            old = self._entry(known_row, self._judges(), self._criteria())
            if replace(old, seq=0, at="", knew=None) != replace(entry, seq=0, at="", knew=None):
                message = f"the key '{ids.show(entry.key)}' was used for another judgement (number {old.seq})"
                raise InputError(message, where=self.path, hint="Every judgement needs a new key.", code="used-key")
            return old

        judge = self._judge_number(entry)
        raw = ids.encode(entry.query), ids.encode(entry.doc)
        self._check_known(entry, judge, raw)

        last = db.execute("SELECT seq, chain FROM events ORDER BY seq DESC LIMIT 1").fetchone() or (0, "")
        added = replace(entry, seq=max(last[0], self._sequence()) + 1, at=timestamp())
        row = (
            *(added.seq, added.key, added.at, judge, *raw, added.action, _float(added.grade), added.comment),
            *(self._criteria_number(added.criteria), added.seen, _flag(added.whole), _flag(added.blind)),
            *(_float(added.seconds), added.knew, added.data),
        )
        db.execute(_ADD, (*row, chained(last[1], row, (added.judge, added.kind), added.criteria)))
        return added

    def _check_known(self, event: Entry, judge: int, raw: tuple[bytes, bytes]) -> None:
        """Raise if the judge has a newer event on the pair, or takes back an event that does not stand."""
        where = f"{self.path}: query '{ids.show(event.query)}', document '{ids.show(event.doc)}'"
        pair = "SELECT seq, action, knew FROM events WHERE query = ? AND doc = ? AND judge = ? ORDER BY seq"
        rows = self._db.execute(pair, (*raw, judge)).fetchall()

        if event.action == "withdraw":
            standing = standing_numbers(rows)
            message = ""
            if not standing:
                message = "there is nothing of this judge to take back here"
            elif event.knew is not None and event.knew not in standing:
                message = f"event {event.knew} is not this judge's, or was taken back already"
            if message:
                raise StoreError(message, where=where, code="nothing-to-withdraw")
            return

        last = 0
        if rows:
            last = rows[-1][0]
        if event.knew is not None and event.knew != last:
            message = f"{event.judge} has judged this since: event {last}, not {event.knew}, is last"
            hint = "Look at it again, and choose which one counts."
            raise StoreError(message, where=where, hint=hint, code=CONFLICT)

    def undo(self, judge: str) -> Event | None:
        """Take back the last event of a judge that was not taken back.

        Parameters
        ----------
        judge : str
            The judge's name.

        Returns
        -------
        Event or None
            The event that was taken back; None if there was nothing.
        """
        with self._writing():
            withdrawn = self._take_back(self._standing_of(judge)[-1:])
        if withdrawn:
            return withdrawn[0]
        return None

    def withdraw(self, judge: str, *, since: int = 0) -> list[Event]:
        """Take back all events of a judge that were not taken back, in one transaction.

        Parameters
        ----------
        judge : str
            The judge's name.
        since : int
            Only events after the one with this number.

        Returns
        -------
        list of Event
            The events that were taken back.
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
        return sorted(seq for events in by_pair.values() for seq in standing_numbers(events))

    def _take_back(self, numbers: list[int]) -> list[Event]:
        judges, criteria = self._judges(), self._criteria()
        withdrawn = []
        for number in numbers:
            row = self._db.execute(_ROWS + " WHERE seq = ?", (number,)).fetchone()
            old = self._entry(row, judges, criteria)
            key = secrets.token_hex(16)
            self._add(Entry(old.judge, old.query, old.doc, "withdraw", kind=old.kind, knew=number, key=key))
            withdrawn.append(old.event)
        return withdrawn

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
        """The judgement that stands, by pair of query and document, and by judge.

        A later grade replaces an earlier one, and so does "cannot tell"; a skip leaves a grade as it is.
        """
        by_pair: dict[tuple[str, str], dict[str, list[Entry]]] = {}
        for event in self.entries(as_of=as_of):
            by_pair.setdefault(event.pair, {}).setdefault(event.judge, []).append(event)

        latest: dict[tuple[str, str], dict[str, StandingJudgement]] = {}
        for pair, by_judge in by_pair.items():
            latest[pair] = {judge: StandingJudgement.of(events) for judge, events in by_judge.items()}
        return latest

    def qrels(
        self,
        *,
        by: By = "person",
        merge: Merge = "median",
        adjudicator: str | None = None,
        as_of: int | None = None,
        onto: QrelsLike | None = None,
    ) -> Qrels:
        """The judgements that stand in the log, one grade for each pair.

        Parameters
        ----------
        by : {"person", "model", "any"}
            Whose grades count; "any" takes models' where people gave none. They are never merged with each other.
        merge : {"median", "majority", "max", "min", "error"}
            One grade out of those of several judges; "median" is the lower one, which a judge gave.
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
            If a choice is not one of those, or no judge has the adjudicator's name.
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
        """The kind of each judge by name: a person, now or when a file was made, or a model."""
        with self._reading():
            kinds = dict(self._judges().values())

        judges: dict[str, Literal["person", "model"]] = dict.fromkeys(kinds, "person")
        for name, kind in kinds.items():
            if kind == "model":
                judges[name] = "model"
        return judges

    def check(self) -> int:
        """Read everything and compare it with its chain; return the number of events."""
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
            message = f"the judge '{ids.show(event.judge)}' is a {row[1]} here, not a {event.kind}"
            raise OptionError(message, hint="Give the judge another name.")
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
        values = dict(zip(_COLUMN_NAMES, row, strict=True))
        try:
            judge, kind = judges[values["judge"]]
            words = ""
            if values["criteria"] is not None:
                words = criteria[values["criteria"]]
        except KeyError:
            message = f"event {values['seq']} has an unknown judge or unknown criteria"
            raise self._damaged(message) from None

        try:
            entry = Entry(
                judge=judge,
                query=_decoded(values["query"]),
                doc=_decoded(values["doc"]),
                action=values["action"],
                grade=_number(values["grade"]),
                comment=values["comment"],
                kind=kind,
                key=values["key"],
                criteria=words,
                seen=values["seen"],
                whole=_bool(values["whole"]),
                blind=_bool(values["blind"]),
                seconds=values["seconds"],
                knew=values["knew"],
                data=values["data"],
                seq=values["seq"],
                at=of_type(values["at"], str, "at", "text"),
            )
            return checked(entry)
        except GoldrankError as error:  # the chain also fits a row that another program wrote
            raise self._damaged(f"event {values['seq']} cannot be read: {error.what}") from None


def _decoded(raw: object) -> str:
    return ids.decode(of_type(raw, bytes, "an id", "bytes"))  # type: ignore[arg-type]


def _name(judge: object) -> str:
    if isinstance(judge, str):
        return judge
    raise OptionError(f"the judge is {judge!r:.80}; it must be a name")


def timestamp() -> str:
    """The time now, as logs have it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def _float(value: float | None) -> float | None:
    if value is None:
        return None
    return float(value)


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
