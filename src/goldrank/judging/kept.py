"""Calls and their answers in the log of judgements: nothing that was paid for is asked again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import of_type
from goldrank.judging.item import Answer, Call, Description, Judge, Reply
from goldrank.judging.log import JudgementLog, timestamp
from goldrank.judging.log_events import Entry, checked

VERSION = 1
"""The version of the keys; it is raised when their content changes."""


def key_of(description: Description, messages: list[dict[str, str]], call: Call) -> str:
    """The key of a call: SHA-256 of everything that its answer depends on."""
    parts = {
        "version": VERSION,
        "kind": description.kind,
        "parameters": description.parameters,
        "messages": messages,
        "repeat": call.repeat,
        "again": call.again,
    }
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


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
        """The answers that the log has for these keys: readable ones, else unreadable ones."""
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
        """The number of calls of earlier jobs that were sent and never answered: they may have been paid."""
        with self.log._reading():
            row = self.log._db.execute(
                "SELECT count(*) FROM asked LEFT JOIN answered ON answered.asked = asked.id "
                "WHERE answered.asked IS NULL AND asked.parameters = ?",
                (self._parameters,),
            ).fetchone()
        return int(row[0])

    def ask(self, key: str, call: Call, messages: list[dict[str, str]]) -> int:
        """Record a call before it is sent; return its number."""
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
        """Record an answer, and the judgements that `settle` makes of it, in one transaction; return what counts.

        Where another job has an answer to this call by now, that one counts, and this one is kept as "late".
        """
        parsed = None
        if reply.status in ("ok", "unreadable"):
            parsed = canonical(_parsed(reply.answer))
        body = reply.body.encode("utf-8", "backslashreplace").decode()
        tokens = reply.tokens_in, reply.tokens_out, reply.tokens_cached

        with self.log._writing():
            earlier = None
            if parsed is not None:
                earlier = self.readable(key)
            status, counting = reply.status, reply
            if earlier is not None:
                status, counting = "late", replace(reply, answer=earlier, status="ok")

            self.log._db.execute(
                "INSERT INTO answered (asked, at, status, body, parsed, tokens_in, tokens_out, tokens_cached, "
                "estimated, milliseconds, cost) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (number, timestamp(), status, body, parsed, *tokens, int(estimated), milliseconds, cost),
            )
            self._add_new(settle(counting))
        return counting

    def readable(self, key: str) -> Answer | None:
        """The readable answer to a call, if the log has one by now."""
        reply = self.answers([key]).get(key)
        if reply is not None and reply.status == "ok":
            return reply.answer
        return None

    def add_all(self, events: Iterable[Entry]) -> None:
        """Add judgements whose answers are in the log already, for example because another document has this text."""
        events = list(events)
        if events:
            with self.log._writing():
                self._add_new(events)

    def _add_new(self, events: Iterable[Entry]) -> None:
        """Add judgements that the log does not have, within a transaction; the others stay as they are."""
        for event in events:
            if not self.log._db.execute("SELECT 1 FROM events WHERE key = ?", (event.key,)).fetchone():
                self.log._add(checked(event))


def _parsed(answer: Answer) -> dict[str, Any]:
    """An answer as it is kept; `_answer` reads it."""
    parsed: dict[str, Any] = {
        "grade": answer.grade,
        "reason": answer.reason,
        "label": answer.label,
        "problem": answer.problem,
    }
    if answer.fields:
        parsed["fields"] = answer.fields
    return parsed


def _answer(text: object) -> Answer:
    raw: str = of_type(text or "{}", (str, bytes), "it", "text")  # type: ignore[assignment]
    parsed = of_type(json.loads(raw), dict, "it", "an object")
    return Answer(
        grade=of_type(parsed.get("grade"), (int, float, type(None)), "grade", "a number"),
        reason=of_type(parsed.get("reason", ""), str, "reason", "text"),
        label=of_type(parsed.get("label", ""), str, "label", "text"),
        problem=of_type(parsed.get("problem", ""), str, "problem", "text"),
        fields=of_type(parsed.get("fields", {}), dict, "fields", "an object"),
    )
