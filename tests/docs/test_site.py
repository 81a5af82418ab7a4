"""The site: pages are made from what there is, examples print what they show, and it builds without a warning."""

from __future__ import annotations

import importlib.util
import math
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import measure_pages
import places
import pytest
import shown

import goldrank
from goldrank.cli import all_commands, load
from goldrank.measures import REGISTRY

DOCS = places.ROOT / "docs"
NAMED = ("cookbook.md", "concepts.md", "errors.md", "which_number.md")
SHOWN = [DOCS / name for name in NAMED] + sorted(DOCS.glob("users/*.md"))


@pytest.fixture(scope="module")
def site() -> ModuleType:
    """docs/site.py, which has the name of a module of Python's own."""
    spec = importlib.util.spec_from_file_location("goldrank_site", DOCS / "site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tree(site: ModuleType) -> dict[str, Any]:
    return site.tree()


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.stem)
def test_examples_print_what_the_page_shows(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert shown.BLOCK.search(text)
    assert text == shown.rendered(text)


def test_a_wrong_output_is_found() -> None:
    right = "```python\n>>> 1 + 1\n2\n```\n\n```console\n$ goldrank choose qa --short\nRR Success@1\n```\n"
    assert shown.rendered(right) == right
    for wrong in (right.replace("\n2\n", "\n3\n"), right.replace("RR Success", "AP Success")):
        assert shown.rendered(wrong) == right


def test_the_cookbook_has_thirty_recipes() -> None:
    text = (DOCS / "cookbook.md").read_text(encoding="utf-8")
    recipes = re.findall(r"^### (\d+)\. (.+)\n((?:(?!^##).*\n)*)", text, re.MULTILINE)
    assert [int(number) for number, _, _ in recipes] == list(range(1, len(recipes) + 1))
    assert len(recipes) >= 30
    for _, question, body in recipes:
        blocks = shown.BLOCK.findall(body)
        assert blocks, question
        assert any(re.search(r"^(?!>>>|\.\.\. |\$ ).", block, re.MULTILINE) for _, block in blocks), question


def test_every_page_with_code_is_read_by_a_test() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in places.TESTS.rglob("test_*.py"))
    code = re.compile(r"^```(python|console|json|toml)|^\$ goldrank", re.MULTILINE)
    pages = [page for page in set(DOCS.rglob("*.md")) - set(SHOWN) if code.search(page.read_text(encoding="utf-8"))]
    assert pages
    for page in pages:
        assert re.search(rf'"{page.stem}(\.md)?"', tests), page.name


def test_a_page_in_no_group_is_under_more(site: ModuleType) -> None:
    menu = site.menu(["index.md", "brand_new.md", "measures.md", "measures/p.md", "users/new.md", "api/index.md"])
    assert menu == [
        {"Start": ["index.md", "users/new.md"]},
        {"Measures": ["measures.md", "measures/p.md"]},
        {"Python": ["api/index.md"]},
        {"More": ["brand_new.md"]},
    ]


def test_measures_commands_and_python_stand_under_build(site: ModuleType) -> None:
    groups = [{"Start": ["a"]}, {"Measures": ["m"]}, {"Python": ["p"]}, {"Theory": ["t"]}]
    build = {"Build": [{"Measures": ["m"]}, {"Python": ["p"]}]}
    assert site.nested(groups) == [{"Start": ["a"]}, build, {"Theory": ["t"]}]


OPENING = 1_200
"""Characters of a page that a reader sees first."""


COLLECTIONS = ("cookbook", "getting_in_and_out")
"""Pages that are lists of questions."""
OPENING_PAGES = sorted(page for page in DOCS.glob("*.md") if page.stem not in COLLECTIONS)


@pytest.mark.parametrize("page", OPENING_PAGES, ids=lambda page: page.stem)
def test_a_page_opens_with_a_question_and_a_command(page: Path) -> None:
    opening = page.read_text(encoding="utf-8")[:OPENING]
    first = opening.partition("\n\n")
    assert "?" in first[0] + first[2].partition("\n\n")[0], (
        "the title, or the first paragraph, asks what the reader asks"
    )
    assert re.search(r"`(goldrank|python|make) |^(\$ |    )?goldrank |^```", opening, re.MULTILINE), "a command or code"
    assert "tests/" not in opening.partition("\n## ")[0][:600], "which test runs a page stands at its end"


def test_every_page_is_in_the_menu_once(site: ModuleType, tree: dict[str, Any]) -> None:
    pages = [place for place in tree if place.endswith(".md")]
    listed = [page for part in site.menu(pages) for group_ in part.values() for page in group_]
    assert sorted(listed) == sorted(pages)
    for page in [*DOCS.glob("*.md"), *DOCS.glob("users/*.md")]:
        assert page.relative_to(DOCS).as_posix() in pages


def test_places_differ_in_more_than_case(tree: dict[str, Any]) -> None:
    assert len({place.lower() for place in tree}) == len(tree)


def test_links_to_files_and_measures_go_where_the_site_has_them(site: ModuleType) -> None:
    text = "[a](../README.md#more) [b](../Makefile) [c](measures.md#ndcg) [d](measures.md#policies) [e](#x)\n"
    code = "```\n[f](../y)\n```\n"
    places_ = {path.resolve(): place for place, path in site.sources().items()}
    moved, linked = site.placed(text + code, DOCS / "page.md", "users/page.md", places_)
    assert moved == (
        "[a](../index.md#more) [b](../files/Makefile) [c](../measures/ndcg.md) [d](../measures.md#policies) [e](#x)\n"
        + code
    )
    assert list(linked) == ["files/Makefile"]


def test_code_in_tables_has_no_backslash_before_bars(site: ModuleType) -> None:
    text = "| `a \\| b` | c \\| d |\n\n`e \\| f`\n"
    assert site.whole_code(text) == "| `a | b` | c \\| d |\n\n`e \\| f`\n"


def test_every_measure_has_its_page(tree: dict[str, Any]) -> None:
    for name, declared in REGISTRY.items():
        text = tree[measure_pages.path(name)]
        assert f"\n# {name}\n" in text
        assert declared.formula in text
        assert declared.cite.split(",")[0] in text
        assert "## Example" in text
        assert f"({measure_pages.path(name)})" in tree["measures.md"]


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [
        ("nDCG", lambda rank: 1 / math.log2(rank + 1) if rank <= 10 else 0),
        ("RR", lambda rank: 1 / rank if rank <= 10 else 0),
        ("P", lambda rank: 1 / 10 if rank <= 10 else 0),
        ("RBP", lambda rank: 0.1 * 0.9 ** (rank - 1) if rank <= 10 else 0),
    ],
)
def test_pictures_have_the_values_of_one_relevant_document(name: str, by_hand: Any) -> None:
    values = measure_pages.discounts(REGISTRY[name])
    assert values == pytest.approx([by_hand(rank) for rank in range(1, measure_pages.RANKS + 1)], abs=1e-12)
    drawn = measure_pages.picture(values, name)
    assert [float(value) for value in re.findall(r"rank \d+: ([\d.]+)<", drawn)] == pytest.approx(values, abs=1e-4)


def test_no_picture_without_a_shape() -> None:
    for name in ("SetP", "NumRel", "Judged", "StRecall", "Cover"):
        assert measure_pages.discounts(REGISTRY[name]) == []


def test_small_rankings_by_hand() -> None:
    # Two are relevant: at ranks 1 and 3, 1 and 2, 3 and 4, 5 alone, nowhere.
    expected = [(1 + 2 / 3) / 2, 1, (1 / 3 + 2 / 4) / 2, (1 / 5) / 2, 0]
    assert list(measure_pages.small_rankings(REGISTRY["AP"]).values()) == pytest.approx(expected)


def test_examples_of_measures_are_computed() -> None:
    lines = measure_pages.run([">>> 1 + 1", "3"], REGISTRY["P"])
    assert lines == [">>> 1 + 1", "2"]


@pytest.mark.slow
def test_every_command_and_option_has_its_page(tree: dict[str, Any]) -> None:
    for name in all_commands():
        first = name.partition(" ")[0]  # the page of a command has those below it
        text = tree[f"commands/{first}.md"]
        for parameter in load(name).params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert any(spelled in text for spelled in parameter.opts), (name, parameter.opts)
        assert f"]({first}.md)" in tree["commands/index.md"]


def test_every_public_name_has_its_page(tree: dict[str, Any]) -> None:
    pages = {text.split("\n")[0]: text for place, text in tree.items() if place.startswith("api/")}
    for name in goldrank.__all__:
        if name != "__version__":
            words = (getattr(goldrank, name).__doc__ or "").split("\n")[0]
            assert re.sub(r"`", "", words)[:30] in re.sub(r"`|\[|\]\([^)]*\)", "", pages[f"# {name}"]), name
    assert "`ties`" in pages["# evaluate"]  # options by name are listed
    assert "-> ScoresByRun | Scores" in pages["# evaluate"]
    assert "## per_query" in pages["# Scores"]
    assert " object at 0x" not in "".join(pages.values())
    assert "<function" not in "".join(pages.values())


@pytest.fixture(scope="module")
def built(site: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed (pip install --group site)")
    folder = tmp_path_factory.mktemp("site")
    assert "WARNING" not in site.build(folder)
    return folder


@pytest.mark.slow
def test_policies_are_explained_where_they_are_taken(tree: dict[str, Any]) -> None:
    assert "| `missing` | `zero`: " in tree["api/evaluate.md"]


@pytest.mark.slow
def test_the_site_builds_strictly_and_asks_no_network(built: Path, tree: dict[str, Any]) -> None:
    for place in tree:
        assert (built / place).with_suffix(".html" if place.endswith(".md") else Path(place).suffix).exists(), place
    for page in built.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|iframe)[^>]*\ssrc="?(https?:[^"> ]*)', page.read_text(encoding="utf-8"))
        styles = re.findall(r'<link[^>]*href="?(https?:[^"> ]*)', page.read_text(encoding="utf-8"))
        assert not loaded + styles, page.name


BROKEN_NAMES = """() => [...document.querySelectorAll("td:first-child code")].flatMap(code => {
    const text = document.createTreeWalker(code, NodeFilter.SHOW_TEXT).nextNode();
    return [...(text?.data ?? "").matchAll(/\\w{2,}/g)].filter(word => {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        return new Set([...range.getClientRects()].filter(box => box.width).map(box => Math.round(box.top))).size > 1;
    }).map(word => word[0]);
})"""
"""The words in the first columns of a page's tables that stand on two lines."""


@pytest.mark.slow
def test_pages_fit_and_search_works_from_disk(built: Path, browser: Any) -> None:
    foreign: list[str] = []
    for width, scheme in ((400, "dark"), (900, "light"), (1400, "dark")):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        page.on("request", lambda sent: foreign.append(sent.url) if sent.url.startswith("http") else None)
        page.on("pageerror", lambda error: foreign.append(str(error)))
        for name in ("index", "cookbook", "measures/ndcg", "commands/eval", "api/evaluate", "users/rag"):
            page.goto((built / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, width)
            assert not page.evaluate(BROKEN_NAMES), (name, width)
            assert page.get_attribute("body", "data-md-color-scheme") == {"dark": "slate", "light": "default"}[scheme]
        page.goto((built / "users/rag.html").as_uri())
        if width == 1400:
            page.click("input.md-search__input")
            page.keyboard.type("reciprocal rank")  # an alias of RR comes before words in the text of others
            page.wait_for_selector(".md-search-result__item:nth-child(1) h1:text-is('RR')", timeout=30_000)
        context.close()
    assert not foreign


COPIED = """[...document.querySelectorAll('pre code')].map(code => {
  code.setAttribute('data-md-copying', '');
  const text = code.innerText;
  code.removeAttribute('data-md-copying');
  return text.trimEnd();
})"""
"""What the copy button of each block would copy: what Material for MkDocs does on a click."""


@pytest.mark.slow
def test_the_copy_button_copies_commands_only(built: Path, browser: Any) -> None:
    page = browser.new_page()
    for name, command in (
        ("cookbook", "goldrank eval demo/household.qrels demo/bm25.run"),
        ("index", "goldrank demo"),
        ("users/training", "goldrank.evaluate_arrays(grades, scores,"),
    ):
        page.goto((built / f"{name}.html").as_uri())
        copied = page.evaluate(COPIED)
        assert any(command in text for text in copied), name
        for text in copied:
            assert not re.search(r"^(\$|>>>|\.\.\.) ", text, re.MULTILINE), (name, text)
    lesson = next(text for text in copied if "evaluate_arrays" in text)
    assert lesson.splitlines()[0] == "import goldrank"
    assert "0.8155" not in lesson
    page.close()


def test_programs_that_read_have_every_page(site: ModuleType, tree: dict[str, Any]) -> None:
    pages = [place for place, text in tree.items() if isinstance(text, str) and place.endswith(".md")]
    assert len(pages) > 50
    for place in pages:
        assert f"({place.removesuffix('.md')}.html)" in tree["llms.txt"], place
        assert f"<!-- {place} -->" in tree["llms-full.txt"]
    assert tree["llms.txt"].startswith("# goldrank\n\n> ")
    assert "goldrank conformance --command" in tree["llms-full.txt"]
    assert "schemas/record-1.json" in tree
