"""What a shell completes: names of measures, and columns of the files that were typed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import click
from click.shell_completion import CompletionItem

HEAD = 65_536
"""Bytes of a file that are looked at for names of columns."""


class MeasureNames(click.ParamType[Any]):
    """Measures with commas between them."""

    name = "measures"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The text as it is."""
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Names that begin with the text after the last comma."""
        from goldrank.measures import REGISTRY

        before, comma, last = incomplete.rpartition(",")
        names = [name for name in REGISTRY if name.lower().startswith(last.lower())]
        return [CompletionItem(f"{before}{comma}{name}") for name in names]


class MapWords(click.ParamType[Any]):
    """ROLE=COLUMN with commas between them."""

    name = "map"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The text as it is."""
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Roles, and after a = the columns of the files that were typed."""
        from goldrank.io.columns import ROLES

        before, comma, last = incomplete.rpartition(",")
        role, sign, typed_column = last.partition("=")
        words = [f"{name}=" for name in ROLES if name.startswith(role)]
        if sign:
            words = [f"{role}={column}" for column in _columns(ctx) if column.startswith(typed_column)]
        return [CompletionItem(f"{before}{comma}{word}") for word in dict.fromkeys(words)]


def _columns(ctx: click.Context) -> Iterator[str]:
    """Names of columns or fields in the files of a command line."""
    # click knows no arguments while the value of an option is being typed; the shell passes all words.
    typed = os.environ.get("COMP_WORDS", "").split()
    for text in [*ctx.args, *typed]:
        path = text
        if not os.path.isfile(text):
            path = text.partition("=")[2]
        if os.path.isfile(path):
            yield from columns_of(path)


def columns_of(path: str) -> list[str]:
    """The names in the first line of a table or of JSON Lines; an empty list for any other file."""
    import json

    try:
        with open(path, "rb") as file:
            line = file.read(HEAD).split(b"\n")[0].decode("utf-8", "replace").strip()
    except OSError:
        return []

    if line.startswith("{"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return []
        return [str(name) for name in record]

    delimiter = next((separator for separator in "\t,;|" if separator in line), None)
    if delimiter is None:
        return []
    return [cell.strip().strip('"') for cell in line.split(delimiter)]
