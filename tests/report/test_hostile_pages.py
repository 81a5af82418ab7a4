"""Every page and every drawing with hostile ids, names, tags and texts, in a real browser.

No script but the page's own runs, and no request leaves: both are asserted, with a policy that forbids nothing beside
the page's own.
"""

from __future__ import annotations

import os
import re
from xml.etree import ElementTree

import hostile_names
import pytest
from hostile_names import FILE, NASTY

from goldrank.cli import run

pytestmark = pytest.mark.slow

ONE, TWO, TEXTS = f"one{FILE}.json", f"two{FILE}.json", f"texts{FILE}.jsonl"
SCRIPTS = NASTY[24:31]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """All that commands write for browsers, by the names of the files."""
    folder = tmp_path_factory.mktemp("pages")
    hostile_names.write(folder)
    here = os.getcwd()
    os.chdir(folder)
    try:
        names = [f"{text.replace('=', '-')}={path}" for text, path in zip(SCRIPTS, [ONE, TWO] * 4, strict=False)]
        compared = ["--samples", "100", "--metadata", "metadata.jsonl", "--slice", "kind", "--overlap", "allow"]
        calls = [
            ["compare", "qrels.json", *names[:4], *compared, "--html", "compared.html", "--svg", "charts"],
            ["texts", TEXTS, f"{SCRIPTS[0].replace('=', '-')}={TEXTS}", "--match", "contains", "--curves",
             "--svg", "curves.svg", "--html", "texts.html"],
            *(["texts", TEXTS, "--match", "contains", "--explain", text, "--html", f"explained{i}.html"]
              for i, text in enumerate(SCRIPTS[:3])),
            *(["eval", "qrels.json", ONE, "-m", "AP", "--save", f"s{i}.json"] for i in range(2)),
            *(["record", f"s{i % 2}.json", "--label", text, "--commit", text, "--note", text, "--branch", text,
               "--tag", f"x={text}", "--criteria", SCRIPTS[i % 2]] for i, text in enumerate(SCRIPTS)),
            ["history", "--html", "history.html", "--svg", "history.svg"],
        ]  # fmt: skip
        for arguments in calls:
            assert run(arguments) == 0
        from goldrank import Scores
        from goldrank.report.scores import render

        (folder / "scores.html").write_text(render([Scores.load("s0.json")], "html", by_query=True), "utf-8")
    finally:
        os.chdir(here)
    found = sorted([*folder.glob("*.html"), *folder.glob("*.svg"), *(folder / "charts").glob("*.svg")])
    assert len(found) > 12
    return found


def opened(browser, path):
    """The page, all requests that it made, and all that it complained of."""
    context = browser.new_context()
    page = context.new_page()
    requests, troubles = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: troubles.append(f"dialog {dialog.message}"))
    page.goto(path.as_uri())
    return context, page, requests, troubles


def test_no_script_runs_and_no_request_leaves(browser, pages):
    for path in pages:
        context, page, requests, troubles = opened(browser, path)
        for target in page.locator("summary, button.open, #query-rows .open").all()[:30]:
            if target.is_visible():
                target.click()
        for target in page.locator("svg g, circle").all()[:20]:
            target.dispatch_event("mouseover")
        assert page.evaluate("window.hacked") is None, path.name
        assert requests == [path.as_uri()], path.name
        assert troubles == [], path.name
        ours = 2 if path.name in ("compared.html", "history.html") else 0
        assert page.locator("script").count() <= ours, path.name
        assert page.locator("iframe, img, image, link, base, object, embed").count() == 0, path.name
        assert page.evaluate(EVENTS) == [], path.name
        context.close()


EVENTS = """[...document.querySelectorAll('*')].flatMap(e => [...e.attributes])
    .filter(a => a.name.startsWith('on') || /^\\s*javascript:/i.test(a.value)).map(a => a.name)"""


def test_the_test_sees_scripts(browser, tmp_path):
    """A page that lets a name in fails all that is asserted above."""
    path = tmp_path / "bad.html"
    path.write_text(f"<p>{NASTY[24]}<img src=https://x.invalid/x.png onerror=1></p>", "utf-8")
    context, page, requests, troubles = opened(browser, path)
    assert page.evaluate("window.hacked") == 1
    assert len(requests) == 2
    assert troubles
    assert page.evaluate(EVENTS) == ["onerror"]
    context.close()


def test_pages_have_a_strict_policy_and_drawings_are_xml(pages):
    for path in pages:
        text = path.read_text("utf-8")
        if path.suffix == ".svg":
            tree = ElementTree.fromstring(text)
            tags = {element.tag.rpartition("}")[2] for element in tree.iter()}
            assert not tags & {"script", "foreignObject", "a", "image", "use"}, path.name
        else:
            policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
            assert policy.startswith("default-src 'none'"), path.name
            assert "unsafe" not in policy
