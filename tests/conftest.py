"""Helper modules of the tests are imported by their bare names."""

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

from lanes import many
from scheduling import place_in_line, scheduler

# Times of single examples say how busy the machine is, and nothing else.
settings.register_profile("goldrank", deadline=None, max_examples=many(100, 25))
settings.load_profile("goldrank")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Whatever needs a browser is slow."""
    if "browser" in getattr(item, "fixturenames", ()):
        item.add_marker("slow")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long comes first, so that no process is left with it at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: place_in_line(item.nodeid, item.path in slow))


def pytest_collection_finish() -> None:
    """What collection made stays to the end: the collector of garbage need not look at it again and again."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With several processes, files are handed out whole: what a module needs is made once."""
    return scheduler(config, log)


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
