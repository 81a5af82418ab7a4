"""Waiting for asynchronous work in code that is not asynchronous, also where an event loop is running (a notebook)."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from collections.abc import Awaitable
from typing import Any


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


_loops: list[EventLoop] = []
"""The first serves everybody; each next one serves code that waits inside the one before it."""
_lock = threading.Lock()


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
    with _lock:
        depth = next((at for at, loop in enumerate(_loops, 1) if loop.runs_this), 0)
        if depth == len(_loops):
            _loops.append(EventLoop())
        loop = _loops[depth]
    return loop.result(answer, None)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _forget_loops() -> None:
    """A forked process has no threads; what it had of loops is left alone."""
    global _loops, _lock
    _left.append(_loops)
    _loops, _lock = [], threading.Lock()


_left: list[list[EventLoop]] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_loops)
