"""Every page at three widths, light and dark: contrast, names, targets, headings, focus, no sideways scrolling."""
# ruff: noqa: E501 - the checks are JavaScript

import json

import pytest
from served import Served

from goldrank import demo, evaluate
from goldrank.history.store import History

pytestmark = pytest.mark.slow  # a real browser

PAGES = ["/", "/queries", "/query?id=q04", "/query?id=q10&ideal=1", "/doc?id=plant-7&query=q04", "/judge", "/judge?blind=1",
         "/judges", "/conflicts", "/notes", "/history", "/records?a=1&b=2", "/nothing"]  # fmt: skip

CHECKS = """() => {
  const wrong = [];
  const seen = (e) => { const r = e.getBoundingClientRect(); const s = getComputedStyle(e);
    return r.width > 1 && r.height > 1 && s.visibility !== 'hidden' && s.display !== 'none' && r.left > -500; };
  const parse = (c) => { const m = c.match(/[\\d.]+/g).map(Number); return m.length > 3 ? m : [...m, 1]; };
  const light = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
    return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] > .9) return c; }
    return parse(getComputedStyle(document.body).backgroundColor); };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    if (!node.data.trim() || !seen(node.parentElement) || node.parentElement.closest('svg, noscript, option, dialog:not([open])')) continue;
    const a = light(parse(getComputedStyle(node.parentElement).color)), b = light(ground(node.parentElement));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(2)}: ${node.data.trim().slice(0, 40)}`);
  }
  for (const e of document.querySelectorAll('a[href], button, input, select, summary')) {
    if (!seen(e) || e.type === 'hidden' || e.closest('svg')) continue;
    const name = e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent || e.value;
    if (!name.trim()) wrong.push(`no name: ${e.outerHTML.slice(0, 80)}`);
    const r = e.getBoundingClientRect();
    const inText = e.tagName === 'A' && getComputedStyle(e).display === 'inline';
    if (!inText && (r.height < 24 || r.width < 24)) wrong.push(`target ${r.width.toFixed(0)}x${r.height.toFixed(0)}: ${e.outerHTML.slice(0, 80)}`);
  }
  if (document.querySelectorAll('h1').length !== 1) wrong.push('not one h1');
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`scrolls sideways: ${document.documentElement.scrollWidth}`);
  if (document.querySelectorAll('[style]').length) wrong.push('style attributes');
  for (const e of document.querySelectorAll('svg')) if (!e.getAttribute('aria-label') && e.getAttribute('aria-hidden') !== 'true' && !e.querySelector('title')) wrong.push('svg without a name');
  const idOf = [...document.querySelectorAll('[id]')].map((e) => e.id);
  if (new Set(idOf).size < idOf.length) wrong.push('ids are repeated');
  return wrong;
}"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looks")
    with History(folder / "h.db") as history:
        for name, run in demo.runs().items():
            for label in (name, "main"):
                history.record(evaluate(demo.load()["qrels"], run, ["nDCG@10", "AP"]), label=label)
        history.set_baseline("main", 1)
    (folder / "rules.toml").write_text('[[rule]]\nmeasure = "nDCG@10"\nfloor = 0.8\n')
    options = ("--log", str(folder / "l.db"), "--db", str(folder / "h.db"), "--rules", str(folder / "rules.toml"))
    with Served("--demo", *options, cache=folder) as running:
        for judge, grade in (("mara", 2), ("jon", 0)):
            running.post(
                {"query": "q04", "doc": "plant-7", "action": "grade", "grade": grade, "judge": judge, "comment": "so"}
            )
        yield running


SOURCE = "One. The bridge was built in 1932. It cost two million pounds. End."


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """Questions of texts by place, and of references."""
    folder = tmp_path_factory.mktemp("evidence")
    wanted = [{"source": "s", "start": 5, "end": 34}, {"source": "s", "start": 35, "end": 62}]
    for name, start, end in (("a", 5, 34), ("b", 20, 66)):
        retrieved = [{"text": SOURCE[start:end], "source": "s", "start": start}]
        item = {"id": "q1", "question": "When?", "retrieved": retrieved, "evidence": wanted, "sources": {"s": SOURCE}}
        (folder / f"{name}.jsonl").write_text(json.dumps(item) + "\n")
    files = (str(folder / "a.jsonl"), str(folder / "b.jsonl"))
    with Served(*files, "-m", "SpanRecall@5", cache=folder) as running:
        yield running


BOTH = pytest.mark.parametrize("scheme", ["light", "dark"])
WIDTHS = pytest.mark.parametrize("width", [400, 900, 1400])


def looked_at(browser, server, paths, width, scheme):
    """What is wrong with pages: as they come, and with all that can be opened open."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    found = {}
    for path in paths:
        page.goto(server.base + path)
        wrong = page.evaluate(CHECKS)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        if page.locator("[data-confirm]").count():
            page.locator("[data-confirm]").first.click()
        wrong += page.evaluate(CHECKS)
        if wrong:
            found[path] = wrong[:8]
    context.close()
    return json.dumps(found, indent=1, ensure_ascii=False) if found else ""


@BOTH
@WIDTHS
def test_every_page(browser, served, width, scheme):
    assert looked_at(browser, served, PAGES, width, scheme) == ""


@BOTH
@WIDTHS
def test_pages_of_texts(browser, evidence, width, scheme):
    assert looked_at(browser, evidence, ["/", "/queries", "/query?id=q1", "/notes"], width, scheme) == ""


def test_focus_is_seen_and_skip_comes_first(browser, served):
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.goto(served.base + "/query?id=q04")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main"
    for _ in range(4):
        page.keyboard.press("Tab")
        width = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
        assert width == "2px"
    context.close()


def test_small_pages_and_no_shift(browser, served):
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.add_init_script(
        "window.shift = 0; new PerformanceObserver(l => { for (const e of l.getEntries()) window.shift += e.value })"
        ".observe({type: 'layout-shift', buffered: true})"
    )
    page.goto(served.base + "/query?id=q04")
    page.wait_for_timeout(300)
    assert page.evaluate("window.shift") == 0
    context.close()
    assert len(served.get("/query?id=q04")[2].encode()) < 60_000
    text = served.get("/judge")[2]
    import re

    scripts = re.findall(r'src="(/assets/[^"]+\.js)"', text)
    folder = scripts[0].rpartition("/")[0]
    size = sum(len(served.get(f"{folder}/{name}")[2].encode()) for name in ("explorer.js", "judge.js", "parts.js"))
    assert size < 40_000


def test_forced_colours_and_zoom(browser, served):
    context = browser.new_context(viewport={"width": 700, "height": 450}, forced_colors="active")  # 200 % of 1,400
    page = context.new_page()
    for path in PAGES[:6]:
        page.goto(served.base + path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    context.close()
