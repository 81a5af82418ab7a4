"""`Job`: many items asked of one judge, some at a time; nothing paid is lost, and nothing is asked twice."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

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
GROW_AFTER = 20
"""Successes until one more call is made at a time, after the other side refused some."""
_LONG_PROMPT = 3_000
_RANDOM = secrets.SystemRandom()


@dataclass
class JobOutcome:
    """What a job has come to. Grades are by (query, document)."""

    grades: dict[tuple[str, str], Grade] = field(default_factory=dict)
    repeated: dict[tuple[str, str], list[Grade]] = field(default_factory=dict)
    """All grades of each pair, where it was asked several times."""
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict, repr=False)
    """The answers that `grades` are from."""
    total: int = 0
    """Items to judge, each repetition counted."""
    from_log: int = 0
    """Of them, answered by the log."""
    done: int = 0
    """Of them, those that need no further call."""
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
        """Count another job that shares its budget; answers are left to whoever asked for them."""
        for name in ("total", "from_log", "done", "tokens_in", "tokens_out", "seconds", "estimated", "perhaps_cut",
                     "not_asked"):  # fmt: skip
            setattr(self, name, getattr(self, name) + getattr(job, name))
        self.failed |= job.failed
        self.unreadable |= job.unreadable
        self.calls, self.cost, self.stopped = job.calls, job.cost, job.stopped
        self.perhaps_paid = max(self.perhaps_paid, job.perhaps_paid)

    def why_not(self, pair: tuple[str, str]) -> str:
        """Why a pair has no grade."""
        return self.failed.get(pair) or self.unreadable.get(pair) or self.stopped

    @property
    def notes(self) -> list[Note]:
        """What there is to know of it."""
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
    """Items, a judge, and what may be done. `run` does it; `plan` says what it would do."""

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
        """Calls and answers are always kept; `keep_judgements` says that grades are judgements of documents too.

        `budget` is the purse of several jobs; without it, this job has its own.
        """
        if log.judges().get(judge.name, "model") != "model":
            raise OptionError(f"the judge is called {judge.name!r}, as a person in the log is", hint="Give it a name.")
        for item in items if keep_judgements else ():
            # What the log could not keep is said before anything is paid.
            checked(Entry(judge.name, item.query, item.doc, grade=0, kind="model", criteria=item.criteria))

        self.judge, self.log, self.calls = judge, log, calls
        if budget is None:
            self.budget = calls.budget()
        else:
            self.budget = budget
        self.paid = Paid(log, judge)
        self.first_wait, self.keep_judgements = first_wait, keep_judgements
        self.outcome = JobOutcome(total=len(items) * repeats, perhaps_paid=self.paid.unanswered())
        self._waiting: dict[str, list[Call]] = {}
        """By the key of the first asking, everything that its answer is for."""
        self._work: deque[tuple[str, Call]] = deque()
        self._allowed, self._active, self._successes = calls.concurrency, 0, 0
        self._not_before, self._next_slot = 0.0, 0.0
        self._take_from_log(items, repeats)

    def _take_from_log(self, items: Sequence[JudgeItem], repeats: int) -> None:
        calls = [Call(item, repeat) for repeat in range(repeats) for item in items]
        keys = [self._key(call) for call in calls]
        kept = self.paid.answers(list(dict.fromkeys(keys)))
        again = {
            key: self._key(replace(call, again=1))
            for key, call in zip(keys, calls, strict=True)
            if key in kept and kept[key].status == "unreadable"
        }
        kept_again = self.paid.answers(list(again.values()))
        events: list[Entry] = []
        for key, call in zip(keys, calls, strict=True):
            if key in self._waiting:
                self._waiting[key].append(call)
                continue
            stored = kept.get(key)
            if key in again:
                stored = kept_again.get(again[key])
                call = replace(call, again=1)
            if stored is None:
                self._waiting[key] = [call]
                self._work.append((key, call))
                continue
            self.outcome.from_log += 1
            event = self._settled(key, call, stored.answer)
            events += [event] if event is not None else []

        if not self.log.read_only:
            self.paid.add_all(events)

    @property
    def to_ask(self) -> int:
        """Calls to be made, if each is answered at once."""
        return len(self._work)

    def estimate(self) -> tuple[int, float]:
        """Tokens of the prompts that would be sent, and what all would cost at most."""
        tokens = [estimated_tokens(self.judge.messages(call)) for _, call in self._work]
        prices = self.budget.prices
        if prices:
            cost = sum(prices.cost(each, self.judge.max_tokens) for each in tokens)
        else:
            cost = 0.0
        return sum(tokens), cost

    async def run(self) -> JobOutcome:
        """Ask everything that the log does not answer."""
        began = time.monotonic()
        self._turn = asyncio.Condition()
        self._error: JobStopped | None = None
        workers = [asyncio.ensure_future(self._worker()) for _ in range(min(self.calls.concurrency, len(self._work)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
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
        """The marker, which differs from call to call, is not part of it."""
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
                reply = await self._asked(key, first_key, call)
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

        for each in self._waiting.pop(first_key, [call]):
            self.outcome.done += 1
            self.outcome.failed[each.item.query, each.item.doc] = f"{status}: {body[:300]}"

        self._tell()

    async def _asked(self, key: str, first_key: str, call: Call) -> Reply:
        """One call: put money aside, write down that it is asked, ask, write down the answer.

        Nothing is asked that another job on this log has an answer to by now.
        """
        if (known := self.paid.readable(key)) is not None:
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
            if not isinstance(error, JobStopped):
                status = error.status
            else:
                status = "stopped"
            paid = isinstance(error, AskAgainLater) and error.paid
            if paid:
                cost = reserved
            else:
                cost = 0.0
            self.outcome.perhaps_paid += paid
            failed = Reply(error.body, Answer(None, problem=status), f"failed: {status}"[:200])
            self.paid.answer(number, key, failed, _ms(began), cost, paid)
            raise
        else:
            cost, used_in, used_out, estimated = self._costs(reply, tokens)

            def settle(counts: Reply) -> list[Entry]:
                ends = counts.status == "ok" or call.again
                if ends:
                    return self._settled_all(first_key, call, counts.answer)
                return []

            reply = self.paid.answer(number, key, reply, _ms(began), cost, estimated, settle)
            self.outcome.tokens_in += used_in
            self.outcome.tokens_out += used_out
            self.outcome.estimated += estimated
            size = bytes_of(messages)
            if reply.tokens_in is not None and size > _LONG_PROMPT and reply.tokens_in < size // (4 * BYTES_A_TOKEN):
                self.outcome.perhaps_cut += 1
            self._succeeded()
            return reply
        finally:
            self.budget.settle(reserved, cost)
            self.outcome.cost = self.budget.spent

    def _costs(self, reply: Reply, tokens: int) -> tuple[float, int, int, bool]:
        """Cost and tokens of an answer, estimated where the other side is silent; 0 where tokens are not paid."""
        if not self.judge.max_tokens:
            return 0.0, 0, 0, False

        estimated = reply.tokens_in is None or reply.tokens_out is None
        if reply.tokens_in is None:
            used_in = tokens
        else:
            used_in = reply.tokens_in

        if reply.tokens_out is None:
            used_out = self.judge.max_tokens
        else:
            used_out = reply.tokens_out

        prices = self.budget.prices
        return prices.cost(used_in, used_out, reply.tokens_cached) if prices else 0.0, used_in, used_out, estimated

    def _settled_all(self, key: str, call: Call, answer: Answer) -> list[Entry]:
        """Count an answer for everything that waits for it; the judgements to be added to the log."""
        events = (self._settled(key, waiting, answer) for waiting in self._waiting.pop(key, [call]))
        return [event for event in events if event is not None]

    def _settled(self, key: str, call: Call, answer: Answer) -> Entry | None:
        """Count an answer for an item; the judgement to be added to the log, if it is one."""
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
            self.judge.name, item.query, item.doc, grade=answer.grade, kind="model", key=f"{key}:{pair_hash}",
            comment=answer.reason[:MOST_COMMENT].encode("utf-8", "replace").decode(), criteria=item.criteria,
            seen=seen, whole=True, blind=True,
        )  # fmt: skip

    # Whose turn it is.

    async def _enter(self) -> bool:
        """Wait for a turn: not too many at a time, not before the other side wants it, not above the rate."""
        async with self._turn:
            while self._active >= self._allowed and not self.outcome.stopped:
                await self._turn.wait()
            if self.outcome.stopped:
                return False
            self._active += 1
        slot = self._slot()
        while (pause := max(self._not_before, slot) - time.monotonic()) > 0:
            await asyncio.sleep(pause)
        return True

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
        """What was put aside for a call; waits while calls that are on their way may turn out cheaper."""
        async with self._turn:
            while (amount := self.budget.reserve(tokens, self.judge.max_tokens)) is None:
                if not self.budget.on_their_way or self.outcome.stopped:
                    raise _OutOfBudget
                await self._turn.wait()
        return amount

    def _slow_down(self, pause: float) -> None:
        self._not_before = max(self._not_before, time.monotonic() + pause)
        self._allowed, self._successes = max(1, self._allowed // 2), 0

    def _succeeded(self) -> None:
        self._successes += 1
        if self._successes % GROW_AFTER == 0:
            self._allowed = min(self.calls.concurrency, self._allowed + 1)

    def _tell(self) -> None:
        if self.calls.progress is not None:
            self.calls.progress(self.outcome.done, self.outcome.total)


class _OutOfBudget(Exception):  # noqa: N818 - no error, but the end of the job
    pass


def _ms(began: float) -> float:
    return (time.monotonic() - began) * 1000
