"""Values of JSON and JSON Lines with their positions: one parser, one reader of lines, one reader of arrays.

msgspec decodes. Text that it refuses, and the few kinds of text that goldrank reads differently, are read again by
Python's `json`, which returns the value, or the error with its position.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
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
"""Bytes of lines that are decoded at a time."""
LINES_SUFFIXES = (".jsonl", ".ndjson")

_BLANKS = re.compile(r"[ \t\r\n]*")
_ESCAPED = re.compile("[\udc80-\udcff]")
"""Bytes that are not UTF-8, in text."""

_LONG = 300
"""Characters, with the sign, from which an integer may be beyond all doubles."""
_LONG_IN_EVERY = {step: re.compile(rb"[0-9]{%d}" % ((_LONG - 1) // step)) for step in (100, 25, 5, 1)}
"""By step: the least number of digits of such an integer that are left if only every step-th byte is read."""


class WrittenNumber(float):
    """A number with a point or an exponent, and its text: 1e-400 is not zero."""

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
    """How numbers are made from their texts."""

    make_integer: Callable[[str], int | float] = int
    make_decimal: Callable[[str], float] = float
    """For numbers with a point or an exponent."""


NUMBERS = NumberRule()
SCORES = NumberRule(make_integer=integer)
GRADES = NumberRule(make_integer=integer, make_decimal=WrittenNumber)
"""Rules for numbers: as Python reads them, as scores, or as grades."""


class JsonParser:
    """Reads JSON in which no object has a key twice; `hint` is for the error about such an object."""

    def __init__(self, hint: str | None = None, rule: NumberRule = NUMBERS) -> None:
        self._hint = hint
        self._rule = rule
        self._repeated: list[_RepeatedKey] = []
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._new_object, parse_int=rule.make_integer, parse_float=rule.make_decimal
        )
        float_hook = None
        if rule.make_decimal is not float:
            float_hook = rule.make_decimal
        self._decode = msgspec.json.Decoder(float_hook=float_hook).decode
        self._encode = msgspec.json.Encoder(enc_hook=float).encode

    def _new_object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            value = _RepeatedKey(value, pairs)
            self._repeated.append(value)
        return value

    def quick(self, texts: Sequence[bytes], joined: bytes) -> list[Any] | None:
        """The values of texts, which `joined` holds with blanks between them; None if a text needs a closer check."""
        try:
            values = list(map(self._decode, texts))
            has_keys_once = self._has_keys_once(values, joined)
        except (msgspec.DecodeError, ValueError, RecursionError):
            return None

        if self._rule.make_integer is not int and _has_long_integer(joined):
            return None
        if has_keys_once:
            return values
        return None

    def _has_keys_once(self, values: list[Any], joined: bytes) -> bool:
        """Whether it is certain that no object had a key twice: msgspec keeps only the last value of such a key.

        A colon follows every key. So no key was lost if there are no more colons than keys, or if the encoded values
        have as many colons, unless an escaped colon makes up for a missing one.
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
        """The value of a text by Python's parser, which finds the position of a mistake."""
        try:
            data = self.decoder.decode(text)
        except (ValueError, RecursionError):
            with self.explained(text, name, line):
                raise

        if not self._repeated:
            return data
        if line == 1:
            return self.checked(data, name)
        return self.checked(data, Position(name, line))

    def checked(self, data: Any, where: Position | str) -> Any:
        """Return the value that was parsed last; raise if an object in it has a key twice."""
        if self._repeated:
            first = self._repeated[0]
            self._repeated.clear()
            path = next((path for path, node in _walk(data) if node is first), "$")
            problem = f"key '{ids.show(first.key)}' occurs twice in the object at {path}"
            raise InputError(problem, where=where, hint=self._hint)
        return data

    @contextmanager
    def explained(self, text: str, name: str, line: int, column: int = 1) -> Iterator[None]:
        """Turn errors of `json` into errors of goldrank."""
        try:
            yield

        except json.JSONDecodeError as error:
            error_column = error.colno
            if error.lineno == 1:
                error_column += column - 1
            where = Position(name, line + error.lineno - 1, error_column)

            hint = None
            if error.pos >= len(text.rstrip()) or "Unterminated" in error.msg:
                hint = "Is the file complete?"
            excerpt = ids.show(text[error.pos : error.pos + 20]) or "the end"
            problem = f"is not JSON: {error.msg}, found '{excerpt}'"
            raise InputError(problem, where=where, hint=hint, code="not-json") from None

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
    """Whether there may be an integer of `_LONG` characters; for most texts, few bytes are read."""
    return all(digits.search(raw[::step]) for step, digits in _LONG_IN_EVERY.items())


def _walk(data: Any) -> Iterator[tuple[str, Any]]:
    """Every object and list with its path."""
    waiting = [("$", data)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        children: Iterable[tuple[Any, Any]] = enumerate(node)
        if isinstance(node, dict):
            children = node.items()
        waiting += [(path + step(key), child) for key, child in children if isinstance(child, dict | list)]


def step(key: str | int) -> str:
    """A key or an index as part of a JSON path."""
    if isinstance(key, int):
        return f"[{key}]"
    if key.isidentifier():
        return f".{key}"
    return f"['{ids.show(key)}']"


def begins_so(text: bytes, is_cut: bool = False) -> bool:
    """Whether text that begins with a bracket is the beginning of JSON; `is_cut` text may continue.

    >>> begins_so(b'{"q1": {"d1": 1}'), begins_so(b"[1] Q0 d1 1 0.5 tag"), begins_so(b'{"a": 1}\\n{"a": 2}')
    (True, False, True)
    """
    decoded = text.decode("utf-8", "surrogateescape").rstrip()
    try:
        _, end = json.JSONDecoder().raw_decode(decoded)
    except json.JSONDecodeError as error:
        limit = len(decoded)
        if is_cut:
            limit -= 12  # the last token may be cut
        return error.pos >= limit or error.msg.startswith("Unterminated")
    except RecursionError:
        return False  # data are not nested so deeply, and an id may consist of brackets
    except ValueError:
        return True

    following = decoded[end:].lstrip(" \t")
    return not following or following[0] in "\r\n"


def is_lines(source: ByteSource) -> bool:
    """Whether each line of a file is an object; else the file is one object over all lines."""
    chunks = source.chunks()
    first_line = bytearray()
    following = b""
    for chunk in chunks:
        if not first_line:
            chunk = chunk.lstrip()
        line, line_end, following = chunk.partition(b"\n")
        first_line += line
        if line_end:
            break
        if len(first_line) > sources.MAX_RECORD:
            return False  # a record is never as long

    if not following.strip() and not any(chunk.strip() for chunk in chunks):
        return False

    try:
        json.loads(first_line)
    except (ValueError, RecursionError):
        return split_suffix(source.name)[0].endswith(LINES_SUFFIXES)

    return True


class Batch(NamedTuple):
    """Values of some lines, one in each line, and the numbers of their lines."""

    lines: Sequence[int]
    values: list[Any]


def read_batches(source: ByteSource, counts: Counter[str], hint: str, rule: NumberRule = NUMBERS) -> Iterator[Batch]:
    """The values of lines, one in each line, some lines at a time.

    `counts` gets codes of notes; `hint` is for the error about a key that an object has twice. A line that needs a
    closer check is a batch of one line, so that mistakes in earlier lines are reported first.
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
    """The value of one line, unless the line is blank."""
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
    """Batches of consecutive lines without the last LF; a long line is a batch of one line."""
    for _, offset, block in source.blocks():
        start = 0
        while start <= len(block):
            end = block.rfind(b"\n", start, start + BATCH)
            if end < 0:
                end = block.find(b"\n", start + BATCH)
            if end < 0 or start + BATCH >= len(block):
                end = len(block)
            source.report_progress(offset + end + 1)
            yield block[start:end]
            start = end + 1


def read_lines(
    source: ByteSource, counts: Counter[str], hint: str, rule: NumberRule = NUMBERS
) -> Iterator[tuple[int, Any]]:
    """The values of `read_batches`, each with the number of its line."""
    for batch in read_batches(source, counts, hint, rule):
        yield from zip(batch.lines, batch.values, strict=True)


def read_value(source: ByteSource, hint: str, rule: NumberRule = NUMBERS) -> Any:
    """The value of a file that is one value."""
    raw = source.read()
    fits(size_of(raw), "holding what is in this JSON", source.name)
    return JsonParser(hint, rule).parse(raw, source.name, 1)


VALUE, OBJECT, ARRAY = 200, 240, 90
"""Bytes of memory for a value, an object and an array, without the text. A run of 400,000 documents with nine-byte ids
needed 168 for each; an empty list has 56 bytes, an empty object 64, and an object of up to five keys 232."""


def size_of(raw: bytes) -> int:
    """The most memory for the text and the values of some JSON."""
    text = len(raw)
    if not raw.isascii():
        text *= 4
    return 2 * text + VALUE * raw.count(b",") + OBJECT * raw.count(b"{") + ARRAY * raw.count(b"[")


def read_array(source: ByteSource, counts: Counter[str], hint: str) -> Iterator[tuple[int, Any]]:
    """The values of an array with their indices; one piece of the file at a time is in memory."""
    reader = _ArrayReader(source, hint)
    reader.take("[")
    if reader.next_character() == "]":
        reader.take("]")
    else:
        yield from reader.values(counts)
    if reader.next_character(may_end=True):
        reader.refuse("Extra data")


class _ArrayReader:
    """Reads the values of an array from the pieces of a file."""

    def __init__(self, source: ByteSource, hint: str) -> None:
        self._name = source.name
        self._parser = JsonParser(hint)
        self._pieces = source.texts()
        self._has_ended = False
        """Whether all pieces were read."""
        self._text = ""
        self._offset = 0
        """The offset in the text up to which it was parsed."""
        self._line = 1
        self._column = 1
        """The position of the text's first character in the file."""

    def values(self, counts: Counter[str]) -> Iterator[tuple[int, Any]]:
        """The values up to the closing bracket, with their indices."""
        index = 0
        while True:
            value, end = self._next_value()
            if not self._text.isascii() and _ESCAPED.search(self._text, self._offset, end):
                counts["not-utf8"] += 1
            yield index, self._parser.checked(value, f"{self._name}[{index}]")
            index += 1
            self._offset = end
            if self.take(",]") == "]":
                return

    def _next_value(self) -> tuple[Any, int]:
        """The next value and the offset of its end."""
        while True:
            self.next_character()
            try:
                return self._parser.decoder.raw_decode(self._text, self._offset)
            except (ValueError, RecursionError) as error:
                if not self._has_ended and self._may_be_cut(error):
                    self._read_on()
                    continue
                with self._explained():
                    raise

    def _may_be_cut(self, error: Exception) -> bool:
        """Whether an error may come from a value that continues in the next piece."""
        is_at_end = isinstance(error, json.JSONDecodeError) and error.pos >= len(self._text) - 12
        return is_at_end or str(error).startswith("Unterminated")

    def next_character(self, may_end: bool = False) -> str:
        """The next character that is not blank; '' at the end of the file, if the array `may_end` here."""
        while not self._has_ended or self._offset < len(self._text):
            self._offset = _BLANKS.match(self._text, self._offset).end()  # type: ignore[union-attr]
            if self._offset < len(self._text):
                return self._text[self._offset]
            self._read_on()
        if may_end:
            return ""
        where = Position(self._name, self._line)
        raise InputError("is not JSON: the array has no end", where=where, hint="Is the file complete?")

    def take(self, expected: str) -> str:
        """Pass the next character, which must be one of the expected ones."""
        character = self.next_character()
        if character not in expected:
            self.refuse(f"Expecting {' or '.join(expected)}")
        self._offset += 1
        return character

    def refuse(self, message: str) -> NoReturn:
        """Raise an error at the current offset."""
        with self._explained():
            raise json.JSONDecodeError(message, self._text, self._offset)

    def _explained(self) -> AbstractContextManager[None]:
        return self._parser.explained(self._text, self._name, self._line, self._column)

    def _read_on(self) -> None:
        """Drop the parsed text and read the next piece."""
        parsed = self._text[: self._offset]
        self._line += parsed.count("\n")
        if "\n" in parsed:
            self._column = len(parsed) - parsed.rfind("\n")
        else:
            self._column += len(parsed)

        piece = next(self._pieces, None)
        self._has_ended = piece is None
        self._text = self._text[self._offset :] + (piece or "")
        self._offset = 0
        if len(self._text) > MAX_RECORD + sources.PIECE:
            problem = f"an item is longer than {MAX_RECORD:,} characters"
            raise InputError(problem, where=Position(self._name, self._line))
