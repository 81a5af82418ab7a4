"""Questions of texts, evidence, one run, several runs and a history: from the first page to the detail."""

import json

import pytest
from served import Served

from goldrank import demo, evaluate, evaluate_texts, io
from goldrank.history.store import History

ITEMS = [
    {
        "id": "q1",
        "question": "When was the bridge built?",
        "contexts": ["The bridge was built in 1932 by an engineer.", "It cost two million."],
        "references": ["The bridge was built in 1932.", "The bridge cost two million pounds."],
    },
    {"id": "q2", "question": "Who?", "contexts": ["Nobody.", "Anna wrote it."], "references": ["Anna wrote it."]},
]


def write(path, items):
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return str(path)


def test_texts_to_the_detail(browser, tmp_path):
    first = write(tmp_path / "rag.jsonl", ITEMS)
    second = write(tmp_path / "rag2.jsonl", [{**item, "contexts": item["contexts"][1:]} for item in ITEMS])
    with Served(first, f"other={second}", "-m", "Cover@2", "-m", "RR", cache=tmp_path) as server:
        context = browser.new_context()
        page = context.new_page()
        page.goto(server.base + "/")
        expected = [evaluate_texts(path, "Cover@2")["Cover@2"] for path in (first, second)]
        shown = page.locator(".sys").inner_text()
        assert all(f"{value:.4f}" in shown for value in expected)
        page.locator(".btn.go").click()
        said = page.locator("main").inner_text()
        assert "other lost r1." in said
        assert "covers r1 (ROUGE-L recall 1.00, at least 0.7)" in said
        assert "near r2 (ROUGE-L recall 0.50, below 0.7)" in said
        assert server.get("/judge")[0] == 404
        context.close()


@pytest.mark.slow
def test_the_budget_is_a_line(tmp_path):
    path = write(tmp_path / "rag.jsonl", ITEMS)
    with Served(path, "-m", "Cover(tokens=10)", cache=tmp_path) as server:
        text = server.get("/query?id=q1")[2]
        assert "the budget ends here" in text


@pytest.mark.slow
def test_evidence_to_the_detail(tmp_path):
    source = "One. The bridge was built in 1932. It cost two million pounds. End."
    item = {
        "id": "q1",
        "question": "When?",
        "retrieved": [{"text": "The bridge was built in 1932.", "source": "s", "start": 5}],
        "evidence": [{"source": "s", "start": 5, "end": 34}, {"source": "s", "start": 35, "end": 62}],
        "sources": {"s": source},
    }
    path = write(tmp_path / "rag.jsonl", [item])
    with Served(path, "-m", "SpanRecall@5", cache=tmp_path) as server:
        status, _, text = server.get("/query?id=q1")
        assert status == 200
        assert "The bridge was built in 1932." in text
        assert f"{evaluate_texts(path, 'SpanRecall@5')['SpanRecall@5']:.4f}" in server.get("/")[2]


def files(folder, names):
    io.read_qrels(demo.load()["qrels"]).save(folder / "q.qrels")
    found = demo.runs()
    for name in names:
        io.as_run(found[name], name=name).save(folder / f"{name}.run")
    return [str(folder / "q.qrels"), *(str(folder / f"{name}.run") for name in names)]


@pytest.mark.slow
def test_one_run_is_held_against_the_ideal(tmp_path):
    with Served(*files(tmp_path, ["overlap"]), "-m", "nDCG@10", cache=tmp_path) as server:
        for path in ("/", "/queries", "/query?id=q04", "/judge"):
            assert server.get(path)[0] == 200
        text = server.get("/query?id=q04")[2]
        assert "ideal order" in text
        assert "No text" not in server.get("/queries")[2]


@pytest.mark.slow
def test_several_runs_have_a_matrix(tmp_path):
    qrels, *runs = files(tmp_path, ["bm25", "overlap"])
    named = [f"bm25={runs[0]}", f"overlap={runs[1]}", f"again={runs[0]}"]
    with Served(qrels, *named, "-m", "nDCG@10", cache=tmp_path) as server:
        text = server.get("/query?id=q04")[2]
        assert "All systems" in text
        assert server.get("/query?id=q04&a=again&b=overlap")[0] == 200
        assert server.get("/?a=no-such")[0] == 404


@pytest.fixture
def history(tmp_path):
    with History(tmp_path / "h.db") as made:
        for name in ("bm25", "overlap", "bm25"):
            made.record(evaluate(demo.load()["qrels"], demo.runs()[name], ["nDCG@10", "AP"]), label="main")
    return tmp_path / "h.db"


def test_a_history_to_the_detail_and_a_baseline(browser, history, tmp_path):
    with Served("--db", str(history), cache=tmp_path) as server:
        context = browser.new_context(viewport={"width": 1200, "height": 900})
        page = context.new_page()
        page.goto(server.base + "/")
        assert page.url.endswith("/history")
        assert "worse since record 2" in page.locator(".say").inner_text()
        page.locator("[data-confirm]").first.click()
        page.locator("#confirm-name").fill("main")
        page.locator("#confirm-again").fill("mian")
        page.locator("#confirm-set").click()
        page.wait_for_selector("#confirm-said:not(:empty)")
        assert "confirm" in page.locator("#confirm-said").inner_text()
        with History(history, mode="r") as found:
            assert found.baselines() == {}
        page.locator("#confirm-again").fill("main")
        page.locator("#confirm-set").click()
        page.wait_for_selector("td b")
        with History(history, mode="r") as found:
            assert found.baselines() == {"main": 3}
        page.get_by_role("link", name="compare").first.click()
        assert page.locator("#queries tbody tr").count() == 60
        context.close()


def test_what_is_no_history(tmp_path):
    (tmp_path / "h.db").write_text("nothing")
    with pytest.raises(AssertionError, match=r"h\.db"):
        Served("--db", str(tmp_path / "h.db"))
