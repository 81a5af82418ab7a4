"""docs/architecture.md and how_it_works.md: every file that they name is there, and the page fits on one."""

from __future__ import annotations

import re

import places
import pytest

import goldrank
from goldrank import conventions, engine
from goldrank.base import notes
from goldrank.io import formats

PAGES = {
    name: (places.ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("architecture.md", "how_it_works.md")
}


@pytest.mark.parametrize("page", PAGES)
def test_files_exist(page):
    source = places.ROOT / "src" / "goldrank"
    for name in re.findall(r"`((?:\w+/)+\w*(?:\.py)?)`", PAGES[page]):
        found = [
            root / name for root in (source, places.ROOT) if (root / name).exists() or (root / f"{name}.py").exists()
        ]
        assert found, name
    for module in re.findall(r"`(\w+\.py)`", PAGES[page]):
        assert (source / module).exists(), module


def test_every_room_is_on_the_page():
    rooms = {path.name for path in (places.ROOT / "src" / "goldrank").iterdir() if (path / "__init__.py").exists()}
    for room in rooms - {"demo"}:
        assert f"`{room}/`" in PAGES["architecture.md"], room


def test_tables_that_the_page_names_are_there():
    assert {"memory", "streaming", "spark"} <= set(engine.ENGINES)
    assert "trec" in formats.FORMATS
    assert "ties" in conventions.POLICIES
    assert "missing-queries" in notes.KINDS
    assert goldrank.Convention


def test_it_is_one_page():
    assert len(PAGES["architecture.md"].splitlines()) < 140
