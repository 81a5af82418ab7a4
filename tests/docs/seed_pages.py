"""The pages of the seed systems' examples: blocks of `python` run in order, and the `text` below is what they printed.

A block may await at its top level, as in a notebook. `python tests/docs/seed_pages.py` writes the pages anew; whoever
does that reads what changed.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.glob("seeds_*.md"))
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def rendered(page: str) -> str:
    """The page with what its examples print now."""
    names: dict[str, Any] = {"__name__": "page"}

    def again(example: re.Match[str]) -> str:
        code, output = example[1], printed(example[1], names)
        shown = f"\n```text\n{output}```\n" if output else ""
        return f"```python\n{code}```\n{shown}"

    return EXAMPLE.sub(again, page)


def printed(code: str, names: dict[str, Any]) -> str:
    """What some code prints."""
    out = io.StringIO()
    compiled = compile(code, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    with contextlib.redirect_stdout(out):
        if compiled.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(compiled, names))
        else:
            exec(compiled, names)
    return out.getvalue()


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(rendered(path.read_text("utf-8")), "utf-8")
