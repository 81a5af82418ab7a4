"""Helper modules of the tests are imported by their bare names."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def registry() -> Iterator[None]:
    """Measures that a test declares, or replaces, are as they were afterwards."""
    from restoring import restored_registry

    with restored_registry():
        yield
