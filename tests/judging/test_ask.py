"""Judges that are functions and commands, and `goldrank.judge`, which people call."""

from __future__ import annotations

import asyncio
import sys

import pytest
from chat_server import expected, grade_of, items, serving

from goldrank.base.errors import GoldrankError, InputError, JudgeError, OptionError
from goldrank.judging.ask import judge
from goldrank.judging.command import Command
from goldrank.judging.endpoint import Endpoint
from goldrank.judging.function import Function
from goldrank.judging.item import JudgeItem
from goldrank.judging.log import JudgementLog
from goldrank.judging.pool_and_calls import Calls, Pool
from goldrank.judging.runner import Job

pytest.importorskip("httpx")


# Functions and commands.


def by_function(given, function, log, **more):
    repeats = more.pop("repeats", 1)
    return asyncio.run(Job(Function(function), given, log, Calls(**more), repeats=repeats, first_wait=0.002).run())


async def slow_judge(question, text):
    await asyncio.sleep(0)
    return grade_of(text), "a reason"


class Twice:
    """Fails at first for every text."""

    def __init__(self):
        self.seen = set()

    def __call__(self, question, text):
        if text not in self.seen:
            self.seen.add(text)
            raise ConnectionError("away")
        return grade_of(text)


@pytest.mark.parametrize(
    "function", [lambda question, text: grade_of(text), slow_judge, Twice(), lambda q, t: {"grade": grade_of(t)}]
)
def test_functions_judge(log, function):
    assert by_function(items(9), function, log).grades == expected(9)


def test_functions_get_what_they_name(log):
    given = [JudgeItem("q", "d", "Q", "T", "R", "C")]
    seen = []
    for function in (
        lambda question, text: seen.append((question, text)) or 1,
        lambda question, text, criteria: seen.append((question, text, criteria)) or 1,
        lambda a, b, c: seen.append((a, b, c)) or 1,
        lambda text, question: seen.append((text, question)) or 1,
    ):
        by_function(given, function, log)
    assert seen == [("Q", "T"), ("Q", "T", "C"), ("Q", "T", "R"), ("T", "Q")]
    with pytest.raises(OptionError):
        Function(lambda question: 1)
    with pytest.raises(OptionError):
        Function(3)


def test_a_changed_function_is_asked_again(log):
    assert by_function(items(2), lambda question, text: 1, log).calls == 2
    assert by_function(items(2), lambda question, text: 1, log).calls == 0
    assert by_function(items(2), lambda question, text: 2, log).calls == 2


@pytest.mark.parametrize("wrong", [None, "two", 4, 2.5, float("nan"), [], (1, 2, 3), object()])
def test_answers_of_functions_that_are_no_grades(log, wrong):
    found = by_function(items(2), lambda question, text: wrong, log)
    assert not found.grades
    assert len(found.unreadable) == 2


def test_errors_of_programming_are_not_tried_again(log):
    found = by_function(items(2), lambda question, text: text.no_such_thing, log)
    assert found.calls == 2
    assert "AttributeError" in str(found.notes[0])


def test_repeated_questions(log):
    answers = iter([1, 2, 1, 1, 0, 1])
    given = items(2)
    found = by_function(given, lambda question, text: next(answers), log, repeats=3, concurrency=1)
    assert found.repeated == {("q0", "d0"): [1, 1, 0], ("q1", "d1"): [2, 1, 1]}
    assert found.grades == {("q0", "d0"): 1, ("q1", "d1"): 2}
    assert log.last == 2, "the first answer is the judgement"


PROGRAM = """
import json, sys
for line in sys.stdin:
    item = json.loads(line)
    number = int(item["text"].split()[1])
    if number == 13 and "--bad" in sys.argv:
        print("what?", flush=True)
        continue
    print(json.dumps({"id": item["id"], "grade": number % 4, "reason": item["question"]}), flush=True)
"""


def test_commands_judge(log, tmp_path):
    path = tmp_path / "my judge.py"
    path.write_text(PROGRAM)
    job = Job(Command([sys.executable, str(path)]), items(30), log, Calls())
    assert asyncio.run(job.run()).grades == expected(30)
    bad = Command([sys.executable, str(path), "--bad"], name="bad")
    job = Job(bad, items(20), log, Calls(attempts=2, concurrency=1), first_wait=0.002)
    found = asyncio.run(job.run())
    assert set(found.failed) == {("q6", "d13")}
    assert len(found.grades) == 19
    with pytest.raises(JudgeError):
        asyncio.run(Job(Command(["no-such-program-xyz"]), items(2), log, Calls()).run())


# The function that people call.

QRELS = {"q1": {"d1": 0, "d2": 1}, "q2": {"d4": 2}}
RUN = {"q1": ["d1", "d3", "d2"], "q2": ["d5", "d4", "d6"]}
RUNS = {"mine": RUN}
DOCS = {f"d{i}": f"text {i}" for i in range(1, 7)}
QUERIES = {"q1": "one?", "q2": "two?"}


def by_number(question, text):
    return grade_of(text)


def ask(tmp_path, who=by_number, *, qrels=QRELS, pool=Pool(), documents=DOCS, queries=QUERIES, **terms):
    calls = Calls(**{"log": tmp_path / "log.db", **terms})
    return judge(qrels, RUNS, who, documents=documents, queries=queries, pool=pool, calls=calls)


def test_holes_are_judged_and_people_keep_their_grades(tmp_path):
    found = ask(tmp_path)
    assert {query: dict(docs) for query, docs in found.qrels.items()} == {
        "q1": {"d1": 0, "d2": 1, "d3": 3},
        "q2": {"d4": 2, "d5": 1, "d6": 2},
    }
    (note,) = [note for note in found.qrels.notes if note.code == "who-judged"]
    assert (note.fact("models"), note.fact("file")) == (3, 3)


def test_the_order_is_that_of_worth(tmp_path):
    from goldrank import worth_judging

    worth = [(one.query, one.doc) for one in worth_judging(QRELS, RUN, "nDCG@10")]
    assert [(item.query, item.doc) for item in ask(tmp_path, dry_run=True).items] == worth
    assert [*ask(tmp_path, pool=Pool(limit=1)).grades] == worth[:1]


def test_all_and_judged(tmp_path):
    assert set(ask(tmp_path, pool=Pool("all", depth=2)).grades) == {
        ("q1", "d1"), ("q1", "d3"), ("q2", "d5"), ("q2", "d4")
    }  # fmt: skip
    assert set(ask(tmp_path, pool=Pool("judged")).grades) == {("q1", "d1"), ("q1", "d2"), ("q2", "d4")}
    found = ask(tmp_path, lambda q, t: 1, qrels=None, pool=Pool(depth=1))
    assert set(found.grades) == {("q1", "d1"), ("q2", "d5")}


def test_a_dry_run_asks_and_writes_nothing(tmp_path):
    with serving() as chat:
        model = Endpoint("tiny", chat.url)
        found = ask(tmp_path, model, dry_run=True, prices=(1.0, 2.0))
        assert not chat.requests
    assert found.asked == 3
    assert found.tokens > 300
    assert found.most_cost == pytest.approx((found.tokens + 2 * 3 * 500) / 1e6)
    assert list(tmp_path.iterdir()) == []


def test_missing_texts_are_counted_and_all_missing_is_an_error(tmp_path):
    found = ask(tmp_path, documents={"d3": "text 3"})
    assert set(found.grades) == {("q1", "d3")}
    assert [note.code for note in found.notes] == ["without-text"]
    for wrong in ({"documents": {"x": "y"}}, {"queries": {"x": "y"}}, {"queries": {"q1": "", "q2": " "}}):
        with pytest.raises(InputError):
            ask(tmp_path, **wrong)


@pytest.mark.parametrize(
    "wrong",
    [{"max_cost": 5}, {"max_cost": -1, "prices": (1, 1)}, {"max_cost": True, "prices": (1, 1)}, {"max_calls": -1},
     {"rate": 0}, {"rate": "x"}, {"concurrency": 0}, {"attempts": 0}, {"log": 3}, {"prices": "x"}, {"prices": (1,)},
     {"seed": -1}, {"dry_run": 1}, {"progress": 3}, {"who": 3}, {"pool": "all"}, {"max_cost": 1, "prices": (1, 1)}],
    ids=str,
)  # fmt: skip
def test_wrong_options_get_words(tmp_path, wrong):
    with pytest.raises(GoldrankError):
        ask(tmp_path, **wrong)


@pytest.mark.parametrize(
    "wrong", [{"which": "x"}, {"which": "holes"}, {"depth": 0}, {"depth": 1.5}, {"repeats": 0}, {"limit": -1}], ids=str
)
def test_pools_that_cannot_be_get_words(wrong):
    with pytest.raises(OptionError):
        Pool(**wrong)


def test_wrong_words_list_the_right_ones():
    with pytest.raises(OptionError, match="which is 'unjudge'; it must be one of: unjudged, judged, all"):
        Pool("unjudge")
    with pytest.raises(OptionError, match="max_cost is -1"):
        Calls(max_cost=-1)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("docs", "It is called documents="),
        ("max_cost", "calls=Calls(max_cost=...)"),
        ("dry_run", "calls=Calls(dry_run=...)"),
        ("which", "pool=Pool(which=...)"),
        ("measure", "pool=Pool(measure=...)"),
        ("missing", "convention=Convention(missing=...)"),
        ("criteria", "Endpoint(model, criteria=...)"),
    ],
)
def test_an_unknown_argument_names_the_right_one(wrong, right):
    with pytest.raises(OptionError) as caught:
        judge(QRELS, RUNS, by_number, documents=DOCS, queries=QUERIES, **{wrong: 1})
    assert caught.value.code == "unknown-argument"
    assert right in caught.value.hint


def test_nouns_show_what_is_not_usual():
    assert repr(Pool(depth=20)) == "Pool(depth=20)"
    assert repr(Calls(max_calls=3)) == "Calls(max_calls=3)"
    assert Pool("all") == Pool(which="all")
    with pytest.raises(AttributeError):
        Pool().depth = 3


def test_a_judge_carries_its_criteria(tmp_path):
    seen = []
    who = Function(lambda question, text, criteria: seen.append(criteria) or 1, criteria="No nuts.")
    ask(tmp_path, who, pool=Pool(limit=1))
    assert seen == ["No nuts."]
    with JudgementLog(tmp_path / "log.db", mode="r") as log:
        assert [entry.criteria for entry in log.entries()] == ["No nuts."]
    ask(tmp_path, Function(lambda question, text, criteria: seen.append(criteria) or 1), pool=Pool(limit=1))
    assert seen == ["No nuts.", ""], "other criteria are another question"


def test_what_was_judged_can_be_looked_at(tmp_path):
    found = ask(tmp_path)
    assert (found.asked, found.cost, len(found.rows())) == (3, 0.0, 3)
    assert found.to_dict()["grades"][0].keys() == {"query", "doc", "grade"}
    assert "graded 3 pairs" in found.words
    assert "answered by the log" in str(found)
    assert "would be asked 0 questions" in ask(tmp_path, dry_run=True).words


def test_a_judge_may_not_take_a_persons_name(tmp_path):
    with JudgementLog(tmp_path / "log.db") as log:
        log.add("ann", "q1", "d3", 1)
    with pytest.raises(OptionError):
        ask(tmp_path, Function(lambda question, text: 1, name="ann"))


def test_without_httpx_the_install_line_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(GoldrankError, match=r"pip install 'goldrank\[judge\]'"):
        Endpoint("m", "http://127.0.0.1:9/v1")


def test_it_works_inside_an_event_loop(tmp_path):
    async def main():
        return ask(tmp_path).grades

    assert len(asyncio.run(main())) == 3


def test_progress_is_told(tmp_path):
    told = []
    ask(tmp_path, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (3, 3)


def test_doubts_are_how_far_answers_to_the_same_question_lie_apart(tmp_path):
    said = iter([0, 2, 1, 1])
    found = judge(
        None, {"mine": {"q": ["a"], "r": ["a"]}}, lambda question, text: next(said), documents={"a": "text"},
        queries={"q": "one", "r": "two"}, pool=Pool(repeats=2), calls=Calls(tmp_path / "log.db", concurrency=1),
    )  # fmt: skip
    # Asked in the order q, r, q, r: q has 0 and 1, r has 2 and 1.
    assert found.doubts == {"q": 1.0, "r": 1.0}


def test_progress_is_told_while_nothing_is_answered(tmp_path, monkeypatch):
    """An endpoint that hangs: the time goes on without an answer, and people see it."""
    from goldrank import Matching, evaluate_texts
    from goldrank.judging import runner
    from goldrank.judging.judge_matcher import JudgeMatcher

    monkeypatch.setattr(runner, "TELL_AFTER", 0.01)

    async def hanging(question, text, reference):
        await asyncio.sleep(0.3)
        return 1

    told = []
    calls = Calls(log=tmp_path / "log.db", progress=lambda done, total: told.append((done, total)))
    slow = Function(hanging, scale=(0, 1), name="slow")
    evaluate_texts(
        [{"id": "q", "retrieved": ["a"], "references": ["b"]}],
        "Cover",
        matching=Matching(JudgeMatcher(slow, calls=calls)),
    )
    assert told.count((0, 1)) >= 1
    assert told[-1] == (1, 1)
