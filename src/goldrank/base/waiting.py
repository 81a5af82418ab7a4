"""Waiting for asynchronous work in code that is not asynchronous, also where an event loop is running (a notebook)."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

AT_A_TIME = 16
"""Answers that are waited for at the same time, if nothing else is said: services refuse more."""


# `Any`: whatever the work gives.
def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What some work gives, or raises; a `TimeoutError` if it takes longer. It then goes on, and nobody listens."""
    answer: list[Any] = []
    errors: list[BaseException] = []

    def listen() -> None:
        try:
            answer.append(work())
        except BaseException as error:  # whoever waits raises it
            errors.append(error)

    thread = threading.Thread(target=listen, name="goldrank-within", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not answer:
        raise TimeoutError
    return answer[0]


class EventLoop:
    """An event loop in a thread of its own, so that it works where another is running; started when needed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    # `Any`: whatever the work gives.
    def result(self, awaitable: Awaitable[Any], timeout: float | None) -> Any:
        """What the work gives; it is cancelled if waiting for it is interrupted."""
        with self._lock:
            if self._closed:
                if inspect.iscoroutine(awaitable):
                    awaitable.close()
                raise RuntimeError("the event loop was stopped")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_serve, args=(self._loop,), name="goldrank-loop", daemon=True)
                self._thread.start()
            waiting = asyncio.run_coroutine_threadsafe(asyncio.wait_for(awaitable, timeout), self._loop)

        try:
            return waiting.result()
        finally:
            waiting.cancel()

    @property
    def runs_this(self) -> bool:
        """Whether the code that asks is run by this loop."""
        return threading.current_thread() is self._thread

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._loop is None or self._thread is None:
                return
            loop, self._loop = self._loop, None

        async def end() -> None:
            others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await loop.shutdown_asyncgens()

        asyncio.run_coroutine_threadsafe(end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join()
        loop.close()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped. Work that wants to end the program ends a loop; who waits for it is told then."""
    while True:
        try:
            return loop.run_forever()
        except (KeyboardInterrupt, SystemExit):
            continue


_shared: dict[int, EventLoop] = {}
"""The loop that serves everybody, by the number of the process: a forked one has no threads, and makes its own."""


def finished(answer: Any) -> Any:  # `Any`: an answer of any type
    """An answer as it is, or what it gives in the end if it must be awaited.

    All are awaited by one loop, so that clients which belong to a loop can be used again.

    >>> async def later():
    ...     return 5
    >>> finished(later()), finished(5)
    (5, 5)
    """
    if not inspect.isawaitable(answer):
        return answer
    if asyncio.isfuture(answer) and answer.get_loop() is _running_loop():
        raise RuntimeError("a task of the running event loop cannot be waited for here; return the coroutine itself")

    shared = _shared.setdefault(os.getpid(), EventLoop())
    if not shared.runs_this:
        return shared.result(answer, None)
    inner = EventLoop()  # who waits inside what is waited for has a loop for it alone
    try:
        return inner.result(answer, None)
    finally:
        inner.close()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class UnansweredError(Exception):
    """A call that failed: `at` says which, `__cause__` why."""

    def __init__(self, at: int) -> None:
        self.at = at
        super().__init__(at)


def finished_each(calls: Sequence[Callable[[], Any]], at_a_time: int = AT_A_TIME) -> list[Any]:
    """What each call gives in the end, in order. Those that must be awaited are waited for together, some at a time.

    The first call that fails ends it, with an `UnansweredError` that says which.

    >>> async def later(number):
    ...     return number
    >>> finished_each([lambda: later(1), lambda: later(2)])
    [1, 2]
    """
    answers: list[Any] = []
    for at, call in enumerate(calls):
        try:
            answer = call()
            if _is_to_be_awaited(answer):
                return [*answers, *finished(_together(answer, calls[at:], at, at_a_time))]
            answers.append(finished(answer))
        except UnansweredError:
            raise
        except Exception as error:
            raise UnansweredError(at) from error
    return answers


def _is_to_be_awaited(answer: Any) -> bool:
    """Whether it is a coroutine, say. A future belongs to a loop already."""
    return inspect.isawaitable(answer) and not asyncio.isfuture(answer)


async def _together(first: Any, calls: Sequence[Callable[[], Any]], before: int, at_a_time: int) -> list[Any]:
    """What calls give, of which the first was made; `before` it there were so many others."""
    answers: list[Any] = [None] * len(calls)
    left = iter(range(len(calls)))

    async def work() -> None:
        for at in left:
            try:
                if at:
                    answer = calls[at]()
                else:
                    answer = first
                answers[at] = await answer if inspect.isawaitable(answer) else answer
            except Exception as error:
                raise UnansweredError(before + at) from error

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(at_a_time, len(calls))):
                group.create_task(work())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures.exceptions[0].__cause__
    return answers


class FailedCall(NamedTuple):
    """A call that failed, and why."""

    error: Exception


def outcomes(calls: Sequence[Callable[[], Any]], groups: Sequence[int], at_a_time: int = AT_A_TIME) -> list[Any]:
    """What each call gives in the end, or its `FailedCall`, in order; as `finished_each`, but others go on.

    After a failure no more calls of its group are begun, and have None. All before it in its group were begun, so that
    the first failure of a group is the same whatever is faster.
    """
    failed: set[int] = set()

    def failure(group: int, error: Exception) -> FailedCall:
        failed.add(group)
        return FailedCall(error)

    async def awaited(answer: Any, group: int) -> Any:
        try:
            return await answer
        except Exception as error:
            return failure(group, error)

    def made(call: Callable[[], Any], group: int) -> Any:
        if group in failed:
            return None
        try:
            answer = call()
            if _is_to_be_awaited(answer):
                return awaited(answer, group)
            return finished(answer)
        except Exception as error:
            return failure(group, error)

    return finished_each([partial(made, *pair) for pair in zip(calls, groups, strict=True)], at_a_time)
