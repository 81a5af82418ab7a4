"""`Command`: a program that reads questions and writes answers as JSON Lines."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
from collections.abc import Sequence
from typing import Any

from goldrank.data.qrels import Grade
from goldrank.errors import OptionError
from goldrank.judging.function import understood
from goldrank.judging.item import AskAgainLater, Call, Description, JobStopped, Reply
from goldrank.judging.parse import written

_MOST_LINE = 10_000_000


class Command:
    """A program that is started once. For every line that it reads it writes one, in any order, with the same `id`.

    It reads {"id", "question", "text", "reference", "criteria"} and writes {"id", "grade", "reason"} (or "label", or
    "probability"; with `fields`, a text for each of them). No shell is involved.
    """

    max_tokens = 0

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        scale: Sequence[Grade] | None = (0, 1, 2, 3),
        labels: dict[str, Grade] | None = None,
        name: str | None = None,
        version: str = "",
        timeout: float = 120.0,
        fields: Sequence[str] = (),
    ) -> None:
        words = words_of(command) if isinstance(command, str) else list(command)
        if not words or not all(isinstance(word, str) for word in words):
            raise OptionError(f"a command is {command!r:.60}; it must be words")
        self.words, self.version, self.timeout = words, version, timeout
        self.labels = labels or {}
        self.fields = tuple(fields)
        self.scale = tuple(self.labels.values()) or (None if scale is None else tuple(scale))
        self.name = name or os.path.basename(words[0])
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[str, asyncio.Future[tuple[str, Any]]] = {}
        self._reader: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._number = 0

    def description(self) -> Description:
        """The words of the command and its scale."""
        said: dict[str, Any] = {"command": self.words, "version": self.version, "labels": self.labels}
        said |= {"fields": list(self.fields)} if self.fields else {}
        return Description("command", {**said, "scale": self.scale and list(self.scale)})

    def messages(self, call: Call) -> list[dict[str, str]]:
        """What the program reads, without the id."""
        item = call.item
        parts = {"question": item.question, "text": item.text, "reference": item.reference, "criteria": item.criteria}
        return [{"role": name, "content": text} for name, text in parts.items()]

    async def ask(self, call: Call) -> Reply:
        """Write a line, and wait for the one that answers it."""
        process = await self._started()
        self._number += 1
        number = str(self._number)
        waiting: asyncio.Future[tuple[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        line = {"id": number, **{each["role"]: each["content"] for each in self.messages(call)}}
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(line).encode() + b"\n")
            await process.stdin.drain()
            body, said = await asyncio.wait_for(waiting, self.timeout)
        except TimeoutError:
            raise AskAgainLater("TimeoutError", f"no answer within {self.timeout:g} seconds") from None
        except (ConnectionError, BrokenPipeError) as error:
            raise AskAgainLater(type(error).__name__, str(error)) from None
        finally:
            self._waiting.pop(number, None)
        told = {key: value for key, value in said.items() if key != "id"}
        answer = written(told, self.fields) if self.fields else understood(told, self.scale, self.labels)
        return Reply(body, answer, "unreadable" if answer.problem else "ok")

    async def _started(self) -> asyncio.subprocess.Process:
        async with self._starting:
            if self._process is None or self._process.returncode is not None:
                pipe = asyncio.subprocess.PIPE
                try:
                    self._process = await asyncio.create_subprocess_exec(
                        *self.words, stdin=pipe, stdout=pipe, limit=_MOST_LINE
                    )
                except (OSError, ValueError) as error:
                    hint = "Is the program there, and may it be run?"
                    raise JobStopped(f"the command cannot be started: {error}", "", hint) from None
                self._reader = asyncio.ensure_future(self._read(self._process))
            return self._process

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        trouble = "the program ended without an answer"
        try:
            while line := await process.stdout.readline():
                try:
                    said = json.loads(line)
                    waiting = self._waiting.get(str(said["id"]))
                except (ValueError, KeyError, TypeError, RecursionError):
                    trouble = f"the program wrote a line that is no answer: {line[:80]!r}"
                    break
                if waiting is not None and not waiting.done():
                    waiting.set_result((line.decode("utf-8", "replace").strip(), said))
        except ValueError:
            trouble = f"the program wrote a line of more than {_MOST_LINE:,} bytes"
        if process.returncode is None:
            process.kill()
        await process.wait()
        for waiting in list(self._waiting.values()):
            if not waiting.done():
                waiting.set_exception(AskAgainLater("ended", f"{trouble} (exit code {process.returncode})"))

    async def close(self) -> None:
        """Close its input, and wait until it ends."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None and not process.stdin.is_closing():
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 5)
        except TimeoutError:
            process.kill()
            await process.wait()
        if self._reader is not None:
            await self._reader
        self._process = None


def words_of(command: str, windows: bool = os.name == "nt") -> list[str]:
    """The words of a command line. On Windows a backslash is part of a path, and only double quotes hold words."""
    if not windows:
        return shlex.split(command)
    return [word.replace('"', "") for word in re.findall(r'(?:[^\s"]|"[^"]*")+', command)]
