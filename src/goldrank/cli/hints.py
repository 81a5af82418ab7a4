"""Advice in the words of the command line: messages come from functions, whose arguments are options here."""

from __future__ import annotations

import re

import click

from goldrank.cli.commands import options_of
from goldrank.cli.nouns import NounType

_ARGUMENT = re.compile(r"(?<![\w(.-])([a-z][a-z_]*)=('([\w-]+)'|True\b|\d+(?:\.\d+)?)")

SPELLED = {
    r"columns=\{'([\w.]+)': \.\.\.\}": r"--map \1=...",
    r'columns=\{"query": "qid", "doc": "docno"\}(?: \(--map query=qid,doc=docno\))?': "--map query=qid,doc=docno",
    r"read_runs\(source\)": "--by-tag",
    r"read_qrels\(source, format='([\w-]+)'\)": r"--input qrels.\1",
    r"read_run\(source, format='([\w-]+)'\)": r"--input run.\1",
    r"run\.rolled_up\('(.+?)'\)": r"--doc-of '\1'",
    r"qrels\.rolled_up\('(.+?)'\)": r"--doc-of 'qrels.\1'",
    r"sweep\.compare\(baseline\)": "--baseline",
    r"Qrels\(criteria=\.\.\.\)": "Qrels(criteria=...) in Python",
    r"To score one, use evaluate\b": "To score one: goldrank eval",
    r"queries='common' compares": "Without --same-queries it compares",
}
"""What messages for Python say, as regular expressions, and what the prompt says instead."""


def at_the_prompt(text: str, command: click.Command | None) -> str:
    """`overlap='allow'` as `--convention overlap=allow`, where the command has that option; else as it is."""
    if command is None:
        return text
    for python, prompt in SPELLED.items():
        text = re.sub(python, prompt, text)
    if not _ARGUMENT.search(text):
        return text
    flags = _flags(command)

    def spelled(matched: re.Match[str]) -> str:
        flag = flags.get(matched[1])
        if flag is None:
            return matched[0]
        value = matched[3] or matched[2]
        is_key = flag.endswith("=")
        if value == "True" and is_key:
            return f"{flag}true"
        if value == "True":
            return flag
        if is_key:
            return f"{flag}{value}"
        return f"{flag} {value}"

    return _ARGUMENT.sub(spelled, text)


def _flags(command: click.Command) -> dict[str, str]:
    """By argument of Python, its option: a separate one, or a key of a noun's option."""
    flags: dict[str, str] = {}
    for option in options_of(command, click.Context(command)):
        if isinstance(option.type, NounType):
            noun = option.type.option
            flags |= {key: f"{noun.flag} {key}=" for key in noun.keys}
    for option in options_of(command, click.Context(command)):
        flags |= {name.lstrip("-").replace("-", "_"): name for name in option.opts}
    return flags
