"""`goldrank schema`: print a schema, or check files by it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

from goldrank.base.errors import InputError
from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.output import echo

MOST = 20
"""Problems of a file that are shown."""


@declared()
@click.argument("name", required=False)
@option("--check", is_flag=True, help="Check FILE by the schema, a line of JSON at a time (.json: whole).")
@click.argument("paths", metavar="[FILE]...", nargs=-1)
def command(name: str | None, check: bool, paths: tuple[str, ...]) -> None:
    """Print a JSON Schema of what goldrank reads and writes; without NAME, which there are.

    With --check, say what is wrong with files: exit 0 if nothing is, 1 if something is.
    """
    from goldrank.base.validating import schema_files, schema_text

    if name is None:
        echo("\n".join(f"{schema_name}  {file}" for schema_name, file in schema_files().items()))
        return
    if not check:
        if paths:
            raise click.UsageError("files are for --check")
        echo(schema_text(name).rstrip("\n"))
        return

    problem_lines = [line for path in paths for line in _problems(path, name)]
    for line in problem_lines:
        echo(line)
    if problem_lines:
        raise click.exceptions.Exit(1)


def _problems(path: str, name: str) -> list[str]:
    from goldrank.base.validating import problems

    lines: list[str] = []
    for position, value in _values(path):
        if isinstance(value, ValueError):
            lines.append(f"{position}: is not JSON: {value}")
        else:
            lines += [f"{position}: {problem}" for problem in problems(value, name)]
    if len(lines) > MOST:
        lines[MOST:] = [f"{path}: and {len(lines) - MOST} more"]
    return lines


def _values(path: str) -> Iterator[tuple[str, object]]:
    """The values of a file, each with its position; a ValueError instead of a value that is not JSON."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=path, code="cannot-open") from None
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text", where=path, code="not-utf8") from None

    if path.endswith(".json"):
        yield path, _parsed(text)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{path}:{number}", _parsed(line)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        return ValueError(str(error))
