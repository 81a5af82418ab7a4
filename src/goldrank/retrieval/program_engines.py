"""Engines that are programs on this machine: a command that reads and writes JSON Lines, or a function of Python."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.retrieval.engine_file import SearchEngine
from goldrank.retrieval.failures import AskFailed
from goldrank.retrieval.hits import AnswerPaths, ReadAnswer, parsed, read_answer
from goldrank.retrieval.http_engine import EngineReply
from goldrank.retrieval.secret_values import Secrets
from goldrank.retrieval.templates import EngineQuery, as_text, filled

_OBJECTS = AnswerPaths(hits="retrieved", id="id", score="score", text="text")
_IDS = AnswerPaths(hits="retrieved_ids")
MOST_WORDS = 4_096
"""Bytes of standard error that are kept."""


class CommandEngine:
    """A program that is started once, without a shell, in its own process group.

    It reads {"id", "query", "k", ...} a line and writes {"id", "retrieved": [{"id", "score", "text"}]} or
    {"id", "retrieved_ids": [...]} a line, in any order; {"id", "error"} where it failed.
    """

    secrets = Secrets()

    def __init__(self, engine: SearchEngine) -> None:
        self._engine = engine
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._listener: asyncio.Task[None] | None = None
        self._last_words = ""
        """The last line that the program wrote to standard error."""
        self._waiting: dict[str, asyncio.Future[str]] = {}
        self._starting = asyncio.Lock()
        self._unasked_answers = 0
        """The number of answers to queries that were not asked."""

    async def ask(self, question: EngineQuery) -> EngineReply:
        """Write a line, and wait for the line with the same id."""
        process = await self._started(question)
        line = json.dumps({**question.fields, "id": question.id, "query": question.text, "k": question.k}, default=str)
        waiting: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = waiting
        seconds = self._engine.limits.timeout_s
        assert process.stdin is not None

        begin = time.perf_counter()
        try:
            async with asyncio.timeout(seconds):
                process.stdin.write(line.encode("utf-8", "replace") + b"\n")
                await process.stdin.drain()
                text = await waiting
        except TimeoutError:
            if self._unasked_answers:
                message = f"no answer within {seconds:g} s, and {self._unasked_answers} to queries that were not asked"
                raise AskFailed("wrong-id", message) from None
            raise AskFailed("timeout", f"no answer within {seconds:g} s") from None
        except OSError:
            raise AskFailed("command-died", "the program ended", can_retry=True) from None
        finally:
            self._waiting.pop(question.id, None)
        return EngineReply(_read_record(parsed(text), question.k), (time.perf_counter() - begin) * 1000)

    async def _started(self, question: EngineQuery) -> asyncio.subprocess.Process:
        async with self._starting:
            if self._process is not None and self._process.returncode is None:
                return self._process

            values = {"k": question.k, "python": sys.executable}
            words = [as_text(filled(word, values)) for word in self._engine.argv]
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *words,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.PIPE,
                    limit=self._engine.limits.max_bytes,
                    cwd=self._engine.folder,
                    start_new_session=os.name == "posix",
                )
            except (OSError, ValueError) as error:
                raise AskFailed("command-died", f"{ids.show(words[0])} cannot be started: {error}") from None

            self._reader = asyncio.create_task(self._read(self._process))
            self._listener = asyncio.create_task(self._listen(self._process))
            return self._process

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Hand each line to the question that waits for it, until there are no more."""
        assert process.stdout is not None
        is_too_large = False
        try:
            async for line in process.stdout:
                self._handed(line.decode("utf-8", "replace"))
        except ValueError:
            is_too_large = True

        _end(process)
        await process.wait()
        if self._listener is not None:
            await self._listener
        failure = AskFailed("command-died", f"the program ended without an answer{self._last_words}", can_retry=True)
        if is_too_large:
            failure = AskFailed("too-large", f"a line has more than {self._engine.limits.max_bytes:,} bytes")
        self._process = None  # the next query starts another
        for waiting in list(self._waiting.values()):
            if not waiting.done():
                waiting.set_exception(failure)

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Keep the last line of standard error, which may say why the program ends."""
        assert process.stderr is not None
        tail = b""
        while piece := await process.stderr.read(MOST_WORDS):
            tail = (tail + piece)[-MOST_WORDS:]
        lines = tail.strip().splitlines()
        if lines:
            self._last_words = f"; it wrote: {ids.show(lines[-1].decode('utf-8', 'replace'), 200)}"

    def _handed(self, text: str) -> None:
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            record = None

        if isinstance(record, Mapping):
            recipient = self._waiting.get(str(record.get("id")))
            if recipient is None:
                self._unasked_answers += 1
        else:
            # The line has no id: it goes to the question that waits longest.
            recipient = next((waiting for waiting in self._waiting.values() if not waiting.done()), None)

        if recipient is not None and not recipient.done():
            recipient.set_result(text)

    async def close(self) -> None:
        """End the program and all that it started."""
        if self._process is not None:
            _end(self._process)
            await self._process.wait()
        for task in (self._reader, self._listener):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task


def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _read_record(record: Any, k: int) -> ReadAnswer:
    """The results in a line of a program."""
    if isinstance(record, Mapping) and record.get("error"):
        raise AskFailed("engine-error", f"the program says: {ids.show(as_text(record['error']), 200)}")
    if isinstance(record, Mapping) and "retrieved_ids" in record:
        return read_answer(record, _IDS, None, k)
    return read_answer(record, _OBJECTS, None, k)


class FunctionEngine:
    """A function of Python: search(query, k) -> ids, pairs (id, score) or dicts of id, score and text.

    A function with a parameter `fields` also gets the other fields of the query.
    """

    secrets = Secrets()

    def __init__(self, engine: SearchEngine) -> None:
        self._engine = engine
        self._function = _imported(engine)
        try:
            self._takes_fields = "fields" in inspect.signature(self._function).parameters
        except (TypeError, ValueError):
            self._takes_fields = False

    async def ask(self, question: EngineQuery) -> EngineReply:
        """Call the function in a thread; after the time limit the call is given up, though the thread goes on."""
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[tuple[Any, float]] = loop.create_future()

        def deliver(result: tuple[Any, float] | None, error: BaseException | None) -> None:
            if outcome.done():
                return
            if error is not None:
                message = f"{type(error).__name__}: {ids.show(str(error), 200)}"
                outcome.set_exception(AskFailed("function-error", message))
            elif result is not None:
                outcome.set_result(result)

        def call() -> None:
            more = {}
            if self._takes_fields:
                more = {"fields": dict(question.fields)}

            begin = time.perf_counter()
            result, failure = None, None
            try:
                returned = self._function(question.text, question.k, **more)
                result = (list(returned), (time.perf_counter() - begin) * 1000)
            except BaseException as error:
                failure = error
            with contextlib.suppress(RuntimeError):  # the loop may be gone
                loop.call_soon_threadsafe(deliver, result, failure)

        threading.Thread(target=call, daemon=True).start()
        seconds = self._engine.limits.timeout_s
        try:
            results, latency_ms = await asyncio.wait_for(outcome, seconds)
        except TimeoutError:
            raise AskFailed("timeout", f"no answer within {seconds:g} s") from None
        return EngineReply(read_answer(_as_record(results), _OBJECTS, None, question.k), latency_ms)

    async def close(self) -> None:
        """There is nothing to close."""


def _as_record(results: Iterable[Any]) -> dict[str, Any]:
    """Results of a function, in the form that programs write."""
    retrieved: list[dict[str, Any]] = []
    for result in results:
        if isinstance(result, Mapping):
            retrieved.append({name: result.get(name) for name in ("id", "score", "text")})
        elif isinstance(result, tuple | list) and len(result) == 2:
            retrieved.append({"id": result[0], "score": result[1]})
        else:
            retrieved.append({"id": result})
    return {"retrieved": retrieved}


def _imported(engine: SearchEngine) -> Callable[..., Any]:
    module, _, name = engine.function.partition(":")
    sys.path.insert(0, engine.folder)
    try:
        function = getattr(import_module(module), name, None)
    except Exception as error:
        message = f"the module {module} cannot be imported: {type(error).__name__}: {error}"
        raise InputError(message, where=engine.name, hint="It is looked for beside the engine file.") from None
    finally:
        sys.path.remove(engine.folder)

    if not callable(function):
        raise InputError(f"the module {module} has no function {name}", where=engine.name, code="no-function")
    return function  # type: ignore[no-any-return]
