"""Escaping of text from outside before people see it: one function for each kind of output.

| output | function |
|---|---|
| an id or a name inside a sentence | `show`, here (also as `ids.show`) |
| a line of a terminal, a log or an error message | `log_line`, here |
| text of several lines that a command has composed | `log_text`, here |
| JSON | `json_text`, here |
| HTML and SVG | `goldrank.data.table.escape_html` |
| Markdown, LaTeX, CSV and TSV | `escape` of their writers in `report/` |
"""

from __future__ import annotations

import re

LINE_LIMIT = 2_000
"""Most characters of a line or of a part of a message."""

_BUILD_COMMAND = re.compile(r"(^|(?<=\s)):(?=:)|##(?=\w*\[)")
"""Commands of build servers: `::error::` where a line may begin, `##[error]`, `##vso[...]` and `##teamcity[...]`."""
_COMMAND_LINE = re.compile(r"^((?:[ \t]|\x1b\[[\d;]*m)*):(?=:)|##(?=\w*\[)", re.MULTILINE)
_UNSAFE = re.compile(r"[^\n\t -~]")


def show(text: str, limit: int = 60) -> str:
    """Write an id for people: control characters and undecodable bytes are escaped, a long id loses its middle.

    Names differ at their ends as often as at their beginnings: `run-2024-final-v1`, `run-2024-final-v2`.
    """
    if not isinstance(text, str):
        text = shown(text, LINE_LIMIT)  # a mistake of the caller; the message about it follows

    if len(text) <= limit:
        if text.isprintable():
            return text
        return "".join(map(_printable, text))

    keep = max(1, limit - 3)
    start = "".join(map(_printable, text[:keep]))
    end = "".join(map(_printable, text[-keep:]))
    return f"{start[: keep - keep // 2]}...{end[len(end) - keep // 2 :]}"


def shown(value: object, limit: int = 80) -> str:
    """The `repr` of a value, cut off; its type where `repr` fails, as for a number of thousands of digits."""
    try:
        return repr(value)[:limit]
    except Exception:
        return f"<{type(value).__name__}>"


def log_line(text: str, limit: int = LINE_LIMIT) -> str:
    """Make one line for a terminal, a log or a message: no control character, line break or build-server command.

    Any word may begin a line, because terminals wrap lines.
    """
    line = show(text, limit)
    if "::" in line or "##" in line:
        return _BUILD_COMMAND.sub(_defused, line)
    return line


def log_text(text: str, styled: bool = False) -> str:
    """Make several lines safe as `log_line` does, but keep line breaks and tabs.

    In `styled` text the codes of colours stay too.
    """
    if not styled:
        text = _UNSAFE.sub(lambda matched: _printable(matched[0]), text)
    if "::" in text or "##" in text:
        return _COMMAND_LINE.sub(_defused, text)
    return text


def json_text(text: str) -> str:
    """JSON of equal meaning without any `##[`, which some build servers look for anywhere in a line."""
    if "##" in text:
        return re.sub(r"##(?=\w*\[)", r"#\\u0023", text)
    return text


def script_json(text: str) -> str:
    """JSON that cannot end the script element around it."""
    return json_text(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _printable(sign: str) -> str:
    if sign.isprintable():
        return sign
    return sign.encode("unicode_escape").decode()


def _defused(matched: re.Match[str]) -> str:
    if matched[0] == "##":
        return r"#\x23"
    return rf"{matched[1]}\x3a"
