"""Advice in the words of the command line: messages come from functions, whose arguments are options here."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

_ARGUMENT = re.compile(r"(?<![\w(.-])([a-z][a-z_]*)=('([\w-]+)'|True\b|\d+(?:\.\d+)?)")


def at_the_prompt(hint: str, command: click.Command | None) -> str:
    """`overlap='allow'` as `--overlap allow`, where the command has that option; anything else as it is."""
    if command is None:
        return hint
    flags = {name.lstrip("-").replace("-", "_"): name for option in _options(command) for name in option.opts}

    def spelled(matched: re.Match[str]) -> str:
        flag = flags.get(matched[1])
        if flag is None:
            return matched[0]
        return flag if matched[2] == "True" else f"{flag} {matched[3] or matched[2]}"

    return _ARGUMENT.sub(spelled, hint)


def _options(command: click.Command) -> Iterator[click.Option]:
    for part in (command, *(command.commands.values() if isinstance(command, click.Group) else ())):
        yield from (option for option in part.params if isinstance(option, click.Option))
