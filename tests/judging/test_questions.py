"""Questions from documents: what a model writes is checked, balanced and placed."""

from __future__ import annotations

import json

import pytest
from chat_server import fields, serving
from raising import raises_code

import goldrank
from goldrank.base.errors import InputError, OptionError
from goldrank.judging.endpoint import Endpoint
from goldrank.judging.function import Function
from goldrank.judging.pool_and_calls import Calls
from goldrank.judging.questions import make_questions, passages

SOURCES = {f"s{i}": f"Town number {i} has {i + 100} people in it. Its river is called stream {i}." for i in range(6)}
NAMES = ["anna", "bert", "carl", "dora", "emil", "frida"]


def number_of(text):
    return int(text.split("number ")[1].split()[0])


def asks(question, text):
    """A writer whose questions hold."""
    i = number_of(text)
    return {"question": f"How large is the population of {NAMES[i]} {i}?", "quote": text.split(". Its")[0] + "."}


def yes(question, text):
    return 3


@pytest.fixture
def make(tmp_path):
    def made(sources=SOURCES, writer=asks, judge=yes, terms=None, **more):
        return make_questions(sources, writer, judge, calls=Calls(tmp_path / "log.db", **(terms or {})), **more)

    return made


def test_questions_say_where_their_answer_stands(make, tmp_path):
    found = make(n=6)
    assert len(found) == 6
    assert not found.rejected
    assert set(found.by_source.values()) == {1}
    for item in found.records:
        (place,) = item["evidence"]
        text = SOURCES[place["source"]]
        assert text[place["start"] : place["end"]] == item["references"][0]
        assert item["references"][0].startswith("Town number")
        assert item["references"][0].endswith("people in it.")
    found.save(tmp_path / "questions.jsonl")
    assert [item.question for item in found] == [record["question"] for record in found.records]
    assert repr(found) == "Questions(6 questions)"
    assert "passages asked about" in str(found)
    read = [json.loads(line) for line in (tmp_path / "questions.jsonl").read_text().splitlines()]
    assert read == list(found.records)


def test_they_are_what_texts_are_held_against(make):
    found = make(n=6)
    perfect = goldrank.run_retriever(
        lambda question: [SOURCES[f"s{int(question.rstrip('?').split()[-1])}"]], found.records, progress=False
    )
    scores = goldrank.evaluate_texts(perfect, ["SpanRecall@1"], evidence=SOURCES)
    assert scores["SpanRecall@1"] == 1.0
    useless = goldrank.run_retriever(lambda question: ["Its river is called stream 0."], found.records, progress=False)
    assert goldrank.evaluate_texts(useless, ["SpanRecall@1"], evidence=SOURCES)["SpanRecall@1"] == 0.0


@pytest.mark.parametrize(
    ("reason", "question", "quote"),
    [
        ("empty", "", ""),
        ("too short", "Who?", "Town number 0 has 100 people in it."),
        ("too short", "How many people live there?", "Town number"),
        ("not there", "How many people live there now?", "Town number 0 has 999 people in it."),
        ("points at the text", "What does this passage say of towns?", "Town number 0 has 100 people in it."),
        ("points at the text", "According to the given text, who lives?", "Town number 0 has 100 people in it."),
        ("copied", "Town number 0 has 100 people where?", "Town number 0 has 100 people in it."),
    ],
)
def test_what_does_not_hold_is_left_out(make, reason, question, quote):
    def writes(_, text):
        return {"question": question, "quote": quote} if number_of(text) == 0 else asks(_, text)

    found = make(n=6, writer=writes)
    assert len(found) == 5
    assert set(found.rejected) == {reason, "repeated"}  # others are asked again, for a sixth
    assert [note.code for note in found.notes] == ["fewer-questions"]
    assert found.by_source["s0"] == 0


def test_a_quotation_that_is_changed_in_form_alone_is_found(make):
    found = make({"s": "Town number 0\nhas   100 \u201cpeople\u201d in it. And more."}, n=1,
                 writer=lambda q, t: {"question": "How many are they?",
                                      "quote": 'town number 0 has 100 "people" in it.'})  # fmt: skip
    assert found.records[0]["evidence"] == [{"source": "s", "start": 0, "end": 39}]
    assert found.records[0]["references"] == ["Town number 0\nhas   100 \u201cpeople\u201d in it."]


def test_all_places_of_a_quotation_count(make):
    twice = {"one": "Copper melts at 1085 degrees.", "two": "Metals. Copper melts at 1085 degrees. Yes."}
    found = make(twice, n=1, writer=lambda q, t: {"question": "When does Cu get liquid?",
                                                  "quote": "Copper melts at 1085 degrees."})  # fmt: skip
    (evidence,) = found.records[0]["evidence"]
    places = {(place["source"], place["start"], place["end"]) for place in evidence["any_of"]}
    assert places == {("one", 0, 29), ("two", 8, 37)}


def test_the_quotation_alone_must_answer(make):
    seen = []

    def checks(question, text):
        seen.append(text)
        return 2 if "number 3" in text else 3

    found = make(n=6, judge=checks)
    assert found.rejected["not answerable"] == 3  # one passage, asked about three times
    assert found.by_source["s3"] == 0
    assert all(text.endswith("people in it.") for text in seen)


def test_nearly_the_same_question_comes_once(make):
    def writes(question, text):
        return {**asks(question, text), "question": "How large is the population of the town" + "?" * number_of(text)}

    found = make(n=6, writer=writes)
    assert len(found) == 1
    assert found.rejected["repeated"] > 0


def test_questions_are_spread_over_sources(make):
    long = {name: " ".join(f"Fact {name} {i} is that {i * 7} stones lie here." for i in range(40)) for name in "ab"}
    long["c"] = "Fact c 0 is that 5 stones lie here."
    told = []

    def writes(question, text):
        told.append(text)
        name = text.split()[1]
        return {"question": f"{name} {len(told)} what {'xyz' * len(told)} lies", "quote": text.split(". ")[0]}

    found = make(long, n=9, writer=writes, passage=100)
    assert len(found) == 9
    counts = sorted(found.by_source.values())
    assert found.by_source["c"] <= 3
    assert counts[-1] - counts[1] <= 1  # c has a single passage


def test_the_writer_is_told_what_was_asked_before(make):
    def writes(question, text, reference):
        before = reference.split("\n") if reference else []
        return {"question": f"{'abc'[len(before)] * 5} {'def'[len(before)] * 5} {'ghi'[len(before)] * 5}?",
                "quote": "Only one passage here."}  # fmt: skip

    found = make({"s": "Only one passage here."}, n=3, writer=writes)
    assert [item.question[:5] for item in found] == ["aaaaa", "bbbbb", "ccccc"]


def test_again_nothing_is_asked(make):
    calls = []

    def writes(question, text):
        calls.append(text)
        return asks(question, text)

    assert make(n=6, writer=writes) == make(n=6, writer=writes)
    assert len(calls) == 6
    one, two = (make(n=3, terms={"seed": seed}) for seed in (1, 2))
    assert [item.question for item in one] != [item.question for item in two]


def test_a_limit_stops_in_time(make):
    found = make(n=6, terms={"max_calls": 8})
    assert found.outcome.calls == 8
    assert len(found) == 2
    assert {note.code for note in found.notes} == {"fewer-questions", "judging-stopped"}


def test_nothing_left_is_an_error(make):
    with pytest.raises(InputError, match="empty: 18") as caught:
        make(n=6, writer=lambda question, text: {"question": "", "quote": ""})
    assert caught.value.code == "no-questions"


def test_a_writer_that_writes_no_questions_is_refused(make):
    for wrong in (Function(yes), Function(asks, fields=("question",))):
        with raises_code(OptionError, "writes-no-questions"):
            make(writer=wrong)
    with pytest.raises(OptionError, match="needs a scale"):
        make(judge=Function(yes, scale=None))
    for wrong, right in (("seed", "calls=Calls(seed=...)"), ("dry_run", "Calls(dry_run="), ("count", "It has: ")):
        with pytest.raises(OptionError) as caught:
            make(**{wrong: 1})
        assert right in caught.value.hint
    for wrong in ({"n": 0}, {"passage": 5}, {"copied": 0}, {"similar": 2}, {"n": True}):
        with pytest.raises(OptionError):
            make(**wrong)


@pytest.mark.parametrize("answer", [None, 5, {"question": "Who?"}, {"question": 1, "quote": "x"}, ["a", "b"]])
def test_answers_that_are_no_texts_are_counted(make, answer):
    found = make(n=6, writer=lambda question, text: answer if number_of(text) == 2 else asks(question, text))
    assert len(found) == 5
    assert set(found.rejected) == {"unanswered", "repeated"}


def test_an_endpoint_writes_and_checks(tmp_path):
    def behave(body, number):
        marker, values = fields(body)
        passage = values.get("passage")
        said = {"marker": marker, "reason": "", "label": "yes"}
        if passage is not None:
            assert body["response_format"]["json_schema"]["schema"]["required"] == ["marker", "question", "quote"]
            said = {"marker": marker, **asks("", passage)}
        choice = {"message": {"role": "assistant", "content": json.dumps(said)}, "finish_reason": "stop"}
        return 200, {}, json.dumps({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 9}})

    with serving(behave) as chat:
        found = make_questions(
            SOURCES, Endpoint("m", chat.url, prompt="question"), Endpoint("m", chat.url, prompt="answerable"), n=4,
            calls=Calls(tmp_path / "log.db", prices=(1, 1), max_cost=1.0),
        )  # fmt: skip
        assert len(found) == 4
        assert len(chat.requests) == 8
    assert found.cost == pytest.approx(8 * 18 / 1e6)


def test_passages_are_whole_sentences_and_leave_nothing_out():
    text = " ".join(f"Sentence {i} is here." for i in range(100)) + "\n\n" + "x" * 2_950
    found = list(passages("s", text, 300))
    assert all(each.end - each.start <= 300 for each in found)
    assert "".join(text[each.start : each.end] for each in found).replace(" ", "") == text.replace(" ", "").replace(
        "\n", ""
    )
    assert all(text[each.end - 1] in ".x" for each in found)
    assert list(passages("s", "  \n ", 300)) == []


def test_a_dry_run_says_what_would_be_asked_and_asks_nothing(make, tmp_path):
    asked = []

    def writer(question, text):
        asked.append(text)
        return asks(question, text)

    found = make(writer=writer, n=4, terms={"dry_run": True})
    assert not asked
    assert not (tmp_path / "log.db").exists()
    assert (len(found), found.planned.passages) == (0, 4)
    # One passage a source: 4 to write and 4 to check; at most 6 passages three times, written and checked.
    assert (found.planned.calls, found.planned.most_calls) == (8, 36)
    assert make(n=4, terms={"dry_run": True}).planned.tokens > 0


def test_a_dry_run_costs_by_the_prices(tmp_path):
    pytest.importorskip("httpx")
    writer, judge = (Endpoint("m", "http://127.0.0.1:9/v1", prompt=name) for name in ("question", "answerable"))

    def planned(*prices):
        calls = Calls(tmp_path / "log.db", prices=prices, dry_run=True)
        return make_questions(SOURCES, writer, judge, n=1, calls=calls).planned

    one = planned(0.0, 1_000_000.0)
    assert one.cost == pytest.approx(1_000.0), "500 tokens of two answers at most"
    two = planned(1_000_000.0, 0.0)
    assert two.cost == pytest.approx(two.tokens)
