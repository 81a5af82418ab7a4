"""Worker processes that try mutations, and who watches them."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fuzz import kinds
from tests.fuzz.worker import number_in

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 10.0
"""Seconds of CPU that a mutation may take; one that waits may take PATIENCE times as long."""
PATIENCE = 6
MOST_MEMORY = 4 << 30
"""A process that has so much is ended, so that the machine stays usable."""
NONE = -1
"""Stands for a mutation where none was begun."""
KEPT = 3
"""Files of findings that look alike."""


class Findings:
    """What was found, by what it looks like. Of each kind a few are kept as files."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.kept: dict[str, list[dict[str, Any]]] = {}
        self.counts: Counter[str] = Counter()

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def add(self, found: dict[str, Any]) -> None:
        key = f"{found['sort']}: {found['line']}"
        self.counts[key] += 1
        known = self.kept.setdefault(key, [])
        if len(known) >= KEPT:
            return
        known.append(found)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            content = found | {"spec": kinds.make(found["kind"], found["number"])}
            (self.folder / f"{found['kind']}-{found['number']}.json").write_text(kinds.to_json(content))

    def __str__(self) -> str:
        lines = []
        for key, found in sorted(self.kept.items(), key=lambda item: -self.counts[item[0]]):
            where = ", ".join(f"{each['kind']}:{each['number']}" for each in found)
            lines.append(f"{self.counts[key]:>6}  {key}\n        {where}\n{_indented(found[0]['text'])}")
        return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n".join(f"        | {line[:400]}" for line in text.strip().splitlines()[-8:])


class Worker:
    """One process, with every `step`th mutation from `first` on."""

    def __init__(self, first: int, last: int, step: int, said: queue.Queue[Any]) -> None:
        self.last, self.step, self.said = last, step, said
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the worker
        self.folder = tempfile.TemporaryDirectory(prefix="goldrank-fuzz-", dir=_memory())
        file = Path(self.folder.name) / "number"
        file.write_bytes(bytes(8))
        self.number, self.file = number_in(str(file)), str(file)
        self.start(first)

    def start(self, first: int) -> None:
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        self.errors.seek(0)
        self.errors.truncate()
        self.number[0] = NONE
        self.begun: int | None = None
        self.first = first
        self.since = time.monotonic() + 20  # it imports first
        self.spent_before = 0.0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.worker", str(first), str(self.last), str(self.step), self.file],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=self.errors, stdin=subprocess.DEVNULL, text=True,
            env={**_without_coverage(), "PYTHONPATH": path, "POLARS_MAX_THREADS": "1", "RUST_BACKTRACE": "0",
                 "TMPDIR": self.folder.name},
        )  # fmt: skip
        self.listener = threading.Thread(target=self._listen, args=(self.process,), daemon=True)
        self.listener.start()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        with process.stdout or contextlib.nullcontext(()) as lines:
            for line in lines:
                if line.endswith("\n"):  # else it was cut off with the process
                    self.said.put((self, process, json.loads(line)))
        self.said.put((self, process, None))

    def look(self) -> int:
        """How many mutations were begun since the last look."""
        number = self.number[0]
        if number in (NONE, self.begun):
            return 0
        before = self.first - self.step if self.begun is None else self.begun
        self.begun, self.since, self.spent_before = number, time.monotonic(), self.spent()
        return (number - before) // self.step

    def resident(self) -> int:
        try:
            found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())
        except OSError:
            return 0
        return int(found[1]) << 10 if found else 0

    def spent(self) -> float:
        """Seconds of CPU; on a busy machine the clock says more about the others. Infinite where nobody knows."""
        try:
            after_name = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return float("inf")
        return sum(map(int, after_name[11:13])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> str:
        """End the process, and return what it said last; Python shows where it was."""
        with contextlib.suppress(subprocess.TimeoutExpired, ProcessLookupError):
            self.process.send_signal(signal.SIGABRT)
            self.process.wait(3)
        self.process.kill()
        self.process.wait()
        return self.words()

    def close(self) -> None:
        """End the process and let go of what it said."""
        self.process.kill()
        self.process.wait()
        self.listener.join()
        self.errors.close()
        self.folder.cleanup()

    def words(self) -> str:
        self.errors.seek(0)
        said = self.errors.read().decode("utf-8", "replace")
        return said if len(said) <= 4000 else f"{said[:1000]}\n...\n{said[-3000:]}"


def _memory() -> str | None:
    """A folder in memory, where there is one: files are made and removed by the million."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _without_coverage() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("COV_", "PYTEST_"))}


def run(
    count: int,
    findings: Findings,
    *,
    first: int = 0,
    workers: int = 2,
    seconds: float = float("inf"),
    longest: float = LONGEST,
    progress: Callable[[int], None] = lambda done: None,
) -> int:
    """Try so many mutations; how many were begun."""
    said: queue.Queue[Any] = queue.Queue()
    last = first + count
    alive = [Worker(first + i, last, workers, said) for i in range(min(workers, count))]
    started = list(alive)
    ends, done, shown = time.monotonic() + seconds, 0, 0.0
    try:
        while alive and time.monotonic() < ends:
            with contextlib.suppress(queue.Empty):
                worker, process, message = said.get(timeout=0.2)
                done += worker.look()
                if worker in alive and process is worker.process:
                    _heard(worker, message, findings, alive)
            for worker in list(alive):
                done += worker.look()
                _watch(worker, findings, alive, longest)
            if time.monotonic() - shown > 1:
                shown = time.monotonic()
                progress(max(done, 1))
    finally:
        for worker in started:
            worker.close()
    progress(max(done, 1))
    return done


def _heard(worker: Worker, message: Any, findings: Findings, alive: list[Worker]) -> None:
    if message is None:  # it ended without a word
        worker.process.wait()
        _lost(worker, "abort", f"exit code {worker.process.returncode}", worker.words(), findings, alive)
    elif "done" in message:
        worker.process.wait()
        alive.remove(worker)
    else:
        findings.add(message)


def _watch(worker: Worker, findings: Findings, alive: list[Worker], longest: float) -> None:
    waited = time.monotonic() - worker.since
    if waited > longest and (worker.spent() - worker.spent_before > longest or waited > PATIENCE * longest):
        _lost(worker, "hang", f"over {longest:g} seconds", worker.end(), findings, alive)
    elif worker.resident() > MOST_MEMORY:
        _lost(worker, "memory", f"over {MOST_MEMORY >> 30} GB", worker.end(), findings, alive)


def _lost(worker: Worker, sort: str, line: str, text: str, findings: Findings, alive: list[Worker]) -> None:
    """A worker is gone: note what it was at, and go on with the next mutation."""
    number = worker.first if worker.begun is None else worker.begun
    kind = kinds.kind_of(number)
    if worker.begun is None:
        text = f"it ended before it tried anything\n{text}"
    findings.add({"number": number, "kind": kind, "sort": sort, "line": f"{kind}: {line}", "text": text})
    if number + worker.step < worker.last and worker.begun is not None:
        worker.start(number + worker.step)
    else:
        alive.remove(worker)
