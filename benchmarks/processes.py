"""Run a command in a process of its own and say what it cost."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SAMPLE_SECONDS = 0.01


class FailedError(Exception):
    """The command did not finish, or not well; the message says how."""


@dataclass(frozen=True)
class Cost:
    """What one process cost, or the middle of several."""

    wall: float
    """Seconds."""
    cpu: float
    """User and system seconds of all its threads."""
    anonymous: int | None
    """Highest RssAnon seen, in bytes: memory of its own, without mapped files. None where /proc is not."""
    resident: int
    """Highest resident set in bytes, mapped files included."""
    answer: Mapping[str, Any] = field(default_factory=dict)
    """What the process printed, if that was JSON."""


def run(command: Sequence[str | os.PathLike[str]], environment: Mapping[str, str], timeout: float) -> Cost:
    """Run a command to its end and measure it from outside."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            [os.fspath(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env=dict(environment),
        )
        watch = _Watch(process.pid, start + timeout)
        watch.start()
        # The watch must be over before the process is reaped: until then nobody else can get its number.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        wall = time.perf_counter() - start
        watch.finish()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if watch.late:
            raise FailedError(f"not finished after {timeout:g} s")
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            said = errors.read().decode("utf-8", "replace").strip().splitlines()
            raise FailedError(f"exit code {process.returncode}: {said[-1] if said else 'no message'}")
        printed = output.read().decode("utf-8", "replace").strip()
    return Cost(
        wall=wall,
        cpu=usage.ru_utime + usage.ru_stime,
        anonymous=watch.highest,
        resident=usage.ru_maxrss * 1024,
        answer=_as_json(printed),
    )


def middle(costs: Sequence[Cost]) -> Cost:
    """The median of the times and the highest of the memory, which sampling can only miss."""
    seen = [cost.anonymous for cost in costs if cost.anonymous is not None]
    return Cost(
        wall=statistics.median(cost.wall for cost in costs),
        cpu=statistics.median(cost.cpu for cost in costs),
        anonymous=max(seen, default=None),
        resident=max(cost.resident for cost in costs),
        answer=costs[0].answer,
    )


class _Watch(threading.Thread):
    """Samples a process's RssAnon while it runs, and ends the process when its time is over."""

    def __init__(self, process: int, deadline: float) -> None:
        super().__init__(daemon=True)
        self.process = process
        self.deadline = deadline
        self.status = Path(f"/proc/{process}/status")
        self.over = threading.Event()
        self.highest: int | None = None
        self.late = False

    def run(self) -> None:
        while not self.over.wait(SAMPLE_SECONDS):
            self.sample()
            if time.perf_counter() > self.deadline and not self.late:
                self.late = True
                os.kill(self.process, signal.SIGKILL)

    def sample(self) -> None:
        try:
            text = self.status.read_text()
        except OSError:
            return
        _, found, rest = text.partition("RssAnon:")
        if found:
            self.highest = max(self.highest or 0, int(rest.split(maxsplit=1)[0]) * 1024)

    def finish(self) -> None:
        self.over.set()
        self.join()


def _as_json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text.splitlines()[-1]) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
