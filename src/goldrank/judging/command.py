"""`Command`: a program that reads questions and writes answers as JSON Lines."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
from collections.abc import Sequence
from typing import Any

from goldrank.base.errors import OptionError
from goldrank.base.escaping import shown
from goldrank.data.qrels import Grade
from goldrank.judging.function import checked_criteria, checked_scale, seconds, understood
from goldrank.judging.item import AskAgainLater, Call, Description, JobStopped, Reply
from goldrank.judging.parse import written

_MOST_LINE = 10_000_000


class Command:
    """A program that judges. It is started once, without a shell.

    For every line that it reads it writes one, in any order, with the same `id`. It reads {"id", "question", "text",
    "reference", "criteria"} and writes {"id", "grade", "reason"} (or "probability" where `scale` is None). As the
    writer of `make_questions` it writes {"id", "question", "quote"}.

    Parameters
    ----------
    command : str or sequence of str
        The program and its arguments, as one line or as words.
    scale : sequence of float, optional
        The grades that it can give, from the lowest; None for numbers from 0 to 1.
    criteria : str
        What counts as relevant, in words: given to the program.
    timeout : float
        Seconds to wait for an answer.
    name : str, optional
        What the judge is called in the log. By default the program's name.

    Raises
    ------
    OptionError
        If the command is not words, or a number is out of its limits.

    Examples
    --------
    >>> Command("python judge.py", scale=(0, 1)).name
    'python'
    """

    max_tokens = 0

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        scale: Sequence[Grade] | None = (0, 1, 2, 3),
        criteria: str = "",
        timeout: float = 120.0,
        name: str | None = None,
    ) -> None:
        words = _words(command)
        if not words or not all(isinstance(word, str) for word in words):
            raise OptionError(f"a command is {shown(command, 60)}; it must be words")

        self.words = words
        self.scale = None
        if scale is not None:
            self.scale = checked_scale(scale)
        self.criteria = checked_criteria(criteria)
        self.timeout = seconds(timeout)
        self.name = name or os.path.basename(words[0])
        self.fields: tuple[str, ...] = ()
        """The texts that it writes instead of a grade; see `writing`."""

        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[str, asyncio.Future[tuple[str, Any]]] = {}
        self._reader: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._number = 0

    def writing(self, fields: Sequence[str], name: str | None = None) -> Command:
        """A judge with this program that writes a text for each of some fields instead of a grade."""
        writer = Command(
            self.words, scale=self.scale, criteria=self.criteria, timeout=self.timeout, name=name or self.name
        )
        writer.fields = tuple(fields)
        return writer

    def __repr__(self) -> str:
        return f"Command({shlex.join(self.words)!r:.80})"

    def description(self) -> Description:
        """The words of the command and its scale."""
        parameters: dict[str, Any] = {"command": self.words, "version": "", "labels": {}}
        if self.fields:
            parameters["fields"] = list(self.fields)
        return Description("command", {**parameters, "scale": self.scale and list(self.scale)})

    def messages(self, call: Call) -> list[dict[str, str]]:
        """What the program reads, without the id."""
        item = call.item
        parts = {"question": item.question, "text": item.text, "reference": item.reference, "criteria": item.criteria}
        return [{"role": name, "content": text} for name, text in parts.items()]

    async def ask(self, call: Call) -> Reply:
        """Write a line, and wait for the line that answers it."""
        process = await self._started()
        self._number += 1
        number = str(self._number)
        waiting: asyncio.Future[tuple[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        line = {"id": number, **{message["role"]: message["content"] for message in self.messages(call)}}

        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(line).encode() + b"\n")
            await process.stdin.drain()
            body, record = await asyncio.wait_for(waiting, self.timeout)
        except TimeoutError:
            raise AskAgainLater("TimeoutError", f"no answer within {self.timeout:g} seconds") from None
        except (ConnectionError, BrokenPipeError) as error:
            raise AskAgainLater(type(error).__name__, str(error)) from None
        finally:
            self._waiting.pop(number, None)

        answer_fields = {key: value for key, value in record.items() if key != "id"}
        if self.fields:
            answer = written(answer_fields, self.fields)
        else:
            answer = understood(answer_fields, self.scale)
        return Reply.of(body, answer)

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
            async for line in process.stdout:
                try:
                    record = json.loads(line)
                    waiting = self._waiting.get(str(record["id"]))
                except (ValueError, KeyError, TypeError, RecursionError):
                    trouble = f"the program wrote a line that is not an answer: {line[:80]!r}"
                    break
                if waiting is not None and not waiting.done():
                    waiting.set_result((line.decode("utf-8", "replace").strip(), record))
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


def _words(command: str | Sequence[str]) -> list[str]:
    if isinstance(command, str):
        return words_of(command)
    if isinstance(command, list | tuple):
        return list(command)
    return []


def words_of(command: str, windows: bool = os.name == "nt") -> list[str]:
    """The words of a command line. On Windows a backslash is part of a path, and only double quotes join words."""
    if not windows:
        return shlex.split(command)
    return [word.replace('"', "") for word in re.findall(r'(?:[^\s"]|"[^"]*")+', command)]
