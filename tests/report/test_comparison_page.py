"""The page of a comparison in a real browser: it fits, it can be read, and it says what the comparison says."""

import re

import numpy as np
import pytest
from hostile_names import NASTY
from made_up import make_runs
from made_up_scores import make
from partly_judged import DATA, QRELS, RUNS

from goldrank import Queries, Statistics, compare
from goldrank.comparison.pair import format_probability
from goldrank.comparison.worth import document_worth
from goldrank.data.scores import Column, Scores
from goldrank.measures import parse
from goldrank.report import comparison_queries
from goldrank.report.show import render

pytestmark = pytest.mark.slow

WIDTHS = (400, 900, 1400)
LONG = "a-long-system-name/with-parts/and-a-configuration-that-never-ends/2024-final-v{}"


def random_scores(systems, queries, measures=("nDCG@10", "AP"), names="system-{}"):
    rng = np.random.default_rng(0)
    ids = tuple(f"query-{i}" for i in range(queries))
    hard = rng.random(queries)
    found = []
    for s in range(systems):
        columns = {}
        for measure in measures:
            values = np.clip(0.6 * hard + 0.4 * rng.random(queries) + 0.01 * s, 0, 1)
            columns[measure] = Column(measure, values, float(values.mean()), "mean")
        found.append(Scores(names.format(s), ids, columns))
    return found


@pytest.fixture(scope="module")
def pages():
    """By systems and queries."""
    measures = ["nDCG@10", "AP", "P@1", "Judged@10"]
    qrels, runs = make_runs(16, [LONG.format(i) for i in range(10)], skill=0.2)
    ten = ("nDCG@10", "AP", "P@1", "P@5", "P@10", "RR", "R@5", "R@10", "R@100", "nDCG@5")
    scores = random_scores(2, 7000)
    ends = {query: query[-1] for query in scores[0].queries}
    kinds = {q: f"a rather long name of a kind of query, the one that ends with {end}" for q, end in ends.items()}
    known = Queries({}).with_column("kind", kinds)
    plain = compare(QRELS, {name: RUNS[name] for name in ("overlap", "bm25")}, measures, queries=DATA["queries"])
    found = {
        (2, 16): plain.with_documents(DATA["documents"]),
        (10, 16): compare(qrels, runs, measures, slice_by=["relevant"], statistics=Statistics(samples=500)),
        (2, 7000): compare(scores, slice_by="kind", queries=known, statistics=Statistics(samples=200)),
        (10, 7000): compare(random_scores(10, 7000, ten, LONG), statistics=Statistics(samples=200)),
    }
    return {size: (result, render(result, "html")) for size, result in found.items()}


SIZES = [(2, 16), (10, 16), (2, 7000), (10, 7000)]

CUT = """width => {
  const bad = [], shown = e => e.getClientRects().length > 0;
  for (const e of document.querySelectorAll('h1,h2,h3,p,li,dt,dd,figcaption,th,td,summary,select,input,button,.chip')) {
    if (!shown(e) || e.closest('.matrix') || e.closest('.skip')) continue;
    const box = e.getBoundingClientRect();
    if (getComputedStyle(e).position === 'absolute' || e.closest('thead')) continue;
    const spills = e.matches('td,th,p,li,h2') && e.scrollWidth > e.clientWidth + 1;
    if (spills || box.right > width + 0.5 || box.left < -0.5) bad.push([e.tagName, e.textContent, box.right]);
  }
  for (const e of document.querySelectorAll('.scroll'))
    if (shown(e) && !e.closest('.matrix') && e.scrollWidth > e.clientWidth + 1) bad.push([e.ariaLabel, e.scrollWidth]);
  for (const t of document.querySelectorAll('svg text')) {
    if (!shown(t)) continue;
    const svg = t.ownerSVGElement, drawn = svg.viewBox.baseVal;
    const box = t.getBBox(), view = drawn.width ? drawn : svg.getBoundingClientRect();
    const right = box.x + box.width, bottom = box.y + box.height;
    if (box.x < -1 || right > view.width + 1 || bottom > view.height + 2) bad.push(['svg', t.textContent, right]);
  }
  return bad;
}"""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_and_nothing_scrolls_sideways(show, pages, size, width):
    page = show(pages[size][1], viewport={"width": width, "height": 900})
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.locator("#query-rows .open").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CUT, width) == []
    sizes = page.evaluate(
        "[...document.querySelectorAll('figure svg')]"
        ".map(s => s.getBoundingClientRect().width / s.viewBox.baseVal.width)"
    )
    assert 12 * min(sizes) > 9, "text of charts can be read"


def test_labels_of_a_forest_are_free_of_lines(show, pages):
    """The zero line sat on labels."""
    page = show(pages[2, 16][1])
    crossed = page.evaluate(
        """() => [...document.querySelectorAll('#differences ~ .charts svg')].flatMap(svg => {
            const path = svg.querySelector('.zero').getAttribute('d');
            const lines = [...path.matchAll(/M([\\d.]+) ([\\d.]+)v([\\d.]+)/g)].map(m => m.slice(1).map(Number));
            return [...svg.querySelectorAll('text.lab')].map(t => t.getBBox()).filter(box => lines.some(
                ([x, y, h]) => x > box.x && x < box.x + box.width && y < box.y + box.height - 3 && y + h > box.y));
        }).length"""
    )
    assert page.locator("#differences ~ .charts svg text.lab").count() > 3
    assert crossed == 0


CONTRAST = """() => {
  const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const linear = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const back = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0.99) return c;
    }
    return [255, 255, 255];
  };
  const bad = {};
  for (const e of document.querySelectorAll('body *')) {
    if (!e.getClientRects().length || ![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
    if (e.closest('script,style,title,desc,option')) continue;
    const style = getComputedStyle(e), svg = e.namespaceURI.endsWith('svg');
    const under = e.closest('svg') ? e.closest('svg').parentElement : e;
    const a = light(parse(svg ? style.fill : style.color)), b = light(back(under));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad[`${e.tagName}.${e.getAttribute('class')}`] = ratio;
  }
  return bad;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(show, pages, scheme):
    for size in SIZES[:2]:
        page = show(pages[size][1], color_scheme=scheme)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        page.locator("#query-rows .open").first.click()
        assert page.evaluate(CONTRAST) == {}
    background = "rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background


def test_the_verdict_comes_first_with_its_caveats(show, pages):
    result, text = pages[2, 16]
    pair = result.pairs[0]
    assert pair.could_be_turned
    page = show(text)
    assert page.inner_text("#verdict h2") == f"{pair.short_words}."
    told = page.inner_text("#verdict")
    for words in (
        "+0.1397",
        "11 of 16 queries moved: 10 better, 1 worse, 5 equal",
        "Unjudged documents could decide this",
        "It rests on 11 queries that differ",
    ):
        assert words in told
    assert page.locator("#verdict").bounding_box()["y"] < 200
    assert page.inner_text("#verdict .word") == "✎ judge first"
    assert page.locator("#verdict .btn.first").get_attribute("href") == "#judge"
    drawn = page.locator("#verdict svg[role=img]")
    assert "+0.1397" in drawn.get_attribute("aria-label")
    assert "with all documents judged" in drawn.get_attribute("aria-label")
    assert "Better on other queries" not in told, "no probability says how judging ends"
    first = pair.judge_first[0]
    row = page.locator("#verdict tbody tr").first.inner_text()
    assert first.doc in row
    assert first.query in row
    assert DATA["queries"][first.query] in row
    assert DATA["documents"][first.doc][:40] in row
    assert page.locator("#verdict tbody tr").count() == len(pair.judge_first)


def test_many_systems_have_a_leaderboard_and_a_diagram(show, pages):
    result, text = pages[10, 7000]
    from goldrank.comparison.leaderboard import leaderboard

    board = leaderboard(result)
    page = show(text)
    assert page.inner_text("#verdict h2") == board.words
    rows = page.locator("[aria-label=Leaderboard] tbody tr:not(.above)").all_inner_texts()
    ranks = [f"{low} to {high}" if low < high else str(low) for low, high in (s.rank for s in board.standings)]
    assert [row.split("\t")[-1] for row in rows] == ranks
    assert page.locator("#board").bounding_box()["y"] < page.locator("#changed").bounding_box()["y"]
    drawn = page.locator(".halves svg")
    assert drawn.locator("circle").count() == 10
    assert drawn.locator("path[stroke-linecap=round]").count() == len(board.groups)


def test_a_leaderboard_does_not_decide_what_unjudged_documents_could():
    from goldrank.comparison.leaderboard import leaderboard

    qrels, runs = {}, {"a": {}, "b": {}, "c": {}}
    for i in range(30):
        qrels[f"q{i}"] = {"d": 1, "n": 0}
        runs["a"][f"q{i}"] = ["d", "n", "u"]
        runs["b"][f"q{i}"] = ["u", "v", "d"]
        runs["c"][f"q{i}"] = ["n", "d", "u"]
    result = compare(qrels, runs, "RR", statistics=Statistics(samples=500))
    assert result["RR", "a", "b"].could_be_turned
    board = leaderboard(result)
    held = {(pair.a, pair.b): pair for pair in board.pairs}
    assert held["a", "b"].verdict == "unclear"
    assert held["a", "b"].judge_first
    assert held["a", "c"].verdict == "worse"
    assert {"a", "b"} <= set(board.may_be_best)


def test_primary_first_and_roles_marked(show):
    qrels, runs = make_runs(40, ("one", "two"))
    result = compare(qrels, runs, ["AP", "nDCG@10", "Judged@10"], primary="nDCG@10", statistics=Statistics(samples=500))
    page = show(render(result, "html"))
    cells = page.locator("#pairs tbody tr td:nth-child(2)").all_inner_texts()
    assert [cell.split("\n") for cell in cells] == [
        ["nDCG@10", "primary"],
        ["AP", "secondary"],
        ["Judged@10", "diagnostic"],
    ]
    assert "decided by nDCG@10" in page.inner_text("header")


def test_names_are_cut_in_the_middle(pages):
    text = pages[10, 7000][1]
    assert all(f"v{i}<" in text for i in range(10))
    assert not re.search(r"a-long-system-name[\w/.-]*\.\.\.<", text)


def test_slices_have_differences_with_intervals(show, pages):
    result, text = pages[2, 7000]
    page = show(text)
    rows = page.locator("#slice-table tbody tr:visible").all_inner_texts()
    of_measure = [d for d in result.slices.differences if d.measure == "nDCG@10"]
    assert len(rows) == len(of_measure) == 10
    for row, part in zip(rows, of_measure, strict=True):
        assert f"{part.difference:+.4f}" in row
        assert f"{part.interval.low:+.4f} to {part.interval.high:+.4f}" in row
    assert page.locator("#slices ~ .charts svg circle").count() == 10


def test_all_queries_can_be_filtered_and_sorted(show, pages):
    result, text = pages[10, 7000]
    page = show(text)
    assert page.inner_text("#query-count") == "7,000 of 7,000 queries listed"
    assert page.locator("#query-rows > tr").count() == 50
    page.select_option("#pick-a", index=2)
    page.select_option("#pick-b", index=7)
    page.select_option("#pick-measure", label="AP")
    page.select_option("#pick-way", "down")
    values = result.values["AP"]
    delta = np.round(values[7], 4) - np.round(values[2], 4)
    assert page.inner_text("#query-count") == f"{int((delta < -1e-9).sum()):,} of 7,000 queries listed"
    page.click("#queries thead button[data-key=delta]")
    page.click("#queries thead button[data-key=delta]")
    worst = int(np.argmin(delta))
    cells = page.locator("#query-rows > tr").first.inner_text().split("\t")
    assert cells[1:4] == [f"{values[2][worst]:.4f}", f"{values[7][worst]:.4f}", f"{delta[worst]:+.4f}"]
    page.fill("#pick-text", "query-123")
    shown = page.locator("#query-rows .open").all_inner_texts()
    assert shown
    assert all("query-123" in name for name in shown)


def test_queries_are_found_by_their_texts(show, pages):
    page = show(pages[2, 16][1])
    page.fill("#pick-text", "kettle")
    assert page.locator("#query-rows > tr").count() == 1
    assert "how to descale a kettle" in page.inner_text("#query-rows")


def test_documents_come_by_their_effect(show, pages):
    """Worked out with the measure itself: the value with and without each document."""
    result, text = pages[2, 16]
    page = show(text)
    page.locator("#query-rows .open").first.click()
    query = page.locator("#query-rows .open").first.inner_text()
    rows = [row.split("\t") for row in page.locator(".detail tbody tr").all_inner_texts()]
    effects = [float(row[-1]) for row in rows]
    assert [abs(effect) for effect in effects] == sorted(map(abs, effects), reverse=True)
    from goldrank import evaluate

    for row, effect in zip(rows, effects, strict=True):
        doc = row[0].split("\n")[0]
        assert DATA["documents"][doc][:30] in row[0]
        worth = {}
        for name in ("overlap", "bm25"):
            ranking = best_first(RUNS[name][query])
            without = ["nothing" if d == doc else d for d in ranking]
            values = [evaluate({query: QRELS[query]}, {query: r}, "nDCG@10")["nDCG@10"] for r in (ranking, without)]
            worth[name] = values[0] - values[1]
        assert effect == pytest.approx(worth["bm25"] - worth["overlap"], abs=1.1e-4)
    delta = result.values["nDCG@10"][1] - result.values["nDCG@10"][0]
    assert sum(effects) == pytest.approx(delta[result.queries.index(query)], abs=5e-4)


def best_first(scores):
    """Best first, ties as trec_eval has them: the larger id first."""
    return sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)


def test_worth_of_documents_by_hand():
    """RR with relevant documents at 2 and 4: without the first 1/4 is left, without the second nothing changes."""
    placed = compare(
        {"q": {"d": 1, "e": 1, "n": 0}}, {"a": {"q": ["x", "d", "n", "e"]}, "b": {"q": ["e"]}}, "RR"
    ).placed
    labels = np.arange(3)
    found = document_worth(placed, parse("RR"), labels)
    assert placed[0].qrels.docs == ("d", "e", "n")
    assert found.tolist() == [[0.25, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert document_worth(placed, parse("nDCG(judged_only=True)@10"), labels) is None


def test_keyboard(show, pages):
    page = show(pages[2, 16][1])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    head = page.locator("#queries thead button[data-key=name]")
    head.focus()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert head.locator("xpath=..").get_attribute("aria-sort") == "ascending"
    opener = page.locator("#query-rows .open").first
    opener.focus()
    page.keyboard.press("Space")
    assert opener.get_attribute("aria-expanded") == "true"
    assert page.locator(".detail").is_visible()
    unreachable = (
        "[...document.querySelectorAll('button,select,input,summary,a,.scroll')].filter(e => e.tabIndex < 0).length"
    )
    assert page.evaluate(unreachable) == 0


def test_print(show, pages):
    page = show(pages[10, 16][1], color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("#pick-text").is_visible()
    assert not page.locator("nav").is_visible()
    assert page.locator("#verdict h2").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_reads_without_javascript(show, pages):
    page = show(pages[2, 16][1], java_script_enabled=False)
    assert page.locator("#verdict h2").is_visible()
    assert page.locator("#pairs tbody tr:visible").count() == 4
    assert page.locator("#query-rows tr").count() == 0
    assert "needs JavaScript" in page.inner_text("#query-count")


def test_hostile_texts(show):
    """Texts of queries and documents, which are shown in three places, are text."""
    texts = [text for text in NASTY if text.strip()]
    qrels = {f"q{i}": {f"d{i}": 1, f"n{i}": 0} for i in range(len(texts))}
    runs = {"a": {q: [f"u{q}", "v", f"d{q[1:]}"] for q in qrels}, "b": {q: [f"d{q[1:]}", "w"] for q in qrels}}
    queries = dict(zip(qrels, texts, strict=True))
    documents = {f"{kind}{i}": text for i, text in enumerate(texts) for kind in ("d", "n", "uq")}
    page = show(
        render(
            compare(qrels, runs, "RR", queries=queries, statistics=Statistics(samples=100)).with_documents(documents),
            "html",
        )
    )
    page.click("#query-more") if page.locator("#query-more").is_visible() else None
    for button in page.locator("#query-rows .open").all()[:60]:
        button.click()
    assert page.evaluate("window.hacked") is None
    assert page.locator("script").count() == 2
    assert page.locator("iframe, img, link, base, object, embed").count() == 0


@pytest.mark.parametrize("size", SIZES)
def test_size(pages, size):
    assert len(pages[size][1].encode()) < 3_000_000


@pytest.mark.parametrize(("scale", "size"), [(10_000, 2), (1_000_000, 3)])
def test_values_are_packed_without_loss(scale, size):
    import base64

    rows = np.array([[0.0, 0.12345, np.nan, -1.0], [5.0, 1.0, 0.5, np.nan]])
    packed = comparison_queries.packed(rows, scale)
    assert packed["size"] == size
    for row, text in zip(rows, packed["bits"], strict=True):
        raw = base64.b64decode(text)
        codes = [int.from_bytes(raw[i : i + size], "little") for i in range(0, len(raw), size)]
        values = [np.nan if code == 0 else (packed["low"] + code - 1) / scale for code in codes]
        np.testing.assert_allclose(values, row, atol=0.5001 / scale)
    wide = np.array([[0.0, 1e6, np.nan]])
    assert comparison_queries.packed(wide, scale)["rows"] == [[0, 10_000_000_000, None]]


def test_a_number_is_the_same_everywhere(show, pages):
    """Differences of rounded values are not rounded differences."""
    page = show(pages[2, 16][1])
    first = [
        row.split("\t") for row in page.locator("[aria-label='Queries that changed most'] tbody tr").all_inner_texts()
    ]
    listed = [row.split("\t") for row in page.locator("#query-rows > tr").all_inner_texts()]
    by_query = {row[0].split("\n")[0]: row[1:4] for row in listed}
    assert len(first) == 10
    for row in first:
        assert by_query[row[0].split("\n")[0]] == row[1:4]


def test_a_verdict_has_a_word_a_picture_and_a_probability(show):
    rng = np.random.default_rng(8)
    runs = [make(np.full(60, 0.4), run="old"), make(0.4 + rng.normal(0.05, 0.05, 60), run="new")]
    result = compare(runs, statistics=Statistics(margin=0.01))
    (pair,) = result.pairs
    page = show(render(result, "html"))
    assert page.inner_text("#verdict .word") == "▲ better"
    told = page.inner_text("#verdict")
    assert f"Better on other queries like these: {format_probability(pair.probability)}" in told
    assert page.locator("#verdict .zone").count() == 1
    # The interval is right of 0 in the picture as it is in the numbers.
    zero, low = (
        float(page.locator(f"#verdict .{name}").first.get_attribute("x1")[:-1]) for name in ("zero", "interval")
    )
    assert zero < low
