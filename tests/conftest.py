"""Helper modules of the tests are imported by their bare names."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Times of single examples say how busy the machine is, and nothing else.
settings.register_profile("goldrank", deadline=None)
settings.load_profile("goldrank")

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def data() -> Any:
    """Made-up judgements, and the runs of three systems."""
    from made_up import make_runs

    return make_runs()


@pytest.fixture
def make() -> Any:
    """Makes such data of other sizes."""
    from made_up import make_runs

    return make_runs


@pytest.fixture
def registry() -> Iterator[None]:
    """Measures that a test declares, or replaces, are as they were afterwards."""
    from restoring import restored_registry

    with restored_registry():
        yield
