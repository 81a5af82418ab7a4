"""The site for programs that read: `llms.txt`, a list of its pages, and `llms-full.txt`, all of them as one text.

https://llmstxt.org describes the form. docs/site.py puts both beside the pages, and the schemas into `schemas/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCHEMAS = ROOT / "src" / "goldrank" / "base" / "schemas"
TITLE = re.compile(r"^# +(.+)$", re.MULTILINE)

Menu = Sequence[Mapping[str, Sequence[str]]]
"""The groups of the menu, each with its pages."""


def files(pages: Mapping[str, str], menu: Menu) -> dict[str, str | Path]:
    """By its place in the site: both texts, and the schemas."""
    made: dict[str, str | Path] = {"llms.txt": listed(pages, menu), "llms-full.txt": whole(pages, menu)}
    made |= {f"schemas/{path.name}": path for path in sorted(SCHEMAS.glob("*.json"))}
    return made


def listed(pages: Mapping[str, str], menu: Menu) -> str:
    """What is in llms.txt of the repository up to its list, and every page of the site by group."""
    opening = (ROOT / "llms.txt").read_text("utf-8").partition("\n## ")[0].rstrip()
    lines = [opening]
    for group in menu:
        for title, places in group.items():
            lines += ["", f"## {title}", ""]
            lines += [f"- [{title_of(pages[place], place)}]({page_address(place)})" for place in places]
    return "\n".join(lines) + "\n"


def whole(pages: Mapping[str, str], menu: Menu) -> str:
    """Every page, in the order of the menu, each after a line with its place."""
    texts = [f"<!-- {place} -->\n\n{pages[place].strip()}\n" for place in _in_order(menu)]
    return "\n".join(texts)


def _in_order(menu: Menu) -> Iterable[str]:
    return (place for group in menu for places in group.values() for place in places)


def title_of(text: str, place: str) -> str:
    """The heading of a page; its place if it has none."""
    matched = TITLE.search(text)
    if matched is None:
        return place
    return matched[1].replace("[", "(").replace("]", ")").strip("`")


def page_address(place: str) -> str:
    """The address of a page on the site, relative to llms.txt."""
    return place.removesuffix(".md") + ".html"
