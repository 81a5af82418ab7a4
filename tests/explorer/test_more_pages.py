"""Filters by note, withdrawing many, evidence in its source, lines to references, gates of records, other sources."""

import json
import re
from collections import namedtuple

import pytest
from places import ROOT
from served import Served

from goldrank import demo, evaluate, io, read_queries
from goldrank.conventions import Convention
from goldrank.data.text_item import EvidencePlaces, Span, TextItem
from goldrank.explorer import queries_page, start, texts_page
from goldrank.explorer.judging_session import Judging, RefusedError
from goldrank.explorer.session import Session
from goldrank.history.store import History
from goldrank.judging.log import JudgementLog
from goldrank.match.explain_places import explain_places

QRELS = {"q1": {"d1": 1}, "q2": {"d1": 0}, "q3": {"d1": 1, "d2": 0}, "q4": {"d9": 1}}
RUNS = {
    "a": {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 1.0}, "q3": {"d1": 1.0, "d2": 1.0}},
    "b": {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d1": 1.0}, "q3": {"d1": 3.0, "d2": 1.0}, "q4": {"d9": 1.0}},
}


def session():
    runs = [io.as_run(run).renamed(name) for name, run in RUNS.items()]
    return Session("", io.as_qrels(QRELS), runs, Convention(), ["nDCG@10"])


@pytest.mark.parametrize(
    ("code", "queries"),
    [("missing-queries", ["q4"]), ("no-relevant", ["q2"]), ("tied-documents", ["q3"]), ("no-such-code", [])],
)
def test_queries_by_the_code_of_a_note(code, queries):
    made = session()
    numbers, counts = queries_page.selected(made, made.view(), {"note": code})
    assert [made.queries[i] for i in numbers] == queries
    assert counts.get(f"note:{code}", 0) == len(queries)


def test_many_judgements_are_withdrawn_at_once(tmp_path):
    with JudgementLog(tmp_path / "log.db") as log:
        for i, (judge, doc) in enumerate([("ann", "d1"), ("bob", "d1"), ("ann", "d2"), ("ann", "d1")], 1):
            assert log.add(judge, "q1", doc, i % 2).number == i
        assert [event.number for event in log.withdraw("ann", since=1)] == [3, 4]
        standing = log.latest()
        assert standing["q1", "d1"]["ann"].grade == 1  # what was said before counts again
        assert standing["q1", "d2"]["ann"].grade is None
        assert standing["q1", "d1"]["bob"].grade == 0
        assert [event.number for event in log.withdraw("ann")] == [1]
        assert log.withdraw("ann") == log.withdraw("nobody") == []
        assert log.check() == 7


def test_withdrawing_needs_the_name_and_moves_the_numbers(tmp_path):
    made = start.demo_session()
    judging = Judging(made, str(tmp_path / "log.db"), "me")
    before = [system.mean(made.measures[0]) for system in made.systems]
    for doc in ("plant-7", "food-4"):
        judging.add({"query": "q04", "doc": doc, "action": "grade", "grade": 2, "data": made.data_hash})
    assert [system.mean(made.measures[0]) for system in made.systems] != before
    asked = {"action": "withdraw_all", "judge": "me", "data": made.data_hash}
    for wrong in ({}, {"confirm": "Me"}, {"confirm": "me", "since": -1}, {"confirm": "me", "since": "x"}):
        with pytest.raises(RefusedError):
            judging.add({**asked, **wrong})
    assert judging.add({**asked, "confirm": "me"})["withdrawn"] == 2
    assert [system.mean(made.measures[0]) for system in made.systems] == before
    with pytest.raises(RefusedError):
        judging.add({**asked, "confirm": "me"})


SOURCE = "One. The bridge was built in 1932. It cost two million pounds. End."


def test_evidence_is_shown_in_its_source():
    wanted = [EvidencePlaces(((Span("s", 5, 34),),)), EvidencePlaces(((Span("s", 35, 62),),))]
    item = TextItem("q1", ["The bridge was built"], spans=[Span("s", 5, 25)], evidence=wanted)
    found = explain_places(item, {"s": SOURCE})
    (shown,) = texts_page.in_sources([found, None])
    assert "".join(one["text"] for one in shown["stretches"]) == SOURCE
    told = [(one["text"], one["evidence"], one["ranks"]) for one in shown["stretches"]]
    assert told == [
        ("One. ", [], ["", ""]),
        ("The bridge was built", ["r1"], ["1", ""]),
        (" in 1932.", ["r1"], ["", ""]),
        (" ", [], ["", ""]),
        ("It cost two million pounds.", ["r2"], ["", ""]),
        (" End.", [], ["", ""]),
    ]


def test_lines_lead_from_references_to_texts(tmp_path):
    item = {"id": "q1", "contexts": ["x y", "Anna wrote it."], "references": ["Anna wrote it.", "Bob read it all."]}
    path = tmp_path / "rag.jsonl"
    path.write_text(json.dumps(item) + "\n")
    made = start.text_session_of([(None, str(path))], measures=["RR"], matching="rouge-l:0.7")
    drawn = texts_page.drawing([made.systems[0].scores.explain("q1")])
    solid = [line for line in drawn["sides"][0]["lines"] if "rel" in line["style"]]
    # From the middle of row 1 (20 of 40) to the middle of row 2.
    assert [line["path"] for line in solid] == ["M0 20C45 20 45 60 90 60"]
    assert [line["title"] for line in solid] == ["text 2 covers r1"]


@pytest.fixture
def history(tmp_path):
    with History(tmp_path / "h.db") as made:
        for name in ("bm25", "overlap"):
            made.record(evaluate(demo.load()["qrels"], demo.runs()[name], ["nDCG@10"]), label="main")
        made.set_baseline("main", 1)
    return tmp_path / "h.db"


@pytest.mark.slow
def test_records_are_held_to_rules(history, tmp_path):
    (tmp_path / "rules.toml").write_text('[[rule]]\nmeasure = "nDCG@10"\nfloor = 0.99\n')
    with Served("--db", str(history), "--rules", str(tmp_path / "rules.toml"), cache=tmp_path) as server:
        assert '<span class="chip worse">fail</span>' in server.get("/history")[2]
        assert "Gate: the second held against the first" in server.get("/records?a=1&b=2")[2]
    with Served("--db", str(history), cache=tmp_path) as server:
        assert "chip worse" not in server.get("/history")[2].partition("<tbody>")[2].replace('worse">worse', "")
        assert "Gate:" not in server.get("/records?a=1&b=2")[2]


Doc = namedtuple("Doc", "doc_id title text")
Query = namedtuple("Query", "query_id text")


class Dataset:
    """Shaped as a dataset of ir_datasets."""

    def docs_store(self):
        return self

    def get(self, doc):
        return Doc(doc, f"title of {doc}", "text")

    def queries_iter(self):
        return iter([Query("q1", "what is one"), Query("q2", "what is two")])


def test_objects_shaped_as_datasets():
    known = read_queries(Dataset())
    assert {query: one.text for query, one in known.items()} == {"q1": "what is one", "q2": "what is two"}
    runs = {name: io.as_run(run) for name, run in RUNS.items()}
    made = start.session_of(QRELS, runs, start.PageTexts(docs=Dataset(), queries=Dataset()))
    made.texts.wait()
    assert made.texts.get("d1").title == "title of d1"
    assert made.text_of("q2") == "what is two"


def test_serving_from_python(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    served = []
    monkeypatch.setattr(start, "run", lambda session, *more: served.append(session))
    start.serve(QRELS, RUNS, ["nDCG@10"], texts=start.PageTexts(docs=Dataset()), access=start.Access(browser=False))
    start.serve(QRELS, RUNS["a"], texts=start.PageTexts(docs={"d1": "text"}), read_only=True)
    assert [[system.name for system in one.systems] for one in served] == [["a", "b"], ["run"]]
    assert served[0].text_of("q1") == "what is one"


Judgement = namedtuple("Judgement", "query_id doc_id relevance iteration")


class JudgedDataset(Dataset):
    def qrels_iter(self):
        return iter([Judgement("q1", "d1", 1, "0"), Judgement("q2", "d1", 0, "0")])


def test_the_example_of_the_page(monkeypatch, tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "explorer.md").read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for name in ("a.run", "b.run"):
        (tmp_path / name).write_text("q1 Q0 d1 1 2.5 t\nq2 Q0 d1 1 2.5 t\n")
    served = []
    monkeypatch.setattr(start, "run", lambda session, *more: served.append(session))
    exec(code, {"dataset": JudgedDataset()})
    assert [system.name for system in served[0].systems] == ["old", "new"]
    assert served[0].text_of("q1") == "what is one"


def test_withdrawing_in_the_browser(browser, tmp_path):
    with Served("--demo", "--log", str(tmp_path / "log.db"), cache=tmp_path) as server:
        for doc in ("plant-7", "food-4"):
            server.post({"query": "q04", "doc": doc, "action": "grade", "grade": 2, "judge": "ann"})
        context = browser.new_context()
        page = context.new_page()
        page.goto(server.base + "/judges")
        page.locator("[data-confirm]").click()
        assert page.locator("#confirm-what").inner_text() == "ann"
        page.locator("#confirm-set").click()
        page.wait_for_selector("#confirm-said:not(:empty)")
        page.locator("#confirm-again").fill("ann")
        page.locator("#confirm-set").click()
        page.wait_for_selector("[data-confirm]", state="detached")
        context.close()
        with JudgementLog(tmp_path / "log.db", mode="r") as log:
            assert [event.action for event in log.entries()] == ["grade", "grade", "withdraw", "withdraw"]


@pytest.mark.slow
def test_every_page_has_a_body(tmp_path):
    with Served("--demo", "--log", str(tmp_path / "log.db"), cache=tmp_path) as server:
        for path in ("/", "/queries", "/query?id=q04", "/judge", "/judges", "/conflicts", "/notes", "/part/judge"):
            assert "</h" in server.get(path)[2], path


def test_quoted_evidence_is_shown_in_its_source(tmp_path, capsys):
    """`serve results --gold --evidence`: the source of the quotation is on the question's page."""
    from goldrank.cli import run as command

    source = "Die Mühle wurde 1889 gebaut. Sie ist 33,5 m hoch."
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "de.md").write_text(source, encoding="utf-8")
    gold = {"id": "q1", "question": "Wie hoch?", "evidence": [{"source": "de.md", "quote": "Sie ist 33,5 m hoch."}]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold))
    result = {"id": "q1", "retrieved": [{"id": "c1", "text": source[29:], "source": "de.md", "start": 29, "end": 49}]}
    (tmp_path / "results.jsonl").write_text(json.dumps(result))

    arguments = ["serve", str(tmp_path / "results.jsonl"), "-o", str(tmp_path / "pages")]
    shown = ["--gold", str(tmp_path / "gold.jsonl"), "--evidence", str(tmp_path / "docs")]
    assert command([*arguments, *shown]) == 0, capsys.readouterr().err
    (page,) = (tmp_path / "pages").glob("query-*.html")
    text = page.read_text(encoding="utf-8")
    assert "Source de.md" in text
    assert "Die Mühle wurde 1889 gebaut." in text
    assert "EvidenceRecall@5" in text

    assert command([*arguments[:2], "-o", str(tmp_path / "other"), *shown[2:]]) == 2
    assert "no references found" in capsys.readouterr().err
