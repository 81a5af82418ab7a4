"""Every kind of session with markup as ids, names, texts, titles, grades, judges, comments, labels and measures.

A browser follows the links of the pages: nothing runs, and nothing is asked of anybody else.
"""

from __future__ import annotations

from urllib.parse import quote

import hostile_names
import pytest
from browsing import EVENTS, FOREIGN
from hostile_names import MARKUP
from served import Served

from goldrank import History, Scores

pytestmark = pytest.mark.slow

NAMES = [text.replace("=", "-") for text in MARKUP]
PAGES = 40
LINKS = "found => found.map(a => new URL(a.getAttribute('href'), location).href.split('#')[0])"


def documents(folder):
    grades = [f"{grade}\t{MARKUP[grade]}\t{MARKUP[grade + 1]}" for grade in range(3)]
    (folder / "grades.tsv").write_text("\n".join(grades), "utf-8")
    runs = [f"{NAMES[i]}={folder / f'marked{i}.json'}" for i in range(3)]
    texts = str(folder / "marked.jsonl")
    return [
        *(str(folder / "marked-qrels.json"), *runs, "--documents", texts, "--queries", texts),
        *("--slice", "kind", "--criteria", str(folder / "grades.tsv"), "--me", NAMES[5], "--title", MARKUP[6]),
        *("--log", str(folder / "log.db"), "--db", history(folder)[1]),
    ]


def texts(folder):
    path = str(folder / "marked-texts.jsonl")
    return [path, f"{NAMES[3]}={path}", "--matching", "contains", "--title", MARKUP[4]]


def history(folder):
    with History(folder / "h.db") as made:
        for i in range(6):
            said = {"branch": MARKUP[i + 1], "note": MARKUP[i + 2], "commit": MARKUP[i + 3], "tags": {"x": MARKUP[i]}}
            made.record(Scores.load(folder / f"m{i % 3}.json"), label=MARKUP[i % 2], **said)
        made.set_baseline(MARKUP[7], 1)
    (folder / "rules.toml").write_text("rules = ['AP >= 0.9']\n")
    return ["--db", str(folder / "h.db"), "--rules", str(folder / "rules.toml")]


@pytest.mark.parametrize("kind", [documents, texts, history])
def test_nothing_runs_and_nothing_is_sent(browser, tmp_path, kind):
    hostile_names.write_marked(tmp_path)
    with Served(*kind(tmp_path), cache=tmp_path) as served:
        context = browser.new_context()
        page = context.new_page()
        requests, troubles = [], []
        page.on("request", lambda request: requests.append(request.url))
        page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda said: troubles.append(said.text))
        if kind is documents:
            for judge in (MARKUP[0], MARKUP[2]):
                query, grade = f"{MARKUP[8]} 8", MARKUP.index(judge) % 3
                said = {"query": query, "doc": query, "action": "grade", "grade": grade, "judge": judge}
                assert served.post({**said, "comment": MARKUP[5]})[0] == 200
        wrong = [f"/{name}?id={quote(MARKUP[0])}&m={quote(MARKUP[1])}" for name in ("query", "doc", "history", "x")]
        waiting = [served.base + path for path in ("/", "/judge", "/judges", "/conflicts", "/notes", *wrong)]
        seen = {}
        while waiting and len(seen) < PAGES:
            address = waiting.pop(0)
            answer = page.goto(address)
            assert answer.status in (200, 404)
            troubles[:] = [each for each in troubles if "404 (Not Found)" not in each or answer.status == 200]
            seen[address] = answer.status
            assert page.evaluate("window.hacked") is None, address
            assert page.evaluate(EVENTS) == [], address
            assert page.locator(FOREIGN.replace(", form", "")).count() == 0, address
            forms = page.eval_on_selector_all("form", "found => found.map(f => f.getAttribute('action') || '/')")
            assert all(to.startswith("/") and not to.startswith("//") for to in forms), address
            links = page.eval_on_selector_all("a[href]", LINKS)
            assert all(link.startswith((served.base, "blob:")) for link in links), address
            new = {link for link in links if link not in seen and "/take." not in link}
            waiting += sorted(new - set(waiting), key=lambda link: link.partition("?")[0] in str(seen))
        assert sum(status == 200 for status in seen.values()) >= 5
        assert not [url for url in requests if not url.startswith(served.base)]
        assert troubles == []
        context.close()
