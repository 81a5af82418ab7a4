"""Tests that declare measures leave the registry as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from goldrank.measures import declare


@contextmanager
def restored_registry() -> Iterator[None]:
    """Whatever is declared or replaced inside is as it was afterwards."""
    with patch.dict(declare.REGISTRY), patch.dict(declare.ALIASES):
        yield
