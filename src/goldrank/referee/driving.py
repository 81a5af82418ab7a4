"""Runs another program: lines in, lines out, within limits, and leaves nothing of it behind."""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import IO

from goldrank.base.errors import InputError, OptionError

PIECE = 1 << 16
STDERR = 2_000
"""Characters of the program's errors that are kept."""


@dataclass(frozen=True)
class Limits:
    """How long is waited, and how much is read."""

    without_answer: float = 10.0
    """Seconds since the last answer."""
    in_all: float = 120.0
    """Seconds for all cases."""
    line: int = 64 << 10
    """Bytes of a line."""
    output: int = 8 << 20
    """Bytes of all lines."""


LIMITS = Limits()


@dataclass
class ProgramOutput:
    """What a program wrote, and how it ended."""

    lines: list[bytes] = field(default_factory=list)
    ended: str = ""
    """Why it was stopped early; empty if it was not."""
    exit_code: int | None = None
    errors: str = ""
    """The end of what it wrote to standard error."""


def words_of(command: str) -> list[str]:
    """A command as a shell would split it; no shell runs it."""
    try:
        words = shlex.split(command, posix=os.name != "nt")
    except ValueError as error:
        raise OptionError(f"the command cannot be split into words: {error}", hint="Close its quotes.") from None
    if not words:
        raise OptionError("the command is empty", hint='For example --command "node my_metric.mjs".')
    return words


def run(
    command: str, lines: Sequence[str], is_answer: Callable[[bytes], bool], limits: Limits, deadline: float
) -> ProgramOutput:
    """Give lines to a program and collect its answers; it is done when it ends, or has answered each line."""
    words = words_of(command)
    try:
        process = subprocess.Popen(  # noqa: S603 - the command is the user's, and no shell reads it
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=os.name == "posix",
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        hint = "Give a program that can be started here, with its arguments."
        raise InputError(f"{words[0]!r:.80} could not be started: {reason}", hint=hint, code="not-started") from None

    conversation = _Conversation(process, limits, deadline)
    try:
        return conversation.hold(lines, is_answer)
    finally:
        end_group(process)
        conversation.close()


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a program with all that it started."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        pass
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)


def _close(stream: IO[bytes] | None) -> None:
    try:
        if stream is not None:
            stream.close()
    except OSError:
        pass


class _Conversation:
    """Three threads with a program: one writes, one reads answers, one reads errors."""

    def __init__(self, process: subprocess.Popen[bytes], limits: Limits, deadline: float) -> None:
        self.process = process
        self.limits = limits
        self.deadline = deadline
        self.pieces: queue.Queue[bytes] = queue.Queue(maxsize=64)
        """What was read; an empty piece is the end."""
        self.output = ProgramOutput()
        self.is_over = False
        self._errors = b""
        self._threads: list[threading.Thread] = []

    def hold(self, lines: Sequence[str], is_answer: Callable[[bytes], bool]) -> ProgramOutput:
        """Write all lines and collect the answers."""
        self._threads = [
            threading.Thread(target=self._write, args=(lines,), daemon=True),
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

        self._listen(len(lines), is_answer)
        self.is_over = True
        if not self.output.ended:
            self._threads[2].join(1.0)

        self.output.exit_code = self._exit_code()
        self.output.errors = self._errors.decode("utf-8", "replace")[-STDERR:]
        return self.output

    def close(self) -> None:
        """Close the streams that no thread reads any more: the number of one that is read may become another's."""
        self.is_over = True
        streams = (self.process.stdin, self.process.stdout, self.process.stderr)
        for thread, stream in zip(self._threads, streams, strict=True):
            thread.join(2.0)
            if not thread.is_alive():
                _close(stream)

    def _exit_code(self) -> int | None:
        if self.output.ended:
            return self.process.poll()
        try:
            return self.process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return None

    def _write(self, lines: Sequence[str]) -> None:
        stdin = self.process.stdin
        assert stdin is not None
        try:
            for line in lines:
                stdin.write(line.encode() + b"\n")
            stdin.close()
        except (OSError, ValueError):
            pass  # it does not read, or is gone

    def _read(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        try:
            piece = os.read(stdout.fileno(), PIECE)
            while piece:
                self._hand_over(piece)
                piece = os.read(stdout.fileno(), PIECE)
        except (OSError, ValueError):
            pass
        self._hand_over(b"")

    def _hand_over(self, piece: bytes) -> None:
        """Wait until a piece is taken, or the conversation is over."""
        while not self.is_over:
            with contextlib.suppress(queue.Full):
                self.pieces.put(piece, timeout=0.2)
                return

    def _read_errors(self) -> None:
        stderr = self.process.stderr
        assert stderr is not None
        try:
            piece = os.read(stderr.fileno(), PIECE)
            while piece:
                self._errors = (self._errors + piece)[-4 * STDERR :]
                piece = os.read(stderr.fileno(), PIECE)
        except (OSError, ValueError):
            pass

    def _listen(self, expected: int, is_answer: Callable[[bytes], bool]) -> None:
        """Take lines until the program ends, all are answered, or a limit is reached."""
        limits, output = self.limits, self.output
        last_answer = time.monotonic()
        incomplete, size, answered = b"", 0, 0
        while answered < expected:
            now = time.monotonic()
            wait_end = min(last_answer + limits.without_answer, self.deadline)
            if now >= wait_end:
                output.ended = _too_slow(now >= self.deadline, limits)
                break
            try:
                piece = self.pieces.get(timeout=wait_end - now)
            except queue.Empty:
                continue
            if not piece:
                break
            size += len(piece)
            if size > limits.output:
                output.ended = f"it wrote more than {limits.output:,} bytes"
                break

            *complete, incomplete = (incomplete + piece).split(b"\n")
            longest = max(map(len, [*complete, incomplete]))
            if longest > limits.line:
                output.ended = f"it wrote a line of more than {limits.line:,} bytes"
                complete, incomplete = [line for line in complete if len(line) <= limits.line], b""
            for line in complete:
                output.lines.append(line)
                if is_answer(line):
                    answered += 1
                    last_answer = time.monotonic()
            if output.ended:
                break

        if incomplete:
            output.lines.append(incomplete)


def _too_slow(is_over: bool, limits: Limits) -> str:
    if is_over:
        return f"it took more than {limits.in_all:g} seconds in all"
    return f"it gave no answer for {limits.without_answer:g} seconds"
