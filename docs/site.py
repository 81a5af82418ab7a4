"""Builds the site: `make site`, or `python docs/site.py TARGET`; the pages then open from disk.

Pages are the files of docs/ and docs/users/ as they are, README and its companions, and what reference.py and
measure_pages.py make from the code. Nothing is listed by hand but the order of the menu: a new page that no group of
`GROUPS` names is found under "More".
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

import agent_pages
import measure_pages
import reference

import goldrank

DOCS = Path(__file__).parent
ROOT = DOCS.parent
COMPANIONS = {
    "README.md": "index.md",
    "CHANGES.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "examples/README.md": "examples.md",
    "benchmarks/RESULTS.md": "results.md",
}
"""Pages that live elsewhere in the repository, and where the site has them."""

GROUPS = {
    "Start": [
        "index.md",
        "install.md",
        "users/*",
        "tour.md",
        "gallery.md",
        "cookbook.md",
        "examples.md",
    ],
    "Decide": ["comparing.md", "planning.md", "gate.md", "history.md", "fusion.md", "interleaving.md"],
    "Understand": ["explorer.md", "texts.md", "matching.md", "now.md", "recommenders.md"],
    "Trust": ["concepts.md", "which_number.md", "trec_eval.md", "judges.md", "promises.md"],
    "Connect": [
        *(
            "getting_in_and_out.md",
            "engines.md",
            "any_language.md",
            "texts_inputs.md",
            "arrays.md",
            "scale.md",
            "spark.md",
        ),
        *("migrating.md", "moved.md", "seeds.md", "seeds_*.md"),
    ],
    "Measures": ["measures.md", "measures/*"],
    "Commands": ["commands/index.md", "commands/*"],
    "Python": ["api/index.md", "api/types.md", "api/*", "errors.md"],
    "Theory": ["statistics.md", "how_it_works.md"],
    "Project": [
        *("architecture.md", "contributing.md", "changes.md", "results.md", "first_minutes.md", "security.md"),
    ],
}
"""The menu, by what people want. A name that is not there is passed over, and a page that no group has comes last."""

BUILD = ("Measures", "Commands", "Python")
"""Groups that stand together under "Build" in the menu."""

SEPARATOR = r"[\s\-_,:!=\[\]()\"'`/@{}]+"
"""Between words that search finds: `reciprocal_rank` is found for each of its words."""
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")


def sources() -> dict[str, Path]:
    """By its place in the site, every page that is a file."""
    found = {path.relative_to(DOCS).as_posix(): path for path in sorted([*DOCS.glob("*.md"), *DOCS.glob("users/*.md")])}
    found |= {place: ROOT / name for name, place in COMPANIONS.items() if (ROOT / name).exists()}
    return found


def tree() -> dict[str, str | Path]:
    """By its place in the site, the text of every page, and the files that pages show or link."""
    made: dict[str, str | Path] = {}
    files = sources()
    places = {path.resolve(): place for place, path in files.items()}
    for place, path in files.items():
        text, linked = placed(path.read_text("utf-8"), path, place, places)
        made[place] = text
        made |= linked
    made |= dict([*measure_pages.pages(), *reference.command_pages(), *reference.api_pages()])
    made = {place: whole_code(text) if isinstance(text, str) else text for place, text in made.items()}
    made |= {f"assets/{path.name}": path for path in sorted((DOCS / "site_files").iterdir())}
    pages = {place: text for place, text in made.items() if isinstance(text, str) and place.endswith(".md")}
    made |= agent_pages.files(pages, menu(list(pages)))
    return made


def whole_code(text: str) -> str:
    """With `|` in the code of tables as it is: mkdocs shows the backslash that other readers of Markdown need there."""

    def bare(row: re.Match[str]) -> str:
        return re.sub(r"`[^`]+`", lambda code: code[0].replace("\\|", "|"), row[0])

    return re.sub(r"^\|.*$", bare, text, flags=re.MULTILINE)


def placed(text: str, path: Path, place: str, places: Mapping[Path, str]) -> tuple[str, dict[str, Path]]:
    """The text of the page at `path` with links as the site has them, and the linked files that are no pages."""
    linked: dict[str, Path] = {}
    folder = PurePosixPath(place).parent

    def moved(found: re.Match[str]) -> str:
        target, _, anchor = found[2].partition("#")
        if not target or re.match(r"[a-z]+:", found[2]):
            return found[0]
        file = (path.parent / target).resolve()
        to = places.get(file)
        if to is None and file.is_file():
            to = f"files/{file.relative_to(ROOT.resolve()).as_posix()}"
            linked[to] = file
        elif to == "measures.md" and anchor in MEASURES:
            to, anchor = MEASURES[anchor], ""
        if to is None:
            return found[0]  # mkdocs complains of it
        return f"{found[1]}{os.path.relpath(to, folder)}{'#' if anchor else ''}{anchor}{found[3]}"

    text = re.sub(r"^```python\n(?=>>>)", "```pycon\n", text, flags=re.MULTILINE)
    text = re.sub(r"^```(?:text|bash|sh)?\n(?=\$ )", "```console\n", text, flags=re.MULTILINE)
    return "".join(piece if code else LINK.sub(moved, piece) for piece, code in pieces(text)), linked


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """A page in parts, each with whether it is a block of code."""
    for piece in re.split(r"(^```.*?^```\s*?$)", text, flags=re.MULTILINE | re.DOTALL):
        yield piece, piece.startswith("```")


MEASURES = {name.lower(): measure_pages.path(name) for name in goldrank.measures.REGISTRY}
"""By the anchor that docs/measures.md has for a measure, its page."""


def menu(pages: list[str]) -> list[dict[str, list[str]]]:
    """The groups with the pages that there are; what is in none is under "More"."""
    left = dict.fromkeys(pages)
    groups = {}
    for title, wanted in GROUPS.items():
        taken = [page for pattern in wanted for page in pages if page in left and fnmatchcase(page, pattern)]
        groups[title] = list(dict.fromkeys(taken))
        for page in taken:
            left.pop(page, None)
    return [{title: listed} for title, listed in {**groups, "More": list(left)}.items() if listed]


def nested(groups: list[dict[str, list[str]]]) -> list[dict[str, object]]:
    """The groups as the site shows them: those of `BUILD` under one title, where the first of them was."""
    shown: list[dict[str, object]] = []
    parts: list[dict[str, list[str]]] = []
    for group in groups:
        if not group.keys() & set(BUILD):
            shown.append(dict(group))
            continue
        if not parts:
            shown.append({"Build": parts})
        parts.append(group)
    return shown


def settings(source: Path, target: Path, pages: list[str]) -> str:
    """mkdocs.yml; JSON is YAML."""
    palette = [
        {"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "custom", "accent": "custom"},
        {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "custom", "accent": "custom"},
    ]
    icons = (("material/weather-night", "Dark"), ("material/weather-sunny", "Light"))
    for one, (icon, name) in zip(palette, icons, strict=True):
        one["toggle"] = {"icon": icon, "name": name}  # type: ignore[assignment]
    extensions: list[object] = [
        "admonition", "attr_list", "md_in_html", "sane_lists", "tables", "pymdownx.superfences", "pymdownx.highlight",
        {"toc": {"permalink": True}},
    ]  # fmt: skip
    return json.dumps(
        {
            "site_name": "goldrank",
            "site_description": "How much gold is in your ranking?",
            "copyright": f"goldrank {goldrank.__version__}, Apache-2.0",
            "docs_dir": str(source),
            "site_dir": str(target),
            "theme": {
                "name": "material",
                "font": False,
                "palette": palette,
                "icon": {"logo": "material/chart-bar"},
                "features": [
                    "navigation.tabs",
                    "navigation.top",
                    "search.highlight",
                    "content.code.copy",
                    "toc.follow",
                ],
            },
            "plugins": [{"search": {"separator": SEPARATOR}}, "tags", "offline"],
            "markdown_extensions": extensions,
            "extra": {"polyfills": ["assets/iframe-worker.js"], "generator": False},
            "extra_css": ["assets/site.css"],
            "validation": {
                "links": {"anchors": "warn", "unrecognized_links": "warn"},
                "nav": {"omitted_files": "warn"},
            },
            "nav": nested(menu(pages)),
        }
    )


def write(folder: Path) -> list[str]:
    """The tree as files; the names of its pages."""
    made = tree()
    for place, content in made.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            shutil.copyfile(content, path)
        else:
            path.write_text(content, "utf-8")
    return [place for place in made if place.endswith(".md")]


def build(target: Path) -> str:
    """Build the site into a folder, strictly; what mkdocs said of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = write(folder / "source")
        (folder / "mkdocs.yml").write_text(settings(folder / "source", target.resolve(), pages), "utf-8")
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean", "--config-file", "mkdocs.yml"]
        quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # it is an advertisement
        done = subprocess.run(command, cwd=folder, env=quiet, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"the site was not built:\n{done.stdout}{done.stderr}")
    # It looks for its styles at "/": on a disk, and on a server below any folder, there are none.
    (target / "404.html").unlink(missing_ok=True)
    return done.stdout + done.stderr


def main() -> Iterator[str]:
    """What is said on the way."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".site"
    yield build(target)
    yield f"open {target / 'index.html'}\n"


if __name__ == "__main__":
    for words in main():
        sys.stdout.write(words)
