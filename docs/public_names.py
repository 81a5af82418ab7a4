"""Lists what is public: names with their arguments, members of classes, commands with their options.

`make names` writes the list to docs/public_names.txt, and `goldrank/__init__.pyi`, from which type checkers and editors
know the names, from the tables of the core and of the satellites. Tests hold both files to the code, so that nothing
public changes without being seen in a review; docs/promises.md says what is promised about it.
"""

from __future__ import annotations

import inspect
import pkgutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import click
from reference import fields, members

import goldrank
import goldrank.compat
import goldrank.integrations
from goldrank.base.notes import KINDS
from goldrank.base.satellites import public_names
from goldrank.cli import group
from goldrank.measures import REGISTRY

TARGET = Path(__file__).parent / "public_names.txt"
STUB = Path(goldrank.__file__).with_name("__init__.pyi")


def lines() -> list[str]:
    """Everything public, a line each."""
    found = [line for name in goldrank.__all__ for line in of_name(f"goldrank.{name}", getattr(goldrank, name))]
    for package in (goldrank.compat, goldrank.integrations):
        for module in modules(package):
            for name in getattr(module, "__all__", ()):
                found += of_name(f"{module.__name__}.{name}", getattr(module, name))
    found += commands(group, "goldrank")
    found += [f"measure {name}" for name in REGISTRY]
    found += [f"note {code}" for code in KINDS]
    return sorted(set(found))


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """The public modules of a package, other than those whose package is not installed."""
    for found in pkgutil.iter_modules(package.__path__):
        if not found.name.startswith("_"):
            yield import_module(f"{package.__name__}.{found.name}")


def of_name(name: str, thing: Any) -> Iterator[str]:
    """A function with its arguments, or a class with its members."""
    if inspect.isclass(thing):
        yield f"{name}"
        for member, value in members(thing):
            inner = getattr(value, "__func__", value)
            yield f"{name}.{member}" + (arguments(inner) if inspect.isfunction(inner) else "")
        for field, _, _ in fields(thing):
            yield f"{name}.{field}"
    elif inspect.isfunction(thing):
        yield f"{name}{arguments(thing)}"
    else:
        yield name


def arguments(function: Any) -> str:
    """The names of a function's arguments, and which of them may be left out."""
    shown, star = [], False
    for argument in inspect.signature(function).parameters.values():
        if argument.kind is argument.KEYWORD_ONLY and not star:
            shown.append("*")
        star = star or argument.kind in (argument.KEYWORD_ONLY, argument.VAR_POSITIONAL)
        mark = {argument.VAR_POSITIONAL: "*", argument.VAR_KEYWORD: "**"}.get(argument.kind, "")
        optional = "" if mark or argument.default is argument.empty else "="
        shown.append(f"{mark}{argument.name}{optional}")
    return f"({', '.join(shown)})"


def commands(command: click.Command, path: str) -> list[str]:
    """A command with its options, and those below it."""
    found = [path]
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            found.append(f"{path} {' '.join([*parameter.opts, *parameter.secondary_opts])}")
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            found += commands(inner, f"{path} {name}") if inner is not None else []
    return found


def stub() -> str:
    """`goldrank/__init__.pyi`: every public name, imported from where it is."""
    homes = goldrank.PUBLIC | public_names()
    named = sorted((module, name[0].islower(), name.lower(), name) for name, module in homes.items())  # ruff's order
    imports = [f"from {module} import {name} as {name}" for module, _, _, name in named]
    exported = [f'    "{name}",' for name in sorted((*homes, "__version__"))]
    heading = "# Written by `make names`; the tables are in __init__.py and in the __init__.py of each satellite."
    return "\n".join([heading, *imports, "", "__version__: str", "__all__ = [", *exported, "]", ""])


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
    TARGET.write_text("\n".join(lines()) + "\n", encoding="utf-8")
    sys.stdout.write(f"{TARGET.name}: {len(lines()):,} lines\n")
