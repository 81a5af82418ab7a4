"""`serve old.run new.run` without judgements: what changed, and judging from zero."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from served import Served

from goldrank import io
from goldrank.cli import run as command_line
from goldrank.cli.inputs import is_run
from goldrank.explorer.app import Explorer
from goldrank.explorer.judging_session import Judging
from goldrank.explorer.site import write
from goldrank.explorer.start import PageTexts, session_of
from goldrank.explorer.unjudged_session import UnjudgedSession

OLD = {"q1": list("abc"), "q2": list("de"), "q3": list("xyz")}
NEW = {"q1": list("bax"), "q2": list("de"), "q3": []}
QUERIES = {"q1": "red shoes", "q2": "blue coat", "q3": "green hat"}


def session(**more: object) -> UnjudgedSession:
    runs = {name: io.as_run(run).renamed(name) for name, run in (("old", OLD), ("new", NEW))}
    made = session_of(None, runs, PageTexts(queries=QUERIES), measures=["nDCG@3"], **more)
    assert isinstance(made, UnjudgedSession)
    return made


def test_the_first_page_says_what_changed_and_not_which_is_better() -> None:
    page = Explorer(session(), wait=None).overview({})
    assert "it is not known which is better" in page
    assert "new (B) against old (A), without judgements" in page
    assert "nothing is returned now" in page  # q3
    assert "first fell to 2, 1 new" in page  # q1: a was first, x is new
    assert "0.0000 nDCG" not in page


def test_the_queue_has_what_tells_the_two_apart() -> None:
    """By hand, as in LIVE: weights are differences of 1/log2(rank + 1); q2 is the same in both."""
    made = session()
    queue = made.queue_all(made.view())
    worth = {(one.query, one.doc): round(one.move, 4) for one in queue}
    assert worth == {
        ("q1", "c"): -0.5,
        ("q1", "x"): 0.5,
        ("q1", "a"): -0.3691,
        ("q1", "b"): 0.3691,
        ("q3", "x"): -1.0,
        ("q3", "y"): -0.6309,
        ("q3", "z"): -0.5,
    }
    assert [one.query for one in queue] == ["q3"] * 3 + ["q1"] * 4, "documents of a query are adjacent"


def test_one_run_is_judged_rank_by_rank() -> None:
    made = session_of(None, {"old": io.as_run(OLD).renamed("old")}, measures=["nDCG@3"])
    queue = made.queue_all(made.view())
    assert {one.before for one in queue[:3]} <= {1, 2, 3}
    assert len(queue) == 8
    assert "it is not known how good this is" in Explorer(made, wait=None).overview({})
    assert "results" in Explorer(made, wait=None).queries({})


def test_the_page_says_what_the_command_line_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After some judgements: the sentence of `compare` with the exported ones, over the judged queries alone."""
    made = session()
    log = tmp_path / "judgements.db"
    judging = Judging(made, str(log), "ann")
    for doc, grade in (("x", 2), ("a", 0)):
        judging.add({"query": "q1", "doc": doc, "grade": grade, "data": made.data_hash, "key": doc})
    page = Explorer(made, wait=None, judging=judging).overview({})

    (tmp_path / "old.run").write_text("q1 Q0 a 1 3 x\nq1 Q0 b 2 2 x\nq1 Q0 c 3 1 x\nq2 Q0 d 1 1 x\n")
    (tmp_path / "new.run").write_text("q1 Q0 b 1 3 x\nq1 Q0 a 2 2 x\nq1 Q0 x 3 1 x\nq2 Q0 d 1 1 x\n")
    qrels, old, new = (str(tmp_path / name) for name in ("my.qrels", "old.run", "new.run"))
    assert command_line(["judgements", "export", str(log), "-o", qrels]) == 0
    capsys.readouterr()
    assert command_line(["compare", qrels, old, new, "-m", "nDCG@3"]) == 0
    sentence = capsys.readouterr().out.splitlines()[0].replace("-", "\u2212")
    assert sentence in page

    assert "2 documents of 1 query are judged" in page
    assert "Judge these 5 next" in page, "of seven documents two are judged"
    # By hand: x is at 3 in B alone, 2 * 0.5 over three queries; open documents of A can take it below 0.
    assert "differ by +0.3333 on average" in page
    assert "the 5 others can still turn it round" in page


def test_what_no_document_can_turn_is_decided(tmp_path: Path) -> None:
    runs = {"a": io.as_run({"q": ["x", "y"]}).renamed("a"), "b": io.as_run({"q": ["y", "x"]}).renamed("b")}
    made = session_of(None, runs, measures=["nDCG@2"])
    judging = Judging(made, str(tmp_path / "j.db"), "ann")
    for doc, grade in (("x", 0), ("y", 2)):
        judging.add({"query": "q", "doc": doc, "grade": grade, "data": made.data_hash, "key": doc})
    page = Explorer(made, wait=None, judging=judging).overview({})
    assert "the 0 others cannot turn it round" in page


def test_a_blind_judge_gets_the_same_portion(tmp_path: Path) -> None:
    before = {f"q{i}": [f"a{j}" for j in range(10)] for i in range(50)}
    after = {f"q{i}": [f"b{j}" for j in range(10)] for i in range(50)}
    runs = {"a": io.as_run(before).renamed("a"), "b": io.as_run(after).renamed("b")}
    made = session_of(None, runs, measures=["nDCG@10"])
    judging = Judging(made, str(tmp_path / "j.db"), "ann")
    pairs = set()
    for number in range(40):
        item, _ = judging.next("ann", made.view(), True)
        assert item is not None
        pairs.add((item.query, item.doc))
        judging.add({"query": item.query, "doc": item.doc, "grade": 0, "data": made.data_hash, "key": str(number)})
    assert pairs == {(one.query, one.doc) for one in made.queue_all(made.view())[:40]}


def test_pages_as_files(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    write(session(), str(folder))
    pages = [path for path in folder.glob("*.html") if path.name.startswith("query-")]
    assert len(pages) == 3
    text = (folder / "index.html").read_text()
    for target in re.findall(r'href="([^"#]+)"', text):
        assert (folder / target).is_file()
    assert "Nothing is judged for this query" in pages[0].read_text()


RUN = "q1 Q0 a 1 3 x\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.run", RUN, True),
        ("a.qrels", "q1 0 a 1\n", False),
        ("a.csv", "query,doc,score\nq,d,1\n", True),
        ("a.csv", "query,doc,grade\nq,d,1\n", False),
        ("a.csv", "query,doc,relevance,rank\nq,d,1,1\n", False),
        ("a.json", '{"q": {"d": 1}}', False),
    ],
)
def test_a_run_is_told_from_judgements(tmp_path: Path, name: str, text: str, expected: bool) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert is_run(str(path)) is expected
    assert is_run(f"new={path}"), "NAME=FILE is always a run"


@pytest.mark.slow
def test_the_command_opens_at_once_and_takes_judgements(tmp_path: Path) -> None:
    (tmp_path / "old.run").write_text(RUN + "q1 Q0 b 2 2 x\n")
    (tmp_path / "new.run").write_text(RUN.replace(" a ", " c "))
    records = '{"id": "q1", "retrieved": [{"id": "c", "score": 3, "text": "<b>Canvas</b> shoes"}], "latency_ms": 2}\n'
    (tmp_path / "new.run.jsonl").write_text(records)
    with Served(str(tmp_path / "old.run"), str(tmp_path / "new.run")) as server:
        page = server.get("/judge?blind=1")[2]
        assert "Partly relevant" in page
        assert "old" not in re.findall(r"<bdi>(.*?)</bdi>", page)
        page = server.get("/")[2]
        assert "&lt;b&gt;Canvas&lt;/b&gt; shoes" in page, "the text that the engine sent, without its markup"
    assert (tmp_path / "judgements.db").is_file()
