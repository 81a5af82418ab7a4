"""JSON and JSON Lines as values with their places: one parser, one reader of lines, one of arrays.

msgspec decodes. What it refuses, and the few things that it takes otherwise than goldrank does, Python's own `json`
reads again: it gives the value, or the error with its place.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import msgspec

from goldrank.base import ids
from goldrank.base.errors import InputError, Position
from goldrank.base.machine import fits
from goldrank.io import sources
from goldrank.io.compression import split_suffix
from goldrank.io.sources import MAX_RECORD, ByteSource

LONG_LINE = 100_000
BATCH = 1 << 16
"""How many bytes of lines are decoded at a time."""
LINES_SUFFIXES = (".jsonl", ".ndjson")

_BLANKS = re.compile(r"[ \t\r\n]*")
_ESCAPED = re.compile("[\udc80-\udcff]")
"""Bytes that are not UTF-8, in text."""

_LONG = 300
"""From so many characters on, a sign among them, an integer may be beyond all doubles."""
_LONG_IN_EVERY = {step: re.compile(rb"[0-9]{%d}" % ((_LONG - 1) // step)) for step in (100, 25, 5, 1)}
"""What the digits of such an integer leave of themselves where one byte in so many is taken."""


class WrittenNumber(float):
    """A number with a point or an exponent, and how it is written: 1e-400 is no zero."""

    text: str

    def __new__(cls, text: str) -> WrittenNumber:
        number = super().__new__(cls, text)
        number.text = text
        return number


def integer(text: str) -> int | float:
    """An integer, or a double where it has hundreds of digits."""
    if len(text) < _LONG:
        return int(text)
    return float(text)


@dataclass(frozen=True)
class NumberRule:
    """What becomes of numbers, by their texts."""

    whole: Callable[[str], int | float] = int
    decimal: Callable[[str], float] = float
    """For numbers with a point or an exponent."""


NUMBERS = NumberRule()
SCORES = NumberRule(whole=integer)
GRADES = NumberRule(whole=integer, decimal=WrittenNumber)
"""How numbers are read: as Python does, as scores, or as grades."""


class JsonParser:
    """Reads JSON in which no object has a key twice; `hint` says what to do about one that has."""

    def __init__(self, hint: str | None = None, rule: NumberRule = NUMBERS) -> None:
        self._hint = hint
        self._rule = rule
        self._repeated: list[_RepeatedKey] = []
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._new_object, parse_int=rule.whole, parse_float=rule.decimal
        )
        self._decode = msgspec.json.Decoder(float_hook=None if rule.decimal is float else rule.decimal).decode
        self._encode = msgspec.json.Encoder(enc_hook=float).encode

    def _new_object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            value = _RepeatedKey(value, pairs)
            self._repeated.append(value)
        return value

    def quick(self, texts: Sequence[bytes], joined: bytes) -> list[Any] | None:
        """The values of texts, which stand in `joined` with blanks between them; None if one needs a closer look."""
        try:
            values = list(map(self._decode, texts))
            has_keys_once = self._has_keys_once(values, joined)
        except (msgspec.DecodeError, ValueError, RecursionError):
            return None

        if self._rule.whole is not int and _has_long_integer(joined):
            return None
        if has_keys_once:
            return values
        return None

    def _has_keys_once(self, values: list[Any], joined: bytes) -> bool:
        """Whether it is sure that no object had a key twice: of such msgspec keeps the last value alone.

        Every key has a colon behind it. So none was lost if there are no more colons than keys, or as many in what is
        written again, unless a colon was escaped and makes up for the one that is missing.
        """
        colons = joined.count(b":")
        if set(map(type, values)) == {dict} and sum(map(len, values)) == colons:
            return True
        has_escaped = b"\\" in joined and (b"\\u003a" in joined or b"\\u003A" in joined)
        return not has_escaped and self._encode(values).count(b":") == colons

    def parse(self, raw: bytes, name: str, line: int) -> Any:
        """The value of a text that begins at a line of a file."""
        values = self.quick([raw], raw)
        if values is not None:
            return values[0]
        return self.parse_closely(ids.decode(raw), name, line)

    def parse_closely(self, text: str, name: str, line: int) -> Any:
        """The same by Python's own parser, which says where a mistake is."""
        try:
            data = self.decoder.decode(text)
        except (ValueError, RecursionError):
            with self.explained(text, name, line):
                raise
        if not self._repeated:
            return data
        return self.checked(data, name if line == 1 else Position(name, line))

    def checked(self, data: Any, where: Position | str) -> Any:
        """The value that was parsed last, if no object in it has a key twice."""
        if self._repeated:
            first = self._repeated[0]
            self._repeated.clear()
            path = next((path for path, node in _walk(data) if node is first), "$")
            what = f"key '{ids.show(first.key)}' occurs twice in the object at {path}"
            raise InputError(what, where=where, hint=self._hint)
        return data

    @contextmanager
    def explained(self, text: str, name: str, line: int, column: int = 1) -> Iterator[None]:
        """Turn json's errors into ours."""
        try:
            yield
        except json.JSONDecodeError as error:
            where = Position(name, line + error.lineno - 1, error.colno + (column - 1 if error.lineno == 1 else 0))
            excerpt = ids.show(text[error.pos : error.pos + 20]) or "the end"
            is_cut_off = error.pos >= len(text.rstrip()) or "Unterminated" in error.msg
            hint = "Is the file complete?" if is_cut_off else None
            what = f"is not JSON: {error.msg}, found '{excerpt}'"
            raise InputError(what, where=where, hint=hint, code="not-json") from None
        except ValueError as error:  # Python refuses integers of thousands of digits
            raise InputError(f"is not JSON: {error}", where=Position(name, line)) from None
        except RecursionError:
            raise InputError("is nested too deeply", where=Position(name, line)) from None


class _RepeatedKey(dict[str, Any]):
    """An object in which `key` occurs twice."""

    def __init__(self, value: dict[str, Any], pairs: list[tuple[str, Any]]) -> None:
        super().__init__(value)
        seen: set[str] = set()
        self.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]


def _has_long_integer(raw: bytes) -> bool:
    """Whether there may be an integer of `_LONG` characters; of text without one few bytes are looked at."""
    return all(digits.search(raw[::step]) for step, digits in _LONG_IN_EVERY.items())


def _walk(data: Any) -> Iterator[tuple[str, Any]]:
    """Every object and list with its path."""
    waiting = [("$", data)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        children = node.items() if isinstance(node, dict) else enumerate(node)
        waiting += [(path + step(key), child) for key, child in children if isinstance(child, dict | list)]


def step(key: str | int) -> str:
    """A key or position as part of a JSON path."""
    if isinstance(key, int):
        return f"[{key}]"
    if key.isidentifier():
        return f".{key}"
    return f"['{ids.show(key)}']"


def begins_so(text: bytes, is_cut: bool = False) -> bool:
    """Whether text that begins with a bracket goes on as JSON does; of text that is cut there may be more.

    >>> begins_so(b'{"q1": {"d1": 1}'), begins_so(b"[1] Q0 d1 1 0.5 tag"), begins_so(b'{"a": 1}\\n{"a": 2}')
    (True, False, True)
    """
    decoded = text.decode("utf-8", "surrogateescape").rstrip()
    try:
        _, end = json.JSONDecoder().raw_decode(decoded)
    except json.JSONDecodeError as error:
        return error.pos >= len(decoded) - (12 if is_cut else 0) or error.msg.startswith("Unterminated")
    except RecursionError:
        return False  # nobody nests so deep, and an id may consist of brackets
    except ValueError:
        return True
    rest = decoded[end:].lstrip(" \t")
    return not rest or rest[0] in "\r\n"


def is_lines(source: ByteSource) -> bool:
    """Whether the objects of a file stand in a line each, rather than being one object over all lines."""
    chunks = source.chunks()
    first: list[bytes] = []
    size = 0
    rest = b""
    for chunk in chunks:
        line, line_end, rest = (chunk if first else chunk.lstrip()).partition(b"\n")
        first += [line] if line else []
        if line_end:
            break
        size += len(line)
        if size > sources.MAX_RECORD:
            return False  # no record is that long

    if not rest.strip() and not any(chunk.strip() for chunk in chunks):
        return False

    try:
        json.loads(b"".join(first))
    except (ValueError, RecursionError):
        return split_suffix(source.name)[0].endswith(LINES_SUFFIXES)

    return True


class Batch(NamedTuple):
    """Values that stand in a line each, and the numbers of their lines."""

    lines: Sequence[int]
    values: list[Any]


def read_batches(source: ByteSource, counts: Counter[str], hint: str, rule: NumberRule = NUMBERS) -> Iterator[Batch]:
    """The values that stand in a line each, some at a time.

    `counts` gets codes of notes, `hint` says what to do about a key that an object has twice. A line that needs a
    closer look comes alone, so that what is wrong in lines before it is told first.
    """
    parser = JsonParser(hint, rule)
    first = 1
    for joined in _batches(source):
        texts = joined.split(b"\n")
        lines: Sequence[int] = range(first, first + len(texts))
        first = lines[-1] + 1
        filled = [text for text in texts if text and not text.isspace()]
        if len(filled) < len(texts):
            counts["blank-lines"] += len(texts) - len(filled)
            lines = [line for line, text in zip(lines, texts, strict=True) if text and not text.isspace()]

        values = None
        if max(map(len, filled), default=0) <= LONG_LINE:
            values = parser.quick(filled, joined)
        if values:
            yield Batch(lines, values)
        if values is not None:
            continue

        del texts, joined
        for line, text in zip(lines, filled, strict=True):
            yield from _read_line(parser, text, source.name, line, counts)


def _read_line(parser: JsonParser, raw: bytes, name: str, line: int, counts: Counter[str]) -> Iterator[Batch]:
    """The value of one line, if there is any."""
    if len(raw) > LONG_LINE:
        fits(size_of(raw), f"holding line {line:,}", name)
    values = parser.quick([raw], raw)
    if values is not None:
        yield Batch([line], values)
        return

    try:
        text = raw.decode()
    except UnicodeDecodeError:
        counts["not-utf8"] += 1
        text = ids.decode(raw)
    if text.strip():
        yield Batch([line], [parser.parse_closely(text, name, line)])
    else:
        counts["blank-lines"] += 1


def _batches(source: ByteSource) -> Iterator[bytes]:
    """Lines that follow each other, without the last one's LF; a long line comes alone."""
    for _, offset, block in source.blocks():
        start = 0
        while start <= len(block):
            end = block.rfind(b"\n", start, start + BATCH)
            if end < 0:
                end = block.find(b"\n", start + BATCH)
            if end < 0 or start + BATCH >= len(block):
                end = len(block)
            source.told(offset + end + 1)
            yield block[start:end]
            start = end + 1


def read_lines(
    source: ByteSource, counts: Counter[str], hint: str, rule: NumberRule = NUMBERS
) -> Iterator[tuple[int, Any]]:
    """The values of `read_batches`, each with the number of its line."""
    for batch in read_batches(source, counts, hint, rule):
        yield from zip(batch.lines, batch.values, strict=True)


def read_whole(source: ByteSource, hint: str, rule: NumberRule = NUMBERS) -> Any:
    """The one value of a file."""
    raw = source.read()
    fits(size_of(raw), "holding what is in this JSON", source.name)
    return JsonParser(hint, rule).parse(raw, source.name, 1)


VALUE, OBJECT, ARRAY = 200, 240, 90
"""Bytes that a value, an object and an array take, beside the text. A run of 400,000 documents of nine-byte ids took
168 for each; an empty list has 56 bytes, an empty object 64, and one of up to five keys 232."""


def size_of(raw: bytes) -> int:
    """The memory that the text and the values of some JSON take at most."""
    text = len(raw) if raw.isascii() else 4 * len(raw)
    return 2 * text + VALUE * raw.count(b",") + OBJECT * raw.count(b"{") + ARRAY * raw.count(b"[")


def read_array(source: ByteSource, counts: Counter[str], hint: str) -> Iterator[tuple[int, Any]]:
    """The values of an array with their positions; one piece of the file at a time is in memory."""
    parser = JsonParser(hint)
    pieces = source.texts()
    text = ""
    at = 0
    line, column = 1, 1
    ended = False

    def more() -> None:
        """Forget what was read and read on."""
        nonlocal text, at, line, column, ended
        done = text[:at]
        line += done.count("\n")
        column = len(done) - done.rfind("\n") if "\n" in done else column + len(done)
        piece = next(pieces, None)
        ended = piece is None
        text = text[at:] + (piece or "")
        at = 0
        if len(text) > MAX_RECORD + sources.PIECE:
            raise InputError(f"an item is longer than {MAX_RECORD:,} characters", where=Position(source.name, line))

    def upcoming(final: bool = False) -> str:
        """The next character that is not blank; after the `final` one there may be none."""
        nonlocal at
        while not ended or at < len(text):
            at = _BLANKS.match(text, at).end()  # type: ignore[union-attr]
            if at < len(text):
                return text[at]
            more()
        if final:
            return ""
        where = Position(source.name, line)
        raise InputError("is not JSON: the array has no end", where=where, hint="Is the file complete?")

    def take(expected: str) -> str:
        nonlocal at
        if (character := upcoming()) not in expected:
            refuse(f"Expecting {' or '.join(expected)}")
        at += 1
        return character

    def refuse(message: str) -> NoReturn:
        with parser.explained(text, source.name, line, column):
            raise json.JSONDecodeError(message, text, at)

    take("[")
    number = 0
    closed = upcoming() == "]" and bool(take("]"))
    while not closed:
        upcoming()
        try:
            data, end = parser.decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            at_end = isinstance(error, json.JSONDecodeError) and error.pos >= len(text) - 12
            if not ended and (at_end or str(error).startswith("Unterminated")):  # perhaps only cut off
                more()
                continue
            with parser.explained(text, source.name, line, column):
                raise
        if not text.isascii() and _ESCAPED.search(text, at, end):
            counts["not-utf8"] += 1
        yield number, parser.checked(data, f"{source.name}[{number}]")
        number += 1
        at = end
        closed = take(",]") == "]"
    if upcoming(final=True):
        refuse("Extra data")
