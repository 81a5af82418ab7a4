"""What was asked and what was answered, in the log of judgements: nothing that was paid for is asked for again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from goldrank.base import ids
from goldrank.base.errors import of_type
from goldrank.judging.item import Answer, Call, Description, Judge, Reply
from goldrank.judging.log import JudgementLog, timestamp
from goldrank.judging.log_events import Entry, checked

VERSION = 1
"""Of the keys: raised when what goes into them changes."""


def key_of(description: Description, messages: list[dict[str, str]], call: Call) -> str:
    """The key of a call: SHA-256 of everything that its answer depends on."""
    said = {
        "version": VERSION,
        "kind": description.kind,
        "parameters": description.parameters,
        "messages": messages,
        "repeat": call.repeat,
        "again": call.again,
    }
    return hashlib.sha256(canonical(said).encode()).hexdigest()


def canonical(value: object) -> str:
    """JSON with one spelling for each value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(
        "utf-8", "backslashreplace"
    ).decode()  # fmt: skip


class Paid:
    """The calls of one judge in a log."""

    def __init__(self, log: JudgementLog, judge: Judge) -> None:
        self.log = log
        self.judge = judge
        self.description = judge.description()
        self._parameters = canonical({"kind": self.description.kind, **self.description.parameters})

    def answers(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Of these keys, the answers that there are: readable ones, else those that could not be read."""
        with self.log._reading():
            rows = self.log._db.execute(
                "SELECT asked.key, answered.status, answered.parsed FROM json_each(?) AS wanted "
                "JOIN asked ON asked.key = wanted.value JOIN answered ON answered.asked = asked.id "
                "WHERE answered.status IN ('ok', 'unreadable') ORDER BY answered.status = 'ok', answered.asked",
                (json.dumps(keys),),
            ).fetchall()
        try:
            return {key: Reply("", _answer(parsed), status) for key, status, parsed in rows}
        except (ValueError, RecursionError) as error:  # an InputError is a ValueError
            raise self.log._damaged(f"an answer cannot be read: {ids.show(str(error), 200)}") from None

    def unanswered(self) -> int:
        """How many calls of earlier jobs were sent and never answered: they may have been paid."""
        with self.log._reading():
            row = self.log._db.execute(
                "SELECT count(*) FROM asked LEFT JOIN answered ON answered.asked = asked.id "
                "WHERE answered.asked IS NULL AND asked.parameters = ?",
                (self._parameters,),
            ).fetchone()
        return int(row[0])

    def ask(self, key: str, call: Call, messages: list[dict[str, str]]) -> int:
        """Write down that something is asked, before it is sent; its number."""
        item = canonical({"query": call.item.query, "doc": call.item.doc, "repeat": call.repeat, "again": call.again})
        digest = hashlib.sha256(canonical(messages).encode()).hexdigest()
        with self.log._writing():
            row = self.log._db.execute(
                "INSERT INTO asked (key, at, item, messages, parameters) VALUES (?, ?, ?, ?, ?)",
                (key, timestamp(), item, digest, self._parameters),
            )
            assert row.lastrowid is not None
            return row.lastrowid

    def answer(
        self,
        number: int,
        key: str,
        reply: Reply,
        milliseconds: float,
        cost: float,
        estimated: bool,
        settle: Callable[[Reply], Iterable[Entry]] = lambda reply: (),
    ) -> Reply:
        """Write down an answer, and the judgements that `settle` makes of it, in one transaction; what counts.

        Where another job has an answer to the same call by now, that one counts, and this one is kept as "late".
        """
        parsed = None
        if reply.status in ("ok", "unreadable"):
            said = reply.answer
            if said.fields:
                written = {"fields": said.fields}
            else:
                written = {}
            parsed = canonical(
                {"grade": said.grade, "reason": said.reason, "label": said.label, "problem": said.problem, **written}
            )
        body = reply.body.encode("utf-8", "backslashreplace").decode()
        tokens = reply.tokens_in, reply.tokens_out, reply.tokens_cached
        with self.log._writing():
            if parsed is None:
                first = None
            else:
                first = self.readable(key)
            if first is None:
                status = reply.status
            else:
                status = "late"
            self.log._db.execute(
                "INSERT INTO answered (asked, at, status, body, parsed, tokens_in, tokens_out, tokens_cached, "
                "estimated, milliseconds, cost) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (number, timestamp(), status, body, parsed, *tokens, int(estimated), milliseconds, cost),
            )
            if first is None:
                counts = reply
            else:
                counts = replace(reply, answer=first, status="ok")
            self._add_new(settle(counts))
        return counts

    def readable(self, key: str) -> Answer | None:
        """The readable answer to a call, if the log has one by now."""
        kept = self.answers([key]).get(key)
        if kept is not None and kept.status == "ok":
            return kept.answer
        return None

    def add_all(self, events: Iterable[Entry]) -> None:
        """Judgements whose answers are kept already, for example because another document has the same text."""
        events = list(events)
        if events:
            with self.log._writing():
                self._add_new(events)

    def _add_new(self, events: Iterable[Entry]) -> None:
        """Within a transaction, judgements that the log does not have; those that it has stand."""
        for event in events:
            if not self.log._db.execute("SELECT 1 FROM events WHERE key = ?", (event.key,)).fetchone():
                self.log._add(checked(event))


def _answer(parsed: object) -> Answer:
    said = of_type(json.loads(of_type(parsed or "{}", (str, bytes), "it", "text")), dict, "it", "an object")  # type: ignore[arg-type]
    reason, label, problem = (of_type(said.get(name, ""), str, name, "text") for name in ("reason", "label", "problem"))
    grade = of_type(said.get("grade"), (int, float, type(None)), "grade", "a number")
    return Answer(grade, reason, label, problem, of_type(said.get("fields", {}), dict, "fields", "an object"))
