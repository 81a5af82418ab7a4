"""`Job`: ask one judge about many items, some at a time; no paid answer is lost, and nothing is asked twice."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from goldrank.base.errors import JudgeError, OptionError
from goldrank.base.notes import Note
from goldrank.data.qrels import Grade
from goldrank.judging.item import Answer, AskAgainLater, Call, ItemFailed, JobStopped, Judge, JudgeItem, Reply
from goldrank.judging.kept import Paid, key_of
from goldrank.judging.log import JudgementLog
from goldrank.judging.log_events import MOST_COMMENT, Entry, checked
from goldrank.judging.money import BYTES_A_TOKEN, Budget, bytes_of, estimated_tokens
from goldrank.judging.pool_and_calls import Calls

LONGEST_WAIT = 60.0
FIRST_WAIT = 0.5
TELL_AFTER = 5.0
"""Seconds after which the progress is told again, even if there is none."""
GROW_AFTER = 20
"""Successes until one more call is made at a time, after the endpoint refused some."""
_LONG_PROMPT = 3_000
_RANDOM = secrets.SystemRandom()


@dataclass
class JobOutcome:
    """The result of a job. Grades are by (query, document)."""

    grades: dict[tuple[str, str], Grade] = field(default_factory=dict)
    repeated: dict[tuple[str, str], list[Grade]] = field(default_factory=dict)
    """All grades of each pair, where it was asked several times."""
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict, repr=False)
    """The answers that `grades` are from."""
    total: int = 0
    """Items to judge, each repetition counted."""
    from_log: int = 0
    """Items that the log answered."""
    done: int = 0
    """Items that need no further call."""
    calls: int = 0
    unreadable: dict[tuple[str, str], str] = field(default_factory=dict)
    failed: dict[tuple[str, str], str] = field(default_factory=dict)
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    perhaps_paid: int = 0
    estimated: int = 0
    perhaps_cut: int = 0
    stopped: str = ""
    not_asked: int = 0

    def add(self, job: JobOutcome) -> None:
        """Count another job that shares its budget; its grades and answers are not added."""
        self.total += job.total
        self.from_log += job.from_log
        self.done += job.done
        self.tokens_in += job.tokens_in
        self.tokens_out += job.tokens_out
        self.seconds += job.seconds
        self.estimated += job.estimated
        self.perhaps_cut += job.perhaps_cut
        self.not_asked += job.not_asked
        self.failed |= job.failed
        self.unreadable |= job.unreadable
        self.calls, self.cost, self.stopped = job.calls, job.cost, job.stopped
        self.perhaps_paid = max(self.perhaps_paid, job.perhaps_paid)

    def why_not(self, pair: tuple[str, str]) -> str:
        """Why a pair has no grade."""
        return self.failed.get(pair) or self.unreadable.get(pair) or self.stopped

    @property
    def notes(self) -> list[Note]:
        """Notes about what failed, what is uncertain, and why the job stopped."""
        notes: list[Note] = []
        if self.stopped:
            notes.append(Note.of("judging-stopped", why=self.stopped, count=self.not_asked))

        if self.failed:
            why = next(iter(self.failed.values()))[:200]
            notes.append(Note.of("calls-failed", count=len(self.failed), why=why, samples=_pairs(self.failed)))

        if self.unreadable:
            notes.append(Note.of("answers-unreadable", count=len(self.unreadable), samples=_pairs(self.unreadable)))

        counts = {
            "perhaps-paid": self.perhaps_paid,
            "estimated-tokens": self.estimated,
            "perhaps-cut": self.perhaps_cut,
        }
        return notes + [Note.of(code, count=count) for code, count in counts.items() if count]


def _pairs(pairs: Iterable[tuple[str, str]]) -> Iterable[str]:
    return (f"{query} {doc}" for query, doc in pairs)


class Job:
    """Items, a judge, and limits. `run` asks; `to_ask` and `estimate` say what it would do."""

    def __init__(
        self,
        judge: Judge,
        items: Sequence[JudgeItem],
        log: JudgementLog,
        calls: Calls,
        *,
        budget: Budget | None = None,
        repeats: int = 1,
        keep_judgements: bool = True,
        first_wait: float = FIRST_WAIT,
    ) -> None:
        """Calls and answers are always kept; with `keep_judgements` grades are kept as judgements of documents too.

        `budget` is shared by several jobs; without it, this job has its own.
        """
        if log.judges().get(judge.name, "model") != "model":
            raise OptionError(f"the judge is called {judge.name!r}, as a person in the log is", hint="Give it a name.")
        if keep_judgements:
            # Items that the log could not keep are an error before anything is paid.
            for item in items:
                checked(Entry(judge.name, item.query, item.doc, grade=0, kind="model", criteria=item.criteria))

        self.judge, self.log, self.calls = judge, log, calls
        self.budget = calls.budget()
        if budget is not None:
            self.budget = budget
        self.paid = Paid(log, judge)
        self.first_wait, self.keep_judgements = first_wait, keep_judgements
        self.outcome = JobOutcome(total=len(items) * repeats, perhaps_paid=self.paid.unanswered())
        self._waiting: dict[str, list[Call]] = {}
        """By the key of the first call, all calls that wait for its answer."""
        self._work: deque[tuple[str, Call]] = deque()
        self._allowed, self._active, self._successes = calls.concurrency, 0, 0
        self._not_before, self._next_slot = 0.0, 0.0
        self._take_from_log(items, repeats)

    def _take_from_log(self, items: Sequence[JudgeItem], repeats: int) -> None:
        calls = [Call(item, repeat) for repeat in range(repeats) for item in items]
        keys = [self._key(call) for call in calls]
        stored_replies = self.paid.answers(list(dict.fromkeys(keys)))
        second_keys = {
            key: self._key(replace(call, again=1))
            for key, call in zip(keys, calls, strict=True)
            if key in stored_replies and stored_replies[key].status == "unreadable"
        }
        second_replies = self.paid.answers(list(second_keys.values()))

        events: list[Entry] = []
        for key, call in zip(keys, calls, strict=True):
            if key in self._waiting:
                self._waiting[key].append(call)
                continue
            stored = stored_replies.get(key)
            if key in second_keys:
                stored = second_replies.get(second_keys[key])
                call = replace(call, again=1)
            if stored is None:
                self._waiting[key] = [call]
                self._work.append((key, call))
                continue

            self.outcome.from_log += 1
            event = self._settled(key, call, stored.answer)
            if event is not None:
                events.append(event)

        if not self.log.read_only:
            self.paid.add_all(events)

    @property
    def to_ask(self) -> int:
        """Calls to be made, if each is answered at once."""
        return len(self._work)

    def estimate(self) -> tuple[int, float]:
        """Tokens of the prompts that would be sent, and the most that all calls would cost."""
        tokens = [estimated_tokens(self.judge.messages(call)) for _, call in self._work]
        prices = self.budget.prices
        cost = 0.0
        if prices:
            cost = sum(prices.cost(count, self.judge.max_tokens) for count in tokens)
        return sum(tokens), cost

    async def run(self) -> JobOutcome:
        """Ask everything that the log does not answer."""
        began = time.monotonic()
        self._turn = asyncio.Condition()
        self._error: JobStopped | None = None

        workers = [asyncio.ensure_future(self._worker()) for _ in range(min(self.calls.concurrency, len(self._work)))]
        teller = asyncio.ensure_future(self._tell_while_waiting())
        try:
            await asyncio.gather(*workers)
        finally:
            for task in (*workers, teller):
                task.cancel()
            await asyncio.gather(*workers, teller, return_exceptions=True)
            await self.judge.close()
            self.outcome.seconds = time.monotonic() - began
            self.outcome.calls = self.budget.calls
            self.outcome.not_asked = sum(len(self._waiting.get(key, ())) for key, _ in self._work)

        if self._error is not None:
            error = JudgeError(f"{self.judge.name}: {self._error.what}", hint=self._error.hint, code="job-stopped")
            error.judged = self.outcome
            raise error

        return self.outcome

    def _key(self, call: Call) -> str:
        """The key of a call. The marker, which differs from call to call, is not part of it."""
        return key_of(self.paid.description, self.judge.messages(replace(call, marker="")), call)

    async def _worker(self) -> None:
        while self._work and not self.outcome.stopped:
            first_key, call = self._work.popleft()
            await self._judged(first_key, call)

    async def _judged(self, first_key: str, call: Call) -> None:
        """Ask until there is an answer, or there can be none."""
        key = self._key(call)
        status = body = ""
        for attempt in range(self.calls.attempts):
            if not await self._enter():
                self._work.appendleft((first_key, call))
                return

            try:
                reply = await self._ask(key, first_key, call)
            except AskAgainLater as error:
                status, body = error.status, error.body
                pause = _RANDOM.uniform(0, min(LONGEST_WAIT, self.first_wait * 2**attempt))
                if error.after is not None:
                    pause = error.after + _RANDOM.uniform(0, min(1.0, 2 * self.first_wait))
                if error.limited:
                    self._slow_down(pause)
            except ItemFailed as error:
                status, body = error.status, error.body
                break
            except JobStopped as error:
                self._error = self._error or error
                self.outcome.stopped = self.outcome.stopped or error.what
                self._work.appendleft((first_key, call))
                return
            except _OutOfBudget:
                self.outcome.stopped = self.outcome.stopped or self.budget.exhausted
                self._work.appendleft((first_key, call))
                return
            else:
                if reply.status == "unreadable" and not call.again:
                    self._work.appendleft((first_key, replace(call, again=1)))
                self._tell()
                return
            finally:
                await self._leave()

            await asyncio.sleep(pause)

        for waiting in self._waiting.pop(first_key, [call]):
            self.outcome.done += 1
            self.outcome.failed[waiting.item.query, waiting.item.doc] = f"{status}: {body[:300]}"

        self._tell()

    async def _ask(self, key: str, first_key: str, call: Call) -> Reply:
        """One call: reserve its cost, record the call, ask, record the answer.

        Nothing is asked that another job on this log has an answer to by now.
        """
        known = self.paid.readable(key)
        if known is not None:
            self.outcome.from_log += len(self._waiting.get(first_key, (call,)))
            self.paid.add_all(self._settled_all(first_key, call, known))
            return Reply("", known)

        marked = replace(call, marker=secrets.token_hex(6))
        messages = self.judge.messages(marked)
        tokens = estimated_tokens(messages)
        reserved = await self._reserved(tokens)
        number = self.paid.ask(key, call, messages)

        began = time.monotonic()
        cost = 0.0
        try:
            reply = await self.judge.ask(marked)
        except (AskAgainLater, ItemFailed, JobStopped) as error:
            status = "stopped"
            if not isinstance(error, JobStopped):
                status = error.status
            paid = isinstance(error, AskAgainLater) and error.paid
            if paid:
                cost = reserved
            self.outcome.perhaps_paid += paid
            failed = Reply(error.body, Answer(None, problem=status), f"failed: {status}"[:200])
            self.paid.answer(number, key, failed, _ms(began), cost, paid)
            raise
        else:
            bill = self._bill(reply, tokens)
            cost = bill.cost

            def settle(counting: Reply) -> list[Entry]:
                if counting.status == "ok" or call.again:
                    return self._settled_all(first_key, call, counting.answer)
                return []

            reply = self.paid.answer(number, key, reply, _ms(began), cost, bill.is_estimate, settle)
            self.outcome.tokens_in += bill.tokens_in
            self.outcome.tokens_out += bill.tokens_out
            self.outcome.estimated += bill.is_estimate

            size = bytes_of(messages)
            if reply.tokens_in is not None and size > _LONG_PROMPT and reply.tokens_in < size // (4 * BYTES_A_TOKEN):
                self.outcome.perhaps_cut += 1
            self._succeeded()
            return reply
        finally:
            self.budget.settle(reserved, cost)
            self.outcome.cost = self.budget.spent

    def _bill(self, reply: Reply, tokens: int) -> _Bill:
        """Cost and tokens of an answer, estimated where the endpoint gives none; 0 where tokens are not paid."""
        if not self.judge.max_tokens:
            return _Bill(0.0, 0, 0, is_estimate=False)

        used_in, used_out = reply.tokens_in, reply.tokens_out
        is_estimate = used_in is None or used_out is None
        if used_in is None:
            used_in = tokens
        if used_out is None:
            used_out = self.judge.max_tokens

        cost = 0.0
        if self.budget.prices:
            cost = self.budget.prices.cost(used_in, used_out, reply.tokens_cached)
        return _Bill(cost, used_in, used_out, is_estimate)

    def _settled_all(self, key: str, call: Call, answer: Answer) -> list[Entry]:
        """Count an answer for all calls that wait for it; return the judgements for the log."""
        events = (self._settled(key, waiting, answer) for waiting in self._waiting.pop(key, [call]))
        return [event for event in events if event is not None]

    def _settled(self, key: str, call: Call, answer: Answer) -> Entry | None:
        """Count an answer for an item; return the judgement for the log, if there is one."""
        item, pair = call.item, (call.item.query, call.item.doc)
        self.outcome.done += 1
        if answer.grade is None:
            self.outcome.unreadable[pair] = answer.problem
            return None

        self.outcome.repeated.setdefault(pair, []).append(answer.grade)
        if call.repeat:
            return None

        self.outcome.grades[pair] = answer.grade
        self.outcome.answers[pair] = answer
        if not self.keep_judgements:
            return None

        pair_hash = hashlib.sha256(json.dumps(pair).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        seen = hashlib.sha256(f"{item.question}\n{item.text}".encode("utf-8", "surrogatepass")).hexdigest()
        return Entry(
            judge=self.judge.name,
            query=item.query,
            doc=item.doc,
            grade=answer.grade,
            comment=answer.reason[:MOST_COMMENT].encode("utf-8", "replace").decode(),
            kind="model",
            key=f"{key}:{pair_hash}",
            criteria=item.criteria,
            seen=seen,
            whole=True,
            blind=True,
        )

    async def _enter(self) -> bool:
        """Wait for a turn: not too many at a time, not before the endpoint allows it, not above the rate."""
        async with self._turn:
            while self._active >= self._allowed and not self.outcome.stopped:
                await self._turn.wait()
            if self.outcome.stopped:
                return False
            self._active += 1

        slot = self._slot()
        while True:
            pause = max(self._not_before, slot) - time.monotonic()
            if pause <= 0:
                return True
            await asyncio.sleep(pause)

    def _slot(self) -> float:
        if self.calls.rate is None:
            return 0.0
        slot = max(time.monotonic(), self._next_slot)
        self._next_slot = slot + 60.0 / self.calls.rate
        return slot

    async def _leave(self) -> None:
        async with self._turn:
            self._active -= 1
            self._turn.notify_all()

    async def _reserved(self, tokens: int) -> float:
        """The amount that was reserved for a call; waits while calls on their way may cost less than reserved."""
        async with self._turn:
            while True:
                amount = self.budget.reserve(tokens, self.judge.max_tokens)
                if amount is not None:
                    return amount
                if not self.budget.on_their_way or self.outcome.stopped:
                    raise _OutOfBudget
                await self._turn.wait()

    def _slow_down(self, pause: float) -> None:
        self._not_before = max(self._not_before, time.monotonic() + pause)
        self._allowed, self._successes = max(1, self._allowed // 2), 0

    def _succeeded(self) -> None:
        self._successes += 1
        if self._successes % GROW_AFTER == 0:
            self._allowed = min(self.calls.concurrency, self._allowed + 1)

    async def _tell_while_waiting(self) -> None:
        """Tell the progress also while nothing is answered: an endpoint may hang."""
        while True:
            await asyncio.sleep(TELL_AFTER)
            self._tell()

    def _tell(self) -> None:
        if self.calls.progress is not None:
            self.calls.progress(self.outcome.done, self.outcome.total)


class _Bill(NamedTuple):
    """The cost and the tokens of one call."""

    cost: float
    tokens_in: int
    tokens_out: int
    is_estimate: bool


class _OutOfBudget(Exception):  # noqa: N818 - not an error, but the end of the job
    pass


def _ms(began: float) -> float:
    return (time.monotonic() - began) * 1000
