"""Errors for programs: one line of JSON on standard error, by the schema `goldrank schema error`."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable
from typing import Any

from goldrank.base.errors import GoldrankError, Position
from goldrank.base.escaping import log_line

FORMAT = "goldrank-error"
VERSION = 1
MOST = 2_000
"""Most characters of what is wrong."""
_WHERE = re.compile(r"(?P<file>.+?):(?P<line>[1-9]\d*)(?::(?P<column>[1-9]\d*))?(?P<rest>, .*)?")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def is_asked(words: Iterable[str]) -> bool:
    """Whether errors are to be JSON: by `--as json`, known before the words are understood, or by GOLDRANK_ERRORS."""
    if os.environ.get("GOLDRANK_ERRORS") == "json":
        return True
    listed = list(words)
    return "--as=json" in listed or ("--as", "json") in itertools.pairwise(listed)


def error_line(error: GoldrankError, exit_code: int, command: str) -> str:
    """An error as one line of JSON."""
    place, rest = _place(error.where)
    problem = log_line(str(error.what))
    if rest:
        problem = f"{log_line(rest)}: {problem}"

    facts: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "code": error.code or _code_of(error),
        "what": problem[:MOST],
        "where": place,
        "hint": error.hint and log_line(error.hint),
        "exit_code": exit_code,
    }
    if command:
        facts["command"] = command
    import json

    return json.dumps(facts)


def _code_of(error: GoldrankError) -> str:
    """The class of an error that has no code of its own: input-error."""
    return _HUMP.sub("-", type(error).__name__).lower()


def _place(where: Position | str | None) -> tuple[dict[str, Any] | None, str]:
    """The file with line and column, as far as they are known; and the position inside of the line."""
    if not where:
        return None, ""
    if isinstance(where, Position):
        position = {"file": where.file, "line": where.line, "column": where.column}
        return {key: value for key, value in position.items() if value is not None}, ""

    matched = _WHERE.fullmatch(where)
    if matched is None:
        file, _, rest = where.partition(", ")
        return {"file": file}, rest
    place: dict[str, Any] = {"file": matched["file"], "line": int(matched["line"])}
    if matched["column"]:
        place["column"] = int(matched["column"])
    return place, (matched["rest"] or "").removeprefix(", ")
