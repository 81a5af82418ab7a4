"""What takes long is made in one thread, one thing after the other, in the order in which pages asked for it; so is the
comparison with its statistics: pages show values at once, and intervals when they come."""

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

from goldrank.comparison import compare
from goldrank.comparison.result import Comparison
from goldrank.comparison.slices import with_slices

if TYPE_CHECKING:
    from goldrank.explorer.session import Session

Task = tuple[Hashable, Callable[[], object], "Future[None]"]


class Worker:
    """A thread that begins with the first task. It ends with the process, whatever it is doing."""

    def __init__(self) -> None:
        self._waiting: deque[Task] = deque()
        self._known: dict[Hashable, Future[None]] = {}
        self._change = threading.Condition()
        self._is_running = False
        self.done = 0
        """How many tasks came to an end; pages that were made before may have more to show now."""

    def ask(self, key: Hashable, make: Callable[[], object]) -> Future[None]:
        """Have something made, once for each key; the future is done when it is, and has the error if it failed."""
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
        """Whether a task was asked for and came to an end."""
        task = self._known.get(key)
        return task is not None and task.done()

    def wait(self) -> None:
        """Wait for the end of all that was asked for."""
        wait_for(list(self._known.values()))

    def forget(self, key: Hashable) -> None:
        """Let a task that came to an end be asked for again."""
        with self._change:
            if self.is_made(key):
                del self._known[key]

    @property
    def trouble(self) -> str:
        """Why a task failed; '' if none did."""
        for task in list(self._known.values()):
            if task.done():
                error = task.exception()
            else:
                error = None
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
            except Exception as error:  # a thread that dies in silence would leave pages waiting for it
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
    """The newest comparison of a session; judgements make it old, and the next page that asks has it made again."""

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
        """As of which judgement the comparison is."""
        if self._known:
            return self._known[0]
        return -1

    def get(self, wait: float | None = 0.0) -> Comparison | None:
        """The newest comparison; begun if judgements changed, and waited for so many seconds (None: to its end)."""
        session = self._session
        if len(session.systems) < 2:
            return None
        session.ask_heads()
        while self.seq != session.seq:
            session.work.forget(KEY)
            made = session.work.ask(KEY, self._make)
            if wait_for([made], wait).not_done or wait is not None:
                break
        return self.known

    def _make(self) -> None:
        session = self._session
        with session.lock:
            seq, scores = session.seq, session.scores()
            if session.has_rankings:
                placed = [session.placed(system) for system in session.systems]
            else:
                placed = []

        try:
            known = session.known_queries
            for name, parts in session.groups.items():
                known = known.with_column(name, _by_query(parts, session.queries))
            made = replace(compare(scores), placed=tuple(placed), known=known)
            if session.groups:
                made = with_slices(made, list(session.groups))
            self._known = (seq, made)
        except Exception as error:  # it is said on the page, which would wait for it otherwise
            self.trouble = f"{type(error).__name__}: {error}"
            self._known = (seq, None)


def _by_query(parts: Mapping[str, np.ndarray], queries: Sequence[str]) -> dict[str, str]:
    return {queries[i]: name for name, mask in parts.items() for i in np.flatnonzero(mask).tolist()}
