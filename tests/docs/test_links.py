"""Every link of README, docs/ and their companions leads somewhere, anchors included. Nothing is asked of a network."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import places
import pytest

FOLDERS = (".", "docs", "docs/users", "examples", "benchmarks")
PAGES = sorted(page for folder in FOLDERS for page in (places.ROOT / folder).glob("*.md"))
LINK = re.compile(r"(?<!`)!?\[(?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*\]\(([^)\s]+)\)")


def prose(text: str) -> str:
    """The text without blocks of code."""
    return re.sub(r"^```.*?^```\s*?$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    found: Counter[str] = Counter()
    named = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", prose(text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        named.add(f"{slug}-{found[slug]}" if found[slug] else slug)
        found[slug] += 1
    return named


def broken(page: Path, text: str) -> list[str]:
    """The links of a page that lead nowhere."""
    wrong = []
    for target in LINK.findall(prose(text)):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = page.parent / path
        there = file.exists() or not path
        if not there or (anchor and anchor not in anchors(file.read_text(encoding="utf-8") if path else text)):
            wrong.append(target)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(places.ROOT).as_posix())
def test_links_resolve(page: Path) -> None:
    assert not broken(page, page.read_text(encoding="utf-8"))


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# Two words, `code`\n\n## Same\n\n## Same\n\n```\n# no heading\n```\n")
    good = "[a](other.md) [b](other.md#two-words-code) [`c`](#here) [d](https://a.org/x) [e](other.md#same-1)\n# Here\n"
    assert broken(tmp_path / "page.md", good) == []
    bad = "[a](none.md) [b](other.md#three) [c](#there) ![d](none.png) [e](other.md#no-heading)\n# Here\n"
    assert broken(tmp_path / "page.md", bad) == [
        "none.md",
        "other.md#three",
        "#there",
        "none.png",
        "other.md#no-heading",
    ]


NAMED = re.compile(r"(?<![\w/])((?:tests|benchmarks|examples)/[\w/]+\.(?:py|md|yml|cpp))")
"""A test, a benchmark or an example that a page names, mostly as what shows a claim."""


def missing(text: str) -> list[str]:
    """The files that a page names and that are not there."""
    return [name for name in NAMED.findall(text) if not (places.ROOT / name).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(places.ROOT).as_posix())
def test_named_tests_and_benchmarks_are_there(page: Path) -> None:
    """CHANGES.md is about the past, when other files were there."""
    assert page.name == "CHANGES.md" or not missing(page.read_text(encoding="utf-8"))


def test_a_test_that_is_not_there_is_found() -> None:
    assert missing("`tests/docs/test_links.py`, `python benchmarks/none.py`") == ["benchmarks/none.py"]


def test_there_are_links() -> None:
    assert sum(len(LINK.findall(prose(page.read_text(encoding="utf-8")))) for page in PAGES) > 150
