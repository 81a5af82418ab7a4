"""Ask engines every query: several at a time, or two engines in turns; again after a failure, at a limited rate."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from goldrank.base.errors import RetrievalError
from goldrank.retrieval.engine_file import EngineLimits, SearchEngine
from goldrank.retrieval.failures import FAILURES, AskFailed
from goldrank.retrieval.http_engine import EngineReply, HttpEngine
from goldrank.retrieval.journal import Journal
from goldrank.retrieval.program_engines import CommandEngine, FunctionEngine
from goldrank.retrieval.secret_values import Secrets
from goldrank.retrieval.templates import EngineQuery

FIRST_PAUSE = 0.5
"""Seconds before the second attempt, doubled before each further one, a fifth more or less."""
LONGEST_PAUSE = 60.0
ALIKE = 5
"""If the first queries, as many as this, all fail for one reason, no more are asked."""

Tell = Callable[[int, int], None]


class Askable(Protocol):
    """An engine that can be asked."""

    secrets: Secrets

    async def ask(self, question: EngineQuery) -> EngineReply:
        """One attempt, which raises `AskFailed`."""
        ...

    async def close(self) -> None:
        """Close connections and end programs."""
        ...


def opened(engine: SearchEngine) -> Askable:
    """The client that asks an engine of this kind."""
    if engine.kind == "command":
        return CommandEngine(engine)
    if engine.kind == "python":
        return FunctionEngine(engine)
    return HttpEngine(engine)


@dataclass
class _Pace:
    """At most `per_second` requests a second; 0 for any number."""

    per_second: float
    _next: float = 0.0

    async def wait(self) -> None:
        if not self.per_second:
            return
        now = time.monotonic()
        begin = max(now, self._next)
        self._next = begin + 1 / self.per_second
        await asyncio.sleep(begin - now)


@dataclass
class EngineJob:
    """One engine, its questions, and the journal of its answers."""

    engine: SearchEngine
    questions: Sequence[EngineQuery]
    journal: Journal
    _client: Askable | None = None
    _pace: _Pace = field(default_factory=lambda: _Pace(0))
    _first_failures: list[AskFailed] = field(default_factory=list)
    _has_answered: bool = False

    @property
    def limits(self) -> EngineLimits:
        """How the engine is asked."""
        return self.engine.limits

    def open(self) -> None:
        """Make the client; an event loop must be running."""
        self._client = opened(self.engine)
        self._pace = _Pace(self.limits.per_second)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    @property
    def pending(self) -> list[EngineQuery]:
        """The questions without an answer yet."""
        answered = self.journal.answered
        return [question for question in self.questions if question.id not in answered]

    async def warm(self, count: int) -> None:
        """Ask some queries without keeping anything."""
        assert self._client is not None
        for question in self.questions[:count]:
            await self._pace.wait()
            try:
                await self._client.ask(question)
            except AskFailed:
                return

    async def ask(self, question: EngineQuery) -> None:
        """Ask a query until it is answered or no attempt is left, and record the outcome."""
        assert self._client is not None
        attempt = 0
        while True:
            attempt += 1
            await self._pace.wait()
            try:
                reply = await self._client.ask(question)
            except AskFailed as failure:
                if failure.can_retry and attempt <= self.limits.retries:
                    await _pause(_seconds_before(attempt, failure))
                    continue
                self._failed(question, failure, attempt)
                return

            self._has_answered = True
            self.journal.add(_answer_record(question, reply, attempt))
            return

    def _failed(self, question: EngineQuery, failure: AskFailed, attempts: int) -> None:
        assert self._client is not None
        text = self._client.secrets.clean(failure.text)
        error = {"code": failure.code, "what": text}
        self.journal.add({"id": question.id, "question": question.text, "error": error, "attempts": attempts})
        if self._has_answered:
            return

        self._first_failures.append(failure)
        codes = {first.code for first in self._first_failures}
        if len(self._first_failures) >= ALIKE and len(codes) == 1:
            message = f"{self.engine.name}: the first {ALIKE} queries failed alike: {FAILURES[failure.code]} ({text})"
            hint = "Nothing more was asked. Try the engine file on one query."
            raise RetrievalError(message, hint=hint, code=failure.code)


def _seconds_before(attempt: int, failure: AskFailed) -> float:
    """How long to wait before the next attempt."""
    if failure.retry_after is not None:
        return failure.retry_after
    pause: float = min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE)
    return pause * random.uniform(0.8, 1.2)  # noqa: S311 - so that not all come back at once


async def _pause(seconds: float) -> None:
    """Wait before the next attempt."""
    await asyncio.sleep(seconds)


def _answer_record(question: EngineQuery, reply: EngineReply, attempts: int) -> dict[str, Any]:
    answer = reply.answer
    retrieved: list[dict[str, Any]] = []
    for document in answer.documents:
        entry: dict[str, Any] = {"id": document.id, "score": document.score}
        if document.text is not None:
            entry["text"] = document.text
        retrieved.append(entry)

    record: dict[str, Any] = {"id": question.id, "question": question.text, "retrieved": retrieved}
    record |= {"latency_ms": round(reply.latency_ms, 4), "attempts": attempts}
    if reply.connect_ms is not None:
        record["connect_ms"] = round(reply.connect_ms, 4)

    if answer.took_ms is not None:
        record["took_ms"] = answer.took_ms

    if answer.is_partial:
        record["partial"] = True

    if not answer.has_scores:
        record["scores"] = "ranks"

    return record


async def ask_all(jobs: Sequence[EngineJob], tell: Tell) -> None:
    """Ask every engine every query that it did not answer yet."""
    total = sum(len(job.questions) for job in jobs)
    done = total - sum(len(job.pending) for job in jobs)

    def one_more() -> None:
        nonlocal done
        done += 1
        tell(done, total)

    try:
        for job in jobs:
            job.open()
        if len(jobs) == 1:
            await _several_at_a_time(jobs[0], one_more)
        else:
            await _in_turns(jobs, one_more)
    finally:
        for job in jobs:
            await job.close()


async def _several_at_a_time(job: EngineJob, one_more: Callable[[], None]) -> None:
    pending = job.pending
    if pending:
        await job.warm(max(job.limits.warmup, _START_OF_PROGRAM.get(job.engine.kind, 0)))
    left = iter(pending)

    async def work() -> None:
        for question in left:
            await job.ask(question)
            one_more()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(job.limits.concurrency, len(pending))):
                group.create_task(work())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None


_START_OF_PROGRAM = {"command": 1}
"""Queries that are asked first and not counted, so that the start of a program is in no latency."""
WARMUP_IN_TURNS = 5
"""Queries that warm up each engine where engines are compared, unless its file has a higher number."""


async def _in_turns(jobs: Sequence[EngineJob], one_more: Callable[[], None]) -> None:
    """One query at a time, to every engine; the first engine changes from query to query: AB, BA, AB."""
    for job in jobs:
        if job.pending:
            await job.warm(max(job.limits.warmup, min(WARMUP_IN_TURNS, len(job.questions))))

    answered = [job.journal.answered for job in jobs]
    for number in range(len(jobs[0].questions)):
        for engine_index in _turn(len(jobs), number):
            question = jobs[engine_index].questions[number]
            if question.id in answered[engine_index]:
                continue
            await jobs[engine_index].ask(question)
            one_more()


def _turn(engines: int, number: int) -> Iterator[int]:
    """In which order engines are asked a query."""
    order = range(engines)
    if number % 2 == 0:
        return iter(order)
    return reversed(order)
