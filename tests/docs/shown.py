"""What pages show: their examples are run, in order, and printed with what they gave.

Blocks of `python` have prompts, as in a Python shell; blocks of `console` have lines that begin with `$ goldrank`. The
folder that they run in has the files of `goldrank demo --write demo`. `python tests/docs/shown.py PAGE...` writes pages
anew; whoever does that reads what changed.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from goldrank.base.errors import GoldrankError
from goldrank.cli import run as command

BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def rendered(page: str) -> str:
    """The page as its examples print it now."""
    names: dict[str, Any] = {"__name__": "page"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        printed("goldrank demo --write demo")
        return BLOCK.sub(lambda found: f"```{found[1]}\n{again(found[1], found[2], names)}```", page)


def again(kind: str, block: str, names: dict[str, Any]) -> str:
    """A block with its lines of input, each followed by what it gives."""
    if kind == "console":
        lines = re.findall(r"^\$ (.*)$", block, re.MULTILINE)
        assert lines, f"a block without a command:\n{block}"
        return "".join(f"$ {line}\n{printed(line)}" for line in lines)
    examples = doctest.DocTestParser().get_examples(block)
    assert examples, f"a block without a prompt:\n{block}"
    return "".join(example(one.source, names) for one in examples)


def example(source: str, names: dict[str, Any]) -> str:
    """Lines of Python with prompts, and what they print; an error of goldrank is part of it."""
    first, *more = source.rstrip("\n").split("\n")
    shown = [f">>> {first}", *(f"... {line}".rstrip() for line in more)]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, "page", "single"), names)
        except GoldrankError as error:
            print(f"{type(error).__module__}.{type(error).__name__}: {error}")
    return "\n".join(shown) + "\n" + out.getvalue()


def printed(line: str) -> str:
    """What a command prints, remarks included; of a code that is not 0, the code too."""
    name, *arguments = shlex.split(line, comments=True)
    assert name == "goldrank", line
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = command(arguments)
    return out.getvalue() + (f"(exit code {code})\n" if code else "")


def main(pages: list[str]) -> None:
    os.environ["NO_COLOR"] = "1"
    for name in pages:
        path = Path(name).resolve()
        path.write_text(rendered(path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
