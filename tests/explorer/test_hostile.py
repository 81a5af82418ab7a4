"""Hostile ids, texts, comments and names: every page opens, nothing runs, nothing is sent anywhere."""

import json

import pytest
from served import Served

from goldrank.base import ids

SCRIPT = "<script>window.hacked=1;fetch('http://evil.example/s')</script>"
QUERIES = [
    b"http://evil.example/a?b=c&d=e#f",
    b"..",
    b"../../etc/passwd",
    b"<script>window.hacked=1</script>",
    b'"><img/src=x/onerror=window.hacked=1>',
    b"{{7*7}}{%raw%}",
    b"~0123456789abcdef0123456789abcdef",
    b"\xff\xfe\x80",
    "\u202etxt.exe\u202c".encode(),
    b"a%00b%2e%2e",
    b"x" * 65_536,
    b"+&=;?#",
]
TEXTS = [
    SCRIPT,
    "</script></style></title></textarea>--><svg onload=window.hacked=1><a href='javascript:hacked=1'>x</a></svg>",
    "{{ config }} {% include '/etc/passwd' %} ${7*7} #{7*7}",
    "</p><style>*{background:url(http://evil.example/css)}</style><link rel=stylesheet href=//evil.example/x>",
    "w" * 1_000_000,
    "NUL \x00 and \x1b[31m and \u202e turned \u2066 isolated",
    "half \ud800 of a pair",
    "<iframe src=http://evil.example/f></iframe><base href=http://evil.example/>"
    "<meta http-equiv=refresh content='0;url=http://evil.example'>",
    "javascript:window.hacked=1",
]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    with (folder / "q").open("wb") as qrels, (folder / "r").open("wb") as run, (folder / "r2").open("wb") as other:
        for i, query in enumerate(QUERIES):
            for j in range(len(TEXTS)):
                doc = b"%b-%d" % (query[:200], j)
                if j < 4:
                    qrels.write(b"%b 0 %b %d\n" % (query, doc, j % 3))
                run.write(b"%b Q0 %b 0 %d t\n" % (query, doc, 20 - j))
                other.write(b"%b Q0 %b 0 %d t\n" % (query, doc, 20 + (j * (i + 2)) % 7))
    with (folder / "docs.jsonl").open("w") as file:
        for query in QUERIES:
            for j, text in enumerate(TEXTS):
                name = ids.decode(b"%b-%d" % (query[:200], j))
                if name.isprintable() or "\u202e" in name:
                    file.write(json.dumps({"_id": name, "title": text[:100], "text": text}) + "\n")
    texts = {ids.decode(q): TEXTS[i % len(TEXTS)][:5_000] for i, q in enumerate(QUERIES)}
    with (folder / "queries.jsonl").open("w") as file:
        for query, text in texts.items():
            if "\ud800" not in text and query.isprintable():
                file.write(json.dumps({"_id": query, "text": text}) + "\n")
    system = f"{SCRIPT[:50]}{{{{7*7}}}}"
    arguments = [str(folder / "q"), f"a{SCRIPT}={folder / 'r'}", f"{system}={folder / 'r2'}"]
    # A name is what stands before the first '=', so that one without it is hostile in another way.
    arguments[1:] = [f"<b>A</b>={folder / 'r'}", f"<img src onerror alert(1)>={folder / 'r2'}"]
    options = ["--documents", str(folder / "docs.jsonl"), "--queries", str(folder / "queries.jsonl"), "-m", "nDCG@10"]
    options += ["--title", SCRIPT, "--log", str(folder / "log.db")]
    with Served(*arguments, *options, cache=folder) as running:
        yield running


def test_nothing_runs_and_nothing_is_sent(browser, served):
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    requests, errors = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: (errors.append("dialog"), dialog.dismiss()))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)

    def look(address):
        answer = page.goto(address)
        assert answer.status == 200, address[:200]
        assert page.evaluate("window.hacked") is None
        return page

    # A judge with a hostile name and comment.
    for judge, grade in ((SCRIPT[:90], 0), ("</b><svg/onload=hacked=1>", 1)):
        hostile = {"query": "..", "doc": "..-5", "action": "grade", "grade": grade, "judge": judge, "comment": TEXTS[1]}
        assert served.post(hostile)[0] == 200
    look(served.base + "/queries")
    links = page.eval_on_selector_all("#queries a", "found => found.map(a => a.href)")
    assert len(links) == len(QUERIES)
    docs = []
    for link in links:
        look(link)
        found = page.eval_on_selector_all(".row .tx a", "found => found.map(a => a.href)")
        assert found
        docs += found[:2] + found[-1:]
        assert page.evaluate("document.documentElement.scrollWidth") <= 1200, link[:100]
    for link in docs:
        look(link)
    for path in (
        "/",
        "/judge",
        "/judge?blind=1",
        "/judges",
        "/conflicts",
        "/notes",
        "/queries?q=%3Cscript%3E",
        "/doc?id=..-1&query=..",
    ):
        look(served.base + path)
    assert not [url for url in requests if not url.startswith(served.base)]
    assert not errors
    context.close()


def test_texts_are_shown_as_they_are(browser, served):
    context = browser.new_context()
    page = context.new_page()
    page.goto(served.base + "/doc?id=..-0&query=..")
    assert SCRIPT in page.locator("main").inner_text()
    page.goto(served.base + "/doc?id=..-5&query=..")
    shown = page.locator("main").inner_text()
    assert "\\x00" in shown
    assert "\\u202e" in shown
    context.close()


TAKEN = [("overview", "svg"), *((of, form) for of in ("overview", "queries") for form in ("csv", "md", "tex"))]


@pytest.mark.parametrize(("of", "form"), TAKEN)
def test_what_is_taken_away_is_escaped(served, form, of):
    status, headers, text = served.get(f"/take.{form}?of={of}")
    assert status == 200
    assert "attachment" in headers["content-disposition"]
    if form == "svg":
        assert "<img" not in text
