"""The HTML report in a real browser: it works, it loads nothing, and no name runs a script."""

import numpy as np
import pytest

from goldrank import Queries, Runs, ScoresByRun, Statistics, compare, evaluate
from goldrank.data.scores import Column, Scores
from goldrank.report import comparison_page, comparison_queries
from goldrank.report.show import render

pytestmark = pytest.mark.slow

HOSTILE = [
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    "<!--<script>",
    "-->",
    "<img src=x onerror=window.hacked=1>",
    "<svg onload=window.hacked=1>",
    '" onmouseover="window.hacked=1',
    "' onfocus='window.hacked=1' autofocus='",
    "javascript:window.hacked=1",
    "{{ 7*7 }}",
    "{% raw %}",
    "${window.hacked=1}",
    "`-window.hacked=1-`",
    "]]><script>window.hacked=1</script>",
    "<![CDATA[<script>window.hacked=1</script>]]>",
    "&lt;script&gt;window.hacked=1&lt;/script&gt;",
    "&#60;script&#62;",
    "\u2028window.hacked=1\u2029",
    "\\u003cscript\\u003e",
    "</title><script>window.hacked=1</script>",
    "</style><script>window.hacked=1</script>",
    "</textarea><script>window.hacked=1</script>",
    "</svg><script>window.hacked=1</script>",
    "<iframe src=https://example.org></iframe>",
    "<link rel=stylesheet href=https://example.org/x.css>",
    "<base href=https://example.org/>",
    "<meta http-equiv=refresh content='0;url=https://example.org'>",
    "<style>@import 'https://example.org/x.css'</style>",
    "<a href=https://example.org ping=https://example.org>x</a>",
    "\x00\x1b[31m\x07\udcff __proto__ constructor",
]


@pytest.fixture
def report(data):
    qrels, runs = data
    kinds = {q: ("short", "long")[i % 2] for i, q in enumerate(qrels)}
    result = compare(
        qrels,
        runs,
        ["nDCG@10", "AP"],
        baseline="bm25",
        slice_by=["kind"],
        queries=Queries({}).with_column("kind", kinds),
        statistics=Statistics(samples=500),
    )
    return result, render(result, "html")


def test_sort_the_differences(show, report):
    page = show(report[1])
    page.click("#pairs thead button:has-text('B − A')")
    column = "[...document.querySelectorAll('#pairs tbody tr')].map(r => Number(r.cells[3].dataset.value))"
    down = page.evaluate(column)
    assert down == sorted(down, reverse=True)
    assert down == pytest.approx(sorted((p.difference for p in report[0]), reverse=True), abs=1e-5)
    page.click("#pairs thead button:has-text('B − A')")
    assert page.evaluate(column) == sorted(down)


def test_filter_the_differences(show, report):
    page = show(report[1])
    assert page.locator("#pairs tbody tr:visible").count() == 2, "of many systems the measure that decides comes first"
    page.select_option("select[data-field=measure][data-filters=pairs]", "")
    assert page.locator("#pairs tbody tr:visible").count() == 4
    page.select_option("select[data-field=measure][data-filters=pairs]", "AP")
    assert page.locator("#pairs tbody tr:visible").count() == 2
    verdict = report[0].of("AP")[0].verdict
    page.select_option("select[data-field=verdict]", verdict)
    wanted = sum(pair.verdict == verdict for pair in report[0].of("AP"))
    assert page.locator("#pairs tbody tr:visible").count() == wanted


def test_explore_queries(show, report, data):
    qrels, runs = data
    result, text = report
    page = show(text)
    assert page.inner_text("#query-count") == "40 of 40 queries listed"
    page.fill("#pick-text", "q001")
    assert page.locator("#query-rows tr").count() == 10
    page.fill("#pick-text", "")
    page.select_option("#pick-b", label="hybrid")
    page.select_option("#pick-measure", label="AP")
    page.select_option("#pick-way", "up")
    pair = result["AP", "bm25", "hybrid"]
    assert page.locator("#query-rows tr").count() == pair.wins
    page.click("#queries thead button[data-key=name]")
    names = page.locator("#query-rows .open").all_inner_texts()
    assert names == sorted(names)
    button = page.locator("#query-rows .open").first
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    rows = page.locator(".detail table tbody tr").all_inner_texts()
    relevant = {doc for doc, grade in qrels[names[0]].items() if grade >= 1}
    found = {row.split("\t")[0]: row.split("\t") for row in rows}
    assert relevant <= set(found)
    for doc in relevant:
        ranking = sorted(runs["hybrid"][names[0]], key=runs["hybrid"][names[0]].get, reverse=True)
        assert found[doc][3] == (str(ranking.index(doc) + 1) if doc in ranking else "-")
    page.keyboard.press("Enter")
    assert page.locator(".detail").count() == 0


def test_causes_in_the_page_are_those_of_diff(show, data):
    from goldrank import diff

    qrels, runs = data
    two = {name: runs[name] for name in ("bm25", "hybrid")}
    page = show(render(compare(qrels, two, "nDCG@10", statistics=Statistics(samples=200)), "html"))
    changes = diff(qrels, two["bm25"], two["hybrid"], "nDCG@10")
    checked = 0
    for change in changes.read_first(5):
        page.fill("#pick-text", change.query)
        page.locator("#query-rows .open").first.click()
        rows = [row.split("\t") for row in page.locator(".detail table tbody tr").all_inner_texts()]
        shown = {row[0]: row[4] for row in rows}
        relevant = [document for document in change.documents if document.grade >= 1]
        assert [shown[document.doc] for document in relevant] == [document.cause for document in relevant]
        checked += len(relevant)
    assert checked >= 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_screens_do_not_scroll_sideways(show, report, scheme):
    page = show(report[1], viewport={"width": 400, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)"
    )


def test_prints_without_controls(show, report):
    page = show(report[1])
    page.emulate_media(media="print")
    assert not page.locator("#pick-text").is_visible()
    assert page.locator("#systems").is_visible()


def test_works_without_javascript_up_to_the_explorer(show, report):
    page = show(report[1], java_script_enabled=False)
    assert page.locator("#pairs tbody tr").count() == 4
    assert page.locator("svg").count() >= 6


def test_hostile_names_run_no_script(show):
    assert len(HOSTILE) == 30
    rng = np.random.default_rng(0)
    qrels = {f"{text}#{i}": {text: 1, f"{text}2": 0} for i, text in enumerate(HOSTILE)}
    runs = {
        name: {
            query: {doc: float(rng.random()) for doc in [*judged, "x", "y", name]} for query, judged in qrels.items()
        }
        for name in HOSTILE
    }
    kinds = dict(zip(qrels, HOSTILE, strict=True))
    result = compare(
        evaluate(qrels, Runs(runs), ["RR", "AP"], overlap="allow"),
        baseline=HOSTILE[0],
        slice_by=["<b>kind"],
        queries=Queries({}).with_column("<b>kind", kinds),
        statistics=Statistics(samples=200),
    )
    page = show(comparison_page.render(result))
    for button in page.locator("#query-rows .open").all():
        button.click()
    page.fill("#pick-text", "<script>")
    page.select_option("#pick-b", index=4)
    for button in page.locator("#query-rows .open").all():
        button.click()
    page.hover("svg >> nth=0")
    assert page.evaluate("window.hacked") is None
    assert page.locator("script").count() == 2
    assert page.locator("iframe, img, link, base, object, embed, style ~ style").count() == 0
    systems = page.locator("[aria-label=Systems] tbody tr")
    assert systems.count() == 30
    assert "<img src=x onerror=window.hacked=1>" in systems.nth(4).inner_text()


def test_saved_scores_make_a_page_too(show, data, tmp_path):
    qrels, runs = data
    result = compare(qrels, runs, ["AP"], statistics=Statistics(samples=200))
    saved = tmp_path / "scores.json"
    result.scores.save(saved)
    page = show(render(compare(ScoresByRun.load(saved), statistics=Statistics(samples=200)), "html"))
    page.locator("#query-rows .open").first.click()
    assert "saved scores" in page.locator(".detail").inner_text()


def test_size_for_a_thousand_queries(make):
    qrels, runs = make(1_000, ("one", "two", "three", "four", "five"), depth=12)
    result = compare(
        qrels, runs, ["nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10"], statistics=Statistics(samples=200)
    )
    assert len(comparison_page.render(result).encode()) < 1_000_000


@pytest.mark.parametrize(("systems", "measures", "queries"), [(10, 10, 1_000), (30, 2, 1_000)])
def test_size_for_many_systems(systems, measures, queries):
    rng = np.random.default_rng(0)
    ids = tuple(f"query-number-{i}" for i in range(queries))
    values = rng.random((systems, measures, queries))
    scores = [
        Scores(
            f"system {s}",
            ids,
            {f"nDCG@{m + 1}": Column(f"nDCG@{m + 1}", v, float(v.mean()), "mean") for m, v in enumerate(values[s])},
        )
        for s in range(systems)
    ]
    text = comparison_page.render(compare(scores, statistics=Statistics(samples=100)))
    assert len(text.encode()) < 1_500_000
    assert all(f"system {s}" in text for s in range(systems))


def test_queries_beyond_the_limit_are_counted(show, monkeypatch):
    monkeypatch.setattr(comparison_queries, "MOST_VALUES", 2_000)
    rng = np.random.default_rng(1)
    queries = tuple(f"q{i}" for i in range(1_500))
    systems = [
        Scores(name, queries, {"AP": Column("AP", values, float(values.mean()), "mean")})
        for name in ("a", "b")
        for values in [rng.random(1_500)]
    ]
    page = show(render(compare(systems, statistics=Statistics(samples=200)), "html"))
    assert page.inner_text("#query-count") == "1,000 of 1,000 queries listed"
    assert page.locator("text=Listed are the 1,000 of 1,500 queries").count() == 1
    assert page.locator("#query-rows tr").count() == 50
    page.click("#query-more")
    assert page.locator("#query-rows tr").count() == 300


def test_policy_is_strict(report):
    head = report[1].split("</head>")[0]
    assert "default-src 'none'; script-src 'sha256-" in head
    assert "unsafe" not in head


def test_the_page_of_a_history(show, tmp_path):
    """Its tables sort, and no name that was recorded runs a script."""
    from made_up_scores import make

    from goldrank import History
    from goldrank.data.queries import Queries
    from goldrank.history import trend_page
    from goldrank.history.details import line_details
    from goldrank.history.over_time import Trend
    from goldrank.history.trends import trend_lines

    with History(tmp_path / "history.db") as history:
        for i in range(12):
            values = np.linspace(0, 0.5, 20) + 0.2 * (i >= 7) + 0.01 * np.cos(np.arange(20) * (i + 1))
            history.record(make(values), label="main", note=f"note {i}")
        for one, other in zip(HOSTILE[:20], HOSTILE[-20:], strict=True):  # few enough lines for the chart to have all
            history.record(make(np.ones(3), run=one, criteria=other), commit=other, branch=one, note=other, tags=[one])
            history.record(make(np.ones(3), run="x"), label="dev", commit=one, note=one)
        halves = Queries({f"q{i}": {"half": HOSTILE[i % 2]} for i in range(20)})
        main, *rest = trend_lines(history, limit=100)
        lines = [line_details(history, main, slice_by=["half"], queries=halves)]
        lines += [line_details(history, line) for line in rest]
    page = show(trend_page.page([Trend(main.measure, tuple(lines), {HOSTILE[0]: 3})]))
    assert page.evaluate("window.hacked") is None
    main = page.locator("svg:visible").first
    dots = [main.locator(f".dot[href='#r{number}']") for number in range(1, 13)]
    assert all(dot.count() == 1 for dot in dots), "a dot for each record of main"
    assert main.locator(".tip:visible").count() == 0
    dots[7].locator(".hit").hover(force=True)
    assert "note 7" in main.locator(".tip:visible").text_content()
    dots[7].locator(".hit").click(force=True)
    assert page.url.endswith("#r8")
    assert "note 7" in page.locator("section:target").inner_text()
    assert page.locator("figure").count() == 2, "all queries, and slices of main"
    assert page.locator(".verdicts li").count() == 1
    assert "better since record 8" in page.inner_text(".verdicts li")
    table = page.locator("table[data-sortable]").first
    table.locator("thead button:has-text('nDCG@10')").click()
    values = [float(cell) for cell in table.locator("tbody tr td:nth-child(5)").all_inner_texts()]
    assert values == sorted(values, reverse=True)
    assert len(values) == 12


@pytest.mark.parametrize("width", [400, 900, 1400])
def test_the_page_of_a_history_fits(show, tmp_path, width):
    from made_up_scores import make

    from goldrank import History
    from goldrank.history import trend_page

    rng = np.random.default_rng(0)
    with History(tmp_path / "history.db") as history:
        for i in range(60):
            label = "main" if i % 2 else "a-very-long-branch-name/" + "and-then-some-" * 5
            history.record(make(rng.random(16)), label=label, note="words " * 20, commit=f"{i:040x}")
        found = history.trend()
    page = show(trend_page.page([found]), viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    drawn = page.locator("figure svg:visible")
    assert drawn.count() == 1
    box = drawn.bounding_box()
    assert box["width"] > 0.85 * min(width, 1080)
    sizes = page.evaluate(
        "[...document.querySelectorAll('figure svg')].filter(s => s.getBoundingClientRect().width)"
        ".map(s => s.getBoundingClientRect().width / s.viewBox.baseVal.width * 12)"
    )
    assert min(sizes) > 9, "text can be read"
