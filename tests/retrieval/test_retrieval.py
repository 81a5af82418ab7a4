"""Asking a retriever: every framework's call, several at a time, failures kept apart and in order."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import Any

import pytest
from raising import raises_code

import goldrank
from goldrank.base.errors import InputError, OptionError, RetrievalError
from goldrank.base.notes import Note
from goldrank.data.text_item import EvidencePlaces, Reference, Span, TextItem
from goldrank.io.questions.items import Item, Items, read_items, reader_of
from goldrank.match.evidence import Finder
from goldrank.retrieval import runner
from goldrank.retrieval.runner import RetrievalInterrupted, run_retriever


class Document:
    """LangChain's, in what is read of it."""

    def __init__(self, page_content: str, metadata: dict[str, Any] | None = None, id: str | None = None) -> None:
        self.page_content = page_content
        self.metadata = metadata or {}
        self.id = id


class LangChain:
    def invoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:
        return [Document(f"{input} one", {"source": "s", "start_index": 3}, "d1"), Document("two", id="d2")]

    async def ainvoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:
        await asyncio.sleep(0)
        return self.invoke(input)


class Node:
    node_id = "n1"
    metadata: dict[str, Any] = {}  # noqa: RUF012
    text = "node"

    def get_content(self) -> str:
        return self.text


class NodeWithScore:
    node = Node()
    score = 0.5
    text = "node"


class LlamaIndex:
    def retrieve(self, str_or_query_bundle: str) -> list[NodeWithScore]:
        return [NodeWithScore()]


class LlamaIndexAsync:
    async def aretrieve(self, str_or_query_bundle: str) -> list[NodeWithScore]:
        return [NodeWithScore()]


class HaystackDocument:
    def __init__(self, content: str | None, id: str, score: float) -> None:
        self.content, self.id, self.score = content, id, score
        self.meta: dict[str, Any] = {"file_path": "f.txt"}


class Haystack:
    def run(self, query: str, filters: Any = None, top_k: int | None = None) -> dict[str, list[HaystackDocument]]:
        found = [HaystackDocument("one", "h1", 2.0), HaystackDocument("two", "h2", 1.0)]
        return {"documents": found[:top_k]}


class HaystackByEmbedding:
    def run(self, query_embedding: list[float], top_k: int | None = None) -> dict[str, Any]:
        return {}


async def asynchronous(question: str) -> list[str]:
    await asyncio.sleep(0)
    return [question, "two"]


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses are counted, not made."""
    made: list[float] = []
    monkeypatch.setattr(runner, "_pause", made.append)
    return made


def quietly(*args: Any, **options: Any) -> Items:
    return run_retriever(*args, **({"progress": False} | options))


def records(found: Items) -> list[dict[str, Any]]:
    """What is kept of each question."""
    return [dict(question.record) for question in reader_of(found).questions()]


def results(found: Items) -> list[Any]:
    return [record["retrieved"] for record in records(found)]


D1 = {"text": "why? one", "id": "d1", "source": "s", "start": 3, "end": 11}


@pytest.mark.parametrize(
    ("retriever", "expected"),
    [
        (lambda question: [question, "two"], ["why?", "two"]),
        (lambda question: iter(("a",)), ["a"]),
        (asynchronous, ["why?", "two"]),
        (lambda question: asynchronous(question), ["why?", "two"]),
        (LangChain(), [D1, {"text": "two", "id": "d2"}]),
        (LangChain().ainvoke, [D1, {"text": "two", "id": "d2"}]),
        (LlamaIndex(), [{"text": "node", "id": "n1", "score": 0.5}]),
        (LlamaIndexAsync(), [{"text": "node", "id": "n1", "score": 0.5}]),
        (
            Haystack(),
            [
                {"text": "one", "id": "h1", "source": "f.txt", "score": 2.0},
                {"text": "two", "id": "h2", "source": "f.txt", "score": 1.0},
            ],
        ),
        (lambda question: [("text", 0.5)], [{"text": "text", "score": 0.5}]),
        (lambda question: [7], [{"id": "7"}]),
        (lambda question: [], []),
    ],
)
def test_retrievers_of_every_kind(retriever, expected):
    [record] = records(quietly(retriever, ["why?"]))
    assert record["retrieved"] == expected
    assert (record["query"], record["question"]) == ("1", "why?")
    assert record["latency"] >= 0


def test_k_cuts_and_is_passed_on():
    asked = []

    class Watched(Haystack):
        def run(self, query: str, filters: Any = None, top_k: int | None = None) -> dict[str, Any]:
            asked.append(top_k)
            return super().run(query, filters, None)

    assert len(results(quietly(Watched(), ["q"], k=1))[0]) == 1
    assert asked == [1]
    assert results(quietly(lambda question: ["a", "b", "c"], ["q"], k=2)) == [["a", "b"]]


def test_inside_a_running_loop():
    async def notebook() -> Items:
        return quietly(asynchronous, ["why?"])

    assert results(asyncio.run(notebook())) == [["why?", "two"]]


def test_order_is_that_of_the_questions():
    """The first question is answered last."""
    later = threading.Event()

    def retriever(question: str) -> list[str]:
        if question == "q0":
            assert later.wait(10)
        if question == "q3":
            later.set()
        return [question]

    found = quietly(retriever, [f"q{i}" for i in range(4)], concurrency=2)
    assert results(found) == [["q0"], ["q1"], ["q2"], ["q3"]]
    assert [item.retrieved for item in found] == [("q0",), ("q1",), ("q2",), ("q3",)]


@pytest.mark.parametrize("asynchronously", [False, True])
def test_concurrency_is_bounded_and_reached(asynchronously):
    lock = threading.Lock()
    together = threading.Barrier(3, timeout=10)
    at_work = [0]
    most = [0]

    def begin() -> None:
        with lock:
            at_work[0] += 1
            most[0] = max(most[0], at_work[0])

    def end() -> None:
        with lock:
            at_work[0] -= 1

    def plain(question: str) -> list[str]:
        begin()
        together.wait()
        end()
        return []

    async def coroutine(question: str) -> list[str]:
        begin()
        await asyncio.get_running_loop().run_in_executor(None, together.wait)
        end()
        return []

    quietly(coroutine if asynchronously else plain, [f"q{i}" for i in range(9)], concurrency=3)
    assert most == [3]


def test_what_questions_come_with_is_kept():
    record = {
        "user_input": "why?", "reference_contexts": ["gold"], "retrieved_contexts": ["old"], "sources": ["old"],
        "retrieved_context_ids": ["o"], "topic": "x", "id": 9,
    }  # fmt: skip
    [made] = records(quietly(lambda question: ["new"], [record]))
    del made["latency"]
    assert made == {"query": "9", "question": "why?", "retrieved": ["new"], "references": ["gold"], "topic": "x"}
    assert record["retrieved_contexts"] == ["old"]
    assert [item.retrieved for item in Items([made])] == [("new",)]


def test_questions_by_mapping_columns_files_and_items(tmp_path):
    nested = [{"inputs": {"text": "why?"}, "gold": {"docs": ["g"]}}]
    questions = read_items(nested, fields={"question": "inputs.text", "references": "gold.docs"})
    found = quietly(lambda question: ["a"], questions)
    assert [item.references for item in found] == [(("g",),)]
    found = quietly(lambda question: [question], {"question": ["a?", "b?"], "references": [["x"], ["y"]]})
    assert [(item.question, item.references[0]) for item in found] == [("a?", ("x",)), ("b?", ("y",))]
    (tmp_path / "q.jsonl").write_text('{"question": "a?", "references": ["x"]}\n{"question": "b?", "references": []}\n')
    assert [item.question for item in quietly(lambda question: [], tmp_path / "q.jsonl")] == ["a?", "b?"]
    assert [item.question for item in quietly(lambda question: [], read_items(tmp_path / "q.jsonl"))] == ["a?", "b?"]
    item = TextItem("q", [], [Reference(("x", "y"), 2)], "a?", evidence=[EvidencePlaces(((Span("s", 0, 1),),))])
    [given] = reader_of(quietly(lambda question: ["new"], [item])).entries()
    again = given.item
    assert (again.query, again.retrieved, again.references) == ("q", ("new",), tuple(item.references))
    assert tuple(Finder(None).evidence(one, "evidence") for one in given.evidence) == tuple(item.evidence)


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        ([], "no questions"),
        (["a", ""], r"items\[1\]: the question is ''"),
        ([{"references": ["x"]}], r"items\[0\]: no question found"),
        ([{"id": 1, "question": "a"}, {"id": 1, "question": "b"}], "query id '1' is duplicated"),
        ("why is that?", "is one question"),
        ([5], "not an object with fields"),
    ],
)
def test_bad_questions(questions, said):
    with pytest.raises(InputError, match=said):
        quietly(lambda question: [], questions)


# Failures.


def failing(question: str) -> list[str]:
    if question.startswith("bad"):
        raise ConnectionError(f"no route to {question}")
    return ["fine"]


def test_one_failure_does_not_lose_the_rest():
    found = quietly(failing, ["a", "bad", "c"])
    assert results(found) == [["fine"], [], ["fine"]]
    assert found.failures == ("2",)
    assert found.notes == (Note.of("failed-questions", count=1, questions=3, kinds="ConnectionError 1"),)
    failed = records(found)[1]
    assert failed["retrieval_error"] == {"type": "ConnectionError", "text": "no route to bad", "attempts": 3}
    assert "latency" not in failed
    assert len(found) == 3


def test_pauses_double_and_a_late_success_counts(pauses):
    tries: list[str] = []

    def flaky(question: str) -> list[str]:
        tries.append(question)
        if len(tries) < 4:
            raise TimeoutError
        return ["at last"]

    found = quietly(flaky, ["q"], retries=3)
    assert results(found) == [["at last"]]
    assert pauses == [0.5, 1.0, 2.0]


def test_errors_of_programming_are_not_retried():
    tries: list[str] = []

    def broken(question: str) -> list[str]:
        tries.append(question)
        raise TypeError("wrong argument")

    with pytest.raises(
        RetrievalError, match=r"every question \(2\); the first, '1', with TypeError: wrong argument"
    ) as caught:
        quietly(broken, ["a", "b"])
    assert sorted(tries) == ["a", "b"]
    assert isinstance(caught.value.__cause__, TypeError)
    assert isinstance(caught.value.items, Items)
    assert caught.value.items.failures == ("1", "2")


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("one text", "not a list"),
        (None, "not a list"),
        ({"answer": 1}, "object with answer"),
        ([None], "without a text and without an id"),
        ([object()], "without a text"),
        ({"a", "b"}, "set, which has no order"),
        (frozenset("ab"), "frozenset, which has no order"),
        ({"a": 1}.keys(), "dict_keys, which has no order"),
    ],
)
def test_results_that_are_none(result, said):
    with pytest.raises(RetrievalError, match=said):
        quietly(lambda question: result, ["q"])


@pytest.mark.parametrize("questions", [{"a", "b"}, frozenset("ab"), iter({"a", "b"})])
def test_questions_without_an_order(questions):
    """They would get other numbers for ids the next time."""
    with raises_code(InputError, "unreadable-object"):
        quietly(lambda question: ["a"], questions)
    assert len(quietly(lambda question: ["a"], {1: "a", 2: "b"}.values())) == 2


@pytest.mark.parametrize("asynchronously", [False, True])
def test_timeout(asynchronously):
    end = threading.Event()

    def plain(question: str) -> list[str]:
        if question == "slow":
            end.wait(30)
        return ["a"]

    async def coroutine(question: str) -> list[str]:
        if question == "slow":
            await asyncio.sleep(30)
        return ["a"]

    found = quietly(coroutine if asynchronously else plain, ["slow", "fast"], timeout=0.2, retries=0)
    end.set()
    assert found.failures == ("1",)
    slow, fast = records(found)
    error = slow["retrieval_error"]
    assert (slow["question"], error["type"], error["text"]) == ("slow", "TimeoutError", "no answer within 0.2 s")
    assert fast["retrieved"] == ["a"]


def test_failures_are_never_a_silent_zero():
    found = quietly(failing, [{"question": q, "references": ["fine"]} for q in ("a", "bad", "c")])
    with pytest.raises(InputError, match=r"query '2' failed: ConnectionError: no route to bad(.|\n)*failures='skip'"):
        list(found)
    skipped, zero = read_items(found, failures="skip"), read_items(found, failures="zero")
    assert (len(found), len(skipped), len(zero)) == (3, 2, 3)
    assert [(item.query, item.retrieved) for item in skipped] == [("1", ("fine",)), ("3", ("fine",))]
    assert [(item.query, item.retrieved) for item in zero] == [("1", ("fine",)), ("2", ()), ("3", ("fine",))]
    assert Note.of("failed-left-out", count=1) in skipped.notes
    assert Note.of("failed-as-nothing", count=1) in zero.notes


def test_failures_when_evaluating():
    """Two of three questions are answered, both fully; the third is left out or counts as zero, by choice."""
    found = quietly(failing, [{"question": q, "references": ["fine"]} for q in ("a", "bad", "c")])
    with pytest.raises(InputError, match="query '2' failed"):
        goldrank.evaluate_texts(found, ["Cover@5"], matching="exact")
    skip = goldrank.evaluate_texts(goldrank.read_items(found, failures="skip"), ["Cover@5"], matching="exact")
    zero = goldrank.evaluate_texts(goldrank.read_items(found, failures="zero"), ["Cover@5"], matching="exact")
    assert (skip["Cover@5"], zero["Cover@5"]) == (2 / 2, 2 / 3)
    assert Note.of("failed-left-out", count=1) in skip.notes
    assert Note.of("failed-as-nothing", count=1) in zero.notes


@pytest.mark.parametrize("asynchronously", [False, True])
def test_interruption_keeps_what_was_done(asynchronously):
    def plain(question: str) -> list[str]:
        if question == "q2":
            raise KeyboardInterrupt
        return [question]

    def coroutine(question: str) -> Any:
        return asynchronous(question) if question != "q2" else plain(question)

    with pytest.raises(RetrievalInterrupted) as caught:
        quietly(coroutine if asynchronously else plain, [f"q{i}" for i in range(5)], concurrency=1)
    found = caught.value.items
    assert [record["question"] for record in records(found)] == ["q0", "q1", "q2", "q3", "q4"]
    assert [texts[:1] for texts in results(found)[:2]] == [["q0"], ["q1"]]
    failed = [record for record in records(found) if "retrieval_error" in record]
    assert {record["retrieval_error"]["type"] for record in failed} == {"NotAsked"}
    assert "q2" in {record["question"] for record in failed}
    assert isinstance(caught.value, KeyboardInterrupt)


def test_interruption_in_the_main_thread_stops_the_workers():
    asked: list[str] = []

    def retriever(question: str) -> list[str]:
        asked.append(question)
        return [question]

    def progress(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(RetrievalInterrupted):
        run_retriever(retriever, [f"q{i}" for i in range(20_000)], concurrency=1, progress=progress)
    time.sleep(0.05)
    assert len(asked) < 20_000


# Saving, runs, options.


def test_saved_and_read_again(tmp_path):
    found = quietly(
        lambda question: [{"text": "Übel \ud800", "id": 1, "source": "s", "start": 0}, "b"],
        [{"question": "a", "references": ["x"]}],
    )
    found.save(tmp_path / "r.jsonl")
    [item] = reader_of(read_items(tmp_path / "r.jsonl"))
    assert item.retrieved == ("Übel \ud800", "b")
    assert item.spans == (Span("s", 0, 6), None)
    assert item.latency == next(iter(found)).latency
    assert read_items(tmp_path / "r.jsonl") == found
    assert [path.name for path in tmp_path.iterdir()] == ["r.jsonl"]


def test_failures_are_saved_too(tmp_path):
    found = quietly(failing, [{"question": q, "references": ["fine"]} for q in ("ä", "bad")])
    found.save(tmp_path / "r.jsonl")
    assert "ä" in (tmp_path / "r.jsonl").read_text(encoding="utf-8")
    with pytest.raises(InputError, match=r"r\.jsonl:2: retrieving for query '2' failed"):
        list(read_items(tmp_path / "r.jsonl"))
    with raises_code(goldrank.GoldrankError, "cannot-write"):
        found.save(tmp_path / "no" / "r.jsonl")


def test_questions_that_failed_can_be_asked_again():
    found = quietly(failing, [{"question": q, "references": ["fine"]} for q in ("a", "bad")])
    again = quietly(lambda question: ["fine"], found)
    assert again.failures == ()
    assert len(list(again)) == 2


def test_run_of_ids():
    run = quietly(lambda question: ["d2", "d1"], ["a", "b"], strings="ids").run
    assert dict(run) == {"1": {"d2": -1.0, "d1": -2.0}, "2": {"d2": -1.0, "d1": -2.0}}
    assert dict(quietly(Haystack(), ["a"]).run) == {"1": {"h1": 2.0, "h2": 1.0}}
    # tied scores would let the ids decide, so that ranks take their place
    tied = quietly(lambda question: [("d1", 1.0), ("d2", 1.0)], ["a"], strings="ids").run
    assert tied.ranking("1") == ["d1", "d2"]
    assert goldrank.evaluate({"1": {"d2": 1}}, tied, "RR")["RR"] == 0.5


def test_run_needs_ids_and_says_what_failed():
    with pytest.raises(InputError, match="result 1 of query '1' has no id"):
        _ = quietly(lambda question: ["text"], ["a"]).run
    found = quietly(lambda q: [1] if q == "a" else 1 / 0, ["a", "bad"])
    with pytest.raises(InputError, match="questions that failed: 1 of 2"):
        _ = found.run
    assert list(read_items(found, failures="skip").run) == ["1"]
    zero = read_items(found, failures="zero").run
    assert {query: dict(row) for query, row in zero.items()} == {"1": {"1": -1.0}, "2": {}}


def test_ids_that_were_expected_are_kept_beside_those_retrieved():
    """RR by hand: d2 is second for the first question, first for the second."""
    asked = [{"question": "a?", "expected_ids": ["d2"]}, {"question": "b?", "expected_ids": ["d1"]}]
    found = quietly(lambda question: ["d1", "d2"], asked, strings="ids")
    assert goldrank.evaluate(found.qrels, found.run, "RR")["RR"] == (1 / 2 + 1) / 2
    assert goldrank.evaluate_texts(found, "RR")["RR"] == (1 / 2 + 1) / 2


def test_ids_alone_are_no_texts():
    found = quietly(lambda question: ["d1"], [{"question": "a", "references": ["x"]}], strings="ids")
    with pytest.raises(InputError, match="has an id, 'd1', and no text"):
        goldrank.evaluate_texts(found)
    assert [item.retrieved for item in found] == [("d1",)]  # nothing is measured


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k": 0}, "k is 0"),
        ({"k": True}, "k is True"),
        ({"concurrency": 0}, "concurrency is 0"),
        ({"retries": -1}, "retries is -1"),
        ({"timeout": 0}, "timeout is 0"),
        ({"timeout": float("nan")}, "timeout is nan"),
        ({"strings": "docs"}, "strings is 'docs'"),
    ],
)
def test_options_are_checked(options, said):
    with pytest.raises(OptionError, match=said):
        quietly(lambda question: [], ["q"], **options)


def test_what_is_no_retriever():
    with pytest.raises(RetrievalError, match="a int cannot be asked"):
        quietly(5, ["q"])
    with pytest.raises(RetrievalError, match="takes query_embedding, top_k, not query"):
        quietly(HaystackByEmbedding(), ["q"])


def test_progress_by_function_and_quiet_in_a_pipe(capsys):
    told: list[tuple[int, int]] = []
    run_retriever(lambda question: [], ["a", "b"], progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]
    run_retriever(lambda question: [], ["a"])
    assert capsys.readouterr() == ("", "")
    run_retriever(lambda question: [], ["a"], progress=True)
    assert capsys.readouterr().out == ""


def test_records_are_plain_json():
    [record] = records(quietly(LangChain(), ["why?"]))
    assert json.loads(json.dumps(record)) == record


def test_questions_without_references_can_be_looked_at():
    [item] = quietly(lambda question: ["a"], ["why?"])
    assert item == Item("1", "why?", ("a",), (), "", None, item.latency)
    with pytest.raises(InputError, match="no references found"):
        goldrank.evaluate_texts(quietly(lambda question: ["a"], ["why?"]))
