"""The documents' own examples, section by section: they run, and print what the pages show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import seed_pages

NAMES = ["seeds_axion", "seeds_continuous_eval", "seeds_ir_eval_numba", "seeds_lesson", "seeds_remem"]


def test_every_system_has_a_page() -> None:
    assert [path.stem for path in seed_pages.PAGES] == NAMES


@pytest.mark.parametrize("path", seed_pages.PAGES, ids=lambda path: path.stem)
def test_examples_print_what_is_shown(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = path.read_text(encoding="utf-8")
    assert seed_pages.rendered(page) == page, "run `python tests/docs/seed_pages.py`, and read what changed"


@pytest.mark.parametrize("path", seed_pages.PAGES, ids=lambda path: path.stem)
def test_code_comes_from_the_drop_in(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    assert f"goldrank.compat.{path.stem.removeprefix('seeds_')}" in code


def test_an_output_that_is_wrong_is_found() -> None:
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert seed_pages.rendered(page) == page.replace("3\n", "2\n")
    waiting = "```python\nimport asyncio\nprint(await asyncio.sleep(0, 5))\n```\n\n```text\n```\n"
    assert "5\n```" in seed_pages.rendered(waiting)
