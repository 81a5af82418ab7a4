"""The pages of which docs/gallery.md has pictures can be made, and say what the page says of them."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import places
import pytest

from goldrank.cli import run as command

DOCS = places.ROOT / "docs"
PAGE = (DOCS / "gallery.md").read_text(encoding="utf-8")
SAYS = {
    "compare": ("new is better than old", "+0.2490"),
    "leaderboard": ("of 12 may be best", "bm25-letters-text"),
    "history": ("better since record 7", "12 records"),
    "stages": ("of a possible", "never retrieved"),
    "frontier": ("is on the", "tokens, mean of a query"),
    "sweep": ("18 settings", "covers most"),
    "causes": ("ranked too low", "cut by a border"),
}
"""By picture, words of its page. The number of `compare` is that of docs/comparing.md."""


@pytest.fixture
def screenshot(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(DOCS))
    import screenshot

    yield screenshot
    sys.modules.pop("screenshot")


def test_every_picture_is_shown_and_there():
    shown = set(re.findall(r"\]\((\S+\.png)\)", PAGE))
    assert {f"{name}.png" for name in SAYS} <= shown
    assert shown == {path.name for path in DOCS.glob("*.png")}


def test_the_script_has_what_is_checked_here(screenshot):
    assert screenshot.PICTURES.keys() == SAYS.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", SAYS)
def test_the_page_says_what_its_picture_shows(name, screenshot, capsys):
    picture = screenshot.PICTURES[name]
    with screenshot.demo_folder() as folder:
        picture.make()
        text = (folder / picture.page).read_text(encoding="utf-8")
    capsys.readouterr()
    for words in SAYS[name]:
        assert words in re.sub(r"<[^>]+>", "", text), words
    assert not picture.section or f'id="{picture.section}"' in text


def test_the_first_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"^```\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
    for line in block.splitlines():
        assert command(shlex.split(line)[1:]) == 0, line
    assert "new is better than old" in Path("compare.html").read_text(encoding="utf-8")
