"""Slow tasks run in one thread, one after the other, in the order in which pages asked for them; so does the comparison
with its statistics: pages show values at once, and intervals when they are ready."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import threading
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from goldrank.comparison.build import compare
from goldrank.comparison.result import Comparison
from goldrank.comparison.slices import with_slices

if TYPE_CHECKING:
    from goldrank.explorer.session import Session

Task = tuple[Hashable, Callable[[], object], "Future[None]"]


class Worker:
    """A thread that begins with the first task. It ends with the process, also in the middle of a task."""

    def __init__(self) -> None:
        self._waiting: deque[Task] = deque()
        self._known: dict[Hashable, Future[None]] = {}
        self._change = threading.Condition()
        self._is_running = False
        self.done = 0
        """How many tasks ended; pages that were made before may have more to show now."""

    def ask(self, key: Hashable, make: Callable[[], object]) -> Future[None]:
        """Run a task, once for each key; the future is done when the task is, and has its error if it failed."""
        with self._change:
            if key not in self._known:
                self._known[key] = Future()
                self._waiting.append((key, make, self._known[key]))
                if not self._is_running:
                    self._is_running = True
                    threading.Thread(target=self._run, daemon=True, name="goldrank-work").start()
                self._change.notify()
            return self._known[key]

    def is_made(self, key: Hashable) -> bool:
        """Whether a task was asked for and ended."""
        task = self._known.get(key)
        return task is not None and task.done()

    def wait(self) -> None:
        """Wait for the end of all tasks."""
        wait_for(list(self._known.values()))

    def forget(self, key: Hashable) -> None:
        """Let a task that ended be asked for again."""
        with self._change:
            if self.is_made(key):
                del self._known[key]

    @property
    def trouble(self) -> str:
        """Why a task failed; '' if none did."""
        for task in list(self._known.values()):
            if not task.done():
                continue
            error = task.exception()
            if error is not None:
                return f"{type(error).__name__}: {error}"
        return ""

    def _run(self) -> None:
        while True:
            with self._change:
                while not self._waiting:
                    self._change.wait()
                _, make, future = self._waiting.popleft()

            try:
                make()
            except Exception as error:  # if the thread died silently, pages would wait for it forever
                self.done += 1
                future.set_exception(error)
            else:
                self.done += 1
                future.set_result(None)

            _give_back()


def _give_back() -> None:
    """Return freed memory to the system: the C library of Linux keeps what one large task used for the next one."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # other C libraries have no such function
            ctypes.CDLL(None).malloc_trim(0)


KEY = "verdict"


class Verdicts:
    """The newest comparison of a session; after new judgements, the next page that asks lets it be made again."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: tuple[int, Comparison | None] | None = None
        self.trouble = ""

    @property
    def known(self) -> Comparison | None:
        """The newest comparison there is."""
        if self._known:
            return self._known[1]
        return None

    @property
    def seq(self) -> int:
        """The last judgement that is in the comparison."""
        if self._known:
            return self._known[0]
        return -1

    def get(self, wait: float | None = 0.0) -> Comparison | None:
        """The newest comparison; started if judgements changed, and waited for `wait` seconds (None: to its end)."""
        session = self._session
        if len(session.systems) < 2:
            return None
        session.ask_top_documents()
        while self.seq != session.seq:
            session.work.forget(KEY)
            task = session.work.ask(KEY, self._make)
            if wait_for([task], wait).not_done or wait is not None:
                break
        return self.known

    def _make(self) -> None:
        session = self._session
        with session.lock:
            seq, scores = session.seq, session.scores()
            placed = []
            if session.has_rankings:
                placed = [session.placed(system) for system in session.systems]

        try:
            known = session.known_queries
            for name, parts in session.groups.items():
                known = known.with_column(name, _by_query(parts, session.queries))
            comparison = replace(compare(scores), placed=tuple(placed), known=known)
            if session.groups:
                comparison = with_slices(comparison, list(session.groups))
            self._known = (seq, comparison)
        except Exception as error:  # the page shows it, and would wait forever without it
            self.trouble = f"{type(error).__name__}: {error}"
            self._known = (seq, None)


def _by_query(parts: Mapping[str, np.ndarray], queries: Sequence[str]) -> dict[str, str]:
    return {queries[i]: name for name, mask in parts.items() for i in np.flatnonzero(mask).tolist()}
