"""Errors are recognised by their codes; their words may change. docs/errors.md lists the codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from goldrank import GoldrankError


@contextmanager
def raises_code(kind: type[GoldrankError], code: str, match: str | None = None) -> Iterator[pytest.ExceptionInfo[Any]]:
    """As `pytest.raises`, for the error with this code. `match` is for words that are a feature: place, value, hint."""
    with pytest.raises(kind, match=match) as caught:
        yield caught
    assert caught.value.code == code, str(caught.value)
