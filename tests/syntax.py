"""Looking through Python's syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator

HOLDERS = (ast.stmt, ast.excepthandler, ast.match_case)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """The children of a node that are statements or hold some: imports are among them, and expressions are not."""
    return (child for child in ast.iter_child_nodes(node) if isinstance(child, HOLDERS))
