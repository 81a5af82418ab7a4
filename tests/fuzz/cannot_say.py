"""What a format or object cannot say: the only reasons for which two routes may differ.

Each entry is a reason and a test of a row of text cells (query, doc, number): where it holds, the route is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from goldrank.io.text.number_text import NUMBER

Row = tuple[str, str, str]
Test = Callable[[Row], bool]

_BLANKS = re.compile(r"[ \t\n\r\x0b\x0c]")
_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def _ids(row: Row, test: Callable[[str], object]) -> bool:
    return bool(test(row[0]) or test(row[1]))


def _surrogates(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


BLANKS: tuple[str, Test] = (
    "fields are told apart by blanks, so that none is empty or holds one",
    lambda row: any(not cell or _BLANKS.search(cell) for cell in row),
)
COMMENTS: tuple[str, Test] = (
    "a line that begins with # is a comment",
    lambda row: row[0].startswith("#"),
)
MARK: tuple[str, Test] = (
    "U+FEFF at the beginning of a file is a byte order mark",
    lambda row: row[0].startswith("\ufeff"),
)
LINES: tuple[str, Test] = (
    "cells without quotation marks hold no tab, line end or quotation mark, and blanks around them are not theirs",
    lambda row: any(re.search(r'[\t\n\r"]', cell) or cell != cell.strip() for cell in row),
)
EMPTY: tuple[str, Test] = (
    "an empty cell is no value: a grade is then not judged, a row of empty cells is a blank line",
    lambda row: not all(row),
)
NUMBER_AS_TEXT: tuple[str, Test] = (
    "JSON has numbers of its own, and a text in their place is not one",
    lambda row: _JSON_NUMBER.fullmatch(row[2]) is None,
)
NUMBER_AS_DOUBLE: tuple[str, Test] = (
    "an object holds a number, not how it was written: only decimal numbers that a double holds can be given",
    lambda row: NUMBER.fullmatch(row[2].encode("utf-8", "surrogateescape")) is None,
)
UNICODE: tuple[str, Test] = (
    "text of JSON and Arrow is Unicode, so that ids of other bytes cannot be written",
    lambda row: any(map(_surrogates, row)),
)
NUL: tuple[str, Test] = (
    "NUL in text files is an error, as it is a sign of damage; objects and Parquet may hold it",
    lambda row: any("\0" in cell for cell in row),
)
CONTROL: tuple[str, Test] = (
    "control characters in text files are seen as damage or as blanks",
    lambda row: any(re.search(r"[\x00-\x08\x0e-\x1f\x7f]", cell) for cell in row),
)

ONE_KEY = "an object of JSON has each name once, and a dict each key: a repeated pair is an error or cannot be given"

NO_DOCUMENTS = "a query without documents: only JSON and dicts can say it; elsewhere a query stands in a document's row"
FAULTS = "of several faults in a file, which one is told depends on the pieces that it is read in"

COUNTS = {"contradicted": "only formats with a column of ranks can contradict their scores"}
"""Counts of `Scores` that depend on what a format can say."""

HASH: tuple[str, Test] = (
    "goldrank writes no TREC line with a document whose id begins with #, though it reads one",
    lambda row: row[1].startswith("#"),
)

RETURNS: tuple[str, Test] = (
    "goldrank writes no carriage return into tables of text: readers take some for line ends",
    lambda row: any("\r" in cell for cell in row),
)
FRACTION: tuple[str, Test] = (
    "a grade of TREC text is a whole number",
    lambda row: not float(row[2]).is_integer(),
)
INFINITE: tuple[str, Test] = (
    "JSON has no infinite number",
    lambda row: row[2].lstrip("-") == "inf",
)

REASONS: dict[str, Sequence[tuple[str, Test]]] = {
    "trec": (BLANKS, COMMENTS, MARK, NUL),
    "written trec": (BLANKS, COMMENTS, MARK, NUL, HASH),
    "written trec grades": (BLANKS, COMMENTS, MARK, NUL, HASH, FRACTION),
    "written csv": (NUL, RETURNS, UNICODE),
    "written tsv": (NUL, RETURNS, UNICODE),
    "written json": (INFINITE, UNICODE),
    "written jsonl": (INFINITE, UNICODE),
    "written parquet": (),
    "written arrow": (),
    "trec-no-tag": (BLANKS, COMMENTS, MARK, NUL),
    "trec-3col": (BLANKS, COMMENTS, MARK, NUL),
    "tsv": (LINES, EMPTY, MARK, NUL, UNICODE, COMMENTS),
    "csv": (EMPTY, NUL, UNICODE),
    "json": (NUMBER_AS_TEXT, UNICODE),
    "jsonl": (NUMBER_AS_TEXT, UNICODE),
    "polars": (UNICODE,),
    "pandas": (UNICODE,),
    "parquet": (UNICODE,),
    "arrow": (UNICODE,),
    "dict": (NUMBER_AS_DOUBLE,),
    "rows": (NUMBER_AS_DOUBLE,),
    "polars numbers": (UNICODE, NUMBER_AS_DOUBLE),
    "pandas numbers": (UNICODE, NUMBER_AS_DOUBLE),
    "parquet numbers": (UNICODE, NUMBER_AS_DOUBLE),
}


def can_say(route: str, rows: Sequence[Row]) -> bool:
    if route in ("json", "dict") and len({row[:2] for row in rows}) < len(rows):
        return False  # ONE_KEY
    return not any(test(row) for _, test in REASONS[route] for row in rows)


def is_exact_grade(row: Row) -> bool:
    """Whether a grade means the same as a number: 1e0 is no grade as text, and the number 1.0 is one."""
    if re.fullmatch(r"[+-]?[0-9]{1,15}(\.0*)?", row[2]):
        return True
    value = float(row[2])
    return value != value or value in (float("inf"), float("-inf")) or value != int(value)


def cells_can_say(items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a table of text can hold items: an empty cell is no value (EMPTY), and NUL is damage (NUL)."""
    return all(cell and "\0" not in str(cell) for item in items for cell in item.values() if isinstance(cell, str))
