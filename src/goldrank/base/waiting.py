"""Waiting for asynchronous work in synchronous code, also where an event loop is running (a notebook)."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from goldrank.base.packages import Lazy

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = Lazy("asyncio")  # it takes 20 ms, and most matchers and judges are not asynchronous

AT_A_TIME = 16
"""Calls that are awaited at the same time by default: services refuse more."""


# `Any`: the result of the work.
def within(seconds: float, work: Callable[[], Any]) -> Any:
    """Return what `work` returns, or raise what it raises; a `TimeoutError` if it takes longer.

    After a `TimeoutError` the work continues in its thread, and its result is dropped.
    """
    answer: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answer.append(work())
        except BaseException as error:  # the waiting thread raises it
            errors.append(error)

    thread = threading.Thread(target=run, name="goldrank-within", daemon=True)
    thread.start()
    thread.join(seconds)

    if errors:
        raise errors[0]
    if not answer:
        raise TimeoutError
    return answer[0]


class EventLoop:
    """An event loop in a separate thread, so that it works where another loop is running; started when needed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    # `Any`: the result of the work.
    def result(self, awaitable: Awaitable[Any], timeout: float | None) -> Any:
        """The result of the work; the work is cancelled if the waiting is interrupted."""
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
    def runs_caller(self) -> bool:
        """Whether this loop runs the calling code."""
        return threading.current_thread() is self._thread

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._loop is None or self._thread is None:
                return
            loop, self._loop = self._loop, None

        async def end() -> None:
            other_tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in other_tasks:
                task.cancel()
            await asyncio.gather(*other_tasks, return_exceptions=True)
            await loop.shutdown_asyncgens()

        asyncio.run_coroutine_threadsafe(end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join()
        loop.close()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped. Work that ends the program ends `run_forever`; the waiting thread raises that."""
    while True:
        try:
            return loop.run_forever()
        except (KeyboardInterrupt, SystemExit):
            continue


_shared: dict[int, EventLoop] = {}
"""The shared loop, by process id: a forked process has no threads of its parent and needs a new loop."""


def finished(answer: Any) -> Any:  # `Any`: an answer of any type
    """Return an answer as it is, or its result if it must be awaited.

    One loop awaits all answers, so that a client which belongs to a loop can be used several times.

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
    if not shared.runs_caller:
        return shared.result(answer, None)
    inner = EventLoop()  # code that the shared loop runs needs another loop to wait on
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
    """A call that failed: `index` is its index among the calls, `__cause__` the reason."""

    def __init__(self, index: int) -> None:
        self.index = index
        super().__init__(index)


def finished_each(calls: Sequence[Callable[[], Any]], at_a_time: int = AT_A_TIME) -> list[Any]:
    """The results of all calls, in order. Up to `at_a_time` calls that must be awaited are awaited together.

    The first call that fails ends it with an `UnansweredError`, which has the index of the call.

    >>> async def later(number):
    ...     return number
    >>> finished_each([lambda: later(1), lambda: later(2)])
    [1, 2]
    """
    answers: list[Any] = []
    for index, call in enumerate(calls):
        try:
            answer = call()
            if _is_to_be_awaited(answer):
                return [*answers, *finished(_together(answer, calls[index:], index, at_a_time))]
            answers.append(finished(answer))
        except UnansweredError:
            raise
        except Exception as error:
            raise UnansweredError(index) from error
    return answers


def _is_to_be_awaited(answer: Any) -> bool:
    """Whether an answer must be awaited and is not a future, which belongs to a loop already."""
    return inspect.isawaitable(answer) and not asyncio.isfuture(answer)


async def _together(first: Any, calls: Sequence[Callable[[], Any]], before: int, at_a_time: int) -> list[Any]:
    """The results of calls, of which the first was made already; `before` is the number of calls before these."""
    answers: list[Any] = [None] * len(calls)
    indices = iter(range(len(calls)))

    async def work() -> None:
        for index in indices:
            try:
                if index:
                    answer = calls[index]()
                else:
                    answer = first
                if inspect.isawaitable(answer):
                    answer = await answer
                answers[index] = answer
            except Exception as error:
                raise UnansweredError(before + index) from error

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
    """The result of each call or its `FailedCall`, in order. Unlike in `finished_each`, other calls continue.

    After a failure no more calls of its group begin; their results are None. All earlier calls of the group began
    before, so the first failure of a group does not depend on which call is faster.
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

    def begin(call: Callable[[], Any], group: int) -> Any:
        if group in failed:
            return None
        try:
            answer = call()
            if _is_to_be_awaited(answer):
                return awaited(answer, group)
            return finished(answer)
        except Exception as error:
            return failure(group, error)

    return finished_each([partial(begin, *pair) for pair in zip(calls, groups, strict=True)], at_a_time)
