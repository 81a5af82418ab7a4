"""The explorer in a real browser: from the first page to why, judging by keyboard, two tabs, servers that go away."""

import signal

import pytest
from partly_judged import QRELS, RUNS, served_files
from served import Served

from goldrank import Runs, evaluate
from goldrank.judging.log import JudgementLog

pytestmark = pytest.mark.slow  # a real browser


@pytest.fixture
def served(tmp_path):
    with Served(*served_files(tmp_path), "--log", str(tmp_path / "log.db"), "--me", "mara", cache=tmp_path) as server:
        server.log = tmp_path / "log.db"
        yield server


class Watched:
    """A page whose errors and requests are remembered."""

    def __init__(self, browser, server, **options):
        self.context = browser.new_context(viewport={"width": 1400, "height": 900}, **options)
        self.base = server.base
        self.page = self.new()

    def new(self):
        page = self.context.new_page()
        self.errors, self.requests = [], []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: (self.errors.append(f"dialog {dialog.message}"), dialog.dismiss()))
        return page


@pytest.fixture
def watched(browser, served):
    made = Watched(browser, served)
    yield made
    made.context.close()


def until(page, condition, seconds=15):
    """Wait for an expression to be true. Playwright's own way needs `eval`, which the pages' policy refuses."""
    for _ in range(seconds * 20):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{condition} did not come true: {page.locator('main').inner_text()[:500]}")


def value(page, which):
    return page.locator(f'[data-value="{which}"]').inner_text()


def test_from_the_first_page_to_why_in_one_click(watched):
    page = watched.page
    page.goto(watched.base + "/")
    page.locator(".btn.go").click()
    assert page.locator("h1").inner_text() == "how to descale a kettle"
    said = page.locator(".why ol").inner_text()
    assert "Removing limescale from a kettle (grade 2) fell from 1 to 4. That alone is −0.4328 of −0.4826." in said
    assert "0.5174 to 1.0000, on average 0.7302" in said
    assert "Two documents above it were never judged. If the first has grade 2, overlap gains 0.3761." in said
    assert not watched.errors


def test_the_verdict_comes_and_is_that_of_the_command_line(watched):
    from goldrank import compare

    pair = compare(QRELS, RUNS, ["nDCG@10", "AP", "P@1"]).pairs[0]
    watched.page.goto(watched.base + "/")
    watched.page.wait_for_selector("#verdict:not([data-waiting])", timeout=60_000)
    said = watched.page.locator(".say").inner_text().replace("−", "-")
    assert pair.short_words in said
    assert f"{pair.interval.low:+.4f} to {pair.interval.high:+.4f}" in said


def test_judge_three_by_keyboard_undo_and_export(watched, served):
    page = watched.page
    page.goto(watched.base + "/query?id=q04")
    before = value(page, "b")
    judged = {}
    for i, grade in enumerate((2, 1, 0)):
        doc = page.locator('.row[aria-current="true"]').get_attribute("data-doc")
        while doc in QRELS["q04"]:
            page.keyboard.press("j")
            doc = page.locator('.row[aria-current="true"]').get_attribute("data-doc")
        judged[doc] = grade
        page.keyboard.press(str(grade) if i else f"Numpad{grade}")
        until(page, f"document.querySelectorAll('.row.un').length < {16 - 2 * i} && !document.querySelector('.busy')")
        until(page, "document.querySelector('#live').textContent.startsWith('✓')")
        page.wait_for_timeout(150)
    expected = evaluate({**QRELS, "q04": {**QRELS["q04"], **judged}}, Runs(RUNS), "nDCG@10")
    shown = expected["overlap"].per_query["nDCG@10"]["q04"]
    assert value(page, "b") == f"{shown:.4f}" != before
    assert f"before {before}" in page.locator(".vals").inner_text()
    # The export gives the same doubles on the command line.
    with JudgementLog(served.log, mode="r") as log:
        exported = log.qrels(onto=QRELS)
    assert evaluate(exported, Runs(RUNS), "nDCG@10")["overlap"].per_query == expected["overlap"].per_query
    for _ in range(3):
        page.keyboard.press("u")
        page.wait_for_timeout(500)
    assert value(page, "b") == before
    assert not watched.errors


def test_the_queue_by_keyboard(watched):
    page = watched.page
    page.goto(watched.base + "/judge")
    seen = []
    for key in ("0", "1", "s", "x", "2"):
        seen.append(page.locator("#item").get_attribute("data-doc") + page.locator("#item").get_attribute("data-query"))
        page.keyboard.press(key)
        shown = "(i => i.dataset.doc + i.dataset.query)(document.querySelector('#item'))"
        until(page, f"{shown} !== '{seen[-1]}'")
    assert len(set(seen)) == 5
    assert "3 of" in page.locator(".bar").inner_text()
    assert "✓ saved" in page.locator("#saved").inner_text()
    # Focus is on the new document, not lost.
    assert page.evaluate("document.activeElement.className") == "doc"
    page.keyboard.press("u")
    until(page, "document.querySelector('.bar').innerText.includes('2 of')")
    assert not watched.errors


def test_digits_in_fields_and_with_ctrl_are_no_grades(watched, served):
    page = watched.page
    page.goto(watched.base + "/judge")
    page.keyboard.press("c")
    page.keyboard.type("2 of 10, and u")
    assert page.locator("#comment").input_value() == "2 of 10, and u"
    page.keyboard.press("Enter")
    page.keyboard.press("Control+2")
    page.keyboard.press("Alt+1")
    page.keyboard.press("9")  # not offered
    page.wait_for_timeout(300)
    assert served.get("/judges")[2].count("There are no judgements yet") == 1
    page.keyboard.press("2")
    until(page, "document.querySelector('.bar').innerText.includes('1 of')")
    with JudgementLog(served.log, mode="r") as log:
        (event,) = log.entries()
    assert (event.grade, event.comment, event.judge, event.blind) == (2, "2 of 10, and u", "mara", False)
    assert event.seconds is not None
    assert len(event.seen) == 64


def test_keys_can_be_turned_off(watched, served):
    page = watched.page
    page.goto(watched.base + "/judge")
    page.keyboard.press("?")
    page.locator("#keys-help input").click()
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.wait_for_timeout(300)
    assert "There are no judgements yet" in served.get("/judges")[2]


def test_two_judges_in_two_tabs(watched, served):
    first, second = watched.page, watched.context.new_page()
    first.goto(watched.base + "/judge?judge=mara")
    second.goto(watched.base + "/judge?judge=jon")
    docs = [tab.locator("#item").get_attribute("data-doc") for tab in (first, second)]
    assert docs[0] != docs[1]
    for tab, grade in ((first, "1"), (second, "2")):
        tab.keyboard.press(grade)
        until(tab, "document.querySelector('.bar').innerText.includes('1 of')")
    with JudgementLog(served.log, mode="r") as log:
        assert [(event.judge, event.grade) for event in log.entries()] == [("mara", 1), ("jon", 2)]


def test_one_judge_in_two_tabs_is_asked(watched, served):
    first, second = watched.page, watched.context.new_page()
    for tab in (first, second):
        tab.goto(watched.base + "/judge")
    assert first.locator("#item").get_attribute("data-doc") == second.locator("#item").get_attribute("data-doc")
    first.keyboard.press("1")
    until(first, "document.querySelector('.bar').innerText.includes('1 of')")
    second.keyboard.press("2")
    second.wait_for_selector("#trouble .banner")
    assert "Changed meanwhile: you gave 2 here, another tab gave 1." in second.locator("#trouble").inner_text()
    second.get_by_role("button", name="Keep 2").click()
    until(second, "document.querySelector('.bar').innerText.includes('1 of')")
    with JudgementLog(served.log, mode="r") as log:
        assert [event.grade for event in log.entries()] == [1, 2]


def test_a_server_that_goes_away_and_comes_back(browser, tmp_path):
    arguments = (*served_files(tmp_path), "--log", str(tmp_path / "log.db"), "--me", "mara")
    with Served(*arguments, cache=tmp_path) as server:
        watched = Watched(browser, server)
        page = watched.page
        page.goto(server.base + "/judge")
        server.kill(signal.SIGKILL)
        page.keyboard.press("1")
        page.wait_for_selector("#trouble .banner")
        assert "1 judgement waits in this tab" in page.locator("#trouble").inner_text()
        port = server.where.port
    with Served(*arguments, port=port, cache=tmp_path):
        page.reload()  # the secret of the page that waited is no longer known
        until(page, "document.querySelector('.bar').innerText.includes('1 of')")
        assert page.evaluate("localStorage.length") in (0, 1)
        with JudgementLog(tmp_path / "log.db", mode="r") as log:
            assert [event.grade for event in log.entries()] == [1]
    watched.context.close()


def test_back_with_other_data_nothing_is_sent(browser, tmp_path):
    with Served(*served_files(tmp_path), "--log", str(tmp_path / "log.db"), cache=tmp_path) as server:
        watched = Watched(browser, server)
        page = watched.page
        page.goto(server.base + "/judge")
        server.kill(signal.SIGKILL)
        page.keyboard.press("1")
        page.wait_for_selector("#trouble .banner")
        port = server.where.port
    (tmp_path / "q").write_text("q04 0 clean-1 1\n")
    (tmp_path / "r").write_text("q04 Q0 clean-1 1 2.0 t\nq04 Q0 x 2 1.0 t\n")
    with Served(
        str(tmp_path / "q"), str(tmp_path / "r"), "--log", str(tmp_path / "other.db"), port=port, cache=tmp_path
    ):
        page.goto(f"http://127.0.0.1:{port}/judge")
        page.wait_for_selector("#trouble .banner")
        assert "other data" in page.locator("#trouble").inner_text()
        assert page.get_by_role("link", name="Save as a file").count() == 1
        with JudgementLog(tmp_path / "other.db", mode="r") as log:
            assert not list(log.entries())
    watched.context.close()


def test_one_judge_in_two_tabs_is_asked_on_the_query_page_too(watched, served):
    first, second = watched.page, watched.context.new_page()
    for tab in (first, second):
        tab.goto(watched.base + "/query?id=q04")
    first.keyboard.press("1")
    until(first, "document.querySelectorAll('.row.busy').length === 0 && /saved/.test(live.textContent)")
    second.keyboard.press("2")
    second.wait_for_selector("#trouble .banner")
    assert "Changed meanwhile: you gave 2 here, another tab gave 1." in second.locator("#trouble").inner_text()
    second.get_by_role("button", name="Keep 1").click()
    with JudgementLog(served.log, mode="r") as log:
        assert [event.grade for event in log.entries()] == [1]


ADDRESSES = ["/", "/?m=AP", "/queries?sort=gain&show=worse&q=plant", "/query?id=q10&m=AP&a=overlap&b=bm25",
             "/query?id=q04&from=1&ideal=1", "/doc?id=plant-2&query=q04", "/notes", "/judges",
             "/conflicts"]  # fmt: skip


def test_every_address_reloads_alike_and_back_works(watched):
    page = watched.page
    page.goto(watched.base + "/")
    page.wait_for_selector("#verdict:not([data-waiting])", timeout=60_000)
    for address in ADDRESSES:
        page.goto(watched.base + address)
        first = page.locator("main").inner_text()
        page.reload()
        assert page.locator("main").inner_text() == first, address
    page.goto(watched.base + "/queries?show=worse")
    page.locator("#queries a").first.click()
    page.wait_for_url("**/query?*")
    page.go_back()
    assert page.url.endswith("/queries?show=worse")
    assert not watched.errors


def test_all_reading_works_without_scripts(browser, served):
    watched = Watched(browser, served, java_script_enabled=False)
    page = watched.page
    for address in ADDRESSES:
        assert page.goto(watched.base + address).status == 200
        assert page.locator("h1").count() == 1
    page.goto(watched.base + "/query?id=q04")
    page.locator(".row .tx a").first.click()
    assert "vinegar" in page.locator("main").inner_text()
    page.goto(watched.base + "/queries")
    page.locator("select[name=m]").select_option("AP")
    page.get_by_role("button", name="Show").click()
    assert "m=AP" in page.url
    page.locator("input[type=search]").fill("kettle")
    page.get_by_role("button", name="Search").click()
    assert page.locator("#queries tbody tr").count() == 1
    watched.context.close()


def test_search_filters_and_keys_of_the_list(watched):
    page = watched.page
    page.goto(watched.base + "/queries")
    assert page.locator("#queries tbody tr").count() == 16
    page.get_by_role("link", name="Better").click()
    assert page.locator("#queries tbody tr").count() == 1
    page.goto(watched.base + "/queries")
    for _ in range(2):
        page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent") == "water on the inside of the windows"
    page.keyboard.press("/")
    page.keyboard.type("plant")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=plant*")
    assert page.locator("#queries tbody tr").count() == 3


def test_whole_texts_open_beside(watched):
    page = watched.page
    page.goto(watched.base + "/query?id=q04")
    page.locator(".col.b .row .tx a").nth(3).click()
    page.wait_for_selector("#panel[open] .whole")
    assert "citric acid" in page.locator("#panel").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#panel[open]").count() == 0
    assert not watched.errors


def test_unknown_queries_say_what_is_near(served):
    status, _, text = served.get("/query?id=q4")
    assert status == 404
    assert "Did you mean q04?" in text


def test_a_link_of_other_data_says_so(served):
    assert "made with other data (deadbeef)" in served.get("/query?id=q04&data=deadbeef")[2]
    assert "made with other data" not in served.get(f"/query?id=q04&data={served.secrets()['data']}")[2]


def test_pages_that_did_not_change_are_not_sent_again(served):
    headers = served.get("/query?id=q04")[1]
    assert served.get("/query?id=q04", If_None_Match=headers["etag"])[0] == 304
    assert served.post({"query": "q04", "doc": "plant-2", "action": "grade", "grade": 1})[0] == 200
    assert served.get("/query?id=q04", If_None_Match=headers["etag"])[0] == 200
