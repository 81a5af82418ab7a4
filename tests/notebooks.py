"""Blocks of a document's code, run one after the other."""

from __future__ import annotations

import ast
import asyncio
import inspect
import types
from typing import Any

import pytest


class Notebook:
    """Runs blocks one after the other."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.names: dict[str, Any] = {}
        self.capsys = capsys

    def run(self, block: str) -> str:
        """Run a block and return what it prints."""
        code = compile(inspect.cleandoc(block), "<block>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        found = types.FunctionType(code, self.names)()
        if inspect.iscoroutine(found):
            asyncio.run(found)
        return self.capsys.readouterr().out
